//! Bounds on the cost. One bound follows from the least cost of every task. Better bounds follow from prices, for
//! schedules in which all tasks end by an instant (the horizon).
//!
//! The time until the horizon is divided into equal periods. In each period, the processors of each node have a price.
//! Each edge also has a price. Every task chooses the node and the start with the least sum of cost and payments
//! ([`CostPrices`]). The sum over all tasks is concave in the prices. The search replaces the minimum for each task by
//! a smooth function, and maximises the sum with the gradient steps of Adam. The smoothing decreases from step to step.
//! The bound is valid for all prices, even if the search does not find the best ones.
//!
//! Sources: Lagrangian duality as in A. M. Geoffrion, "Lagrangean relaxation for integer programming", Math.
//! Programming Study 2, 1974, DOI 10.1007/BFb0120690; prices of processors in time as in M. E. Dyer, L. A. Wolsey,
//! Discrete Applied Mathematics 26, 1990, DOI 10.1016/0166-218X(90)90104-K; gradient steps as in D. P. Kingma, J. Ba,
//! "Adam", ICLR 2015, arXiv 1412.6980.

pub(crate) mod cheapest;
mod programme;
#[cfg(test)]
mod tests;

use makespan_core::{Instance, JobId, Objective, Time};
use makespan_verify::proof::{CostPrices, NodeKinds, Spans};
use makespan_verify::{Bound, Proof};

use crate::ascent::{Ascent, AscentParameters};
use crate::rounding::{finest, places, rounded};
use crate::windows::TaskArrays;
pub use cheapest::cheapest;
use programme::{CostProgramme, Prices, SEVERAL, instants};

/// Maximum number of equal periods into which the time until the horizon is divided.
const PERIODS: usize = 16;
/// Maximum size of one step ([`CostSearch::size`]). If a step would be larger, the search uses fewer periods.
const LOOKED_AT: usize = 1 << 20;
/// Approximate number of binary digits of the largest price in a certificate.
const PLACES: i32 = 40;
/// Parameters of the search. Consider the cheapest choice of each task. Let c be the mean cost of these choices, and
/// let t be their mean run time. Step lengths are relative to c / t. Smoothing widths are relative to c.
const PACE: AscentParameters = AscentParameters { kept: (0.9, 0.99), length: (0.1, 0.001), width: (0.1, 0.003) };

/// The node and the start at which a task pays least at the best prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostChoice {
    /// The node, or `None` for a task that may hold several processors.
    pub node: Option<usize>,
    /// Start of the task.
    pub start: Time,
}

/// A search for prices under a horizon. The search keeps its state between steps.
pub struct CostSearch {
    programme: CostProgramme,
    ascent: Ascent,
    /// The length of a step of an edge price, divided by the length of a step of a processor price (at most 1). Shorter
    /// steps are necessary, because even a slightly wrong edge price moves a task from one end of its time window to
    /// the other end.
    edge: f64,
    instants: Vec<Time>,
    kind_of: Vec<Option<usize>>,
}

impl CostSearch {
    /// Creates a search. Returns `None` if there is no task, or if some path of tasks cannot end by the horizon.
    pub fn new(instance: &Instance, horizon: Time) -> Option<Self> {
        if instance.jobs().is_empty() || horizon <= instance.first_release() {
            return None;
        }
        let ids: Vec<JobId> = instance.ids().collect();
        let tasks = TaskArrays::of(instance, &ids, &Spans::new(&NodeKinds::new(instance), instance), false);
        let cells = (tasks.len() * tasks.kinds).max(1);
        let most = (LOOKED_AT / cells / 2).clamp(1, PERIODS);
        let length = (horizon - instance.first_release()).ticks();
        let periods = most.min(usize::try_from(length).unwrap_or(PERIODS));
        let programme = CostProgramme::new(instance, &tasks, horizon, periods)?;
        let instants = instants(instance.first_release(), horizon, periods);
        let free = programme.free();
        let (cost, time) = programme.scale();
        let ascent = Ascent::new(PACE, vec![0.0; free.kinds.len() + free.edges.len()], (cost / time, cost));
        let edge = (time / programme.room()).min(1.0).sqrt();
        Some(Self { ascent, edge, programme, instants, kind_of: tasks.kind_of })
    }

