//! An instance in flat arrays, indexed by task.

use std::ops::Range;

use makespan_core::{Instance, JobId, TaskId};

use crate::free_time::Skyline;
use crate::kernel::choices::Choice;
use crate::kernel::packing::Packing;

/// Maximum number of tasks, and of edges between tasks. In larger instances, a single change would take too long.
const MAX_TASKS: u64 = 20_000;
const MAX_EDGES: usize = 2_000_000;

/// An instance in flat arrays that searches can read fast. Only the order of the tasks and their numbers of processors
/// matter. Tasks have the indices that they have in the instance. Each task of a bag has its own index. Times are in
/// ticks.
#[derive(Clone, Debug)]
pub struct MoldableProblem<'a> {
    instance: &'a Instance,
    choices: Vec<Choice>,
    /// The allotments of each task, by increasing number of processors and decreasing time.
    choices_of: Vec<Range<u32>>,
    before: Neighbours,
    behind: Neighbours,
    order: Vec<u32>,
    releases: Vec<i64>,
    job_of: Vec<JobId>,
    is_open: bool,
    is_reversed: bool,
}

/// The predecessors of each task, or the successors of each task.
#[derive(Clone, Debug, Default)]
struct Neighbours {
    begins: Vec<u32>,
    tasks: Vec<u32>,
}

impl Neighbours {
    fn new(tasks: usize, edges: &[(u32, u32)]) -> Self {
        let mut begins = vec![0; tasks + 1];
        edges.iter().for_each(|edge| begins[edge.0 as usize + 1] += 1);
        (0..tasks).for_each(|task| begins[task + 1] += begins[task]);
        let mut next = begins.clone();
        let mut neighbours = vec![0; edges.len()];
        for &(at, other) in edges {
            neighbours[next[at as usize] as usize] = other;
            next[at as usize] += 1;
        }
        Self { begins, tasks: neighbours }
    }

    #[inline]
    fn of(&self, task: u32) -> &[u32] {
        &self.tasks[self.begins[task as usize] as usize..self.begins[task as usize + 1] as usize]
    }
}

impl<'a> MoldableProblem<'a> {
    /// Returns the problem of a packing. The allotments keep their positions. Returns `None` if tasks depend on more
    /// than the number of processors, for example on speeds or resources. Also returns `None` for more than 20,000
    /// tasks or edges.
    pub fn new(packing: &Packing<'a>) -> Option<Self> {
        let instance = packing.instance();
        let counted = instance.has_equal_processors() && !instance.has_demands() && !instance.has_transfers();
        if !counted || instance.tasks() > MAX_TASKS || Skyline::is_too_large(instance) {
            return None;
        }
        let tasks = instance.tasks() as usize;
        let edges = edges(instance)?;
        let turned: Vec<(u32, u32)> = edges.iter().map(|&(from, to)| (to, from)).collect();
        let rows: Vec<_> = instance.task_ids().map(|task| packing.row_of(task)).collect();
        let choices = packing.rows().flat_map(|row| packing.choices_of(row)).map(|choice| packing.choice(choice));
        let equal = |task: TaskId| instance.equal_tasks(task).map(|task| task.0 as u32);
        Some(Self {
            instance,
            choices: choices.collect(),
            choices_of: rows.iter().map(|&row| packing.choices_of(row)).collect(),
            before: Neighbours::new(tasks, &turned),
            behind: Neighbours::new(tasks, &edges),
            order: instance.in_order().flat_map(equal).collect(),
            releases: rows.iter().map(|&row| packing.release_of(row)).collect(),
            job_of: rows.iter().map(|&row| packing.job_of(row)).collect(),
            is_open: instance.availability().is_always_open() && !instance.platform().restricts_placement(),
            is_reversed: false,
        })
    }

    /// Returns the problem with time reversed, so that predecessors become successors. The instant `x` ticks after the
    /// first release then represents the instant `x` ticks before the end. Returns `None` if there are release dates
    /// or closed processors, because they cannot be reversed.
    pub fn reversed(&self) -> Option<Self> {
        let alike = self.releases.iter().all(|&release| release == self.releases[0]);
        if !self.is_open || !alike {
            return None;
        }
        let (before, behind) = (self.behind.clone(), self.before.clone());
        let order = self.order.iter().rev().copied().collect();
        Some(Self { before, behind, order, is_reversed: !self.is_reversed, ..self.clone() })
    }

    /// Returns the instance.
    pub fn instance(&self) -> &'a Instance {
        self.instance
    }

    /// Returns the number of tasks.
    pub fn tasks(&self) -> usize {
        self.releases.len()
    }

    /// Returns whether all processors are interchangeable and always open.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns whether time is reversed.
    pub fn is_reversed(&self) -> bool {
        self.is_reversed
    }

    /// Returns the first release.
    pub fn origin(&self) -> i64 {
        self.instance.first_release().ticks()
    }

    /// Returns an allotment and its time.
    #[inline]
    pub fn choice(&self, choice: u32) -> Choice {
        self.choices[choice as usize]
    }

    /// Returns the indices of the allotments of a task.
    #[inline]
    pub fn choices_of(&self, task: u32) -> Range<u32> {
        self.choices_of[task as usize].clone()
    }

    /// Returns all allotments of a task.
    pub fn all_choices_of(&self, task: u32) -> &[Choice] {
        let Range { start, end } = self.choices_of(task);
        &self.choices[start as usize..end as usize]
    }

    /// Returns the largest allotment of at most `processors` processors. If there is none, returns the smallest
    /// allotment.
    pub fn at_most(&self, task: u32, processors: u32) -> u32 {
        let above = self.all_choices_of(task).partition_point(|choice| choice.processors <= processors);
        self.choices_of(task).start + above.saturating_sub(1) as u32
    }

    /// Returns the smallest allotment of at least `processors` processors. If there is none, returns the largest
    /// allotment.
    pub fn at_least(&self, task: u32, processors: u32) -> u32 {
        let choices = self.all_choices_of(task);
        let below = choices.partition_point(|choice| choice.processors < processors);
        self.choices_of(task).start + below.min(choices.len() - 1) as u32
    }

    /// Returns the predecessors of a task.
    #[inline]
    pub fn before(&self, task: u32) -> &[u32] {
        self.before.of(task)
    }

    /// Returns the successors of a task.
    #[inline]
    pub fn behind(&self, task: u32) -> &[u32] {
        self.behind.of(task)
    }

    /// Returns the tasks in topological order.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Returns the earliest start of a task.
    #[inline]
    pub fn release(&self, task: u32) -> i64 {
        self.releases[task as usize]
    }

    /// Returns the job of a task.
    pub fn job_of(&self, task: u32) -> JobId {
        self.job_of[task as usize]
    }
}

/// Returns each edge between two tasks once. An edge of a bag becomes one edge for each task of the bag.
fn edges(instance: &Instance) -> Option<Vec<(u32, u32)>> {
    let count = |task: TaskId| instance.equal_tasks(task).len();
    let each = instance.edges().iter().map(|edge| count(edge.from).saturating_mul(count(edge.to)));
    if each.fold(0, usize::saturating_add) > MAX_EDGES {
        return None;
    }
    let between = instance.edges().iter().flat_map(|edge| {
        let to = || instance.equal_tasks(edge.to).map(|task| task.0 as u32);
        instance.equal_tasks(edge.from).flat_map(move |from| to().map(move |to| (from.0 as u32, to)))
    });
    let mut edges: Vec<(u32, u32)> = between.collect();
    edges.sort_unstable();
    edges.dedup();
    Some(edges)
}
