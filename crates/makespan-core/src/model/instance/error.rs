//! The reasons why a platform, jobs and unavailable periods do not form an instance.

use thiserror::Error;

use crate::model::graph::cycle;
use crate::model::{Instance, Time};
use crate::text::counted;

/// The reason why a platform, jobs and unavailable periods do not form an instance.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InstanceError {
    /// Two jobs have the same name.
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
    /// A job needs more processors than the platform has.
    #[error("job `{job}` needs at least {}, but the platform has {processors}", counted(.needs, "processor"))]
    TooWide {
        /// Name of the job.
        job: String,
        /// Minimum number of processors of the job.
        needs: u32,
        /// Number of processors of the platform.
        processors: u32,
    },
    /// A job exceeds its walltime on every allotment.
    #[error("job `{job}` takes at least {shortest} s, but its time limit is {walltime} s; raise the limit")]
    Walltime {
        /// Name of the job.
        job: String,
        /// The job's shortest time on any allotment.
        shortest: Time,
        /// The job's walltime.
        walltime: Time,
    },
    /// The deadline of a job is before its release.
    #[error("job `{job}` has its deadline at {deadline} s, before its release at {release} s; state a later deadline")]
    Deadline {
        /// Name of the job.
        job: String,
        /// The job's deadline.
        deadline: Time,
        /// The job's release date.
        release: Time,
    },
    /// The hard deadline of a job is not after its release.
    #[error(
        "job `{job}` must end by {must_end_by} s, but is released at {release} s; state a later `must_end_by`, or an \
         earlier release"
    )]
    HardDeadline {
        /// Name of the job.
        job: String,
        /// The job's hard deadline.
        must_end_by: Time,
        /// The job's release date.
        release: Time,
    },
    /// A job waits for a job that does not exist.
    #[error("job `{job}` waits for `{after}`, but no job has this name; correct the name in `after`")]
    UnknownJob {
        /// Name of the job that waits.
        job: String,
        /// The name that no job has.
        after: String,
    },
    /// Jobs wait for each other. The field contains the names of the jobs of a cycle.
    #[error("the jobs wait for each other in a cycle: {}; remove a name from `after` of one of these jobs", cycle(.0))]
    Cycle(Vec<String>),
    /// There are more edges between tasks than are supported. If job b waits for job a, each first task of b waits for
    /// each last task of a.
    #[error("there are {0} dependencies between tasks, including those from `after`; at most 16777216 are supported")]
    TooManyEdges(usize),
    /// A job needs a resource that the platform does not have.
    #[error("job `{job}` needs `{resource}`, which is neither a resource of a node nor a licence; {known}")]
    UnknownResource {
        /// Name of the job, or of a task of a compound job.
        job: String,
        /// Name of the missing resource.
        resource: String,
        /// A sentence that lists the platform's resources.
        known: String,
    },
    /// On each of its allotments, a job needs more of a resource than the platform has.
    #[error("{0}")]
    NoRoom(Box<NoRoom>),
    /// All tasks together use up more of a consumable than the platform has, even if each task runs on the allotment
    /// that uses up the least.
    #[error(
        "all tasks together use up at least {needed} of `{resource}`, but the platform has {there}; raise this amount \
         or remove tasks"
    )]
    UsedUp {
        /// Name of the consumable.
        resource: String,
        /// Minimum amount that all tasks together use up.
        needed: u128,
        /// Amount that the platform has.
        there: u64,
    },
    /// A job has times for a different number of machines than the platform has.
    #[error(
        "job `{job}` has times on {times} machines, but the platform has {nodes} nodes; give one time for each node"
    )]
    MachineTimes {
        /// Name of the job.
        job: String,
        /// Number of machines for which the job states a time.
        times: usize,
        /// Number of nodes of the platform.
        nodes: usize,
    },
    /// A job can run only on nodes without processors.
    #[error("job `{0}` has no run time on any node with processors; state its run time on at least one such node")]
    Nowhere(String),
    /// The name of a job is also the name of a task of a bag.
    #[error(
        "job `{0}` has the name of a task of a bag (the tasks of a bag are numbered from 0); rename the job or \
         the bag"
    )]
    TaskName(String),
    /// The name of a task of a compound job is also the name of another job or task.
    #[error("`{0}` is a task of a compound job, and another job or task has the same name; rename one of them")]
    SameName(String),
    /// There are more tasks than can be planned or run one by one
    /// ([`Instance::MAX_TASKS`](crate::Instance::MAX_TASKS)).
    #[error("{}", too_many(*.tasks))]
    TooManyTasks {
        /// Total number of tasks.
        tasks: u128,
    },
    /// An unavailable period contains processors that do not exist.
    #[error(
        "unavailable period {index}: processor {processor} does not exist; processors are numbered from 0 to {last}"
    )]
    UnknownProcessor {
        /// Position of the period in the file, counted from 0.
        index: usize,
        /// Id of the missing processor.
        processor: u32,
        /// Largest id of a processor of the platform.
        last: u32,
    },
    /// An unavailable period is empty.
    #[error("unavailable period {index}: the period has no processors, or does not end after its start")]
    EmptyPeriod {
        /// Position of the period in the file, counted from 0.
        index: usize,
    },
    /// The unavailable periods overlap in too many ways.
    #[error(
        "the unavailable periods overlap in too many ways: processors become unavailable more than {most} times \
         (processors with the same unavailable periods are counted once); remove periods that no job needs"
    )]
    TooManyPeriods {
        /// Maximum number of closed periods.
        most: u64,
    },
    /// The sum of all times exceeds half the range of [`Time`].
    #[error("the times add up to more than 146 years; check their unit (a time without a unit is in seconds)")]
    TooLong,
}

/// A job needs more of a resource than the platform has. The fields other than names are parts of the message text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("job `{job}` needs {needs} of `{resource}`{on}, but {there}")]
pub struct NoRoom {
    /// Name of the job, or of a task of a compound job.
    pub job: String,
    /// Name of the insufficient resource. If each single resource is sufficient, but not all together, this field
    /// contains the names of all resources that the job needs.
    pub resource: String,
    /// The least amount that the job needs, with its unit.
    pub needs: String,
    /// The text ` on N processors` if the need is stated for N > 1 processors, otherwise empty.
    pub on: String,
    /// Text about the available amount, with a remedy.
    pub there: String,
}

fn too_many(tasks: u128) -> String {
    let most = Instance::MAX_TASKS;
    format!("there are {tasks} tasks in all, but at most {most} can be planned one by one; make fewer and longer tasks")
}
