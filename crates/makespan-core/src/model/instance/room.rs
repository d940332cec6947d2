//! Removal of allotments for which the platform has too few resources.

use rustc_hash::FxHashMap;

use super::walltime::at_speed;
use super::{Instance, InstanceError, NoRoom};
use crate::model::{Demand, Need, Needs, Platform, Profile, ResourceId, ResourceKind, Task, TaskId, Time, amount_of};

/// The nodes with processors, grouped into classes of equal nodes. Computes whether a task fits on the nodes when no
/// other task runs.
#[derive(Clone, Debug)]
pub struct NodeClasses(Vec<Class>);

/// Nodes with equal numbers of processors, speeds and amounts of every resource.
#[derive(Clone, Debug)]
struct Class {
    /// The position of one node of the class.
    node: usize,
    processors: u32,
    speed: f64,
    count: u64,
}

/// The requirements of a task on the platform.
#[derive(Clone, Copy)]
struct TaskRequirements<'a> {
    profile: &'a Profile,
    demands: &'a [Demand],
    walltime: Option<Time>,
}

impl NodeClasses {
    /// Groups the nodes of a platform. Takes O(nodes).
    pub fn new(platform: &Platform) -> Self {
        let resources = (0..platform.node_resources()).map(|at| ResourceId(at as u16));
        let mut known: FxHashMap<(u32, u64, Vec<u64>), usize> = FxHashMap::default();
        let mut classes: Vec<Class> = Vec::new();
        for (at, (node, count)) in platform.kinds().enumerate().filter(|(_, (node, _))| node.processors > 0) {
            let amounts = resources.clone().map(|resource| platform.amount(at, resource)).collect();
            let class = *known.entry((node.processors, node.speed.to_bits(), amounts)).or_insert(classes.len());
            let count = count as u64;
            match classes.get_mut(class) {
                Some(class) => class.count += count,
                None => classes.push(Class { node: at, processors: node.processors, speed: node.speed, count }),
            }
        }
        classes.sort_by_key(|class| std::cmp::Reverse(class.processors));
        Self(classes)
    }

    /// Returns true if the empty platform has enough resources for a task on `processors` processors, on nodes that are
    /// fast enough for its walltime. Takes O(classes), or O(nodes) for a task with a time for each machine.
    pub fn have_room(&self, instance: &Instance, task: TaskId, processors: u32) -> bool {
        let (demands, walltime) = (instance.demands(task), instance.walltime(task));
        let wanted = TaskRequirements { profile: instance.profile(task), demands, walltime };
        self.fit(instance.platform(), wanted, processors)
    }

    fn fit(&self, platform: &Platform, wanted: TaskRequirements<'_>, processors: u32) -> bool {
        let TaskRequirements { profile, demands, walltime } = wanted;
        if !demands.iter().all(|demand| has_in_all(platform, demand, processors)) {
            return false;
        }
        if profile.machine_times().is_some() {
            let in_time = |time: Time| walltime.is_none_or(|walltime| time <= walltime);
            return (0..platform.node_count()).any(|node| {
                platform.time_on(profile, node).is_some_and(in_time) && platform.room_for(node, demands, 1) > 0
            });
        }
        if demands.is_empty() && walltime.is_none() {
            return processors <= platform.processors();
        }
        // The slowest node of the task determines its time. So the walltime only requires that each node on its own is
        // fast enough.
        let time = profile.time(processors);
        let is_fast = |class: &&Class| walltime.is_none_or(|walltime| at_speed(time, class.speed) <= walltime);
        let fast = self.0.iter().filter(is_fast);
        room_on(platform, fast, demands, processors) >= u64::from(processors)
    }
}

/// Returns true if the platform has enough of a resource that belongs to no node. Also returns true for resources of
/// nodes, which other functions check.
fn has_in_all(platform: &Platform, demand: &Demand, processors: u32) -> bool {
    demand.kind == ResourceKind::OfNodes || u128::from(demand.need.total(processors)) <= platform.total(demand.resource)
}

