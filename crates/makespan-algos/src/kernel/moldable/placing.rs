//! Assigns processors to the tasks of a list.

use makespan_core::{FreeTime, Objective, ProcSet, Reservation, Schedule, ScheduleBuilder, TaskId, Time};

use super::{List, ListSchedule, ListScheme, Measure, MoldableProblem};
use crate::free_time::Skyline;

/// Returns the schedule of a list, with processors.
pub fn schedule(problem: &MoldableProblem<'_>, scheme: ListScheme, list: &List) -> Schedule {
    if !problem.is_open() {
        return inserted(problem, list);
    }
    let measure = Measure::new(problem, Objective::Makespan, None);
    let found = ListSchedule::new(problem, measure, scheme, list.clone());
    let mut builder = ScheduleBuilder::new(problem.instance());
    for (task, (start, end)) in found.times().into_iter().enumerate() {
        let [start, end] = [start, end].map(Time::from_ticks);
        let reservation = Reservation::on_open_platform(found.processors(task as u32), start, end);
        builder.hold(TaskId::at(task), reservation);
    }
    builder.finish()
}

/// Returns the schedule by serial insertion. Unavailable periods are avoided, and if best placement is required, each
/// placement is a best placement.
fn inserted(problem: &MoldableProblem<'_>, list: &List) -> Schedule {
    let mut builder = ScheduleBuilder::new(problem.instance());
    let mut skyline = Skyline::new(problem.instance());
    let pools = skyline.pools().map(<[ProcSet]>::to_vec);
    let mut ends = vec![0; problem.tasks()];
    for &task in &list.order {
        let choice = problem.choice(list.chosen[task as usize]);
        let before = problem.before(task).iter().map(|&before| ends[before as usize]);
        let ready = before.fold(problem.release(task), i64::max);
        let start = skyline.earliest_fit(choice.processors, choice.time, ready);
        ends[task as usize] = start + choice.time;
        builder.hold(TaskId::at(task as usize), skyline.hold(choice.processors, start, start + choice.time));
    }
    match pools {
        Some(pools) => builder.finish_from(pools),
        None => builder.finish(),
    }
}

impl ListSchedule<'_> {
    /// Returns the start and the end of each task in the current schedule. If the problem is reversed, converts both
    /// to the time of the instance.
    pub fn times(&self) -> Vec<(i64, i64)> {
        let each = self.starts().iter().zip(self.ends());
        if !self.problem().is_reversed() {
            return each.map(|(&start, &end)| (start, end)).collect();
        }
        let (first, last) = (self.problem().origin(), self.ends().iter().copied().max().unwrap_or(0));
        each.map(|(&start, &end)| (first + last - end, first + last - start)).collect()
    }
}
