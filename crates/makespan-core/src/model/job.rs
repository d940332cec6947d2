//! Jobs: the units of work that users submit.

use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

use crate::model::{EndPenalty, Estimate, Graph, Needs, Profile, Submission, Task, TaskId, Time, Weight};
use crate::text::literal_word;

/// The position of a job in its instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct JobId(pub u32);

impl JobId {
    /// Returns the position as an index into [`crate::Instance::jobs`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A unit of work that a user submits and waits for: one [`Task`], a *bag* of equal tasks, or a *compound* job. The
/// tasks of a compound job wait for each other along the edges of a [`Graph`].
///
/// The job ends when its last task ends. A bag of weight zero is *best effort*: it is planned after all other jobs, on
/// processors that would be idle otherwise. A bag with a positive weight competes with other jobs: each task is
/// scheduled like a job of its own that has an equal share of the weight ([`crate::Instance::weight`]).
///
/// A submitted job contains its [`Work`]. An instance stores the tasks of all jobs in one table. A job in an instance
/// contains, as [`Rows`], the position of its tasks in this table.
///
/// ```
/// use makespan_core::{Job, Profile, Time, Weight};
///
/// // Half an hour on one processor, or 18 minutes on two.
/// let minutes = |count: i64| Time::from_seconds(60 * count);
/// let profile = Profile::table(vec![minutes(30), minutes(18)])?;
/// let job = Job::new("render", profile).with_weight(Weight::parse("2.5")?).with_release(minutes(5));
/// assert_eq!(job.work.tasks(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Job<W = Work> {
    /// Unique name.
    pub name: String,
    /// Importance of the job in the weighted sum of completion times.
    pub weight: Weight,
    /// Priority of the job's queue. Policies with `queues=priority` start jobs of higher priority first.
    pub priority: i32,
    /// Earliest start of the job.
    pub release: Time,
    /// Due date: the time by which the job should end, as an instant like the release date. A schedule is valid even if
    /// the job ends later. Objectives about due dates, such as the maximum lateness, measure the end from this instant.
    pub deadline: Option<Time>,
    /// Hard deadline: the instant by which every task of the job must end. A schedule in which a task ends later is
    /// invalid. Objectives do not depend on this instant.
    pub must_end_by: Option<Time>,
    /// Cost of the end of the job, which the objectives [`crate::Objective::PENALTIES`] multiply by the weight.
    pub penalty: Option<EndPenalty>,
    /// Maximum run time of each task. The command `run` terminates a task at this limit. Allotments on which the task
    /// would take longer are not used.
    pub walltime: Option<Time>,
    /// The user who submitted the job, as the number that a workload log uses.
    pub user: Option<u32>,
    /// Names of the jobs that this job waits for. No task starts before all tasks of these jobs have ended
    /// successfully.
    pub after: Vec<Arc<str>>,
    /// The account, the partition and other properties of the job's submission to a shared cluster, if known. Several
    /// jobs may share one value in memory.
    pub submission: Option<Arc<Submission>>,
    /// The tasks: [`Work`], or [`Rows`] in an instance.
    pub work: W,
}

/// The tasks that a submitted job contains.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// One task.
    Task(Task),
    /// A number of equal tasks, numbered from 0. Only one copy of the task is stored.
    Bag(Task, NonZeroU64),
    /// The tasks of a compound job. There is at least one task.
    Graph(Graph),
}

/// The position of a job's tasks in the table of its instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The first task of the job. Its other tasks have the next identifiers.
    pub(super) first: TaskId,
    /// The table rows of the job, one for each distinct task. A bag has one row.
    pub(super) range: Range<u32>,
    /// The edges between tasks of the job, as positions in the edge list of the instance.
    pub(super) edges: Range<u32>,
    /// The jobs that this job waits for, without duplicates.
    pub(super) after: Box<[JobId]>,
    pub(super) kind: Kind,
}

/// The kind of a job in an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Task,
    Bag(NonZeroU64),
    Graph,
}

impl Work {
    /// Returns the number of tasks.
    pub fn tasks(&self) -> u64 {
        match self {
            Self::Task(_) => 1,
            Self::Bag(_, count) => count.get(),
            Self::Graph(graph) => graph.len() as u64,
        }
    }

    /// Returns the single task, or the task that a bag repeats; `None` for a compound job.
    pub const fn task(&self) -> Option<&Task> {
        match self {
            Self::Task(task) | Self::Bag(task, _) => Some(task),
            Self::Graph(_) => None,
        }
    }

    /// Returns the stored tasks, mutably: all tasks of a compound job, otherwise the single task or the task that a bag
    /// repeats.
    pub fn tasks_mut(&mut self) -> Box<dyn Iterator<Item = &mut Task> + '_> {
        match self {
            Self::Task(task) | Self::Bag(task, _) => Box::new(std::iter::once(task)),
            Self::Graph(graph) => Box::new(graph.tasks_mut()),
        }
    }

    /// Returns the task of [`Work::task`], mutably.
    pub const fn task_mut(&mut self) -> Option<&mut Task> {
        match self {
            Self::Task(task) | Self::Bag(task, _) => Some(task),
            Self::Graph(_) => None,
        }
    }

    /// Returns the graph of a compound job.
    pub const fn graph(&self) -> Option<&Graph> {
        match self {
            Self::Graph(graph) => Some(graph),
            Self::Task(_) | Self::Bag(..) => None,
        }
    }
}

