//! For each task, its choices of an allotment and nodes ([`NodeRun`]).

use makespan_core::{Instance, ResourceId, ResourceKind, TaskId};

use crate::proof::{NodeKinds, NodeRun};

/// The choices for each distinct task.
pub(super) struct Runs<'a> {
    pub(super) places: NodeKinds<'a>,
    begins: Vec<usize>,
    all: Vec<NodeRun>,
    /// The minimum time of each distinct task, or `None` if the task has no choice.
    fastest: Vec<Option<i128>>,
    pub(super) tasks: Vec<TaskId>,
    pub(super) counts: Vec<u64>,
}

impl<'a> Runs<'a> {
    /// Collects the choices for all tasks. Omits a choice if it uses up so much of a consumable that too little remains
    /// for the minimum needs of the other tasks.
    pub(super) fn new(instance: &'a Instance) -> Self {
        let places = NodeKinds::new(instance);
        let (mut begins, mut runs, mut tasks, mut counts) = (vec![0], Vec::new(), Vec::new(), Vec::new());
        for job in instance.jobs() {
            for task in job.different_task_ids() {
                places.each(task, |run| runs.push(run.clone()));
                begins.push(runs.len());
                tasks.push(task);
                counts.push(job.equal_tasks());
            }
        }
        let mut every = Self { places, begins, all: runs, fastest: Vec::new(), tasks, counts };
        for (at, resource) in instance.platform().resources().iter().enumerate() {
            if resource.kind == ResourceKind::Consumable {
                every.without_too_much(instance, ResourceId(at as u16));
            }
        }
        every.fastest = (0..every.tasks.len()).map(|row| every.of(row).iter().map(|run| run.time).min()).collect();
        every
    }

    fn without_too_much(&mut self, instance: &Instance, resource: ResourceId) {
        let need = |task: TaskId, run: &NodeRun| -> u128 {
            let demand = instance.demands(task).iter().find(|demand| demand.resource == resource);
            demand.map_or(0, |demand| run.least(&demand.need).into())
        };
        let least = |row: usize| self.of(row).iter().map(|run| need(self.tasks[row], run)).min().unwrap_or(0);
        let least: Vec<u128> = (0..self.tasks.len()).map(least).collect();
        let all = least.iter().zip(&self.counts).map(|(least, &count)| least.saturating_mul(count.into()));
        let all = all.fold(0_u128, u128::saturating_add);
        let left = instance.platform().total(resource).saturating_sub(all);
        let (mut begins, mut runs) = (vec![0], Vec::with_capacity(self.all.len()));
        for (row, least) in least.iter().enumerate() {
            let fits = |run: &&NodeRun| need(self.tasks[row], run) - least <= left;
            runs.extend(self.of(row).iter().filter(fits).cloned());
            begins.push(runs.len());
        }
        (self.begins, self.all) = (begins, runs);
    }

    pub(super) fn of(&self, row: usize) -> &[NodeRun] {
        &self.all[self.begins[row]..self.begins[row + 1]]
    }

    /// Returns the minimum time of a task, or `None` if the task has no choice.
    pub(super) fn fastest(&self, row: usize) -> Option<i128> {
        self.fastest[row]
    }

    /// If a task has only one choice, and this choice has only one allotment, returns the time of the task. Otherwise,
    /// returns `None`.
    ///
    /// A dominated allotment has more processors than another allotment, but is not faster. If a task needs no other
    /// resources, its dominated allotments are not among its choices. On fewer of these processors, the task could
    /// start at the same instant and would end no later.
    pub(super) fn only(&self, row: usize) -> Option<i128> {
        match self.of(row) {
            [run] if run.first == run.last => Some(run.time),
            _ => None,
        }
    }
}
