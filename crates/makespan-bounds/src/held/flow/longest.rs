//! The longest path of tasks along edges and area arcs (see the module `flow`).

use makespan_core::{Instance, TaskId};

use super::ancestry::{Ancestry, Sums};

/// The last step on a path to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathStep {
    /// The path begins at the release of the task.
    Release,
    /// The edge with this index in the instance.
    Edge(u32),
    /// An area arc from the task at this position. `None` if the path begins with this arc, at the first release date
    /// of the tasks on the arc.
    Area(Option<usize>),
}

/// The longest paths between the tasks of an instance. Tasks are identified by their positions in a topological order.
pub(super) struct Paths<'a> {
    instance: &'a Instance,
    pub(super) order: Vec<TaskId>,
    /// For each distinct task, its position in the topological order.
    place: Vec<usize>,
    releases: Vec<f64>,
    ancestry: Option<Ancestry>,
    /// For each task, the first release date of its ancestors, or its own release date if it has none.
    first: Vec<f64>,
    /// For each task, the end of the longest path that ends with this task.
    ends: Vec<f64>,
    /// For each task, the last step on the longest path to this task.
    reached: Vec<PathStep>,
    /// The area of each task.
    own: Sums,
    /// For each task, the total area of its ancestors.
    areas: Vec<f64>,
    /// For each task, the total area of its descendants.
    behind: Vec<f64>,
    /// The work so far, in elementary steps.
    steps: usize,
}

/// A path, identified by its last task.
pub(super) struct LongestPath {
    /// True if the path continues with an area arc from `last` to the end of the schedule. The length of this arc is
    /// the total area of all descendants of `last`, divided by the capacity.
    pub(super) is_open: bool,
    pub(super) last: usize,
}

impl<'a> Paths<'a> {
    pub(super) fn new(instance: &'a Instance) -> Self {
        let order: Vec<TaskId> = instance.in_order().collect();
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &task)| place[instance.different(task)] = at);
        let releases: Vec<f64> = order.iter().map(|&task| instance.release(task).ticks() as f64).collect();
        let ancestry = Ancestry::new(instance, &order);
        let first = match &ancestry {
            Some(ancestry) => {
                let of = |task: usize| ancestry.before(task).map(|before| releases[before]).reduce(f64::min);
                (0..order.len()).map(|task| of(task).unwrap_or(releases[task])).collect()
            }
            None => Vec::new(),
        };
        let count = order.len();
        Self {
            instance,
            order,
            place,
            releases,
            ancestry,
            first,
            ends: vec![0.0; count],
            reached: vec![PathStep::Release; count],
            own: Sums::default(),
            areas: vec![0.0; count],
            behind: vec![0.0; count],
            steps: 0,
        }
    }

    /// Returns the work of all calls of [`Paths::longest`] so far, in elementary steps.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Returns the last step on the longest path to a task.
    pub(super) fn reached(&self, task: usize) -> PathStep {
        self.reached[task]
    }

    /// Returns the position of the task at which an edge begins.
    pub(super) fn from(&self, edge: u32) -> usize {
        self.place[self.instance.different(self.instance.edges()[edge as usize].from)]
    }

    /// Returns the instant at which a path with the first task `task` begins. If the path begins with an area arc to
    /// this task, this instant is the first release date of the tasks on the arc.
    pub(super) fn begins(&self, task: usize) -> f64 {
        if self.reached[task] == PathStep::Release { self.releases[task] } else { self.first[task] }
    }

    /// Returns the tasks on an area arc between two tasks. `None` stands for the beginning or the end of the schedule.
    pub(super) fn on(&self, after: Option<usize>, before: Option<usize>) -> Vec<usize> {
        match (&self.ancestry, after, before) {
            (Some(ancestry), Some(after), Some(before)) => ancestry.between(after, before).collect(),
            (Some(ancestry), None, Some(before)) => ancestry.before(before).collect(),
            (Some(ancestry), Some(after), None) => ancestry.behind(after).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the longest path for the run times `times`. If `with_areas` is set, paths may use area arcs. `areas`
    /// contains the areas of the tasks, divided by the capacity.
    ///
    /// Takes O(n + e) for n tasks and e edges. With area arcs, takes O(n^2), and O(n) more for each arc that may make a
    /// path longer.
    pub(super) fn longest(&mut self, times: &[f64], areas: &[f64], with_areas: bool) -> Option<LongestPath> {
        let ancestry = self.ancestry.as_ref().filter(|_| with_areas);
        self.steps += self.order.len() + self.instance.edges().len();
        if let Some(ancestry) = ancestry {
            self.own.set(areas);
            for task in 0..self.order.len() {
                self.areas[task] = ancestry.sum_before(task, &self.own);
                self.behind[task] = ancestry.sum_behind(task, &self.own);
            }
            self.steps += self.order.len() * self.order.len() / 8;
        }
        for task in 0..self.order.len() {
            let (mut start, mut reached) = (self.releases[task], PathStep::Release);
            for &edge in self.instance.incoming_edges(self.order[task]) {
                let end = self.ends[self.from(edge)];
                if end > start {
                    (start, reached) = (end, PathStep::Edge(edge));
                }
            }
            if let Some(ancestry) = ancestry {
                let area = self.areas[task];
                if self.first[task] + area > start {
                    (start, reached) = (self.first[task] + area, PathStep::Area(None));
                }
                let (mut looked_at, mut summed) = (0, 0);
                for after in ancestry.before(task) {
                    looked_at += 1;
                    // The tasks between `after` and `task` are ancestors of `task` but not of `after`, and descendants
                    // of `after` but not of `task`. So `most` is an upper limit on their area.
                    let most = area - self.areas[after] - areas[after];
                    let most = most.min(self.behind[after] - self.behind[task] - areas[task]);
                    if self.ends[after] + most > start {
                        summed += task / 64 - after / 64 + 16;
                        let area = ancestry.sum_between(after, task, &self.own);
                        if self.ends[after] + area > start {
                            (start, reached) = (self.ends[after] + area, PathStep::Area(Some(after)));
                        }
                    }
                }
                self.steps += looked_at + summed;
            }
            self.ends[task] = start + times[task];
            self.reached[task] = reached;
        }
        let area = |task: usize| if ancestry.is_some() { self.behind[task] } else { 0.0 };
        let length = |task: usize| self.ends[task] + area(task);
        let last = (0..self.order.len()).max_by(|&a, &b| length(a).total_cmp(&length(b)))?;
        Some(LongestPath { is_open: area(last) > 0.0, last })
    }
}
