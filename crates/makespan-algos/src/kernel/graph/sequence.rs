//! A schedule as an order of the tasks and a processor for each task. After a change, evaluation begins at the first
//! changed position.

use makespan_core::{EndPenalty, FreeTime, Objective};

use super::placing::calendars;
use super::{GraphProblem, NEVER, NodeId, ProcessorId, TaskPlace};
use crate::free_time::Calendar;
use crate::kernel::move_to;

/// A value in place of a processor: the task runs on the processor on which it ends first.
pub const ANY: ProcessorId = ProcessorId(u32::MAX);

/// The value in place of a deadline for a job that has no deadline.
const NO_DUE: i64 = i64::MAX / 4;

/// Maximum number of stored instants at which processors become free.
const MAX_KEPT: usize = 1 << 21;

/// The order and the processors of a sequence.
#[derive(Clone, Debug)]
pub struct SequenceSolution {
    /// The tasks in topological order.
    pub order: Vec<u32>,
    /// The processor of each task, or [`ANY`].
    pub wanted: Vec<ProcessorId>,
}

/// A topological order of the tasks, and a processor or [`ANY`] for each task.
///
/// Each task starts when its data have arrived and its processor has finished the tasks before it in the order. Let S
/// be a schedule. The sequence that sorts the tasks by their starts in S gives a schedule that ends no later than S.
#[derive(Clone, Debug)]
pub struct Sequence<'a> {
    problem: &'a GraphProblem,
    goal: Goal,
    order: Vec<u32>,
    position: Vec<u32>,
    wanted: Vec<ProcessorId>,
    /// The ends and processors of the tasks in the last evaluation.
    present: PlacedTasks,
    /// The ends and processors of the tasks in the last accepted evaluation.
    accepted: PlacedTasks,
    value: f64,
    /// For every position that is a multiple of `stride`, the instant at which each processor becomes free.
    kept: Vec<i64>,
    /// For every position that is a multiple of `stride`, the maximum of [`Goal::pressing`] over the tasks before it.
    latest: Vec<i64>,
    stride: usize,
    free: Vec<i64>,
    closed: Vec<Calendar>,
    job_ends: Vec<i64>,
}

#[derive(Clone, Debug)]
struct PlacedTasks {
    ends: Vec<i64>,
    processors: Vec<ProcessorId>,
}

/// The objective to be minimised.
#[derive(Clone, Debug)]
enum Goal {
    Makespan,
    /// The sum over all jobs of weight times end, plus `price` for each tick of the makespan after `limit`. If there
    /// are dues (deadlines), the tardiness of a job replaces its end.
    Ends {
        weights: Vec<f64>,
        dues: Vec<i64>,
        limit: i64,
        price: f64,
    },
    /// The sum or the maximum over all jobs of weight times penalty, plus `price` for each tick of the makespan after
    /// `limit`.
    Penalties {
        weights: Vec<f64>,
        penalties: Vec<Option<EndPenalty>>,
        is_sum: bool,
        limit: i64,
        price: f64,
    },
    /// The maximum over all jobs of end minus due, plus two for each tick of the makespan after `limit`.
    Latest {
        /// For each task, the longest path after the task within its job, by fastest times, minus the due of the job.
        behind: Vec<i64>,
        limit: i64,
    },
    /// The sum of the tardiness of all jobs.
    Late {
        /// The due of each job.
        dues: Vec<i64>,
        /// For each task, the longest path after the task within its job, by fastest times, minus the due of the job.
        behind: Vec<i64>,
    },
}

impl Goal {
    fn ends(weights: Vec<f64>, limit: i64) -> Self {
        Self::after(weights, Vec::new(), limit)
    }

    /// Returns the goal in which a job costs its weight for each tick from its due to its end.
    fn after(weights: Vec<f64>, dues: Vec<i64>, limit: i64) -> Self {
        let price = 2.0 * weights.iter().sum::<f64>();
        Self::Ends { weights, dues, limit, price }
    }

    /// Returns a lower bound on the value. The bound follows from the end of one task. [`Goal::Ends`] and
    /// [`Goal::Penalties`] have no such bound.
    fn pressing(&self, task: u32, end: i64) -> i64 {
        match self {
            Self::Late { behind, .. } | Self::Latest { behind, .. } => end + behind[task as usize],
            _ => end,
        }
    }
}

/// Returns, for each task, the longest path after the task within its job, by fastest times, minus the due of the job.
fn behind(problem: &GraphProblem, dues: &[i64]) -> Vec<i64> {
    let mut behind = vec![0; problem.tasks()];
    for &task in problem.order().iter().rev() {
        let fastest = |task: u32| problem.times(task).iter().copied().min().unwrap_or(0);
        let own = |to: &&super::Neighbour| problem.job_of(to.task) == problem.job_of(task);
        let after = problem.outgoing(task).iter().filter(own);
        behind[task as usize] = after.map(|to| behind[to.task as usize] + fastest(to.task)).max().unwrap_or(0);
    }
    for (task, behind) in behind.iter_mut().enumerate() {
        *behind -= dues[problem.job_of(task as u32).index()];
    }
    behind
}

