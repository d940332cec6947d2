//! Trees of machines with bags of tasks.
//!
//! Source: O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert, "Centralized versus distributed
//! schedulers for multiple bag-of-task applications" (IPDPS 2006, DOI 10.1109/IPDPS.2006.1639262), sections 5.1.2 and
//! 5.1.3.

use std::collections::VecDeque;
use std::fmt;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::str::FromStr;

use makespan_core::{Instance, Job, Link, Node, Platform, Profile, Time, Weight};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::at_most;
use crate::GenerateError;

/// Range of speeds in millions of operations per second, from the speed of an old Pentium Pro to the speed of an
/// Athlon.
const SPEED: RangeInclusive<f64> = 22.151..=171.667;
/// Range of bandwidths as printed in the paper: 110 kb/s to 7 Mb/s.
const BANDWIDTH: RangeInclusive<f64> = 110e3..=7e6;
/// Range of link latencies in seconds. [`Latency::None`] ignores the range.
const LATENCY: RangeInclusive<f64> = 0.006..=10.0;
/// Number of bytes of each task. Together with the bandwidths and the ratios of bytes to operations, this number
/// determines the time scale and the influence of latencies.
pub const DATA: u64 = 1_000_000;
/// Maximum number of bytes in transit (`SG_TCP_CTE_GAMMA`) in the simulator `SimGrid` when the paper was written. The
/// bandwidth of a flow is at most this number divided by twice the latency of the link. Source: H. Casanova and L.
/// Marchal, "A network model for simulation of grid application" (INRIA RR-4596, 2002).
const WINDOW: f64 = 20_000.0;
/// Smallest ratio of bytes to operations of an application: the ratio of the multiplication of two 3500 x 3500
/// matrices.
pub const LEAST_RATIO: f64 = 0.001;
/// Largest ratio of bytes to operations of an application: the ratio of the addition of two 3500 x 3500 matrices.
pub const LARGEST_RATIO: f64 = 4.6;

/// Meaning of the letter "b" in the paper's units "kb/s" and "Mb/s".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Bits per second.
    Bits,
    /// Bytes per second.
    Bytes,
}

/// Effect of link latencies on transfers. Latencies are drawn between 6 ms and 10 s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Latency {
    /// Links have no latency.
    None,
    /// Each transfer on a link takes longer by the latency of the link.
    Plain,
    /// Each transfer on a link takes longer by the latency of the link. In addition, the bandwidth of a transfer is at
    /// most 20,000 bytes divided by twice the latency. The paper's simulator has this limit: "latency is a limiting
    /// factor as well as the link capacity" (section 5.1.2).
    Window,
}

/// Options for a tree and its applications.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeOptions {
    /// Number of nodes.
    pub nodes: usize,
    /// Maximum number of children of a node.
    pub degree: usize,
    /// Number of applications.
    pub applications: usize,
    /// Ratio of bytes to operations of the last application. The first application has the ratio [`LEAST_RATIO`]. The
    /// ratios increase by equal steps from the first application to the last.
    pub largest_ratio: f64,
    /// Number of tasks of each application.
    pub tasks: u64,
    /// Meaning of the letter "b" in the paper's units of bandwidth.
    pub unit: Unit,
    /// Effect of the link latencies on transfers.
    pub latency: Latency,
    /// Number of bytes of each task.
    pub data: u64,
    /// Seed; the same seed gives the same instance.
    pub seed: u64,
}

impl Unit {
    /// All units.
    pub const ALL: [Self; 2] = [Self::Bytes, Self::Bits];
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Bits => "bits",
            Self::Bytes => "bytes",
        })
    }
}

impl Latency {
    /// All effects of latencies.
    pub const ALL: [Self; 3] = [Self::None, Self::Plain, Self::Window];
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "none",
            Self::Plain => "plain",
            Self::Window => "window",
        })
    }
}

impl FromStr for Latency {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self, GenerateError> {
        Self::ALL.into_iter().find(|latency| latency.to_string() == text).ok_or_else(|| GenerateError::Option {
            name: "latency",
            value: format!("`{text}`"),
            expected: "write none, plain or window",
        })
    }
}

impl FromStr for Unit {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self, GenerateError> {
        Self::ALL.into_iter().find(|unit| unit.to_string() == text).ok_or_else(|| GenerateError::Option {
            name: "unit",
            value: format!("`{text}`"),
            expected: "write bits or bytes",
        })
    }
}

