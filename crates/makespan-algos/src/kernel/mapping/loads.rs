//! A mapping that can be changed, with the load of each machine.

use super::members::Members;
use super::{MachineId, MappingProblem};

/// A mapping, with the completion and the tasks of each machine. [`Loads::give`] updates all three.
#[derive(Clone, Debug)]
pub struct Loads {
    machine_of: Vec<MachineId>,
    completions: Vec<i64>,
    members: Members,
}

impl Loads {
    /// Returns the loads for a mapping.
    pub fn new(problem: &MappingProblem<'_>, mapping: Vec<MachineId>) -> Self {
        let completions = problem.completions(&mapping);
        let mut members = Members::new(problem.machines(), mapping.len());
        for (task, &machine) in mapping.iter().enumerate() {
            members.add(task, machine);
        }
        Self { machine_of: mapping, completions, members }
    }

    /// Returns the machine of each task.
    pub fn mapping(&self) -> &[MachineId] {
        &self.machine_of
    }

    /// Returns the mapping.
    pub fn into_mapping(self) -> Vec<MachineId> {
        self.machine_of
    }

    /// Returns the completion of each machine.
    pub fn completions(&self) -> &[i64] {
        &self.completions
    }

    /// Returns the tasks of a machine, in no particular order.
    pub fn tasks_of(&self, machine: MachineId) -> &[u32] {
        self.members.of(machine)
    }

    /// Returns the machine that completes last, and its completion. Only machines with tasks are considered. Among
    /// equal completions, the first machine is returned. Without tasks, returns machine 0.
    pub fn last(&self) -> (MachineId, i64) {
        let mut last = (MachineId(0), i64::MIN);
        for (machine, &completion) in MachineId::first(self.completions.len()).zip(&self.completions) {
            if completion > last.1 && !self.members.of(machine).is_empty() {
                last = (machine, completion);
            }
        }
        last
    }

    /// Moves a task to another machine.
    pub fn give(&mut self, problem: &MappingProblem<'_>, task: usize, to: MachineId) {
        let from = self.machine_of[task];
        if from == to {
            return;
        }
        self.completions[from.index()] -= problem.time(task, from);
        self.completions[to.index()] += problem.time(task, to);
        self.members.shift(task, from, to);
        self.machine_of[task] = to;
    }
}
