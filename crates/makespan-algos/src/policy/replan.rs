//! Online policies that plan with offline schedulers.

use makespan_core::{Decision, Event, Placement, Policy, Schedule, TaskId, TaskSet, Time, Unavailable, View};

use super::ahead::plan_ahead;
use super::keeper::{Departure, PlanKeeper};
use super::openings::{closed, first_open};
use crate::plan::Scheduler;

/// Plans all waiting tasks. If a task ends early or late, or a task arrives that is not in the plan, plans the
/// remaining tasks again.
///
/// Between two plans, each task starts at its planned instant on its planned processors. If the processors are still
/// held by a task that exceeds its estimate, the remaining tasks are planned again around this task.
///
/// A plan does not depend on earlier plans. So if tasks keep arriving, a wide task might be delayed forever. To prevent
/// this, the task that has waited longest keeps its start ([`KeptStart`]). If a new plan would start this task later
/// than the previous plan, the policy reserves processors for this task as early as running tasks allow. The task gets
/// the processors of the old or of the new plan. The other tasks are planned around this reservation. Suppose that
/// tasks end by their estimates and no processor fails. Then each task starts no later than in the first plan after it
/// became the task that has waited longest.
///
/// Each best-effort task is planned as a bag of one task, and starts as planned. There is no preemption. So if another
/// task could start earlier than planned, running best-effort tasks may still hold its processors.
pub struct Replan {
    scheduler: Box<dyn Scheduler>,
    seed: u64,
    /// The current plan. If it is out of date, the scheduler must compute a new plan.
    keeper: PlanKeeper,
    keep: KeptStart,
}

/// The start that a new plan must not postpone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeptStart {
    /// The start of the waiting task that was released first. Among equal releases, the start of the first task of the
    /// instance.
    #[default]
    Oldest,
    /// No start.
    None,
}

named!(KeptStart { "oldest" => Oldest, "none" => None });

impl Replan {
    /// Returns a policy that plans with `scheduler`. Each plan uses the same seed.
    pub fn new(scheduler: Box<dyn Scheduler>, seed: u64) -> Self {
        let mut keeper = PlanKeeper::new(Departure::Replan);
        keeper.depart();
        Self { scheduler, seed, keeper, keep: KeptStart::default() }
    }

    /// Sets the start that a new plan must not postpone.
    #[must_use]
    pub fn keeping(self, keep: KeptStart) -> Self {
        Self { keep, ..self }
    }

    /// Returns a policy that begins with `plan`, a plan for the whole instance.
    pub fn following(scheduler: Box<dyn Scheduler>, seed: u64, plan: &Schedule) -> Self {
        let mut policy = Self::new(scheduler, seed);
        policy.keeper.begin(plan.placements().to_vec());
        policy
    }

    fn plan(&mut self, view: &View<'_>) {
        let Some(mut plan) = self.planned(view) else { return };
        if let Some(kept) = self.kept(view, &plan)
            && let Some(others) = self.planned_around(view, &kept)
        {
            plan = others;
            plan.push(kept);
        }
        self.keeper.begin(plan);
    }

    /// Returns a plan of all waiting tasks.
    fn planned(&self, view: &View<'_>) -> Option<Vec<Placement>> {
        plan_ahead(self.scheduler.as_ref(), self.seed, view)
    }

    /// Let A be the task that has waited longest. If A starts later in `plan` than in the previous plan, and an
    /// earlier start is possible, returns a placement of A to keep. Otherwise, returns `None`.
    fn kept(&self, view: &View<'_>, plan: &[Placement]) -> Option<Placement> {
        // If tasks need resources, keep no start. The policy cannot compute when enough resources will be free.
        if self.keep == KeptStart::None || view.instance.has_demands() {
            return None;
        }
        let competes = |task: &TaskId| !view.instance.job_of(*task).is_best_effort();
        let oldest = view.waiting.iter().filter(competes).min_by_key(|&task| (view.instance.release(task), task))?;
        let is_oldest = |placement: &&Placement| placement.task == oldest;
        let before = self.keeper.upcoming().find(is_oldest).cloned()?;
        let now = plan.iter().find(is_oldest).cloned()?;
        if now.start <= before.start.max(view.now) {
            return None;
        }
        let start = now.start;
        let earliest = [before, now].map(|at| earliest(view, at)).into_iter().min_by_key(|at| (at.end, at.start))?;
        (earliest.start < start).then_some(earliest)
    }

