//! Delays starts until the machine has enough free resources, or until the minimum time between starts has passed.

use std::fs;

use makespan_core::Time;

use super::Session;
use super::delayed::DelayedStart;
use crate::clock::ticks;
use crate::options::StartHold;
use crate::resources;

/// Time between two checks of the load and the memory of the machine.
const LOOK: Time = Time::from_ticks(250_000_000);

/// State of [`StartHold`] in a session.
#[derive(Debug, Default)]
pub(crate) struct HoldState {
    /// The instant of the last start. The time between two starts counts from the recorded start.
    pub last: Option<Time>,
    /// The instant of the next check, while starts are held.
    pub until: Option<Time>,
    /// True if the user was informed why starts are delayed.
    is_told: bool,
}

/// The reason why no task may start at the moment.
struct HoldReason {
    /// The instant of the next check.
    until: Time,
    /// The reason for the user. `None` if only time must pass.
    reason: Option<String>,
}

impl StartHold {
    /// Returns the reason why no task may start now, or `None` if tasks may start.
    fn reason(&self) -> Option<String> {
        if let (Some(needed), Some(free)) = (self.free_memory, resources::free_memory())
            && free < needed
        {
            let mebibytes = |bytes: u64| bytes >> 20;
            let (free, needed) = (mebibytes(free), mebibytes(needed));
            return Some(format!(
                "no job is started for now: only {free} MiB of memory are free, but {needed} MiB are required to \
                 start a job"
            ));
        }
        let (most, running) = (self.load?, running_threads()?);
        (running >= most).then(|| {
            format!(
                "no job is started for now: the load of the machine is {running}, but must be below {most} to start a \
                 job"
            )
        })
    }
}

/// Returns the number of threads of the machine that run or are ready to run, without the calling thread.
fn running_threads() -> Option<u32> {
    running_in(&fs::read_to_string("/proc/loadavg").ok()?)
}

/// Reads the number of running threads from `/proc/loadavg`, and subtracts the thread that reads.
fn running_in(text: &str) -> Option<u32> {
    let (running, _) = text.split(' ').nth(3)?.split_once('/')?;
    running.parse::<u32>().ok().map(|running| running.saturating_sub(1))
}

impl Session<'_> {
    /// Returns the start if it may happen now. Otherwise delays the start, which is tried again later.
    pub(super) fn admit(&mut self, delayed: DelayedStart) -> Option<DelayedStart> {
        let now = self.now();
        if self.is_held(now) {
            self.machine.starting.add(DelayedStart { due: now, ..delayed });
            return None;
        }
        (self.holding.until, self.holding.is_told) = (None, false);
        Some(delayed)
    }

    /// Returns whether no task may start now. If so, the starts are checked again at `until`.
    pub(super) fn is_held(&mut self, now: Time) -> bool {
        if self.holding.until.is_some_and(|until| now < until) {
            return true;
        }
        let Some(HoldReason { until, reason }) = self.held(now) else {
            self.holding.until = None;
            return false;
        };
        if let Some(reason) = reason
            && !std::mem::replace(&mut self.holding.is_told, true)
        {
            self.observer.message(&reason);
        }
        self.holding.until = Some(until);
        true
    }

    fn held(&self, now: Time) -> Option<HoldReason> {
        let hold = self.options.hold.as_ref()?;
        let next = self.holding.last.map(|last| last + ticks(hold.delay)).filter(|&next| next > now);
        if let Some(until) = next {
            return Some(HoldReason { until, reason: None });
        }
        hold.reason().map(|reason| HoldReason { until: now + LOOK, reason: Some(reason) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reader_is_no_load() {
        for (text, running) in [
            ("0.50 0.40 0.30 3/789 4242\n", Some(2)),
            ("0.50 0.40 0.30 1/789 4242\n", Some(0)),
            ("0.50 0.40 0.30 0/789 4242\n", Some(0)),
            ("", None),
            ("a b c d e", None),
        ] {
            assert_eq!(running_in(text), running, "{text}");
        }
        assert!(running_threads().is_some() && resources::free_memory().is_some());
    }
}
