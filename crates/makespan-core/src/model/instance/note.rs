//! What the user of an instance should know.

use crate::model::{Instance, JobId};
use crate::text::counted;

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
    /// Times that nobody knows.
    Guessed {
        /// How many different tasks have such times.
        guesses: usize,
        /// How many different tasks there are.
        times: usize,
    },
}

impl Note {
    /// A sentence for the user of `instance`.
    pub fn describe(&self, instance: &Instance) -> String {
        match self {
            Self::Dominated { jobs, allotments, example } => format!(
                "not used: {} of {} (such as `{}`), no faster than fewer processors",
                counted(allotments, "allotment"),
                counted(jobs, "job"),
                instance.job(*example).name
            ),
            Self::Guessed { guesses, times } => {
                let guesses = match (guesses, times) {
                    (1, 1) => "the only time is a guess".to_owned(),
                    (1, _) => format!("1 of {times} times is a guess"),
                    _ if guesses == times => format!("all {times} times are guesses"),
                    _ => format!("{guesses} of {times} times are guesses"),
                };
                format!("{guesses}; the figures of the plan and its bounds hold if all tasks take as long as guessed")
            }
        }
    }
}
