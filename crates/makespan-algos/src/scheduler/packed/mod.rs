//! Plans instances for which it is not enough to count free processors. For example, tasks may need other resources, or
//! wait for other tasks, or run on nodes of different speeds. List schedulers plan such instances on a [`Packing`].

mod demt;
mod moldable;
mod pools;
mod search;

use makespan_core::{Instance, Objective, Schedule, Stop, TaskId, Unsupported};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::kernel::graph::TransferTimes;
use crate::kernel::packing::{AffordableAllotments, ListEntry, Packer, Packing, Row};
use crate::plan::{Plan, ScheduleError, Scheduler};
use crate::search::SearchCourse;

use super::order::Order;
pub(super) use demt::in_batches;
pub(super) use moldable::Moldable;
pub(super) use pools::{LaggedPools, Pools, problem};
pub(super) use search::SearchAim;
use search::balanced_lists;
pub(crate) use search::{DecodedList, Remains};

/// Returns whether a task can start whenever enough processors are free. This is so if processors are equal, no job is
/// a graph, no task needs resources, and no job waits for another job.
pub(super) fn is_counted(instance: &Instance) -> bool {
    instance.has_equal_processors() && !instance.has_compound_jobs() && !has_more(instance)
}

/// Returns whether tasks need resources, or jobs wait for jobs.
pub(super) fn has_more(instance: &Instance) -> bool {
    instance.has_demands() || instance.has_edges_between_jobs()
}

/// Checks that an instance meets the requirements of schedulers that plan on a packing.
pub(super) fn supports(instance: &Instance) -> Result<(), Unsupported> {
    let packing = packing(instance)?;
    if instance.has_lags() { LaggedPools::new(problem(&packing).as_ref()).map(drop) } else { Ok(()) }
}

/// Returns the packing of an instance, or an error if the instance cannot be planned on a packing.
pub(super) fn packing(instance: &Instance) -> Result<Packing<'_>, Unsupported> {
    if !TransferTimes::fits(instance.platform()) {
        let most = TransferTimes::MAX_NODES;
        return Err(Unsupported(format!(
            "it supports trees of at most {most} nodes, because it stores a value for every pair of nodes"
        )));
    }
    check_staged(instance)?;
    instance.check_task_count().map_err(|error| Unsupported(error.to_string()))?;
    Packing::new(instance).map_err(|task| no_room(instance, task))
}

/// Returns an error if the tasks of a bag have data that must first be sent to the nodes.
pub(super) fn check_staged(instance: &Instance) -> Result<(), Unsupported> {
    let Some(job) = instance.staged() else { return Ok(()) };
    let name = &instance.job(job).name;
    let what = "must be sent from the root of the tree, but only `steady-state` plans such transfers";
    Err(Unsupported(format!("the data of the tasks of `{name}` {what}")))
}

/// Checks that no task needs resources. `planner` is "algorithm" or "policy". The error recommends `instead`.
pub(crate) fn needs_no_resources(instance: &Instance, planner: &str, instead: &str) -> Result<(), Unsupported> {
    let Some(task) = instance.task_ids().find(|&task| !instance.demands(task).is_empty()) else { return Ok(()) };
    let resource = &instance.platform().resource_of(instance.demands(task)[0].resource).name;
    let what = format!("`{}` needs `{resource}`, but the {planner} plans only processors", instance.name(task));
    Err(Unsupported(format!("{what}; use {instead}")))
}

/// Checks that no job is a bag. Schedulers that the catalogue wraps so that they support bags use this check.
pub(super) fn needs_no_bags(instance: &Instance) -> Result<(), Unsupported> {
    if instance.has_bags() {
        return Err(Unsupported(
            "it does not plan bags of tasks; create the scheduler with `makespan_algos::scheduler`".into(),
        ));
    }
    Ok(())
}

/// Checks the requirements of schedulers that only count processors: no task needs resources, and no job waits for
/// another job.
pub(super) fn needs_counts(instance: &Instance, instead: &str) -> Result<(), Unsupported> {
    needs_no_resources(instance, "algorithm", instead)?;
    if let Some(job) = instance.jobs().iter().find(|job| !job.waits_for().is_empty()) {
        let before = &instance.job(job.waits_for()[0]).name;
        let what = format!(
            "it does not support dependencies between jobs, but `{}` waits for `{before}`; use {instead}",
            job.name
        );
        return Err(Unsupported(what));
    }
    Ok(())
}

