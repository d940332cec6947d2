//! The twelve classes of matrices in the benchmark.

use std::fmt;
use std::str::FromStr;

use makespan_generate::Consistency;
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::campaign::parsed;

/// A class of matrices, which determines the distribution of the run times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MatrixClass {
    /// The consistency of the machines. In a consistent matrix, a machine that is faster for one task is faster for
    /// every task.
    pub consistency: Consistency,
    /// True if the run times of different tasks on one machine differ much.
    pub high_tasks: bool,
    /// True if the run times of one task on different machines differ much.
    pub high_machines: bool,
}

impl MatrixClass {
    /// Returns all twelve classes.
    pub fn all() -> Vec<Self> {
        let consistencies = [Consistency::Consistent, Consistency::SemiConsistent, Consistency::Inconsistent];
        let ranges = [(true, true), (true, false), (false, true), (false, false)];
        let of =
            |consistency| ranges.map(|(high_tasks, high_machines)| Self { consistency, high_tasks, high_machines });
        consistencies.into_iter().flat_map(of).collect()
    }
}

/// Formats a class as in the benchmark. For example, `c_hilo` is a class of consistent matrices in which tasks differ
/// much and machines differ little.
impl fmt::Display for MatrixClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |high| if high { "hi" } else { "lo" };
        let text = format!("{}_{}{}", self.consistency.letter(), range(self.high_tasks), range(self.high_machines));
        f.pad(&text)
    }
}

impl FromStr for MatrixClass {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        parsed(Self::all(), text, "class", "write c, s or i, then hihi, hilo, lohi or lolo, such as c_hilo")
    }
}
