//! The optimal steady state of bags of tasks on a tree.
//!
//! The linear programme is (3) of O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert,
//! "Centralized versus distributed schedulers for multiple bag-of-task applications" (IPDPS 2006, DOI
//! 10.1109/IPDPS.2006.1639262). Its objective is weighted max-min fairness. There is one deviation: a task occupies the
//! port for the time of its bytes plus the latency `l(v)` of the link. The paper omits latencies in the programme, but
//! measures the bandwidths in a simulator with latencies (section 5.1.4).
//!
//! Application k has the weight `w(k)`, and each of its tasks has the work `c(k)` and `b(k)` bytes. Node u has the
//! capacity `C(u)`, and the link from its parent has the bandwidth `B(u)`. Let `a(u, k)` be the tasks of application k
//! per second on node u, and `in(v, k)` the sum of `a(u, k)` over the subtree of v:
//!
//! ```text
//! maximise r
//! sum over u of a(u, k)                                          >= w(k) r   every application k
//! sum over k of c(k) a(u, k)                                     <= C(u)     every node u: its processors
//! sum over children v of u and k of (l(v) + b(k) / B(v)) in(v, k) <= 1   every node u: its port
//! a >= 0
//! ```
//!
//! The module `factor` solves the equations of a basis by elimination along the tree. So the steps of the simplex
//! method are fast, both in floats and in rationals. The search for a basis uses floats. Then the solution of the basis
//! in rationals proves that the basis is optimal. If there are several optima, the search finds one with the least
//! communication (the total time of all ports), as in proposition 1 of the paper.

mod basis;
mod exact;
mod factor;
mod fair;
mod field;
mod figures;
mod period;
mod prices;
mod root;
mod rounding;
mod simplex;
mod solution;
mod start;
#[cfg(test)]
mod tests;
mod upgrades;

use dashu_ratio::RBig;
use makespan_core::tree::{Optimum, Rates, TreeProblem, float_of};
use makespan_core::{Instance, Objective, Unsupported};
use makespan_verify::proof::TreePrices;
use makespan_verify::{Bound, Proof};

pub use fair::{FairRates, alpha_fair};
pub use upgrades::{NodePart, Upgrade, upgrades};

use basis::Basis;
use figures::{Coefficients, Scale};
use prices::{PriceGoal, Prices};
use simplex::{SimplexStop, Vertex};

/// A steady state with a proof of its quality.
#[derive(Clone, Debug)]
pub struct Throughput {
    /// The rate of each application on each node, in tasks per second. The rates are feasible in exact arithmetic.
    pub rates: Rates,
    /// The exact fair throughput of the rates, in weighted tasks per second.
    pub value: RBig,
    /// An upper bound on the fair throughput of every steady state.
    pub bound: RBig,
    /// The proof of `bound`.
    pub prices: TreePrices,
    /// The optimum with its proof, if the optimum was requested and found. Then `rates` and `value` are optimal.
    pub optimum: Option<Optimum>,
    /// Number of steps of the simplex method.
    pub steps: usize,
}

/// The requested precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Rates with a value within about 1e-9 of the bound, for trees of any size.
    Float,
    /// The optimum in rationals, for trees of up to [`EXACT_NODES`] nodes.
    Exact,
}

/// Maximum number of nodes for the exact optimum. In larger trees, the rationals have too many digits.
pub const EXACT_NODES: usize = 1000;

/// Sizes of the perturbation of the coefficients, tried in this order. A large perturbation avoids steps without
/// progress. With a small perturbation, the final basis is more likely to be feasible for the original coefficients.
const PERTURBATIONS: [f64; 3] = [1e-7, 1e-9, 0.0];

