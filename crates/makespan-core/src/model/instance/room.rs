//! On which allotments there is room for what a task needs.

use rustc_hash::FxHashMap;

use super::{InstanceError, NoRoom};
use crate::model::{Demand, Need, Needs, Platform, Profile, ResourceId, ResourceKind, amount_of};

/// Equal nodes of a platform.
struct Class {
    /// One of them.
    node: usize,
    processors: u32,
    count: u64,
}

/// What an empty platform has room for.
pub(super) struct Room<'a> {
    platform: &'a Platform,
    /// Made when it is first asked for.
    classes: Vec<Class>,
    demands: FxHashMap<Needs, Box<[Demand]>>,
}

impl<'a> Room<'a> {
    pub fn new(platform: &'a Platform) -> Self {
        Self { platform, classes: Vec::new(), demands: FxHashMap::default() }
    }

    /// Ready to be asked.
    pub fn of(platform: &'a Platform) -> Self {
        Self { classes: classes(platform), ..Self::new(platform) }
    }

    /// The profile without the smallest and the largest allotments for which the platform has no room, were it empty. Some
    /// between them may have none either: shares that are rounded up do not fit nodes of any size.
    ///
    /// # Errors
    /// [`InstanceError`] names the resource that does not exist, or of which there is too little.
    pub fn left(
        &mut self,
        profile: Profile,
        needs: &Needs,
        name: &impl Fn() -> String,
    ) -> Result<Profile, InstanceError> {
        if self.classes.is_empty() {
            self.classes = classes(self.platform);
        }
        if !self.demands.contains_key(needs) {
            let demands = self.platform.demands(needs).map_err(|resource| self.unknown(name(), resource))?;
            self.demands.insert(needs.clone(), demands);
        }
        let demands = &self.demands[needs];
        let (min, max) = (profile.min_processors(), profile.max_processors());
        let first = (min..=max).find(|&processors| self.has_room(demands, processors));
        let first = first.ok_or_else(|| self.no_room(name(), demands, min))?;
        // No more than fit with what each of them needs alone.
        let each = |demand: &Demand| match demand.need {
            Need::Linear { per_processor, .. } if per_processor > 0 => {
                u32::try_from(self.platform.total(demand.resource) / u128::from(per_processor)).unwrap_or(max)
            }
            _ => max,
        };
        let most = demands.iter().map(each).fold(max, u32::min).max(first);
        let last = (first..=most).rev().find(|&processors| self.has_room(demands, processors)).unwrap_or(first);
        let left = profile.at_least(first).and_then(|profile| profile.at_most(last));
        Ok(left.expect("the profile accepts both"))
    }

    /// Whether the empty platform has room for a task on so many processors.
    pub fn has_room(&self, demands: &[Demand], processors: u32) -> bool {
        demands.iter().all(|demand| self.has_in_all(demand, processors))
            && self.on_nodes(demands, processors) >= u64::from(processors)
    }

    /// Whether there is enough of what belongs to no node.
    fn has_in_all(&self, demand: &Demand, processors: u32) -> bool {
        demand.kind == ResourceKind::OfNodes
            || u128::from(demand.need.total(processors)) <= self.platform.total(demand.resource)
    }

    /// How many of its processors a task could have on all nodes: in best placement where that is required.
    fn on_nodes(&self, demands: &[Demand], processors: u32) -> u64 {
        let room = |class: &Class| self.platform.room_for(class.node, demands, processors);
        if !self.platform.is_compact() {
            return self.classes.iter().map(|class| u64::from(room(class)) * class.count).sum();
        }
        let (mut rest, mut part) = (processors, 0);
        for class in &self.classes {
            let room = room(class);
            let most = if room == class.processors { u64::from(rest / class.processors).min(class.count) } else { 0 };
            rest -= most as u32 * class.processors;
            // Of one node that is not held as a whole.
            part = part.max(if most < class.count { room } else { 0 });
        }
        u64::from(processors - rest) + u64::from(part.min(rest))
    }

    fn unknown(&self, job: String, resource: String) -> InstanceError {
        let names: Vec<String> = self.platform.resources().iter().map(|one| format!("`{}`", one.name)).collect();
        let known = if names.is_empty() {
            "the platform states none: give its nodes `resources`".to_owned()
        } else {
            format!("there are {}", names.join(", "))
        };
        InstanceError::UnknownResource { job, resource, known }
    }

