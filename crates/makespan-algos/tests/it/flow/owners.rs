//! Tests that tasks of users delay no job of an owner, if all jobs of owners arrive before the jobs of users and run as
//! long as expected.

use std::collections::BTreeMap;

use makespan_algos::policy::{DomainRules, Domains, JobFlowRules, policy_for};
use makespan_core::{
    Actual, Edge, Graph, Instance, Job, JobId, NamedTask, Node, Payload, Platform, Policy, ProcSet, Profile, TaskId,
    Time,
};
use makespan_sim::{Silent, SimulationOptions, simulate};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// The policies for which docs/simulation.md states that users delay no owner.
const POLICIES: [&str; 4] = ["fcfs", "easy", "conservative", "slurm"];

/// A domain of one node and a domain of two nodes.
#[derive(Clone, Debug)]
struct Scene {
    /// The number of processors of each node.
    nodes: [u32; 3],
    policies: [usize; 2],
    /// The jobs of owners: the domain, the number of processors, the time and the release in seconds.
    owners: Vec<(usize, u32, i64, i64)>,
    /// The jobs of users: the release, and the times of the tasks. Each task but the first may wait for its predecessor.
    users: Vec<(i64, Vec<(i64, bool)>)>,
}

prop_compose! {
    fn scene()(
        nodes in prop::array::uniform3(1_u32..4),
        policies in prop::array::uniform2(0..POLICIES.len()),
        owners in prop::collection::vec((0_usize..2, 1_u32..6, 1_i64..300, 0_i64..10), 1..9),
        users in prop::collection::vec((10_i64..60, prop::collection::vec((5_i64..150, any::<bool>()), 1..5)), 1..3),
    ) -> Scene {
        Scene { nodes, policies, owners, users }
    }
}

fn rigid(processors: u32, seconds: i64) -> Profile {
    Profile::rigid(processors, Time::from_seconds(seconds)).unwrap()
}

impl Scene {
    fn processors(&self, domain: usize) -> ProcSet {
        let [first, second, third] = self.nodes;
        if domain == 0 { ProcSet::first(first) } else { ProcSet::range(first, first + second + third - 1) }
    }

    fn node(&self, at: usize) -> Node {
        Node::new(["a", "b", "c"][at], self.nodes[at])
    }

    fn owner(&self, at: usize) -> Job {
        let (domain, width, seconds, release) = self.owners[at];
        let width = width.min(self.processors(domain).len());
        Job::new(format!("o{at}"), rigid(width, seconds)).with_release(Time::from_seconds(release))
    }

    fn user(&self, at: usize) -> Job {
        let (release, tasks) = &self.users[at];
        let task = |(at, &(seconds, _)): (usize, &(i64, bool))| NamedTask::new(format!("t{at}"), rigid(1, seconds));
        let waits = (1..tasks.len()).filter(|&at| tasks[at].1);
        let edge = |at: usize| Edge { from: at as u32 - 1, to: at as u32, payload: Payload::Fixed(Time::ZERO) };
        let graph = Graph::new(tasks.iter().enumerate().map(task).collect(), waits.map(edge).collect()).unwrap();
        Job::compound(format!("u{at}"), graph).with_release(Time::from_seconds(*release))
    }

    /// Returns the starts of the jobs of owners, with or without users.
    fn starts(&self, with_users: bool) -> Vec<Time> {
        let platform = Platform::new((0..3).map(|at| self.node(at)).collect()).unwrap();
        let users = (0..if with_users { self.users.len() } else { 0 }).map(|at| self.user(at));
        let jobs = (0..self.owners.len()).map(|at| self.owner(at)).chain(users).collect();
        let instance = Instance::new(platform, jobs, vec![]).unwrap();
        let rules = |domain: usize| DomainRules {
            name: ["a", "b"][domain].into(),
            processors: self.processors(domain),
            policy: POLICIES[self.policies[domain]].into(),
            price: 1000,
            owners: self.owned(domain).map(|at| JobId(at as u32)).collect(),
        };
        let rules = vec![rules(0), rules(1)];
        let mut policy = Domains::new(&instance, rules, BTreeMap::new(), JobFlowRules::default(), 1).unwrap();
        played(&instance, &mut policy, self.owners.len())
    }

    /// Returns the positions of the owners of a domain.
    fn owned(&self, domain: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.owners.len()).filter(move |&at| self.owners[at].0 == domain)
    }

    /// Returns the starts of the jobs of the owners of a domain if the domain is simulated alone.
    fn alone(&self, domain: usize) -> Vec<Time> {
        let nodes = if domain == 0 { 0..1 } else { 1..3 };
        let platform = Platform::new(nodes.map(|at| self.node(at)).collect()).unwrap();
        let jobs: Vec<Job> = self.owned(domain).map(|at| self.owner(at)).collect();
        let count = jobs.len();
        let instance = Instance::new(platform, jobs, vec![]).unwrap();
        let mut policy = policy_for(POLICIES[self.policies[domain]], &instance, 1).unwrap();
        played(&instance, policy.as_mut(), count)
    }
}

/// Returns the starts of the first `count` tasks.
fn played(instance: &Instance, policy: &mut dyn Policy, count: usize) -> Vec<Time> {
    let options = SimulationOptions::default();
    let played = simulate(instance, &Actual::AsEstimated, policy, &options, &mut Silent).unwrap();
    let start = |at: usize| played.trace.runs.iter().find(|run| run.task == TaskId::at(at)).unwrap().start;
    (0..count).map(start).collect()
}

/// Returns a scene in which users once shifted the backfill cycles of `slurm`, so that an owner's job started later.
fn shifted_cycles() -> Scene {
    let north = [93, 123, 98].map(|seconds| (0, 1, seconds, 0));
    let south = [(2, 131), (1, 115), (5, 67), (3, 11), (1, 89), (5, 200)].map(|(width, time)| (1, width, time, 0));
    let tasks = vec![(68, false), (60, false), (128, false), (125, true), (142, true)];
    Scene { nodes: [1, 2, 3], policies: [1, 3], owners: [&north[..], &south].concat(), users: vec![(1, tasks)] }
}

#[test]
fn users_delay_no_owner() {
    let mut runner = TestRunner::deterministic();
    let drawn = (0..crate::cases(300)).map(|_| scene().new_tree(&mut runner).unwrap().current());
    for scene in drawn.chain([shifted_cycles()]) {
        let starts = scene.starts(false);
        assert_eq!(scene.starts(true), starts, "{scene:?}");
        for domain in 0..2 {
            let own: Vec<Time> = scene.owned(domain).map(|at| starts[at]).collect();
            assert_eq!(scene.alone(domain), own, "domain {domain} alone: {scene:?}");
        }
    }
}
