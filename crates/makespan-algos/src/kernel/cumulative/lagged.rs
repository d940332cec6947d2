//! The serial scheme for tasks with time lags.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::CumulativeProblem;
use super::free::Free;
use super::steps::Steps;
use crate::kernel::packing::Row;

/// Stands for "no path" between two tasks.
const NONE: i64 = i64::MIN;
/// Maximum sum of all lags and times, in ticks.
const LONGEST: i128 = (i64::MAX / 8) as i128;

/// The longest paths between the starts of all tasks of a problem. An edge is as long as its first task, and a time lag is
/// an arc of its length.
///
/// The paths are those of Johnson (Journal of the ACM 24(1), 1977, DOI 10.1145/321992.321993): one search for each task,
/// after the lengths are made nonpositive. Takes O(n (n + a) log n) for n tasks and a arcs.
#[derive(Clone, Debug)]
pub struct LagPaths {
    tasks: usize,
    /// The length of the longest path from task i to task j, at `i * tasks + j`.
    lengths: Vec<i64>,
    /// For each task, the tasks that must start before it.
    before: Vec<Vec<u32>>,
}

/// Maximum number of tasks. The lengths of the paths between more tasks need too much memory.
pub const MAX_LAGGED: usize = 2000;

impl LagPaths {
    /// Returns the paths of a problem, or the reason why lists of the problem cannot keep time lags.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn new(problem: &CumulativeProblem<'_>) -> Result<Self, String> {
        let tasks = problem.tasks();
        if tasks > MAX_LAGGED {
            return Err(format!("it plans at most {MAX_LAGGED} tasks with time lags, but there are {tasks}"));
        }
        let several = |row: &Row| problem.modes_of(*row).len() != 1 || problem.tasks_of(*row).len() != 1;
        if let Some(row) = problem.rows().find(several) {
            let name = problem.instance().name(makespan_core::TaskId(problem.tasks_of(row).start.into()));
            return Err(format!(
                "with time lags, every task must have one allotment, but `{name}` has several, or is a bag"
            ));
        }
        let arcs = arcs(problem);
        let longest =
            arcs.iter().map(|arc| i128::from(arc.2.unsigned_abs())).sum::<i128>() + i128::from(problem.horizon);
        if longest * i128::from(problem.unit) > LONGEST {
            return Err("the sum of the time lags is too large".into());
        }
        let heads = heads(tasks, &arcs).ok_or("the time lags exclude each other at the times of these processors")?;
        let mut outgoing: Vec<Vec<(u32, i64)>> = vec![Vec::new(); tasks];
        for &(from, to, length) in &arcs {
            outgoing[from as usize].push((to, heads[to as usize] - heads[from as usize] - length));
        }
        let mut lengths = vec![NONE; tasks * tasks];
        let mut queue = BinaryHeap::new();
        for from in 0..tasks {
            let costs = &mut lengths[from * tasks..(from + 1) * tasks];
            queue.push(Reverse((0, from as u32)));
            while let Some(Reverse((cost, task))) = queue.pop() {
                if costs[task as usize] != NONE {
                    continue;
                }
                costs[task as usize] = cost;
                let next = outgoing[task as usize].iter().filter(|(to, _)| costs[*to as usize] == NONE);
                queue.extend(next.map(|&(to, step)| Reverse((cost + step, to))));
            }
            for (to, cost) in costs.iter_mut().enumerate().filter(|(_, cost)| **cost != NONE) {
                *cost = heads[to] - heads[from] - *cost;
            }
        }
        let of = |from: usize, to: usize| lengths[from * tasks + to];
        let is_before =
            |from: usize, to: usize| of(from, to) > 0 || (of(from, to) == 0 && (NONE + 1..0).contains(&of(to, from)));
        let before =
            (0..tasks).map(|to| (0..tasks).filter(|&from| is_before(from, to)).map(|from| from as u32).collect());
        Ok(Self { tasks, before: before.collect(), lengths })
    }

    /// Returns the longest path from the start of one task to the start of another, if there is a path.
    pub fn between(&self, from: u32, to: u32) -> Option<i64> {
        Some(self.length(from, to)).filter(|&length| length != NONE)
    }

    fn length(&self, from: u32, to: u32) -> i64 {
        self.lengths[from as usize * self.tasks + to as usize]
    }
}

