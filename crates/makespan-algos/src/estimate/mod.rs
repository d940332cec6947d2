//! Run times that are learned while an instance is executed, as medians over ended tasks of the same kind.

mod group;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use makespan_core::{Estimate, Estimator, Instance, NewTimes, Profile, Run, TaskId, Time};

use group::EstimateGroup;

/// Maximum number of earlier runs that influence the correction of a learned estimate. Each of these runs is treated as
/// a ratio of 1. The history also estimates the run time of a command from its last `PRIOR` runs.
const PRIOR: u32 = 9;
/// If a group has at most this number of ratios, its estimates are replaced even if the median of the ratios has hardly
/// changed. The reason is that the estimates use a median that also includes the earlier runs. With few ratios, that
/// median may have changed more.
const FIRST: usize = 2 * PRIOR as usize;
/// Number of unreleased tasks that get estimates in advance. The number of tasks that are released between the ends of
/// two tasks is rarely larger.
const AHEAD: usize = 256;
/// The ratio 1. Ratios are counted in millionths.
const UNIT: i128 = 1_000_000;

/// Replaces guessed run times by the median run time of completed tasks, and corrects run times that were learned from
/// earlier runs.
///
/// Each task has *kinds*, from the most specific to the most general, such as its command, its template and its user.
/// All tasks share one last kind.
///
/// * A task with a guessed time ([`Estimate::Guessed`]) gets a new estimate. Let K be the most specific kind of this
///   task that has at least one ended task. The new estimate is the median run time of the ended tasks of K. Before the
///   median is computed, each run time is converted to the minimum number of processors of its task. The conversion
///   uses the known or guessed speed-up of this task.
/// * For a task with a time that was learned from earlier runs ([`Estimate::Learned`]), the new estimate is the learned
///   time multiplied by a median ratio. Each ratio is the actual run time of an ended task divided by its expected run
///   time. The ended task is of the same kind, and its time was also learned. A ratio is not used if its task ended
///   before the estimate was made, because the estimate already includes this run. The median also includes a ratio of
///   one for each earlier run on which the estimate is based, up to nine times.
/// * A task with a stated time keeps this time.
///
/// Only the last 50 ended tasks of a kind are used, as in the history. The estimates of a kind are replaced when its
/// first task ends. They are replaced again when a median has changed by more than a tenth, but not before 1/250 of
/// the tasks of the kind have ended since the last replacement. No estimate exceeds the walltime of its task.
///
/// Source: Makespan, with the rules that the history uses (docs/history.md). For logs, see D. Tsafrir, Y. Etsion and
/// D. Feitelson, IEEE Trans. Parallel Distrib. Syst. 18(6), 2007, DOI 10.1109/TPDS.2007.70606, who predict the mean of
/// the last two run times of the user. Complexity: processing the end of a task takes constant time if no estimate is
/// replaced. Otherwise, the time is proportional to the number of released and unfinished tasks of the kind, plus a
/// constant of a few hundred steps. A task that has not been released yet gets its new estimate when it is released.
///
/// ```
/// use makespan_algos::estimate::Medians;
/// use makespan_core::{
///     Estimate, Estimator, Instance, Job, Outcome, Platform, ProcSet, Profile, Run, TaskId, Time,
/// };
///
/// let job = |name: &str| Job::new(name, Profile::rigid(1, Time::from_seconds(60)).unwrap());
/// let jobs = ["a", "b"].map(|name| job(name).with_estimate(Estimate::Guessed)).to_vec();
/// let instance = Instance::new(Platform::flat(1)?, jobs, vec![])?;
/// let mut medians = Medians::new(&instance, |_| Vec::new());
/// let (start, end, processors) = (Time::ZERO, Time::from_seconds(7), ProcSet::first(1));
/// let run = Run { task: TaskId(0), start, end, processors, outcome: Outcome::Succeeded, accounting: None };
/// let restated = medians.ended(&instance, &run);
/// assert_eq!((restated[0].task, restated[0].profile.longest()), (TaskId(1), Time::from_seconds(7)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Medians {
    /// The data of each task, indexed by task. The equal tasks of a bag share one entry.
    own: Vec<TaskEstimate>,
    groups: Vec<EstimateGroup>,
    /// The index of each kind in `groups`.
    kinds: BTreeMap<String, u32>,
    /// The indices of the tasks by release date. The first `joined` of these tasks are members of their groups.
    order: Vec<u32>,
    joined: usize,
}

