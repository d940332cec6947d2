//! Speed-up laws of tasks.

use std::fmt;
use std::str::FromStr;

use makespan_core::SpeedupLaw;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::GenerateError;

/// Family of random speed-up laws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// Downey's law. The average parallelism is log-uniform from 1 to the maximum number of processors, and sigma is
    /// uniform on [0, 2].
    Downey,
    /// Amdahl's law. The serial share is uniform on [0, 0.25], as in T. N'Takpé, F. Suter and H. Casanova (ISPDC 2007,
    /// DOI 10.1109/ISPDC.2007.3).
    Amdahl,
}

impl Law {
    /// All laws.
    pub const ALL: [Self; 2] = [Self::Downey, Self::Amdahl];

    /// Returns the name of the law on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Downey => "downey",
            Self::Amdahl => "amdahl",
        }
    }

    /// Draws a random law for up to `most` processors. The parameters of the law are rounded, so that they have few
    /// digits in files.
    pub(super) fn draw(self, most: u32, random: &mut ChaCha8Rng) -> SpeedupLaw {
        let places = |value: f64, of: f64| (value * of).round() / of;
        match self {
            Self::Downey => {
                let parallelism = places(f64::from(most).powf(random.random::<f64>()), 1e2).max(1.0);
                SpeedupLaw::Downey { parallelism, sigma: places(2.0 * random.random::<f64>(), 1e2) }
            }
            Self::Amdahl => SpeedupLaw::Amdahl { serial: places(0.25 * random.random::<f64>(), 1e3) },
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Law {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self, GenerateError> {
        Self::ALL.into_iter().find(|law| law.name() == text).ok_or_else(|| GenerateError::Option {
            name: "law",
            value: text.to_owned(),
            expected: "write downey or amdahl",
        })
    }
}
