//! Tests of needs, dependencies between jobs, parallel tasks in graphs and nodes of different speeds, over the whole
//! catalogue.

pub mod draft;
mod insertion;
mod limits;
mod online;

use draft::draft;
use makespan_algos::{Context, Plan, Scheduler};
use makespan_algos::{catalogue, scheduler};
use makespan_core::{Instance, JobId, Objective, Placement, ProcSet, ResourceKind, Schedule, TaskId, Time, validate};
use proptest::prelude::*;

/// Returns the schedulers of the catalogue. Schedulers that search get few steps.
fn specs() -> Vec<String> {
    let placing = catalogue().iter().filter(|entry| entry.name != "steady-state");
    placing.flat_map(|entry| entry.kind.representatives).map(ToString::to_string).collect()
}

fn planned(scheduler: &dyn Scheduler, instance: &Instance) -> Option<Schedule> {
    scheduler.supports(instance).ok()?;
    match scheduler.schedule(instance, &mut Context::with_seed(7)) {
        Ok(plan) => plan.into_schedule(),
        // The consumables may not suffice for all tasks together.
        Err(error) => {
            assert!(error.to_string().contains("enough of `budget` for all tasks"), "{}: {error}", scheduler.name());
            None
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::cases(300), ..ProptestConfig::default() })]

    /// Checks that each supported instance gets a valid plan, and that no plan is better than a bound. Equal seeds must
    /// give equal plans. If all times are multiplied by a factor, the plan must be longer by this factor.
    #[test]
    fn every_plan_keeps_needs_and_order(draft in draft()) {
        let instance = draft.instance(1).unwrap();
        let larger = draft.instance(1000).unwrap();
        // Every accepted instance can be planned, unless best-effort bags use up more than the stock.
        if let Err(refused) = scheduler("list").unwrap().supports(&instance) {
            let is_budget = refused.0.contains("of `budget`, but the platform has only");
            prop_assert!(refused.0.contains("even on the fewest processors, best-effort bags use up") && is_budget, "{}", refused);
        }
        for spec in specs() {
            let scheduler = scheduler(&spec).unwrap();
            let Some(schedule) = planned(scheduler.as_ref(), &instance) else { continue };
            prop_assert_eq!(validate(&instance, &schedule), Ok(()), "{}", spec);
            prop_assert_eq!(planned(scheduler.as_ref(), &instance), Some(schedule.clone()), "{}", spec);
            for objective in Objective::OF_TIME {
                let bound = makespan_bounds::best(&instance, objective);
                let Ok(bound) = bound else { continue };
                prop_assert_eq!(bound.verify(&instance), Ok(()));
                let value = objective.value(&instance, &schedule);
                prop_assert!(bound.value.integer() <= value, "{}: {} {:?} > {}", spec, objective, bound, value);
            }
            let Some(scaled) = planned(scheduler.as_ref(), &larger) else { continue };
            prop_assert_eq!(validate(&larger, &scaled), Ok(()), "{}", spec);
        }
    }
}

/// Returns the best-effort bags for which no competing job waits. Their tasks fill holes between the other jobs.
pub(crate) fn filled(instance: &Instance) -> Vec<JobId> {
    let waiting = |id: JobId| instance.ids().filter(move |&other| instance.job(other).waits_for().contains(&id));
    let mut filled: Vec<JobId> = instance.ids().filter(|&id| instance.job(id).is_best_effort()).collect();
    while let Some(at) = filled.iter().position(|&id| waiting(id).any(|other| !filled.contains(&other))) {
        filled.remove(at);
    }
    filled
}

