//! Plan files of all kinds. `plan` writes such files and `verify` reads them.

use makespan_core::Instance;

use crate::native::error::{FilePlace, FormatError};
use crate::native::schedule::ScheduleFile;
use crate::native::tree_plan::{TreePlanFile, is_tree_plan};

/// Content of a plan file.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanFile {
    /// Placements of tasks: a schedule, a Pareto front of schedules, or a strategy.
    Schedule(Box<ScheduleFile>),
    /// Steady state on a tree: rates and a period.
    Periodic(Box<TreePlanFile>),
}

impl PlanFile {
    /// Reads the plan file of an instance. `file` is the file name for errors. This function checks only the form of
    /// the file ([`crate::check::problems`] checks the plan).
    ///
    /// # Errors
    /// [`FormatError`] with the place of the error.
    pub fn read(file: &str, bytes: &[u8], instance: &Instance) -> Result<Self, FormatError> {
        if !bytes.trim_ascii_start().starts_with(b"{") {
            let problem = "this is not a plan file; `makespan plan --output` writes plan files as JSON objects";
            return Err(FormatError::content(file, FilePlace::default(), problem));
        }
        if is_tree_plan(bytes) {
            TreePlanFile::read(file, bytes, instance).map(|plan| Self::Periodic(Box::new(plan)))
        } else {
            ScheduleFile::read(file, bytes, instance).map(|plan| Self::Schedule(Box::new(plan)))
        }
    }
}
