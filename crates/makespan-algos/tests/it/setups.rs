//! Tests of setup times between consecutive tasks on a machine.

use makespan_algos::policy::policy_for;
use makespan_algos::{Context, ScheduleError, catalogue, scheduler};
use makespan_core::{
    Edge, Graph, Instance, Job, NamedTask, Need, Needs, Objective, Payload, Platform, Profile, Resources, Setup, Time,
    Weight, Work, validate,
};
use proptest::prelude::*;

fn second(seconds: i64) -> Time {
    Time::from_seconds(seconds)
}

fn setup(on: Option<&str>, from: usize, to: usize, seconds: i64) -> Setup {
    let family = |family: usize| family.to_string().into();
    Setup { on: on.map(Into::into), from: family(from), to: family(to), time: second(seconds) }
}

/// The release, the time, the weight, the family and the hard deadline (0: none) of a job.
type Row = (i64, i64, u64, usize, i64);

/// Returns single jobs on equal processors, with a setup time between each two of three families.
fn single(rows: &[Row], matrix: &[i64], processors: u32) -> Instance {
    let job = |(at, &(release, time, weight, family, end)): (usize, &Row)| {
        let mut job = Job::new(at.to_string(), Profile::rigid(1, second(time)).unwrap());
        if let Work::Task(task) = &mut job.work {
            task.family = Some(family.to_string().into());
        }
        let weight = Weight::from_millionths(weight * 1_000_000).unwrap();
        let must_end_by = (end > 0).then(|| second(release + time.max(end)));
        Job { must_end_by, ..job.with_release(second(release)).with_weight(weight) }
    };
    let setups = (0..9).map(|at| setup(None, at / 3, at % 3, matrix[at])).collect();
    let platform = Platform::flat(processors).unwrap().with_setups(setups).unwrap();
    Instance::new(platform, rows.iter().enumerate().map(job).collect(), vec![]).unwrap()
}

/// Returns the minimum makespan and the minimum weighted completion in seconds, over all orders of the jobs on one processor
/// that keep the deadlines.
fn optimum(rows: &[Row], matrix: &[i64]) -> (i64, i64) {
    fn next(rows: &[Row], matrix: &[i64], used: u32, last: Option<usize>, now: i64, cost: i64) -> (i64, i64) {
        if used.count_ones() as usize == rows.len() {
            return (now, cost);
        }
        let free = (0..rows.len()).filter(|at| used & 1 << at == 0);
        let each = free.map(|at| {
            let (release, time, weight, family, by) = rows[at];
            let setup = last.map_or(0, |last| matrix[3 * rows[last].3 + family]);
            let end = release.max(now + setup) + time;
            if by > 0 && end > release + time.max(by) {
                return (i64::MAX, i64::MAX);
            }
            next(rows, matrix, used | 1 << at, Some(at), end, cost + end * weight as i64)
        });
        each.fold((i64::MAX, i64::MAX), |best, one| (best.0.min(one.0), best.1.min(one.1)))
    }
    next(rows, matrix, 0, None, 0, 0)
}

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec(
        (0_i64..6, 1_i64..6, 0_u64..4, 0_usize..3, prop_oneof![3 => Just(0_i64), 1 => 1_i64..30]),
        1..=most,
    )
}