/// Generates an instance.
///
/// The tree grows breadth first until it has the requested number of nodes. Each node in turn gets from 1 to `degree`
/// children. The number of children is drawn uniformly. Speeds are drawn uniformly. The paper does not state the
/// distribution of bandwidths and latencies, so this function draws both log-uniformly from the paper's ranges. For a
/// given seed, the machines do not depend on the options of the applications. With [`Unit::Bits`], the drawn
/// bandwidths are divided by eight. Work is counted in millions of operations, and all weights are 1.
///
/// # Errors
/// [`GenerateError`] if an option is out of its range.
pub fn generate_tree(options: &TreeOptions) -> Result<Instance, GenerateError> {
    check(options)?;
    let parents = parents(options);
    let bits = if options.unit == Unit::Bits { 8.0 } else { 1.0 };
    let digits = (options.nodes - 1).to_string().len();
    let node = |(at, parent): (usize, Option<usize>)| {
        let mut stream = stream(options.seed, 1 + at as u64);
        let speed = stream.random_range(SPEED);
        let bandwidth = log_uniform(BANDWIDTH, &mut stream) / bits;
        // Rounds speeds, bandwidths and latencies to a realistic precision. So the exact throughputs, which are
        // fractions, have few digits.
        let microseconds = (log_uniform(LATENCY, &mut stream) * 1e6).round();
        let (speed, bandwidth) = ((speed * 1e3).round() / 1e3, bandwidth.round());
        let bandwidth = if options.latency == Latency::Window {
            bandwidth.min((WINDOW * 1e6 / (2.0 * microseconds)).round())
        } else {
            bandwidth
        };
        let latency = if options.latency == Latency::None { 0 } else { microseconds as i64 * 1000 };
        let link = parent.map(|_| Link { bandwidth, latency: Time::from_ticks(latency) });
        Node { speed, parent, link, ..Node::new(format!("n{at:0digits$}"), 1) }
    };
    let platform =
        Platform::new(parents.into_iter().enumerate().map(node).collect()).map_err(|error| GenerateError::Option {
            name: "nodes",
            value: format!("{} ({error})", options.nodes),
            expected: "give fewer nodes",
        })?;
    let jobs = (0..options.applications).map(|at| application(options, at)).collect::<Result<_, _>>()?;
    Ok(Instance::new(platform, jobs, Vec::new())?)
}

fn application(options: &TreeOptions, at: usize) -> Result<Job, GenerateError> {
    let name = format!("app{}", at + 1);
    let place = if options.applications == 1 { 1.0 } else { at as f64 / (options.applications - 1) as f64 };
    let ratio = LEAST_RATIO + (options.largest_ratio - LEAST_RATIO) * place;
    let work = Time::from_seconds_f64(options.data as f64 / ratio / 1e6);
    let work = work.map_err(|error| GenerateError::Option {
        name: "largest ratio",
        value: format!("{} ({error})", options.largest_ratio),
        expected: "give a value from 0.001 to 1000",
    })?;
    let profile = Profile::rigid(1, work).map_err(|source| GenerateError::Profile { job: name.clone(), source })?;
    let count = NonZeroU64::new(options.tasks).unwrap_or(NonZeroU64::MIN);
    Ok(Job::new(name, profile).with_weight(Weight::ONE).with_count(count).with_data(options.data))
}

/// Returns the parent of each node.
fn parents(options: &TreeOptions) -> Vec<Option<usize>> {
    let mut stream = stream(options.seed, 0);
    let (mut parents, mut open) = (vec![None], VecDeque::from([0]));
    while parents.len() < options.nodes {
        let Some(parent) = open.pop_front() else { break };
        for _ in 0..stream.random_range(1..=options.degree).min(options.nodes - parents.len()) {
            open.push_back(parents.len());
            parents.push(Some(parent));
        }
    }
    parents
}

fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    stream.set_stream(number);
    stream
}

fn log_uniform(range: RangeInclusive<f64>, stream: &mut ChaCha8Rng) -> f64 {
    stream.random_range(range.start().ln()..=range.end().ln()).exp()
}

