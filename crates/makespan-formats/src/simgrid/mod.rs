//! Platform files of `SimGrid`, where they describe a tree.
//!
//! Read are the elements `host`, `router`, `link`, `route` with `link_ctn`, and a lone `cluster`, in one `zone` (or `AS`)
//! of a `platform`. Routes of one link are the edges of the tree; longer routes must follow it. Anything else is refused by
//! name: nothing is left out silently but `prop` elements. Hosts and routers become nodes in file order, the first host is
//! the root, and a unit of work is 10^6 flop (so `speed="98Mf"` is 98 units a second).

mod read;
#[cfg(test)]
mod tests;
mod tree;
mod units;
mod write;

pub use read::read_simgrid;
pub use write::write_simgrid;