/// Returns all sets of `width` processors among the first `of` processors.
fn sets(width: u32, of: u32) -> Vec<ProcSet> {
    let chosen = |bits: &u32| bits.count_ones() == width;
    let set = |bits: u32| (0..of).filter(|id| bits & (1 << id) != 0).map(|id| (id, id)).collect();
    (0..1_u32 << of).filter(chosen).map(|bits| ProcSet::from_intervals(set(bits))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::cases(300), ..ProptestConfig::default() })]

    /// Checks that best-effort bags delay no other job, and that none of their tasks could start earlier.
    #[test]
    fn best_effort_takes_what_is_left(draft in draft()) {
        let instance = draft.instance(1).unwrap();
        let filled = filled(&instance);
        let of_filled = |task: TaskId| filled.contains(&instance.job_id(task));
        let others = instance.ids().filter(|id| !filled.contains(id)).map(|id| instance.submitted(id));
        let others = instance.with_jobs(others.collect());
        let consumes = instance.has_demands() && instance.task_ids().any(|task| {
            of_filled(task) && instance.demands(task).iter().any(|demand| demand.kind == ResourceKind::Consumable)
        });
        for spec in specs() {
            let scheduler = scheduler(&spec).unwrap();
            if filled.is_empty() {
                continue;
            }
            let Some(schedule) = planned(scheduler.as_ref(), &instance) else { continue };
            let placed = |instance: &Instance, schedule: &Schedule, counts: &dyn Fn(TaskId) -> bool| {
                let counted = schedule.placements().iter().filter(|one| counts(one.task));
                counted.map(|one| (instance.name(one.task).into_owned(), one.start, one.processors.clone())).collect::<Vec<_>>()
            };
            // The consumables of the bags are reserved for them, which may change the plan of the other jobs. Another
            // variant of a strategy is chosen if, with the bags, it is no worse in any value.
            if !consumes && !spec.starts_with("critical-jobs") {
                let alone = planned(scheduler.as_ref(), &others).unwrap();
                prop_assert_eq!(
                    placed(&instance, &schedule, &|task| !of_filled(task)), placed(&others, &alone, &|_| true), "{}", spec
                );
            }
            for (at, one) in schedule.placements().iter().enumerate().filter(|(_, one)| of_filled(one.task)) {
                let sets = sets(one.processors.len(), instance.processors());
                for processors in sets.into_iter().filter(|set| instance.accepts(one.task, set)) {
                    let time = instance.time(one.task, &processors);
                    for start in (0..(one.end - time).ticks()).map(Time::from_ticks) {
                        let mut placements = schedule.placements().to_vec();
                        placements[at] = Placement { task: one.task, start, end: start + time, processors: processors.clone() };
                        let earlier = Schedule::new(placements);
                        prop_assert!(validate(&instance, &earlier).is_err(), "{}: {:?} at {:?} on {:?}", spec, one, start, processors);
                    }
                }
            }
        }
    }
}

/// Checks that schedulers that only count processors refuse other resources with a reason instead of ignoring them.
#[test]
fn those_that_count_processors_say_what_they_cannot_keep() {
    use makespan_core::{Job, Need, Needs, Platform, Profile, Resources};
    let job = |name: &str| Job::new(name, Profile::rigid(1, Time::from_seconds(2)).unwrap());
    let memory = Needs::new([("memory", Need::whole(3))]).unwrap();
    let platform = || {
        let resources = Resources::new([("memory", 4)]).unwrap();
        Platform::cluster(1, 2).unwrap().with_node_resources(&resources).unwrap()
    };
    let needy = Instance::new(platform(), vec![job("a").with_needs(memory), job("b")], vec![]).unwrap();
    let waiting = Instance::new(platform(), vec![job("a").with_after(["b"]), job("b")], vec![]).unwrap();
    for spec in ["dual", "shelves"] {
        let refused = |instance| scheduler(spec).unwrap().supports(instance).unwrap_err().to_string();
        assert!(refused(&needy).contains("`a` needs `memory`"), "{}", refused(&needy));
        assert!(refused(&waiting).contains("`a` waits for `b`"), "{}", refused(&waiting));
    }
    for spec in ["list[order=saf]", "sweep[steps=9]", "sequential", "gang", "demt"] {
        let plan = |instance| {
            let plan: Plan = scheduler(spec).unwrap().schedule(instance, &mut Context::default()).unwrap();
            plan.into_schedule().unwrap()
        };
        let starts =
            |schedule: &Schedule| -> Vec<TaskId> { schedule.placements().iter().map(|one| one.task).collect() };
        assert_eq!(starts(&plan(&waiting)), [TaskId(1), TaskId(0)], "{spec}");
        assert_eq!(plan(&needy).placements().len(), 2);
    }
}
