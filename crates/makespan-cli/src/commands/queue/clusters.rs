//! `makespan queue --from a,b`: the sums of several clusters in one table.

use std::path::Path;
use std::process::ExitCode;

use makespan_formats::length;
use makespan_slurm::forecast::{ForecastOptions, forecast};
use makespan_slurm::queue::Queue;
use miette::{Result, miette};
use serde_json::{Value, json};

use super::source::{ReadCluster, joined_notes, read_all, short_label};
use super::{DAYS, rows};
use crate::args::{KnownTimes, QueueFormat, QueueOptions};
use crate::output::{blocks, columns, emit, narrow};

/// Maximum width of a cluster's name in the table.
const NAME: usize = 16;

/// The numbers of a cluster, or the sums of several clusters.
#[derive(Clone, Copy, Debug, Default)]
struct ClusterNumbers {
    nodes: u64,
    away: u64,
    processors: u64,
    free: u64,
    running: u64,
    waiting: u64,
    /// Number of pending jobs with an expected start.
    starting: u64,
    /// Sum of the times until these starts, in seconds.
    wait: i64,
    /// Maximum of the times until these starts, in seconds.
    longest: i64,
}

impl ClusterNumbers {
    fn of(queue: &Queue, options: &QueueOptions) -> Self {
        let play =
            ForecastOptions { draws: 0, times: options.times.unwrap_or_default().into(), ..ForecastOptions::default() };
        let forecast = forecast(queue, &play);
        let running = queue.jobs.iter().filter(|job| job.run.is_some()).count() as u64;
        let takes = || queue.nodes.iter().filter(|node| node.state.takes_jobs());
        let mut numbers = Self {
            nodes: queue.nodes.len() as u64,
            away: (queue.nodes.len() - takes().count()) as u64,
            processors: queue.nodes.iter().map(|node| u64::from(node.usable_cpus)).sum(),
            free: takes().map(rows::free).sum(),
            running,
            waiting: queue.jobs.len() as u64 - running,
            ..Self::default()
        };
        for start in forecast.expected.iter().filter_map(|one| one.outlook.start) {
            let wait = start.saturating_sub(queue.now).max(0);
            numbers.starting += 1;
            numbers.wait = numbers.wait.saturating_add(wait);
            numbers.longest = numbers.longest.max(wait);
        }
        numbers
    }

    fn add(&mut self, other: &Self) {
        self.nodes += other.nodes;
        self.away += other.away;
        self.processors += other.processors;
        self.free += other.free;
        self.running += other.running;
        self.waiting += other.waiting;
        self.starting += other.starting;
        self.wait = self.wait.saturating_add(other.wait);
        self.longest = self.longest.max(other.longest);
    }

    fn mean_wait(&self) -> Option<f64> {
        (self.starting > 0).then(|| self.wait as f64 / self.starting as f64)
    }

    fn cells(&self, name: &str) -> Vec<String> {
        let counts = [self.nodes, self.away, self.free, self.running, self.waiting].map(|count| count.to_string());
        let wait = self.mean_wait().map_or_else(|| "-".to_owned(), length);
        let longest = self.mean_wait().map_or_else(|| "-".to_owned(), |_| length(self.longest as f64));
        [short_label(name, NAME)].into_iter().chain(counts).chain([wait, longest]).collect()
    }

    fn json(&self) -> Value {
        json!({
            "nodes": self.nodes,
            "nodes_away": self.away,
            "processors": self.processors,
            "free_processors": self.free,
            "running": self.running,
            "waiting": self.waiting,
            "starting": self.starting,
            "mean_expected_wait_seconds": self.mean_wait(),
            "longest_expected_wait_seconds": self.mean_wait().map(|_| self.longest),
        })
    }
}

/// Returns the names of clusters if `from` is a list of several clusters. A folder may have a comma in its name.
pub fn listed(from: &str) -> Option<Vec<&str>> {
    (from.contains(',') && !Path::new(from).is_dir()).then(|| from.split(',').collect())
}

/// Prints the numbers of several clusters, and their sums.
pub fn queues(names: &[&str], options: &QueueOptions) -> Result<ExitCode> {
    let others = [
        (options.report.is_some(), "--report"),
        (options.at.is_some(), "--at"),
        (options.draws.is_some(), "--draws"),
        (options.range.is_some(), "--range"),
        (options.history.is_some(), "--history"),
        (options.no_history, "--no-history"),
        (options.format == QueueFormat::Prometheus, "--format prometheus"),
    ];
    let others = others.into_iter().filter_map(|(is_given, name)| is_given.then_some(name));
    if options.what_if.is_some() {
        return Err(miette!(
            "--what-if: with several clusters, `queue` prints only sums; `makespan where job.sh --from {}` compares the clusters \
             for a new job",
            names.join(",")
        ));
    }
    if let Some(option) = options.of_part().chain(others).next() {
        return Err(miette!(
            "{option}: with several clusters, `queue` prints only sums; name one cluster with --from, or remove {option}"
        ));
    }
    let learns = options.times.unwrap_or_default() == KnownTimes::Learned;
    let days = if learns { options.past.unwrap_or(DAYS) } else { 0 };
    let (read, mut remarks) = read_all(names, days)?;
    let (mut clusters, mut sum) = (Vec::new(), ClusterNumbers::default());
    let notes = read.iter().enumerate().flat_map(|(at, own)| own.queue.remarks.iter().map(move |note| (at, note)));
    remarks.extend(joined_notes(&read, notes));
    for ReadCluster { label, source, queue } in read {
        let numbers = ClusterNumbers::of(&queue, options);
        sum.add(&numbers);
        clusters.push((label, source.words(), numbers));
    }
    if options.format == QueueFormat::Json {
        let one = |(label, from, numbers): &(String, String, ClusterNumbers)| {
            let mut value = numbers.json();
            value["cluster"] = label.clone().into();
            value["from"] = from.clone().into();
            value
        };
        let all: Vec<Value> = clusters.iter().map(one).collect();
        emit(&format!("{:#}\n", json!({ "clusters": all, "sum": sum.json(), "remarks": remarks })))?;
        return Ok(ExitCode::SUCCESS);
    }
    let heading = ["nodes", "away", "free", "run", "wait", "mean wait", "longest"];
    let lines = clusters.iter().map(|(label, _, numbers)| numbers.cells(label)).chain([sum.cells("total")]);
    let mut text = blocks(&["cluster"], &heading, &lines.collect::<Vec<_>>(), columns()) + "\n";
    text += &narrow(
        "",
        0,
        "free: processors. mean wait, longest: time from now to the expected starts of the jobs that wait and will start",
    );
    remarks.iter().for_each(|remark| text += &narrow("note: ", 6, remark));
    emit(&text)?;
    Ok(ExitCode::SUCCESS)
}
