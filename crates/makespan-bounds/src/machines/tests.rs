use std::time::Instant;

use makespan_core::{Job, JobId, Objective, Platform, SimpleJob, TaskId};
use makespan_verify::Proof;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// Returns tasks of random sizes on machines of random speeds. Each run time is multiplied by a random factor from 1
/// to `1 + spread`.
fn random(tasks: usize, machines: usize, spread: f64, seed: u64) -> Instance {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let speeds: Vec<f64> = (0..machines).map(|_| random.random_range(1.0..100.0)).collect();
    let job = |at: usize| {
        let size = random.random_range(1.0..3000.0);
        let row: Vec<Time> = speeds
            .iter()
            .map(|speed| Time::from_ticks((1e9 * size * speed * (1.0 + spread * random.random::<f64>())) as i64))
            .collect();
        Job::new(at.to_string(), Profile::on_machines(row).unwrap())
    };
    let jobs = (0..tasks).map(job).collect();
    Instance::new(Platform::cluster(machines as u32, 1).unwrap(), jobs, vec![]).unwrap()
}

#[test]
fn on_uniform_machines_the_bound_is_the_work_over_the_speeds() {
    for (seed, tasks, machines) in [(1, 512, 16), (2, 300, 3), (3, 2000, 100)] {
        let instance = random(tasks, machines, 0.0, seed);
        let times = |job: usize| instance.profile_of(JobId(job as u32)).machine_times().unwrap();
        let speed: f64 = (0..machines).map(|k| 1.0 / times(0)[k].ticks() as f64).sum();
        let work: f64 = (0..tasks).map(|job| times(job)[0].ticks() as f64 / times(0)[0].ticks() as f64).sum();
        let begin = Instant::now();
        let bound = bound(&instance, Objective::Makespan);
        println!("{tasks} tasks on {machines} machines: {:.4} s", begin.elapsed().as_secs_f64());
        assert_eq!(bound.verify(&instance), Ok(()));
        let ratio = bound.value.integer() as f64 * speed / work;
        assert!((0.99999..1.000_001).contains(&ratio), "{ratio}");
    }
}

#[test]
fn other_prices_do_not_prove_more() {
    for (seed, spread) in [(1, 0.1), (2, 1.0), (3, 10.0), (4, 100.0)] {
        let instance = random(120, 6, spread, seed);
        let prices = prices(&instance);
        let proved = |prices: &[f64]| bound_by(&instance, Objective::Makespan, prices).value.as_f64();
        let best = proved(&prices);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for size in [1e-1, 1e-2, 1e-3, 1e-4, 1e-5] {
            for _ in 0..40 {
                let moved: Vec<f64> =
                    prices.iter().map(|price| price * (1.0 + size * random.random_range(-1.0..1.0))).collect();
                let above = proved(&moved) / best - 1.0;
                assert!(above < 1e-5, "{above:.2e} by moving prices by {size}");
            }
        }
    }
}

#[test]
fn machines_that_are_busy_and_tasks_that_do_not_fit_are_counted() {
    let ticks = |row: [i64; 2]| Profile::on_machines(row.map(Time::from_ticks)).unwrap();
    let jobs = vec![Job::new("a", ticks([10, 100])), Job::new("b", ticks([10, 100]))];
    let period = makespan_core::Unavailable {
        processors: makespan_core::ProcSet::range(1, 1),
        start: Time::ZERO,
        end: Time::from_ticks(50),
    };
    let instance = Instance::new(Platform::cluster(2, 1).unwrap(), jobs, vec![period]).unwrap();
    let bound = bound(&instance, Objective::Makespan);
    assert_eq!((bound.value.integer(), bound.verify(&instance)), (20, Ok(())));
}

