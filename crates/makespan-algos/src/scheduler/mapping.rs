//! A scheduler that maps sequential tasks to machines. The scheduler uses a rule or a search of `kernel::mapping`.

use makespan_core::{Instance, Objective, Placement, ProcSet, Profile, Schedule, TaskId, Time, Unsupported};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::packed::{needs_counts, needs_no_bags};
use super::{INSTEAD, check_supported};
use crate::kernel::mapping::{MachineId, Mapper, MappingProblem, Times, task_time};
use crate::plan::{Context, Guarantee, Plan, ScheduleError, Scheduler};

/// Uses a mapper (a rule or a search that maps tasks to machines) as a scheduler. Each processor is a machine. The
/// tasks of a machine run one after another without gaps, in Smith's order: by increasing time divided by weight. For a
/// given mapping, this order is optimal for weighted completion, and the makespan does not depend on the order.
///
/// Source: the source of the mapper. The order is from W. E. Smith, Naval Research Logistics Quarterly 3, 1956, DOI
/// 10.1002/nav.3800030106. Assumptions: all tasks are sequential and released at the same time, and processors are
/// unavailable only at the beginning. Guarantee: none. Complexity: the complexity of the mapper, plus O(n log n) for n
/// tasks.
///
/// ```
/// use makespan_algos::kernel::mapping::MinMin;
/// use makespan_algos::scheduler::MappingScheduler;
/// use makespan_algos::{Context, Scheduler};
/// use makespan_core::{Instance, Job, Platform, Profile, Time};
///
/// let job = |name: &str, row: [i64; 2]| Job::new(name, Profile::on_machines(row.map(Time::from_seconds)).unwrap());
/// let jobs = vec![job("a", [4, 1]), job("b", [2, 9])];
/// let instance = Instance::new(Platform::cluster(2, 1).unwrap(), jobs, vec![]).unwrap();
/// let plan = MappingScheduler::new("min-min", MinMin).schedule(&instance, &mut Context::default()).unwrap();
/// assert_eq!(plan.into_schedule().unwrap().makespan(), Time::from_seconds(2));
/// ```
pub struct MappingScheduler {
    spec: String,
    mapper: Box<dyn Mapper + Send + Sync>,
}

impl MappingScheduler {
    /// Returns the scheduler for a mapper. `spec` is the name of the scheduler in specs.
    pub fn new(spec: impl Into<String>, mapper: impl Mapper + Send + Sync + 'static) -> Self {
        Self { spec: spec.into(), mapper: Box::new(mapper) }
    }

    /// Returns the mapper.
    pub fn into_mapper(self) -> Box<dyn Mapper> {
        self.mapper
    }
}

impl Scheduler for MappingScheduler {
    fn name(&self) -> String {
        self.spec.clone()
    }

    fn supports(&self, instance: &Instance) -> Result<(), Unsupported> {
        check_mappable(instance)
    }

    fn guarantee(&self, _instance: &Instance, _objective: Objective) -> Option<Guarantee> {
        None
    }

    fn schedule(&self, instance: &Instance, context: &mut Context) -> Result<Plan, ScheduleError> {
        check_supported(self, instance)?;
        let problem = problem_of(instance);
        let mapping = self.mapper.map(&problem, &mut ChaCha8Rng::seed_from_u64(context.seed));
        if problem.makespan(&mapping) >= Profile::CANNOT_RUN.ticks() {
            // If a rule minimises completion times, they cannot overflow, because an instance limits its times. Under
            // another rule, completion times may overflow, but only if some machine cannot run all tasks.
            let reason =
                "the tasks of one machine take more than 146 years in total; check the unit of the times, or use mct";
            return Err(ScheduleError::Unsupported { scheduler: self.name(), reason: Unsupported(reason.into()) });
        }
        Ok(schedule_of(instance, &problem, &mapping).into())
    }
}

