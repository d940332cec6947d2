//! What users submit.

use std::num::NonZeroU64;
use std::sync::Arc;

use crate::model::{Graph, Profile, Time, Weight};

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

/// What a user submits and waits for: one moldable, rigid or sequential [`Task`], a *bag* of equal ones, or a *compound*
/// job, whose tasks wait for each other as the edges of a [`Graph`] say.
///
/// The job ends when its last task does. A bag of weight zero is *best effort*: it is planned after all other jobs into
/// the holes that they leave. A bag with a weight competes: each of its tasks takes part like a job of weight
/// [`Job::task_weight`].
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Unique name.
    pub name: String,
    /// Importance in weighted completion.
    pub weight: Weight,
    /// That of the queue in which it waits: policies with queues by priority serve a higher one first.
    pub priority: i32,
    /// The job cannot start earlier.
    pub release: Time,
    /// `run` ends the job after this time; allotments that take longer are not used. That of a compound job is for its
    /// whole graph, and is looked at by those only who plan under it.
    pub walltime: Option<Time>,
    /// What is placed. Of a compound job: all its tasks one after the other, which nobody places; see [`Job::task`].
    pub task: Task,
    /// How many equal tasks a bag has, numbered from 0; `None` for a job that is no bag. Never expanded here.
    pub count: Option<NonZeroU64>,
    /// The tasks of a compound job; `None` for any other.
    pub graph: Option<Arc<Graph>>,
    /// Bytes that each task of a bag needs before it runs, which all begin at the root of a tree network; `None` where
    /// none are stated.
    pub data: Option<u64>,
}

/// What is placed on processors.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Time as a function of the allotment.
    pub profile: Profile,
    /// The program and its arguments, for `run`; `{processors}` stands for the allotment, and `{task}` in a bag for the
    /// number of the task. Empty when there is none.
    pub command: Vec<String>,
}

impl Job {
    /// A job of weight 1 and priority 0, released at 0, without walltime or command.
    pub fn new(name: impl Into<String>, profile: Profile) -> Self {
        Self {
            name: name.into(),
            weight: Weight::ONE,
            priority: 0,
            release: Time::ZERO,
            walltime: None,
            task: Task { profile, command: Vec::new() },
            count: None,
            graph: None,
            data: None,
        }
    }

    /// A compound job of weight 1, released at 0, without walltime.
    pub fn compound(name: impl Into<String>, graph: Graph) -> Self {
        let profile = graph.one_after_the_other();
        Self { graph: Some(Arc::new(graph)), ..Self::new(name, profile) }
    }

    /// The same job with this weight.
    pub fn with_weight(self, weight: Weight) -> Self {
        Self { weight, ..self }
    }

    /// The same job with this priority.
    pub fn with_priority(self, priority: i32) -> Self {
        Self { priority, ..self }
    }

    /// The same job, not before this instant.
    pub fn with_release(self, release: Time) -> Self {
        Self { release, ..self }
    }

    /// The same as a bag of `count` tasks; best effort if its weight is zero.
    pub fn with_count(self, count: NonZeroU64) -> Self {
        Self { count: Some(count), ..self }
    }

    /// The same with so many bytes a task.
    pub fn with_data(self, data: u64) -> Self {
        Self { data: Some(data), ..self }
    }

    /// Time as a function of the allotment, of one task. Of a compound job: of all its tasks one after the other, which
    /// nobody may place; see [`Job::profile_of`].
    pub fn profile(&self) -> &Profile {
        &self.task.profile
    }

    /// What is placed as this task: each task of a compound job is another, those of a bag are equal.
    ///
    /// # Panics
    /// When a compound job has no such task.
    pub fn task(&self, task: u32) -> &Task {
        self.graph.as_ref().map_or(&self.task, |graph| graph.task(task))
    }

    /// Time as a function of the allotment, of this task.
    ///
    /// # Panics
    /// When a compound job has no such task.
    pub fn profile_of(&self, task: u32) -> &Profile {
        &self.task(task).profile
    }

    /// How many tasks are placed: 1 for a job that is neither bag nor compound.
    pub fn tasks(&self) -> u64 {
        match &self.graph {
            Some(graph) => graph.len() as u64,
            None => self.count.map_or(1, NonZeroU64::get),
        }
    }

    /// How many different tasks: those of a compound job, else one.
    pub fn tasks_apart(&self) -> u32 {
        self.graph.as_ref().map_or(1, |graph| graph.len() as u32)
    }

    /// How many tasks are equal to each: those of a bag, else one.
    pub fn equal_tasks(&self) -> u64 {
        self.count.map_or(1, NonZeroU64::get)
    }

    /// Whether this is a compound job, of one task perhaps.
    pub fn is_compound(&self) -> bool {
        self.graph.is_some()
    }

    /// Whether this is a bag of tasks, of one task perhaps.
    pub fn is_bag(&self) -> bool {
        self.count.is_some()
    }

    /// Whether this is a bag that is planned after everything else and delays nobody.
    pub fn is_best_effort(&self) -> bool {
        self.is_bag() && self.weight == Weight::ZERO
    }

    /// The weight of one task when the tasks share that of the job, rounded down to a millionth. As the job ends with
    /// its last task, the sum of its tasks' completions with this weight is at most its weighted completion.
    pub fn task_weight(&self) -> Weight {
        self.count.map_or(self.weight, |count| self.weight.divided_by(count))
    }

    /// How one task is called: `name/17` in a bag, `name/task` in a compound job, the name of the job otherwise.
    pub fn task_name(&self, task: u32) -> String {
        if let Some(graph) = &self.graph {
            let name = graph.tasks().get(task as usize).map_or_else(|| task.to_string(), |task| task.name.clone());
            return format!("{}/{name}", self.name);
        }
        if self.is_bag() { format!("{}/{task}", self.name) } else { self.name.clone() }
    }
}
