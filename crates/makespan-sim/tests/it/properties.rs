//! Properties of all simulations, on random instances under random legal policies.

use crate::common;

use common::cases::{Case, case};
use common::wanderer::Wanderer;
use makespan_core::{
    Actual, Decision, Event, Failure, Instance, Outcome, Placement, Policy, ProcSet, Run, Schedule, Time, Trace, View,
    validate,
};
use makespan_sim::{Silent, Simulation, SimulationOptions, simulate};
use proptest::prelude::*;

fn wander(case: &Case, cancels: bool) -> Simulation {
    let Case { instance, actual, options, seed } = case;
    simulate(instance, actual, &mut Wanderer::new(*seed, cancels), options, &mut Silent).unwrap()
}

/// Returns true if the run overlaps processors that are unavailable from `start` to `end`.
fn meets(run: &Run, processors: &ProcSet, start: Time, end: Time) -> bool {
    run.start < end && start < run.end && !run.processors.is_disjoint(processors)
}

fn no_processor_is_used_twice(trace: &Trace) {
    for (at, run) in trace.runs.iter().enumerate() {
        let others = &trace.runs[at + 1..];
        assert!(others.iter().all(|other| !meets(run, &other.processors, other.start, other.end)), "{run:?}");
    }
}

fn nothing_runs_where_or_when_it_must_not(case: &Case, trace: &Trace) {
    let Case { instance, options, .. } = case;
    let last = trace.runs.last().map_or(Time::ZERO, |run| run.end);
    let model = options.failure_model.iter();
    let drawn: Vec<Failure> =
        model.flat_map(|model| model.draw(instance.platform(), instance.first_release(), last)).collect();
    for run in &trace.runs {
        assert!(run.start >= instance.release(run.task), "{run:?}");
        assert!(!instance.unavailable().iter().any(|period| meets(run, &period.processors, period.start, period.end)));
        let mut failures = options.failures.iter().chain(&drawn);
        assert!(!failures.any(|failure| meets(run, &failure.processors, failure.down, failure.up)), "{run:?}");
        assert!(!instance.platform().is_compact() || instance.platform().held_in_part(&run.processors).len() < 2);
    }
}

fn every_task_ends_once(case: &Case, simulation: &Simulation) {
    let Case { instance, options, .. } = case;
    for task in instance.task_ids() {
        let runs: Vec<&Run> = simulation.trace.runs.iter().filter(|run| run.task == task).collect();
        let interrupted = runs.iter().filter(|run| run.outcome == Outcome::Interrupted).count();
        let cancelled = simulation.cancelled.iter().filter(|&&other| other == task).count();
        assert_eq!(runs.len() - interrupted + cancelled, 1, "{runs:?}");
        assert!(interrupted <= options.requeues as usize);
        assert!(runs.windows(2).all(|pair| pair[0].outcome == Outcome::Interrupted && pair[0].end <= pair[1].start));
    }
    assert!(simulation.trace.runs.is_sorted_by_key(|run| run.end));
}

fn runs_last_as_long_as_they_really_take(case: &Case, trace: &Trace) {
    let Case { instance, actual, options, .. } = case;
    for run in &trace.runs {
        let real = actual.time(instance, run.task, &run.processors);
        let limit = instance.walltime(run.task).filter(|&limit| options.kill_at_walltime && limit < real);
        let lasts = run.end - run.start;
        match run.outcome {
            Outcome::Succeeded => assert!(lasts == real && limit.is_none()),
            Outcome::TimedOut => assert_eq!(Some(lasts), limit),
            Outcome::Interrupted | Outcome::Failed { status: 137 } => assert!(lasts < limit.unwrap_or(real)),
            Outcome::Failed { .. } | Outcome::NotStarted => panic!("{run:?}"),
        }
    }
}

/// A policy that starts each task at the time and on the processors that a schedule states.
struct Follow<'a>(&'a [Placement]);

impl Policy for Follow<'_> {
    fn on(&mut self, _events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let due = self.0.partition_point(|placement| placement.start <= view.now);
        let (now, later) = self.0.split_at(due);
        let start = |at: &Placement| Decision::Start { task: at.task, processors: at.processors.clone() };
        decisions.extend(now.iter().map(start));
        decisions.extend(later.first().map(|next| Decision::WakeAt(next.start)));
        self.0 = later;
    }
}

fn follow(instance: &Instance, plan: &Schedule) -> Trace {
    let options = SimulationOptions::default();
    simulate(instance, &Actual::AsEstimated, &mut Follow(plan.placements()), &options, &mut Silent).unwrap().trace
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_rules_hold(case in case(), cancels in any::<bool>()) {
        let simulation = wander(&case, cancels);
        no_processor_is_used_twice(&simulation.trace);
        nothing_runs_where_or_when_it_must_not(&case, &simulation.trace);
        every_task_ends_once(&case, &simulation);
        runs_last_as_long_as_they_really_take(&case, &simulation.trace);
    }

    #[test]
    fn the_same_twice_is_the_same(case in case()) {
        prop_assert_eq!(wander(&case, true), wander(&case, true));
    }

    #[test]
    fn what_is_simulated_is_what_is_planned_when_estimates_hold(case in case()) {
        let undisturbed = Case { actual: Actual::AsEstimated, options: SimulationOptions::default(), ..case };
        let instance = &undisturbed.instance;
        let plan = wander(&undisturbed, false).trace.schedule();
        prop_assert_eq!(validate(instance, &plan), Ok(()));
        prop_assert_eq!(follow(instance, &plan).schedule(), plan);
    }

    #[test]
    fn failures_of_idle_processors_change_nothing(case in case(), start in 0_i64..90, length in 1_i64..60) {
        let (start, end) = (Time::from_seconds(start), Time::from_seconds(start + length));
        let options = SimulationOptions::default();
        let undisturbed = Case { options, actual: Actual::AsEstimated, ..case.clone() };
        let plan = wander(&undisturbed, false);
        let during = plan.trace.runs.iter().filter(|run| run.start < end && start < run.end);
        let held = during.fold(ProcSet::new(), |held, run| held.union(&run.processors));
        let processors = ProcSet::first(6).difference(&held);
        let failure = Failure { processors, down: start, up: end, expected_up: None };
        let failures = if failure.processors.is_empty() { vec![] } else { vec![failure] };
        let options = SimulationOptions { failures, ..SimulationOptions::default() };
        let plan = plan.trace.schedule();
        let policy = &mut Follow(plan.placements());
        let followed = simulate(&case.instance, &Actual::AsEstimated, policy, &options, &mut Silent);
        prop_assert_eq!(followed.unwrap().trace.schedule(), plan);
    }
}
