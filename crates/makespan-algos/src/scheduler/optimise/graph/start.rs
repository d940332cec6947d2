//! The initial solutions for annealing schedules of graphs.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use makespan_core::Objective;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::SearchData;
use crate::kernel::graph::sequence::{ANY, Sequence, SequenceSolution};
use crate::kernel::graph::{GraphProblem, NEVER, TaskPlace, rank};

use crate::scheduler::{cpop, heft, peft};
use crate::search::SearchCourse;

/// Maximum ratios of a task's time to its fastest time in lists by the least time ([`by_least_time`]). For each of
/// these ratios, one list is tried.
const PATIENCE: [f64; 5] = [1.0, 1.2, 1.5, 2.0, f64::INFINITY];
/// Maximum size of an instance for lists by the least time: the number of pairs of a task and a processor.
const MAX_PAIRS: usize = 1 << 18;

/// Maximum relative change of ranks, up or down.
const CHANGE: f64 = 0.5;

/// Returns the best of several sequences. HEFT, CPOP and PEFT give two sequences each. In the first sequence, tasks
/// keep their processors. In the second sequence, each task runs on the processor on which it ends first. Depending on
/// the objective, this function also tries lists by urgency, lists job by job, and lists by the least time. Then it
/// tries the known schedules. Until `course` is over, it tries lists by randomly changed upward ranks.
pub(super) fn best<'a>(each: &SearchData<'a>, random: &mut ChaCha8Rng, course: &mut SearchCourse) -> Sequence<'a> {
    let problem = each.problem;
    let times = rank::mean_times(problem);
    let up = rank::upward(problem, &times);
    let mut best: Option<Sequence<'a>> = None;
    let mut consider = |sequence: Sequence<'a>| {
        if best.as_ref().is_none_or(|best| sequence.value() < best.value()) {
            best = Some(sequence);
        }
    };
    let anywhere = vec![ANY; problem.tasks()];
    for places in [heft::places(problem, &up), cpop::places(problem), peft::places(problem)] {
        let solution = by_start(each, &places);
        let order = solution.order.clone();
        consider(each.sequence(solution));
        consider(each.sequence(SequenceSolution { order, wanted: anywhere.clone() }));
    }
    if each.objective.is_tardiness() {
        let places = heft::places(problem, &urgency(problem));
        consider(each.sequence(by_start(each, &places)));
        consider(each.sequence(SequenceSolution { order: by_start(each, &places).order, wanted: anywhere.clone() }));
    }
    if problem.jobs() > 1 && each.objective != Objective::Makespan && !each.waits_between_jobs() {
        for urgency in [work_over_weight, release_and_work, due] {
            let places = heft::places(problem, &job_by_job(each, &up, urgency));
            consider(each.sequence(by_start(each, &places)));
        }
    }
    if each.counts_ends() {
        for patience in PATIENCE {
            consider(each.sequence(by_least_time(each, patience)));
        }
    }
    for places in each.known {
        consider(each.sequence(by_start(each, places)));
    }
    let mut ranks = up.clone();
    while course.step().is_some() {
        let strength = CHANGE * random.random::<f64>();
        for (rank, &up) in ranks.iter_mut().zip(&up) {
            *rank = up * (1.0 + strength * (2.0 * random.random::<f64>() - 1.0));
        }
        consider(if problem.is_plain() {
            each.sequence(SequenceSolution { order: rank::ready_first(problem, &ranks), wanted: anywhere.clone() })
        } else {
            each.sequence(by_start(each, &heft::places(problem, &ranks)))
        });
    }
    best.expect("HEFT is considered")
}

impl<'a> SearchData<'a> {
    /// Returns whether a sum over the ends of jobs is minimised, and the instance is small enough for lists by the
    /// least time.
    fn counts_ends(&self) -> bool {
        self.objective.is_sum_of_ends() && self.problem.tasks().saturating_mul(self.problem.processors()) <= MAX_PAIRS
    }

