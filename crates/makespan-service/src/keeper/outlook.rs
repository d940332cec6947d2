//! Expected starts and ends of running and waiting tasks.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use makespan_core::{Instance, ProcSet, Time};

use super::promise::Promise;
use super::quota::{ProcessorLimits, ProcessorUse};
use crate::store::PendingRow;
use crate::words::{BoundPicture, JobNumber, Who};

/// A waiting task in a plan.
#[derive(Clone, Debug)]
pub(super) struct ExpectedTask {
    pub job: JobNumber,
    pub task: u64,
    pub title: String,
    pub user: String,
    /// The planned start, in seconds since 1970.
    pub start: f64,
    pub end: f64,
    /// The planned start and end, counted from the beginning of the run.
    pub slot: (Time, Time),
    pub processors: ProcSet,
    /// The spread of the run time: the standard deviation of the logarithm of the run time.
    pub spread: f64,
    /// The earliest start of the job, if the job waits for it.
    pub begin: Option<f64>,
    /// The jobs for which the task waits.
    pub after: Vec<JobNumber>,
    /// The position in [`Outlook::running`] of the task that decides, by its end, the start of this task.
    pub behind: Option<usize>,
}

#[cfg(test)]
impl ExpectedTask {
    /// Returns the first task of a job of `user`, which takes exactly its expected time.
    pub fn of_job(job: u64, user: &str, (start, end): (f64, f64), processors: ProcSet) -> Self {
        Self {
            job: JobNumber(job),
            task: 0,
            title: String::new(),
            user: user.into(),
            start,
            end,
            slot: (Time::ZERO, Time::ZERO),
            processors,
            spread: 0.0,
            begin: None,
            after: Vec::new(),
            behind: None,
        }
    }
}

/// A running task.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    pub job: JobNumber,
    pub user: String,
    /// The number of the task in its job.
    pub task: u64,
    pub processors: u32,
    pub place: ProcSet,
    /// The names of the resources besides processors that the task holds.
    pub resources: Vec<String>,
    pub start: f64,
    /// The expected end, in seconds since 1970.
    pub end: f64,
    /// The length, in seconds, that was originally expected, if the task has run longer and its end is unknown.
    /// Otherwise `None`.
    pub longer_than: Option<f64>,
    /// The instant at which the task reaches its walltime limit, in seconds since 1970.
    pub latest: Option<f64>,
    /// The spread of the remaining run time: the standard deviation of the logarithm of this time.
    pub spread: f64,
}

impl Runs {
    /// Returns true if the task has run longer than expected at the instant `now`, so that its end is unknown.
    pub fn is_overdue(&self, now: f64) -> bool {
        self.longer_than.is_some() || self.end < now
    }

    /// Returns the number of the job, or 0 if `who` may not see the job.
    pub fn number_for(&self, who: &Who) -> JobNumber {
        if who.may_see(&self.user) { self.job } else { JobNumber(0) }
    }
}

/// A period in which the plan uses no processors of a set: a reservation, or processors that are down.
#[derive(Clone, Debug)]
pub(super) struct ClosedPeriod {
    /// The name of the reservation, or `None` if the processors are down.
    pub reservation: Option<String>,
    /// The start, in seconds since 1970.
    pub start: f64,
    pub end: f64,
    pub processors: ProcSet,
}

impl ClosedPeriod {
    /// Returns whether the period has an instant in common with the time from `start` to `end`.
    pub fn overlaps(&self, start: f64, end: f64) -> bool {
        self.start < end && start < self.end
    }
}

/// The planned start and end of the waiting tasks of a job.
#[derive(Clone, Debug)]
pub(super) struct JobPlan {
    /// The earliest known start of the job's tasks. If no start is known, the earliest assumed start.
    pub start: f64,
    /// The latest end of a task of the job.
    pub end: f64,
    /// The position in [`Outlook::running`] of the task that decides `start` by its end.
    start_behind: Option<usize>,
    /// The position in [`Outlook::running`] of the task that decides `end` by its own end.
    end_behind: Option<usize>,
}

