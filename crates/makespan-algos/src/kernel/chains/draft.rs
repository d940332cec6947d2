//! A job half planned: which of its tasks are placed, and what room they leave to the others.

use makespan_core::{Instance, Time, task_cost};

use super::planning::{Criterion, Lean};
use super::ranking::Chart;
use crate::kernel::graph::calendar::Calendar;
use crate::kernel::graph::{NEVER, Neighbour, Place, Problem};

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
    /// For each task how long all that it waits for, and all that waits for it, take on all processors together.
    before: Vec<i64>,
    after: Vec<i64>,
    /// The processors that tasks are placed on, or one of each type.
    machines: Vec<u32>,
    types: bool,
}

/// From when on, and until when, each task may start as far as tasks that are not placed are concerned.
#[derive(Clone, Debug)]
pub struct Windows {
    earliest: Vec<i64>,
    latest: Vec<i64>,
}

/// Places of some tasks of a job, on processors that other jobs may hold at times.
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    frame: &'a Frame<'a>,
    calendars: Vec<Calendar>,
    places: Vec<Option<Place>>,
}

impl<'a> Frame<'a> {
    /// The tasks of job `job`, which start at number `first` of the problem. With `types`, one processor stands for all
    /// that are alike, and is never occupied.
    pub fn new(instance: &Instance, problem: &'a Problem, (job, first): (usize, u32), types: bool) -> Self {
        let job = &instance.jobs()[job];
        let count = job.tasks_apart();
        let processors = 0..problem.processors() as u32;
        let machines = if types { representatives(problem, first..first + count) } else { processors.collect() };
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
        let mut frame = Self { problem, first, chart, cost, before: Vec::new(), after: Vec::new(), machines, types };
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
    fn mean_transfer(&self, edge: u32) -> i64 {
        self.problem.network().mean(edge).ceil() as i64
    }

    /// When the job is released.
    pub fn release(&self) -> i64 {
        self.problem.release(self.first)
    }
}

/// The first processor of each type: all tasks take equally long on those of one type.
fn representatives(problem: &Problem, tasks: std::ops::Range<u32>) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    for processor in 0..problem.processors() as u32 {
        let node = problem.node_of(processor);
        let alike = |&other: &u32| {
            let other = problem.node_of(other);
            tasks.clone().all(|task| problem.time(task, node) == problem.time(task, other))
        };
        if !found.iter().any(alike) {
            found.push(processor);
        }
    }
    found
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
        sums[task as usize] = (0..tasks).filter(member).map(|other| shares[other]).sum::<f64>() as i64;
    }
    sums
}

impl<'a> Draft<'a> {
    /// Nothing of the job is placed; `calendars`, one a processor, hold what else there is.
    pub fn new(frame: &'a Frame<'a>, calendars: Vec<Calendar>) -> Self {
        Self { frame, calendars, places: vec![None; frame.tasks()] }
    }

    /// The job.
    pub fn frame(&self) -> &'a Frame<'a> {
        self.frame
    }

    /// When the job is released.
    pub fn release(&self) -> i64 {
        self.frame.release()
    }

    /// How many processors, or types of them, there are to choose from.
    pub fn processors(&self) -> usize {
        self.frame.machines.len()
    }

    /// Whether a task is placed.
    pub fn is_placed(&self, task: u32) -> bool {
        self.places[task as usize].is_some()
    }

    /// Whether the same tasks have the same places.
    pub fn has_same_places(&self, other: &Self) -> bool {
        self.places == other.places
    }

    /// The places; `None` while a task has none.
    pub fn places(&self) -> Option<Vec<Place>> {
        self.places.iter().copied().collect()
    }

    /// When each processor is busy.
    pub fn calendars(&self) -> &[Calendar] {
        &self.calendars
    }

    /// The time of a task on one of the processors to choose from.
    pub fn time(&self, task: u32, machine: u32) -> i64 {
        self.frame.time_on(task, self.frame.machines[machine as usize])
    }

