//! What room the placed tasks of a job leave to the others.

#[cfg(test)]
mod tests;

use rustc_hash::{FxHashMap, FxHashSet};

use super::draft::Draft;
use super::frame::Side;
use crate::kernel::graph::{NEVER, Neighbour, ProcessorId};

/// How much time is set aside for data between two tasks while one of them has no place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Room {
    /// What no placement avoids: nothing where one processor can run both. No schedule is excluded.
    #[default]
    Least,
    /// The mean transfer, but none between tasks that are planned at once. Leaves room to tasks that are planned later, and
    /// excludes schedules in which these share a processor.
    Mean,
}

/// The time that a job is planned in.
#[derive(Clone, Copy, Debug)]
pub struct Span<'b> {
    /// No task ends later, in ticks.
    pub end: i64,
    /// The time for data.
    pub room: Room,
    /// The tasks that are planned at once: each follows on the one before it.
    pub run: &'b [u32],
}

/// When tasks may start and end as far as tasks without places are concerned.
#[derive(Clone, Debug)]
pub struct Windows {
    /// The earliest start of each.
    earliest: FxHashMap<u32, i64>,
    /// The latest end of each.
    latest: FxHashMap<u32, i64>,
}

impl Windows {
    /// From when on a task may start.
    ///
    /// # Panics
    /// When the windows are not of this task.
    pub fn earliest_start(&self, task: u32) -> i64 {
        self.earliest[&task]
    }

    /// When a task must end so that what comes after it is in time.
    ///
    /// # Panics
    /// When the windows are not of this task.
    pub fn latest_end(&self, task: u32) -> i64 {
        self.latest[&task]
    }
}

impl Draft<'_> {
    /// How long an edge takes between two tasks that are planned apart. Two processors of one type may be two.
    fn way(&self, edge: u32, from: ProcessorId, to: ProcessorId, room: Room) -> i64 {
        let way = self.frame().transfer(edge, from, to);
        if room == Room::Mean && self.frame().is_of_types() && from == to {
            way.max(self.frame().mean_transfer(edge))
        } else {
            way
        }
    }

    /// From when on `tasks` may start and until when they may end so that what has no place fits before the end: each task
    /// at its fastest, and all before and after it on all processors together. With [`Room::Least`] no schedule that keeps
    /// the places of this draft is excluded. O(e log e) for the e edges of tasks without places from which a path leads to
    /// `tasks`, or to which one leads.
    pub fn windows(&self, tasks: &[u32], span: &Span) -> Windows {
        let frame = self.frame();
        let run: FxHashSet<u32> = match span.room {
            Room::Least => FxHashSet::default(),
            Room::Mean => span.run.iter().copied().collect(),
        };
        let way = |task: u32, other: Neighbour| match span.room {
            Room::Least => frame.least_transfer(other.edge),
            Room::Mean if run.contains(&task) && run.contains(&other.task) => 0,
            Room::Mean => frame.mean_transfer(other.edge),
        };
        let fastest = &frame.chart.times;
        let mut earliest: FxHashMap<u32, i64> = FxHashMap::default();
        for task in self.without_places(tasks, Side::Before) {
            // Tasks that are all placed need no room any more.
            let mut open = false;
            let mut start = self.release();
            for from in frame.incoming(task) {
                start = start.max(self.end(from.task).unwrap_or_else(|| {
                    open = true;
                    earliest[&from.task] + fastest[from.task as usize] + way(task, from)
                }));
            }
            let least = if open { self.release() + frame.before[task as usize] } else { start };
            earliest.insert(task, start.max(least));
        }
        let mut latest: FxHashMap<u32, i64> = FxHashMap::default();
        for task in self.without_places(tasks, Side::After) {
            let mut open = false;
            let mut end = span.end;
            for to in frame.outgoing(task) {
                end = end.min(self.place(to.task).map_or_else(
                    || {
                        open = true;
                        latest[&to.task] - fastest[to.task as usize] - way(task, to)
                    },
                    |place| place.start,
                ));
            }
            let most = if open { span.end - frame.after[task as usize] } else { end };
            latest.insert(task, end.min(most));
        }
        Windows { earliest, latest }
    }

    /// These tasks and all without places on one side of them, each after those that are farther away.
    fn without_places(&self, tasks: &[u32], side: Side) -> Vec<u32> {
        let frame = self.frame();
        let mut found: Vec<u32> = tasks.to_vec();
        let mut seen: FxHashSet<u32> = found.iter().copied().collect();
        let mut next = 0;
        while let Some(&task) = found.get(next) {
            next += 1;
            found.extend(
                frame
                    .beside(task, side)
                    .map(|other| other.task)
                    .filter(|&other| !self.is_placed(other) && seen.insert(other)),
            );
        }
        found.sort_unstable_by_key(|&task| frame.position(task));
        if side == Side::After {
            found.reverse();
        }
        found
    }

    /// The intervals in which a task may end on one processor: it is free there for all of the time, data come from
    /// placed tasks before and arrive at placed tasks in time, and the windows are kept.
    pub fn ends(&self, task: u32, machine: u32, windows: &Windows, span: &Span) -> Vec<(i64, i64)> {
        let (frame, processor) = (self.frame(), self.frame().machines()[machine as usize]);
        let time = frame.time_on(task, processor);
        if time == NEVER {
            return Vec::new();
        }
        let mut low = windows.earliest_start(task);
        for from in frame.incoming(task) {
            if let (Some(end), Some(place)) = (self.end(from.task), self.place(from.task)) {
                low = low.max(end + self.way(from.edge, place.processor, processor, span.room));
            }
        }
        let mut high = windows.latest_end(task);
        for to in frame.outgoing(task) {
            if let Some(place) = self.place(to.task) {
                high = high.min(place.start - self.way(to.edge, processor, place.processor, span.room));
            }
        }
        let mut free = Vec::new();
        let mut from = low;
        let busy = self.calendars()[processor.index()].busy();
        let first = busy.partition_point(|&(_, until)| until <= low);
        for &(start, until) in &busy[first..] {
            if start >= high {
                break;
            }
            if from + time <= start {
                free.push((from + time, start));
            }
            from = until;
        }
        if from + time <= high {
            free.push((from + time, high));
        }
        free
    }
}
