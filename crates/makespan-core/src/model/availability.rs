//! The periods in which no job may use some processors, because the processors are reserved or down.

use rustc_hash::FxHashMap;

use crate::model::{Area, ProcSet, Time};

/// Processors that no job may use from `start` to `end`: a reservation or an outage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// The processors that no job may use in the period.
    pub processors: ProcSet,
    /// Start of the period.
    pub start: Time,
    /// End of the period.
    pub end: Time,
}

/// A set of processors that all have the same closed periods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The processors of the class.
    pub processors: ProcSet,
    /// The periods in which the processors of the class are closed: disjoint, ascending, each with its start and its
    /// end.
    pub closed: Vec<(Time, Time)>,
}

/// All processors grouped into classes, and the number of open processors at each instant. A processor is *open* at an
/// instant if no unavailable period contains it at this instant; otherwise, the processor is *closed*.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Availability {
    classes: Vec<Class>,
    /// The instants at which the number of open processors changes. Each step has the new number of open processors
    /// and the open area (processors times ticks) before the instant.
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    from: Time,
    open: u32,
    area_before: Area,
}

impl Availability {
    /// Groups `processors` by their closed periods. Periods may overlap. Takes O((i + c) log n), where n is the number
    /// of periods, i the number of intervals of processors of all periods, and c the number of closed periods of all
    /// classes.
    pub fn new(processors: u32, unavailable: &[Unavailable]) -> Self {
        Self::of(processors, unavailable, &Groups::new(processors, unavailable))
    }

    /// Like [`Availability::new`], but returns `None` if the classes have more than `most` periods in total. The limit
    /// is necessary because a few bytes of input can lead to many periods, for example if each processor is closed a
    /// little longer than the previous processor.
    pub(crate) fn limited(processors: u32, unavailable: &[Unavailable], most: u64) -> Option<Self> {
        let groups = Groups::new(processors, unavailable);
        (groups.periods() <= most).then(|| Self::of(processors, unavailable, &groups))
    }

    fn of(processors: u32, unavailable: &[Unavailable], groups: &Groups) -> Self {
        let mut each: Vec<(Periods, &[Interval])> = Vec::with_capacity(groups.all.len());
        for (set, intervals) in &groups.all {
            let mut closed = Vec::with_capacity(groups.sets.len(*set) as usize);
            groups.sets.each(*set, &mut |at| closed.push((unavailable[at].start, unavailable[at].end)));
            each.push((merged(closed), intervals));
        }
        // Sorts by closed periods, descending, so that processors that are never closed come last. Schedules use
        // processors in this order, so that processors without closed periods stay free for long jobs.
        each.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        let same = each.chunk_by(|a, b| a.0 == b.0).map(|same| {
            let intervals = same.iter().flat_map(|(_, intervals)| intervals.iter().copied()).collect();
            Class { processors: ProcSet::from_intervals(intervals), closed: same[0].0.clone() }
        });
        let classes: Vec<Class> = same.collect();
        let steps = steps(processors, &classes);
        Self { classes, steps }
    }

    /// Returns the classes, in the order in which schedules use them. The processors that are never closed come last.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// Returns true if no processor is ever closed.
    pub fn is_always_open(&self) -> bool {
        self.classes.iter().all(|class| class.closed.is_empty())
    }

    /// Returns, for each processor, the first instant at or after `from` at which the processor is open.
    pub fn ready(&self, from: Time) -> Vec<Time> {
        let processors: u32 = self.classes.iter().map(|class| class.processors.len()).sum();
        let mut ready = vec![from; processors as usize];
        for class in &self.classes {
            let meeting = class.closed.iter().find(|&&(start, end)| start <= from && from < end);
            let open = meeting.map_or(from, |period| period.1);
            class.processors.iter().for_each(|id| ready[id as usize] = open);
        }
        ready
    }

    /// Returns the number of open processors at an instant.
    pub fn open_at(&self, at: Time) -> u32 {
        self.step(at).open
    }

    /// Returns the number of open processors times ticks from `start` to `end`, or 0 if `end` is not later than
    /// `start`.
    pub fn open_area(&self, start: Time, end: Time) -> Area {
        if end <= start { 0 } else { self.area_until(end) - self.area_until(start) }
    }