    /// Why there is no room on any allotment, said of the smallest.
    fn no_room(&self, job: String, demands: &[Demand], processors: u32) -> InstanceError {
        let short = |demand: &&Demand| !self.has_room(std::slice::from_ref(*demand), processors);
        let (resource, needs, there) = match demands.iter().find(short) {
            Some(demand) => {
                let name = self.name(demand.resource);
                let needs = amount_of(name, demand.need.total(processors));
                (name.to_owned(), needs, self.there(demand, processors))
            }
            None => {
                let names: Vec<&str> = demands.iter().map(|demand| self.name(demand.resource)).collect();
                let there = "no nodes have enough of all at once".to_owned();
                (names.join("` and `"), "what it states".to_owned(), there)
            }
        };
        let on = if processors == 1 { String::new() } else { format!(" on {processors} processors") };
        InstanceError::NoRoom(Box::new(NoRoom { job, resource, needs, on, there }))
    }

    /// How much there is of something, which is too little.
    fn there(&self, demand: &Demand, processors: u32) -> String {
        let total = self.platform.total(demand.resource);
        let amount = |amount: u128| amount_of(self.name(demand.resource), u64::try_from(amount).unwrap_or(u64::MAX));
        if demand.kind != ResourceKind::OfNodes {
            return format!("there are {}", amount(total));
        }
        if u128::from(demand.need.total(processors)) > total {
            return format!("all nodes together have {}", amount(total));
        }
        let largest = self.classes.iter().map(|class| self.platform.amount(class.node, demand.resource)).max();
        let most = amount(largest.unwrap_or(0).into());
        if processors == 1 {
            return format!("no node has more than {most}; what several have together does not help one processor");
        }
        let room = self.on_nodes(std::slice::from_ref(demand), processors);
        format!("the nodes, with at most {most} each, have room for {room} of these processors")
    }

    fn name(&self, resource: ResourceId) -> &str {
        &self.platform.resource_of(resource).name
    }
}

/// The nodes that compute, equal ones together, by falling size.
fn classes(platform: &Platform) -> Vec<Class> {
    let resources = (0..platform.node_resources()).map(|at| ResourceId(at as u16));
    let mut known: FxHashMap<(u32, Vec<u64>), usize> = FxHashMap::default();
    let mut classes: Vec<Class> = Vec::new();
    for (at, (node, count)) in platform.kinds().enumerate().filter(|(_, (node, _))| node.processors > 0) {
        let amounts = resources.clone().map(|resource| platform.amount(at, resource)).collect();
        let class = *known.entry((node.processors, amounts)).or_insert(classes.len());
        match classes.get_mut(class) {
            Some(class) => class.count += count as u64,
            None => classes.push(Class { node: at, processors: node.processors, count: count as u64 }),
        }
    }
    classes.sort_by_key(|class| std::cmp::Reverse(class.processors));
    classes
}

#[cfg(test)]
mod tests {
    use crate::model::{Instance, Job, Need, Needs, Node, Platform, Profile, Resources, TaskId, Time};

    /// Two nodes of 4 processors with 8 of memory, one of 2 with 20, and 3 licences.
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
        // On four, two of them on the large node, and on no other number.
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
        assert!(refused.contains("use up at least 6 of `budget`, and there are 5"), "{refused}");
        assert_eq!(instance.jobs().len(), 2, "nothing was added");
    }

    #[test]
    fn too_little_of_something_is_named() {
        let refused = |max, needs: &[(&str, Need)]| fitted(max, needs).unwrap_err();
        let one = refused(1, &[("memory", Need::whole(21))]);
        assert!(one.contains("needs 21 bytes of `memory`, and no node has more than 20 bytes"), "{one}");
        assert!(refused(8, &[("memory", Need::whole(90))]).contains("all nodes together have 36 bytes"));
        assert!(refused(2, &[("solver", Need::whole(4))]).contains("needs 4 of `solver`, and there are 3"));
        let unknown = refused(1, &[("gpus", Need::whole(1))]);
        assert!(unknown.contains("`gpus`, which is no resource of a node and no licence"), "{unknown}");
        assert!(unknown.contains("there are `memory`, `solver`"), "{unknown}");
    }
}
