//! Schedules tasks on nodes. Tasks may use several processors, wait for each other and need resources, and nodes may
//! differ. A list is turned into a schedule, forward in time or by insertion into gaps.
//!
//! A [`Packing`] contains the data of an instance that do not depend on the list, in flat arrays. A [`Packer`]
//! executes lists forward in time. An [`Inserter`] may leave processors idle for a task that comes earlier in the
//! list. Both types execute one list after another. Once their arrays have grown, they allocate no memory.

mod afford;
mod allot;
mod data;
mod fit;
mod insertion;
mod least;
mod levels;
mod machines;
mod packer;
mod ready;
mod schedule;
mod state;
#[cfg(test)]
mod tests;

use makespan_core::{Demand, Instance, JobId, Need, Profile, ResourceId, ResourceKind, TaskId, Time};

use super::choices::{Choice, thinned};
use crate::kernel::graph::TransferTimes;
use crate::kernel::index_type;

pub use afford::AffordableAllotments;
pub(crate) use fit::{NodeRooms, TaskToPlace};
pub(crate) use insertion::RemainingTasks;
pub use insertion::{Inserter, NodeSet, Sites};
pub(crate) use machines::{PackingMachines, ProcessorCell};
pub use packer::Packer;
pub(crate) use state::{HeldPart, PackingState};

index_type! {
    /// The index of a task among the tasks of an instance. The equal tasks of a bag share one index.
    Row
}

/// A task and one of its allotments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListEntry {
    /// The task.
    pub task: TaskId,
    /// The index of the allotment among all allotments of the instance.
    pub choice: u32,
}

/// The data of an instance that all lists share, in flat arrays.
#[derive(Debug)]
pub struct Packing<'a> {
    instance: &'a Instance,
    machines: PackingMachines,
    rows: Vec<Task>,
    /// The index of the first allotment of each row of equal tasks, and finally the number of allotments.
    begins: Vec<u32>,
    choices: Vec<Choice>,
    /// The time of each allotment on the fastest processors.
    fastest: Vec<i64>,
    /// For each allotment, its time on the fastest processors multiplied by its share of the scarcest resource.
    areas: Vec<f64>,
    /// The rows of equal tasks in topological order.
    order: Vec<Row>,
    /// Whether transfers between nodes may take time.
    has_transfers: bool,
}

/// The data that the equal tasks of a row share.
#[derive(Clone, Copy, Debug)]
struct Task {
    /// The first of the equal tasks.
    first: TaskId,
    count: u32,
    job: JobId,
    release: i64,
    walltime: i64,
    /// Whether the task has its own time on each machine.
    own_times: bool,
    /// The number of predecessors. Each task of a bag is counted.
    waits: u64,
}

impl<'a> Packing<'a> {
    /// Returns the packing of an instance. Each task has every allotment that fits on an empty platform. If a task has
    /// hundreds of allotments, only some are kept.
    ///
    /// # Errors
    /// Returns a task that fits on no allotment within its walltime.
    pub fn new(instance: &'a Instance) -> Result<Self, TaskId> {
        let machines = PackingMachines::new(instance);
        let mut packing = Self {
            instance,
            machines,
            rows: Vec::with_capacity(instance.different_tasks()),
            begins: vec![0],
            choices: Vec::new(),
            fastest: Vec::new(),
            areas: Vec::new(),
            order: instance.in_order().map(|task| Row::at(instance.different(task))).collect(),
            has_transfers: instance.has_transfers(),
        };
        for id in instance.ids() {
            let job = instance.job(id);
            for number in 0..job.different_tasks() {
                let first = job.task(number);
                let equal = |edge: &makespan_core::Dependence| instance.equal_tasks(edge.from).len() as u64;
                packing.rows.push(Task {
                    first,
                    count: job.equal_tasks() as u32,
                    job: id,
                    release: job.release.ticks(),
                    walltime: job.walltime.map_or(i64::MAX, Time::ticks),
                    own_times: instance.profile(first).machine_times().is_some(),
                    waits: instance.incoming(first).map(equal).sum(),
                });
                packing.add_choices(first)?;
            }
        }
        Ok(packing)
    }

