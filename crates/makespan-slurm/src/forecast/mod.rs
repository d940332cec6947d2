//! Predicts when the jobs of a queue will start, by an event simulation at the level of nodes.
//!
//! The simulated scheduler applies the rules that Slurm's scheduler applies: limits, partitions, features,
//! reservations, licences and dependencies. It starts jobs from the head of the queue. At intervals it backfills: it
//! starts later jobs that delay no job of higher priority. Run times are learned from jobs that ended. If no job has
//! ended, run times are distributed as in public logs.
//!
//! All predictions for a queue (starts, ends, nodes and reasons) come from one simulation, in which every job runs for
//! its mean time. Further simulations with random run times show the spread of the starts.
//!
//! ```
//! use makespan_slurm::forecast::{ForecastOptions, RunTimes, forecast};
//! use makespan_slurm::queue::{ClusterOutput, Texts};
//!
//! let node = "NodeName=n0 CPUTot=4 CPUAlloc=4 State=ALLOCATED Partitions=p";
//! let running = "JobId=1 JobName=a UserId=u(1) Priority=9 JobState=RUNNING StartTime=100 EndTime=700 RunTime=00:05:00 TimeLimit=00:10:00 \
//!                Partition=p NodeList=n0 NumNodes=1 NumCPUs=4";
//! let waiting = "JobId=2 JobName=b UserId=u(1) Priority=8 JobState=PENDING TimeLimit=00:10:00 Partition=p NumNodes=1 NumCPUs=4";
//! let texts = Texts::default().with(ClusterOutput::Nodes, node).with(ClusterOutput::Jobs, format!("{running}\n{waiting}\n"));
//! let queue = texts.queue(None).unwrap();
//! let options = ForecastOptions { times: RunTimes::Limits, ..ForecastOptions::default() };
//! let expected = &forecast(&queue, &options).expected[0];
//! assert_eq!((queue.now, expected.outlook.start), (400, Some(700)));
//! ```

mod counters;
mod dependent;
mod drawing;
mod looks;
mod model;
mod outcome;
#[cfg(test)]
mod planned_tests;
mod play;
mod priorities;
mod ready;
mod reason;
mod resources;
mod times;
mod too_few;
mod usual;
mod why;

use std::thread;

use makespan_algos::slurm::JobCandidate;
use makespan_core::{Outlook, WaitKind, WaitReason, counted, range_around};

pub use drawing::RandomRunTimes;
pub use times::{PredictionSource, RunTimeDistribution, RunTimes, SAME_NAME};

use crate::queue::Queue;
use model::Model;
use play::ForecastSimulation;
use ready::Links;
use reason::Reasons;

/// Maximum number of nodes that all simulations together examine. With this limit, a forecast takes only seconds.
const MAX_LOOKED: u64 = 40_000_000;
const LEAST_DRAWS: u64 = 4;

/// The options of a forecast.
#[derive(Clone, Copy)]
pub struct ForecastOptions<'a> {
    /// Number of simulations with random run times, or 0 for none. If simulations take long, their number is reduced,
    /// and the forecast contains a warning.
    pub draws: u32,
    /// Seed of the random run times. Forecasts with equal seeds are equal.
    pub seed: u64,
    /// The source of run-time predictions.
    pub times: RunTimes,
    /// The percentage of the simulated starts that the range of a start contains.
    pub percent: u32,
    /// A queue with which the forecast is compared. The forecasted queue contains all its jobs in their order, possibly
    /// changed, and then new jobs. Each simulation uses equal random numbers for both queues.
    pub like: Option<&'a Queue>,
    /// A function that formats an instant (seconds since 1970) as a time of day, for reasons.
    pub clock: &'a (dyn Fn(i64) -> String + Sync),
}

impl Default for ForecastOptions<'_> {
    fn default() -> Self {
        Self {
            draws: 20,
            seed: 1,
            times: RunTimes::Learned,
            percent: 80,
            like: None,
            clock: &|seconds| seconds.to_string(),
        }
    }
}

/// The prediction for a pending job.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedJob {
    /// The index of the job in the queue.
    pub job: usize,
    /// The expected start with its range, in seconds since 1970, and the reason why the job does not start now.
    pub outlook: Outlook<i64>,
    /// The nodes that the job is expected to get, as indices in the queue, with the number of processors on each.
    pub nodes: Vec<(usize, u32)>,
    /// Indices of the jobs that held the nodes of this job, or reached its limit, and end after the scheduling cycle
    /// before its start. Only these ends let the job start.
    pub after: Vec<usize>,
    /// The source of the run-time prediction.
    pub known: PredictionSource,
    /// Expected run time in seconds. If a job accepts less time than its limit, this time may be shorter.
    pub lasts: i64,
}

