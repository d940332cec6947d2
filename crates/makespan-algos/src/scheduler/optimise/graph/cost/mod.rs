//! Plans graphs of tasks at the least cost that their deadlines allow. The order and the processors are annealed. The
//! search begins with the plans of critical chains and of HEFT, and with a plan from the prices that prove the bound.

mod annealing;
mod start;
mod task;

use super::super::Limit;
use super::super::proofs::prove;
use crate::kernel::graph::{GraphProblem, TaskPlace};
use crate::plan::Context;
use crate::search::{Budget, Portfolio, anneal};
use annealing::Annealing;
use makespan_bounds::cost::{self, CostSearch};
use makespan_core::{Instance, Objective, Schedule};
use makespan_verify::Bound;
use task::{CostRank, CostTask};

/// Maximum number of steps of the search for prices.
const PRICED: u64 = 300;
/// Maximum fraction of the time for the search for prices.
const SHARE: f64 = 0.15;
/// For a budget of steps, the number of annealing steps that one step of the search for prices uses.
const STEPS_A_PRICE: u64 = 50;
/// The fraction of the time that is reserved at the end for work that cannot be interrupted.
const RESERVE: f64 = 0.01;

/// One run of the scheduler.
pub(in crate::scheduler::optimise) struct CostRun<'a> {
    pub(in crate::scheduler::optimise) instance: &'a Instance,
    pub(in crate::scheduler::optimise) portfolio: Portfolio,
    /// The deadline of a job that states no deadline. This deadline is counted from the release, as a multiple of
    /// HEFT's makespan for the job alone.
    pub(in crate::scheduler::optimise) deadline: f64,
    /// If set, all jobs must end by this multiple of the proven bound on the makespan. Deadlines that depend on HEFT
    /// are then not used.
    pub(in crate::scheduler::optimise) makespan_at_most: Option<f64>,
}

/// The result of a run.
pub(in crate::scheduler::optimise) struct Cheapest {
    pub(in crate::scheduler::optimise) schedule: Schedule,
    pub(in crate::scheduler::optimise) bounds: Vec<Bound>,
    pub(in crate::scheduler::optimise) remark: Option<String>,
    /// The limit on the makespan.
    pub(in crate::scheduler::optimise) limit: Option<Limit>,
}

impl CostRun<'_> {
    /// Returns the cheapest schedule found that meets all deadlines. If no schedule meets the deadlines, returns the
    /// schedule with the least tardiness. Also returns the bounds that were proved.
    pub(in crate::scheduler::optimise) fn minimise(&self, context: &Context) -> Cheapest {
        let instance = self.instance;
        let mut bounds = vec![cost::cheapest(instance)];
        let looked_for: &[Objective] = if self.makespan_at_most.is_some() { &[Objective::Makespan] } else { &[] };
        bounds.extend(prove(instance, &self.portfolio, context, looked_for));
        let of_makespan = bounds.iter().filter(|bound| bound.objective == Objective::Makespan).map(Bound::ticks).max();
        let limit = Limit::new(self.makespan_at_most, of_makespan.unwrap_or_default(), context);
        if instance.jobs().is_empty() {
            return Cheapest { schedule: Schedule::default(), bounds, remark: None, limit };
        }
        let problem = GraphProblem::new(instance);
        let task = CostTask::new(instance, &problem, self.deadline, limit.map(|limit| limit.at));
        let prices = self.prices(&task);
        bounds.extend(prices.as_ref().and_then(|prices| prices.bound(instance)));
        let floor =
            bounds.iter().filter(|bound| bound.objective == Objective::Cost).map(|bound| bound.value.integer()).max();
        let starts = start::all(&task, prices.as_ref());
        let found: Vec<(CostRank, Vec<TaskPlace>)> = self.portfolio.each(|index| {
            let start = &starts[index as usize % starts.len()];
            let mut annealing = Annealing::new(&task, start, self.portfolio.random(index), floor.unwrap_or(0));
            anneal(&mut annealing, &mut self.portfolio.course(1.0 - RESERVE, |steps| steps));
            annealing.into_best()
        });
        // Include the initial solutions. If no step was made, the initial solutions are the best schedules.
        let all = found.into_iter().chain(starts.iter().map(|places| (task.merit(places), places.clone())));
        let best = all.min_by(|a, b| a.0.cmp(&b.0));
        let (merit, schedule) = best.map(|(merit, places)| (merit, problem.schedule(&places))).unwrap_or_default();
        Cheapest { schedule, bounds, remark: merit.remark(), limit }
    }

    /// Searches for prices that prove a bound on the cost of all schedules that end by the last deadline.
    fn prices(&self, task: &CostTask) -> Option<CostSearch> {
        let mut search = CostSearch::new(self.instance, task.horizon())?;
        let steps = |steps: u64| (steps / STEPS_A_PRICE + 1).min(PRICED);
        let mut course = self.portfolio.course(SHARE, steps);
        let most = if let Budget::Steps(all) = self.portfolio.budget { steps(all) } else { PRICED };
        for step in 0..most {
            let Some(done) = course.step() else { break };
            search.step(done.max(step as f64 / most as f64));
        }
        Some(search)
    }
}
