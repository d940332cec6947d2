//! Decides which runs unavailable periods permit.

use makespan_core::{Instance, Time, Timeline};

use crate::proof::prefix::{Event, PriceIntegral};

/// The unavailable periods of an instance: the open processors at each instant, and the instants at which the number
/// of open processors changes.
#[derive(Debug)]
pub(super) struct ClosedPeriods {
    timeline: Timeline,
    /// Starts of unavailable periods, each with the integral of the price until this start. The best run may end at one
    /// of these starts.
    begins: Vec<Event>,
    /// Ends of unavailable periods, each with the integral of the price until this end. The best run may start at one
    /// of these ends.
    ends: Vec<Event>,
}

impl ClosedPeriods {
    /// Collects the unavailable periods. Returns `None` if no processor is ever closed.
    pub(super) fn of(instance: &Instance, prefix: &PriceIntegral) -> Option<Self> {
        let availability = instance.availability();
        if availability.is_always_open() {
            return None;
        }
        let periods = || availability.classes().iter().flat_map(|class| &class.closed);
        let events = |mut instants: Vec<i64>| {
            instants.sort_unstable();
            instants.dedup();
            instants.into_iter().map(|instant| (instant, prefix.at(instant))).collect()
        };
        Some(Self {
            timeline: Timeline::new(instance),
            begins: events(periods().map(|period| period.0.ticks()).collect()),
            ends: events(periods().map(|period| period.1.ticks()).collect()),
        })
    }

    /// Returns true if this number of processors is open from `start` to `end` without interruption.
    pub(super) fn allows(&self, processors: u32, start: i64, end: i64) -> bool {
        processors <= self.timeline.free_throughout(Time::from_ticks(start), Time::from_ticks(end))
    }

    pub(super) fn begins_after(&self, instant: i64) -> &[Event] {
        after(&self.begins, instant)
    }

    pub(super) fn ends_after(&self, instant: i64) -> &[Event] {
        after(&self.ends, instant)
    }

    /// Returns an instant after which no processor is closed.
    pub(super) fn last(&self) -> i64 {
        self.ends.last().map_or(0, |end| end.0)
    }
}

fn after(events: &[Event], instant: i64) -> &[Event] {
    &events[events.partition_point(|event| event.0 <= instant)..]
}
