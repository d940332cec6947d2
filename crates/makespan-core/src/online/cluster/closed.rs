//! Unavailable periods that come and go, and processors that go down and up.

use super::{Cluster, Outage};
use crate::model::{Instance, ProcSet, Time, Unavailable};
use crate::online::quarter;

/// The start or the end of an unavailable period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Change {
    pub at: Time,
    pub closes: bool,
    /// Position in the instance.
    pub period: u32,
}

/// The starts and ends of all periods, ends before starts.
pub(super) fn changes(instance: &Instance) -> Vec<Change> {
    let both = |(index, period): (usize, &Unavailable)| {
        let change = |at, closes| Change { at, closes, period: index as u32 };
        [change(period.start, true), change(period.end, false)]
    };
    let mut changes: Vec<Change> = instance.unavailable().iter().enumerate().flat_map(both).collect();
    changes.sort_unstable();
    changes
}

const SHORTEST_DELAY: Time = Time::from_seconds(60);

/// When processors that went `down` are expected up again, seen at `now`: as was said, while that is to come; if nobody
/// said, after a minute. While that has passed, a quarter later than they would have been down by then, in whole seconds and
/// at least a minute, again and again. So it does not depend on when somebody looked.
pub fn expected_repair(down: Time, said: Option<Time>, now: Time) -> Time {
    let mut expected = said.map_or(down, |said| said.max(down));
    while expected <= now && expected < Time::MAX {
        let delay = quarter(expected.saturating_since(down), Time::TICKS_PER_SECOND);
        expected += delay.max(SHORTEST_DELAY);
    }
    expected
}

impl Cluster<'_> {
    /// Lets time pass until `now`, which is not before the present instant: unavailable periods begin and end. Whether
    /// any processor was closed; jobs that run there are for the caller to see to.
    pub fn advance(&mut self, now: Time) -> bool {
        self.now = self.now.max(now);
        let mut closing = false;
        while let Some(change) = self.changes.get(self.changed).copied().filter(|change| change.at <= self.now) {
            self.changed += 1;
            let instance = self.instance;
            let processors = &instance.unavailable()[change.period as usize].processors;
            if change.closes {
                self.periods.push(change.period);
                self.block(processors);
                closing = true;
            } else {
                self.periods.retain(|&period| period != change.period);
                self.unblock(processors);
            }
        }
        if self.overdue <= self.now {
            self.expect_later();
        }
        closing
    }

    /// When the next unavailable period of the instance begins or ends.
    pub fn next_change(&self) -> Option<Time> {
        self.changes.get(self.changed).map(|change| change.at)
    }

    /// Processors go down now, and are expected up again at an instant or it is not known when. Jobs that run there are
    /// for the caller to see to, under this `outage`, which is no other at the same time.
    pub fn fail(&mut self, outage: Outage, processors: &ProcSet, expected_up: Option<Time>) {
        self.block(processors);
        let end = expected_repair(self.now, expected_up, self.now);
        self.down.push(Unavailable { processors: processors.clone(), start: self.now, end });
        self.outages.push(outage);
        self.overdue = self.overdue.min(end);
    }

    /// Processors that went down are up again.
    pub fn repair(&mut self, outage: Outage) {
        let Some(at) = self.outages.iter().position(|&other| other == outage) else { return };
        self.outages.remove(at);
        let repaired = self.down.remove(at);
        self.unblock(&repaired.processors);
    }

    /// Processors that are in an unavailable period or down.
    pub fn blocked(&self) -> &ProcSet {
        &self.blocked
    }

    fn block(&mut self, processors: &ProcSet) {
        self.free.remove(processors);
        self.blocked.insert(processors);
    }

    /// Opens processors, but for those that are blocked for another reason as well.
    fn unblock(&mut self, processors: &ProcSet) {
        let mut opened = processors.clone();
        for &period in &self.periods {
            opened.remove(&self.instance.unavailable()[period as usize].processors);
        }
        for down in &self.down {
            opened.remove(&down.processors);
        }
        self.blocked.remove(&opened);
        for running in &self.running {
            opened.remove(&running.processors);
        }
        self.free.insert(&opened);
    }

    /// Puts off the repairs that should have come.
    fn expect_later(&mut self) {
        for down in &mut self.down {
            down.end = expected_repair(down.start, Some(down.end), self.now);
        }
        self.overdue = self.down.iter().map(|down| down.end).min().unwrap_or(Time::MAX);
    }
}
