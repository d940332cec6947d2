//! The catalogue of heuristics for nodes of a tree.

use std::fmt;
use std::str::FromStr;

use makespan_core::network::{MacroTaskError, Network, NodeDecision, NodeEvent, NodePolicy, NodeView};
use thiserror::Error;

use super::{BackPressure, Balanced, BandwidthCentric, DataCentric, Fcfs, NodeRates};
use crate::catalogue::{Entry, Parameter, Spec, SpecError, number};

/// A decentralised scheduler for a tree of machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Heuristic {
    /// [`BackPressure`].
    BackPressure,
    /// [`Balanced`], with the rates of the linear programme.
    Lp,
    /// [`DataCentric`], with a maximum number of operations.
    DataCentric {
        /// Maximum number of operations of a search. Each operation takes one wave of messages up the tree and one
        /// down.
        waves: usize,
    },
    /// [`BandwidthCentric`], with macro-tasks.
    Cgbc,
    /// [`Fcfs`].
    Fcfs,
    /// [`BandwidthCentric`], with a separate lane for each application.
    Pbc,
}

/// The part of a catalogue entry that only heuristics have: the function that builds the heuristic.
#[derive(Clone, Copy, Debug)]
pub struct OfHeuristic {
    build: fn(&mut Spec) -> Result<Heuristic, SpecError>,
}

/// The data with which a run of a heuristic begins.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The network. The kinds of the network are the kinds that the heuristic sends.
    pub network: Network,
    /// Maximum number of tasks in a buffer. If the kinds of `network` are macro-tasks, this limit counts macro-tasks.
    pub buffer: u32,
    /// Whether each kind has its own lane. If so, the kinds of a node share its port and processors evenly.
    pub lanes: bool,
    /// The policies of the nodes, in the order of the network.
    pub policies: Vec<TreePolicy>,
}

/// The policy of one node.
#[derive(Clone, Debug)]
pub enum TreePolicy {
    /// The policy of [`Heuristic::BackPressure`].
    BackPressure(BackPressure),
    /// The policy of [`Heuristic::Lp`].
    Balanced(Balanced),
    /// The policy of [`Heuristic::Cgbc`] and [`Heuristic::Pbc`].
    BandwidthCentric(BandwidthCentric),
    /// The policy of [`Heuristic::DataCentric`].
    DataCentric(DataCentric),
    /// The policy of [`Heuristic::Fcfs`].
    Fcfs(Fcfs),
}

/// Reason why a heuristic cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SetupError {
    /// The heuristic follows rates, but the caller provided none.
    #[error(
        "the policy lp needs the rates of a steady state, but no rates are stated; compute these rates with `plan`"
    )]
    NoRates,
    /// The rates are for other nodes or applications.
    #[error(
        "the rates are for another tree: there are {found} rates, but this tree needs {expected} (one for each node \
         and each bag)"
    )]
    OtherRates {
        /// Number of rates that the caller provided.
        found: usize,
        /// Number of required rates.
        expected: usize,
    },
    /// A macro-task does not fit into a buffer.
    #[error(
        "a macro-task has {tasks} tasks, but a buffer holds only {buffer}; set --buffer to {tasks} or more, or give \
         the bags weights in a ratio of smaller integers"
    )]
    Buffer {
        /// Number of tasks in a macro-task.
        tasks: u32,
        /// Number of tasks that a buffer holds.
        buffer: u32,
    },
    /// The applications cannot be combined into macro-tasks.
    #[error(transparent)]
    MacroTasks(#[from] MacroTaskError),
}

const PAPER: &str = "Beaumont, Carter, Ferrante, Legrand, Marchal, Robert, IPDPS 2006, doi:10.1109/IPDPS.2006.1639262";
const WAVES: usize = 3000;

/// The instances that heuristics for nodes support.
const BAGS: &str = "bags of tasks on a tree of machines";

/// Returns the entry of a heuristic without parameters.
const fn plain(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    build: fn(&mut Spec) -> Result<Heuristic, SpecError>,
) -> Entry<OfHeuristic> {
    Entry { name, summary, supports: BAGS, source, parameters: &[], kind: OfHeuristic { build } }
}

static HEURISTICS: [Entry<OfHeuristic>; 6] = [
    plain(
        "back-pressure",
        "sends each task to the child with the shortest queue, relative to the time of the transfer: recommended",
        "Tassiulas, Ephremides, IEEE Trans. Automatic Control 1992, doi:10.1109/9.182479",
        |_| Ok(Heuristic::BackPressure),
    ),
    plain("lp", "follows rates that one node computes with a linear programme", PAPER, |_| Ok(Heuristic::Lp)),
    Entry {
        name: "data-centric",
        summary: "follows rates that nodes find by trading tasks along the tree; they trade again when a machine changes",
        supports: BAGS,
        source: PAPER,
        parameters: &[Parameter {
            name: "waves",
            values: "maximum number of rounds of messages in one search for new rates",
            default: "3000",
        }],
        kind: OfHeuristic {
            build: |spec| {
                let waves = spec.take("waves", WAVES, |text| number(text, 1_000_000).map(|waves| waves as usize))?;
                Ok(Heuristic::DataCentric { waves })
            },
        },
    },
    plain(
        "cgbc",
        "sends groups with tasks of every bag (macro-tasks), first over the link with the largest bandwidth",
        PAPER,
        |_| Ok(Heuristic::Cgbc),
    ),
    plain("fcfs", "serves requests and sends tasks in the order of their arrival", PAPER, |_| Ok(Heuristic::Fcfs)),
    plain(
        "pbc",
        "sends the tasks of each bag separately, first over the link with the largest bandwidth; not fair between bags",
        PAPER,
        |_| Ok(Heuristic::Pbc),
    ),
];

