//! The instances and the objectives that a complete search supports.

use makespan_core::{Instance, Objective, ResourceKind};
use makespan_verify::proof::Refutation;

use super::limits::MAX_JOBS;
use super::machines;
use super::unproved::Unproved;

/// Maximum number of tasks. The first number is for instances without edges between tasks, the second for instances
/// with edges.
const MAX_TASKS: (u64, u64) = (60, 150);
/// Maximum number of tasks if modes are classes of machines. With more tasks, the search seldom succeeds, and
/// takes time from the search for a good plan.
const MAX_TASKS_ON_CLASSES: u64 = 40;
/// Maximum number of tasks if processors differ and transfers between nodes take time.
const MAX_TASKS_WITH_TRANSFERS: u64 = 20;

/// Maximum number of nodes if processors differ. The certificate has a larger limit.
const MAX_NODES: usize = 1 << 10;

/// Returns the reason why a complete search cannot examine an objective of an instance, or `None` if the search
/// supports both.
pub fn unsupported(instance: &Instance, objective: Objective) -> Option<Unproved> {
    if let Some(base) = objective.base() {
        return unsupported(instance, base);
    }
    if objective.needs_penalties() {
        let too_many = || Unproved::TooManyTasks(MAX_JOBS as u64);
        let is_small = instance.jobs().len() <= MAX_JOBS;
        return if is_small { unsupported(instance, Objective::MaxTardiness) } else { Some(too_many()) };
    }
    let most = match instance.edges() {
        _ if !instance.has_equal_processors() && instance.has_transfers() => MAX_TASKS_WITH_TRANSFERS,
        _ if machines::are_classes(instance) => MAX_TASKS_ON_CLASSES,
        [] => MAX_TASKS.0,
        _ => MAX_TASKS.1,
    };
    if !(1..=most).contains(&instance.tasks()) {
        return Some(Unproved::TooManyTasks(most));
    }
    let feature = if !Objective::OF_TIME.contains(&objective) {
        format!("the objective {objective}")
    } else if instance.has_setups() {
        "setup times".to_owned()
    } else if instance.has_gangs() {
        "tasks that start together".to_owned()
    } else if instance.has_lags() {
        "time lags".to_owned()
    } else if instance.platform().is_tree() {
        "trees of machines".to_owned()
    } else if !instance.has_equal_processors() && !machines::has_sequential_tasks(instance) {
        "tasks on several processors of a platform with processors that differ".to_owned()
    } else if !instance.has_equal_processors() && instance.platform().node_count() > MAX_NODES {
        format!("more than {MAX_NODES} nodes with processors that differ")
    } else {
        return None;
    };
    Some(Unproved::feature(feature))
}

/// Returns the conditions of the instance that the relaxed problem ignores or simplifies.
pub(super) fn ignored(instance: &Instance, objective: Objective) -> Vec<&'static str> {
    let platform = instance.platform();
    let has = |kind: ResourceKind| {
        let mut needed = instance.distinct_demands().flatten();
        needed.any(|demand| platform.resource_of(demand.resource).kind == kind)
    };
    let has_nodes = platform.node_count() > 1;
    let has_parts = instance.has_bags() || instance.has_compound_jobs();
    let conditions = [
        ("the rule that a job ends with its last task", has_parts && Refutation::is_sum(objective)),
        ("deadlines that must be kept", instance.has_hard_deadlines()),
        ("the nodes on which tasks need resources", has_nodes && has(ResourceKind::OfNodes)),
        ("transfers between nodes", has_nodes && instance.has_transfers() && !machines::are_classes(instance)),
        ("the placement of jobs on nodes", platform.restricts_placement()),
        ("which of the processors are unavailable", !instance.unavailable().is_empty()),
    ];
    conditions.into_iter().filter(|condition| condition.1).map(|condition| condition.0).collect()
}

#[cfg(test)]
mod tests {
    use makespan_core::{
        Edge, Graph, Job, Link, NamedTask, Node, Payload, Platform, ProcSet, Profile, Time, Unavailable,
    };

