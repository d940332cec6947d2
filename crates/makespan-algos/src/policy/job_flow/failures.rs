//! Plans jobs again if their processors fail or the jobs become late.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use makespan_core::{Decision, Event, JobId, LoggedDecision, TaskId, Time, View};

use super::candidate::{Alone, longest};
use super::choice::{FlowChoice, delay, delayed};
use super::rules::{Serve, Spare};
use super::{JobFlow, is_untouched, placements};
use crate::kernel::graph::{GraphProblem, rank};
use crate::policy::again::calendars;
use crate::policy::jobs::as_graph;

/// A task is treated as late if it exceeds its estimate by more than the fraction 1 / `NOTICED` of the estimate.
const NOTICED: i64 = 10;

impl JobFlow {
    /// Returns whether these events raise an *alarm*, after which plans reserve time for failures. With
    /// [`Spare::Auto`], the first failure, interruption or late task raises an alarm.
    pub(super) fn is_alarmed(&mut self, events: &[Event], view: &View<'_>) -> bool {
        if self.disturbed {
            return false;
        }
        let overran = |task: TaskId| {
            let length = |(started, length): (Time, Time)| {
                let over = view.now - started - length;
                over.ticks().saturating_mul(NOTICED) > length.ticks()
            };
            self.keeper.run_of(task).is_some_and(length)
        };
        let wrong = |event: &Event| match *event {
            Event::NodeDown(_) | Event::Interrupted(_) => true,
            Event::Finished(task) => overran(task),
            _ => false,
        };
        self.disturbed = events.iter().any(wrong);
        let alarmed = self.disturbed && self.rules.spare == Spare::Auto;
        self.spares |= alarmed;
        alarmed
    }

    /// Plans a job again (moves it) in three cases:
    ///
    /// * The job has planned tasks on processors that are expected to be down.
    /// * The plan of the job was in time, but the job would now be late in the planned order.
    /// * There is an alarm, and the job has begun and leaves no time to repeat its longest task.
    ///
    /// Jobs that have begun are moved before all other jobs. In both groups, the most urgent jobs are moved first.
    /// Returns whether a job was moved.
    pub(super) fn rescue(
        &mut self,
        alarmed: bool,
        restated: bool,
        view: &View<'_>,
        decisions: &mut Vec<Decision>,
    ) -> bool {
        let mut stranded: Vec<JobId> =
            self.keeper.stranded(view).into_iter().map(|task| view.instance.job_id(task)).collect();
        stranded.dedup();
        let on_time = !alarmed && !restated && !self.keeper.is_behind(view.now);
        let endangered = if stranded.is_empty() && on_time {
            Vec::new()
        } else {
            self.keeper.project(view);
            self.endangered(alarmed, view)
        };
        let mut moved: Vec<(JobId, Option<Time>)> = stranded.iter().map(|&job| (job, None)).collect();
        let late = endangered.into_iter().filter(|(job, _)| !stranded.contains(job));
        moved.extend(late.map(|(job, finish)| (job, Some(finish))));
        if moved.is_empty() {
            return false;
        }
        let urgency = |job: JobId| (Reverse(view.instance.job(job).priority), self.records.deadline(job), job);
        moved.sort_by_cached_key(|&(job, _)| urgency(job));
        self.release(|job| stranded.contains(&job), view);
        let replans = self.rules.serve == Serve::Replan;
        let (fresh, begun): (Vec<_>, Vec<_>) = moved.into_iter().partition(|&(job, _)| is_untouched(view, job));
        // A job that has begun cannot be moved as a whole. So plan the remaining tasks of such jobs first, and then
        // the jobs without started tasks around them.
        let others = if replans && !begun.is_empty() { self.untouched(view) } else { Vec::new() };
        self.release(|job| others.contains(&job), view);
        for (job, finish) in begun {
            match finish {
                None => self.plan_rest(job, view),
                Some(finish) => self.hurry(job, finish, view),
            }
        }
        let mut waiting: Vec<JobId> = Vec::new();
        for (job, finish) in fresh {
            if others.contains(&job) {
                continue;
            }
            if finish.is_some() {
                self.release(|other| other == job, view);
            }
            if self.take_other_variant(job, view) {
                continue;
            }
            waiting.push(job);
            if !replans {
                self.plan(&[job], view, decisions);
            }
        }
        if replans {
            waiting.extend(others);
            if !waiting.is_empty() {
                waiting.extend(self.untouched(view));
                waiting.sort_unstable();
                waiting.dedup();
                self.plan(&waiting, view, decisions);
            }
        }
        true
    }

    /// If jobs are late, makes new plans for the remaining tasks of all jobs that have begun, by the rule of HEFT. Two
    /// orders of these jobs are tried: by deadline, and late jobs first. With [`Serve::Replan`], all jobs without
    /// started tasks are then planned around them. A new plan is used if it reduces the weight of late jobs. The
    /// weights of higher priorities are compared first.
    ///
    /// A new plan can be better, because old plans extend up to the deadlines and hold processors that late jobs now
    /// need.
    pub(super) fn close_up(&mut self, view: &View<'_>, decisions: &mut Vec<Decision>) {
        let untouched = if self.rules.serve == Serve::Replan { self.untouched(view) } else { Vec::new() };
        let planned = self.planned(view);
        let begun: Vec<JobId> = planned.iter().copied().filter(|&job| !is_untouched(view, job)).collect();
        if begun.is_empty() {
            return;
        }
        self.keeper.project(view);
        let all: Vec<JobId> = planned.into_iter().collect();
        let (mut least, late) = self.tardiness(&all, view);
        if late.is_empty() {
            return;
        }
        let mut by_deadline = begun;
        by_deadline.sort_by_key(|&job| (self.records.deadline(job), job));
        let mut late_first = by_deadline.clone();
        late_first.sort_by_key(|job| !late.contains(job));
        let orders = if late_first == by_deadline { vec![by_deadline] } else { vec![by_deadline, late_first] };
        for order in orders {
            let before = (self.keeper.clone(), self.records.clone(), self.log.len(), decisions.len());
            self.release(|job| order.contains(&job) || untouched.contains(&job), view);
            order.iter().for_each(|&job| self.plan_rest(job, view));
            self.plan(&untouched, view, decisions);
            let (weight, _) = self.tardiness(&all, view);
            if weight < least {
                least = weight;
            } else {
                (self.keeper, self.records) = (before.0, before.1);
                self.log.truncate(before.2);
                decisions.truncate(before.3);
            }
        }
    }

