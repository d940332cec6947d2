//! Tests that all predictions for a queue come from one future: starts, ends, reasons and sizes never contradict
//! each other.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use makespan_slurm::forecast::{ExpectedJob, Forecast, ForecastOptions, RunTimes, forecast, sizes};
use makespan_slurm::queue::{ClusterOutput, Queue, Texts};
use proptest::prelude::*;

const ALL_TIMES: [RunTimes; 3] = [RunTimes::Learned, RunTimes::Usual, RunTimes::Limits];

fn recorded(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format!("queue-{version}"))
}

/// Returns the text between two given texts, if both occur.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    Some(text.split_once(before)?.1.split_once(after)?.0)
}

/// Returns the jobs in a text such as `it waits for the end of jobs 3, 4_1 and 2 more`.
fn blockers(text: &str) -> Vec<&str> {
    let Some((_, rest)) = text.split_once("it waits for the end of job") else { return Vec::new() };
    let rest = rest.split(", because").next().unwrap_or_default();
    let rest = rest.split([':', ';']).next().unwrap_or_default();
    let rest = rest.trim_start_matches('s').split(" and ").next().unwrap_or_default();
    rest.split(',').map(str::trim).collect()
}

/// Predicted starts and ends, by the shown ids of jobs.
struct Told<'a> {
    queue: &'a Queue,
    starts: HashMap<&'a str, i64>,
    ends: HashMap<&'a str, i64>,
}

impl<'a> Told<'a> {
    fn of(queue: &'a Queue, forecast: &Forecast) -> Self {
        let name = |job: usize| queue.jobs[job].shown.as_str();
        let starts: HashMap<&str, i64> =
            forecast.expected.iter().filter_map(|one| Some((name(one.job), one.outlook.start?))).collect();
        let mut ends: HashMap<&str, i64> = forecast.ends.iter().map(|&(job, end)| (name(job), end)).collect();
        ends.extend(forecast.expected.iter().filter_map(|one| Some((name(one.job), one.outlook.start? + one.lasts))));
        Self { queue, starts, ends }
    }

    /// Returns a contradiction between predictions, if there is one.
    fn contradiction(&self, one: &ExpectedJob) -> Option<String> {
        let (job, why) = (&self.queue.jobs[one.job], &one.why().text);
        let start = one.outlook.start?;
        let late = |name: &str| self.ends.get(name).is_none_or(|&end| end > start);
        let named = blockers(why).into_iter().chain(one.after.iter().map(|&job| self.queue.jobs[job].shown.as_str()));
        if let Some(name) = named.into_iter().find(|name| late(name)) {
            return Some(format!(
                "{} starts at {start}, and {name} ends at {:?}: {why}",
                job.shown,
                self.ends.get(name)
            ));
        }
        // A backfill cycle takes place at most an interval after the end of a job.
        let interval = self.queue.scheduler_number("bf_interval").unwrap_or(30);
        let is_early = |name: &&str| self.ends.get(name).is_some_and(|&end| end <= start - interval);
        if let Some(name) = blockers(why).into_iter().find(|name| is_early(name)) {
            return Some(format!("{} starts at {start}, long after the end of {name}: {why}", job.shown));
        }
        if let Some(at) = between(why, "(expected at ", ")").and_then(|at| at.parse::<i64>().ok())
            && at > start
        {
            return Some(format!("{} starts at {start}: {why}", job.shown));
        }
        if why.contains("starts at this time at the latest")
            && let (Some(name), Some(at)) = (between(why, " on for job ", ","), between(why, "reserved from ", " on"))
            && self.starts.get(name).is_none_or(|&start| start > at.parse().unwrap())
        {
            return Some(format!("{name} starts at {:?}: {why}", self.starts.get(name)));
        }
        if one.why().kind.name() == "next" && start > self.queue.now {
            return Some(format!("{} starts at {start}, not now: {why}", job.shown));
        }
        let is_within =
            one.outlook.early.is_none_or(|early| early <= start) && one.outlook.late.is_none_or(|late| start <= late);
        (!is_within).then(|| {
            format!("{} starts at {start}, outside {:?}..{:?}", job.shown, one.outlook.early, one.outlook.late)
        })
    }
}

