//! Test that no policy depends on the future. In one case, the jobs of an instance are revealed one by one when they
//! are submitted. In the other case, the instance is complete from the start. A policy must make the same decisions in
//! both cases.

use makespan_algos::policy::{PolicyError, policies, policy_for};
use makespan_core::{
    Actual, Decision, Edge, Event, Failure, Graph, Instance, Job, JobId, Link, LogEntry, NamedTask, Node, Payload,
    Platform, Policy, ProcSet, Profile, SpeedupLaw, Time, Unavailable, View, Weight,
};
use makespan_sim::{Silent, Simulation, SimulationOptions, simulate};
use proptest::prelude::*;

/// Specs that are tested in addition to the defaults of the whole catalogue.
const MORE: [&str; 18] = [
    "easy[order=sjf,request=fastest]",
    "easy[order=saf,passes=instant]",
    "easy[queues=priority]",
    "conservative[order=wfp3]",
    "easy[order=unicef]",
    "slurm[weight_age=10,weight_job_size=5,calc_period=1]",
    "conservative[order=laf,request=fewest]",
    "moldable-easy[order=widest]",
    "batch[scheduler=demt[shuffles=2]]",
    "replan[scheduler=dual]",
    "replan[scheduler=optimise[steps=50,searches=1]]",
    "follow[scheduler=peft]",
    "improve[steps=60,objective=max-tardiness]",
    "flow[mapper=sufferage]",
    "interval[every=0.00000002s]",
    "job-flow[serve=buffer,buffer=0.00000002s]",
    "job-flow[serve=arrival,clock=handover,starts=early]",
    "job-flow[late=reject]",
];

fn t(ticks: i64) -> Time {
    Time::from_ticks(ticks)
}

/// A policy that gets an instance with only the jobs that have been submitted so far.
struct Revealing<'a> {
    policy: Box<dyn Policy + 'a>,
    complete: &'a Instance,
    shown: Instance,
}

impl Policy for Revealing<'_> {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        for event in events {
            let Event::Submitted(task) = *event else { continue };
            while !self.shown.has_task(task) {
                let next = JobId(self.shown.jobs().len() as u32);
                self.shown.append(vec![self.complete.submitted(next)]).unwrap();
            }
        }
        self.policy.on(events, &View { instance: &self.shown, ..*view }, decisions);
    }

    fn log(&mut self) -> Vec<LogEntry> {
        self.policy.log()
    }

    fn recall(&mut self, told: &[LogEntry]) {
        self.policy.recall(told);
    }
}

/// The kind of the jobs of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Jobs on any number of equal processors, including bags.
    Moldable,
    /// Sequential jobs on nodes that differ.
    Sequential,
    /// Graphs of sequential tasks on nodes with links, in addition to simple jobs and bags.
    Compound,
}

fn platform(kind: Kind) -> Platform {
    if kind == Kind::Moldable {
        return Platform::flat(6).unwrap();
    }
    let link = (kind == Kind::Compound).then_some(Link { bandwidth: 1e9, latency: t(3) });
    let node = |(name, processors, speed, parent): (&str, u32, f64, Option<usize>)| {
        let parent = parent.filter(|_| link.is_some());
        Node { speed, parent, link: parent.and(link), ..Node::new(name, processors) }
    };
    Platform::new([("a", 1, 1.0, None), ("b", 1, 2.5, Some(0)), ("c", 2, 0.5, Some(1))].map(node).to_vec()).unwrap()
}

/// A job, given by its release, kind, time, width and weight. The weight also determines the priority.
type Row = (i64, u8, i64, u32, u64);

fn job(kind: Kind, index: usize, &(release, choice, time, width, weight): &Row) -> Job {
    let name = index.to_string();
    let rigid = |processors, time| Profile::rigid(processors, t(time)).unwrap();
    let job = match (kind, choice % 4) {
        (Kind::Moldable, 0) => Job::new(name, rigid(width, time)),
        (Kind::Moldable | Kind::Compound, 1) => {
            Job::new(name, rigid(1, time)).with_count(u64::from(width).try_into().unwrap())
        }
        (Kind::Moldable, _) => {
            let law = SpeedupLaw::Downey { parallelism: f64::from(width), sigma: 0.5 };
            Job::new(name, Profile::law(t(time), law, 1, 6).unwrap())
        }
        (Kind::Sequential, _) | (Kind::Compound, 0) => Job::new(name, rigid(1, time)),
        (Kind::Compound, _) => {
            let task = |at: u32| NamedTask::new(at.to_string(), rigid(1, 1 + (time * i64::from(at + 1)) % 40));
            // Each task waits for one earlier task, and some wait for two.
            let edge = |at: u32| {
                let first =
                    Edge { from: (at * 7 + u32::from(choice)) % at, to: at, payload: Payload::Bytes(u64::from(at)) };
                let second = Edge { from: at - 1, to: at, payload: Payload::Fixed(t(2)) };
                if first.from == second.from { vec![first] } else { vec![first, second] }
            };
            let tasks = width + 1;
            let graph = Graph::new((0..tasks).map(task).collect(), (1..tasks).flat_map(edge).collect()).unwrap();
            Job::compound(name, graph).with_deadline(t(release + 4 * time + 60))
        }
    };
    let priority = i32::from(choice % 3);
    job.with_release(t(release)).with_weight(Weight::from_millionths(weight).unwrap()).with_priority(priority)
}

