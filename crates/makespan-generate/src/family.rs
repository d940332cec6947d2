//! The four job families of the paper by Dutot et al. (SPAA 2004).

use std::fmt;
use std::str::FromStr;

use makespan_core::Time;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::parallelism::{self, Parallelism};
use crate::GenerateError;

/// Family of moldable jobs: the distributions of their sequential run times and speed-ups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Sequential times are uniform on [1, 10] s, and speed-ups are close to 1 for any number of processors.
    Weak,
    /// Sequential times are uniform on [1, 10] s, and speed-ups are close to the number of processors.
    High,
    /// 70 % of the jobs are small and weakly parallel, with sequential times from N(1, 0.5) s. The other 30 % are large
    /// and highly parallel, with sequential times from N(10, 5) s.
    Mixed,
    /// Sequential times are uniform on [1, 10] s, and speed-ups follow Downey's law with random parameters.
    ///
    /// The paper uses the model of Cirne and Berman (IPDPS 2001), but does not state the constants of this model. This
    /// crate uses Downey's law instead. The average parallelism is log-uniform on [1, processors], and sigma is uniform
    /// on [0, 2].
    Cirne,
}

impl Family {
    /// All families, in the order of the paper's figures.
    pub const ALL: [Self; 4] = [Self::Weak, Self::High, Self::Mixed, Self::Cirne];

    /// Returns the name of the family in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::High => "high",
            Self::Mixed => "mixed",
            Self::Cirne => "cirne",
        }
    }

    /// Draws the run times of one job on 1, 2 .. `processors` processors.
    pub(super) fn draw(self, processors: u32, random: &mut impl Rng) -> Vec<Time> {
        let uniform = |random: &mut _| RngExt::random_range(random, 1.0..=10.0);
        let exact = match self {
            Self::Weak => parallelism::recursive(uniform(random), Parallelism::Weak, processors, random),
            Self::High => parallelism::recursive(uniform(random), Parallelism::High, processors, random),
            Self::Mixed if random.random_bool(0.7) => {
                let sequential = parallelism::positive_gaussian(1.0, 0.5, random);
                parallelism::recursive(sequential, Parallelism::Weak, processors, random)
            }
            Self::Mixed => {
                let sequential = parallelism::positive_gaussian(10.0, 5.0, random);
                parallelism::recursive(sequential, Parallelism::High, processors, random)
            }
            Self::Cirne => parallelism::downey(uniform(random), processors, random),
        };
        parallelism::rounded(&exact)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Family {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self, GenerateError> {
        let found = Self::ALL.into_iter().find(|family| family.name() == text);
        found.ok_or_else(|| GenerateError::UnknownFamily(text.to_owned()))
    }
}
