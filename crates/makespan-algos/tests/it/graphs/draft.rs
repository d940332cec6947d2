//! Small random instances of graphs.

use makespan_core::{
    Edge, EndPenalty, Graph, Instance, Job, Link, NamedTask, Node, Payload, PenaltyForm, Platform, ProcSet, Profile,
    Time, Unavailable, Weight,
};
use proptest::prelude::*;

/// A random instance in small whole numbers. Times are in units of four ticks, so that they are divisible by the speeds
/// 2 and 4.
#[derive(Clone, Debug)]
pub struct Draft {
    nodes: Vec<(u32, u32)>,
    /// Ticks per byte between nodes, if transfers take time.
    network: Option<i64>,
    local: bool,
    closed: Option<(u32, i64, i64)>,
    jobs: Vec<DraftJob>,
    names: &'static str,
}

#[derive(Clone, Debug)]
struct DraftJob {
    release: i64,
    weight: u64,
    /// The deadline. If the release is later, the release is used as the deadline.
    deadline: Option<i64>,
    /// The difference between the walltime and the least walltime within which every task can run on some node.
    spare: Option<i64>,
    /// The time of each task, and its time on each node if it has separate times.
    tasks: Vec<(i64, Option<Vec<i64>>)>,
    /// Pairs of tasks with bytes or, if negative, a fixed time.
    edges: Vec<(usize, usize, i64)>,
}

const UNIT: i64 = 4;

/// Returns a draft with one task.
pub fn smallest() -> Draft {
    let job = DraftJob { release: 0, weight: 1, deadline: None, spare: None, tasks: vec![(1, None)], edges: vec![] };
    Draft { nodes: vec![(1, 1)], network: None, local: false, closed: None, jobs: vec![job], names: "t" }
}

impl Draft {
    /// Returns the instance with every time multiplied by `factor`.
    pub fn instance(&self, factor: i64) -> Instance {
        let ticks = |units: i64| Time::from_ticks(units * UNIT * factor);
        let node = |(index, &(processors, speed)): (usize, &(u32, u32))| Node {
            speed: f64::from(speed),
            ..Node::new(format!("n{index}"), processors)
        };
        let mut platform = Platform::new(self.nodes.iter().enumerate().map(node).collect()).unwrap();
        if let Some(each) = self.network {
            // The transfer of one byte takes `each` units.
            let bandwidth = 1e9 / (each * UNIT * factor) as f64;
            let link = Link { bandwidth, latency: Time::ZERO };
            platform = platform.with_interconnect(link).unwrap();
        }
        if self.local {
            platform = platform.with_local_transfers();
        }
        let count = platform.processors();
        let period = |&(id, start, length): &(u32, i64, i64)| Unavailable {
            processors: ProcSet::range(id % count, id % count),
            start: ticks(start),
            end: ticks(start + length),
        };
        let jobs = self.jobs.iter().enumerate().map(|(index, job)| self.job(index, job, &ticks)).collect();
        Instance::new(platform, jobs, self.closed.iter().map(period).collect()).unwrap()
    }