/// A change of the position and the processor of one task. The change contains the data to undo it.
#[derive(Clone, Copy, Debug)]
pub struct SequenceChange {
    from: u32,
    to: u32,
    wanted: ProcessorId,
}

impl<'a> Sequence<'a> {
    /// Returns the sequence `solution`, evaluated for an objective. `weights` are the weights of the jobs, which the
    /// makespan does not use. Cost and throughput do not depend on the order, so the makespan is minimised for these
    /// objectives.
    pub fn new(problem: &'a GraphProblem, objective: Objective, weights: &[f64], solution: SequenceSolution) -> Self {
        let goal = match objective.of_jobs() {
            None => Goal::Makespan,
            Some(shape) if shape.is_penalty() => {
                let (penalties, weights) = (problem.penalties().to_vec(), weights.to_vec());
                // One tick after the limit costs more than the largest penalty in the search.
                let price = 1e12 * weights.iter().sum::<f64>();
                Goal::Penalties { weights, penalties, is_sum: shape.is_sum, limit: i64::MAX, price }
            }
            Some(shape) if !shape.is_sum => {
                let dues: Vec<i64> = problem.dues().iter().map(|due| due.unwrap_or(NO_DUE)).collect();
                Goal::Latest { behind: behind(problem, &dues), limit: i64::MAX }
            }
            Some(shape) => {
                let weights = if shape.is_weighted() { weights } else { &vec![1.0; weights.len()] };
                if shape.is_tardiness() {
                    let due = |(due, weight): (&Option<i64>, &f64)| due.map_or((0.0, 0), |due| (*weight, due));
                    let (weights, dues) = problem.dues().iter().zip(weights).map(due).unzip();
                    Goal::after(weights, dues, i64::MAX)
                } else {
                    Goal::ends(weights.to_vec(), i64::MAX)
                }
            }
        };
        Self::aiming(problem, goal, solution)
    }

    /// Adds a penalty for each tick of the makespan after `most`. For a sum over jobs, the penalty is twice the sum of
    /// all weights. For the maximum tardiness, the penalty is two ticks. Other goals do not change.
    #[must_use]
    pub fn within(mut self, most: i64) -> Self {
        if let Goal::Ends { limit, .. } | Goal::Penalties { limit, .. } | Goal::Latest { limit, .. } = &mut self.goal {
            *limit = most;
            self.value = self.evaluate(0, f64::INFINITY).unwrap_or(f64::INFINITY);
            self.accept(0);
        }
        self
    }

    /// Returns the sequence `solution`, evaluated by the total tardiness of all jobs after `dues`.
    pub fn late(problem: &'a GraphProblem, dues: &[i64], solution: SequenceSolution) -> Self {
        let behind = behind(problem, dues);
        Self::aiming(problem, Goal::Late { dues: dues.to_vec(), behind }, solution)
    }

    fn aiming(problem: &'a GraphProblem, goal: Goal, solution: SequenceSolution) -> Self {
        let SequenceSolution { order, wanted } = solution;
        let (tasks, processors) = (problem.tasks(), problem.processors());
        let placed = PlacedTasks { ends: vec![0; tasks], processors: vec![ProcessorId::default(); tasks] };
        let stride = (tasks * processors).div_ceil(MAX_KEPT).max(1);
        let mut sequence = Self {
            problem,
            goal,
            position: vec![0; tasks],
            order,
            wanted,
            present: placed.clone(),
            accepted: placed,
            value: f64::INFINITY,
            kept: vec![0; (tasks / stride + 1) * processors],
            latest: vec![0; tasks / stride + 1],
            stride,
            free: vec![0; processors],
            closed: calendars(problem),
            job_ends: vec![0; problem.jobs()],
        };
        sequence.number(0, tasks);
        sequence.value = sequence.evaluate(0, f64::INFINITY).unwrap_or(f64::INFINITY);
        sequence.accept(0);
        sequence
    }

    /// Returns the tasks in order.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Returns the processor of each task, or [`ANY`].
    pub fn wanted(&self) -> &[ProcessorId] {
        &self.wanted
    }

    /// Returns whether the goal is a sum over jobs.
    pub fn adds_up_jobs(&self) -> bool {
        matches!(self.goal, Goal::Ends { .. })
    }

