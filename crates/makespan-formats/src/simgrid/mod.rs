//! Platform files of `SimGrid`.
//!
//! The reader returns the hosts of all zones, clusters, cabinets and peers, with their cores and speeds. The reader
//! returns the network only if the network is a tree. The routes with one link are the edges of the tree, and longer
//! routes must follow the tree. If the network is not a tree, it is ignored with a warning. Unknown elements and
//! attributes are also ignored with a warning. Hosts with Batsim's role `master` or `storage` run no jobs. If the
//! network is a tree, hosts and routers become nodes in file order, and the first host is the root. A unit of work is
//! 10^6 flop, so `speed="98Mf"` is 98 units per second.

mod cluster;
mod read;
mod reading;
#[cfg(test)]
mod tests;
mod tree;
mod units;
mod write;

use makespan_core::Platform;

pub use read::read_simgrid;
pub use write::write_simgrid;

/// Content of a platform file.
#[derive(Clone, Debug, PartialEq)]
pub struct SimgridPlatform {
    /// The hosts, with the network if it is a tree.
    pub platform: Platform,
    /// Warnings for the user.
    pub remarks: Vec<String>,
    /// Reason why the network was ignored, or `None` if it was used.
    pub lost: Option<String>,
}
