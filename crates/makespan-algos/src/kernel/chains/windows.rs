//! What room the placed tasks of a job leave to the others.

use super::draft::Draft;
use super::frame::Frame;
use crate::kernel::graph::{NEVER, Neighbour};

/// From when on, and until when, each task may start as far as tasks that are not placed are concerned.
#[derive(Clone, Debug)]
pub struct Windows {
    earliest: Vec<i64>,
    latest: Vec<i64>,
}

impl Windows {
    /// When a task must end so that what comes after it is in time.
    pub fn latest_end(&self, frame: &Frame, task: u32) -> i64 {
        self.latest[task as usize] + frame.chart.times[task as usize]
    }
}

impl Draft<'_> {
    /// How long an edge takes between two tasks of which both have a processor. Two processors of one type may be two.
    fn way(&self, edge: u32, from: u32, to: u32) -> i64 {
        let way = self.frame().transfer(edge, from, to);
        if self.frame().is_of_types() && from == to { way.max(self.frame().mean_transfer(edge)) } else { way }
    }

    /// From when on and until when tasks may start so that those that are not placed find room before `end`: each at its
    /// fastest with mean transfers (none between two of `chain`), and all before and after it on all processors together.
    pub fn windows(&self, end: i64, chain: &[u32]) -> Windows {
        let (frame, tasks) = (self.frame(), self.frame().tasks());
        let mut own = vec![false; tasks];
        chain.iter().for_each(|&task| own[task as usize] = true);
        let way = |task: u32, other: Neighbour| {
            if own[task as usize] && own[other.task as usize] { 0 } else { frame.mean_transfer(other.edge) }
        };
        let fastest = &frame.chart.times;
        let mut windows = Windows { earliest: vec![0; tasks], latest: vec![0; tasks] };
        for &task in &frame.chart.order {
            let each = frame.incoming(task).map(|from| {
                let at = from.task as usize;
                self.end(from.task).unwrap_or(windows.earliest[at] + fastest[at] + way(task, from))
            });
            // Tasks that are all placed need no room any more.
            let open = frame.incoming(task).any(|from| !self.is_placed(from.task));
            let least = self.release() + if open { frame.before[task as usize] } else { 0 };
            windows.earliest[task as usize] = each.fold(least, i64::max);
        }
        for &task in frame.chart.order.iter().rev() {
            let each = frame.outgoing(task).map(|to| {
                let placed = self.place(to.task).map(|place| place.start);
                placed.unwrap_or_else(|| windows.latest[to.task as usize] - way(task, to))
            });
            let open = frame.outgoing(task).any(|to| !self.is_placed(to.task));
            let most = end - if open { frame.after[task as usize] } else { 0 };
            windows.latest[task as usize] = each.fold(most, i64::min) - fastest[task as usize];
        }
        windows
    }

    /// The intervals in which a task may end on one processor: it is free there for all of the time, data come from
    /// placed tasks before and arrive at placed tasks in time, and the windows are kept.
    pub fn ends(&self, task: u32, machine: u32, windows: &Windows, limit: (i64, &[u32])) -> Vec<(i64, i64)> {
        let (frame, processor, (end, chain)) = (self.frame(), self.frame().machines()[machine as usize], limit);
        let time = frame.time_on(task, processor);
        if time == NEVER {
            return Vec::new();
        }
        let mut low = windows.earliest[task as usize];
        for from in frame.incoming(task) {
            if let (Some(end), Some(place)) = (self.end(from.task), self.place(from.task)) {
                low =
                    low.max(end + self.way_in_chain((from.task, task), from.edge, (place.processor, processor), chain));
            }
        }
        // The latest start is for the fastest processor; what counts is the end.
        let mut high = end.min(windows.latest[task as usize] + frame.chart.times[task as usize]);
        for to in frame.outgoing(task) {
            if let Some(place) = self.place(to.task) {
                let way = self.way_in_chain((task, to.task), to.edge, (processor, place.processor), chain);
                high = high.min(place.start - way);
            }
        }
        let mut free = Vec::new();
        let mut from = low;
        for &(start, until) in self.calendars()[processor as usize].busy() {
            if start >= high {
                break;
            }
            if until > from {
                if from + time <= start {
                    free.push((from + time, start));
                }
                from = until;
            }
        }
        if from + time <= high {
            free.push((from + time, high));
        }
        free
    }

    /// The neighbours in a chain may share a processor of their type; others of that type are another one.
    fn way_in_chain(&self, pair: (u32, u32), edge: u32, (from, to): (u32, u32), chain: &[u32]) -> i64 {
        let joined = chain.windows(2).any(|next| (next[0], next[1]) == pair);
        if joined { self.frame().transfer(edge, from, to) } else { self.way(edge, from, to) }
    }
}
