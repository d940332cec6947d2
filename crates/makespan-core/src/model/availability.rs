//! When processors are reserved for others or down.

use crate::model::{Area, ProcSet, Time};

/// Processors that no job may use from `start` to `end`: a reservation or an outage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// Which.
    pub processors: ProcSet,
    /// From this instant.
    pub start: Time,
    /// Until this instant.
    pub end: Time,
}

/// Processors that are closed at exactly the same times, so that any of them serves as well as another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The processors.
    pub processors: ProcSet,
    /// Disjoint closed periods, ascending.
    pub closed: Vec<(Time, Time)>,
}

/// All processors grouped into classes, and how many are open at each instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Availability {
    classes: Vec<Class>,
    /// Open processors from each instant on, with the open area before it.
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    from: Time,
    open: u32,
    area_before: Area,
}

impl Availability {
    /// Groups `processors` by their closed periods. Periods may overlap.
    pub fn new(processors: u32, unavailable: &[Unavailable]) -> Self {
        let mut groups = vec![(ProcSet::first(processors), Vec::new())];
        for period in unavailable {
            let mut split = Vec::with_capacity(groups.len() + 1);
            for (set, periods) in groups {
                let inside = set.intersection(&period.processors);
                if inside.is_empty() {
                    split.push((set, periods));
                    continue;
                }
                let outside = set.difference(&inside);
                let mut closed: Vec<(Time, Time)> = periods.clone();
                closed.push((period.start, period.end));
                split.push((inside, closed));
                if !outside.is_empty() {
                    split.push((outside, periods));
                }
            }
            groups = split;
        }
        let mut classes: Vec<Class> =
            groups.into_iter().map(|(processors, periods)| Class { processors, closed: merged(periods) }).collect();
        // The most constrained class first: it is used up first and the open ones stay free for long jobs.
        classes.sort_by(|a, b| {
            b.closed.cmp(&a.closed).then_with(|| a.processors.intervals().cmp(b.processors.intervals()))
        });
        classes.dedup_by(|later, kept| {
            let same = later.closed == kept.closed;
            if same {
                kept.processors = kept.processors.union(&later.processors);
            }
            same
        });
        let steps = steps(processors, &classes);
        Self { classes, steps }
    }

    /// The classes, most constrained first.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// Whether no processor is ever closed.
    pub fn is_always_open(&self) -> bool {
        self.classes.iter().all(|class| class.closed.is_empty())
    }

    /// Open processors at an instant.
    pub fn open_at(&self, at: Time) -> u32 {
        self.step(at).open
    }

    /// Open processors times ticks from `start` to `end`; 0 when `end` is not later.
    pub fn open_area(&self, start: Time, end: Time) -> Area {
        if end <= start { 0 } else { self.area_until(end) - self.area_until(start) }
    }

    /// The lengths of successive periods from `start` to `end` in which the number of open processors is constant, with
    /// that number.
    pub fn open_periods(&self, start: Time, end: Time) -> impl Iterator<Item = (Time, u32)> + '_ {
        self.steps.iter().enumerate().filter_map(move |(index, step)| {
            let until = self.steps.get(index + 1).map_or(end, |next| next.from.min(end));
            let from = step.from.max(start);
            (from < until).then(|| (until - from, step.open))
        })
    }

    /// The longest periods in which at least so many processors are open, ascending; the last has no end, which
    /// [`Time::MAX`] stands for. Empty when there are not so many at all.
    pub fn openings(&self, processors: u32) -> Vec<(Time, Time)> {
        let mut openings: Vec<(Time, Time)> = Vec::new();
        for (index, step) in self.steps.iter().enumerate().filter(|(_, step)| step.open >= processors) {
            let until = self.steps.get(index + 1).map_or(Time::MAX, |next| next.from);
            match openings.last_mut() {
                Some(last) if last.1 == step.from => last.1 = until,
                _ => openings.push((step.from, until)),
            }
        }
        openings
    }

    /// The different numbers of open processors that there are from an instant on, ascending.
    pub fn levels(&self, from: Time) -> Vec<u32> {
        let first = self.steps.partition_point(|step| step.from <= from).saturating_sub(1);
        let mut levels: Vec<u32> = self.steps[first..].iter().map(|step| step.open).collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    /// The first instant by which so much area has been open since `from`.
    pub fn when_open(&self, from: Time, area: Area) -> Time {
        if area <= 0 {
            return from;
        }
        let target = self.area_until(from).saturating_add(area);
        // The last step before which there is less than that.
        let index = self.steps.partition_point(|step| step.area_before < target);
        let step = self.steps[index.saturating_sub(1)];
        let left = target - step.area_before;
        let ticks = left / Area::from(step.open.max(1)) + Area::from(left % Area::from(step.open.max(1)) > 0);
        step.from + Time::from_ticks(i64::try_from(ticks).unwrap_or(i64::MAX).min(i64::MAX - step.from.ticks()))
    }

    /// When the last closed period ends; zero when there is none.
    pub fn last_change(&self) -> Time {
        self.steps.last().map_or(Time::ZERO, |step| step.from)
    }

    fn area_until(&self, end: Time) -> Area {
        let step = self.step(end);
        step.area_before + (end - step.from).area(step.open)
    }

    fn step(&self, at: Time) -> Step {
        let index = self.steps.partition_point(|step| step.from <= at);
        self.steps[index.saturating_sub(1)]
    }
}

