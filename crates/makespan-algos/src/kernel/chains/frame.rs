//! The data of one job that do not change while the job is planned.

use std::ops::Range;
use std::sync::OnceLock;

use makespan_core::{Instance, JobId, Time, task_cost};

use super::ranking::Chart;
use super::tariff::Tariff;
use crate::free_time::Calendar;
use crate::kernel::graph::{GraphProblem, NEVER, Neighbour, NodeId, ProcessorId, rank};

/// Maximum number of tasks of a job for which the areas of predecessors and successors are summed.
const MAX_SUMMED: usize = 4096;

/// A direction in the graph, starting from a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphDirection {
    /// The predecessors of the task.
    Before,
    /// The successors of the task.
    After,
}

/// One job of a problem, with the data that do not change while the job is planned. The tasks of the job are numbered
/// from 0.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    problem: &'a GraphProblem,
    first: u32,
    /// The graph of the job, with the fastest time of each task and the mean time of each transfer.
    pub chart: Chart,
    /// The position of each task in the topological order of the chart.
    positions: Vec<u32>,
    /// The index of the first edge of the job among the edges of the instance.
    first_edge: u32,
    /// For each edge, the minimum transfer time over all pairs of processors.
    least: Vec<i64>,
    /// The cost of each task on each processor. The cost is zero if the task cannot run there.
    cost: Vec<i64>,
    /// For each task, a lower bound on the time in which all processors together can run all its predecessors.
    pub before: Vec<i64>,
    /// For each task, a lower bound on the time in which all processors together can run all its successors.
    pub after: Vec<i64>,
    /// The processors on which tasks are placed. If tasks are planned on types of processors, the list contains one
    /// processor of each type.
    machines: Vec<ProcessorId>,
    /// For each processor, the index in `machines` of the processor that represents its type.
    kinds: Vec<u32>,
    types: bool,
    by_rank: OnceLock<Vec<u32>>,
}

impl<'a> Frame<'a> {
    /// Returns the frame of a job of the instance. If `types` is true, tasks are planned on types of processors. One
    /// processor then represents all processors of its type, and its transfers to itself take no time.
    pub fn new(instance: &Instance, problem: &'a GraphProblem, id: JobId, types: bool) -> Self {
        let job = instance.job(id);
        let (first, count) = (job.first().0 as u32, job.different_tasks());
        let (machines, kinds) = if types {
            kinds(problem, first..first + count)
        } else {
            (problem.processor_ids().collect(), (0..problem.processors() as u32).collect())
        };
        let mut cost = Vec::with_capacity(count as usize * problem.processors());
        for task in 0..count {
            let volume = makespan_core::volume(instance.profile_at(id, task));
            for processor in problem.processor_ids() {
                let time = problem.time(first + task, problem.node_of(processor));
                cost.push(if time == NEVER { 0 } else { task_cost(volume, Time::from_ticks(time)) });
            }
        }
        let chart = Chart::of(instance, problem, id);
        let mut positions = vec![0; chart.order.len()];
        chart.order.iter().zip(0..).for_each(|(&task, position)| positions[task as usize] = position);
        let (before, after, by_rank) = (Vec::new(), Vec::new(), OnceLock::new());
        let edges = problem.edges_of(id);
        let (first_edge, least) = (edges.start, least_transfers(problem, first, edges, &chart));
        let mut frame = Self {
            problem,
            first,
            chart,
            positions,
            first_edge,
            least,
            cost,
            before,
            after,
            machines,
            kinds,
            types,
            by_rank,
        };
        let areas = areas(problem, first..first + count);
        frame.before = sums(&frame, &areas, GraphDirection::Before);
        frame.after = sums(&frame, &areas, GraphDirection::After);
        frame
    }

    /// Replaces the cost of each task on each processor by its charge under a tariff. Processors of different prices
    /// are of different types.
    #[must_use]
    pub fn priced(mut self, tariff: &Tariff) -> Self {
        let processors = self.problem.processors().max(1);
        for (at, cost) in self.cost.iter_mut().enumerate() {
            *cost = tariff.charge(*cost, at % processors);
        }
        if self.types {
            let mut kinds: Vec<(u32, u32)> = Vec::new();
            self.machines.clear();
            for (at, kind) in self.kinds.iter_mut().enumerate() {
                let own = (*kind, tariff.price(at));
                let known = kinds.iter().position(|other| *other == own).unwrap_or(kinds.len());
                if known == kinds.len() {
                    kinds.push(own);
                    self.machines.push(ProcessorId::at(at));
                }
                *kind = known as u32;
            }
        }
        self
    }

    /// Returns the number of tasks.
    pub fn tasks(&self) -> usize {
        self.chart.times.len()
    }