    /// Returns whether a task waits for a task of another job. If so, not every order of the jobs is possible.
    fn waits_between_jobs(&self) -> bool {
        let job = |task: u32| self.problem.job_of(task);
        let of_another = |task: u32| self.problem.incoming(task).iter().any(|from| job(from.task) != job(task));
        (0..self.problem.tasks() as u32).any(of_another)
    }

    /// Returns the data of a job. The release and the work of its tasks are not yet included.
    fn job(&self, job: usize) -> Job {
        let weight = if self.objective.is_mean() { 1.0 } else { self.weights[job] };
        Job { release: i64::MAX, work: 0.0, weight, due: self.problem.dues()[job] }
    }

    fn sequence(&self, solution: SequenceSolution) -> Sequence<'a> {
        let sequence = Sequence::new(self.problem, self.objective, self.weights, solution);
        match self.limit {
            Some(limit) => sequence.within(limit),
            None => sequence,
        }
    }
}

/// Returns ranks that put all tasks of one job before the tasks of the next job. Jobs are sorted by increasing
/// `figure`, and the tasks within a job by decreasing rank in `ranks`.
fn job_by_job(each: &SearchData<'_>, ranks: &[f64], figure: fn(&Job) -> f64) -> Vec<f64> {
    let problem = each.problem;
    let mut jobs: Vec<Job> = (0..problem.jobs()).map(|job| each.job(job)).collect();
    for task in 0..problem.tasks() as u32 {
        let job = &mut jobs[problem.job_of(task).index()];
        job.work += problem.times(task).iter().copied().min().unwrap_or(0) as f64 / problem.processors() as f64;
        job.release = job.release.min(problem.release(task));
    }
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by(|&a, &b| figure(&jobs[b]).total_cmp(&figure(&jobs[a])));
    let most = ranks.iter().copied().fold(0.0, f64::max) + 1.0;
    let mut above = vec![0.0; jobs.len()];
    (0..).zip(order).for_each(|(place, job)| above[job] = f64::from(place) * most);
    (0..problem.tasks() as u32).zip(ranks).map(|(task, rank)| above[problem.job_of(task).index()] + rank).collect()
}

/// The data that determine the urgency of a job.
struct Job {
    release: i64,
    /// The sum of the fastest times of the tasks, divided by the number of processors.
    work: f64,
    weight: f64,
    due: Option<i64>,
}

/// Returns the key for Smith's rule over whole jobs.
fn work_over_weight(job: &Job) -> f64 {
    job.work / job.weight.max(f64::MIN_POSITIVE)
}

/// Returns the approximate end of the job if it runs alone.
fn release_and_work(job: &Job) -> f64 {
    job.release as f64 + job.work
}

/// Returns the deadline. Jobs without a deadline come last.
fn due(job: &Job) -> f64 {
    job.due.map_or(f64::INFINITY, |due| due as f64)
}

