use makespan_core::{
    Instance, Job, Node, Platform, ProcSet, Profile, Reservation, ScheduleBuilder, TaskId, Time, Unavailable, validate,
};
use proptest::prelude::*;

use super::{Request, SerialInsertion, Skyline};

/// Width, time and release of each job.
type Jobs = Vec<(u32, i64, i64)>;

fn instance(jobs: &Jobs, closed: &[(u32, i64, i64)]) -> Instance {
    instance_on(Platform::flat(5).unwrap(), jobs, closed)
}

fn instance_on(platform: Platform, jobs: &Jobs, closed: &[(u32, i64, i64)]) -> Instance {
    let ticks = Time::from_ticks;
    let job = |(index, &(width, time, release)): (usize, &(u32, i64, i64))| {
        Job::new(index.to_string(), Profile::rigid(width, ticks(time)).unwrap()).with_release(ticks(release))
    };
    let period = |&(first, start, length): &(u32, i64, i64)| Unavailable {
        processors: ProcSet::range(first, 3),
        start: ticks(start),
        end: ticks(start + length),
    };
    let jobs = jobs.iter().enumerate().map(job).collect();
    Instance::new(platform, jobs, closed.iter().map(period).collect()).unwrap()
}

/// The starts of the jobs in some order, by the timeline that every schedule is built on.
fn by_timeline(instance: &Instance, order: &[u32]) -> Vec<i64> {
    let mut builder = ScheduleBuilder::new(instance);
    let place = |&job: &u32| {
        let task = TaskId::at(job as usize);
        let width = instance.profile(task).min_processors();
        builder.place_earliest(task, width, Time::ZERO).0.ticks()
    };
    order.iter().map(place).collect()
}

/// The starts and the sum of the ends, evaluated from a place on.
fn evaluate(serial: &mut SerialInsertion, jobs: &Jobs, order: &[u32], from: usize) -> (Vec<i64>, f64) {
    let mut starts = vec![-1; order.len()];
    let request = |place: usize| {
        let (processors, duration, release) = jobs[order[place] as usize];
        Request { processors, duration, release }
    };
    let fold = |sum: f64, place: usize, start: i64, request: &Request| {
        starts[place] = start;
        sum + (start + request.duration) as f64
    };
    let value = serial.evaluate(from..order.len(), f64::INFINITY, request, fold);
    (starts, value)
}

/// The first instant from which a best placement of `width` is free for `duration` beside what is held: start, end and
/// processors of each pool.
fn earliest(instance: &Instance, pools: &[ProcSet], held: &[(i64, i64, Vec<u32>)], request: Request) -> Option<i64> {
    let Request { processors: width, duration, release } = request;
    let platform = instance.platform();
    let free = |pool: usize, now: i64| {
        let at = Time::from_ticks(now);
        let first = pools[pool].iter().next().unwrap();
        let mut closed = instance.unavailable().iter().filter(|period| period.start <= at && at < period.end);
        let taken: u32 = held.iter().filter(|held| held.0 <= now && now < held.1).map(|held| held.2[pool]).sum();
        if closed.any(|period| period.processors.contains(first)) { 0 } else { pools[pool].len() - taken }
    };
    (release..500).find(|&start| {
        let least = |pool: usize| (start..start + duration).map(|now| free(pool, now)).min().unwrap();
        let mut nodes = vec![0; platform.nodes().len()];
        for (pool, processors) in pools.iter().enumerate() {
            nodes[platform.node_of(processors.iter().next().unwrap())] += least(pool);
        }
        // Over all sets of whole nodes, with a part of any other.
        (0_u32..1 << nodes.len()).any(|mask| {
            let size = |node: usize| platform.nodes()[node].processors;
            let whole = || (0..nodes.len()).filter(|&node| mask >> node & 1 == 1);
            let rest = width.checked_sub(whole().map(size).sum());
            let part = |rest: u32| (0..nodes.len()).any(|node| mask >> node & 1 == 0 && nodes[node] >= rest);
            whole().all(|node| nodes[node] == size(node)) && rest.is_some_and(|rest| rest == 0 || part(rest))
        })
    })
}

