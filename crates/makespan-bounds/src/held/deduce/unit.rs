//! The unit of time of an instance.

use makespan_core::{Instance, ProcSet, TaskId};

/// Maximum number of allotments of a task for which the unit is computed. If a task has more, the unit is one tick.
const MAX_ALLOTMENTS: u32 = 4096;

/// Returns the largest number of ticks that divides all run times, all release dates and all ends of unavailable
/// periods. Returns one tick if tasks may wait for something else, such as transfers.
pub(super) fn unit(instance: &Instance) -> i64 {
    if instance.has_transfers() || instance.staged().is_some() || !instance.held().is_empty() {
        return 1;
    }
    let mut unit = 0;
    for job in instance.jobs() {
        unit = divisor(unit, job.release.ticks());
    }
    for class in instance.availability().classes() {
        unit = class.closed.iter().fold(unit, |unit, &(_, end)| divisor(unit, end.ticks()));
    }
    let nodes = instance.platform().nodes();
    let mut speeds: Vec<usize> = Vec::new();
    for node in (0..nodes.len()).filter(|&node| nodes[node].processors > 0) {
        if speeds.iter().all(|&other| nodes[other].speed.to_bits() != nodes[node].speed.to_bits()) {
            speeds.push(node);
        }
    }
    let one = |&node: &usize| {
        let id = instance.platform().processors_of(node).iter().next().unwrap_or_default();
        ProcSet::range(id, id)
    };
    let speeds: Vec<ProcSet> = speeds.iter().map(one).collect();
    for task in instance.in_order() {
        unit = of_task(instance, task, &speeds, unit);
        if unit == 1 {
            break;
        }
    }
    unit.max(1)
}

fn of_task(instance: &Instance, task: TaskId, speeds: &[ProcSet], mut unit: i64) -> i64 {
    let (profile, platform) = (instance.profile(task), instance.platform());
    if let Some(row) = profile.machine_times() {
        let times = (0..row.len()).filter_map(|node| platform.time_on(profile, node));
        return times.fold(unit, |unit, time| divisor(unit, time.ticks()));
    }
    let (first, last) = (profile.min_processors(), profile.max_processors());
    if last - first > MAX_ALLOTMENTS {
        return 1;
    }
    for processors in first..=last {
        let time = profile.time(processors);
        unit = speeds.iter().fold(unit, |unit, speed| divisor(unit, platform.slowed(time, speed).ticks()));
        if unit == 1 {
            break;
        }
    }
    unit
}

fn divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
