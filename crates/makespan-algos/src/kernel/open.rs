//! Allotments that take unavailable periods into account.

use std::cmp::Reverse;

use makespan_bounds::dual::{Need, choose};
use makespan_core::{Area, Availability, Instance, Profile, ScheduleBuilder, TaskId, Time};

use super::list::{AllottedTask, ListSweep};

/// A number of processors, and the longest time for which at least this number of processors is open.
pub type OpenLimit = (u32, Time);

/// Maximum number of levels. A level is a number of open processors. If there are more levels, some of them are
/// selected.
const MAX_LEVELS: usize = 24;
/// Inverse of the relative precision of the guess of the makespan.
const PRECISION: i64 = 128;
/// Schedule lengths for which lists are made, in eighths of the guess of the makespan.
const TARGETS: [i64; 8] = [8, 9, 10, 12, 14, 16, 24, 32];
/// Approximate maximum number of placements in all lists together. If there are many tasks, fewer lists are made.
const MAX_PLACEMENTS: usize = 100_000;
/// Maximum number of attempts in which tasks that end far too late move to the front of the list.
pub const REPAIRS: usize = 6;

/// The open processors of the platform from an instant on.
///
/// Let T be a length of time. A task on k processors can end within T only if k processors are open within T for at
/// least the run time of the task. Thus the longest period within T in which k processors are open limits the run time
/// of a task on k processors. For smaller k, this period is at least as long.
#[derive(Debug)]
pub struct OpenPlatform<'a> {
    availability: &'a Availability,
    from: Time,
    /// The numbers of open processors (levels) in ascending order. For each level, the periods in which at least this
    /// number of processors is open.
    levels: Vec<(u32, Vec<(Time, Time)>)>,
}

/// A list and the end of its schedule.
#[derive(Clone, Debug)]
pub struct Ending {
    /// The end of the last task.
    pub end: Time,
    /// The list.
    pub list: Vec<AllottedTask>,
}

/// Allotments for a schedule of some length. The total work is at most the open processor time within this length.
#[derive(Clone, Debug)]
struct Fitting {
    length: Time,
    /// The number of processors of each task, and whether the task is in the first shelf. A task of the first shelf
    /// may take the whole length. Every other task may take at most half of it.
    allotments: Vec<(u32, bool)>,
}

impl Fitting {
    /// Returns the tasks of the first shelf, then the tasks of the second shelf, and then the small sequential tasks.
    /// Each group is sorted by decreasing time.
    fn in_shelf_order(&self, tasks: &[TaskId], profiles: &[&Profile]) -> Vec<AllottedTask> {
        let half = Time::from_ticks(self.length.ticks() / 2);
        let entry = |(index, &(processors, whole)): (usize, &(u32, bool))| {
            let time = profiles[index].time(processors);
            let small = processors == 1 && time <= half;
            let shelf = if small { 2 } else { u8::from(!whole) };
            (shelf, Reverse(time), AllottedTask { task: tasks[index], processors })
        };
        let mut entries: Vec<_> = self.allotments.iter().enumerate().map(entry).collect();
        entries.sort_by_key(|&(shelf, time, allotted)| (shelf, time, allotted.task));
        entries.into_iter().map(|(_, _, allotted)| allotted).collect()
    }
}

impl<'a> OpenPlatform<'a> {
    /// Returns the open processors from `from` on, or `None` if no processor is closed after `from`.
    pub fn of(instance: &'a Instance, from: Time) -> Option<Self> {
        let availability = instance.availability();
        if availability.last_change() <= from {
            return None;
        }
        let mut levels = availability.levels(from);
        levels.retain(|&level| level > 0);
        if levels.len() > MAX_LEVELS {
            // Select levels evenly. The last level, with all processors, is always selected.
            let last = levels.len() - 1;
            levels = (0..MAX_LEVELS).map(|index| levels[index * last / (MAX_LEVELS - 1)]).collect();
        }
        let openings = |level: u32| {
            let mut openings = availability.openings(level);
            openings.retain(|opening| opening.1 > from);
            openings.iter_mut().for_each(|opening| opening.0 = opening.0.max(from));
            (level, openings)
        };
        Some(Self { availability, from, levels: levels.into_iter().map(openings).collect() })
    }

