//! Annealing of sequences.

use makespan_core::{Objective, Time};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::decoder::{Sequence, SequenceDecoder};
use crate::scheduler::penalties::Cost;
use crate::search::{Cooling, Neighbourhood, heat};

/// The temperatures, as fractions of the first value.
const HOTTEST: f64 = 0.03;
const COLDEST: f64 = 0.002;
/// The price of a tick after a hard deadline, as a multiple of the mean price of a tick.
const LATE: f64 = 10.0;
/// The price of a tick of the mean end. It guides the search between schedules with equal values.
const MEAN: f64 = 0.02;

/// The rank of a schedule: the total time after hard deadlines in ticks, and the value of the objective.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Rank(pub(super) i64, pub(super) f64);

/// Evaluates decoded sequences.
#[derive(Debug)]
pub(super) struct Evaluation {
    costs: Vec<Cost>,
    is_sum: bool,
    must_end_by: Vec<Option<i64>>,
    /// The job of each task.
    job_of: Vec<usize>,
    ends: Vec<i64>,
}

impl Evaluation {
    /// Returns the evaluation for an objective, or `None` if the objective does not depend on ends.
    pub(super) fn new(decoder: &SequenceDecoder<'_>, objective: Objective) -> Option<Self> {
        let instance = decoder.problem.instance;
        let maximum = [Objective::Makespan, Objective::MaxTardiness, Objective::MaxLateness, Objective::MaxPenalty];
        Some(Self {
            costs: instance.jobs().iter().map(|job| Cost::of(job, objective)).collect::<Option<_>>()?,
            is_sum: !maximum.contains(&objective),
            must_end_by: instance.jobs().iter().map(|job| job.must_end_by.map(Time::ticks)).collect(),
            job_of: instance.task_ids().map(|task| instance.job_id(task).index()).collect(),
            ends: vec![0; instance.jobs().len()],
        })
    }

    /// Returns the rank of the decoded schedule, and the mean end of the jobs.
    pub(super) fn rank(&mut self, decoder: &SequenceDecoder<'_>) -> (Rank, f64) {
        self.ends.fill(0);
        for (placed, &job) in decoder.placed.iter().zip(&self.job_of) {
            self.ends[job] = self.ends[job].max(placed.map_or(0, |placed| placed.end));
        }
        let late = self.ends.iter().zip(&self.must_end_by);
        let late = late.map(|(&end, by)| by.map_or(0, |by| (end - by).max(0))).sum();
        let each = self.costs.iter().zip(&self.ends).map(|(cost, &end)| cost.at(end as f64));
        let value = if self.is_sum { each.sum() } else { each.fold(f64::NEG_INFINITY, f64::max) };
        let mean = self.ends.iter().map(|&end| end as f64).sum::<f64>() / self.ends.len().max(1) as f64;
        (Rank(late, value), mean)
    }
}

/// A search for a good sequence.
pub(super) struct SequenceSearch<'a, 'd> {
    decoder: &'d mut SequenceDecoder<'a>,
    evaluation: Evaluation,
    random: ChaCha8Rng,
    current: Sequence,
    energy: f64,
    /// The price of a tick, so that times and values of the objective are comparable.
    tick: f64,
    cooling: Cooling,
    pub(super) best: (Rank, Sequence),
    objective: Objective,
    /// A proven bound on the objective.
    floor: Option<f64>,
}

impl<'a, 'd> SequenceSearch<'a, 'd> {
    pub(super) fn new(
        decoder: &'d mut SequenceDecoder<'a>,
        mut evaluation: Evaluation,
        (objective, floor): (Objective, Option<f64>),
        first: Sequence,
        random: ChaCha8Rng,
    ) -> Self {
        decoder.decode(&first);
        let (rank, mean) = evaluation.rank(decoder);
        let tick = rank.1.abs().max(1.0) / mean.max(1.0);
        let hottest = HOTTEST * rank.1.abs().max(1.0);
        let cooling = Cooling { hottest, coldest: COLDEST / HOTTEST, cycles: 1.0 };
        let energy = energy(rank, mean, tick);
        let best = (rank, first.clone());
        Self { decoder, evaluation, random, current: first, energy, tick, cooling, best, objective, floor }
    }

    /// Changes the current sequence.
    fn change(&mut self) {
        let tasks = self.current.order.len();
        let at = self.random.random_range(0..tasks);
        let task = self.current.order[at] as usize;
        let modes = self.decoder.problem.modes[task].len() as u32;
        let kind = self.random.random_range(0..4);
        if kind == 0 && modes > 1 {
            let mode = self.random.random_range(0..=modes);
            self.current.modes[task] = (mode < modes).then_some(mode);
            return;
        }
        let other = self.random.random_range(0..tasks);
        if kind == 1 {
            self.current.order.swap(at, other);
        } else if at < other {
            self.current.order[at..=other].rotate_left(1);
        } else {
            self.current.order[other..=at].rotate_right(1);
        }
    }
}

fn energy(Rank(late, value): Rank, mean: f64, tick: f64) -> f64 {
    value + tick * (LATE * late as f64 + MEAN * mean)
}

impl Neighbourhood for SequenceSearch<'_, '_> {
    fn is_optimal(&self) -> bool {
        let (Rank(late, value), _) = self.best;
        self.current.order.len() < 2 && self.current.modes.len() < 2 && self.decoder.problem.modes[0].len() < 2
            || late == 0 && self.floor.is_some_and(|floor| value <= floor)
    }

    fn best_value(&self) -> Option<f64> {
        let (Rank(late, value), _) = self.best;
        // The values of other objectives are in other units.
        let is_time = matches!(self.objective, Objective::Makespan | Objective::MaxTardiness);
        (is_time && late == 0).then_some(value)
    }

    fn step(&mut self, done: f64) {
        let limit = self.energy + heat(self.cooling.at(done), &mut self.random);
        let before = self.current.clone();
        self.change();
        self.decoder.decode(&self.current);
        let (rank, mean) = self.evaluation.rank(self.decoder);
        let energy = energy(rank, mean, self.tick);
        if rank < self.best.0 {
            self.best = (rank, self.current.clone());
        }
        if energy <= limit {
            self.energy = energy;
        } else {
            self.current = before;
        }
    }
}