    /// Makes a step. `done` is the completed fraction of the search, from 0 to 1. Steps become shorter as `done`
    /// increases. Takes O(tasks * kinds of nodes * periods).
    pub fn step(&mut self, done: f64) {
        let prices = self.prices(self.ascent.prices());
        let point = self.programme.evaluate(&prices, self.ascent.width(done));
        let (kinds, edge) = (prices.kinds.len(), self.edge);
        let rise = point.rise.kinds.iter().chain(&point.rise.edges);
        self.ascent.step(done, point.value, rise, |at| if at < kinds { 1.0 } else { edge });
    }

    /// Splits the list of all prices into the prices of the kinds of nodes and the prices of the edges.
    fn prices(&self, all: &[f64]) -> Prices {
        let (kinds, edges) = all.split_at(self.programme.kinds * self.programme.periods);
        Prices { kinds: kinds.to_vec(), edges: edges.to_vec() }
    }

    /// Returns the size of a step. A step takes about ten nanoseconds for each unit of size.
    pub fn size(&self) -> usize {
        self.programme.size()
    }

    /// Returns the bound on the cost of all schedules that end by the horizon, from the best prices so far. The check
    /// proves the bound in exact integers. Returns `None` if a number does not fit into 128 bits.
    pub fn bound(&self, instance: &Instance) -> Option<Bound> {
        let unit = (self.instants[self.instants.len() - 1] - self.instants[0]).ticks() as f64;
        let scale = places(self.ascent.best().iter().map(|price| price / unit), PLACES);
        let proof = |scale| Proof::CostPrices(self.certificate(instance, scale, unit));
        finest(scale, |scale| Bound::proved_by(Objective::Cost, proof(scale), instance)).ok()
    }

    fn certificate(&self, instance: &Instance, scale: u32, unit: f64) -> CostPrices {
        let best = self.prices(self.ascent.best());
        let whole = |price: f64| rounded(price / unit, scale);
        let periods = self.programme.periods;
        let of_kind = |kind: usize| best.kinds[kind * periods..][..periods].iter().map(|&price| whole(price)).collect();
        let free = || vec![0; periods];
        let prices = self.kind_of.iter().map(|kind| kind.map_or_else(free, of_kind)).collect();
        debug_assert_eq!(self.kind_of.len(), instance.platform().nodes().len());
        // The edges between jobs are the last edges of the instance. Edges between jobs have no price.
        let free = std::iter::repeat_n(0, instance.edges().len().saturating_sub(best.edges.len()));
        let edges = best.edges.iter().map(|&price| whole(price)).chain(free).collect();
        let horizon = self.instants.last().copied();
        CostPrices { horizon, instants: self.instants.clone(), prices, edges, scale }
    }

    /// Returns the choice of every task at the best prices so far, in the order of the instance. There is one choice
    /// for all tasks of a bag.
    pub fn choices(&self) -> Vec<CostChoice> {
        let first_of = |kind: usize| self.kind_of.iter().position(|&other| other == Some(kind));
        let nodes: Vec<Option<usize>> = (0..self.programme.kinds).map(first_of).collect();
        let unit = (self.instants[self.instants.len() - 1] - self.instants[0]).ticks() as f64;
        let choice = |(kind, at): (usize, f64)| CostChoice {
            node: if kind == SEVERAL { None } else { nodes[kind] },
            start: self.instants[0] + Time::from_ticks((at * unit) as i64),
        };
        self.programme.cheapest(&self.prices(self.ascent.best())).into_iter().map(choice).collect()
    }
}

/// Returns a bound on the cost of all schedules that end by the horizon, after `steps` steps of the search. Returns
/// `None` if [`CostSearch::new`] or [`CostSearch::bound`] returns `None`.
pub fn within(instance: &Instance, horizon: Time, steps: u32) -> Option<Bound> {
    let mut search = CostSearch::new(instance, horizon)?;
    (0..steps).for_each(|step| search.step(f64::from(step) / f64::from(steps)));
    search.bound(instance)
}
