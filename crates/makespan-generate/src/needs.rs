//! Adds requests for memory and GPUs to generated instances.

use makespan_core::{Graph, Instance, Job, NamedTask, Need, Needs, Node, Platform, Resource, Resources, Task, Work};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::GenerateError;

/// Minimum and maximum memory that a task requests per processor, as multiples of a node's memory per processor.
const MEMORY: (f64, f64) = (1.0 / 16.0, 2.0);
/// Probability that a task needs GPUs.
const GPU_TASKS: f64 = 0.25;
/// Granularity of memory requests, in bytes: 1 MiB.
const STEP: u64 = 1 << 20;
/// Number of the first random stream from which needs are drawn. Run times of jobs are drawn from streams with lower
/// numbers.
const STREAMS: u64 = 1 << 62;
/// Options for memory and GPUs of the nodes, and for the requests of tasks.
///
/// *Memory.* Each node has `memory` bytes for each of its processors. A task requests, for each processor that it uses,
/// this amount multiplied by a factor. The factor is log-uniform on [1/16, 2]. Half of the moldable tasks request a
/// fixed total instead. The total is the amount for one processor, multiplied by a factor that is log-uniform on [1,
/// maximum number of processors]. Requests for more memory than the nodes have are reduced.
///
/// *GPUs.* GPUs are distributed over the nodes in turn. A quarter of the tasks request GPUs. The requested number is a
/// power of two, at most the largest number of GPUs of any node. All powers of two up to this limit are equally
/// probable.
///
/// These distributions are our choice, because published workload models describe only requests for processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NeedsOptions {
    /// Memory of a node for each of its processors, in bytes. With `None`, no memory is added.
    pub memory: Option<u64>,
    /// Total number of GPUs of all nodes. With `None`, no GPUs are added.
    pub gpus: Option<u32>,
}

/// Returns the instance with resources added to the nodes and requests added to the tasks. For a given seed, the
/// requests of job 7 do not depend on the number of jobs.
///
/// # Errors
/// [`GenerateError`] if an amount is too large.
pub fn with_needs(instance: Instance, options: NeedsOptions, seed: u64) -> Result<Instance, GenerateError> {
    if options == NeedsOptions::default() {
        return Ok(instance);
    }
    if options.memory.is_some_and(|memory| memory < STEP) {
        let expected = "it must be at least 1 MiB for each processor";
        return Err(GenerateError::Option { name: "memory", value: options.memory.unwrap_or(0).to_string(), expected });
    }
    let platform = equipped(instance.platform(), options)?;
    let most = Most::of(&platform, options);
    let each = |(at, job): (usize, Job)| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(STREAMS + at as u64);
        needy(job, |task| most.needs(task, &mut random))
    };
    let jobs = instance.all_submitted().into_iter().enumerate().map(each).collect::<Result<_, GenerateError>>()?;
    Ok(Instance::new(platform, jobs, instance.unavailable().to_vec())?)
}

fn needy(mut job: Job, mut needs: impl FnMut(&Task) -> Result<Needs, GenerateError>) -> Result<Job, GenerateError> {
    job.work = match job.work {
        Work::Task(task) => Work::Task(Task { needs: needs(&task)?, ..task }),
        Work::Bag(task, count) => Work::Bag(Task { needs: needs(&task)?, ..task }, count),
        Work::Graph(graph) => {
            let each = |NamedTask { name, task }: NamedTask| {
                Ok(NamedTask { name, task: Task { needs: needs(&task)?, ..task } })
            };
            let tasks = graph.tasks().iter().cloned().map(each).collect::<Result<_, GenerateError>>()?;
            Work::Graph(Graph::new(tasks, graph.edges().to_vec()).map_err(|error| refused(error.to_string()))?)
        }
    };
    Ok(job)
}

/// Returns the platform with these resources added to its nodes.
fn equipped(platform: &Platform, options: NeedsOptions) -> Result<Platform, GenerateError> {
    let nodes = platform.nodes();
    let computing = nodes.iter().filter(|node| node.processors > 0).count().max(1) as u32;
    let gpus = options.gpus.unwrap_or(0);
    let mut dealt = 0;
    let mut resources = |node: &Node| {
        let memory = options.memory.map(|each| (Resource::MEMORY, each.saturating_mul(node.processors.into())));
        let own = gpus / computing + u32::from(dealt < gpus % computing);
        dealt += u32::from(node.processors > 0);
        let gpus = options.gpus.map(|_| (Resource::GPUS, if node.processors > 0 { own.into() } else { 0 }));
        Resources::new(memory.into_iter().chain(gpus)).map_err(|error| refused(error.to_string()))
    };
    if platform.node_count() == 1 {
        let resources = resources(&nodes[0])?;
        return platform.clone().with_node_resources(&resources).map_err(|error| refused(error.to_string()));
    }
    let nodes = nodes.iter().map(|node| Ok(Node { resources: resources(node)?, ..node.clone() }));
    let nodes = nodes.collect::<Result<Vec<Node>, GenerateError>>()?;
    let joined = |equipped: Platform| match platform.interconnect() {
        Some(link) => equipped.with_interconnect(link),
        None => Ok(equipped),
    };
    Platform::new(nodes).and_then(joined).map_err(|error| refused(error.to_string()))
}

fn refused(problem: String) -> GenerateError {
    let expected = "give valid amounts of memory and GPUs";
    GenerateError::Option { name: "resources", value: problem, expected }
}

/// The largest amounts that a platform has. Generated requests do not exceed these amounts.
struct Most {
    /// Memory of a node for each of its processors, in bytes.
    memory: Option<u64>,
    gpus: bool,
    /// Number of GPUs of the node with the most GPUs.
    gpus_of_node: u32,
    /// Number of processors of the node with the most processors.
    node: u32,
    processors: u32,
}