    /// Returns the instant from which lengths and offsets are counted.
    pub fn from(&self) -> Time {
        self.from
    }

    /// Returns, for each level, the longest time for which at least this number of processors is open within a period.
    /// The period begins `offset` after [`OpenPlatform::from`] and lasts for `length`.
    pub fn limits(&self, offset: Time, length: Time) -> Vec<OpenLimit> {
        let start = later(self.from, offset);
        let end = later(start, length);
        let within = |&(from, until): &(Time, Time)| until.min(end).saturating_since(from.max(start));
        let longest = |openings: &[(Time, Time)]| {
            let first = openings.partition_point(|opening| opening.1 <= start);
            openings[first..].iter().take_while(|opening| opening.0 < end).map(within).max().unwrap_or(Time::ZERO)
        };
        let limits = self.levels.iter().map(|(level, openings)| (*level, longest(openings)));
        limits.filter(|limit| limit.1 > Time::ZERO).collect()
    }

    /// Returns the mean number of open processors in a period, rounded down. The period begins `offset` after
    /// [`OpenPlatform::from`] and lasts for `length`.
    pub fn capacity(&self, offset: Time, length: Time) -> u32 {
        let start = later(self.from, offset);
        let end = later(start, length);
        let ticks = Area::from((end - start).ticks().max(1));
        (self.availability.open_area(start, end) / ticks) as u32
    }

    /// Returns the first change of the number of open processors after `offset`. Both instants are counted from
    /// [`OpenPlatform::from`].
    pub fn next_change(&self, offset: Time) -> Option<Time> {
        let now = later(self.from, offset);
        let ends = self.levels.iter().flat_map(|(_, openings)| openings);
        let changes = ends.flat_map(|opening| [opening.0, opening.1]).filter(|&at| at > now && at < Time::MAX);
        changes.min().map(|at| at - self.from)
    }

    /// Returns the guess of the dual approximation. This is the shortest length found in which the open processor time
    /// suffices for the work of all tasks.
    pub fn guess(&self, profiles: &[&Profile]) -> Time {
        self.fitting(profiles).length
    }

    /// Returns several lists of the tasks of `list`, with different allotments. Some lists are in shelf order: one
    /// list for the guess, some lists for longer lengths, and one list without a limit of the length. A further list
    /// gives each task its fewest processors. The last list is `list` itself.
    pub fn lists(&self, instance: &Instance, list: Vec<AllottedTask>) -> Vec<Vec<AllottedTask>> {
        let mut tasks: Vec<TaskId> = list.iter().map(|allotted| allotted.task).collect();
        tasks.sort_unstable();
        let profiles: Vec<&Profile> = tasks.iter().map(|&id| instance.profile(id)).collect();
        let guess = self.fitting(&profiles);
        let count = (MAX_PLACEMENTS / tasks.len().max(1)).clamp(2, TARGETS.len());
        let eighth = guess.length.ticks() / 8;
        let lengths = TARGETS.iter().step_by(TARGETS.len().div_ceil(count)).skip(1);
        let longer = lengths.map(|&eighths| eighth.saturating_mul(eighths)).chain([MAX_LENGTH]);
        let longer = longer.filter_map(|length| self.attempt(&profiles, Time::from_ticks(length)));
        let fitting: Vec<Fitting> = longer.collect();
        let fewest = Fitting {
            length: Time::ZERO,
            allotments: profiles.iter().map(|profile| (profile.min_processors(), true)).collect(),
        };
        let all = [guess].into_iter().chain(fitting).chain([fewest]);
        let mut lists: Vec<Vec<AllottedTask>> = all.map(|fitting| fitting.in_shelf_order(&tasks, &profiles)).collect();
        lists.push(list);
        lists
    }

