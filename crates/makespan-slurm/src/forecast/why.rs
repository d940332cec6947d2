//! The reason why a job does not start now, and a remedy.

use makespan_algos::slurm::PartitionRequest;
use makespan_core::{WaitKind, WaitReason};

use crate::queue::{Condition, Dependency, Memory, Queue, QueueJob, SlurmReservation, permanent};
use crate::{JobState, Partition};

use super::counters::CounterWords;

/// A reason that only a person can remove.
pub(super) type PermanentReason = WaitReason;

/// The reason why a job can never start in a partition.
pub(super) struct PartitionObstacle {
    pub why: PermanentReason,
    /// True if the job can start when nodes that are away come back.
    pub is_away: bool,
}

impl From<PermanentReason> for PartitionObstacle {
    fn from(why: PermanentReason) -> Self {
        Self { why, is_away: false }
    }
}

/// Returns a reason that follows from the job alone, without a simulation.
pub(super) fn at_once(job: &QueueJob) -> Option<WaitReason> {
    if let Some(why) = permanent(job.id, &job.reason) {
        return Some(why);
    }
    if job.is_held {
        let by_user = job.is_new() || job.reason.contains("User");
        let who = match &*job.reason {
            _ if by_user => "held by its user",
            "JobHeldAdmin" => "held by an operator",
            _ => "held: its priority is 0",
        };
        let rights = if by_user { "" } else { ", by an operator" };
        let release = format!("scontrol release {}{rights}", job.id);
        return Some(WaitReason::new(WaitKind::Held, who, format!("it is {who}")).with(release));
    }
    (job.state == JobState::Requeued && job.reason.contains("Hold")).then(|| {
        let release = format!("scontrol release {}", job.id);
        WaitReason::new(WaitKind::Held, "requeued and held", "it was requeued and is held").with(release)
    })
}

pub(super) fn no_partition(job: &QueueJob, name: &str) -> WaitReason {
    let brief = format!("no partition {name}");
    WaitReason::new(WaitKind::Partition, brief, format!("there is no partition {name}, or you may not use it"))
        .with(format!("scontrol update JobId={} Partition=NAME", job.id))
}

pub(super) fn too_long(partition: &Partition, asked: Option<u64>, most: u64) -> WaitReason {
    let asked = asked.map_or("no time limit".to_owned(), |asked| format!("a limit of {}", span(asked)));
    let text = format!("it asks for {asked}, but partition {} allows {}", partition.name, span(most));
    let brief = format!("partition {} allows {}", partition.name, span(most));
    WaitReason::new(WaitKind::Partition, brief, text).with(format!("a limit of at most {}", span(most)))
}

pub(super) fn too_many(partition: &Partition, asked: u64) -> WaitReason {
    let most = partition.max_nodes.value().unwrap_or(0);
    let text = format!("it asks for {asked} nodes, but partition {} allows {most}", partition.name);
    let brief = format!("partition {} allows {most} nodes", partition.name);
    WaitReason::new(WaitKind::Partition, brief, text).with(format!("at most {most} nodes, or another partition"))
}

/// Returns the reason for a job that would exceed the limit of a counter even if no other job ran.
pub(super) fn beyond(counter: &CounterWords, asked: u64, total: u64) -> WaitReason {
    let text = format!("limit on {}: it asks for {asked}, but the maximum is {total}", counter.what);
    let brief = format!("limit on {}: {asked} of {total}", counter.what);
    WaitReason::new(WaitKind::Limit, brief, text).with("a smaller request, or a higher limit")
}

/// Returns the reason for a job that cannot meet its deadline.
pub(super) fn too_late(job: &QueueJob) -> WaitReason {
    let needs = span(job.request.min_time.or(job.limit).unwrap_or(60));
    let text = format!("it needs {needs}, so it cannot end by its deadline: Slurm will cancel the job");
    let brief = "cannot end by its deadline";
    WaitReason::new(WaitKind::Deadline, brief, text)
        .with("to be submitted again with a later deadline or a shorter time limit")
}

pub(super) fn not_admitted(kept: &SlurmReservation) -> WaitReason {
    let named = |list: &[String], what: &str| {
        let allowed: Vec<&str> = list.iter().map(String::as_str).filter(|name| !name.starts_with('-')).collect();
        if allowed.is_empty() { String::new() } else { format!(", which is for {what} {}", allowed.join(", ")) }
    };
    let whom = format!("{}{}", named(&kept.users, "user"), named(&kept.accounts, "account"));
    let text = format!("it may not use its reservation {}{whom}", kept.name);
    let brief = format!("may not use reservation {}", kept.name);
    WaitReason::new(WaitKind::Reservation, brief, text)
        .with("another reservation, or none, or an operator must admit the job")
}

pub(super) fn no_reservation(name: &str) -> WaitReason {
    let brief = format!("no reservation {name}");
    let text = format!("its reservation {name} does not exist");
    WaitReason::new(WaitKind::Reservation, brief, text).with("another reservation, or none")
}

pub(super) fn longer_than(kept: &SlurmReservation, now: i64) -> WaitReason {
    let left = kept.end.saturating_sub(kept.start.max(now)).max(0) as u64;
    let text =
        format!("its time limit is longer than the remaining time of its reservation {}, {}", kept.name, span(left));
    let brief = format!("longer than reservation {}", kept.name);
    WaitReason::new(WaitKind::Reservation, brief, text).with(format!("a limit of at most {}", span(left)))
}

