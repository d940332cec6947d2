//! Online policies made from offline schedulers.

use makespan_core::{
    Decision, Event, Instance, Left, Placement, Policy, ProcSet, Schedule, Scheduler, TaskId, TaskSet, Time,
    Unavailable, View,
};

use super::ahead::plan_ahead;

/// Plans first, then plans what remains again whenever a task ends early or late, or one arrives that the plan does
/// not have.
///
/// Between two plans it starts each task at its planned time on its planned processors. When these are still held by a
/// task that has outlived its estimate, what remains is planned again around it.
///
/// A plan knows nothing of the ones before, and while tasks come again and again a wide one might be put off for ever. So
/// the task that has waited longest keeps its start ([`Keep`]): where a new plan would start it later than the plan before,
/// it is reserved as early as the tasks that run let it begin on the processors that it has in one of the two plans, and the
/// others are planned around it. While tasks end by their estimates and no machine fails, a task that waits longest
/// never starts later than first planned as that.
///
/// Best-effort tasks, each a bag of one task, start where the plan has them. Since nothing is preempted, one that runs
/// may hold processors that a task could have had when the world departs from the plan.
pub struct Replan {
    scheduler: Box<dyn Scheduler>,
    seed: u64,
    /// What is planned and not started, by start.
    upcoming: Vec<Placement>,
    /// When the tasks that run should end.
    expected: Vec<(TaskId, Time)>,
    /// Whether the plan still describes the future.
    valid: bool,
    keep: Keep,
}

/// Whose start a new plan may not put off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// That of the task that was released first, of those that wait; of these the first in the instance.
    #[default]
    Oldest,
    /// Nobody's.
    None,
}

named!(Keep { "oldest" => Oldest, "none" => None });

impl Replan {
    /// A policy that plans by `scheduler`; each plan uses the same seed.
    pub fn new(scheduler: Box<dyn Scheduler>, seed: u64) -> Self {
        Self { scheduler, seed, upcoming: Vec::new(), expected: Vec::new(), valid: false, keep: Keep::default() }
    }

    /// The same; a new plan may not put off this start.
    #[must_use]
    pub fn keeping(self, keep: Keep) -> Self {
        Self { keep, ..self }
    }

    /// The same, beginning with a plan already made for the whole instance.
    pub fn following(scheduler: Box<dyn Scheduler>, seed: u64, plan: &Schedule) -> Self {
        Self { upcoming: plan.placements().to_vec(), valid: true, ..Self::new(scheduler, seed) }
    }

    /// Whether the plan survives the event: a task ended exactly when expected, or one arrived that is planned. Machines
    /// that come or go change every plan.
    fn survives(&mut self, event: &Event, view: &View<'_>) -> bool {
        match *event {
            Event::Wake | Event::Estimated(_) => true,
            Event::Submitted(task) => {
                !view.waiting.contains(task) || self.upcoming.iter().any(|placement| placement.task == task)
            }
            Event::Finished(task) | Event::Failed(task) => {
                let at = self.expected.iter().position(|&(running, _)| running == task);
                at.is_some_and(|at| self.expected.swap_remove(at).1 == view.now)
            }
            Event::Interrupted(task) => {
                self.expected.retain(|&(running, _)| running != task);
                false
            }
            Event::NodeUp(_) | Event::NodeDown(_) => false,
        }
    }

    /// Tasks take other times; whether the plan is of any of them.
    fn restate(&mut self, restated: &TaskSet, view: &View<'_>) -> bool {
        let mut planned = false;
        if restated.is_empty() {
            return planned;
        }
        for at in self.upcoming.iter_mut().filter(|at| restated.contains(at.task)) {
            // Its start may not be put off, for which its time counts.
            at.end = at.start + view.instance.time(at.task, &at.processors);
            planned = true;
        }
        for (running, end) in self.expected.iter_mut().filter(|(running, _)| restated.contains(*running)) {
            if let Some(run) = view.running.iter().find(|run| run.task == *running) {
                *end = run.start + view.instance.time(run.task, &run.processors);
                planned = true;
            }
        }
        planned
    }

