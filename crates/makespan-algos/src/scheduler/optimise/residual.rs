//! The search for a plan of the remaining tasks of an instance. The search begins with the plan that was kept so far.

use std::sync::Arc;

use makespan_core::Objective;
use rand_chacha::ChaCha8Rng;

use super::annealing::{Annealing, RankedSolution};
use super::change::Solution;
use super::goal::{Goal, GoalTask};
use super::wholes::NumberedWholes;
use crate::free_time::Skyline;
use crate::kernel::choices::Choices;
use crate::kernel::serial::{EvaluationLimit, SerialInsertion, SerialRequest};
use crate::search::SearchCourse;

/// The remaining tasks, and a cost function for plans of these tasks.
#[derive(Clone, Debug)]
pub(crate) struct Residual {
    pub(crate) choices: Arc<Choices>,
    pub(crate) wishes: Vec<GoalTask>,
    pub(crate) wholes: Option<Arc<NumberedWholes>>,
    pub(crate) processors: u32,
    pub(crate) objective: Objective,
    /// The price of one processor for one tick. The price represents the delay of tasks that have not arrived yet.
    pub(crate) area_price: f64,
    /// A lower bound on the end of every schedule.
    pub(crate) floor: i64,
}

impl Residual {
    /// Creates a problem without tasks.
    pub(crate) fn new(objective: Objective) -> Self {
        let (choices, wishes) = (Arc::default(), Vec::new());
        Self { choices, wishes, wholes: None, processors: 1, objective, area_price: 0.0, floor: 0 }
    }

    fn goal(&self) -> Goal<'_> {
        let wishes = self.wishes.iter().copied();
        Goal::of(self.processors, wishes, self.objective, self.wholes.as_deref(), None).with_area_price(self.area_price)
    }

    /// Improves the plan `kept` by simulated annealing on the free processors of `skyline`, until `course` ends. The
    /// result is at least as good as `kept`. The usual initial temperature is multiplied by `warmth`.
    pub(crate) fn improve(
        &self,
        skyline: &Skyline,
        kept: Solution,
        warmth: f64,
        random: ChaCha8Rng,
        course: &mut SearchCourse,
    ) -> RankedSolution {
        let mut goal = self.goal();
        let reached = if self.objective == Objective::Makespan { self.end(skyline.clone(), &kept) } else { 0 };
        goal.aim(reached, self.floor);
        let mut annealing = Annealing::on(skyline, &self.choices, self.floor, goal, kept, random);
        annealing.run_warm(course, warmth);
        annealing.into_best()
    }

    /// Returns the end of the last task of a plan.
    fn end(&self, mut skyline: Skyline, plan: &Solution) -> i64 {
        for &task in &plan.order {
            let SerialRequest { processors, duration, release } = self.request(plan, task);
            skyline.place(processors, duration, release);
        }
        skyline.latest()
    }

    fn request(&self, plan: &Solution, task: u32) -> SerialRequest {
        let choice = self.choices.of(task)[plan.chosen[task as usize] as usize];
        SerialRequest { processors: choice.processors, duration: choice.time, release: self.choices.release(task) }
    }

    /// Returns the cost of a plan. `starts` contains the starts of its tasks, in the order of the plan.
    pub(crate) fn cost(&self, plan: &Solution, starts: impl Iterator<Item = i64>) -> f64 {
        let goal = self.goal();
        let (mut peaks, mut costs, mut latest) = (Vec::new(), 0.0, 0);
        goal.peaks(std::iter::empty(), &mut peaks);
        for (&task, start) in plan.order.iter().zip(starts) {
            let request = self.request(plan, task);
            costs += goal.cost(task, start, &request, &mut peaks);
            latest = latest.max(start + request.duration);
        }
        goal.value(costs, latest)
    }

    /// Inserts a task into a plan. Tries all combinations of a position in `places` and an allotment in `chosen`, and
    /// uses the combination with the least cost.
    pub(crate) fn insert(&self, skyline: &Skyline, plan: &mut Solution, task: u32, places: &[usize], chosen: &[u32]) {
        let goal = self.goal();
        let mut serial = SerialInsertion::on(skyline, plan.order.len() + 1);
        let mut peaks = Vec::new();
        let mut best: Option<(f64, usize, u32)> = None;
        let last = plan.order.len();
        plan.order.push(task);
        let mut at = last;
        for &place in places {
            crate::kernel::move_to(&mut plan.order, at, place);
            at = place;
            for &choice in chosen {
                plan.chosen[task as usize] = choice;
                let most = best.map_or(f64::INFINITY, |best| best.0);
                goal.peaks(std::iter::empty(), &mut peaks);
                let request = |place: usize| self.request(plan, plan.order[place]);
                let fold = |costs: f64, place: usize, start: i64, request: &SerialRequest| {
                    costs + goal.cost(plan.order[place], start, request, &mut peaks)
                };
                let costs = serial.evaluate(0..last + 1, EvaluationLimit::at(most), request, fold);
                let value = goal.value(costs, serial.latest());
                if best.is_none_or(|best| value < best.0) {
                    best = Some((value, place, choice));
                }
            }
        }
        if let Some((_, place, choice)) = best {
            crate::kernel::move_to(&mut plan.order, at, place);
            plan.chosen[task as usize] = choice;
        }
    }
}
