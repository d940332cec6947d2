//! Graham's list algorithm for tasks with fixed allotments.

mod around;
pub(super) mod nodes;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{FreeTime, Instance, Placement, Reservation, ScheduleBuilder, TaskId, Time};

pub use around::reserve_around;

use super::leaves::Tree;

/// A task with its number of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllottedTask {
    /// The task.
    pub task: TaskId,
    /// Number of processors.
    pub processors: u32,
}

impl AllottedTask {
    /// Returns the time of the task.
    pub fn time(&self, instance: &Instance) -> Time {
        instance.profile(self.task).time(self.processors)
    }
}

/// Computes the starts of the tasks of a list. Whenever processors become free or a task is released, the list is read
/// from its head, and every released task that fits starts (Garey and Graham, SIAM J. Comput. 4, 1975, DOI
/// 10.1137/0204015). All processors must always be open.
///
/// Without release dates, the makespan is at most twice the larger of the mean load and the longest task. Takes O(n
/// log n) for n tasks, because a tree over the list finds the next task that fits.
#[derive(Clone, Debug, Default)]
pub struct ListSweep {
    /// The number of processors that each waiting task needs, in the order of the list.
    waiting: Tree<u32>,
    ends: BinaryHeap<Reverse<(Time, u32)>>,
    arrivals: Vec<usize>,
    starts: Vec<Time>,
    completions: Vec<Time>,
}

impl ListSweep {
    /// Returns the starts in the order of the list. No task starts before `from`. The buffers are reused by the next
    /// call.
    pub fn run(&mut self, instance: &Instance, list: &[AllottedTask], from: Time) -> &[Time] {
        let release = |index: usize| instance.release(list[index].task);
        self.waiting.clear();
        let waits = |index: usize| if release(index) <= from { list[index].processors } else { u32::MAX };
        self.waiting.refill(0, list.len(), waits);
        self.ends.clear();
        self.starts.clear();
        self.starts.resize(list.len(), Time::ZERO);
        self.arrivals.clear();
        self.arrivals.extend((0..list.len()).filter(|&index| release(index) > from));
        self.arrivals.sort_unstable_by_key(|&index| Reverse((release(index), index)));
        let mut free = instance.processors();
        let mut now = from;
        loop {
            while let Some(index) = self.waiting.first(|width| width <= free) {
                let AllottedTask { task, processors } = list[index];
                self.waiting.set(index, u32::MAX);
                self.starts[index] = now;
                free -= processors;
                self.ends.push(Reverse((now + instance.profile(task).time(processors), processors)));
            }
            let arrival = self.arrivals.last().map(|&index| release(index));
            let end = self.ends.peek().map(|Reverse((end, _))| *end);
            now = match (arrival, end) {
                (Some(arrival), Some(end)) => arrival.min(end),
                (Some(next), None) | (None, Some(next)) => next,
                (None, None) => break,
            };
            while let Some(&Reverse((end, processors))) = self.ends.peek()
                && end <= now
            {
                self.ends.pop();
                free += processors;
            }
            while let Some(&index) = self.arrivals.last()
                && release(index) <= now
            {
                self.arrivals.pop();
                self.waiting.set(index, list[index].processors);
            }
        }
        &self.starts
    }
}

impl ListSweep {
    /// Returns the ends of the tasks in the order of the list. Unavailable periods are avoided. If the platform
    /// requires best placement, each placement is a best placement. The builder is unchanged on return.
    pub fn completions(
        &mut self,
        builder: &mut ScheduleBuilder<'_>,
        instance: &Instance,
        list: &[AllottedTask],
        from: Time,
    ) -> &[Time] {
        if instance.platform().restricts_placement() {
            nodes::ends(instance, list, from, &mut self.completions);
        } else if instance.availability().is_always_open() {
            self.run(instance, list, from);
            self.completions.clear();
            let ends = list.iter().zip(&self.starts).map(|(allotted, &start)| start + allotted.time(instance));
            self.completions.extend(ends);
        } else {
            let reserved = reserve_around(builder.timeline(), instance, list, from);
            self.completions.clear();
            self.completions.extend(reserved.iter().map(|reservation| reservation.end));
            reserved.iter().for_each(|reservation| builder.timeline().release(reservation));
        }
        &self.completions
    }
}