    /// What it is worth to have a task there: less is better.
    pub fn weight(&self, task: u32, machine: u32, criterion: Criterion) -> i64 {
        let processor = self.frame.machines[machine as usize];
        match criterion {
            _ if self.frame.time_on(task, processor) == NEVER => 0,
            Criterion::Cost => self.frame.cost_on(task, processor),
            Criterion::Utilisation => -self.frame.time_on(task, processor),
        }
    }

    /// Cost so far, and processor time.
    pub fn figures(&self) -> (i64, i64) {
        let each = self.places.iter().enumerate().filter_map(|(task, place)| Some((task as u32, (*place)?)));
        each.fold((0, 0), |(cost, busy), (task, place)| {
            let frame = self.frame;
            (cost + frame.cost_on(task, place.processor), busy + frame.time_on(task, place.processor))
        })
    }

    /// When the last task placed so far ends.
    pub fn finish(&self) -> i64 {
        (0..self.frame.tasks() as u32).filter_map(|task| self.end(task)).max().unwrap_or_else(|| self.release())
    }

    /// The end of a task, if it is placed.
    pub fn end(&self, task: u32) -> Option<i64> {
        let place = self.places[task as usize]?;
        Some(place.start + self.frame.time_on(task, place.processor))
    }

    /// Steps from the end of a task on one processor to the earliest end of the next one, reached by an edge, on another.
    pub fn shift(&self, (next, edge): (u32, u32), from: u32, to: u32, step: i64) -> Option<usize> {
        let machines = &self.frame.machines;
        let time = self.time(next, to);
        if time == NEVER {
            return None;
        }
        let way = self.frame.transfer(edge, machines[from as usize], machines[to as usize]);
        usize::try_from((way + time + step - 1) / step).ok()
    }

    /// How long an edge takes between two tasks of which both have a processor. Two processors of one type may be two.
    fn way(&self, edge: u32, from: u32, to: u32) -> i64 {
        let way = self.frame.transfer(edge, from, to);
        if self.frame.types && from == to { way.max(self.frame.mean_transfer(edge)) } else { way }
    }

    /// Whether an edge between two placed tasks is kept.
    pub fn keeps(&self, from: u32, to: u32, edge: u32) -> bool {
        let (Some(end), Some(first), Some(next)) =
            (self.end(from), self.places[from as usize], self.places[to as usize])
        else {
            return false;
        };
        end + self.frame.transfer(edge, first.processor, next.processor) <= next.start
    }

    /// From when on and until when tasks may start so that those that are not placed find room before `end`: each at its
    /// fastest with mean transfers (none between two of `chain`), and all before and after it on all processors together.
    pub fn windows(&self, end: i64, chain: &[u32]) -> Windows {
        let (frame, tasks) = (self.frame, self.frame.tasks());
        let mut own = vec![false; tasks];
        chain.iter().for_each(|&task| own[task as usize] = true);
        let way = |task: u32, other: Neighbour| {
            if own[task as usize] && own[other.task as usize] { 0 } else { frame.mean_transfer(other.edge) }
        };
        let fastest = &frame.chart.times;
        let mut windows = Windows { earliest: vec![0; tasks], latest: vec![0; tasks] };
        for &task in &frame.chart.order {
            let each = frame.incoming(task).map(|from| {
                let at = from.task as usize;
                self.end(from.task).unwrap_or(windows.earliest[at] + fastest[at] + way(task, from))
            });
            let least = self.release() + frame.before[task as usize];
            windows.earliest[task as usize] = each.fold(least, i64::max);
        }
        for &task in frame.chart.order.iter().rev() {
            let each = frame.outgoing(task).map(|to| {
                let placed = self.places[to.task as usize].map(|place| place.start);
                placed.unwrap_or_else(|| windows.latest[to.task as usize] - way(task, to))
            });
            let most = end - frame.after[task as usize];
            windows.latest[task as usize] = each.fold(most, i64::min) - fastest[task as usize];
        }
        windows
    }

