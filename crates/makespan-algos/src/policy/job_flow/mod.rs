//! A metascheduler for compound jobs that arrive over time. The metascheduler plans jobs by their strategies, one by
//! one or together.

mod budget;
mod candidate;
mod catalogue;
mod choice;
mod collective;
mod failures;
mod flow;
mod records;
mod rules;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use makespan_core::{
    Decision, Event, Instance, JobId, LogEntry, LoggedDecision, Placement, Policy, StartPlace, TaskId, TaskSet, Time,
    Unsupported, View,
};

use super::again::{PlanAgain, again, calendars};
use super::jobs::{new_jobs, unstarted};
use super::keeper::PlanKeeper;
use crate::kernel::chains::tariff::Tariff;
use crate::kernel::graph::TaskPlace;
use candidate::{Alone, FlowCandidate};
pub(super) use catalogue::ENTRY;
use choice::FlowChoice;
use flow::{FlowTable, HopelessJobs};
use records::JobRecords;
pub use rules::{Clock, Goal, JobFlowRules, Late, Serve, Spare};

/// Schedules a flow of jobs, each of which is a graph of tasks. For each job, a strategy computes several variants of
/// the job's plan. The job uses one variant, which determines the processors and times of all its tasks. If jobs are
/// planned one by one, each job uses the variant that is best for the job. If jobs are planned together, each job uses
/// the variant that is best for the whole flow.
///
/// [`Serve`] selects when jobs are planned: at each arrival, when the previous job has ended, when the time of a
/// buffer has ended, or again at each arrival until a task of the job has started. Jobs that are planned one by one
/// are planned in descending order of priority, then of weight, and then in the order of arrival. If jobs are planned
/// together, their order and variants minimise the total weight of late jobs. The weights of jobs with the highest
/// priority are compared first, and then the weights for each lower priority. Among plans with equal weights, the
/// number of late jobs that were not late in the previous plan is minimised. If plans are still equal, [`Goal`]
/// decides: the greatest utilisation, the least cost, or the least weighted sum of ends. A job that cannot meet its
/// deadline is planned by HEFT, with a warning in the log, or cancelled ([`Late`]). A single task is treated as a
/// graph of one task.
///
/// The tasks on each processor start in the planned order. A task starts as soon as its predecessors have ended. With
/// `starts=reserved`, no task starts before its reserved start, as in the paper. If nodes fail or run times deviate,
/// more jobs meet their deadlines with early starts than with reserved starts. Jobs are planned again when processors
/// go down, or when jobs that met their deadlines in the plan would now be late. A job without started tasks switches
/// to another variant of its strategy, which may begin somewhat later, or gets a new strategy. With [`Serve::Replan`],
/// all jobs without started tasks are planned again if the tasks of a started job had to move. The remaining tasks of
/// a started job are planned again around all other tasks, by the rule of HEFT. If planning the remaining tasks of all
/// started jobs together lowers the weight of late jobs, they are planned together. An interrupted task is treated as
/// a task that has not started. After the first failure or the first late task, plans reserve enough time to repeat
/// the longest task of each job, if possible (`Spare`).
///
/// Source: A. Tselishchev, V. V. Toporkov, "Compound job scheduling and job-flows management in distributed
/// computing", 54th IWK, Ilmenau 2009, section 4. Deviations: the paper mentions buffers, replanning and machine
/// failures, but does not describe them. Assumptions: every task accepts one processor and runs on one processor; at
/// most 256 processors. Complexity: to plan n jobs together, at most 400 schedules of all n jobs are made by HEFT, and
/// 4 n strategies are computed.
#[derive(Debug)]
pub struct JobFlow {
    rules: JobFlowRules,
    keeper: PlanKeeper,
    /// The prices of processors and the budgets of jobs. `None` if all processors have the same price and no job has a
    /// budget.
    tariff: Option<Tariff>,
    /// The charges for the ended tasks of each job with a budget.
    paid: BTreeMap<JobId, i64>,
    /// Whether plans reserve time for failures.
    spares: bool,
    /// Whether a failure or a late task has occurred.
    disturbed: bool,
    /// For each job, whether one of its tasks has arrived.
    heard: Vec<bool>,
    /// Jobs that wait to be planned.
    buffer: Vec<JobId>,
    /// The instant until which a buffer collects jobs.
    due: Time,
    records: JobRecords,
    log: Vec<LogEntry>,
    /// The log of an earlier session. After the first event, this field is empty.
    recalled: Vec<LogEntry>,
}

