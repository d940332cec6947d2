//! When the jobs of a queue will start: the future is played event by event, at the level of nodes.
//!
//! The scheduler of the play sees what Slurm's sees: limits, partitions, features, reservations, licences, dependencies. It starts jobs from
//! the head of the queue, and at intervals fills gaps without putting off those that come before. Jobs really end as was learned from
//! those that ended, or where nothing is known as jobs of public logs do.
//!
//! All that is told of one queue is of one future, in which every job runs for its mean time: starts, ends, nodes, reasons. Played again
//! with run times that are drawn, starts spread, which says how sure they are.
//!
//! ```
//! use makespan_slurm::forecast::{Options, RunTimes, forecast};
//! use makespan_slurm::queue::{Part, Texts};
//!
//! let node = "NodeName=n0 CPUTot=4 CPUAlloc=4 State=ALLOCATED Partitions=p";
//! let running = "JobId=1 JobName=a UserId=u(1) Priority=9 JobState=RUNNING StartTime=100 EndTime=700 RunTime=00:05:00 TimeLimit=00:10:00 \
//!                Partition=p NodeList=n0 NumNodes=1 NumCPUs=4";
//! let waiting = "JobId=2 JobName=b UserId=u(1) Priority=8 JobState=PENDING TimeLimit=00:10:00 Partition=p NumNodes=1 NumCPUs=4";
//! let texts = Texts::default().with(Part::Nodes, node).with(Part::Jobs, format!("{running}\n{waiting}\n"));
//! let queue = texts.queue(None).unwrap();
//! let options = Options { times: RunTimes::Limits, ..Options::default() };
//! let expected = &forecast(&queue, &options).expected[0];
//! assert_eq!((queue.now, expected.start), (400, Some(700)));
//! ```

mod alike;
mod bid;
mod bits;
mod counters;
mod drawing;
mod looks;
mod model;
mod outcome;
mod play;
mod ready;
mod reason;
mod shape;
mod soonest;
mod times;
mod too_few;
mod usual;
mod why;
mod world;

use std::thread;

pub use times::{Known, RunTimes};
pub use why::Why;

use crate::queue::Queue;
use bid::Bid;
use drawing::Drawing;
use looks::Looks;
use model::Model;
use outcome::Outcome;
use play::Play;
use ready::Links;
use reason::Reasons;
use times::{Learned, Times};

/// Nodes that are looked at in all plays together, and how many draws are made whatever they cost: what is asked at a prompt is to be
/// answered in seconds.
const MAX_LOOKED: u64 = 40_000_000;
const LEAST_DRAWS: u64 = 4;

/// How the future is played.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// How often with run times that are drawn; 0 for no spread. Less often where a play takes long, which is remarked.
    pub draws: u32,
    /// Of the draws: the same seed gives the same spread.
    pub seed: u64,
    /// From what run times are to be known.
    pub times: RunTimes,
    /// Clock times in words, for reasons.
    pub clock: &'a (dyn Fn(i64) -> String + Sync),
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { draws: 20, seed: 1, times: RunTimes::Learned, clock: &|seconds| seconds.to_string() }
    }
}

/// What is expected of a job that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// Which job of the queue.
    pub job: usize,
    /// When it is expected to start, in seconds after 1970; `None` where it will not before somebody changes something.
    pub start: Option<i64>,
    /// A start that is as early as one in ten.
    pub early: Option<i64>,
    /// A start that is as late as one in ten.
    pub late: Option<i64>,
    /// Nodes of the queue that it is expected to get, and how many processors of each.
    pub nodes: Vec<(usize, u32)>,
    /// Jobs of the queue whose ends it waits for.
    pub after: Vec<usize>,
    /// From what its run time is known.
    pub known: Known,
    /// Seconds that it is expected to run, less than usual where it gets less than its limit.
    pub lasts: i64,
    /// Why it does not start now.
    pub why: Why,
}

/// What is expected of a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// Of each job that waits, in the queue's order.
    pub expected: Vec<Expected>,
    /// When each running job is expected to end, by its index in the queue.
    pub ends: Vec<(usize, i64)>,
    /// What the play does not know, in sentences.
    pub remarks: Vec<String>,
}