fn check(queue: &Queue, options: &ForecastOptions<'_>) -> Result<(), String> {
    let forecast = forecast(queue, options);
    let told = Told::of(queue, &forecast);
    let running = queue.jobs.iter().filter(|job| job.run.is_some());
    if let Some(job) = running.clone().find(|job| !told.ends.contains_key(job.shown.as_str())) {
        return Err(format!("no end is predicted for {}", job.shown));
    }
    forecast.expected.iter().find_map(|one| told.contradiction(one)).map_or(Ok(()), Err)?;
    // A job that requests one of the sizes has the same predicted start.
    for one in forecast.expected.iter().filter(|one| one.outlook.start.is_some()) {
        for size in sizes(queue, one.job, options) {
            let mut changed = queue.clone();
            let request = &mut changed.jobs[one.job].request;
            request.cpus = request.cpus.max(size.nodes * request.cpus_per_node);
            (request.min_nodes, request.max_nodes) = (size.nodes, Some(size.nodes));
            let asked = makespan_slurm::forecast::forecast(&changed, options);
            let start = asked.expected.iter().find(|other| other.job == one.job).and_then(|other| other.outlook.start);
            if start != size.start {
                return Err(format!("{} starts at {start:?}, but {size:?} is predicted", queue.jobs[one.job].shown));
            }
        }
    }
    Ok(())
}

#[test]
fn recorded_queues_are_told_without_contradiction() {
    for version in ["22.05", "24.11", "26.05"] {
        let queue = Queue::from_folder(&recorded(version), None).unwrap();
        for times in ALL_TIMES {
            check(&queue, &ForecastOptions { times, ..ForecastOptions::default() })
                .unwrap_or_else(|error| panic!("{version}: {error}"));
        }
    }
}

/// Random numbers from which jobs are built: see `record`.
type Drawn = (u32, u32, u32, u32, u32);

fn clock(seconds: u32) -> String {
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Returns a pending job with some nodes, some processors and a limit. Some jobs are arrays, have a range of nodes,
/// wait for the previous job, or accept less time.
fn waiting(id: usize, &(nodes, cpus, limit, priority, kind): &Drawn) -> String {
    let most = if kind % 5 == 1 { nodes + 2 } else { nodes };
    let more = match kind {
        2 => format!("ArrayJobId={id} ArrayTaskId=0-3%1"),
        3 => format!("Dependency=afterany:{}(unfulfilled)", id - 1),
        4 => format!("TimeMin={}", clock(limit * 30)),
        _ => String::new(),
    };
    format!(
        "JobId={id} JobName=name{kind} UserId=u{}(1) Priority={priority} JobState=PENDING SubmitTime=10 TimeLimit={} Partition=p \
         NumNodes={nodes}-{most} NumCPUs={} MinCPUsNode=1 {more}\n",
        kind % 2,
        clock(limit * 60),
        cpus.max(nodes),
    )
}

fn queue(nodes: u32, busy: &[u32], jobs: &[Drawn], past: &[u32]) -> Queue {
    let node = |at: u32| {
        let alloc = if (at as usize) < busy.len() { 4 } else { 0 };
        format!("NodeName=n{at} CPUTot=4 CPUAlloc={alloc} State=IDLE Partitions=p\n")
    };
    let running = |(at, &limit): (usize, &u32)| {
        let ran = limit * 7;
        format!(
            "JobId={} JobName=name{} UserId=u1(1) Priority=1 JobState=RUNNING StartTime={} RunTime={} TimeLimit={} Partition=p NodeList=n{at} \
             NumNodes=1 NumCPUs=4\n",
            900 + at,
            limit % 5,
            10_000 - ran,
            clock(ran),
            clock(limit * 60)
        )
    };
    let ended = |(at, &seconds): (usize, &u32)| {
        format!(
            "JobId={} JobName=name{} UserId=u{}(1) Priority=1 JobState=COMPLETED StartTime=5000 EndTime={} RunTime={} TimeLimit=01:00:00 \
             Partition=p NumNodes=1 NumCPUs=1\n",
            800 + at,
            seconds % 5,
            seconds % 2,
            5000 + seconds,
            clock(seconds)
        )
    };
    let busy = &busy[..busy.len().min(nodes as usize)];
    let all: String = busy
        .iter()
        .enumerate()
        .map(running)
        .chain(past.iter().enumerate().map(ended))
        .chain(jobs.iter().enumerate().map(|(at, job)| waiting(100 + at, job)))
        .collect();
    let nodes: String = (0..nodes).map(node).collect();
    Texts::default().with(ClusterOutput::Nodes, nodes).with(ClusterOutput::Jobs, all).queue(Some(10_000)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_queue_is_told_without_contradiction(
        nodes in 1_u32..6, busy in prop::collection::vec(1_u32..60, 0..6), past in prop::collection::vec(1_u32..3000, 0..8), times in 0_usize..3,
        jobs in prop::collection::vec((1_u32..4, 1_u32..9, 1_u32..60, 1_u32..100, 0_u32..8), 1..20),
    ) {
        let options = ForecastOptions { draws: 5, times: ALL_TIMES[times], ..ForecastOptions::default() };
        let queue = queue(nodes, &busy, &jobs, &past);
        if let Err(error) = check(&queue, &options) {
            prop_assert!(false, "{}", error);
        }
    }
}
