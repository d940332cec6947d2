//! Instances that counts of processors do not describe: tasks need other resources, wait for each other and run on several
//! processors, or on nodes of different speeds. The schedulers of lists plan them on a [`Packing`].

mod demt;
mod moldable;
mod pools;
mod search;

use std::borrow::Cow;

use makespan_core::{Instance, Objective, Plan, Schedule, ScheduleError, Scheduler, Stop, TaskId, Unsupported};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::kernel::graph::TransferTimes;
use crate::kernel::packing::{Affordable, Entry, Packer, Packing, Row};
use crate::search::Course;

use super::order::Order;
pub(super) use demt::in_batches;
pub(super) use moldable::Moldable;
pub(super) use pools::{Pools, problem};
pub(super) use search::Aim;
use search::balanced_lists;
pub(crate) use search::{Listed, Remains};

/// Whether counts of free processors say all: equal processors, no graphs, and nothing else that tasks need or wait for.
pub(super) fn is_counted(instance: &Instance) -> bool {
    instance.has_equal_processors() && !instance.has_compound_jobs() && !has_more(instance)
}

/// Whether tasks need more than processors, or jobs wait for jobs.
pub(super) fn has_more(instance: &Instance) -> bool {
    instance.has_demands() || instance.has_edges_between_jobs()
}

/// What every scheduler asks that plans on a packing.
pub(super) fn supports(instance: &Instance) -> Result<(), Unsupported> {
    packing(instance).map(drop)
}

/// The packing of an instance, if it is one that is planned so.
pub(super) fn packing(instance: &Instance) -> Result<Packing<'_>, Unsupported> {
    if !TransferTimes::fits(instance.platform()) {
        let most = TransferTimes::MAX_NODES;
        return Err(Unsupported(format!("it looks at each pair of the nodes of a tree, of which {most} are allowed")));
    }
    check_staged(instance)?;
    instance.check_task_count().map_err(|error| Unsupported(error.to_string()))?;
    Packing::new(instance).map_err(|task| no_room(instance, task))
}

/// Refuses data of bags that take time on their way.
pub(super) fn check_staged(instance: &Instance) -> Result<(), Unsupported> {
    let Some(job) = instance.staged() else { return Ok(()) };
    let name = &instance.job(job).name;
    let what = "take time on the way from the root of the tree, which only `steady-state` plans";
    Err(Unsupported(format!("the data of the tasks of `{name}` {what}")))
}

/// The first task that needs more than processors, by name, and the resource that it needs first.
pub(crate) fn needy(instance: &Instance) -> Option<(Cow<'_, str>, &str)> {
    let task = instance.task_ids().find(|&task| !instance.demands(task).is_empty())?;
    Some((instance.name(task), &instance.platform().resource_of(instance.demands(task)[0].resource).name))
}

/// What a scheduler says that knows counts of processors alone.
pub(super) fn needs_counts(instance: &Instance, instead: &str) -> Result<(), Unsupported> {
    if let Some((name, resource)) = needy(instance) {
        let what = format!("it counts processors alone, and `{name}` needs `{resource}`; take {instead}");
        return Err(Unsupported(what));
    }
    if let Some(job) = instance.jobs().iter().find(|job| !job.waits_for().is_empty()) {
        let before = &instance.job(job.waits_for()[0]).name;
        let what = format!("it knows no order between jobs, and `{}` waits for `{before}`; take {instead}", job.name);
        return Err(Unsupported(what));
    }
    Ok(())
}

fn no_room(instance: &Instance, task: TaskId) -> Unsupported {
    Unsupported(format!("no node that is fast enough for `{}` has room for what it needs", instance.name(task)))
}

/// The fewest processors for each task, those with the longest path behind them first.
pub(super) fn sequential(instance: &Instance) -> Result<Schedule, Unsupported> {
    let packing = packing(instance)?;
    let choices = repaired(&packing, packing.fewest())?;
    let ranks = packing.ranks(&choices);
    carried_out(&packing, &packing.list(&choices, |row| -ranks[row.index()]), false)
}

/// The shortest time for each task, by falling weight over time; one at a time unless `packed`.
pub(super) fn gang(instance: &Instance, packed: bool) -> Result<Schedule, Unsupported> {
    let packing = packing(instance)?;
    let choices = repaired(&packing, packing.quickest())?;
    let list = packing.list(&choices, |row| -density(&packing, &choices, row));
    carried_out(&packing, &list, !packed)
}

