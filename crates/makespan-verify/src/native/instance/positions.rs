//! Finds the positions of nodes by name, for tasks that state one run time per node.

use std::collections::HashMap;

use makespan_core::Platform;

use crate::native::suggest::nearest;

/// Maximum number of stored run times of tasks on nodes (128 MiB). For each task with one time per node, the instance
/// stores a time for every node of the platform, even if the file states times for only a few nodes. The maximum does
/// not apply if the file states at least a quarter of the times that would be stored.
const MOST: usize = 1 << 24;

/// Maximum number of node names that are compared with an unknown name, to suggest the most similar one.
const COMPARED: usize = 1000;

/// Positions of nodes by name. A platform of equal nodes needs no table, because the name of a node contains its
/// position.
#[derive(Debug, Default)]
pub(super) enum Positions<'a> {
    #[default]
    None,
    Cluster(&'a Platform),
    Listed(&'a Platform, HashMap<&'a str, usize>),
}

impl<'a> Positions<'a> {
    /// Creates the table of positions of a platform's nodes. `tasks` is the number of tasks with one time per node,
    /// and `stated` is the number of such times in the file.
    ///
    /// # Errors
    /// An error message if the stored times would need too much memory.
    pub fn new(platform: &'a Platform, tasks: usize, stated: usize) -> Result<Self, String> {
        let nodes = platform.node_count();
        let most = MOST.max(4 * stated);
        if nodes.saturating_mul(tasks) > most {
            return Err(format!(
                "`time_on` stores a time for each task and node: {tasks} tasks on {nodes} nodes need more than {most} times; use a \
                 platform with fewer nodes, or write `time`, and the `speed` of each node"
            ));
        }
        if platform.is_cluster() {
            return Ok(Self::Cluster(platform));
        }
        let names = platform.nodes().iter().enumerate().map(|(at, node)| (node.name.as_str(), at));
        Ok(Self::Listed(platform, names.collect()))
    }

    pub fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Cluster(platform) => platform.node_count(),
            Self::Listed(_, names) => names.len(),
        }
    }

    /// Returns the position of the node with this name.
    pub fn get(&self, name: &str) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Cluster(platform) => platform.position_of(name),
            Self::Listed(_, names) => names.get(name).copied(),
        }
    }

    /// Returns a hint for the error message about the unknown node name `name`. The hint suggests the most similar
    /// name, or describes the names of the nodes.
    pub fn hint(&self, name: &str) -> String {
        match self {
            Self::None => "the platform has no nodes".to_owned(),
            Self::Cluster(platform) => format!("the nodes are `n0` to `n{}`", platform.node_count().saturating_sub(1)),
            Self::Listed(platform, _) => {
                let names = platform.nodes().iter().map(|node| node.name.as_str());
                match nearest(name, names.take(COMPARED)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "write the name of one of the `nodes`".to_owned(),
                }
            }
        }
    }
}
