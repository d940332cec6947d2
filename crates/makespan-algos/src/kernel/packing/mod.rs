//! Tasks on one or several processors that may wait for each other and need more than processors, on nodes that may differ:
//! lists forward in time, and by insertion into gaps.
//!
//! What an instance is, whatever the list, is a [`Packing`] in flat arrays. A [`Packer`] carries out lists one after the other
//! and allocates nothing for them once its arrays have grown; so does an [`Inserter`], which may leave processors idle for a task that
//! comes earlier in the list.

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

pub use afford::Affordable;
pub(crate) use fit::{Rooms, Wanted};
pub(crate) use insertion::Begun;
pub use insertion::{Inserter, Site, Sites};
pub(crate) use machines::Machines;
pub use packer::Packer;
pub(crate) use state::{Part, State};

index_type! {
    /// One of the different tasks of an instance; a bag has one.
    Row
}

/// A task with one of its choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The task.
    pub task: TaskId,
    /// The position of its allotment among all choices of the instance.
    pub choice: u32,
}

/// An instance, or what all lists of it share.
#[derive(Debug)]
pub struct Packing<'a> {
    instance: &'a Instance,
    machines: Machines,
    rows: Vec<Task>,
    /// For each row where its choices begin; one more than rows.
    begins: Vec<u32>,
    choices: Vec<Choice>,
    /// For each choice its time on the fastest processors, and that times its share of what is scarcest.
    fastest: Vec<i64>,
    areas: Vec<f64>,
    /// Rows, each after all that it waits for.
    order: Vec<Row>,
    /// Whether data may take time between nodes.
    has_transfers: bool,
}

/// What is the same for all equal tasks.
#[derive(Clone, Copy, Debug)]
struct Task {
    /// The first of them.
    first: TaskId,
    count: u32,
    job: JobId,
    release: i64,
    walltime: i64,
    /// Whether times are its own on each machine.
    own_times: bool,
    /// How many tasks it waits for, all those of bags counted.
    waits: u64,
}

impl<'a> Packing<'a> {
    /// All tasks, with every allotment for which an empty platform has room, thinned out where there are hundreds.
    ///
    /// # Errors
    /// A task for which no allotment has room within its walltime.
    pub fn new(instance: &'a Instance) -> Result<Self, TaskId> {
        let machines = Machines::new(instance);
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

    /// The instance.
    pub fn instance(&self) -> &'a Instance {
        self.instance
    }

    /// What it runs on.
    pub(crate) fn machines(&self) -> &Machines {
        &self.machines
    }

    /// Whether data may take time between nodes.
    pub(crate) fn has_transfers(&self) -> bool {
        self.has_transfers
    }

    /// How long data travel between nodes; none where they take no time.
    pub fn transfers(&self) -> Option<&TransferTimes> {
        self.machines.transfers.as_ref()
    }

    /// How many different tasks there are.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = Row> + ExactSizeIterator + Clone + use<> {
        Row::first(self.rows.len())
    }

    /// Rows, each after all that it waits for.
    pub fn order(&self) -> &[Row] {
        &self.order
    }

    /// The row of a task.
    pub fn row_of(&self, task: TaskId) -> Row {
        Row::at(self.instance.different(task))
    }

    /// The positions of the choices of a row among all, by rising processors.
    pub fn choices_of(&self, row: Row) -> std::ops::Range<u32> {
        self.begins[row.index()]..self.begins[row.index() + 1]
    }

    /// An allotment, with its time at speed 1.
    pub fn choice(&self, choice: u32) -> Choice {
        self.choices[choice as usize]
    }

    /// The first task of a row; the equal ones follow.
    pub fn first_of(&self, row: Row) -> TaskId {
        self.rows[row.index()].first
    }

    /// How many equal tasks a row has.
    pub fn count_of(&self, row: Row) -> u32 {
        self.rows[row.index()].count
    }

    /// The job of a row.
    pub fn job_of(&self, row: Row) -> JobId {
        self.rows[row.index()].job
    }

    /// When the tasks of a row are released, in ticks.
    pub fn release_of(&self, row: Row) -> i64 {
        self.rows[row.index()].release
    }

    /// What the tasks of a row need.
    pub fn demands_of(&self, row: Row) -> &'a [Demand] {
        self.instance.demands(self.first_of(row))
    }

    /// The time of a choice on the fastest processors.
    pub fn fastest(&self, choice: u32) -> i64 {
        self.fastest[choice as usize]
    }

    /// The share of the scarcest resource, processors among them, that a choice takes of the platform, times its time.
    pub fn area(&self, choice: u32) -> f64 {
        self.areas[choice as usize]
    }

    /// What belongs to no node and is used up.
    pub(crate) fn consumables(&self) -> impl Iterator<Item = ResourceId> + '_ {
        let resources = (0..).map(ResourceId).zip(self.instance.platform().resources());
        resources.filter(|(_, resource)| resource.kind == ResourceKind::Consumable).map(|(id, _)| id)
    }
}

/// The largest share of anything on the platform that a task on so many processors holds.
fn share(instance: &Instance, demands: &[Demand], processors: u32) -> f64 {
    let platform = instance.platform();
    let back = demands.iter().filter(|demand| demand.kind != ResourceKind::Consumable);
    let shares =
        back.map(|demand| demand.need.total(processors) as f64 / platform.total(demand.resource).max(1) as f64);
    shares.fold(f64::from(processors) / f64::from(platform.processors()), f64::max)
}

/// All allotments that a profile accepts: one that is no faster than fewer processors may need less of something else.
fn every(profile: &Profile) -> Vec<Choice> {
    let choice = |processors| Choice { processors, time: profile.time(processors).ticks() };
    (profile.min_processors()..=profile.max_processors()).map(choice).collect()
}
