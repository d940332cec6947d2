//! Tests of the metascheduler over two small domains, against a complete search.

use std::collections::BTreeMap;

use makespan_algos::policy::{DomainRules, Domains, JobFlowRules, policy_for};
use makespan_core::{
    Actual, Edge, Failure, Graph, Instance, Job, JobId, LogEntry, LoggedDecision, NamedTask, Node, Outcome, Payload,
    Platform, Policy, ProcSet, Profile, Run, TaskId, Time, task_cost, volume,
};
use makespan_sim::{Silent, Simulation, SimulationOptions, simulate};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::instances::t;

/// The local policies that are drawn. Their starts do not depend on the phase of a scheduling cycle, so the complete
/// search knows them.
const POLICIES: [&str; 3] = ["easy", "conservative", "fcfs"];

/// Two domains with the jobs of their owners, and a job of a user.
#[derive(Clone, Debug)]
struct TwoDomains {
    /// The number of processors, the local policy, and the price of each domain.
    domains: [(u32, usize, u32); 2],
    /// Whether the second domain is twice as fast as the first.
    fast: bool,
    /// Whether both local policies are `slurm`.
    slurm: bool,
    /// The jobs of owners: the domain, the number of processors, the time and the release.
    owners: Vec<(usize, u32, i64, i64)>,
    /// The volumes of the user's tasks.
    volumes: Vec<i64>,
    /// For each pair of tasks, the transfer time of the edge between them, if there is an edge.
    edges: Vec<Option<i64>>,
    release: i64,
    /// The time from the release of the user's job to its deadline.
    time: i64,
    /// The budget in per mille of the cost on the cheapest processors.
    budget: i64,
}

prop_compose! {
    /// Draws two domains. All jobs of owners are released before the job of the user, so their runs are known.
    fn two_domains()(
        domains in [(1_u32..3, 0..POLICIES.len(), 500_u32..2000), (1_u32..3, 0..POLICIES.len(), 500_u32..2000)],
        fast in any::<bool>(),
        owners in prop::collection::vec((0_usize..2, 1_u32..3, 1_i64..30, 0_i64..10), 0..6),
        volumes in prop::collection::vec(4_i64..30, 1..5),
        edges in prop::collection::vec(prop::option::of(0_i64..8), 6),
        release in 10_i64..14,
        time in 10_i64..90,
        budget in 950_i64..2500,
    ) -> TwoDomains {
        TwoDomains { domains, fast, slurm: false, owners, volumes, edges, release, time, budget }
    }
}

impl TwoDomains {
    fn speeds(&self) -> [f64; 2] {
        [1.0, if self.fast { 2.0 } else { 1.0 }]
    }

    fn platform(&self) -> Platform {
        let speeds = self.speeds();
        let node = |name: &str, processors, speed| Node { speed, ..Node::new(name, processors) };
        Platform::new(vec![node("a", self.domains[0].0, speeds[0]), node("b", self.domains[1].0, speeds[1])]).unwrap()
    }

    fn processors(&self, domain: usize) -> ProcSet {
        let first = self.domains[0].0;
        if domain == 0 { ProcSet::first(first) } else { ProcSet::range(first, first + self.domains[1].0 - 1) }
    }

    /// Returns the jobs of the owners, and then the job of the user if `user` is true.
    fn instance(&self, user: bool) -> Instance {
        let owner = |(at, &(domain, width, time, release)): (usize, &(usize, u32, i64, i64))| {
            let profile = Profile::rigid(width.min(self.domains[domain].0), t(time)).unwrap();
            Job::new(format!("o{at}"), profile).with_release(t(release))
        };
        let task = |(at, &ticks): (usize, &i64)| NamedTask::new(format!("t{at}"), Profile::rigid(1, t(ticks)).unwrap());
        let pairs = (0..4_u32).flat_map(|to| (0..to).map(move |from| (from, to)));
        let edge = |((from, to), time): ((u32, u32), &Option<i64>)| {
            let payload = Payload::Fixed(t((*time)?));
            ((to as usize) < self.volumes.len()).then_some(Edge { from, to, payload })
        };
        let edges = pairs.zip(&self.edges).filter_map(edge).collect();
        let graph = Graph::new(self.volumes.iter().enumerate().map(task).collect(), edges).unwrap();
        let mut job = Job::compound("user", graph).with_release(t(self.release));
        job.deadline = Some(t(self.release + self.time));
        let owners = self.owners.iter().enumerate().map(owner);
        let jobs = owners.chain(user.then_some(job)).collect();
        Instance::new(self.platform(), jobs, vec![]).unwrap()
    }

    fn user(&self) -> JobId {
        JobId(self.owners.len() as u32)
    }

