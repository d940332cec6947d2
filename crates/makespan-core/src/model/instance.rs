//! The problem: platform, jobs, and unavailable periods.

mod after;
mod announce;
mod error;
mod fit;
mod names;
mod note;
mod part;
mod restate;
mod room;
mod simple;
mod totals;
mod walltime;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::model::table::TaskTable;
use crate::model::{
    Availability, Demand, Dependence, EndPenalty, Estimate, Job, JobId, Payload, Platform, ProcSet, Profile,
    ResourceId, Rows, Task, TaskId, Time, Unavailable, Weight, emptied,
};

pub use error::{InstanceError, NoRoom};
pub use note::Note;
pub use part::SubInstance;
pub use restate::NewTimes;
pub use room::NodeClasses;
pub use simple::SimpleJob;

use names::Names;
use totals::{Horizon, Totals};

/// Maximum number of closed periods, summed over all classes ([`crate::availability::Class`]) of processors.
const MAX_CLOSED: u64 = 1 << 22;

/// A checked problem: platform, jobs, and the table of their tasks. Every task can run: allotments that exceed the
/// platform or the walltime have been removed.
///
/// A job is a named range of tasks. A [`TaskId`] names each task, including each copy in a bag, although the table
/// stores a bag as one row. An instance can grow ([`Instance::append`]); existing identifiers remain valid.
///
/// ```
/// use makespan_core::{Instance, Job, Platform, ProcSet, Profile, TaskId, Time};
///
/// let job = |name: &str, processors, seconds| {
///     Job::new(name, Profile::rigid(processors, Time::from_seconds(seconds)).unwrap())
/// };
/// let bag = job("sweep", 1, 3).with_count(1000.try_into()?);
/// let instance = Instance::new(Platform::flat(8)?, vec![job("solve", 4, 20), bag], vec![])?;
/// assert_eq!((instance.jobs().len(), instance.tasks()), (2, 1001));
/// assert_eq!(instance.name(TaskId(1)), "sweep/0");
/// assert_eq!(instance.time(TaskId(0), &ProcSet::first(4)), Time::from_seconds(20));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Instance {
    platform: Platform,
    jobs: Vec<Job<Rows>>,
    table: TaskTable,
    totals: Totals,
    /// An instant by which every schedule has ended. If the instance was built from jobs that were already checked,
    /// this field is `None` until the first append.
    horizon: Option<Horizon>,
    names: Names,
    unavailable: Vec<Unavailable>,
    availability: Availability,
    held: Vec<HeldAmount>,
}

/// An amount of a resource that is in use by work outside this instance, such as tasks that already run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldAmount {
    /// The node that provides the amount, as an index into the nodes of the platform. `None` if the resource does not
    /// belong to nodes.
    pub node: Option<usize>,
    /// The resource of which the amount is in use.
    pub resource: ResourceId,
    /// The amount in use.
    pub amount: u64,
    /// The instant at which the amount becomes free. The amount is in use from time 0.
    pub until: Time,
}

impl Instance {
    /// Maximum number of tasks in an instance that is planned, simulated or run task by task.
    pub const MAX_TASKS: u64 = 10_000_000;

    /// Checks the platform, the jobs and the unavailable periods, and combines them into an instance. Removes
    /// allotments that have more processors than the platform or on which a job would exceed its walltime.
    ///
    /// # Errors
    /// [`InstanceError`] names the job or period that is wrong.
    pub fn new(platform: Platform, jobs: Vec<Job>, unavailable: Vec<Unavailable>) -> Result<Self, InstanceError> {
        names::check_names(&jobs)?;
        let waits = after::resolved(&jobs, 0, |_| None)?;
        let jobs = fit::fitted(jobs, &platform)?;
        check_periods(&unavailable, platform.processors())?;
        let availability = Availability::limited(platform.processors(), &unavailable, MAX_CLOSED)
            .ok_or(InstanceError::TooManyPeriods { most: MAX_CLOSED })?;
        let mut instance = Self::empty(platform, unavailable, availability);
        instance.extend(jobs, waits)?;
        Ok(instance)
    }

    fn empty(platform: Platform, unavailable: Vec<Unavailable>, availability: Availability) -> Self {
        let (table, totals, names) = (TaskTable::default(), Totals::default(), Names::default());
        Self {
            platform,
            jobs: Vec::new(),
            table,
            totals,
            horizon: None,
            names,
            unavailable,
            availability,
            held: Vec::new(),
        }
    }

