//! The problem: machines, jobs, and when processors are unavailable.

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

use crate::model::table::Table;
use crate::model::{
    Availability, Demand, Dependence, Estimate, Job, JobId, Payload, Platform, ProcSet, Profile, ResourceId, Rows,
    Task, TaskId, Time, Unavailable, Weight, emptied,
};

pub use error::{InstanceError, NoRoom};
pub use note::Note;
pub use part::Part;
pub use restate::Restated;
pub use room::NodeClasses;
pub use simple::SimpleJob;

use names::Names;
use totals::{Horizon, Totals};

/// Most closed periods of all classes of equally available processors together.
const MAX_CLOSED: u64 = 1 << 22;

/// Machines, jobs and the table of their tasks, checked. Every task can run: its allotments are clipped to the platform and
/// to the walltime.
///
/// A job is the name of a range of tasks. [`TaskId`] names each of them, the copies of a bag too, which the table does not
/// store one by one. An instance grows ([`Instance::append`]); identifiers stay as they are.
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
    table: Table,
    totals: Totals,
    /// Not of an instance that was joined of what had been checked, until it grows.
    horizon: Option<Horizon>,
    names: Names,
    unavailable: Vec<Unavailable>,
    availability: Availability,
    held: Vec<HeldAmount>,
}

/// Something of a resource that work holds which the instance does not have: of what remains while others run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldAmount {
    /// Where, if the resource belongs to nodes: a position on the platform.
    pub node: Option<usize>,
    /// Of what.
    pub resource: ResourceId,
    /// How much.
    pub amount: u64,
    /// Until when it is held, from the beginning on.
    pub until: Time,
}

impl Instance {
    /// More tasks than this in all are not planned, simulated or run one by one.
    pub const MAX_TASKS: u64 = 10_000_000;

    /// Checks and joins the parts. Allotments beyond the platform, and allotments on which a job would exceed its
    /// walltime, are left out.
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
        let (table, totals, names) = (Table::default(), Totals::default(), Names::default());
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

    /// Of jobs that were checked for this platform before.
    pub(crate) fn joined(platform: Platform, jobs: Vec<Job>, unavailable: Vec<Unavailable>) -> Self {
        let availability = Availability::new(platform.processors(), &unavailable);
        let mut instance = Self::empty(platform, unavailable, availability);
        jobs.iter().for_each(|job| instance.totals.add(job, &instance.platform));
        let known: after::Known<'_> = jobs.iter().zip(0..).map(|(job, id)| (job.name.as_str(), JobId(id))).collect();
        let waits = jobs.iter().map(|job| after::among(job, &known)).collect();
        instance.push(jobs, waits).expect("edges between jobs that were checked are no more than they were");
        instance
    }

    /// Adds jobs behind the others. Jobs and tasks that were there keep their identifiers; the instance is as if it had been
    /// made of all of them. When an error is returned nothing was added.
    ///
    /// O(jobs and tasks that are added), and once O(all names).
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

    /// Adds jobs that fit the platform, if everything ends in time. Half the range of Time is kept free, so that sums made by
    /// schedulers never saturate.
    fn extend(&mut self, jobs: Vec<Job>, waits: Vec<Vec<JobId>>) -> Result<(), InstanceError> {
        let mut totals = self.totals.clone();
        jobs.iter().for_each(|job| totals.add(job, &self.platform));
        totals.check(&self.platform)?;
        let more = |mut horizon: Horizon| {
            jobs.iter().for_each(|job| horizon.add(&job.work, !job.after.is_empty(), &self.platform));
            let end = horizon.end(&totals, &self.platform, &self.unavailable, &self.availability);
            (end < i128::from(i64::MAX / 2)).then_some(horizon)
        };
        // One that was kept while times were restated may be too far away.
        let horizon = self.horizon.clone().and_then(more).or_else(|| more(self.measured_horizon()));
        let Some(horizon) = horizon else { return Err(InstanceError::TooLong) };
        self.push(jobs, waits)?;
        (self.totals, self.horizon) = (totals, Some(horizon));
        Ok(())
    }

    /// Adds jobs, and for each those that it waits for. When an error is returned nothing was added.
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

    /// The machines.
    pub fn platform(&self) -> &Platform {
        &self.platform
    }

    /// How many processors the platform has.
    pub fn processors(&self) -> u32 {
        self.platform.processors()
    }

    /// The jobs, in file order.
    pub fn jobs(&self) -> &[Job<Rows>] {
        &self.jobs
    }

    /// One job.
    pub fn job(&self, id: JobId) -> &Job<Rows> {
        &self.jobs[id.index()]
    }

