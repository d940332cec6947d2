//! Tasks, machines, and what the machines have to do already.

use makespan_core::{Profile, Time};

use crate::kernel::index_type;

index_type! {
    /// A machine, by its number among those of a [`MappingProblem`]. Tasks are numbered on their own, by plain indices.
    MachineId
}

/// The time of every task on every machine; [`Profile::CANNOT_RUN`] where it cannot run.
#[derive(Clone, Debug)]
pub struct Times<'a> {
    machines: usize,
    cells: Cells<'a>,
}

#[derive(Clone, Debug)]
enum Cells<'a> {
    /// A row a task, somewhere else.
    Rows(Vec<&'a [Time]>),
    /// All rows, task by task.
    Flat(Vec<Time>),
}

impl<'a> Times<'a> {
    /// From rows of `machines` times, a row a task, which are not copied.
    ///
    /// # Panics
    /// When a row has another length.
    pub fn rows(rows: Vec<&'a [Time]>, machines: usize) -> Self {
        assert!(rows.iter().all(|row| row.len() == machines), "every task has a time on every machine");
        Self { machines, cells: Cells::Rows(rows) }
    }

    /// From all times, task by task.
    ///
    /// # Panics
    /// When their number is no multiple of `machines`, of which there is at least one.
    pub fn flat(cells: Vec<Time>, machines: usize) -> Self {
        assert!(machines > 0 && cells.len().is_multiple_of(machines), "every task has a time on every machine");
        Self { machines, cells: Cells::Flat(cells) }
    }

    /// How many tasks.
    pub fn tasks(&self) -> usize {
        match &self.cells {
            Cells::Rows(rows) => rows.len(),
            Cells::Flat(cells) => cells.len() / self.machines,
        }
    }

    /// The times of a task, machine by machine.
    #[inline]
    pub fn row(&self, task: usize) -> &[Time] {
        match &self.cells {
            Cells::Rows(rows) => rows[task],
            Cells::Flat(cells) => &cells[task * self.machines..(task + 1) * self.machines],
        }
    }
}

/// What is mapped: the times, and from when on each machine is ready.
///
/// Every task can run on some machine, and no sum of times that a sensible mapping makes reaches half the range of
/// [`Time`], as in an instance.
#[derive(Clone, Debug)]
pub struct MappingProblem<'a> {
    times: Times<'a>,
    ready: Vec<i64>,
}

impl<'a> MappingProblem<'a> {
    /// From the times and, for each machine, the instant in ticks from which it is free.
    ///
    /// # Panics
    /// When there are not as many machines as columns.
    pub fn new(times: Times<'a>, ready: Vec<i64>) -> Self {
        assert_eq!(times.machines, ready.len(), "every machine has a ready time");
        Self { times, ready }
    }

    /// How many tasks.
    pub fn tasks(&self) -> usize {
        self.times.tasks()
    }

    /// How many machines.
    pub fn machines(&self) -> usize {
        self.ready.len()
    }

    /// The machines.
    pub fn machine_ids(&self) -> impl DoubleEndedIterator<Item = MachineId> + Clone + use<> {
        MachineId::first(self.machines())
    }

    /// The times of a task, machine by machine.
    #[inline]
    pub fn row(&self, task: usize) -> &[Time] {
        self.times.row(task)
    }

    /// The time of a task on a machine, in ticks; [`Profile::CANNOT_RUN`] where it cannot run.
    #[inline]
    pub fn time(&self, task: usize, machine: MachineId) -> i64 {
        self.times.row(task)[machine.index()].ticks()
    }

    /// For each machine the instant in ticks from which it is free.
    pub fn ready(&self) -> &[i64] {
        &self.ready
    }

    /// When each machine has finished all that the mapping gives it, in ticks.
    pub fn completions(&self, mapping: &[MachineId]) -> Vec<i64> {
        let mut completions = self.ready.clone();
        for (task, &machine) in mapping.iter().enumerate() {
            let completion = &mut completions[machine.index()];
            *completion = completion.saturating_add(self.time(task, machine));
        }
        completions
    }

    /// When the last task ends, in ticks. A machine that is given nothing does not count.
    pub fn makespan(&self, mapping: &[MachineId]) -> i64 {
        let completions = self.completions(mapping);
        mapping.iter().map(|machine| completions[machine.index()]).max().unwrap_or(0)
    }

    /// The machine on which the task is complete first, and when.
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

    /// Each task in this order, which has all of them once, to the machine on which it is complete first.
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

    /// The shortest time of a task on any machine.
    pub fn shortest(&self, task: usize) -> Time {
        self.row(task).iter().copied().min().unwrap_or_default()
    }

    /// Whether the task can run on the machine.
    #[inline]
    pub fn can_run(&self, task: usize, machine: MachineId) -> bool {
        self.time(task, machine) < Profile::CANNOT_RUN.ticks()
    }
}

/// The time of a task that the instance may forbid, as a cell of [`Times`].
pub fn task_time(time: Option<Time>) -> Time {
    time.unwrap_or(Profile::CANNOT_RUN)
}
