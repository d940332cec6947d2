//! A queue on a cluster with additional nodes.

use std::collections::HashSet;

use super::Queue;
use crate::Node;

impl Queue {
    /// Returns the node that additional nodes copy: the last node that accepts jobs.
    pub fn like_new_nodes(&self) -> Option<&Node> {
        self.nodes.iter().rfind(|node| node.state.takes_jobs() && node.usable_cpus > 0)
    }

    /// Returns this queue with `more` additional nodes, which are copies of one node. They are in the partitions of
    /// the copied node.
    pub fn with_more_nodes(&self, more: u32) -> Self {
        let mut queue = self.clone();
        let Some(like) = self.like_new_nodes() else { return queue };
        let taken: HashSet<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
        let names = (1_u64..).map(|number| format!("new{number}")).filter(|name| !taken.contains(name.as_str()));
        for name in names.take(more as usize) {
            let homes = queue.partitions.iter_mut().filter(|own| own.nodes.contains(&like.name));
            homes.for_each(|own| own.nodes.push(name.clone()));
            queue.nodes.push(Node {
                host: name.clone(),
                name,
                allocated_cpus: 0,
                allocated_memory: 0,
                gres_used: Vec::new(),
                ..like.clone()
            });
        }
        queue
    }
}
