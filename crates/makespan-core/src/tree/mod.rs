//! Bags of tasks on a tree of machines: the model of steady states.
//!
//! The model is due to O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert, "Centralized versus
//! distributed schedulers for multiple bag-of-task applications" (IPDPS 2006, DOI 10.1109/IPDPS.2006.1639262), in
//! section 2. All data begin at the root. A node can receive from its parent, compute, and send to a child at the same
//! time (full overlap). A node sends to only one child at a time (single port). Sending the results of tasks takes no
//! time. A send occupies the port for the latency of the link plus the bytes divided by the bandwidth of the link, and
//! the data arrive at the end of the send. The latency is included because section 5.1.4 of the paper measures
//! bandwidths in a simulator with latencies.
//!
//! All numbers are exact rationals, so that throughputs can be proved and periods can be computed. A float of the
//! platform represents its shortest decimal: a speed that is written as 0.1 in a file is exactly one tenth.

mod fairness;
pub mod network;
mod network_schedule;
mod optimum;
mod periodic;
mod prices;
mod rates;
mod rational;
mod steady_state;
#[cfg(test)]
mod tests;
mod unroll;

use dashu_ratio::RBig;
use thiserror::Error;

pub use fairness::{Fairness, FairnessError};
pub use network_schedule::{NetworkSchedule, NetworkViolation, Transfer, validate_network};
pub use optimum::{Optimum, OptimumError, dual_value};
pub use periodic::{Periodic, PeriodicError, exact_period};
pub use prices::{PricesError, TreePrices};
pub use rates::{Rates, RatesError, latency_load, link_load, port_load};
pub use rational::{decimal_of, decimal_text, float_of, next_decimal, parse_decimal, short_decimal};
pub use steady_state::SteadyState;

use crate::model::{Instance, Job, JobId, Rows, Task, TaskId, Time};

/// An instance as a tree problem, with nodes in platform order and applications in job order.
#[derive(Clone, Debug)]
pub struct TreeProblem {
    nodes: Vec<TreeNode>,
    applications: Vec<Application>,
    children: Vec<Vec<usize>>,
    order: Vec<usize>,
    /// For each node and application, the time in which the node computes a task; `Time::MAX` for a switch.
    times: Vec<Time>,
}

/// A node of the tree, with the link to its parent.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeNode {
    /// The parent node; `None` for the root, which initially has all data.
    pub parent: Option<usize>,
    /// Number of tasks that the node computes at the same time; 0 for a switch.
    pub processors: u32,
    /// Work units per second of one processor.
    pub speed: RBig,
    /// Bytes per second from the parent; 0 for the root.
    pub bandwidth: RBig,
    /// Latency of each transfer from the parent. The port of the parent is busy during this time.
    pub latency: Time,
}

/// A bag of equal tasks. At the beginning, all of them are at the root.
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    /// The job of the instance that is this bag.
    pub job: JobId,
    /// The first task of the bag.
    pub first: TaskId,
    /// Work units per task.
    pub work: RBig,
    /// Bytes per task.
    pub data: RBig,
    /// Weight of the application. Throughputs are divided by the weights before they are compared.
    pub weight: RBig,
    /// Number of tasks of the bag.
    pub count: u64,
}

