//! The tasks of each machine, for searches that move tasks.

use super::MachineId;

/// For each machine, its tasks in no particular order. For each task, its position among the tasks of its machine.
#[derive(Clone, Debug)]
pub struct Members {
    of: Vec<Vec<u32>>,
    position: Vec<u32>,
}

impl Members {
    /// Returns machines without tasks, for up to `tasks` tasks.
    pub fn new(machines: usize, tasks: usize) -> Self {
        Self { of: vec![Vec::new(); machines], position: vec![0; tasks] }
    }

    /// Returns the tasks of a machine.
    #[inline]
    pub fn of(&self, machine: MachineId) -> &[u32] {
        &self.of[machine.index()]
    }

    /// Adds a task to a machine. The task must not be on a machine yet.
    pub fn add(&mut self, task: usize, machine: MachineId) {
        let members = &mut self.of[machine.index()];
        self.position[task] = members.len() as u32;
        members.push(task as u32);
    }

    /// Moves a task from one machine to another. Takes O(1).
    pub fn shift(&mut self, task: usize, from: MachineId, to: MachineId) {
        let at = self.position[task] as usize;
        let members = &mut self.of[from.index()];
        members.swap_remove(at);
        if let Some(&moved) = members.get(at) {
            self.position[moved as usize] = at as u32;
        }
        self.add(task, to);
    }
}