    fn plan(&mut self, view: &View<'_>) {
        let Some(mut plan) = self.planned(view) else { return };
        if let Some(kept) = self.kept(view, &plan)
            && let Some(others) = self.planned_around(view, &kept)
        {
            plan = others;
            plan.insert(plan.partition_point(|other| (other.start, other.task) < (kept.start, kept.task)), kept);
        }
        self.upcoming = plan;
        self.valid = true;
    }

    /// A plan of all that waits.
    fn planned(&self, view: &View<'_>) -> Option<Vec<Placement>> {
        plan_ahead(self.scheduler.as_ref(), self.seed, view)
    }

    /// Where the task that has waited longest is to be, if this plan starts it later than the plan before and it can have
    /// that earlier.
    fn kept(&self, view: &View<'_>, plan: &[Placement]) -> Option<Placement> {
        // Where tasks need more than processors, nobody knows how early what others hold lets it begin.
        if self.keep == Keep::None || view.instance.has_demands() {
            return None;
        }
        let competes = |task: &TaskId| !view.instance.job_of(*task).is_best_effort();
        let oldest = view.waiting.iter().filter(competes).min_by_key(|&task| (view.instance.release(task), task))?;
        let of = |plan: &[Placement]| plan.iter().find(|placement| placement.task == oldest).cloned();
        let (before, now) = (of(&self.upcoming)?, of(plan)?);
        if now.start <= before.start.max(view.now) {
            return None;
        }
        let start = now.start;
        let earliest = [before, now].map(|at| earliest(view, at)).into_iter().min_by_key(|at| (at.end, at.start))?;
        (earliest.start < start).then_some(earliest)
    }

    /// A plan of the others.
    fn planned_around(&self, view: &View<'_>, kept: &Placement) -> Option<Vec<Placement>> {
        let waiting: TaskSet = view.waiting.iter().filter(|&task| task != kept.task).collect();
        let taken = Unavailable { processors: kept.processors.clone(), start: kept.start, end: kept.end };
        let down: Vec<Unavailable> = view.down.iter().cloned().chain([taken]).collect();
        self.planned(&View { waiting: &waiting, down: &down, ..*view })
    }

    /// Starts what is due on free processors. A due task that cannot start makes the plan invalid.
    fn start_due(&mut self, view: &View<'_>, decisions: &mut Vec<Decision>) {
        let (mut free, mut resources) = (view.free.clone(), Left::of(view));
        let due = self.upcoming.partition_point(|placement| placement.start <= view.now);
        let later = self.upcoming.split_off(due);
        for placement in std::mem::take(&mut self.upcoming) {
            let Placement { task, start, end, ref processors, .. } = placement;
            let fits = view.waiting.contains(task) && processors.is_subset(&free);
            if fits && resources.take(task, processors) {
                free = free.difference(processors);
                self.expected.push((task, view.now + (end - start)));
                decisions.push(Decision::Start { task, processors: processors.clone() });
            } else {
                self.valid = false;
                self.upcoming.push(placement);
            }
        }
        self.upcoming.extend(later);
    }
}

/// The same processors, as early as what runs, and what is closed, lets the task begin.
fn earliest(view: &View<'_>, at: Placement) -> Placement {
    let instance: &Instance = view.instance;
    let length = at.end - at.start;
    let held = view.running.iter().map(|run| (&run.processors, Time::ZERO, run.expected_end(instance, view.now)));
    let closed = instance.unavailable().iter().chain(view.down);
    let closed = closed.map(|period| (&period.processors, period.start, period.end));
    let meets = |(processors, _, _): &(&ProcSet, Time, Time)| !processors.is_disjoint(&at.processors);
    let taken: Vec<(&ProcSet, Time, Time)> = held.chain(closed).filter(meets).collect();
    let mut start = view.now;
    while let Some(&(_, _, end)) = taken.iter().find(|&&(_, from, until)| from < start + length && start < until) {
        start = end;
    }
    Placement { start, end: start + length, ..at }
}

impl Policy for Replan {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        for event in events {
            self.valid &= self.survives(event, view);
        }
        self.valid &= !self.restate(&Event::estimated(events, view.instance), view);
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
    use makespan_core::{Context, Ended, Job, Platform, Profile, Running};
    use proptest::prelude::*;

    use super::*;
    use crate::policy::play::{Play, WIDE, a_wide_job_among_narrow_ones};