/// The reason why an instance is not a tree problem.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TreeError {
    /// The instance has no jobs.
    #[error("there are no bags of tasks; give at least one job with a `count`")]
    NoApplications,
    /// There are several nodes, but they do not form a tree.
    #[error(
        "the nodes form no tree: several nodes have no parent, such as `{0}`; give all nodes but one a `parent` \
         and a `bandwidth`"
    )]
    NoTree(String),
    /// A link has no bandwidth.
    #[error("node `{0}` has a parent, but no bandwidth; give its `bandwidth` in bytes per second")]
    NoBandwidth(String),
    /// A job is compound.
    #[error("job `{0}` is a graph of tasks, but a steady state can contain only bags; plan the graph separately")]
    Graph(String),
    /// A job is not a bag.
    #[error("job `{0}` is not a bag of tasks; state its `count` (the number of its tasks)")]
    NotABag(String),
    /// The tasks of a job need or accept several processors.
    #[error(
        "job `{0}` can use several processors, but tasks on a tree run on one processor; state `work` without \
         `speedup`, or one `time`"
    )]
    Parallel(String),
    /// An application has weight zero.
    #[error("job `{0}` has weight 0, but a fair throughput is divided by the weight; give a positive weight")]
    NoWeight(String),
    /// A job has a release date.
    #[error("job `{0}` is released after time 0; a steady state does not support release dates")]
    Released(String),
    /// A job has a walltime.
    #[error(
        "job `{0}` has a walltime, which rules out some nodes, but a steady state does not support walltimes; remove \
         the walltime"
    )]
    Walltime(String),
    /// A job has a time for each machine.
    #[error(
        "job `{0}` has a time for each machine; give its `work` instead (the run time on a node is the work \
         divided by the speed of the node)"
    )]
    MachineTimes(String),
    /// A job needs resources besides processors.
    #[error("job `{0}` needs `{1}`, but a steady state considers only processors and links; remove the need")]
    Needs(String, String),
    /// A job waits for another job.
    #[error("job `{0}` waits for `{1}`, but in a steady state all bags run at the same time; remove `after`")]
    After(String, String),
    /// Processors are unavailable at times.
    #[error("processors are unavailable at times; a steady state does not support unavailable periods")]
    Unavailable,
}

impl TreeProblem {
    /// Creates the tree problem of an instance. The platform must be a tree or a single node, and all jobs must be bags
    /// of tasks on one processor. Takes O(nodes + jobs).
    ///
    /// # Errors
    /// [`TreeError`] names the node or job that does not fit. [`crate::Platform::new`] already rejects cycles of
    /// parents, and bandwidths and speeds of zero.
    pub fn new(instance: &Instance) -> Result<Self, TreeError> {
        if instance.jobs().is_empty() {
            return Err(TreeError::NoApplications);
        }
        if !instance.unavailable().is_empty() {
            return Err(TreeError::Unavailable);
        }
        let nodes = nodes(instance)?;
        let applications = instance.ids().map(|id| application(instance, id)).collect::<Result<_, _>>()?;
        let mut children = vec![Vec::new(); nodes.len()];
        for (at, node) in nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                children[parent].push(at);
            }
        }
        let mut order: Vec<usize> = (0..nodes.len()).filter(|&at| nodes[at].parent.is_none()).collect();
        let mut next = 0;
        while next < order.len() {
            order.extend_from_slice(&children[order[next]]);
            next += 1;
        }
        let time = |node: usize| {
            instance.jobs().iter().map(move |job| instance.time_on(job.first(), node).unwrap_or(Time::MAX))
        };
        let times = (0..nodes.len()).flat_map(time).collect();
        Ok(Self { nodes, applications, children, order, times })
    }

    /// Returns true if a steady state suits this instance: the platform is a tree, and either some job has tasks with
    /// data, or all jobs are bags.
    pub fn is_meant(instance: &Instance) -> bool {
        let jobs = instance.jobs();
        let has_data = |job: &Job<Rows>| instance.task(job.first()).data.is_some();
        instance.platform().is_tree() && (jobs.iter().any(has_data) || jobs.iter().all(Job::is_bag))
    }

    /// Returns the same problem with other weights of the applications, in job order.
    #[must_use]
    pub fn with_weights(&self, weights: impl IntoIterator<Item = RBig>) -> Self {
        let mut changed = self.clone();
        for (app, weight) in changed.applications.iter_mut().zip(weights) {
            app.weight = weight;
        }
        changed
    }

    /// Returns the nodes, in platform order.
    pub fn nodes(&self) -> &[TreeNode] {
        &self.nodes
    }

    /// Returns the applications, in job order.
    pub fn applications(&self) -> &[Application] {
        &self.applications
    }

    /// Returns the root.
    pub fn root(&self) -> usize {
        self.order[0]
    }

    /// Returns the children of a node, in platform order.
    pub fn children(&self, node: usize) -> &[usize] {
        &self.children[node]
    }

    /// Returns all nodes, every parent before its children (breadth first).
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Returns the time in which a node computes one task, rounded up to a tick as in schedules. Returns `Time::MAX`
    /// for a switch.
    pub fn compute_time(&self, node: usize, application: usize) -> Time {
        self.times[node * self.applications.len() + application]
    }

    /// Returns the seconds for which one task occupies the port of a node's parent: the latency plus the bytes divided
    /// by the bandwidth. Returns zero for the root, which has all data.
    pub fn send_seconds(&self, node: usize, application: usize) -> RBig {
        let one = &self.nodes[node];
        if one.bandwidth.is_zero() {
            return RBig::ZERO;
        }
        one.latency_seconds() + &self.applications[application].data / &one.bandwidth
    }

    /// Returns [`TreeProblem::send_seconds`], rounded up to a tick. Returns `None` if this time is longer than the
    /// longest supported time, so that no task can reach the node.
    pub fn send_time(&self, node: usize, application: usize) -> Option<Time> {
        let ticks = self.send_seconds(node, application) * RBig::from(Time::TICKS_PER_SECOND);
        let ticks = i64::try_from(ticks.ceil()).ok().filter(|&ticks| ticks <= i64::MAX / 4)?;
        Some(Time::from_ticks(ticks))
    }

    /// Returns the number of work units that all processors of a node compute per second.
    pub fn capacity(&self, node: usize) -> RBig {
        RBig::from(self.nodes[node].processors) * &self.nodes[node].speed
    }
}

