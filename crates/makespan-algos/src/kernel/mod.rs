//! Building blocks that several schedulers share.

pub mod batches;
pub mod chains;
pub mod choices;
pub mod clusters;
pub mod compact;
pub mod critical_area;
pub mod cumulative;
pub mod doubling;
pub mod fit;
pub mod graph;
pub mod hierarchical;
pub mod holes;
mod index;
pub mod knapsack;
pub(crate) mod leaves;
pub mod list;
pub mod mapping;
pub mod moldable;
pub mod open;
pub mod packing;
pub mod path_area;
pub mod priorities;
pub mod serial;
pub mod shelves;
pub(crate) mod usage;

pub(crate) use index::index_type;
pub(crate) use list::nodes::free::{take_compact, widest_compact};

/// Moves the element at index `from` of a list to index `to`.
pub(crate) fn move_to<T>(list: &mut [T], from: usize, to: usize) {
    if from < to { list[from..=to].rotate_left(1) } else { list[to..=from].rotate_right(1) }
}
