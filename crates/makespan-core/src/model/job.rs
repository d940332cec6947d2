//! What users submit.

use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

use crate::model::{Estimate, Graph, Needs, Profile, Submission, Task, TaskId, Time, Weight};

/// The position of a job in its instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct JobId(pub u32);

impl JobId {
    /// As an index into the jobs of the instance.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a user submits and waits for: one [`Task`], a *bag* of equal ones, or a *compound* job, whose tasks wait for each
/// other as the edges of a [`Graph`] say.
///
/// The job ends when its last task does. A bag of weight zero is *best effort*: it is planned after all other jobs into
/// the holes that they leave. A bag with a weight competes: each of its tasks takes part like a job that has an equal share
/// of it ([`crate::Instance::weight`]).
///
/// What is submitted brings its [`Work`] along. An instance keeps the tasks of all jobs in one table, and of each job its
/// [`Rows`] there.
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
    /// Importance in weighted completion.
    pub weight: Weight,
    /// That of the queue in which it waits: policies with queues by priority serve a higher one first.
    pub priority: i32,
    /// The job cannot start earlier.
    pub release: Time,
    /// When the job should have ended, on the clock of its release. A schedule may be late, and who plans by deadlines counts
    /// it.
    pub deadline: Option<Time>,
    /// `run` ends each task of the job that still runs so long after its start; allotments that take longer are not used.
    pub walltime: Option<Time>,
    /// Who submitted it, as a number of the log that it is from.
    pub user: Option<u32>,
    /// The names of the jobs that it waits for: none of its tasks starts before all of theirs have ended with success.
    pub after: Vec<Arc<str>>,
    /// How it was submitted to a shared cluster, where that is known; equal ones may be shared.
    pub submission: Option<Arc<Submission>>,
    /// What is to be done: [`Work`], or in an instance [`Rows`].
    pub work: W,
}

/// What a job brings along.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// One task.
    Task(Task),
    /// So many equal tasks, numbered from 0 and never stored one by one.
    Bag(Task, NonZeroU64),
    /// The tasks of a compound job, one perhaps.
    Graph(Graph),
}

/// Where the tasks of a job are in the table of its instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The first of its tasks; the others follow.
    pub(super) first: TaskId,
    /// Different tasks: a bag has one.
    pub(super) range: Range<u32>,
    /// The edges between them in the list of the instance.
    pub(super) edges: Range<u32>,
    /// The jobs that it waits for, each once.
    pub(super) after: Box<[JobId]>,
    pub(super) kind: Kind,
}

/// What the rows of a job are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Task,
    Bag(NonZeroU64),
    Graph,
}

impl Work {
    /// How many tasks are placed.
    pub fn tasks(&self) -> u64 {
        match self {
            Self::Task(_) => 1,
            Self::Bag(_, count) => count.get(),
            Self::Graph(graph) => graph.len() as u64,
        }
    }

    /// The task, or that of which a bag has many; `None` of a compound job.
    pub const fn task(&self) -> Option<&Task> {
        match self {
            Self::Task(task) | Self::Bag(task, _) => Some(task),
            Self::Graph(_) => None,
        }
    }

    /// The different tasks, to be changed.
    pub fn tasks_mut(&mut self) -> Box<dyn Iterator<Item = &mut Task> + '_> {
        match self {
            Self::Task(task) | Self::Bag(task, _) => Box::new(std::iter::once(task)),
            Self::Graph(graph) => Box::new(graph.tasks_mut()),
        }
    }

    /// [`Work::task`], to be changed.
    pub const fn task_mut(&mut self) -> Option<&mut Task> {
        match self {
            Self::Task(task) | Self::Bag(task, _) => Some(task),
            Self::Graph(_) => None,
        }
    }

    /// The graph of a compound job.
    pub const fn graph(&self) -> Option<&Graph> {
        match self {
            Self::Graph(graph) => Some(graph),
            Self::Task(_) | Self::Bag(..) => None,
        }
    }
}

impl Job {
    /// A job of one task, weight 1 and priority 0, released at 0, without deadline, walltime or command.
    pub fn new(name: impl Into<String>, profile: Profile) -> Self {
        Self::of(name, Work::Task(Task::new(profile)))
    }

    /// A compound job of weight 1, released at 0, without deadline or walltime.
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
        let (weight, release) = (Weight::ONE, Time::ZERO);
        let (deadline, walltime, user, after, submission) = (None, None, None, Vec::new(), None);
        Self { name: name.into(), weight, priority: 0, release, deadline, walltime, user, after, submission, work }
    }

    /// The same as a bag of `count` tasks; best effort if its weight is zero.
    ///
    /// # Panics
    /// When the job is compound.
    #[must_use]
    pub fn with_count(self, count: NonZeroU64) -> Self {
        let work = match self.work {
            Work::Task(task) | Work::Bag(task, _) => Work::Bag(task, count),
            Work::Graph(_) => panic!("a compound job is no bag"),
        };
        Self { work, ..self }
    }

    /// One task of a bag, which then counts for the whole weight; any other job as it is.
    #[must_use]
    pub fn without_copies(self) -> Self {
        let work = if let Work::Bag(task, _) = self.work { Work::Task(task) } else { self.work };
        Self { work, ..self }
    }

    /// The same with this program and its arguments for each task.
    ///
    /// # Panics
    /// When the job is compound, whose tasks have commands of their own.
    #[must_use]
    pub fn with_command(mut self, command: Vec<String>) -> Self {
        self.work.task_mut().expect("the tasks of a compound job have commands of their own").command = command;
        self
    }

    /// The same where the times of each task are known in this way.
    ///
    /// # Panics
    /// When the job is compound, whose tasks have estimates of their own.
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

    /// The same where each task needs these resources.
    ///
    /// # Panics
    /// When the job is compound, whose tasks have needs of their own.
    #[must_use]
    pub fn with_needs(mut self, needs: Needs) -> Self {
        self.work.task_mut().expect("the tasks of a compound job have needs of their own").needs = needs;
        self
    }

    /// The same with so many bytes a task.
    ///
    /// # Panics
    /// When the job is compound.
    #[must_use]
    pub fn with_data(mut self, data: u64) -> Self {
        self.work.task_mut().expect("the data of a compound job are on its edges").data = Some(data);
        self
    }
}

