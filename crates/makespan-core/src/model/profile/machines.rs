//! Times of a task that depend on the machine on which it runs.

use std::sync::Arc;

use super::ProfileError;
use crate::model::Time;

/// The time of a sequential task on one processor of each node, in the order of the platform's nodes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Machines {
    /// The times, with [`Machines::CANNOT`] for machines that cannot run the task.
    pub(super) row: Arc<[Time]>,
    pub(super) shortest: Time,
    /// The longest time on a machine that can run the task.
    pub(super) longest: Time,
}

impl Machines {
    /// The time on a machine that cannot run the task. No schedule of an instance is as long. The sum of this time and
    /// any instant of a schedule is still a valid [`Time`].
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

    /// Returns these times without the machines on which the task takes longer than `limit`, or `None` if no machine
    /// remains.
    pub(super) fn within(&self, limit: Time) -> Option<Self> {
        let row = self.row.iter().map(|&time| if time <= limit { time } else { Self::CANNOT }).collect();
        Self::new(row).ok()
    }
}