fn matrix() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(0_i64..7, 9)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(60)))]

    /// Checks that `optimise` finds the optimum of tiny instances on one processor.
    #[test]
    fn optimise_finds_the_best_order(rows in rows(5), matrix in matrix()) {
        let instance = single(&rows, &matrix, 1);
        let (makespan, weighted) = optimum(&rows, &matrix);
        for (objective, spec, best, unit) in [
            (Objective::Makespan, "optimise[objective=makespan,steps=1500,searches=1]", makespan, 1_000_000_000),
            (Objective::WeightedCompletion, "optimise[steps=1500,searches=1]", weighted, 1_000_000_000_000_000),
        ] {
            let mut context = Context::with_seed(1);
            let plan = match scheduler(spec).unwrap().schedule(&instance, &mut context) {
                Ok(plan) => plan,
                Err(error) => {
                    prop_assert_eq!(best, i64::MAX, "{}", error);
                    continue;
                }
            };
            let schedule = plan.into_schedule().unwrap();
            prop_assert_eq!(validate(&instance, &schedule), Ok(()));
            let value = objective.value(&instance, &schedule);
            prop_assert_eq!(value, i128::from(best) * unit, "{}", objective);
            let bounds = context.bounds.iter().filter(|bound| bound.objective == objective);
            for bound in bounds {
                prop_assert!(bound.value <= value.into() && bound.verify(&instance).is_ok());
            }
        }
    }

    /// Checks that each algorithm and policy keeps setup times or refuses them.
    #[test]
    fn setups_are_kept_or_refused(rows in rows(8), matrix in matrix(), processors in 1_u32..4) {
        let instance = single(&rows, &matrix, processors);
        for entry in catalogue() {
            for spec in entry.kind.representatives {
                let scheduler = scheduler(spec).unwrap();
                match scheduler.schedule(&instance, &mut Context::with_seed(1)) {
                    Ok(plan) => {
                        prop_assert!(scheduler.supports_setups(), "{spec}");
                        for schedule in plan.schedules() {
                            prop_assert_eq!(validate(&instance, schedule), Ok(()), "{}", spec);
                        }
                    }
                    Err(error) => {
                        let is_refused = matches!(error, ScheduleError::Unsupported { .. });
                        prop_assert_ne!(is_refused, scheduler.supports_setups(), "{}: {}", spec, error);
                    }
                }
            }
        }
        prop_assert!(policy_for("easy", &instance, 1).is_err());
    }

    /// Checks plans of job shops, in which machines are licences with setup times of their own.
    #[test]
    fn job_shops_with_setups_are_valid(times in prop::collection::vec((1_i64..9, 0_usize..3), 4..12), matrix in matrix()) {
        let job = |(at, tasks): (usize, &[(i64, usize)])| {
            let task = |(number, &(time, machine)): (usize, &(i64, usize))| {
                let mut task = NamedTask::new(number.to_string(), Profile::rigid(1, second(time)).unwrap());
                task.task.needs = Needs::new([(format!("m{machine}"), Need::whole(1))]).unwrap();
                task.task.family = Some((at % 3).to_string().into());
                task
            };
            let edges = (1..tasks.len() as u32).map(|to| Edge { from: to - 1, to, payload: Payload::Bytes(0) });
            let tasks = tasks.iter().enumerate().map(task).collect();
            Job::compound(at.to_string(), Graph::new(tasks, edges.collect()).unwrap())
        };
        let jobs: Vec<Job> = times.chunks(3).enumerate().map(job).collect();
        let machines = ["m0", "m1", "m2"];
        let setups = (0..9).flat_map(|at| machines[..2].iter().map(move |&on| (Some(on), at)));
        let setups = setups.map(|(on, at)| setup(on, at / 3, at % 3, matrix[at])).collect();
        let licences = Resources::new(machines.map(|name| (name, 1))).unwrap();
        for processors in [2, 12] {
            let platform = Platform::flat(processors).unwrap().with_licences(licences.clone()).unwrap();
            let platform = platform.with_setups(Clone::clone(&setups)).unwrap();
            let instance = Instance::new(platform, jobs.clone(), vec![]).unwrap();
            for spec in ["list", "optimise[objective=makespan,steps=300,searches=1]"] {
                let plan = scheduler(spec).unwrap().schedule(&instance, &mut Context::with_seed(1)).unwrap();
                prop_assert_eq!(validate(&instance, &plan.into_schedule().unwrap()), Ok(()), "{}", spec);
            }
        }
    }
}