/// Returns the error if no list gives a plan that keeps all time lags.
pub(super) fn no_plan_with_lags() -> Unsupported {
    Unsupported(
        "it found no plan that keeps all time lags, which does not prove that there is none; allow a longer search \
         (`--time-limit`), or raise maximal lags"
            .into(),
    )
}

/// Plans tasks with time lags. Tries few lists: by the latest starts, by the earliest starts, and with random changes.
pub(super) fn list_with_lags(instance: &Instance, seed: u64, stop: &Stop) -> Result<Schedule, Unsupported> {
    /// Number of changed lists.
    const LISTS: u64 = 200;
    let packing = packing(instance)?;
    let problem = problem(&packing);
    let pools = LaggedPools::new(problem.as_ref())?;
    // The search ends with the first plan, because every plan reaches this bound.
    let aim = SearchAim { objective: Objective::Makespan, limit: None, floor: f64::INFINITY };
    let found = pools.search(aim, &[], ChaCha8Rng::seed_from_u64(seed), &mut SearchCourse::of(LISTS, stop));
    found.map(|(_, order)| pools.schedule(&order)).ok_or_else(no_plan_with_lags)
}

fn no_room(instance: &Instance, task: TaskId) -> Unsupported {
    Unsupported(format!(
        "no node that is fast enough for `{}` has enough processors and resources for this job",
        instance.name(task)
    ))
}

/// Plans each task on its fewest processors. Tasks with the longest remaining paths come first.
pub(super) fn sequential(instance: &Instance) -> Result<Schedule, Unsupported> {
    let packing = packing(instance)?;
    let choices = repaired(&packing, packing.fewest())?;
    let ranks = packing.ranks(&choices);
    carried_out(&packing, &packing.list(&choices, |row| -ranks[row.index()]), false)
}

/// Plans each task with its fastest allotment, in the order of decreasing weight divided by time. If `packed` is not
/// set, tasks run one at a time.
pub(super) fn gang(instance: &Instance, packed: bool) -> Result<Schedule, Unsupported> {
    let packing = packing(instance)?;
    let choices = repaired(&packing, packing.quickest())?;
    let list = packing.list(&choices, |row| -density(&packing, &choices, row));
    carried_out(&packing, &list, !packed)
}

/// Returns the due date of a task in ticks, or infinity if its job has none.
fn due(instance: &Instance, task: TaskId) -> f64 {
    instance.job_of(task).deadline.map_or(f64::INFINITY, |due| due.ticks() as f64)
}

/// Plans a list in the order `order`. The allotments balance the total area and the longest path. For the order
/// `shelf`, tasks are sorted by decreasing longest path to the end. For this order, several sets of allotments are
/// tried if the instance is a graph of moldable tasks on equal processors.
pub(super) fn list(instance: &Instance, order: Order) -> Result<Schedule, Unsupported> {
    let packing = packing(instance)?;
    if order == Order::Shelf
        && let Some(moldable) = Moldable::new(&packing)
    {
        return Ok(moldable.shortest_list());
    }
    let choices = balanced(&packing)?;
    let ranks = packing.ranks(&choices);
    let key = |row: Row| match order {
        Order::Shelf => -ranks[row.index()],
        Order::WeightedLptf => density(&packing, &choices, row),
        Order::Smith => -density(&packing, &choices, row),
        Order::Edd => due(instance, packing.first_of(row)),
        Order::Saf => packing.area(choices[row.index()]),
    };
    carried_out(&packing, &packing.list(&choices, key), false)
}

/// Plans one list for each of several sets of allotments, which balance the total area and the longest path
/// differently. Then anneals the best list to reduce the makespan.
pub(super) fn sweep(instance: &Instance, steps: u64, seed: u64) -> Result<Schedule, Unsupported> {
    let packing = packing(instance)?;
    let aim = SearchAim { objective: Objective::Makespan, limit: None, floor: 0.0 };
    let stop = Stop::default();
    let random = ChaCha8Rng::seed_from_u64(seed);
    if let Some(moldable) = Moldable::new(&packing) {
        let (_, found) = moldable.best(aim, &[], &random, &mut SearchCourse::of(steps, &stop));
        return Ok(moldable.schedule(&found));
    }
    if let Some(problem) = problem(&packing)
        && let Some(pools) = Pools::new(&packing, &problem)
    {
        // Divide the steps by four, because each step executes a list several times: forward, backward, and forward
        // again.
        let found = pools.search(aim, &[], random, &mut SearchCourse::of(steps / 4, &stop));
        return found.map(|(_, found)| pools.schedule(&found)).ok_or_else(|| used_up(&packing));
    }
    let found = packing.search(aim, &[], random, &mut SearchCourse::of(steps, &stop));
    found.map(|(_, found)| packing.schedule(&found)).ok_or_else(|| used_up(&packing))
}

