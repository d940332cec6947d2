//! The conditions on tasks that the search makes true, and the propagations that make them true.

/// A condition: the quantity with the index `bound` is at least `value`. Each task j has four quantities: the start
/// (index 4j), the negated start (4j + 1), the mode (4j + 2), and the negated mode (4j + 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::complete) struct Literal {
    pub(in crate::complete) bound: u32,
    pub(in crate::complete) value: i64,
}

impl Literal {
    pub(in crate::complete) fn start_at_least(task: usize, value: i64) -> Self {
        Self { bound: 4 * task as u32, value }
    }

    pub(in crate::complete) fn start_at_most(task: usize, value: i64) -> Self {
        Self { bound: 4 * task as u32 + 1, value: -value }
    }

    pub(in crate::complete) fn mode_at_least(task: usize, mode: usize) -> Self {
        Self { bound: 4 * task as u32 + 2, value: mode as i64 }
    }

    pub(in crate::complete) fn mode_at_most(task: usize, mode: i64) -> Self {
        Self { bound: 4 * task as u32 + 3, value: -mode }
    }

    pub(in crate::complete) fn negated(self) -> Self {
        Self { bound: self.bound ^ 1, value: 1 - self.value }
    }
}

/// A propagation, in the terms of the certificate. `docs/refutation.md` defines the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::complete) enum Step {
    Decision,
    Nogood {
        clause: usize,
    },
    Wait {
        from: u32,
        to: u32,
        is_back: bool,
    },
    Table {
        supply: u8,
        at: i64,
        task: u32,
        is_back: bool,
    },
    ModesAt {
        supply: u8,
        at: i64,
        task: u32,
    },
    Overload {
        supply: u8,
        at: i64,
    },
    Deadline {
        task: u32,
    },
    FastModes {
        task: u32,
    },
    Energy {
        supply: u8,
        from: i64,
        until: i64,
    },
    ModesWithin {
        supply: u8,
        from: i64,
        until: i64,
        task: u32,
    },
    UsedUp {
        consumable: u8,
    },
    ModesLeft {
        consumable: u8,
        task: u32,
    },
    /// A cut by prices. `kind` states which values the cut removes. 0: the first starts. 1: the last starts. 2: the
    /// first modes. 3: the last modes.
    Priced {
        prices: u8,
        task: u32,
        kind: u8,
    },
    Prices {
        prices: u8,
    },
}