    /// Returns the weight and the number of late jobs for each priority, beginning with the highest. Also returns the
    /// late jobs.
    fn tardiness(&self, jobs: &[JobId], view: &View<'_>) -> (Vec<(i128, usize)>, Vec<JobId>) {
        let ends = self.ends(view);
        let mut by_priority: BTreeMap<Reverse<i32>, (i128, usize)> = BTreeMap::new();
        let mut all = Vec::new();
        for &job in jobs {
            let own = view.instance.job(job);
            let sum = by_priority.entry(Reverse(own.priority)).or_default();
            let deadline = self.records.deadline(job);
            // A job without an end was cancelled. Treat it as late.
            if ends.get(&job).is_none_or(|end| end.ticks() > deadline) {
                *sum = (sum.0 + i128::from(own.weight.millionths()), sum.1 + 1);
                all.push(job);
            }
        }
        (by_priority.into_values().collect(), all)
    }

    /// Returns the expected end of each job that has planned tasks.
    fn ends(&self, view: &View<'_>) -> BTreeMap<JobId, Time> {
        let mut ends: BTreeMap<JobId, Time> = BTreeMap::new();
        for at in self.keeper.upcoming() {
            let end = ends.entry(view.instance.job_id(at.task)).or_insert(Time::ZERO);
            *end = at.end.max(*end);
        }
        for run in view.running {
            if let Some(end) = ends.get_mut(&view.instance.job_id(run.task)) {
                *end = run.expected_end(view.instance, view.now).max(*end);
            }
        }
        ends
    }

    /// Returns the jobs that will be late although their plan was in time, with their expected ends. At an alarm, also
    /// returns jobs that have begun and leave no time to repeat their longest task.
    fn endangered(&self, alarmed: bool, view: &View<'_>) -> Vec<(JobId, Time)> {
        let is_late = |&(job, end): &(JobId, Time)| {
            let Some(entry) = self.records.get(job).filter(|entry| entry.in_time) else { return false };
            let spare = if alarmed && !is_untouched(view, job) { spare(view, job) } else { 0 };
            end.ticks().saturating_add(spare) > entry.deadline
        };
        self.ends(view).into_iter().filter(is_late).collect()
    }

    /// Plans the remaining tasks of a job that has begun, by the rule of HEFT. `finish` is the expected end of the job
    /// in the planned order. If the job ends before `finish` in the new plan, uses the new plan. Otherwise, keeps the
    /// old plan and records that the job ends at `finish`.
    fn hurry(&mut self, job: JobId, finish: Time, view: &View<'_>) {
        let before = self.keeper.clone();
        self.release(|other| other == job, view);
        if self.rest(job, view).1 < finish {
            self.plan_rest(job, view);
        } else {
            self.keeper = before;
            self.records.note_late(job, finish.ticks());
        }
    }

    /// If another variant of the strategy of a job can end in time, switches the job to this variant and returns true.
    /// No task of the job may have started. All tasks of a variant may be delayed equally. Among the variants that can
    /// end in time, the best one by the criterion of the method is used.
    fn take_other_variant(&mut self, job: JobId, view: &View<'_>) -> bool {
        let rules = self.rules;
        let Some((choice, from)) = self.records.get(job).and_then(|entry| {
            let choice = entry.choice.clone()?;
            let chosen = choice.chosen?;
            Some((choice, chosen))
        }) else {
            return false;
        };
        let alone = Alone::all(&[job], &rules, view);
        let Some(alone) = alone.first() else { return false };
        let candidate = self.candidate(alone);
        let calendars = calendars(view.instance.processors(), &self.keeper.taken(view));
        let now = view.now.ticks();
        let later = |at: usize| {
            let offer = &choice.variants[at];
            let offer = delayed(offer.clone(), delay(offer, &offer.held_until(candidate.real()), &calendars, now));
            (offer.finish <= candidate.deadline).then_some((at, offer))
        };
        let others = (0..choice.variants.len()).filter(|&at| at != from).filter_map(later);
        let criterion = rules.method.settings.criterion;
        let best = others.min_by_key(|(at, offer)| (candidate.shortfall(offer), offer.key(criterion), *at));
        let Some((to, offer)) = best else { return false };
        let mut variants = choice.variants;
        variants[to] = offer;
        let next: FlowChoice = candidate.taken(variants, to);
        let first = view.instance.job(job).first();
        self.keeper.add(placements(first, &next.offer.places, &next.until));
        let until = next.possible_until(candidate.deadline);
        self.records.note(job, candidate.deadline, next);
        self.tell(view, first, LoggedDecision::OtherVariant { from, to, until });
        true
    }
}

/// Returns the mean time of the longest task of a job, in ticks. The mean is over the processors.
fn spare(view: &View<'_>, job: JobId) -> i64 {
    let alone = view.instance.with_jobs(vec![as_graph(view.instance, job)]);
    longest(&rank::mean_times(&GraphProblem::new(&alone)))
}