    /// Returns the value of the last accepted evaluation.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Returns the places of the tasks in the last accepted evaluation.
    pub fn places(&self) -> Vec<TaskPlace> {
        let place = |task: usize| {
            let processor = self.accepted.processors[task];
            let time = self.problem.time(task as u32, self.problem.node_of(processor));
            TaskPlace { processor, start: self.accepted.ends[task] - time }
        };
        (0..self.order.len()).map(place).collect()
    }

    /// Returns the number of late jobs in the last accepted evaluation. If the goal is not the total tardiness, returns
    /// 0.
    pub fn late_jobs(&mut self) -> usize {
        self.job_ends.fill(0);
        for (task, &end) in self.accepted.ends.iter().enumerate() {
            let job = self.problem.job_of(task as u32).index();
            self.job_ends[job] = self.job_ends[job].max(end);
        }
        let Goal::Late { dues, .. } = &self.goal else { return 0 };
        dues.iter().zip(&self.job_ends).filter(|(due, end)| end > due).count()
    }

    /// Returns the position of a task in the order.
    pub fn position(&self, task: u32) -> u32 {
        self.position[task as usize]
    }

    /// Returns the processor of a task in the last accepted evaluation.
    pub fn processor(&self, task: u32) -> ProcessorId {
        self.accepted.processors[task as usize]
    }

    /// Returns the first and the last position that a task may have: after all its predecessors and before all its
    /// successors.
    pub fn range(&self, task: u32) -> (u32, u32) {
        let place = |other: &super::Neighbour| self.position[other.task as usize];
        let first = self.problem.incoming(task).iter().map(|from| place(from) + 1).max().unwrap_or(0);
        let behind = self.problem.outgoing(task).iter().map(place).min();
        (first, behind.unwrap_or(self.order.len() as u32) - 1)
    }

    /// Moves a task to a position within its range, and changes its processor.
    pub fn shift(&mut self, task: u32, to: u32, wanted: ProcessorId) -> SequenceChange {
        let from = self.position[task as usize];
        let shift = SequenceChange { from: to, to: from, wanted: self.wanted[task as usize] };
        self.wanted[task as usize] = wanted;
        self.rotate(from as usize, to as usize);
        shift
    }

    /// Undoes a shift, and discards the evaluations after the shift.
    pub fn undo(&mut self, shift: SequenceChange) {
        let task = self.order[shift.from as usize];
        self.wanted[task as usize] = shift.wanted;
        for &task in &self.order[shift.from.min(shift.to) as usize..] {
            self.present.ends[task as usize] = self.accepted.ends[task as usize];
            self.present.processors[task as usize] = self.accepted.processors[task as usize];
        }
        self.rotate(shift.from as usize, shift.to as usize);
    }

    /// Returns the first position that a shift changed.
    pub fn changed(shift: SequenceChange) -> usize {
        shift.from.min(shift.to) as usize
    }

    fn rotate(&mut self, from: usize, to: usize) {
        move_to(&mut self.order, from, to);
        self.number(from.min(to), from.max(to) + 1);
    }

    fn number(&mut self, from: usize, to: usize) {
        for place in from..to {
            self.position[self.order[place] as usize] = place as u32;
        }
    }

    /// Evaluates the changes from position `from` on. Returns the value. If the value exceeds `limit`, stops and
    /// returns `None`. Takes O(k (d + 1)) for k positions after `from` if each task has d edges. If tasks have [`ANY`]
    /// in place of a processor, this time is multiplied by the number of processors.
    pub fn evaluate(&mut self, from: usize, limit: f64) -> Option<f64> {
        let block = from / self.stride;
        let processors = self.free.len();
        self.free.copy_from_slice(&self.kept[block * processors..][..processors]);
        let mut latest = self.latest[block];
        let presses = !matches!(self.goal, Goal::Ends { .. } | Goal::Penalties { .. });
        for place in block * self.stride..self.order.len() {
            let task = self.order[place];
            let (processor, end) = self.place(task);
            self.free[processor.index()] = end;
            self.present.ends[task as usize] = end;
            self.present.processors[task as usize] = processor;
            latest = latest.max(self.goal.pressing(task, end));
            if presses && latest as f64 > limit {
                return None;
            }
        }
        let value = self.measure(latest);
        (value <= limit).then_some(value)
    }

