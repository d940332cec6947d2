//! The queue of a cluster as metrics of Prometheus.

use std::collections::BTreeMap;

use makespan_core::Distribution;
use makespan_formats::prometheus::{Metric, MetricKind, metrics_text};
use makespan_slurm::queue::QueueJob;

use super::ForecastQueue;

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
    seen.forecast.expected.iter().for_each(|one| *reasons.entry(one.why().kind.to_string()).or_default() += 1.0);
    let reasons = reasons.into_iter().map(|(kind, count)| (vec![("reason", kind)], count));
    let processors = of_partitions(queue.jobs.iter().filter(|job| job.run.is_none()), |job| job.request.cpus as f64);
    let (takes, away): (Vec<_>, Vec<_>) = queue.nodes.iter().partition(|node| node.state.takes_jobs());
    let cpus = |of: &dyn Fn(&makespan_slurm::Node) -> u32, nodes: &[&makespan_slurm::Node]| {
        nodes.iter().map(|node| f64::from(of(node))).sum::<f64>()
    };
    let free = |node: &makespan_slurm::Node| node.usable_cpus.saturating_sub(node.allocated_cpus);
    let used = |node: &makespan_slurm::Node| node.usable_cpus.min(node.allocated_cpus);
    let away_free = cpus(&free, &away);
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
            processors.into_iter().map(|(partition, count)| (vec![("partition", partition)], count)).collect(),
        ),
        gauge(
            "makespan_queue_expected_wait_seconds",
            "Time from now to the expected starts of the pending jobs that will start.",
            statistics(expected(seen)),
        ),
        gauge(
            "makespan_queue_unstartable_jobs",
            "Pending jobs without an expected start, by partition.",
            of_partitions(
                seen.forecast.expected.iter().filter(|one| one.outlook.start.is_none()).map(|one| &queue.jobs[one.job]),
                |_| 1.0,
            )
            .into_iter()
            .map(|(partition, count)| (vec![("partition", partition)], count))
            .collect(),
        ),
        gauge(
            "makespan_queue_waited_seconds",
            "Time since the submission of the pending jobs.",
            statistics(waited(seen)),
        ),
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
                state("free", cpus(&free, &takes)),
                state("away", away_free),
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

/// Returns the time from now to the expected start of each pending job, by partition.
fn expected(seen: &ForecastQueue<'_>) -> BTreeMap<String, Vec<f64>> {
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for one in &seen.forecast.expected {
        let Some(start) = one.outlook.start else { continue };
        let wait = start.saturating_sub(seen.queue.now).max(0) as f64;
        let partitions = &seen.queue.jobs[one.job].partitions;
        partitions.iter().for_each(|partition| all.entry(partition.clone()).or_default().push(wait));
    }
    all
}

/// Returns the time since the submission of each pending job, by partition.
fn waited(seen: &ForecastQueue<'_>) -> BTreeMap<String, Vec<f64>> {
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for job in seen.queue.jobs.iter().filter(|job| job.run.is_none()) {
        let Some(submitted) = job.submitted else { continue };
        let wait = seen.queue.now.saturating_sub(submitted).max(0) as f64;
        job.partitions.iter().for_each(|partition| all.entry(partition.clone()).or_default().push(wait));
    }
    all
}

/// Returns the mean, two percentiles and the maximum of the values of each partition.
fn statistics(values: BTreeMap<String, Vec<f64>>) -> Vec<Labelled> {
    let of = |(partition, values): (String, Vec<f64>)| {
        let Distribution { mean, median, p95, max, .. } = Distribution::of(values);
        let all = [("mean", mean), ("median", median), ("p95", p95), ("max", max)];
        all.map(|(name, value)| (vec![("partition", partition.clone()), ("statistic", name.to_owned())], value))
    };
    values.into_iter().flat_map(of).collect()
}
