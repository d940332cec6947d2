//! The queue as one HTML page: a chart of running and expected jobs on the nodes, and tables.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};

use makespan_core::ProcSet;
use makespan_formats::report::{QueueNode, QueueReport, QueuedJob, ReservedProcessors, write_queue};
use makespan_slurm::forecast::ExpectedJob;

use super::rows::{between, clocked, head, nodes};
use super::{ForecastQueue, SelectedJobs};

/// Writes the page. The chart contains all jobs, and the tables contain the selected jobs.
pub fn write(seen: &ForecastQueue<'_>, chosen: &SelectedJobs<'_>, from: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut is_listed = vec![false; seen.queue.jobs.len()];
    chosen.shown().iter().for_each(|one| is_listed[one.job] = true);
    chosen.shown_running().iter().for_each(|one| is_listed[one.0] = true);
    let mut jobs: Vec<ChartJob> = running(seen, &is_listed);
    jobs.extend(seen.forecast.expected.iter().map(|one| expected(seen, one, is_listed[one.job])));
    let waiting = jobs.iter().position(|one| !one.shown.runs).unwrap_or(jobs.len());
    jobs[waiting..].sort_by_key(|one| one.shown.start.unwrap_or(i64::MAX));
    let cluster = Cluster::of(seen);
    cluster.place(&mut jobs);
    let positions: HashMap<usize, usize> = jobs.iter().enumerate().map(|(at, one)| (one.index, at)).collect();
    for one in &mut jobs {
        one.shown.after = one.after.iter().filter_map(|job| positions.get(job).copied()).collect();
    }
    let jobs: Vec<QueuedJob> = jobs.into_iter().map(|one| one.shown).collect();
    let until = until(&jobs);
    let remarks: Vec<String> = seen.queue.remarks.iter().chain(&seen.forecast.remarks).cloned().collect();
    let now = seen.queue.now;
    let until_words = format!("{} to {}", seen.clock.words(now), seen.clock.words(now.saturating_add(until)));
    let report = QueueReport {
        title: &format!("Queue of {from}"),
        origin: &head(seen).lines().map(str::to_owned).chain(listed(chosen)).collect::<Vec<_>>(),
        nodes: &cluster.nodes,
        jobs: &jobs,
        reserved: &cluster.reserved(seen),
        until,
        until_words: &until_words,
        remarks: &remarks,
    };
    write_queue(&mut { out }, &report)
}