/// Checks that an instance is a mapping problem. All tasks must be sequential and released at the same time. No
/// processor may close after it has opened.
///
/// # Errors
/// [`Unsupported`] states the property that the mapping problem does not allow.
pub fn check_mappable(instance: &Instance) -> Result<(), Unsupported> {
    let refused = |problem: &str| Err(Unsupported(format!("{problem}; use {INSTEAD}")));
    needs_counts(instance, INSTEAD)?;
    needs_no_bags(instance)?;
    if instance.has_compound_jobs() {
        return refused("it maps single jobs to machines, but at least one job is a graph of tasks");
    }
    if !instance.is_sequential() {
        return refused("it maps jobs to machines, but at least one job can use several processors");
    }
    if instance.has_release_dates() {
        return refused("it maps jobs that are released together, but some jobs are released later");
    }
    if instance.platform().is_tree() {
        return refused("it does not support a network between the machines");
    }
    let first = instance.first_release();
    let mut late = instance.unavailable().iter().filter(|period| period.end > first);
    if late.any(|period| period.start > first) {
        return refused(
            "it supports unavailable periods only at the beginning, but some machines are unavailable later",
        );
    }
    Ok(())
}

/// Returns the mapping problem of an instance. The processors of the instance are the machines. Times are not copied if
/// each task has its own time on each machine, every node has one processor, and no job has a walltime.
pub fn problem_of(instance: &Instance) -> MappingProblem<'_> {
    let nodes = instance.platform().nodes();
    let machines = instance.processors() as usize;
    let as_they_are = nodes.iter().all(|node| node.processors == 1)
        && instance.simple_jobs().all(|job| job.profile().machine_times().is_some() && job.walltime.is_none());
    let times = if as_they_are {
        let rows = instance.simple_jobs().map(|job| job.profile().machine_times().unwrap_or_default());
        Times::rows(rows.collect(), machines)
    } else {
        let mut cells = Vec::with_capacity(instance.tasks() as usize * machines);
        for task in instance.task_ids() {
            for (node, of) in nodes.iter().enumerate() {
                let time = task_time(instance.time_on(task, node));
                cells.extend(std::iter::repeat_n(time, of.processors as usize));
            }
        }
        Times::flat(cells, machines)
    };
    let mut ready = vec![instance.first_release().ticks(); machines];
    for period in instance.unavailable() {
        for id in period.processors.iter() {
            let ready = &mut ready[id as usize];
            *ready = (*ready).max(period.end.ticks());
        }
    }
    MappingProblem::new(times, ready)
}

/// Returns the schedule of a mapping. The tasks of each machine run one after another, in Smith's order.
pub fn schedule_of(instance: &Instance, problem: &MappingProblem<'_>, mapping: &[MachineId]) -> Schedule {
    schedule_for(instance, problem, mapping, Objective::WeightedCompletion)
}

/// Returns the schedule of a mapping. The tasks of each machine run one after another, in the optimal order for an
/// objective. For the mean flow, shorter tasks come first. For other objectives, the order is Smith's order, by time
/// divided by weight.
pub(super) fn schedule_for(
    instance: &Instance,
    problem: &MappingProblem<'_>,
    mapping: &[MachineId],
    objective: Objective,
) -> Schedule {
    let weight = |task: u32| {
        if objective.is_mean() { 1 } else { i128::from(instance.weight(TaskId::at(task as usize)).millionths()) }
    };
    let key = |task: u32| {
        let weight = weight(task);
        (i128::from(problem.time(task as usize, mapping[task as usize])), weight)
    };
    let mut order: Vec<u32> = (0..mapping.len() as u32).collect();
    order.sort_by(|&a, &b| {
        let ((time_a, weight_a), (time_b, weight_b)) = (key(a), key(b));
        (mapping[a as usize].cmp(&mapping[b as usize]))
            .then_with(|| (time_a * weight_b).cmp(&(time_b * weight_a)))
            .then_with(|| (time_a, a).cmp(&(time_b, b)))
    });
    let mut ready = problem.ready().to_vec();
    let placement = |task: u32| {
        let machine = mapping[task as usize];
        let start = ready[machine.index()];
        let end = start + problem.time(task as usize, machine);
        ready[machine.index()] = end;
        let (start, end) = (Time::from_ticks(start), Time::from_ticks(end));
        let task = TaskId::at(task as usize);
        Placement { task, start, end, processors: ProcSet::range(machine.0, machine.0) }
    };
    Schedule::new(order.into_iter().map(placement).collect())
}