    fn job(&self, index: usize, job: &DraftJob, ticks: &dyn Fn(i64) -> Time) -> Job {
        let task = |(at, (time, own)): (usize, &(i64, Option<Vec<i64>>))| {
            let profile = match own {
                None => Profile::rigid(1, ticks(*time)).unwrap(),
                Some(own) => {
                    // A node may be unable to run the task, but at least one node can run it.
                    let able = own[..self.nodes.len()].iter().any(|&time| time > 0);
                    let on = |&time: &i64| if time > 0 { ticks(time) } else { Profile::CANNOT_RUN };
                    let row: Vec<Time> = own[..self.nodes.len()].iter().map(on).collect();
                    if able { Profile::on_machines(row).unwrap() } else { Profile::rigid(1, ticks(*time)).unwrap() }
                }
            };
            NamedTask::new(format!("{}{at}", self.names), profile)
        };
        let tasks: Vec<NamedTask> = job.tasks.iter().enumerate().map(task).collect();
        let walltime = job.spare.map(|spare| self.least_walltime(&tasks) + ticks(spare));
        let deadline = job.deadline.map(|deadline| ticks(deadline.max(job.release)));
        // With an even number of edges, ends after the deadline cost as much as in steps.
        let penalty = deadline.and_then(|due| {
            let form = if job.edges.len().is_multiple_of(2) { PenaltyForm::Steps } else { PenaltyForm::Linear };
            EndPenalty::new(form, vec![(due, Weight::ONE), (due + ticks(5), Weight::from_millionths(3_000_000).ok()?)])
                .ok()
        });
        let mut edges: Vec<Edge> = Vec::new();
        for &(a, b, payload) in &job.edges {
            let (from, to) = ((a % tasks.len()).min(b % tasks.len()), (a % tasks.len()).max(b % tasks.len()));
            let (from, to) = (from as u32, to as u32);
            if from == to || edges.iter().any(|edge| (edge.from, edge.to) == (from, to)) {
                continue;
            }
            let payload = if payload < 0 { Payload::Fixed(ticks(-payload)) } else { Payload::Bytes(payload as u64) };
            edges.push(Edge { from, to, payload });
        }
        let weight = Weight::from_millionths(job.weight * 1_000_000).unwrap();
        let name = format!("{}{index}", self.names);
        if tasks.len() == 1 && job.weight.is_multiple_of(2) {
            // A job of one task may be written as a simple job.
            let profile = tasks[0].task.profile.clone();
            let plain = Job::new(name, profile).with_release(ticks(job.release)).with_weight(weight);
            return Job { deadline, penalty, walltime, ..plain };
        }
        let graph = Graph::new(tasks, edges).unwrap();
        let compound = Job::compound(name, graph).with_release(ticks(job.release)).with_weight(weight);
        Job { deadline, penalty, walltime, ..compound }
    }

    /// Returns the longest time over all tasks, each on the node on which it is shortest.
    fn least_walltime(&self, tasks: &[NamedTask]) -> Time {
        let shortest = |task: &NamedTask| {
            let on = |(node, &(_, speed)): (usize, &(u32, u32))| match task.task.profile.machine_times() {
                Some(row) => row[node],
                None => task.task.profile.shortest().divided_by(f64::from(speed)),
            };
            self.nodes.iter().enumerate().map(on).min().unwrap()
        };
        tasks.iter().map(shortest).max().unwrap()
    }

    /// Returns the same draft with other names.
    pub fn renamed(&self) -> Self {
        Self { names: "zz other ", ..self.clone() }
    }
}

fn job(most: usize) -> impl Strategy<Value = DraftJob> {
    let own = proptest::option::weighted(0.3, proptest::collection::vec(0_i64..8, 3));
    let tasks = proptest::collection::vec((1_i64..8, own), 1..=most);
    let edges = proptest::collection::vec((0_usize..9, 0_usize..9, -4_i64..6), 0..8);
    let release = prop_oneof![3 => Just(0_i64), 1 => 1_i64..9];
    let spare = proptest::option::weighted(0.3, 0_i64..4);
    let deadline = proptest::option::weighted(0.3, 0_i64..40);
    let limits = (deadline, spare);
    (release, 1_u64..5, limits, tasks, edges).prop_map(|(release, weight, (deadline, spare), tasks, edges)| DraftJob {
        release,
        weight,
        deadline,
        spare,
        tasks,
        edges,
    })
}

pub fn drafts() -> impl Strategy<Value = Draft> {
    let speed = prop_oneof![3 => Just(1_u32), 1 => Just(2), 1 => Just(4)];
    let single = proptest::collection::vec(speed.clone().prop_map(|speed| (1_u32, speed)), 2..=3);
    let double = speed.prop_map(|speed| vec![(2_u32, 1_u32), (1, speed)]);
    let nodes = prop_oneof![3 => single, 1 => double];
    let network = proptest::option::of(prop_oneof![Just(1_i64), Just(2), Just(4)]);
    let closed = proptest::option::weighted(0.3, (0_u32..3, 0_i64..9, 1_i64..5));
    let jobs = prop_oneof![2 => job(5).prop_map(|job| vec![job]), 1 => (job(3), job(2)).prop_map(|(a, b)| vec![a, b])];
    (nodes, network, proptest::bool::weighted(0.2), closed, jobs).prop_filter_map(
        "at least one job is a graph",
        |(nodes, network, local, closed, jobs)| {
            let draft = Draft { nodes, network, local, closed, jobs, names: "t" };
            draft.instance(1).has_compound_jobs().then_some(draft)
        },
    )
}
