//! Notes on an instance for its user.

use crate::model::{Instance, JobId};
use crate::text::counted;

/// A note on an instance for its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Some allotments are dominated: their measured times are not shorter than the times on fewer processors.
    Dominated {
        /// Number of jobs with dominated allotments.
        jobs: usize,
        /// Total number of dominated allotments of all jobs.
        allotments: usize,
        /// The first job with a dominated allotment.
        example: JobId,
    },
    /// Some times are guessed.
    Guessed {
        /// Number of distinct tasks with guessed times. A bag has one distinct task.
        guesses: usize,
        /// Number of distinct tasks. A bag has one distinct task.
        times: usize,
    },
}

impl Note {
    /// Returns a sentence for the user of `instance`.
    pub fn describe(&self, instance: &Instance) -> String {
        match self {
            Self::Dominated { jobs, allotments, example } => format!(
                "not used: {} of {} (such as `{}`), because fewer processors are at least as fast",
                counted(allotments, "allotment"),
                counted(jobs, "job"),
                instance.job(*example).name
            ),
            Self::Guessed { guesses, times } => {
                let guesses = match (guesses, times) {
                    (1, 1) => "the only run time is a guess".to_owned(),
                    (1, _) => format!("1 of {times} run times is a guess"),
                    _ if guesses == times => format!("all {times} run times are guesses"),
                    _ => format!("{guesses} of {times} run times are guesses"),
                };
                format!(
                    "{guesses}; the figures of the plan and its bounds hold only if every task takes as long as \
                     guessed"
                )
            }
        }
    }
}
