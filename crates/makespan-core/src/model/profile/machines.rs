//! Times that depend on the machine.

use std::sync::Arc;

use super::ProfileError;
use crate::model::Time;

/// The time of a sequential task on one processor of each node, in the order of the platform's nodes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Machines {
    /// [`Machines::CANNOT`] where the task cannot run.
    pub(super) row: Arc<[Time]>,
    pub(super) shortest: Time,
    /// Among the machines that can run it.
    pub(super) longest: Time,
}

impl Machines {
    /// Stands for the time on a machine that cannot run the task: longer than any schedule of an instance, and so that
    /// the sum of it and any instant of a schedule is still a [`Time`].
    pub(super) const CANNOT: Time = Time::from_ticks(i64::MAX / 2);

    pub(super) fn new(row: Arc<[Time]>) -> Result<Self, ProfileError> {
        let (mut shortest, mut longest) = (Self::CANNOT, Time::ZERO);
        for (machine, &time) in row.iter().enumerate() {
            if time <= Time::ZERO || time > Self::CANNOT {
                return Err(ProfileError::OnMachine { machine, time });
            }
            if time < Self::CANNOT {
                shortest = shortest.min(time);
                longest = longest.max(time);
            }
        }
        if longest == Time::ZERO { Err(ProfileError::NoMachine) } else { Ok(Self { row, shortest, longest }) }
    }

    /// Without the machines that take longer than `limit`.
    pub(super) fn within(&self, limit: Time) -> Option<Self> {
        let row = self.row.iter().map(|&time| if time <= limit { time } else { Self::CANNOT }).collect();
        Self::new(row).ok()
    }
}
