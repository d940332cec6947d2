//! Describes the chains of a planned job: their windows, their variants and the resolved collisions.

use makespan_core::{ChainReport, CriticalChain, ResolvedCollision, StartPlace, TaskId, TaskWindow, Time};

use super::collisions::Collision;
use super::draft::Draft;
use super::outline::Outline;
use super::strategy::JobSchedule;
use super::windows::{PlanningLimits, TransferRoom};
use crate::free_time::Calendar;
use crate::kernel::graph::TaskPlace;

/// Adds the chains and collisions of a planned job to a report. `first` is the first task of the job, and `end` its
/// deadline in ticks. The windows of a chain depend on the final places of the chains of smaller ranks, so the windows
/// also apply if these chains were moved after they had been planned.
///
/// Complexity: O(c e log e) for c chains and e edges.
pub fn explain(report: &mut ChainReport, outline: &Outline, schedule: &JobSchedule, first: TaskId, end: i64) {
    let real = &outline.real;
    let id = |task: u32| TaskId(first.0 + u64::from(task));
    let mut draft = Draft::new(real, vec![Calendar::default(); real.problem().processors()]);
    // A late plan ends after the deadline. Its windows extend up to its end.
    let limits = PlanningLimits { end: end.max(schedule.finish), room: TransferRoom::Least, run: &[] };
    for (at, chain) in outline.chains().iter().enumerate() {
        let new: Vec<u32> = chain.tasks.iter().copied().filter(|&task| !draft.is_placed(task)).collect();
        let windows = draft.windows(&new, &limits);
        let window = |&task: &u32| TaskWindow {
            task: id(task),
            earliest: Time::from_ticks(windows.earliest_start(task)),
            latest: Time::from_ticks(windows.latest_end(task)),
        };
        report.chains.push(CriticalChain {
            rank: at as u32 + 1,
            length: Time::from_ticks(chain.length),
            tasks: chain.tasks.iter().map(|&task| id(task)).collect(),
            windows: new.iter().map(window).collect(),
            variants: schedule.counts.get(at).copied(),
        });
        new.iter().for_each(|&task| draft.put_on(task, schedule.places[task as usize]));
    }
    report.collisions.extend(schedule.collisions.iter().map(|collision| resolved(collision, id(collision.task))));
}

fn resolved(collision: &Collision, task: TaskId) -> ResolvedCollision {
    let place = |place: TaskPlace| StartPlace { processor: place.processor.0, start: Time::from_ticks(place.start) };
    let (planned, resolved) = (place(collision.planned), place(collision.resolved));
    ResolvedCollision { task, planned, resolved, penalty: collision.penalty }
}
