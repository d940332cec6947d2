//! Turns an order of tasks into a schedule.

use makespan_core::{Placement, ProcSet, Schedule, TaskId, Time};

use super::problem::{Mode, SequencingProblem};

/// An order of tasks, and the mode of each task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sequence {
    /// All tasks. A task that waits for a later task of the order is placed right after this task.
    pub(super) order: Vec<u32>,
    /// The mode of each task, or `None` for the mode in which the task ends first.
    pub(super) modes: Vec<Option<u32>>,
}

/// Decodes sequences. Each task starts as early as possible after all earlier tasks of the order on its machines. For each
/// feasible schedule, some sequence gives a schedule in which no task ends later (a semi-active schedule).
#[derive(Debug)]
pub(super) struct SequenceDecoder<'a> {
    pub(super) problem: &'a SequencingProblem<'a>,
    /// The last task on each machine.
    last: Vec<Option<u32>>,
    /// The end of the last task on each processor, if processors may delay tasks.
    free: Vec<i64>,
    /// The mode, the start and the first processors of each placed task.
    pub(super) placed: Vec<Option<PlacedTask>>,
    /// The processors of each task, if tasks hold any processors and processors may delay tasks.
    held: Vec<Vec<u32>>,
    path: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedTask {
    mode: u32,
    start: i64,
    pub(super) end: i64,
}

impl<'a> SequenceDecoder<'a> {
    pub(super) fn new(problem: &'a SequencingProblem<'a>) -> Self {
        Self {
            problem,
            last: vec![None; problem.machines],
            free: vec![0; problem.instance.processors() as usize],
            placed: vec![None; problem.tasks()],
            held: vec![Vec::new(); problem.tasks()],
            path: Vec::new(),
        }
    }

    /// Removes all tasks.
    pub(super) fn clear(&mut self) {
        self.last.fill(None);
        self.free.fill(0);
        self.placed.fill(None);
    }

    /// Places all tasks of a sequence.
    pub(super) fn decode(&mut self, sequence: &Sequence) {
        self.clear();
        for &task in &sequence.order {
            self.path.push(task);
            while let Some(&task) = self.path.last() {
                let is_missing = |from: u32| self.placed[from as usize].is_none();
                let missing = self.predecessors(task).find(|&from| is_missing(from));
                match missing {
                    Some(from) => self.path.push(from),
                    None => {
                        self.path.pop();
                        if is_missing(task) {
                            self.place(task, sequence.modes[task as usize]);
                        }
                    }
                }
            }
        }
    }

    fn predecessors(&self, task: u32) -> impl Iterator<Item = u32> {
        self.problem.before[task as usize].iter().map(|edge| edge.from.index() as u32)
    }

    /// Returns true if all predecessors of a task are placed.
    pub(super) fn is_ready(&self, task: u32) -> bool {
        self.predecessors(task).all(|from| self.placed[from as usize].is_some())
    }

    /// Returns the mode in which a task ends first, and its start.
    pub(super) fn earliest(&self, task: u32, wanted: Option<u32>) -> (u32, i64) {
        let modes = &self.problem.modes[task as usize];
        let at = wanted.map_or(0..modes.len() as u32, |mode| mode..mode + 1);
        let starts = at.map(|mode| (mode, self.start(task, &modes[mode as usize])));
        let first = starts.min_by_key(|&(mode, start)| (start + modes[mode as usize].time, mode));
        // Each task of an instance can run, so it has a mode.
        first.unwrap_or_default()
    }

    /// Returns the earliest start of a task in a mode.
    fn start(&self, task: u32, mode: &Mode) -> i64 {
        let mut start = self.problem.releases[task as usize];
        for edge in &self.problem.before[task as usize] {
            let from = edge.from.index();
            let Some(PlacedTask { end, mode: other, .. }) = self.placed[from] else { continue };
            let transfer = match (self.problem.modes[from][other as usize].processor, mode.processor) {
                (Some(one), Some(two)) => {
                    let on = |id| ProcSet::range(id, id);
                    self.problem.instance.platform().transfer_between(&on(one), &on(two), edge.payload).ticks()
                }
                _ => 0,
            };
            start = start.max(end + transfer);
        }
        for &machine in &mode.machines {
            if let Some(last) = self.last[machine as usize]
                && let Some(placed) = self.placed[last as usize]
            {
                start = start.max(placed.end + self.problem.setup(machine, last, task));
            }
        }
        if mode.processor.is_none() && !self.problem.is_ample {
            let mut free = self.free.clone();
            let (_, nth, _) = free.select_nth_unstable(mode.width as usize - 1);
            start = start.max(*nth);
        }
        start
    }

    /// Places a task in a mode, or in the mode in which it ends first.
    pub(super) fn place(&mut self, task: u32, wanted: Option<u32>) {
        let (mode, start) = self.earliest(task, wanted);
        let chosen = &self.problem.modes[task as usize][mode as usize];
        let end = start + chosen.time;
        if chosen.processor.is_none() && !self.problem.is_ample {
            let mut ids: Vec<u32> = (0..self.free.len() as u32).collect();
            ids.sort_by_key(|&id| self.free[id as usize]);
            ids.truncate(chosen.width as usize);
            ids.iter().for_each(|&id| self.free[id as usize] = end);
            self.held[task as usize] = ids;
        }
        chosen.machines.iter().for_each(|&machine| self.last[machine as usize] = Some(task));
        self.placed[task as usize] = Some(PlacedTask { mode, start, end });
    }

    /// Returns the schedule of the last decoded sequence.
    pub(super) fn schedule(&self) -> Schedule {
        let mut first = 0;
        let mut placements = Vec::with_capacity(self.placed.len());
        for (task, placed) in self.placed.iter().enumerate() {
            let modes = &self.problem.modes[task];
            let widest = modes.iter().map(|mode| mode.width).max().unwrap_or(0);
            let own = first;
            first += widest;
            let Some(PlacedTask { mode, start, end }) = *placed else { continue };
            let Mode { processor, width, .. } = modes[mode as usize];
            let processors = match processor {
                Some(id) => ProcSet::range(id, id),
                // Each task has processors of its own.
                None if self.problem.is_ample => ProcSet::range(own, own + width - 1),
                None => ProcSet::from_intervals(self.held[task].iter().map(|&id| (id, id)).collect()),
            };
            let (start, end) = (Time::from_ticks(start), Time::from_ticks(end));
            placements.push(Placement { task: TaskId::at(task), start, end, processors });
        }
        Schedule::new(placements)
    }
}
