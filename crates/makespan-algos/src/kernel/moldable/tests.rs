//! Compares schedules that are evaluated from a changed position on with schedules that are evaluated from the
//! beginning. Also compares lists with their rule.

use makespan_core::{
    Edge, Graph, Instance, Job, NamedTask, Objective, Payload, Platform, ProcSet, Profile, Time, Unavailable, validate,
};
use proptest::prelude::*;

use super::{List, ListSchedule, ListScheme, Measure, MoldableProblem, average_times, schedule};
use crate::kernel::packing::Packing;

const PROCESSORS: u32 = 5;

/// A task of a random instance. The last number is the time on all processors. Each number before it is the time that
/// one more processor saves. Each bit of the mask is an earlier task for which this task may wait.
type DraftTask = (Vec<i64>, u32);

#[derive(Clone, Debug)]
struct Draft {
    /// Release, deadline and tasks of compound jobs.
    jobs: Vec<(i64, i64, Vec<DraftTask>)>,
    /// A closed processor, the start of the period, and its length.
    closed: Vec<(u32, i64, i64)>,
    /// Whether each job waits for the job before it.
    after: bool,
    compact: bool,
}

fn draft() -> impl Strategy<Value = Draft> {
    let task = (prop::collection::vec(1_i64..6, 1..5), any::<u32>());
    let release = prop_oneof![3 => Just(0_i64), 1 => 0_i64..20];
    let job = (release, 1_i64..60, prop::collection::vec(task, 1..12));
    let closed = prop_oneof![
        2 => Just(Vec::new()),
        1 => prop::collection::vec((0..PROCESSORS, 0_i64..40, 1_i64..9), 0..3)
    ];
    let flags = (any::<bool>(), prop::bool::weighted(0.2));
    let parts = (prop::collection::vec(job, 1..4), closed, flags);
    parts.prop_map(|(jobs, closed, (after, compact))| Draft { jobs, closed, after, compact })
}

impl Draft {
    fn instance(&self) -> Instance {
        let task = |(at, (times, _)): (usize, &DraftTask)| {
            let times = times.iter().rev().scan(0, |sum, time| {
                *sum += time;
                Some(Time::from_ticks(*sum))
            });
            let mut times: Vec<Time> = times.collect();
            times.reverse();
            NamedTask::new(at.to_string(), Profile::table(times).unwrap())
        };
        let edges = |tasks: &[DraftTask]| {
            let of = |(to, (_, before)): (usize, &DraftTask)| {
                let bits = *before & before.rotate_left(7);
                let from = (0..to).filter(move |from| bits >> from & 1 == 1);
                from.map(move |from| Edge { from: from as u32, to: to as u32, payload: Payload::Bytes(9) })
                    .collect::<Vec<_>>()
            };
            tasks.iter().enumerate().flat_map(of).collect()
        };
        let job = |(at, (release, due, tasks)): (usize, &(i64, i64, Vec<DraftTask>))| {
            let graph = Graph::new(tasks.iter().enumerate().map(task).collect(), edges(tasks)).unwrap();
            let mut job = Job::compound(at.to_string(), graph).with_release(Time::from_ticks(*release));
            job.deadline = Some(Time::from_ticks(release + due));
            if self.after && at > 0 { job.with_after([(at - 1).to_string()]) } else { job }
        };
        let closed = self.closed.iter().map(|&(first, start, length)| Unavailable {
            processors: ProcSet::range(first, (first + 1).min(PROCESSORS - 1)),
            start: Time::from_ticks(start),
            end: Time::from_ticks(start + length),
        });
        let platform = Platform::cluster(2, PROCESSORS.div_ceil(2)).unwrap();
        let platform = if self.compact { platform.requiring_compact() } else { platform };
        Instance::new(platform, self.jobs.iter().enumerate().map(job).collect(), closed.collect()).unwrap()
    }
}

/// A change: its kind, a task, a distance, and whether the change is accepted even if the value becomes worse.
type Tried = (u8, prop::sample::Index, u32, bool);

fn change(schedule: &mut ListSchedule<'_>, &(kind, task, far, _): &Tried) {
    let task = task.index(schedule.problem().tasks()) as u32;
    let choices = schedule.problem().choices_of(task);
    match kind {
        0 => schedule.advance(task, far as usize),
        1 => schedule.postpone(task, far as usize),
        _ => schedule.choose(task, choices.start + far % (choices.end - choices.start)),
    }
}

