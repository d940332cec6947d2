//! Start and end of unavailable periods, and processors that go down and up.

use super::{Cluster, Outage};
use crate::model::{Instance, ProcSet, Time, Unavailable};
use crate::online::quarter;

/// The start or the end of an unavailable period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClosureChange {
    pub at: Time,
    pub closes: bool,
    /// Position of the period in the instance's list of unavailable periods.
    pub period: u32,
}

/// Returns the starts and ends of all unavailable periods in order of time. At one instant, ends come before starts.
pub(super) fn changes(instance: &Instance) -> Vec<ClosureChange> {
    let both = |(index, period): (usize, &Unavailable)| {
        let change = |at, closes| ClosureChange { at, closes, period: index as u32 };
        [change(period.start, true), change(period.end, false)]
    };
    let mut changes: Vec<ClosureChange> = instance.unavailable().iter().enumerate().flat_map(both).collect();
    changes.sort_unstable();
    changes
}

const SHORTEST_DELAY: Time = Time::from_seconds(60);

/// Returns the instant at which processors that went down at `down` are expected to be up again, as estimated at
/// `now`. The result is the announced repair `said`, or one minute after `down` if no repair was announced. While the
/// repair is not later than `now`, the repair is postponed by a quarter of the expected down time, in whole seconds,
/// but at least by a minute. The result does not depend on earlier calls.
pub fn expected_repair(down: Time, said: Option<Time>, now: Time) -> Time {
    let mut expected = said.map_or(down, |said| said.max(down));
    while expected <= now && expected < Time::MAX {
        let delay = quarter(expected.saturating_since(down), Time::TICKS_PER_SECOND);
        expected += delay.max(SHORTEST_DELAY);
    }
    expected
}

impl Cluster<'_> {
    /// Advances the time to `now`, which is not before the current instant: unavailable periods begin and end. Returns
    /// true if processors were closed. The caller must then handle the tasks that run on these processors.
    pub fn advance(&mut self, now: Time) -> bool {
        self.now = self.now.max(now);
        let mut closing = false;
        while let Some(change) = self.changes.get(self.changed).copied().filter(|change| change.at <= self.now) {
            self.changed += 1;
            let processors = self.instance.unavailable()[change.period as usize].processors.clone();
            if change.closes {
                self.periods.push(change.period);
                self.block(&processors);
                closing = true;
            } else {
                self.periods.retain(|&period| period != change.period);
                self.unblock(&processors);
            }
        }
        if self.overdue <= self.now {
            self.expect_later();
        }
        closing
    }

    /// Returns the next start or end of an unavailable period of the instance.
    pub fn next_change(&self) -> Option<Time> {
        self.changes.get(self.changed).map(|change| change.at)
    }

    /// Marks processors as down from now until the expected repair, if one is announced. The caller must then handle
    /// the tasks that run on these processors. `outage` must differ from the identifiers of all current outages.
    /// Returns the processors that change their state: processors that were not down, and processors with an expected
    /// repair that is now later.
    pub fn fail(&mut self, outage: Outage, processors: &ProcSet, expected_up: Option<Time>) -> ProcSet {
        self.block(processors);
        let mut new = processors.clone();
        let mut changed = ProcSet::new();
        for (down, said) in std::mem::take(&mut self.down).into_iter().zip(std::mem::take(&mut self.said)) {
            new.remove(&down.processors);
            let later = expected_up.filter(|&up| up > down.end);
            let inside = later.map_or_else(ProcSet::new, |_| down.processors.intersection(processors));
            self.put_down(down.processors.difference(&inside), down.start, said);
            if let Some(later) = later {
                self.put_down(inside.clone(), down.start, later);
            }
            changed.insert(&inside);
        }
        self.put_down(new.clone(), self.now, expected_up.unwrap_or(self.now));
        self.outages.push((outage, processors.clone(), expected_up));
        self.see_overdue();
        changed.union(&new)
    }

    /// Ends an outage. A processor of the outage is up again if it is in no other outage. Returns the processors that
    /// are up again, and the processors with an expected repair that is now earlier.
    pub fn repair(&mut self, outage: Outage) -> ProcSet {
        let Some(at) = self.outages.iter().position(|other| other.0 == outage) else { return ProcSet::new() };
        let (_, repaired, _) = self.outages.remove(at);
        let still = self.outages.iter().flat_map(|other| other.1.intervals().iter().copied()).collect();
        let up = repaired.difference(&ProcSet::from_intervals(still));
        let mut changed = up.clone();
        for (down, said) in std::mem::take(&mut self.down).into_iter().zip(std::mem::take(&mut self.said)) {
            let Unavailable { processors, start, end } = down;
            let inside = processors.intersection(&repaired).difference(&up);
            self.put_down(processors.difference(&repaired), start, said);
            // Parts of `inside`, each with the latest announced repair of the other outages that contain the part. The
            // repair is `None` if one of these outages announced no repair.
            let mut parts = if inside.is_empty() { Vec::new() } else { vec![(inside, Some(start))] };
            for (_, others, up) in &self.outages {
                let mut split = Vec::with_capacity(parts.len());
                for (part, latest) in parts {
                    let theirs = part.intersection(others);
                    split.push((part.difference(&theirs), latest));
                    split.push((theirs, latest.zip(*up).map(|(latest, up)| latest.max(up))));
                }
                parts = split;
                parts.retain(|(part, _)| !part.is_empty());
            }
            for (part, latest) in parts {
                let earlier = latest.filter(|&latest| self.now < latest && latest < end);
                if earlier.is_some() {
                    changed.insert(&part);
                }
                self.put_down(part, start, earlier.unwrap_or(said));
            }
        }
        self.unblock(&up);
        self.see_overdue();
        changed
    }

    /// Records that processors have been down since `start`, with the announced repair `said`.
    fn put_down(&mut self, processors: ProcSet, start: Time, said: Time) {
        if processors.is_empty() {
            return;
        }
        let same = |(down, other): (&Unavailable, &Time)| (down.start, *other) == (start, said);
        if let Some(at) = self.down.iter().zip(&self.said).position(same) {
            self.down[at].processors.insert(&processors);
            return;
        }
        let end = expected_repair(start, Some(said), self.now);
        self.down.push(Unavailable { processors, start, end });
        self.said.push(said);
    }

    /// Returns the processors that are in an unavailable period or down.
    pub fn blocked(&self) -> &ProcSet {
        &self.blocked
    }

    fn block(&mut self, processors: &ProcSet) {
        self.free.remove(processors);
        self.blocked.insert(processors);
    }

    /// Opens processors, except processors that are still in an unavailable period or down.
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

    /// Postpones the repairs that are overdue.
    fn expect_later(&mut self) {
        for (down, &said) in self.down.iter_mut().zip(&self.said) {
            down.end = expected_repair(down.start, Some(said), self.now);
        }
        self.see_overdue();
    }

    fn see_overdue(&mut self) {
        self.overdue = self.down.iter().map(|down| down.end).min().unwrap_or(Time::MAX);
    }
}
