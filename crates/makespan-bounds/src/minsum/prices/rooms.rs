//! Which starts unavailable periods allow, by the number of open processors.

use makespan_core::{Availability, Time};

use super::allotments::Shape;

/// For each number of open processors that there is the periods in which at least so many are open.
///
/// That as many are open throughout does not make them the same ones, so a little too much may be allowed; the check of
/// the bound knows better.
pub(super) struct Rooms {
    levels: Vec<u32>,
    /// First and last instant of each period, ascending.
    openings: Vec<Vec<(f64, f64)>>,
}

impl Rooms {
    /// `None` where no processor is ever closed.
    pub(super) fn of(availability: &Availability) -> Option<Self> {
        if availability.is_always_open() {
            return None;
        }
        let levels = availability.levels(Time::ZERO);
        let ticks = |time: Time| if time == Time::MAX { f64::INFINITY } else { time.ticks() as f64 };
        let openings = |&level: &u32| {
            availability.openings(level).into_iter().map(|(from, until)| (ticks(from), ticks(until))).collect()
        };
        Some(Self { openings: levels.iter().map(openings).collect(), levels })
    }

    /// The periods in which so many processors are open. At least one level has as many as any job takes.
    pub(super) fn of_processors(&self, processors: f64) -> &[(f64, f64)] {
        let at = self.levels.partition_point(|&level| f64::from(level) < processors);
        &self.openings[at.min(self.levels.len() - 1)]
    }

    /// Whether so many processors are open from start to end.
    pub(super) fn allow(&self, processors: f64, start: f64, end: f64) -> bool {
        let openings = self.of_processors(processors);
        let after = openings.partition_point(|opening| opening.0 <= start);
        after > 0 && end <= openings[after - 1].1
    }

    /// The first start after an instant at which a job of this shape can start because they open.
    pub(super) fn opening_after(&self, instant: f64, shape: Shape) -> Option<f64> {
        let openings = self.of_processors(shape.processors);
        let after = openings.partition_point(|opening| opening.0 <= instant);
        openings[after..].iter().find(|opening| opening.0 + shape.time <= opening.1).map(|opening| opening.0)
    }
}
