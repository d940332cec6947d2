//! Writes an instance as a log.

use std::io::{self, Write};

use makespan_core::{Instance, JobId, Need, Needs, Placement, Resource, Schedule, TaskId, Weight};
use rustc_hash::FxHashSet;

/// Writes an instance as a log, in the order of submit times. With a schedule, each record has its wait time, run time
/// and processors. Without a schedule, a moldable job requests its minimum number of processors, and its time on these
/// processors. A bag becomes one record for each of its tasks.
///
/// If there are no bags and all job names are different numbers, these names are the job numbers. Otherwise jobs are
/// numbered from 1. Memory is written in KiB per processor. The format cannot express weights, priorities, deadlines,
/// dependencies between jobs, other needs, speed-ups, bags and unavailable periods. A header note states the omitted
/// data.
///
/// # Errors
/// Errors of the writer. [`io::ErrorKind::InvalidInput`] if there are more tasks than [`Instance::MAX_TASKS`], or if
/// there is a compound job.
pub fn write_swf(instance: &Instance, schedule: Option<&Schedule>, writer: &mut dyn Write) -> io::Result<()> {
    let refused =
        |error| io::Error::new(io::ErrorKind::InvalidInput, format!("SWF needs one record for each task; {error}"));
    instance.check_task_count().map_err(refused)?;
    if let Some(job) = instance.jobs().iter().find(|job| job.is_compound()) {
        let problem = format!("SWF cannot store the edges of a graph of tasks, such as job `{}`", job.name);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    // A best-effort bag has weight 0, so omitting the weight loses nothing.
    let weights = instance.jobs().iter().any(|job| job.weight != Weight::ONE && !job.is_best_effort());
    let bags = instance.has_bags().then_some("bags of tasks (each task has a record)");
    header(instance, weights, bags, writer)?;
    let mut placed: Vec<Option<&Placement>> = vec![None; instance.tasks() as usize];
    for placement in schedule.map_or(&[][..], Schedule::placements) {
        if let Some(slot) = placed.get_mut(placement.task.index()) {
            *slot = Some(placement);
        }
    }
    let numbers = JobNumbers::new(instance);
    by_release(instance).try_for_each(|task| record(instance, task, numbers.of(task), placed[task.index()], writer))
}

/// Returns the tasks in the order of the release dates of their jobs.
pub(super) fn by_release(instance: &Instance) -> impl Iterator<Item = TaskId> + use<> {
    let mut order: Vec<TaskId> = instance.task_ids().collect();
    order.sort_by_key(|&task| instance.release(task));
    order.into_iter()
}

fn record(
    instance: &Instance,
    task: TaskId,
    number: u64,
    placed: Option<&Placement>,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let job = instance.job_of(task);
    let walltime = job.walltime.map_or_else(|| "-1".to_owned(), |walltime| walltime.to_string());
    let profile = instance.profile(task);
    let fewest = profile.min_processors();
    write!(writer, "{number} {} ", job.release)?;
    match placed {
        Some(at) => {
            let (wait, run, processors) = (at.start - job.release, at.end - at.start, at.processors.len());
            let memory = memory(instance, task, processors);
            write!(writer, "{wait} {run} {processors} -1 -1 {processors} {walltime} {memory} 1")?;
        }
        None => {
            let memory = memory(instance, task, fewest);
            write!(writer, "-1 {} -1 -1 -1 {fewest} {walltime} {memory} -1", profile.time(fewest))?;
        }
    }
    writeln!(writer, " -1 -1 -1 -1 -1 -1 -1")
}

/// Returns the memory of a task on `processors` processors, in KiB per processor and rounded up, or -1 if the task
/// needs no memory.
pub(super) fn memory(instance: &Instance, task: TaskId, processors: u32) -> i64 {
    let bytes = instance.task(task).needs.of(Resource::MEMORY).map_or(0, |need| need.total(processors));
    match bytes.div_ceil(1024 * u64::from(processors.max(1))) {
        0 => -1,
        // Amounts are below 2^63 bytes.
        kibibytes => kibibytes as i64,
    }
}

/// Returns whether the format cannot express a need of some task. The format cannot express a need for a resource
/// other than memory, nor an amount of memory that is not a whole number of KiB per processor.
fn loses_needs(instance: &Instance) -> bool {
    let fits = |needs: &Needs| {
        needs.iter().all(|(name, need)| {
            name == Resource::MEMORY
                && matches!(need, Need::Linear { whole: 0, per_processor } if per_processor.is_multiple_of(1024))
        })
    };
    let different = |id| instance.job(id).different_task_ids();
    instance.ids().flat_map(different).any(|task| !fits(&instance.task(task).needs))
}

/// Writes the header. `weights` is true if weights are omitted. `bags` describes what is omitted about bags.
pub(super) fn header(
    instance: &Instance,
    weights: bool,
    bags: Option<&'static str>,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let (jobs, processors) = (instance.tasks(), instance.processors());
    writeln!(writer, "; Version: 2.2\n; MaxJobs: {jobs}\n; MaxRecords: {jobs}")?;
    writeln!(writer, "; MaxNodes: {}\n; MaxProcs: {processors}", instance.platform().node_count())?;
    let mut left_out = Vec::new();
    if weights {
        left_out.push("weights");
    }
    if instance.jobs().iter().any(|job| job.priority != 0) {
        left_out.push("priorities");
    }
    if instance.jobs().iter().any(|job| job.deadline.is_some() || job.must_end_by.is_some()) {
        left_out.push("deadlines");
    }
    if instance.has_edges_between_jobs() {
        left_out.push("dependencies between jobs");
    }
    if instance.has_setups() {
        left_out.push("setup times");
    }
    if loses_needs(instance) {
        left_out.push("needs other than memory (in KiB per processor)");
    }
    if !instance.platform().resources().is_empty() {
        left_out.push("resources of the platform");
    }
    if instance.ids().any(|id| !is_rigid(instance, id)) {
        left_out.push("speed-ups");
    }
    if instance.has_machine_times() {
        left_out.push("times on machines (only the shortest is written)");
    }
    if !instance.platform().has_unit_speed() {
        left_out.push("speeds");
    }
    left_out.extend(bags);
    if !instance.unavailable().is_empty() {
        left_out.push("unavailable periods");
    }
    if left_out.is_empty() {
        return Ok(());
    }
    writeln!(writer, "; Note: written by Makespan without {}", left_out.join(", "))
}

/// Returns whether each task of a job accepts only one number of processors.
fn is_rigid(instance: &Instance, job: JobId) -> bool {
    (0..instance.job(job).different_tasks()).all(|number| instance.profile_at(job, number).is_rigid())
}

/// Job numbers of records, if the names of the jobs are used as numbers. `None` means consecutive numbers.
pub(super) struct JobNumbers(Option<Vec<u64>>);

impl JobNumbers {
    /// Uses the names as job numbers if all names are different numbers and each job has one record.
    pub(super) fn new(instance: &Instance) -> Self {
        if instance.has_bags() || instance.has_compound_jobs() {
            return Self(None);
        }
        let mut seen = FxHashSet::default();
        let number = |name: &str| name.parse().ok().filter(|&number| seen.insert(number));
        Self(instance.jobs().iter().map(|job| job.name.as_str()).map(number).collect())
    }

    /// Returns the job number in the record of a task.
    pub(super) fn of(&self, task: TaskId) -> u64 {
        self.0.as_ref().map_or(task.0 + 1, |numbers| numbers[task.index()])
    }
}
