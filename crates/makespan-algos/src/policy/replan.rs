//! Online policies made from offline schedulers.

use makespan_core::{Context, Decision, Event, JobId, Placement, Policy, Schedule, Scheduler, Time, View};

/// Plans first, then plans what remains again whenever a job ends early or late, or one arrives that the plan does
/// not have.
///
/// Between two plans it starts each job at its planned time on its planned processors. When these are still held by a
/// job that has outlived its estimate, what remains is planned again around it.
///
/// Best-effort tasks, each a bag of one task, start where the plan has them. Since nothing is preempted, one that runs
/// may hold processors that a job could have had when the world departs from the plan.
pub struct Replan {
    scheduler: Box<dyn Scheduler>,
    seed: u64,
    /// What is planned and not started, by start.
    upcoming: Vec<Placement>,
    /// When the jobs that run should end.
    expected: Vec<(JobId, Time)>,
    /// Whether the plan still describes the future.
    valid: bool,
}

impl Replan {
    /// A policy that plans by `scheduler`; each plan uses the same seed.
    pub fn new(scheduler: Box<dyn Scheduler>, seed: u64) -> Self {
        Self { scheduler, seed, upcoming: Vec::new(), expected: Vec::new(), valid: false }
    }

    /// The same, beginning with a plan already made for the whole instance.
    pub fn following(scheduler: Box<dyn Scheduler>, seed: u64, plan: &Schedule) -> Self {
        Self { upcoming: plan.placements().to_vec(), valid: true, ..Self::new(scheduler, seed) }
    }

    /// Whether the plan survives the event: a job ended exactly when expected, or one arrived that is planned. Machines
    /// that come or go change every plan.
    fn survives(&mut self, event: &Event, view: &View<'_>) -> bool {
        match *event {
            Event::Wake => true,
            Event::Submitted(job) => {
                !view.waiting.contains(job) || self.upcoming.iter().any(|placement| placement.job == job)
            }
            Event::Finished(job) | Event::Failed(job) => {
                let at = self.expected.iter().position(|&(running, _)| running == job);
                at.is_some_and(|at| self.expected.swap_remove(at).1 == view.now)
            }
            Event::Interrupted(job) => {
                self.expected.retain(|&(running, _)| running != job);
                false
            }
            Event::NodeUp(_) | Event::NodeDown(_) => false,
        }
    }

    fn plan(&mut self, view: &View<'_>) {
        let residual = view.instance.residual(view);
        let mut context = Context::with_seed(self.seed);
        // What is supported as a whole is supported in part: the policy is made for an instance that is.
        let Ok(plan) = self.scheduler.schedule(&residual.instance, &mut context) else { return };
        let original =
            |placement: &Placement| Placement { job: residual.jobs[placement.job.index()], ..placement.clone() };
        self.upcoming = plan.into_schedule().placements().iter().map(original).collect();
        self.valid = true;
    }

    /// Starts what is due on free processors. A due job that cannot start makes the plan invalid.
    fn start_due(&mut self, view: &View<'_>, decisions: &mut Vec<Decision>) {
        let mut free = view.free.clone();
        let due = self.upcoming.partition_point(|placement| placement.start <= view.now);
        let later = self.upcoming.split_off(due);
        for placement in std::mem::take(&mut self.upcoming) {
            let Placement { job, start, end, ref processors, .. } = placement;
            if view.waiting.contains(job) && processors.is_subset(&free) {
                free = free.difference(processors);
                self.expected.push((job, view.now + (end - start)));
                decisions.push(Decision::Start { job, processors: processors.clone() });
            } else {
                self.valid = false;
                self.upcoming.push(placement);
            }
        }
        self.upcoming.extend(later);
    }
}

impl Policy for Replan {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        for event in events {
            self.valid &= self.survives(event, view);
        }
        if self.valid {
            self.start_due(view, decisions);
        }
        // What was just started is not yet in the view: a plan made now would start it again.
        if !self.valid && decisions.is_empty() {
            self.plan(view);
            self.start_due(view, decisions);
        }
        if let Some(next) = self.upcoming.first() {
            decisions.push(Decision::WakeAt(next.start.max(view.now + Time::TICK)));
        }
    }
}

#[cfg(test)]
mod tests {
    use makespan_core::{Ended, Instance, Job, JobSet, Platform, ProcSet, Profile, Running};

    use super::*;

    /// Runs the policy against run times that are the estimates times a percentage; returns starts and ends.
    fn play(instance: &Instance, percent: impl Fn(JobId) -> i64) -> Vec<(Time, Time, JobId)> {
        play_by("list", instance, percent)
    }

