//! When the data of tasks are on each node.

use makespan_core::TaskId;

use super::machines::Machines;
use super::{Packing, Part, Row};
use crate::kernel::graph::NodeId;

/// For each row when its data are on each node.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    /// Where the times of each row begin, one a node; the largest number where data are there at once. Empty where they always are.
    begins: Vec<u32>,
    times: Vec<i64>,
}

/// No times of arrival.
const AT_ONCE: u32 = u32::MAX;

impl Arrivals {
    /// Nothing is known.
    pub fn reset(&mut self, packing: &Packing<'_>) {
        self.times.clear();
        self.begins.clear();
        if packing.has_transfers {
            self.begins.resize(packing.rows.len(), AT_ONCE);
        }
    }

    /// Whether data are there at once for all rows.
    pub fn are_none(&self) -> bool {
        self.begins.is_empty()
    }

    /// For each node when the data of a row are there; empty where that is when the last of what it waits for ends.
    #[inline]
    pub fn of(&self, row: Row, machines: &Machines) -> &[i64] {
        match self.begins.get(row.index()) {
            Some(&begin) if begin != AT_ONCE => &self.times[begin as usize..][..machines.nodes.len()],
            _ => &[],
        }
    }

    /// All that a row waits for is placed; `placed` tells the end and the parts of a task, if these
    /// matter.
    pub fn see<'h>(&mut self, packing: &Packing<'_>, row: Row, placed: impl Fn(TaskId) -> Option<(i64, &'h [Part])>) {
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
