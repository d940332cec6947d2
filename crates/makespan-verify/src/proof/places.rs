//! The kinds of nodes on which a task can run, and the times of the task on these nodes.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::choices::{self, Group};
use makespan_core::{Demand, Instance, Need, ProcSet, ResourceKind, TaskId, Time};

/// Maximum number of allotments that are examined one by one for a task that needs resources. If there are more,
/// allotments are grouped.
const ALL: u32 = 256;
/// Divisor that determines the size of groups: a group that starts at allotment k contains `k / GROUP` allotments.
const GROUP: u32 = 32;

/// The nodes of a platform, grouped by kind. For a task, this type lists the possible choices of an allotment and nodes
/// ([`NodeRun`]).
///
/// If a task holds several processors, its time is the time on the slowest of these processors. Each processor of the
/// task needs a part of the task's resources on its own node. So the task cannot use a node that has too little of a
/// resource for one processor of the task.
#[derive(Debug)]
pub struct NodeKinds<'a> {
    instance: &'a Instance,
    /// The kinds, sorted by descending speed.
    kinds: Vec<NodeKind>,
    /// The kind of each node; `None` for a node without processors.
    kind_of: Vec<Option<usize>>,
    /// A cache: for a list of needs and an allotment, the number of processors that a task can have on one node of each
    /// kind.
    rooms: RefCell<Rooms>,
}

type Rooms = FxHashMap<(usize, u32), Rc<[u32]>>;

/// A kind of equal nodes.
#[derive(Clone, Debug)]
struct NodeKind {
    /// The position of one node of this kind.
    node: usize,
    processor: ProcSet,
    speed: f64,
    processors: u32,
    count: u64,
}

/// A choice for a task: nodes, and one or more successive allotments. On each of these allotments, the task holds at
/// least the amounts of this choice, for at least the time of this choice.
#[derive(Clone, Debug)]
pub struct NodeRun {
    /// The smallest allotment of this choice.
    pub first: u32,
    /// The largest allotment of this choice.
    pub last: u32,
    /// The shortest time of the allotments of this choice, in ticks.
    pub time: i128,
    on: PlaceKind,
}

#[derive(Clone, Debug)]
enum PlaceKind {
    Node(usize),
    /// The task runs on nodes of the fastest kinds. The first field is the number of these kinds. If resources limit
    /// the task, the second field contains, for each kind, the maximum number of processors that the task can use on
    /// one node.
    Kinds(usize, Option<Rc<[u32]>>),
}

impl<'a> NodeKinds<'a> {
    /// Groups the nodes with processors. Takes O(nodes * kinds of nodes).
    pub fn new(instance: &'a Instance) -> Self {
        let platform = instance.platform();
        let mut kinds: Vec<NodeKind> = Vec::new();
        let mut kind_of = vec![None; platform.nodes().len()];
        for (node, of) in platform.nodes().iter().enumerate().filter(|(_, of)| of.processors > 0) {
            let same = |kind: &NodeKind| {
                let other = &platform.nodes()[kind.node];
                other.speed.to_bits() == of.speed.to_bits()
                    && other.processors == of.processors
                    && other.resources == of.resources
            };
            let kind = kinds.iter().position(same).unwrap_or_else(|| {
                let id = platform.processors_of(node).iter().next().unwrap_or_default();
                let processor = ProcSet::range(id, id);
                kinds.push(NodeKind { node, processor, speed: of.speed, processors: of.processors, count: 0 });
                kinds.len() - 1
            });
            kinds[kind].count += 1;
            kind_of[node] = Some(kind);
        }
        let mut order: Vec<usize> = (0..kinds.len()).collect();
        order.sort_by(|&a, &b| kinds[b].speed.total_cmp(&kinds[a].speed).then(a.cmp(&b)));
        let mut place = vec![0; kinds.len()];
        order.iter().enumerate().for_each(|(at, &kind)| place[kind] = at);
        let kind_of = kind_of.into_iter().map(|kind: Option<usize>| kind.map(|kind| place[kind])).collect();
        let kinds = order.into_iter().map(|kind| kinds[kind].clone()).collect();
        Self { instance, kinds, kind_of, rooms: RefCell::default() }
    }

    /// Returns the number of kinds of nodes.
    pub fn kinds(&self) -> usize {
        self.kinds.len()
    }

    /// Returns the kind of a node, or `None` for a node without processors.
    pub fn kind_of(&self, node: usize) -> Option<usize> {
        self.kind_of[node]
    }

    /// Returns the speed of the nodes of a kind.
    pub fn speed(&self, kind: usize) -> f64 {
        self.kinds[kind].speed
    }

    /// Calls `take` with every choice with which a task ends within its walltime. In every schedule, the task holds at
    /// least the amounts of one of these choices, for at least the time of this choice. Takes O(a * kinds of nodes),
    /// where a is the number of allotments, or about 256 if there are more.
    pub fn each(&self, task: TaskId, mut take: impl FnMut(&NodeRun)) {
        let (profile, walltime) = (self.instance.profile(task), self.instance.walltime(task).unwrap_or(Time::MAX));
        if let Some(row) = profile.machine_times() {
            let demands = self.instance.demands(task);
            for (node, &time) in row.iter().enumerate() {
                let runs = self.instance.platform().time_on(profile, node).is_some() && time <= walltime;
                if runs && (demands.is_empty() || self.instance.platform().room_for(node, demands, 1) > 0) {
                    take(&NodeRun { first: 1, last: 1, time: time.ticks().into(), on: PlaceKind::Node(node) });
                }
            }
            return;
        }
        self.groups(task, |first, last, time| self.on_kinds(task, first, last, time, walltime, &mut take));
    }

