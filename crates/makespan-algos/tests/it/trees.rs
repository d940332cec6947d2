//! The property harness of the catalogue on trees. A scheduler of rates that is added to the catalogue is tested here
//! without further work.
//!
//! The harness uses random small trees with bags, and networks that are no longer trees after a change. Every supported
//! instance is planned, and every node can sustain its rates. The throughput is no larger than any verified bound. A
//! modified bound is refused. The same seed gives the same plan on any thread and with any names. If all times are
//! scaled, the plan is scaled by the same factor.

use std::num::NonZeroU64;

use makespan_algos::{Context, Plan, ScheduleError, Scheduler};
use makespan_algos::{catalogue, scheduler};
use makespan_bounds::tree::{EXACT_NODES, bound};
use makespan_core::tree::{Rates, SteadyState, TreeProblem, float_of};
use makespan_core::{Instance, Job, Link, Node, Objective, Platform, Profile, Time, Weight};
use makespan_verify::{Bound, Proof, Value};
use proptest::prelude::*;

/// A node, given by its processors, its speed in halves, its parent, and the bandwidth and latency of its link in
/// quarters of a second.
type NodeFigures = (u32, u32, usize, u32, u32);
/// An application, given by seconds of work, bytes, and weight in halves.
type JobFigures = (i64, u64, u64);

/// A small tree with bags. If `wrong` is not zero, it is the number of a defect that makes the instance invalid for
/// trees.
#[derive(Clone, Debug)]
struct Draft {
    nodes: Vec<NodeFigures>,
    jobs: Vec<JobFigures>,
    wrong: u32,
}

/// Number of kinds of defects, plus one for an instance without a defect.
const WRONGS: u32 = 5;

impl Draft {
    /// Returns the instance with times in this unit, and names that begin with `name`.
    fn instance(&self, unit: u32, name: &str) -> Instance {
        let unit = i64::from(unit);
        let node = |(at, &(processors, speed, parent, bandwidth, latency)): (usize, &NodeFigures)| {
            let latency = Time::from_ticks(unit * i64::from(latency) * 250_000_000);
            let bandwidth = f64::from(bandwidth) / 4.0 / unit as f64;
            let parent = (at > 0).then_some(parent % at.max(1));
            let link = parent.filter(|_| self.wrong != 1 || at != 1).map(|_| Link { bandwidth, latency });
            // At least one node computes, because otherwise there is nothing to plan.
            let processors = processors.max(u32::from(at == 0));
            Node { speed: f64::from(speed) / 2.0, parent, link, ..Node::new(format!("{name}{at}"), processors) }
        };
        let job = |(at, &(work, data, weight)): (usize, &JobFigures)| {
            let width = if self.wrong == 2 && at == 0 { 2 } else { 1 };
            let job = Job::new(format!("{name}{at}"), Profile::rigid(width, Time::from_seconds(unit * work)).unwrap());
            let job = job.with_data(data).with_weight(Weight::from_millionths(weight * 500_000).unwrap());
            let job = if self.wrong == 3 && at == 0 { job.with_release(Time::TICK) } else { job };
            if self.wrong == 4 && at == 0 { job } else { job.with_count(NonZeroU64::new(9).unwrap()) }
        };
        let nodes = self.nodes.iter().enumerate().map(node).collect();
        let jobs = self.jobs.iter().enumerate().map(job).collect();
        Instance::new(Platform::new(nodes).unwrap(), jobs, vec![]).unwrap()
    }
}

fn drafts() -> impl Strategy<Value = Draft> {
    let nodes = prop::collection::vec((0_u32..3, 1_u32..7, 0_usize..64, 1_u32..9, 0_u32..4), 2..9);
    let jobs = prop::collection::vec((1_i64..5, 0_u64..5, 1_u64..4), 1..4);
    let wrong = prop_oneof![3 => Just(0_u32), 1 => 1..WRONGS];
    (nodes, jobs, wrong).prop_map(|(mut nodes, jobs, wrong)| {
        // Wide tasks fit on the root.
        nodes[0].0 = nodes[0].0.max(2);
        Draft { nodes, jobs, wrong }
    })
}

/// Returns every representative of the catalogue that plans rates. Other schedulers place the tasks of bags, and do not
/// support transfers.
fn schedulers() -> Vec<Box<dyn Scheduler>> {
    let rates = catalogue().iter().filter(|entry| entry.name == "steady-state");
    rates.flat_map(|entry| entry.kind.representatives).map(|spec| scheduler(spec).unwrap()).collect()
}

fn plan(scheduler: &dyn Scheduler, instance: &Instance, seed: u64) -> (SteadyState, Vec<Bound>) {
    let mut context = Context::with_seed(seed);
    match scheduler.schedule(instance, &mut context) {
        Ok(Plan::Periodic(state)) => (*state, context.bounds),
        other => panic!("{} supports the tree, but: {other:?}", scheduler.name()),
    }
}

