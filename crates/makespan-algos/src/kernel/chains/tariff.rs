//! The prices of processors and the budgets of jobs.

use std::collections::BTreeMap;

use makespan_core::{Instance, JobId, ProcSet, TaskId, Time, task_cost, volume};

use crate::kernel::graph::{GraphProblem, NEVER, NodeId};

/// The prices that owners demand for their processors, and the budgets of jobs. A task with the cost C on a processor
/// with the price P is charged C P. Costs, charges and budgets are in thousandths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tariff {
    /// The price of each processor in thousandths.
    prices: Vec<u32>,
    budgets: BTreeMap<JobId, i64>,
}

/// The price of a processor without a stated price.
const USUAL: u32 = 1000;

impl Tariff {
    /// Returns a tariff with the price of each processor in thousandths, and with the budgets of some jobs. Other jobs
    /// have no limit.
    pub fn new(prices: Vec<u32>, budgets: BTreeMap<JobId, i64>) -> Self {
        Self { prices, budgets }
    }

    /// Returns the budget of a job, or `None` if the job has no limit.
    pub fn budget(&self, job: JobId) -> Option<i64> {
        self.budgets.get(&job).copied()
    }

    /// Returns the price of a processor in thousandths.
    pub fn price(&self, processor: usize) -> u32 {
        self.prices.get(processor).copied().unwrap_or(USUAL)
    }

    /// Returns the charge for a task with the cost `cost` on a processor, rounded up.
    pub fn charge(&self, cost: i64, processor: usize) -> i64 {
        let charge = i128::from(cost) * i128::from(self.price(processor));
        i64::try_from((charge + i128::from(USUAL) - 1) / i128::from(USUAL)).unwrap_or(i64::MAX)
    }

    /// Returns the charge for a task that reserves these processors for its estimated time.
    pub fn charge_of(&self, instance: &Instance, task: TaskId, processors: &ProcSet) -> i64 {
        let cost = task_cost(volume(instance.profile(task)), instance.time(task, processors));
        processors.last().map_or(0, |last| self.charge(cost, last as usize))
    }
}

/// The part of a budget that may be spent in addition to the least charges of all remaining tasks of a job.
#[derive(Clone, Debug)]
pub struct Purse {
    nodes: usize,
    /// The charge for each task on each node. [`NEVER`] if the task cannot run there.
    charges: Vec<i64>,
    /// The least charge of each task.
    least: Vec<i64>,
    spare: i64,
}

impl Purse {
    /// Returns the purse for the tasks `left` of an instance of one job. `budget` is the amount that may be spent on
    /// these tasks.
    pub fn new(instance: &Instance, problem: &GraphProblem, tariff: &Tariff, budget: i64, left: &[u32]) -> Self {
        let nodes = problem.nodes();
        let mut charges = Vec::with_capacity(nodes * problem.tasks());
        for task in 0..problem.tasks() as u32 {
            let volume = volume(instance.profile_at(JobId(0), task));
            for node in problem.node_ids() {
                let time = problem.time(task, node);
                let cost = || task_cost(volume, Time::from_ticks(time));
                charges.push(if time == NEVER { NEVER } else { tariff.charge(cost(), problem.first_of(node).index()) });
            }
        }
        let least: Vec<i64> = charges.chunks(nodes.max(1)).map(|own| own.iter().copied().min().unwrap_or(0)).collect();
        let needed: i64 = left.iter().map(|&task| least[task as usize]).fold(0, i64::saturating_add);
        Self { nodes, charges, least, spare: budget.saturating_sub(needed) }
    }

    /// Returns whether the least charges of all remaining tasks exceed the budget.
    pub fn is_empty(&self) -> bool {
        self.spare < 0
    }

    /// Returns the charge for a task on a node in addition to the least charge of the task.
    fn extra(&self, task: u32, node: NodeId) -> i64 {
        self.charges[task as usize * self.nodes + node.index()].saturating_sub(self.least[task as usize])
    }

    /// Returns by how much the charge for a task on a node exceeds the purse, or zero if the job can afford the node.
    pub fn excess(&self, task: u32, node: NodeId) -> i64 {
        (self.extra(task, node) - self.spare.max(0)).max(0)
    }

    /// Pays for a task on a node.
    pub fn pay(&mut self, task: u32, node: NodeId) {
        self.spare -= self.extra(task, node);
    }
}
