//! Random small instances with resources, links, speeds and walltimes, which schedulers that only count processors do
//! not support.

use makespan_core::{
    Edge, Graph, Instance, Job, Link, NamedTask, Need, Needs, Node, Payload, Platform, ProcSet, Profile, Resources,
    Time, Unavailable, Weight,
};
use proptest::prelude::*;

/// A node, given by its processors, memory, GPUs and speed.
type DraftNode = (u32, u64, u64, u32);

#[derive(Clone, Debug)]
pub struct DraftTask {
    /// The ticks on one, two .. processors from `least` processors on, in decreasing order.
    times: Vec<i64>,
    least: u32,
    /// Alternatively, the ticks on each node for a task with separate times, or zero if the node cannot run the task.
    own: Option<[i64; 3]>,
    needs: DraftNeeds,
}

#[derive(Clone, Debug, Default)]
struct DraftNeeds {
    memory: (u64, u64),
    gpus: u64,
    solver: u64,
    budget: u64,
    /// The need of memory by allotment, which replaces `memory`.
    listed: Option<Vec<u64>>,
}

#[derive(Clone, Debug)]
pub struct DraftJob {
    release: i64,
    weight: u64,
    deadline: Option<i64>,
    /// The walltime of each task.
    walltime: Option<i64>,
    /// The only task of the job, or all tasks of a graph. `edges` contains the edges with their numbers of bytes.
    tasks: Vec<DraftTask>,
    edges: Vec<(usize, usize, u64)>,
    /// The number of equal tasks, if `tasks` contains one task.
    count: u64,
    /// The earlier jobs that this job waits for, as bits.
    after: u8,
}

/// The links between nodes, given by ticks per byte, and by latencies in ticks.
#[derive(Clone, Debug)]
struct DraftNetwork {
    ticks: i64,
    /// The latency of the link to each node of a tree below the first node. For links between any two nodes, only the
    /// first value is used.
    latencies: [i64; 3],
    is_tree: bool,
    local: bool,
}

#[derive(Clone, Debug)]
pub struct Draft {
    nodes: Vec<DraftNode>,
    jobs: Vec<DraftJob>,
    network: Option<DraftNetwork>,
    compact: bool,
    /// The periods in which a processor is closed, given by processor, start and length.
    closed: Vec<(u32, i64, i64)>,
}

impl Draft {
    /// Returns the instance with all times multiplied by `scale`, or `None` if some task never fits.
    pub fn instance(&self, scale: i64) -> Option<Instance> {
        let ticks = |at: i64| Time::from_ticks(at * scale);
        let node = |(at, &(processors, memory, gpus, speed)): (usize, &DraftNode)| Node {
            speed: f64::from(speed),
            resources: Resources::new([("memory", memory), ("gpus", gpus)]).unwrap(),
            ..Node::new(format!("n{at}"), processors)
        };
        let link = |network: &DraftNetwork, at: usize| {
            let bandwidth = 1e9 / (network.ticks * scale) as f64;
            Link { bandwidth, latency: ticks(network.latencies[at % 3]) }
        };
        let tree = self.network.as_ref().filter(|network| network.is_tree);
        let node = |at: (usize, &DraftNode)| match tree {
            Some(tree) if at.0 > 0 => Node { parent: Some(0), link: Some(link(tree, at.0)), ..node(at) },
            _ => node(at),
        };
        let platform = Platform::new(self.nodes.iter().enumerate().map(node).collect()).unwrap();
        let platform = platform.with_licences(Resources::new([("solver", 2)]).unwrap()).unwrap();
        let mut platform = platform.with_consumables(Resources::new([("budget", 12)]).unwrap()).unwrap();
        if let Some(network) = &self.network {
            if !network.is_tree {
                platform = platform.with_interconnect(link(network, 0)).unwrap();
            }
            if network.local {
                platform = platform.with_local_transfers();
            }
        }
        if self.compact {
            platform = platform.requiring_compact();
        }
        let last = platform.processors() - 1;
        let closed = |&(id, start, length): &(u32, i64, i64)| Unavailable {
            processors: ProcSet::range(id.min(last), id.min(last)),
            start: ticks(start),
            end: ticks(start + length),
        };
        let jobs = self.jobs.iter().enumerate().map(|(at, job)| job.job(at, self.nodes.len(), scale)).collect();
        Instance::new(platform, jobs, self.closed.iter().map(closed).collect()).ok()
    }
}

impl DraftJob {
    fn job(&self, at: usize, nodes: usize, scale: i64) -> Job {
        let ticks = |at: i64| Time::from_ticks(at * scale);
        let named = |(at, task): (usize, &DraftTask)| {
            let mut named = NamedTask::new(format!("t{at}"), task.profile(nodes, scale));
            named.task.needs = task.needs.needs();
            named
        };
        let job = if self.tasks.len() == 1 {
            let job =
                Job::new(format!("j{at}"), self.tasks[0].profile(nodes, scale)).with_needs(self.tasks[0].needs.needs());
            if self.count > 1 { job.with_count(self.count.try_into().unwrap()) } else { job }
        } else {
            let count = self.tasks.len();
            let mut edges: Vec<Edge> = Vec::new();
            for &(a, b, bytes) in &self.edges {
                let (from, to) = ((a % count).min(b % count) as u32, (a % count).max(b % count) as u32);
                if from != to && !edges.iter().any(|edge| (edge.from, edge.to) == (from, to)) {
                    edges.push(Edge { from, to, payload: Payload::Bytes(bytes) });
                }
            }
            Job::compound(
                format!("j{at}"),
                Graph::new(self.tasks.iter().enumerate().map(named).collect(), edges).unwrap(),
            )
        };
        let after = (0..at).filter(|before| self.after & (1 << before) != 0).map(|before| format!("j{before}"));
        let job = job.with_release(ticks(self.release)).with_weight(Weight::from_millionths(self.weight).unwrap());
        let job = job.with_after(after.collect::<Vec<String>>());
        let job = self.walltime.into_iter().fold(job, |job, walltime| job.with_walltime(ticks(walltime)));
        self.deadline.into_iter().fold(job, |job, deadline| job.with_deadline(ticks(self.release + deadline)))
    }
}