impl Most {
    fn of(platform: &Platform, options: NeedsOptions) -> Self {
        let of_node = platform.nodes().iter().map(|node| node.resources.amount(Resource::GPUS)).max().unwrap_or(0);
        Self {
            memory: options.memory,
            gpus: options.gpus.is_some(),
            gpus_of_node: u32::try_from(of_node).unwrap_or(u32::MAX),
            node: platform.nodes().iter().map(|node| node.processors).max().unwrap_or(1),
            processors: platform.processors(),
        }
    }

    /// Draws the requests of a task. The number of random values that this function draws is constant, so the requests
    /// of one task do not depend on the kinds of other tasks.
    fn needs(&self, task: &Task, random: &mut impl Rng) -> Result<Needs, GenerateError> {
        let (factor, whole, width): (f64, f64, f64) = (random.random(), random.random(), random.random());
        let (asks, power): (f64, f64) = (random.random(), random.random());
        let memory = self.memory.map(|memory| (Resource::MEMORY, self.memory(memory, task, [factor, whole, width])));
        let powers = f64::from(self.gpus_of_node.max(1).ilog2() + 1);
        let gpus = 1_u64 << ((power * powers) as u32).min(30);
        let gpus =
            (self.gpus && self.gpus_of_node > 0 && asks < GPU_TASKS).then(|| (Resource::GPUS, Need::whole(gpus)));
        Needs::new(memory.into_iter().chain(gpus)).map_err(|error| refused(error.to_string()))
    }

    /// Returns the memory request of a task. `memory` is a node's memory for one processor, and `figures` are random
    /// values, uniform on [0, 1).
    fn memory(&self, memory: u64, task: &Task, figures: [f64; 3]) -> Need {
        let [factor, whole, width] = figures;
        let each = memory as f64 * MEMORY.0 * (MEMORY.1 / MEMORY.0).powf(factor);
        let steps = |bytes: f64, most: u64| {
            let bytes = (bytes as u64).next_multiple_of(STEP);
            bytes.min(most).max(1)
        };
        let fewest = task.profile.min_processors();
        let most = task.profile.max_processors().min(self.processors);
        // The limit is the memory that nodes have for all processors of the task, but at least the whole memory of the
        // largest node.
        if most > fewest && whole < 0.5 {
            let width = f64::from(most).powf(width);
            return Need::whole(steps(each * width, memory.saturating_mul(most.max(self.node).into())));
        }
        let share = if fewest <= self.node {
            memory.saturating_mul(self.node.into()) / u64::from(fewest.max(1))
        } else {
            memory
        };
        Need::per_processor(steps(each, share))
    }
}

#[cfg(test)]
mod tests {
    use makespan_core::TaskId;

    use super::*;
    use crate::{Family, GraphOptions, MoldableOptions, generate, generate_graphs};

    const SOME: NeedsOptions = NeedsOptions { memory: Some(4 << 30), gpus: Some(6) };

    fn moldable(jobs: usize, options: NeedsOptions) -> Instance {
        let family = Family::Weak;
        let drawn = MoldableOptions { family, jobs, processors: 16, seed: 3, arrival_rate: None };
        with_needs(generate(&drawn).unwrap(), options, 3).unwrap()
    }

    #[test]
    fn needs_are_drawn_as_documented() {
        let instance = moldable(1000, SOME);
        let platform = instance.platform();
        let amount = |name| platform.total(platform.resource(name).unwrap());
        assert_eq!((amount("memory"), amount("gpus")), (64 << 30, 6));
        let needs = |name: &str| -> Vec<Need> {
            instance.task_ids().filter_map(|task| instance.task(task).needs.of(name).cloned()).collect()
        };
        let whole = needs("memory").iter().filter(|need| matches!(need, Need::Linear { per_processor: 0, .. })).count();
        assert!((450..550).contains(&whole), "{whole}");
        assert!(needs("memory").iter().all(|need| (256 << 20..=64 << 30).contains(&need.total(1))));
        let gpus = needs("gpus");
        assert!((200..300).contains(&gpus.len()), "{}", gpus.len());
        for count in [1, 2, 4] {
            let share = gpus.iter().filter(|need| **need == Need::whole(count)).count() as f64 / gpus.len() as f64;
            assert!((0.23..0.43).contains(&share), "{count}: {share}");
        }
        let few = moldable(5, SOME);
        assert!((0..5).all(|task| few.task(TaskId(task)).needs == instance.task(TaskId(task)).needs));
        let without = moldable(5, NeedsOptions::default());
        assert!((0..5).all(|task| without.profile(TaskId(task)).min_processors() == 1));
        assert!(without.task(TaskId(0)).needs.is_empty());
    }

    #[test]
    fn nodes_of_graphs_get_theirs_in_turn() {
        let graphs = |processors| {
            let drawn = GraphOptions { processors, jobs: 3, ..GraphOptions::default() };
            with_needs(generate_graphs(&drawn).unwrap(), SOME, 1).unwrap()
        };
        let instance = graphs(4);
        let gpus: Vec<u64> = instance.platform().nodes().iter().map(|node| node.resources.amount("gpus")).collect();
        assert_eq!(gpus, [2, 2, 1, 1]);
        assert!(instance.platform().interconnect().is_some());
        assert!(instance.task_ids().any(|task| instance.task(task).needs.of("gpus").is_some()));
        assert_eq!(graphs(8).platform().nodes()[6].resources.amount("gpus"), 0);
    }
}
