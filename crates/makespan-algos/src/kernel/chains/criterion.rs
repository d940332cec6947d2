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

/// What a schedule, or a part of one, takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// What it costs, in thousandths.
    pub cost: i64,
    /// How long processors are busy with it, in ticks.
    pub busy: i64,
}

impl Figures {
    /// By what is optimised; less is better.
    pub fn value(self, criterion: Criterion) -> i64 {
        match criterion {
            Criterion::Cost => self.cost,
            Criterion::Utilisation => -self.busy,
        }
    }
}

/// Of equally good places, which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieBreak {
    /// The earliest.
    Earliest,
    /// The latest.
    Latest,
}