/// Returns the optimal steady state of a tree problem, with a proof.
///
/// With [`Precision::Exact`] and up to [`EXACT_NODES`] nodes, `optimum` contains the exact solution. For more nodes, or
/// if the search in rationals fails, the rates are within about 1e-9 of the bound, and their values are exact. Takes
/// O(nodes * applications) for each step.
///
/// ```
/// use makespan_bounds::tree::{Precision, throughput};
/// use makespan_core::tree::TreeProblem;
/// use makespan_core::{Instance, Job, Link, Node, Platform, Profile, Time};
/// # use std::num::NonZeroU64;
///
/// // A root that only sends, and two workers. The port of the root can feed one and a half workers.
/// let node = |name: &str, processors, parent: Option<usize>| {
///     let link = parent.map(|_| Link { bandwidth: 1.5, latency: Time::ZERO });
///     Node { parent, link, ..Node::new(name, processors) }
/// };
/// let platform = Platform::new(vec![node("root", 0, None), node("a", 1, Some(0)), node("b", 1, Some(0))])?;
/// let job = Job::new("app", Profile::rigid(1, Time::from_seconds(1))?);
/// let job = job.with_count(NonZeroU64::new(100).unwrap()).with_data(1);
/// let problem = TreeProblem::new(&Instance::new(platform, vec![job], vec![])?)?;
/// let best = throughput(&problem, Precision::Exact);
/// assert_eq!(best.value.to_string(), "3/2");
/// assert_eq!(best.optimum.unwrap().verify(&problem), Ok(()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn throughput(problem: &TreeProblem, precision: Precision) -> Throughput {
    let mut approximate = None;
    let most = 10_000 + 100 * problem.nodes().len();
    for size in PERTURBATIONS {
        let Ok((vertex, prices, scale)) = search(problem, size, most) else { continue };
        let found = approximate.get_or_insert_with(|| rounding::rounded(problem, &vertex, &prices, &scale));
        found.steps += vertex.steps;
        if precision == Precision::Float || problem.nodes().len() > EXACT_NODES {
            break;
        }
        if let Ok(optimum) = exact::optimum(problem, vertex.basis, EXACT_STEPS) {
            found.optimum = Some(optimum);
            break;
        }
    }
    let mut found = approximate.unwrap_or_else(|| rounding::nothing(problem));
    if found.optimum.is_none() && precision == Precision::Exact && problem.nodes().len() <= SMALL {
        let idle = Basis::idle(&Coefficients::<RBig>::new(problem, None));
        found.optimum = exact::optimum(problem, idle, SMALL_STEPS).ok();
    }
    if let Some(optimum) = &found.optimum {
        found.value = optimum.throughput.clone();
        found.rates = optimum.rates.clone();
    }
    found
}

/// Returns the bound on the fair throughput of an instance of any size.
///
/// # Errors
/// Returns [`Unsupported`] if the instance does not consist of bags on a tree.
pub fn bound(instance: &Instance) -> Result<Bound, Unsupported> {
    let problem = TreeProblem::new(instance).map_err(|error| Unsupported(error.to_string()))?;
    Ok(throughput(&problem, Precision::Float).proved())
}

/// Maximum number of nodes of a problem that is solved in rationals alone. This happens if the search in floats fails,
/// for example because of extreme numbers.
const SMALL: usize = 50;
/// Maximum number of steps if a problem is solved in rationals alone.
const SMALL_STEPS: usize = 2000;
/// Maximum number of steps in rationals from a basis that was found in floats. One step in rationals takes as long as
/// many steps in floats.
const EXACT_STEPS: usize = 200;

type Found = (Vertex<f64>, Prices<f64>, Scale);

/// Runs the simplex method in floats for up to `most` steps, on coefficients that are perturbed by a relative amount of
/// about `size`.
fn search(problem: &TreeProblem, size: f64, most: usize) -> Result<Found, SimplexStop> {
    let scale = Scale::new(problem);
    let mut figures: Coefficients<f64> = Coefficients::new(problem, Some(&scale)).without_hopeless();
    let plain = figures.clone();
    figures.perturb(size);
    let mut vertex = Vertex::new(&figures, start::slices(&figures))?;
    vertex.optimise(&figures, most)?;
    let prices = Prices::new(&plain, &vertex.basis, &vertex.factor, PriceGoal::Throughput)?;
    vertex.solution.solve(&plain, &vertex.basis, &vertex.factor, None)?;
    Ok((vertex, prices, scale))
}

impl Throughput {
    /// Returns the bound with its certificate.
    pub fn proved(&self) -> Bound {
        let proof = Proof::TreePrices(self.prices.clone());
        let value = self.bound.clone().into();
        Bound { objective: Objective::Throughput, value, makespan_at_most: None, proof }
    }

    /// Returns the difference between the bound and the value as a fraction of the bound.
    pub fn gap(&self) -> f64 {
        if self.bound.is_zero() { 0.0 } else { float_of(&((&self.bound - &self.value) / &self.bound)) }
    }

    /// Returns the rates as floats: the tasks per second of every application on each node, sorted by node and then by
    /// application.
    pub fn floats(&self) -> Vec<f64> {
        self.rates.all().iter().map(float_of).collect()
    }
}
