//! Updates of the order of all tasks after one task was moved.

use super::{MachineOrders, NONE};
use crate::kernel::graph::Neighbour;

/// The set of tasks that are moved in one change of the order.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    round: u32,
    marked: Vec<u32>,
    moved: Vec<u32>,
}

impl Marks {
    pub(super) fn new(tasks: usize) -> Self {
        Self { round: 0, marked: vec![0; tasks], moved: Vec::new() }
    }

    fn begin(&mut self, task: u32) {
        if self.round == u32::MAX {
            self.marked.fill(0);
            self.round = 0;
        }
        self.round += 1;
        self.moved.clear();
        self.add(task);
    }

    fn add(&mut self, task: u32) {
        self.marked[task as usize] = self.round;
        self.moved.push(task);
    }

    fn has(&self, task: u32) -> bool {
        task != NONE && self.marked[task as usize] == self.round
    }

    fn any(&self, neighbours: &[Neighbour]) -> bool {
        neighbours.iter().any(|other| self.marked[other.task as usize] == self.round)
    }
}

impl MachineOrders<'_> {
    /// Moves a task in the order to a position after `before` and before `behind`. Moves another task only if the
    /// edges or sequences require this.
    pub(super) fn reorder(&mut self, task: u32, before: u32, behind: u32) {
        let own = self.position[task as usize] as usize;
        let place = |other: u32| self.position[other as usize] as usize;
        if before != NONE && place(before) > own {
            let last = place(before);
            self.marks.begin(task);
            let mut free = own;
            for at in own + 1..=last {
                let other = self.order[at];
                if self.marks.any(self.problem.incoming(other)) || self.marks.has(self.before[other as usize]) {
                    self.marks.add(other);
                } else {
                    self.order[free] = other;
                    free += 1;
                }
            }
            self.order[free..=last].copy_from_slice(&self.marks.moved);
            self.number(own, last);
        } else if behind != NONE && place(behind) < own {
            let first = place(behind);
            self.marks.begin(task);
            let mut free = own;
            for at in (first..own).rev() {
                let other = self.order[at];
                if self.marks.any(self.problem.outgoing(other)) || self.marks.has(self.behind[other as usize]) {
                    self.marks.add(other);
                } else {
                    self.order[free] = other;
                    free -= 1;
                }
            }
            for (place, &moved) in self.order[first..=free].iter_mut().rev().zip(&self.marks.moved) {
                *place = moved;
            }
            self.number(first, own);
        }
    }

    fn number(&mut self, first: usize, last: usize) {
        for at in first..=last {
            self.position[self.order[at] as usize] = at as u32;
        }
    }
}
