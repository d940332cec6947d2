//! EASY compared with an exhaustive search over all places: no started task delays the head of the queue, and no
//! possible start is missed.

use makespan_algos::policy::policy_for;
use makespan_core::{
    Actual, Decision, Event, Instance, Job, Node, Platform, Policy, ProcSet, Profile, TaskId, Time, Unavailable, View,
};
use makespan_sim::{Silent, SimulationOptions, simulate};
use proptest::prelude::*;

use super::t;

/// An EASY policy that examines every possible place after each decision. It checks that no waiting task could start
/// without delaying the head of the queue, and that no task delays the head.
struct Exhaustive {
    policy: Box<dyn Policy>,
    /// The tasks in the order of the queue.
    order: Vec<TaskId>,
    /// Whether the head keeps its expected start, because no task takes longer than estimated and no later task gets
    /// ahead of the head.
    keeps: bool,
    /// The head at the last examination, and its expected start.
    promised: Option<(TaskId, Time)>,
    missed: Option<String>,
}

/// The periods in which each processor is held or closed.
struct Busy(Vec<Vec<(Time, Time)>>);

impl Busy {
    fn of(view: &View<'_>) -> Self {
        let mut busy = Self(vec![Vec::new(); view.instance.processors() as usize]);
        for period in view.instance.unavailable().iter().chain(view.down).filter(|period| period.end > view.now) {
            busy.hold(&period.processors, period.start, period.end);
        }
        for run in view.running {
            // An unavailable period ends the run if it begins earlier.
            let periods = view.instance.unavailable().iter().filter(|period| period.start > view.now);
            let meeting = periods.filter(|period| !period.processors.is_disjoint(&run.processors));
            let closes = meeting.map(|period| period.start).min().unwrap_or(Time::MAX);
            busy.hold(&run.processors, view.now, run.expected_end(view.instance, view.now).min(closes));
        }
        busy
    }

    fn hold(&mut self, processors: &ProcSet, start: Time, end: Time) {
        processors.iter().for_each(|id| self.0[id as usize].push((start, end)));
    }

    /// Returns every way to run a task from an instant on, with the end.
    fn places(&self, instance: &Instance, task: TaskId, start: Time) -> Vec<(ProcSet, Time)> {
        let (processors, width) = (instance.processors(), instance.profile(task).min_processors());
        let sets = (0_u32..1 << processors).filter(|mask| mask.count_ones() == width);
        let sets = sets.map(|mask| {
            ProcSet::from_intervals((0..processors).filter(|id| (mask >> id) & 1 == 1).map(|id| (id, id)).collect())
        });
        let places = sets.map(|set| {
            let end = start + instance.time(task, &set);
            (set, end)
        });
        let open = |(set, end): &(ProcSet, Time)| {
            set.iter().all(|id| self.0[id as usize].iter().all(|held| held.1 <= start || *end <= held.0))
        };
        places.filter(open).collect()
    }
}

