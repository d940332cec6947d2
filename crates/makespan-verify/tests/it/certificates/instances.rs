//! Random instances with at most four tasks and many corner cases: zero weights, equal values, releases, bags, closed
//! periods, walltimes, machines that differ and nodes without processors.

use makespan_core::{
    Edge, Graph, Instance, Job, NamedTask, Need, Needs, Node, Payload, Platform, ProcSet, Profile, Resources, Time,
    Unavailable, Weight,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// The kind of processors and jobs of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Equal processors, and jobs that may hold several of them.
    Equal,
    /// Sequential jobs on nodes that differ.
    Machines,
    /// Graphs of tasks on nodes that differ, with transfers between nodes.
    Graphs,
    /// One graph that forks and joins, on nodes that differ, with transfers between nodes.
    Forks,
    /// Tasks that may hold processors of several nodes, and need memory, licences and consumables. Jobs and graphs wait
    /// for each other and have deadlines.
    Held,
}

/// The magnitude of the values in an instance and its certificates.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Ticks per unit of time.
    pub unit: i64,
    /// Millionths per unit of weight.
    pub weight: u64,
    /// True if certificates contain values at the limits of their types.
    pub wild: bool,
}

/// All values are small whole numbers.
pub const SMALL: Extent = Extent { unit: 1, weight: 1, wild: false };

/// Generates an instance. Returns `None` if the random values do not form a valid instance.
pub fn draw(family: Family, extent: Extent, rng: &mut ChaCha8Rng) -> Option<Instance> {
    if family == Family::Forks {
        return fork(extent, rng);
    }
    let ticks = |time: i64| Time::from_ticks(time * extent.unit);
    let platform = platform(family, rng)?;
    let processors = platform.processors();
    let wide = matches!(family, Family::Equal | Family::Held);
    let mut left = if wide && processors == 3 { 3 } else { 4 };
    let mut jobs = Vec::new();
    for name in ["a", "b", "c", "d"].into_iter().take(rng.random_range(1..=4)) {
        if left == 0 {
            break;
        }
        let tasks = rng.random_range(1..=left.min(3));
        let graph = tasks > 1 && (family == Family::Graphs || family == Family::Held && rng.random_bool(0.5));
        let bag = !graph && tasks > 1 && rng.random_bool(0.4);
        let mut job = if graph {
            Job::compound(name, self::graph(family, &platform, tasks, extent, rng)?)
        } else {
            Job::new(name, profile(family, &platform, extent, rng)).with_needs(needs(family, rng))
        };
        if family == Family::Held {
            let before = jobs.iter().filter(|_| rng.random_bool(0.4)).map(|job: &Job| job.name.clone());
            job = job.with_after(before.collect::<Vec<String>>());
        }
        left -= if graph || bag { tasks } else { 1 };
        if bag {
            job = job.with_count(tasks.try_into().ok()?);
        }
        if rng.random_bool(0.1) {
            job.walltime = Some(ticks(rng.random_range(2..10)));
        }
        let weight = [0, 0, 1, 1, 2, 3, 7][rng.random_range(0..7)];
        let release = [0, 0, 0, 1, 2, 5][rng.random_range(0..6)];
        if family == Family::Held && rng.random_bool(0.7) {
            job = job.with_deadline(ticks(release + rng.random_range(0..8)));
        }
        jobs.push(job.with_weight(Weight::from_millionths(weight * extent.weight).ok()?).with_release(ticks(release)));
    }
    let closed = (0..rng.random_range(0..=3) * rng.random_range(0..=1)).map(|_| {
        let (first, start) = (rng.random_range(0..processors), rng.random_range(0..8));
        let last = rng.random_range(first..processors);
        let end = start + rng.random_range(1..=4);
        Unavailable { processors: ProcSet::range(first, last), start: ticks(start), end: ticks(end) }
    });
    Instance::new(platform, jobs, closed.collect()).ok()
}

/// Generates a graph: a task, two to four tasks that wait for it, and a task that waits for all of these tasks.
fn fork(extent: Extent, rng: &mut ChaCha8Rng) -> Option<Instance> {
    let platform = platform(Family::Forks, rng)?;
    let last = rng.random_range(3..=5);
    let tasks = (0..=last).map(|at| NamedTask::new(at.to_string(), profile(Family::Forks, &platform, extent, rng)));
    let tasks = tasks.collect();
    let mut payload = || Payload::Fixed(Time::from_ticks(rng.random_range(0..=4) * extent.unit));
    let edges = (1..last).flat_map(|task| [(0, task), (task, last)]);
    let edges = edges.map(|(from, to)| Edge { from, to, payload: payload() }).collect();
    Instance::new(platform, vec![Job::compound("fork", Graph::new(tasks, edges).ok()?)], vec![]).ok()
}

