//! Boxes of the second shelf: the widths that are reserved for the tasks of this shelf. An SMP (a node) has k
//! processors.

use makespan_core::{Profile, Time};

use super::Cluster;

/// Returns the width of the box for a task with the canonical allotment `canonical` = a k + b, with b < k. The width
/// is a k + 2^j, with the smallest j such that b <= 2^j.
///
/// If k >= 8, tasks of the second shelf may take three quarters of the guessed makespan, and some boxes are narrower.
/// If a task uses at most three quarters of the last 2^j processors of its box, the box loses half of these 2^j
/// processors. The time of the task grows to at most 3/2 of its value. Thus at least three quarters of every box are
/// used (the strong form of lemma 5).
pub(super) fn boxed(profile: &Profile, cluster: Cluster, canonical: u32, guess: Time) -> u32 {
    let rest = canonical % cluster.each;
    let width = cluster.round_up(canonical);
    if cluster.each < 8 || rest == 0 || rest.is_power_of_two() {
        return width;
    }
    let whole = rest.next_power_of_two();
    let narrower = canonical - rest + whole / 2;
    let three_quarters = Time::from_ticks((i128::from(guess.ticks()) * 3 / 4) as i64);
    let fits = profile.min_allotment(three_quarters).is_some_and(|least| least <= narrower);
    if 4 * rest <= 3 * whole && fits { narrower } else { width }
}
