//! Graphs of moldable tasks on equal processors: the whole catalogue is compared with the optimum of a brute force,
//! within its guarantees.

use makespan_algos::kernel::packing::Packing;
use makespan_algos::kernel::path_area;
use makespan_algos::{Context, Scheduler};
use makespan_algos::{catalogue, scheduler};
use makespan_core::{
    Edge, Graph, Instance, Job, NamedTask, Objective, Payload, Platform, Profile, Schedule, SpeedupLaw, Time, validate,
};
use proptest::prelude::*;

/// Ticks on one, two .. processors, or ticks on one processor and the serial share of Amdahl's law.
#[derive(Clone, Debug)]
enum Shape {
    Table(Vec<i64>),
    Amdahl(i64, f64),
}

#[derive(Clone, Debug)]
struct Draft {
    processors: u32,
    tasks: Vec<Shape>,
    edges: Vec<(usize, usize)>,
}

impl Draft {
    fn instance(&self) -> Instance {
        let profile = |shape: &Shape| match shape {
            Shape::Table(times) => Profile::table(times.iter().map(|&time| Time::from_ticks(time)).collect()),
            &Shape::Amdahl(time, serial) => {
                Profile::law(Time::from_ticks(time), SpeedupLaw::Amdahl { serial }, 1, self.processors)
            }
        };
        let tasks = self.tasks.iter().enumerate();
        let tasks = tasks.map(|(at, shape)| NamedTask::new(at.to_string(), profile(shape).unwrap())).collect();
        let mut edges: Vec<Edge> = Vec::new();
        for &(a, b) in &self.edges {
            let count = self.tasks.len();
            let (from, to) = ((a % count).min(b % count) as u32, (a % count).max(b % count) as u32);
            if from != to && !edges.iter().any(|edge| (edge.from, edge.to) == (from, to)) {
                edges.push(Edge { from, to, payload: Payload::Bytes(0) });
            }
        }
        let job = Job::compound("graph", Graph::new(tasks, edges).unwrap());
        Instance::new(Platform::flat(self.processors).unwrap(), vec![job], vec![]).unwrap()
    }
}

/// Returns tables with work that never decreases and times that never increase, arbitrary tables, and laws.
fn shapes() -> impl Strategy<Value = Shape> {
    let monotone = (1_i64..25, prop::collection::vec(0_i64..=4, 0..4)).prop_map(|(first, parts)| {
        let mut times = vec![first];
        for part in parts {
            let processors = times.len() as i64 + 1;
            let last = times[times.len() - 1];
            let perfect = (last * (processors - 1) + processors - 1) / processors;
            times.push(perfect + (last - perfect) * part / 4);
        }
        Shape::Table(times)
    });
    prop_oneof![
        3 => monotone,
        1 => (1_i64..25, 0.0..1.0).prop_map(|(time, serial)| Shape::Amdahl(time, serial)),
        1 => prop::collection::vec(1_i64..20, 1..=4).prop_map(Shape::Table),
    ]
}

fn drafts() -> impl Strategy<Value = Draft> {
    let tasks = prop::collection::vec(shapes(), 1..=5);
    let edges = prop::collection::vec((0_usize..5, 0_usize..5), 0..7);
    (1_u32..=4, tasks, edges).prop_map(|(processors, tasks, edges)| Draft { processors, tasks, edges })
}

/// Returns the least makespan over all orders and allotments, with each task at its earliest fit. Some such schedule is
/// optimal.
fn optimum(instance: &Instance) -> i64 {
    let mut best = i64::MAX;
    descend(instance, &mut Vec::new(), &mut best);
    best
}

/// Task, processors, start and end.
type Placed = (usize, u32, i64, i64);