    /// Returns the minimum time of a task over all its choices.
    pub fn fastest(&self, task: TaskId) -> i128 {
        let profile = self.instance.profile(task);
        let one_speed = self.kinds.first().zip(self.kinds.last()).filter(|(first, last)| first.speed <= last.speed);
        let free = self.instance.demands_number(task) == 0 && profile.machine_times().is_none();
        if let Some((kind, _)) = one_speed.filter(|_| free) {
            return self.instance.platform().slowed(profile.shortest(), &kind.processor).ticks().into();
        }
        let mut least: Option<i128> = None;
        self.each(task, |run| least = Some(least.map_or(run.time, |least| least.min(run.time))));
        least.unwrap_or(0)
    }

    /// Returns, for each kind of node, the minimum price of the nodes of this kind.
    pub fn least_prices(&self, prices: &[u64]) -> Vec<u64> {
        let mut least = vec![u64::MAX; self.kinds.len()];
        for (kind, &price) in self.kind_of.iter().zip(prices) {
            if let Some(kind) = *kind {
                least[kind] = least[kind].min(price);
            }
        }
        least
    }

    /// Returns the minimum price of a processor that the task can hold in this choice. `by_node` contains the price of
    /// each node, and `by_kind` the minimum price of each kind.
    pub fn price(&self, run: &NodeRun, by_node: &[u64], by_kind: &[u64]) -> u64 {
        match &run.on {
            PlaceKind::Node(node) => by_node[*node],
            PlaceKind::Kinds(kinds, rooms) => {
                let open = |kind: &usize| rooms.as_ref().is_none_or(|rooms| rooms[*kind] > 0);
                (0..*kinds).filter(open).map(|kind| by_kind[kind]).min().unwrap_or(0)
            }
        }
    }

    /// Calls `take` with each allotment or group of allotments. The arguments are the first and the last allotment of
    /// the group, and the shortest time of its allotments on processors of speed 1.
    fn groups(&self, task: TaskId, mut take: impl FnMut(u32, u32, Time)) {
        let profile = self.instance.profile(task);
        let (first, last) = (profile.min_processors(), profile.max_processors());
        if profile.is_rigid() {
            return take(first, last, profile.time(first));
        }
        if self.instance.demands(task).is_empty() || profile.speedup().is_some() && last - first >= ALL {
            let mut groups: Vec<Group> = Vec::new();
            choices::groups(profile, &mut groups);
            groups.iter().for_each(|group| take(group.first, group.last, Time::from_ticks(group.time)));
            return;
        }
        // All allotments are examined, because more processors may reduce the need for a resource, even if they do not
        // make the task faster.
        let mut from = first;
        while from <= last {
            let size = if last - first < ALL { 1 } else { (from / GROUP).max(1) };
            let until = last.min(from.saturating_add(size - 1));
            let time = (from..=until).map(|processors| profile.time(processors)).min().unwrap_or_default();
            take(from, until, time);
            from = until + 1;
        }
    }

    /// Calls `take` with a run for each set of fastest kinds of nodes: first the fastest kind alone, then the two
    /// fastest kinds, and so on.
    fn on_kinds(
        &self,
        task: TaskId,
        first: u32,
        last: u32,
        time: Time,
        walltime: Time,
        take: &mut impl FnMut(&NodeRun),
    ) {
        let number = self.instance.demands_number(task);
        let rooms = (number > 0 && first == last).then(|| self.rooms(task, number, first));
        let mut room = 0;
        for (at, kind) in self.kinds.iter().enumerate() {
            let own = rooms.as_ref().map_or(kind.processors, |rooms| rooms[at]);
            room += u64::from(own) * kind.count;
            let is_last = self.kinds.get(at + 1).is_none_or(|next| next.speed < kind.speed);
            if !is_last || room < u64::from(first) {
                continue;
            }
            let slowed = self.instance.platform().slowed(time, &kind.processor);
            if slowed <= walltime {
                let on = PlaceKind::Kinds(at + 1, rooms.clone());
                take(&NodeRun { first, last, time: slowed.ticks().into(), on });
            }
        }
    }

    fn rooms(&self, task: TaskId, number: usize, processors: u32) -> Rc<[u32]> {
        let mut rooms = self.rooms.borrow_mut();
        let found = rooms.entry((number, processors)).or_insert_with(|| {
            let (platform, demands) = (self.instance.platform(), self.instance.demands(task));
            self.kinds.iter().map(|kind| platform.room_for(kind.node, demands, processors)).collect()
        });
        Rc::clone(found)
    }
}

impl NodeRun {
    /// Returns the minimum amount that a task needs over all allotments of this choice.
    pub fn least(&self, need: &Need) -> u64 {
        match need {
            // Linear needs grow with the number of processors, so the smallest allotment has the minimum.
            Need::Linear { .. } => need.total(self.first),
            Need::ByAllotment(_) => (self.first..=self.last).map(|one| need.total(one)).min().unwrap_or(0),
        }
    }

    /// Returns the minimum amount of a resource that a task holds over all allotments of this choice. Returns zero if
    /// the task does not need the resource, or if the resource is a consumable, because tasks use up consumables
    /// instead of holding them.
    pub fn holds(&self, demands: &[Demand], resource: makespan_core::ResourceId) -> u64 {
        let held = demands.iter().find(|demand| demand.resource == resource);
        held.filter(|demand| demand.kind != ResourceKind::Consumable).map_or(0, |demand| self.least(&demand.need))
    }
}