impl JobFlow {
    /// Returns a policy that follows `rules`.
    pub fn new(rules: JobFlowRules) -> Self {
        Self {
            rules,
            keeper: PlanKeeper::new(rules.starts),
            tariff: None,
            paid: BTreeMap::new(),
            spares: rules.spare == Spare::Always,
            disturbed: false,
            heard: Vec::new(),
            buffer: Vec::new(),
            due: Time::ZERO,
            records: JobRecords::default(),
            log: Vec::new(),
            recalled: Vec::new(),
        }
    }

    /// Returns true if no job waits to be planned and all planned tasks have ended.
    pub(super) fn is_idle(&self) -> bool {
        self.buffer.is_empty() && self.keeper.has_ended()
    }

    fn tell(&mut self, view: &View<'_>, task: TaskId, what: LoggedDecision) {
        self.log.push(LogEntry { time: view.now, task, what });
    }

    /// Applies changed run times. Discards strategies that rely on the old times. Returns whether a run time of a
    /// planned job has changed.
    fn restate(&mut self, restated: &TaskSet, view: &View<'_>) -> bool {
        if restated.is_empty() {
            return false;
        }
        self.keeper.restate(restated, view);
        let mut jobs: Vec<JobId> = restated.iter().map(|task| view.instance.job_id(task)).collect();
        jobs.dedup();
        let planned = self.planned(view);
        jobs.iter().for_each(|&job| self.records.forget_strategy(job));
        jobs.iter().any(|job| planned.contains(job))
    }

    /// Plans the jobs that are due. `changed` is set if processors have returned, run times have changed, or plans
    /// must reserve time for failures from now on.
    fn serve(&mut self, new: Vec<JobId>, changed: bool, view: &View<'_>, decisions: &mut Vec<Decision>) {
        match self.rules.serve {
            Serve::Arrival => self.plan(&new, view, decisions),
            Serve::Consecutive => {
                self.buffer.extend(new);
                while !self.buffer.is_empty() && view.running.is_empty() && self.keeper.is_empty() {
                    let urgency = |&at: &usize| {
                        let job = view.instance.job(self.buffer[at]);
                        (Reverse(job.priority), Reverse(job.weight), at)
                    };
                    let next = (0..self.buffer.len()).min_by_key(urgency).unwrap_or(0);
                    let next = self.buffer.remove(next);
                    self.plan(&[next], view, decisions);
                }
            }
            Serve::Buffer(length) => {
                if self.buffer.is_empty() && !new.is_empty() {
                    self.due = view.now + length;
                }
                self.buffer.extend(new);
                if self.due <= view.now {
                    let jobs = std::mem::take(&mut self.buffer);
                    self.plan(&jobs, view, decisions);
                } else if !self.buffer.is_empty() {
                    decisions.push(Decision::WakeAt(self.due));
                }
            }
            Serve::Replan if new.is_empty() && !changed => {}
            Serve::Replan => {
                let mut jobs = self.untouched(view);
                jobs.extend(new);
                self.plan(&jobs, view, decisions);
            }
        }
    }

    /// Returns the planned jobs without started tasks.
    fn untouched(&self, view: &View<'_>) -> Vec<JobId> {
        let mut planned = self.planned(view);
        planned.retain(|&job| is_untouched(view, job));
        planned.into_iter().collect()
    }

    /// Returns the jobs with planned tasks that have not started.
    fn planned(&self, view: &View<'_>) -> BTreeSet<JobId> {
        self.keeper.upcoming().map(|at| view.instance.job_id(at.task)).collect()
    }