    /// Returns the list that ends first.
    pub fn shortest(
        &self,
        builder: &mut ScheduleBuilder<'_>,
        instance: &Instance,
        lists: &[Vec<AllottedTask>],
    ) -> Ending {
        let mut sweep = ListSweep::default();
        let end = |list: &Vec<AllottedTask>| {
            let ends = sweep.completions(builder, instance, list, self.from);
            ends.iter().copied().max().unwrap_or(self.from)
        };
        let ends: Vec<Time> = lists.iter().map(end).collect();
        let first = ends.iter().zip(lists).min_by_key(|(end, _)| **end);
        first.map_or(Ending { end: self.from, list: Vec::new() }, |(&end, list)| Ending { end, list: list.clone() })
    }

    /// Returns the latest acceptable end of a plan. `end` is the end of the shortest list. The latest acceptable end
    /// is 3/2 of `end`. Both ends are counted from [`OpenPlatform::from`].
    pub fn latest(&self, end: Time) -> Time {
        later(end, Time::from_ticks(end.saturating_since(self.from).ticks() / 2))
    }

    /// Returns a list of tasks that all end by L, the latest acceptable end ([`OpenPlatform::latest`] of the end of
    /// `shortest`). A task of `list` may end after L, for example if it cannot end before a long closed period. Such
    /// tasks move to the front and get their allotments from the shortest list. If tasks still end after L, returns the
    /// shortest list.
    pub fn near(
        &self,
        builder: &mut ScheduleBuilder<'_>,
        instance: &Instance,
        mut list: Vec<AllottedTask>,
        shortest: Ending,
    ) -> Vec<AllottedTask> {
        let latest = self.latest(shortest.end);
        let mut sweep = ListSweep::default();
        for _ in 0..REPAIRS {
            let ends = sweep.completions(builder, instance, &list, self.from);
            if ends.iter().all(|&end| end <= latest) {
                return list;
            }
            let marked = list.iter().zip(ends).map(|(&allotted, &end)| (allotted, end > latest));
            let (late, early): (Vec<_>, Vec<_>) = marked.partition(|(_, late)| *late);
            let mut late: Vec<TaskId> = late.into_iter().map(|(allotted, _)| allotted.task).collect();
            late.sort_unstable();
            let first = shortest.list.iter().filter(|allotted| late.binary_search(&allotted.task).is_ok());
            list = first.copied().chain(early.into_iter().map(|(allotted, _)| allotted)).collect();
        }
        let ends = sweep.completions(builder, instance, &list, self.from);
        if ends.iter().all(|&end| end <= latest) { list } else { shortest.list }
    }

    /// Gives each task of a list the allotment with which the task ends first. The task is assumed to start when the
    /// open processors have done the work of all tasks before it.
    pub fn earliest(&self, instance: &Instance, list: &mut [AllottedTask]) {
        let mut before: Area = 0;
        for allotted in list {
            let profile = instance.profile(allotted.task);
            let start = self.availability.when_open(self.from, before);
            allotted.processors = self.ends_first(profile, start).unwrap_or(allotted.processors);
            before = before.saturating_add(profile.work(allotted.processors));
        }
    }

    /// Returns the number of processors with which a single task ends first if it starts at `start` or later. If
    /// several numbers lead to the same end, returns the smallest one.
    pub fn ends_first(&self, profile: &Profile, start: Time) -> Option<u32> {
        let ends = self.levels.iter().filter_map(|(level, openings)| {
            let most = (*level).min(profile.max_processors());
            let processors = profile.accepts(most).then(|| profile.min_allotment(profile.time(most))).flatten()?;
            let time = profile.time(processors);
            let first = openings.partition_point(|opening| opening.1 <= start);
            let fits = |opening: &&(Time, Time)| opening.1.saturating_since(opening.0.max(start)) >= time;
            let opening = openings[first..].iter().find(fits)?;
            Some((opening.0.max(start) + time, processors))
        });
        ends.min().map(|(_, processors)| processors)
    }

