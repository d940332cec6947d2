//! Collision resolution. If tasks were planned on types of processors or on busy processors, the resolution moves them
//! to free processors.

#[cfg(test)]
mod tests;

use makespan_core::FreeTime;
use pathfinding::kuhn_munkres::kuhn_munkres_min;
use pathfinding::matrix::Matrix;

use super::draft::Draft;
use super::frame::Frame;
use super::windows::{PlanningLimits, TransferRoom, Windows};
use crate::free_time::Calendar;
use crate::kernel::graph::{NEVER, ProcessorId, TaskPlace};

/// Weight of an impossible assignment. This weight is larger than all other weights, but a sum of thousands of such
/// weights does not overflow.
const IMPOSSIBLE: i64 = i64::MAX >> 16;

/// Penalty for a task that ends too late for its successors: this weight times the lateness. The lateness is measured
/// in thousandths of the time from the release of the job to its deadline.
const LATE: i64 = 1 << 30;

/// Weights of the penalty for a task that is moved from its planned place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Penalties {
    /// Penalty for each additional thousandth of cost. A lower cost is not rewarded.
    pub cost: i64,
    /// Penalty for a delay of the start, for each thousandth of delay, rounded up. The delay is measured in thousandths
    /// of the time from the release of the job to its deadline.
    pub delay: i64,
    /// Penalty for a processor of another type than planned.
    pub change: i64,
}

impl Default for Penalties {
    fn default() -> Self {
        Self { cost: 1, delay: 1, change: 1 }
    }
}

/// A task that was moved from its planned place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collision {
    /// The index of the task in its job.
    pub task: u32,
    /// The planned place.
    pub planned: TaskPlace,
    /// The final place.
    pub resolved: TaskPlace,
    /// The penalty for the final place.
    pub penalty: i64,
}

/// Input for the resolution of the collisions in a preliminary schedule.
#[derive(Clone, Copy, Debug)]
pub struct Resolution<'a, 'b> {
    /// The processors, or types of processors, on which the tasks were planned.
    pub chosen: &'b Frame<'b>,
    /// The job on the real processors.
    pub real: &'a Frame<'a>,
    /// Latest end of the job, in ticks.
    pub end: i64,
    /// The transfer times that were assumed when the tasks were planned.
    pub room: TransferRoom,
    /// The penalties for tasks that are moved.
    pub penalties: &'b Penalties,
}

impl Resolution<'_, '_> {
    /// Returns the time from the release of the job to `end`, in ticks.
    fn span(&self) -> i64 {
        self.end - self.real.release()
    }

    /// Returns the penalty for moving a task from `planned` to `place`.
    fn charge(&self, task: u32, planned: TaskPlace, place: TaskPlace) -> i64 {
        let (frame, penalties) = (self.real, self.penalties);
        let dearer = frame.cost_on(task, place.processor) - frame.cost_on(task, planned.processor);
        let changed = frame.time_on(task, place.processor) != frame.time_on(task, planned.processor);
        let delay = thousandths((place.start - planned.start).max(0), self.span()).saturating_mul(penalties.delay);
        let penalty = penalties.cost.saturating_mul(dearer.max(0)).saturating_add(delay);
        penalty.saturating_add(if changed { penalties.change } else { 0 }).min(LATE - 1)
    }
}

