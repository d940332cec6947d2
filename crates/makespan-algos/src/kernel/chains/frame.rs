//! One job of a problem, on processors or on types of them: what does not change while it is planned.

use makespan_core::{Instance, Time, task_cost};

use super::ranking::Chart;
use crate::kernel::graph::calendar::Calendar;
use crate::kernel::graph::{NEVER, Neighbour, Problem};

/// Of larger jobs the tasks before and after each task are not added up.
const MOST_SUMMED: usize = 4096;

/// One job of a problem, with what does not change while it is planned. Its tasks are numbered from 0.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    problem: &'a Problem,
    first: u32,
    /// Fastest times and mean transfers.
    pub chart: Chart,
    /// For each task and processor what the task costs there; zero where it cannot run.
    cost: Vec<i64>,
    /// For each task how long all that it waits for takes on all processors together.
    pub before: Vec<i64>,
    /// How long all that waits for it takes.
    pub after: Vec<i64>,
    /// The processors that tasks are placed on, or one of each type.
    machines: Vec<u32>,
    /// For each processor the position in `machines` of what stands for it.
    kinds: Vec<u32>,
    types: bool,
}

impl<'a> Frame<'a> {
    /// The tasks of job `job`, which start at number `first` of the problem. With `types`, one processor stands for all
    /// that are alike, and is never occupied.
    pub fn new(instance: &Instance, problem: &'a Problem, (job, first): (usize, u32), types: bool) -> Self {
        let job = &instance.jobs()[job];
        let count = job.tasks_apart();
        let processors = 0..problem.processors() as u32;
        let (machines, kinds) = if types {
            kinds(problem, first..first + count)
        } else {
            (processors.clone().collect(), processors.collect())
        };
        let mut cost = Vec::with_capacity(count as usize * problem.processors());
        for task in 0..count {
            let volume = makespan_core::volume(job.profile_of(task));
            for processor in 0..problem.processors() as u32 {
                let time = problem.time(first + task, problem.node_of(processor));
                cost.push(if time == NEVER { 0 } else { task_cost(volume, Time::from_ticks(time)) });
            }
        }
        let chart = Chart::of(problem, first, count);
        let shares: Vec<f64> = (first..first + count)
            .map(|task| {
                let rate = |processor: u32| 1.0 / problem.time(task, problem.node_of(processor)) as f64;
                1.0 / (0..problem.processors() as u32).map(rate).sum::<f64>()
            })
            .collect();
        let mut frame =
            Self { problem, first, chart, cost, before: Vec::new(), after: Vec::new(), machines, kinds, types };
        frame.before = sums(&frame, &shares, frame.chart.order.iter().copied(), |task| problem.incoming(task));
        frame.after = sums(&frame, &shares, frame.chart.order.iter().rev().copied(), |task| problem.outgoing(task));
        frame
    }

    /// How many tasks.
    pub fn tasks(&self) -> usize {
        self.chart.times.len()
    }

    /// The problem.
    pub fn problem(&self) -> &'a Problem {
        self.problem
    }

    /// The processors that tasks are placed on, or one of each type.
    pub fn machines(&self) -> &[u32] {
        &self.machines
    }

    /// Whether these stand for types of processors.
    pub fn is_of_types(&self) -> bool {
        self.types
    }

    /// When every processor of a type is busy, for each of [`Frame::machines`] at the place of its processor.
    pub fn calendars_by_type(&self, calendars: &[Calendar]) -> Vec<Calendar> {
        let mut joint = vec![Calendar::default(); calendars.len()];
        for (kind, &machine) in self.machines.iter().enumerate() {
            let own = calendars.iter().zip(&self.kinds).filter(|(_, other)| **other as usize == kind);
            let all = own.map(|(calendar, _)| calendar.clone()).reduce(|all, next| all.overlap(&next));
            joint[machine as usize] = all.unwrap_or_default();
        }
        joint
    }

    /// The number of a task in the problem.
    pub fn number(&self, task: u32) -> u32 {
        self.first + task
    }

    /// The tasks before and after a task, numbered in this job, with the edges between.
    pub fn incoming(&self, task: u32) -> impl Iterator<Item = Neighbour> + '_ {
        self.problem.incoming(self.first + task).iter().map(|from| Neighbour { task: from.task - self.first, ..*from })
    }

    /// The tasks that wait for a task.
    pub fn outgoing(&self, task: u32) -> impl Iterator<Item = Neighbour> + '_ {
        self.problem.outgoing(self.first + task).iter().map(|to| Neighbour { task: to.task - self.first, ..*to })
    }

    /// The time of a task on a processor; [`NEVER`] where it cannot run.
    pub fn time_on(&self, task: u32, processor: u32) -> i64 {
        self.problem.time(self.first + task, self.problem.node_of(processor))
    }

    /// What a task costs on a processor.
    pub fn cost_on(&self, task: u32, processor: u32) -> i64 {
        self.cost[task as usize * self.problem.processors() + processor as usize]
    }

    /// How long an edge takes between two processors.
    pub fn transfer(&self, edge: u32, from: u32, to: u32) -> i64 {
        self.problem.network().time(edge, self.problem.node_of(from), self.problem.node_of(to))
    }

    /// How long an edge takes on average.
    pub fn mean_transfer(&self, edge: u32) -> i64 {
        self.problem.network().mean(edge).ceil() as i64
    }

    /// When the job is released.
    pub fn release(&self) -> i64 {
        self.problem.release(self.first)
    }
}

/// The first processor of each type, and for each processor its type: all tasks take equally long on those of one type.
fn kinds(problem: &Problem, tasks: std::ops::Range<u32>) -> (Vec<u32>, Vec<u32>) {
    let (mut found, mut kinds): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    for processor in 0..problem.processors() as u32 {
        let node = problem.node_of(processor);
        let alike = |&other: &u32| {
            let other = problem.node_of(other);
            tasks.clone().all(|task| problem.time(task, node) == problem.time(task, other))
        };
        let kind = found.iter().position(alike).unwrap_or(found.len());
        if kind == found.len() {
            found.push(processor);
        }
        kinds.push(kind as u32);
    }
    (found, kinds)
}

/// For each task the sum of shares over all tasks that lead to it by `edges`, each counted once.
fn sums<'b>(
    frame: &Frame,
    shares: &[f64],
    order: impl Iterator<Item = u32>,
    edges: impl Fn(u32) -> &'b [Neighbour],
) -> Vec<i64> {
    let tasks = frame.tasks();
    let mut sums = vec![0; tasks];
    if tasks > MOST_SUMMED {
        return sums;
    }
    let words = tasks.div_ceil(64);
    let mut sets = vec![0_u64; tasks * words];
    for task in order {
        for neighbour in edges(frame.first + task) {
            let other = (neighbour.task - frame.first) as usize;
            for word in 0..words {
                sets[task as usize * words + word] |= sets[other * words + word];
            }
            sets[task as usize * words + other / 64] |= 1 << (other % 64);
        }
        let set = &sets[task as usize * words..][..words];
        let member = |&other: &usize| set[other / 64] >> (other % 64) & 1 == 1;
        sums[task as usize] = coarse((0..tasks).filter(member).map(|other| shares[other]).sum());
    }
    sums
}

/// A duration rounded down to twenty binary digits, so that times in finer ticks of a power of two round alike.
fn coarse(sum: f64) -> i64 {
    const DIGITS: u32 = 20;
    let ticks = sum as i64;
    let step = ticks.max(1).ilog2().saturating_sub(DIGITS);
    ticks >> step << step
}
