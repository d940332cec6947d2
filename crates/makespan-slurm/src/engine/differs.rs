//! Warnings about nodes that differ from the plan, or with clocks that differ from the clock of this machine. There is
//! one message for all nodes with the same difference.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::Pilots;
use crate::compress;
use crate::pilot::{AgentBeacon, PilotNode};

/// Before a message is printed: time to wait for further nodes with the same difference.
const PATIENCE: Duration = Duration::from_secs(1);

/// Maximum difference of clocks that is ignored.
const CLOSE: Duration = Duration::from_secs(2);

/// A difference of a node from the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NodeDifference {
    /// Too few cores: the number of processors in the plan, and the number of cores that jobs may use on the node.
    Cores(usize, usize),
    /// Too few GPUs: the number of GPUs in the plan, and the number of GPUs that the pilot holds on the node.
    Gpus(u64, usize),
    Clock,
}

/// Differences that are still to be reported, and differences that have been reported.
#[derive(Debug, Default)]
pub(super) struct Differences {
    found: BTreeMap<NodeDifference, Vec<(String, i64)>>,
    since: Option<Instant>,
    told: BTreeSet<NodeDifference>,
}

impl Differences {
    fn add(&mut self, differs: NodeDifference, node: &str, by: i64) {
        if !self.told.contains(&differs) {
            self.found.entry(differs).or_default().push((node.to_owned(), by));
            self.since.get_or_insert_with(Instant::now);
        }
    }
}

impl Pilots {
    /// Compares an agent's description of its node with the plan.
    pub(super) fn compare(&mut self, place: &PilotNode, slot: usize, beacon: &AgentBeacon) {
        let stated = self.nodes.slots.processors(slot).len() as usize;
        if beacon.cores < stated {
            self.hearing.differences.add(NodeDifference::Cores(stated, beacon.cores), &place.node, 0);
        }
        let planned = self.nodes.slots.gpu_count(slot);
        if let Some(held) = beacon.gpus.filter(|&held| (held as u64) < planned) {
            self.hearing.differences.add(NodeDifference::Gpus(planned, held), &place.node, 0);
        }
        let apart = beacon.clock.zip(self.board.clock()).map(|(theirs, ours)| theirs - ours);
        if let Some(apart) = apart.filter(|apart| u128::from(apart.unsigned_abs()) > CLOSE.as_nanos()) {
            self.hearing.differences.add(NodeDifference::Clock, &place.node, apart);
        }
    }

    /// Reports the differences of all nodes.
    pub(super) fn tell_differences(&mut self) {
        if self.hearing.differences.since.is_none_or(|since| since.elapsed() < PATIENCE) {
            return;
        }
        self.hearing.differences.since = None;
        for (differs, mut nodes) in std::mem::take(&mut self.hearing.differences.found) {
            self.hearing.differences.told.insert(differs);
            nodes.sort();
            nodes.dedup_by(|one, other| one.0 == other.0);
            let names = compress(nodes.iter().map(|node| node.0.as_str()));
            self.tell(match differs {
                NodeDifference::Cores(planned, there) => format!(
                    "the plan counts {planned} processors on {names}, where jobs may use {there}: several share one; ask for whole nodes \
                     (leave out what --slurm says of sharing), or have Slurm count what there is"
                ),
                NodeDifference::Gpus(planned, held) => format!(
                    "the plan counts {planned} GPUs on {names}, where pilots hold {held}: jobs wait there for each other's GPUs; begin a run \
                     with --slurm=--gres=gpu:{} or as many as jobs need",
                    if held == 0 { planned } else { held as u64 }
                ),
                NodeDifference::Clock => {
                    let most = nodes.iter().map(|node| node.1).max_by_key(|apart| apart.abs()).unwrap_or(0);
                    let direction = if most > 0 { "ahead of" } else { "behind" };
                    format!(
                        "clocks differ: up to {:.1} s {direction} this machine's on {names}; times of jobs are as wrong; ask the \
                         administrators to synchronise them (chrony)",
                        most.abs() as f64 / 1e9
                    )
                }
            });
        }
    }
}
