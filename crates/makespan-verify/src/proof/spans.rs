//! Spans of tasks. A span limits the start and the end of a task by the longest paths of tasks before and after the
//! task.

use super::NodeKinds;
use makespan_core::{Instance, JobId, ProcSet, TaskId, Time};

/// The limits on the time of one task, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskSpan {
    /// Earliest start of the task.
    pub head: i128,
    /// Shortest time of the task.
    pub fastest: i128,
    /// Length of the longest path after the task: the minimum time from its end to the end of the last job.
    pub tail: i128,
}

/// The spans of all distinct tasks, by their position in the instance ([`Instance::different`]). Paths include the
/// edges between jobs, and time lags.
///
/// The first task of a bag represents all its tasks.
#[derive(Clone, Debug)]
pub struct Spans(Vec<TaskSpan>);

impl Spans {
    /// Computes all spans. Takes O(tasks + edges), plus the time to compute the shortest time of each task. With time lags,
    /// takes O(tasks * (edges + lags)).
    pub fn new(places: &NodeKinds<'_>, instance: &Instance) -> Self {
        let order: Vec<TaskId> = instance.in_order().collect();
        let release = |task: TaskId| i128::from(instance.release(task).ticks());
        let mut spans = vec![TaskSpan { head: 0, fastest: 0, tail: 0 }; instance.different_tasks()];
        let at = |task: TaskId| instance.different(task);
        for &task in &order {
            let before = instance.incoming(task).map(|edge| &spans[at(edge.from)]);
            let head = before.map(|span| span.head + span.fastest).max().unwrap_or(0).max(release(task));
            spans[at(task)] = TaskSpan { head, fastest: places.fastest(task), tail: 0 };
        }
        for &task in order.iter().rev() {
            let behind = instance.outgoing(task).map(|edge| &spans[at(edge.to)]);
            spans[at(task)].tail = behind.map(|span| span.fastest + span.tail).max().unwrap_or(0);
        }
        let mut spans = Self(spans);
        if instance.has_lags() {
            spans.add_lags(instance, &order);
        }
        spans
    }

    /// Extends the spans by paths with time lags. Lags form cycles, so the paths grow in rounds. Any number of rounds gives
    /// valid spans. If some starts satisfy all lags, no path grows after as many rounds as there are tasks.
    fn add_lags(&mut self, instance: &Instance, order: &[TaskId]) {
        let at = |task: TaskId| instance.different(task);
        // An arc from task i to task j with a length: from the start of i to the start of j.
        let mut lags: Vec<(usize, usize, i128)> = Vec::new();
        for &task in order {
            lags.extend(instance.lags_to(task).map(|(from, least)| (at(from), at(task), i128::from(least.ticks()))));
        }
        let edges: Vec<(usize, usize)> = order
            .iter()
            .flat_map(|&task| instance.incoming(task).map(move |edge| (edge.from, task)))
            .map(|(from, task)| (at(from), at(task)))
            .collect();
        // A tail begins at the end of a task, and a lag at its start. The time between them is at most the slowest time.
        let is_even = instance.platform().has_unit_speed();
        let slowest = |task: &TaskId| is_even.then(|| i128::from(instance.profile(*task).slowest().ticks()));
        let mut slow = vec![None; self.0.len()];
        order.iter().for_each(|task| slow[at(*task)] = slowest(task));
        let spans = &mut self.0;
        for _ in 0..=order.len() {
            let mut has_grown = false;
            let mut raise = |old: &mut i128, new: i128| {
                has_grown |= new > *old;
                *old = new.max(*old);
            };
            for &(from, to, least) in &lags {
                let (first, second) = (spans[from], spans[to]);
                raise(&mut spans[to].head, first.head + least);
                if let Some(slow) = slow[from] {
                    raise(&mut spans[from].tail, least + second.fastest + second.tail - slow);
                }
            }
            for &(from, to) in &edges {
                let (first, second) = (spans[from], spans[to]);
                raise(&mut spans[to].head, first.head + first.fastest);
                raise(&mut spans[from].tail, second.fastest + second.tail);
            }
            if !has_grown {
                return;
            }
        }
    }

    /// Returns the span of a task.
    pub fn of(&self, instance: &Instance, task: TaskId) -> TaskSpan {
        self.0[instance.different(task)]
    }

    /// Returns the spans of a job, by the position of the task within the job. A bag has one span.
    pub fn of_job(&self, instance: &Instance, id: JobId) -> &[TaskSpan] {
        let job = instance.job(id);
        let first = instance.different(job.first());
        &self.0[first..first + job.different_tasks() as usize]
    }

    /// Returns the spans of the tasks of a job, ignoring the jobs that wait for this job. The path after a task
    /// contains only tasks of the job, so these spans limit the end of the job.
    pub fn alone(&self, instance: &Instance, id: JobId) -> Vec<TaskSpan> {
        let (job, mut spans) = (instance.job(id), self.of_job(instance, id).to_vec());
        let at = |task: TaskId| (task.0 - job.first().0) as usize;
        for task in instance.order(id).rev() {
            let behind = instance.outgoing(task).filter(|edge| job.has_task(edge.to)).map(|edge| &spans[at(edge.to)]);
            spans[at(task)].tail = behind.map(|span| span.fastest + span.tail).max().unwrap_or(0);
        }
        spans
    }

    /// Returns a lower bound on the end of a job: the end of its longest path.
    pub fn completion(&self, instance: &Instance, id: JobId) -> i128 {
        self.of_job(instance, id).iter().map(|span| span.head + span.fastest).max().unwrap_or(0)
    }
}

/// Computes the times of tasks on the nodes with processors.
pub(super) struct NodeTimes<'a> {
    pub(super) instance: &'a Instance,
    /// The nodes with processors, each with one of its processors.
    pub(super) nodes: Vec<(usize, ProcSet)>,
}

impl<'a> NodeTimes<'a> {
    pub(super) fn new(instance: &'a Instance) -> Self {
        let platform = instance.platform();
        let computing = (0..platform.nodes().len()).filter(|&node| platform.nodes()[node].processors > 0);
        let one = |node: usize| platform.processors_of(node).iter().next().map(|id| (node, ProcSet::range(id, id)));
        Self { instance, nodes: computing.filter_map(one).collect() }
    }

    /// Returns the time of a task on one processor, or `None` if the task cannot run on this processor.
    pub(super) fn on(&self, task: TaskId, processor: &ProcSet) -> Option<i128> {
        Some(i128::from(self.instance.try_time(task, processor)?.ticks()))
    }

    /// Returns the maximum time of a task that may hold several processors, over all sets of processors.
    pub(super) fn slowest(&self, task: TaskId) -> Time {
        let slowest = self.instance.profile(task).slowest();
        let each = self.nodes.iter().map(|(_, processor)| self.instance.platform().slowed(slowest, processor));
        each.max().unwrap_or(slowest)
    }
}