proptest! {
    #[test]
    fn jobs_start_where_a_best_placement_is_free(
        nodes in prop::collection::vec(1_u32..5, 2..4),
        jobs in prop::collection::vec((1_u32..13, 1_i64..9, 0_i64..12), 1..25),
        closed in prop::collection::vec((0_u32..4, 0_i64..30, 1_i64..9), 0..3),
    ) {
        let node = |(index, &processors): (usize, &u32)| {
            Node { name: index.to_string(), processors, speed: 1.0, parent: None, link: None }
        };
        let platform = Platform::new(nodes.iter().enumerate().map(node).collect()).unwrap().requiring_compact();
        let all = platform.processors();
        let jobs: Jobs = jobs.iter().map(|&(width, time, release)| (1 + (width - 1) % all, time, release)).collect();
        // Up to the last id of a flat platform, which this one may not have.
        let closed = if all >= 4 { closed } else { vec![] };
        let instance = instance_on(platform, &jobs, &closed);
        let mut skyline = Skyline::new(&instance);
        let pools = skyline.pools().map(<[ProcSet]>::to_vec);
        prop_assert_eq!(pools.is_some(), instance.platform().restricts_placement());
        let Some(pools) = pools else { return Ok(()) };
        let mut builder = ScheduleBuilder::new(&instance);
        let mut held = Vec::new();
        for (job, &(processors, duration, release)) in instance.task_ids().zip(&jobs) {
            let start = skyline.place(processors, duration, release);
            prop_assert_eq!(Some(start), earliest(&instance, &pools, &held, Request { processors, duration, release }));
            let taken: Vec<u32> = skyline.taken().collect();
            held.push((start, start + duration, taken.clone()));
            let [start, end] = [start, start + duration].map(Time::from_ticks);
            builder.hold(job, Reservation::of_parts(taken.into(), start, end));
        }
        prop_assert_eq!(validate(&instance, &builder.finish_from(pools)), Ok(()));
    }

    #[test]
    fn jobs_start_where_the_timeline_places_them(
        jobs in prop::collection::vec((1_u32..6, 1_i64..9, 0_i64..12), 1..40),
        closed in prop::collection::vec((0_u32..4, 0_i64..30, 1_i64..9), 0..4),
    ) {
        let instance = instance(&jobs, &closed);
        let order: Vec<u32> = (0..jobs.len() as u32).collect();
        let (starts, value) = evaluate(&mut SerialInsertion::new(&instance, jobs.len()), &jobs, &order, 0);
        let sum: i64 = starts.iter().zip(&jobs).map(|(start, job)| start + job.1).sum();
        prop_assert_eq!(value as i64, sum);
        prop_assert_eq!(starts, by_timeline(&instance, &order));
    }

    /// Swaps are tried, and accepted or not: what is evaluated from the first changed place on is what an evaluation of
    /// the whole order gives.
    #[test]
    fn a_part_is_evaluated_like_the_whole(
        jobs in prop::collection::vec((1_u32..6, 1_i64..9, 0_i64..12), 2..40),
        closed in prop::collection::vec((0_u32..4, 0_i64..30, 1_i64..9), 0..3),
        swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<bool>()), 1..30),
    ) {
        let instance = instance(&jobs, &closed);
        let mut order: Vec<u32> = (0..jobs.len() as u32).collect();
        let mut serial = SerialInsertion::new(&instance, jobs.len());
        evaluate(&mut serial, &jobs, &order, 0);
        serial.accept(0);
        for (a, b, accepted) in swaps {
            let (a, b) = (a.index(jobs.len()), b.index(jobs.len()));
            order.swap(a, b);
            let first = a.min(b);
            let (_, value) = evaluate(&mut serial, &jobs, &order, first);
            let (starts, whole) = evaluate(&mut SerialInsertion::new(&instance, jobs.len()), &jobs, &order, 0);
            prop_assert_eq!(value as i64, whole as i64);
            let latest = starts.iter().zip(&order).map(|(start, &job)| start + jobs[job as usize].1).max();
            prop_assert_eq!(Some(serial.latest()), latest);
            if accepted { serial.accept(first) } else { order.swap(a, b) }
        }
    }
}

#[test]
fn a_value_beyond_the_limit_is_not_computed_to_its_end() {
    let jobs: Jobs = (0..200).map(|_| (5, 10, 0)).collect();
    let instance = instance(&jobs, &[]);
    let mut serial = SerialInsertion::new(&instance, jobs.len());
    let mut placed = 0;
    let request = |_| Request { processors: 5, duration: 10, release: 0 };
    let value = serial.evaluate(0..jobs.len(), 100.0, request, |sum, _, start, _| {
        placed += 1;
        sum + start as f64
    });
    assert!(value.is_infinite() && placed < 40, "{placed} jobs were placed");
}
