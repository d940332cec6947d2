//! Plans of whole jobs, whose order is kept.

use makespan_core::{
    Context, Decision, Ended, Event, Instance, Job, JobId, Placement, Policy, ProcSet, Schedule, Scheduler, Time,
    Unavailable, Unsupported, View,
};

/// Plans every job when it comes, compound ones with all their tasks, around what is planned already, and keeps on each
/// processor the order of the plan, whatever the tasks really take.
///
/// A task starts on its planned processors as soon as all that is planned before it there has ended and its data are
/// there. Where times are as estimated a plan in which no task could start earlier in the same order, as those of list
/// schedulers, happens exactly. Nothing is planned twice: a task whose processors are down waits for them.
///
/// Source: Makespan. Static plans whose order is kept at run time are what H. Topcuoglu, S. Hariri, M.-Y. Wu, IEEE Trans.
/// Parallel Distrib. Syst. 13(3), 2002, DOI 10.1109/71.993206, plan for. Complexity: an event looks at planned tasks in
/// order until each processor has one that waits; a job that comes costs a plan.
pub struct Follow {
    scheduler: Box<dyn Scheduler>,
    seed: u64,
    /// Planned and not started, in the order of planned starts.
    upcoming: Vec<Placement>,
    /// Where the jobs that run were planned, should they be interrupted.
    running: Vec<Placement>,
    /// Which whole jobs are planned.
    planned: Vec<bool>,
}

impl Follow {
    /// A policy that plans by `scheduler`; each plan uses the same seed.
    pub fn new(scheduler: Box<dyn Scheduler>, seed: u64) -> Self {
        Self { scheduler, seed, upcoming: Vec::new(), running: Vec::new(), planned: Vec::new() }
    }

    /// The same with a plan already made for all jobs of this instance.
    pub fn with_plan(scheduler: Box<dyn Scheduler>, seed: u64, instance: &Instance, plan: &Schedule) -> Self {
        let mut policy = Self { planned: vec![true; wholes(instance)], ..Self::new(scheduler, seed) };
        policy.upcoming = plan.placements().to_vec();
        policy.sort();
        policy
    }

    fn sort(&mut self) {
        self.upcoming.sort_by_key(|placement| (placement.start, placement.end, placement.job));
    }

    fn hear(&mut self, event: &Event) {
        match *event {
            Event::Finished(job) => self.running.retain(|placement| placement.job != job),
            Event::Failed(job) => {
                self.running.retain(|placement| placement.job != job);
                self.upcoming.retain(|placement| placement.job != job);
            }
            Event::Interrupted(job) => {
                if let Some(at) = self.running.iter().position(|placement| placement.job == job) {
                    self.upcoming.push(self.running.swap_remove(at));
                    self.sort();
                }
            }
            Event::NodeUp(_) | Event::NodeDown(_) | Event::Submitted(_) | Event::Wake => {}
        }
    }

    /// The whole jobs of which a task came for the first time, ascending.
    fn new_wholes(&mut self, events: &[Event], instance: &Instance) -> Vec<usize> {
        self.planned.resize(wholes(instance), false);
        let mut new = Vec::new();
        for event in events {
            if let Event::Submitted(job) = *event {
                let whole = instance.precedence().map_or(job.index(), |precedence| precedence.whole_of(job));
                if !std::mem::replace(&mut self.planned[whole], true) {
                    new.push(whole);
                }
            }
        }
        new.sort_unstable();
        new
    }

    /// Plans these whole jobs around all that runs, is planned or closed. Nothing is done if the scheduler cannot.
    fn plan(&mut self, new: &[usize], view: &View<'_>) {
        let View { now, instance, .. } = *view;
        self.project(view);
        let period = |processors: &ProcSet, end| Unavailable { processors: processors.clone(), start: Time::ZERO, end };
        let held = view.running.iter().map(|run| period(&run.processors, run.expected_end(instance, now)));
        let planned = self.upcoming.iter().map(|at| Unavailable { start: at.start, ..period(&at.processors, at.end) });
        let given = instance.unavailable().iter().filter(|period| period.end > now).cloned();
        let closed = given.chain(view.down.iter().cloned()).chain(held).chain(planned).collect();
        let wholes = new.iter().map(|&whole| whole_job(instance, whole));
        let (firsts, jobs): (Vec<JobId>, Vec<Job>) = wholes.unzip();
        let jobs = jobs.into_iter().map(|job| {
            let release = job.release.max(now);
            job.with_release(release)
        });
        let Ok(instance) = Instance::new(instance.platform().clone(), jobs.collect(), closed) else { return };
        let mut context = Context::with_seed(self.seed);
        // What is supported as a whole is supported in part: the policy is made for an instance that is.
        let Ok(plan) = self.scheduler.schedule(&instance, &mut context) else { return };
        let named =
            |at: &Placement| Placement { job: JobId(firsts[at.job.index()].0 + at.task), task: 0, ..at.clone() };
        self.upcoming.extend(plan.into_schedule().placements().iter().map(named));
        self.sort();
    }