impl<W> Job<W> {
    /// The same job with this weight.
    #[must_use]
    pub fn with_weight(self, weight: Weight) -> Self {
        Self { weight, ..self }
    }

    /// The same job with this priority.
    #[must_use]
    pub fn with_priority(self, priority: i32) -> Self {
        Self { priority, ..self }
    }

    /// The same job, not before this instant.
    #[must_use]
    pub fn with_release(self, release: Time) -> Self {
        Self { release, ..self }
    }

    /// The same job with this deadline.
    #[must_use]
    pub fn with_deadline(self, deadline: Time) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// The same job with this walltime.
    #[must_use]
    pub fn with_walltime(self, walltime: Time) -> Self {
        Self { walltime: Some(walltime), ..self }
    }

    /// The same job, which waits for the jobs of these names.
    #[must_use]
    pub fn with_after<N: Into<Arc<str>>>(self, names: impl IntoIterator<Item = N>) -> Self {
        Self { after: names.into_iter().map(Into::into).collect(), ..self }
    }

    /// The same job, submitted like this.
    #[must_use]
    pub fn with_submission(self, submission: Submission) -> Self {
        Self { submission: Some(Arc::new(submission)), ..self }
    }

    /// Name, weight and the rest beside other work.
    pub(super) fn beside<V>(&self, work: V) -> Job<V> {
        let Self { ref name, weight, priority, release, deadline, walltime, user, ref after, ref submission, work: _ } =
            *self;
        let (name, after, submission) = (name.clone(), after.clone(), submission.clone());
        Job { name, weight, priority, release, deadline, walltime, user, after, submission, work }
    }
}

/// A job of an instance.
impl Job<Rows> {
    /// The first of its tasks; the others follow.
    pub const fn first(&self) -> TaskId {
        self.work.first
    }

    /// One of its tasks, counted from 0: of a bag by number, of a compound job in the order of its graph.
    pub const fn task(&self, number: u32) -> TaskId {
        TaskId(self.work.first.0 + number as u64)
    }

    /// All its tasks, ascending.
    pub fn task_ids(&self) -> impl DoubleEndedIterator<Item = TaskId> + ExactSizeIterator + Clone + use<> {
        let first = self.work.first.0;
        // A usize for the length of the iterator; longer bags are planned by rates only.
        (0..self.tasks() as usize).map(move |number| TaskId(first + number as u64))
    }

    /// Whether this is one of its tasks.
    pub fn has_task(&self, task: TaskId) -> bool {
        task >= self.work.first && task.0 - self.work.first.0 < self.tasks()
    }

    /// The jobs that it waits for, each once.
    pub fn waits_for(&self) -> &[JobId] {
        &self.work.after
    }

    /// How many tasks are placed: 1 for a job that is neither bag nor compound.
    pub fn tasks(&self) -> u64 {
        match self.work.kind {
            Kind::Bag(count) => count.get(),
            Kind::Task | Kind::Graph => u64::from(self.different_tasks()),
        }
    }

    /// How many different tasks: those of a compound job, else one.
    pub const fn different_tasks(&self) -> u32 {
        self.work.range.end - self.work.range.start
    }

    /// The different tasks: those of a compound job, else the first.
    pub fn different_task_ids(&self) -> impl DoubleEndedIterator<Item = TaskId> + ExactSizeIterator + Clone + use<> {
        let first = self.work.first.0;
        (0..self.different_tasks()).map(move |number| TaskId(first + u64::from(number)))
    }

    /// How many tasks are equal to each: those of a bag, else one.
    pub const fn equal_tasks(&self) -> u64 {
        match self.work.kind {
            Kind::Bag(count) => count.get(),
            Kind::Task | Kind::Graph => 1,
        }
    }

    /// Whether this is a compound job, of one task perhaps.
    pub const fn is_compound(&self) -> bool {
        matches!(self.work.kind, Kind::Graph)
    }

    /// Whether this is a bag of tasks, of one task perhaps.
    pub const fn is_bag(&self) -> bool {
        matches!(self.work.kind, Kind::Bag(_))
    }

    /// Whether this is a bag that is planned after everything else and delays nobody.
    pub fn is_best_effort(&self) -> bool {
        self.is_bag() && self.weight == Weight::ZERO
    }

    /// The weight of one task when the tasks share that of the job, rounded down to a millionth. As the job ends with
    /// its last task, the sum of its tasks' completions with this weight is at most its weighted completion.
    pub fn task_weight(&self) -> Weight {
        match NonZeroU64::new(self.tasks()) {
            Some(tasks) if tasks.get() > 1 => self.weight.divided_by(tasks),
            _ => self.weight,
        }
    }
}
