//! An order and allotments of moldable tasks.

use super::MoldableProblem;
use crate::kernel::move_to;

/// A topological order of all tasks, with an allotment for each task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// The tasks in order.
    pub order: Vec<u32>,
    /// The allotment of each task.
    pub chosen: Vec<u32>,
    /// The position of each task in the order.
    places: Vec<u32>,
}

impl List {
    /// Returns a list with the tasks in the order `order`, which need not be topological. A task that comes before one
    /// of its predecessors moves to a position after its last predecessor.
    pub fn new(problem: &MoldableProblem<'_>, order: &[u32], chosen: Vec<u32>) -> Self {
        let tasks = problem.tasks();
        let mut wanted = vec![0; tasks];
        (0..).zip(order).for_each(|(place, &task)| wanted[task as usize] = place);
        let mut missing: Vec<u32> = (0..tasks as u32).map(|task| problem.before(task).len() as u32).collect();
        let ready = (0..tasks as u32).filter(|&task| missing[task as usize] == 0);
        let mut ready: std::collections::BinaryHeap<_> =
            ready.map(|task| std::cmp::Reverse(wanted[task as usize])).collect();
        let mut list = Self { order: Vec::with_capacity(tasks), chosen, places: vec![0; tasks] };
        while let Some(std::cmp::Reverse(place)) = ready.pop() {
            let task: u32 = order[place];
            list.places[task as usize] = list.order.len() as u32;
            list.order.push(task);
            for &other in problem.behind(task) {
                missing[other as usize] -= 1;
                if missing[other as usize] == 0 {
                    ready.push(std::cmp::Reverse(wanted[other as usize]));
                }
            }
        }
        list
    }

    /// Returns the position of a task in the order.
    #[inline]
    pub fn place(&self, task: u32) -> usize {
        self.places[task as usize] as usize
    }

    /// Moves the task at position `from` to position `to`.
    pub(super) fn shift(&mut self, from: usize, to: usize) {
        let (first, last) = (from.min(to), from.max(to));
        move_to(&mut self.order, from, to);
        self.number(first, last + 1);
    }

    /// Sorts the tasks from position `place` on by `key`.
    pub(super) fn sort_from<K: Ord>(&mut self, place: usize, key: impl Fn(u32) -> K) {
        self.order[place..].sort_by_key(|&task| key(task));
        self.number(place, self.order.len());
    }

    fn number(&mut self, from: usize, until: usize) {
        for place in from..until {
            self.places[self.order[place] as usize] = place as u32;
        }
    }
}