/// When each job is expected to start, how sure that is, and why it waits.
pub fn forecast(queue: &Queue, options: &Options<'_>) -> Forecast {
    let model = Model::of(queue);
    let links = Links::of(queue);
    let times = Learned::of(queue, options.times).of_jobs(&queue.jobs);
    let ran = |job: usize| queue.jobs[job].run.as_ref().map_or(0, |run| (queue.now - run.started).max(0));
    let looks = Looks::of(&model);
    let means: Vec<i64> = (0..times.len()).map(|job| times[job].mean(ran(job))).collect();
    let lasts = |job: usize| means[job];
    let mut play = Play::new(&model, &links, looks, &lasts);
    let outcome = Play::new(&model, &links, looks, &lasts).run();
    let misses = outcome.expired.iter().any(Option::is_some);
    let without_deadlines = misses.then(|| Play::new(&model, &links, looks.without_deadlines(), &lasts).run());
    play.first_look();
    // Who takes limits for run times draws none.
    let asked = if options.times == RunTimes::Limits { 0 } else { options.draws };
    let affordable = (MAX_LOOKED / outcome.looked.max(1)).saturating_sub(1).max(LEAST_DRAWS) as u32;
    let options = &Options { draws: asked.min(affordable), ..*options };
    let drawn = draws(options, &model, &links, &times, &ran);
    let mut bids: Vec<Option<Bid>> = vec![None; queue.jobs.len()];
    for bid in model.bids.iter().rev() {
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
        holders: counters::holders(queue, &model.uses),
        free: std::cell::RefCell::default(),
        roomy: std::cell::RefCell::default(),
    };
    let waiting = (0..queue.jobs.len()).filter(|&job| queue.jobs[job].run.is_none());
    let of = |job: usize| {
        let start = outcome.started[job];
        let (early, late) = start.and_then(|start| spread(start, &drawn, job)).unzip();
        let ran = outcome.ends[job].zip(start).map(|(end, start)| end - start);
        Expected {
            job,
            start,
            early,
            late,
            nodes: outcome.sites[job].iter().map(|&(site, cpus)| (model.sites[site as usize].node, cpus)).collect(),
            after: outcome.after[job].clone(),
            known: times[job].known,
            lasts: ran.unwrap_or(means[job]),
            why: chances(queue, job, start, &drawn, options.clock, reasons.of(job)),
        }
    };
    let expected = waiting.map(of).collect();
    let ends = (0..queue.jobs.len()).filter(|&job| queue.jobs[job].run.is_some());
    let ends = ends.filter_map(|job| Some((job, outcome.ends[job]?))).collect();
    let mut remarks = remarks(queue);
    if options.draws < asked {
        remarks.push(format!(
            "the spread of starts is that of {} plays of the future in place of {asked}, which would take too long for a queue like this",
            options.draws
        ));
    }
    Forecast { expected, ends, remarks }
}

/// A reason with what is said of a deadline that is met in some plays only.
fn chances(
    queue: &Queue,
    job: usize,
    start: Option<i64>,
    drawn: &[Vec<Option<i64>>],
    clock: &(dyn Fn(i64) -> String + Sync),
    mut why: Why,
) -> Why {
    let Some(deadline) = queue.jobs[job].deadline else { return why };
    let all = drawn.len();
    let missed = drawn.iter().filter(|starts| starts[job].is_none()).count();
    if start.is_some() && missed > 0 {
        why.text += &format!("; in {missed} of {all} plays its deadline {} passes first", clock(deadline));
    } else if start.is_none() && why.kind == "deadline" && missed < all {
        why.text += &format!("; in {} of {all} plays it starts in time", all - missed);
    }
    why
}

/// An early and a late start around the expected one, if some were drawn.
fn spread(start: i64, drawn: &[Vec<Option<i64>>], job: usize) -> Option<(i64, i64)> {
    let mut starts: Vec<i64> = drawn.iter().filter_map(|starts| starts[job]).collect();
    starts.sort_unstable();
    let at = |tenths: usize| starts.get((starts.len().saturating_sub(1) * tenths + 5) / 10).copied();
    // What waits for the first of several ends starts earlier in nearly all draws than where each takes its mean time.
    Some((at(1)?.min(start), at(9)?.max(start)))
}

