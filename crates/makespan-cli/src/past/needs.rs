//! Replaces the memory that tasks need by memory learned from the history.

use std::path::Path;

use makespan_core::{
    Estimate, Job, Need, Needs, Platform, Resource, ResourceError, ResourceKind, Resources, Work, counted,
};
use makespan_history::memory::{ExcessRule, LearnedMemory, MemoryPredictor};
use makespan_history::{History, HistoryError};
use miette::{Result, miette};

use super::{Place, RunHistory, TaughtInstance, any_of, give_up, rebuilt};
#[cfg(feature = "service")]
use crate::output::complain;
use crate::summary::bytes;

/// The machines for which memory is learned.
pub struct MemoryRoom {
    /// The machines with all their resources. The platform of a list has no memory if no command states its memory.
    pub machines: Platform,
    /// True if a task without a prediction and without a stated amount holds an equal share of the memory for each of
    /// its processors.
    pub guesses: bool,
    /// The consequence for a task that uses more memory than predicted.
    pub excess: ExcessRule,
}

impl MemoryRoom {
    /// Returns the machines for which memory is learned. A cluster has its own default for jobs that state no memory, so
    /// guesses are made only if the jobs run on this machine. A cluster kills jobs that use more memory than they
    /// requested.
    pub const fn of(machines: Platform, is_here: bool, limits_memory: bool) -> Self {
        let excess = if limits_memory || !is_here { ExcessRule::Kill } else { ExcessRule::Tolerate };
        Self { machines, guesses: is_here, excess }
    }
}

/// The largest node, and the consequence for a task that uses more memory than predicted.
#[derive(Clone, Copy)]
struct LargestNode {
    /// Memory in bytes.
    bytes: u64,
    excess: ExcessRule,
}

/// Number of tasks by the source of their memory.
#[derive(Default)]
struct MemorySources {
    learned: u64,
    /// Smallest and largest number of runs from which the memory of a task was learned.
    runs: Option<(u32, u32)>,
    stated: u64,
    guessed: u64,
    /// Number of tasks with a prediction above the memory of the largest node.
    limited: u64,
}

impl RunHistory {
    /// Replaces the memory of tasks by memory learned from the history. Without a usable history, the memory that tasks
    /// state is kept.
    pub fn teach_memory(&mut self, mut taught: TaughtInstance, room: &MemoryRoom) -> Result<TaughtInstance> {
        let instance = &taught.loaded.instance;
        let platform = with_memory(instance.platform(), room, taught.loaded.has_made_up_names)?;
        let Some((most, share)) = amounts(&platform) else {
            let text = "--memory learned changes nothing, because the machines state no memory";
            taught.loaded.remarks.push(text.to_owned());
            return Ok(taught);
        };
        let share = Some(share).filter(|_| room.guesses);
        let largest = LargestNode { bytes: most, excess: room.excess };
        let (mut jobs, sources, error) = self.learned_memory(instance.all_submitted(), largest);
        if let Some(error) = error {
            give_up(&error);
            self.history = None;
        }
        let sources = guess(&mut jobs, share, sources)?;
        let remark = sources.remark(share);
        taught.loaded = rebuilt(taught.loaded, platform, jobs, remark)?;
        taught.learned = true;
        Ok(taught)
    }

    /// Replaces the memory of the tasks for which the history has peaks. If the history cannot be read, returns the
    /// unchanged jobs and the error.
    fn learned_memory(&self, jobs: Vec<Job>, largest: LargestNode) -> (Vec<Job>, MemorySources, Option<HistoryError>) {
        let Some(history) = &self.history else { return (jobs, MemorySources::default(), None) };
        let mut learned = jobs.clone();
        match self.place.learn_memory(history, &mut learned, largest) {
            Ok(sources) => (learned, sources, None),
            Err(error) => (jobs, MemorySources::default(), Some(error)),
        }
    }
}

#[cfg(feature = "service")]
impl RunHistory {
    /// Replaces the memory of jobs by memory learned from the history. Prints nothing if this succeeds.
    pub(super) fn with_learned_memory(&self, jobs: Vec<Job>, room: &MemoryRoom) -> Vec<Job> {
        let Some((most, share)) = amounts(&room.machines) else { return jobs };
        let largest = LargestNode { bytes: most, excess: room.excess };
        let (mut taught, sources, error) = self.learned_memory(jobs.clone(), largest);
        if let Some(error) = error {
            complain(&format!("note: {error}; continuing without learned memory"));
        }
        let share = Some(share).filter(|_| room.guesses);
        if guess(&mut taught, share, sources).is_ok() { taught } else { jobs }
    }
}