fn simulated(
    spec: &str,
    reveal: bool,
    instance: &Instance,
    actual: &Actual,
    options: &SimulationOptions,
) -> Option<(Simulation, Vec<LogEntry>)> {
    let mut policy: Box<dyn Policy + '_> = match policy_for(spec, instance, 1) {
        Ok(policy) => policy,
        Err(PolicyError::Unsupported { .. }) => return None,
        Err(wrong) => panic!("{wrong}"),
    };
    if reveal {
        let platform = instance.platform().clone();
        let shown = Instance::new(platform, vec![], instance.unavailable().to_vec()).unwrap();
        policy = Box::new(Revealing { policy, complete: instance, shown });
    }
    let result = simulate(instance, actual, policy.as_mut(), options, &mut Silent);
    Some((result.unwrap_or_else(|why| panic!("{spec}, revealed: {reveal}: {why}")), policy.log()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(100)))]

    #[test]
    fn what_is_to_come_changes_nothing(
        kind in prop_oneof![Just(Kind::Moldable), Just(Kind::Sequential), Just(Kind::Compound)],
        mut rows in prop::collection::vec((0_i64..80, 0_u8..12, 1_i64..30, 1_u32..6, 0_u64..9), 1..12),
        factors in prop::collection::vec(300_000_u64..2_500_000, 80),
        failures in prop::collection::vec((0_u32..4, 0_i64..120, 1_i64..40, any::<bool>()), 0..3),
        periods in prop::collection::vec((0_u32..4, 0_i64..80, 1_i64..40), 0..2),
    ) {
        rows.sort_by_key(|row| row.0);
        let jobs = rows.iter().enumerate().map(|(index, row)| job(kind, index, row)).collect();
        let period = |&(processor, start, length): &(u32, i64, i64)| {
            Unavailable { processors: ProcSet::range(processor, processor), start: t(start), end: t(start + length) }
        };
        let instance = Instance::new(platform(kind), jobs, periods.iter().map(period).collect()).unwrap();
        let failure = |(processor, down, length, known): (u32, i64, i64, bool)| Failure {
            processors: ProcSet::range(processor, processor),
            down: t(down),
            up: t(down + length),
            expected_up: known.then(|| t(down + length / 2 + 1)),
        };
        let options = SimulationOptions { failures: failures.into_iter().map(failure).collect(), ..SimulationOptions::default() };
        let actual = Actual::Factors(factors.into_iter().cycle().take(instance.tasks() as usize).collect());
        for spec in policies().iter().map(|entry| entry.name).chain(MORE) {
            let complete = simulated(spec, false, &instance, &actual, &options);
            let revealed = simulated(spec, true, &instance, &actual, &options);
            prop_assert_eq!(complete, revealed, "{}", spec);
        }
    }
}

/// Checks that the test above tests every policy: each policy supports one of the kinds, and every spec can be parsed.
#[test]
fn every_policy_drives_some_kind() {
    for spec in policies().iter().map(|entry| entry.name).chain(MORE) {
        let drives = |kind: &Kind| {
            let rows: [Row; 3] = [(0, 2, 5, 2, 1), (3, 6, 7, 1, 2), (9, 1, 5, 1, 3)];
            let jobs = rows.iter().enumerate().map(|(index, row)| job(*kind, index, row)).collect();
            let instance = Instance::new(platform(*kind), jobs, vec![]).unwrap();
            simulated(spec, true, &instance, &Actual::AsEstimated, &SimulationOptions::default()).is_some()
        };
        assert!([Kind::Moldable, Kind::Sequential, Kind::Compound].iter().any(drives), "{spec}");
    }
}
