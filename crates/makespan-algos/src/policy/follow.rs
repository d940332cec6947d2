//! Plans of jobs, whose order is kept.

use makespan_core::{
    Context, Decision, Event, Instance, Job, JobId, Placement, Plan, Policy, Schedule, Scheduler, TaskId, View,
};

use super::again::{again, calendars};
use super::jobs::{new_jobs, unstarted};
use super::keeper::{Departure, PlanKeeper};

/// Plans every job when it comes, with all its tasks, around what is planned already, and keeps on each
/// processor the order of the plan, whatever the tasks really take.
///
/// A task starts on its planned processors as soon as all that is planned before it there has ended and its data are
/// there. Where times are as estimated a plan in which no task could start earlier in the same order, as those of list
/// schedulers, happens exactly. When processors go down, or stay down for longer than was expected, the jobs that have a
/// task there to come are planned again around the others: by the scheduler if none of their tasks has started, or if
/// these wait for nothing, else those that have not by the rule of HEFT. Estimates that change leave the order and the processors
/// of a plan as they are.
///
/// Source: Makespan. Static plans whose order is kept at run time are what H. Topcuoglu, S. Hariri, M.-Y. Wu, IEEE Trans.
/// Parallel Distrib. Syst. 13(3), 2002, DOI 10.1109/71.993206, plan for. Complexity: an event looks at planned tasks in
/// order until each processor has one that waits; a job that comes, or has to move, costs a plan.
pub struct Follow {
    scheduler: Box<dyn Scheduler>,
    seed: u64,
    keeper: PlanKeeper,
    /// Which jobs are planned.
    planned: Vec<bool>,
}

impl Follow {
    /// A policy that plans by `scheduler`; each plan uses the same seed.
    pub fn new(scheduler: Box<dyn Scheduler>, seed: u64) -> Self {
        Self { scheduler, seed, keeper: PlanKeeper::new(Departure::KeepOrder), planned: Vec::new() }
    }

    /// The same with a plan already made for all jobs of this instance.
    pub fn with_plan(scheduler: Box<dyn Scheduler>, seed: u64, instance: &Instance, plan: &Schedule) -> Self {
        let mut policy = Self { planned: vec![true; instance.jobs().len()], ..Self::new(scheduler, seed) };
        policy.keeper.add(plan.placements().iter().cloned());
        policy
    }

    /// Plans these jobs with all their tasks around all that runs, is planned or closed; of a bag that has begun, the tasks
    /// that wait. Whether the scheduler could; else nothing is done.
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
            // Who is heard of waits for no job that has not ended.
            job.after.clear();
        }
        let taken = self.keeper.taken(view);
        let Ok(planned) = Instance::new(instance.platform().clone(), jobs, taken) else { return false };
        let planned = planned.holding(self.keeper.held(view));
        let mut context = Context::with_seed(self.seed);
        // What is supported as a whole is supported in part: the policy is made for an instance that is.
        let plan = self.scheduler.schedule(&planned, &mut context).ok().and_then(Plan::into_schedule);
        let Some(plan) = plan else { return false };
        let named = |at: &Placement| {
            let first = firsts[planned.job_id(at.task).index()];
            Placement { task: TaskId(first.0 + u64::from(planned.number(at.task))), ..at.clone() }
        };
        self.keeper.add(plan.placements().iter().map(named));
        true
    }

    /// Plans the jobs again that have tasks on processors that are down.
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
                // The rule of HEFT knows places of one processor: they wait for the repair.
                self.keeper.add(before);
            } else if begun && own.is_compound() {
                self.keeper.project(view);
                let mut calendars = calendars(instance.processors(), &self.keeper.taken(view));
                self.keeper.add(again(view, job, &left, &mut calendars));
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