/// The data of a task, or of the equal tasks of a bag.
#[derive(Debug)]
struct TaskEstimate {
    task: TaskId,
    profile: Profile,
    estimate: Estimate,
    walltime: Option<Time>,
    release: Time,
    /// Instant at which the estimate was made.
    made: Time,
    /// The number of equal tasks that have not ended with success.
    left: u64,
    /// The groups to which the task belongs, the most specific first.
    groups: Vec<u32>,
    /// The latest returned estimate: its time on the minimum number of processors, and whether this time is a guess.
    /// `None` if no estimate has been returned.
    told: Option<(Time, bool)>,
}

impl Default for Medians {
    /// Creates medians that have no tasks yet.
    fn default() -> Self {
        // Group 0 contains all tasks.
        let groups = vec![EstimateGroup::default()];
        Self { own: Vec::new(), groups, kinds: BTreeMap::new(), order: Vec::new(), joined: 0 }
    }
}

impl Medians {
    /// Returns medians for the tasks of `instance`. `kinds` returns the kinds of a task, the most specific first. For a
    /// bag, `kinds` is called with the first task only.
    pub fn new(instance: &Instance, kinds: impl Fn(TaskId) -> Vec<String>) -> Self {
        let mut medians = Self::default();
        medians.enter(instance, kinds, |_| Time::ZERO);
        let own = &medians.own;
        medians.order = (0..own.len() as u32).collect();
        medians.order.sort_by_key(|&number| own[number as usize].release);
        medians
    }

    /// Adds the tasks that have arrived since the last call. Returns the run times that can already be estimated.
    /// `made` returns the instant at which the estimate of a task was made.
    pub fn grow(
        &mut self,
        instance: &Instance,
        kinds: impl Fn(TaskId) -> Vec<String>,
        made: impl Fn(TaskId) -> Time,
    ) -> Vec<NewTimes> {
        let before = self.own.len();
        self.enter(instance, kinds, made);
        let mut restated = Vec::new();
        for number in before as u32..self.own.len() as u32 {
            let release = self.own[number as usize].release;
            let place = self.order.partition_point(|&other| self.own[other as usize].release <= release);
            self.order.insert(place, number);
            // The task has already joined its groups if its position is before `joined`.
            if place < self.joined {
                self.joined += 1;
                self.enrol(number, &mut restated);
            }
        }
        restated
    }

    /// Stores the tasks that have arrived since the last call.
    fn enter(&mut self, instance: &Instance, kinds: impl Fn(TaskId) -> Vec<String>, made: impl Fn(TaskId) -> Time) {
        for task in instance.different_task_ids_from(self.own.len()) {
            let mut groups = Vec::new();
            for kind in kinds(task) {
                let new = self.groups.len() as u32;
                let group = *self.kinds.entry(kind).or_insert(new);
                if group == new {
                    self.groups.push(EstimateGroup::default());
                }
                groups.push(group);
            }
            groups.push(0);
            let (own, left) = (instance.task(task), instance.job_of(task).equal_tasks());
            let (profile, estimate, walltime) = (own.profile.clone(), own.estimate, instance.walltime(task));
            let (release, made) = (instance.release(task), made(task));
            self.own.push(TaskEstimate { task, profile, estimate, walltime, release, made, left, groups, told: None });
        }
    }

    /// Adds the tasks that are released by `now` to their groups. Also adds the next `AHEAD` tasks in the order of
    /// release.
    fn join(&mut self, now: Time, restated: &mut Vec<NewTimes>) {
        let released = |number: &u32| self.own[*number as usize].release <= now;
        let ahead = self.order.partition_point(released) + AHEAD;
        while self.joined < ahead.min(self.order.len()) {
            let number = self.order[self.joined];
            self.joined += 1;
            self.enrol(number, restated);
        }
    }

    /// Adds a task to its groups, and estimates its run time from the run times in these groups.
    fn enrol(&mut self, number: u32, restated: &mut Vec<NewTimes>) {
        for group in self.own[number as usize].groups.clone() {
            if self.may_decide(number, group) {
                self.groups[group as usize].members.push(number);
            }
        }
        if let Some(group) = self.decisive(&self.own[number as usize]) {
            restated.extend(self.tell(number, group));
        }
    }