/// The expected start and end of a waiting or running job.
#[derive(Debug, Default)]
pub(super) struct Expectation<'a> {
    pub start: Option<f64>,
    pub end: Option<f64>,
    /// The expected length, in seconds, of a task of the job, if the task has run longer and its end is unknown.
    /// Otherwise `None`.
    pub longer_than: Option<f64>,
    /// The running task with an unknown end on which the start or the end of the job depends, if there is one.
    pub behind: Option<&'a Runs>,
}

/// The changes that a plan takes into account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PlanInput {
    /// The number of the last event of jobs.
    pub events: u64,
    /// The number of changes of reservations and limits, or `None` if the engine may not have received the last change.
    pub settings: Option<u64>,
}

/// The job and the user of a task of a plan.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    pub job: JobNumber,
    pub task: u64,
    pub title: String,
    pub user: String,
}

/// The running and waiting tasks at one instant, from which plans are made with and without further jobs.
#[derive(Debug)]
pub(super) struct PlanState {
    pub origin: f64,
    pub now: Time,
    pub includes: PlanInput,
    /// The waiting jobs that the engine has received, and a platform in which the running tasks occupy their processors.
    pub received: Instance,
    /// The owner of each task of `received`.
    pub owners: Vec<Option<Owner>>,
    /// The jobs that the engine has not received, because they wait for other jobs or for their earliest start.
    pub pending: Vec<PendingRow>,
    pub running: Vec<Runs>,
    /// The processors of the running tasks, by user.
    pub uses: Vec<ProcessorUse>,
    /// The maximum number of processors that a user may use at once, for each user with a limit.
    pub limits: ProcessorLimits,
    pub closed: Vec<ClosedPeriod>,
    /// The promise that a plan keeps, if possible.
    pub promise: Option<Promise>,
}

/// A plan of the waiting tasks at one instant, with the running tasks taken into account.
#[derive(Debug)]
pub(super) struct Outlook {
    pub state: Arc<PlanState>,
    /// The planned instance: the waiting jobs, and a platform in which the running tasks occupy their processors. The
    /// platform has a licence for each processor that a user with a limit may use.
    pub instance: Instance,
    /// The waiting tasks, sorted by start.
    pub expected: Vec<ExpectedTask>,
    pub jobs: BTreeMap<JobNumber, JobPlan>,
    pub bounds: Vec<BoundPicture>,
}

impl Deref for Outlook {
    type Target = PlanState;

    fn deref(&self) -> &PlanState {
        &self.state
    }
}

#[cfg(test)]
impl PlanState {
    /// Returns the state of tests: running tasks, without limits and closed periods.
    pub fn of_running(platform: makespan_core::Platform, running: Vec<Runs>) -> Self {
        Self {
            origin: 0.0,
            now: Time::ZERO,
            includes: PlanInput::default(),
            received: Instance::new(platform, Vec::new(), Vec::new()).unwrap(),
            owners: Vec::new(),
            pending: Vec::new(),
            running,
            uses: Vec::new(),
            limits: ProcessorLimits::new(),
            closed: Vec::new(),
            promise: None,
        }
    }
}

impl Outlook {
    /// Returns the processors on which no task runs.
    pub fn free(&self) -> ProcSet {
        let used = self.running.iter().fold(ProcSet::new(), |used, runs| used.union(&runs.place));
        ProcSet::first(self.instance.platform().processors()).difference(&used)
    }

    /// Returns the outlook of tests: a plan without bounds.
    #[cfg(test)]
    pub fn of_tasks(state: PlanState, expected: Vec<ExpectedTask>) -> Self {
        let (instance, jobs) = (state.received.clone(), by_job(&expected, &state.running));
        Self { state: Arc::new(state), instance, expected, jobs, bounds: Vec::new() }
    }

    /// Returns true if an expected start or end has passed, or if a task has run longer than expected.
    pub fn is_overdue(&self, now: f64) -> bool {
        self.running.iter().any(|runs| runs.is_overdue(now)) || self.expected.first().is_some_and(|one| one.start < now)
    }

