//! Prices to start from: of a machine that does the jobs one after another, each on all processors.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{Area, Availability, Time};

/// A job as that machine sees it.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) weight: f64,
    pub(super) release: f64,
    /// Processors times time.
    pub(super) work: f64,
}

/// When the machine ends each piece, and what a processor costs until then.
///
/// It takes the released piece of the largest weight over work (Smith's rule). Then the best price of a processor at an
/// instant is the weight of what is done after it, without a pause between, over the processors: it falls by the
/// weight over the work while a piece is done, which is what waiting costs it. Where processors are closed, the machine
/// has those that are open, on average while it does the piece.
pub(super) fn run(pieces: &[Piece], processors: f64, availability: &Availability) -> Vec<(f64, f64)> {
    let open = availability.is_always_open();
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by(|&a, &b| pieces[a].release.total_cmp(&pieces[b].release).then(a.cmp(&b)));
    let rank = |piece: &Piece| Rank(piece.weight / piece.work.max(f64::MIN_POSITIVE));
    let mut waiting = BinaryHeap::new();
    // The end of each piece, its weight for as many processors as there are, and whether a pause precedes it.
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
        let Piece { work, weight, .. } = pieces[index];
        if open {
            now += work / processors;
            ends.push((now, weight, idle));
        } else {
            let end = availability.when_open(Time::from_ticks(now as i64), work as Area).ticks() as f64;
            let end = end.max(now + work / processors);
            // All processors over those that are open.
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

/// A number that has an order.
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
