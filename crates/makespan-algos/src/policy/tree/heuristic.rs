//! The heuristics by name.

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
    /// [`Balanced`] with the rates of the linear programme.
    Lp,
    /// [`DataCentric`], with at most so many waves of messages a search.
    DataCentric {
        /// Operations of a search.
        waves: usize,
    },
    /// [`BandwidthCentric`] with macro-tasks.
    Cgbc,
    /// [`Fcfs`].
    Fcfs,
    /// [`BandwidthCentric`] with a lane for each application.
    Pbc,
}

/// What a heuristic has besides an entry of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct OfHeuristic {
    build: fn(&mut Spec) -> Result<Heuristic, SpecError>,
}

/// Everything that a run of a heuristic needs.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The network, with the kinds that the heuristic sends.
    pub network: Network,
    /// How many of these a buffer holds.
    pub buffer: u32,
    /// Whether each kind has its own lane.
    pub lanes: bool,
    /// One policy a node, in the network's order.
    pub policies: Vec<TreePolicy>,
}

/// The policy of one node.
#[derive(Clone, Debug)]
pub enum TreePolicy {
    /// Back-pressure.
    BackPressure(BackPressure),
    /// Rates of the linear programme.
    Balanced(Balanced),
    /// CGBC and PBC.
    BandwidthCentric(BandwidthCentric),
    /// DATA-CENTRIC.
    DataCentric(DataCentric),
    /// FCFS.
    Fcfs(Fcfs),
}

/// Why a heuristic cannot play.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SetupError {
    /// No rates for the heuristic that follows them.
    #[error("lp follows the rates of the linear programme, and there are none")]
    NoRates,
    /// Rates for other nodes or applications.
    #[error("the rates are for another network: {found} figures for {expected} pairs of node and application")]
    OtherRates {
        /// How many there are.
        found: usize,
        /// How many would fit.
        expected: usize,
    },
    /// A macro-task does not fit into a buffer.
    #[error(
        "a macro-task has {tasks} tasks, and a buffer holds {buffer}; give --buffer {tasks} or more, or weights in a \
         ratio of smaller integers"
    )]
    Buffer {
        /// Tasks of a macro-task.
        tasks: u32,
        /// Tasks that a buffer holds.
        buffer: u32,
    },
    /// Macro-tasks cannot be made.
    #[error(transparent)]
    MacroTasks(#[from] MacroTaskError),
}

const PAPER: &str = "Beaumont, Carter, Ferrante, Legrand, Marchal, Robert, IPDPS 2006, doi:10.1109/IPDPS.2006.1639262";
const WAVES: usize = 3000;

/// What the heuristics of nodes drive.
const BAGS: &str = "bags of tasks on a tree of machines";

/// A heuristic without parameters.
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
        "a task goes where the queue falls most steeply for the time of the hop; recommended",
        "Tassiulas, Ephremides, IEEE Trans. Automatic Control 1992, doi:10.1109/9.182479",
        |_| Ok(Heuristic::BackPressure),
    ),
    plain("lp", "follows the rates of the linear programme, found at one place", PAPER, |_| Ok(Heuristic::Lp)),
    Entry {
        name: "data-centric",
        summary: "follows rates found by trading tasks along the tree, again whenever a machine changes",
        supports: BAGS,
        source: PAPER,
        parameters: &[Parameter { name: "waves", values: "waves of messages a search", default: "3000" }],
        kind: OfHeuristic {
            build: |spec| {
                let waves = spec.take("waves", WAVES, |text| number(text, 1_000_000).map(|waves| waves as usize))?;
                Ok(Heuristic::DataCentric { waves })
            },
        },
    },
    plain("cgbc", "macro-tasks of all applications; the child with the widest link first", PAPER, |_| {
        Ok(Heuristic::Cgbc)
    }),
    plain("fcfs", "requests and tasks in the order in which they came", PAPER, |_| Ok(Heuristic::Fcfs)),
    plain("pbc", "each application for itself, the child with the widest link first; not fair", PAPER, |_| {
        Ok(Heuristic::Pbc)
    }),
];

/// Every heuristic for trees.
pub fn heuristics() -> &'static [Entry<OfHeuristic>] {
    &HEURISTICS
}

impl Heuristic {
    /// Every heuristic with its default parameters, the recommended one first.
    pub const ALL: [Self; 6] =
        [Self::BackPressure, Self::Lp, Self::DataCentric { waves: WAVES }, Self::Cgbc, Self::Fcfs, Self::Pbc];

    /// Makes the policies of all nodes. `buffer` is how many tasks wait at a node, `rates` what [`Heuristic::Lp`] follows.
    ///
    /// # Errors
    /// [`SetupError`] when rates are missing or do not fit, or tasks cannot be joined.
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

    /// The name in specs.
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

/// The spec.
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
