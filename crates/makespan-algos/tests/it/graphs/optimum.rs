//! The exact optimum of a small instance of graphs, found by a search that is simple enough to be obviously correct.
//!
//! *Enumeration.* The search enumerates all orders in which no task comes before its predecessors, and for each order
//! all processors of each task. A task starts when its data are available, its processor has ended the preceding tasks
//! of the order, and the processor is open for all of its time.
//!
//! *Proof that an optimum is among the results.* No objective improves when a task ends later, and the cost does not
//! change. Take the tasks of an optimal schedule S in the order of their starts, on their processors. Each task starts
//! no later than in S: by induction, the preceding tasks end no later than in S, so the start in S is still possible.

use makespan_core::{Instance, JobId, Objective, Placement, ProcSet, Schedule, TaskId, Time};

/// Returns the least values of [`Objective::OF_SCHEDULES`].
pub fn optima(instance: &Instance) -> [i128; Objective::OF_SCHEDULES.len()] {
    let mut best = [i128::MAX; Objective::OF_SCHEDULES.len()];
    each(instance, &mut |schedule| {
        for (best, objective) in best.iter_mut().zip(Objective::OF_SCHEDULES) {
            *best = (*best).min(objective.value(instance, &schedule));
        }
    });
    best
}

/// Returns the makespans and least costs that are not dominated, in the order of makespans. So the costs decrease.
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

/// Returns the least number of late jobs if each job must end by an instant, and the least cost with this number.
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

/// Returns the instant at which the data of a task are available and its processor is free. Returns `None` while the
/// task waits for an unplaced task.
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