    /// Returns a new estimate of a member, computed from the times in `group`. Returns `None` if the estimate has not
    /// changed.
    fn tell(&mut self, member: u32, group: u32) -> Option<NewTimes> {
        let own = &self.own[member as usize];
        let (longest, estimate) = self.estimate(own, group)?;
        let now = (longest, estimate.is_guess());
        if own.told == Some(now) {
            return None;
        }
        let restated = NewTimes { task: own.task, profile: own.profile.clone().lasting(longest), estimate };
        self.own[member as usize].told = Some(now);
        Some(restated)
    }

    /// Returns the group that determines the run time of a task: the most specific of its groups that contains a
    /// usable time or ratio. Returns `None` if there is no such group, or if the run time is stated.
    fn decisive(&self, own: &TaskEstimate) -> Option<u32> {
        let first = |is_known: &dyn Fn(&EstimateGroup) -> bool| {
            let mut groups = own.groups.iter().copied();
            groups.find(|&group| is_known(&self.groups[group as usize]))
        };
        match own.estimate {
            Estimate::Stated => None,
            Estimate::Guessed => first(&|group| group.times.len() > 0),
            // Ignore group 0, because ratios of unrelated programs do not apply to the task.
            Estimate::Learned { .. } => first(&|group| group.has_ratios(own.made)).filter(|&group| group > 0),
        }
    }

    /// Returns whether `group` determines the time of `member` now, or may determine it later. The result is false if
    /// a more specific group already determines the time.
    fn may_decide(&self, member: u32, group: u32) -> bool {
        let own = &self.own[member as usize];
        let place = |group| own.groups.iter().position(|&other| other == group);
        own.estimate != Estimate::Stated && self.decisive(own).is_none_or(|decisive| place(decisive) >= place(group))
    }

    /// Returns the estimate of a task from the times in `group`. Returns `None` if the time is stated, or if another
    /// group determines the time.
    fn estimate(&self, own: &TaskEstimate, group: u32) -> Option<(Time, Estimate)> {
        if self.decisive(own) != Some(group) {
            return None;
        }
        let found = &self.groups[group as usize];
        let (longest, estimate) = match own.estimate {
            Estimate::Stated => return None,
            Estimate::Guessed => {
                let learned = Estimate::Learned { runs: found.times.len() as u32, spread: found.times.spread() };
                (found.times.median(0, 0)?, if group == 0 { Estimate::Guessed } else { learned })
            }
            Estimate::Learned { runs, .. } => {
                let prior = runs.clamp(1, PRIOR);
                let ratios = found.ratios(own.made);
                let ratio = ratios.median(UNIT as i64, prior as usize)?;
                let longest = i128::from(own.profile.longest().ticks()) * i128::from(ratio) / UNIT;
                let (runs, spread) = (prior + ratios.len() as u32, ratios.spread());
                (i64::try_from(longest).unwrap_or(i64::MAX), Estimate::Learned { runs, spread })
            }
        };
        let longest = Time::from_ticks(longest.max(1));
        Some((own.walltime.map_or(longest, |walltime| longest.min(walltime)), estimate))
    }
}

impl Estimator for Medians {
    fn ended(&mut self, instance: &Instance, run: &Run) -> Vec<NewTimes> {
        let number = instance.different(run.task);
        let Some(own) = self.own.get_mut(number) else { return Vec::new() };
        own.left = own.left.saturating_sub(1);
        let expected = instance.platform().time(&own.profile, &run.processors).unwrap_or(Time::ZERO);
        let (took, expected) = (i128::from((run.end - run.start).ticks().max(1)), i128::from(expected.ticks().max(1)));
        let alone = took * i128::from(own.profile.longest().ticks()) / expected;
        let (alone, ratio) = (i64::try_from(alone).unwrap_or(i64::MAX), took * UNIT / expected);
        let ratio = i64::try_from(ratio).unwrap_or(i64::MAX);
        let learned = matches!(own.estimate, Estimate::Learned { .. });
        let groups = own.groups.clone();
        let mut restated = Vec::new();
        self.join(run.end, &mut restated);
        for group in groups {
            let found = &mut self.groups[group as usize];
            if !found.add(alone.max(1), learned.then_some((run.end, ratio))) {
                continue;
            }
            let mut members = std::mem::take(&mut found.members);
            members.retain(|&member| self.own[member as usize].left > 0 && self.may_decide(member, group));
            restated.extend(members.iter().filter_map(|&member| self.tell(member, group)));
            self.groups[group as usize].members = members;
        }
        restated
    }
}
