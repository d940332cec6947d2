//! A policy that keeps a plan, and improves it at every event.

mod alike;
mod background;
mod fixed;
mod kept;
mod key;
mod outlook;
mod pace;
mod promise;
#[cfg(test)]
mod tests;
mod tied;

use makespan_core::{Decision, Event, Objective, Policy, Reservation, Schedule, Stop, TaskId, Time, View};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::KeptStart;
use super::held::equal_speeds;
use crate::free_time::Skyline;
use crate::scheduler::{DecodedList, Solution};
use crate::search::SearchCourse;
use alike::AlikeState;
use background::Background;
use fixed::Fixed;
use kept::{StartsAndRest, WaitingPlan};
use key::PlanSortKey;
use outlook::{Outlook, untold};
use pace::SearchPace;
use promise::PromisedStart;
use tied::{DependentPlan, is_tied};

/// The parameters of [`Improve`]: its objective and its effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Improving {
    /// The objective for the waiting tasks.
    pub objective: Objective,
    /// Maximum number of changes of the plan that are tried at an event. If many tasks wait, fewer changes are tried.
    pub steps: u64,
    /// The start that a new plan must not postpone.
    pub keep: KeptStart,
}

impl Default for Improving {
    fn default() -> Self {
        Self { objective: Objective::WeightedCompletion, steps: 2000, keep: KeptStart::default() }
    }
}

/// Keeps a plan of all waiting tasks, and at every event improves this plan with the search of
/// [`crate::scheduler::Optimise`].
///
/// The plan consists of an order of the tasks and an allotment for each task. Serial insertion turns the plan into a
/// schedule. Running tasks occupy their processors until their expected ends. At an event, started tasks are removed
/// from the plan, and each new task is inserted at the position and with the allotment of least cost. Then simulated
/// annealing tries a bounded number of changes. So the plan remains usable if a task ends early or late. After an
/// early end, later tasks get earlier starts, and a task starts at once if the insertion finds free processors.
///
/// A long task on many processors delays tasks that arrive later. So the area of a task (processors times time) has a
/// price. The price depends on the expected number of tasks that will arrive and wait. This number is estimated from
/// the number of tasks that arrived in a recent period. The period is as long as the time that the running and waiting
/// tasks need on all processors.
///
/// The task that has waited longest must start by its latest start ([`KeptStart`]): its release plus twice its planned
/// wait. The planned wait is recorded when the task becomes the oldest waiting task. If a later plan shortens the wait,
/// the shorter wait replaces the recorded one. If the search would start this task after its latest start, its
/// processors are reserved and the other tasks are planned around the reservation. If no task runs longer than
/// estimated and no machine fails, this task waits at most twice as long as planned.
///
/// The plan has at most 1,000 tasks. All other tasks wait outside the plan and enter it later. Depending on the
/// objective, they enter in the order of weight over least work, in the order of deadlines, or longest task first.
/// Tasks of bags with weight 0 start last, and only if they delay no planned task.
///
/// If tasks depend on each other, need resources, or run on processors of different speeds, the plan contains more
/// tasks: all tasks of every job with at least one submitted task. In this case, [`crate::kernel::packing::Inserter`]
/// places the started tasks first, and then inserts all other tasks.
///
/// All orders of the tasks are equally good if the tasks have the same estimated time, width and weight, and have no
/// deadlines and no dependences. The policy then makes no plan, and tasks start in the order of their arrival.
///
/// In a run, the search may continue between events on a separate thread ([`Improve::in_background`]).
///
/// Source: Makespan. Replanning from the current plan is "rescheduling by repair" (G. E. Vieira, J. W. Herrmann, E.
/// Lin, Journal of Scheduling 6, 2003, DOI 10.1023/A:1022235519958). Guarantee: if all processors are equally fast and
/// tasks need only processors, no task waits forever. There is no guaranteed ratio. Complexity: each event takes
/// `steps` insertions, each of which inserts a part of the waiting tasks.
///
/// ```
/// let policy = makespan_algos::policy::policy("improve[steps=500]", 1)?;
/// # Ok::<(), makespan_algos::SpecError>(())
/// ```
pub struct Improve {
    improving: Improving,
    alike: AlikeState,
    kept: WaitingPlan,
    promise: PromisedStart<u32>,
    searches: Searches,
    pace: SearchPace,
    background: Option<Background<Solution>>,
    /// The plan for dependent tasks. This plan is used once `becomes_tied` has returned true. Until then, it is
    /// `None`.
    tied: Option<DependentPlan>,
    tied_background: Option<Background<DecodedList>>,
}

