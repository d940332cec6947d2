//! Plans for bags on a tree: the file, the picture and the table of transfers.

mod svg;
#[cfg(test)]
mod tests;
mod unrolled;

pub use makespan_verify::native::tree_plan::{StatedFairness, StatedPeriod, TreePlanFile, is_tree_plan};
pub use svg::write_tree_svg;
pub(crate) use svg::{FULL, shares};
pub use unrolled::write_network_csv;
