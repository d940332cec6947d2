//! The numbers of nodes and processors that a job requests.

/// A request for processors on a number of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeRequest {
    /// Minimum and maximum number of nodes.
    pub nodes: (usize, usize),
    /// True if the job gets as many nodes as it accepts, and not only as many as it needs.
    pub takes_all: bool,
    /// Total number of processors.
    pub processors: u64,
    /// Minimum number of processors on each node.
    pub per_node: u32,
}

impl NodeRequest {
    /// Returns the maximum number of nodes. A job that requests several processors gets no node on which it would have
    /// more processors than it requests.
    pub fn most_nodes(&self) -> usize {
        let (least, most) = self.nodes;
        if self.processors <= 1 {
            return most;
        }
        let useful = usize::try_from(self.processors / u64::from(self.per_node.max(1))).unwrap_or(usize::MAX);
        most.min(useful.max(least))
    }

    /// Returns the number of nodes at the front of a list that are enough for the job.
    pub fn prefix<T>(&self, rooms: &[(T, u32)]) -> Option<usize> {
        let mut sum = 0_u64;
        rooms.iter().enumerate().find_map(|(at, (_, room))| {
            sum += u64::from(*room);
            (at + 1 >= self.nodes.0 && sum >= self.processors).then_some(at + 1)
        })
    }

    /// Divides the processors of the job among its nodes. `nodes` contains the number of processors that each node can
    /// provide. Each node provides `per_node` processors, and the first nodes also provide the remaining processors.
    pub fn divide<T>(&self, nodes: &mut [(T, u32)]) {
        let mut rest = self.processors.saturating_sub(u64::from(self.per_node) * nodes.len() as u64);
        for (_, room) in nodes {
            let more = rest.min(u64::from(room.saturating_sub(self.per_node)));
            rest -= more;
            *room = self.per_node + more as u32;
        }
    }
}