    /// Plans the jobs `jobs` around all other jobs.
    fn plan(&mut self, jobs: &[JobId], view: &View<'_>, decisions: &mut Vec<Decision>) {
        if jobs.is_empty() {
            return;
        }
        // If a job began in an earlier session, plan only its remaining tasks.
        let (jobs, begun): (Vec<JobId>, Vec<JobId>) = jobs.iter().partition(|&&job| is_untouched(view, job));
        self.release(|job| jobs.contains(&job) || begun.contains(&job), view);
        begun.into_iter().for_each(|job| self.plan_rest(job, view));
        if jobs.is_empty() {
            return;
        }
        let rules = self.rules;
        let alone = Alone::all(&jobs, &rules, view);
        let candidates = alone.iter().map(|alone| self.candidate(alone)).collect();
        let calendars = calendars(view.instance.processors(), &self.keeper.taken(view));
        let table = FlowTable { rules: &rules, candidates, calendars };
        let flow = match rules.serve {
            Serve::Arrival | Serve::Consecutive => table.in_turn(),
            Serve::Buffer(_) | Serve::Replan => table.collective(),
        };
        for (candidate, choice) in table.candidates.iter().zip(flow.choices) {
            self.settle(candidate, &choice, view, decisions);
        }
    }

    fn candidate<'a>(&self, alone: &'a Alone) -> FlowCandidate<'a> {
        FlowCandidate::new(alone, &self.rules, &self.records, self.spares, self.tariff.as_ref())
    }

    /// Records and logs the plan of one job. Then reserves the processors of the plan or, if the plan cancels the job,
    /// cancels its tasks.
    fn settle(
        &mut self,
        candidate: &FlowCandidate,
        choice: &FlowChoice,
        view: &View<'_>,
        decisions: &mut Vec<Decision>,
    ) {
        let job = candidate.job;
        let own = view.instance.job(job);
        let (finish, deadline) = (Time::from_ticks(choice.offer.finish), Time::from_ticks(candidate.deadline));
        if self.records.note(job, candidate.deadline, choice.clone()) {
            self.tell(
                view,
                own.first(),
                match choice.chosen {
                    None if choice.given_up && !candidate.affords(&choice.offer) => {
                        LoggedDecision::Unaffordable { cost: choice.offer.cost.into(), budget: candidate.budget.into() }
                    }
                    None if choice.given_up => LoggedDecision::Rejected { finish, deadline },
                    None => LoggedDecision::Fallback { finish, deadline },
                    Some(_) => {
                        let (variants, until) = (choice.variants.len(), choice.possible_until(candidate.deadline));
                        LoggedDecision::Planned { variants, finish, cost: choice.offer.cost.into(), deadline, until }
                    }
                },
            );
            for collision in &choice.offer.collisions {
                let spot = |place: TaskPlace| StartPlace {
                    processor: place.processor.0,
                    start: Time::from_ticks(place.start),
                };
                let (planned, resolved) = (spot(collision.planned), spot(collision.resolved));
                let what = LoggedDecision::Collision { planned, resolved, penalty: collision.penalty };
                self.tell(view, own.task(collision.task), what);
            }
        }
        if choice.given_up {
            let waiting = own.task_ids().filter(|&task| view.waiting.contains(task));
            decisions.extend(waiting.map(Decision::Cancel));
        } else {
            self.keeper.add(placements(own.first(), &choice.offer.places, &choice.until));
        }
    }

    /// Removes the reservations of the jobs that `which` accepts, and updates the expected starts of all other jobs.
    fn release(&mut self, which: impl Fn(JobId) -> bool, view: &View<'_>) {
        self.keeper.remove(|task| which(view.instance.job_id(task)));
        self.keeper.project(view);
    }

    /// Plans the remaining tasks of a job by the rule of HEFT, and by each variant of its strategy. Returns the
    /// placements with the earliest end of the job, and this end. If all tasks have started, there are no placements.
    fn rest(&self, job: JobId, view: &View<'_>) -> (Vec<Placement>, Time) {
        let left = unstarted(view, job);
        let calendars = calendars(view.instance.processors(), &self.keeper.taken(view));
        let limit = self.limit(job, view);
        let plan = |lead| again(view, job, &left, &mut calendars.clone(), PlanAgain { limit, lead });
        let last = |places: &[Placement]| places.iter().map(|at| at.end).max();
        let mut places = plan(None);
        let choice = self.records.get(job).and_then(|entry| entry.choice.as_ref());
        for variant in choice.into_iter().flat_map(|choice| &choice.variants) {
            let other = plan(Some(variant.places.as_slice()));
            if last(&other) < last(&places) {
                places = other;
            }
        }
        let own = view.instance.job(job);
        let running = view.running.iter().filter(|running| own.has_task(running.task));
        let ends = running.map(|running| running.expected_end(view.instance, view.now));
        let finish = ends.chain(places.iter().map(|at| at.end)).fold(view.now, Time::max);
        (places, finish)
    }

    /// Plans and reserves the remaining tasks of a job by the rule of HEFT.
    fn plan_rest(&mut self, job: JobId, view: &View<'_>) {
        let (places, finish) = self.rest(job, view);
        if places.is_empty() {
            return;
        }
        self.keeper.add(places);
        self.records.note_again(job, finish.ticks());
        self.tell(view, view.instance.job(job).first(), LoggedDecision::PlannedAgain { finish });
    }
}

