//! The latest end of each task if the objective is within the claimed limit.

use makespan_core::{Instance, Job, Objective, Rows, TaskId, Weight};

use crate::proof::CertificateError;
use crate::proof::error::unproved;
use crate::proof::grid::divisor;

use super::LIMIT;
use super::relaxation::Relaxation;
use super::task::RelaxedTask;
use super::units::Grid;

/// Creates the relaxed problem with a deadline for every task. The deadline is the latest end with which the objective
/// can be at most `value`.
pub(super) fn claimed(
    instance: &Instance,
    objective: Objective,
    grid: i64,
    value: i64,
) -> Result<Relaxation, CertificateError> {
    let mut relaxation = Relaxation::new(instance, objective, Grid(grid), value)?;
    set(&mut relaxation, instance, objective, Grid(grid))?;
    Ok(relaxation)
}

/// Sets the weights, the deadlines and the latest starts of all tasks.
fn set(
    relaxation: &mut Relaxation,
    instance: &Instance,
    objective: Objective,
    grid: Grid,
) -> Result<(), CertificateError> {
    let horizon = relaxation.horizon()?;
    match objective {
        Objective::Makespan => relaxation.tasks.iter_mut().for_each(|task| task.due = relaxation.value),
        Objective::MaxTardiness => {
            for (task, id) in relaxation.tasks.iter_mut().zip(instance.task_ids()) {
                let due = instance.job_of(id).deadline.map(|deadline| grid.up(deadline));
                task.due = due.map_or(horizon, |due| due.saturating_add(relaxation.value)).min(horizon);
            }
        }
        _ => {
            let weights = weights_in_units(instance, objective).0;
            for ((task, id), weight) in relaxation.tasks.iter_mut().zip(instance.task_ids()).zip(weights) {
                task.weight = weight;
                let deadline = instance.job_of(id).deadline.filter(|_| objective.is_tardiness());
                task.free_until = deadline.map_or(0, |deadline| grid.up(deadline));
            }
            return by_weight(relaxation, horizon);
        }
    }
    set_latest(relaxation);
    Ok(())
}

/// Returns the greatest common divisor of the weights of the ends of all tasks, in millionths. The objective of
/// the relaxed problem is a multiple of this divisor times the grid.
pub(super) fn unit(instance: &Instance, objective: Objective) -> u64 {
    weights(instance, objective).into_iter().fold(0, divisor)
}

/// Returns two results: the weights of the ends of all tasks, divided by their greatest common divisor ([`unit`]), and
/// this divisor.
pub(super) fn weights_in_units(instance: &Instance, objective: Objective) -> (Vec<i64>, i64) {
    let unit = unit(instance, objective);
    let weight = |weight: u64| weight.checked_div(unit).unwrap_or(0).cast_signed();
    (weights(instance, objective).into_iter().map(weight).collect(), unit.cast_signed())
}

/// Returns the weight of the end of each task, in millionths. For a tardiness, a job without a deadline has no weight. A
/// last task of a job is a task for which no other task of the job waits. The last tasks of a job share its weight
/// equally, rounded down. So the weighted sum of their ends is at most the job's weight times the job's end. If the job
/// has only one last task, the two values are equal. For a tardiness, this holds for the times after the deadline.
fn weights(instance: &Instance, objective: Objective) -> Vec<u64> {
    let mut weights = Vec::new();
    for (id, job) in instance.ids().zip(instance.jobs()) {
        let has_cost = !objective.is_tardiness() || job.deadline.is_some();
        let stated = if objective.is_weighted() { job.weight } else { Weight::ONE };
        let whole = if has_cost { stated.millionths() } else { 0 };
        let mut is_last = vec![true; usize::try_from(job.tasks()).unwrap_or(0)];
        for edge in instance.edges_of(id) {
            is_last[number(job, edge.from)] = false;
        }
        let count = is_last.iter().filter(|&&is_last| is_last).count();
        let share = whole.checked_div(count as u64).unwrap_or(0);
        weights.extend(is_last.into_iter().map(|is_last| if is_last { share } else { 0 }));
    }
    weights
}

fn number(job: &Job<Rows>, task: TaskId) -> usize {
    task.index() - job.first().index()
}

/// Sets the deadlines of the tasks if the objective is a sum over jobs. The deadline of a task is its latest end for
/// which the sum satisfies the claim if all other tasks end as early as possible.
fn by_weight(relaxation: &mut Relaxation, horizon: i64) -> Result<(), CertificateError> {
    let least = |task: &RelaxedTask| task.cost(task.head.saturating_add(task.shortest()));
    let base = relaxation.tasks.iter().try_fold(0_i128, |sum, task| sum.checked_add(least(task)));
    let base = base.ok_or(CertificateError::Overflow)?;
    if relaxation.tasks.iter().all(|task| task.weight == 0) {
        return unproved("no task has a weight");
    }
    let left = i128::from(relaxation.value) - base;
    relaxation.is_refuted = left < 0;
    for task in &mut relaxation.tasks {
        task.due = horizon;
        if task.weight > 0 {
            let due = (left + least(task)).div_euclid(task.weight.into()) + i128::from(task.free_until);
            task.due = i64::try_from(due.clamp(i128::from(-LIMIT), horizon.into())).unwrap_or(horizon);
        }
    }
    set_latest(relaxation);
    Ok(())
}

/// Sets the latest starts: a task ends no later than the latest starts of the tasks that wait for it.
fn set_latest(relaxation: &mut Relaxation) {
    let mut deadlines: Vec<i64> = relaxation.tasks.iter().map(|task| task.due).collect();
    loop {
        let mut is_changed = false;
        for (&(from, to), &delay) in &relaxation.waits {
            let by = deadlines[to].saturating_sub(relaxation.tasks[to].shortest()).saturating_sub(delay);
            is_changed |= by < deadlines[from];
            deadlines[from] = deadlines[from].min(by);
        }
        if !is_changed {
            break;
        }
    }
    for (task, deadline) in relaxation.tasks.iter_mut().zip(deadlines) {
        for mode in &mut task.modes {
            mode.latest = deadline.saturating_sub(mode.time).max(-LIMIT);
        }
    }
}