fn check(options: &TreeOptions) -> Result<(), GenerateError> {
    let counts = [
        ("nodes", options.nodes as u64),
        ("degree", options.degree as u64),
        ("applications", options.applications as u64),
        ("tasks", options.tasks),
        ("file size", options.data),
    ];
    for (name, value) in counts {
        if value == 0 {
            return Err(GenerateError::Option { name, value: "0".into(), expected: "it must be at least 1" });
        }
    }
    at_most("number of nodes", options.nodes as u64)?;
    at_most("number of applications", options.applications as u64)?;
    if !(LEAST_RATIO..=1000.0).contains(&options.largest_ratio) {
        return Err(GenerateError::Option {
            name: "largest ratio",
            value: options.largest_ratio.to_string(),
            expected: "give a value from 0.001 to 1000 bytes per operation",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use makespan_core::tree::TreeProblem;

    use super::*;

    const OPTIONS: TreeOptions = TreeOptions {
        nodes: 50,
        degree: 5,
        applications: 3,
        largest_ratio: LARGEST_RATIO,
        tasks: 200,
        unit: Unit::Bytes,
        latency: Latency::None,
        data: DATA,
        seed: 3,
    };

    #[test]
    fn machines_are_within_the_printed_ranges_and_do_not_depend_on_the_applications() {
        let instance = generate_tree(&OPTIONS).unwrap();
        let other = generate_tree(&TreeOptions { largest_ratio: 0.05, tasks: 7, ..OPTIONS }).unwrap();
        assert_eq!(instance.platform(), other.platform());
        let nodes = instance.platform().nodes();
        assert_eq!((nodes.len(), nodes[0].parent), (50, None));
        assert!(nodes.iter().all(|node| (22.151..=171.667).contains(&node.speed)));
        assert!(nodes.iter().filter_map(|node| node.link).all(|link| (110e3..=7e6).contains(&link.bandwidth)));
        let degree = |at| nodes.iter().filter(|node| node.parent == Some(at)).count();
        assert!((0..50).all(|at| degree(at) <= 5));
        // In breadth-first order, the parent of a node never comes before the parent of the previous node.
        assert!(nodes.windows(2).all(|pair| pair[0].parent <= pair[1].parent));
        let problem = TreeProblem::new(&instance).unwrap();
        let ratios = problem.applications().iter().map(|one| makespan_core::tree::float_of(&one.ratio()) / 1e6);
        for (ratio, expected) in ratios.zip([0.001, 2.3005, 4.6]) {
            assert!((ratio - expected).abs() < 1e-8 * expected, "{ratio} is not {expected}");
        }
    }

    #[test]
    fn bits_are_an_eighth_of_bytes_and_latencies_are_in_range() {
        let bytes = generate_tree(&OPTIONS).unwrap();
        let bits = generate_tree(&TreeOptions { unit: Unit::Bits, latency: Latency::Plain, ..OPTIONS }).unwrap();
        for (byte, bit) in bytes.platform().nodes().iter().zip(bits.platform().nodes()).skip(1) {
            let (byte, bit) = (byte.link.unwrap(), bit.link.unwrap());
            assert!((byte.bandwidth / bit.bandwidth - 8.0).abs() < 1e-3);
            assert!((0.006..=10.0).contains(&bit.latency.seconds()) && byte.latency == Time::ZERO);
        }
        let narrow = generate_tree(&TreeOptions { latency: Latency::Window, ..OPTIONS }).unwrap();
        for (wide, narrow) in bytes.platform().nodes().iter().zip(narrow.platform().nodes()).skip(1) {
            let (wide, narrow) = (wide.link.unwrap(), narrow.link.unwrap());
            let most = 20_000.0 / (2.0 * narrow.latency.seconds());
            assert!((narrow.bandwidth - wide.bandwidth.min(most)).abs() < 1.0, "{narrow:?}");
        }
    }

    #[test]
    fn options_that_draw_nothing_are_refused() {
        for bad in [
            TreeOptions { nodes: 0, ..OPTIONS },
            TreeOptions { nodes: 1_000_000_000, ..OPTIONS },
            TreeOptions { applications: 1_000_000_000, ..OPTIONS },
            TreeOptions { tasks: 0, ..OPTIONS },
            TreeOptions { largest_ratio: 0.0, ..OPTIONS },
            TreeOptions { largest_ratio: f64::NAN, ..OPTIONS },
        ] {
            assert!(matches!(generate_tree(&bad), Err(GenerateError::Option { .. })));
        }
    }
}