fn platform(family: Family, rng: &mut ChaCha8Rng) -> Option<Platform> {
    if family == Family::Held {
        return held(rng);
    }
    if family == Family::Equal {
        return Platform::flat(rng.random_range(1..=3)).ok();
    }
    let tree = rng.random_bool(0.2);
    let mut left = 3;
    let mut nodes = Vec::new();
    for at in 0..rng.random_range(1..=3) {
        let most = left.min(2);
        let processors = if rng.random_bool(0.1) { 0 } else { most.min(rng.random_range(1..=2)) };
        left -= processors;
        let speed = [0.5, 1.0, 1.0, 2.0, 3.0][rng.random_range(0..5)];
        let parent = (tree && at > 0).then_some(0);
        nodes.push(Node { speed, parent, ..Node::new(format!("n{at}"), processors) });
    }
    Platform::new(nodes).ok()
}

/// Generates nodes with memory, and resources that belong to no node.
fn held(rng: &mut ChaCha8Rng) -> Option<Platform> {
    let mut nodes = Vec::new();
    let mut left = 3;
    for at in 0..rng.random_range(1..=2) {
        let processors = left.min(rng.random_range(1..=2));
        left -= processors;
        let speed = [1.0, 1.0, 1.0, 0.5, 2.0][rng.random_range(0..5)];
        let resources = Resources::new([("memory", rng.random_range(1..=6))]).ok()?;
        nodes.push(Node { speed, resources, ..Node::new(format!("n{at}"), processors) });
    }
    let licences = Resources::new([("solver", rng.random_range(1..=3))]).ok()?;
    let consumables = Resources::new([("budget", rng.random_range(4..=12))]).ok()?;
    Platform::new(nodes).ok()?.with_licences(licences).ok()?.with_consumables(consumables).ok()
}

fn needs(family: Family, rng: &mut ChaCha8Rng) -> Needs {
    if family != Family::Held || rng.random_bool(0.3) {
        return Needs::NONE;
    }
    let mut need = || match rng.random_range(0..4) {
        0 => Need::whole(rng.random_range(0..=4)),
        1 => Need::per_processor(rng.random_range(0..=2)),
        2 => Need::Linear { whole: rng.random_range(0..=2), per_processor: rng.random_range(0..=2) },
        _ => Need::ByAllotment((0..3).map(|_| rng.random_range(0..=4)).collect()),
    };
    let all = [("memory", need()), ("solver", need()), ("budget", need())];
    let some = rng.random_range(1..8_u32);
    Needs::new(all.into_iter().enumerate().filter(|(at, _)| some >> at & 1 == 1).map(|(_, need)| need))
        .unwrap_or_default()
}

fn profile(family: Family, platform: &Platform, extent: Extent, rng: &mut ChaCha8Rng) -> Profile {
    let ticks = |time: i64| Time::from_ticks(time * extent.unit);
    let own = platform.nodes().iter().map(|_| match rng.random_range(0..8) {
        0 => Profile::CANNOT_RUN,
        time => ticks(time),
    });
    let own: Vec<Time> = own.collect();
    let time = ticks(rng.random_range(1..=6));
    let several = rng.random_range(1..=platform.processors());
    let made = match (family, rng.random_range(0..4)) {
        (Family::Equal, 0..=1) | (Family::Held, 0) => Profile::rigid(several, time),
        (Family::Equal | Family::Held, _) => {
            Profile::table((0..several).map(|_| ticks(rng.random_range(1..=6))).collect())
        }
        (Family::Graphs, 0) => Profile::table((0..several).map(|_| ticks(rng.random_range(1..=6))).collect()),
        (_, 0..=1) => Profile::rigid(1, time),
        _ => Profile::on_machines(own),
    };
    made.unwrap_or_else(|_| Profile::rigid(1, time).expect("the time is positive"))
}

fn graph(family: Family, platform: &Platform, tasks: u64, extent: Extent, rng: &mut ChaCha8Rng) -> Option<Graph> {
    let mut named = Vec::new();
    for at in 0..tasks {
        let mut task = NamedTask::new(at.to_string(), profile(family, platform, extent, rng));
        task.task.needs = needs(family, rng);
        named.push(task);
    }
    let pairs = (0..tasks as u32).flat_map(|to| (0..to).map(move |from| (from, to)));
    let chosen: Vec<(u32, u32)> = pairs.filter(|_| rng.random_bool(0.6)).collect();
    // A payload takes time only between distinct nodes.
    let mut payload = || match (family, rng.random_range(0..2)) {
        (Family::Graphs, 0) => Payload::Fixed(Time::from_ticks(rng.random_range(0..=4) * extent.unit)),
        _ => Payload::Bytes(0),
    };
    let edges = chosen.into_iter().map(|(from, to)| Edge { from, to, payload: payload() }).collect();
    Graph::new(named, edges).ok()
}
