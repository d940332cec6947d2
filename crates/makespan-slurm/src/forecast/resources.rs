//! Explains why a job waits for nodes, from the free resources in the first scheduling cycle.

use makespan_algos::slurm::{Gap, JobCandidate, PartitionRequest, World};
use makespan_core::{WaitKind, WaitReason, counted};

use crate::queue::QueueJob;

use super::reason::{Free, Reasons};
use super::why::{is_for_any_nodes, span, wanted};

impl Reasons<'_> {
    /// Returns a reason for a job that waits because its nodes are in use or reserved for other jobs.
    pub(super) fn resources(&self, index: usize, job: &QueueJob, bid: JobCandidate) -> WaitReason {
        let (world, shape) = (self.play.world(), &self.model.cluster.shapes[bid.shape]);
        let position = self.positions[index];
        let free = self.free(world, shape);
        // When the scheduler considered this job, nodes may have been free that were then given to later, shorter
        // jobs. Nodes with a gap of length 0 are reserved now, and not free.
        if let Some(gap) = self.play.gap(index).filter(|gap| gap.time > 0) {
            return self.kept(shape, position, Some(gap));
        }
        if free.fits {
            return self.kept(shape, position, free.gap);
        }
        let (set, fits, mut lack) = (&self.model.cluster.sets[shape.set], free.nodes, free.lack);
        let busy = self.model.lacking(job, shape, |site| world.room_now(shape, site).is_some());
        if !busy.is_empty() {
            lack += &format!(", and not {}", busy.join(","));
        } else if shape.counted.is_some() && fits >= shape.min_nodes as usize {
            lack += ", but too few nodes of the same kind";
        }
        let partition = &self.model.queue.partitions[bid.partition].name;
        let free = match (fits, is_for_any_nodes(job, shape)) {
            (0, true) => "none are".to_owned(),
            (0, false) => "none is".to_owned(),
            (fits, true) => format!("{fits} of {} nodes have some", set.count()),
            (fits, false) => format!("{fits} of {} are", set.count()),
        };
        let asks =
            format!("it asks for {}; {free} free for it in {partition}{lack}", wanted(self.model.queue, job, shape));
        let told = self.told(index);
        let after = told.after[index].as_slice();
        let reservation = told.reservation[index].map(|kept| &self.model.queue.reservations[kept].name);
        // Put the most important part first, because tables truncate the text.
        let mut text = match self.last_ends(index) {
            None => asks,
            Some(ends) => format!("it waits for the end of {ends}, because {asks}"),
        };
        if position > 0 {
            text += &format!("; {position} {} before it", if position == 1 { "comes" } else { "come" });
        }
        let kind = match (after, reservation) {
            ([], Some(_)) => WaitKind::Reservation,
            // The nodes of the job become free earlier, but the scheduler reserves these nodes for jobs of higher
            // priority.
            ([], None) if position > 0 => WaitKind::Priority,
            _ => WaitKind::Resources,
        };
        let brief = match (position, after, reservation) {
            (0, [], None) => "its nodes are in use".to_owned(),
            (0, [], Some(name)) => format!("waits for the end of reservation {name}"),
            (0, after, _) => format!("waits for the end of {}", self.brief_names(after)),
            (position, ..) => before(position),
        };
        let why = WaitReason::new(kind, brief, text);
        match smaller(world, shape, fits) {
            Some(nodes) => {
                why.with(format!("with {nodes} node{} it could start now", if nodes == 1 { "" } else { "s" }))
            }
            None => why,
        }
    }

    pub(super) fn free(&self, world: &World, shape: &PartitionRequest) -> Free {
        // A request for only one second excludes the nodes that are reserved now, and no other node.
        let short = PartitionRequest { lasts: 1, ..shape.clone() };
        if let Some(known) = self.free.borrow().get(&short) {
            return known.clone();
        }
        let nodes = self.roomy(world, shape);
        let fits = world.find(&short, None, false).is_some();
        let lack = if fits { String::new() } else { self.lack(world, shape, nodes) };
        let gap = if fits { world.gap_of(shape) } else { None };
        let found = Free { nodes, lack, fits, gap };
        self.free.borrow_mut().insert(short, found.clone());
        found
    }

    /// Returns the reason for a job for which enough nodes are free, but not for long enough.
    fn kept(&self, shape: &PartitionRequest, position: usize, gap: Option<Gap>) -> WaitReason {
        let earlier = format!("{position} job{} before it", if position == 1 { " comes" } else { "s come" });
        let Some(Gap { time: gap, kept, closed }) = gap else {
            return match position {
                0 => WaitReason::new(WaitKind::Priority, LATER_BRIEF, LATER),
                _ => WaitReason::new(WaitKind::Priority, before(position), earlier),
            };
        };
        let brief = match (kept, closed) {
            (Some(kept), _) => format!("reserved for job {}", self.model.queue.jobs[kept.job].shown),
            (None, Some(closed)) => {
                let kept = &self.model.queue.reservations[closed];
                format!("reserved ({}) from {} on", kept.name, (self.clock)(kept.start))
            }
            (None, None) if position == 0 => LATER_BRIEF.to_owned(),
            (None, None) => before(position),
        };
        let text = match (kept, closed) {
            (Some(kept), _) => {
                let name = &self.model.queue.jobs[kept.job].shown;
                let at = (self.clock)(kept.from);
                let latest = if self.outcome.started[kept.job].is_some_and(|start| start <= kept.from) {
                    " and starts at this time at the latest, because the running jobs end by their time limits"
                } else {
                    ""
                };
                format!("its nodes are free, but reserved from {at} on for job {name}, which comes before it{latest}")
            }
            (None, Some(closed)) => {
                let kept = &self.model.queue.reservations[closed];
                format!("its nodes are free, but reserved ({}) from {} on", kept.name, (self.clock)(kept.start))
            }
            (None, None) if position == 0 => LATER.to_owned(),
            (None, None) => format!("nodes are free, and {earlier}: the scheduler keeps to their order"),
        };
        let why =
            WaitReason::new(if closed.is_some() { WaitKind::Reservation } else { WaitKind::Priority }, brief, text);
        // If the gap ends at the planned start of another job, this job must end at least 1 s before that start. Slurm
        // rounds time limits up to whole minutes.
        let gap = if kept.is_some() { gap.saturating_sub(1) } else { gap };
        if gap >= 60 && gap < shape.lasts {
            why.with(format!("with a time limit of at most {} it could start now", span(gap as u64 / 60 * 60)))
        } else {
            why
        }
    }

    /// Returns the number of nodes with enough free resources for a request now.
    fn roomy(&self, world: &World, shape: &PartitionRequest) -> usize {
        *self.roomy.borrow_mut().entry(shape.of_node()).or_insert_with(|| world.roomy(shape))
    }

    /// Describes the resources that are missing on nodes with free processors. `nodes` is the number of nodes with
    /// enough free resources for the request.
    fn lack(&self, world: &World, shape: &PartitionRequest, nodes: usize) -> String {
        let without_memory = PartitionRequest { memory: None, ..shape.clone() };
        let without_gres = PartitionRequest { gres: Vec::new(), ..shape.clone() };
        // A node that fits a request also fits a smaller request. So the difference is the number of nodes on which
        // only the omitted resource is missing.
        let more = |other: &PartitionRequest| self.roomy(world, other).saturating_sub(nodes);
        let (memory, gres) = (more(&without_memory), more(&without_gres));
        match (memory, gres) {
            (0, 0) => String::new(),
            (memory, 0) => format!(", {memory} lack only memory"),
            (0, gres) => format!(", {gres} lack only {}", self.kinds(shape)),
            (memory, gres) => format!(", {memory} lack only memory and {gres} only {}", self.kinds(shape)),
        }
    }

    fn kinds(&self, shape: &PartitionRequest) -> String {
        let mut names: Vec<&str> =
            shape.gres.iter().flat_map(|one| &one.0).map(|&kind| self.model.kinds[kind].0.as_str()).collect();
        names.dedup();
        names.join(", ")
    }
}

/// The reason for the first job of the queue if nodes are free for it.
const LATER: &str = "its nodes are free, and no job comes before it: the scheduler will consider the job again later";
const LATER_BRIEF: &str = "considered again later";

/// Formats the number of jobs that the scheduler considers before a job, such as `10 jobs before it`.
fn before(position: usize) -> String {
    format!("{} before it", counted(position, "job"))
}

/// Returns a smaller number of nodes with which the job could start now. Returns `None` if its processors do not fit
/// on fewer nodes.
fn smaller(world: &World, shape: &PartitionRequest, fits: usize) -> Option<u32> {
    let nodes = u32::try_from(fits).ok().filter(|&nodes| nodes > 0 && nodes < shape.min_nodes)?;
    let cpus = shape.cpus.div_ceil(u64::from(shape.min_nodes)) * u64::from(nodes);
    let small = PartitionRequest { min_nodes: nodes, max_nodes: Some(nodes), cpus, ..shape.clone() };
    world.find(&small, None, true).map(|_| nodes)
}
