//! The plan of tasks that depend on each other, need resources, or run on processors of different speeds.

mod due;
mod keys;
mod survey;

use std::borrow::Cow;
use std::collections::BTreeSet;

use makespan_core::{Decision, Event, Instance, TaskId, TaskSet, Time, Unavailable, View};
use rand_chacha::ChaCha8Rng;
use rustc_hash::{FxHashMap, FxHashSet};

use super::background::Improve as Improvement;
use super::outlook::{is_told, untold};
use super::promise::PromisedStart;
use super::{Improving, SEARCHES, Searches};
use crate::kernel::packing::{ListEntry, NodeSet, Packing};
use crate::scheduler::{DecodedList, Remains};
use crate::search::SearchCourse;
use keys::Keys;
use survey::Survey;

/// Maximum number of tasks in the plan.
const MOST: usize = 1000;
/// Maximum number of new tasks for which the best positions are searched.
const FEW: usize = 4;
/// Maximum number of tasks in the plan for which the best positions of new tasks are searched.
const PLACED: usize = 100;
/// Maximum number of insertions of tasks with which a search improves the plan at an event. These insertions take some
/// milliseconds.
const WORK: u64 = 8_000;
/// If a task of the plan does not fit, and fewer than this number of tasks follow it, only this task is removed from
/// the plan. If more tasks follow, the task and all later tasks are removed.
const STUCK: usize = 8;

/// A task of the plan, with its allotment and its site (a set of nodes).
#[derive(Clone, Copy, Debug)]
struct Planned {
    task: TaskId,
    processors: u32,
    site: NodeSet,
}

/// Keeps a plan of the tasks that have not started: an order with allotments and, if nodes differ, sites.
/// [`crate::kernel::packing::Inserter`] places the started tasks first, and then inserts the tasks of the plan. The
/// plan contains the waiting tasks, the other tasks of their jobs, and all tasks of a given plan.
#[derive(Debug)]
pub(super) struct DependentPlan {
    improving: Improving,
    plan: Vec<Planned>,
    /// The tasks that have not started, and have arrived or belong to a job with a task that has arrived. Best-effort
    /// tasks are stored separately.
    pending: BTreeSet<TaskId>,
    best_effort: TaskSet,
    /// Tasks that ended without success.
    failed: FxHashSet<TaskId>,
    /// The position and the width of each task in the given plan: the plan with which the policy begins.
    given: FxHashMap<TaskId, (u32, u32)>,
    began: bool,
    /// The plan takes an unavailable period into account if the period begins before this instant.
    told: Time,
    promise: PromisedStart<()>,
    searches: Searches,
}

/// Returns whether a task is part of a graph, depends on other tasks, needs resources, or has its own time on each
/// machine. Such a task may be unable to start although enough processors are free.
pub(super) fn is_tied(instance: &Instance, task: TaskId) -> bool {
    instance.job_of(task).is_compound()
        || !instance.demands(task).is_empty()
        || !instance.incoming_edges(task).is_empty()
        || instance.profile(task).machine_times().is_some()
}

/// Returns whether a task is left out of the plan, and added after the planned tasks. Such a task belongs to a bag
/// without weight, and no task with a weight depends on it, directly or indirectly.
fn is_filled_in(instance: &Instance, task: TaskId) -> bool {
    let (mut seen, mut next) = (FxHashSet::default(), vec![task]);
    while let Some(task) = next.pop() {
        let job = instance.job_of(task);
        if !job.is_best_effort() {
            return false;
        }
        if seen.insert(job.first()) {
            next.extend(instance.outgoing(task).map(|edge| edge.to));
        }
    }
    true
}

impl DependentPlan {
    /// Returns an empty plan. `given` contains the position and the width of each task in the plan with which the
    /// policy begins.
    pub fn new(improving: Improving, seed: u64, given: FxHashMap<TaskId, (u32, u32)>) -> Self {
        Self {
            improving,
            plan: Vec::new(),
            pending: BTreeSet::new(),
            best_effort: TaskSet::new(),
            failed: FxHashSet::default(),
            given,
            began: false,
            told: Time::ZERO,
            promise: PromisedStart::new(improving.keep),
            searches: Searches { seed, count: 0 },
        }
    }