    /// Finds a short length for which allotments fit, and returns these allotments.
    fn fitting(&self, profiles: &[&Profile]) -> Fitting {
        let work = profiles.iter().filter_map(|profile| profile.least_work(Time::MAX)).fold(0, Area::saturating_add);
        // Begin with the length within which the open processor time equals the least work. No shorter length is
        // enough.
        let mut length = self.availability.when_open(self.from, work).saturating_since(self.from).max(Time::TICK);
        let mut refused = None;
        let mut best = loop {
            if let Some(fitting) = self.attempt(profiles, length) {
                break fitting;
            }
            if length.ticks() >= MAX_LENGTH {
                let fastest = |profile: &&Profile| (profile.fastest(), true);
                return Fitting { length, allotments: profiles.iter().map(fastest).collect() };
            }
            refused = Some(length);
            length = Time::from_ticks(length.ticks().saturating_mul(2).min(MAX_LENGTH));
        };
        while let Some(low) = refused
            && (best.length - low).ticks() > (best.length.ticks() / PRECISION).max(1)
        {
            let middle = low + Time::from_ticks((best.length - low).ticks() / 2);
            match self.attempt(profiles, middle) {
                Some(shorter) => best = shorter,
                None => refused = Some(middle),
            }
        }
        best
    }

    /// Tests whether the work of all tasks can fit into a length, by the test of the dual approximation. Let M be the
    /// instant at which half of the open processor time within the length has passed. The test allows a task to take
    /// more than half of the length only under one condition: all such tasks together use at most as many processors as
    /// are open just before M. Returns allotments if their least total work is at most the open processor time,
    /// otherwise `None`.
    fn attempt(&self, profiles: &[&Profile], length: Time) -> Option<Fitting> {
        let limits = self.limits(Time::ZERO, length);
        let halves: Vec<OpenLimit> =
            limits.iter().map(|&(level, time)| (level, Time::from_ticks(time.ticks() / 2))).collect();
        let area = self.availability.open_area(self.from, later(self.from, length));
        let middle = self.availability.when_open(self.from, area / 2);
        let capacity = self.availability.open_at((middle - Time::TICK).max(self.from));
        let mut needs = Vec::with_capacity(profiles.len());
        let mut allotments = Vec::with_capacity(profiles.len());
        for profile in profiles {
            let whole = thriftiest(profile, &limits)?;
            let half = thriftiest(profile, &halves);
            let work = |processors: u32| profile.work(processors);
            needs.push(Need { short: half.map(work), crossing: work(whole), width: whole });
            allotments.push((whole, half));
        }
        let (work, crosses) = choose(&needs, capacity, area).found?;
        let chosen = |((whole, half), crosses): ((u32, Option<u32>), bool)| match half {
            Some(half) if !crosses => (half, false),
            _ => (whole, true),
        };
        let allotments = allotments.into_iter().zip(crosses).map(chosen).collect();
        (work <= area).then_some(Fitting { length, allotments })
    }
}

/// Maximum length, in ticks.
const MAX_LENGTH: i64 = i64::MAX / 2;

/// Returns `start + length`, or the maximum instant if the sum overflows.
fn later(start: Time, length: Time) -> Time {
    Time::from_ticks(start.ticks().saturating_add(length.ticks()))
}

/// Returns the fewest processors with which a task meets one of the limits. A limit is a number of processors and a
/// time. A task meets the limit if it uses at most this number of processors, for at most this time.
pub fn fewest(profile: &Profile, limits: &[OpenLimit]) -> Option<u32> {
    limits.iter().find_map(|&(level, longest)| profile.min_allotment(longest).filter(|&fewest| fewest <= level))
}