impl Job {
    /// Creates a job of one task with weight 1 and priority 0, released at 0, without deadline, walltime or command.
    pub fn new(name: impl Into<String>, profile: Profile) -> Self {
        Self::of(name, Work::Task(Task::new(profile)))
    }

    /// Creates a compound job of weight 1, released at 0, without deadline or walltime.
    ///
    /// ```
    /// use makespan_core::{Edge, Graph, Job, Payload, NamedTask, Profile, Time};
    ///
    /// let task = |name, seconds| NamedTask::new(name, Profile::rigid(1, Time::from_seconds(seconds)).unwrap());
    /// // `report` starts when `measure` has ended and its 2 kB have arrived.
    /// let edge = Edge { from: 0, to: 1, payload: Payload::Bytes(2000) };
    /// let graph = Graph::new(vec![task("measure", 60), task("report", 5)], vec![edge])?;
    /// assert_eq!(Job::compound("night", graph).work.tasks(), 2);
    /// # Ok::<(), makespan_core::GraphError>(())
    /// ```
    pub fn compound(name: impl Into<String>, graph: Graph) -> Self {
        Self::of(name, Work::Graph(graph))
    }

    fn of(name: impl Into<String>, work: Work) -> Self {
        Self {
            name: name.into(),
            weight: Weight::ONE,
            priority: 0,
            release: Time::ZERO,
            deadline: None,
            must_end_by: None,
            penalty: None,
            walltime: None,
            user: None,
            after: Vec::new(),
            submission: None,
            work,
        }
    }

    /// Turns the job into a bag of `count` tasks. The bag is best effort if its weight is zero.
    ///
    /// # Panics
    /// Panics if the job is compound.
    #[must_use]
    pub fn with_count(self, count: NonZeroU64) -> Self {
        let work = match self.work {
            Work::Task(task) | Work::Bag(task, _) => Work::Bag(task, count),
            Work::Graph(_) => panic!("a compound job is not a bag"),
        };
        Self { work, ..self }
    }

    /// Turns a bag into a job of one task that has the weight of the whole bag. Returns any other job unchanged.
    #[must_use]
    pub fn without_copies(self) -> Self {
        let work = if let Work::Bag(task, _) = self.work { Work::Task(task) } else { self.work };
        Self { work, ..self }
    }

    /// Sets the command of each task: the program and its arguments.
    ///
    /// # Panics
    /// Panics if the job is compound, because its tasks have commands of their own.
    #[must_use]
    pub fn with_command(mut self, command: Vec<String>) -> Self {
        self.work.task_mut().expect("the tasks of a compound job have commands of their own").command = command;
        self
    }

    /// Sets the command of each task to words without placeholders: a run changes no text in them.
    ///
    /// # Panics
    /// Panics if the job is compound, because its tasks have commands of their own.
    #[must_use]
    pub fn with_literal_command(self, command: &[String]) -> Self {
        self.with_command(command.iter().map(|word| literal_word(word)).collect())
    }

    /// Sets the source of the times of each task.
    ///
    /// # Panics
    /// Panics if the job is compound, because its tasks have estimates of their own.
    #[must_use]
    pub fn with_estimate(mut self, estimate: Estimate) -> Self {
        self.work.task_mut().expect("the tasks of a compound job have estimates of their own").estimate = estimate;
        self
    }

    /// Marks the number of processors of each task as assumed ([`crate::Task::assumes_one_core`]).
    #[must_use]
    pub fn with_assumed_core(mut self) -> Self {
        self.work.tasks_mut().for_each(|task| task.assumes_one_core = true);
        self
    }

    /// Sets the resources that each task needs.
    ///
    /// # Panics
    /// Panics if the job is compound, because its tasks have needs of their own.
    #[must_use]
    pub fn with_needs(mut self, needs: Needs) -> Self {
        self.work.task_mut().expect("the tasks of a compound job have needs of their own").needs = needs;
        self
    }

    /// Sets the number of bytes of data of each task.
    ///
    /// # Panics
    /// Panics if the job is compound.
    #[must_use]
    pub fn with_data(mut self, data: u64) -> Self {
        self.work.task_mut().expect("the data of a compound job are on its edges").data = Some(data);
        self
    }
}

impl<W> Job<W> {
    /// Sets the weight.
    #[must_use]
    pub fn with_weight(self, weight: Weight) -> Self {
        Self { weight, ..self }
    }

    /// Sets the priority.
    #[must_use]
    pub fn with_priority(self, priority: i32) -> Self {
        Self { priority, ..self }
    }

