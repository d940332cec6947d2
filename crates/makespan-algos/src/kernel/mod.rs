//! The mathematics that schedulers share.

pub mod batches;
pub mod compact;
pub mod doubling;
pub mod holes;
pub mod knapsack;
pub mod list;
pub mod shelves;