/// Returns whether no task of a job has started and all tasks can still start.
fn is_untouched(view: &View<'_>, job: JobId) -> bool {
    unstarted(view, job).len() as u64 == view.instance.job(job).tasks()
}

/// Returns the placements of consecutive tasks, beginning with `first`. Each task holds its place until its instant in
/// `until`.
fn placements(first: TaskId, places: &[TaskPlace], until: &[i64]) -> Vec<Placement> {
    let placement = |(number, (place, &until)): (u64, (&TaskPlace, &i64))| Placement {
        task: TaskId(first.0 + number),
        start: Time::from_ticks(place.start),
        end: Time::from_ticks(until),
        processors: place.processor.alone(),
    };
    (0..).zip(places.iter().zip(until)).map(placement).collect()
}

impl FlowTable<'_> {
    /// Plans the jobs one by one, by urgency.
    fn in_turn(&self) -> flow::Collective {
        self.one_by_one(&self.order_by(FlowCandidate::urgency), HopelessJobs::InTurn)
    }
}

impl Policy for JobFlow {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        for entry in std::mem::take(&mut self.recalled) {
            self.records.recall(view.instance.job_id(entry.task), &entry.what);
        }
        let alarmed = self.is_alarmed(events, view);
        if self.disturbed {
            self.keeper.depart();
        }
        self.pay(events, view);
        events.iter().for_each(|event| self.keeper.hear(event));
        for event in events {
            if let Event::Submitted(task) = *event
                && self.records.is_given_up(view.instance.job_id(task))
            {
                decisions.push(Decision::Cancel(task));
            }
        }
        let new = new_jobs(&mut self.heard, events, view.instance);
        let restated = self.restate(&Event::estimated(events, view.instance), view);
        let moved = self.rescue(alarmed, restated, view, decisions);
        let repaired = events.iter().any(|event| matches!(event, Event::NodeUp(_)));
        let changed = moved || repaired || restated || !new.is_empty();
        self.serve(new, repaired || alarmed || restated, view, decisions);
        if self.disturbed && changed {
            self.close_up(view, decisions);
        }
        self.keeper.start(view, decisions);
    }

    fn log(&mut self) -> Vec<LogEntry> {
        std::mem::take(&mut self.log)
    }

    fn recall(&mut self, told: &[LogEntry]) {
        self.recalled = told.to_vec();
    }
}

/// Checks that the method can plan all jobs of an instance.
///
/// # Errors
/// The unsupported property of the instance.
pub(super) fn supports(instance: &Instance) -> Result<(), Unsupported> {
    let supported = |instance: &Instance| {
        crate::scheduler::CriticalJobs::supports_or(instance, "the policy `follow[scheduler=list]`")
    };
    if !instance.has_bags() {
        return supported(instance);
    }
    // Check one task of each bag, because the tasks of a bag are equal.
    let jobs = instance.ids().map(|job| instance.submitted(job).without_copies());
    supported(&instance.with_jobs(jobs.collect()))
}
