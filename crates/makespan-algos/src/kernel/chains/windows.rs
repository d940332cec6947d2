//! The time windows of the unplaced tasks of a job. The placed tasks determine these windows.

#[cfg(test)]
mod tests;

use rustc_hash::{FxHashMap, FxHashSet};

use super::draft::Draft;
use super::frame::GraphDirection;
use crate::kernel::graph::{NEVER, Neighbour, ProcessorId};

/// The time that is assumed for a transfer between two tasks, if one of these tasks is not placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransferRoom {
    /// The minimum transfer time. This time is zero if one processor can run both tasks. The assumption excludes no
    /// schedule.
    #[default]
    Least,
    /// The mean transfer time, or zero between tasks that are planned together. The mean leaves time for the transfers
    /// of tasks that are planned later. The assumption excludes schedules in which a task that is planned later shares
    /// a processor with a neighbour.
    Mean,
}

/// The limits within which some tasks of a job are planned.
#[derive(Clone, Copy, Debug)]
pub struct PlanningLimits<'b> {
    /// Deadline of the job, in ticks: all its tasks must end by this instant.
    pub end: i64,
    /// The transfer time that is assumed for unplaced tasks.
    pub room: TransferRoom,
    /// The tasks that are planned together, in the order of their chain.
    pub run: &'b [u32],
}

/// The earliest starts and the latest ends of some tasks. These windows leave enough time for all unplaced tasks.
#[derive(Clone, Debug)]
pub struct Windows {
    /// The earliest start of each task.
    earliest: FxHashMap<u32, i64>,
    /// The latest end of each task.
    latest: FxHashMap<u32, i64>,
}

impl Windows {
    /// Returns the earliest start of a task.
    ///
    /// # Panics
    /// Panics if the windows were not computed for this task.
    pub fn earliest_start(&self, task: u32) -> i64 {
        self.earliest[&task]
    }

    /// Returns the latest end of a task for which its successors can still end in time.
    ///
    /// # Panics
    /// Panics if the windows were not computed for this task.
    pub fn latest_end(&self, task: u32) -> i64 {
        self.latest[&task]
    }
}

impl Draft<'_> {
    /// Returns the transfer time between two tasks that are planned separately. If tasks are planned on types, two
    /// places on one type may end up on different processors of this type.
    fn way(&self, edge: u32, from: ProcessorId, to: ProcessorId, room: TransferRoom) -> i64 {
        let way = self.frame().transfer(edge, from, to);
        if room == TransferRoom::Mean && self.frame().is_of_types() && from == to {
            way.max(self.frame().mean_transfer(edge))
        } else {
            way
        }
    }

    /// Returns earliest starts and latest ends of `tasks` that leave enough time for the unplaced tasks. Each unplaced
    /// task is assumed to take its fastest time. Before each task, the window leaves enough time to run all its
    /// predecessors on all processors together. After each task, the window leaves enough time to run all its
    /// successors in this way. With [`TransferRoom::Least`], no schedule that keeps the places of this draft is
    /// excluded.
    ///
    /// Complexity: O(e log e), where e counts the edges of unplaced tasks that lead to `tasks` or can be reached from
    /// `tasks`.
    pub fn windows(&self, tasks: &[u32], span: &PlanningLimits) -> Windows {
        let frame = self.frame();
        let run: FxHashSet<u32> = match span.room {
            TransferRoom::Least => FxHashSet::default(),
            TransferRoom::Mean => span.run.iter().copied().collect(),
        };
        let way = |task: u32, other: Neighbour| match span.room {
            TransferRoom::Least => frame.least_transfer(other.edge),
            TransferRoom::Mean if run.contains(&task) && run.contains(&other.task) => 0,
            TransferRoom::Mean => frame.mean_transfer(other.edge),
        };
        let fastest = &frame.chart.times;
        let mut earliest: FxHashMap<u32, i64> = FxHashMap::default();
        for task in self.without_places(tasks, GraphDirection::Before) {
            // If all predecessors are placed, the window needs no time for them.
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
        for task in self.without_places(tasks, GraphDirection::After) {
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

    /// Returns `tasks`, and all unplaced tasks that can be reached from them in one direction. Tasks that are farther
    /// away come first.
    fn without_places(&self, tasks: &[u32], side: GraphDirection) -> Vec<u32> {
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
        if side == GraphDirection::After {
            found.reverse();
        }
        found
    }

    /// Returns the intervals in which a task may end on one processor. The processor is free while the task runs, and
    /// the task stays in its window. The data of placed predecessors have arrived, and the data for placed successors
    /// arrive in time.
    pub fn ends(&self, task: u32, machine: u32, windows: &Windows, span: &PlanningLimits) -> Vec<(i64, i64)> {
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