    /// Adds a waiting task and the other tasks of its job.
    fn learn(&mut self, task: TaskId, view: &View<'_>) {
        let job = view.instance.job_of(task);
        if is_filled_in(view.instance, task) {
            self.best_effort.insert(task);
        } else if job.is_compound() {
            let is_new = |task: &TaskId| view.ended.run(*task).is_none() && !self.failed.contains(task);
            let runs: FxHashSet<TaskId> = view.running.iter().map(|run| run.task).collect();
            let new = job.task_ids().filter(is_new).filter(|task| !runs.contains(task));
            self.pending.extend(new);
        } else {
            self.pending.insert(task);
        }
    }

    /// Processes events.
    fn hear(&mut self, events: &[Event], view: &View<'_>) {
        if !self.began {
            self.began = true;
            view.waiting.iter().for_each(|task| self.learn(task, view));
            let runs: FxHashSet<TaskId> = view.running.iter().map(|run| run.task).collect();
            let competes = |task: &TaskId| view.instance.has_task(*task) && !is_filled_in(view.instance, *task);
            let given = self.given.keys().copied().filter(competes);
            let waits = given.filter(|task| view.ended.run(*task).is_none() && !runs.contains(task));
            // The view does not report the end of a task on which no other task depends. So if a released task without
            // predecessors is not waiting, it has ended.
            let waits = waits.filter(|task| {
                view.waiting.contains(*task)
                    || !view.instance.incoming_edges(*task).is_empty()
                    || view.instance.release(*task) > view.now
            });
            self.pending.extend(waits);
        }
        for event in events {
            match *event {
                Event::Submitted(task) if view.waiting.contains(task) => self.learn(task, view),
                Event::Interrupted(task) if is_filled_in(view.instance, task) => {
                    self.best_effort.insert(task);
                }
                Event::Interrupted(task) => {
                    self.pending.insert(task);
                }
                Event::Failed(task) => {
                    self.failed.insert(task);
                    self.pending.remove(&task);
                    self.best_effort.remove(task);
                }
                Event::Finished(task) => {
                    self.pending.remove(&task);
                }
                _ => {}
            }
        }
    }

    /// Decides which tasks start at an instant. Returns whether a task starts, and the next instant at which this
    /// function must be called.
    ///
    /// Unavailable periods that begin after the end of the plan are ignored, so that they do not change the plan.
    pub fn on(
        &mut self,
        events: &[Event],
        view: &View<'_>,
        mut found: Option<DecodedList>,
        search: bool,
        decisions: &mut Vec<Decision>,
    ) -> (bool, Option<Time>) {
        self.hear(events, view);
        self.told = Time::ZERO;
        let mut searches = if search { SEARCHES } else { 0 };
        loop {
            let shown = shown(view.instance, view.now, self.told);
            let Ok(packing) = Packing::new(&shown) else { return (false, None) };
            if let Some(found) = found.take() {
                self.take(&packing, &found);
            }
            let (mut remains, listed) = self.planned(&packing, view, searches > 0);
            let all = self.with_best_effort(&packing, &mut remains, &listed, view);
            // If a task does not fit, take all unavailable periods into account, because any of them may be the
            // reason.
            let ends = remains.carry(&all).map(|carried| carried.ends().iter().max().copied().unwrap_or(0));
            let end = ends.map_or(Time::MAX, Time::from_ticks);
            if untold(view, self.told).is_some_and(|begin| begin < end) {
                (self.told, searches) = (end, searches.saturating_sub(1));
                continue;
            }
            let next = self.start(&packing, &mut remains, &all, view, decisions);
            self.remember(&packing, &listed);
            return (!decisions.is_empty(), next);
        }
    }

    /// Returns a list of the remaining tasks. If `search` is set, a search has improved the list.
    fn planned<'p, 'a>(
        &mut self,
        packing: &'p Packing<'a>,
        view: &View<'_>,
        search: bool,
    ) -> (Remains<'p, 'a>, DecodedList) {
        let survey = Survey::of(packing, view, self);
        let (mut listed, few) = self.listed(packing, view, &survey);
        let mut remains = loop {
            let begun = survey.begun(packing, view, &listed.list, &self.best_effort);
            let mut remains = Remains::new(packing, self.improving.objective, begun, &listed.list);
            match remains.carry(&listed) {
                Ok(_) => break remains,
                Err(at) if listed.list.len() > at + STUCK => listed.list.truncate(at),
                Err(at) => _ = listed.list.remove(at),
            }
        };
        if search && (!few.is_empty() || self.plan.is_empty()) {
            self.place_new(packing, &mut remains, &mut listed, &few);
        }
        if search {
            let steps = self.improving.steps.min(WORK / (listed.list.len() as u64).max(1));
            let mut course = SearchCourse::of(steps, &makespan_core::Stop::default());
            listed = remains.improve(listed, self.searches.next(), &mut course).1;
        }
        self.keep_promise(&mut remains, &mut listed, view);
        (remains, listed)
    }

