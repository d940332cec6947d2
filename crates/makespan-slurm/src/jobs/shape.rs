//! The request of a task to Slurm.

use makespan_core::{Instance, ProcSet, Resource, ResourceKind, TaskId};

use crate::{Commands, Program};

/// The exact number of nodes of a task, and the exact number of processors on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeShape {
    /// Number of nodes.
    pub nodes: u32,
    /// Number of tasks in Slurm's sense. There is one per node, or one per processor if the nodes have different
    /// numbers of processors.
    pub tasks: u32,
    /// Processors per task.
    pub cpus: u32,
}

impl NodeShape {
    /// Returns the shape of a task that the plan places on the given processors. It has as few nodes as possible.
    ///
    /// ```
    /// use makespan_core::{Instance, Job, Platform, ProcSet, Profile, TaskId, Time};
    /// use makespan_slurm::jobs::NodeShape;
    ///
    /// let job = Job::new("a", Profile::rigid(8, Time::from_seconds(1))?);
    /// let instance = Instance::new(Platform::cluster(4, 4)?, vec![job], vec![])?;
    /// let shape = NodeShape::of(&instance, TaskId(0), &ProcSet::range(2, 9));
    /// assert_eq!(shape, NodeShape { nodes: 2, tasks: 2, cpus: 4 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(instance: &Instance, task: TaskId, processors: &ProcSet) -> Self {
        let (platform, allotment) = (instance.platform(), processors.len().max(1));
        let parts = platform.parts(processors);
        let room = |node: usize| platform.room_for(node, instance.demands(task), allotment);
        // The largest number of processors that the plan uses on one node.
        let most = parts.iter().map(|&(node, _)| room(node)).max().unwrap_or(1).max(1);
        let nodes = allotment.div_ceil(most).min(parts.len().max(1) as u32);
        if allotment % nodes == 0 {
            return Self { nodes, tasks: nodes, cpus: allotment / nodes };
        }
        Self { nodes, tasks: allotment, cpus: 1 }
    }

    /// Returns the maximum number of processors on one node.
    fn most(self) -> u32 {
        if self.tasks == self.nodes { self.cpus } else { (self.tasks - (self.nodes - 1)) * self.cpus }
    }

    /// Returns the shape as options of `sbatch`.
    fn options(self) -> Vec<String> {
        let Self { nodes, tasks, cpus } = self;
        let mut options =
            vec![format!("--nodes={nodes}"), format!("--ntasks={tasks}"), format!("--cpus-per-task={cpus}")];
        if tasks == nodes {
            options.push("--ntasks-per-node=1".into());
        }
        options
    }
}

/// Returns the options of `sbatch` for a task: its shape, memory per node, GPUs and other generic resources, and
/// licences. If the task would take longer on other nodes than in the plan, also names the nodes of the plan.
pub(super) fn needs(instance: &Instance, task: TaskId, processors: &ProcSet, memory: Option<u64>) -> Vec<String> {
    let (platform, shape, allotment) =
        (instance.platform(), NodeShape::of(instance, task, processors), processors.len().max(1));
    let mut options = shape.options();
    let here = shape.most().min(allotment);
    if let Some(bytes) = memory.filter(|&bytes| bytes > 0) {
        let part = (u128::from(bytes) * u128::from(here)).div_ceil(u128::from(allotment)).div_ceil(1024);
        options.push(format!("--mem={part}K"));
    }
    let (mut gres, mut licences) = (Vec::new(), Vec::new());
    for demand in instance.demands(task) {
        let resource = platform.resource_of(demand.resource);
        let name: &str = &resource.name;
        match resource.kind {
            _ if name == Resource::MEMORY => {}
            ResourceKind::OfNodes => {
                let name = if name == Resource::GPUS { "gpu" } else { name.strip_prefix("gres/").unwrap_or(name) };
                gres.push(format!("{name}:{}", demand.need.share(here, allotment)));
            }
            ResourceKind::Licence => licences.push(format!("{name}:{}", demand.need.total(allotment))),
            ResourceKind::Consumable => {}
        }
    }
    if !gres.is_empty() {
        options.push(format!("--gres={}", gres.join(",")));
    }
    if !licences.is_empty() {
        options.push(format!("--licenses={}", licences.join(",")));
    }
    // If all nodes are equally fast, Slurm may choose any nodes with these resources.
    if !platform.has_unit_speed() || instance.profile(task).machine_times().is_some() {
        let names: Vec<&str> =
            platform.parts(processors).iter().map(|&(node, _)| own_name(&platform.nodes()[node].name)).collect();
        if names.len() <= shape.nodes as usize {
            options.push(format!("--nodelist={}", names.join(",")));
        }
    }
    options
}

