//! The queue of a cluster as metrics of Prometheus.

use std::collections::BTreeMap;

use makespan_core::Distribution;
use makespan_formats::prometheus::{Metric, MetricKind, metrics_text};
use makespan_slurm::queue::QueueJob;

use super::{ForecastQueue, rows};

/// Labels and a value.
type Labelled = (Vec<(&'static str, String)>, f64);

/// Returns the metrics of the queue in the text format of Prometheus. All metrics have the label `cluster`.
pub fn text(seen: &ForecastQueue<'_>) -> String {
    let queue = seen.queue;
    let is_running = |job: &&QueueJob| job.run.is_some();
    let states = [
        ("running", of_partitions(queue.jobs.iter().filter(is_running), |_| 1.0)),
        ("pending", of_partitions(queue.jobs.iter().filter(|job| job.run.is_none()), |_| 1.0)),
    ];
    let of_states = states.into_iter().flat_map(|(state, partitions)| {
        partitions
            .into_iter()
            .map(move |(partition, count)| (vec![("partition", partition), ("state", state.to_owned())], count))
    });
    let mut reasons: BTreeMap<String, f64> = BTreeMap::new();
    seen.forecast.expected.iter().for_each(|one| *reasons.entry(one.why().kind.name().to_owned()).or_default() += 1.0);
    let reasons = reasons.into_iter().map(|(kind, count)| (vec![("reason", kind)], count));
    let processors = of_partitions(queue.jobs.iter().filter(|job| job.run.is_none()), |job| job.request.cpus as f64);
    let (takes, away): (Vec<_>, Vec<_>) = queue.nodes.iter().partition(|node| node.state.takes_jobs());
    let cpus = |of: &dyn Fn(&makespan_slurm::Node) -> u64, nodes: &[&makespan_slurm::Node]| {
        nodes.iter().map(|node| of(node) as f64).sum::<f64>()
    };
    let used = |node: &makespan_slurm::Node| node.usable_cpus.min(node.allocated_cpus).into();
    let expected = seen.forecast.expected.iter().map(|one| (&queue.jobs[one.job], one.outlook.start));
    let unstartable = expected.clone().filter(|(_, start)| start.is_none()).map(|(job, _)| job);
    let waits = expected.filter_map(|(job, start)| Some((job, start?.saturating_sub(queue.now))));
    let pending = queue.jobs.iter().filter(|job| job.run.is_none());
    let waited = pending.filter_map(|job| Some((job, queue.now.saturating_sub(job.submitted?))));
    let notes = (queue.remarks.len() + seen.forecast.remarks.len()) as f64;
    let state = |name: &str, value: f64| (vec![("state", name.to_owned())], value);
    let all = vec![
        gauge(
            "makespan_queue_jobs",
            "Jobs by partition and state. A job in several partitions counts in each.",
            of_states.collect(),
        ),
        gauge(
            "makespan_queue_pending_reason_jobs",
            "Pending jobs by the reason why they do not start now.",
            reasons.collect(),
        ),
        gauge(
            "makespan_queue_pending_processors",
            "Processors that pending jobs request, by partition.",
            by_partition(processors),
        ),
        gauge(
            "makespan_queue_expected_wait_seconds",
            "Time from now to the expected starts of the pending jobs that will start.",
            statistics(waits),
        ),
        gauge(
            "makespan_queue_unstartable_jobs",
            "Pending jobs without an expected start, by partition.",
            by_partition(of_partitions(unstartable, |_| 1.0)),
        ),
        gauge("makespan_queue_waited_seconds", "Time since the submission of the pending jobs.", statistics(waited)),
        gauge(
            "makespan_queue_nodes",
            "Nodes that accept jobs, and nodes that accept none.",
            vec![state("available", takes.len() as f64), state("away", away.len() as f64)],
        ),
        gauge(
            "makespan_queue_processors",
            "Processors of jobs, free processors, and unused processors of nodes that accept no jobs.",
            vec![
                state("allocated", cpus(&used, &takes) + cpus(&used, &away)),
                state("free", cpus(&rows::free, &takes)),
                state("away", cpus(&rows::free, &away)),
            ],
        ),
        gauge("makespan_queue_notes", "Notes about missing or doubtful data of the queue.", vec![(vec![], notes)]),
        gauge(
            "makespan_queue_timestamp_seconds",
            "Instant of the queue, in seconds since 1970.",
            vec![(vec![], queue.now as f64)],
        ),
    ];
    let cluster = queue.config.get("ClusterName").unwrap_or_default();
    let labelled = |mut metric: Metric| {
        metric.values.iter_mut().for_each(|value| value.0.insert(0, ("cluster", cluster.to_owned())));
        metric
    };
    metrics_text(&all.into_iter().map(labelled).collect::<Vec<_>>())
}

fn gauge(name: &'static str, help: &'static str, values: Vec<Labelled>) -> Metric {
    Metric { name, help, kind: MetricKind::Gauge, values }
}

/// Sums a value of jobs over each partition in which the jobs may run.
fn of_partitions<'a>(
    jobs: impl Iterator<Item = &'a QueueJob>,
    value: impl Fn(&QueueJob) -> f64,
) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for job in jobs {
        job.partitions.iter().for_each(|partition| *sums.entry(partition.clone()).or_default() += value(job));
    }
    sums
}

/// Labels the sums with their partitions.
fn by_partition(sums: BTreeMap<String, f64>) -> Vec<Labelled> {
    sums.into_iter().map(|(partition, sum)| (vec![("partition", partition)], sum)).collect()
}

/// Returns the mean, two percentiles and the maximum of times of jobs, in seconds, for each partition in which the jobs may
/// run. A negative time counts as 0.
fn statistics<'a>(times: impl Iterator<Item = (&'a QueueJob, i64)>) -> Vec<Labelled> {
    let mut all: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (job, time) in times {
        job.partitions.iter().for_each(|partition| all.entry(partition).or_default().push(time.max(0) as f64));
    }
    let of = |(partition, values): (&str, Vec<f64>)| {
        let Distribution { mean, median, p95, max, .. } = Distribution::of(values);
        let all = [("mean", mean), ("median", median), ("p95", p95), ("max", max)];
        all.map(|(name, value)| (vec![("partition", partition.to_owned()), ("statistic", name.to_owned())], value))
    };
    all.into_iter().flat_map(of).collect()
}
