//! Checks of a schedule against simple rules. The checks share no code with the schedulers.

mod gangs;
mod lags;
mod precedence;
mod resources;
mod setups;

use thiserror::Error;

use crate::model::{Instance, Job, ProcSet, Rows, Shortage, TaskId, Time};
use crate::schedule::{Placement, Schedule};
use crate::text::counted;

/// A rule that a schedule violates. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Violation {
    /// A task does not exist.
    #[error("task number {0} does not exist")]
    UnknownTask(TaskId),
    /// A job has no placement.
    #[error("job `{0}` is not placed")]
    Missing(String),
    /// Some tasks of a bag or a compound job have no placement.
    #[error("job `{job}`: {missing} of {tasks} tasks have no placement, the first of these is {first}")]
    MissingTasks {
        /// Name of the job.
        job: String,
        /// Number of missing tasks.
        missing: u64,
        /// Number of tasks of the job.
        tasks: u64,
        /// The first missing task: its position in a bag, its name in a compound job.
        first: String,
    },
    /// A job, or a task of a bag, has several placements.
    #[error("job `{job}` is placed {times} times")]
    Repeated {
        /// Name of the job, or of a task.
        job: String,
        /// Number of placements.
        times: usize,
    },
    /// The job does not accept the allotment.
    #[error("job `{job}` is placed on {}, but the job accepts {min} to {max}", counted(.processors, "processor"))]
    Allotment {
        /// Name of the job.
        job: String,
        /// Number of processors on which the job is placed.
        processors: u32,
        /// Minimum number of processors that the job accepts.
        min: u32,
        /// Maximum number of processors that the job accepts.
        max: u32,
    },
    /// The job cannot run on the processors on which it is placed.
    #[error("job `{job}` is placed on processors {processors} of {node}, on which the job cannot run{walltime}")]
    Machine {
        /// Name of the job.
        job: String,
        /// The processors on which the job is placed.
        processors: ProcSet,
        /// Name of the first node of these processors.
        node: String,
        /// An addition to the message if the walltime is the reason, otherwise empty.
        walltime: &'static str,
    },
    /// The duration differs from the job's time on its processors.
    #[error("job `{job}` lasts {lasts} s, but on processors {processors} the job takes {takes} s")]
    Duration {
        /// Name of the job.
        job: String,
        /// The processors on which the job is placed.
        processors: ProcSet,
        /// Duration of the placement: end minus start.
        lasts: Time,
        /// Time that the job takes on these processors.
        takes: Time,
    },
    /// The job starts before its release date.
    #[error("job `{job}` starts at {start} s, before its release at {release} s")]
    TooEarly {
        /// Name of the job.
        job: String,
        /// Start of the job.
        start: Time,
        /// Release date of the job.
        release: Time,
    },
    /// A processor does not exist.
    #[error("job `{job}` is placed on processor {processor}; processors are numbered from 0 to {last}")]
    UnknownProcessor {
        /// Name of the job.
        job: String,
        /// Id of the missing processor.
        processor: u32,
        /// Largest processor id of the platform.
        last: u32,
    },
    /// The platform requires best placement, but the processors of the job do not form a best placement.
    #[error(
        "job `{job}` is spread over the nodes {nodes}; on this platform (placement = compact) a job must run on one \
         node if a node is large enough, otherwise on whole nodes and a part of at most one node"
    )]
    Scattered {
        /// Name of the job.
        job: String,
        /// Names of the nodes of which the job holds some but not all processors.
        nodes: String,
    },
    /// Some tasks together need more of a resource than the platform has. The message names the task that starts last.
    #[error("{0}")]
    Resource(Box<Shortage>),
    /// A task starts before a predecessor has ended or before the predecessor's data have arrived.
    #[error("job `{job}` starts at {start} s; `{after}` ends at {end} s and its data arrive at {arrival} s")]
    Precedence {
        /// Name of the task that starts too early.
        job: String,
        /// Start of the task.
        start: Time,
        /// Name of the predecessor.
        after: String,
        /// End of the predecessor.
        end: Time,
        /// The instant at which the predecessor's data arrive.
        arrival: Time,
    },
    /// Two tasks of a gang do not start together.
    #[error("jobs `{first}` and `{second}` belong to one gang, but start at {from} s and {later} s")]
    Gang {
        /// Name of the task that starts first.
        first: String,
        /// Name of the task that starts later.
        second: String,
        /// Start of the first task.
        from: Time,
        /// Start of the second task.
        later: Time,
    },
    /// A task ends after the hard deadline of its job.
    #[error("job `{job}` ends at {end} s, after its deadline at {must_end_by} s (`must_end_by`)")]
    HardDeadline {
        /// Name of the task.
        job: String,
        /// End of the task.
        end: Time,
        /// The instant by which the job must end.
        must_end_by: Time,
    },
    /// A task starts before the setup after the previous task on a machine has ended.
    #[error(
        "job `{job}` starts at {start} s on `{machine}`, but the setup after `{after}`, which ends at {end} s, takes \
         {setup} s"
    )]
    Setup {
        /// Name of the task.
        job: String,
        /// Name of the previous task on the machine.
        after: String,
        /// Name of the machine: a node or a licence.
        machine: String,
        /// Start of the task.
        start: Time,
        /// End of the previous task.
        end: Time,
        /// The setup time.
        setup: Time,
    },
    /// A task starts before a minimal time lag after the start of another task has passed.
    #[error("job `{second}` starts at {later} s, less than {least} s after the start of `{first}` at {from} s")]
    EarlyLag {
        /// Name of the task that starts first.
        first: String,
        /// Name of the task that starts too early.
        second: String,
        /// Start of the first task.
        from: Time,
        /// Start of the second task.
        later: Time,
        /// The minimal time lag.
        least: Time,
    },
    /// A task starts after a maximal time lag after the start of another task has passed.
    #[error("job `{second}` starts at {later} s, more than {most} s after the start of `{first}` at {from} s")]
    LateLag {
        /// Name of the task that starts first.
        first: String,
        /// Name of the task that starts too late.
        second: String,
        /// Start of the first task.
        from: Time,
        /// Start of the second task.
        later: Time,
        /// The maximal time lag.
        most: Time,
    },
    /// Two jobs hold a processor at the same time.
    #[error("jobs `{first}` and `{second}` both hold processor {processor} at {at} s")]
    Overlap {
        /// Name of the job that starts first.
        first: String,
        /// Name of the job that starts second.
        second: String,
        /// A processor that both jobs hold.
        processor: u32,
        /// Start of the second job.
        at: Time,
    },
    /// A job holds processors that are reserved or down.
    #[error("job `{job}` holds processors {processors} while they are unavailable from {start} s to {end} s")]
    Unavailable {
        /// Name of the job.
        job: String,
        /// The processors of the job that are unavailable.
        processors: ProcSet,
        /// Start of the unavailable period.
        start: Time,
        /// End of the unavailable period.
        end: Time,
    },
}