    /// Returns the problem.
    pub fn problem(&self) -> &'a GraphProblem {
        self.problem
    }

    /// Returns the processors on which tasks are placed. If tasks are planned on types of processors, the list
    /// contains one processor of each type.
    pub fn machines(&self) -> &[ProcessorId] {
        &self.machines
    }

    /// Returns whether the machines represent types of processors.
    pub fn is_of_types(&self) -> bool {
        self.types
    }

    /// Returns, for each type, the periods in which every processor of the type is busy. The calendar of a type is at
    /// the index of the processor that represents the type.
    pub fn calendars_by_type(&self, calendars: &[Calendar]) -> Vec<Calendar> {
        let mut joint = vec![Calendar::default(); calendars.len()];
        for (kind, &machine) in self.machines.iter().enumerate() {
            let own = calendars.iter().zip(&self.kinds).filter(|(_, other)| **other as usize == kind);
            let all = own.map(|(calendar, _)| calendar.clone()).reduce(|all, next| all.overlap(&next));
            joint[machine.index()] = all.unwrap_or_default();
        }
        joint
    }

    /// Returns true if some task of the job belongs to a gang.
    pub fn has_gangs(&self) -> bool {
        self.problem.has_gangs() && (0..self.tasks() as u32).any(|task| self.gang_size(task) > 1)
    }

    /// Returns the number of tasks in the gang of a task, or 1 if the task belongs to no gang.
    pub fn gang_size(&self, task: u32) -> usize {
        self.problem.gang_of(self.first + task).map_or(1, <[u32]>::len)
    }

    /// Returns the tasks by decreasing upward rank, as in HEFT. The ranks are computed on the first call. The tasks of a
    /// gang are consecutive.
    pub fn by_rank(&self) -> &[u32] {
        self.by_rank.get_or_init(|| {
            let ranks = rank::upward(self.problem, &rank::mean_times(self.problem));
            if self.problem.has_gangs() {
                let own = self.first..self.first + self.tasks() as u32;
                let order = rank::ready_first(self.problem, &ranks).into_iter();
                return order.filter(|task| own.contains(task)).map(|task| task - self.first).collect();
            }
            let rank = |task: u32| ranks[self.number(task) as usize];
            let mut order = self.chart.order.clone();
            order.sort_by(|&a, &b| rank(b).total_cmp(&rank(a)));
            order
        })
    }

    /// Returns the index of a task in the problem.
    pub fn number(&self, task: u32) -> u32 {
        self.first + task
    }

    /// Returns the position of a task in the topological order of the chart.
    pub fn position(&self, task: u32) -> u32 {
        self.positions[task as usize]
    }

    /// Returns the predecessors or successors of a task. For each neighbour, returns its index in this job, and the
    /// edge that connects it to the task.
    pub fn beside(&self, task: u32, side: GraphDirection) -> impl Iterator<Item = Neighbour> + '_ {
        let neighbours = match side {
            GraphDirection::Before => self.problem.incoming(self.first + task),
            GraphDirection::After => self.problem.outgoing(self.first + task),
        };
        neighbours.iter().map(|other| Neighbour { task: other.task - self.first, ..*other })
    }

    /// Returns the predecessors of a task.
    pub fn incoming(&self, task: u32) -> impl Iterator<Item = Neighbour> + '_ {
        self.beside(task, GraphDirection::Before)
    }

    /// Returns the successors of a task.
    pub fn outgoing(&self, task: u32) -> impl Iterator<Item = Neighbour> + '_ {
        self.beside(task, GraphDirection::After)
    }

    /// Returns the time of a task on a processor, or [`NEVER`] if the task cannot run there.
    pub fn time_on(&self, task: u32, processor: ProcessorId) -> i64 {
        self.problem.time(self.first + task, self.problem.node_of(processor))
    }

    /// Returns the cost of a task on a processor.
    pub fn cost_on(&self, task: u32, processor: ProcessorId) -> i64 {
        self.cost[task as usize * self.problem.processors() + processor.index()]
    }

    /// Returns the transfer time of an edge between two processors.
    pub fn transfer(&self, edge: u32, from: ProcessorId, to: ProcessorId) -> i64 {
        self.problem.transfers().time(edge, self.problem.node_of(from), self.problem.node_of(to))
    }

    /// Returns the mean transfer time of an edge.
    pub fn mean_transfer(&self, edge: u32) -> i64 {
        self.chart.edges[(edge - self.first_edge) as usize].2
    }

    /// Returns the minimum transfer time of an edge, over the processors that can run the two tasks.
    pub fn least_transfer(&self, edge: u32) -> i64 {
        self.least[(edge - self.first_edge) as usize]
    }

    /// Returns the processors that `processor` represents in a plan. If tasks are planned on types, these are all
    /// processors of its type. Otherwise, this is only `processor` itself.
    pub fn alike(&self, processor: ProcessorId) -> impl Iterator<Item = ProcessorId> + '_ {
        let kind = self.kinds[processor.index()];
        self.problem.processor_ids().filter(move |other| self.kinds[other.index()] == kind)
    }

    /// Returns a lower bound on the makespan: the length of the longest path, with the fastest time of each task and
    /// the minimum time of each transfer.
    pub fn longest_path(&self) -> i64 {
        let mut ends = vec![0; self.tasks()];
        for &task in &self.chart.order {
            let each = self.incoming(task).map(|from| ends[from.task as usize] + self.least_transfer(from.edge));
            ends[task as usize] = each.max().unwrap_or(0) + self.chart.times[task as usize];
        }
        ends.into_iter().max().unwrap_or(0)
    }

    /// Returns the release of the job, in ticks.
    pub fn release(&self) -> i64 {
        self.problem.release(self.first)
    }
}