/// Returns a list that is made forward in time. Whenever a task ends or may start, waiting tasks start on idle
/// processors. The quotient of a waiting task and an idle processor is the time of the task on the processor divided by
/// the weight of the task's job. The pair with the least quotient comes first. Pairs on which the task takes more than
/// `patience` times its fastest time are ignored. A task waits until its predecessors have ended. Closed processors and
/// transfers are ignored.
fn by_least_time(each: &SearchData<'_>, patience: f64) -> SequenceSolution {
    let problem = each.problem;
    let tasks = problem.tasks();
    let is_mean = each.objective.is_mean();
    let weight = |task: u32| if is_mean { 1.0 } else { each.weights[problem.job_of(task).index()] };
    let longest = |task: u32| {
        let fastest = problem.times(task).iter().copied().min().unwrap_or(NEVER);
        if patience.is_finite() { ((fastest as f64 * patience) as i64).max(fastest) } else { NEVER - 1 }
    };
    let mut before: Vec<usize> = (0..tasks as u32).map(|task| problem.incoming(task).len()).collect();
    let mut coming: BinaryHeap<Reverse<(i64, u32)>> = (0..tasks as u32)
        .filter(|&task| before[task as usize] == 0)
        .map(|task| Reverse((problem.release(task), task)))
        .collect();
    let mut running: BinaryHeap<Reverse<(i64, u32, usize)>> = BinaryHeap::new();
    let mut idle = vec![true; problem.processors()];
    // The waiting tasks for each node, sorted by time divided by weight.
    let mut waiting: Vec<BTreeSet<(u64, u32)>> = vec![BTreeSet::new(); problem.nodes()];
    let keys = |task: u32| {
        let (longest, weight) = (longest(task), weight(task).max(f64::MIN_POSITIVE));
        problem.node_ids().filter_map(move |node| {
            let time = problem.time(task, node);
            // The bits of nonnegative floating-point numbers sort like the numbers.
            (time < NEVER && time <= longest).then(|| (node, ((time as f64 / weight).to_bits(), task)))
        })
    };
    let (mut order, mut wanted) = (Vec::with_capacity(tasks), vec![ANY; tasks]);
    loop {
        let next = running.peek().map(|Reverse((end, ..))| *end).into_iter();
        let Some(now) = next.chain(coming.peek().map(|Reverse((at, _))| *at)).min() else { break };
        while let Some(&Reverse((end, task, processor))) = running.peek().filter(|Reverse((end, ..))| *end <= now) {
            running.pop();
            idle[processor] = true;
            for to in problem.outgoing(task) {
                let left = &mut before[to.task as usize];
                *left -= 1;
                if *left == 0 {
                    coming.push(Reverse((end.max(problem.release(to.task)), to.task)));
                }
            }
        }
        while let Some(&Reverse((_, task))) = coming.peek().filter(|Reverse((at, _))| *at <= now) {
            coming.pop();
            keys(task).for_each(|(node, key)| _ = waiting[node.index()].insert(key));
        }
        loop {
            let free = problem.processor_ids().filter(|processor| idle[processor.index()]);
            let first = free.filter_map(|processor| {
                waiting[problem.node_of(processor).index()].first().map(|&key| (key, processor))
            });
            let Some(((_, task), processor)) = first.min() else { break };
            idle[processor.index()] = false;
            running.push(Reverse((now + problem.time(task, problem.node_of(processor)), task, processor.index())));
            keys(task).for_each(|(node, key)| _ = waiting[node.index()].remove(&key));
            order.push(task);
            wanted[task as usize] = processor;
        }
    }
    SequenceSolution { order, wanted }
}

/// Returns ranks that sort tasks by urgency. The latest start of a task is the latest instant with which this task, and
/// all tasks that wait for it, can meet their deadlines. The task with the earliest latest start comes first. Tasks
/// come last if neither they nor any tasks that wait for them have a deadline. These tasks are sorted by decreasing
/// longest path to the end of the graph.
fn urgency(problem: &GraphProblem) -> Vec<f64> {
    let fastest = |task: u32| problem.times(task).iter().copied().min().unwrap_or(0);
    let last = problem.dues().iter().flatten().copied().max().unwrap_or(0);
    // For tasks without a deadline, use an instant after all deadlines.
    let never = (0..problem.tasks() as u32).map(fastest).fold(last, i64::saturating_add);
    let mut latest = vec![0_i64; problem.tasks()];
    for &task in problem.order().iter().rev() {
        let own = problem.due(task).unwrap_or(never);
        let after = problem.outgoing(task).iter().map(|to| latest[to.task as usize]).min();
        latest[task as usize] = after.map_or(own, |after| after.min(own)) - fastest(task);
    }
    latest.into_iter().map(|latest| -(latest as f64)).collect()
}

/// Returns the tasks sorted by start, each with its processor.
fn by_start(each: &SearchData<'_>, places: &[TaskPlace]) -> SequenceSolution {
    let mut order = each.problem.order().to_vec();
    order.sort_by_key(|&task| places[task as usize].start);
    SequenceSolution { order, wanted: places.iter().map(|place| place.processor).collect() }
}
