//! Fills the free time of a schedule with equal tasks, without moving the tasks of the schedule.

use std::collections::BTreeMap;

use makespan_core::{Instance, Platform, ProcSet, Schedule, TaskId, Time};

use super::list::nodes::free::take_compact;
use super::usage::{HoldingTask, Usage};
use crate::free_time::Period;

/// Equal tasks, each on a fixed number of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EqualTasks {
    /// Number of tasks.
    pub count: u64,
    /// Number of processors of each task.
    pub width: u32,
    /// Time of each task.
    pub time: Time,
    /// Earliest start of the tasks.
    pub release: Time,
}

/// For each processor, the periods in which it is open and runs no task.
#[derive(Clone, Debug)]
pub struct FreePeriods<'a> {
    platform: &'a Platform,
    /// For each processor, the free periods in ascending order. The last period has no end.
    periods: Vec<Vec<Hole>>,
}

/// A free period from `start` to `end`. A period with `start` equal to `end` is empty.
#[derive(Clone, Copy, Debug)]
struct Hole {
    start: Time,
    end: Time,
}

/// The state of one pass that fills free periods, forward in time.
struct Sweep<'a> {
    periods: &'a mut [Vec<Hole>],
    tasks: EqualTasks,
    /// For each processor, the index of its current or next free period.
    at: Vec<usize>,
    /// The processors that become free for at least the time of a task, by the instant at which they become free. The
    /// processors of an instant are stored as ranges of ids.
    arrivals: BTreeMap<Time, Vec<(u32, u32)>>,
}

impl<'a> FreePeriods<'a> {
    /// Returns, for each processor, the periods in which it is open and runs no task of the schedule. After sorting,
    /// takes O(m + p), where m is the number of processors, and p is the number of processors of all placements
    /// together.
    pub fn of(instance: &'a Instance, schedule: &Schedule) -> Self {
        let placed = schedule.placements().iter().map(|one| (one.start, one.end, &one.processors));
        let closed = instance.unavailable().iter().map(|period| (period.start, period.end, &period.processors));
        let mut held: Vec<(Time, Time, &ProcSet)> = placed.chain(closed).collect();
        held.sort_by_key(|&(start, _, _)| start);
        let mut free_from = vec![Time::ZERO; instance.processors() as usize];
        let mut periods = vec![Vec::new(); free_from.len()];
        for (start, end, processors) in held {
            for id in processors.iter() {
                let from = &mut free_from[id as usize];
                if *from < start {
                    periods[id as usize].push(Hole { start: *from, end: start });
                }
                *from = end.max(*from);
            }
        }
        for (periods, start) in periods.iter_mut().zip(free_from) {
            periods.push(Hole { start, end: Time::MAX });
        }
        Self { platform: instance.platform(), periods }
    }

