//! The instants at which the data of tasks arrive on nodes.

use makespan_core::TaskId;

use super::machines::PackingMachines;
use super::{HeldPart, Packing, Row};
use crate::kernel::graph::NodeId;

/// For each row of equal tasks and each node, the instant at which the data of the row arrive.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    /// For each row of equal tasks, the index in `times` of its arrival on the first node, or `AT_ONCE` if the data of
    /// the row arrive immediately. The arrivals on the other nodes follow. The list is empty if all transfers are
    /// immediate.
    begins: Vec<u32>,
    times: Vec<i64>,
}

/// The value for data that arrive immediately.
const AT_ONCE: u32 = u32::MAX;

impl Arrivals {
    /// Removes all arrivals.
    pub fn reset(&mut self, packing: &Packing<'_>) {
        self.times.clear();
        self.begins.clear();
        if packing.has_transfers {
            self.begins.resize(packing.rows.len(), AT_ONCE);
        }
    }

    /// Returns whether the data of all rows of equal tasks arrive immediately.
    pub fn are_none(&self) -> bool {
        self.begins.is_empty()
    }

    /// Returns the arrival of the data of a row of equal tasks on each node. If the data arrive everywhere when the
    /// last predecessor ends, returns an empty list.
    #[inline]
    pub fn of(&self, row: Row, machines: &PackingMachines) -> &[i64] {
        match self.begins.get(row.index()) {
            Some(&begin) if begin != AT_ONCE => &self.times[begin as usize..][..machines.nodes.len()],
            _ => &[],
        }
    }

    /// Computes the arrivals of a row of equal tasks. All its predecessors must be placed. `placed` returns the end and
    /// the parts of a predecessor, or `None` if its data arrive immediately.
    pub fn see<'h>(
        &mut self,
        packing: &Packing<'_>,
        row: Row,
        placed: impl Fn(TaskId) -> Option<(i64, &'h [HeldPart])>,
    ) {
        let (instance, machines) = (packing.instance, &packing.machines);
        let Some(transfers) = &machines.transfers else { return };
        let begin = self.times.len();
        for &edge in instance.incoming_edges(packing.first_of(row)) {
            if !transfers.takes_time(edge) {
                continue;
            }
            if self.times.len() == begin {
                self.times.resize(begin + machines.nodes.len(), 0);
            }
            let Some((end, parts)) = placed(instance.edges()[edge as usize].from) else { continue };
            for part in parts {
                let source = NodeId::at(machines.node_of(part.cell));
                for (node, time) in self.times[begin..].iter_mut().enumerate() {
                    *time = (*time).max(end + transfers.time(edge, source, NodeId::at(node)));
                }
            }
        }
        if self.times.len() > begin {
            self.begins[row.index()] = begin as u32;
        }
    }
}