    /// Sets the release date.
    #[must_use]
    pub fn with_release(self, release: Time) -> Self {
        Self { release, ..self }
    }

    /// Sets the deadline.
    #[must_use]
    pub fn with_deadline(self, deadline: Time) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Sets the hard deadline.
    #[must_use]
    pub fn with_must_end_by(self, must_end_by: Time) -> Self {
        Self { must_end_by: Some(must_end_by), ..self }
    }

    /// Sets the penalty.
    #[must_use]
    pub fn with_penalty(self, penalty: EndPenalty) -> Self {
        Self { penalty: Some(penalty), ..self }
    }

    /// Sets the walltime.
    #[must_use]
    pub fn with_walltime(self, walltime: Time) -> Self {
        Self { walltime: Some(walltime), ..self }
    }

    /// Makes the job wait for the jobs with these names.
    #[must_use]
    pub fn with_after<N: Into<Arc<str>>>(self, names: impl IntoIterator<Item = N>) -> Self {
        Self { after: names.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets how the job was submitted to a shared cluster.
    #[must_use]
    pub fn with_submission(self, submission: Submission) -> Self {
        Self { submission: Some(Arc::new(submission)), ..self }
    }

    /// Returns a copy of this job in which `work` replaces its work.
    pub(super) fn beside<V>(&self, work: V) -> Job<V> {
        let Self { weight, priority, release, deadline, must_end_by, walltime, user, .. } = *self;
        let (name, penalty) = (self.name.clone(), self.penalty.clone());
        let (after, submission) = (self.after.clone(), self.submission.clone());
        Job { name, weight, priority, release, deadline, must_end_by, penalty, walltime, user, after, submission, work }
    }
}

/// Methods of a job in an instance.
impl Job<Rows> {
    /// Returns the first task of the job. Its other tasks have the next identifiers.
    pub const fn first(&self) -> TaskId {
        self.work.first
    }

    /// Returns a task of the job by its position, counted from 0. The tasks of a compound job are in the order of its
    /// graph.
    pub const fn task(&self, number: u32) -> TaskId {
        TaskId(self.work.first.0 + number as u64)
    }

    /// Returns all tasks of the job, ascending.
    pub fn task_ids(&self) -> impl DoubleEndedIterator<Item = TaskId> + ExactSizeIterator + Clone + use<> {
        let first = self.work.first.0;
        // The iterator's length is a `usize`. Larger bags are never enumerated: they are planned only by rates.
        (0..self.tasks() as usize).map(move |number| TaskId(first + number as u64))
    }

    /// Returns true if the task belongs to this job.
    pub fn has_task(&self, task: TaskId) -> bool {
        task >= self.work.first && task.0 - self.work.first.0 < self.tasks()
    }

    /// Returns the jobs that this job waits for, without duplicates.
    pub fn waits_for(&self) -> &[JobId] {
        &self.work.after
    }

    /// Returns the number of tasks. A job that is neither a bag nor compound has one task.
    pub fn tasks(&self) -> u64 {
        match self.work.kind {
            Kind::Bag(count) => count.get(),
            Kind::Task | Kind::Graph => u64::from(self.different_tasks()),
        }
    }

    /// Returns the number of distinct tasks: all tasks of a compound job, otherwise one.
    pub const fn different_tasks(&self) -> u32 {
        self.work.range.end - self.work.range.start
    }

    /// Returns the distinct tasks: all tasks of a compound job, otherwise the first task.
    pub fn different_task_ids(&self) -> impl DoubleEndedIterator<Item = TaskId> + ExactSizeIterator + Clone + use<> {
        let first = self.work.first.0;
        (0..self.different_tasks()).map(move |number| TaskId(first + u64::from(number)))
    }

    /// Returns the number of equal tasks: for a bag, the number of its tasks; otherwise one.
    pub const fn equal_tasks(&self) -> u64 {
        match self.work.kind {
            Kind::Bag(count) => count.get(),
            Kind::Task | Kind::Graph => 1,
        }
    }

    /// Returns true if the job is compound, even with a single task.
    pub const fn is_compound(&self) -> bool {
        matches!(self.work.kind, Kind::Graph)
    }

    /// Returns true if the job is a bag, even with a single task.
    pub const fn is_bag(&self) -> bool {
        matches!(self.work.kind, Kind::Bag(_))
    }

    /// Returns true if the job is a bag of weight zero. Such a bag is planned after all other jobs, so it does not
    /// delay them.
    pub fn is_best_effort(&self) -> bool {
        self.is_bag() && self.weight == Weight::ZERO
    }

    /// Returns the weight of one task: an equal share of the job's weight, rounded down to a millionth. The job ends
    /// with its last task. So the sum of its tasks' completion times, each multiplied by this weight, is at most the
    /// completion time of the job multiplied by the job's weight.
    pub fn task_weight(&self) -> Weight {
        match NonZeroU64::new(self.tasks()) {
            Some(tasks) if tasks.get() > 1 => self.weight.divided_by(tasks),
            _ => self.weight,
        }
    }
}
