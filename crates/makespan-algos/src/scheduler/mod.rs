//! The schedulers of the catalogue, one in each file.

mod allotment;
mod cpa;
mod cpop;
mod critical_jobs;
mod demt;
mod dual_approximation;
mod gang;
mod hard_deadlines;
mod hcpa;
mod heft;
mod list_graham;
mod lp_rounding;
mod mapping;
mod mcpa;
mod mheft;
mod moldable_graph;
mod of_derived;
mod optimise;
mod order;
mod packed;
mod peft;
mod penalties;
mod priority;
mod sequenced;
mod sequential;
mod shelves;
#[cfg(test)]
mod shortest_first;
mod steady_state;
mod sweep;
mod with_bags;

pub use crate::search::Budget;
pub use cpa::Cpa;
pub use cpop::Cpop;
pub use critical_jobs::CriticalJobs;
pub use demt::{Compaction, Demt};
pub use dual_approximation::DualApproximation;
pub use gang::Gang;
pub(crate) use hard_deadlines::needs_no_hard_deadlines;
pub use hcpa::Hcpa;
pub use heft::Heft;
pub use list_graham::ListGraham;
pub use lp_rounding::LpRounding;
pub use mapping::{MappingScheduler, check_mappable, problem_of, schedule_of};
pub use mcpa::Mcpa;
pub use mheft::Mheft;
pub use moldable_graph::PlacingRule;
pub(crate) use optimise::{GoalTask, NumberedWholes, Residual, Solution};
pub use optimise::{Optimise, Target};
pub use order::Order;
pub(crate) use packed::{DecodedList, Remains, needs_no_resources};
pub use peft::Peft;
pub use priority::{Priority, Rule, Scheme};
pub(crate) use sequenced::needs_no_setups;
pub use sequential::Sequential;
pub use shelves::Shelves;
pub use steady_state::{STEADY_STATE, SteadyState};
pub use sweep::Sweep;
pub use with_bags::WithBags;

use makespan_bounds::dual;
use makespan_core::{Instance, Objective, Unsupported, counted};

use crate::kernel::graph::TransferTimes;
use crate::plan::{Context, Guarantee, ScheduleError, Scheduler};

/// The schedulers that error messages recommend. They plan tasks of any kind on any nodes, with any resources.
const INSTEAD: &str = "`list`, `sweep`, `demt` or `optimise`";

/// Checks the requirements of schedulers that only count free processors if this suffices for the instance, and that
/// otherwise plan on a packing.
fn counted_or_packed(instance: &Instance) -> Result<(), Unsupported> {
    if packed::is_counted(instance) { needs_equal_processors(instance) } else { packed::supports(instance) }
}

/// Checks that an instance can be planned by counting equal processors, or on a packing.
pub(crate) fn counts_or_packs(instance: &Instance) -> Result<(), Unsupported> {
    if packed::is_counted(instance) { Ok(()) } else { packed::supports(instance) }
}

/// Checks the requirements of schedulers that plan moldable jobs only by counting processors. Processors must be equal.
/// No job may be a graph of tasks or a bag. [`WithBags`] plans bags.
fn needs_equal_processors(instance: &Instance) -> Result<(), Unsupported> {
    packed::needs_counts(instance, INSTEAD)?;
    packed::needs_no_bags(instance)?;
    if instance.has_compound_jobs() {
        let what = "it plans single tasks and bags, but at least one job is a graph of tasks";
        return Err(Unsupported(format!("{what}; use {INSTEAD}")));
    }
    if instance.has_equal_processors() {
        return Ok(());
    }
    let what = "it needs processors of equal speed, no network, and no jobs with their own time on each machine";
    Err(Unsupported(format!("{what}; use {INSTEAD}")))
}

/// Checks the requirements of schedulers that run each task of a graph on one processor. Each task must accept one
/// processor and need no other resources. No job may be a bag.
fn needs_single_processors(instance: &Instance) -> Result<(), Unsupported> {
    needs_single_processors_or(instance, INSTEAD)
}

/// Checks the requirements of [`needs_single_processors`]. The errors recommend `instead`.
fn needs_single_processors_or(instance: &Instance, instead: &str) -> Result<(), Unsupported> {
    packed::needs_no_resources(instance, "algorithm", instead)?;
    if let Some(job) = instance.jobs().iter().find(|job| job.is_bag()) {
        let what = format!("it plans jobs and graphs of tasks, but job `{}` is a bag", job.name);
        return Err(Unsupported(format!("{what}; use {instead}")));
    }
    if let Some(task) = instance.task_ids().find(|&task| !instance.profile(task).accepts(1)) {
        let name = instance.name(task);
        let what = format!("it runs every task on one processor, but `{name}` needs more");
        return Err(Unsupported(format!("{what}; use {instead}")));
    }
    if !TransferTimes::fits(instance.platform()) {
        let most = TransferTimes::MAX_NODES;
        return Err(Unsupported(format!(
            "it supports trees of at most {most} nodes, because it stores a value for every pair of nodes"
        )));
    }
    Ok(())
}

/// Adds a remark with the number of tasks that could use several processors. Schedulers that run every task on one
/// processor call this function.
fn remark_parallel(instance: &Instance, context: &mut Context) {
    let parallel = instance.task_ids().filter(|&task| !instance.profile(task).is_sequential()).count();
    if parallel > 0 {
        context.remarks.push(format!(
            "{parallel} of {} can run on several processors, but are planned on one processor each; use {INSTEAD} to \
             allow more",
            counted(instance.tasks(), "task")
        ));
    }
}

