//! Periods in which nodes of a cluster run no jobs: which jobs are in the way, and which jobs are held back.

use std::collections::{BTreeMap, HashSet};

use makespan_core::{Time, counted};
use makespan_slurm::queue::{Queue, QueueChange};
use makespan_slurm::{compress, expand};

use super::super::super::queue::clock::{QueueClock, later};
use super::super::log::LiveQueue;
use super::super::words::named;
use super::parse::ClosedNodes;

/// A period in which nodes of a queue's cluster run no jobs.
pub struct ClosedPeriod {
    /// The word `drain` or `maintenance`.
    name: &'static str,
    nodes: Vec<String>,
    /// The begin in seconds since 1970.
    start: i64,
    /// The end in seconds since 1970, or `None` if the nodes do not come back.
    end: Option<i64>,
}

impl ClosedPeriod {
    /// Reads a period, and adds it to the queue.
    pub fn add(stated: &ClosedNodes, queue: &mut Queue) -> Result<Self, String> {
        let nodes = stated.nodes.as_deref().map_or(Ok(Vec::new()), expand).map_err(|error| error.to_string())?;
        let start = later(&stated.from, queue.now)?;
        let end = stated.until.as_deref().map(|text| later(text, start)).transpose()?;
        let name = stated.name;
        queue.change(&QueueChange::Closed { name: name.to_owned(), nodes: nodes.clone(), start, end })?;
        let nodes = if nodes.is_empty() { queue.nodes.iter().map(|node| node.name.clone()).collect() } else { nodes };
        Ok(Self { name, nodes, start, end })
    }

    /// Describes the running jobs that are in the way, the jobs that are held back, and what to do.
    pub fn remarks(&self, before: &LiveQueue, after: &LiveQueue) -> Vec<String> {
        let clock = QueueClock::new(after.queue.now);
        let mut remarks = vec![self.period(&clock)];
        remarks.extend(self.in_the_way(&after.queue, &clock));
        remarks.push(held_back(before, after));
        remarks.extend(self.remedy(&after.queue, &clock));
        remarks
    }

    fn period(&self, clock: &QueueClock) -> String {
        let nodes = compress(self.nodes.iter().map(String::as_str));
        let end = self.end.map_or(" on".to_owned(), |end| format!(" to {}", clock.full(end)));
        format!("no job runs on {nodes} from {}{end}", clock.full(self.start))
    }

    /// Returns a note about each running job with a time limit that reaches into the period.
    fn in_the_way(&self, queue: &Queue, clock: &QueueClock) -> Option<String> {
        let closed: HashSet<&str> = self.nodes.iter().map(String::as_str).collect();
        let mut late: Vec<(Option<i64>, String)> = Vec::new();
        for job in &queue.jobs {
            let Some(run) = &job.run else { continue };
            let on: Vec<&str> = run.holds.iter().map(|hold| queue.nodes[hold.node].name.as_str()).collect();
            let on: Vec<&str> = on.into_iter().filter(|name| closed.contains(name)).collect();
            if !on.is_empty() && run.ends_by.is_none_or(|end| end > self.start) {
                let end = run.ends_by.map_or("without a limit".to_owned(), |end| format!("until {}", clock.words(end)));
                late.push((run.ends_by, format!("{} on {} ({end})", job.shown, compress(on))));
            }
        }
        late.sort_by_key(|one| (one.0.is_none(), one.0));
        let late: Vec<String> = late.into_iter().rev().map(|one| one.1).collect();
        let jobs = if late.len() == 1 { "this running job" } else { "these running jobs" };
        (!late.is_empty()).then(|| format!("{jobs} may still run at its begin: {}", named(&late)))
    }

    /// Returns the command that reserves the nodes, and the instant at which they must be drained without a reservation.
    fn remedy(&self, queue: &Queue, clock: &QueueClock) -> Option<String> {
        let end = self.end?;
        let nodes = compress(self.nodes.iter().map(String::as_str));
        let mut by: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
        for name in &self.nodes {
            let homes: Vec<&str> =
                queue.partitions.iter().filter(|own| own.nodes.contains(name)).map(|own| own.name.as_str()).collect();
            let waits = queue
                .jobs
                .iter()
                .filter(|job| job.run.is_none() && job.partitions.iter().any(|one| homes.contains(&one.as_str())));
            let longest =
                waits.map(|job| job.limit.map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX))).max();
            if let Some(longest) = longest {
                by.entry(self.start.saturating_sub(longest).max(queue.now)).or_default().push(name);
            }
        }
        let instant = |at: i64| if at <= queue.now { "now".to_owned() } else { format!("by {}", clock.full(at)) };
        let by: Vec<String> =
            by.into_iter().map(|(at, nodes)| format!("{} {}", compress(nodes), instant(at))).collect();
        let utc = |at: i64| clock.iso(at).get(..19).unwrap_or_default().to_owned();
        let drain = if by.is_empty() {
            String::new()
        } else {
            format!("; without a reservation, drain {}, for the longest time limit of a pending job", named(&by))
        };
        Some(format!(
            "to reserve: scontrol create reservation ReservationName={} StartTime={} EndTime={} Nodes={nodes} Flags=MAINT,IGNORE_JOBS Users=root{drain}",
            self.name,
            utc(self.start),
            utc(end),
        ))
    }
}

/// Counts the jobs that start later than without the period.
fn held_back(before: &LiveQueue, after: &LiveQueue) -> String {
    let mut late: Vec<(Time, &str)> = Vec::new();
    for (job, &start) in &before.expected {
        let delay = after.expected.get(job).map_or(Time::MAX, |&then| then - start);
        if delay > Time::ZERO {
            late.push((delay, job));
        }
    }
    late.sort_by(|one, other| other.cmp(one));
    let names: Vec<&str> = late.iter().map(|one| one.1).collect();
    match names.as_slice() {
        [] => "no job is held back".to_owned(),
        all => {
            format!("{} start later or not at all, most delayed first: {}", counted(all.len(), "job"), named(all))
        }
    }
}
