//! Topological orders of tasks in which keys break ties.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::TaskId;

use super::{Packing, Row};

impl Packing<'_> {
    /// Returns all tasks in topological order. A task is ready if all its predecessors are in the order. The ready task
    /// with the smallest key is next. Tasks with equal keys are in the order of the instance. Takes O(n log n + e) for
    /// n tasks with e edges.
    pub fn ready_first(&self, key: impl Fn(Row) -> f64) -> Vec<TaskId> {
        let instance = self.instance;
        let entry = |row: Row| Reverse((ordered(key(row)), row));
        let mut missing: Vec<usize> =
            self.rows().map(|row| instance.incoming_edges(self.first_of(row)).len()).collect();
        let mut ready: BinaryHeap<_> = self.rows().filter(|row| missing[row.index()] == 0).map(entry).collect();
        let mut tasks = Vec::with_capacity(instance.tasks() as usize);
        while let Some(Reverse((_, row))) = ready.pop() {
            tasks.extend(instance.equal_tasks(self.first_of(row)));
            for edge in instance.outgoing(self.first_of(row)) {
                let next = self.row_of(edge.to);
                missing[next.index()] -= 1;
                if missing[next.index()] == 0 {
                    ready.push(entry(next));
                }
            }
        }
        tasks
    }
}

/// Returns an integer for a float. Integers sort like floats by `f64::total_cmp`.
fn ordered(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::ordered;

    proptest! {
        #[test]
        fn integers_have_the_order_of_numbers(a in any::<f64>(), b in any::<f64>()) {
            prop_assert_eq!(ordered(a).cmp(&ordered(b)), a.total_cmp(&b));
        }
    }
}
