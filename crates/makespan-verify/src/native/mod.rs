//! Native files: instances in JSON, and the files of plans.
//!
//! Readers do not panic on any input. Every error names its place in the file, the problem and the remedy.

pub mod amount;
pub mod bandwidth;
pub mod document;
pub mod error;
pub mod guess;
pub mod hosts;
pub mod instance;
pub mod milestones;
mod origin;
mod plan_file;
pub mod scalar;
pub mod schedule;
pub mod suggest;
pub mod tree_plan;

pub use origin::PlanOrigin;
pub use plan_file::PlanFile;
