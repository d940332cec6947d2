//! The sequence of instants at which processors go down and up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{Failure, Outage, Platform, ProcSet, Time};

use super::FailureModel;

/// The failures of a list and of a model, merged by time.
pub(crate) struct Outages<'a> {
    listed: &'a [Failure],
    model: Option<&'a FailureModel>,
    /// For each unit of the model: its processors, and the number of durations drawn so far.
    units: Vec<(ProcSet, u32)>,
    /// The times at which processors go up (false) or down (true). The third part of an entry is the index of a failure
    /// in the list. For a unit of the model, the third part is the index of the unit plus the length of the list.
    queue: BinaryHeap<Reverse<(Time, bool, u32)>>,
}

/// A change: processors go down or up.
pub(crate) struct OutageChange {
    pub at: Time,
    pub down: bool,
    pub outage: Outage,
    pub processors: ProcSet,
    /// If the processors go down, the instant at which policies expect their repair.
    pub expected_up: Option<Time>,
}

impl<'a> Outages<'a> {
    /// Merges the failures of a list with the failures of a model. A unit of the model (processors that fail together)
    /// is up at the instant `from`, and stays up until its first failure.
    pub fn new(listed: &'a [Failure], model: Option<&'a FailureModel>, platform: &Platform, from: Time) -> Self {
        let units = model.map_or_else(Vec::new, |model| model.units(platform));
        let downs = listed.iter().enumerate().map(|(index, failure)| Reverse((failure.down, true, index as u32)));
        let queue = downs.collect();
        let mut outages = Self { listed, model, units: units.into_iter().map(|unit| (unit, 0)).collect(), queue };
        for unit in 0..outages.units.len() {
            outages.draw(unit, from, true);
        }
        outages
    }

    /// Returns the time at which the next processors go down or up.
    pub fn next(&self) -> Option<Time> {
        self.queue.peek().map(|Reverse(turn)| turn.0)
    }

    /// Removes and returns the next change if it is at or before `now`. If several changes happen at one instant,
    /// processors go up first, and then processors go down.
    pub fn turn(&mut self, now: Time) -> Option<OutageChange> {
        self.next().filter(|&at| at <= now)?;
        let Reverse((at, down, index)) = self.queue.pop()?;
        let outage = Outage(index);
        if let Some(failure) = self.listed.get(index as usize) {
            if down {
                self.queue.push(Reverse((failure.up, false, index)));
            }
            let (processors, expected_up) = (failure.processors.clone(), failure.expected_up);
            return Some(OutageChange { at, down, outage, processors, expected_up });
        }
        let unit = index as usize - self.listed.len();
        self.draw(unit, at, !down);
        let expected_up = self.model.map(|model| at + model.repair.mean());
        Some(OutageChange { at, down, outage, processors: self.units[unit].0.clone(), expected_up })
    }

    /// Draws how long a unit stays up or down after the instant `from`, and adds its next change to the queue.
    fn draw(&mut self, unit: usize, from: Time, down: bool) {
        let Some(model) = self.model else { return };
        let draws = &mut self.units[unit].1;
        let lifetime = if down { model.up } else { model.repair };
        let at = from + lifetime.draw(&mut model.random(unit as u32, *draws));
        *draws += 1;
        if at < Time::MAX {
            self.queue.push(Reverse((at, down, (self.listed.len() + unit) as u32)));
        }
    }
}

impl FailureModel {
    /// Draws the failures that begin between `from` and `until`, in the order of their beginnings. A simulation with
    /// this model draws exactly these failures.
    pub fn draw(&self, platform: &Platform, from: Time, until: Time) -> Vec<Failure> {
        let mut outages = Outages::new(&[], Some(self), platform, from);
        let mut failures: Vec<Failure> = Vec::new();
        let mut open: Vec<(u32, usize)> = Vec::new();
        while let Some(turn) =
            outages.next().filter(|&at| at < until || !open.is_empty()).and_then(|at| outages.turn(at))
        {
            let (unit, at) = (turn.outage.0, turn.at);
            if !turn.down {
                let Some(place) = open.iter().position(|&(other, _)| other == unit) else { continue };
                failures[open.swap_remove(place).1].up = at;
            } else if at < until {
                open.push((unit, failures.len()));
                failures.push(Failure { processors: turn.processors, down: at, up: at, expected_up: turn.expected_up });
            }
        }
        failures
    }
}
