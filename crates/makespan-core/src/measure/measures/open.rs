//! The usable area of a cluster.

use crate::model::{Area, Instance, ProcSet, Time, Unavailable};

/// Returns the usable area between two instants: the processors that are neither unavailable nor down, summed over all
/// ticks. Takes O(k (log k + m)), where k is the number of failures and unavailable periods, and m the maximum number
/// of processors in one failure or period.
pub(super) fn area(instance: &Instance, down: &[Unavailable], from: Time, until: Time) -> Area {
    if down.is_empty() {
        return instance.availability().open_area(from, until);
    }
    if until <= from {
        return 0;
    }
    let mut changes: Vec<(Time, bool, &ProcSet)> = Vec::with_capacity(2 * down.len());
    for period in instance.unavailable().iter().chain(down) {
        let (start, end) = (period.start.max(from), period.end.min(until));
        if start < end {
            changes.extend([(start, true, &period.processors), (end, false, &period.processors)]);
        }
    }
    changes.sort_unstable_by_key(|&(at, closes, _)| (at, closes));
    // For each processor, the number of current failures and unavailable periods that contain it.
    let mut reasons = vec![0_u32; instance.processors() as usize];
    let (mut open, mut since, mut area) = (instance.processors(), from, 0);
    for (at, closes, processors) in changes {
        area += (at - since).area(open);
        since = at;
        for id in processors.iter() {
            let reasons = &mut reasons[id as usize];
            if closes {
                open -= u32::from(*reasons == 0);
                *reasons += 1;
            } else {
                *reasons -= 1;
                open += u32::from(*reasons == 0);
            }
        }
    }
    area + (until - since).area(open)
}