    fn add_choices(&mut self, task: TaskId) -> Result<(), TaskId> {
        let (profile, demands) = (self.instance.profile(task), self.instance.demands(task));
        let mut choices = if demands.iter().any(|demand| matches!(demand.need, Need::ByAllotment(_))) {
            every(profile)
        } else {
            thinned(profile)
        };
        let row = self.rows[self.rows.len() - 1];
        choices.retain(|choice| self.machines.have_room(self.instance, task, choice.processors));
        if choices.is_empty() {
            return Err(task);
        }
        for choice in choices {
            let fastest = if row.own_times { choice.time } else { self.machines.slowed(choice.time, 0) };
            self.fastest.push(fastest);
            self.areas.push(fastest as f64 * share(self.instance, demands, choice.processors));
            self.choices.push(choice);
        }
        self.begins.push(self.choices.len() as u32);
        Ok(())
    }

    /// Returns the instance.
    pub fn instance(&self) -> &'a Instance {
        self.instance
    }

    /// Returns the machines.
    pub(crate) fn machines(&self) -> &PackingMachines {
        &self.machines
    }

    /// Returns whether transfers between nodes may take time.
    pub(crate) fn has_transfers(&self) -> bool {
        self.has_transfers
    }

    /// Returns the transfer times between nodes, or `None` if transfers take no time.
    pub fn transfers(&self) -> Option<&TransferTimes> {
        self.machines.transfers.as_ref()
    }

    /// Returns all rows. The equal tasks of a bag share one row.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = Row> + ExactSizeIterator + Clone + use<> {
        Row::first(self.rows.len())
    }

    /// Returns the rows of equal tasks in topological order.
    pub fn order(&self) -> &[Row] {
        &self.order
    }

    /// Returns the row of equal tasks that contains a task.
    pub fn row_of(&self, task: TaskId) -> Row {
        Row::at(self.instance.different(task))
    }

    /// Returns the indices of the allotments of a row of equal tasks, by increasing number of processors.
    pub fn choices_of(&self, row: Row) -> std::ops::Range<u32> {
        self.begins[row.index()]..self.begins[row.index() + 1]
    }

    /// Returns an allotment and its time at speed 1.
    pub fn choice(&self, choice: u32) -> Choice {
        self.choices[choice as usize]
    }

    /// Returns the first task of a row of equal tasks. The other tasks of the row have the next indices.
    pub fn first_of(&self, row: Row) -> TaskId {
        self.rows[row.index()].first
    }

    /// Returns the number of equal tasks of a row.
    pub fn count_of(&self, row: Row) -> u32 {
        self.rows[row.index()].count
    }

    /// Returns the job of a row of equal tasks.
    pub fn job_of(&self, row: Row) -> JobId {
        self.rows[row.index()].job
    }

    /// Returns the release of the tasks of a row of equal tasks, in ticks.
    pub fn release_of(&self, row: Row) -> i64 {
        self.rows[row.index()].release
    }

    /// Returns the demands of each task of a row of equal tasks.
    pub fn demands_of(&self, row: Row) -> &'a [Demand] {
        self.instance.demands(self.first_of(row))
    }

    /// Returns the time of an allotment on the fastest processors.
    pub fn fastest(&self, choice: u32) -> i64 {
        self.fastest[choice as usize]
    }

    /// Returns the time of an allotment multiplied by its share of the scarcest resource. Processors are also a
    /// resource here.
    pub fn area(&self, choice: u32) -> f64 {
        self.areas[choice as usize]
    }

    /// Returns the consumables.
    pub(crate) fn consumables(&self) -> impl Iterator<Item = ResourceId> + '_ {
        let resources = (0..).map(ResourceId).zip(self.instance.platform().resources());
        resources.filter(|(_, resource)| resource.kind == ResourceKind::Consumable).map(|(id, _)| id)
    }
}

/// Returns the largest share of a renewable resource that a task on this number of processors holds. Processors are
/// also a resource here.
fn share(instance: &Instance, demands: &[Demand], processors: u32) -> f64 {
    let platform = instance.platform();
    let back = demands.iter().filter(|demand| demand.kind != ResourceKind::Consumable);
    let shares =
        back.map(|demand| demand.need.total(processors) as f64 / platform.total(demand.resource).max(1) as f64);
    shares.fold(f64::from(processors) / f64::from(platform.processors()), f64::max)
}

/// Returns all allotments that a profile accepts, including dominated ones. A larger allotment that is no faster may
/// need less of a resource.
fn every(profile: &Profile) -> Vec<Choice> {
    let choice = |processors| Choice { processors, time: profile.time(processors).ticks() };
    (profile.min_processors()..=profile.max_processors()).map(choice).collect()
}