fn objectives() -> impl Iterator<Item = Objective> {
    Objective::OF_TIME.into_iter()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// Makes changes, evaluates them, and accepts or undoes them. Checks that the value always equals the value of the
    /// list evaluated from the beginning. An evaluation must return `None` if and only if the value exceeds its limit.
    /// The schedule must be valid and have this value.
    #[test]
    fn a_changed_list_is_evaluated_like_a_new_one(
        draft in draft(),
        tried in prop::collection::vec((0_u8..4, any::<prop::sample::Index>(), 1_u32..9, any::<bool>()), 1..30),
        events in any::<bool>(), backward in any::<bool>(), at in 0_usize..8, limit in prop_oneof![Just(None), (1_i64..80).prop_map(Some)],
    ) {
        let instance = draft.instance();
        let packing = Packing::new(&instance).unwrap();
        let forward = MoldableProblem::new(&packing).unwrap();
        let reversed = forward.reversed();
        prop_assert_eq!(reversed.is_some(), forward.is_open() && draft.jobs.iter().all(|job| job.0 == draft.jobs[0].0));
        let all: Vec<Objective> = objectives().collect();
        let backward = backward && reversed.is_some();
        let objective = if backward { Objective::Makespan } else { all[at % all.len()] };
        let problem = if backward { reversed.as_ref().unwrap() } else { &forward };
        let scheme = if events && problem.is_open() { ListScheme::Events } else { ListScheme::Insertion };
        let measure = Measure::new(problem, objective, limit);
        let chosen = (0..problem.tasks() as u32).map(|task| problem.choices_of(task).start).collect();
        let list = List::new(problem, problem.order(), chosen);
        let mut present = ListSchedule::new(problem, measure.clone(), scheme, list);
        for tried in tried.chunks(2) {
            tried.iter().for_each(|one| change(&mut present, one));
            if !present.is_changed() {
                continue;
            }
            let list = present.list().clone();
            let value = present.evaluate(f64::INFINITY).unwrap();
            prop_assert_eq!(present.evaluate(value), Some(value));
            prop_assert_eq!(present.evaluate(value * (1.0 - 1e-9) - 1e-3), None);
            prop_assert_eq!(present.evaluate(value), Some(value));
            let plan = schedule(problem, scheme, &list);
            prop_assert_eq!(validate(&instance, &plan), Ok(()));
            if limit.is_none() || plan.makespan().ticks() <= limit.unwrap() {
                let exact = objective.value(&instance, &plan) as f64;
                let exact = if objective == Objective::MeanFlow { value } else { exact };
                prop_assert!((value - exact).abs() <= 1e-6 * exact, "{} is {}", value, exact);
            }
            if problem.is_open() {
                let whole = ListSchedule::new(problem, measure.clone(), scheme, list.clone());
                prop_assert_eq!(whole.value().to_bits(), value.to_bits());
            }
            if tried[0].3 {
                present.accept();
                if problem.is_open() {
                    prop_assert_eq!(present.value().to_bits(), value.to_bits());
                    let whole = ListSchedule::new(problem, measure.clone(), scheme, present.list().clone());
                    prop_assert_eq!(present.starts(), whole.starts());
                }
            } else {
                let before = present.value();
                present.take_back();
                prop_assert_eq!(present.value().to_bits(), before.to_bits());
            }
        }
    }

    /// Checks that no task in an event list waits although it could start. Checks that the list gives the same starts
    /// if it is sorted by start.
    #[test]
    fn nothing_waits_in_an_event_list_that_fits(draft in draft(), keys in prop::collection::vec(any::<u32>(), 40)) {
        let instance = Draft { closed: Vec::new(), compact: false, ..draft }.instance();
        let packing = Packing::new(&instance).unwrap();
        let problem = MoldableProblem::new(&packing).unwrap();
        let choice = |task: u32| {
            let choices = problem.choices_of(task);
            choices.start + keys[task as usize % keys.len()] % (choices.end - choices.start)
        };
        let mut order: Vec<u32> = (0..problem.tasks() as u32).collect();
        order.sort_by_key(|&task| keys[task as usize % keys.len()].rotate_left(9));
        let list = List::new(&problem, &order, (0..problem.tasks() as u32).map(choice).collect());
        let measure = Measure::new(&problem, Objective::Makespan, None);
        let present = ListSchedule::new(&problem, measure, ListScheme::Events, list);
        let (starts, ends) = (present.starts(), present.ends());
        let tasks = || 0..problem.tasks() as u32;
        for task in tasks() {
            for at in present.ready(task)..starts[task as usize] {
                let running = tasks().filter(|&other| starts[other as usize] <= at && at < ends[other as usize]);
                let held: u32 = running.map(|other| present.processors(other)).sum();
                prop_assert!(held + present.processors(task) > instance.processors());
            }
        }
    }

    /// Checks that the average time of each task is between its shortest and its longest time.
    #[test]
    fn average_times_are_between_those_of_choices(draft in draft()) {
        let instance = draft.instance();
        let packing = Packing::new(&instance).unwrap();
        let problem = MoldableProblem::new(&packing).unwrap();
        for (task, average) in (0..).zip(average_times(&problem)) {
            let choices = problem.all_choices_of(task);
            let (longest, shortest) = (choices[0].time as f64, choices[choices.len() - 1].time as f64);
            prop_assert!((shortest - 1e-6..=longest + 1e-6).contains(&average), "{} of {:?}", average, choices);
        }
    }
}