    /// Returns a plan of all waiting tasks except the task of `kept`, around this placement.
    fn planned_around(&self, view: &View<'_>, kept: &Placement) -> Option<Vec<Placement>> {
        let waiting: TaskSet = view.waiting.iter().filter(|&task| task != kept.task).collect();
        let taken = Unavailable { processors: kept.processors.clone(), start: kept.start, end: kept.end };
        let down: Vec<Unavailable> = view.down.iter().cloned().chain([taken]).collect();
        self.planned(&View { waiting: &waiting, down: &down, ..*view })
    }
}

/// Returns the earliest placement of a task on the processors of `at`. This placement does not overlap with running
/// tasks or closed periods.
fn earliest(view: &View<'_>, at: Placement) -> Placement {
    let held = view.running.iter().map(|run| Unavailable {
        processors: run.processors.clone(),
        start: Time::ZERO,
        end: run.expected_end(view.instance, view.now),
    });
    let taken: Vec<Unavailable> = closed(view).chain(held).collect();
    let length = at.end - at.start;
    let start = first_open(&taken, &at.processors, view.now, length);
    Placement { start, end: start + length, ..at }
}

impl Policy for Replan {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let is_new = |event: &Event| match *event {
            Event::Submitted(task) => {
                view.waiting.contains(task) && !self.keeper.upcoming().any(|placement| placement.task == task)
            }
            _ => false,
        };
        let is_new = events.iter().any(is_new);
        if self.keeper.hear_all(events, view) || is_new {
            self.keeper.depart();
        }
        if !self.keeper.has_departed() {
            self.keeper.start_due(view, decisions);
        }
        // Plan only if no task has just started. In the view, such a task is still waiting, so a new plan would start
        // the task again.
        if self.keeper.has_departed() && decisions.is_empty() {
            self.plan(view);
            self.keeper.start_due(view, decisions);
        }
        if let Some(next) = self.keeper.upcoming().next() {
            decisions.push(Decision::WakeAt(next.start.max(view.now + Time::TICK)));
        }
    }
}

#[cfg(test)]
mod tests {
    use makespan_core::{Instance, Job, Platform, ProcSet, Profile};
    use proptest::prelude::*;

    use super::*;
    use crate::plan::Context;
    use crate::policy::play::{PolicySimulation, WIDE, a_wide_job_among_narrow_ones};

    /// Simulates the policy. `percent` returns the real run time of a task as a percentage of its estimate.
    fn play(spec: &str, instance: &Instance, percent: impl Fn(TaskId) -> i64) -> Vec<Placement> {
        let mut policy = Replan::new(crate::scheduler(spec).unwrap(), 1);
        let real = |task: TaskId, on: &ProcSet| {
            let platform = instance.platform();
            assert!(!platform.is_compact() || platform.is_best_placement(on));
            Time::from_ticks(instance.time(task, on).ticks() * percent(task) / 100)
        };
        PolicySimulation::starts(instance, &mut policy, &real)
    }

    #[test]
    fn a_wide_job_is_not_put_off_for_ever() {
        let seconds = Time::from_seconds;
        let instance = a_wide_job_among_narrow_ones();
        let start = |policy: &mut dyn Policy| {
            let played = PolicySimulation::starts(&instance, policy, &|task, on| instance.time(task, on));
            played.iter().find(|at| at.task == WIDE).unwrap().start
        };
        let fcfs = start(crate::policy::policy("fcfs", 1).unwrap().as_mut());
        for spec in ["list", "list[order=saf]", "demt[shuffles=0]"] {
            let scheduler = || crate::scheduler(spec).unwrap();
            let kept = start(&mut Replan::new(scheduler(), 1));
            assert!(kept <= fcfs + seconds(20), "{spec}: {kept}, fcfs {fcfs}");
        }
        let scheduler = crate::scheduler("list[order=saf]").unwrap();
        assert!(start(&mut Replan::new(scheduler, 1).keeping(KeptStart::None)) > seconds(450));
    }

