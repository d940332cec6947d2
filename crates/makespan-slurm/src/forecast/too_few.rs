//! Explains why too few nodes are available for a job.

use makespan_algos::slurm::PartitionRequest;
use makespan_core::{WaitKind, WaitReason};

use super::model::Model;
use super::why::{PartitionObstacle, state, wanted};
use crate::queue::QueueJob;

impl Model<'_> {
    /// Returns the reason if a partition has too few nodes that are both large enough for a job and available.
    pub(super) fn too_few(
        &self,
        job: &QueueJob,
        partition: usize,
        shape: &PartitionRequest,
        there: usize,
    ) -> PartitionObstacle {
        let queue = self.queue;
        if let Some(why) = self.without_required(job, partition, shape) {
            return why;
        }
        let name = &queue.partitions[partition].name;
        let only = job.request.only_nodes(shape.max_nodes.map(u64::from));
        // A job with one node needs all its processors there.
        let least = if shape.max_nodes == Some(1) { shape.cpus } else { 1 };
        let is_suitable = |site: usize| self.cluster.capacity(shape, site).is_some_and(|room| u64::from(room) >= least);
        let there = if least > 1 { 0 } else { there };
        let mut away = Vec::new();
        for site in self.wanted_sites(partition, job, only) {
            let node = self.node(site);
            if !self.open.has(site) && is_suitable(site) {
                let reason = node.reason.as_deref().map_or(String::new(), |reason| format!(", {reason}"));
                away.push(format!("{} ({}{reason})", node.name, state(node)));
            }
        }
        let (nodes, cpus) = self.together(partition, shape, job, only);
        let is_enough = nodes >= shape.min_nodes as usize && cpus >= shape.cpus;
        let all = there + away.len();
        let such = match (there, away.len()) {
            _ if all > 0 && nodes >= shape.min_nodes as usize && cpus < shape.cpus => {
                let has = if nodes == 1 { "node has" } else { "nodes have" };
                format!("{nodes} such {has} only {cpus} processors in {name}")
            }
            (_, gone) if gone > 0 && !is_enough => {
                format!("{name} has only {} such node{}, {gone} of them away", all, if all == 1 { "" } else { "s" })
            }
            (0, 0) => format!("{name} has no such node"),
            (there, 0) => format!("{name} has only {there} such node{}", if there == 1 { "" } else { "s" }),
            (0, 1) => format!("the only such node of {name} is away"),
            (0, gone) => format!("all {gone} such nodes of {name} are away"),
            (there, gone) => {
                format!("of {} such nodes of {name} {gone} {} away", there + gone, if gone == 1 { "is" } else { "are" })
            }
        };
        let text = format!("too few nodes: it asks for {}, but {such}", wanted(self.queue, job, shape));
        let brief = format!("too few nodes: {such}");
        let hidden = away.len().saturating_sub(3);
        away.truncate(3);
        let more = if hidden > 0 { format!(" and {hidden} more") } else { String::new() };
        let is_away = !away.is_empty() && is_enough;
        let remedy = if is_away {
            format!("these nodes come back: {}{more}", away.join(", "))
        } else {
            "a smaller request, or another partition".to_owned()
        };
        PartitionObstacle { why: WaitReason::new(WaitKind::Nodes, brief, text).with(remedy), is_away }
    }

    /// Returns the nodes of a partition that the job names and that have its features and its memory, in any state.
    fn wanted_sites<'b>(
        &'b self,
        partition: usize,
        job: &'b QueueJob,
        only: &'b [String],
    ) -> impl Iterator<Item = usize> + 'b {
        let request = &job.request;
        self.cluster.partitions[partition].iter().filter(move |&site| {
            let node = self.node(site);
            request.features.as_ref().is_none_or(|features| features.hold(&node.features))
                && request.fits_memory(node)
                && !request.excluded.contains(&node.name)
                && (only.is_empty() || only.contains(&node.name))
        })
    }

    /// Returns the maximum number of nodes, and of processors on them, that a job could get if all nodes of a partition
    /// accepted jobs and no other job ran.
    fn together(&self, partition: usize, shape: &PartitionRequest, job: &QueueJob, only: &[String]) -> (usize, u64) {
        // The job gets its required nodes even if other nodes are larger.
        let is_required = |site: usize| only.is_empty() && job.request.required.contains(&self.node(site).name);
        let room = |site: usize| Some((is_required(site), self.cluster.capacity(shape, site)?));
        let mut rooms: Vec<(bool, u32)> = self.wanted_sites(partition, job, only).filter_map(room).collect();
        rooms.sort_unstable_by(|one, other| other.cmp(one));
        rooms.truncate(shape.most_nodes());
        (rooms.len(), rooms.iter().map(|room| u64::from(room.1)).sum())
    }

    /// Returns an explanation if the job requires a certain node that is not available.
    fn without_required(
        &self,
        job: &QueueJob,
        partition: usize,
        shape: &PartitionRequest,
    ) -> Option<PartitionObstacle> {
        let name = *self.lacking(job, shape, |site| self.cluster.capacity(shape, site).is_some()).first()?;
        let part = &self.queue.partitions[partition].name;
        let asks = format!("it asks for {}", wanted(self.queue, job, shape));
        let site = (0..self.nodes.len()).find(|&site| self.node(site).name == name);
        let Some(site) = site else {
            let brief = format!("there is no node {name}");
            let text = format!("{asks}, and {brief}");
            return Some(WaitReason::new(WaitKind::Nodes, brief, text).with("other nodes").into());
        };
        let node = self.node(site);
        let is_suitable = self.cluster.capacity(shape, site).is_some()
            && self.wanted_sites(partition, job, &[]).any(|wanted| wanted == site);
        if !self.open.has(site) && is_suitable {
            let reason = node.reason.as_deref().map_or(String::new(), |reason| format!(", {reason}"));
            let brief = format!("node {name} is away");
            let text = format!("{asks}, and {name} is away");
            let remedy = format!("nodes that are away come back: {name} ({}{reason})", state(node));
            return Some(PartitionObstacle {
                why: WaitReason::new(WaitKind::Nodes, brief, text).with(remedy),
                is_away: true,
            });
        }
        let brief = format!("{name} in {part} cannot run it");
        let text = format!("{asks}, and {brief}");
        Some(
            WaitReason::new(WaitKind::Nodes, brief, text)
                .with("other nodes, a smaller request, or another partition")
                .into(),
        )
    }
}