    /// Starts the tasks one after another. A task starts at the earliest instant from which enough processors are free
    /// until its end. If best placement is required, these processors must form a best placement. `place` receives
    /// each task, its start and its processors, by increasing start. The platform must have at least as many
    /// processors as a task needs.
    ///
    /// If tasks also need resources, `usage` contains the amounts in use. A task then also waits until enough resources
    /// are free until its end, and its amounts are added to `usage`. If the resources for a task never become free,
    /// this task and all later tasks do not start.
    ///
    /// Because the tasks are equal, one pass forward in time finds all starts. A processor arrives when it becomes
    /// free for at least the time of a task. Whenever enough processors have arrived, a task starts. The pass takes
    /// O(k log m) on m processors, where k is the number of processors of all tasks together. If the tasks need
    /// resources, or several processors in best placement, each task takes O(m) more.
    pub(crate) fn fill(
        &mut self,
        tasks: EqualTasks,
        mut usage: Option<&mut Usage<'_>>,
        ids: impl Iterator<Item = TaskId>,
        mut place: impl FnMut(TaskId, Time, ProcSet),
    ) {
        let platform = self.platform;
        let compact = tasks.width > 1 && platform.restricts_placement();
        let take = |free: &mut ProcSet| {
            if compact { take_compact(platform, free, tasks.width) } else { free.take(tasks.width) }
        };
        let at = vec![0; self.periods.len()];
        let mut sweep = Sweep { periods: &mut self.periods, tasks, at, arrivals: BTreeMap::new() };
        (0..sweep.at.len() as u32).for_each(|id| sweep.await_from(id, tasks.release));
        let mut ids = ids.peekable();
        if let (Some(usage), Some(&task)) = (&usage, ids.peek()) {
            usage.instants(task, tasks.release).for_each(|instant| sweep.wake(instant));
        }
        let mut ready = ProcSet::new();
        let mut left = tasks.count;
        while left > 0 {
            // While tasks are left, there is always an arrival. A processor that is not ready arrives later, at the
            // latest in its last period, which has no end.
            let Some((&now, _)) = sweep.arrivals.first_key_value() else { break };
            if !ready.is_empty() {
                // A processor of `ready` that is no longer free for long enough may arrive again at `now`.
                ready = sweep.still_ready(&ready, now);
            }
            let arrived = ProcSet::from_intervals(sweep.arrivals.remove(&now).unwrap_or_default());
            ready = if ready.is_empty() { arrived } else { ready.union(&arrived) };
            let Some(usage) = &mut usage else {
                while left > 0
                    && let Some(processors) = take(&mut ready)
                    && let Some(task) = ids.next()
                {
                    processors.iter().for_each(|id| sweep.hold(id, now));
                    place(task, now, processors);
                    left -= 1;
                }
                continue;
            };
            let period = Period { from: now, until: now + tasks.time };
            let Some(&first) = ids.peek() else { break };
            let mut usable = usage.with_room(first, tasks.width, ready.clone(), period);
            while left > 0
                && usage.has_common(first, tasks.width, period)
                && let Some(processors) = take(&mut usable)
                && let Some(task) = ids.next()
            {
                ready.remove(&processors);
                processors.iter().for_each(|id| sweep.hold(id, now));
                usage.hold(&HoldingTask { task, processors: &processors, period, begun: false });
                sweep.wake(period.until);
                // Check the resources again on exactly the nodes of the task.
                let parts = platform.parts(&processors);
                let own = parts.iter().flat_map(|&(node, _)| platform.processors_of(node).intervals().to_vec());
                let nodes = ProcSet::from_intervals(own.collect());
                usable.remove(&nodes);
                let there = ready.intersection(&nodes);
                usable = usable.union(&usage.with_room(first, tasks.width, there, period));
                place(task, now, processors);
                left -= 1;
            }
        }
    }
}

