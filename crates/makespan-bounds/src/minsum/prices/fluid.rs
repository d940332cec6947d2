//! The first prices of a search. These are the prices of a fluid machine, which runs the jobs one after another on all
//! processors.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{Area, Availability, Time};

/// A job of the fluid machine, or several equal jobs.
#[derive(Clone, Copy)]
pub(super) struct FluidJob {
    pub(super) weight: f64,
    pub(super) release: f64,
    /// The work in processor-ticks.
    pub(super) work: f64,
}

/// Returns two values for each of `pieces`: the end of the piece on the machine, and the price of a processor until
/// this end. The result is in the order of these ends.
///
/// The machine runs the released piece with the largest quotient of weight and work (Smith's rule). The best price of a
/// processor at an instant is the total weight of some pieces, divided by the number of processors. These are the
/// pieces that end between this instant and the next pause of the machine. If processors are unavailable at times, the
/// machine runs each piece on the mean number of processors that are available during the piece.
pub(super) fn run(pieces: &[FluidJob], processors: f64, availability: &Availability) -> Vec<(f64, f64)> {
    let open = availability.is_always_open();
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by(|&a, &b| pieces[a].release.total_cmp(&pieces[b].release).then(a.cmp(&b)));
    let rank = |piece: &FluidJob| Rank(piece.weight / piece.work.max(f64::MIN_POSITIVE));
    let mut waiting = BinaryHeap::new();
    // For each piece: its end, its scaled weight, and true if the machine pauses before the piece.
    let mut ends: Vec<(f64, f64, bool)> = Vec::with_capacity(pieces.len());
    let (mut next, mut now) = (0, f64::NEG_INFINITY);
    while ends.len() < pieces.len() {
        let idle = waiting.is_empty();
        if idle {
            now = now.max(pieces[order[next]].release);
        }
        while next < order.len() && pieces[order[next]].release <= now {
            waiting.push((rank(&pieces[order[next]]), Reverse(order[next])));
            next += 1;
        }
        let Some((_, Reverse(index))) = waiting.pop() else { break };
        let FluidJob { work, weight, .. } = pieces[index];
        if open {
            now += work / processors;
            ends.push((now, weight, idle));
        } else {
            let end = availability.when_open(Time::from_ticks(now as i64), work as Area).ticks() as f64;
            let end = end.max(now + work / processors);
            // Scale the weight by the number of all processors divided by the mean number of available processors.
            ends.push((end, weight * processors * (end - now) / work.max(f64::MIN_POSITIVE), idle));
            now = end;
        }
    }
    let mut left = 0.0;
    let mut prices = Vec::with_capacity(ends.len());
    for &(end, weight, idle) in ends.iter().rev() {
        left += weight;
        prices.push((end, left / processors));
        if idle {
            left = 0.0;
        }
    }
    prices.reverse();
    prices
}

/// A float with a total order.
#[derive(PartialEq)]
struct Rank(f64);

impl Eq for Rank {}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