    /// The policy, and for each task the start that was planned when the task first was the oldest waiting task.
    struct Watched {
        policy: Replan,
        promised: Vec<Option<Time>>,
    }

    impl Policy for Watched {
        fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
            self.policy.on(events, view, decisions);
            let started = |task: TaskId| {
                decisions.iter().any(|one| matches!(one, Decision::Start { task: other, .. } if *other == task))
            };
            let waiting = view.waiting.iter().filter(|&task| !started(task));
            let oldest = waiting.min_by_key(|&task| (view.instance.release(task), task));
            let planned = |task: TaskId| self.policy.keeper.upcoming().find(|at| at.task == task);
            if let Some(task) = oldest
                && let Some(at) = planned(task)
            {
                self.promised[task.index()].get_or_insert(at.start);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn who_waits_longest_starts_no_later_than_planned(
            rows in prop::collection::vec((1_u32..9, 1_i64..30, 0_i64..80, 1_i64..=100), 1..20),
        ) {
            let task = |(index, &(width, time, release, _)): (usize, &(u32, i64, i64, i64))| {
                let profile = Profile::rigid(width, Time::from_ticks(time)).unwrap();
                Job::new(index.to_string(), profile).with_release(Time::from_ticks(release))
            };
            let tasks = rows.iter().enumerate().map(task).collect();
            let instance = Instance::new(Platform::flat(8).unwrap(), tasks, vec![]).unwrap();
            let real = |task: TaskId, _: &ProcSet| {
                let (_, time, _, percent) = rows[task.index()];
                Time::from_ticks((time * percent + 99) / 100)
            };
            for spec in ["list", "list[order=saf]"] {
                let policy = Replan::new(crate::scheduler(spec).unwrap(), 1);
                let mut watched = Watched { policy, promised: vec![None; rows.len()] };
                let played = PolicySimulation::starts(&instance, &mut watched, &real);
                prop_assert_eq!(played.len(), rows.len());
                for at in played {
                    let promised = watched.promised[at.task.index()];
                    prop_assert!(promised.is_none_or(|promised| at.start <= promised), "{} {:?} {:?}", spec, at, promised);
                }
            }
        }
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
        let plan = scheduler.schedule(&instance, &mut Context::default()).unwrap().into_schedule().unwrap();
        let played = play("list", &instance, |_| 100);
        assert_eq!(Schedule::new(played).placements(), plan.placements());
    }

    const PERCENTS: [[i64; 6]; 3] =
        [[30, 170, 100, 60, 110, 90], [250, 250, 250, 250, 250, 250], [1, 400, 1, 400, 1, 400]];

    fn loses_no_job(spec: &str, instance: &Instance) {
        for percents in PERCENTS {
            let done = play(spec, instance, |task| percents[task.index()]);
            let mut tasks: Vec<TaskId> = done.iter().map(|at| at.task).collect();
            tasks.sort_unstable();
            assert_eq!(tasks, instance.task_ids().collect::<Vec<_>>(), "{spec}");
        }
    }

    #[test]
    fn early_and_late_ends_lose_no_job() {
        loses_no_job("list", &instance());
    }

    /// Checks that every start is in best placement. While tasks run, the instance of the remaining tasks has closed
    /// processors. The scheduler `shelves` plans such an instance by list scheduling.
    #[test]
    fn best_placement_is_kept_whatever_happens() {
        let instance = instance_on(Platform::cluster(2, 2).unwrap().requiring_compact());
        for spec in ["shelves", "list", "demt", "gang"] {
            loses_no_job(spec, &instance);
        }
    }
}