    use super::*;

    #[test]
    fn fewer_tasks_are_supported_if_transfers_take_time_and_nodes_differ() {
        let graph = |count: usize| {
            let job = |number: usize| Job::new(number.to_string(), Profile::rigid(1, Time::from_seconds(1)).unwrap());
            let task = |number: usize| NamedTask {
                name: number.to_string().into(),
                task: job(number).work.task().unwrap().clone(),
            };
            let edge = Edge { from: 0, to: 1, payload: Payload::Fixed(Time::from_seconds(1)) };
            Job::compound("graph", Graph::new((0..count).map(task).collect(), vec![edge]).unwrap())
        };
        let reason = |speed: f64, count| {
            let nodes = vec![Node::new("a", 1), Node { speed, ..Node::new("b", 1) }];
            let link = Link { bandwidth: 1e9, latency: Time::ZERO };
            let platform = Platform::new(nodes).unwrap().with_interconnect(link).unwrap();
            unsupported(&Instance::new(platform, vec![graph(count)], vec![]).unwrap(), Objective::Makespan)
        };
        assert_eq!(reason(2.0, 20), None);
        assert_eq!(reason(2.0, 21), Some(Unproved::TooManyTasks(20)));
        assert_eq!(reason(1.0, 40), None);
    }

    #[test]
    fn features_of_the_instance_are_named() {
        let job = |number: u32| Job::new(number.to_string(), Profile::rigid(1, Time::from_seconds(1)).unwrap());
        let instance =
            |platform: Platform, count| Instance::new(platform, (0..count).map(job).collect(), vec![]).unwrap();
        let reason = |instance: &Instance, objective| unsupported(instance, objective);
        let flat = instance(Platform::flat(2).unwrap(), 60);
        assert_eq!(reason(&flat, Objective::Makespan), None);
        assert_eq!(reason(&flat, Objective::Cost), Some(Unproved::feature("the objective cost")));
        let large = instance(Platform::flat(2).unwrap(), 61);
        assert_eq!(reason(&large, Objective::Makespan), Some(Unproved::TooManyTasks(60)));
        let link = Link { bandwidth: 1.0, latency: Time::ZERO };
        let child = Node { parent: Some(0), link: Some(link), ..Node::new("b", 1) };
        let tree = instance(Platform::new(vec![Node::new("a", 1), child]).unwrap(), 2);
        assert_eq!(reason(&tree, Objective::Makespan), Some(Unproved::feature("trees of machines")));
        let fast = Platform::new(vec![Node::new("a", 2), Node { speed: 2.0, ..Node::new("b", 2) }]).unwrap();
        assert_eq!(reason(&instance(fast.clone(), 2), Objective::Makespan), None);
        let wide = Job::new("a", Profile::rigid(2, Time::from_seconds(1)).unwrap());
        let wide = Instance::new(fast, vec![wide], vec![]).unwrap();
        let feature = "tasks on several processors of a platform with processors that differ";
        assert_eq!(reason(&wide, Objective::Makespan), Some(Unproved::feature(feature)));
        let closed = Unavailable { processors: ProcSet::first(1), start: Time::ZERO, end: Time::from_seconds(1) };
        let platform = Platform::cluster(2, 2).unwrap().requiring_compact();
        let bag = job(0).with_count(2.try_into().unwrap());
        let instance = Instance::new(platform, vec![bag], vec![closed]).unwrap();
        let both = ["the placement of jobs on nodes", "which of the processors are unavailable"];
        assert_eq!(ignored(&instance, Objective::Makespan), both);
        let hard =
            Instance::new(Platform::flat(1).unwrap(), vec![job(0).with_must_end_by(Time::from_seconds(9))], vec![]);
        assert_eq!(ignored(&hard.unwrap(), Objective::Makespan), ["deadlines that must be kept"]);
        assert_eq!(ignored(&instance, Objective::MeanFlow)[0], "the rule that a job ends with its last task");
    }
}
