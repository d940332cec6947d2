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
        self.heard_of_end(place.job, beacon.ends);
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
                    "the plan has {planned} processors on {names}, but jobs may use only {there} there, so several \
                     jobs share a processor; {}",
                    match self.options.batch.as_slurm() {
                        Some(_) =>
                            "request whole nodes (remove options that let jobs share nodes from --slurm), or \
                             correct the number of processors in Slurm's configuration",
                        None => "state fewer cores in --on",
                    }
                ),
                NodeDifference::Gpus(planned, held) => format!(
                    "the plan has {planned} GPUs on {names}, but pilots hold only {held} there, so jobs wait for \
                     GPUs; begin a new run with --slurm=--gres=gpu:{}, or with the number of GPUs that jobs need",
                    if held == 0 { planned } else { held as u64 }
                ),
                NodeDifference::Clock => {
                    let most = nodes.iter().map(|node| node.1).max_by_key(|apart| apart.abs()).unwrap_or(0);
                    let direction = if most > 0 { "ahead of" } else { "behind" };
                    format!(
                        "the clocks of {names} are up to {:.1} s {direction} the clock of this machine, so the times \
                         of jobs there are wrong by this difference; ask the administrators to synchronise the clocks \
                         (chrony)",
                        most.abs() as f64 / 1e9
                    )
                }
            });
        }
    }
}