    fn rules(&self) -> Vec<DomainRules> {
        let rules = |domain: usize| DomainRules {
            name: ["a", "b"][domain].into(),
            processors: self.processors(domain),
            policy: if self.slurm { "slurm" } else { POLICIES[self.domains[domain].1] }.into(),
            price: self.domains[domain].2,
            owners: (0..self.owners.len())
                .filter(|&at| self.owners[at].0 == domain)
                .map(|at| JobId(at as u32))
                .collect(),
        };
        vec![rules(0), rules(1)]
    }

    /// Returns the charge for a task on a processor of a domain.
    fn charge(&self, instance: &Instance, task: TaskId, domain: usize) -> i64 {
        let time = instance.time(task, &self.processors(domain).take(1).unwrap());
        let cost = task_cost(volume(instance.profile(task)), time);
        (cost * i64::from(self.domains[domain].2) + 999) / 1000
    }

    fn budget_in(&self, instance: &Instance) -> i64 {
        let least = |task| (0..2).map(|domain| self.charge(instance, task, domain)).min().unwrap();
        instance.job(self.user()).task_ids().map(least).sum::<i64>() * self.budget / 1000
    }

    fn play(&self, options: &SimulationOptions) -> (Instance, Simulation, Vec<LogEntry>) {
        let instance = self.instance(true);
        let budgets = BTreeMap::from([(self.user(), self.budget_in(&instance))]);
        let mut policy = Domains::new(&instance, self.rules(), budgets, JobFlowRules::default(), 1).unwrap();
        let simulation = simulate(&instance, &Actual::AsEstimated, &mut policy, options, &mut Silent)
            .unwrap_or_else(|why| panic!("{why}: {self:?}"));
        let log = policy.log();
        (instance, simulation, log)
    }

    /// Returns the periods in which the owners use each processor if there are no users. Each domain is simulated
    /// alone.
    fn busy(&self) -> Vec<Vec<(i64, i64)>> {
        let mut busy = vec![Vec::new(); (self.domains[0].0 + self.domains[1].0) as usize];
        for (domain, rules) in self.rules().into_iter().enumerate() {
            let speed = self.speeds()[domain];
            let platform = Platform::new(vec![Node { speed, ..Node::new("x", self.domains[domain].0) }]).unwrap();
            let all = self.instance(false);
            let own: Vec<Job> = rules.owners.iter().map(|&job| all.submitted(job)).collect();
            let alone = Instance::new(platform, own, vec![]).unwrap();
            let mut policy = policy_for(&rules.policy, &alone, 1).unwrap();
            let options = SimulationOptions::default();
            let played = simulate(&alone, &Actual::AsEstimated, policy.as_mut(), &options, &mut Silent).unwrap();
            let first = if domain == 0 { 0 } else { self.domains[0].0 };
            for run in played.trace.runs {
                for id in run.processors.iter() {
                    busy[(first + id) as usize].push((run.start.ticks(), run.end.ticks()));
                }
            }
        }
        busy
    }

    /// Returns whether some schedule of the user's job keeps the deadline, the budget and the runs of the owners.
    fn is_feasible(&self) -> bool {
        let instance = self.instance(true);
        let mut search = Complete {
            two: self,
            budget: self.budget_in(&instance),
            tasks: instance.job(self.user()).task_ids().collect(),
            busy: self.busy(),
            placed: BTreeMap::new(),
            instance,
        };
        search.descend()
    }
}

/// A complete search over all orders of the tasks and all processors. Each task starts as early as possible.
struct Complete<'a> {
    two: &'a TwoDomains,
    instance: Instance,
    tasks: Vec<TaskId>,
    busy: Vec<Vec<(i64, i64)>>,
    budget: i64,
    /// The processor and the end of each placed task.
    placed: BTreeMap<TaskId, (u32, i64)>,
}

impl Complete<'_> {
    fn descend(&mut self) -> bool {
        let open = |task: &TaskId| {
            !self.placed.contains_key(task)
                && self.instance.incoming(*task).all(|edge| self.placed.contains_key(&edge.from))
        };
        let ready: Vec<TaskId> = self.tasks.iter().copied().filter(open).collect();
        if ready.is_empty() {
            return true;
        }
        for task in ready {
            for id in 0..self.instance.processors() {
                let domain = usize::from(id >= self.two.domains[0].0);
                let charge = self.two.charge(&self.instance, task, domain);
                let end = self.earliest_end(task, id);
                if charge > self.budget || end > self.two.release + self.two.time {
                    continue;
                }
                let time = self.instance.time(task, &ProcSet::range(id, id)).ticks();
                self.budget -= charge;
                self.busy[id as usize].push((end - time, end));
                self.placed.insert(task, (id, end));
                if self.descend() {
                    return true;
                }
                self.placed.remove(&task);
                self.busy[id as usize].pop();
                self.budget += charge;
            }
        }
        false
    }

    fn earliest_end(&self, task: TaskId, id: u32) -> i64 {
        let on = ProcSet::range(id, id);
        let arrivals = self.instance.incoming(task).map(|edge| {
            let (from, end) = self.placed[&edge.from];
            let way = self.instance.platform().transfer_between(&ProcSet::range(from, from), &on, edge.payload);
            end + way.ticks()
        });
        let time = self.instance.time(task, &on).ticks();
        let mut start = arrivals.fold(self.two.release, i64::max);
        while let Some(&(_, until)) =
            self.busy[id as usize].iter().find(|&&(from, until)| from < start + time && start < until)
        {
            start = until;
        }
        start + time
    }
}

