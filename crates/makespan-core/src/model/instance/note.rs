//! What the user of an instance should know.

use crate::model::{Instance, JobId};

/// Something about an instance that its user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Measured times that do not fall with the allotment.
    Dominated {
        /// How many jobs have such allotments.
        jobs: usize,
        /// How many allotments in all.
        allotments: usize,
        /// The first such job.
        example: JobId,
    },
}

impl Note {
    /// A sentence for the user of `instance`.
    pub fn describe(&self, instance: &Instance) -> String {
        match self {
            Self::Dominated { jobs, allotments, example } => format!(
                "{allotments} allotments of {jobs} jobs (such as `{}`) are no faster than fewer processors and are not used",
                instance.job(*example).name
            ),
        }
    }
}