impl Sweep<'_> {
    /// Adds an instant at which a resource becomes free, so that the pass also considers this instant.
    fn wake(&mut self, at: Time) {
        self.arrivals.entry(at).or_default();
    }

    /// Adds the arrival of a processor: the first instant from `from` on at which it is free for at least the time of
    /// a task.
    fn await_from(&mut self, id: u32, from: Time) {
        let index = id as usize;
        let begin = |period: &Hole| period.start.max(from);
        while let Some(period) = self.periods[index].get(self.at[index]) {
            if begin(period) + self.tasks.time <= period.end {
                let waiting = self.arrivals.entry(begin(period)).or_default();
                match waiting.last_mut() {
                    Some(last) if last.1 + 1 == id => last.1 = id,
                    _ => waiting.push((id, id)),
                }
                return;
            }
            self.at[index] += 1;
        }
    }

    /// Returns the processors of `ready` that are free for a task from `now` on. For each remaining processor of
    /// `ready`, adds its next arrival.
    fn still_ready(&mut self, ready: &ProcSet, now: Time) -> ProcSet {
        let mut still = Vec::new();
        for id in ready.iter() {
            if now + self.tasks.time <= self.periods[id as usize][self.at[id as usize]].end {
                still.push((id, id));
            } else {
                self.await_from(id, now);
            }
        }
        ProcSet::from_intervals(still)
    }

    /// Removes the time of a task that starts at `now` from the current free period of a processor.
    fn hold(&mut self, id: u32, now: Time) {
        let end = now + self.tasks.time;
        let (periods, at) = (&mut self.periods[id as usize], &mut self.at[id as usize]);
        let before = Hole { start: periods[*at].start, end: now };
        periods[*at].start = end;
        if before.start < before.end {
            periods.insert(*at, before);
            *at += 1;
        }
        self.await_from(id, end);
    }
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, Placement, Platform, Profile, TaskId, Unavailable};
    use proptest::prelude::*;

    use super::*;

    fn ticks(ticks: i64) -> Time {
        Time::from_ticks(ticks)
    }

    /// A reference implementation that tries every instant for each task, and compares every processor with all held
    /// periods.
    fn one_by_one(held: &mut Vec<(i64, i64, ProcSet)>, platform: &Platform, tasks: EqualTasks) -> Vec<(i64, ProcSet)> {
        let all = ProcSet::first(platform.processors());
        let time = tasks.time.ticks();
        let mut placed = Vec::new();
        for _ in 0..tasks.count {
            let found = (tasks.release.ticks()..).find_map(|start| {
                let meets = |held: &&(i64, i64, ProcSet)| held.0 < start + time && start < held.1;
                let busy = held.iter().filter(meets).fold(ProcSet::new(), |busy, held| busy.union(&held.2));
                let mut free = all.difference(&busy);
                let compact = tasks.width > 1 && platform.restricts_placement();
                let taken =
                    if compact { take_compact(platform, &mut free, tasks.width) } else { free.take(tasks.width) };
                Some((start, taken?))
            });
            let (start, taken) = found.unwrap();
            held.push((start, start + time, taken.clone()));
            placed.push((start, taken));
        }
        placed
    }

    proptest! {
        #[test]
        fn every_task_starts_at_its_earliest_instant(
            nodes in proptest::collection::vec(1_u32..6, 1..3),
            jobs in proptest::collection::vec((1_u32..6, 1_i64..7, 0_i64..9), 0..6),
            closed in proptest::option::of((0_u32..6, 0_i64..12, 1_i64..9)),
            bags in proptest::collection::vec((0_u64..7, 1_u32..6, 1_i64..6, 0_i64..10), 1..4),
        ) {
            let node = |(index, &processors): (usize, &u32)| {
                makespan_core::Node::new(index.to_string(), processors)
            };
            let platform = Platform::new(nodes.iter().enumerate().map(node).collect()).unwrap().requiring_compact();
            let processors = platform.processors();
            let job = |(index, &(width, time, release)): (usize, &(u32, i64, i64))| {
                Job::new(index.to_string(), Profile::rigid(width.min(processors), ticks(time)).unwrap())
                    .with_release(ticks(release))
            };
            let jobs = jobs.iter().enumerate().map(job).collect();
            let period = |(id, start, length): (u32, i64, i64)| {
                let processors = ProcSet::range(id % processors, id % processors);
                Unavailable { processors, start: ticks(start), end: ticks(start + length) }
            };
            let closed = closed.map(period).into_iter().collect();
            let instance = Instance::new(platform, jobs, closed).unwrap();
            // Placements of other tasks need not be best placements.
            let mut builder = makespan_core::ScheduleBuilder::new(&instance);
            for id in instance.task_ids() {
                builder.place_earliest(id, instance.profile(id).min_processors(), Time::ZERO);
            }
            let schedule = builder.finish();
            let placed = schedule.placements().iter().map(|p| (p.start.ticks(), p.end.ticks(), p.processors.clone()));
            let periods = instance.unavailable().iter();
            let periods = periods.map(|p| (p.start.ticks(), p.end.ticks(), p.processors.clone()));
            let mut held: Vec<(i64, i64, ProcSet)> = placed.chain(periods).collect();
            let mut holes = FreePeriods::of(&instance, &schedule);
            for (count, width, time, release) in bags {
                let width = width.min(processors);
                let tasks = EqualTasks { count, width, time: ticks(time), release: ticks(release) };
                let mut filled = Vec::new();
                let ids = (0..).map(TaskId);
                holes.fill(tasks, None, ids, |_, start, processors| filled.push((start.ticks(), processors)));
                prop_assert_eq!(filled, one_by_one(&mut held, instance.platform(), tasks));
            }
        }
    }

    #[test]
    fn a_hole_is_filled_to_its_end() {
        let job = Job::new("a", Profile::rigid(1, ticks(10)).unwrap()).with_release(ticks(7));
        let instance = Instance::new(Platform::flat(1).unwrap(), vec![job], vec![]).unwrap();
        let placement = Placement { task: TaskId(0), start: ticks(7), end: ticks(17), processors: ProcSet::first(1) };
        let mut holes = FreePeriods::of(&instance, &Schedule::new(vec![placement]));
        let mut starts = Vec::new();
        let tasks = EqualTasks { count: 5, width: 1, time: ticks(2), release: Time::ZERO };
        holes.fill(tasks, None, (0..).map(TaskId), |_, start, _| starts.push(start.ticks()));
        assert_eq!(starts, [0, 2, 4, 17, 19]);
    }
}
