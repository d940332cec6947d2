//! Plans of tasks with time lags, compared with an enumeration of all starts.

use makespan_algos::{Context, Plan, scheduler};
use makespan_bounds::{Clock, best_by};
use makespan_core::{
    Graph, Instance, Job, Lag, NamedTask, Need, Needs, Objective, Placement, Platform, ProcSet, Profile, Resources,
    Schedule, TaskId, Time, validate,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A task: its time and its need of a resource of which there are 3.
type Draft = (i64, u64);

const CAPACITY: u64 = 3;
/// Last start that the enumeration tries.
const HORIZON: i64 = 14;

fn instance(tasks: &[Draft], lags: &[(u32, u32, i64)]) -> Option<Instance> {
    let task = |(number, &(time, need)): (usize, &Draft)| {
        let mut named = NamedTask::new(number.to_string(), Profile::rigid(1, Time::from_seconds(time)).unwrap());
        named.task.needs = Needs::new((need > 0).then(|| ("crew", Need::whole(need)))).unwrap();
        let own = lags.iter().filter(|lag| lag.1 as usize == number);
        named.task.lags = own.map(|&(from, _, least)| Lag { from, least: Time::from_seconds(least) }).collect();
        named
    };
    let graph = Graph::new(tasks.iter().enumerate().map(task).collect(), vec![]).ok()?;
    let licences = Resources::new([("crew", CAPACITY)]).unwrap();
    let platform = Platform::flat(tasks.len() as u32).unwrap().with_licences(licences).unwrap();
    Some(Instance::new(platform, vec![Job::compound("j", graph)], vec![]).unwrap())
}

/// Returns the least makespan of all valid schedules with whole starts up to [`HORIZON`].
fn enumerated(tasks: &[Draft], lags: &[(u32, u32, i64)]) -> Option<i64> {
    fn extend(tasks: &[Draft], lags: &[(u32, u32, i64)], starts: &mut Vec<i64>, best: &mut Option<i64>) {
        let at = starts.len();
        if at == tasks.len() {
            let end = starts.iter().zip(tasks).map(|(start, task)| start + task.0).max().unwrap_or(0);
            *best = Some(best.map_or(end, |best| best.min(end)));
            return;
        }
        for start in 0..=HORIZON {
            starts.push(start);
            let keeps =
                |&&(from, to, least): &&(u32, u32, i64)| match (starts.get(from as usize), starts.get(to as usize)) {
                    (Some(first), Some(second)) => second - first >= least,
                    _ => true,
                };
            let held = |instant: i64| {
                let runs =
                    starts.iter().zip(tasks).filter(|(start, task)| (**start..**start + task.0).contains(&instant));
                runs.map(|(_, task)| task.1).sum::<u64>()
            };
            if lags.iter().all(|lag| keeps(&lag))
                && (start..start + tasks[at].0).all(|instant| held(instant) <= CAPACITY)
            {
                extend(tasks, lags, starts, best);
            }
            starts.pop();
        }
    }
    let mut best = None;
    extend(tasks, lags, &mut Vec::new(), &mut best);
    best
}

fn drawn(random: &mut impl Rng) -> (Vec<Draft>, Vec<(u32, u32, i64)>) {
    let count = random.random_range(2..=4);
    let tasks = (0..count).map(|_| (random.random_range(1..=3), random.random_range(0..=CAPACITY))).collect();
    let mut lags = Vec::new();
    for from in 0..count {
        for to in 0..count {
            if from < to && random.random_bool(0.6) {
                lags.push((from as u32, to as u32, random.random_range(0..=4)));
            }
            if from > to && random.random_bool(0.3) {
                lags.push((from as u32, to as u32, -random.random_range(0..=6)));
            }
        }
    }
    (tasks, lags)
}

/// Compares with the enumeration. Returns the numbers of instances: with a plan, and with a plan that is optimal.
fn compare(seeds: std::ops::Range<u64>) -> [usize; 3] {
    let [mut feasible, mut planned, mut optimal] = [0; 3];
    for seed in seeds {
        let (tasks, lags) = drawn(&mut ChaCha8Rng::seed_from_u64(seed));
        let best = enumerated(&tasks, &lags);
        let Some(instance) = instance(&tasks, &lags) else {
            assert_eq!(best, None, "{seed}: {tasks:?} {lags:?}");
            continue;
        };
        feasible += usize::from(best.is_some());
        let bound = best_by(&instance, Objective::Makespan, &Clock::ENDLESS).unwrap();
        assert_eq!(bound.verify(&instance), Ok(()));
        if let Some(best) = best {
            assert!(
                bound.value.integer() <= i128::from(Time::from_seconds(best).ticks()),
                "{seed}: {bound:?} > {best}"
            );
        }
        for spec in ["list", "optimise[objective=makespan,steps=200]"] {
            let plan = scheduler(spec).unwrap().schedule(&instance, &mut Context::with_seed(1));
            let Ok(plan) = plan.map(Plan::into_schedule) else { continue };
            let schedule = plan.unwrap();
            assert_eq!(validate(&instance, &schedule), Ok(()), "{seed}");
            let best =
                best.unwrap_or_else(|| panic!("{seed}: a plan of {spec}, but there is none: {tasks:?} {lags:?}"));
            assert!(schedule.makespan() >= Time::from_seconds(best), "{seed}");
            if spec != "list" {
                planned += 1;
                optimal += usize::from(schedule.makespan() == Time::from_seconds(best));
            }
        }
    }
    [feasible, planned, optimal]
}

#[test]
fn plans_keep_lags_and_are_as_short_as_enumerated_ones() {
    let [feasible, planned, optimal] = compare(0..150);
    assert!(feasible > 80 && planned == feasible && optimal == feasible, "{feasible}, {planned}, {optimal}");
}

#[test]
#[ignore = "long: enumerates the starts of 3,000 instances"]
fn many_plans_keep_lags_and_are_as_short_as_enumerated_ones() {
    let [feasible, planned, optimal] = compare(1000..4000);
    assert!(planned * 1000 >= feasible * 999 && optimal * 1000 >= planned * 999, "{feasible}, {planned}, {optimal}");
}

#[test]
fn other_algorithms_and_policies_refuse_lags() {
    let instance = instance(&[(2, 1), (3, 1)], &[(0, 1, 1), (1, 0, -4)]).unwrap();
    for entry in makespan_algos::catalogue() {
        for spec in entry.kind.representatives {
            let made = scheduler(spec).unwrap();
            let planned = made.schedule(&instance, &mut Context::with_seed(1));
            assert_eq!(made.supports(&instance).is_ok(), planned.is_ok(), "{spec}: {planned:?}");
            if let Ok(Some(schedule)) = planned.map(Plan::into_schedule) {
                assert_eq!(validate(&instance, &schedule), Ok(()), "{spec}");
            }
        }
    }
    for entry in makespan_algos::policy::policies() {
        let refused = makespan_algos::policy::policy_for(entry.name, &instance, 1).map(drop).unwrap_err().to_string();
        assert!(refused.contains("time lag"), "{}: {refused}", entry.name);
    }
    let placed = |starts: [i64; 2]| {
        let place = |(task, start): (usize, i64)| Placement {
            task: TaskId::at(task),
            start: Time::from_seconds(start),
            end: Time::from_seconds(start) + instance.profile(TaskId::at(task)).shortest(),
            processors: ProcSet::range(task as u32, task as u32),
        };
        validate(&instance, &Schedule::new(starts.into_iter().enumerate().map(place).collect())).is_ok()
    };
    assert_eq!([placed([0, 1]), placed([0, 4]), placed([0, 0]), placed([0, 5])], [true, true, false, false]);
}