impl Place {
    /// Replaces the memory of the tasks for which the history has peaks.
    fn learn_memory(
        &self,
        history: &History,
        jobs: &mut [Job],
        largest: LargestNode,
    ) -> Result<MemorySources, HistoryError> {
        let LargestNode { bytes: most, excess } = largest;
        let mut predictor = MemoryPredictor::new(history, self.folder.as_str(), excess)?;
        let mut sources = MemorySources::default();
        for job in jobs {
            let bag = if let Work::Bag(_, count) = job.work { Some(count.get()) } else { None };
            for task in job.work.tasks_mut().filter(|task| !task.command.is_empty()) {
                let words = if bag.is_some() { any_of(&task.command) } else { task.command.clone() };
                let command = self.command(&words);
                let inputs = command.input_bytes(Path::new(&self.folder));
                let Some(learned) = predictor.predict(&command, inputs)? else { continue };
                let LearnedMemory { bytes, runs, spread, .. } = learned;
                if let Ok(needs) = with_need(&task.needs, Need::whole(bytes.min(most))) {
                    (task.needs, task.memory_estimate) = (needs, Estimate::Learned { runs, spread });
                    sources.add_learned(bag.unwrap_or(1), runs, bytes > most);
                }
            }
        }
        Ok(sources)
    }
}

impl MemorySources {
    /// Counts tasks with memory that was learned from this number of runs. `exceeds` is true if no node has enough memory.
    fn add_learned(&mut self, tasks: u64, runs: u32, exceeds: bool) {
        let (fewest, most) = self.runs.unwrap_or((runs, runs));
        self.runs = Some((fewest.min(runs), most.max(runs)));
        self.learned += tasks;
        self.limited += if exceeds { tasks } else { 0 };
    }

    /// Describes the sources in one sentence. `share` is the guess for each processor in bytes.
    fn remark(&self, share: Option<u64>) -> String {
        let jobs = |count: u64| counted(count, "job");
        let mut parts = Vec::new();
        if let Some((fewest, most)) = self.runs {
            let runs = if fewest == most { counted(most, "run") } else { format!("{fewest} to {most} runs") };
            parts.push(format!("{} learned from {runs} each", jobs(self.learned)));
        }
        if self.stated > 0 {
            parts.push(format!("{} stated", jobs(self.stated)));
        }
        if let Some(share) = share.filter(|_| self.guessed > 0) {
            parts.push(format!("{} guessed ({} for each core)", jobs(self.guessed), bytes(share)));
        }
        if parts.is_empty() {
            return "no memory is known, and no job states its memory".to_owned();
        }
        let mut text = format!("memory: {}", parts.join(", "));
        if self.limited > 0 {
            text += &format!("; {} may need more memory than the largest node has", jobs(self.limited));
        }
        text
    }
}

/// Returns the platform with memory. A platform of a list has no memory if no command states its memory, and then gets
/// the memory of the machine.
fn with_memory(platform: &Platform, room: &MemoryRoom, is_list: bool) -> Result<Platform> {
    let there = room.machines.kinds().next().map_or(0, |(node, _)| node.resources.amount(Resource::MEMORY));
    let is_single = platform.node_count() == 1 && room.machines.node_count() == 1;
    let (Some((node, _)), true) = (platform.kinds().next(), is_list && is_single && there > 0) else {
        return Ok(platform.clone());
    };
    if platform.resource(Resource::MEMORY).is_some() {
        return Ok(platform.clone());
    }
    let amounts = node.resources.iter().chain([(Resource::MEMORY, there)]);
    let resources = Resources::new(amounts.map(|(name, amount)| (name.to_owned(), amount)));
    let resources = resources.map_err(|error| miette!("{error}"))?;
    platform.clone().with_node_resources(&resources).map_err(|error| miette!("{error}"))
}

/// Returns the memory of the largest node, and the smallest amount of memory for each processor of a node. Returns
/// `None` if nodes state no memory.
fn amounts(platform: &Platform) -> Option<(u64, u64)> {
    let memory = platform.resource(Resource::MEMORY)?;
    if platform.resource_of(memory).kind != ResourceKind::OfNodes {
        return None;
    }
    let nodes = || platform.kinds().map(|(node, _)| (node.resources.amount(Resource::MEMORY), node.processors));
    let most = nodes().map(|(bytes, _)| bytes).max()?;
    let share =
        nodes().filter(|&(_, processors)| processors > 0).map(|(bytes, processors)| bytes / u64::from(processors));
    Some((most, share.min().unwrap_or(0)))
}

/// Returns needs with this need for memory.
fn with_need(needs: &Needs, memory: Need) -> std::result::Result<Needs, ResourceError> {
    let others = needs.iter().filter(|(name, _)| *name != Resource::MEMORY);
    let others = others.map(|(name, need)| (name.to_owned(), need.clone()));
    Needs::new(others.chain([(Resource::MEMORY.to_owned(), memory)]))
}

/// Gives a share of the memory to each command that neither states its memory nor has a prediction, and counts the
/// stated and guessed amounts. Without a share, such a command holds no memory.
fn guess(jobs: &mut [Job], share: Option<u64>, mut sources: MemorySources) -> Result<MemorySources> {
    for job in jobs {
        let tasks = if let Work::Bag(_, count) = job.work { count.get() } else { 1 };
        for task in job.work.tasks_mut() {
            if task.needs.of(Resource::MEMORY).is_some() {
                sources.stated += if task.memory_estimate == Estimate::Stated { tasks } else { 0 };
            } else if let Some(share) = share.filter(|&share| share > 0 && !task.command.is_empty()) {
                task.needs = with_need(&task.needs, Need::per_processor(share)).map_err(|error| miette!("{error}"))?;
                task.memory_estimate = Estimate::Guessed;
                sources.guessed += tasks;
            }
        }
    }
    Ok(sources)
}

#[cfg(test)]
mod tests;