impl TreeNode {
    /// Returns true if the node has processors.
    pub fn computes(&self) -> bool {
        self.processors > 0
    }

    /// Returns the exact latency of the link from the parent, in seconds.
    pub fn latency_seconds(&self) -> RBig {
        RBig::from_parts(self.latency.ticks().into(), (Time::TICKS_PER_SECOND as u64).into())
    }
}

impl Application {
    /// Returns the number of bytes per unit of work. The paper calls this the communication-to-computation ratio.
    pub fn ratio(&self) -> RBig {
        &self.data / &self.work
    }
}

fn nodes(instance: &Instance) -> Result<Vec<TreeNode>, TreeError> {
    let nodes = instance.platform().nodes();
    if let Some(second) = nodes.iter().filter(|node| node.parent.is_none()).nth(1) {
        return Err(TreeError::NoTree(second.name.clone()));
    }
    let node = |node: &crate::model::Node| {
        let (bandwidth, latency) = match (node.parent, node.link) {
            (None, _) => (RBig::ZERO, Time::ZERO),
            (Some(_), Some(link)) => (decimal_of(link.bandwidth), link.latency),
            (Some(_), None) => return Err(TreeError::NoBandwidth(node.name.clone())),
        };
        let speed = decimal_of(node.speed);
        Ok(TreeNode { parent: node.parent, processors: node.processors, speed, bandwidth, latency })
    };
    nodes.iter().map(node).collect()
}

fn application(instance: &Instance, id: JobId) -> Result<Application, TreeError> {
    let job = instance.job(id);
    let name = || job.name.clone();
    if job.is_compound() {
        return Err(TreeError::Graph(name()));
    }
    if !job.is_bag() {
        return Err(TreeError::NotABag(name()));
    }
    let Task { profile, data, .. } = instance.task(job.first());
    if (profile.min_processors(), profile.max_processors()) != (1, 1) {
        return Err(TreeError::Parallel(name()));
    }
    if profile.machine_times().is_some() {
        return Err(TreeError::MachineTimes(name()));
    }
    if job.walltime.is_some() {
        return Err(TreeError::Walltime(name()));
    }
    if job.weight == crate::model::Weight::ZERO {
        return Err(TreeError::NoWeight(name()));
    }
    if job.release > Time::ZERO {
        return Err(TreeError::Released(name()));
    }
    if let Some(demand) = instance.demands(job.first()).first() {
        let resource = instance.platform().resource_of(demand.resource);
        return Err(TreeError::Needs(name(), resource.name.to_string()));
    }
    if let Some(&before) = job.waits_for().first() {
        return Err(TreeError::After(name(), instance.job(before).name.clone()));
    }
    let parts = |whole: i64, unit: u64| RBig::from_parts(whole.into(), unit.into());
    Ok(Application {
        job: id,
        first: job.first(),
        // The work is the time in seconds at speed 1, because a unit of work takes a second at speed 1.
        work: parts(profile.time(1).ticks(), Time::TICKS_PER_SECOND as u64),
        data: RBig::from(data.unwrap_or(0)),
        weight: parts(job.weight.millionths() as i64, crate::model::Weight::MILLIONTHS),
        count: job.tasks(),
    })
}
