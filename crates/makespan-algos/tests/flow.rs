//! Policies on compound jobs in simulated time: plans happen as planned, and nothing waits for ever.

use makespan_algos::policy::{Follow, PolicyError, policies, policy_for};
use makespan_core::{
    Actual, Context, Edge, Expansion, Failure, Graph, Instance, Job, Link, Load, NamedTask, Node, Outcome, Placement,
    Platform, ProcSet, Profile, Schedule, Time, Unavailable, validate,
};
use makespan_sim::{Silent, SimulationOptions, simulate};
use proptest::prelude::*;

fn t(ticks: i64) -> Time {
    Time::from_ticks(ticks)
}

/// Four processors: one node, or three nodes of unequal speed behind links.
fn platform(tree: bool) -> Platform {
    if !tree {
        return Platform::flat(4).unwrap();
    }
    let link = Some(Link { bandwidth: 1e9, latency: t(3) });
    let node = |(name, processors, speed, parent): (&str, u32, f64, Option<usize>)| Node {
        name: name.into(),
        processors,
        speed,
        parent,
        link: parent.and(link),
    };
    let nodes = [("a", 1, 1.0, None), ("b", 1, 2.5, Some(0)), ("c", 2, 0.5, Some(1))];
    Platform::new(nodes.map(node).to_vec()).unwrap()
}

prop_compose! {
    fn graph()(
        times in prop::collection::vec(1_i64..60, 1..9),
        edges in prop::collection::vec((any::<u16>(), any::<bool>(), 0_u16..50), 0..12),
    ) -> Graph {
        let count = times.len() as u16;
        let task = |(index, &ticks): (usize, &i64)| NamedTask::new(index.to_string(), Profile::rigid(1, t(ticks)).unwrap());
        let edge = |(pair, fixed, amount): (u16, bool, u16)| {
            let (a, b) = (u32::from(pair % count), u32::from(pair / 256 % count));
            let load = if fixed { Load::Fixed(t(i64::from(amount))) } else { Load::Bytes(amount.into()) };
            (a != b).then(|| Edge { from: a.min(b), to: a.max(b), load })
        };
        let mut edges: Vec<Edge> = edges.into_iter().filter_map(edge).collect();
        edges.sort_by_key(|edge| (edge.from, edge.to));
        edges.dedup_by_key(|edge| (edge.from, edge.to));
        Graph::new(times.iter().enumerate().map(task).collect(), edges).unwrap()
    }
}

prop_compose! {
    fn instance(latest: i64)(
        tree in any::<bool>(),
        graphs in prop::collection::vec((graph(), 0..=latest), 1..4),
        simple in prop::collection::vec((1_i64..40, 0..=latest), 0..3),
        periods in prop::collection::vec((0_u32..4, 0_i64..150, 1_i64..50), 0..3),
    ) -> Instance {
        let compound = |(index, (graph, release)): (usize, (Graph, i64))| {
            Job::compound(format!("c{index}"), graph).with_release(t(release))
        };
        let simple = simple.into_iter().enumerate().map(|(index, (ticks, release))| {
            Job::new(format!("s{index}"), Profile::rigid(1, t(ticks)).unwrap()).with_release(t(release))
        });
        let period = |(id, start, length): (u32, i64, i64)| Unavailable {
            processors: ProcSet::range(id, id),
            start: t(start),
            end: t(start + length),
        };
        let jobs = graphs.into_iter().enumerate().map(compound).chain(simple).collect();
        Instance::new(platform(tree), jobs, periods.into_iter().map(period).collect()).unwrap()
    }
}

fn sorted(schedule: &Schedule) -> Vec<Placement> {
    let mut placements = schedule.placements().to_vec();
    placements.sort_by_key(|placement| (placement.job, placement.task));
    placements
}

