//! Replacement of the estimated times of tasks by better estimates while an instance is executed.

use super::fit::JobTaskLimits;
use super::totals::Horizon;
use super::{Instance, walltime};
use crate::model::instance::room::AllotmentFilter;
use crate::model::{Estimate, Profile, Task, TaskId};

/// New times for a task.
#[derive(Clone, Debug, PartialEq)]
pub struct NewTimes {
    /// The task. If the task belongs to a bag, the times apply to all tasks of the bag.
    pub task: TaskId,
    /// New times, on the allotments that the task already accepts.
    pub profile: Profile,
    /// The source of the new times.
    pub estimate: Estimate,
}

impl Instance {
    /// Replaces times that are guessed or learned. Returns the tasks with changed times, ascending. The first task of a
    /// bag represents the bag. If `restated` contains a task twice, the last entry applies.
    ///
    /// The accepted allotments do not change, because the task may already run on one of them. An entry is ignored in
    /// three cases:
    /// * The times of its task are stated ([`Estimate::Stated`]).
    /// * The new times exceed the walltime of the task.
    /// * With the new times, the task could run on other allotments or machines than before.
    ///
    /// All entries are ignored if some schedule would end too late.
    ///
    /// Takes O(nodes), and for each entry the time that [`Instance::new`] takes to check a task.
    ///
    /// ```
    /// use makespan_core::{Estimate, Instance, Job, Platform, Profile, NewTimes, TaskId, Time};
    ///
    /// let minute = Profile::rigid(1, Time::from_seconds(60))?;
    /// let job = Job::new("unknown", minute.clone()).with_estimate(Estimate::Guessed);
    /// let mut instance = Instance::new(Platform::flat(2)?, vec![job, Job::new("stated", minute)], vec![])?;
    /// let restated = |task| NewTimes {
    ///     task: TaskId(task),
    ///     profile: Profile::rigid(1, Time::from_seconds(7)).unwrap(),
    ///     estimate: Estimate::Learned { runs: 1, spread: 0.0 },
    /// };
    /// assert_eq!(instance.restate(vec![restated(0), restated(1)]), [TaskId(0)]);
    /// assert_eq!(instance.profile(TaskId(0)).longest(), Time::from_seconds(7));
    /// assert_eq!((instance.guesses(), instance.profile(TaskId(1)).longest()), (0, Time::from_seconds(60)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restate(&mut self, restated: Vec<NewTimes>) -> Vec<TaskId> {
        let before = self.horizon.take();
        let mut horizon = before.clone().unwrap_or_else(|| self.measured_horizon());
        let new = self.checked(restated);
        for NewTimes { task, profile, .. } in &new {
            let (own, job) = (self.task(*task), self.job_of(*task));
            let alone = Task { needs: own.needs.clone(), ..Task::new(profile.clone()) };
            let waits = !job.after.is_empty() && !job.is_compound();
            horizon.add_times(&alone, job.equal_tasks(), waits, &self.platform);
        }
        let (mut changed, mut old) = (Vec::with_capacity(new.len()), Vec::with_capacity(new.len()));
        for restated in new {
            let (task, differs) = (restated.task, self.profile(restated.task) != &restated.profile);
            changed.extend(differs.then_some(task));
            old.push(self.put(restated));
        }
        // The new times were added to the horizon without subtracting the old times, so the horizon may be later than
        // necessary. So before the times are rejected, the horizon is computed again from all tasks.
        if !self.is_within(&horizon) {
            horizon = self.measured_horizon();
        }
        if self.is_within(&horizon) {
            self.horizon = Some(horizon);
        } else {
            old.into_iter().rev().for_each(|old| _ = self.put(old));
            (self.horizon, changed) = (before, Vec::new());
        }
        changed.sort_unstable();
        changed.dedup();
        changed
    }

    /// Returns the entries that change only the times of a task, and not its allotments or machines.
    fn checked(&self, mut restated: Vec<NewTimes>) -> Vec<NewTimes> {
        let (classes, mut room) = (walltime::classes(&self.platform), AllotmentFilter::new(&self.platform));
        restated.retain_mut(|NewTimes { task, profile, .. }| {
            if !self.has_task(*task) || self.task(*task).estimate == Estimate::Stated {
                return false;
            }
            *task = self.table.row(*task).first;
            let (own, walltime) = (self.task(*task), self.walltime(*task));
            let same_speeds = |walltime| walltime::same_speeds(&own.profile, profile, walltime, &classes);
            if !same_places(&own.profile, profile) || !walltime.is_none_or(same_speeds) {
                return false;
            }
            let alone = Task { needs: own.needs.clone(), ..Task::new(profile.clone()) };
            let mut limits = JobTaskLimits { platform: &self.platform, classes: &classes, room: &mut room, walltime };
            let left = limits.applied(alone, || self.name(*task).into_owned());
            left.is_ok_and(|left| same_places(&own.profile, &left.profile))
        });
        restated
    }

    /// Writes the new times into the table. Returns the times that they replace.
    fn put(&mut self, restated: NewTimes) -> NewTimes {
        let NewTimes { task, profile, estimate } = restated;
        let (profile, estimate) = self.table.restate(task, profile, estimate);
        NewTimes { task, profile, estimate }
    }

    /// Returns an instant by which every schedule has ended, computed from the current times of all tasks.
    pub(super) fn measured_horizon(&self) -> Horizon {
        let mut horizon = Horizon::new(&self.platform);
        for job in &self.jobs {
            horizon.add(&self.table.work(job), !job.after.is_empty(), &self.platform);
        }
        horizon
    }

    /// Returns true if every schedule without unnecessary idle time ends within half the range of [`crate::Time`].
    pub(super) fn is_within(&self, horizon: &Horizon) -> bool {
        let end = horizon.end(&self.totals, &self.platform, &self.unavailable, &self.availability);
        end < i128::from(i64::MAX / 2)
    }
}

/// Returns true if two profiles accept the same allotments, or the same machines.
fn same_places(one: &Profile, other: &Profile) -> bool {
    let machines = |profile: &Profile| {
        let row = profile.machine_times();
        row.map(|row| row.iter().map(|&time| time == Profile::CANNOT_RUN).collect::<Vec<bool>>())
    };
    let range = |profile: &Profile| (profile.min_processors(), profile.max_processors());
    range(one) == range(other) && machines(one) == machines(other)
}

#[cfg(test)]
mod tests;