/// The starts of all jobs, played with drawn run times. Each draw has its own seed, so that threads do not matter.
fn draws<'a>(
    options: &Options<'_>,
    model: &'a Model<'a>,
    links: &'a Links,
    times: &[Times],
    ran: &(dyn Fn(usize) -> i64 + Sync),
) -> Vec<Vec<Option<i64>>> {
    let one = |number: u32| {
        let lasting = Drawing::new(number, options.seed).all(times, ran);
        let lasts = |job: usize| lasting[job];
        played(model, links, &lasts)
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(options.draws as usize).max(1);
    let mut all: Vec<(u32, Vec<Option<i64>>)> = thread::scope(|scope| {
        let part = |first: usize| {
            let one = &one;
            scope.spawn(move || {
                (first as u32..options.draws).step_by(threads).map(|number| (number, one(number))).collect::<Vec<_>>()
            })
        };
        let parts: Vec<_> = (0..threads).map(part).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
    });
    all.sort_by_key(|draw| draw.0);
    all.into_iter().map(|draw| draw.1).collect()
}

fn played<'a>(model: &'a Model<'a>, links: &'a Links, lasts: &'a dyn Fn(usize) -> i64) -> Vec<Option<i64>> {
    let Outcome { started, .. } = Play::new(model, links, Looks::of(model), lasts).in_short().run();
    started
}

/// A job of so many nodes, in place of the range that it states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Nodes.
    pub nodes: u64,
    /// When it would start, in seconds after 1970.
    pub start: Option<i64>,
}

/// When a job with a range of nodes would start with fewer or more of them, if it ran as long on any number. Nothing for a job
/// without a range.
pub fn sizes(queue: &Queue, job: usize, options: &Options<'_>) -> Vec<Size> {
    let request = &queue.jobs[job].request;
    let (least, most) = (request.min_nodes, request.max_nodes.unwrap_or(request.min_nodes));
    let most = most.min(queue.nodes.len() as u64);
    // All of a short range; of a long one each doubling.
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
        let quick = Options { draws: 0, ..*options };
        let expected = forecast(&changed, &quick).expected;
        Size { nodes, start: expected.iter().find(|one| one.job == job).and_then(|one| one.start) }
    };
    numbers.into_iter().map(one).collect()
}

/// What the play leaves out.
fn remarks(queue: &Queue) -> Vec<String> {
    let mut remarks = Vec::new();
    if !queue.hidden.is_empty() {
        let cpus: u64 = queue.hidden.iter().map(|holding| u64::from(holding.cpus)).sum();
        remarks.push(format!(
            "{cpus} processor{} on {} node{} {} held by jobs that you may not see; when they end is a guess",
            if cpus == 1 { "" } else { "s" },
            queue.hidden.len(),
            if queue.hidden.len() == 1 { "" } else { "s" },
            if cpus == 1 { "is" } else { "are" },
        ));
    }
    if queue.config.get("PreemptType").is_some_and(|kind| kind != "preempt/none") {
        remarks.push("jobs may preempt others here, which is not foreseen".into());
    }
    let partial: Vec<&str> =
        queue.reservations.iter().filter(|kept| kept.is_partial).map(|kept| kept.name.as_str()).collect();
    if !partial.is_empty() {
        remarks.push(format!("reservations of parts of nodes count as whole nodes: {}", partial.join(", ")));
    }
    let suspended: Vec<&str> =
        queue.jobs.iter().filter(|job| job.state == crate::JobState::Suspended).map(|job| job.shown.as_str()).collect();
    if let Some(first) = suspended.first() {
        remarks.push(format!(
            "jobs that are suspended keep their processors here, and their ends are told as if they went on now: {}, such as job {first}",
            suspended.len()
        ));
    }
    let side_by_side: Vec<&str> = queue
        .jobs
        .iter()
        .filter(|job| job.run.is_none() && job.request.contiguous)
        .map(|job| job.shown.as_str())
        .collect();
    if let Some(first) = side_by_side.first() {
        remarks.push(format!(
            "jobs that ask for nodes side by side (--contiguous) are let start on any, earlier than Slurm may do it: {}, such as job {first}",
            side_by_side.len()
        ));
    }
    remarks
}