/// Returns the edges and time lags as arcs between the starts of two tasks, with their lengths.
fn arcs(problem: &CumulativeProblem<'_>) -> Vec<(u32, u32, i64)> {
    let instance = problem.instance();
    let mut arcs = Vec::new();
    for to in problem.rows() {
        let task = problem.tasks_of(to).start;
        for &from in problem.before(to) {
            let time = problem.mode(problem.modes_of(from).start).time;
            arcs.push((problem.tasks_of(from).start, task, time));
        }
        let lags = instance.lags_to(makespan_core::TaskId(task.into()));
        arcs.extend(lags.map(|(from, least)| (from.0 as u32, task, least.ticks() / problem.unit)));
    }
    arcs
}

/// Returns the longest path to the start of each task, or `None` if paths have no greatest length.
fn heads(tasks: usize, arcs: &[(u32, u32, i64)]) -> Option<Vec<i64>> {
    let mut heads = vec![0_i64; tasks];
    for _ in 0..=tasks {
        let mut has_grown = false;
        for &(from, to, length) in arcs {
            let head = heads[from as usize] + length;
            has_grown |= head > heads[to as usize];
            heads[to as usize] = heads[to as usize].max(head);
        }
        if !has_grown {
            return Some(heads);
        }
    }
    None
}

/// Inserts tasks one after another into gaps, and keeps minimal and maximal time lags.
///
/// If a task cannot start before its latest start, the placed tasks that cause this limit are removed and may only start
/// later, together with all tasks that start after the first of them: B. Franck, K. Neumann and C. Schwindt, "Truncated
/// branch-and-bound, schedule-construction, and schedule-improvement procedures for resource-constrained project
/// scheduling", OR Spektrum 23, 2001, DOI 10.1007/PL00013356. The scheme gives up after a number of removals, because it is
/// NP-complete to find any schedule (Bartusch, Moehring and Radermacher 1988).
///
/// Complexity: O(n (n + s)) for n tasks and s steps of free amounts, and as much for each removal.
#[derive(Clone, Debug)]
pub struct LaggedScheme<'p, 'a> {
    problem: &'p CumulativeProblem<'a>,
    paths: &'p LagPaths,
    demands: Vec<u128>,
    free: Steps<u128>,
    /// The start of each task, or `NONE` if it is not placed.
    starts: Vec<i64>,
    /// The least start of each task in this schedule, whichever tasks are placed.
    floors: Vec<i64>,
    earliest: Vec<i64>,
    latest: Vec<i64>,
    /// For each task, the number of tasks that must be placed before it.
    missing: Vec<u32>,
    after: Vec<Vec<u32>>,
    ready: BinaryHeap<Reverse<(u32, u32)>>,
    /// The position of each task in the list.
    ranks: Vec<u32>,
}

impl<'p, 'a> LaggedScheme<'p, 'a> {
    /// Returns a scheme for the lists of a problem.
    pub fn new(problem: &'p CumulativeProblem<'a>, paths: &'p LagPaths) -> Self {
        let tasks = problem.tasks();
        let mut after = vec![Vec::new(); tasks];
        for (to, before) in (0..).zip(&paths.before) {
            before.iter().for_each(|&from| after[from as usize].push(to));
        }
        Self {
            problem,
            paths,
            demands: problem.demands(),
            free: Steps::new(problem.base()),
            starts: vec![NONE; tasks],
            floors: vec![0; tasks],
            earliest: vec![0; tasks],
            latest: vec![0; tasks],
            missing: vec![0; tasks],
            after,
            ready: BinaryHeap::new(),
            ranks: vec![0; tasks],
        }
    }

    /// Returns the start of each task.
    pub fn starts(&self) -> &[i64] {
        &self.starts
    }

