//! Tests that periodic schedules of the optimal steady state keep the rules of the network, and that they lose no more
//! tasks than documented.

use std::num::NonZeroU64;

use dashu_ratio::RBig;
use makespan_bounds::tree::{Precision, throughput};
use makespan_core::tree::{
    NetworkSchedule, NetworkViolation, Periodic, PeriodicError, TreeProblem, exact_period, float_of, validate_network,
};
use makespan_core::{Instance, Job, Link, Node, Platform, Profile, Schedule, Time, validate};
use proptest::prelude::*;

/// Builds an instance from nodes (processors, speed, parent, bandwidth, latency in s) and applications (work, data,
/// tasks).
fn instance(nodes: &[(u32, u32, usize, u32, u32)], applications: &[(i64, u64, u64)]) -> Instance {
    let node = |(at, &(processors, speed, parent, bandwidth, latency)): (usize, &(u32, u32, usize, u32, u32))| {
        let parent = (at > 0).then(|| parent % at.max(1));
        let latency = Time::from_seconds(i64::from(latency));
        let link = parent.map(|_| Link { bandwidth: f64::from(bandwidth), latency });
        Node { speed: f64::from(speed), parent, link, ..Node::new(format!("n{at}"), processors) }
    };
    let job = |(at, &(work, data, count)): (usize, &(i64, u64, u64))| {
        let job = Job::new(format!("a{at}"), Profile::rigid(1, Time::from_seconds(work)).unwrap());
        job.with_count(NonZeroU64::new(count).unwrap()).with_data(data)
    };
    let nodes = nodes.iter().enumerate().map(node).collect();
    let jobs = applications.iter().enumerate().map(job).collect();
    Instance::new(Platform::new(nodes).unwrap(), jobs, vec![]).unwrap()
}

fn trees() -> impl Strategy<Value = Instance> {
    let nodes = prop::collection::vec((0_u32..4, 1_u32..4, 0_usize..64, 1_u32..9, 0_u32..3), 1..7);
    let nodes = nodes.prop_map(|mut nodes| {
        nodes[0].0 = nodes[0].0.max(u32::from(nodes.iter().all(|node| node.0 == 0)));
        nodes
    });
    let applications = prop::collection::vec((1_i64..5, 0_u64..5, 1_u64..200), 1..4);
    (nodes, applications).prop_map(|(nodes, applications)| instance(&nodes, &applications))
}

