//! Platform files of `SimGrid`.
//!
//! Read are the hosts of all zones, clusters, cabinets and peers, with their cores and speeds. The network is read if it is a tree:
//! routes of one link are its edges, and longer routes must follow it. A network that is no tree is ignored with a remark, and so are
//! elements and attributes that are not read. Hosts with the role `master` or `storage` of Batsim run no jobs. In a tree hosts and
//! routers become nodes in file order, and the first host is the root. A unit of work is 10^6 flop (so `speed="98Mf"` is 98 units a
//! second).

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

/// What a platform file describes.
#[derive(Clone, Debug, PartialEq)]
pub struct SimgridPlatform {
    /// The hosts, and the network if it is a tree.
    pub platform: Platform,
    /// What the user should know about the reading.
    pub remarks: Vec<String>,
    /// Why the network was ignored, if it was.
    pub lost: Option<String>,
}
