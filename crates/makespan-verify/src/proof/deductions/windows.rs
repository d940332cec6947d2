//! The windows of tasks. If the window of a task becomes narrower, the windows of its predecessors and successors may
//! become narrower, too.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::runs::Runs;
use makespan_core::{Instance, TaskId};

/// The window of a task, in ticks. The task starts within `start ..= last_start` and ends within `first_end ..= end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskWindow {
    pub(super) start: i128,
    pub(super) last_start: i128,
    pub(super) first_end: i128,
    pub(super) end: i128,
}

impl TaskWindow {
    /// A window without limits.
    pub(super) const ALL: Self =
        Self { start: i128::MIN / 4, last_start: i128::MAX / 4, first_end: i128::MIN / 4, end: i128::MAX / 4 };

    fn and(self, other: Self) -> Self {
        Self {
            start: self.start.max(other.start),
            last_start: self.last_start.min(other.last_start),
            first_end: self.first_end.max(other.first_end),
            end: self.end.min(other.end),
        }
    }

    /// Returns the latest start and the earliest end of a run that takes at least `time` and lies within the window.
    /// Returns `None` if no such run exists.
    fn of_run(&self, time: i128) -> Option<(i128, i128)> {
        let last_start = self.last_start.min(self.end - time);
        let first_end = self.first_end.max(self.start + time);
        (self.start <= last_start && first_end <= self.end).then_some((last_start, first_end))
    }

    /// Returns the minimum number of ticks between `from` and `until` during which the task of this window (`self`)
    /// runs. The run lies within this window and takes at least `time` ticks. Returns `None` if no such run exists.
    ///
    /// The result is the largest of three lower bounds. The first bound considers only the first `time` ticks of the
    /// run, and the second bound only its last `time` ticks. The third bound is the overlap of `from .. until` with the
    /// time between the latest start and the earliest end, during which the task runs in any case.
    pub(super) fn within(&self, time: i128, from: i128, until: i128) -> Option<i128> {
        let (last_start, first_end) = self.of_run(time)?;
        let most = time.min(until - from);
        let after_start = most.min(self.start + time - from).min(until - last_start);
        let before_end = most.min(first_end - from).min(until - (self.end - time));
        let sure = first_end.min(until) - last_start.max(from);
        Some(after_start.max(before_end).max(sure).max(0))
    }
}

/// The windows of all distinct tasks.
pub(super) struct Windows<'a> {
    instance: &'a Instance,
    runs: &'a Runs<'a>,
    of_rows: Vec<TaskWindow>,
    /// A topological order of the graph.
    order: Vec<TaskId>,
    /// The position of each distinct task in `order`.
    place: Vec<usize>,
    /// The changes under the current suppositions, in order, so that they can be undone. Each entry contains a
    /// distinct task, its previous window, and its previous entry of `changed`.
    trail: Vec<(usize, TaskWindow, u8)>,
    /// For each window, the number of nested suppositions at its last change. The trail records only the first change
    /// of a window under a supposition. So the trail has at most one entry for each task and each nested supposition.
    changed: Vec<u8>,
    suppositions: u8,
    forward: BinaryHeap<Reverse<usize>>,
    backward: BinaryHeap<usize>,
}

