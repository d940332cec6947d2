//! The tasks of each machine, updated when tasks move.

use super::MachineId;

/// The tasks of each machine, in no particular order, and the position of each task in the list of its machine.
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

    /// Adds a task, which no machine has, to a machine.
    pub fn add(&mut self, task: usize, machine: MachineId) {
        let members = &mut self.of[machine.index()];
        self.position[task] = members.len() as u32;
        members.push(task as u32);
    }

    /// Moves a task from one machine to another. O(1).
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
