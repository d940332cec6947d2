//! The time for which an agent may run tasks without contact to the planner.

use std::collections::VecDeque;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// If the last beat that the planner returned was sent this long ago, the agent ends its tasks.
pub const FENCE: Duration = Duration::from_secs(30);

/// If the planner has received no beat for this time, it starts the tasks of the host elsewhere. The difference to
/// [`FENCE`] is the time in which the agent ends its tasks.
pub const LOST: Duration = Duration::from_mins(1);

/// Time between two beats.
pub(super) const BEAT: Duration = Duration::from_secs(2);

/// Returns the time since the boot of this machine. Unlike [`std::time::Instant`], it includes the time for which the
/// machine was suspended.
pub(super) fn since_boot() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    let (seconds, nanoseconds) = (u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0));
    Duration::new(seconds, nanoseconds)
}

/// The beats of an agent, and the time of its last certain contact to the planner.
#[derive(Debug)]
pub(super) struct Lease {
    /// The time at which the last returned beat was sent.
    contact: Duration,
    /// Beats that were not returned, with the times at which they were sent.
    sent: VecDeque<(u64, Duration)>,
    next: u64,
}

impl Lease {
    /// Creates a lease that begins now.
    pub fn new(now: Duration) -> Self {
        Self { contact: now, sent: VecDeque::new(), next: 1 }
    }

    /// Returns the number of a beat that is sent now, if a beat is due.
    pub fn beat(&mut self, now: Duration) -> Option<u64> {
        if self.sent.back().is_some_and(|&(_, at)| now < at + BEAT) {
            return None;
        }
        let number = self.next;
        self.next += 1;
        self.sent.push_back((number, now));
        Some(number)
    }

    /// Records that the planner has returned a beat.
    pub fn returned(&mut self, number: u64) {
        while let Some(&(sent, at)) = self.sent.front().filter(|&&(sent, _)| sent <= number) {
            if sent == number {
                self.contact = self.contact.max(at);
            }
            self.sent.pop_front();
        }
    }

    /// Returns true if the agent may run tasks.
    pub fn is_valid(&self, now: Duration) -> bool {
        now < self.contact + FENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_lease_counts_from_the_time_a_returned_beat_was_sent() {
        let mut lease = Lease::new(seconds(100));
        assert_eq!(
            (lease.beat(seconds(100)), lease.beat(seconds(101)), lease.beat(seconds(102))),
            (Some(1), None, Some(2))
        );
        assert!(lease.is_valid(seconds(129)) && !lease.is_valid(seconds(130)));
        // The beat was returned late: the lease does not count from its return.
        lease.returned(1);
        assert!(!lease.is_valid(seconds(130)));
        lease.returned(2);
        assert!(lease.is_valid(seconds(131)) && !lease.is_valid(seconds(132)));
        // A beat that is returned twice, or that was never sent, has no effect.
        [2, 7].into_iter().for_each(|number| lease.returned(number));
        assert!(!lease.is_valid(seconds(132)));
        assert!(since_boot() <= since_boot());
    }
}
