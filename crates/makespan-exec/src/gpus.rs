//! Assigns GPUs to tasks.

use std::collections::{BTreeMap, BTreeSet};

use makespan_core::{Instance, ProcSet, ResourceId, ResourceKind, TaskId};

use crate::resources::gpus_of;

/// The GPUs that running tasks hold. GPUs are numbered across the nodes of the platform in order, like processors.
#[derive(Debug)]
pub(crate) struct Gpus {
    resource: ResourceId,
    /// The number of the first GPU of each node.
    firsts: Vec<u64>,
    held: BTreeMap<TaskId, Vec<u64>>,
    taken: BTreeSet<u64>,
}

impl Gpus {
    /// Creates the state in which all GPUs are free. Returns `None` if the platform states no GPUs.
    pub fn new(instance: &Instance) -> Option<Self> {
        let platform = instance.platform();
        let resource = gpus_of(platform)?;
        let firsts = platform.nodes().iter().enumerate().scan(0_u64, |next, (at, node)| {
            let first = *next;
            // Only nodes with processors are counted, because switches run no tasks.
            let own = if node.processors > 0 { platform.amount(at, resource) } else { 0 };
            *next = next.saturating_add(own);
            Some(first)
        });
        let firsts = firsts.collect();
        Some(Self { resource, firsts, held: BTreeMap::new(), taken: BTreeSet::new() })
    }

    /// Assigns GPUs to a task that starts on these processors. The cluster has already checked that enough GPUs are
    /// free.
    pub fn take(&mut self, instance: &Instance, task: TaskId, processors: &ProcSet) {
        let Some(demand) = instance.demands(task).iter().find(|demand| demand.resource == self.resource) else {
            return;
        };
        let allotment = processors.len();
        let mut own = Vec::new();
        if demand.kind == ResourceKind::OfNodes {
            for (node, here) in instance.platform().parts(processors) {
                own.extend(self.free(self.firsts[node], demand.need.share(here, allotment)));
            }
        } else {
            own.extend(self.free(0, demand.need.total(allotment)));
        }
        self.taken.extend(&own);
        self.held.insert(task, own);
    }

    /// Returns the first `count` free GPUs with a number of at least `first`.
    fn free(&self, first: u64, count: u64) -> impl Iterator<Item = u64> {
        (first..).filter(|number| !self.taken.contains(number)).take(count as usize)
    }

    /// Releases the GPUs of a task that has ended.
    pub fn give_back(&mut self, task: TaskId) {
        for number in self.held.remove(&task).into_iter().flatten() {
            self.taken.remove(&number);
        }
    }

    /// Returns the GPUs of a task in order.
    pub fn of(&self, task: TaskId) -> &[u64] {
        self.held.get(&task).map_or(&[], Vec::as_slice)
    }

    /// Marks these GPUs as held by a task.
    pub fn hold(&mut self, task: TaskId, numbers: Vec<u64>) {
        self.taken.extend(&numbers);
        self.held.insert(task, numbers);
    }
}

/// Returns the names of GPUs on a machine. `own` contains the names of the machine's own GPUs. GPU `g` is the `g`-th
/// GPU that this process may use. If the machine has fewer GPUs than the platform states, several numbers denote the
/// same GPU. If the GPUs of the machine are unknown, the names are the numbers.
pub(crate) fn called(numbers: &[u64], own: Option<&[String]>) -> Vec<String> {
    let mut names = Vec::new();
    for &number in numbers {
        let name = match own {
            None => number.to_string(),
            Some([]) => continue,
            Some(own) => own[(number % own.len() as u64) as usize].clone(),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use makespan_core::{Job, Need, Needs, Node, Platform, Profile, Resources, Time};

    fn resources(gpus: u64) -> Resources {
        Resources::new([("gpus", gpus)]).unwrap()
    }

    fn job(name: &str, processors: u32, need: Need) -> Job {
        let profile = Profile::rigid(processors, Time::from_seconds(1)).unwrap();
        Job::new(name, profile).with_needs(Needs::new([("gpus", need)]).unwrap())
    }

    /// Returns three nodes: a node with two processors and three GPUs, a switch, and a node with two processors and
    /// two GPUs.
    fn nodes() -> Platform {
        let node = |name: &str, processors, gpus| Node { resources: resources(gpus), ..Node::new(name, processors) };
        Platform::new(vec![node("a", 2, 3), node("switch", 0, 9), node("b", 2, 2)]).unwrap()
    }

    fn taken(instance: &Instance, gpus: &mut Gpus, task: u64, processors: &str) -> String {
        gpus.take(instance, TaskId(task), &processors.parse().unwrap());
        called(gpus.of(TaskId(task)), None).join(",")
    }

    #[test]
    fn each_node_has_its_own_and_no_two_tasks_share_one() {
        let (one, each) = (Need::whole(1), Need::per_processor(1));
        let jobs = vec![job("a", 1, one.clone()), job("b", 2, each), job("c", 1, one.clone()), job("d", 1, one)];
        let plain = Job::new("e", Profile::rigid(1, Time::from_seconds(1)).unwrap());
        let instance = Instance::new(nodes(), jobs.into_iter().chain([plain]).collect(), vec![]).unwrap();
        let mut gpus = Gpus::new(&instance).unwrap();
        let mut take = |task, processors: &str| taken(&instance, &mut gpus, task, processors);
        assert_eq!((take(0, "0"), take(1, "1-2")), ("0".into(), "1,3".into()));
        assert_eq!((take(2, "3"), take(4, "1")), ("4".into(), String::new()));
        gpus.give_back(TaskId(0));
        assert_eq!((taken(&instance, &mut gpus, 3, "0"), gpus.of(TaskId(0)).len()), ("0".into(), 0));
    }

    #[test]
    fn programs_know_them_by_the_names_of_the_machine() {
        let jobs = || vec![job("a", 1, Need::whole(2)), job("b", 1, Need::whole(2))];
        let platform = || Platform::flat(2).unwrap();
        let of_node = platform().with_node_resources(&resources(4)).unwrap();
        let licences = platform().with_licences(resources(4)).unwrap();
        for platform in [of_node, licences] {
            let instance = Instance::new(platform, jobs(), vec![]).unwrap();
            let with = |names: &[&str]| {
                let mut gpus = Gpus::new(&instance).unwrap();
                let own: Vec<String> = names.iter().map(ToString::to_string).collect();
                [(0, "0"), (1, "1")].map(|(task, processors)| {
                    gpus.take(&instance, TaskId(task), &processors.parse().unwrap());
                    called(gpus.of(TaskId(task)), Some(&own)).join(",")
                })
            };
            assert_eq!(with(&["7", "GPU-5", "3", "2"]), ["7,GPU-5", "3,2"]);
            // The user has allowed a platform with more GPUs than the machine has.
            assert_eq!(with(&["7", "5", "3"]), ["7,5", "3,7"]);
            assert_eq!(with(&["7"]), ["7", "7"]);
            assert_eq!(with(&[]), ["", ""]);
        }
        let instance = Instance::new(platform(), vec![], vec![]).unwrap();
        assert!(Gpus::new(&instance).is_none());
    }
}
