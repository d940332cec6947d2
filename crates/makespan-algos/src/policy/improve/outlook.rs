//! The free processors from now on.

use makespan_core::{Instance, ProcSet, Reservation, ScheduleBuilder, TaskId, TaskSet, Time, Unavailable, View};

use crate::free_time::Skyline;
use crate::policy::held::interchangeable;

/// The free processors from now on, computed from the running tasks, the failures, and the unavailable periods that the
/// plan takes into account.
#[derive(Debug)]
pub(super) struct Outlook {
    pub skyline: Skyline,
    /// The platform with the closed periods of its processors, or `None` if only the number of free processors
    /// matters.
    closed: Option<Instance>,
}

impl Outlook {
    /// Returns the outlook of a view. Takes into account the unavailable periods that begin before `told`.
    pub fn of(view: &View<'_>, told: Time) -> Self {
        let View { now, instance, .. } = *view;
        let running = view.running.iter().map(|run| (&run.processors, run.expected_end(instance, now)));
        let down = view.down.iter().map(|down| (&down.processors, down.end.max(now + Time::TICK)));
        let held = running.chain(down);
        if interchangeable(instance) && !instance.unavailable().iter().any(|period| is_told(period, now, told)) {
            let mut ends: Vec<(i64, u32)> =
                held.map(|(processors, end)| (end.ticks().min(NEVER), processors.len())).collect();
            ends.sort_unstable();
            let skyline = Skyline::counted(instance.processors(), now.ticks(), &ends);
            return Self { skyline, closed: None };
        }
        let past = Unavailable { processors: ProcSet::first(instance.processors()), start: Time::ZERO, end: now };
        let past = Some(past).filter(|past| past.end > Time::ZERO);
        let down = view.down.iter().map(|down| Unavailable { end: down.end.max(now + Time::TICK), ..down.clone() });
        let down: Vec<Unavailable> = down.chain(past).collect();
        let nobody = TaskSet::new();
        let closed =
            instance.residual_before(&View { waiting: &nobody, down: &down, ..*view }, told.max(now + Time::TICK));
        let closed = closed.instance;
        Self { skyline: Skyline::new(&closed), closed: Some(closed) }
    }

    /// Assigns processors to the tasks `starting`, which start now. Omits a task if its processors are not free.
    pub fn processors(&self, starting: Vec<(TaskId, Reservation)>, view: &View<'_>) -> Vec<(TaskId, ProcSet)> {
        let mut free = view.free.clone();
        let Some(closed) = &self.closed else {
            let given = |(task, reservation): (TaskId, Reservation)| Some((task, free.take(reservation.width)?));
            return starting.into_iter().filter_map(given).collect();
        };
        let mut builder = ScheduleBuilder::new(closed);
        starting.into_iter().for_each(|(task, reservation)| builder.hold(task, reservation));
        let schedule = match self.skyline.pools() {
            Some(pools) => builder.finish_from(pools.to_vec()),
            None => builder.finish(),
        };
        let given = schedule.placements().iter().map(|at| (at.task, at.processors.clone()));
        given.filter(|(_, processors)| processors.is_subset(view.free)).collect()
    }
}

/// Returns whether a plan takes an unavailable period into account: the period has not ended, and it has begun or
/// begins before `told`.
pub(super) fn is_told(period: &Unavailable, now: Time, told: Time) -> bool {
    period.end > now && (period.start <= now || period.start < told)
}

/// Returns the start of the first unavailable period that a plan does not take into account.
pub(super) fn untold(view: &View<'_>, told: Time) -> Option<Time> {
    let begins = view.instance.unavailable().iter().map(|period| period.start);
    begins.filter(|&begin| begin > view.now && begin >= told).min()
}

/// An instant that stands for an unknown end. Twice this instant does not overflow.
const NEVER: i64 = i64::MAX / 4;
