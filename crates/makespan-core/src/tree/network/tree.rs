//! The network, with all values as floats. Its nodes are numbered breadth first.

use std::ops::Range;

use thiserror::Error;

use crate::model::Time;
use crate::tree::{Application, TreeProblem, float_of};

/// A machine of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkNode {
    /// The parent node; `None` only for the root.
    pub parent: Option<usize>,
    /// Number of tasks that the node computes at the same time; 0 for a switch.
    pub processors: u32,
    /// Work units per second of each processor. Ignored for a switch.
    pub speed: f64,
    /// Bytes per second from the parent. Ignored for the root.
    pub bandwidth: f64,
    /// Latency of the link from the parent. Each sent task takes the latency once. Ignored for the root.
    pub latency: Time,
}

/// A kind of piece. A piece is sent and computed as a unit: it is a task of an application, or a macro-task of several
/// tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// Bytes per piece.
    pub data: f64,
    /// Work units per piece.
    pub work: f64,
    /// Weight of one piece. The throughput is fair if the numbers of pieces per second are in proportion to the
    /// weights.
    pub weight: f64,
    /// Number of pieces of this kind.
    pub count: u32,
    /// Contents of one piece: pairs of an application and the number of its tasks in the piece.
    pub tasks: Vec<(usize, u32)>,
}

impl Kind {
    /// Returns the number of tasks in one piece. Sending a piece takes the latency of the link once for each task.
    pub fn size(&self) -> u32 {
        self.tasks.iter().map(|&(_, count)| count).sum()
    }
}

/// A tree of machines, and the tasks that its root initially has. Nodes are numbered breadth first, so the children of
/// a node have consecutive numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    nodes: Vec<NetworkNode>,
    first_child: Vec<usize>,
    /// For each node, its position in the list from which the network was created.
    origin: Vec<usize>,
    kinds: Vec<Kind>,
    applications: usize,
}

/// The reason why nodes and kinds do not form a network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NetworkError {
    /// The number of nodes without parent is not exactly one.
    #[error("{0} nodes have no parent; a tree has exactly one root")]
    Roots(usize),
    /// A parent does not exist, or the parents form a cycle.
    #[error("node {0} is not below the root; its parent does not exist, or its parents form a cycle")]
    Detached(usize),
    /// A value of a node is not a positive number.
    #[error("node {node}: {what} must be a positive number")]
    Node {
        /// Position of the node.
        node: usize,
        /// The name of the invalid value.
        what: &'static str,
    },
    /// There are no applications.
    #[error("there are no bags of tasks; add at least one bag")]
    NoKinds,
    /// A value of a kind of task is negative or not finite, or its weight or work is zero.
    #[error("application {kind}: {what}")]
    Kind {
        /// Position of the kind.
        kind: usize,
        /// The problem, and a remedy.
        what: &'static str,
    },
    /// There are more tasks than a 32-bit number can count.
    #[error("there are more than 4294967295 tasks; make fewer and longer tasks")]
    TooManyTasks,
    /// No node has processors.
    #[error("no node of the tree has processors; give at least one node a processor")]
    NoProcessors,
}

impl Network {
    /// Creates a network of these nodes, which can be in any order. Each kind becomes an application with its tasks at
    /// the root.
    ///
    /// # Errors
    /// [`NetworkError`] names the invalid node or application.
    pub fn new(nodes: &[NetworkNode], kinds: Vec<Kind>) -> Result<Self, NetworkError> {
        check_nodes(nodes)?;
        check_kinds(&kinds)?;
        let applications = 1 + kinds.iter().flat_map(|kind| &kind.tasks).map(|task| task.0).max().unwrap_or(0);
        let (origin, first_child) = breadth_first(nodes)?;
        let mut number = vec![0; nodes.len()];
        for (at, &node) in origin.iter().enumerate() {
            number[node] = at;
        }
        let renumbered = |&node: &usize| NetworkNode { parent: nodes[node].parent.map(|p| number[p]), ..nodes[node] };
        let nodes = origin.iter().map(renumbered).collect();
        Ok(Self { nodes, first_child, origin, kinds, applications })
    }

    /// Creates the network of a tree problem with one kind per application, with all values as the nearest floats.
    /// Nodes are in the order of [`TreeProblem::order`].
    ///
    /// # Errors
    /// [`NetworkError::TooManyTasks`] if there are more tasks than a 32-bit number can count.
    pub fn of(problem: &TreeProblem) -> Result<Self, NetworkError> {
        let nodes: Vec<NetworkNode> = problem
            .nodes()
            .iter()
            .map(|node| NetworkNode {
                parent: node.parent,
                processors: node.processors,
                speed: float_of(&node.speed),
                bandwidth: float_of(&node.bandwidth),
                latency: node.latency,
            })
            .collect();
        let kind = |(at, application): (usize, &Application)| {
            Ok(Kind {
                data: float_of(&application.data),
                work: float_of(&application.work),
                weight: float_of(&application.weight),
                count: u32::try_from(application.count).map_err(|_| NetworkError::TooManyTasks)?,
                tasks: vec![(at, 1)],
            })
        };
        Self::new(&nodes, problem.applications().iter().enumerate().map(kind).collect::<Result<_, _>>()?)
    }