fn merged(mut periods: Vec<(Time, Time)>) -> Vec<(Time, Time)> {
    periods.sort_unstable();
    let mut merged: Vec<(Time, Time)> = Vec::with_capacity(periods.len());
    for (start, end) in periods {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

fn steps(processors: u32, classes: &[Class]) -> Vec<Step> {
    let mut changes: Vec<(Time, i64)> = Vec::new();
    for class in classes {
        let size = i64::from(class.processors.len());
        changes.extend(class.closed.iter().flat_map(|&(start, end)| [(start, -size), (end, size)]));
    }
    changes.sort_unstable();
    let mut steps = vec![Step { from: Time::ZERO, open: processors, area_before: 0 }];
    let mut open = i64::from(processors);
    for (at, change) in changes {
        let last = steps[steps.len() - 1];
        open += change;
        let next =
            Step { from: at, open: open as u32, area_before: last.area_before + (at - last.from).area(last.open) };
        if at == last.from { *steps.last_mut().expect("there is a first step") = next } else { steps.push(next) }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn period(processors: &str, start: i64, end: i64) -> Unavailable {
        let (start, end) = (Time::from_ticks(start), Time::from_ticks(end));
        Unavailable { processors: processors.parse().unwrap(), start, end }
    }

    #[test]
    fn groups_processors_by_their_closed_periods() {
        let availability = Availability::new(6, &[period("0-1", 10, 20), period("1-2", 15, 30), period("5", 10, 20)]);
        let classes: Vec<String> = availability.classes().iter().map(|class| class.processors.to_string()).collect();
        assert_eq!(classes, ["2", "1", "0,5", "3-4"]);
        let at = |t| availability.open_at(Time::from_ticks(t));
        assert_eq!([at(0), at(9), at(10), at(15), at(20), at(30)], [6, 6, 3, 2, 4, 6]);
        let area = |a, b| availability.open_area(Time::from_ticks(a), Time::from_ticks(b));
        assert_eq!(area(0, 10), 60);
        assert_eq!(area(5, 40), 30 + 15 + 10 + 40 + 60);
        assert_eq!(area(7, 7), 0);
        let periods = |a, b| {
            let (start, end) = (Time::from_ticks(a), Time::from_ticks(b));
            availability.open_periods(start, end).map(|(time, open)| (time.ticks(), open)).collect::<Vec<_>>()
        };
        assert_eq!(periods(5, 18), [(5, 6), (5, 3), (3, 2)]);
        assert_eq!(periods(25, 50), [(5, 4), (20, 6)]);
        assert_eq!(periods(7, 7), []);
        assert!(!availability.is_always_open());
        assert_eq!(availability.last_change(), Time::from_ticks(30));
        let openings = |processors| -> Vec<(i64, i64)> {
            availability.openings(processors).iter().map(|(from, until)| (from.ticks(), until.ticks())).collect()
        };
        assert_eq!(openings(2), [(0, i64::MAX)]);
        assert_eq!(openings(3), [(0, 15), (20, i64::MAX)]);
        assert_eq!(openings(6), [(0, 10), (30, i64::MAX)]);
        assert_eq!(openings(7), []);
        assert_eq!(
            (availability.levels(Time::ZERO), availability.levels(Time::from_ticks(20))),
            (vec![2, 3, 4, 6], vec![4, 6])
        );
    }

    #[test]
    fn the_instant_by_which_an_area_was_open_is_the_first() {
        let availability = Availability::new(3, &[period("0-1", 2, 9), period("0-2", 4, 6)]);
        for from in 0..12 {
            for area in 0..40 {
                let ticks = Time::from_ticks;
                let plain = (from..).find(|&end| availability.open_area(ticks(from), ticks(end)) >= area).unwrap();
                assert_eq!(availability.when_open(ticks(from), area), ticks(plain), "{area} from {from}");
            }
        }
    }

    #[test]
    fn without_periods_there_is_one_open_class() {
        let availability = Availability::new(4, &[]);
        assert!(availability.is_always_open());
        assert_eq!(availability.classes().len(), 1);
        assert_eq!(availability.open_area(Time::ZERO, Time::from_ticks(3)), 12);
    }
}