/// The initial temperature, as a fraction of the temperature of a search without a plan.
const WARMTH: f64 = 0.5;
/// Maximum product of the number of steps and the number of tasks at an event. A search with this product takes some
/// milliseconds.
const WORK: u64 = 150_000;
/// Maximum number of plans that are improved by a search at an event. Each further plan at this event takes more
/// unavailable periods into account, but is not improved.
const SEARCHES: usize = 3;

/// The seed, and the number of searches so far. Each search uses a different stream of random numbers.
#[derive(Clone, Copy, Debug)]
struct Searches {
    seed: u64,
    count: u64,
}

impl Searches {
    fn next(&mut self) -> ChaCha8Rng {
        self.count += 1;
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(self.count);
        random
    }
}

impl Improve {
    /// Returns a policy that begins without a plan.
    pub fn new(improving: Improving, seed: u64) -> Self {
        let Improving { objective, keep, .. } = improving;
        Self {
            improving,
            alike: AlikeState::default(),
            kept: WaitingPlan::new(objective),
            promise: PromisedStart::new(keep),
            searches: Searches { seed, count: 0 },
            pace: SearchPace::default(),
            background: None,
            tied: None,
            tied_background: None,
        }
    }

    /// Returns a policy that begins with a plan for the whole instance.
    pub fn following(improving: Improving, seed: u64, plan: &Schedule) -> Self {
        let mut policy = Self::new(improving, seed);
        policy.kept.follow(plan);
        policy
    }

    /// Lets the search continue between events, on the fraction `share` of one core. If tasks end soon after one another,
    /// only some events then start a search. The decisions depend on the machine.
    #[must_use]
    pub fn in_background(self, share: f64) -> Self {
        let (background, tied_background) = (Some(Background::new(share)), Some(Background::new(share)));
        Self { background, tied_background, pace: SearchPace::limited(), ..self }
    }

    /// Plans the tasks on the processors that are not held. Unavailable periods that begin after the end of the plan
    /// are ignored, so that they do not change the plan.
    fn plan(&mut self, view: &View<'_>, mut new: Vec<TaskId>, search: bool) -> (Outlook, StartsAndRest) {
        let mut told = Time::ZERO;
        let mut searches = if search { SEARCHES } else { 0 };
        loop {
            let outlook = Outlook::of(view, told);
            self.kept.insert(std::mem::take(&mut new), view, &outlook);
            let before = self.kept.plan.clone();
            if searches > 0 {
                self.search(&outlook.skyline, 1);
            }
            let mut skyline = outlook.skyline.clone();
            let mut reserved = self.kept.schedule(&mut skyline);
            if let Some(fixed) = self.kept.broken(&self.promise, &reserved, &outlook) {
                skyline.clone_from(&outlook.skyline);
                reserved = self.plan_around(&fixed, &mut skyline, searches > 0);
                if searches > 0 {
                    self.unless_better(before, &outlook, &mut skyline, &mut reserved);
                }
            }
            searches = searches.saturating_sub(1);
            let planned = self.kept.planned(reserved, view, &mut skyline);
            match untold(view, told).filter(|&begin| begin < planned.end) {
                Some(_) => told = planned.end,
                None => return (outlook, planned),
            }
        }
    }

    /// Plans all other tasks around the fixed slot of one task.
    fn plan_around(&mut self, fixed: &Fixed, skyline: &mut Skyline, search: bool) -> Vec<Reservation> {
        let own = fixed.hold(skyline);
        self.kept.take(fixed.number);
        if search {
            self.search(skyline, 2);
        }
        let mut reserved = self.kept.schedule(skyline);
        self.kept.put_back(fixed, own, &mut reserved);
        reserved
    }