fn descend(instance: &Instance, placed: &mut Vec<Placed>, best: &mut i64) {
    if placed.len() as u64 == instance.tasks() {
        *best = placed.iter().map(|one| one.3).max().unwrap_or(0).min(*best);
        return;
    }
    for task in instance.task_ids() {
        let end_of = |task: usize| placed.iter().find(|one| one.0 == task).map(|one| one.3);
        let ready = instance.incoming(task).try_fold(0, |ready, edge| Some(end_of(edge.from.index())?.max(ready)));
        let Some(ready) = ready.filter(|_| end_of(task.index()).is_none()) else { continue };
        for processors in instance.profile(task).allotments() {
            let time = instance.profile(task).time(processors).ticks();
            let busy = |at: i64| placed.iter().filter(|one| one.2 <= at && at < one.3).map(|one| one.1).sum::<u32>();
            let fits = |start: i64| {
                let starts = placed.iter().map(|one| one.2).filter(|&at| start < at && at < start + time);
                starts.chain([start]).all(|at| busy(at) + processors <= instance.processors())
            };
            let ends = placed.iter().map(|one| one.3).filter(|&end| end > ready).chain([ready]);
            let start = ends.filter(|&start| fits(start)).min().unwrap();
            if start + time < *best {
                placed.push((task.index(), processors, start, start + time));
                descend(instance, placed, best);
                placed.pop();
            }
        }
    }
}

fn plan(scheduler: &dyn Scheduler, instance: &Instance) -> Schedule {
    let plan = scheduler.schedule(instance, &mut Context::with_seed(3)).unwrap_or_else(|error| panic!("{error}"));
    plan.into_schedule().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::cases(300), ..ProptestConfig::default() })]

    #[test]
    fn makespans_stand_between_the_optimum_and_the_guarantees(draft in drafts()) {
        let instance = draft.instance();
        let optimum = i128::from(optimum(&instance));
        let bound = makespan_bounds::best(&instance, Objective::Makespan).unwrap();
        prop_assert!(bound.value.integer() <= optimum, "{:?} above {}", bound, optimum);
        for spec in catalogue().iter().flat_map(|entry| entry.kind.representatives) {
            let scheduler = scheduler(spec).unwrap();
            if scheduler.supports(&instance).is_err() {
                continue;
            }
            let schedule = plan(scheduler.as_ref(), &instance);
            prop_assert_eq!(validate(&instance, &schedule), Ok(()), "{}", spec);
            let value = Objective::Makespan.value(&instance, &schedule);
            prop_assert!(value >= optimum, "{}: {} below {}", spec, value, optimum);
            if let Some(guarantee) = scheduler.guarantee(&instance, Objective::Makespan) {
                prop_assert!(guarantee.holds(value, optimum), "{spec}: {value} above {guarantee} times {optimum}");
            }
        }
    }

    /// Checks that the solution of the linear programme is no longer than any schedule, and that its makespan is close
    /// to its bound.
    #[test]
    fn the_programme_of_path_and_area_is_a_bound(draft in drafts()) {
        let instance = draft.instance();
        let mixed = path_area::solve(&Packing::new(&instance).unwrap());
        prop_assert!(mixed.bound <= optimum(&instance) as f64 * (1.0 + 1e-9), "{:?}", mixed);
        prop_assert!(mixed.bound <= mixed.value * (1.0 + 1e-9) && mixed.value <= 1.02 * mixed.bound, "{:?}", mixed);
    }
}

/// Checks that the guarantee of rounding is stated only if it is proved.
#[test]
fn rounding_states_its_guarantee_for_monotone_tasks_alone() {
    let of = |shape: Shape| {
        let draft = Draft { processors: 4, tasks: vec![shape.clone(), shape], edges: vec![(0, 1)] };
        scheduler("lp-rounding").unwrap().guarantee(&draft.instance(), Objective::Makespan)
    };
    let monotone = of(Shape::Table(vec![12, 7, 5, 4])).unwrap();
    assert!(monotone.numerator < 5 * monotone.denominator && monotone.plus == Time::ZERO, "{monotone}");
    assert!(of(Shape::Amdahl(12, 0.3)).unwrap().plus > Time::ZERO);
    assert_eq!(of(Shape::Table(vec![12, 3, 2, 1])), None);
}