    fn play_by(spec: &str, instance: &Instance, percent: impl Fn(JobId) -> i64) -> Vec<(Time, Time, JobId)> {
        let mut policy = Replan::new(crate::scheduler(spec).unwrap(), 1);
        let mut waiting: JobSet = instance.ids().collect();
        let (mut running, mut ends, mut done): (Vec<Running>, Vec<(Time, JobId)>, Vec<_>) = (vec![], vec![], vec![]);
        let mut now = Time::ZERO;
        let mut events: Vec<Event> = instance.ids().map(Event::Submitted).collect();
        for _ in 0..1000 {
            let held = running.iter().fold(ProcSet::new(), |held, running| held.union(&running.processors));
            let free = ProcSet::first(instance.processors()).difference(&held);
            let view = View {
                now,
                instance,
                waiting: &waiting,
                running: &running,
                free: &free,
                down: &[],
                ended: Ended::default(),
            };
            let (mut wake, mut decisions) = (None, Vec::new());
            policy.on(&events, &view, &mut decisions);
            for decision in decisions {
                match decision {
                    Decision::Start { job, processors } => {
                        assert!(running.iter().all(|other| other.processors.is_disjoint(&processors)));
                        let platform = instance.platform();
                        assert!(!platform.is_compact() || platform.held_in_part(&processors).len() < 2);
                        assert!(waiting.remove(job));
                        let estimate = instance.job(job).profile().time(processors.len());
                        ends.push((now + Time::from_ticks(estimate.ticks() * percent(job) / 100), job));
                        running.push(Running { job, start: now, processors });
                    }
                    Decision::WakeAt(at) => wake = Some(at),
                    Decision::Cancel(_) => panic!("nothing is cancelled"),
                }
            }
            ends.sort_unstable();
            match (ends.first().copied(), wake) {
                (Some((end, _)), wake) if wake.is_none_or(|wake| end <= wake) => {
                    let together = ends.iter().take_while(|&&(other, _)| other == end).count();
                    events.clear();
                    for (_, job) in ends.drain(..together) {
                        let at = running.iter().position(|run| run.job == job).unwrap();
                        done.push((running.remove(at).start, end, job));
                        events.push(Event::Finished(job));
                    }
                    now = end;
                }
                (_, Some(at)) => (now, events) = (at, vec![Event::Wake]),
                _ => break,
            }
        }
        done
    }

    fn instance() -> Instance {
        instance_on(Platform::flat(3).unwrap())
    }

    fn instance_on(platform: Platform) -> Instance {
        let times = |ticks: &[i64]| Profile::table(ticks.iter().map(|&t| Time::from_ticks(t)).collect()).unwrap();
        let tables: [&[i64]; 6] = [&[900, 500, 400], &[700], &[650, 400], &[300, 200, 180], &[1000, 600], &[250]];
        let jobs = tables.iter().enumerate().map(|(index, ticks)| Job::new(index.to_string(), times(ticks))).collect();
        Instance::new(platform, jobs, vec![]).unwrap()
    }

    #[test]
    fn exact_estimates_give_exactly_the_plan() {
        let instance = instance();
        let scheduler = crate::scheduler("list").unwrap();
        let plan = scheduler.schedule(&instance, &mut Context::default()).unwrap().into_schedule();
        let mut played = play(&instance, |_| 100);
        played.sort_unstable_by_key(|&(start, _, job)| (start, job));
        let planned: Vec<_> = plan.placements().iter().map(|p| (p.start, p.end, p.job)).collect();
        assert_eq!(played, planned);
    }

    const PERCENTS: [[i64; 6]; 3] =
        [[30, 170, 100, 60, 110, 90], [250, 250, 250, 250, 250, 250], [1, 400, 1, 400, 1, 400]];

    fn loses_no_job(spec: &str, instance: &Instance) {
        for percents in PERCENTS {
            let done = play_by(spec, instance, |job| percents[job.index()]);
            let mut jobs: Vec<JobId> = done.iter().map(|&(_, _, job)| job).collect();
            jobs.sort_unstable();
            assert_eq!(jobs, instance.ids().collect::<Vec<_>>(), "{spec}");
        }
    }

    #[test]
    fn early_and_late_ends_lose_no_job() {
        loses_no_job("list", &instance());
    }

    /// What remains while others run has closed processors, which the shelves leave to a list.
    #[test]
    fn best_placement_is_kept_whatever_happens() {
        let instance = instance_on(Platform::cluster(2, 2).unwrap().requiring_compact());
        for spec in ["shelves", "list", "demt", "gang"] {
            loses_no_job(spec, &instance);
        }
    }
}
