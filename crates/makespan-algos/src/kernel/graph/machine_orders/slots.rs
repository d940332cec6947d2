//! The positions for a removed task.

use super::{MachineOrders, OrderPosition};
use crate::kernel::graph::{NEVER, Neighbour, NodeId};

impl MachineOrders<'_> {
    /// Writes the positions for a removed task into `slots`. Omits positions that are not better than another
    /// position. If a node has several empty processors, uses only the first. Takes O(processors + positions + nodes *
    /// edges of the task).
    pub fn slots(&self, task: u32, slots: &mut Vec<OrderPosition>) {
        let problem = self.problem;
        slots.clear();
        let sent = problem.incoming(task).iter().map(|from| self.ends[from.task as usize]).max();
        let sent = sent.unwrap_or(0).max(problem.release(task));
        let waiting = problem.outgoing(task).iter().map(|to| self.rests[to.task as usize]).max().unwrap_or(0);
        for node in problem.node_ids() {
            let time = problem.time(task, node);
            if time == NEVER {
                continue;
            }
            let (arrival, rest) = self.around(task, node);
            let mut met_empty = false;
            for processor in problem.processors_of(node) {
                let line = &self.of[processor.index()];
                if line.is_empty() {
                    if !met_empty {
                        slots.push(OrderPosition { processor, at: 0, through: arrival + time + rest });
                    }
                    met_empty = true;
                    continue;
                }
                let first = line.partition_point(|&other| self.ends[other as usize] <= sent);
                let last = line.partition_point(|&other| self.rests[other as usize] > waiting);
                let (first, last) = if first <= last { (first, last) } else { self.within(task, line, last, first) };
                for at in first..=last {
                    let start = if at == 0 { arrival } else { arrival.max(self.ends[line[at - 1] as usize]) };
                    let after = line.get(at).map_or(rest, |&other| rest.max(self.rests[other as usize]));
                    slots.push(OrderPosition { processor, at: at as u32, through: start + time + after });
                }
            }
        }
    }

    /// Returns a position that closes no cycle. All such positions from `first` to `last` are equally good.
    fn within(&self, task: u32, line: &[u32], first: usize, last: usize) -> (usize, usize) {
        let own = self.position[task as usize];
        let at = line.partition_point(|&other| self.position[other as usize] < own).clamp(first, last);
        (at, at)
    }

    /// For a task on a node, returns the instant at which the data of the task arrive. Also returns the length of the
    /// longest path after the end of the task.
    fn around(&self, task: u32, node: NodeId) -> (i64, i64) {
        let (problem, transfers) = (self.problem, self.problem.transfers());
        let of = |other: &Neighbour| problem.node_of(self.processor[other.task as usize]);
        let mut arrival = problem.release(task);
        for from in problem.incoming(task) {
            arrival = arrival.max(self.ends[from.task as usize] + transfers.time(from.edge, of(from), node));
        }
        let mut rest = 0;
        for to in problem.outgoing(task) {
            rest = rest.max(self.rests[to.task as usize] + transfers.time(to.edge, node, of(to)));
        }
        (arrival, rest)
    }
}