/// Checks that a schedule is valid. Every task of every job must be placed exactly once:
///
/// * on existing processors that are open and that no other task holds;
/// * on a number of processors that the task accepts, for exactly the task's time;
/// * at the same instant as all other tasks of its gang, if it belongs to a gang;
/// * until the hard deadline of its job at the latest;
/// * not before the setup after the previous task on each of its machines has ended;
/// * within its time lags to the starts of other tasks;
/// * in its best placement, if the platform requires it;
/// * not before its release, not before the ends of the tasks that it waits for, and not before the arrival of their
///   data;
/// * with all resources that the task needs.
///
/// # Errors
/// Returns all violations, up to one of each kind per task. A task of a bag has a name such as `name/17`.
pub fn validate(instance: &Instance, schedule: &Schedule) -> Result<(), Vec<Violation>> {
    let mut violations: Vec<Violation> = unknown_tasks(instance, schedule).collect();
    if violations.is_empty() {
        violations.extend(placed_once(instance, schedule));
        let each = schedule.placements();
        violations.extend(each.iter().filter_map(|placement| allotment(instance, placement)));
        violations.extend(each.iter().filter_map(|placement| release(instance, placement)));
        violations.extend(each.iter().filter_map(|placement| hard_deadline(instance, placement)));
        violations.extend(each.iter().filter_map(|placement| processors_exist(instance, placement)));
        violations.extend(each.iter().filter_map(|placement| open(instance, placement)));
        if instance.platform().is_compact() {
            violations.extend(each.iter().filter_map(|placement| compact(instance, placement)));
        }
    }
    if violations.is_empty() {
        violations.extend(exclusive(instance, schedule));
        violations.extend(precedence::check(instance, schedule));
        violations.extend(gangs::check(instance, schedule));
        violations.extend(lags::check(instance, schedule));
        violations.extend(resources::check(instance, schedule));
        violations.extend(setups::check(instance, schedule));
    }
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

fn name(instance: &Instance, placement: &Placement) -> String {
    instance.name(placement.task).into_owned()
}

fn unknown_tasks(instance: &Instance, schedule: &Schedule) -> impl Iterator<Item = Violation> {
    let tasks = schedule.placements().iter().map(|placement| placement.task);
    tasks.filter(|&task| !instance.has_task(task)).map(Violation::UnknownTask)
}

fn placed_once(instance: &Instance, schedule: &Schedule) -> Vec<Violation> {
    let mut placed: Vec<TaskId> = schedule.placements().iter().map(|one| one.task).collect();
    placed.sort_unstable();
    let mut rest = placed.as_slice();
    let mut violations = Vec::new();
    for job in instance.jobs() {
        let (own, later) = rest.split_at(rest.partition_point(|&task| job.has_task(task)));
        rest = later;
        tasks_once(instance, job, own, &mut violations);
    }
    violations
}

/// Checks that every task of a job is placed once. `placed` contains the placed tasks of the job, ascending.
fn tasks_once(instance: &Instance, job: &Job<Rows>, placed: &[TaskId], violations: &mut Vec<Violation>) {
    let tasks = job.tasks();
    // All tasks before `first` are placed. So after the loop, `first` is the first missing task, if any task is
    // missing.
    let (mut known, mut first) = (0_u64, job.first());
    for same in placed.chunk_by(|a, b| a == b) {
        let task = same[0];
        if same.len() > 1 {
            violations.push(Violation::Repeated { job: instance.name(task).into_owned(), times: same.len() });
        }
        known += 1;
        first.0 += u64::from(task == first);
    }
    let missing = tasks - known;
    if missing > 0 && !job.is_bag() && !job.is_compound() {
        violations.push(Violation::Missing(job.name.clone()));
    } else if missing > 0 {
        let first = instance.short_name(first).into_owned();
        violations.push(Violation::MissingTasks { job: job.name.clone(), missing, tasks, first });
    }
}

fn allotment(instance: &Instance, placement: &Placement) -> Option<Violation> {
    let profile = instance.profile(placement.task);
    let processors = placement.processors.len();
    if !profile.accepts(processors) {
        let (min, max) = (profile.min_processors(), profile.max_processors());
        return Some(Violation::Allotment { job: name(instance, placement), processors, min, max });
    }
    let held = &placement.processors;
    if held.last().is_none_or(|id| id >= instance.processors()) {
        // Another check reports processors that do not exist.
        return None;
    }
    let named = || name(instance, placement);
    let Some(takes) = instance.try_time(placement.task, held) else {
        let first = held.iter().next().unwrap_or_default();
        let node = instance.platform().nodes()[instance.platform().node_of(first)].name.clone();
        let within = instance.platform().time(profile, held).is_some();
        let walltime = if within { " within its walltime" } else { "" };
        return Some(Violation::Machine { job: named(), processors: held.clone(), node, walltime });
    };
    let lasts = placement.end - placement.start;
    (lasts != takes).then(|| Violation::Duration { job: named(), processors: held.clone(), lasts, takes })
}

fn release(instance: &Instance, placement: &Placement) -> Option<Violation> {
    let release = instance.release(placement.task);
    let early = placement.start < release;
    early.then(|| Violation::TooEarly { job: name(instance, placement), start: placement.start, release })
}

fn hard_deadline(instance: &Instance, placement: &Placement) -> Option<Violation> {
    let must_end_by = instance.job_of(placement.task).must_end_by?;
    let (job, end) = (|| name(instance, placement), placement.end);
    (end > must_end_by).then(|| Violation::HardDeadline { job: job(), end, must_end_by })
}

fn processors_exist(instance: &Instance, placement: &Placement) -> Option<Violation> {
    let last = instance.processors() - 1;
    let processor = placement.processors.last().filter(|&id| id > last)?;
    Some(Violation::UnknownProcessor { job: name(instance, placement), processor, last })
}

fn open(instance: &Instance, placement: &Placement) -> Option<Violation> {
    let mut meeting =
        instance.unavailable().iter().filter(|period| period.start < placement.end && placement.start < period.end);
    meeting.find_map(|period| {
        let processors = period.processors.intersection(&placement.processors);
        let (start, end) = (period.start, period.end);
        (!processors.is_empty()).then(|| Violation::Unavailable {
            job: name(instance, placement),
            processors,
            start,
            end,
        })
    })
}

fn compact(instance: &Instance, placement: &Placement) -> Option<Violation> {
    let platform = instance.platform();
    let nodes = || {
        let parts = platform.parts(&placement.processors);
        parts.iter().map(|part| platform.nodes()[part.0].name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let is_best = platform.is_best_placement(&placement.processors);
    (!is_best).then(|| Violation::Scattered { job: name(instance, placement), nodes: nodes() })
}

/// Checks that no two tasks hold a processor at the same time. Examines the placements in order of their starts, and
/// stores the last placement of each processor with its end.
fn exclusive(instance: &Instance, schedule: &Schedule) -> Vec<Violation> {
    let placements = schedule.placements();
    let mut holder = vec![(Time::ZERO, 0_usize); instance.processors() as usize];
    let mut violations = Vec::new();
    for (index, placement) in placements.iter().enumerate() {
        let clash = placement.processors.iter().find(|&id| holder[id as usize].0 > placement.start);
        if let Some(processor) = clash {
            let first = name(instance, &placements[holder[processor as usize].1]);
            let second = name(instance, placement);
            violations.push(Violation::Overlap { first, second, processor, at: placement.start });
        }
        for &(first, last) in placement.processors.intervals() {
            holder[first as usize..=last as usize].fill((placement.end, index));
        }
    }
    violations
}

#[cfg(test)]
mod tests;
