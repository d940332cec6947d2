//! Why parts make no instance.

use thiserror::Error;

use crate::model::graph::cycle;
use crate::model::{Instance, Time};
use crate::text::counted;

/// Why machines and jobs do not make an instance.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InstanceError {
    /// Two jobs of one name.
    #[error("two jobs are named `{0}`; names must be unique")]
    DuplicateName(String),
    /// The name of a job or a task is too long.
    #[error("the name that begins with `{start}` has {length} bytes; at most 65536 are supported")]
    LongName {
        /// First characters of the name.
        start: String,
        /// Length of the name in bytes.
        length: usize,
    },
    /// A job that needs more processors than there are.
    #[error("job `{job}` needs at least {}, but the platform has {processors}", counted(.needs, "processor"))]
    TooWide {
        /// The job.
        job: String,
        /// Fewest processors it accepts.
        needs: u32,
        /// Processors of the platform.
        processors: u32,
    },
    /// A job that its walltime would always cut short.
    #[error("job `{job}` takes at least {shortest} s and its walltime is {walltime} s; raise the walltime")]
    Walltime {
        /// The job.
        job: String,
        /// Its shortest time.
        shortest: Time,
        /// Its walltime.
        walltime: Time,
    },
    /// A job that should have ended before it can begin.
    #[error("job `{job}` has its deadline at {deadline} s, before its release at {release} s; put it later")]
    Deadline {
        /// The job.
        job: String,
        /// Its deadline.
        deadline: Time,
        /// Its release date.
        release: Time,
    },
    /// A job that waits for one that does not exist.
    #[error("job `{job}` waits for `{after}`, and there is no such job; correct its `after`")]
    UnknownJob {
        /// The job.
        job: String,
        /// What it names.
        after: String,
    },
    /// Jobs that wait for each other.
    #[error("the jobs wait for each other in a cycle: {}; remove one of these from `after`", cycle(.0))]
    Cycle(Vec<String>),
    /// More edges between tasks than numbers.
    #[error("the jobs wait for each other in {0} ways, task by task; at most 16777216 are supported")]
    TooManyEdges(usize),
    /// A need of what there is not.
    #[error("job `{job}` needs `{resource}`, which is no resource of a node and no licence; {known}")]
    UnknownResource {
        /// The job, or the task of a compound one.
        job: String,
        /// What it names.
        resource: String,
        /// A sentence that names those that there are.
        known: String,
    },
    /// A need of more than there is, on any allotment.
    #[error("{0}")]
    NoRoom(Box<NoRoom>),
    /// Tasks that use up more than there is, on whatever allotments.
    #[error(
        "all tasks together use up at least {needed} of `{resource}`, and there are {there}; raise it or leave tasks out"
    )]
    UsedUp {
        /// The consumable.
        resource: String,
        /// The least of all tasks.
        needed: u128,
        /// How much there is.
        there: u64,
    },
    /// Times on machines that are not those of the platform.
    #[error("job `{job}` has times on {times} machines and the platform has {nodes} nodes; give one for each")]
    MachineTimes {
        /// The job.
        job: String,
        /// How many times it has.
        times: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A job that has times only on nodes without processors.
    #[error("job `{0}` has a time on no node that has processors; give one")]
    Nowhere(String),
    /// A job that is called like a task of a bag.
    #[error("job `{0}` is called like a task of a bag, which are numbered from 0; rename the job or the bag")]
    TaskName(String),
    /// A task of a compound job that is called like another job or task.
    #[error("`{0}` is a task of a compound job, and another job or task is called so as well; rename one of them")]
    SameName(String),
    /// More tasks than can be planned or run one by one.
    #[error("{}", too_many(*.tasks))]
    TooManyTasks {
        /// How many there are in all.
        tasks: u128,
    },
    /// An unavailable period on processors that do not exist.
    #[error("unavailable period {index}: processor {processor} does not exist; ids run from 0 to {last}")]
    UnknownProcessor {
        /// Position in the file.
        index: usize,
        /// The processor.
        processor: u32,
        /// Largest id.
        last: u32,
    },
    /// An unavailable period that is empty.
    #[error("unavailable period {index}: it must name processors and end after it starts")]
    EmptyPeriod {
        /// Position in the file.
        index: usize,
    },
    /// Unavailable periods that overlap in too many ways.
    #[error(
        "the unavailable periods meet in so many ways that processors are closed more than {most} times in all, those that are \
         closed at the same times counted once; leave out what the jobs do not meet"
    )]
    TooManyPeriods {
        /// How many there may be.
        most: u64,
    },
    /// Times whose sum does not fit.
    #[error("the times add up to more than 146 years; check their unit (seconds unless one is written)")]
    TooLong,
}

/// What is needed of a resource, and what there is of it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("job `{job}` needs {needs} of `{resource}`{on}, and {there}")]
pub struct NoRoom {
    /// The job, or the task of a compound one.
    pub job: String,
    /// The resource, or all of them where only together they are too much.
    pub resource: String,
    /// How much it needs at least.
    pub needs: String,
    /// On how many processors, if on several.
    pub on: String,
    /// How much there is.
    pub there: String,
}

fn too_many(tasks: u128) -> String {
    let most = Instance::MAX_TASKS;
    format!("there are {tasks} tasks in all, and at most {most} are planned one by one; make fewer and longer tasks")
}
