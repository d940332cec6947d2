//! The initial parts, which follow from the partition. The allotments pack without loss.

use makespan_core::{Profile, Time};

use super::Cluster;
use super::boxes::boxed;
use super::moves::{ReservedWidth, TaskParts};

/// Assigns every task to its part. Small tasks are set aside. Tasks of the second shelf get boxes. Tasks of the first
/// shelf get a k + 2^j processors, on nodes of k processors. If this number is smaller than the canonical allotment,
/// the task belongs to `P_full`. The task then takes more than the guessed makespan (lemma 2), and at most the height
/// of the schedule (lemma 1), because its work did not increase.
pub(super) fn reduced<'a>(
    profiles: &'a [&'a Profile],
    cluster: Cluster,
    first_shelf: &[bool],
    guess: Time,
) -> TaskParts<'a> {
    let mut parts = TaskParts::new(profiles, cluster, guess);
    for (task, profile) in profiles.iter().enumerate() {
        if profile.accepts(1) && profile.time(1) <= parts.half {
            parts.small.push(task);
            continue;
        }
        let limit = if first_shelf[task] { guess } else { parts.half };
        let Some(canonical) = profile.min_allotment(limit) else {
            parts.left.push(task);
            continue;
        };
        if first_shelf[task] {
            let width = cluster.round_down(canonical);
            if parts.least(task) <= width && width <= parts.idle() {
                parts.enter(ReservedWidth { task, width });
            } else {
                parts.left.push(task);
            }
        } else {
            parts.enter_second(ReservedWidth { task, width: boxed(profile, cluster, canonical, guess) });
        }
    }
    parts.sort();
    parts
}
