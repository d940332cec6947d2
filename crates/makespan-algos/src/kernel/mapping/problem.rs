//! The mapping problem: the times of tasks on machines, and the ready times of the machines.

use makespan_core::{Profile, Time};

use crate::kernel::index_type;

index_type! {
    /// The index of a machine among the machines of a [`MappingProblem`]. Tasks are numbered separately, by plain
    /// indices.
    MachineId
}

/// The time of every task on every machine, or [`Profile::CANNOT_RUN`] if the task cannot run there.
#[derive(Clone, Debug)]
pub struct Times<'a> {
    machines: usize,
    cells: Cells<'a>,
}

#[derive(Clone, Debug)]
enum Cells<'a> {
    /// Borrowed rows, one for each task.
    Rows(Vec<&'a [Time]>),
    /// All rows, task by task.
    Flat(Vec<Time>),
}

impl<'a> Times<'a> {
    /// Returns the times in `rows`. Each task has one row, with one time for each of `machines` machines. The rows are
    /// not copied.
    ///
    /// # Panics
    /// Panics if a row has another length.
    pub fn rows(rows: Vec<&'a [Time]>, machines: usize) -> Self {
        assert!(rows.iter().all(|row| row.len() == machines), "every task has a time on every machine");
        Self { machines, cells: Cells::Rows(rows) }
    }

    /// Returns the times from a flat array, task by task.
    ///
    /// # Panics
    /// Panics if `machines` is zero or the length is not a multiple of `machines`.
    pub fn flat(cells: Vec<Time>, machines: usize) -> Self {
        assert!(machines > 0 && cells.len().is_multiple_of(machines), "every task has a time on every machine");
        Self { machines, cells: Cells::Flat(cells) }
    }

    /// Returns the number of tasks.
    pub fn tasks(&self) -> usize {
        match &self.cells {
            Cells::Rows(rows) => rows.len(),
            Cells::Flat(cells) => cells.len() / self.machines,
        }
    }

    /// Returns the times of a task, machine by machine.
    #[inline]
    pub fn row(&self, task: usize) -> &[Time] {
        match &self.cells {
            Cells::Rows(rows) => rows[task],
            Cells::Flat(cells) => &cells[task * self.machines..(task + 1) * self.machines],
        }
    }
}

/// A mapping problem: the times of the tasks, and the instant from which each machine is ready. Each task can run on
/// at least one machine. As in an instance, the sum of the shortest times of all tasks must be less than half the
/// range of [`Time`].
#[derive(Clone, Debug)]
pub struct MappingProblem<'a> {
    times: Times<'a>,
    ready: Vec<i64>,
}

impl<'a> MappingProblem<'a> {
    /// Returns the problem with these times. `ready` contains, for each machine, the instant in ticks from which it is
    /// free.
    ///
    /// # Panics
    /// Panics if the number of machines differs from the number of columns.
    pub fn new(times: Times<'a>, ready: Vec<i64>) -> Self {
        assert_eq!(times.machines, ready.len(), "every machine has a ready time");
        Self { times, ready }
    }

    /// Returns the number of tasks.
    pub fn tasks(&self) -> usize {
        self.times.tasks()
    }

    /// Returns the number of machines.
    pub fn machines(&self) -> usize {
        self.ready.len()
    }

    /// Returns the machines.
    pub fn machine_ids(&self) -> impl DoubleEndedIterator<Item = MachineId> + Clone + use<> {
        MachineId::first(self.machines())
    }

    /// Returns the times of a task, machine by machine.
    #[inline]
    pub fn row(&self, task: usize) -> &[Time] {
        self.times.row(task)
    }

    /// Returns the time of a task on a machine, in ticks, or [`Profile::CANNOT_RUN`] if the task cannot run there.
    #[inline]
    pub fn time(&self, task: usize, machine: MachineId) -> i64 {
        self.times.row(task)[machine.index()].ticks()
    }

    /// Returns, for each machine, the instant in ticks from which it is free.
    pub fn ready(&self) -> &[i64] {
        &self.ready
    }

    /// Returns, for each machine, the instant in ticks at which it completes all its tasks in the mapping.
    pub fn completions(&self, mapping: &[MachineId]) -> Vec<i64> {
        let mut completions = self.ready.clone();
        for (task, &machine) in mapping.iter().enumerate() {
            let completion = &mut completions[machine.index()];
            *completion = completion.saturating_add(self.time(task, machine));
        }
        completions
    }

    /// Returns the end of the last task, in ticks. Machines without tasks are ignored.
    pub fn makespan(&self, mapping: &[MachineId]) -> i64 {
        let completions = self.completions(mapping);
        mapping.iter().map(|machine| completions[machine.index()]).max().unwrap_or(0)
    }

    /// Returns the machine on which a task completes first, and the completion.
    #[inline]
    pub fn earliest(&self, task: usize, ready: &[i64]) -> (MachineId, i64) {
        let mut best = (MachineId(0), i64::MAX);
        for (machine, (&ready, &time)) in ready.iter().zip(self.row(task)).enumerate() {
            let completion = ready + time.ticks();
            if completion < best.1 {
                best = (MachineId::at(machine), completion);
            }
        }
        best
    }

    /// Maps each task to the machine on which it completes first, in the order `order`, which must contain all tasks.
    pub fn in_order(&self, order: impl IntoIterator<Item = usize>) -> Vec<MachineId> {
        let mut ready = self.ready.clone();
        let mut mapping = vec![MachineId(0); self.tasks()];
        for task in order {
            let (machine, completion) = self.earliest(task, &ready);
            ready[machine.index()] = completion;
            mapping[task] = machine;
        }
        mapping
    }

    /// Returns the shortest time of a task over all machines.
    pub fn shortest(&self, task: usize) -> Time {
        self.row(task).iter().copied().min().unwrap_or_default()
    }

    /// Returns whether the task can run on the machine.
    #[inline]
    pub fn can_run(&self, task: usize, machine: MachineId) -> bool {
        self.time(task, machine) < Profile::CANNOT_RUN.ticks()
    }
}

/// Converts a time to a cell of [`Times`]. `None` means that the task cannot run on the machine.
pub fn task_time(time: Option<Time>) -> Time {
    time.unwrap_or(Profile::CANNOT_RUN)
}
