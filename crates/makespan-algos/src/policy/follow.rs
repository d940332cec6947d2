//! A policy that plans jobs on arrival and keeps the order of the plans.

use makespan_core::{Decision, Event, Instance, Job, JobId, Placement, Policy, Schedule, TaskId, View};

use super::again::{PlanAgain, again, calendars};
use super::jobs::{new_jobs, unstarted};
use super::keeper::{Departure, PlanKeeper};
use crate::plan::{Context, Plan, Scheduler};

/// Plans every job on arrival, with all its tasks, around the existing plans.
///
/// On each processor, tasks run in the order of the plan, even if their run times differ from the estimates. A task
/// starts on its planned processors when all earlier tasks on these processors have ended and its data have arrived.
/// In plans of list schedulers, no task could start earlier in the planned order. If run times equal the estimates,
/// such a plan is executed exactly.
///
/// If processors fail, or stay down for longer than expected, the jobs with remaining tasks on these processors are
/// planned again around all other jobs. The scheduler plans such a job if none of its tasks has started, or if its
/// tasks do not depend on each other. Otherwise, its remaining tasks are planned by the rule of HEFT. Changes of the
/// estimates do not change the order and the processors of a plan.
///
/// Source: Makespan. H. Topcuoglu, S. Hariri, M.-Y. Wu, IEEE Trans. Parallel Distrib. Syst. 13(3), 2002, DOI
/// 10.1109/71.993206, also assume static plans with an order that is kept at run time. Complexity: an event visits
/// planned tasks in order until it has found a waiting task for each processor. For each job that arrives or is planned
/// again, the scheduler makes one plan.
pub struct Follow {
    scheduler: Box<dyn Scheduler>,
    seed: u64,
    keeper: PlanKeeper,
    /// For each job, whether it has been planned.
    planned: Vec<bool>,
}

impl Follow {
    /// Returns a policy that plans with `scheduler`. Each plan uses the same seed.
    pub fn new(scheduler: Box<dyn Scheduler>, seed: u64) -> Self {
        Self { scheduler, seed, keeper: PlanKeeper::new(Departure::KeepOrder), planned: Vec::new() }
    }

    /// Returns a policy that begins with `plan`, which must contain all jobs of the instance.
    pub fn with_plan(scheduler: Box<dyn Scheduler>, seed: u64, instance: &Instance, plan: &Schedule) -> Self {
        let mut policy = Self { planned: vec![true; instance.jobs().len()], ..Self::new(scheduler, seed) };
        policy.keeper.add(plan.placements().iter().cloned());
        policy
    }

    /// Plans the jobs `new` with all their tasks, around running tasks, planned tasks and closed processors. If a bag
    /// has begun, only its waiting tasks are planned. Returns whether the scheduler could plan the jobs. If it could
    /// not, nothing changes.
    fn plan(&mut self, new: &[JobId], view: &View<'_>) -> bool {
        let View { now, instance, .. } = *view;
        self.keeper.project(view);
        let (mut firsts, mut jobs): (Vec<TaskId>, Vec<Job>) = (Vec::new(), Vec::new());
        for &job in new {
            let own = instance.job(job);
            let left = if own.is_bag() { unstarted(view, job) } else { Vec::new() };
            if own.is_bag() && (left.len() as u64) < own.tasks() {
                jobs.extend(left.iter().map(|&task| instance.alone(task)));
                firsts.extend(left);
            } else {
                jobs.push(instance.submitted(job));
                firsts.push(own.first());
            }
        }
        for job in &mut jobs {
            job.release = job.release.max(now);
            job.deadline = job.deadline.map(|deadline| deadline.max(now));
            // Remove the dependences between jobs. When a job is submitted, all jobs that it waits for have ended.
            job.after.clear();
        }
        let taken = self.keeper.taken(view);
        let Ok(planned) = Instance::new(instance.platform().clone(), jobs, taken) else { return false };
        let planned = planned.holding(self.keeper.held(view));
        let mut context = Context::with_seed(self.seed);
        // The scheduler supports these jobs, because it supports the whole instance. (The policy is created only for
        // such instances.)
        let plan = self.scheduler.schedule(&planned, &mut context).ok().and_then(Plan::into_schedule);
        let Some(plan) = plan else { return false };
        let named = |at: &Placement| {
            let first = firsts[planned.job_id(at.task).index()];
            Placement { task: TaskId(first.0 + u64::from(planned.number(at.task))), ..at.clone() }
        };
        self.keeper.add(plan.placements().iter().map(named));
        true
    }

    /// Plans jobs again if they have planned tasks on processors that are down.
    fn move_stranded(&mut self, view: &View<'_>) {
        let instance = view.instance;
        let mut moved: Vec<JobId> = self.keeper.stranded(view).into_iter().map(|task| instance.job_id(task)).collect();
        moved.dedup();
        for job in moved {
            let (left, own) = (unstarted(view, job), instance.job(job));
            let before: Vec<Placement> = self.keeper.upcoming().filter(|at| own.has_task(at.task)).cloned().collect();
            self.keeper.remove(|task| own.has_task(task));
            let begun = (left.len() as u64) < own.tasks();
            let needy = |task: &TaskId| !instance.profile(*task).is_sequential() || !instance.demands(*task).is_empty();
            if begun && own.is_compound() && left.iter().any(needy) {
                // Keep the old plan of this job, because the rule of HEFT supports only tasks that run on one
                // processor and need no resources. The tasks wait until the processors are repaired.
                self.keeper.add(before);
            } else if begun && own.is_compound() {
                self.keeper.project(view);
                let mut calendars = calendars(instance.processors(), &self.keeper.taken(view));
                self.keeper.add(again(view, job, &left, &mut calendars, PlanAgain::default()));
            } else if !self.plan(&[job], view) {
                self.keeper.add(before);
            }
        }
    }
}

impl Policy for Follow {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        events.iter().for_each(|event| self.keeper.hear(event));
        self.keeper.restate(&Event::estimated(events, view.instance), view);
        self.move_stranded(view);
        let new = new_jobs(&mut self.planned, events, view.instance);
        if !new.is_empty() {
            self.plan(&new, view);
        }
        self.keeper.start(view, decisions);
    }
}