/// The allotments that balance area and longest path best, in this order. The order of shelves is that of the longest paths; of graphs
/// of moldable tasks on equal processors it carries out several allotments.
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
        Order::Saf => packing.area(choices[row.index()]),
    };
    carried_out(&packing, &packing.list(&choices, key), false)
}

/// Lists over a sweep of balances, then annealing for the makespan.
pub(super) fn sweep(instance: &Instance, steps: u64, seed: u64) -> Result<Schedule, Unsupported> {
    let packing = packing(instance)?;
    let aim = Aim { objective: Objective::Makespan, limit: None, floor: 0.0 };
    let stop = Stop::default();
    let random = ChaCha8Rng::seed_from_u64(seed);
    if let Some(moldable) = Moldable::new(&packing) {
        let (_, found) = moldable.best(aim, &[], &random, &mut Course::of(steps, &stop));
        return Ok(moldable.schedule(&found));
    }
    if let Some(problem) = problem(&packing)
        && let Some(pools) = Pools::new(&packing, &problem)
    {
        // A step carries a list out several times: forward, backward and forward again.
        let found = pools.search(aim, &[], random, &mut Course::of(steps / 4, &stop));
        return found.map(|(_, found)| pools.schedule(&found)).ok_or_else(|| used_up(&packing));
    }
    let found = packing.search(aim, &[], random, &mut Course::of(steps, &stop));
    found.map(|(_, found)| packing.schedule(&found)).ok_or_else(|| used_up(&packing))
}

/// Of all balances the one whose area and longest path together promise the shortest schedule.
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

/// These choices, or others near them that leave enough of what is used up.
pub(super) fn repaired(packing: &Packing<'_>, mut choices: Vec<u32>) -> Result<Vec<u32>, Unsupported> {
    if packing.repair(&mut choices) {
        return Ok(choices);
    }
    match packing.affordable() {
        Affordable::Choices(choices) => Ok(choices),
        _ => Err(used_up(packing)),
    }
}

pub(super) fn used_up(packing: &Packing<'_>) -> Unsupported {
    let consumables: Vec<String> =
        packing.instance().platform().consumables().iter().map(|(name, _)| format!("`{name}`")).collect();
    let enough = format!("enough of {} for all tasks", consumables.join(", "));
    Unsupported(match packing.affordable() {
        Affordable::Never => {
            format!("there are no allotments that leave {enough}; raise one of them or leave tasks out")
        }
        _ => format!("it found no allotments that leave {enough}; raise one of them, or take other allotments"),
    })
}

/// Weight a unit of time.
fn density(packing: &Packing<'_>, choices: &[u32], row: Row) -> f64 {
    let weight = packing.instance().weight(packing.first_of(row)).as_f64();
    weight / packing.fastest(choices[row.index()]).max(1) as f64
}

/// One of the searches for plans on a packing.
pub(super) trait PlanSearch: Sync {
    /// What it finds, and can start from again.
    type Found: Send + Sync;

    /// The best that is found on the course, with its value; `None` when no list can be carried out.
    fn search(
        &self,
        aim: Aim,
        known: &[Self::Found],
        random: ChaCha8Rng,
        course: &mut Course,
    ) -> Option<(f64, Self::Found)>;

    /// The schedule of what was found.
    fn schedule(&self, found: &Self::Found) -> Schedule;
}

/// Lists forward in time, and by insertion.
impl PlanSearch for Packing<'_> {
    type Found = Listed;

    fn search(&self, aim: Aim, known: &[Listed], random: ChaCha8Rng, course: &mut Course) -> Option<(f64, Listed)> {
        search::search(self, aim, known, random, course)
    }

    fn schedule(&self, found: &Listed) -> Schedule {
        search::schedule(self, found)
    }
}

/// The schedule of a list.
pub(super) fn carried_out(packing: &Packing<'_>, list: &[Entry], alone: bool) -> Result<Schedule, Unsupported> {
    let mut packer = Packer::new(packing);
    let from = packing.instance().first_release().ticks();
    packer.run(list, from, alone).map_err(|_| used_up(packing))?;
    Ok(packer.schedule(list))
}

/// The plan of a scheduler.
pub(super) fn planned(
    scheduler: &dyn Scheduler,
    schedule: Result<Schedule, Unsupported>,
) -> Result<Plan, ScheduleError> {
    let unsupported = |reason| ScheduleError::Unsupported { scheduler: scheduler.name(), reason };
    schedule.map(Plan::from).map_err(unsupported)
}