    /// Returns the plan, into which the new tasks are inserted by their keys. Also returns the new tasks for which
    /// better positions may be searched.
    fn listed(&self, packing: &Packing<'_>, view: &View<'_>, survey: &Survey) -> (DecodedList, Vec<TaskId>) {
        let keys = Keys::of(packing, survey, self.improving.objective, &self.given);
        let chosen: FxHashSet<TaskId> = keys.chosen(packing, survey, MOST);
        let mut order: Vec<Planned> = self.plan.iter().filter(|at| chosen.contains(&at.task)).copied().collect();
        let known: FxHashSet<TaskId> = order.iter().map(|at| at.task).collect();
        let mut new: Vec<TaskId> = survey.alive.iter().copied().filter(|task| chosen.contains(task)).collect();
        new.retain(|task| !known.contains(task));
        new.sort_by(|&a, &b| keys.of_task(packing, a).cmp(&keys.of_task(packing, b)).then(a.cmp(&b)));
        for &task in &new {
            let key = keys.of_task(packing, task);
            let before = order.iter().rposition(|other| keys.of_task(packing, other.task) <= key);
            let processors = self.given.get(&task).map_or_else(|| width(packing, task, view), |given| given.1);
            order.insert(before.map_or(0, |before| before + 1), Planned { task, processors, site: NodeSet::ANY });
        }
        let few = new.len() <= FEW && order.len() <= PLACED;
        let few =
            if few { new.into_iter().filter(|task| !self.given.contains_key(task)).collect() } else { Vec::new() };
        let mut listed = DecodedList::inserted(order.iter().map(|at| entry(packing, at.task, at.processors)).collect());
        if order.iter().any(|at| at.site != NodeSet::ANY) {
            listed.sites.resize(packing.instance().tasks() as usize, NodeSet::ANY);
            order.iter().for_each(|at| listed.sites[at.task.index()] = at.site);
        }
        (listed, few)
    }

    /// Moves the tasks `few` to the best of some positions, with the best of some allotments. If there was no plan
    /// before this event, chooses the allotments of all tasks.
    fn place_new(
        &self,
        packing: &Packing<'_>,
        remains: &mut Remains<'_, '_>,
        listed: &mut DecodedList,
        few: &[TaskId],
    ) {
        if self.plan.is_empty() && self.given.is_empty() {
            remains.choose(listed);
            return;
        }
        for &task in few {
            let Some(mut at) = listed.list.iter().position(|entry| entry.task == task) else { continue };
            let (own, last) = (packing.choices_of(packing.row_of(task)), listed.list.len() - 1);
            let wanted = listed.list[at].choice;
            let middle = own.start + (wanted - own.start) / 2;
            let mut choices = vec![own.start, middle, wanted, (wanted * 2 - own.start).min(own.end - 1)];
            choices.sort_unstable();
            choices.dedup();
            let mut best = (remains.value(listed, f64::INFINITY), at, wanted);
            for place in [0, last / 8, last / 4, last / 2, last, at] {
                crate::kernel::move_to(&mut listed.list, at, place);
                at = place;
                for &choice in &choices {
                    listed.list[at].choice = choice;
                    let value = remains.value(listed, best.0);
                    if value < best.0 {
                        best = (value, place, choice);
                    }
                }
            }
            crate::kernel::move_to(&mut listed.list, at, best.1);
            listed.list[best.1].choice = best.2;
        }
    }

    /// If the task that has waited longest would start after its promised latest start, moves this task to the
    /// beginning of the list. Then renews the promise: this task waits at most twice as long as planned.
    fn keep_promise(&mut self, remains: &mut Remains<'_, '_>, listed: &mut DecodedList, view: &View<'_>) {
        if !self.promise.is_meant() {
            return;
        }
        let instance = view.instance;
        let waiting = listed.list.iter().map(|entry| entry.task).filter(|task| view.waiting.contains(*task));
        let Some(oldest) = waiting.min_by_key(|&task| (instance.release(task), task)) else {
            return self.promise.forget();
        };
        let planned = |remains: &mut Remains<'_, '_>, listed: &DecodedList| {
            let at = listed.list.iter().position(|entry| entry.task == oldest)?;
            Some(Time::from_ticks(remains.carry(listed).ok()?.starts()[at]))
        };
        let Some(mut start) = planned(remains, listed) else { return };
        let promised = self.promise.given();
        if promised.is_some_and(|(task, latest, ())| task == oldest && start > latest)
            && let Some(at) = listed.list.iter().position(|entry| entry.task == oldest)
        {
            crate::kernel::move_to(&mut listed.list, at, 0);
            match planned(remains, listed) {
                Some(earlier) if earlier < start => start = earlier,
                _ => crate::kernel::move_to(&mut listed.list, 0, at),
            }
        }
        self.promise.renew(oldest, start, (), view);
    }