pub(super) fn hopeless(id: u64, dependency: &Dependency) -> WaitReason {
    let job = dependency.job;
    let (brief, text) = match (dependency.condition, dependency.has_failed) {
        (_, true) => (
            format!("job {job} did not end as required"),
            format!("it waits for job {job}, which did not end with the required state"),
        ),
        (Condition::Failed, _) => (format!("only if job {job} fails"), format!("it starts only if job {job} fails")),
        _ => (
            format!("job {job} is not in the queue"),
            format!("it waits for job {job}, which is not in the visible queue"),
        ),
    };
    WaitReason::new(WaitKind::Dependency, brief, text).with(format!("scontrol update JobId={id} Dependency="))
}

/// Returns the state of a node and its flags as text, such as `idle+drain`.
pub(super) fn state(node: &crate::Node) -> String {
    let state = std::iter::once(&node.state.base).chain(&node.state.flags).cloned().collect::<Vec<_>>().join("+");
    state.to_lowercase()
}

/// Returns true if a job accepts its processors on any number of nodes, within the limits of the partition and the
/// features.
pub(super) fn is_for_any_nodes(job: &QueueJob, shape: &PartitionRequest) -> bool {
    job.request.is_for_any_nodes() && shape.min_nodes == 1 && shape.max_nodes.is_none()
}

/// Formats the request of a job.
pub(super) fn wanted(queue: &Queue, job: &QueueJob, shape: &PartitionRequest) -> String {
    let any_nodes = is_for_any_nodes(job, shape);
    let mut parts = vec![if any_nodes { on_any_nodes(shape) } else { on_nodes(shape) }];
    let on_each = if any_nodes { " a node" } else { "" };
    // If the cluster does not allocate memory, name only an amount that some node does not have.
    let is_scarce = || queue.nodes.iter().any(|node| !job.request.fits_memory(node));
    match shape.memory.or_else(|| is_scarce().then_some(job.request.memory)) {
        Some(Memory::PerCpu(bytes)) if bytes > 0 => parts.push(format!("{} a processor", size(bytes))),
        Some(Memory::PerNode(bytes)) if bytes > 0 => parts.push(size(bytes) + on_each),
        Some(Memory::Whole) => parts.push("all their memory".into()),
        _ => {}
    }
    for gres in &job.request.gres {
        let kind = if gres.kind.is_empty() { String::new() } else { format!(" {}", gres.kind) };
        parts.push(format!("{} {}{kind}{on_each}", gres.count, gres.name));
    }
    let mut text = parts.join(", ");
    let stated = u64::from(shape.per_node) * u64::from(shape.min_nodes);
    if !any_nodes && (shape.min_nodes > 1 || is_range(shape)) && shape.cpus > stated {
        text += &format!(" (together {} processors)", shape.cpus);
    }
    if !job.request.features_text.is_empty() {
        text += &format!(" and {}", job.request.features_text);
    }
    if !job.request.required.is_empty() {
        let names = job.request.required.join(",");
        let is_all = !job.request.only_nodes(shape.max_nodes.map(u64::from)).is_empty();
        text += &if is_all { format!(" on {names}") } else { format!(", {names} among them") };
    }
    if !job.request.excluded.is_empty() {
        text += &format!(" other than {}", job.request.excluded.join(","));
    }
    if let Some(kept) = shape.reservation {
        text += &format!(" in reservation {}", queue.reservations[kept].name);
    }
    text
}

fn is_range(shape: &PartitionRequest) -> bool {
    shape.max_nodes.is_some_and(|most| most > shape.min_nodes)
}

/// Formats nodes, such as `2 nodes with 4 processors` or `1 to 3 nodes with all their processors`.
fn on_nodes(shape: &PartitionRequest) -> String {
    let nodes = shape.min_nodes;
    let all = if nodes == 1 && !is_range(shape) { shape.cpus } else { 1 };
    let cpus = match u64::from(shape.per_node).max(all) {
        _ if shape.whole => "all their processors".to_owned(),
        1 => "1 processor".to_owned(),
        each => format!("{each} processors"),
    };
    match shape.max_nodes.filter(|_| is_range(shape)) {
        Some(most) => format!("{nodes} to {most} nodes with {cpus}"),
        None if nodes == 1 => format!("1 node with {cpus}"),
        None => format!("{nodes} nodes with {cpus}"),
    }
}

/// Formats processors, such as `8 processors on any number of nodes, at least 2 on each`.
fn on_any_nodes(shape: &PartitionRequest) -> String {
    let whole = if shape.whole { "whole " } else { "" };
    let each = if shape.per_node > 1 { format!(", at least {} on each", shape.per_node) } else { String::new() };
    format!("{} processors on any number of {whole}nodes{each}", shape.cpus)
}

/// Formats an amount of memory. Rounds up, so that the text never understates a request.
fn size(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;
    match bytes {
        0..GIB => format!("{} MiB", bytes.div_ceil(MIB)),
        _ if bytes.is_multiple_of(GIB) => format!("{} GiB", bytes / GIB),
        _ => format!("{:.1} GiB", (bytes.div_ceil(GIB / 10) as f64 / 10.0)),
    }
}

/// Formats a time span in at most two units.
pub(super) fn span(seconds: u64) -> String {
    let two = |large: u64, unit: &str, rest: u64, small: &str| match rest {
        0 => format!("{large} {unit}"),
        rest => format!("{large} {unit} {rest} {small}"),
    };
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => two(seconds / 3600, "h", seconds % 3600 / 60, "min"),
        _ => two(seconds / 86_400, "days", seconds % 86_400 / 3600, "h"),
    }
}
