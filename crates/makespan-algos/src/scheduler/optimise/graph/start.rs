//! Where the annealing of graphs begins.

use makespan_core::Objective;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::Each;
use crate::kernel::graph::sequence::{ANY, Sequence, Solution};
use crate::kernel::graph::{GraphProblem, Place, rank};

use crate::scheduler::{cpop, heft, peft};
use crate::search::Course;

/// Ranks are changed by at most this factor, up or down.
const CHANGE: f64 = 0.5;

/// The best of HEFT, CPOP and PEFT, of their orders with the processor of earliest end, and of lists by upward ranks
/// changed at random, until the course is over.
pub(super) fn best<'a>(each: &Each<'a>, random: &mut ChaCha8Rng, course: &mut Course) -> Sequence<'a> {
    let problem = each.problem;
    let times = rank::mean_times(problem);
    let up = rank::upward(problem, &times);
    let mut best: Option<Sequence<'a>> = None;
    let mut consider = |sequence: Sequence<'a>| {
        if best.as_ref().is_none_or(|best| sequence.value() < best.value()) {
            best = Some(sequence);
        }
    };
    let anywhere = vec![ANY; problem.tasks()];
    for places in [heft::places(problem, &up), cpop::places(problem), peft::places(problem)] {
        let solution = by_start(each, &places);
        let order = solution.order.clone();
        consider(each.sequence(solution));
        consider(each.sequence(Solution { order, wanted: anywhere.clone() }));
    }
    if Objective::OF_DEADLINES.contains(&each.objective) {
        let places = heft::places(problem, &urgency(problem));
        consider(each.sequence(by_start(each, &places)));
        consider(each.sequence(Solution { order: by_start(each, &places).order, wanted: anywhere.clone() }));
    }
    for places in each.known {
        consider(each.sequence(by_start(each, places)));
    }
    let mut ranks = up.clone();
    while course.step().is_some() {
        let strength = CHANGE * random.random::<f64>();
        for (rank, &up) in ranks.iter_mut().zip(&up) {
            *rank = up * (1.0 + strength * (2.0 * random.random::<f64>() - 1.0));
        }
        consider(if problem.is_plain() {
            each.sequence(Solution { order: rank::ready_first(problem, &ranks), wanted: anywhere.clone() })
        } else {
            each.sequence(by_start(each, &heft::places(problem, &ranks)))
        });
    }
    best.expect("HEFT is considered")
}

impl<'a> Each<'a> {
    fn sequence(&self, solution: Solution) -> Sequence<'a> {
        let sequence = Sequence::new(self.problem, self.objective, self.weights, solution);
        match self.limit {
            Some(limit) => sequence.within(limit),
            None => sequence,
        }
    }
}

/// Ranks by which tasks whose paths must end soonest come first: of those that have no deadline behind them the longest paths last.
fn urgency(problem: &GraphProblem) -> Vec<f64> {
    let fastest = |task: u32| problem.times(task).iter().copied().min().unwrap_or(0);
    let last = problem.dues().iter().flatten().copied().max().unwrap_or(0);
    // Later than any deadline, and as much later as times are longer.
    let never = (0..problem.tasks() as u32).map(fastest).fold(last, i64::saturating_add);
    let mut latest = vec![0_i64; problem.tasks()];
    for &task in problem.order().iter().rev() {
        let own = problem.due(task).unwrap_or(never);
        let after = problem.outgoing(task).iter().map(|to| latest[to.task as usize]).min();
        latest[task as usize] = after.map_or(own, |after| after.min(own)) - fastest(task);
    }
    latest.into_iter().map(|latest| -(latest as f64)).collect()
}

/// The tasks by start, and their processors.
fn by_start(each: &Each<'_>, places: &[Place]) -> Solution {
    let mut order = each.problem.order().to_vec();
    order.sort_by_key(|&task| places[task as usize].start);
    Solution { order, wanted: places.iter().map(|place| place.processor).collect() }
}