/// Places the tasks of a list greedily into a schedule, no task before `from`. Returns the end of the last task. A
/// task starts only if its processors stay available until its end. If best placement is required, the builder must
/// not contain other tasks that run after `from`.
pub fn place(builder: &mut ScheduleBuilder<'_>, instance: &Instance, list: &[AllottedTask], from: Time) -> Time {
    if instance.platform().restricts_placement() {
        let mut last = from;
        for (allotted, (start, ids)) in list.iter().zip(nodes::starts(instance, list, from)) {
            let end = start + allotted.time(instance);
            builder.put(Placement { task: allotted.task, start, end, processors: nodes::set(&ids) });
            last = last.max(end);
        }
        return last;
    }
    let reservations = if instance.availability().is_always_open() {
        let mut sweep = ListSweep::default();
        let starts = sweep.run(instance, list, from);
        let reservation = |(allotted, &start): (&AllottedTask, &Time)| {
            Reservation::on_open_platform(allotted.processors, start, start + allotted.time(instance))
        };
        list.iter().zip(starts).map(reservation).collect()
    } else {
        reserve_around(builder.timeline(), instance, list, from)
    };
    let end = reservations.iter().map(|reservation| reservation.end).max().unwrap_or(from);
    for (allotted, reservation) in list.iter().zip(reservations) {
        builder.hold(allotted.task, reservation);
    }
    end
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, Platform, ProcSet, Profile, Timeline, Unavailable, validate};
    use proptest::prelude::*;

    use super::*;

    fn instance(jobs: &[(u32, i64, i64)], closed: Option<(i64, i64)>) -> Instance {
        let ticks = Time::from_ticks;
        let job = |(index, &(width, time, release)): (usize, &(u32, i64, i64))| {
            Job::new(index.to_string(), Profile::rigid(width, ticks(time)).unwrap()).with_release(ticks(release))
        };
        let period = |(start, length)| Unavailable {
            processors: ProcSet::range(1, 2),
            start: ticks(start),
            end: ticks(start + length),
        };
        let jobs = jobs.iter().enumerate().map(job).collect();
        Instance::new(Platform::flat(4).unwrap(), jobs, closed.map(period).into_iter().collect()).unwrap()
    }

    /// A reference implementation. At every instant, it starts each task of the list that is released and fits.
    fn instant_by_instant(instance: &Instance, list: &[AllottedTask]) -> Vec<i64> {
        let mut timeline = Timeline::new(instance);
        let mut starts = vec![-1; list.len()];
        for now in 0..200 {
            for (start, allotted) in starts.iter_mut().zip(list) {
                let (now, duration) = (Time::from_ticks(now), allotted.time(instance));
                let released = instance.release(allotted.task) <= now;
                if *start < 0 && released && timeline.fits(allotted.processors, now, duration) {
                    timeline.hold(allotted.processors, now, now + duration);
                    *start = now.ticks();
                }
            }
        }
        starts
    }

    proptest! {
        /// Checks that the sweep gives the schedule of the reference implementation.
        #[test]
        fn the_sweep_follows_the_rule(jobs in proptest::collection::vec((1_u32..5, 1_i64..6, 0_i64..8), 1..12)) {
            let instance = instance(&jobs, None);
            let list: Vec<AllottedTask> = instance.task_ids().map(|task| AllottedTask { task, processors: jobs[task.index()].0 }).collect();
            let mut sweep = ListSweep::default();
            let starts: Vec<i64> = sweep.run(&instance, &list, Time::ZERO).iter().map(|start| start.ticks()).collect();
            let mut expected = vec![-1; jobs.len()];
            for now in 0..100 {
                let mut free: u32 = 4 - (0..jobs.len()).filter(|&i| expected[i] >= 0 && now < expected[i] + jobs[i].1).map(|i| jobs[i].0).sum::<u32>();
                for (index, &(width, _, release)) in jobs.iter().enumerate() {
                    if expected[index] < 0 && release <= now && width <= free {
                        expected[index] = now;
                        free -= width;
                    }
                }
            }
            prop_assert_eq!(&starts, &expected);
            // On a platform without unavailable periods, the algorithm that avoids unavailable periods must return the
            // same starts.
            let around = reserve_around(&mut Timeline::new(&instance), &instance, &list, Time::ZERO);
            let starts: Vec<i64> = around.iter().map(|reservation| reservation.start.ticks()).collect();
            prop_assert_eq!(starts, expected);
        }

        #[test]
        fn lists_are_placed_around_unavailable_processors(
            jobs in proptest::collection::vec((1_u32..5, 1_i64..6, 0_i64..8), 1..12),
            start in 0_i64..10, length in 1_i64..8,
        ) {
            let instance = instance(&jobs, Some((start, length)));
            let list: Vec<AllottedTask> = instance.task_ids().map(|task| AllottedTask { task, processors: jobs[task.index()].0 }).collect();
            let mut builder = ScheduleBuilder::new(&instance);
            place(&mut builder, &instance, &list, Time::ZERO);
            prop_assert_eq!(validate(&instance, &builder.finish()), Ok(()));
            let around = reserve_around(&mut Timeline::new(&instance), &instance, &list, Time::ZERO);
            let starts: Vec<i64> = around.iter().map(|reservation| reservation.start.ticks()).collect();
            prop_assert_eq!(starts, instant_by_instant(&instance, &list));
        }
    }
}