/// Returns the number of a task's processors that fit on these nodes if the largest nodes are used first. Obeys best
/// placement ([`Platform::requiring_compact`]) if the platform requires it.
fn room_on<'a>(
    platform: &Platform,
    classes: impl Iterator<Item = &'a Class>,
    demands: &[Demand],
    processors: u32,
) -> u64 {
    let room = |class: &Class| platform.room_for(class.node, demands, processors);
    if !platform.is_compact() {
        return classes.map(|class| u64::from(room(class)) * class.count).sum();
    }
    if processors <= platform.largest_node() {
        return classes.map(|class| u64::from(room(class))).max().unwrap_or(0);
    }
    let (mut rest, mut part, mut has_largest) = (processors, 0, false);
    for class in classes {
        let room = room(class);
        let most = if room == class.processors { u64::from(rest / class.processors).min(class.count) } else { 0 };
        rest -= most as u32 * class.processors;
        has_largest |= most > 0 && class.processors == platform.largest_node();
        // The number of processors that fit on a node of which the task holds only a part.
        part = part.max(if most < class.count { room } else { 0 });
    }
    if has_largest { u64::from(processors - rest) + u64::from(part.min(rest)) } else { u64::from(part) }
}

/// Removes from the profiles of tasks the allotments for which even an empty platform has too few resources.
pub(super) struct AllotmentFilter<'a> {
    platform: &'a Platform,
    /// The node classes. They are computed when they are first needed.
    classes: Option<NodeClasses>,
    demands: FxHashMap<Needs, Box<[Demand]>>,
}

impl<'a> AllotmentFilter<'a> {
    pub fn new(platform: &'a Platform) -> Self {
        Self { platform, classes: None, demands: FxHashMap::default() }
    }

    /// Removes allotments from a profile at both ends of its range, until the smallest and the largest allotment fit
    /// on the empty platform. Only nodes that are fast enough for the walltime are used. An allotment between these
    /// two may still not fit, because shares of nodes are rounded up.
    ///
    /// # Errors
    /// [`InstanceError`] names the resource that does not exist or is insufficient.
    pub fn left(
        &mut self,
        task: &Task,
        profile: Profile,
        walltime: Option<Time>,
        name: &impl Fn() -> String,
    ) -> Result<Profile, InstanceError> {
        let platform = self.platform;
        let needs = &task.needs;
        if !self.demands.contains_key(needs) {
            let unknown = |resource| unknown(platform, name(), resource);
            self.demands.insert(needs.clone(), platform.demands(needs).map_err(unknown)?);
        }
        let demands = &self.demands[needs];
        let classes = self.classes.get_or_insert_with(|| NodeClasses::new(platform));
        let wanted = TaskRequirements { profile: &profile, demands, walltime };
        let fits = |&processors: &u32| classes.fit(platform, wanted, processors);
        let (min, max) = (profile.min_processors(), profile.max_processors());
        let first = (min..=max).find(fits);
        let first = first.ok_or_else(|| TooLittle { platform, classes, wanted }.error(name()))?;
        // If a task needs a resource for each of its processors, the total amount of the resource limits the number of
        // processors.
        let each = |demand: &Demand| match demand.need {
            Need::Linear { per_processor, .. } if per_processor > 0 => {
                u32::try_from(platform.total(demand.resource) / u128::from(per_processor)).unwrap_or(max)
            }
            _ => max,
        };
        let most = demands.iter().map(each).fold(max, u32::min).max(first);
        let last = (first..=most).rev().find(fits).unwrap_or(first);
        let left = profile.at_least(first).and_then(|profile| profile.at_most(last));
        Ok(left.expect("the profile accepts both"))
    }
}

fn unknown(platform: &Platform, job: String, resource: String) -> InstanceError {
    let names: Vec<String> = platform.resources().iter().map(|one| format!("`{}`", one.name)).collect();
    let known = if names.is_empty() {
        "the platform states no resources: add `resources` to its nodes".to_owned()
    } else {
        format!("the resources of the platform are {}", names.join(", "))
    };
    InstanceError::UnknownResource { job, resource, known }
}

/// A task for which the platform has too few resources on every allotment.
struct TooLittle<'a> {
    platform: &'a Platform,
    classes: &'a NodeClasses,
    wanted: TaskRequirements<'a>,
}