/// Returns the shortest makespan over all assignments of tasks to machines. Each machine runs its tasks in the order
/// of their releases, which is optimal.
fn shortest(instance: &Instance) -> i64 {
    let (machines, jobs) = (instance.processors(), instance.jobs().len() as u32);
    let mut order: Vec<TaskId> = instance.task_ids().collect();
    order.sort_by_key(|&task| instance.release(task));
    let span = |mut code: u32| -> Option<i64> {
        let mut ends = vec![0; machines as usize];
        for &id in &order {
            let machine = (code % machines) as usize;
            code /= machines;
            let time = instance.time_on(id, instance.platform().node_of(machine as u32))?;
            ends[machine] = i64::max(ends[machine], instance.release(id).ticks()) + time.ticks();
        }
        ends.into_iter().max()
    };
    (0..machines.pow(jobs)).filter_map(span).min().unwrap()
}

#[test]
fn bounds_with_release_dates_stay_below_the_optimum() {
    let (mut late, mut in_time) = (0, 0);
    for seed in 0..300 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let second = random.random_range(0..4);
        let speeds = [1.0, [1.0, 0.3, 2.0, 7.0][second]];
        let node = |(at, &speed): (usize, &f64)| makespan_core::Node {
            speed,
            ..makespan_core::Node::new(at.to_string(), 1 + u32::from(at == 1 && seed % 3 == 0))
        };
        let platform = Platform::new(speeds.iter().enumerate().map(node).collect()).unwrap();
        let own = seed % 2 == 0;
        let job = |at: usize| {
            let mut time = || Time::from_ticks(random.random_range(1..40));
            let profile = if own || second == 0 {
                let row = [time(), time()];
                Profile::on_machines(if at == 3 { [row[0], Profile::CANNOT_RUN] } else { row }).unwrap()
            } else {
                Profile::rigid(1, time()).unwrap()
            };
            Job::new(at.to_string(), profile).with_release(Time::from_ticks(random.random_range(0..60)))
        };
        let jobs = (0..6).map(job).collect();
        let instance = Instance::new(platform, jobs, vec![]).unwrap();
        let (bound, optimum) = (bound(&instance, Objective::Makespan), i128::from(shortest(&instance)));
        assert_eq!(bound.verify(&instance), Ok(()));
        assert!(bound.value.integer() <= optimum, "{seed}: {bound:?} is above {optimum}");
        late += usize::from(matches!(bound.proof, Proof::LateWork(_)));
        in_time += usize::from(matches!(bound.proof, Proof::MachineTimePrices(_)));
        let area = crate::release_area_bound(&instance);
        assert!(
            i128::from(area.ticks()) <= bound.value.integer(),
            "{seed}: the area bound {area:?} is larger than the bound"
        );
    }
    assert!(late > 3 && in_time > 30, "only {late} bounds by `LateWork` and {in_time} by `MachineTimePrices`");
}

/// Returns jobs with random times on machines that are busy at first. Some jobs cannot run on some machines.
fn busy(seed: u64, jobs: usize, machines: usize, far: f64) -> Instance {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let job = |at: usize| {
        let size = random.random_range(1e6..1e8);
        let mut row: Vec<Time> =
            (0..machines).map(|_| Time::from_ticks((size * random.random_range(0.2..5.0)) as i64)).collect();
        if random.random_bool(0.2) {
            row[random.random_range(0..machines)] = Profile::CANNOT_RUN;
        }
        Job::new(at.to_string(), Profile::on_machines(row).unwrap())
    };
    let jobs = (0..jobs).map(job).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0xB05);
    let busy = (0..machines as u32).filter(|_| random.random_bool(0.5)).collect::<Vec<u32>>();
    let period = |id: u32| makespan_core::Unavailable {
        processors: makespan_core::ProcSet::range(id, id),
        start: Time::ZERO,
        end: Time::from_ticks(random.random_range(1.0..far) as i64),
    };
    Instance::new(Platform::cluster(machines as u32, 1).unwrap(), jobs, busy.into_iter().map(period).collect()).unwrap()
}