    /// Restores the plan `before`, with which the search began, if this plan keeps the promise and costs at most as
    /// much as the new plan.
    fn unless_better(
        &mut self,
        before: Solution,
        outlook: &Outlook,
        skyline: &mut Skyline,
        reserved: &mut Vec<Reservation>,
    ) {
        let found = (self.kept.cost(reserved), std::mem::replace(&mut self.kept.plan, before));
        let mut other = outlook.skyline.clone();
        let again = self.kept.schedule(&mut other);
        if self.kept.broken(&self.promise, &again, outlook).is_none() && self.kept.cost(&again) <= found.0 {
            (*skyline, *reserved) = (other, again);
        } else {
            self.kept.plan = found.1;
        }
    }

    /// Improves the plan by annealing. The number of steps is divided by `part`.
    fn search(&mut self, skyline: &Skyline, part: u64) {
        let tasks = self.kept.plan.order.len() as u64;
        if tasks == 0 {
            return;
        }
        let random = self.searches.next();
        let steps = self.improving.steps.min(WORK / tasks) / part;
        self.kept.improve(skyline, WARMTH, random, &mut SearchCourse::of(steps, &Stop::default()));
    }
}

impl Improve {
    /// Returns whether processors have different speeds, or a task has arrived that depends on other tasks, needs
    /// resources or has its own time on each machine. At the first event, also checks the waiting tasks and the given
    /// plan.
    fn becomes_tied(&self, events: &[Event], view: &View<'_>) -> bool {
        let instance = view.instance;
        if !equal_speeds(instance) {
            return true;
        }
        let heard = events.iter().filter_map(|event| match *event {
            Event::Submitted(task) => Some(task),
            _ => None,
        });
        let known = if self.kept.has_begun() { None } else { Some(view.waiting.iter().chain(self.kept.of_given())) };
        let mut all = heard.chain(known.into_iter().flatten());
        all.any(|task| instance.has_task(task) && is_tied(instance, task))
    }

    /// Processes events if tasks depend on each other, need resources, or run on processors of different speeds.
    fn on_tied(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let Some(tied) = &mut self.tied else { return };
        let changed = events.iter().any(|event| *event != Event::Wake);
        let found = self.tied_background.as_mut().and_then(Background::take);
        let begin = self.pace.begin(changed);
        let (starts, next) = tied.on(events, view, found, begin.is_some(), decisions);
        self.pace.end(begin);
        let background = self.tied_background.as_mut();
        let look = background.and_then(|background| {
            background.go_on(changed || starts, tied.is_settled(), view, || tied.improvement(view))
        });
        decisions.extend(next.into_iter().chain(look).min().map(Decision::WakeAt));
    }
}

impl Policy for Improve {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        if self.alike.remains(events, view) {
            AlikeState::start(view, decisions);
            return;
        }
        if self.tied.is_none() && self.becomes_tied(events, view) {
            self.tied = Some(DependentPlan::new(self.improving, self.searches.seed, self.kept.given()));
        }
        if self.tied.is_some() {
            self.on_tied(events, view, decisions);
            return;
        }
        if let Some(found) = self.background.as_mut().and_then(Background::take) {
            self.kept.plan = found;
        }
        let new = self.kept.hear(events, view);
        let changed = !new.is_empty() || events.iter().any(|event| *event != Event::Wake);
        let begin = self.pace.begin(changed);
        let (outlook, planned) = self.plan(view, new, begin.is_some());
        self.pace.end(begin);
        self.kept.renew(&mut self.promise, &planned.reserved, view);
        let starting = outlook.processors(planned.due, view);
        let changed = changed || !starting.is_empty();
        for (task, processors) in starting {
            self.kept.leaves(view.instance, task);
            decisions.push(Decision::Start { task, processors });
        }
        let background = self.background.as_mut();
        let kept = &self.kept;
        let look = background.and_then(|background| {
            background.go_on(changed, kept.plan.order.is_empty(), view, || Some(kept.improvement(&outlook.skyline)))
        });
        decisions.extend(planned.next.into_iter().chain(look).min().map(Decision::WakeAt));
    }
}