    /// Returns the periods from `start` to `end` in which the number of open processors is constant, in order of time.
    /// Each entry contains the length of a period and the number of open processors.
    pub fn open_periods(&self, start: Time, end: Time) -> impl Iterator<Item = (Time, u32)> + '_ {
        self.steps.iter().enumerate().filter_map(move |(index, step)| {
            let until = self.steps.get(index + 1).map_or(end, |next| next.from.min(end));
            let from = step.from.max(start);
            (from < until).then(|| (until - from, step.open))
        })
    }

    /// Returns the maximal periods in which at least `processors` processors are open, ascending. The last period ends
    /// at [`Time::MAX`]. The result is empty if the platform has fewer processors.
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

    /// Returns the distinct numbers of open processors that occur from an instant on, ascending.
    pub fn levels(&self, from: Time) -> Vec<u32> {
        let first = self.steps.partition_point(|step| step.from <= from).saturating_sub(1);
        let mut levels: Vec<u32> = self.steps[first..].iter().map(|step| step.open).collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    /// Returns the first instant at which the open area (processors times ticks) since `from` reaches `area`.
    pub fn when_open(&self, from: Time, area: Area) -> Time {
        if area <= 0 {
            return from;
        }
        let target = self.area_until(from).saturating_add(area);
        // Finds the last step that starts while the open area is still less than the target area.
        let index = self.steps.partition_point(|step| step.area_before < target);
        let step = self.steps[index.saturating_sub(1)];
        let left = target - step.area_before;
        let ticks = left / Area::from(step.open.max(1)) + Area::from(left % Area::from(step.open.max(1)) > 0);
        step.from + Time::from_ticks(i64::try_from(ticks).unwrap_or(i64::MAX).min(i64::MAX - step.from.ticks()))
    }

    /// Returns the end of the last closed period of all processors, or zero if no processor is ever closed.
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

/// Closed periods, each with its start and its end.
type Periods = Vec<(Time, Time)>;

/// The first and the last id of a range of processors.
type Interval = (u32, u32);

/// Processors grouped by the unavailable periods that contain them. One walk over the processor ids finds the groups.
struct Groups {
    sets: Sets,
    /// The groups. Each entry contains a set of periods (an index into [`Sets`]) and the processors that are in
    /// exactly these periods, as ascending intervals.
    all: Vec<(u32, Vec<Interval>)>,
}

impl Groups {
    fn new(processors: u32, unavailable: &[Unavailable]) -> Self {
        let mut sets = Sets::new(unavailable.len());
        let mut changes: Vec<(u32, usize)> = Vec::new();
        for (at, period) in unavailable.iter().enumerate() {
            let known = period.processors.intervals().iter().filter(|interval| interval.0 < processors);
            changes.extend(known.flat_map(|&(first, last)| [(first, at), (last.min(processors - 1) + 1, at)]));
        }
        changes.sort_unstable();
        let mut all: Vec<(u32, Vec<Interval>)> = Vec::new();
        let mut known: FxHashMap<u32, usize> = FxHashMap::default();
        let (mut set, mut from) = (Sets::EMPTY, 0);
        let mut close = |set: u32, from: u32, until: u32| {
            if from < until {
                let group = *known.entry(set).or_insert_with(|| {
                    all.push((set, Vec::new()));
                    all.len() - 1
                });
                all[group].1.push((from, until - 1));
            }
        };
        for (id, period) in changes {
            close(set, from, id);
            set = sets.toggled(set, period);
            from = id;
        }
        close(set, from, processors);
        Self { sets, all }
    }

    /// Returns the total number of periods of all groups.
    fn periods(&self) -> u64 {
        self.all.iter().map(|&(set, _)| u64::from(self.sets.len(set))).sum()
    }
}

/// Sets of periods. Equal sets are stored once, so equal sets have equal indices. A set is a binary tree over the
/// positions of the periods. Two sets that differ in one period share all tree nodes except one path.
struct Sets {
    /// Number of tree levels above the leaves.
    height: u32,
    /// For each set, three values: the tree node of its lower half, the tree node of its upper half, and the number of
    /// periods in the set. The first two entries are the empty set and a leaf.
    nodes: Vec<(u32, u32, u32)>,
    known: FxHashMap<(u32, u32), u32>,
}

impl Sets {
    const EMPTY: u32 = 0;

    fn new(periods: usize) -> Self {
        let height = usize::BITS - periods.saturating_sub(1).leading_zeros();
        Self { height, nodes: vec![(0, 0, 0), (0, 0, 1)], known: FxHashMap::default() }
    }

    /// Returns a set that differs from `set` only in `period`: the period is added if `set` does not contain it, and
    /// removed otherwise.
    fn toggled(&mut self, set: u32, period: usize) -> u32 {
        self.toggled_below(set, self.height, period)
    }

    fn toggled_below(&mut self, set: u32, height: u32, period: usize) -> u32 {
        if height == 0 {
            return 1 - set;
        }
        let (mut lower, mut upper, _) = self.nodes[set as usize];
        let half = if period >> (height - 1) & 1 == 0 { &mut lower } else { &mut upper };
        *half = self.toggled_below(*half, height - 1, period);
        if lower == Self::EMPTY && upper == Self::EMPTY {
            return Self::EMPTY;
        }
        let Self { nodes, known, .. } = self;
        *known.entry((lower, upper)).or_insert_with(|| {
            nodes.push((lower, upper, nodes[lower as usize].2 + nodes[upper as usize].2));
            nodes.len() as u32 - 1
        })
    }

    fn len(&self, set: u32) -> u32 {
        self.nodes[set as usize].2
    }

    /// Calls `take` with each period of a set, ascending.
    fn each(&self, set: u32, take: &mut impl FnMut(usize)) {
        self.each_below(set, self.height, 0, take);
    }

    fn each_below(&self, set: u32, height: u32, first: usize, take: &mut impl FnMut(usize)) {
        if set == Self::EMPTY {
            return;
        }
        if height == 0 {
            return take(first);
        }
        let (lower, upper, _) = self.nodes[set as usize];
        self.each_below(lower, height - 1, first, take);
        self.each_below(upper, height - 1, first + (1 << (height - 1)), take);
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

    /// Groups the processors by collecting the periods of each processor separately.
    fn plain(processors: u32, unavailable: &[Unavailable]) -> Vec<(Periods, Vec<u32>)> {
        let mut classes: std::collections::BTreeMap<Periods, Vec<u32>> = std::collections::BTreeMap::new();
        for id in 0..processors {
            let of = unavailable.iter().filter(|period| period.processors.contains(id));
            classes.entry(merged(of.map(|period| (period.start, period.end)).collect())).or_default().push(id);
        }
        classes.into_iter().rev().collect()
    }

    proptest::proptest! {
        #[test]
        fn classes_are_those_of_each_processor_for_itself(
            processors in 1_u32..40,
            periods in proptest::collection::vec(
                (proptest::collection::btree_set(0_u32..45, 0..12), 0_i64..30, 1_i64..20), 0..20)) {
            let periods: Vec<Unavailable> = periods.into_iter().map(|(ids, start, length)| Unavailable {
                processors: ProcSet::from_intervals(ids.into_iter().map(|id| (id, id)).collect()),
                start: Time::from_ticks(start),
                end: Time::from_ticks(start + length),
            }).collect();
            let found = Availability::new(processors, &periods);
            let found: Vec<_> = found.classes().iter()
                .map(|class| (class.closed.clone(), class.processors.iter().collect::<Vec<u32>>())).collect();
            proptest::prop_assert_eq!(found, plain(processors, &periods));
        }
    }

    /// The number of stored tree nodes bounds the work of the walk. So this number must grow only in proportion to the
    /// number of periods.
    #[test]
    fn sets_of_many_periods_share_what_they_have_in_common() {
        for count in [1_000_u32, 16_000] {
            let periods: Vec<Unavailable> = (0..count)
                .map(|at| Unavailable {
                    processors: ProcSet::range(at * 50, at * 50),
                    start: Time::from_ticks(i64::from(at) + 1),
                    end: Time::from_ticks(i64::from(at) + 1000),
                })
                .collect();
            let groups = Groups::new(1_000_000, &periods);
            assert_eq!((groups.all.len(), groups.periods()), (count as usize + 1, u64::from(count)));
            assert!(groups.sets.nodes.len() <= 16 * count as usize);
        }
        // Processor i is closed in periods 0 to i: there are 3000 distinct sets, and the sum of their sizes grows with
        // the square of this number.
        let nested: Vec<Unavailable> = (0..3000)
            .map(|at| Unavailable {
                processors: ProcSet::range(at, 2999),
                start: Time::from_ticks(i64::from(at) * 2),
                end: Time::from_ticks(i64::from(at) * 2 + 1),
            })
            .collect();
        assert_eq!(Groups::new(3000, &nested).periods(), 3000 * 3001 / 2);
        assert!(Availability::limited(3000, &nested, 4_000_000).is_none());
    }

    #[test]
    fn without_periods_there_is_one_open_class() {
        let availability = Availability::new(4, &[]);
        assert!(availability.is_always_open());
        assert_eq!(availability.classes().len(), 1);
        assert_eq!(availability.open_area(Time::ZERO, Time::from_ticks(3)), 12);
    }
}