/// Checks that no bound changes if a machine is added that becomes available only after the whole schedule.
#[test]
fn machines_that_cannot_take_part_change_no_bound() {
    for seed in 0..40 {
        let without = busy(seed, 40, 5, 1e8);
        let far = makespan_core::Unavailable {
            processors: makespan_core::ProcSet::range(0, 0),
            start: Time::ZERO,
            end: Time::from_ticks(1 << 42),
        };
        let row = |job: SimpleJob<'_>| job.profile().machine_times().unwrap().to_vec();
        // The additional machine runs each job in a fraction of the shortest time of the job on the other machines:
        // 1/1000, 1/30 or 1.
        let faster = |at: usize, row: Vec<Time>| {
            let own = row.iter().copied().min().unwrap().ticks() / [1000, 30, 1][at % 3];
            [vec![Time::from_ticks(own)], row].concat()
        };
        let jobs = without
            .simple_jobs()
            .enumerate()
            .map(|(at, job)| Job::new(job.name.clone(), Profile::on_machines(faster(at, row(job))).unwrap()));
        let shifted = without.unavailable().iter().map(|period| makespan_core::Unavailable {
            processors: period
                .processors
                .iter()
                .map(|id| makespan_core::ProcSet::range(id + 1, id + 1))
                .next()
                .unwrap(),
            ..period.clone()
        });
        let with =
            Instance::new(Platform::cluster(6, 1).unwrap(), jobs.collect(), shifted.chain([far]).collect()).unwrap();
        let proved = |instance: &Instance| bound(instance, Objective::Makespan).value.as_f64();
        assert!(proved(&with) >= proved(&without) * (1.0 - 1e-4), "{seed}: {} {}", proved(&with), proved(&without));
    }
}

/// Returns the least mean flow over all assignments of jobs to machines. Each machine runs its shortest jobs first.
fn least_flow(instance: &Instance) -> i128 {
    let (machines, jobs) = (instance.processors(), instance.jobs().len() as u32);
    let ready = |machine: u32| {
        let own = instance.unavailable().iter().filter(|period| period.processors.iter().any(|id| id == machine));
        own.map(|period| period.end.ticks()).max().unwrap_or(0)
    };
    let ready: Vec<i64> = (0..machines).map(ready).collect();
    let flow = |mut code: u32| -> Option<i128> {
        let mut own = vec![Vec::new(); machines as usize];
        for id in instance.task_ids() {
            let machine = code % machines;
            code /= machines;
            own[machine as usize].push(instance.time_on(id, machine as usize)?.ticks());
        }
        let mut sum = 0;
        for (times, &ready) in own.iter_mut().zip(&ready) {
            times.sort_unstable();
            let mut end = ready;
            for time in times {
                end += *time;
                sum += i128::from(end);
            }
        }
        Some(sum)
    };
    (0..machines.pow(jobs)).filter_map(flow).min().unwrap()
}

#[test]
fn positions_are_the_optimum_and_prove_it() {
    for seed in 0..60 {
        let (jobs, machines) = (1 + seed as usize % 7, 2 + seed as usize % 2);
        let instance = busy(seed, jobs, machines, 3e8);
        let optimum = least_flow(&instance);
        let found = positions(&instance);
        let bound = found.bound(&instance, Objective::WeightedCompletion).unwrap();
        assert_eq!((bound.value.integer(), bound.verify(&instance)), (optimum * 1_000_000, Ok(())), "{seed}");
        let flow = found.bound(&instance, Objective::MeanFlow).unwrap();
        assert_eq!(flow.value.integer(), 1000 * optimum / jobs as i128, "{seed}");
        assert!(found.processors.is_some());
    }
}

#[test]
fn positions_of_many_jobs_are_found_in_time() {
    for (jobs, machines) in [(150, 16), (512, 16), (2000, 8)] {
        let instance = busy(1, jobs, machines, 1e9);
        let begin = Instant::now();
        let found = positions(&instance);
        println!("{jobs} jobs on {machines}: {:.3} s, {}", begin.elapsed().as_secs_f64(), found.processors.is_some());
        let bound = found.bound(&instance, Objective::MeanFlow).unwrap();
        assert_eq!(bound.verify(&instance), Ok(()));
        assert!(jobs > 512 || found.processors.is_some());
    }
}
