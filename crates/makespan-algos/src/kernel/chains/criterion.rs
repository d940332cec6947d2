//! The criteria that compare schedules, and the rules that choose among equal places.

/// The objective of the critical jobs method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// Lowest cost. The cost of a task with volume V and run time T is 1000 V / T, rounded up. The cost of a schedule
    /// is the sum over its tasks.
    #[default]
    Cost,
    /// Greatest average utilisation of the processors. A schedule with a longer total run time has a greater
    /// utilisation.
    Utilisation,
}

/// The cost of some tasks, and the processor time that they use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Cost, computed as in [`Criterion::Cost`].
    pub cost: i64,
    /// Busy time of the processors, in ticks.
    pub busy: i64,
}

impl Figures {
    /// Returns the value that `criterion` minimises.
    pub fn value(self, criterion: Criterion) -> i64 {
        match criterion {
            Criterion::Cost => self.cost,
            Criterion::Utilisation => -self.busy,
        }
    }
}

/// The rule that chooses among equally good places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieBreak {
    /// The earliest place.
    Earliest,
    /// The latest place.
    Latest,
}