impl DraftTask {
    fn profile(&self, nodes: usize, scale: i64) -> Profile {
        if let Some(own) = self.own.filter(|own| own[..nodes].iter().any(|&time| time > 0)) {
            let time = |&time: &i64| if time > 0 { Time::from_ticks(time * scale) } else { Profile::CANNOT_RUN };
            return Profile::on_machines(own[..nodes].iter().map(time).collect::<Vec<Time>>()).unwrap();
        }
        let times = self.times.iter().map(|&time| Time::from_ticks(time * scale)).collect();
        let least = self.least.min(self.times.len() as u32);
        Profile::table(times).unwrap().at_least(least).unwrap()
    }
}

impl DraftNeeds {
    fn needs(&self) -> Needs {
        let Self { memory, gpus, solver, budget, listed } = self;
        let memory = match listed {
            Some(listed) => Need::ByAllotment(listed.clone().into()),
            None => Need::Linear { whole: memory.0, per_processor: memory.1 },
        };
        let all = [
            ("memory", memory),
            ("gpus", Need::whole(*gpus)),
            ("solver", Need::whole(*solver)),
            ("budget", Need::whole(*budget)),
        ];
        Needs::new(all.into_iter().filter(|(_, need)| !need.is_nothing())).unwrap()
    }
}

fn needs() -> impl Strategy<Value = DraftNeeds> {
    let rarely = |most: u64| prop_oneof![4 => Just(0), 1 => 1..=most];
    let listed = proptest::option::weighted(0.2, proptest::collection::vec(0_u64..8, 1..4));
    let memory = prop_oneof![2 => Just((0, 0)), 3 => (0_u64..9, 0_u64..3)];
    (memory, rarely(2), rarely(2), rarely(3), listed).prop_map(|(memory, gpus, solver, budget, listed)| DraftNeeds {
        memory,
        gpus,
        solver,
        budget,
        listed,
    })
}

fn task() -> impl Strategy<Value = DraftTask> {
    let times = proptest::collection::vec(1_i64..5, 1..4).prop_map(|steps| {
        // The times decrease, and the shortest one is the last.
        let mut times = vec![steps[0]];
        steps[1..].iter().for_each(|step| times.push(times[times.len() - 1] + step));
        times.reverse();
        times
    });
    let own = proptest::option::weighted(0.1, proptest::array::uniform3(0_i64..7));
    (times, 1_u32..3, own, needs()).prop_map(|(times, least, own, needs)| DraftTask { times, least, own, needs })
}

fn job(after: bool, graphs: bool, bags: bool) -> impl Strategy<Value = DraftJob> {
    let most = if graphs { 4 } else { 2 };
    let edges = proptest::collection::vec((0_usize..4, 0_usize..4, 0_u64..3), 0..5);
    let tasks = proptest::collection::vec(task(), 1..most);
    let rest = (prop_oneof![3 => Just(0_i64), 1 => 0_i64..9], 0_u64..4, proptest::option::of(0_i64..20));
    let rest = (rest, proptest::option::weighted(0.3, 2_i64..8));
    (rest, tasks, edges, if bags { 1_u64..4 } else { 1..2 }, if after { 0_u8..=63 } else { 0..=0 }).prop_map(
        |(((release, weight, deadline), walltime), tasks, edges, count, after)| DraftJob {
            release,
            weight: weight * 1_000_000,
            deadline,
            walltime,
            tasks,
            edges,
            count,
            // If each bit were set with probability 1/2, there would be too many edges.
            after: after & (after >> 2),
        },
    )
}

/// Returns instances that can be planned.
pub fn draft() -> impl Strategy<Value = Draft> {
    (any::<[bool; 3]>(), 1_usize..5)
        .prop_flat_map(|([after, graphs, bags], jobs)| of(jobs, after, graphs, bags))
        .prop_filter("everything fits an empty platform", |draft| draft.instance(1).is_some())
}

fn of(jobs: usize, after: bool, graphs: bool, bags: bool) -> impl Strategy<Value = Draft> {
    let node = |unequal: bool| (1_u32..4, 4_u64..16, 0_u64..3, if unequal { 1_u32..4 } else { 1..2 });
    let nodes = any::<bool>().prop_flat_map(move |unequal| proptest::collection::vec(node(unequal), 1..4));
    let closed =
        prop_oneof![3 => Just(Vec::new()), 1 => proptest::collection::vec((0_u32..6, 0_i64..12, 1_i64..9), 1..3)];
    let network = (1_i64..4, proptest::array::uniform3(0_i64..3), any::<bool>(), any::<bool>());
    let network =
        network.prop_map(|(ticks, latencies, is_tree, local)| DraftNetwork { ticks, latencies, is_tree, local });
    let network = proptest::option::weighted(0.3, network);
    let jobs = proptest::collection::vec(job(after, graphs, bags), 1..=jobs);
    let jobs = (jobs, proptest::bool::weighted(0.3)).prop_map(|(mut jobs, processors_alone)| {
        if processors_alone {
            jobs.iter_mut().flat_map(|job| &mut job.tasks).for_each(|task| task.needs = DraftNeeds::default());
        }
        jobs
    });
    (nodes, jobs, network, proptest::bool::weighted(0.2), closed)
        .prop_map(|(nodes, jobs, network, compact, closed)| Draft { nodes, jobs, network, compact, closed })
}