    /// The intervals in which a task may end on one processor: it is free there for all of the time, data come from
    /// placed tasks before and arrive at placed tasks in time, and the windows are kept.
    pub fn ends(&self, task: u32, machine: u32, windows: &Windows, limit: (i64, &[u32])) -> Vec<(i64, i64)> {
        let (frame, processor, (end, chain)) = (self.frame, self.frame.machines[machine as usize], limit);
        let time = frame.time_on(task, processor);
        if time == NEVER {
            return Vec::new();
        }
        let mut low = windows.earliest[task as usize];
        for from in frame.incoming(task) {
            if let (Some(end), Some(place)) = (self.end(from.task), self.places[from.task as usize]) {
                low =
                    low.max(end + self.way_in_chain((from.task, task), from.edge, (place.processor, processor), chain));
            }
        }
        // The latest start is for the fastest processor; what counts is the end.
        let mut high = end.min(windows.latest[task as usize] + frame.chart.times[task as usize]);
        for to in frame.outgoing(task) {
            if let Some(place) = self.places[to.task as usize] {
                let way = self.way_in_chain((task, to.task), to.edge, (processor, place.processor), chain);
                high = high.min(place.start - way);
            }
        }
        let mut free = Vec::new();
        let mut from = low;
        for &(start, until) in self.calendars[processor as usize].busy() {
            if start >= high {
                break;
            }
            if until > from {
                if from + time <= start {
                    free.push((from + time, start));
                }
                from = until;
            }
        }
        if from + time <= high {
            free.push((from + time, high));
        }
        free
    }

    /// The neighbours in a chain may share a processor of their type; others of that type are another one.
    fn way_in_chain(&self, pair: (u32, u32), edge: u32, (from, to): (u32, u32), chain: &[u32]) -> i64 {
        let joined = chain.windows(2).any(|next| (next[0], next[1]) == pair);
        if joined { self.frame.transfer(edge, from, to) } else { self.way(edge, from, to) }
    }

    /// Places a task on one of the processors to choose from.
    pub fn put(&mut self, task: u32, machine: u32, start: i64) {
        self.put_on(task, Place { processor: self.frame.machines[machine as usize], start });
    }

    /// Places a task on a processor.
    pub fn put_on(&mut self, task: u32, place: Place) {
        self.places[task as usize] = Some(place);
        if !self.frame.types {
            let end = place.start + self.frame.time_on(task, place.processor);
            self.calendars[place.processor as usize].occupy(place.start, end);
        }
    }

    /// Takes a task away.
    pub fn lift(&mut self, task: u32) {
        if let (Some(place), Some(end)) = (self.places[task as usize], self.end(task)) {
            self.places[task as usize] = None;
            if !self.frame.types {
                self.calendars[place.processor as usize].vacate(place.start, end);
            }
        }
    }

    /// Places a task, whose predecessors are placed, where it ends first: HEFT's policy with these calendars.
    pub fn put_first(&mut self, task: u32) {
        let frame = self.frame;
        let option = |processor: u32| {
            let time = frame.time_on(task, processor);
            (time != NEVER).then(|| {
                let start = self.calendars[processor as usize].earliest_fit(self.arrival(task, processor), time);
                (start + time, processor)
            })
        };
        if let Some((end, processor)) = (0..frame.problem.processors() as u32).filter_map(option).min() {
            self.put_on(task, Place { processor, start: end - frame.time_on(task, processor) });
        }
    }

    /// When a task can end at the earliest as far as placed tasks before it are concerned; `None` where it cannot run.
    pub fn first_end(&self, task: u32, machine: u32) -> Option<i64> {
        let time = self.time(task, machine);
        (time != NEVER).then(|| self.arrival(task, self.frame.machines[machine as usize]) + time)
    }

    /// When the data of a task, whose predecessors are placed, are on a processor.
    pub fn arrival(&self, task: u32, processor: u32) -> i64 {
        let each = self.frame.incoming(task).filter_map(|from| {
            let place = self.places[from.task as usize]?;
            Some(self.end(from.task)? + self.frame.transfer(from.edge, place.processor, processor))
        });
        each.fold(self.release(), i64::max)
    }

    /// Which way ties lean when a chain is planned again and again: early and late in turn.
    pub fn lean(round: usize) -> Lean {
        if round.is_multiple_of(2) { Lean::Early } else { Lean::Late }
    }
}