fn keeps_all_rules(instance: &Instance, network: &NetworkSchedule) {
    assert_eq!(validate(instance, &network.schedule), Ok(()));
    assert_eq!(validate_network(instance, network), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn rounded_periods_unroll_to_valid_schedules(instance in trees(), seconds in 20_i64..60) {
        let problem = TreeProblem::new(&instance).unwrap();
        let best = throughput(&problem, Precision::Exact);
        let periodic = match Periodic::rounded(&problem, &best.rates, Time::from_seconds(seconds)) {
            Err(PeriodicError::TooShort { .. }) => return Ok(()),
            other => other.unwrap(),
        };
        prop_assert!(periodic.period.ticks() - seconds * Time::TICKS_PER_SECOND < 10_000, "only ticks are added");
        prop_assert!(periodic.throughput(&problem) <= best.value);
        let network = periodic.unroll(&instance, &problem, None).unwrap();
        keeps_all_rules(&instance, &network);
    }

    #[test]
    fn a_shortened_period_ends_no_later(instance in trees()) {
        let problem = TreeProblem::new(&instance).unwrap();
        let best = throughput(&problem, Precision::Exact);
        let Ok(long) = Periodic::rounded(&problem, &best.rates, Time::from_seconds(1000)) else { return Ok(()) };
        let end = |period: &Periodic| {
            let network = period.unroll(&instance, &problem, None).unwrap();
            keeps_all_rules(&instance, &network);
            network.schedule.makespan()
        };
        let short = long.shortened(&instance, &problem, &best.rates);
        prop_assert!(end(&short) <= end(&long), "{} {}", short.period, long.period);
    }

    #[test]
    fn exact_periods_lose_nothing_but_ticks(instance in trees()) {
        let problem = TreeProblem::new(&instance).unwrap();
        let best = throughput(&problem, Precision::Exact);
        let period = exact_period(&best.rates);
        match Periodic::exact(&problem, &best.rates) {
            Err(error) => prop_assert!(period > dashu_int::UBig::from(1_u64 << 40), "{period}: {error}"),
            Ok(periodic) => {
                // Rounding up adds at most one tick per task. An exact period contains whole numbers of tasks, so
                // rounding loses no tasks.
                let reached = periodic.throughput(&problem) / &best.value;
                prop_assert!(float_of(&reached) > 1.0 - 1e-7, "{reached}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    /// The schedule completes "at most z fewer tasks than any possible schedule", where z is the number of tasks in d
    /// periods (the trees paper, section 3). Here, d is the depth of the deepest node that computes. No schedule
    /// completes more than the throughput times the time.
    #[test]
    fn a_periodic_schedule_loses_no_more_tasks_than_its_start_up(
        nodes in prop::collection::vec((1_u32..4, 1_u32..4, 0_usize..64, 1_u32..9, Just(0_u32)), 1..7),
        (work, data) in (1_i64..5, 0_u64..5),
        periods in 1_u64..12,
    ) {
        let instance = instance(&nodes, &[(work, data, 100_000)]);
        let problem = TreeProblem::new(&instance).unwrap();
        let best = throughput(&problem, Precision::Exact);
        let Ok(periodic) = Periodic::exact(&problem, &best.rates) else { return Ok(()) };
        if periodic.tasks.iter().sum::<u64>() * periods > 100_000 {
            return Ok(());
        }
        let network = periodic.unroll(&instance, &problem, Some(periods)).unwrap();
        let nodes = instance.platform().nodes();
        let depth = |node: usize| std::iter::successors(Some(node), |&node| nodes[node].parent).count() as u64 - 1;
        let computing = (0..nodes.len()).filter(|&node| periodic.tasks[node] > 0);
        // In the paper, each node has one processor. If a node has n processors, these processors serve the periods in
        // turn. So the last processor begins n - 1 periods later than the first.
        let late = |node: usize| depth(node) + u64::from(nodes[node].processors) - 1;
        let z = computing.map(late).max().unwrap_or(0) * periodic.tasks.iter().sum::<u64>();
        let end = Time::from_ticks(periodic.period.ticks() * periods as i64);
        // The time of each task is rounded up to a tick, so the tasks of the last period may end some ticks late.
        let late = end + Time::from_ticks((periodic.tasks.iter().sum::<u64>() * periods) as i64);
        let ended = |by: Time| network.schedule.placements().iter().filter(|placement| placement.end <= by).count() as f64;
        let done = ended(end);
        let possible = float_of(&best.value) * end.seconds() * (1.0 - 1e-6);
        prop_assert!(ended(late) >= (possible - z as f64).floor(), "{} of {} less {}", ended(late), possible, z);
        prop_assert!(done <= possible * (1.0 + 2e-6) + 1e-6);
    }
}

/// Returns an instance with a root that does not compute, two workers and one grandchild. In the optimal steady state,
/// the nodes compute four tasks per second, and each period takes a second.
fn small() -> (Instance, TreeProblem, Periodic) {
    let instance = instance(&[(0, 1, 0, 1, 0), (1, 1, 0, 4, 0), (2, 1, 0, 4, 0), (1, 1, 1, 8, 0)], &[(1, 1, 40)]);
    let problem = TreeProblem::new(&instance).unwrap();
    let best = throughput(&problem, Precision::Exact);
    assert_eq!(best.value, RBig::from(4));
    let periodic = Periodic::exact(&problem, &best.rates).unwrap();
    (instance, problem, periodic)
}

#[test]
fn start_up_clean_up_and_buffers_are_those_of_the_period() {
    let (instance, problem, periodic) = small();
    assert_eq!((periodic.period, &periodic.tasks[..]), (Time::from_seconds(1), &[0, 1, 2, 1][..]));
    // The grandchild is two periods late, and the workers are one period late.
    assert_eq!(
        periodic.starts(&problem)[1..].iter().map(|start| start.unwrap()).collect::<Vec<_>>(),
        [1, 1, 2].map(Time::from_seconds)
    );
    assert_eq!(periodic.start_up(&problem), Some(Time::from_seconds(2)));
    assert_eq!(periodic.starts(&problem)[0], Some(Time::ZERO));
    assert_eq!(periodic.buffers(&problem)[..], [0, 4, 6, 2]);
    let network = periodic.unroll(&instance, &problem, None).unwrap();
    keeps_all_rules(&instance, &network);
    // The root sends the tasks of ten periods of 1 s. The grandchild begins two periods after the first send, so the
    // last task ends at 12 s.
    assert_eq!(network.schedule.makespan(), Time::from_seconds(12));
    let half = periodic.unroll(&instance, &problem, Some(5)).unwrap();
    assert_eq!((half.schedule.placements().len(), half.transfers.len()), (20, 25));
    assert_eq!(validate_network(&instance, &half), Ok(()));
    assert_eq!(
        Periodic::rounded(&problem, &throughput(&problem, Precision::Exact).rates, Time::TICK),
        Err(PeriodicError::TooShort { period: Time::TICK })
    );
}

/// A link of bandwidth 1 and latency 9 s transfers a task of one byte in ten seconds. No schedule transfers the task in
/// less time.
#[test]
fn the_port_is_busy_for_the_latency() {
    let instance = instance(&[(0, 1, 0, 1, 0), (1, 1, 0, 1, 9)], &[(1, 1, 40)]);
    let problem = TreeProblem::new(&instance).unwrap();
    let best = throughput(&problem, Precision::Exact);
    assert_eq!(best.value, RBig::ONE / RBig::from(10));
    let periodic = Periodic::exact(&problem, &best.rates).unwrap();
    assert_eq!((periodic.period, &periodic.tasks[..]), (Time::from_seconds(10), &[0, 1][..]));
    let network = periodic.unroll(&instance, &problem, None).unwrap();
    keeps_all_rules(&instance, &network);
    assert_eq!(network.schedule.makespan(), Time::from_seconds(401));
    let mut early = network;
    early.transfers[0].end = early.transfers[0].end - Time::TICK;
    assert!(matches!(validate_network(&instance, &early).unwrap_err()[0], NetworkViolation::TooFast { .. }));
}

#[test]
fn every_broken_rule_of_the_network_is_found() {
    let (instance, problem, periodic) = small();
    let network = periodic.unroll(&instance, &problem, None).unwrap();
    let broken = |change: &dyn Fn(&mut NetworkSchedule)| {
        let mut network = network.clone();
        change(&mut network);
        validate_network(&instance, &network).expect_err("a rule is broken").swap_remove(0)
    };
    let fast = broken(&|network| network.transfers[0].end = network.transfers[0].end - Time::TICK);
    assert!(matches!(fast, NetworkViolation::TooFast { .. }), "{fast}");
    let at_once = broken(&|network| network.transfers[1].start = network.transfers[0].start);
    assert!(matches!(at_once, NetworkViolation::TwoSends { .. }), "{at_once}");
    let lost = broken(&|network| {
        network.transfers.remove(0);
    });
    assert!(matches!(lost, NetworkViolation::NotThere { .. }), "{lost}");
    let twice = broken(&|network| {
        let again = network.transfers[0];
        network.transfers.push(makespan_core::tree::Transfer {
            start: again.start + Time::from_seconds(900),
            end: again.end + Time::from_seconds(900),
            ..again
        });
    });
    assert!(matches!(twice, NetworkViolation::Astray { .. }), "{twice}");
    let unknown = broken(&|network| network.transfers[0].to = 0);
    assert_eq!(unknown, NetworkViolation::Unknown(0));
    let early = broken(&|network| {
        let mut placements = network.schedule.placements().to_vec();
        let length = placements[0].end - placements[0].start;
        (placements[0].start, placements[0].end) = (Time::ZERO, length);
        network.schedule = Schedule::new(placements);
    });
    assert!(matches!(early, NetworkViolation::NotThere { does: "computes", .. }), "{early}");
    let in_vain = broken(&|network| {
        network.schedule = Schedule::new(network.schedule.placements()[1..].to_vec());
    });
    assert!(matches!(in_vain, NetworkViolation::Astray { .. }), "{in_vain}");
}
