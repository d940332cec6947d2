//! Chooses the nodes of a job, and its processors on each node, as Slurm does.

use std::cmp::Reverse;

/// A request for processors on a number of nodes.
///
/// ```
/// use makespan_core::NodeRequest;
///
/// // The free processors of three nodes, in the order in which nodes are allocated.
/// let rooms = [("n0", 2), ("n1", 4), ("n2", 4)];
/// let request = NodeRequest { nodes: (1, usize::MAX), takes_all: false, processors: 5, per_node: 1 };
/// assert_eq!(request.choose(rooms.into_iter(), None), Some(vec![("n0", 2), ("n1", 3)]));
/// let request = NodeRequest { nodes: (1, 3), takes_all: true, ..request };
/// assert_eq!(request.choose(rooms.into_iter(), None), Some(vec![("n0", 2), ("n1", 2), ("n2", 1)]));
/// let request = NodeRequest { nodes: (1, 2), processors: 8, takes_all: false, ..request };
/// assert_eq!(request.choose(rooms.into_iter(), None), Some(vec![("n1", 4), ("n2", 4)]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeRequest {
    /// Minimum and maximum number of nodes.
    pub nodes: (usize, usize),
    /// True if the job gets as many nodes as it accepts, and not only as many as it needs.
    pub takes_all: bool,
    /// Total number of processors.
    pub processors: u64,
    /// Minimum number of processors on each node.
    pub per_node: u32,
}

/// A function for conditions that only some of a job's nodes must satisfy. The function moves nodes that satisfy these
/// conditions to the front. It returns the number of moved nodes, or `None` if too few nodes are suitable.
pub type ConditionsFirst<'a, T> = &'a dyn Fn(&mut [(T, u32)]) -> Option<usize>;

impl NodeRequest {
    /// Returns the nodes of the job in ascending order, with the number of processors on each. `rooms` contains the
    /// nodes in the order in which they are allocated, with the number of processors that each can provide. This number
    /// is at least `per_node`. Returns `None` if these nodes are not enough.
    ///
    /// The job gets the first nodes that are enough together. If these are more nodes than the job accepts, the job
    /// gets the nodes with the most processors instead. Each node provides `per_node` processors, and the first nodes
    /// also provide the remaining processors.
    ///
    /// Takes O(n) time for n rooms without conditions, or O(n log n) time if the first nodes are too many.
    pub fn choose<T: Copy + Ord>(
        &self,
        rooms: impl Iterator<Item = (T, u32)>,
        conditions: Option<ConditionsFirst<'_, T>>,
    ) -> Option<Vec<(T, u32)>> {
        let most = self.most_nodes();
        let (mut found, mut sum) = (Vec::new(), 0_u64);
        for (node, room) in rooms {
            // More processors than the job requests do not make a node better.
            let room = u32::try_from(self.processors).map_or(room, |all| room.min(all)).max(self.per_node);
            found.push((node, room));
            sum += u64::from(room);
            let enough = conditions.is_none() && found.len() >= self.nodes.0 && sum >= self.processors;
            if enough && found.len() <= most && (!self.takes_all || found.len() == most) {
                break;
            }
        }
        let front = conditions.map_or(Some(0), |first| first(&mut found))?;
        let mut needed = self.prefix(&found)?.max(front);
        if needed > most && front <= most {
            found[front..].sort_unstable_by_key(|&(node, room)| (Reverse(room), node));
            needed = self.prefix(&found)?.max(front);
        }
        if needed > most {
            return None;
        }
        found.truncate(if self.takes_all { most } else { needed });
        found.sort_unstable();
        let mut rest = self.processors.saturating_sub(u64::from(self.per_node) * found.len() as u64);
        for (_, room) in &mut found {
            let more = rest.min(u64::from(room.saturating_sub(self.per_node)));
            rest -= more;
            *room = self.per_node + more as u32;
        }
        Some(found)
    }

    /// Returns the maximum number of nodes. A job that requests several processors gets no node on which it would have
    /// more processors than it requests.
    fn most_nodes(&self) -> usize {
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
}
