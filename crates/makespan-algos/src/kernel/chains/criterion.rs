//! By what schedules and places are preferred.

/// Which schedules are better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// Lowest cost: the sum over tasks of 1000 V / T, rounded up each, for a volume V that takes the time T.
    #[default]
    Cost,
    /// Greatest average utilisation of the processors: the longest times.
    Utilisation,
}

/// Of equally good places, which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieBreak {
    /// The earliest.
    Earliest,
    /// The latest.
    Latest,
}
