//! The search if each resource is one pool ([`CumulativeProblem`]). A genetic algorithm combines lists of tasks with
//! their modes, and double justification improves the schedules. If justification moves no task, the lists are
//! annealed.

mod annealing;
mod decoder;
mod genetic;
mod lagged;
mod modes;
mod start;
#[cfg(test)]
mod tests;

use makespan_core::{Objective, Schedule};
use rand_chacha::ChaCha8Rng;

use super::{PlanSearch, SearchAim, balanced_lists};
use crate::kernel::cumulative::{CumulativeProblem, SerialScheme};
use crate::kernel::packing::Packing;
use crate::search::{SearchCourse, anneal};
use annealing::Annealing;
use decoder::{Decoder, Scheme};
use genetic::{Genetic, SearchParts};
pub(in crate::scheduler) use lagged::LaggedPools;
use start::ModeStarts;

/// Maximum number of tasks. With more tasks, a schedule takes so much time that a search would not improve its initial
/// lists.
const MAX_TASKS: usize = 20_000;
/// The fraction of the search after which the genetic algorithm ends, if justification moves no task. Then annealing is
/// tried under both schemes, and continues under the better scheme.
const BRED: f64 = 0.1;
/// The fraction of the search after which the trial of annealing under the serial scheme ends.
const SERIAL: f64 = 0.25;
/// The fraction of the search after which the trial of annealing under the parallel scheme ends.
const PARALLEL: f64 = 0.4;

/// A list with its modes, and the value of its schedule.
#[derive(Clone, Debug)]
pub(in crate::scheduler) struct ModeSolution {
    /// The tasks, each after all its predecessors.
    order: Vec<u32>,
    /// The mode of each task, indexed by task.
    modes: Vec<u32>,
    value: f64,
}

/// The data of an instance that all searches share.
#[derive(Debug)]
pub(in crate::scheduler) struct Pools<'p, 'a> {
    problem: &'p CumulativeProblem<'a>,
    starts: ModeStarts,
}

/// Returns the problem of a packing, or `None` if this search does not support the packing.
pub(in crate::scheduler) fn problem<'a>(packing: &Packing<'a>) -> Option<CumulativeProblem<'a>> {
    let few = packing.instance().tasks() <= MAX_TASKS as u64;
    if few { CumulativeProblem::new(packing) } else { None }
}

impl<'p, 'a> Pools<'p, 'a> {
    /// Creates the data for searches that begin with the lists of a packing. If none of these lists can be executed,
    /// returns `None`.
    pub(in crate::scheduler) fn new(packing: &Packing<'a>, problem: &'p CumulativeProblem<'a>) -> Option<Self> {
        let starts = ModeStarts::new(problem, &balanced_lists(packing));
        (!starts.are_empty()).then_some(Self { problem, starts })
    }
}

impl PlanSearch for Pools<'_, '_> {
    type Found = ModeSolution;

    fn search(
        &self,
        aim: SearchAim,
        known: &[ModeSolution],
        random: ChaCha8Rng,
        course: &mut SearchCourse,
    ) -> Option<(f64, ModeSolution)> {
        let decoder = Decoder::new(self.problem, aim);
        let justified = decoder.is_justified();
        let mut genetic = Genetic::new(decoder, &self.starts, known, random);
        let bred = if justified { 1.0 } else { BRED };
        anneal(&mut genetic.until(bred), course);
        let SearchParts { best, first, mut decoder, mut random } = genetic.into_parts()?;
        if justified || best.value <= aim.floor {
            return Some((best.value, best));
        }
        let mut annealed = |scheme, start, part| {
            let mut annealing = Annealing::new(&mut decoder, scheme, start, &mut random, part);
            anneal(&mut annealing, course);
            annealing.into_best()
        };
        let serial = annealed(Scheme::Serial, best, (BRED, SERIAL));
        let parallel = annealed(Scheme::Parallel, first, (SERIAL, PARALLEL));
        let (serial, mut parallel) = if parallel.value < serial.value {
            (serial, annealed(Scheme::Parallel, parallel, (PARALLEL, 1.0)))
        } else {
            (annealed(Scheme::Serial, serial, (PARALLEL, 1.0)), parallel)
        };
        decoder.order_by_starts(&mut parallel.order, &parallel.modes);
        parallel.value = decoder.value_by(Scheme::Serial, &parallel);
        let best = if parallel.value < serial.value { parallel } else { serial };
        Some((best.value, best))
    }

    fn schedule(&self, solution: &ModeSolution) -> Schedule {
        let mut scheme = SerialScheme::new(self.problem);
        scheme.forward(&solution.order, &solution.modes, |_, _| true);
        self.problem.schedule(scheme.starts(), &solution.modes)
    }
}

/// Returns whether most tasks may end later without making an objective worse. Justification works only for such
/// objectives.
fn is_of_last_ends(objective: Objective) -> bool {
    objective.shape().is_none_or(|shape| !shape.is_sum && !shape.is_penalty())
}
