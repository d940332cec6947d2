//! Which tasks each machine has, kept while tasks move.

/// The tasks of each machine, in no order, with the position of each task among them.
#[derive(Clone, Debug)]
pub struct Members {
    of: Vec<Vec<u32>>,
    position: Vec<u32>,
}

impl Members {
    /// Of machines that have none of so many tasks.
    pub fn new(machines: usize, tasks: usize) -> Self {
        Self { of: vec![Vec::new(); machines], position: vec![0; tasks] }
    }

    /// The tasks of a machine.
    #[inline]
    pub fn of(&self, machine: usize) -> &[u32] {
        &self.of[machine]
    }

    /// Gives a machine a task that no machine has.
    pub fn add(&mut self, task: usize, machine: usize) {
        self.position[task] = self.of[machine].len() as u32;
        self.of[machine].push(task as u32);
    }

    /// Gives a task of one machine to another. O(1).
    pub fn shift(&mut self, task: usize, from: usize, to: usize) {
        let at = self.position[task] as usize;
        self.of[from].swap_remove(at);
        if let Some(&moved) = self.of[from].get(at) {
            self.position[moved as usize] = at as u32;
        }
        self.add(task, to);
    }
}