    fn measure(&mut self, latest: i64) -> f64 {
        if matches!(self.goal, Goal::Makespan | Goal::Latest { limit: i64::MAX, .. })
            || matches!(self.goal, Goal::Late { .. }) && latest <= 0
        {
            return latest as f64;
        }
        self.job_ends.fill(0);
        for (task, &end) in self.present.ends.iter().enumerate() {
            let job = self.problem.job_of(task as u32).index();
            self.job_ends[job] = self.job_ends[job].max(end);
        }
        let ends = self.job_ends.iter();
        match &self.goal {
            Goal::Makespan => latest as f64,
            Goal::Ends { weights, dues, limit, price } => {
                let late = latest.saturating_sub(*limit).max(0) as f64 * price;
                if dues.is_empty() {
                    return weights.iter().zip(ends).map(|(weight, &end)| weight * end as f64).sum::<f64>() + late;
                }
                let after = ends.zip(dues).map(|(end, due)| (end - due).max(0) as f64);
                weights.iter().zip(after).map(|(weight, after)| weight * after).sum::<f64>() + late
            }
            Goal::Penalties { weights, penalties, is_sum, limit, price } => {
                let late = latest.saturating_sub(*limit).max(0) as f64 * price;
                let cost = |((weight, penalty), &end): ((&f64, &Option<EndPenalty>), &i64)| {
                    penalty.as_ref().map_or(0.0, |penalty| weight * penalty.millionths(end.into()) as f64)
                };
                let costs = weights.iter().zip(penalties).zip(ends).map(cost);
                late + if *is_sum { costs.sum::<f64>() } else { costs.fold(0.0, f64::max) }
            }
            Goal::Latest { limit, .. } => {
                // Each tick of the makespan beyond the limit costs 2 and saves at most 1 tick of tardiness, so
                // exceeding the limit never pays. If all jobs are in time, the tardiness is zero.
                latest.max(0) as f64 + 2.0 * (ends.max().copied().unwrap_or(0) - limit).max(0) as f64
            }
            Goal::Late { dues, .. } => dues.iter().zip(ends).map(|(due, end)| (end - due).max(0) as f64).sum(),
        }
    }

    /// Accepts the last evaluation, which began at position `from`.
    pub fn accept(&mut self, from: usize) {
        let processors = self.free.len();
        let block = from / self.stride;
        self.free.copy_from_slice(&self.kept[block * processors..][..processors]);
        let mut latest = self.latest[block];
        for place in block * self.stride..self.order.len() {
            if place.is_multiple_of(self.stride) {
                let block = place / self.stride;
                self.kept[block * processors..][..processors].copy_from_slice(&self.free);
                self.latest[block] = latest;
            }
            let task = self.order[place] as usize;
            let (processor, end) = (self.present.processors[task], self.present.ends[task]);
            self.free[processor.index()] = end;
            latest = latest.max(self.goal.pressing(task as u32, end));
            self.accepted.ends[task] = end;
            self.accepted.processors[task] = processor;
        }
        self.value = self.measure(latest);
    }

    /// Sorts the tasks by their starts, and accepts the result. If every task has a fixed processor, no task starts
    /// later than before.
    pub fn sort(&mut self) {
        let starts: Vec<i64> = self.places().iter().map(|place| place.start).collect();
        let position = &self.position;
        self.order.sort_by_key(|&task| (starts[task as usize], position[task as usize]));
        self.number(0, self.order.len());
        self.value = self.evaluate(0, f64::INFINITY).unwrap_or(f64::INFINITY);
        self.accept(0);
    }

    /// Returns the processor and the end of a task that is placed after all tasks placed so far.
    fn place(&self, task: u32) -> (ProcessorId, i64) {
        let wanted = self.wanted[task as usize];
        if wanted != ANY {
            let node = self.problem.node_of(wanted);
            let time = self.problem.time(task, node);
            return (wanted, self.start(task, node, wanted, time) + time);
        }
        // Choose the processor with the earliest end. Among equal ends, choose the shortest idle time before the task,
        // and then the first processor.
        let (mut best, mut least) = ((ProcessorId::default(), i64::MAX), (i64::MAX, i64::MAX));
        for node in self.problem.node_ids() {
            let time = self.problem.time(task, node);
            if time == NEVER {
                continue;
            }
            let arrival = self.arrival(task, node);
            for processor in self.problem.processors_of(node) {
                let free = self.free[processor.index()];
                let end = self.open(processor, arrival.max(free), time) + time;
                if (end, -free) < least {
                    (best, least) = ((processor, end), (end, -free));
                }
            }
        }
        best
    }

    fn start(&self, task: u32, node: NodeId, processor: ProcessorId, time: i64) -> i64 {
        let arrival = self.arrival(task, node);
        self.open(processor, arrival.max(self.free[processor.index()]), time)
    }

    fn open(&self, processor: ProcessorId, after: i64, time: i64) -> i64 {
        self.closed[processor.index()].earliest_fit(1, time, after)
    }

    /// Returns the instant at which the data of a task arrive on a node.
    fn arrival(&self, task: u32, node: NodeId) -> i64 {
        let mut arrival = self.problem.release(task);
        for from in self.problem.incoming(task) {
            let at = from.task as usize;
            let source = self.problem.node_of(self.present.processors[at]);
            arrival = arrival.max(self.present.ends[at] + self.problem.transfers().time(from.edge, source, node));
        }
        arrival
    }
}