impl ExpectedJob {
    /// Returns the reason why the job does not start now. A forecast states one reason for each job.
    pub fn why(&self) -> &WaitReason {
        &self.outlook.reasons[0]
    }
}

/// The forecast of a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// The predictions for all pending jobs, in the order of the queue.
    pub expected: Vec<ExpectedJob>,
    /// Expected end of each running job, by the index of the job.
    pub ends: Vec<(usize, i64)>,
    /// Starts of all jobs in each simulation with random run times, by the index of the job.
    pub drawn: Vec<Vec<Option<i64>>>,
    /// Warnings about the forecast, as sentences.
    pub remarks: Vec<String>,
}

/// Predicts the start of each pending job, the range of the start, and the reason why the job does not start now.
pub fn forecast(queue: &Queue, options: &ForecastOptions<'_>) -> Forecast {
    let model = Model::of(queue);
    let links = Links::of(queue);
    let random = RandomRunTimes::of(queue, options);
    let times = &random.jobs.times;
    let means: Vec<i64> = times.iter().zip(&random.jobs.ran).map(|(own, &ran)| own.mean(ran)).collect();
    let lasts = |job: usize| means[job];
    let mut play = ForecastSimulation::new(&model, &links, true, &lasts);
    let outcome = ForecastSimulation::new(&model, &links, true, &lasts).run();
    let misses = outcome.expired.iter().any(Option::is_some);
    let without_deadlines = misses.then(|| ForecastSimulation::new(&model, &links, false, &lasts).run());
    play.first_look();
    // If every job runs until its limit, nothing is random. So no simulation with random run times is needed.
    let asked = if options.times == RunTimes::Limits { 0 } else { options.draws };
    let affordable = (MAX_LOOKED / outcome.looked.max(1)).saturating_sub(1).max(LEAST_DRAWS) as u32;
    let options = &ForecastOptions { draws: asked.min(affordable), ..*options };
    let drawn = draws(options.draws, &model, &links, &random);
    let mut bids: Vec<Option<JobCandidate>> = vec![None; queue.jobs.len()];
    for bid in model.cluster.bids.iter().rev() {
        bids[bid.job] = Some(*bid);
    }
    let reasons = Reasons {
        model: &model,
        links: &links,
        play: &play,
        outcome: &outcome,
        without_deadlines: without_deadlines.as_ref(),
        clock: options.clock,
        positions: play.positions(),
        bids,
        started: queue.jobs.iter().map(|job| job.run.as_ref().map(|run| run.started)).collect(),
        ended: vec![None; queue.jobs.len()],
        expired: vec![None; queue.jobs.len()],
        holders: model.holders(),
        free: std::cell::RefCell::default(),
        roomy: std::cell::RefCell::default(),
    };
    let waiting = (0..queue.jobs.len()).filter(|&job| queue.jobs[job].run.is_none());
    let of = |job: usize| {
        let start = outcome.started[job];
        let drawn_starts = || drawn.iter().filter_map(|starts| starts[job]).collect();
        let (early, late) = start.and_then(|start| range_around(Some(start), drawn_starts(), options.percent)).unzip();
        let ran = outcome.ends[job].zip(start).map(|(end, start)| end - start);
        ExpectedJob {
            job,
            outlook: Outlook {
                start,
                early,
                late,
                reasons: vec![chances(queue, job, start, &drawn, options.clock, reasons.of(job))],
            },
            nodes: outcome.sites[job].iter().map(|&(site, cpus)| (model.nodes[site as usize], cpus)).collect(),
            after: outcome.after[job].clone(),
            known: times[job].known,
            lasts: ran.unwrap_or(means[job]),
        }
    };
    let mut expected: Vec<ExpectedJob> = waiting.map(of).collect();
    let ends = (0..queue.jobs.len()).filter(|&job| queue.jobs[job].run.is_some());
    let ends = ends.filter_map(|job| Some((job, outcome.ends[job]?))).collect();
    let mut remarks = remarks(queue);
    if options.draws < asked {
        remarks.push(format!(
            "the ranges of starts are from {} simulations, because {asked} simulations would take too long for this \
             queue",
            options.draws
        ));
    }
    let is_guessed = |&job: &usize| times[job].known == PredictionSource::Usual && queue.jobs[job].limit.is_none();
    let guessed: Vec<usize> = (0..queue.jobs.len()).filter(is_guessed).collect();
    if let Some(&first) = guessed.first() {
        remarks.push(format!(
            "jobs without a time limit: {} (such as job {}); their run times are unknown, and are predicted as if they had \
             a limit of one day",
            guessed.len(),
            queue.jobs[first].shown
        ));
    }
    if options.times == RunTimes::Limits {
        remarks.extend(without_unlimited(queue, &mut expected));
    }
    Forecast { expected, ends, drawn, remarks }
}

