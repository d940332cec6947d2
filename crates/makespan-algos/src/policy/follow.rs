//! Plans of whole jobs, whose order is kept.

use makespan_core::{
    Context, Decision, Event, Instance, Job, JobId, Placement, Plan, Policy, Schedule, Scheduler, Unsupported, View,
};

use super::again::{again, calendars};
use super::reserved::{Reservations, Starts};
use super::wholes::{new_wholes, tasks, unstarted, whole_job, whole_of, wholes};

/// Plans every job when it comes, compound ones with all their tasks, around what is planned already, and keeps on each
/// processor the order of the plan, whatever the tasks really take.
///
/// A task starts on its planned processors as soon as all that is planned before it there has ended and its data are
/// there. Where times are as estimated a plan in which no task could start earlier in the same order, as those of list
/// schedulers, happens exactly. When processors go down, or stay down for longer than was expected, the jobs that have a
/// task there to come are planned again around the others: by the scheduler if none of their tasks has started, else
/// those that have not by the rule of HEFT.
///
/// Source: Makespan. Static plans whose order is kept at run time are what H. Topcuoglu, S. Hariri, M.-Y. Wu, IEEE Trans.
/// Parallel Distrib. Syst. 13(3), 2002, DOI 10.1109/71.993206, plan for. Complexity: an event looks at planned tasks in
/// order until each processor has one that waits; a job that comes, or has to move, costs a plan.
pub struct Follow {
    scheduler: Box<dyn Scheduler>,
    seed: u64,
    reservations: Reservations,
    /// Which whole jobs are planned.
    planned: Vec<bool>,
}

impl Follow {
    /// A policy that plans by `scheduler`; each plan uses the same seed.
    pub fn new(scheduler: Box<dyn Scheduler>, seed: u64) -> Self {
        Self { scheduler, seed, reservations: Reservations::new(Starts::Early), planned: Vec::new() }
    }

    /// The same with a plan already made for all jobs of this instance.
    pub fn with_plan(scheduler: Box<dyn Scheduler>, seed: u64, instance: &Instance, plan: &Schedule) -> Self {
        let mut policy = Self { planned: vec![true; wholes(instance)], ..Self::new(scheduler, seed) };
        policy.reservations.add(plan.placements().iter().cloned());
        policy
    }

    /// Plans these whole jobs around all that runs, is planned or closed. Whether the scheduler could; else nothing is done.
    fn plan(&mut self, new: &[usize], view: &View<'_>) -> bool {
        let View { now, instance, .. } = *view;
        self.reservations.project(view);
        let wholes = new.iter().map(|&whole| whole_job(instance, whole));
        let (firsts, jobs): (Vec<JobId>, Vec<Job>) = wholes.unzip();
        let jobs = jobs.into_iter().map(|job| {
            let release = job.release.max(now);
            job.with_release(release)
        });
        let taken = self.reservations.taken(view);
        let Ok(instance) = Instance::new(instance.platform().clone(), jobs.collect(), taken) else { return false };
        let mut context = Context::with_seed(self.seed);
        // What is supported as a whole is supported in part: the policy is made for an instance that is.
        let plan = self.scheduler.schedule(&instance, &mut context).ok().and_then(Plan::into_schedule);
        let Some(plan) = plan else { return false };
        let named =
            |at: &Placement| Placement { job: JobId(firsts[at.job.index()].0 + at.task), task: 0, ..at.clone() };
        self.reservations.add(plan.placements().iter().map(named));
        true
    }

    /// Plans the whole jobs again that have tasks on processors that are down.
    fn move_stranded(&mut self, view: &View<'_>) {
        let instance = view.instance;
        let mut moved: Vec<usize> =
            self.reservations.stranded(view).into_iter().map(|job| whole_of(instance, job)).collect();
        moved.dedup();
        for whole in moved {
            let left = unstarted(view, whole);
            let is_of_whole = |job: JobId| whole_of(instance, job) == whole;
            let before: Vec<Placement> =
                self.reservations.upcoming().filter(|at| is_of_whole(at.job)).cloned().collect();
            self.reservations.remove(is_of_whole);
            let begun = left.len() < tasks(instance, whole).count();
            if begun {
                self.reservations.project(view);
                let mut calendars = calendars(instance.processors(), &self.reservations.taken(view));
                self.reservations.add(again(view, whole, &left, &mut calendars));
            } else if !self.plan(&[whole], view) {
                self.reservations.add(before);
            }
        }
    }
}

/// Whether the whole jobs of an instance are such as a scheduler plans.
///
/// # Errors
/// What it does not plan.
pub(super) fn supports(scheduler: &dyn Scheduler, instance: &Instance) -> Result<(), Unsupported> {
    let jobs = (0..wholes(instance)).map(|whole| whole_job(instance, whole).1);
    scheduler.supports(&instance.with_jobs(jobs.collect()))
}

impl Policy for Follow {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        events.iter().for_each(|event| self.reservations.hear(event));
        self.move_stranded(view);
        let new = new_wholes(&mut self.planned, events, view.instance);
        if !new.is_empty() {
            self.plan(&new, view);
        }
        self.reservations.start(view, decisions);
    }
}
