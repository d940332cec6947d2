//! The best steady state of bags of tasks on a tree.
//!
//! Linear programme (3) of O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert, "Centralized versus
//! distributed schedulers for multiple bag-of-task applications" (IPDPS 2006, DOI 10.1109/IPDPS.2006.1639262), max-min fair
//! with weights, where a task takes the port for the latency `l(v)` of the link besides its bytes: the paper measures b in a
//! simulator with latencies (section 5.1.4). With `a(u, k)` the tasks of application k a second on node u, and `in(v, k)`
//! their sum over the subtree of v:
//!
//! ```text
//! maximise r
//! sum over u of a(u, k)                                          >= w(k) r   every application k
//! sum over k of c(k) a(u, k)                                     <= C(u)     every node u: its processors
//! sum over children v of u and k of (l(v) + b(k) / B(v)) in(v, k) <= 1   every node u: its port
//! a >= 0
//! ```
//!
//! The basis of a vertex eliminates along the tree (`factor`), so the simplex method itself is fast here, in floats and in
//! rationals alike: floats find the basis, and rationals solve it exactly and prove it optimal. Of several optima the one
//! with the least communication (the time of all ports together) is found, of which the paper's proposition 1 speaks.

mod basis;
mod exact;
mod factor;
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
use makespan_core::proof::TreePrices;
use makespan_core::tree::{Optimum, Rates, TreeProblem, float_of};
use makespan_core::{Bound, Instance, Objective, Proof, Unsupported};

pub use upgrades::{Part, Upgrade, upgrades};

use basis::Basis;
use figures::{Figures, Scale};
use prices::{Goal, Prices};
use simplex::{Stuck, Vertex};

/// A steady state with the proof of how good it is.
#[derive(Clone, Debug)]
pub struct Throughput {
    /// Who computes what: feasible in exact arithmetic.
    pub rates: Rates,
    /// The fair throughput of the rates, weighted tasks a second, exactly.
    pub value: RBig,
    /// No steady state has a larger fair throughput.
    pub bound: RBig,
    /// Why.
    pub prices: TreePrices,
    /// The proved optimum where it was asked for and found; the rates are its rates then, and the value its throughput.
    pub optimum: Option<Optimum>,
    /// Steps of the simplex method.
    pub steps: usize,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// The value within about 1e-9 of the bound; at any size.
    Float,
    /// The optimum in rationals, up to [`EXACT_NODES`] nodes.
    Exact,
}

/// Most nodes for which the exact optimum is sought: the digits of its rationals grow with the tree.
pub const EXACT_NODES: usize = 1000;

/// Sizes of the perturbation that are tried: the larger, the fewer steps without progress; the smaller, the surer that
/// the basis found is feasible without it.
const PERTURBATIONS: [f64; 3] = [1e-7, 1e-9, 0.0];

/// The best steady state of a tree problem, proved.
///
/// With [`Precision::Exact`], up to [`EXACT_NODES`] nodes, `optimum` holds the exact solution; beyond, and should the
/// search in rationals fail, rates within about 1e-9 of the bound are returned with their exact values. O(nodes *
/// applications) a step.
///
/// ```
/// use makespan_bounds::tree::{Precision, throughput};
/// use makespan_core::tree::TreeProblem;
/// use makespan_core::{Instance, Job, Link, Node, Platform, Profile, Time};
/// # use std::num::NonZeroU64;
///
/// // A root that only sends, and two workers of which the port can feed one and a half.
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
        let idle = Basis::idle(&Figures::<RBig>::new(problem, None));
        found.optimum = exact::optimum(problem, idle, SMALL_STEPS).ok();
    }
    if let Some(optimum) = &found.optimum {
        found.value = optimum.throughput.clone();
        found.rates = optimum.rates.clone();
    }
    found
}

/// The bound on the fair throughput of an instance, at any size.
///
/// # Errors
/// [`Unsupported`] when the instance is not one of bags on a tree.
pub fn bound(instance: &Instance) -> Result<Bound, Unsupported> {
    let problem = TreeProblem::new(instance).map_err(|error| Unsupported(error.to_string()))?;
    Ok(throughput(&problem, Precision::Float).proved())
}

/// Up to so many nodes rationals may go all the way alone, should floats have failed on outlandish figures.
const SMALL: usize = 50;
const SMALL_STEPS: usize = 2000;
/// Most steps in rationals from a basis of floats, each of which takes as long as many in floats.
const EXACT_STEPS: usize = 200;

type Found = (Vertex<f64>, Prices<f64>, Scale);

/// The simplex method in floats, on figures perturbed by about `size`.
fn search(problem: &TreeProblem, size: f64, most: usize) -> Result<Found, Stuck> {
    let scale = Scale::new(problem);
    let mut figures: Figures<f64> = Figures::new(problem, Some(&scale)).without_hopeless();
    let plain = figures.clone();
    figures.perturb(size);
    let mut vertex = Vertex::new(&figures, start::slices(&figures))?;
    vertex.optimise(&figures, most)?;
    let prices = Prices::new(&plain, &vertex.basis, &vertex.factor, Goal::Throughput)?;
    vertex.solution.solve(&plain, &vertex.basis, &vertex.factor, None)?;
    Ok((vertex, prices, scale))
}

impl Throughput {
    /// The bound with its certificate.
    pub fn proved(&self) -> Bound {
        let proof = Proof::TreePrices(self.prices.clone());
        let value = self.bound.clone().into();
        Bound { objective: Objective::Throughput, value, makespan_at_most: None, proof }
    }

    /// How much larger than the value the bound is, relatively.
    pub fn gap(&self) -> f64 {
        if self.bound.is_zero() { 0.0 } else { float_of(&((&self.bound - &self.value) / &self.bound)) }
    }

    /// Tasks of every application that each node computes a second, as floats, by node and then application.
    pub fn floats(&self) -> Vec<f64> {
        self.rates.all().iter().map(float_of).collect()
    }
}
