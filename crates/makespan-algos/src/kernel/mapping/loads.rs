//! A mapping that changes, with what each machine has to do.

use super::Problem;

/// A mapping with the completions of its machines and the tasks of each, kept while tasks move.
#[derive(Clone, Debug)]
pub struct Loads {
    machine_of: Vec<u32>,
    completions: Vec<i64>,
    tasks_of: Vec<Vec<u32>>,
    /// The position of each task among those of its machine.
    position: Vec<u32>,
}

impl Loads {
    /// Of this mapping.
    pub fn new(problem: &Problem<'_>, mapping: Vec<u32>) -> Self {
        let completions = problem.completions(&mapping);
        let mut tasks_of = vec![Vec::new(); problem.machines()];
        let mut position = vec![0; mapping.len()];
        for (task, &machine) in mapping.iter().enumerate() {
            let tasks = &mut tasks_of[machine as usize];
            position[task] = tasks.len() as u32;
            tasks.push(task as u32);
        }
        Self { machine_of: mapping, completions, tasks_of, position }
    }

    /// The machine of each task.
    pub fn mapping(&self) -> &[u32] {
        &self.machine_of
    }

    /// The mapping alone.
    pub fn into_mapping(self) -> Vec<u32> {
        self.machine_of
    }

    /// When each machine is done.
    pub fn completions(&self) -> &[i64] {
        &self.completions
    }

    /// The tasks of a machine, in no order.
    pub fn tasks_of(&self, machine: usize) -> &[u32] {
        &self.tasks_of[machine]
    }

    /// The machine with tasks that is done last, and when; the first of several. Without tasks machine 0.
    pub fn last(&self) -> (usize, i64) {
        let mut last = (0, i64::MIN);
        for (machine, &completion) in self.completions.iter().enumerate() {
            if completion > last.1 && !self.tasks_of[machine].is_empty() {
                last = (machine, completion);
            }
        }
        last
    }

    /// Gives a task to another machine.
    pub fn give(&mut self, problem: &Problem<'_>, task: usize, to: usize) {
        let from = self.machine_of[task] as usize;
        if from == to {
            return;
        }
        self.completions[from] -= problem.time(task, from);
        self.completions[to] += problem.time(task, to);
        let at = self.position[task] as usize;
        self.tasks_of[from].swap_remove(at);
        if let Some(&moved) = self.tasks_of[from].get(at) {
            self.position[moved as usize] = at as u32;
        }
        self.position[task] = self.tasks_of[to].len() as u32;
        self.tasks_of[to].push(task as u32);
        self.machine_of[task] = to as u32;
    }
}