const SCHEDULERS: [&str; 3] = ["heft", "cpop", "peft"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn plans_of_list_schedulers_happen_exactly_when_estimates_hold(instance in instance(100)) {
        let expansion = Expansion::of(&instance).unwrap();
        for spec in SCHEDULERS {
            let scheduler = makespan_algos::scheduler(spec).unwrap();
            let plan = scheduler.schedule(&instance, &mut Context::with_seed(1)).unwrap().into_schedule();
            let mut policy = Follow::with_plan(scheduler, 1, &expansion.instance, &expansion.expanded_schedule(&plan));
            let options = SimulationOptions::default();
            let simulation =
                simulate(&expansion.instance, &Actual::AsEstimated, &mut policy, &options, &mut Silent).unwrap();
            let happened = expansion.original_schedule(&simulation.trace.schedule());
            prop_assert_eq!(sorted(&happened), sorted(&plan), "{}", spec);
        }
    }

    #[test]
    fn jobs_that_come_together_are_planned_together(instance in instance(0)) {
        let expansion = Expansion::of(&instance).unwrap();
        let scheduler = makespan_algos::scheduler("heft").unwrap();
        let plan = scheduler.schedule(&instance, &mut Context::with_seed(1)).unwrap().into_schedule();
        let mut policy = policy_for("follow", &expansion.instance, 1).unwrap();
        let options = SimulationOptions::default();
        let simulation =
            simulate(&expansion.instance, &Actual::AsEstimated, policy.as_mut(), &options, &mut Silent).unwrap();
        let happened = expansion.original_schedule(&simulation.trace.schedule());
        prop_assert_eq!(sorted(&happened), sorted(&plan));
    }

    /// Every policy of the catalogue, whatever the tasks really take and whatever fails; those that know of no data on
    /// their way refuse.
    #[test]
    fn every_task_ends_once(
        instance in instance(150),
        percents in prop::collection::vec(20_i64..300, 1..20),
        failures in prop::collection::vec((0_u32..4, 0_i64..150, 1_i64..40), 0..3),
    ) {
        let expansion = Expansion::of(&instance).unwrap();
        let expanded = &expansion.instance;
        let real = |(job, percent): (&Job, &i64)| {
            Profile::rigid(1, t((job.profile().shortest().ticks() * percent / 100).max(1))).unwrap()
        };
        let actual = Actual::Profiles(expanded.jobs().iter().zip(percents.iter().cycle()).map(real).collect());
        let failure = |(id, down, length): (u32, i64, i64)| Failure {
            processors: ProcSet::range(id, id),
            down: t(down),
            up: t(down + length),
            expected_up: None,
        };
        let options =
            SimulationOptions { failures: failures.into_iter().map(failure).collect(), ..SimulationOptions::default() };
        for entry in policies() {
            let mut policy = match policy_for(entry.name, expanded, 1) {
                Ok(policy) => policy,
                Err(PolicyError::Unsupported { .. }) => {
                    prop_assert!(entry.name != "follow");
                    // Queues of nodes know of no periods in which a node is closed.
                    let queues = ["flow", "immediate", "interval", "ptfs"].contains(&entry.name);
                    let closed = queues && !expanded.unavailable().is_empty();
                    let ours = expanded.has_transfers() || !expanded.platform().has_unit_speed();
                    prop_assert!(closed || ours, "{}", entry.name);
                    continue;
                }
                Err(wrong) => panic!("{wrong}"),
            };
            let simulation = simulate(expanded, &actual, policy.as_mut(), &options, &mut Silent)
                .unwrap_or_else(|why| panic!("{}: {why}", entry.name));
            let ended = simulation.trace.runs.iter().filter(|run| run.outcome == Outcome::Succeeded).count();
            prop_assert_eq!(ended, expanded.jobs().len(), "{}", entry.name);
        }
    }

    #[test]
    fn what_follows_a_plan_is_valid_when_estimates_hold(instance in instance(150)) {
        let expansion = Expansion::of(&instance).unwrap();
        let options = SimulationOptions::default();
        for spec in SCHEDULERS {
            let mut policy = policy_for(&format!("follow[scheduler={spec}]"), &expansion.instance, 1).unwrap();
            let simulation =
                simulate(&expansion.instance, &Actual::AsEstimated, policy.as_mut(), &options, &mut Silent).unwrap();
            let happened = expansion.original_schedule(&simulation.trace.schedule());
            prop_assert_eq!(validate(&instance, &happened), Ok(()), "{}", spec);
        }
    }
}
