//! A plan that is kept, and improved at every event.

mod background;
mod fixed;
mod kept;
mod outlook;
mod promise;
#[cfg(test)]
mod tests;
mod tied;

use makespan_core::{Decision, Event, Objective, Policy, Reservation, Schedule, Stop, TaskId, Time, View};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::Keep;
use super::held::equal_speeds;
use crate::free_time::Skyline;
use crate::scheduler::{Listed, Solution};
use crate::search::Course;
use background::Background;
use fixed::Fixed;
use kept::{Kept, Planned};
use outlook::Outlook;
use promise::Promise;
use tied::{Tied, is_tied};

/// What [`Improve`] minimises, and how far it searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Improving {
    /// What is minimised, of the tasks that wait.
    pub objective: Objective,
    /// Changes of the plan that are tried at an event; fewer where very many tasks wait.
    pub steps: u64,
    /// Whose start may not be put off.
    pub keep: Keep,
}

impl Default for Improving {
    fn default() -> Self {
        Self { objective: Objective::WeightedCompletion, steps: 2000, keep: Keep::default() }
    }
}

/// Keeps a plan of all that waits, and improves it at every event by the search of [`crate::scheduler::Optimise`], which begins with the
/// plan that is there.
///
/// The plan is an order of the tasks, each with its allotment; serial insertion makes it a schedule behind what runs, until that is believed to
/// end. At an event the tasks that began are gone from it, those that were submitted are put in at the place and on the allotment that cost
/// least, and a bounded number of changes is annealed from there. So a plan is never lost because a task ended early or late: what
/// ended early lets the order move up, and what the insertion finds room for starts now. Tasks that have the same start as before keep it.
///
/// What runs long on many processors lets those wait that come meanwhile. So the area of a task has a price: what waits takes some time
/// on all processors, and a part of as many tasks as came in as long before now would wait for it.
///
/// The task that has waited longest has a latest start ([`Keep`]): twice the wait that was planned when it became the oldest. If the
/// search would start it later, its place is reserved, and the others are planned around it. While tasks end by their estimates and no
/// machine fails, it waits at most twice as long as it was planned to.
///
/// At most 1,000 tasks are in the plan. Others wait in the order of their weight for their least work (by deadlines, or the longest first, as the
/// objective asks) and move up. Tasks of bags without weight start last, where they delay nothing that is planned.
///
/// Where tasks wait for each other, need more than processors or run on processors of different speeds, the plan has all tasks of each job that
/// was heard of, those that are still to be submitted among them, and is inserted by [`crate::kernel::packing::Inserter`] behind what
/// has begun.
///
/// In a run the search may go on between events, on a thread of its own ([`Improve::in_background`]).
///
/// Source: Makespan. Replanning from the plan that is there is "rescheduling by repair" (G. E. Vieira, J. W. Herrmann, E. Lin, Journal of
/// Scheduling 6, 2003, DOI 10.1023/A:1022235519958). Assumptions: all processors equally fast, nothing needed besides them.
/// Guarantee: nothing waits for ever; no ratio. Complexity: an event costs `steps` partial insertions of what waits.
///
/// ```
/// let policy = makespan_algos::policy::policy("improve[steps=500]", 1)?;
/// # Ok::<(), makespan_algos::SpecError>(())
/// ```
pub struct Improve {
    improving: Improving,
    seed: u64,
    kept: Kept,
    promise: Promise,
    /// How often it has searched.
    searches: u64,
    background: Option<Background<Solution>>,
    /// The plan, once some task was heard of that counts of equal processors do not describe.
    tied: Option<Tied>,
    tied_background: Option<Background<Listed>>,
}

/// The temperature at first, as a share of that of a search from nothing.
const WARMTH: f64 = 0.5;
/// Steps times tasks at an event, at most: some milliseconds.
const WORK: u64 = 150_000;
/// So often periods are told that the plan reaches, each time with a search; then without.
const SEARCHES: usize = 3;

impl Improve {
    /// A policy that begins without a plan.
    pub fn new(improving: Improving, seed: u64) -> Self {
        let Improving { objective, keep, .. } = improving;
        Self {
            improving,
            seed,
            kept: Kept::new(objective),
            promise: Promise::new(keep),
            searches: 0,
            background: None,
            tied: None,
            tied_background: None,
        }
    }

    /// The same with a plan already made for the whole instance.
    pub fn following(improving: Improving, seed: u64, plan: &Schedule) -> Self {
        let mut policy = Self::new(improving, seed);
        policy.kept.follow(plan);
        policy
    }

    /// The same; between events it searches on, on this share of one core. What it decides then depends on the machine.
    #[must_use]
    pub fn in_background(self, share: f64) -> Self {
        let (background, tied_background) = (Some(Background::new(share)), Some(Background::new(share)));
        Self { background, tied_background, ..self }
    }

    /// Plans around what is held.
    ///
    /// A period that the plan does not reach is not told to it, so that it changes nothing.
    fn plan(&mut self, view: &View<'_>, mut new: Vec<TaskId>, search: bool) -> (Outlook, Planned) {
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
            if let Some(fixed) = self.promise.broken(&self.kept, &reserved, &outlook) {
                skyline.clone_from(&outlook.skyline);
                reserved = self.plan_around(&fixed, &mut skyline, searches > 0);
                if searches > 0 {
                    self.unless_better(before, &outlook, &mut skyline, &mut reserved);
                }
            }
            searches = searches.saturating_sub(1);
            let planned = self.kept.planned(reserved, view, &mut skyline);
            match outlook.untold(view).filter(|&begin| begin < planned.end) {
                Some(_) => told = planned.end,
                None => return (outlook, planned),
            }
        }
    }

    /// The same with the place of one task fixed.
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

    /// Goes back to the plan before the search where that puts nobody off and costs no more than what was found.
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
        if self.promise.broken(&self.kept, &again, outlook).is_none() && self.kept.cost(&again) <= found.0 {
            (*skyline, *reserved) = (other, again);
        } else {
            self.kept.plan = found.1;
        }
    }

    /// Anneals the plan, for one in so many of the steps.
    fn search(&mut self, skyline: &Skyline, part: u64) {
        let tasks = self.kept.plan.order.len() as u64;
        if tasks == 0 {
            return;
        }
        self.searches += 1;
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(self.searches);
        let steps = self.improving.steps.min(WORK / tasks) / part;
        self.kept.improve(skyline, WARMTH, random, &mut Course::of(steps, &Stop::default()));
    }
}

impl Improve {
    /// Whether counts of equal processors do not describe what was heard of.
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

    /// The same where tasks wait for each other or need more than equal processors.
    fn on_tied(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let Some(tied) = &mut self.tied else { return };
        let changed = events.iter().any(|event| *event != Event::Wake);
        let found = self.tied_background.as_mut().and_then(Background::take);
        let search = changed.then_some((&self.improving, self.seed));
        let (starts, next) = tied.on(events, view, found, search, decisions);
        let background = self.tied_background.as_mut();
        let look = background.and_then(|background| {
            background.go_on(changed || starts, tied.is_settled(), view, || tied.improvement(view))
        });
        decisions.extend(next.into_iter().chain(look).min().map(Decision::WakeAt));
    }
}

impl Policy for Improve {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        if self.tied.is_none() && self.becomes_tied(events, view) {
            self.tied = Some(Tied::new(&self.improving, self.kept.given()));
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
        let (outlook, planned) = self.plan(view, new, changed);
        self.promise.renew(&self.kept, &planned.reserved, view);
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