impl<'a> Windows<'a> {
    /// Creates a window for each task, from its release to the deadline. Edges do not narrow the windows yet
    /// ([`Self::follow_all`] applies them).
    pub(super) fn new(instance: &'a Instance, runs: &'a Runs<'a>, deadline: i128) -> Self {
        let order: Vec<TaskId> = instance.in_order().collect();
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &task)| place[instance.different(task)] = at);
        let window = |&task: &TaskId| {
            let start = i128::from(instance.release(task).ticks());
            TaskWindow { start, end: deadline, ..TaskWindow::ALL }
        };
        let of_rows = runs.tasks.iter().map(window).collect();
        let (trail, changed, suppositions) = (Vec::new(), vec![0; order.len()], 0);
        let (forward, backward) = (BinaryHeap::new(), BinaryHeap::new());
        Self { instance, runs, of_rows, order, place, trail, changed, suppositions, forward, backward }
    }

    pub(super) fn of(&self, row: usize) -> TaskWindow {
        self.of_rows[row]
    }

    /// Returns the number of equal tasks that a distinct task represents, or `None` if there is no such task.
    pub(super) fn count(&self, row: usize) -> Option<u64> {
        self.runs.counts.get(row).copied()
    }

    /// Begins a supposition. Returns the position in the trail, which [`Self::take_back`] needs to undo later changes.
    pub(super) fn suppose(&mut self) -> usize {
        self.suppositions += 1;
        self.trail.len()
    }

    /// Undoes all changes since the beginning of a supposition.
    pub(super) fn take_back(&mut self, begin: usize) {
        self.suppositions -= 1;
        for (row, window, changed) in self.trail.drain(begin..).rev() {
            (self.of_rows[row], self.changed[row]) = (window, changed);
        }
    }

    /// Returns the intersection of a task's window with `limit`, or `None` if the task does not fit into the
    /// intersection.
    pub(super) fn narrowed(&self, row: usize, limit: TaskWindow) -> Option<TaskWindow> {
        let mut window = self.of_rows[row].and(limit);
        if let Some(time) = self.runs.only(row) {
            window.start = window.start.max(window.first_end - time);
            window.end = window.end.min(window.last_start + time);
        }
        // If any choice fits into the window, the fastest choice also fits. The fastest choice permits the latest
        // start and the earliest end.
        let (last_start, first_end) = window.of_run(self.runs.fastest(row)?)?;
        Some(TaskWindow { last_start, first_end, ..window })
    }

    /// Narrows all windows until each task starts after its predecessors and ends before its successors. Returns false
    /// if some task no longer fits into its window.
    pub(super) fn follow_all(&mut self) -> bool {
        for row in 0..self.of_rows.len() {
            match self.narrowed(row, TaskWindow::ALL) {
                Some(window) => self.of_rows[row] = window,
                None => return false,
            }
        }
        self.forward.extend((0..self.of_rows.len()).map(Reverse));
        self.backward.extend(0..self.of_rows.len());
        self.follow()
    }

    /// Narrows the window of a task, and then the windows of the tasks before and after it. Returns false if some task
    /// no longer fits into its window. Takes O((n + e) log n) for n tasks and e edges, but usually much less.
    ///
    /// Earliest ends depend only on earliest starts, and latest starts only on latest ends. So each task is visited at
    /// most once in each direction.
    pub(super) fn narrow(&mut self, row: usize, limit: TaskWindow) -> bool {
        self.set(row, limit) && self.follow()
    }

    fn set(&mut self, row: usize, limit: TaskWindow) -> bool {
        let Some(window) = self.narrowed(row, limit) else { return false };
        let old = self.of_rows[row];
        if window != old {
            if self.changed[row] < self.suppositions {
                self.trail.push((row, old, self.changed[row]));
                self.changed[row] = self.suppositions;
            }
            self.of_rows[row] = window;
            if window.first_end > old.first_end {
                self.forward.push(Reverse(self.place[row]));
            }
            if window.last_start < old.last_start {
                self.backward.push(self.place[row]);
            }
        }
        true
    }

    fn follow(&mut self) -> bool {
        let fits = self.follow_queues();
        self.forward.clear();
        self.backward.clear();
        fits
    }

    fn follow_queues(&mut self) -> bool {
        loop {
            if let Some(Reverse(place)) = self.forward.pop() {
                while self.forward.peek() == Some(&Reverse(place)) {
                    self.forward.pop();
                }
                let task = self.order[place];
                let start = self.of_rows[self.instance.different(task)].first_end;
                for edge in self.instance.outgoing(task) {
                    if !self.set(self.instance.different(edge.to), TaskWindow { start, ..TaskWindow::ALL }) {
                        return false;
                    }
                }
            } else if let Some(place) = self.backward.pop() {
                while self.backward.peek() == Some(&place) {
                    self.backward.pop();
                }
                let task = self.order[place];
                let end = self.of_rows[self.instance.different(task)].last_start;
                for edge in self.instance.incoming(task) {
                    if !self.set(self.instance.different(edge.from), TaskWindow { end, ..TaskWindow::ALL }) {
                        return false;
                    }
                }
            } else {
                return true;
            }
        }
    }
}
