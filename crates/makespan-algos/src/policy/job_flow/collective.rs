//! Searches for the best plans of several jobs (a *flow*). The search changes the order in which jobs are planned, and
//! the variants of their strategies.

use std::cmp::Ordering;

use super::candidate::FlowCandidate;
use super::choice::FlowChoice;
use super::flow::{Collective, FlowTable, HopelessJobs};
use crate::free_time::Calendar;
use crate::kernel::chains::strategy::pareto;

/// Maximum number of orders that the search tries.
const MAX_ORDERS: usize = 400;
/// Maximum product of the number of orders and the number of jobs. Each order places all jobs.
const MAX_PLACED: usize = 8000;
/// Maximum number of jobs for which all orders are tried.
const ALL_ORDERS: usize = 4;
/// Maximum number of rounds. In each round, every job may change its variant once.
const ROUNDS: usize = 2;

impl FlowTable<'_> {
    /// Returns plans of all jobs. These plans are at least as good as plans that are made one by one in the order of
    /// urgency, and at least as good as the current plans.
    ///
    /// First, the orders by urgency, by deadline, by slack and by work are compared. If there are few jobs, all orders
    /// are compared. Then neighbours in the best order are swapped, and late jobs are moved to the front. In all these
    /// orders, each job is planned by HEFT, as early as possible.
    ///
    /// Finally, the search begins with the best flow found. Each job in turn takes the variant that is best for the
    /// flow. The strategy of the job is computed on the processors that the other jobs leave free.
    pub fn collective(&self) -> Collective {
        let by_urgency = self.order_by(FlowCandidate::urgency);
        let mut best = self.one_by_one(&by_urgency, HopelessJobs::InTurn);
        if self.candidates.len() > 1 {
            let order = self.best_order(&by_urgency);
            let others = [self.as_before(&by_urgency), self.early(&order)];
            for flow in others {
                if self.is_better(&flow, &best) {
                    best = flow;
                }
            }
        }
        self.refine(&mut best);
        best
    }

    fn is_better(&self, flow: &Collective, other: &Collective) -> bool {
        flow.value.compare(&other.value, self.rules.goal) == Ordering::Less
    }

    /// Returns the order that gives the best flow, if each job is planned as early as possible.
    fn best_order(&self, by_urgency: &[usize]) -> Vec<usize> {
        let mut orders = vec![
            by_urgency.to_vec(),
            self.order_by(|candidate| candidate.deadline),
            self.order_by(|candidate| candidate.deadline - candidate.alone),
            self.order_by(|candidate| candidate.work),
        ];
        if by_urgency.len() <= ALL_ORDERS {
            permutations(by_urgency, &mut Vec::new(), &mut orders);
        }
        let mut looked = orders.len();
        let most = MAX_ORDERS.min(MAX_PLACED / self.candidates.len().max(1));
        let flows = orders.into_iter().map(|order| (self.early(&order), order));
        let best = flows.reduce(|best, next| if self.is_better(&next.0, &best.0) { next } else { best });
        let Some((mut flow, mut order)) = best else { return Vec::new() };
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for change in Self::changes(&order, &flow) {
                if looked >= most {
                    return order;
                }
                looked += 1;
                let next = self.early(&change);
                if self.is_better(&next, &flow) {
                    (flow, order, changed) = (next, change, true);
                    break;
                }
            }
        }
        order
    }

    /// Returns changed orders. In each of these orders, a late job is moved to the front, or two neighbours are
    /// swapped.
    fn changes(order: &[usize], flow: &Collective) -> Vec<Vec<usize>> {
        let changed = |change: &dyn Fn(&mut Vec<usize>)| {
            let mut order = order.to_vec();
            change(&mut order);
            order
        };
        let late = (1..order.len()).filter(|&at| !flow.choices[order[at]].in_time);
        let first = late.map(|at| changed(&|order| order[..=at].rotate_right(1)));
        let swapped = (1..order.len()).map(|at| changed(&|order| order.swap(at - 1, at)));
        first.chain(swapped).collect()
    }

    /// In the order of deadlines, gives each job the variant that is best for the flow.
    fn refine(&self, flow: &mut Collective) {
        let mut calendars = self.calendars.clone();
        flow.choices.iter().for_each(|choice| choice.occupy(&mut calendars));
        for _ in 0..ROUNDS {
            let mut changed = false;
            for at in self.order_by(|candidate| (candidate.deadline, candidate.job)) {
                flow.choices[at].vacate(&mut calendars);
                if let Some(better) = self.better(flow, at, &calendars) {
                    flow.choices[at] = better;
                    flow.value = self.value(&flow.choices);
                    changed = true;
                }
                flow.choices[at].occupy(&mut calendars);
            }
            if !changed {
                break;
            }
        }
    }

    /// Returns the variant of the job `at` that improves the flow the most, or `None` if no variant improves it. All
    /// other jobs keep their plans.
    fn better(&self, flow: &Collective, at: usize, calendars: &[Calendar]) -> Option<FlowChoice> {
        let (candidate, goal) = (&self.candidates[at], self.rules.goal);
        let mut variants = candidate.variants(calendars);
        let present = &flow.choices[at];
        if present.chosen.is_some() {
            variants.push(present.offer.clone());
        }
        let variants = pareto(variants);
        let mut choices = flow.choices.clone();
        let mut best = None;
        let mut value = flow.value.clone();
        for chosen in 0..variants.len() {
            choices[at] = candidate.taken(variants.clone(), chosen);
            let next = self.value(&choices);
            if next.compare(&value, goal) == Ordering::Less {
                (value, best) = (next, Some(choices[at].clone()));
            }
        }
        best
    }
}

/// Adds to `orders` all orders of `all` that begin with `begun`.
fn permutations(all: &[usize], begun: &mut Vec<usize>, orders: &mut Vec<Vec<usize>>) {
    if begun.len() == all.len() {
        orders.push(begun.clone());
    }
    for &next in all {
        if !begun.contains(&next) {
            begun.push(next);
            permutations(all, begun, orders);
            begun.pop();
        }
    }
}