impl Exhaustive {
    fn check(&mut self, view: &View<'_>, decisions: &[Decision]) -> Result<(), String> {
        let (instance, now) = (view.instance, view.now);
        let (mut busy, mut waiting) = (Busy::of(view), view.waiting.clone());
        for decision in decisions {
            if let Decision::Start { task, processors } = decision {
                busy.hold(processors, now, now + instance.time(*task, processors));
                waiting.remove(*task);
            }
        }
        let mut queue = self.order.iter().copied().filter(|&task| waiting.contains(task));
        let Some(head) = queue.next() else { return Ok(()) };
        let promised = self.promised.take().filter(|promised| self.keeps && promised.0 == head);
        let mut instants: Vec<Time> = busy.0.iter().flatten().map(|held| held.1).filter(|&end| end > now).collect();
        instants.push(now);
        instants.sort_unstable();
        let earliest = |busy: &Busy| {
            let ends = instants.iter().map(|&start| (start, busy.places(instance, head, start)));
            let ends = ends.filter_map(|(start, places)| Some((start, places.iter().map(|place| place.1).min()?)));
            let mut ends = ends;
            ends.next().expect("periods end")
        };
        let reserved = earliest(&busy);
        if reserved.0 == now {
            return Err(format!("{now}: the head {} could start", head.0));
        }
        self.promised = Some((head, reserved.0));
        if promised.is_some_and(|promised| reserved.0 > promised.1) {
            return Err(format!("{now}: the head {} is put off to {}", head.0, reserved.0));
        }
        for task in queue {
            for (set, end) in busy.places(instance, task, now) {
                let mut with = Busy(busy.0.clone());
                with.hold(&set, now, end);
                let at = with.places(instance, head, reserved.0).iter().map(|place| place.1).min();
                if end <= reserved.0 || at.is_some_and(|at| at <= reserved.1) {
                    return Err(format!(
                        "{now}: {} could start on {set}; {} is reserved at {}",
                        task.0, head.0, reserved.0
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Policy for Exhaustive {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        self.policy.on(events, view, decisions);
        if self.missed.is_none() {
            self.missed = self.check(view, decisions).err();
        }
    }
}

/// Runs rigid jobs with unavailable periods under EASY with an order. Returns the first missed start, and the starts of
/// the jobs. `keeps` states that no job takes longer than estimated.
fn easy_misses(order: &str, instance: &Instance, actual: &Actual, keeps: bool) -> (Option<String>, Vec<Time>) {
    let mut tasks: Vec<TaskId> = instance.task_ids().collect();
    let width = |task: TaskId| i64::from(instance.profile(task).min_processors());
    let time = |task: TaskId| instance.profile(task).slowest().ticks();
    let key = |task: TaskId| match order {
        "sjf" => time(task),
        "laf" => -time(task) * width(task),
        "narrowest" => width(task),
        _ => 0,
    };
    tasks.sort_by_key(|&task| (key(task), instance.release(task), task));
    // Under other orders, a later job may get ahead.
    let keeps = keeps && order == "fcfs";
    let mut missed = None;
    let mut starts = vec![Time::MAX; tasks.len()];
    for passes in ["event", "instant"] {
        let policy = policy_for(&format!("easy[order={order},passes={passes}]"), instance, 1).unwrap();
        let mut policy = Exhaustive { policy, order: tasks.clone(), keeps, promised: None, missed: None };
        let options = SimulationOptions::default();
        let simulation = simulate(instance, actual, &mut policy, &options, &mut Silent).unwrap();
        simulation.trace.runs.iter().for_each(|run| starts[run.task.index()] = run.start);
        missed = missed.or(policy.missed.map(|missed| format!("{order}, {passes}: {missed}")));
    }
    (missed, starts)
}

/// The second job must start at 115, on the only processor that the last period does not close.
#[test]
fn easy_leaves_the_choice_of_processors_open() {
    let closed = |processors: &str, start: i64, end: i64| Unavailable {
        processors: processors.parse().unwrap(),
        start: t(start),
        end: t(end),
    };
    let periods = vec![closed("0,2", 12, 74), closed("0-2", 11, 51), closed("1-2", 119, 141)];
    let job = |(index, &(release, time, width)): (usize, &(i64, i64, u32))| {
        Job::new(index.to_string(), Profile::rigid(width, t(time)).unwrap()).with_release(t(release))
    };
    let rows = [(2, 16, 3), (10, 36, 1), (13, 33, 2), (37, 25, 1)];
    let jobs = rows.iter().enumerate().map(job).collect();
    let instance = Instance::new(Platform::flat(3).unwrap(), jobs, periods).unwrap();
    let (missed, starts) = easy_misses("sjf", &instance, &Actual::AsEstimated, true);
    assert_eq!((missed, starts), (None, [74, 115, 141, 90].map(t).to_vec()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn easy_misses_no_start_that_puts_nobody_off(
        rows in prop::collection::vec((1_u32..6, 1_i64..30, 0_i64..60, 1_i64..=150), 1..12),
        periods in prop::collection::vec((1_u32..31, 0_i64..120, 1_i64..40), 0..5), keeps in any::<bool>(),
    ) {
        let period = |&(mask, start, length): &(u32, i64, i64)| Unavailable {
            processors: ProcSet::from_intervals((0..5).filter(|id| (mask >> id) & 1 == 1).map(|id| (id, id)).collect()),
            start: t(start),
            end: t(start + length),
        };
        let job = |(index, &(width, time, release, _)): (usize, &(u32, i64, i64, i64))| {
            Job::new(index.to_string(), Profile::rigid(width, t(time)).unwrap()).with_release(t(release))
        };
        let actual = |&(width, time, _, percent): &(u32, i64, i64, i64)| {
            let percent = if keeps { percent.min(100) } else { percent };
            Profile::rigid(width, t((time * percent + 99) / 100)).unwrap()
        };
        let actual = Actual::Profiles(rows.iter().map(actual).collect());
        let node = |(name, processors, speed): (&str, u32, f64)| Node { speed, ..Node::new(name, processors) };
        let speeds = Platform::new([("a", 3, 1.0), ("b", 2, 2.5)].map(node).to_vec()).unwrap();
        for platform in [Platform::flat(5).unwrap(), speeds] {
            let (jobs, periods) = (rows.iter().enumerate().map(job).collect(), periods.iter().map(period).collect());
            let instance = Instance::new(platform, jobs, periods).unwrap();
            for order in ["fcfs", "sjf", "laf", "narrowest"] {
                prop_assert_eq!(easy_misses(order, &instance, &actual, keeps).0, None);
            }
        }
    }
}