/// Gives each task of a preliminary schedule a processor that is free according to `calendars`. Returns the draft and
/// the tasks that were moved.
///
/// A task collides if its data arrive after its planned start, if its planned processor is busy during its planned run,
/// or if another task also needs the processor during this run. If tasks were planned on types of processors, a task
/// collides only if each processor of its type is unusable. A processor is unusable if the data of the task arrive
/// there too late, or if the processor is busy or needed by another task. Tasks that do not collide keep their planned
/// places. If tasks were planned on processors, the planned place of each task is held in advance, unless it overlaps
/// with the planned place of another task on the same processor.
///
/// Colliding tasks with equal planned starts form a batch. The batches are resolved one after another, by planned
/// start. Each task of a batch gets a different processor, such that the sum of penalties is minimal. A task starts at
/// its planned start, or as soon afterwards as its data and the processor are available. A batch with more tasks than
/// processors is divided. A place of a task is late if the job cannot end in time with this place. A late place is used
/// only if every place is late. In this case, the place with the least lateness is used. The penalty does not include
/// the lateness.
///
/// Source: Tselishchev and Toporkov 2009, section 3.3 (bipartite graph, minimal penalty). The assignment is computed
/// by the algorithm of H. W. Kuhn, Naval Res. Logist. Q. 2, 1955, DOI 10.1002/nav.3800020109, from the crate
/// `pathfinding`. Complexity: O(b^2 m) for a batch of b tasks on m processors.
pub fn resolve<'a>(
    resolution: &Resolution<'a, '_>,
    calendars: Vec<Calendar>,
    planned: &[TaskPlace],
) -> (Draft<'a>, Vec<Collision>) {
    let frame = resolution.real;
    let mut order = frame.chart.order.clone();
    order.sort_by_key(|&task| planned[task as usize].start);
    let draft = Draft::new(frame, calendars);
    let span = PlanningLimits { end: resolution.end, room: resolution.room, run: &[] };
    let windows = draft.windows(&order, &span);
    let mut resolving =
        PartlyResolved { resolution, planned, windows, draft, held: Vec::new(), collisions: Vec::new() };
    resolving.hold(&order);
    let batches = order.chunk_by(|&a, &b| planned[a as usize].start == planned[b as usize].start);
    for batch in batches.flat_map(|batch| batch.chunks(frame.problem().processors())) {
        let colliding = resolving.stay(batch);
        if !colliding.is_empty() {
            resolving.assign(&colliding);
        }
    }
    (resolving.draft, resolving.collisions)
}

/// A preliminary schedule with partly resolved collisions.
struct PartlyResolved<'a, 'b> {
    resolution: &'b Resolution<'a, 'b>,
    planned: &'b [TaskPlace],
    windows: Windows,
    draft: Draft<'a>,
    /// For each task, whether its planned place is held in the draft.
    held: Vec<bool>,
    collisions: Vec<Collision>,
}

impl PartlyResolved<'_, '_> {
    /// Holds the planned place of each task, unless it overlaps with the planned place of another task on the same
    /// processor. `order` contains the tasks by planned start.
    fn hold(&mut self, order: &[u32]) {
        self.held = vec![false; order.len()];
        if self.resolution.chosen.is_of_types() {
            return;
        }
        let interval = |task: u32| {
            let place = self.planned[task as usize];
            let time = self.resolution.real.time_on(task, place.processor);
            (time != NEVER).then(|| (place.processor, place.start, place.start + time))
        };
        // The task with the latest planned end so far, for each processor.
        let mut last: Vec<Option<(u32, i64)>> = vec![None; self.draft.calendars().len()];
        for &task in order {
            let Some((processor, start, end)) = interval(task) else { continue };
            let free = self.draft.calendars()[processor.index()].fits(1, start, end - start);
            let overlaps = last[processor.index()].filter(|&(_, until)| until > start);
            if let Some((other, _)) = overlaps {
                self.held[other as usize] = false;
            }
            self.held[task as usize] = free && overlaps.is_none();
            if overlaps.is_none_or(|(_, until)| until < end) {
                last[processor.index()] = Some((task, end));
            }
        }
        for &task in order.iter().filter(|&&task| self.held[task as usize]) {
            if let Some((processor, start, end)) = interval(task) {
                self.draft.hold(processor, start, end);
            }
        }
    }

    /// Puts each task of a batch that does not collide on its planned place. Returns the colliding tasks.
    fn stay(&mut self, batch: &[u32]) -> Vec<u32> {
        let (real, planned) = (self.resolution.real, self.planned);
        for &task in batch.iter().filter(|&&task| self.held[task as usize]) {
            let TaskPlace { processor, start } = planned[task as usize];
            self.draft.release_hold(processor, start, start + real.time_on(task, processor));
        }
        let on_time = |&task: &u32| -> Vec<ProcessorId> {
            let place = planned[task as usize];
            let is_free = |&processor: &ProcessorId| {
                let time = real.time_on(task, processor);
                time != NEVER
                    && self.draft.arrival(task, processor) <= place.start
                    && self.draft.calendars()[processor.index()].fits(1, place.start, time)
            };
            self.resolution.chosen.alike(place.processor).filter(is_free).collect()
        };
        let options: Vec<Vec<ProcessorId>> = batch.iter().map(on_time).collect();
        let given = undisputed(&options, self.draft.calendars().len());
        let mut colliding = Vec::new();
        for (&task, given) in batch.iter().zip(given) {
            match given {
                Some(processor) => {
                    let start = planned[task as usize].start;
                    self.draft.put_on(task, TaskPlace { processor, start });
                }
                None => colliding.push(task),
            }
        }
        colliding
    }