/// Returns the first processor of each type, and the type of each processor. A task takes equally long on all
/// processors of a type.
fn kinds(problem: &GraphProblem, tasks: Range<u32>) -> (Vec<ProcessorId>, Vec<u32>) {
    let (mut found, mut kinds): (Vec<ProcessorId>, Vec<u32>) = (Vec::new(), Vec::new());
    for processor in problem.processor_ids() {
        let node = problem.node_of(processor);
        let alike = |&other: &ProcessorId| {
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

/// Returns, for each edge of a job, the minimum transfer time between two nodes that can run its two tasks. An edge
/// usually takes O(1) if both tasks can run on the same node. Otherwise, it takes one step for each pair of nodes.
fn least_transfers(problem: &GraphProblem, first: u32, edges: Range<u32>, chart: &Chart) -> Vec<i64> {
    let network = problem.transfers();
    let nodes = problem.node_ids();
    let least = |(&(from, to, _), edge): (&(u32, u32, i64), u32)| {
        let runs = |task: u32| move |&node: &NodeId| problem.time(first + task, node) != NEVER;
        let fastest = network.least(edge);
        let shared = nodes.clone().filter(runs(from)).filter(runs(to));
        if shared.map(|node| network.time(edge, node, node)).any(|time| time == fastest) {
            return fastest;
        }
        let pairs = nodes
            .clone()
            .filter(runs(from))
            .flat_map(|own| nodes.clone().filter(runs(to)).map(move |other| network.time(edge, own, other)));
        pairs.min().unwrap_or(0)
    };
    chart.edges.iter().zip(edges).map(least).collect()
}

/// Returns lower bounds on the area of each task, for two choices of processor weights.
///
/// The weights of all processors sum to 1. If all tasks run within a time C, each processor is busy for at most C.
/// Multiply the run time of each task by the weight of its processor. The sum of these products is at most C. The area
/// of a task is the minimum of its product over the processors that can run the task.
///
/// In the first choice, the weight of a processor is proportional to its mean speed over all tasks of the job. If times
/// differ only by the speeds of processors, the product of a task is then equal on all processors. In the second
/// choice, all weights are equal.
fn areas(problem: &GraphProblem, tasks: Range<u32>) -> [Vec<f64>; 2] {
    let mut speeds = vec![0.0; problem.nodes()];
    for task in tasks.clone() {
        let times = problem.times(task);
        let fastest = times.iter().copied().min().unwrap_or(0) as f64;
        for (speed, &time) in speeds.iter_mut().zip(times).filter(|(_, time)| **time != NEVER) {
            *speed += fastest / time as f64;
        }
    }
    let by = |weights: &[f64]| {
        let processors = |node: NodeId| problem.processors_of(node).len() as f64;
        let all: f64 = problem.node_ids().zip(weights).map(|(node, weight)| weight * processors(node)).sum();
        let area = |task: u32| {
            let times = problem.times(task).iter().zip(weights).filter(|(time, _)| **time != NEVER);
            times.map(|(&time, weight)| weight * time as f64 / all).fold(f64::INFINITY, f64::min)
        };
        tasks.clone().map(area).collect()
    };
    [by(&speeds), by(&vec![1.0; problem.nodes()])]
}

/// Returns, for each task, the sum of the areas of all its predecessors or of all its successors, direct and indirect.
/// Each predecessor or successor is counted once. `areas` contains two choices of areas, and the larger sum is
/// returned.
fn sums(frame: &Frame, areas: &[Vec<f64>; 2], side: GraphDirection) -> Vec<i64> {
    let tasks = frame.tasks();
    let mut sums = vec![0; tasks];
    if tasks > MAX_SUMMED {
        return sums;
    }
    let words = tasks.div_ceil(64);
    let mut sets = vec![0_u64; tasks * words];
    for place in 0..tasks {
        let task = match side {
            GraphDirection::Before => frame.chart.order[place],
            GraphDirection::After => frame.chart.order[tasks - 1 - place],
        };
        for neighbour in frame.beside(task, side) {
            let other = neighbour.task as usize;
            for word in 0..words {
                sets[task as usize * words + word] |= sets[other * words + word];
            }
            sets[task as usize * words + other / 64] |= 1 << (other % 64);
        }
        let set = &sets[task as usize * words..][..words];
        let member = |&other: &usize| set[other / 64] >> (other % 64) & 1 == 1;
        let sum = |areas: &[f64]| coarse((0..tasks).filter(member).map(|other| areas[other]).sum());
        sums[task as usize] = areas.iter().map(|areas| sum(areas)).max().unwrap_or(0);
    }
    sums
}

/// Rounds a duration down to twenty binary digits. If ticks become finer by a power of two, the rounded duration does
/// not change.
fn coarse(sum: f64) -> i64 {
    const DIGITS: u32 = 20;
    let ticks = sum as i64;
    let step = ticks.max(1).ilog2().saturating_sub(DIGITS);
    ticks >> step << step
}
