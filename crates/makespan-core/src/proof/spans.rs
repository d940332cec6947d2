//! When tasks may run as far as the paths of tasks before and behind them are concerned.

use crate::model::{Instance, JobId, ProcSet, TaskId, Time};

/// When one task may run, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// It cannot start earlier.
    pub(super) head: i128,
    /// Its shortest time.
    pub(super) fastest: i128,
    /// The longest path behind it.
    pub(super) tail: i128,
}

/// Times of tasks on the nodes that compute.
pub(super) struct Times<'a> {
    pub(super) instance: &'a Instance,
    /// Each node with one of its processors.
    pub(super) nodes: Vec<(usize, ProcSet)>,
}

impl<'a> Times<'a> {
    pub(super) fn new(instance: &'a Instance) -> Self {
        let platform = instance.platform();
        let computing = (0..platform.nodes().len()).filter(|&node| platform.nodes()[node].processors > 0);
        let one = |node: usize| platform.processors_of(node).iter().next().map(|id| (node, ProcSet::range(id, id)));
        Self { instance, nodes: computing.filter_map(one).collect() }
    }

    /// The time of a task that holds one processor; `None` where it cannot run.
    pub(super) fn on(&self, task: TaskId, processor: &ProcSet) -> Option<i128> {
        Some(i128::from(self.instance.try_time(task, processor)?.ticks()))
    }

    /// No set of processors runs the task in less.
    pub(super) fn fastest(&self, task: TaskId) -> i128 {
        let profile = self.instance.profile(task);
        if profile.max_processors() == 1 {
            let each = self.nodes.iter().filter_map(|(_, processor)| self.on(task, processor));
            return each.min().unwrap_or(0);
        }
        self.slowed(profile.shortest()).min().map_or(0, |time| i128::from(time.ticks()))
    }

    /// No set of processors runs the task, which may hold several, in more.
    pub(super) fn slowest(&self, task: TaskId) -> Time {
        let slowest = self.instance.profile(task).slowest();
        self.slowed(slowest).max().unwrap_or(slowest)
    }

    /// A time of processors of speed 1 as it is on each node.
    fn slowed(&self, time: Time) -> impl Iterator<Item = Time> + '_ {
        self.nodes.iter().map(move |(_, processor)| self.instance.platform().slowed(time, processor))
    }

    /// When the tasks of a job may run as far as its own tasks are concerned. A bag has one, which stands for all.
    pub(super) fn spans(&self, id: JobId) -> Vec<Span> {
        let job = self.instance.job(id);
        let release = i128::from(job.release.ticks());
        let each = (0..job.different_tasks()).map(|number| self.fastest(job.task(number)));
        let mut spans: Vec<Span> = each.map(|fastest| Span { head: release, fastest, tail: 0 }).collect();
        let at = |task: TaskId| (task.0 - job.first().0) as usize;
        for task in self.instance.order(id) {
            let before = self.instance.incoming(task).filter(|edge| job.has_task(edge.from));
            let before = before.map(|edge| &spans[at(edge.from)]);
            let head = before.map(|span| span.head + span.fastest).max().unwrap_or(release);
            spans[at(task)].head = head;
        }
        for task in self.instance.order(id).rev() {
            let behind = self.instance.outgoing(task).filter(|edge| job.has_task(edge.to));
            let behind = behind.map(|edge| &spans[at(edge.to)]);
            let tail = behind.map(|span| span.fastest + span.tail).max().unwrap_or(0);
            spans[at(task)].tail = tail;
        }
        spans
    }
}