/// Checks that no tasks must start together. Only schedulers with [`Scheduler::supports_gangs`] start the tasks of a gang
/// together.
pub(crate) fn needs_no_gangs(instance: &Instance) -> Result<(), Unsupported> {
    let Some(task) = instance.different_task_ids().find(|&task| instance.task(task).gang.is_some()) else {
        return Ok(());
    };
    let name = instance.name(task);
    let what = format!("it starts tasks one by one, but `{name}` must start together with the other tasks of its gang");
    Err(Unsupported(format!("{what}; use the algorithm `critical-jobs` or the policy `job-flow`")))
}

/// Checks that no task has time lags. Only schedulers with [`Scheduler::supports_lags`] keep them.
pub(crate) fn needs_no_lags(instance: &Instance) -> Result<(), Unsupported> {
    let Some(task) = instance.different_task_ids().find(|&task| instance.lags_to(task).next().is_some()) else {
        return Ok(());
    };
    let (name, lags) = (instance.name(task), "it does not keep time lags");
    Err(Unsupported(format!(
        "{lags}, but the start of `{name}` depends on the start of another task; use `optimise` or `list`"
    )))
}

/// Checks that all processors are always open. Some schedulers choose allotments under this assumption.
fn needs_open_processors(instance: &Instance) -> Result<(), Unsupported> {
    if instance.availability().is_always_open() {
        return Ok(());
    }
    let what = "it chooses allotments as if all processors were always available, but some are unavailable at times";
    Err(Unsupported(format!("{what}; use {INSTEAD}")))
}

/// Checks the requirements of schedulers that choose only the number of processors of each job. In addition to
/// [`needs_equal_processors`], best placement must not be required.
fn needs_free_placement(instance: &Instance) -> Result<(), Unsupported> {
    needs_equal_processors(instance)?;
    if instance.platform().restricts_placement() {
        let remedy = "it cannot keep jobs within nodes (placement = compact); use `optimise`, `list`, `sweep`, \
                      `demt` or, if all nodes are equal, `shelves`";
        return Err(Unsupported(remedy.into()));
    }
    Ok(())
}

/// Returns the guarantee of a greedy list (Garey and Graham): twice the optimal makespan. The caller must ensure two
/// conditions on the allotments: their total area is at most the optimum times the number of processors, and no task
/// takes longer than the optimum. Returns `None` if jobs have release dates, if processors are unavailable at times, or
/// if best placement is required.
fn greedy_list_guarantee(instance: &Instance, objective: Objective) -> Option<Guarantee> {
    if !packed::is_counted(instance) {
        return None;
    }
    let proved = objective == Objective::Makespan && !instance.has_release_dates() && is_unrestricted(instance);
    proved.then_some(Guarantee::ratio(2, 1))
}

/// Returns the guarantee of a greedy list on the allotments of the dual search. The dual search computes areas from run
/// times that are not yet rounded up to ticks. For each job with a speed-up law, rounding adds at most two ticks of
/// area on every processor. So it adds at most four ticks to the makespan.
fn dual_list_guarantee(instance: &Instance, objective: Objective) -> Option<Guarantee> {
    if !packed::is_counted(instance) {
        return None;
    }
    let rounded = instance.simple_jobs().filter(|job| job.profile().rounds_up()).count();
    let guarantee = greedy_list_guarantee(instance, objective)?;
    Some(by_guess(guarantee.plus_ticks(4 * rounded as i64), instance.tasks() as usize, instance.processors()))
}

/// Returns the guarantee of a scheduler that uses the guess of the dual search. `guarantee` holds if this guess is at
/// most the optimum. If the search is not exact, its guess may exceed the optimum, and the guarantee is doubled.
fn by_guess(guarantee: Guarantee, jobs: usize, processors: u32) -> Guarantee {
    if dual::is_exact(jobs, processors) { guarantee } else { guarantee.doubled() }
}

/// Returns whether all processors are always open and best placement is not required.
fn is_unrestricted(instance: &Instance) -> bool {
    instance.availability().is_always_open() && !instance.platform().restricts_placement()
}

fn check_supported(scheduler: &dyn Scheduler, instance: &Instance) -> Result<(), ScheduleError> {
    let unsupported = |reason| ScheduleError::Unsupported { scheduler: scheduler.name(), reason };
    scheduler.supports(instance).map_err(unsupported)
}

/// Returns whether all jobs are monotone. For a speed-up law, the test uses the times before they are rounded up. If
/// all jobs are monotone, they always fit into the shelves.
fn all_monotone(instance: &Instance) -> bool {
    instance.simple_jobs().all(|job| job.profile().is_monotone())
}

/// Returns whether all tasks are monotone, including tasks of graphs.
fn all_tasks_monotone(instance: &Instance) -> bool {
    instance.task_ids().all(|task| instance.profile(task).is_monotone())
}

/// Returns whether at least one job follows a speed-up law. The run times of such a job are rounded up to ticks.
fn some_round_up(instance: &Instance) -> bool {
    instance.simple_jobs().any(|job| job.profile().rounds_up())
}
