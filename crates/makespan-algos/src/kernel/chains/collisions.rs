//! Tasks planned on types of processors, or on processors that others hold, brought onto processors that are free.

#[cfg(test)]
mod tests;

use makespan_core::FreeTime;
use pathfinding::kuhn_munkres::kuhn_munkres_min;
use pathfinding::matrix::Matrix;

use super::draft::Draft;
use super::frame::Frame;
use super::windows::{Room, Span, Windows};
use crate::free_time::Calendar;
use crate::kernel::graph::{NEVER, Place, ProcessorId};

/// More than any assignment costs, and few enough for sums of thousands.
const IMPOSSIBLE: i64 = i64::MAX >> 16;

/// What each thousandth of the time to the deadline weighs by which a task ends too late for those after it.
const LATE: i64 = 1 << 30;

/// What another place of a task is charged with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Penalties {
    /// For each thousandth of cost that is added; less cost is not rewarded.
    pub cost: i64,
    /// For each thousandth of the time to the job's deadline that the start is delayed, begun thousandths in full.
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

/// How the places of a preliminary schedule become final.
#[derive(Clone, Copy, Debug)]
pub struct Resolution<'a, 'b> {
    /// What was planned on: processors, or types of them.
    pub chosen: &'b Frame<'b>,
    /// The processors.
    pub real: &'a Frame<'a>,
    /// By when the job must end.
    pub end: i64,
    /// The room that was left to data.
    pub room: Room,
    /// What another place is charged with.
    pub penalties: &'b Penalties,
}

impl Resolution<'_, '_> {
    /// The time that the job is given.
    fn span(&self) -> i64 {
        self.end - self.real.release()
    }

    /// What it is charged with that a task has another place than was planned.
    fn charge(&self, task: u32, planned: Place, place: Place) -> i64 {
        let (frame, penalties) = (self.real, self.penalties);
        let dearer = frame.cost_on(task, place.processor) - frame.cost_on(task, planned.processor);
        let changed = frame.time_on(task, place.processor) != frame.time_on(task, planned.processor);
        let delay = thousandths((place.start - planned.start).max(0), self.span()).saturating_mul(penalties.delay);
        let penalty = penalties.cost.saturating_mul(dearer.max(0)).saturating_add(delay);
        penalty.saturating_add(if changed { penalties.change } else { 0 }).min(LATE - 1)
    }
}

/// Gives each task of a preliminary schedule a processor that is free, on `calendars`, and tells which were moved.
///
/// A task collides when, at its planned start, its planned processor (with types, every processor of the type) is busy or
/// wanted by others as well, or its data are not there. All others stay where they are, and where processors themselves were
/// planned the places of those that collide with nothing planned are out of the reach of others. Colliding tasks of one
/// planned start are a batch: each gets a processor of its own, so that the sum of penalties is least. A task starts when it
/// was planned to, or as soon after as its data and the processor are there. Batches come by planned start; one of more tasks
/// than processors is divided. A place after which the rest of the job cannot be in time is taken only where there is no
/// other, and then the least late; that is not part of the penalty.
///
/// Source: Tselishchev and Toporkov 2009, section 3.3 (bipartite graph, minimal penalty); the assignment is that of
/// H. W. Kuhn, Naval Res. Logist. Q. 2, 1955, DOI 10.1002/nav.3800020109, by the crate `pathfinding`. O(b^2 m) for
/// a batch of b tasks on m processors.
pub fn resolve<'a>(
    resolution: &Resolution<'a, '_>,
    calendars: Vec<Calendar>,
    planned: &[Place],
) -> (Draft<'a>, Vec<Collision>) {
    let frame = resolution.real;
    let mut order = frame.chart.order.clone();
    order.sort_by_key(|&task| planned[task as usize].start);
    let draft = Draft::new(frame, calendars);
    let span = Span { end: resolution.end, room: resolution.room, run: &[] };
    let windows = draft.windows(&order, &span);
    let mut resolving = Resolving { resolution, planned, windows, draft, held: Vec::new(), collisions: Vec::new() };
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

/// A preliminary schedule in part resolved.
struct Resolving<'a, 'b> {
    resolution: &'b Resolution<'a, 'b>,
    planned: &'b [Place],
    windows: Windows,
    draft: Draft<'a>,
    /// For each task whether its planned place is kept free for it.
    held: Vec<bool>,
    collisions: Vec<Collision>,
}

impl Resolving<'_, '_> {
    /// Keeps places free for tasks, given by planned start, that collide with nothing planned.
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
        // On each processor the task that was planned to end last so far.
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

    /// Places the tasks of a batch that do not collide as planned; gives the others.
    fn stay(&mut self, batch: &[u32]) -> Vec<u32> {
        let (real, planned) = (self.resolution.real, self.planned);
        for &task in batch.iter().filter(|&&task| self.held[task as usize]) {
            let Place { processor, start } = planned[task as usize];
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
                    self.draft.put_on(task, Place { processor, start });
                }
                None => colliding.push(task),
            }
        }
        colliding
    }

    /// Gives each of these tasks, planned to start at once, a processor of its own at the least penalty.
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
            let penalty = self.resolution.charge(task, place, Place { processor, start });
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
            let place = Place { processor: ProcessorId::at(processor), start };
            if weight >= IMPOSSIBLE {
                homeless.push(task);
                continue;
            }
            self.draft.put_on(task, place);
            let wanted = self.planned[task as usize];
            // Processors of one type are as good as each other.
            if start != wanted.start || frame.time_on(task, place.processor) != frame.time_on(task, wanted.processor) {
                self.collisions.push(Collision { task, planned: wanted, resolved: place, penalty });
            }
        }
        // More tasks than processors that can run them: the others come after those that the assignment was made for.
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

/// Of tasks that can each have one of some processors, what those get that compete with none for which nothing is left.
///
/// A greatest matching by augmenting paths; in dispute are the tasks that alternating paths reach from one without a
/// processor (A. L. Dulmage, N. S. Mendelsohn, Canad. J. Math. 10, 1958, DOI 10.4153/CJM-1958-052-0). O(b^2 m).
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

/// Gives a task one of its processors, and those that hold them others.
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

/// Begun thousandths of a span.
fn thousandths(time: i64, span: i64) -> i64 {
    let span = i128::from(span.max(1));
    i64::try_from((i128::from(time) * 1000 + span - 1) / span).unwrap_or(IMPOSSIBLE)
}