    /// Creates an instance of jobs that were already checked for this platform, without checking them again.
    pub(crate) fn joined(platform: Platform, jobs: Vec<Job>, unavailable: Vec<Unavailable>) -> Self {
        let availability = Availability::new(platform.processors(), &unavailable);
        let mut instance = Self::empty(platform, unavailable, availability);
        jobs.iter().for_each(|job| instance.totals.add(job, &instance.platform));
        let known: after::JobIdsByName<'_> =
            jobs.iter().zip(0..).map(|(job, id)| (job.name.as_str(), JobId(id))).collect();
        let waits = jobs.iter().map(|job| after::among(job, &known)).collect();
        instance.push(jobs, waits).expect("the number of edges between checked jobs is within the limit");
        instance
    }

    /// Appends jobs. Existing jobs and tasks keep their identifiers. The result equals an instance that is created at
    /// once from the existing and the new jobs. If an error is returned, the instance is unchanged.
    ///
    /// Takes O(added jobs and tasks). The first call also takes O(existing jobs), to collect their names.
    ///
    /// # Errors
    /// [`InstanceError`] names the job that is wrong.
    ///
    /// ```
    /// use makespan_core::{Instance, Job, Platform, Profile, TaskId, Time};
    ///
    /// let job = |name: &str| Job::new(name, Profile::rigid(1, Time::from_seconds(5)).unwrap());
    /// let mut instance = Instance::new(Platform::flat(2)?, vec![job("a")], vec![])?;
    /// instance.append(vec![job("b"), job("c")])?;
    /// assert_eq!((instance.jobs().len(), instance.name(TaskId(2))), (3, "c".into()));
    /// assert!(instance.append(vec![job("a")]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append(&mut self, jobs: Vec<Job>) -> Result<(), InstanceError> {
        names::check_names(&jobs)?;
        self.names.check_new(&self.jobs, &jobs)?;
        let before = self.jobs.len() as u32;
        let waits = after::resolved(&jobs, before, |name| self.names.id(name))?;
        let jobs = fit::fitted(jobs, &self.platform)?;
        let names = jobs.iter().map(|job| job.name.as_str().into()).collect();
        self.extend(jobs, waits)?;
        self.names.add(names, before);
        Ok(())
    }

    /// Adds jobs that fit the platform. Returns an error if some schedule could end later than half the range of
    /// [`Time`]; the other half ensures that sums of times in schedulers never saturate.
    fn extend(&mut self, jobs: Vec<Job>, waits: Vec<Vec<JobId>>) -> Result<(), InstanceError> {
        let mut totals = self.totals.clone();
        jobs.iter().for_each(|job| totals.add(job, &self.platform));
        totals.check(&self.platform)?;
        let more = |mut horizon: Horizon| {
            jobs.iter().for_each(|job| horizon.add(&job.work, !job.after.is_empty(), &self.platform));
            let end = horizon.end(&totals, &self.platform, &self.unavailable, &self.availability);
            (end < i128::from(i64::MAX / 2)).then_some(horizon)
        };
        // If times were replaced, the stored horizon may be later than necessary. So before the jobs are rejected, the
        // horizon is computed again.
        let horizon = self.horizon.clone().and_then(more).or_else(|| more(self.measured_horizon()));
        let Some(horizon) = horizon else { return Err(InstanceError::TooLong) };
        self.push(jobs, waits)?;
        (self.totals, self.horizon) = (totals, Some(horizon));
        Ok(())
    }

    /// Adds jobs. `waits` contains, for each new job, the jobs that it waits for. If an error is returned, the
    /// instance is unchanged.
    fn push(&mut self, jobs: Vec<Job>, waits: Vec<Vec<JobId>>) -> Result<(), InstanceError> {
        let begin = self.jobs.len();
        self.check_edges(&jobs, &waits)?;
        self.jobs.reserve(jobs.len());
        for (job, after) in emptied(jobs).zip(waits) {
            let id = JobId(self.jobs.len() as u32);
            let mut job = self.table.append(id, job, &self.platform);
            job.work.after = after.into();
            self.jobs.push(job);
        }
        for job in &self.jobs[begin..] {
            job.work.after.iter().for_each(|before| self.table.wait(job, &self.jobs[before.index()]));
        }
        Ok(())
    }

    /// Returns the platform.
    pub fn platform(&self) -> &Platform {
        &self.platform
    }

    /// Returns the number of processors of the platform.
    pub fn processors(&self) -> u32 {
        self.platform.processors()
    }

    /// Returns the jobs, in file order.
    pub fn jobs(&self) -> &[Job<Rows>] {
        &self.jobs
    }

    /// Returns the job with this id.
    pub fn job(&self, id: JobId) -> &Job<Rows> {
        &self.jobs[id.index()]
    }

    /// Returns all job ids, in file order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = JobId> + ExactSizeIterator + Clone + use<> {
        (0..self.jobs.len() as u32).map(JobId)
    }

    /// Returns the total number of tasks of all jobs. A job that is neither a bag nor compound has one task.
    pub fn tasks(&self) -> u64 {
        self.table.tasks()
    }

    /// Returns all tasks, in the order of their jobs.
    pub fn task_ids(&self) -> impl DoubleEndedIterator<Item = TaskId> + ExactSizeIterator + Clone + use<> {
        (0..self.tasks() as usize).map(TaskId::at)
    }

    /// Returns true if the task exists.
    pub fn has_task(&self, task: TaskId) -> bool {
        task.0 < self.tasks()
    }

    /// Returns a task with its profile and command. Takes O(1), or O(log jobs) if the instance has bags.
    pub fn task(&self, task: TaskId) -> &Task {
        &self.table.row(task).task
    }

    /// Returns the time of a task on each allotment.
    pub fn profile(&self, task: TaskId) -> &Profile {
        &self.task(task).profile
    }

    /// Returns the profile of the equal tasks of a job. For a compound job, returns the profile of its first task.
    pub fn profile_of(&self, job: JobId) -> &Profile {
        self.profile_at(job, 0)
    }

    /// Returns the profile of the job's task at the position `number`. Only in a compound job do tasks have different
    /// profiles.
    pub fn profile_at(&self, job: JobId, number: u32) -> &Profile {
        &self.table.row_of(self.job(job), number).task.profile
    }

    /// Returns the resources that a task needs besides processors while it runs, each resource at most once. Takes
    /// O(1), or O(log jobs) if the instance has bags.
    pub fn demands(&self, task: TaskId) -> &[Demand] {
        self.table.demands(task)
    }

    /// Returns the position of a task's demands in [`Instance::distinct_demands`].
    pub fn demands_number(&self, task: TaskId) -> usize {
        self.table.demands_number(task) as usize
    }

    /// Returns the demands of all tasks, without duplicates: one entry for each distinct list of demands. The first
    /// entry is the empty demand.
    pub fn distinct_demands(&self) -> impl ExactSizeIterator<Item = &[Demand]> + Clone {
        self.table.distinct_demands().iter().map(|demands| &**demands)
    }

    /// Returns true if some task needs a resource besides processors.
    pub fn has_demands(&self) -> bool {
        self.table.distinct_demands().len() > 1
    }

    /// Returns the number of distinct tasks. A bag has one distinct task. All tasks of a compound job are distinct.
    pub fn different_tasks(&self) -> usize {
        self.table.rows()
    }

    /// Returns the number of distinct tasks with guessed times ([`crate::Estimate::Guessed`]).
    pub fn guesses(&self) -> usize {
        self.table.guesses()
    }

    /// Returns true if some times are guesses. In this case, a bound on the instance is valid only if the guesses are
    /// right.
    pub fn has_guesses(&self) -> bool {
        self.table.guesses() > 0
    }

    /// Returns the condition under which a bound on this instance is valid: `" if the guesses hold"`,
    /// `" if the estimates hold"`, or an empty text if all times are stated.
    pub fn condition(&self) -> &'static str {
        if self.has_guesses() {
            " if the guesses hold"
        } else if self.different_task_ids().any(|task| self.task(task).estimate != Estimate::Stated) {
            " if the estimates hold"
        } else {
            ""
        }
    }

    /// Returns one task of each group of equal tasks. Tasks are equal if they belong to the same bag.
    pub fn different_task_ids(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.jobs.iter().flat_map(Job::different_task_ids)
    }

    /// Returns the tasks of [`Instance::different_task_ids`] without the first `number` tasks.
    pub fn different_task_ids_from(&self, number: usize) -> impl Iterator<Item = TaskId> + '_ {
        let first = self.jobs.partition_point(|job| job.work.range.end as usize <= number);
        let before = self.jobs.get(first).map_or(0, |job| number.saturating_sub(job.work.range.start as usize));
        self.jobs[first..].iter().flat_map(Job::different_task_ids).skip(before)
    }

    /// Returns the position of a task in [`Instance::different_task_ids`]. All tasks of a bag have the position of its
    /// first task.
    pub fn different(&self, task: TaskId) -> usize {
        self.table.number(task)
    }

    /// Returns all tasks that are equal to a task, including the task itself. Tasks are equal if they belong to the
    /// same bag.
    pub fn equal_tasks(&self, task: TaskId) -> impl DoubleEndedIterator<Item = TaskId> + ExactSizeIterator + use<> {
        let row = self.table.row(task);
        let (first, count) = (row.first.0, self.job(row.job).equal_tasks() as usize);
        (0..count).map(move |number| TaskId(first + number as u64))
    }

    /// Returns the id of a task's job.
    pub fn job_id(&self, task: TaskId) -> JobId {
        self.table.row(task).job
    }

    /// Returns the job of a task.
    pub fn job_of(&self, task: TaskId) -> &Job<Rows> {
        self.job(self.job_id(task))
    }

    /// Returns the position of a task within its job, counted from 0.
    pub fn number(&self, task: TaskId) -> u32 {
        (task.0 - self.job_of(task).first().0) as u32
    }

    /// Returns the earliest start of a task: the release date of its job.
    pub fn release(&self, task: TaskId) -> Time {
        self.job_of(task).release
    }

    /// Returns the weight of a task: its share of the weight of its job ([`Job::task_weight`]).
    pub fn weight(&self, task: TaskId) -> Weight {
        self.job_of(task).task_weight()
    }

    /// Returns the maximum run time of a task: the walltime of its job. A task that runs longer is terminated.
    pub fn walltime(&self, task: TaskId) -> Option<Time> {
        self.job_of(task).walltime
    }

    /// Returns the name of a task: `job/task` in a compound job, `bag/17` in a bag, otherwise the name of its job.
    pub fn name(&self, task: TaskId) -> Cow<'_, str> {
        let row = self.table.row(task);
        let job = self.job(row.job);
        match &row.name {
            Some(name) => Cow::Owned(format!("{}/{name}", job.name)),
            None if job.is_bag() => Cow::Owned(format!("{}/{}", job.name, task.0 - row.first.0)),
            None => Cow::Borrowed(&job.name),
        }
    }

    /// Returns the name of a task within its job: the name in the file for a compound job, otherwise the position of
    /// the task ([`Instance::number`]).
    pub fn short_name(&self, task: TaskId) -> Cow<'_, str> {
        let row = self.table.row(task);
        row.name.as_ref().map_or_else(|| Cow::Owned((task.0 - row.first.0).to_string()), |name| Cow::Borrowed(&**name))
    }

    /// Returns the command of a task: its program and the arguments of the program. In a bag, `{task}` is replaced by
    /// the position of the task ([`Instance::number`]).
    pub fn command(&self, task: TaskId) -> Cow<'_, [String]> {
        let row = self.table.row(task);
        if !self.job(row.job).is_bag() {
            return Cow::Borrowed(&row.task.command);
        }
        let number = (task.0 - row.first.0).to_string();
        row.task.command.iter().map(|word| word.replace("{task}", &number)).collect()
    }

    /// Returns the edges to a task, in the order in which they were given. Takes O(1), or O(log jobs) if the instance
    /// has bags.
    pub fn incoming(
        &self,
        task: TaskId,
    ) -> impl DoubleEndedIterator<Item = &Dependence> + ExactSizeIterator + Clone + '_ {
        self.table.incoming(task)
    }

    /// Returns the edges from a task, in the order in which they were given. Takes O(1), or O(log jobs) if the instance
    /// has bags.
    pub fn outgoing(
        &self,
        task: TaskId,
    ) -> impl DoubleEndedIterator<Item = &Dependence> + ExactSizeIterator + Clone + '_ {
        self.table.outgoing(task)
    }

    /// Returns the positions of the edges to a task in [`Instance::edges`], ascending.
    pub fn incoming_edges(&self, task: TaskId) -> &[u32] {
        self.table.incoming_edges(task)
    }

    /// Returns the positions of the edges from a task in [`Instance::edges`], ascending.
    pub fn outgoing_edges(&self, task: TaskId) -> &[u32] {
        self.table.outgoing_edges(task)
    }

    /// Returns all edges. The jobs that one call of [`Instance::new`] or [`Instance::append`] added form a group. Each
    /// group lists first the edges within each job, job by job, then the edges by which its jobs wait for other jobs.
    pub fn edges(&self) -> &[Dependence] {
        self.table.edges()
    }

    /// Returns the edges between the tasks of a job, in the order in which they were given.
    pub fn edges_of(&self, job: JobId) -> &[Dependence] {
        let edges = self.edge_numbers(job);
        &self.edges()[edges.start as usize..edges.end as usize]
    }

    /// Returns the positions of a job's edges in [`Instance::edges`].
    pub fn edge_numbers(&self, job: JobId) -> Range<u32> {
        self.job(job).work.edges.clone()
    }

    /// Returns true if some job waits for another.
    pub fn has_edges_between_jobs(&self) -> bool {
        self.table.between() > 0
    }

    /// Returns all jobs, each after the jobs that it waits for. If several jobs may come next, the earliest one in file
    /// order comes next.
    pub fn jobs_in_order(&self) -> Vec<JobId> {
        if !self.has_edges_between_jobs() {
            return self.ids().collect();
        }
        let before = self.jobs.iter().map(|job| job.waits_for().iter().map(|job| job.0).collect());
        after::sorted(&before.collect::<Vec<Vec<u32>>>()).expect("cycles are rejected").into_iter().map(JobId).collect()
    }

    /// Returns the jobs, in file order, that no other job waits for. In every schedule, the job that ends last is one
    /// of these jobs.
    pub fn last_jobs(&self) -> Vec<JobId> {
        let mut is_awaited = vec![false; self.jobs.len()];
        self.jobs.iter().flat_map(Job::waits_for).for_each(|job| is_awaited[job.index()] = true);
        self.ids().filter(|id| !is_awaited[id.index()]).collect()
    }

    /// Returns the distinct tasks of a job, each after the tasks that it waits for. If several tasks may come next, the
    /// earliest one in file order comes next. The first task of a bag represents the bag.
    pub fn order(&self, job: JobId) -> impl DoubleEndedIterator<Item = TaskId> + ExactSizeIterator + Clone + '_ {
        self.table.order(self.job(job))
    }

    /// Returns the distinct tasks of all jobs, job by job, each after the tasks that it waits for. The first task of a
    /// bag represents the bag.
    pub fn in_order(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.jobs_in_order().into_iter().flat_map(|id| self.order(id))
    }

    /// Returns the estimated time of a task on these processors. If the profile states a time for each machine, the
    /// result is the time on the machine to which the processors belong. Otherwise, the result is the profile's time
    /// on this number of processors, at the speed of the slowest processor.
    ///
    /// # Panics
    /// Panics if the task does not accept these processors ([`Instance::accepts`]).
    pub fn time(&self, task: TaskId, processors: &ProcSet) -> Time {
        self.platform
            .time(self.profile(task), processors)
            .expect("the task must be able to run on the given processors")
    }

    /// Like [`Instance::time`], but returns `None` if the task cannot run on these processors ([`Instance::accepts`]).
    pub fn try_time(&self, task: TaskId, processors: &ProcSet) -> Option<Time> {
        let time = self.platform.time(self.profile(task), processors)?;
        self.walltime(task).is_none_or(|walltime| time <= walltime).then_some(time)
    }

    /// Returns true if a task can run on these processors: the task accepts this number of processors, can run on the
    /// machine to which they belong, and ends within its walltime. Ids beyond the platform are ignored.
    pub fn accepts(&self, task: TaskId, processors: &ProcSet) -> bool {
        self.try_time(task, processors).is_some()
    }

    /// Returns the time of a sequential task on one processor of the node at position `node`. If the profile states a
    /// time for this machine, returns this time. Otherwise, returns the time of the task divided by the speed of the
    /// node, rounded up to a tick. Returns `None` if the task is not sequential, or cannot run on the node within its
    /// walltime.
    pub fn time_on(&self, task: TaskId, node: usize) -> Option<Time> {
        let time = self.platform.time_on(self.profile(task), node)?;
        self.walltime(task).is_none_or(|walltime| time <= walltime).then_some(time)
    }

    /// Returns true if some task has a time of its own on each machine (*unrelated* machines).
    pub fn has_machine_times(&self) -> bool {
        self.totals.machine_times > 0
    }

    /// Returns true if the time of a task depends only on its number of processors, and there is no network.
    /// Algorithms that only count processors require such instances. Some sets of processors may still be forbidden
    /// ([`Platform::restricts_placement`]).
    pub fn has_equal_processors(&self) -> bool {
        self.platform.is_homogeneous() && !self.has_machine_times()
    }

    /// Returns true if every job takes one processor, on any node. Algorithms that map jobs to machines require such
    /// instances. The machines may be *uniform* (the time of a job is its work divided by the speed of the machine) or
    /// *unrelated* (each job states a time for each machine).
    pub fn is_sequential(&self) -> bool {
        self.totals.parallel == 0 && !self.has_compound_jobs()
    }

    /// Returns the reservations and outages, as they were given to [`Instance::new`].
    pub fn unavailable(&self) -> &[Unavailable] {
        &self.unavailable
    }

    /// Returns the reservations and outages, grouped into classes of processors.
    pub fn availability(&self) -> &Availability {
        &self.availability
    }

    /// Returns this instance with the given amounts already in use by work outside the instance.
    #[must_use]
    pub fn holding(self, held: Vec<HeldAmount>) -> Self {
        Self { held, ..self }
    }

    /// Returns the amounts of resources that are already in use by work outside the instance.
    pub fn held(&self) -> &[HeldAmount] {
        &self.held
    }

    /// Returns the earliest release date, or zero if there are no jobs.
    pub fn first_release(&self) -> Time {
        self.totals.releases.map_or(Time::ZERO, |(first, _)| first)
    }

    /// Returns true if the jobs have different release dates.
    pub fn has_release_dates(&self) -> bool {
        self.totals.releases.is_some_and(|(first, last)| first < last)
    }

    /// Returns true if some task belongs to a gang ([`Task::gang`]).
    pub fn has_gangs(&self) -> bool {
        self.table.has_gangs()
    }

    /// Returns true if the platform states setup times and some task belongs to a family.
    pub fn has_setups(&self) -> bool {
        !self.platform.setups().is_empty() && self.table.has_families()
    }

    /// Returns true if there are time lags between tasks ([`Task::lags`]).
    pub fn has_lags(&self) -> bool {
        self.table.has_lags()
    }

    /// Returns the time lags to a task: pairs of another task and the least difference between the starts. The first task
    /// of each pair starts first, if the difference is not negative.
    pub fn lags_to(&self, task: TaskId) -> impl Iterator<Item = (TaskId, Time)> + '_ {
        let row = self.table.row(task);
        let first = self.job(row.job).first().0;
        row.task.lags.iter().map(move |lag| (TaskId(first + u64::from(lag.from)), lag.least))
    }

    /// Returns the other tasks of the gang of a task, in ascending order. Takes O(tasks of the job) if the task belongs
    /// to a gang.
    pub fn gang_mates(&self, task: TaskId) -> Vec<TaskId> {
        let Some(gang) = &self.table.row(task).task.gang else { return Vec::new() };
        let own = self.job_of(task).task_ids();
        own.filter(|&other| other != task && self.table.row(other).task.gang.as_ref() == Some(gang)).collect()
    }

    /// Returns true if some job has a penalty.
    pub fn has_penalties(&self) -> bool {
        self.jobs.iter().any(|job| job.penalty.is_some())
    }

    /// Returns this instance with other weights, due dates or penalties of its jobs. `change` must not change anything
    /// else. In contrast to [`Instance::new`], due dates may be before the release dates.
    pub(crate) fn with_changed_jobs(&self, change: impl Fn(&mut Job<Rows>)) -> Self {
        let mut changed = self.clone();
        changed.jobs.iter_mut().for_each(change);
        let count = |has: fn(&Job<Rows>) -> bool| changed.jobs.iter().filter(|job| has(job)).count();
        changed.totals.deadlines = count(|job| job.deadline.is_some());
        changed.totals.hard_deadlines = count(|job| job.must_end_by.is_some());
        changed
    }

    /// Returns true if some job has a hard deadline ([`Job::must_end_by`]).
    pub fn has_hard_deadlines(&self) -> bool {
        self.totals.hard_deadlines > 0
    }

    /// Returns this instance without hard deadlines.
    pub fn without_hard_deadlines(&self) -> Self {
        self.with_changed_jobs(|job| job.must_end_by = None)
    }

    /// Returns this instance with a due date in place of each hard deadline. Jobs without a hard deadline have no due
    /// date.
    pub fn with_hard_deadlines_as_due_dates(&self) -> Self {
        self.with_changed_jobs(|job| job.deadline = job.must_end_by.take())
    }

    /// Returns this instance with these due dates, one entry for each job. They may be before the release dates.
    pub fn with_due_dates(&self, dues: &[Option<Time>]) -> Self {
        self.with_changed_jobs(|job| job.deadline = dues.get(self.job_id(job.first()).index()).copied().flatten())
    }

    /// Returns this instance with these penalties, one for each job, and without hard deadlines. All weights become 1,
    /// except the weights of best-effort bags.
    pub fn with_penalties(&self, penalties: &[EndPenalty]) -> Self {
        let first = |job: &Job<Rows>| self.job_id(job.first()).index();
        self.with_changed_jobs(|job| {
            job.penalty = penalties.get(first(job)).cloned();
            job.must_end_by = None;
            if !job.is_best_effort() {
                job.weight = Weight::ONE;
            }
        })
    }

    /// Returns true if some job has a deadline.
    pub fn has_deadlines(&self) -> bool {
        self.totals.deadlines > 0
    }

    /// Returns true if some job is a bag of tasks.
    pub fn has_bags(&self) -> bool {
        self.totals.bags > 0
    }

    /// Returns true if some job is a graph of tasks.
    pub fn has_compound_jobs(&self) -> bool {
        self.totals.compound > 0
    }

    /// Returns true if some task may have to wait for data from another task. This is so if some edge carries data and
    /// not all processors are on one node.
    pub fn has_transfers(&self) -> bool {
        totals::takes_time(&self.platform, self.edges().iter().map(|edge| edge.payload))
    }

    /// Returns the first job for which sending data from the root of a tree network takes time.
    pub fn staged(&self) -> Option<JobId> {
        if !self.platform.is_tree() {
            return None;
        }
        let route = totals::slowest_route(&self.platform);
        let data = |id: &JobId| self.task(self.job(*id).first()).data;
        self.ids().find(|id| data(id).is_some_and(|bytes| route.time(Payload::Bytes(bytes)) > Time::ZERO))
    }

    /// Returns an error if the instance has more tasks than can be planned, simulated or run one by one
    /// ([`Instance::MAX_TASKS`]).
    ///
    /// # Errors
    /// [`InstanceError::TooManyTasks`].
    pub fn check_task_count(&self) -> Result<(), InstanceError> {
        let tasks = self.tasks();
        if tasks > Self::MAX_TASKS { Err(InstanceError::TooManyTasks { tasks: tasks.into() }) } else { Ok(()) }
    }

    /// Returns notes to the user about this instance.
    pub fn notes(&self) -> Vec<Note> {
        let jobs = self.ids().filter(|&id| !self.job(id).is_compound());
        let mut dominated = jobs.filter(|&id| self.profile_of(id).dominated() > 0).peekable();
        let (guesses, times) = (self.guesses(), self.different_tasks());
        let guessed = (guesses > 0).then_some(Note::Guessed { guesses, times });
        let Some(&example) = dominated.peek() else { return Vec::from_iter(guessed) };
        let (jobs, allotments) =
            dominated.fold((0, 0), |(jobs, allotments), id| (jobs + 1, allotments + self.profile_of(id).dominated()));
        guessed.into_iter().chain([Note::Dominated { jobs, allotments, example }]).collect()
    }
}

fn check_periods(unavailable: &[Unavailable], processors: u32) -> Result<(), InstanceError> {
    for (index, period) in unavailable.iter().enumerate() {
        let Some(processor) = period.processors.last() else { return Err(InstanceError::EmptyPeriod { index }) };
        if processor >= processors {
            return Err(InstanceError::UnknownProcessor { index, processor, last: processors - 1 });
        }
        if period.end <= period.start {
            return Err(InstanceError::EmptyPeriod { index });
        }
    }
    Ok(())
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests;