/// Checks that this bound is at least the throughput, and that no smaller bound follows from the certificate.
fn check_bound(bound: &Bound, instance: &Instance, throughput: &Value) -> Result<(), TestCaseError> {
    prop_assert_eq!(bound.verify(instance), Ok(()));
    prop_assert!(!bound.excludes(throughput), "{:?} is below {}", bound, throughput);
    let less = bound.value.rational() * (Value::from(999_999).rational() / Value::from(1_000_000).rational());
    let less = Bound { value: less.into(), ..bound.clone() };
    prop_assert!(less.verify(instance).is_err(), "{:?}", less);
    for objective in Objective::OF_SCHEDULES {
        prop_assert!(
            Bound { objective, ..bound.clone() }.verify(instance).is_err(),
            "it says nothing of {}",
            objective
        );
    }
    let Proof::TreePrices(prices) = &bound.proof else { panic!("{bound:?}") };
    for at in 0..prices.tasks.len() + prices.ports.len() {
        let mut other = prices.clone();
        match other.tasks.len() {
            tasks if at < tasks => other.tasks[at] /= 2,
            tasks => other.ports[at - tasks] /= 2,
        }
        // Other prices give other bounds, but never a bound that is less than the reached throughput.
        if let Ok(proved) = Proof::TreePrices(other.clone()).proves(Objective::Throughput, instance) {
            prop_assert!(proved >= *throughput, "{:?} would prove {}", other, proved);
        }
        other.ports.pop();
        let fewer = Bound { proof: Proof::TreePrices(other), ..bound.clone() };
        prop_assert!(fewer.verify(instance).is_err(), "{:?}", fewer);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_is_supported_is_planned_below_its_bounds(draft in drafts()) {
        let instance = draft.instance(1, "n");
        let problem = TreeProblem::new(&instance);
        prop_assert_eq!(problem.is_ok(), draft.wrong == 0);
        for scheduler in schedulers() {
            let supported = scheduler.supports(&instance);
            let problem = match (&problem, supported) {
                (Ok(problem), Ok(())) => problem,
                (Err(error), Err(reason)) => {
                    prop_assert_eq!(error.to_string(), reason.0);
                    let refused = scheduler.schedule(&instance, &mut Context::default());
                    prop_assert!(matches!(refused, Err(ScheduleError::Unsupported { .. })), "{:?}", refused);
                    continue;
                }
                (problem, supported) => panic!("{problem:?}, but {supported:?}"),
            };
            let (state, bounds) = plan(scheduler.as_ref(), &instance, 1);
            prop_assert_eq!(state.check(problem), Ok(()));
            prop_assert_eq!(Plan::from(state.clone()).schedules().count(), 0);
            let throughput = Plan::from(state.clone()).value(Objective::Throughput, &instance).unwrap();
            prop_assert_eq!(bounds.len(), 1);
            check_bound(&bounds[0], &instance, &throughput)?;
            check_bound(&bound(&instance).unwrap(), &instance, &throughput)?;
            prop_assert!(problem.nodes().len() <= EXACT_NODES);
            if let Some(fairness) = &state.fairness {
                let excess = fairness.excess(problem, &state.rates).unwrap();
                prop_assert!((0.0..1e-7).contains(&float_of(&excess)), "{}", float_of(&excess));
            } else {
                prop_assert_eq!(state.optimum.as_ref().map(|optimum| optimum.verify(problem)), Some(Ok(())));
                prop_assert!(bounds[0].ratio(&throughput).unwrap() < 1.0 + 1e-9);
            }
            if let Ok(period) = &state.period {
                let rates = Rates::new(problem.applications().len(), period.rates());
                prop_assert_eq!(rates.fair_throughput(problem), Ok(period.throughput(problem)));
                prop_assert!(period.throughput(problem) <= state.throughput);
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_rates_whatever_the_names(draft in drafts(), seed in any::<u64>()) {
        let (instance, renamed) = (draft.instance(1, "n"), draft.instance(1, "~"));
        for scheduler in schedulers().iter().filter(|scheduler| scheduler.supports(&instance).is_ok()) {
            let first = plan(scheduler.as_ref(), &instance, seed);
            let again = std::thread::scope(|scope| {
                let thread = scope.spawn(|| plan(scheduler.as_ref(), &instance, seed));
                thread.join().expect("the plan is made without a panic")
            });
            prop_assert_eq!(&first, &again);
            prop_assert_eq!(&first, &plan(scheduler.as_ref(), &renamed, seed));
        }
    }

    /// Checks scaling: work, latencies and bytes are multiplied by a factor, and then the rates are divided by exactly
    /// this factor.
    #[test]
    fn scaling_all_times_scales_the_rates(draft in drafts(), power in 1_u32..6) {
        let factor = 1 << power;
        let (instance, slower) = (draft.instance(1, "n"), draft.instance(factor, "n"));
        for scheduler in schedulers().iter().filter(|scheduler| scheduler.supports(&instance).is_ok()) {
            let (state, bounds) = plan(scheduler.as_ref(), &instance, 7);
            let (slow, slow_bounds) = plan(scheduler.as_ref(), &slower, 7);
            let times = |value: &Value| Value::from(value.rational() * Value::from(i128::from(factor)).rational());
            prop_assert_eq!(Value::from(state.throughput), times(&slow.throughput.into()));
            prop_assert_eq!(bounds[0].verify(&instance), Ok(()));
            let ratio = times(&slow_bounds[0].value).as_f64() / bounds[0].value.as_f64();
            prop_assert!((ratio - 1.0).abs() < 1e-9, "{}", ratio);
        }
    }
}

/// Checks that at least half of the drafts are trees. Otherwise the other tests of this file would check little.
#[test]
fn half_of_the_drafts_are_trees() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut right = 0;
    for _ in 0..200 {
        let draft = drafts().new_tree(&mut runner).unwrap().current();
        right += usize::from(TreeProblem::new(&draft.instance(1, "n")).is_ok());
    }
    assert!((100..190).contains(&right), "{right}");
}
