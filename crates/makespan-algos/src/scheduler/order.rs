//! Order of a list schedule.

use std::fmt;
use std::str::FromStr;

/// The order of a list, with w the weight, p the time and k the allotment of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// First shelf of the dual approximation, second shelf, small tasks.
    Shelf,
    /// Increasing w / p: the longest for their weight first. One reading of the paper's "weighted LPTF", the one that
    /// reproduces its curves.
    WeightedLptf,
    /// Decreasing w / p: Smith's rule (1956), the other reading.
    Smith,
    /// Smallest area k p first.
    Saf,
}

impl Order {
    const NAMES: [(&'static str, Self); 4] =
        [("shelf", Self::Shelf), ("weighted-lptf", Self::WeightedLptf), ("smith", Self::Smith), ("saf", Self::Saf)];
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, order)| order == self).map_or("", |(name, _)| name);
        f.pad(name)
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(name, _)| *name == text);
        found.map(|&(_, order)| order).ok_or_else(|| "one of shelf, weighted-lptf, smith, saf".into())
    }
}