/// Returns a note that says which jobs are in the tables. Returns `None` if the tables contain all jobs.
fn listed(chosen: &SelectedJobs<'_>) -> Option<String> {
    let more = (chosen.more() > 0).then(|| format!("{} more waiting", chosen.more()));
    let more_run = (chosen.more_running() > 0).then(|| format!("{} more running", chosen.more_running()));
    let which = (!chosen.which.is_empty()).then(|| format!("tables: jobs {}", chosen.which));
    let all: Vec<String> = which.into_iter().chain(more).chain(more_run).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// A job of the chart, with the data from which its processors are chosen.
struct ChartJob {
    /// Index of the job in the queue.
    index: usize,
    /// Nodes of the job, each with its number of processors.
    on: Vec<(usize, u32)>,
    /// Indices of the jobs that must end before this job can start.
    after: Vec<usize>,
    shown: QueuedJob,
}

fn running(seen: &ForecastQueue<'_>, is_listed: &[bool]) -> Vec<ChartJob> {
    let mut ends = seen.forecast.ends.clone();
    ends.sort_by_key(|&(job, end)| (end, job));
    let of = |(index, end): (usize, i64)| {
        let job = &seen.queue.jobs[index];
        let run = job.run.as_ref()?;
        let shown = QueuedJob {
            runs: true,
            is_listed: is_listed[index],
            start: Some(run.started.saturating_sub(seen.queue.now)),
            end: Some(end.saturating_sub(seen.queue.now)),
            starts: seen.clock.words(run.started),
            ends: seen.clock.words(end),
            nodes: run.holds.len().to_string(),
            ..named(seen, index)
        };
        let on = run.holds.iter().map(|hold| (hold.node, hold.cpus)).collect();
        Some(ChartJob { index, on, after: Vec::new(), shown })
    };
    ends.into_iter().filter_map(of).collect()
}

fn expected(seen: &ForecastQueue<'_>, one: &ExpectedJob, is_listed: bool) -> ChartJob {
    let from_now = |at: i64| at.saturating_sub(seen.queue.now);
    let end = one.outlook.start.map(|start| start.saturating_add(one.lasts));
    let words = |at: Option<i64>| at.map_or("-".to_owned(), |at| seen.clock.words(at));
    let shown = QueuedJob {
        is_listed,
        start: one.outlook.start.map(from_now),
        end: end.map(from_now),
        starts: words(one.outlook.start),
        ends: words(end),
        spread: one.outlook.early.map(from_now).zip(one.outlook.late.map(from_now)),
        between: between(seen, one),
        why: one.why().text.clone(),
        remedy: one.why().remedy.clone(),
        ..named(seen, one.job)
    };
    ChartJob { index: one.job, on: one.nodes.clone(), after: one.after.clone(), shown }
}

/// Returns the fields that running and pending jobs have.
fn named(seen: &ForecastQueue<'_>, index: usize) -> QueuedJob {
    let job = &seen.queue.jobs[index];
    QueuedJob {
        id: job.shown.clone(),
        name: job.name.clone(),
        user: job.user.clone(),
        partition: job.partitions.join(","),
        nodes: nodes(job),
        limit: job.limit.map_or("none".to_owned(), clocked),
        ..QueuedJob::default()
    }
}

/// The nodes of a cluster. Their processors are numbered consecutively.
struct Cluster {
    nodes: Vec<QueueNode>,
    /// Number of the first processor of each node; the last entry is the number of all processors.
    first: Vec<u32>,
}

impl Cluster {
    fn of(seen: &ForecastQueue<'_>) -> Self {
        let of = |node: &makespan_slurm::Node| QueueNode {
            name: node.name.clone(),
            processors: node.cpus.max(node.usable_cpus),
            away: (!node.state.takes_jobs()).then(|| {
                let reason = node.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
                format!("takes no jobs{reason}")
            }),
        };
        let nodes: Vec<QueueNode> = seen.queue.nodes.iter().map(of).collect();
        let mut first = vec![0_u32];
        first.extend(nodes.iter().scan(0_u32, |sum, node| {
            *sum = sum.saturating_add(node.processors);
            Some(*sum)
        }));
        Self { nodes, first }
    }

    /// Assigns processors to the jobs, because Slurm does not report the cores of pending jobs. On each of its nodes,
    /// a job gets the lowest-numbered processors that are free at its start.
    fn place(&self, jobs: &mut [ChartJob]) {
        let mut free_from = vec![i64::MIN; self.first.last().map_or(0, |&all| all as usize)];
        let mut order: Vec<usize> = (0..jobs.len()).filter(|&at| jobs[at].shown.period().is_some()).collect();
        // A running job holds its processors now, so its start counts as 0.
        order.sort_by_key(|&at| (jobs[at].shown.start.map(|start| start.max(0)), Reverse(jobs[at].shown.runs), at));
        let mut own: Vec<u32> = Vec::new();
        for at in order {
            let ChartJob { on, shown, .. } = &mut jobs[at];
            let Some((start, end)) = shown.period() else { continue };
            let start = start.max(0);
            own.clear();
            for &(node, cpus) in on.iter() {
                let processors = self.first[node]..self.first[node + 1];
                let from = own.len();
                let is_free = |processor: &u32| free_from[*processor as usize] <= start;
                own.extend(processors.clone().filter(is_free).take(cpus as usize));
                let missing = cpus as usize - (own.len() - from).min(cpus as usize);
                if missing > 0 {
                    // Slurm can let jobs share processors. The jobs then need more processors than the node has.
                    let mut others: Vec<u32> = processors.filter(|one| !own[from..].contains(one)).collect();
                    others.sort_by_key(|&one| (free_from[one as usize], one));
                    own.extend(others.into_iter().take(missing));
                }
            }
            own.iter().for_each(|&one| free_from[one as usize] = end.max(start + 1));
            shown.processors = intervals(own.iter().map(|&one| (one, one)));
        }
    }

    fn reserved(&self, seen: &ForecastQueue<'_>) -> Vec<ReservedProcessors> {
        let by_name: HashMap<&str, usize> =
            self.nodes.iter().enumerate().map(|(at, node)| (node.name.as_str(), at)).collect();
        let of = |reservation: &makespan_slurm::queue::SlurmReservation| {
            let own = reservation.nodes.iter().filter_map(|name| by_name.get(name.as_str()));
            let own = own.map(|&node| (self.first[node], self.first[node + 1]));
            let processors = intervals(own.filter(|(first, end)| first < end).map(|(first, end)| (first, end - 1)));
            let (start, end) = (reservation.start - seen.queue.now, reservation.end - seen.queue.now);
            let [from, to] = [reservation.start, reservation.end].map(|at| seen.clock.words(at));
            let text = format!("reservation {}, {from} to {to}", reservation.name);
            ReservedProcessors { text, start: start.max(0), end, processors }
        };
        let reservations = seen.queue.reservations.iter();
        reservations.filter(|one| !one.is_partial && one.end > seen.queue.now).map(of).collect()
    }
}

/// Sorts intervals and merges adjacent ones.
fn intervals(all: impl Iterator<Item = (u32, u32)>) -> Vec<(u32, u32)> {
    ProcSet::from_intervals(all.collect()).intervals().to_vec()
}

/// Returns the end of the chart: the instant at which nine of ten jobs have ended, but at least a minute from now.
fn until(jobs: &[QueuedJob]) -> i64 {
    let mut ends: Vec<i64> = jobs.iter().filter_map(|job| job.end).collect();
    ends.sort_unstable();
    ends.get(ends.len().saturating_sub(1) * 9 / 10).copied().unwrap_or(0).max(60)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Jobs that fit together on every node share no processor, and each gets as many processors as it holds.
        #[test]
        fn jobs_that_fit_are_drawn_apart(
            sizes in prop::collection::vec(1_u32..9, 1..4),
            wished in prop::collection::vec((0_usize..4, 1_u32..9, -5_i64..20, 1_i64..9, 0_usize..4, 1_u32..9), 1..30),
        ) {
            let mut first = vec![0];
            first.extend(sizes.iter().scan(0, |sum, size| { *sum += size; Some(*sum) }));
            let cluster = Cluster { nodes: Vec::new(), first };
            let mut jobs: Vec<ChartJob> = Vec::new();
            for (index, (node, cpus, start, time, other, more)) in wished.into_iter().enumerate() {
                let mut on = vec![(node % sizes.len(), cpus)];
                if other % sizes.len() != node % sizes.len() {
                    on.push((other % sizes.len(), more));
                }
                let (start, end) = (start, start.max(0) + time);
                let held = |node: usize, at: i64| -> u32 {
                    let runs = jobs.iter().filter(|job: &&ChartJob| job.shown.period().is_some_and(|(start, end)| start.max(0) <= at && at < end));
                    runs.flat_map(|job| &job.on).filter(|one| one.0 == node).map(|one| one.1).sum()
                };
                let fits = on.iter().all(|&(node, cpus)| (start.max(0)..end).all(|at| held(node, at) + cpus <= sizes[node]));
                if fits {
                    let shown = QueuedJob { runs: start <= 0, start: Some(start), end: Some(end), ..QueuedJob::default() };
                    jobs.push(ChartJob { index, on, after: Vec::new(), shown });
                }
            }
            cluster.place(&mut jobs);
            for (at, job) in jobs.iter().enumerate() {
                let count: u32 = job.shown.processors.iter().map(|(first, last)| last - first + 1).sum();
                prop_assert_eq!(count, job.on.iter().map(|one| one.1).sum::<u32>());
                for other in &jobs[..at] {
                    let [a, b] = [job, other].map(|one| one.shown.period().unwrap());
                    let at_once = a.0.max(0) < b.1 && b.0.max(0) < a.1;
                    let shared = job.shown.processors.iter().any(|one| other.shown.processors.iter().any(|two| one.0 <= two.1 && two.0 <= one.1));
                    prop_assert!(!(at_once && shared), "{:?} and {:?}", job.shown, other.shown);
                }
            }
        }
    }
}