    /// Returns this network with `kinds` instead of its own kinds. The kinds must belong to the applications of this
    /// network.
    ///
    /// # Errors
    /// [`NetworkError`] names the invalid kind.
    pub fn with_kinds(&self, kinds: Vec<Kind>) -> Result<Self, NetworkError> {
        check_kinds(&kinds)?;
        Ok(Self { kinds, ..self.clone() })
    }

    /// Returns this network without latencies, for schedulers that ignore latencies.
    #[must_use]
    pub fn without_latency(&self) -> Self {
        let mut network = self.clone();
        network.nodes.iter_mut().for_each(|node| node.latency = Time::ZERO);
        network
    }

    /// Returns the nodes, in breadth-first order. The root is node 0.
    pub fn nodes(&self) -> &[NetworkNode] {
        &self.nodes
    }

    /// Returns the numbers of a node's children.
    pub fn children(&self, node: usize) -> Range<usize> {
        self.first_child[node]..self.first_child[node + 1]
    }

    /// Returns the position of a node in the list from which the network was created.
    pub fn origin(&self, node: usize) -> usize {
        self.origin[node]
    }

    /// Returns, for each node, true if the node or a node below it has processors.
    pub fn serves(&self) -> Vec<bool> {
        let mut serves: Vec<bool> = self.nodes.iter().map(|node| node.processors > 0).collect();
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent {
                serves[parent] |= serves[at];
            }
        }
        serves
    }

    /// Returns the kinds of pieces.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Returns the number of applications to which the kinds belong.
    pub fn applications(&self) -> usize {
        self.applications
    }

    /// Returns the number of tasks of each application.
    pub fn tasks(&self) -> Vec<u64> {
        let mut tasks = vec![0; self.applications];
        for kind in &self.kinds {
            for &(application, count) in &kind.tasks {
                tasks[application] += u64::from(count) * u64::from(kind.count);
            }
        }
        tasks
    }
}

/// Returns the nodes in breadth-first order, and the position of each node's first child in this order. One additional
/// entry marks the end of the last node's children.
fn breadth_first(nodes: &[NetworkNode]) -> Result<(Vec<usize>, Vec<usize>), NetworkError> {
    let mut below = vec![Vec::new(); nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        if let Some(parent) = node.parent {
            below.get_mut(parent).ok_or(NetworkError::Detached(at))?.push(at);
        }
    }
    let roots: Vec<usize> = (0..nodes.len()).filter(|&at| nodes[at].parent.is_none()).collect();
    let [root] = roots[..] else { return Err(NetworkError::Roots(roots.len())) };
    let (mut order, mut first) = (vec![root], Vec::with_capacity(nodes.len() + 1));
    let mut at = 0;
    while at < order.len() {
        first.push(order.len());
        let node = order[at];
        order.append(&mut below[node]);
        at += 1;
    }
    first.push(order.len());
    if order.len() < nodes.len() {
        let mut reached = vec![false; nodes.len()];
        order.iter().for_each(|&node| reached[node] = true);
        let lost = reached.iter().position(|&known| !known).unwrap_or_default();
        return Err(NetworkError::Detached(lost));
    }
    Ok((order, first))
}

fn check_nodes(nodes: &[NetworkNode]) -> Result<(), NetworkError> {
    let positive = |value: f64| value.is_finite() && value > 0.0;
    for (at, node) in nodes.iter().enumerate() {
        if node.processors > 0 && !positive(node.speed) {
            return Err(NetworkError::Node { node: at, what: "speed" });
        }
        if node.parent.is_some() && !positive(node.bandwidth) {
            return Err(NetworkError::Node { node: at, what: "bandwidth" });
        }
    }
    if !nodes.is_empty() && nodes.iter().all(|node| node.processors == 0) {
        return Err(NetworkError::NoProcessors);
    }
    Ok(())
}

fn check_kinds(kinds: &[Kind]) -> Result<(), NetworkError> {
    if kinds.is_empty() {
        return Err(NetworkError::NoKinds);
    }
    let positive = |value: f64| value.is_finite() && value > 0.0;
    for (at, kind) in kinds.iter().enumerate() {
        let fail = |what| Err(NetworkError::Kind { kind: at, what });
        if !kind.data.is_finite() || kind.data < 0.0 {
            return fail("its data is not a number of bytes of at least 0");
        }
        if !positive(kind.work) {
            return fail("its work is not a positive number");
        }
        if !positive(kind.weight) {
            return fail(
                "its weight is not positive; give a positive weight, because the fair throughput is divided \
                 by the weight",
            );
        }
    }
    let all = kinds.iter().map(|kind| {
        let each: u64 = kind.tasks.iter().map(|&(_, count)| u64::from(count)).sum();
        each.max(1).saturating_mul(u64::from(kind.count))
    });
    let all = all.fold(0, u64::saturating_add);
    if all > u64::from(u32::MAX) { Err(NetworkError::TooManyTasks) } else { Ok(()) }
}
