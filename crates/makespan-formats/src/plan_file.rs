//! Plans of any shape: what `plan` writes and `verify` reads.

use makespan_core::Instance;

use crate::error::FormatError;
use crate::schedule::ScheduleFile;
use crate::tree_plan::{TreePlanFile, is_tree_plan};

/// What a plan file states, by the shape of its plan.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanFile {
    /// Placements: a schedule, a front or a strategy.
    Schedule(Box<ScheduleFile>),
    /// Rates on a tree, with a period of them.
    Periodic(Box<TreePlanFile>),
}

impl PlanFile {
    /// Reads a file against the instance that it plans; `file` names it in errors. Nothing is checked here beyond its form.
    ///
    /// # Errors
    /// [`FormatError`] with the place.
    pub fn read(file: &str, bytes: &[u8], instance: &Instance) -> Result<Self, FormatError> {
        if is_tree_plan(bytes) {
            TreePlanFile::read(file, bytes, instance).map(|plan| Self::Periodic(Box::new(plan)))
        } else {
            ScheduleFile::read(file, bytes, instance).map(|plan| Self::Schedule(Box::new(plan)))
        }
    }
}
