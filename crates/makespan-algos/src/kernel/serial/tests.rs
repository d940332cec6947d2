use makespan_core::{Instance, Job, Platform, ProcSet, Profile, ScheduleBuilder, TaskId, Time, Unavailable};
use proptest::prelude::*;

use super::{EvaluationLimit, SerialInsertion, SerialRequest};

/// Width, time and release of each job.
type Jobs = Vec<(u32, i64, i64)>;

fn instance(jobs: &Jobs, closed: &[(u32, i64, i64)]) -> Instance {
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
    Instance::new(Platform::flat(5).unwrap(), jobs, closed.iter().map(period).collect()).unwrap()
}

/// Returns the starts of the jobs in an order, computed by the timeline.
fn by_timeline(instance: &Instance, order: &[u32]) -> Vec<i64> {
    let mut builder = ScheduleBuilder::new(instance);
    let place = |&job: &u32| {
        let task = TaskId::at(job as usize);
        let width = instance.profile(task).min_processors();
        builder.place_earliest(task, width, Time::ZERO).0.ticks()
    };
    order.iter().map(place).collect()
}

/// Returns the starts and the sum of the ends, for an evaluation that begins at a position.
fn evaluate(serial: &mut SerialInsertion, jobs: &Jobs, order: &[u32], from: usize) -> (Vec<i64>, f64) {
    let mut starts = vec![-1; order.len()];
    let request = |place: usize| {
        let (processors, duration, release) = jobs[order[place] as usize];
        SerialRequest { processors, duration, release }
    };
    let fold = |sum: f64, place: usize, start: i64, request: &SerialRequest| {
        starts[place] = start;
        sum + (start + request.duration) as f64
    };
    let value = serial.evaluate(from..order.len(), EvaluationLimit::NONE, request, fold);
    (starts, value)
}

proptest! {
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

    /// Tries swaps, and accepts some of them. Checks that an evaluation from the first changed position on agrees with
    /// an evaluation of the whole order.
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
    let request = |_| SerialRequest { processors: 5, duration: 10, release: 0 };
    let value = serial.evaluate(0..jobs.len(), EvaluationLimit::at(100.0), request, |sum, _, start, _| {
        placed += 1;
        sum + start as f64
    });
    assert!(value.is_infinite() && placed < 40, "{placed} jobs were placed");
}

#[test]
fn an_order_that_is_far_behind_the_present_one_is_given_up_after_its_last_change() {
    let jobs: Jobs = (0..200).map(|job| (5, 10 + i64::from(job == 0) * 90, 0)).collect();
    let instance = instance(&jobs, &[]);
    let mut serial = SerialInsertion::new(&instance, jobs.len());
    let evaluate = |serial: &mut SerialInsertion, order: &[usize], limit: EvaluationLimit| {
        let mut placed = 0;
        let request = |place: usize| SerialRequest { processors: 5, duration: jobs[order[place]].1, release: 0 };
        let value = serial.evaluate(0..jobs.len(), limit, request, |sum, _, start, request: &SerialRequest| {
            placed += 1;
            sum + (start + request.duration) as f64
        });
        (value, placed)
    };
    // The long job moves from the middle of the order to its beginning. Each of the jobs between these positions then
    // starts 90 ticks later.
    let mut order: Vec<usize> = (1..101).chain([0]).chain(101..200).collect();
    let (value, _) = evaluate(&mut serial, &order, EvaluationLimit::NONE);
    serial.accept(0);
    order[..=100].rotate_right(1);
    let lead = 90.0 * 100.0;
    let within = EvaluationLimit { most: f64::INFINITY, lead, after: 100 };
    assert_eq!(evaluate(&mut serial, &order, within), (value + lead, 200));
    let (value, placed) = evaluate(&mut serial, &order, EvaluationLimit { lead: lead - 1.0, ..within });
    assert!(value.is_infinite() && (101..120).contains(&placed), "{placed} jobs were placed");
}
