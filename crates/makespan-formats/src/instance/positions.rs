//! The positions of nodes by name, for tasks that state a time for each node.

use std::collections::HashMap;

use makespan_core::Platform;

use crate::suggest::nearest;

/// The largest number of times that are kept for nodes, 128 MiB of them, unless a file states a quarter of them one by one. A task with times
/// on nodes keeps one for each node of the platform.
const MOST: usize = 1 << 24;

/// The number of names among which a similar one is looked for.
const COMPARED: usize = 1000;

/// The positions of nodes by name. Equal nodes that are stored once are not listed.
#[derive(Debug, Default)]
pub(super) enum Positions<'a> {
    #[default]
    None,
    Cluster(&'a Platform),
    Listed(&'a Platform, HashMap<&'a str, usize>),
}

impl<'a> Positions<'a> {
    /// Returns the positions of the nodes of a platform, for a number of tasks with times on them, which name nodes `stated` times in all.
    ///
    /// # Errors
    /// A sentence, if the times would take too much memory.
    pub fn new(platform: &'a Platform, tasks: usize, stated: usize) -> Result<Self, String> {
        let nodes = platform.node_count();
        let most = MOST.max(4 * stated);
        if nodes.saturating_mul(tasks) > most {
            return Err(format!(
                "`time_on` keeps a time for each node: {tasks} tasks times {nodes} nodes are more than {most} times; state fewer nodes, or `time` \
                 with the `speed` of each node"
            ));
        }
        if platform.is_cluster() {
            return Ok(Self::Cluster(platform));
        }
        let names = platform.nodes().iter().enumerate().map(|(at, node)| (node.name.as_str(), at));
        Ok(Self::Listed(platform, names.collect()))
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Cluster(platform) => platform.node_count(),
            Self::Listed(_, names) => names.len(),
        }
    }

    /// Returns the position of a node.
    pub fn get(&self, name: &str) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Cluster(platform) => platform.position_of(name),
            Self::Listed(_, names) => names.get(name).copied(),
        }
    }

    /// Returns what helps somebody who wrote an unknown name.
    pub fn hint(&self, name: &str) -> String {
        match self {
            Self::None => "the platform has no nodes".to_owned(),
            Self::Cluster(platform) => format!("its nodes are `n0` to `n{}`", platform.node_count().saturating_sub(1)),
            Self::Listed(platform, _) => {
                let names = platform.nodes().iter().map(|node| node.name.as_str());
                match nearest(name, names.take(COMPARED)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "write the name of one of its `nodes`".to_owned(),
                }
            }
        }
    }
}