    /// Stores a plan for the next event.
    fn remember(&mut self, packing: &Packing<'_>, listed: &DecodedList) {
        let site = |task: TaskId| listed.sites.get(task.index()).copied().unwrap_or(NodeSet::ANY);
        let planned = |&ListEntry { task, choice }: &ListEntry| {
            let processors = packing.choice(choice).processors;
            Planned { task, processors, site: site(task) }
        };
        self.plan = listed.list.iter().filter(|entry| self.pending.contains(&entry.task)).map(planned).collect();
    }

    /// Replaces the plan by a better plan of the same tasks.
    fn take(&mut self, packing: &Packing<'_>, found: &DecodedList) {
        if found.list.len() == self.plan.len() && found.list.iter().all(|entry| self.pending.contains(&entry.task)) {
            self.remember(packing, found);
        }
    }

    /// Returns whether the plan has fewer than two tasks. A search then cannot improve the plan.
    pub fn is_settled(&self) -> bool {
        self.plan.len() < 2
    }

    /// Returns the current plan, and a function that improves plans.
    pub fn improvement(&self, view: &View<'_>) -> Option<(DecodedList, Improvement<DecodedList>)> {
        let instance = shown(view.instance, view.now, self.told).into_owned();
        let (listed, begun) = {
            let packing = Packing::new(&instance).ok()?;
            let survey = Survey::of(&packing, view, self);
            let (listed, _) = self.listed(&packing, view, &survey);
            let begun = survey.begun(&packing, view, &listed.list, &TaskSet::new());
            (listed, begun)
        };
        let objective = self.improving.objective;
        let improve = move |plan: DecodedList, _: f64, random: ChaCha8Rng, course: &mut SearchCourse| {
            let Ok(packing) = Packing::new(&instance) else { return (f64::INFINITY, plan) };
            Remains::new(&packing, objective, begun.clone(), &plan.list).improve(plan, random, course)
        };
        Some((listed, Box::new(improve)))
    }
}

/// Returns the instance with the unavailable periods that have begun or begin before `told`. Later periods are
/// omitted. If they were not omitted, processors would differ by their closed periods and could not be treated as
/// equal.
fn shown(instance: &Instance, now: Time, told: Time) -> Cow<'_, Instance> {
    let counts = |period: &&Unavailable| is_told(period, now, told);
    if instance.unavailable().iter().all(|period| counts(&period)) {
        return Cow::Borrowed(instance);
    }
    let periods = instance.unavailable().iter().filter(counts).cloned().collect();
    let shown = Instance::new(instance.platform().clone(), instance.all_submitted(), periods);
    shown.map_or(Cow::Borrowed(instance), Cow::Owned)
}

/// Returns a task with its largest allotment of at most `processors` processors. If there is no such allotment, returns
/// the task with its smallest allotment.
fn entry(packing: &Packing<'_>, task: TaskId, processors: u32) -> ListEntry {
    let own = packing.choices_of(packing.row_of(task));
    let fits = own.clone().take_while(|&choice| packing.choice(choice).processors <= processors);
    ListEntry { task, choice: fits.last().unwrap_or(own.start) }
}

/// Returns the number of processors that minimises the total delay of a task and of the waiting tasks.
fn width(packing: &Packing<'_>, task: TaskId, view: &View<'_>) -> u32 {
    let (all, others) = (f64::from(view.instance.processors()), view.waiting.len() as f64);
    let cost = |choice: &u32| {
        let choice = packing.choice(*choice);
        choice.time as f64 * (all + others * f64::from(choice.processors))
    };
    let own = packing.choices_of(packing.row_of(task));
    own.min_by(|a, b| cost(a).total_cmp(&cost(b))).map_or(1, |choice| packing.choice(choice).processors)
}