/// Removes the starts of jobs that wait for the end of a job without a time limit, because such a job may run for ever.
/// Returns a warning if there are any.
fn without_unlimited(queue: &Queue, expected: &mut [ExpectedJob]) -> Option<String> {
    let unlimited = queue.jobs.iter().find(|job| job.limit.is_none())?;
    let is_after = |one: &&mut ExpectedJob| one.outlook.start.is_some_and(|start| start >= queue.now + times::LATE);
    let mut count = 0;
    for one in expected.iter_mut().filter(is_after) {
        count += 1;
        let text = "it waits for jobs without a time limit, which may run for ever";
        let reason = WaitReason::new(WaitKind::Resources, "after jobs without a limit", text);
        let reason = reason.with("--times learned predicts the run times of these jobs");
        one.outlook = Outlook { start: None, early: None, late: None, reasons: vec![reason] };
    }
    (count > 0).then(|| {
        format!(
            "the starts of {} are unknown, because jobs without a time limit, such as job {}, may run for ever; omit \
             --times limits to predict their run times",
            counted(count, "pending job"),
            unlimited.shown
        )
    })
}

/// Adds a note to a reason if the job meets its deadline in some simulations and misses the deadline in other
/// simulations.
fn chances(
    queue: &Queue,
    job: usize,
    start: Option<i64>,
    drawn: &[Vec<Option<i64>>],
    clock: &(dyn Fn(i64) -> String + Sync),
    mut why: WaitReason,
) -> WaitReason {
    let Some(deadline) = queue.jobs[job].deadline else { return why };
    let all = drawn.len();
    let missed = drawn.iter().filter(|starts| starts[job].is_none()).count();
    if start.is_some() && missed > 0 {
        why.text +=
            &format!("; in {missed} of {all} simulations, its deadline {} passes before the start", clock(deadline));
    } else if start.is_none() && why.kind == WaitKind::Deadline && missed < all {
        why.text += &format!("; in {} of {all} simulations it starts in time", all - missed);
    }
    why
}

/// Returns the starts of all jobs in each simulation with random run times. Each simulation has its own seed. So the
/// result does not depend on the number of threads. The simulations differ in the time since the last computation of
/// priorities, because Slurm does not state this time.
fn draws<'a>(draws: u32, model: &'a Model<'a>, links: &'a Links, random: &RandomRunTimes) -> Vec<Vec<Option<i64>>> {
    let one = |number: u32| {
        let lasting = random.draw(number);
        let lasts = |job: usize| lasting[job];
        let share = f64::from(number) / f64::from(draws);
        ForecastSimulation::new(model, links, true, &lasts).in_short().with_priority_age(share).run().started
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(draws as usize).max(1);
    let mut all: Vec<(u32, Vec<Option<i64>>)> = thread::scope(|scope| {
        let part = |first: usize| {
            let one = &one;
            scope.spawn(move || {
                (first as u32..draws).step_by(threads).map(|number| (number, one(number))).collect::<Vec<_>>()
            })
        };
        let parts: Vec<_> = (0..threads).map(part).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
    });
    all.sort_by_key(|draw| draw.0);
    all.into_iter().map(|draw| draw.1).collect()
}

/// One of several numbers of nodes that a job accepts, with the predicted start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeCountStart {
    /// Number of nodes.
    pub nodes: u64,
    /// Predicted start in seconds since 1970.
    pub start: Option<i64>,
}

