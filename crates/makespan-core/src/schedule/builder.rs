//! Builds a schedule task by task.

use smallvec::SmallVec;

use crate::model::{Instance, ProcSet, TaskId, Time};
use crate::schedule::{FreeTime, Placement, Reservation, Schedule, Timeline};

/// Collects reservations for tasks, and assigns processor ids at the end.
///
/// Reservations contain only numbers of processors. All processors of a class are available at the same times. So ids
/// can be assigned in the order of starts, if the reservations never hold more processors than the class has.
#[derive(Debug)]
pub struct ScheduleBuilder<'a> {
    instance: &'a Instance,
    timeline: Option<Timeline>,
    held: Vec<(TaskId, Reservation)>,
    /// Placements on processors that the caller has chosen.
    put: Vec<Placement>,
}

impl<'a> ScheduleBuilder<'a> {
    /// Creates an empty schedule.
    pub fn new(instance: &'a Instance) -> Self {
        Self { instance, timeline: None, held: Vec::with_capacity(instance.tasks() as usize), put: Vec::new() }
    }

    /// Returns the timeline of the processors that no reservation of this builder holds.
    pub fn timeline(&mut self) -> &mut Timeline {
        self.timeline.get_or_insert_with(|| Timeline::new(self.instance))
    }

    /// Places a task at the earliest instant at which enough processors are free for its duration, but not before
    /// `after` and not before its release. Returns its start and end.
    pub fn place_earliest(&mut self, task: TaskId, allotment: u32, after: Time) -> (Time, Time) {
        let duration = self.instance.profile(task).time(allotment);
        let after = after.max(self.instance.release(task));
        let start = self.timeline().earliest_fit(allotment, duration, after);
        let reservation = self.timeline().hold(allotment, start, start + duration);
        self.hold(task, reservation);
        (start, start + duration)
    }

    /// Adds a reservation of a task. The caller must have made the reservation on [`ScheduleBuilder::timeline`]. If all
    /// processors of the platform are always open, the caller may count the free processors itself instead.
    pub fn hold(&mut self, task: TaskId, reservation: Reservation) {
        self.held.push((task, reservation));
    }

    /// Adds a placement on processors that the caller has chosen, for platforms on which numbers of processors are not
    /// sufficient. No reservation of this builder may overlap the placement.
    pub fn put(&mut self, placement: Placement) {
        self.put.push(placement);
    }

    /// Assigns processor ids.
    ///
    /// # Panics
    /// Panics if the reservations hold more processors than the platform has, which is a defect of the caller.
    pub fn finish(self) -> Schedule {
        let classes = self.instance.availability().classes();
        let pools = classes.iter().map(|class| class.processors.clone()).collect();
        self.finish_from(pools)
    }

    /// Assigns processor ids from these pools. A reservation from [`Reservation::of_parts`] states its number of
    /// processors of each pool. Pools are for callers that distinguish processors by more than their closed periods.
    ///
    /// # Panics
    ///
    /// Panics if the reservations hold more processors of a pool than the pool has, which is a defect of the caller.
    pub fn finish_from(self, pools: Vec<ProcSet>) -> Schedule {
        let mut free = pools;
        let mut by_start: Vec<usize> = (0..self.held.len()).collect();
        by_start.sort_unstable_by_key(|&index| (self.held[index].1.start, self.held[index].0));
        let mut by_end = by_start.clone();
        by_end.sort_unstable_by_key(|&index| (self.held[index].1.end, self.held[index].0));
        let mut ending = by_end.into_iter().peekable();
        // For each reservation, the pools of which it holds processors. The list leaves out all other pools, because
        // there may be thousands.
        let mut given: Vec<SmallVec<[(usize, ProcSet); 1]>> = vec![SmallVec::new(); self.held.len()];
        for index in by_start {
            let (_, reservation) = &self.held[index];
            while let Some(ended) = ending.next_if(|&other| self.held[other].1.end <= reservation.start) {
                for (pool, part) in &given[ended] {
                    free[*pool] = free[*pool].union(part);
                }
            }
            let whole = [reservation.width];
            let parts = reservation.parts.as_deref().unwrap_or(&whole);
            let held = parts.iter().enumerate().filter(|(_, part)| **part > 0);
            given[index] = held
                .map(|(pool, &part)| {
                    (
                        pool,
                        free[pool]
                            .take(part)
                            .expect("at each instant, the reservations together hold at most all processors"),
                    )
                })
                .collect();
        }
        let placement = |((task, reservation), parts): ((TaskId, Reservation), SmallVec<_>)| Placement {
            task,
            start: reservation.start,
            end: reservation.end,
            processors: together(parts),
        };
        Schedule::new(self.held.into_iter().zip(given).map(placement).chain(self.put).collect())
    }
}

/// Joins the processors of all pools.
fn together(parts: SmallVec<[(usize, ProcSet); 1]>) -> ProcSet {
    let mut all = ProcSet::new();
    for (at, (_, part)) in parts.into_iter().enumerate() {
        if at == 0 { all = part } else { all.insert(&part) }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, Platform, Profile, Unavailable};
    use crate::schedule::validate;

    #[test]
    fn ids_respect_reservations_and_outages() {
        let ticks = Time::from_ticks;
        let job = |(index, &(width, time)): (usize, &(u32, i64))| {
            Job::new(index.to_string(), Profile::rigid(width, ticks(time)).unwrap())
        };
        let jobs: Vec<Job> = [(2, 5), (3, 4), (1, 20), (4, 1), (2, 7)].iter().enumerate().map(job).collect();
        let closed = |processors: &str, start, end| Unavailable {
            processors: processors.parse().unwrap(),
            start: ticks(start),
            end: ticks(end),
        };
        let periods = vec![closed("1-2", 3, 9), closed("0", 6, 8)];
        let instance = Instance::new(Platform::flat(4).unwrap(), jobs, periods).unwrap();
        let mut builder = ScheduleBuilder::new(&instance);
        for id in instance.task_ids() {
            builder.place_earliest(id, instance.profile(id).min_processors(), Time::ZERO);
        }
        assert_eq!(validate(&instance, &builder.finish()), Ok(()));
    }
}
