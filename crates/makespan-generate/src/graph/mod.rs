//! Generates task graphs, with random structures and with the shapes of known workflows.

mod deadline;
mod drawn;
mod law;
mod random;
mod shape;
#[cfg(test)]
mod tests;
mod tiles;
mod workflow;

use makespan_core::{
    Edge, Graph, GraphError, Instance, Job, Link, NamedTask, Node, Payload, Platform, PlatformError, Profile, Time,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub use law::Law;
pub use shape::Shape;

use crate::GenerateError;

/// Maximum total number of tasks of all jobs.
const MAX_TASKS: usize = 1_000_000;
/// Maximum total number of edges of all jobs. An estimate of the number of edges is compared with this maximum before
/// the edges are drawn.
const MAX_EDGES: f64 = 1e7;

/// Options for compound jobs, on nodes that are fully connected.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphOptions {
    /// Structure of the graphs.
    pub shape: Shape,
    /// Number of tasks of each job. If no graph of the shape has this number of tasks, each job has the next smaller
    /// number for which there is a graph. A job has at least one task of each kind.
    pub tasks: usize,
    /// Number of jobs.
    pub jobs: usize,
    /// Range of the volume of a task, in seconds on a processor of speed 1. Volumes are uniform on this range. In a
    /// workflow, the drawn volume of a task is multiplied by the share of its kind.
    pub volume: (f64, f64),
    /// Range of the data of an edge, in bytes. Amounts of data are uniform on this range.
    pub data: (u64, u64),
    /// Maximum number of processors of a task. If the maximum is 1, tasks are sequential.
    pub parallel: u32,
    /// Speed-up law of the tasks.
    pub law: Law,
    /// Number of nodes.
    pub processors: usize,
    /// Processors of each node.
    pub cores: u32,
    /// Maximum speed of a node. Speeds are drawn uniformly from 1 to this value.
    pub fastest: f64,
    /// Bandwidth between each pair of nodes, in bytes per second.
    pub bandwidth: f64,
    /// Mean time between two consecutive releases, in seconds. The times are drawn from an exponential distribution.
    /// With `None`, all jobs are released at 0.
    pub gap: Option<f64>,
    /// Time from the release to the deadline of each job, as a multiple of the makespan of HEFT's schedule for this
    /// job alone on the platform. With `None`, there are no deadlines.
    pub deadline: Option<f64>,
    /// Seed; the same seed gives the same instance.
    pub seed: u64,
}

impl Default for GraphOptions {
    /// Returns options for one layered graph of 50 tasks on 8 processors. A task takes 10 to 100 s at speed 1, and an
    /// edge has 1 to 20 MB of data. Processors have speeds from 1 to 3, and the bandwidth between them is 1 MB/s.
    fn default() -> Self {
        Self {
            shape: Shape::Layers { width: 8, density: 0.3 },
            tasks: 50,
            jobs: 1,
            volume: (10.0, 100.0),
            data: (1_000_000, 20_000_000),
            parallel: 1,
            law: Law::Downey,
            processors: 8,
            cores: 1,
            fastest: 3.0,
            bandwidth: 1e6,
            gap: None,
            deadline: None,
            seed: 1,
        }
    }
}

/// Generates an instance. For a given seed, job 7 does not depend on the number of jobs.
///
/// # Errors
/// [`GenerateError`] if an option is out of its range.
pub fn generate_graphs(options: &GraphOptions) -> Result<Instance, GenerateError> {
    check(options)?;
    let platform = platform(options).map_err(|error| GenerateError::Option {
        name: "platform",
        value: error.to_string(),
        expected: "give valid numbers of processors, valid speeds and a valid bandwidth",
    })?;
    let digits = options.jobs.saturating_sub(1).to_string().len();
    let mut release = 0.0;
    let mut jobs = Vec::with_capacity(options.jobs);
    for index in 0..options.jobs {
        let mut random = ChaCha8Rng::seed_from_u64(options.seed);
        random.set_stream(index as u64 + 1);
        let name = format!("j{index:0digits$}");
        let graph = graph(options, &mut random).map_err(|error| GenerateError::Option {
            name: "graph",
            value: error.to_string(),
            expected: "no valid graph of this shape was drawn, which is a defect of Makespan; please report it",
        })?;
        let gap = options.gap.map_or(0.0, |gap| -gap * (1.0 - random.random::<f64>()).ln());
        let at = Time::from_seconds_f64(release).map_err(|_| out_of_range("gap", options.gap.unwrap_or_default()))?;
        release += gap;
        jobs.push(Job::compound(name, graph).with_release(at));
    }
    if let Some(factor) = options.deadline {
        jobs.iter_mut().try_for_each(|job| deadline::state(&platform, job, factor))?;
    }
    Ok(Instance::new(platform, jobs, Vec::new())?)
}