/// Predicts the start of a job for several of the numbers of nodes that the job accepts. Assumes that the run time of
/// the job does not depend on this number. If the job accepts only one number, returns an empty list.
pub fn sizes(queue: &Queue, job: usize, options: &ForecastOptions<'_>) -> Vec<NodeCountStart> {
    let request = &queue.jobs[job].request;
    let (least, most) = (request.min_nodes, request.max_nodes.unwrap_or(request.min_nodes));
    let most = most.min(queue.nodes.len() as u64);
    // In a short range, try all numbers. In a long range, each number is twice the previous one.
    let numbers: Vec<u64> = match most.saturating_sub(least) {
        0 => return Vec::new(),
        1..8 => (least..=most).collect(),
        _ => std::iter::successors(Some(least), |nodes| Some(nodes * 2))
            .take_while(|&nodes| nodes < most)
            .chain([most])
            .collect(),
    };
    let mut changed = queue.clone();
    let one = |nodes: u64| {
        let asked = &mut changed.jobs[job].request;
        asked.min_nodes = nodes;
        asked.max_nodes = Some(nodes);
        asked.cpus = request.cpus.max(nodes.saturating_mul(request.cpus_per_node));
        let quick = ForecastOptions { draws: 0, ..*options };
        let expected = forecast(&changed, &quick).expected;
        NodeCountStart { nodes, start: expected.iter().find(|one| one.job == job).and_then(|one| one.outlook.start) }
    };
    numbers.into_iter().map(one).collect()
}

/// Returns the warnings about the forecast.
fn remarks(queue: &Queue) -> Vec<String> {
    let mut remarks = Vec::new();
    if !queue.hidden.is_empty() {
        let cpus: u64 = queue.hidden.iter().map(|holding| u64::from(holding.cpus)).sum();
        remarks.push(format!(
            "{cpus} processor{} on {} node{} {} held by jobs that you may not see; the ends of these jobs are guessed",
            if cpus == 1 { "" } else { "s" },
            queue.hidden.len(),
            if queue.hidden.len() == 1 { "" } else { "s" },
            if cpus == 1 { "is" } else { "are" },
        ));
    }
    if queue.config.get("PreemptType").is_some_and(|kind| kind != "preempt/none") {
        remarks.push("on this cluster, jobs may preempt other jobs; the forecast ignores this".into());
    }
    let partial: Vec<&str> =
        queue.reservations.iter().filter(|kept| kept.is_partial).map(|kept| kept.name.as_str()).collect();
    if !partial.is_empty() {
        remarks.push(format!(
            "reservations of parts of nodes are treated as reservations of whole nodes: {}",
            partial.join(", ")
        ));
    }
    let ahead = || queue.reservations.iter().filter(|kept| kept.end > queue.now);
    let has = |kept: &&crate::queue::SlurmReservation, flags: &[&str]| {
        kept.flags.iter().any(|flag| flags.contains(&flag.as_str()))
    };
    let names =
        |flags: &[&str]| ahead().filter(|kept| has(kept, flags)).map(|kept| kept.name.as_str()).collect::<Vec<_>>();
    let magnetic = names(&["MAGNETIC"]);
    if !magnetic.is_empty() {
        remarks.push(format!(
            "reservations that attract jobs (MAGNETIC): {}; the forecast uses them only for jobs that name them",
            magnetic.join(", ")
        ));
    }
    let again = names(&["HOURLY", "DAILY", "WEEKDAY", "WEEKEND", "WEEKLY"]);
    if !again.is_empty() {
        remarks.push(format!(
            "reservations that repeat: {}; the forecast knows only the next period of each, so longer jobs may start later \
             than expected, or never",
            again.join(", ")
        ));
    }
    let suspended: Vec<&str> =
        queue.jobs.iter().filter(|job| job.state == crate::JobState::Suspended).map(|job| job.shown.as_str()).collect();
    if let Some(first) = suspended.first() {
        remarks.push(format!(
            "suspended jobs: {} (such as job {first}); they hold their memory, but only the processors that their \
             nodes report as allocated; their ends are predicted as if they continued now",
            suspended.len()
        ));
    }
    if looks::is_large(queue) {
        remarks
            .push("the queue is large, so the forecast has fewer scheduling cycles and reservations than Slurm".into());
    }
    let side_by_side: Vec<&str> = queue
        .jobs
        .iter()
        .filter(|job| job.run.is_none() && job.request.contiguous)
        .map(|job| job.shown.as_str())
        .collect();
    if let Some(first) = side_by_side.first() {
        remarks.push(format!(
            "jobs that request adjacent nodes (--contiguous) are planned on any nodes, so they may start earlier than in Slurm: {}, such as job {first}",
            side_by_side.len()
        ));
    }
    remarks
}