    /// Moves what is planned to where its order now leads, by estimates, and later only. What waits for something stays
    /// behind it, so that plans made around it can be followed together.
    fn project(&mut self, view: &View<'_>) {
        let instance = view.instance;
        let mut open = vec![view.now; instance.processors() as usize];
        let mut ends: Vec<Option<(Time, ProcSet)>> = vec![None; instance.jobs().len()];
        for run in view.running {
            let end = run.expected_end(instance, view.now);
            run.processors.iter().for_each(|id| open[id as usize] = end);
            ends[run.job.index()] = Some((end, run.processors.clone()));
        }
        for at in &mut self.upcoming {
            let length = at.end - at.start;
            let free = at.processors.iter().map(|id| open[id as usize]);
            let dependences = instance.precedence().map_or(&[][..], |precedence| precedence.incoming(at.job));
            let expected = Ended::new(&ends);
            let arrival = |of| {
                let ended = view.ended.arrival(instance, of, &at.processors);
                ended.or_else(|| expected.arrival(instance, of, &at.processors))
            };
            at.start = free.chain(dependences.iter().filter_map(arrival)).fold(at.start, Time::max);
            at.end = at.start + length;
            at.processors.iter().for_each(|id| open[id as usize] = at.end);
            ends[at.job.index()] = Some((at.end, at.processors.clone()));
        }
        self.sort();
    }

    /// Starts what may start, in the order of the plan on each processor, and asks to be woken for what has to wait for
    /// its data or for the end of an unavailable period.
    fn start(&mut self, view: &View<'_>, decisions: &mut Vec<Decision>) {
        let mut before = ProcSet::new();
        let mut wake: Option<Time> = None;
        let mut left = Vec::with_capacity(self.upcoming.len());
        let mut upcoming = std::mem::take(&mut self.upcoming).into_iter();
        while before.len() < view.instance.processors()
            && let Some(at) = upcoming.next()
        {
            // Ended before this policy began.
            if view.ended.run(at.job).is_some() {
                continue;
            }
            let turn = at.processors.is_disjoint(&before);
            before.insert(&at.processors);
            if turn && view.waiting.contains(at.job) {
                match opening(view, &at) {
                    // Held by others: their end is an event.
                    None if !at.processors.is_subset(view.free) => {}
                    None => {
                        decisions.push(Decision::Start { job: at.job, processors: at.processors.clone() });
                        self.running.push(at);
                        continue;
                    }
                    Some(later) => wake = Some(wake.map_or(later, |wake| wake.min(later))),
                }
            }
            left.push(at);
        }
        left.extend(upcoming);
        self.upcoming = left;
        decisions.extend(wake.map(Decision::WakeAt));
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
        events.iter().for_each(|event| self.hear(event));
        let new = self.new_wholes(events, view.instance);
        if !new.is_empty() {
            self.plan(&new, view);
        }
        self.start(view, decisions);
    }
}

/// When to look again at a task that has its turn; `None` when it may start now.
fn opening(view: &View<'_>, at: &Placement) -> Option<Time> {
    let arrival = view.arrival(at.job, &at.processors).filter(|&arrival| arrival > view.now);
    if arrival.is_some() {
        return arrival;
    }
    let end = view.now + view.instance.time(at.job, &at.processors);
    let periods = view.instance.unavailable().iter();
    let meeting = periods
        .filter(|period| period.start < end && view.now < period.end && !period.processors.is_disjoint(&at.processors));
    meeting.map(|period| period.end).min()
}

/// How many whole jobs there are.
fn wholes(instance: &Instance) -> usize {
    instance.precedence().map_or(instance.jobs().len(), |precedence| precedence.wholes().len())
}

/// A whole job, and the first of the jobs that are its tasks.
fn whole_job(instance: &Instance, whole: usize) -> (JobId, Job) {
    match instance.precedence() {
        Some(precedence) => {
            let whole = &precedence.wholes()[whole];
            (whole.first, whole.job.clone())
        }
        None => (JobId(whole as u32), instance.jobs()[whole].clone()),
    }
}
