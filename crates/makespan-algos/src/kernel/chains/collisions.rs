//! Tasks planned on types of processors, or on processors that others hold, brought onto processors that are free.

use pathfinding::kuhn_munkres::kuhn_munkres_min;
use pathfinding::matrix::Matrix;

use super::draft::Draft;
use super::frame::Frame;
use crate::kernel::graph::calendar::Calendar;
use crate::kernel::graph::{NEVER, Place};

/// More than any assignment costs, and few enough for sums of thousands.
const IMPOSSIBLE: i64 = i64::MAX >> 16;

/// What each thousandth of the walltime weighs by which a task ends too late for those after it.
const LATE: i64 = 1 << 30;

/// What another place of a task is charged with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Penalties {
    /// For each thousandth of cost that is added; less cost is not rewarded.
    pub cost: i64,
    /// For each thousandth of the job's walltime that the start is delayed, begun thousandths in full.
    pub delay: i64,
    /// For another type of processor.
    pub change: i64,
}

impl Default for Penalties {
    fn default() -> Self {
        Self { cost: 1, delay: 1, change: 1 }
    }
}

/// A task that could not have the place that was planned for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collision {
    /// The task, as numbered in its job.
    pub task: u32,
    /// What was planned.
    pub planned: Place,
    /// What it got.
    pub resolved: Place,
    /// What that is charged with.
    pub penalty: i64,
}

/// Gives each task of a preliminary schedule a processor that is free, on `calendars`, and tells which were moved.
/// Tasks of the same planned start are a batch: each gets a processor of its own, so that the sum of penalties is least.
/// A task starts when it was planned to, or as soon after as its data and the processor are there. Batches come by
/// planned start; one of more tasks than processors is divided. A place after which the rest of the job cannot be in time by
/// `end` is taken only where there is no other, and then the least late; that is not part of the penalty.
///
/// Source: Tselishchev and Toporkov 2009, section 3.3 (bipartite graph, minimal penalty); the assignment is that of
/// H. W. Kuhn, Naval Res. Logist. Q. 2, 1955, DOI 10.1002/nav.3800020109, by the crate `pathfinding`. O(b^2 m) for
/// a batch of b tasks on m processors.
pub fn resolve<'a>(
    frame: &'a Frame<'a>,
    calendars: Vec<Calendar>,
    planned: &[Place],
    (end, penalties): (i64, &Penalties),
) -> (Draft<'a>, Vec<Collision>) {
    let mut draft = Draft::new(frame, calendars);
    let walltime = end - frame.release();
    let windows = draft.windows(end, &[]);
    let mut order = frame.chart.order.clone();
    order.sort_by_key(|&task| planned[task as usize].start);
    let mut collisions = Vec::new();
    let processors = frame.problem().processors();
    let batches = order.chunk_by(|&a, &b| planned[a as usize].start == planned[b as usize].start);
    for batch in batches.flat_map(|batch| batch.chunks(processors)) {
        let offer = |task: u32, processor: u32| {
            let time = frame.time_on(task, processor);
            if time == NEVER {
                return (IMPOSSIBLE, 0, 0);
            }
            let place = planned[task as usize];
            let ready = place.start.max(draft.arrival(task, processor));
            let start = draft.calendars()[processor as usize].earliest_fit(ready, time);
            let penalty = charge(frame, (task, place), Place { processor, start }, (walltime, penalties));
            let late = (start + time - windows.latest_end(frame, task)).max(0);
            (penalty + thousandths(late, walltime).min(1000) * LATE, penalty, start)
        };
        let offers: Vec<Vec<(i64, i64, i64)>> = batch
            .iter()
            .map(|&task| (0..processors as u32).map(|processor| offer(task, processor)).collect())
            .collect();
        let rows = offers.iter().map(|row| row.iter().map(|&(weight, ..)| weight).collect::<Vec<_>>());
        let chosen = match Matrix::from_rows(rows) {
            Ok(matrix) => kuhn_munkres_min(&matrix).1,
            Err(_) => continue,
        };
        let mut homeless = Vec::new();
        for ((&task, &processor), row) in batch.iter().zip(&chosen).zip(&offers) {
            let (weight, penalty, start) = row[processor];
            let place = Place { processor: processor as u32, start };
            if weight >= IMPOSSIBLE {
                homeless.push(task);
                continue;
            }
            draft.put_on(task, place);
            let wanted = planned[task as usize];
            // Processors of one type are as good as each other.
            if start != wanted.start || frame.time_on(task, place.processor) != frame.time_on(task, wanted.processor) {
                collisions.push(Collision { task, planned: wanted, resolved: place, penalty });
            }
        }
        // More tasks than processors that can run them: the others come after those that the assignment was made for.
        for task in homeless {
            draft.put_first(task);
            let planned = planned[task as usize];
            if let Some(resolved) = draft.place(task) {
                let penalty = charge(frame, (task, planned), resolved, (walltime, penalties));
                collisions.push(Collision { task, planned, resolved, penalty });
            }
        }
    }
    (draft, collisions)
}

fn charge(frame: &Frame, (task, planned): (u32, Place), place: Place, rule: (i64, &Penalties)) -> i64 {
    let (walltime, penalties) = rule;
    let dearer = frame.cost_on(task, place.processor) - frame.cost_on(task, planned.processor);
    let changed = frame.time_on(task, place.processor) != frame.time_on(task, planned.processor);
    let delay = thousandths((place.start - planned.start).max(0), walltime).saturating_mul(penalties.delay);
    let penalty = penalties.cost.saturating_mul(dearer.max(0)).saturating_add(delay);
    penalty.saturating_add(if changed { penalties.change } else { 0 }).min(LATE - 1)
}

/// Begun thousandths of the walltime.
fn thousandths(time: i64, walltime: i64) -> i64 {
    let walltime = i128::from(walltime.max(1));
    i64::try_from((i128::from(time) * 1000 + walltime - 1) / walltime).unwrap_or(IMPOSSIBLE)
}