/// Returns the allotment with the least work among the allotments with which a task meets one of the limits.
fn thriftiest(profile: &Profile, limits: &[OpenLimit]) -> Option<u32> {
    let within = |&(level, longest): &OpenLimit| {
        let best = profile.thriftiest(longest).filter(|&best| best <= level);
        best.or_else(|| profile.min_allotment(longest).filter(|&fewest| fewest <= level))
    };
    limits.iter().filter_map(within).min_by_key(|&processors| (profile.work(processors), processors))
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, Platform, ProcSet, Unavailable};
    use proptest::prelude::*;

    use super::*;

    const PROCESSORS: u32 = 6;

    fn ticks(ticks: i64) -> Time {
        Time::from_ticks(ticks)
    }

    fn instance(tables: &[Vec<i64>], closed: &[(u32, u32, i64, i64)]) -> Instance {
        let job = |(index, times): (usize, &Vec<i64>)| {
            Job::new(index.to_string(), Profile::table(times.iter().map(|&time| ticks(time)).collect()).unwrap())
        };
        let period = |&(first, more, start, length): &(u32, u32, i64, i64)| Unavailable {
            processors: ProcSet::range(first, (first + more).min(PROCESSORS - 1)),
            start: ticks(start),
            end: ticks(start + length),
        };
        let jobs = tables.iter().enumerate().map(job).collect();
        Instance::new(Platform::flat(PROCESSORS).unwrap(), jobs, closed.iter().map(period).collect()).unwrap()
    }

    /// Returns the longest time for which at least `level` processors are open between two instants. Tries every tick.
    fn longest(instance: &Instance, level: u32, from: i64, until: i64) -> i64 {
        let mut runs = vec![0];
        for at in from..until {
            if instance.availability().open_at(ticks(at)) >= level {
                *runs.last_mut().unwrap() += 1
            } else {
                runs.push(0)
            }
        }
        runs.into_iter().max().unwrap()
    }

    fn closed() -> impl Strategy<Value = Vec<(u32, u32, i64, i64)>> {
        prop::collection::vec((0..PROCESSORS, 0..PROCESSORS, 0_i64..30, 1_i64..20), 1..4)
    }

    proptest! {
        #[test]
        fn limits_are_the_longest_periods(closed in closed(), from in 0_i64..25, offset in 0_i64..10, length in 1_i64..40) {
            let instance = instance(&[], &closed);
            let Some(open) = OpenPlatform::of(&instance, ticks(from)) else {
                prop_assert!(instance.availability().last_change() <= ticks(from));
                return Ok(());
            };
            let start = from + offset;
            let levels = instance.availability().levels(ticks(from)).into_iter().filter(|&level| level > 0);
            let each = levels.map(|level| (level, ticks(longest(&instance, level, start, start + length))));
            let expected: Vec<OpenLimit> = each.filter(|limit| limit.1 > Time::ZERO).collect();
            prop_assert_eq!(open.limits(ticks(offset), ticks(length)), expected);
            let area: i64 = (start..start + length).map(|at| i64::from(instance.availability().open_at(ticks(at)))).sum();
            prop_assert_eq!(i64::from(open.capacity(ticks(offset), ticks(length))), area / length);
        }

        #[test]
        fn allotments_fit_into_what_is_open(
            tables in prop::collection::vec(prop::collection::vec(1_i64..30, 1..=PROCESSORS as usize), 1..7),
            closed in closed(), from in 0_i64..25,
        ) {
            let instance = instance(&tables, &closed);
            let Some(open) = OpenPlatform::of(&instance, ticks(from)) else { return Ok(()) };
            let profiles: Vec<&Profile> = instance.task_ids().map(|task| instance.profile(task)).collect();
            let Fitting { length, allotments } = open.fitting(&profiles);
            let mut work = 0;
            for (profile, (processors, _)) in profiles.iter().zip(allotments) {
                let time = profile.time(processors).ticks();
                prop_assert!(longest(&instance, processors, from, from + length.ticks()) >= time);
                work += profile.work(processors);
            }
            prop_assert!(work <= instance.availability().open_area(ticks(from), ticks(from) + length));
        }
    }
}
