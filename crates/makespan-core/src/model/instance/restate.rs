//! Replacement of estimated times while an instance is executed.

use super::fit::Limits;
use super::totals::Horizon;
use super::{Instance, walltime};
use crate::model::instance::room::Room;
use crate::model::{Estimate, Profile, Task, TaskId};

/// New times for a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Restated {
    /// The task. The times also apply to all equal tasks.
    pub task: TaskId,
    /// New times, on the previous allotments.
    pub profile: Profile,
    /// The source of the new times.
    pub estimate: Estimate,
}

impl Instance {
    /// Replaces times that are not stated. Returns the tasks whose times changed, ascending, with the first task for a
    /// bag. If a task occurs twice, the last entry applies.
    ///
    /// Only times change. The accepted allotments stay, because the task may already run on one of them. So an entry is
    /// ignored if the times of its task are stated ([`Estimate::Stated`]), if the new times would change the
    /// allotments, the machines or the room of the task, or if they exceed its walltime. All entries are ignored if
    /// some schedule would end too late.
    ///
    /// Takes O(nodes), and for each task the time of its check when the instance was created.
    ///
    /// ```
    /// use makespan_core::{Estimate, Instance, Job, Platform, Profile, Restated, TaskId, Time};
    ///
    /// let minute = Profile::rigid(1, Time::from_seconds(60))?;
    /// let job = Job::new("unknown", minute.clone()).with_estimate(Estimate::Guessed);
    /// let mut instance = Instance::new(Platform::flat(2)?, vec![job, Job::new("stated", minute)], vec![])?;
    /// let restated = |task| Restated {
    ///     task: TaskId(task),
    ///     profile: Profile::rigid(1, Time::from_seconds(7)).unwrap(),
    ///     estimate: Estimate::Learned { runs: 1, spread: 0.0 },
    /// };
    /// assert_eq!(instance.restate(vec![restated(0), restated(1)]), [TaskId(0)]);
    /// assert_eq!(instance.profile(TaskId(0)).longest(), Time::from_seconds(7));
    /// assert_eq!((instance.guesses(), instance.profile(TaskId(1)).longest()), (0, Time::from_seconds(60)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restate(&mut self, restated: Vec<Restated>) -> Vec<TaskId> {
        let before = self.horizon.take();
        let mut horizon = before.clone().unwrap_or_else(|| self.measured_horizon());
        let new = self.checked(restated);
        for Restated { task, profile, .. } in &new {
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
        // The horizon only grows here, so it may be too pessimistic until it is measured again.
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

    /// Returns the entries that change nothing but times.
    fn checked(&self, mut restated: Vec<Restated>) -> Vec<Restated> {
        let (classes, mut room) = (walltime::classes(&self.platform), Room::new(&self.platform));
        restated.retain_mut(|Restated { task, profile, .. }| {
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
            let mut limits = Limits { platform: &self.platform, classes: &classes, room: &mut room, walltime };
            let left = limits.applied(alone, || self.name(*task).into_owned());
            left.is_ok_and(|left| same_places(&own.profile, &left.profile))
        });
        restated
    }

    /// Writes times into the table. Returns the previous times.
    fn put(&mut self, restated: Restated) -> Restated {
        let Restated { task, profile, estimate } = restated;
        let (profile, estimate) = self.table.restate(task, profile, estimate);
        Restated { task, profile, estimate }
    }

    /// Returns the horizon by which everything ends, computed from the current tasks.
    pub(super) fn measured_horizon(&self) -> Horizon {
        let mut horizon = Horizon::new(&self.platform);
        for job in &self.jobs {
            horizon.add(&self.table.work(job), !job.after.is_empty(), &self.platform);
        }
        horizon
    }

    /// Returns true if every reasonable schedule ends within half the range of [`crate::Time`].
    pub(super) fn is_within(&self, horizon: &Horizon) -> bool {
        let end = horizon.end(&self.totals, &self.platform, &self.unavailable, &self.availability);
        end < i128::from(i64::MAX / 2)
    }
}

/// Returns true if two profiles accept the same allotments or machines.
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
