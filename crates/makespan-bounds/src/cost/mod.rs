//! Bounds on the cost: what every task costs at least, and prices under a horizon.
//!
//! With prices for the processors of each node in equal periods of the time until the horizon, and a price for each edge, every task is put
//! where and when it pays least ([`CostPrices`]). The sum is concave in the prices; here the least of each task is made smooth and
//! Adam's steps climb it while the smoothing falls. Any prices are a proof.
//!
//! Source: Lagrangian duality as in A. M. Geoffrion, "Lagrangean relaxation for integer programming", Math. Programming Study 2,
//! 1974, DOI 10.1007/BFb0120690; prices of processors in time as in M. E. Dyer, L. A. Wolsey, Discrete Applied Mathematics 26, 1990,
//! DOI 10.1016/0166-218X(90)90104-K; steps as in D. P. Kingma, J. Ba, "Adam", ICLR 2015, arXiv 1412.6980.

pub(crate) mod cheapest;
mod programme;
#[cfg(test)]
mod tests;

use makespan_core::proof::{CostPrices, Places, Spans};
use makespan_core::{Bound, Instance, JobId, Objective, Proof, Time};

use crate::ascent::{Ascent, Pace};
use crate::rounding::{finest, places, rounded};
use crate::windows::Tasks;
pub use cheapest::cheapest;
use programme::{Prices, Programme, SEVERAL, instants};

/// Equal periods of the time until the horizon, at most.
const PERIODS: usize = 16;
/// Of larger instances fewer periods, so that this much is looked at in one step.
const LOOKED_AT: usize = 1 << 20;
/// The largest price is a whole number of about so many binary places.
const PLACES: i32 = 40;
/// Pace of the search. The step lengths are multiplied by the mean minimum cost divided by the mean run time. The
/// smoothing widths are multiplied by the mean minimum cost.
const PACE: Pace = Pace { kept: (0.9, 0.99), length: (0.1, 0.001), width: (0.1, 0.003) };

/// Where a task pays least under the best prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostChoice {
    /// The node; `None` for a task that may hold several processors.
    pub node: Option<usize>,
    /// From when on.
    pub start: Time,
}

/// A search of prices under a horizon, which keeps its state.
pub struct CostSearch {
    programme: Programme,
    ascent: Ascent,
    /// Factor for the steps of edge prices. It shortens these steps, because a wrong edge price moves tasks from one
    /// end of their time windows to the other end.
    edge: f64,
    instants: Vec<Time>,
    kind_of: Vec<Option<usize>>,
}

impl CostSearch {
    /// A search that has made no step. `None` when some task cannot end by the horizon, for want of time for the path on which it
    /// is, or when there is no task at all.
    pub fn new(instance: &Instance, horizon: Time) -> Option<Self> {
        if instance.jobs().is_empty() || horizon <= instance.first_release() {
            return None;
        }
        let ids: Vec<JobId> = instance.ids().collect();
        let tasks = Tasks::of(instance, &ids, &Spans::new(&Places::new(instance), instance), false);
        let cells = (tasks.len() * tasks.kinds).max(1);
        let most = (LOOKED_AT / cells / 2).clamp(1, PERIODS);
        let length = (horizon - instance.first_release()).ticks();
        let periods = most.min(usize::try_from(length).unwrap_or(PERIODS));
        let programme = Programme::new(instance, &tasks, horizon, periods)?;
        let instants = instants(instance.first_release(), horizon, periods);
        let free = programme.free();
        let (cost, time) = programme.scale();
        let ascent = Ascent::new(PACE, vec![0.0; free.kinds.len() + free.edges.len()], (cost / time, cost));
        let edge = (time / programme.room()).min(1.0).sqrt();
        Some(Self { ascent, edge, programme, instants, kind_of: tasks.kind_of })
    }

    /// Makes a step; `done` is the part of the way that is done, from 0 to 1, by which steps become shorter. O(tasks * kinds of
    /// nodes * periods).
    pub fn step(&mut self, done: f64) {
        let prices = self.prices(self.ascent.prices());
        let point = self.programme.evaluate(&prices, self.ascent.width(done));
        let (kinds, edge) = (prices.kinds.len(), self.edge);
        let rise = point.rise.kinds.iter().chain(&point.rise.edges);
        self.ascent.step(done, point.value, rise, |at| if at < kinds { 1.0 } else { edge });
    }

    /// Splits a list of all prices into the prices of node kinds and the prices of edges.
    fn prices(&self, all: &[f64]) -> Prices {
        let (kinds, edges) = all.split_at(self.programme.kinds * self.programme.periods);
        Prices { kinds: kinds.to_vec(), edges: edges.to_vec() }
    }

    /// How much a step looks at: about so many tens of nanoseconds.
    pub fn size(&self) -> usize {
        self.programme.size()
    }

    /// The bound of the best prices so far, proved in exact integers, on the cost of all schedules that end by the horizon.
    /// `None` when its figures leave 128 bits.
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
        // Those between jobs come last, and have no price.
        let free = std::iter::repeat_n(0, instance.edges().len().saturating_sub(best.edges.len()));
        let edges = best.edges.iter().map(|&price| whole(price)).chain(free).collect();
        let horizon = self.instants.last().copied();
        CostPrices { horizon, instants: self.instants.clone(), prices, edges, scale }
    }

    /// For every task of every job, in the order of the instance, where it pays least under the best prices so far; a bag counts as
    /// one task.
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

/// The bound under a horizon after so many steps, if there is one.
pub fn within(instance: &Instance, horizon: Time, steps: u32) -> Option<Bound> {
    let mut search = CostSearch::new(instance, horizon)?;
    (0..steps).for_each(|step| search.step(f64::from(step) / f64::from(steps)));
    search.bound(instance)
}
