//! The time that the successors of each task need after its end.

use super::measure::Measure;
use super::{List, MoldableProblem};

/// For each task, the minimum time from its end to the end of all its direct and indirect successors, with the current
/// allotments. Only successors in the same group ([`Measure::group`]) are considered.
#[derive(Clone, Debug)]
pub(super) struct Tails {
    of_tasks: Vec<i64>,
    /// The position of each task in the topological order of the problem.
    position: Vec<u32>,
    /// For each position, whether its tail must be computed again.
    stale: Vec<bool>,
    /// The tasks with changed tails, and their previous tails.
    changed: Vec<(u32, i64)>,
}

impl Tails {
    pub fn new(problem: &MoldableProblem<'_>, measure: &Measure, list: &List) -> Self {
        let tasks = problem.tasks();
        let mut position = vec![0; tasks];
        (0..).zip(problem.order()).for_each(|(at, &task)| position[task as usize] = at);
        let mut tails = Self { of_tasks: vec![0; tasks], position, stale: vec![false; tasks], changed: Vec::new() };
        for &task in problem.order().iter().rev() {
            tails.of_tasks[task as usize] = tails.found(problem, measure, list, task);
        }
        tails
    }

    #[inline]
    pub fn of(&self, task: u32) -> i64 {
        self.of_tasks[task as usize]
    }

    fn found(&self, problem: &MoldableProblem<'_>, measure: &Measure, list: &List, task: u32) -> i64 {
        let group = measure.group(task);
        let behind = problem.behind(task).iter().filter(|&&other| measure.group(other) == group);
        let with = |&other: &u32| self.of_tasks[other as usize] + problem.choice(list.chosen[other as usize]).time;
        behind.map(with).max().unwrap_or(0)
    }

    /// Updates the tails of the predecessors of tasks with changed allotments.
    pub fn update(
        &mut self,
        problem: &MoldableProblem<'_>,
        measure: &Measure,
        list: &List,
        tasks: impl Iterator<Item = u32>,
    ) {
        let (mut first, mut end) = (usize::MAX, 0);
        for &before in tasks.flat_map(|task| problem.before(task)) {
            let at = self.position[before as usize] as usize;
            self.stale[at] = true;
            (first, end) = (first.min(at), end.max(at + 1));
        }
        let mut at = end;
        while at > first {
            at -= 1;
            if !std::mem::take(&mut self.stale[at]) {
                continue;
            }
            let task = problem.order()[at];
            let tail = self.found(problem, measure, list, task);
            if tail == self.of(task) {
                continue;
            }
            self.changed.push((task, std::mem::replace(&mut self.of_tasks[task as usize], tail)));
            for &before in problem.before(task) {
                let at = self.position[before as usize] as usize;
                self.stale[at] = true;
                first = first.min(at);
            }
        }
    }

    /// Accepts the changes.
    pub fn accept(&mut self) {
        self.changed.clear();
    }

    /// Undoes the changes.
    pub fn undo(&mut self) {
        while let Some((task, tail)) = self.changed.pop() {
            self.of_tasks[task as usize] = tail;
        }
    }
}