/// Returns the set of allotments with the least maximum of total area and longest path, among the sets of
/// [`Packing::balanced`].
pub(super) fn balanced(packing: &Packing<'_>) -> Result<Vec<u32>, Unsupported> {
    let promised = |choices: &Vec<u32>| {
        let area: f64 =
            packing.rows().map(|row| packing.area(choices[row.index()]) * f64::from(packing.count_of(row))).sum();
        packing.ranks(choices).into_iter().fold(area, f64::max)
    };
    let found = packing.balanced().into_iter().map(|choices| (promised(&choices), choices));
    let best = found.min_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, choices)| choices).ok_or_else(|| used_up(packing))
}

/// Returns `choices`. If they use up more of a consumable than is available, returns similar allotments that use up
/// less.
pub(super) fn repaired(packing: &Packing<'_>, mut choices: Vec<u32>) -> Result<Vec<u32>, Unsupported> {
    if packing.repair(&mut choices) {
        return Ok(choices);
    }
    match packing.affordable() {
        AffordableAllotments::Choices(choices) => Ok(choices),
        _ => Err(used_up(packing)),
    }
}

pub(super) fn used_up(packing: &Packing<'_>) -> Unsupported {
    let consumables: Vec<String> =
        packing.instance().platform().consumables().iter().map(|(name, _)| format!("`{name}`")).collect();
    let enough = format!("enough of {} for all tasks", consumables.join(", "));
    Unsupported(match packing.affordable() {
        AffordableAllotments::Never => {
            format!("no choice of allotments leaves {enough}; raise one of these amounts, or remove tasks")
        }
        _ => {
            format!(
                "it found no choice of allotments that leaves {enough}; raise one of these amounts, or allow other \
                 allotments"
            )
        }
    })
}

/// Returns the weight of one task of a row, divided by its time with its allotment in `choices` on the fastest nodes.
fn density(packing: &Packing<'_>, choices: &[u32], row: Row) -> f64 {
    let weight = packing.instance().weight(packing.first_of(row)).as_f64();
    weight / packing.fastest(choices[row.index()]).max(1) as f64
}

/// A search for plans on a packing.
pub(super) trait PlanSearch: Sync {
    /// The result of a search. A search can also begin with such a result.
    type Found: Send + Sync;

    /// Returns the best result found until `course` is over, and its value. Returns `None` if no list can be executed.
    fn search(
        &self,
        aim: SearchAim,
        known: &[Self::Found],
        random: ChaCha8Rng,
        course: &mut SearchCourse,
    ) -> Option<(f64, Self::Found)>;

    /// Returns the schedule of a result.
    fn schedule(&self, found: &Self::Found) -> Schedule;
}

/// First executes lists forward in time, and later by insertion.
impl PlanSearch for Packing<'_> {
    type Found = DecodedList;

    fn search(
        &self,
        aim: SearchAim,
        known: &[DecodedList],
        random: ChaCha8Rng,
        course: &mut SearchCourse,
    ) -> Option<(f64, DecodedList)> {
        search::search(self, aim, known, random, course)
    }

    fn schedule(&self, found: &DecodedList) -> Schedule {
        search::schedule(self, found)
    }
}

/// Returns the schedule of a list. If `alone` is set, tasks run one at a time.
pub(super) fn carried_out(packing: &Packing<'_>, list: &[ListEntry], alone: bool) -> Result<Schedule, Unsupported> {
    let mut packer = Packer::new(packing);
    let from = packing.instance().first_release().ticks();
    packer.run(list, from, alone).map_err(|_| used_up(packing))?;
    Ok(packer.schedule(list))
}

/// Converts the schedule of a scheduler to a plan.
pub(super) fn planned(
    scheduler: &dyn Scheduler,
    schedule: Result<Schedule, Unsupported>,
) -> Result<Plan, ScheduleError> {
    let unsupported = |reason| ScheduleError::Unsupported { scheduler: scheduler.name(), reason };
    schedule.map(Plan::from).map_err(unsupported)
}