/// Returns the entries of all heuristics for trees.
pub fn heuristics() -> &'static [Entry<OfHeuristic>] {
    &HEURISTICS
}

impl Heuristic {
    /// All heuristics with their default parameters. The first heuristic is recommended.
    pub const ALL: [Self; 6] =
        [Self::BackPressure, Self::Lp, Self::DataCentric { waves: WAVES }, Self::Cgbc, Self::Fcfs, Self::Pbc];

    /// Creates the policies of all nodes. `buffer` is the maximum number of tasks that wait at a node. `rates` are the
    /// rates for [`Heuristic::Lp`].
    ///
    /// # Errors
    /// [`SetupError`] if rates are missing or belong to another network, or if tasks cannot be combined.
    pub fn setup(self, network: &Network, buffer: u32, rates: Option<&NodeRates>) -> Result<Setup, SetupError> {
        let nodes = network.nodes().len();
        let (network, kinds) = (network.clone(), network.kinds().len());
        let mut setup = Setup { network, buffer, lanes: false, policies: Vec::new() };
        setup.policies = match self {
            Self::BackPressure => {
                let policy = |node| BackPressure::new(setup.network.kinds(), buffer, node == 0);
                (0..nodes).map(|node| TreePolicy::BackPressure(policy(node))).collect()
            }
            Self::Lp => {
                let rates = rates.ok_or(SetupError::NoRates)?;
                let (found, expected) = (rates.compute.len(), nodes * kinds);
                if found != expected || rates.sent.len() != expected {
                    return Err(SetupError::OtherRates { found, expected });
                }
                let policy = |node| {
                    let (compute, sent) = rates.of(&setup.network, node);
                    Balanced::new(compute, sent)
                };
                (0..nodes).map(|node| TreePolicy::Balanced(policy(node))).collect()
            }
            Self::DataCentric { waves } => {
                DataCentric::of(&setup.network, waves).into_iter().map(TreePolicy::DataCentric).collect()
            }
            Self::Cgbc => {
                setup.network = setup.network.in_macro_tasks()?;
                let tasks = setup.network.kinds()[0].size();
                if tasks > buffer {
                    return Err(SetupError::Buffer { tasks, buffer });
                }
                setup.buffer = buffer / tasks;
                vec![TreePolicy::BandwidthCentric(BandwidthCentric::default()); nodes]
            }
            Self::Fcfs => {
                let policy = |node| Fcfs::new(setup.network.kinds(), node == 0);
                (0..nodes).map(|node| TreePolicy::Fcfs(policy(node))).collect()
            }
            Self::Pbc => {
                setup.lanes = true;
                vec![TreePolicy::BandwidthCentric(BandwidthCentric::default()); nodes]
            }
        };
        Ok(setup)
    }

    /// Returns the name in specs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BackPressure => "back-pressure",
            Self::Lp => "lp",
            Self::DataCentric { .. } => "data-centric",
            Self::Cgbc => "cgbc",
            Self::Fcfs => "fcfs",
            Self::Pbc => "pbc",
        }
    }
}

impl FromStr for Heuristic {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Entry::made(&HEURISTICS, "policy for trees", text, |entry, spec| (entry.kind.build)(spec))
    }
}

/// Writes the spec.
impl fmt::Display for Heuristic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DataCentric { waves } if *waves != WAVES => f.pad(&format!("data-centric[waves={waves}]")),
            other => f.pad(other.name()),
        }
    }
}

impl NodePolicy for TreePolicy {
    fn hear(&mut self, event: NodeEvent, view: &NodeView<'_>) {
        match self {
            Self::BackPressure(policy) => policy.hear(event, view),
            Self::Balanced(policy) => policy.hear(event, view),
            Self::BandwidthCentric(policy) => policy.hear(event, view),
            Self::DataCentric(policy) => policy.hear(event, view),
            Self::Fcfs(policy) => policy.hear(event, view),
        }
    }

    fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision> {
        match self {
            Self::BackPressure(policy) => policy.decide(view),
            Self::Balanced(policy) => policy.decide(view),
            Self::BandwidthCentric(policy) => policy.decide(view),
            Self::DataCentric(policy) => policy.decide(view),
            Self::Fcfs(policy) => policy.decide(view),
        }
    }
}
