//! The steps of a refutation. Each step names a rule.

use crate::proof::CertificateError;
use crate::proof::error::malformed;

use super::code::Reader;

/// The name of a rule, which narrows the windows of tasks. A step contains no premise and no conclusion: the check
/// computes the strongest conclusion of the rule from its current state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefutationStep {
    /// At least one literal of this nogood is true. If all of them except one are false, the remaining literal is
    /// true.
    Nogood(usize),
    /// The second task waits for the first one, so the earliest start of the second task may rise.
    After(usize, usize),
    /// The second task waits for the first one, so the latest start of the first task may fall.
    Before(usize, usize),
    /// At the instant, too little of the supply is left for the task. So the task starts later.
    StartLater(Held, usize),
    /// At the instant, too little of the supply is left for the task. So the task ends by this instant.
    EndEarlier(Held, usize),
    /// The task must run at the instant. Some modes of the task need more of the supply than remains. These modes are
    /// removed.
    ModesAt(Held, usize),
    /// The tasks that must run at the instant hold more of the supply than is available. So the state is refuted.
    Overload(Held),
    /// The task must end by its deadline, so its latest start may fall.
    Deadline(usize),
    /// The task must end by its deadline. Modes that are too slow are removed.
    FastModes(usize),
    /// Within the window, tasks must hold more of the supply than is available. So the state is refuted.
    Energy(HeldWithin),
    /// Within the window, some modes of the task need more of the supply than remains. These modes are removed.
    ModesWithin(HeldWithin, usize),
    /// All tasks together use up more of the consumable than exists. So the state is refuted.
    UsedUp(usize),
    /// Some modes of the task use up more of the consumable than remains. Such modes are removed from both ends of the
    /// range of modes.
    ModesLeft(usize, usize),
    /// At the prices of this vector, the first starts of the task are too expensive. These starts are removed.
    FirstStarts(usize, usize),
    /// At these prices, the last starts of the task are too expensive. These starts are removed.
    LastStarts(usize, usize),
    /// At these prices, the first modes of the task are too expensive. These modes are removed.
    FirstModes(usize, usize),
    /// At these prices, the last modes of the task are too expensive. These modes are removed.
    LastModes(usize, usize),
    /// At these prices, the minimum costs of all tasks contradict the claim. So the state is refuted.
    Prices(usize),
}

/// A supply at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) supply: usize,
    pub(super) at: i64,
}

/// A supply within a window of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeldWithin {
    pub(super) supply: usize,
    pub(super) from: i64,
    pub(super) until: i64,
}

/// The counts of tasks, supplies, consumables, price vectors and nogoods to which steps can refer.
#[derive(Clone, Copy)]
pub(super) struct Counts {
    pub(super) tasks: usize,
    pub(super) supplies: usize,
    pub(super) consumables: usize,
    pub(super) prices: usize,
    pub(super) nogoods: usize,
}

impl RefutationStep {
    pub(super) fn read(reader: &mut Reader<'_>, counts: Counts) -> Result<Self, CertificateError> {
        let Counts { tasks, supplies, consumables, prices, nogoods } = counts;
        let kind = reader.unsigned()?;
        let held = |reader: &mut Reader<'_>| -> Result<(Held, usize), CertificateError> {
            let (supply, task) = (reader.position(supplies)?, reader.position(tasks)?);
            Ok((Held { supply, at: reader.signed()? }, task))
        };
        let within = |reader: &mut Reader<'_>, supply: usize| -> Result<HeldWithin, CertificateError> {
            let (from, until) = (reader.signed()?, reader.signed()?);
            if from >= until {
                malformed("the window of a step is empty")
            } else {
                Ok(HeldWithin { supply, from, until })
            }
        };
        Ok(match kind {
            1 => Self::Nogood(reader.position(nogoods)?),
            2 => Self::After(reader.position(tasks)?, reader.position(tasks)?),
            3 => Self::Before(reader.position(tasks)?, reader.position(tasks)?),
            4 => held(reader).map(|(held, task)| Self::StartLater(held, task))?,
            5 => held(reader).map(|(held, task)| Self::EndEarlier(held, task))?,
            6 => held(reader).map(|(held, task)| Self::ModesAt(held, task))?,
            7 => Self::Deadline(reader.position(tasks)?),
            8 => Self::FastModes(reader.position(tasks)?),
            9 => {
                let supply = reader.position(supplies)?;
                Self::Energy(within(reader, supply)?)
            }
            10 => Self::FirstStarts(reader.position(prices)?, reader.position(tasks)?),
            11 => Self::LastStarts(reader.position(prices)?, reader.position(tasks)?),
            12 => Self::FirstModes(reader.position(prices)?, reader.position(tasks)?),
            13 => Self::LastModes(reader.position(prices)?, reader.position(tasks)?),
            14 => Self::Overload(Held { supply: reader.position(supplies)?, at: reader.signed()? }),
            15 => Self::Prices(reader.position(prices)?),
            16 => {
                let (supply, task) = (reader.position(supplies)?, reader.position(tasks)?);
                Self::ModesWithin(within(reader, supply)?, task)
            }
            17 => Self::UsedUp(reader.position(consumables)?),
            18 => Self::ModesLeft(reader.position(consumables)?, reader.position(tasks)?),
            _ => return malformed(format!("the steps include a step of the unknown kind {kind}")),
        })
    }
}