fn check(options: &GraphOptions) -> Result<(), GenerateError> {
    let tasks = options.tasks.saturating_mul(options.jobs);
    if tasks == 0 || tasks > MAX_TASKS {
        let expected = "there must be at least 1 job and 1 task, and at most 1000000 tasks in all jobs together";
        return Err(GenerateError::Option { name: "number of tasks", value: tasks.to_string(), expected });
    }
    if options.processors == 0 || options.processors > 100_000 {
        let expected = "it must be from 1 to 100000";
        return Err(GenerateError::Option { name: "processors", value: options.processors.to_string(), expected });
    }
    for (name, value) in [("cores", options.cores), ("parallel", options.parallel)] {
        if value == 0 || value > 10_000 {
            let expected = "it must be from 1 to 10000";
            return Err(GenerateError::Option { name, value: value.to_string(), expected });
        }
    }
    if let Shape::Layers { width, density } = options.shape
        && (width == 0 || !(0.0..=1.0).contains(&density))
    {
        return Err(out_of_range("density", density));
    }
    if let Shape::Layers { width, density } = options.shape
        && tasks as f64 * width.min(options.tasks) as f64 * density > MAX_EDGES
    {
        let expected = "tasks times width times density, about twice the number of edges, must be at most 10000000";
        return Err(GenerateError::Option { name: "width", value: width.to_string(), expected });
    }
    let (volume, fastest) = (options.volume, options.fastest);
    let positive = |value: f64| value.is_finite() && value > 0.0 && value < 1e9;
    if !positive(volume.0) || !positive(volume.1) || volume.0 > volume.1 {
        return Err(out_of_range("volume", volume.0));
    }
    if options.data.0 > options.data.1 || options.data.1 > 1_000_000_000_000_000 {
        return Err(out_of_range("data", options.data.1 as f64));
    }
    if !fastest.is_finite() || fastest < 1.0 {
        return Err(out_of_range("fastest speed", fastest));
    }
    if let Some(factor) = options.deadline.filter(|&factor| !positive(factor)) {
        let expected = "it must be a positive multiple of HEFT's makespan, such as 1.5";
        return Err(GenerateError::Option { name: "deadline", value: factor.to_string(), expected });
    }
    match options.gap {
        Some(gap) if !positive(gap) => Err(out_of_range("gap", gap)),
        _ => Ok(()),
    }
}

fn out_of_range(name: &'static str, value: f64) -> GenerateError {
    let expected = "volumes and gaps must be positive and ranges ascending, the fastest speed at least 1, a density from 0 \
                    to 1, and a width at least 1";
    GenerateError::Option { name, value: value.to_string(), expected }
}

fn platform(options: &GraphOptions) -> Result<Platform, PlatformError> {
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let mut node = |index: usize| {
        // Speeds are rounded to two decimal places, so that they have few digits in files.
        let speed = (random.random_range(1.0..=options.fastest) * 100.0).round() / 100.0;
        Node { speed, ..Node::new(format!("n{index}"), options.cores) }
    };
    let nodes = (0..options.processors).map(&mut node).collect();
    Platform::new(nodes)?.with_interconnect(Link { bandwidth: options.bandwidth, latency: Time::ZERO })
}

fn graph(options: &GraphOptions, random: &mut ChaCha8Rng) -> Result<Graph, GraphError> {
    let drawn = options.shape.draw(options.tasks, random);
    let digits = drawn.shares.len().saturating_sub(1).to_string().len();
    let task = |(index, &(kind, share)): (usize, &(&str, f64))| {
        let volume = share * random.random_range(options.volume.0..=options.volume.1);
        // Times are rounded to milliseconds, so that files can state them exactly.
        let time = Time::from_ticks(((volume * 1e3).round().max(1.0) as i64) * 1_000_000);
        let profile = match options.parallel {
            1 => Profile::rigid(1, time),
            most => Profile::law(time, options.law.draw(most, random), 1, most),
        };
        NamedTask::new(format!("{kind}{index:0digits$}"), profile.expect("times are at least a millisecond"))
    };
    let tasks: Vec<NamedTask> = drawn.shares.iter().enumerate().map(task).collect();
    let edge = |&(from, to): &(u32, u32)| {
        let bytes = random.random_range(options.data.0..=options.data.1);
        Edge { from, to, payload: Payload::Bytes(bytes) }
    };
    Graph::new(tasks, drawn.edges.iter().map(edge).collect())
}