    /// All job ids, in file order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = JobId> + ExactSizeIterator + Clone + use<> {
        (0..self.jobs.len() as u32).map(JobId)
    }

    /// How many tasks all jobs have together; a job that is neither bag nor compound has one.
    pub fn tasks(&self) -> u64 {
        self.table.tasks()
    }

    /// All tasks, in the order of the jobs that they are of.
    pub fn task_ids(&self) -> impl DoubleEndedIterator<Item = TaskId> + ExactSizeIterator + Clone + use<> {
        (0..self.tasks() as usize).map(TaskId::at)
    }

    /// Whether there is such a task.
    pub fn has_task(&self, task: TaskId) -> bool {
        task.0 < self.tasks()
    }

    /// A task, with its profile and command. O(1), and O(log jobs) where there are bags.
    pub fn task(&self, task: TaskId) -> &Task {
        &self.table.row(task).task
    }

    /// How long a task takes on each allotment.
    pub fn profile(&self, task: TaskId) -> &Profile {
        &self.task(task).profile
    }

    /// How long each of the tasks of a job takes that is not compound; of a compound one, its first task.
    pub fn profile_of(&self, job: JobId) -> &Profile {
        self.profile_at(job, 0)
    }

    /// How long the different tasks of a job take, by their number: those of a compound one are different, those of any other
    /// are not.
    pub fn profile_at(&self, job: JobId, number: u32) -> &Profile {
        &self.table.row_of(self.job(job), number).task.profile
    }

    /// What a task needs besides processors while it runs: of each resource at most once. O(1), and O(log jobs) where there are
    /// bags.
    pub fn demands(&self, task: TaskId) -> &[Demand] {
        self.table.demands(task)
    }

    /// The position of [`Instance::demands`] of a task in [`Instance::distinct_demands`].
    pub fn demands_number(&self, task: TaskId) -> usize {
        self.table.demands_number(task) as usize
    }

    /// All that some task needs besides processors, each once; the first is nothing.
    pub fn distinct_demands(&self) -> impl ExactSizeIterator<Item = &[Demand]> + Clone {
        self.table.distinct_demands().iter().map(|demands| &**demands)
    }

    /// Whether some task needs more than processors.
    pub fn has_demands(&self) -> bool {
        self.table.distinct_demands().len() > 1
    }

    /// How many different tasks there are: a bag has one.
    pub fn different_tasks(&self) -> usize {
        self.table.rows()
    }

    /// How many of the different tasks have times that are guesses ([`crate::Estimate::Guessed`]).
    pub fn guesses(&self) -> usize {
        self.table.guesses()
    }

    /// Whether some times are guesses, so that what a bound proves holds for these numbers only.
    pub fn has_guesses(&self) -> bool {
        self.table.guesses() > 0
    }

    /// What is added to a claim of a bound, which is a proof if the instance is as its numbers say: `" if the guesses hold"` or
    /// `" if the estimates hold"`; empty where all times are stated.
    pub fn condition(&self) -> &'static str {
        if self.has_guesses() {
            " if the guesses hold"
        } else if self.different_task_ids().any(|task| self.task(task).estimate != Estimate::Stated) {
            " if the estimates hold"
        } else {
            ""
        }
    }

    /// One task of each that are equal: those of a bag are one, all others differ.
    pub fn different_task_ids(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.jobs.iter().flat_map(Job::different_task_ids)
    }

    /// The same from this number among them on.
    pub fn different_task_ids_from(&self, number: usize) -> impl Iterator<Item = TaskId> + '_ {
        let first = self.jobs.partition_point(|job| job.work.range.end as usize <= number);
        let before = self.jobs.get(first).map_or(0, |job| number.saturating_sub(job.work.range.start as usize));
        self.jobs[first..].iter().flat_map(Job::different_task_ids).skip(before)
    }

    /// The number of a task among the different tasks; those of a bag have one.
    pub fn different(&self, task: TaskId) -> usize {
        self.table.number(task)
    }

    /// The tasks that are equal to a task, itself among them: those of a bag, else it alone.
    pub fn equal_tasks(&self, task: TaskId) -> impl DoubleEndedIterator<Item = TaskId> + ExactSizeIterator + use<> {
        let row = self.table.row(task);
        let (first, count) = (row.first.0, self.job(row.job).equal_tasks() as usize);
        (0..count).map(move |number| TaskId(first + number as u64))
    }

    /// The job that a task is of.
    pub fn job_id(&self, task: TaskId) -> JobId {
        self.table.row(task).job
    }

    /// The job that a task is of.
    pub fn job_of(&self, task: TaskId) -> &Job<Rows> {
        self.job(self.job_id(task))
    }

    /// The number of a task within its job, from 0.
    pub fn number(&self, task: TaskId) -> u32 {
        (task.0 - self.job_of(task).first().0) as u32
    }

    /// When a task can start at the earliest: the release of its job.
    pub fn release(&self, task: TaskId) -> Time {
        self.job_of(task).release
    }

    /// What a task counts for: its share of the weight of its job ([`Job::task_weight`]).
    pub fn weight(&self, task: TaskId) -> Weight {
        self.job_of(task).task_weight()
    }

    /// When a task is ended if it still runs, from its start: the walltime of its job.
    pub fn walltime(&self, task: TaskId) -> Option<Time> {
        self.job_of(task).walltime
    }

    /// How a task is called: `job/task` in a compound job, `bag/17` in a bag, else as its job.
    pub fn name(&self, task: TaskId) -> Cow<'_, str> {
        let row = self.table.row(task);
        let job = self.job(row.job);
        match &row.name {
            Some(name) => Cow::Owned(format!("{}/{name}", job.name)),
            None if job.is_bag() => Cow::Owned(format!("{}/{}", job.name, task.0 - row.first.0)),
            None => Cow::Borrowed(&job.name),
        }
    }

    /// How a task is called within its job: as the file says in a compound job, else its number.
    pub fn short_name(&self, task: TaskId) -> Cow<'_, str> {
        let row = self.table.row(task);
        row.name.as_ref().map_or_else(|| Cow::Owned((task.0 - row.first.0).to_string()), |name| Cow::Borrowed(&**name))
    }

    /// The program of a task and its arguments, in which `{task}` has become the number of a task of a bag.
    pub fn command(&self, task: TaskId) -> Cow<'_, [String]> {
        let row = self.table.row(task);
        if !self.job(row.job).is_bag() {
            return Cow::Borrowed(&row.task.command);
        }
        let number = (task.0 - row.first.0).to_string();
        row.task.command.iter().map(|word| word.replace("{task}", &number)).collect()
    }

    /// What a task waits for, in the order in which the edges were given. O(1), and O(log jobs) where there are bags.
    pub fn incoming(
        &self,
        task: TaskId,
    ) -> impl DoubleEndedIterator<Item = &Dependence> + ExactSizeIterator + Clone + '_ {
        self.table.incoming(task)
    }

    /// What waits for a task, in the order in which the edges were given. O(1), and O(log jobs) where there are bags.
    pub fn outgoing(
        &self,
        task: TaskId,
    ) -> impl DoubleEndedIterator<Item = &Dependence> + ExactSizeIterator + Clone + '_ {
        self.table.outgoing(task)
    }

    /// What a task waits for, as positions in [`Instance::edges`], ascending.
    pub fn incoming_edges(&self, task: TaskId) -> &[u32] {
        self.table.incoming_edges(task)
    }

    /// What waits for a task, as positions in [`Instance::edges`], ascending.
    pub fn outgoing_edges(&self, task: TaskId) -> &[u32] {
        self.table.outgoing_edges(task)
    }

    /// All edges: job by job, in the order in which they were given, and those between jobs behind those of all jobs that were
    /// added with them.
    pub fn edges(&self) -> &[Dependence] {
        self.table.edges()
    }

    /// The edges between the tasks of a job, in the order in which they were given.
    pub fn edges_of(&self, job: JobId) -> &[Dependence] {
        let edges = self.edge_numbers(job);
        &self.edges()[edges.start as usize..edges.end as usize]
    }

    /// The positions of these in [`Instance::edges`].
    pub fn edge_numbers(&self, job: JobId) -> Range<u32> {
        self.job(job).work.edges.clone()
    }

    /// Whether some job waits for another.
    pub fn has_edges_between_jobs(&self) -> bool {
        self.table.between() > 0
    }

    /// All jobs, each after all that it waits for; of those that may come next the first in file order.
    pub fn jobs_in_order(&self) -> Vec<JobId> {
        if !self.has_edges_between_jobs() {
            return self.ids().collect();
        }
        let before = self.jobs.iter().map(|job| job.waits_for().iter().map(|job| job.0).collect());
        after::sorted(&before.collect::<Vec<Vec<u32>>>()).expect("a cycle was refused").into_iter().map(JobId).collect()
    }

    /// Returns the jobs, in file order, that no other job waits for. In every schedule, one of these jobs ends last.
    pub fn last_jobs(&self) -> Vec<JobId> {
        let mut is_awaited = vec![false; self.jobs.len()];
        self.jobs.iter().flat_map(Job::waits_for).for_each(|job| is_awaited[job.index()] = true);
        self.ids().filter(|id| !is_awaited[id.index()]).collect()
    }

    /// The different tasks of a job, each after all that it waits for; of those that may come next the first in file order.
    /// Of a bag, the first task stands for all.
    pub fn order(&self, job: JobId) -> impl DoubleEndedIterator<Item = TaskId> + ExactSizeIterator + Clone + '_ {
        self.table.order(self.job(job))
    }

    /// The different tasks of all jobs, each after all that it waits for, one job after another. Of a bag, the first task stands
    /// for all.
    pub fn in_order(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.jobs_in_order().into_iter().flat_map(|id| self.order(id))
    }

    /// How long a task is estimated to take on these processors: the time of its profile, as the slowest of them has it, or
    /// its own time on this machine.
    ///
    /// # Panics
    /// When the task does not accept these processors ([`Instance::accepts`]).
    pub fn time(&self, task: TaskId, processors: &ProcSet) -> Time {
        self.platform.time(self.profile(task), processors).expect("a task is timed only where it can run")
    }

    /// [`Instance::time`], or `None` where the task cannot run ([`Instance::accepts`]).
    pub fn try_time(&self, task: TaskId, processors: &ProcSet) -> Option<Time> {
        let time = self.platform.time(self.profile(task), processors)?;
        self.walltime(task).is_none_or(|walltime| time <= walltime).then_some(time)
    }

    /// Whether a task can run on these processors, as many and as fast as they are: it accepts their number, it has a time
    /// on the machine where times are its own, and its walltime is kept. Ids beyond the platform do not count.
    pub fn accepts(&self, task: TaskId, processors: &ProcSet) -> bool {
        self.try_time(task, processors).is_some()
    }

    /// How long a sequential task takes on one processor of a node (by its position in the platform): its own time there,
    /// or its time over the speed of the node, rounded up to a tick. `None` when the task is not sequential, or cannot run
    /// there within its walltime.
    pub fn time_on(&self, task: TaskId, node: usize) -> Option<Time> {
        let time = self.platform.time_on(self.profile(task), node)?;
        self.walltime(task).is_none_or(|walltime| time <= walltime).then_some(time)
    }

    /// Whether some task has a time of its own on each machine: *unrelated* machines.
    pub fn has_machine_times(&self) -> bool {
        self.totals.machine_times > 0
    }

    /// Whether which processors a task has does not change its time, and no network is between them: what an algorithm
    /// needs that thinks in numbers of processors. Which sets a task may hold is another question:
    /// [`Platform::restricts_placement`].
    pub fn has_equal_processors(&self) -> bool {
        self.platform.is_homogeneous() && !self.has_machine_times()
    }

    /// Whether every job takes one processor, on whichever node: the instances of mapping algorithms, on *uniform*
    /// machines (a time is the same work over a speed) or unrelated ones.
    pub fn is_sequential(&self) -> bool {
        self.totals.parallel == 0 && !self.has_compound_jobs()
    }

    /// Reservations and outages, as given.
    pub fn unavailable(&self) -> &[Unavailable] {
        &self.unavailable
    }

    /// Reservations and outages, grouped.
    pub fn availability(&self) -> &Availability {
        &self.availability
    }

    /// The same where others hold these amounts.
    #[must_use]
    pub fn holding(self, held: Vec<HeldAmount>) -> Self {
        Self { held, ..self }
    }

    /// What others hold of resources.
    pub fn held(&self) -> &[HeldAmount] {
        &self.held
    }

    /// The earliest release date; zero without jobs.
    pub fn first_release(&self) -> Time {
        self.totals.releases.map_or(Time::ZERO, |(first, _)| first)
    }

    /// Whether some job is released after another.
    pub fn has_release_dates(&self) -> bool {
        self.totals.releases.is_some_and(|(first, last)| first < last)
    }

    /// Whether some job has a deadline.
    pub fn has_deadlines(&self) -> bool {
        self.totals.deadlines > 0
    }

    /// Whether some job is a bag of tasks.
    pub fn has_bags(&self) -> bool {
        self.totals.bags > 0
    }

    /// Whether some job is a graph of tasks.
    pub fn has_compound_jobs(&self) -> bool {
        self.totals.compound > 0
    }

    /// Whether a task that waits for another may have to wait for its data as well: not where all processors are on one
    /// node, or nothing is carried.
    pub fn has_transfers(&self) -> bool {
        totals::takes_time(&self.platform, self.edges().iter().map(|edge| edge.payload))
    }

    /// A job whose tasks bring data that take time on their way from the root of a tree, if there is one.
    pub fn staged(&self) -> Option<JobId> {
        if !self.platform.is_tree() {
            return None;
        }
        let route = totals::slowest_route(&self.platform);
        let data = |id: &JobId| self.task(self.job(*id).first()).data;
        self.ids().find(|id| data(id).is_some_and(|bytes| route.time(Payload::Bytes(bytes)) > Time::ZERO))
    }

    /// Refuses more tasks in all than are planned, simulated or run one by one.
    ///
    /// # Errors
    /// [`InstanceError::TooManyTasks`].
    pub fn check_task_count(&self) -> Result<(), InstanceError> {
        let tasks = self.tasks();
        if tasks > Self::MAX_TASKS { Err(InstanceError::TooManyTasks { tasks: tasks.into() }) } else { Ok(()) }
    }

    /// What the user should know about this instance.
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