impl TooLittle<'_> {
    /// Returns the error for the task. The message describes the smallest allotment that would have room without a
    /// walltime, or, if none would, the smallest allotment of the profile.
    fn error(&self, job: String) -> InstanceError {
        let Self { platform, classes, wanted } = *self;
        let demands = wanted.demands;
        let patient = TaskRequirements { walltime: None, ..wanted };
        let (min, max) = (wanted.profile.min_processors(), wanted.profile.max_processors());
        let slow = (min..=max).find(|&at| classes.fit(platform, patient, at));
        let processors = slow.unwrap_or(min);
        let short = |demand: &&Demand| {
            !classes.fit(platform, TaskRequirements { demands: std::slice::from_ref(*demand), ..patient }, processors)
        };
        let all = |there: &str| {
            let names: Vec<&str> = demands.iter().map(|demand| self.name(demand.resource)).collect();
            (names.join("` and `"), "the stated amount".to_owned(), there.to_owned())
        };
        let (resource, needs, there) = match demands.iter().find(short) {
            _ if slow.is_some() => all("the nodes with enough resources are too slow for the `walltime` of the job; \
                                        raise the walltime"),
            Some(demand) => {
                let name = self.name(demand.resource);
                let needs = amount_of(name, demand.need.total(processors));
                (name.to_owned(), needs, self.there(demand, processors))
            }
            None => {
                all("no nodes have enough of all these resources at once; lower a need, or raise the amounts of a node")
            }
        };
        let on = if processors == 1 { String::new() } else { format!(" on {processors} processors") };
        InstanceError::NoRoom(Box::new(NoRoom { job, resource, needs, on, there }))
    }

    /// Describes the insufficient amount of a resource and a remedy.
    fn there(&self, demand: &Demand, processors: u32) -> String {
        let Self { platform, classes, wanted } = *self;
        let total = platform.total(demand.resource);
        let amount = |amount: u128| amount_of(self.name(demand.resource), u64::try_from(amount).unwrap_or(u64::MAX));
        if demand.kind != ResourceKind::OfNodes {
            return format!("the platform has {}; lower the need, or raise the amount of the platform", amount(total));
        }
        let remedy = "lower the need, or raise the amount of a node";
        if u128::from(demand.need.total(processors)) > total {
            return format!("all nodes together have {}; {remedy}", amount(total));
        }
        if wanted.profile.machine_times().is_some() {
            return format!("no node on which the job can run has this amount; {remedy}");
        }
        let largest = classes.0.iter().map(|class| platform.amount(class.node, demand.resource)).max();
        let most = amount(largest.unwrap_or(0).into());
        if processors == 1 {
            return format!(
                "no node has more than {most}, and a processor can use only the amounts of its own node; {remedy}"
            );
        }
        let room = room_on(platform, classes.0.iter(), std::slice::from_ref(demand), processors);
        format!(
            "each node has at most {most}, so all nodes together have enough for only {room} of these processors; {remedy}"
        )
    }

    fn name(&self, resource: ResourceId) -> &str {
        &self.platform.resource_of(resource).name
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Instance, Job, Need, Needs, Node, Platform, Profile, Resources, TaskId, Time};

    /// Fits a job of 1 to `max` processors to a platform. Two nodes have 4 processors and 8 bytes of memory each, and
    /// one node has 2 processors and 20 bytes. There are 3 licences.
    fn fitted(max: u32, needs: &[(&str, Need)]) -> Result<(u32, u32), String> {
        let node = |name: &str, processors, memory| Node {
            resources: Resources::new([("memory", memory)]).unwrap(),
            ..Node::new(name, processors)
        };
        let platform = Platform::new(vec![node("a", 4, 8), node("b", 4, 8), node("c", 2, 20)]).unwrap();
        let platform = platform.with_licences(Resources::new([("solver", 3)]).unwrap()).unwrap();
        let times = (0..max).map(|at| Time::from_seconds(100 - i64::from(at))).collect();
        let needs = Needs::new(needs.iter().cloned()).unwrap();
        let job = Job::new("j", Profile::table(times).unwrap()).with_needs(needs);
        let instance = Instance::new(platform, vec![job], vec![]).map_err(|error| error.to_string())?;
        let profile = instance.profile(TaskId(0));
        Ok((profile.min_processors(), profile.max_processors()))
    }

    #[test]
    fn allotments_without_room_are_left_out() {
        assert_eq!(fitted(8, &[("memory", Need::whole(20))]), Ok((1, 8)));
        // The task fits on 4 processors, two of which are on the large node. It does not fit on any other number of
        // processors.
        assert_eq!(fitted(8, &[("memory", Need::whole(28))]), Ok((4, 4)));
        assert_eq!(fitted(8, &[("memory", Need::per_processor(8))]), Ok((1, 4)));
        assert_eq!(fitted(8, &[("solver", Need::per_processor(1))]), Ok((1, 3)));
        assert_eq!(fitted(3, &[("solver", Need::ByAllotment([9, 3, 1].into()))]), Ok((2, 3)));
    }

    #[test]
    fn what_all_tasks_use_up_is_no_more_than_there_is() {
        let platform = Platform::flat(2).unwrap().with_consumables(Resources::new([("budget", 5)]).unwrap()).unwrap();
        let job = |name: &str| {
            let times = [3, 2].map(Time::from_seconds).to_vec();
            let needs = Needs::new([("budget", Need::ByAllotment([3, 2].into()))]).unwrap();
            Job::new(name, Profile::table(times).unwrap()).with_needs(needs)
        };
        let mut instance = Instance::new(platform, vec![job("a"), job("b")], vec![]).unwrap();
        let refused = instance.append(vec![job("c")]).unwrap_err().to_string();
        assert!(refused.contains("use up at least 6 of `budget`, but the platform has 5"), "{refused}");
        assert_eq!(instance.jobs().len(), 2, "nothing was added");
    }

    /// One node has enough memory for the task, and another is fast enough for its walltime, but no node has both
    /// properties.
    #[test]
    fn room_counts_only_on_nodes_that_keep_the_walltime() {
        let node = |name: &str, speed, memory| Node {
            speed,
            resources: Resources::new([("memory", memory)]).unwrap(),
            ..Node::new(name, 2)
        };
        let fitted = |times: &[i64], walltime| {
            let platform = Platform::new(vec![node("roomy", 1.0, 4), node("fast", 2.0, 0)]).unwrap();
            let needs = Needs::new([("memory", Need::whole(1))]).unwrap();
            let times = times.iter().map(|&time| Time::from_seconds(time)).collect();
            let job = Job::new("j", Profile::table(times).unwrap()).with_needs(needs);
            let job = job.with_walltime(Time::from_seconds(walltime));
            let instance = Instance::new(platform, vec![job], vec![]).map_err(|error| error.to_string())?;
            let profile = instance.profile(TaskId(0));
            Ok::<_, String>((profile.min_processors(), profile.max_processors()))
        };
        assert_eq!(fitted(&[4, 3], 3), Ok((2, 2)), "on one processor, only the fast node meets the walltime");
        assert_eq!(fitted(&[4, 3], 4), Ok((1, 2)));
        let refused = fitted(&[4, 3], 2).unwrap_err();
        assert!(refused.contains("the nodes with enough resources are too slow"), "{refused}");
    }

    #[test]
    fn room_counts_only_on_nodes_on_which_a_task_has_a_time() {
        let node = |name: &str, memory| Node {
            resources: Resources::new([("memory", memory)]).unwrap(),
            ..Node::new(name, 2)
        };
        let platform = Platform::new(vec![node("roomy", 4), node("other", 1)]).unwrap();
        let job = |memory| {
            let profile = Profile::on_machines(vec![Profile::CANNOT_RUN, Time::from_seconds(2)]).unwrap();
            Job::new("j", profile).with_needs(Needs::new([("memory", Need::whole(memory))]).unwrap())
        };
        assert!(Instance::new(platform.clone(), vec![job(1)], vec![]).is_ok());
        let refused = Instance::new(platform, vec![job(2)], vec![]).unwrap_err().to_string();
        assert!(refused.contains("no node on which the job can run has this amount"), "{refused}");
    }

    #[test]
    fn too_little_of_something_is_named() {
        let refused = |max, needs: &[(&str, Need)]| fitted(max, needs).unwrap_err();
        let one = refused(1, &[("memory", Need::whole(21))]);
        assert!(one.contains("needs 21 bytes of `memory`, but no node has more than 20 bytes"), "{one}");
        assert!(refused(8, &[("memory", Need::whole(90))]).contains("all nodes together have 36 bytes"));
        assert!(refused(2, &[("solver", Need::whole(4))]).contains("needs 4 of `solver`, but the platform has 3"));
        let unknown = refused(1, &[("gpus", Need::whole(1))]);
        assert!(unknown.contains("`gpus`, which is neither a resource of a node nor a licence"), "{unknown}");
        assert!(unknown.contains("the resources of the platform are `memory`, `solver`"), "{unknown}");
    }
}
