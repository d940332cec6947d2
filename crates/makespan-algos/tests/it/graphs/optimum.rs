//! The exact optimum of a small instance of graphs, by a search that is meant to be obviously right.
//!
//! *What is enumerated.* All orders of the tasks in which none comes before one that it waits for, and in each all
//! processors for each task; a task starts when its data are there, its processor has ended the tasks before it in the
//! order, and the processor is open for all of it.
//!
//! *Why an optimum is among the outcomes.* No objective improves when a task ends later; the cost does not change. The tasks of an optimal
//! schedule in the order of their starts, on their processors, all start no later than there: by induction those before
//! end no later, so the old start is still possible.

use makespan_core::{Instance, JobId, Objective, Placement, ProcSet, Schedule, TaskId, Time};

/// The least values of [`Objective::OF_SCHEDULES`].
pub fn optima(instance: &Instance) -> [i128; 6] {
    let mut best = [i128::MAX; 6];
    each(instance, &mut |schedule| {
        for (best, objective) in best.iter_mut().zip(Objective::OF_SCHEDULES) {
            *best = (*best).min(objective.value(instance, &schedule));
        }
    });
    best
}

/// Makespans with the least cost within each, none of which another one makes needless: by makespan, so that costs fall.
pub fn costs(instance: &Instance) -> Vec<(Time, i128)> {
    let mut front: Vec<(Time, i128)> = Vec::new();
    each(instance, &mut |schedule| {
        let (makespan, cost) = (schedule.makespan(), Objective::Cost.value(instance, &schedule));
        if !front.iter().any(|&(end, least)| end <= makespan && least <= cost) {
            front.retain(|&(end, least)| end < makespan || least < cost);
            front.push((makespan, cost));
        }
    });
    front.sort_unstable();
    front
}

/// The least sum of late jobs, and among those the least cost, where each job must end by an instant.
pub fn least_late(instance: &Instance, ends: &[Time]) -> (usize, i128) {
    let mut least = (usize::MAX, i128::MAX);
    each(instance, &mut |schedule| {
        let late = |id: &JobId| {
            let job = instance.job(*id);
            schedule
                .placements()
                .iter()
                .any(|placement| job.has_task(placement.task) && placement.end > ends[id.index()])
        };
        let count = instance.ids().filter(late).count();
        least = least.min((count, Objective::Cost.value(instance, &schedule)));
    });
    least
}

fn each(instance: &Instance, look: &mut dyn FnMut(Schedule)) {
    descend(instance, &mut Vec::new(), look);
}

fn descend(instance: &Instance, placed: &mut Vec<Placement>, look: &mut dyn FnMut(Schedule)) {
    if placed.len() as u64 == instance.tasks() {
        look(Schedule::new(placed.clone()));
        return;
    }
    for task in instance.task_ids() {
        if placed.iter().any(|other| other.task == task) {
            continue;
        }
        for id in 0..instance.processors() {
            let processors = ProcSet::range(id, id);
            if !instance.accepts(task, &processors) {
                continue;
            }
            let Some(ready) = ready(instance, task, id, placed) else { break };
            let time = instance.time(task, &processors);
            let start = open_from(instance, id, ready, time);
            placed.push(Placement { task, start, end: start + time, processors });
            descend(instance, placed, look);
            placed.pop();
        }
    }
}

/// When the data of a task are there and its processor is free; `None` while it waits for what is not placed.
fn ready(instance: &Instance, task: TaskId, id: u32, placed: &[Placement]) -> Option<Time> {
    let free = placed.iter().filter(|other| other.processors.contains(id)).map(|other| other.end).max();
    let mut ready = instance.release(task).max(free.unwrap_or(Time::ZERO));
    let platform = instance.platform();
    for edge in instance.incoming(task) {
        let from = placed.iter().find(|other| other.task == edge.from)?;
        let source = platform.node_of(from.processors.iter().next().unwrap());
        ready = ready.max(from.end + platform.route(source, platform.node_of(id)).time(edge.payload));
    }
    Some(ready)
}

fn open_from(instance: &Instance, id: u32, ready: Time, time: Time) -> Time {
    let mut start = ready;
    while let Some(period) = instance
        .unavailable()
        .iter()
        .find(|period| period.processors.contains(id) && period.start < start + time && start < period.end)
    {
        start = period.end;
    }
    start
}