fn drawn(runner: &mut TestRunner) -> TwoDomains {
    two_domains().new_tree(runner).unwrap().current()
}

/// Checks that no two runs use a processor at the same time, and that owners stay in their domains.
fn check_runs(two: &TwoDomains, runs: &[Run]) {
    for (at, run) in runs.iter().enumerate() {
        for other in &runs[..at] {
            let apart = run.end <= other.start || other.end <= run.start;
            assert!(apart || run.processors.is_disjoint(&other.processors), "{run:?} {other:?} {two:?}");
        }
        if let Some(&(domain, ..)) = two.owners.get(run.task.index()) {
            assert!(run.processors.is_subset(&two.processors(domain)), "{run:?} {two:?}");
        }
    }
}

/// Returns the charges for the user's tasks that ended with success.
fn charged(two: &TwoDomains, instance: &Instance, runs: &[Run]) -> i64 {
    let own = runs.iter().filter(|run| run.outcome == Outcome::Succeeded && run.task.index() >= two.owners.len());
    own.map(|run| two.charge(instance, run.task, usize::from(!run.processors.is_subset(&two.processors(0))))).sum()
}

/// Compares the metascheduler with a complete search on 500 instances. No run overlaps a run of an owner, the budget is
/// kept, and a job is planned in time if and only if this is possible.
#[test]
fn no_feasible_job_is_called_impossible() {
    let mut runner = TestRunner::deterministic();
    let mut feasible = 0;
    for _ in 0..500 {
        let two = drawn(&mut runner);
        let (instance, simulation, log) = two.play(&SimulationOptions::default());
        check_runs(&two, &simulation.trace.runs);
        assert!(charged(&two, &instance, &simulation.trace.runs) <= two.budget_in(&instance), "{two:?}");
        let first = log.iter().find(|entry| instance.job_id(entry.task) == two.user());
        let planned = first.is_some_and(|entry| matches!(entry.what, LoggedDecision::Planned { .. }));
        assert_eq!(planned, two.is_feasible(), "{first:?} {two:?}");
        feasible += usize::from(planned);
        if planned {
            let ends = simulation.trace.runs.iter().filter(|run| run.task.index() >= two.owners.len());
            let end = ends.map(|run| run.end).fold(Time::ZERO, Time::max);
            assert!(end <= t(two.release + two.time), "{end} {log:?} {two:?}");
        }
    }
    assert!((100..400).contains(&feasible), "{feasible}");
}

/// Fails one domain for a while. The tasks of the user move, the budget is still kept, and all jobs end.
#[test]
fn jobs_move_if_a_domain_is_down() {
    let mut runner = TestRunner::deterministic();
    let mut moved = 0;
    for number in 0..100 {
        let mut two = drawn(&mut runner);
        // The policy `slurm` supports only processors of equal speed.
        two.slurm = number % 3 == 0;
        two.fast &= !two.slurm;
        let down = t(two.release + number % 20);
        let failure =
            |domain| Failure { processors: two.processors(domain), down, up: down + t(40), expected_up: None };
        let options = SimulationOptions { failures: vec![failure(number as usize % 2)], ..Default::default() };
        let (instance, simulation, log) = two.play(&options);
        check_runs(&two, &simulation.trace.runs);
        assert!(charged(&two, &instance, &simulation.trace.runs) <= two.budget_in(&instance), "{two:?}");
        let is_change = |entry: &LogEntry| {
            matches!(entry.what, LoggedDecision::OtherVariant { .. } | LoggedDecision::PlannedAgain { .. })
        };
        moved += log.iter().filter(|entry| is_change(entry)).count();
        let owners = (0..two.owners.len()).map(TaskId::at);
        let succeeded = |task: TaskId| {
            simulation.trace.runs.iter().any(|run| run.task == task && run.outcome == Outcome::Succeeded)
        };
        assert!(owners.into_iter().all(succeeded), "{two:?}");
    }
    assert!(moved > 0);
}