    /// Assigns different processors to the tasks of a batch, such that the sum of the penalties is minimal.
    fn assign(&mut self, batch: &[u32]) {
        let frame = self.resolution.real;
        let span = self.resolution.span();
        let offer = |task: u32, processor: ProcessorId| {
            let time = frame.time_on(task, processor);
            if time == NEVER {
                return (IMPOSSIBLE, 0, 0);
            }
            let place = self.planned[task as usize];
            let ready = place.start.max(self.draft.arrival(task, processor));
            let start = self.draft.calendars()[processor.index()].earliest_fit(1, time, ready);
            let penalty = self.resolution.charge(task, place, TaskPlace { processor, start });
            let late = (start + time - self.windows.latest_end(task)).max(0);
            (penalty + thousandths(late, span).min(1000) * LATE, penalty, start)
        };
        let row = |&task: &u32| frame.problem().processor_ids().map(|processor| offer(task, processor)).collect();
        let offers: Vec<Vec<(i64, i64, i64)>> = batch.iter().map(row).collect();
        let rows = offers.iter().map(|row| row.iter().map(|&(weight, ..)| weight).collect::<Vec<_>>());
        let Ok(matrix) = Matrix::from_rows(rows) else { return };
        let chosen = kuhn_munkres_min(&matrix).1;
        let mut homeless = Vec::new();
        for ((&task, &processor), row) in batch.iter().zip(&chosen).zip(&offers) {
            let (weight, penalty, start) = row[processor];
            let place = TaskPlace { processor: ProcessorId::at(processor), start };
            if weight >= IMPOSSIBLE {
                homeless.push(task);
                continue;
            }
            self.draft.put_on(task, place);
            let wanted = self.planned[task as usize];
            // A task that starts as planned on a processor of the planned type was not moved.
            if start != wanted.start || frame.time_on(task, place.processor) != frame.time_on(task, wanted.processor) {
                self.collisions.push(Collision { task, planned: wanted, resolved: place, penalty });
            }
        }
        // If the batch has more tasks than usable processors, some tasks have no place yet. Place them after the
        // assigned tasks.
        for task in homeless {
            self.draft.put_first(task);
            let planned = self.planned[task as usize];
            if let Some(resolved) = self.draft.place(task) {
                let penalty = self.resolution.charge(task, planned, resolved);
                self.collisions.push(Collision { task, planned, resolved, penalty });
            }
        }
    }
}

/// Assigns processors to tasks. `options` contains the processors that each task accepts. A task gets a processor only
/// if every maximum matching gives it one.
///
/// A maximum matching is computed by augmenting paths. Alternating paths begin at the tasks that this matching leaves
/// without a processor. All tasks on these paths are disputed and get no processor (A. L. Dulmage, N. S. Mendelsohn,
/// Canad. J. Math. 10, 1958, DOI 10.4153/CJM-1958-052-0). Complexity: O(b^2 m) for b tasks and m processors.
fn undisputed(options: &[Vec<ProcessorId>], processors: usize) -> Vec<Option<ProcessorId>> {
    let mut holder: Vec<Option<usize>> = vec![None; processors];
    let without: Vec<usize> =
        (0..options.len()).filter(|&task| !augment(options, task, &mut holder, &mut vec![false; processors])).collect();
    let mut given = vec![None; options.len()];
    for (processor, holder) in holder.iter().enumerate() {
        if let Some(task) = *holder {
            given[task] = Some(ProcessorId::at(processor));
        }
    }
    let mut disputed = without;
    while let Some(task) = disputed.pop() {
        for &processor in &options[task] {
            if let Some(other) = holder[processor.index()].take() {
                given[other] = None;
                disputed.push(other);
            }
        }
    }
    given
}

/// Gives a task one of its processors, along an augmenting path. If another task holds the processor, the other task
/// moves to one of its own options.
fn augment(options: &[Vec<ProcessorId>], task: usize, holder: &mut [Option<usize>], seen: &mut [bool]) -> bool {
    for &processor in &options[task] {
        if !std::mem::replace(&mut seen[processor.index()], true) {
            let other = holder[processor.index()];
            if other.is_none_or(|other| augment(options, other, holder, seen)) {
                holder[processor.index()] = Some(task);
                return true;
            }
        }
    }
    false
}

/// Returns a time in thousandths of a span, rounded up.
fn thousandths(time: i64, span: i64) -> i64 {
    let span = i128::from(span.max(1));
    i64::try_from((i128::from(time) * 1000 + span - 1) / span).unwrap_or(IMPOSSIBLE)
}