/// Returns the name of a node in its cluster. If there are several clusters, the name in the plan begins with the
/// position of the cluster and a colon.
pub fn own_name(node: &str) -> &str {
    node.rsplit(':').next().unwrap_or(node)
}

/// Margin in seconds that is added to the walltime of a job. The sum is the job's time limit in Slurm. With this
/// margin, the agent can end the task first.
const SLACK: u64 = 60;

/// Returns the time limit of a job for Slurm, in seconds: the walltime plus a margin, up to the maximum `most`.
pub fn limit_of(walltime: u64, grace: u64, most: Option<u64>) -> u64 {
    let limit = walltime.saturating_add(grace).saturating_add(SLACK);
    most.map_or(limit, |most| limit.min(most.max(walltime)))
}

/// Returns the reason why an instance cannot be expressed as Slurm jobs, with a remedy. Returns `None` if the instance
/// can be expressed.
///
/// # Errors
/// A message of Slurm.
pub fn inexpressible(instance: &Instance, commands: &Commands) -> Result<Option<String>, String> {
    let platform = instance.platform();
    if let Some((name, _)) = platform.consumables().iter().next() {
        return Ok(Some(format!(
            "jobs use up `{name}`, but Slurm cannot count consumables; remove this consumable, or run with --on slurm"
        )));
    }
    let mut licences = platform.licences().iter().map(|(name, _)| name).peekable();
    if licences.peek().is_none() {
        return Ok(None);
    }
    let printed = commands.run(Program::Scontrol, ["-o", "show", "licenses"]).map_err(|error| error.to_string())?;
    let known = |name: &str| printed.out.split_whitespace().any(|word| word.strip_prefix("LicenseName=") == Some(name));
    Ok(licences.find(|name| !known(name)).map(|name| {
        format!(
            "the licence `{name}` is unknown to Slurm (see `scontrol show licenses`); ask the administrators to \
             define the licence, or run with --on slurm"
        )
    }))
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, Need, Needs, Node, Platform, Profile, Resources, Time};

    use super::*;

    fn options(processors: &str, needs_of: &[(&str, Need)]) -> String {
        let node = |name: &str| {
            let resources = Resources::new([("gpus", 2), ("memory", 8 << 20)]).unwrap();
            Node { resources, ..Node::new(name, 4) }
        };
        let platform = Platform::new(["a", "b", "c"].map(node).to_vec()).unwrap();
        let processors: ProcSet = processors.parse().unwrap();
        let profile = Profile::rigid(processors.len(), Time::from_seconds(1)).unwrap();
        let job = Job::new("j", profile).with_needs(Needs::new(needs_of.iter().cloned()).unwrap());
        let instance = Instance::new(platform, vec![job], vec![]).unwrap();
        needs(&instance, TaskId(0), &processors, Some(3 << 20)).join(" ")
    }

    #[test]
    fn sizes_are_exact() {
        let one = "--nodes=1 --ntasks=1 --cpus-per-task=3 --ntasks-per-node=1 --mem=3072K";
        assert_eq!(options("3-5", &[]), one, "the tasks that the plan puts on two nodes are on one node");
        assert_eq!(options("0-7", &[]), "--nodes=2 --ntasks=2 --cpus-per-task=4 --ntasks-per-node=1 --mem=1536K");
        assert_eq!(options("0-6", &[]), "--nodes=2 --ntasks=7 --cpus-per-task=1 --mem=2634K");
        let gpus = [("gpus", Need::per_processor(1))];
        assert_eq!(
            options("0-1,4-5", &gpus),
            "--nodes=2 --ntasks=2 --cpus-per-task=2 --ntasks-per-node=1 --mem=1536K --gres=gpu:2"
        );
        assert_eq!((limit_of(10, 5, None), limit_of(10, 5, Some(30)), limit_of(10, 5, Some(5))), (75, 30, 10));
    }
}
