//! Platform files of `SimGrid`.
//!
//! The reader takes the hosts of all zones, clusters, cabinets and peers, with their cores and speeds. The reader uses
//! the network only if the network is a tree. The routes that consist of one link are the edges of this tree, and all
//! longer routes must follow these edges. Any other network is ignored with a warning, and so are unknown elements and
//! attributes. Hosts with Batsim's role `master` or `storage` run no jobs. In a tree, hosts and routers become nodes in
//! file order, and the first host is the root. A unit of work is 10^6 flop, so `speed="98Mf"` is 98 units a second.

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
    /// The hosts, and the network if it is a tree.
    pub platform: Platform,
    /// Warnings for the user.
    pub remarks: Vec<String>,
    /// Reason why the network was ignored, or `None` if the network is a tree.
    pub lost: Option<String>,
}
