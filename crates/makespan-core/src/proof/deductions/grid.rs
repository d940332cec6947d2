//! The check of the unit: some optimal schedule must start every task at a multiple of the unit.

use crate::model::{Instance, ProcSet, TaskId, Time};
use crate::proof::CertificateError;
use crate::proof::error::malformed;

/// Maximum number of allotments of a task for which a unit above one tick is supported.
const MAX_ALLOTMENTS: u32 = 4096;

/// Checks a unit, which is in ticks. It must divide every instant at which a task can start in a schedule in which no
/// task could start earlier.
///
/// Consider the schedules of minimum makespan, and among these one with the minimum sum of starts. Each task starts at
/// its release, at the end of a closed period, or at the end of another task: one for which it waits, or one that holds
/// processors or resources that it needs. Otherwise, the task could start earlier on its processors. So by induction,
/// every start is a sum of releases, times and ends of periods. Takes O(tasks * allotments * speeds).
pub(super) fn check(instance: &Instance, unit: i64) -> Result<(), CertificateError> {
    if unit == 1 {
        return Ok(());
    }
    if unit < 1 {
        return malformed("its unit is not positive");
    }
    let divides = |time: Time| time.ticks() % unit == 0;
    let closed = instance.availability().classes().iter().flat_map(|class| &class.closed);
    let waits = instance.has_transfers() || instance.staged().is_some() || !instance.held().is_empty();
    let speeds = speeds(instance);
    let times = || instance.in_order().all(|task| times_are(instance, task, &speeds, divides));
    let releases = || instance.jobs().iter().all(|job| divides(job.release));
    if waits || !closed.into_iter().all(|&(_, end)| divides(end)) || !releases() || !times() {
        return malformed("its unit does not divide all times, releases and ends of closed periods");
    }
    Ok(())
}

fn times_are(instance: &Instance, task: TaskId, speeds: &[ProcSet], divides: impl Fn(Time) -> bool) -> bool {
    let (profile, platform) = (instance.profile(task), instance.platform());
    if let Some(row) = profile.machine_times() {
        let on = |node: usize| platform.time_on(profile, node);
        return (0..row.len()).filter_map(on).all(divides);
    }
    let (first, last) = (profile.min_processors(), profile.max_processors());
    let on_all = |time: Time| speeds.iter().all(|processor| divides(platform.slowed(time, processor)));
    last - first <= MAX_ALLOTMENTS && (first..=last).all(|processors| on_all(profile.time(processors)))
}

/// Returns, for each distinct speed, one processor with this speed.
fn speeds(instance: &Instance) -> Vec<ProcSet> {
    let platform = instance.platform();
    let mut speeds: Vec<(u64, ProcSet)> = Vec::new();
    for (node, of) in platform.nodes().iter().enumerate().filter(|(_, of)| of.processors > 0) {
        if speeds.iter().all(|(speed, _)| *speed != of.speed.to_bits()) {
            let id = platform.processors_of(node).iter().next().unwrap_or_default();
            speeds.push((of.speed.to_bits(), ProcSet::range(id, id)));
        }
    }
    speeds.into_iter().map(|(_, processor)| processor).collect()
}