    /// Runs the policy against run times that are the estimates times a percentage; returns starts and ends.
    fn play(instance: &Instance, percent: impl Fn(TaskId) -> i64) -> Vec<(Time, Time, TaskId)> {
        play_by("list", instance, percent)
    }

    fn play_by(spec: &str, instance: &Instance, percent: impl Fn(TaskId) -> i64) -> Vec<(Time, Time, TaskId)> {
        let mut policy = Replan::new(crate::scheduler(spec).unwrap(), 1);
        let mut waiting: TaskSet = instance.task_ids().collect();
        let (mut running, mut ends, mut done): (Vec<Running>, Vec<(Time, TaskId)>, Vec<_>) = (vec![], vec![], vec![]);
        let mut now = Time::ZERO;
        let mut events: Vec<Event> = instance.task_ids().map(Event::Submitted).collect();
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
                    Decision::Start { task, processors } => {
                        assert!(running.iter().all(|other| other.processors.is_disjoint(&processors)));
                        let platform = instance.platform();
                        assert!(!platform.is_compact() || platform.is_best_placement(&processors));
                        assert!(waiting.remove(task));
                        let estimate = instance.profile(task).time(processors.len());
                        ends.push((now + Time::from_ticks(estimate.ticks() * percent(task) / 100), task));
                        running.push(Running { task, start: now, processors });
                    }
                    Decision::WakeAt(at) => wake = Some(at),
                    Decision::Cancel(_) | Decision::Limit { .. } => panic!("nothing is cancelled"),
                }
            }
            ends.sort_unstable();
            match (ends.first().copied(), wake) {
                (Some((end, _)), wake) if wake.is_none_or(|wake| end <= wake) => {
                    let together = ends.iter().take_while(|&&(other, _)| other == end).count();
                    events.clear();
                    for (_, task) in ends.drain(..together) {
                        let at = running.iter().position(|run| run.task == task).unwrap();
                        done.push((running.remove(at).start, end, task));
                        events.push(Event::Finished(task));
                    }
                    now = end;
                }
                (_, Some(at)) => (now, events) = (at, vec![Event::Wake]),
                _ => break,
            }
        }
        done
    }

    #[test]
    fn a_wide_job_is_not_put_off_for_ever() {
        let seconds = Time::from_seconds;
        let instance = a_wide_job_among_narrow_ones();
        let start = |policy: &mut dyn Policy| {
            let played = Play::starts(&instance, policy, &|task, on| instance.time(task, on));
            played.iter().find(|at| at.task == WIDE).unwrap().start
        };
        let fcfs = start(crate::policy::policy("fcfs", 1).unwrap().as_mut());
        for spec in ["list", "list[order=saf]", "demt[shuffles=0]"] {
            let scheduler = || crate::scheduler(spec).unwrap();
            let kept = start(&mut Replan::new(scheduler(), 1));
            assert!(kept <= fcfs + seconds(20), "{spec}: {kept}, fcfs {fcfs}");
        }
        let scheduler = crate::scheduler("list[order=saf]").unwrap();
        assert!(start(&mut Replan::new(scheduler, 1).keeping(Keep::None)) > seconds(450));
    }

    /// The policy, and when it first planned each task to start while that waited longest.
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
            let planned = |task: TaskId| self.policy.upcoming.iter().find(|at| at.task == task);
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
                let played = Play::starts(&instance, &mut watched, &real);
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
        let mut played = play(&instance, |_| 100);
        played.sort_unstable_by_key(|&(start, _, task)| (start, task));
        let planned: Vec<_> = plan.placements().iter().map(|p| (p.start, p.end, p.task)).collect();
        assert_eq!(played, planned);
    }

    const PERCENTS: [[i64; 6]; 3] =
        [[30, 170, 100, 60, 110, 90], [250, 250, 250, 250, 250, 250], [1, 400, 1, 400, 1, 400]];

    fn loses_no_job(spec: &str, instance: &Instance) {
        for percents in PERCENTS {
            let done = play_by(spec, instance, |task| percents[task.index()]);
            let mut tasks: Vec<TaskId> = done.iter().map(|&(_, _, task)| task).collect();
            tasks.sort_unstable();
            assert_eq!(tasks, instance.task_ids().collect::<Vec<_>>(), "{spec}");
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