    /// Returns the end of each task.
    pub fn ends(&self) -> impl Iterator<Item = i64> + '_ {
        (0..).zip(&self.starts).map(|(task, start)| start + self.time(task))
    }

    fn time(&self, task: u32) -> i64 {
        self.problem.mode(self.mode(task)).time
    }

    fn mode(&self, task: u32) -> u32 {
        self.problem.modes_of(self.problem.row_of(task)).start
    }

    /// Places all tasks. The next task is the first task in the list of which all predecessors are placed. Returns false if the
    /// schedule needs more than `removals` removals.
    pub fn place(&mut self, order: &[u32], removals: usize) -> bool {
        for (rank, &task) in (0..).zip(order) {
            self.ranks[task as usize] = rank;
        }
        for task in 0..order.len() as u32 {
            self.floors[task as usize] = self.problem.release(self.problem.row_of(task));
        }
        self.close_floors();
        self.starts.fill(NONE);
        self.begin();
        let mut removed = 0;
        while let Some(Reverse((_, task))) = self.ready.pop() {
            let demand = self.demands[self.mode(task) as usize];
            let start = self.free.first_fit(self.earliest[task as usize], self.time(task), demand);
            if start <= self.latest[task as usize] {
                self.put(task, start);
                self.release_successors(task);
                continue;
            }
            removed += 1;
            if removed > removals {
                return false;
            }
            self.remove_blockers(task, start - self.latest[task as usize]);
        }
        true
    }

    /// Raises the floor of each task to the longest path from the floor of another task.
    fn close_floors(&mut self) {
        for from in 0..self.floors.len() as u32 {
            self.raise_floors(from);
        }
    }

    fn raise_floors(&mut self, from: u32) {
        let floor = self.floors[from as usize];
        for to in 0..self.floors.len() as u32 {
            let length = self.paths.length(from, to);
            if length != NONE {
                self.floors[to as usize] = self.floors[to as usize].max(floor + length);
            }
        }
    }

    /// Places the tasks that have a start, and finds the limits of the other tasks and the tasks that can be placed next.
    fn begin(&mut self) {
        self.free.clear();
        self.earliest.copy_from_slice(&self.floors);
        self.latest.fill(i64::MAX);
        self.ready.clear();
        for task in 0..self.starts.len() as u32 {
            let start = self.starts[task as usize];
            if start != NONE {
                self.put(task, start);
            }
        }
        for task in 0..self.starts.len() {
            if self.starts[task] == NONE {
                let before = self.paths.before[task].iter();
                self.missing[task] = before.filter(|&&from| self.starts[from as usize] == NONE).count() as u32;
                if self.missing[task] == 0 {
                    self.ready.push(Reverse((self.ranks[task], task as u32)));
                }
            }
        }
    }

    fn put(&mut self, task: u32, start: i64) {
        self.free.hold(start, self.time(task), self.demands[self.mode(task) as usize]);
        self.starts[task as usize] = start;
        for other in 0..self.starts.len() as u32 {
            let (there, back) = (self.paths.length(task, other), self.paths.length(other, task));
            if there != NONE {
                self.earliest[other as usize] = self.earliest[other as usize].max(start + there);
            }
            if back != NONE {
                self.latest[other as usize] = self.latest[other as usize].min(start - back);
            }
        }
    }

    fn release_successors(&mut self, task: u32) {
        for at in 0..self.after[task as usize].len() {
            let next = self.after[task as usize][at] as usize;
            if self.starts[next] == NONE {
                self.missing[next] -= 1;
                if self.missing[next] == 0 {
                    self.ready.push(Reverse((self.ranks[next], next as u32)));
                }
            }
        }
    }

    /// Removes the placed tasks that prevent `task` from starting later, and all tasks that start after the first of them.
    /// From now on, these tasks start at least `delay` later.
    fn remove_blockers(&mut self, task: u32, delay: i64) {
        let latest = self.latest[task as usize];
        let mut first = i64::MAX;
        for blocker in 0..self.starts.len() as u32 {
            let (start, back) = (self.starts[blocker as usize], self.paths.length(task, blocker));
            if start != NONE && back != NONE && start - back == latest {
                first = first.min(start);
                self.floors[blocker as usize] = self.floors[blocker as usize].max(start + delay);
                self.raise_floors(blocker);
            }
        }
        for (start, floor) in self.starts.iter_mut().zip(&self.floors) {
            if *start > first || *start < *floor {
                *start = NONE;
            }
        }
        self.begin();
    }
}