    /// Returns the running task at the position `behind`, if the end of this task is unknown because it has run longer
    /// than expected.
    pub fn unknown(&self, behind: Option<usize>, now: f64) -> Option<&Runs> {
        self.running.get(behind?).filter(|runs| runs.is_overdue(now))
    }

    /// Returns the expected start and end of a waiting job. If the planned start has passed, both instants are
    /// postponed so that the job starts at `now`. If an instant depends on a running task with an unknown end, returns
    /// this task instead of the instant.
    pub fn of_waiting(&self, job: JobNumber, now: f64) -> Option<Expectation<'_>> {
        let plan = self.jobs.get(&job)?;
        let late = (now - plan.start).max(0.0);
        let [start, end] = [plan.start_behind, plan.end_behind].map(|behind| self.unknown(behind, now));
        Some(Expectation {
            start: start.is_none().then_some(plan.start + late),
            end: start.or(end).is_none().then_some(plan.end + late),
            behind: start.or(end),
            ..Expectation::default()
        })
    }

    /// Returns the expected end of a running job, or the reason why the end is unknown. The end is never before `now`.
    pub fn of_running(&self, job: JobNumber, started: Option<f64>, now: f64) -> Expectation<'_> {
        let own = || self.running.iter().filter(|runs| runs.job == job);
        let longer = |length| Expectation { longer_than: length, ..Expectation::default() };
        let until = |end| Expectation { end, ..Expectation::default() };
        let plan = self.jobs.get(&job);
        if own().next().is_none() {
            // The job has started after the plan was made.
            let length = plan.map(|plan| plan.end - plan.start);
            let end = started.zip(length).map(|(started, length)| started + length);
            return if end.is_some_and(|end| end < now) { longer(length) } else { until(end) };
        }
        if let Some(length) = own().filter_map(|runs| runs.longer_than).reduce(f64::max) {
            return longer(Some(length));
        }
        if let Some(runs) = plan.and_then(|plan| self.unknown(plan.end_behind, now)) {
            let is_own = runs.job == job;
            return if is_own {
                longer(Some(runs.end - runs.start))
            } else {
                Expectation { behind: Some(runs), ..longer(None) }
            };
        }
        let end = own().map(|runs| runs.end).chain(plan.map(|plan| plan.end)).reduce(f64::max);
        match end {
            // The expected end has passed since the plan was made.
            Some(end) if end < now => longer(own().map(|runs| runs.end - runs.start).reduce(f64::max)),
            end => until(end),
        }
    }

    /// Returns the expected length of a running or waiting task.
    pub fn length_of(&self, job: JobNumber, task: u64) -> Option<f64> {
        let runs = self.running.iter().find(|runs| (runs.job, runs.task) == (job, task));
        let runs = runs.map(|runs| runs.longer_than.unwrap_or(runs.end - runs.start));
        let waits = || self.expected.iter().find(|one| (one.job, one.task) == (job, task));
        runs.or_else(|| waits().map(|one| one.end - one.start))
    }
}

/// Returns the first start and the last end of the tasks of each job. `expected` is sorted by start.
pub(super) fn by_job(expected: &[ExpectedTask], running: &[Runs]) -> BTreeMap<JobNumber, JobPlan> {
    let is_unknown = |behind: Option<usize>| behind.is_some_and(|at| running[at].longer_than.is_some());
    let mut jobs: BTreeMap<JobNumber, JobPlan> = BTreeMap::new();
    for &ExpectedTask { job, start, end, behind, .. } in expected {
        let plan = jobs.entry(job).or_insert(JobPlan { start, end, start_behind: behind, end_behind: behind });
        if is_unknown(plan.start_behind) && !is_unknown(behind) {
            (plan.start, plan.start_behind) = (start, behind);
        }
        if is_unknown(behind) || (end > plan.end && !is_unknown(plan.end_behind)) {
            plan.end_behind = behind;
        }
        plan.end = plan.end.max(end);
    }
    jobs
}
