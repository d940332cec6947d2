//! Machines.

mod list;
mod resources;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::model::{ProcSet, Profile, Quantity, QuantityError, Resources, Site, SiteError, Time};
use list::NodeList;
use resources::Held;

/// One machine: `processors` equal processors of a relative speed. A node without processors is a switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Unique name.
    pub name: String,
    /// How many processors.
    pub processors: u32,
    /// Work units a second and processor; 1 on a homogeneous cluster.
    pub speed: f64,
    /// Index of the node above it in the tree; `None` for the root and for the nodes of a fully connected cluster.
    pub parent: Option<usize>,
    /// The link to the parent.
    pub link: Option<Link>,
    /// What it has besides processors: bytes of memory, GPUs, or anything else by name.
    pub resources: Resources,
}

impl Node {
    /// A node of speed 1 without parent, link or resources.
    pub fn new(name: impl Into<String>, processors: u32) -> Self {
        Self { name: name.into(), processors, speed: 1.0, parent: None, link: None, resources: Resources::default() }
    }
}

/// A network link between a node and its parent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Bytes a second.
    pub bandwidth: f64,
    /// Delay of the first byte.
    pub latency: Time,
}

impl Link {
    /// Whether its figures are within their ranges.
    fn check(self) -> Result<(), QuantityError> {
        Quantity::BANDWIDTH.check(self.bandwidth)?;
        Quantity::LATENCY.check(self.latency.seconds()).map(drop)
    }
}

/// The machines of an instance. Processor ids count through the nodes in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Platform {
    list: NodeList,
    processors: u32,
    /// Whether jobs must be in their best placement, where that is stated.
    compact: Option<bool>,
    /// Whether every node that computes has speed 1.
    unit_speed: bool,
    /// Between any two nodes of a fully connected cluster.
    interconnect: Option<Link>,
    /// Whether data between tasks on one node take their time, too.
    local_transfers: bool,
    /// Resources of nodes and of the platform.
    held: Arc<Held>,
    /// The rules of a cluster that is shared.
    site: Option<Arc<Site>>,
}

/// Why nodes do not make a platform.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlatformError {
    /// No processor at all.
    #[error("the platform has no processors; give it at least 1")]
    Empty,
    /// More processors than ids.
    #[error("the platform has {0} processors; at most 16777216 are supported")]
    TooLarge(u64),
    /// Two nodes of one name.
    #[error("two nodes are named `{0}`; names must be unique")]
    DuplicateName(String),
    /// A speed, bandwidth or latency that is out of range.
    #[error("node `{node}`: {error}")]
    OutOfRange {
        /// The node.
        node: String,
        /// Which figure, and what it may be.
        error: QuantityError,
    },
    /// A parent that does not exist, or a cycle of parents.
    #[error("node `{0}`: its parents do not lead to a root; a tree has one node without parent above all others")]
    NotATree(String),
    /// One name of two kinds of resources.
    #[error("`{0}` is a resource of two kinds (of nodes, a licence or a consumable); a name has one meaning")]
    ResourceKinds(String),
    /// More resources than are told apart.
    #[error("there are {0} resources; at most 1024 are supported")]
    TooManyResources(usize),
    /// Too many nodes with resources.
    #[error("the platform has {0} nodes with resources; at most 1048576 are supported")]
    TooManyEquipped(usize),
    /// A link between all nodes of a tree, which has its own.
    #[error("the nodes form a tree, whose links are stated node by node; leave out the bandwidth of the platform")]
    Interconnect,
}

impl Platform {
    /// Most processors that a platform may have.
    pub const MAX_PROCESSORS: u32 = 1 << 24;

    /// Maximum number of nodes of a platform whose nodes have resources. This limit restricts the memory of schedulers,
    /// which store the free amounts of each node.
    pub const MAX_EQUIPPED: usize = 1 << 20;

    /// A flat homogeneous cluster, one node.
    ///
    /// # Errors
    /// [`PlatformError`] when there is no processor or too many.
    pub fn flat(processors: u32) -> Result<Self, PlatformError> {
        Self::new(vec![Node::new("cluster", processors)])
    }

    /// `nodes` machines of `processors_per_node` processors each, fully connected.
    ///
    /// # Errors
    /// [`PlatformError`] when there is no processor or too many.
    pub fn cluster(nodes: u32, processors_per_node: u32) -> Result<Self, PlatformError> {
        let total = u64::from(nodes) * u64::from(processors_per_node);
        if total > u64::from(Self::MAX_PROCESSORS) {
            return Err(PlatformError::TooLarge(total));
        }
        if total == 0 {
            return Err(PlatformError::Empty);
        }
        Ok(Self::of(NodeList::equal(nodes, processors_per_node), total as u32, true))
    }

    /// A platform of the given nodes. Either no node has a parent (fully connected) or they form one tree.
    ///
    /// # Errors
    /// [`PlatformError`] names the node that is wrong.
    pub fn new(nodes: Vec<Node>) -> Result<Self, PlatformError> {
        let total: u64 = nodes.iter().map(|node| u64::from(node.processors)).sum();
        if total == 0 {
            return Err(PlatformError::Empty);
        }
        if total > u64::from(Self::MAX_PROCESSORS) {
            return Err(PlatformError::TooLarge(total));
        }
        let mut names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(PlatformError::DuplicateName(pair[0].to_owned()));
        }
        for node in &nodes {
            let checked = Quantity::SPEED.check(node.speed).and_then(|_| node.link.map_or(Ok(()), Link::check));
            checked.map_err(|error| PlatformError::OutOfRange { node: node.name.clone(), error })?;
        }
        if nodes.iter().any(|node| node.parent.is_some()) {
            check_tree(&nodes)?;
        }
        let mut computing = nodes.iter().filter(|node| node.processors > 0);
        let unit_speed = computing.all(|node| (node.speed - 1.0).abs() < f64::EPSILON);
        let has_resources = nodes.iter().any(|node| !node.resources.is_empty());
        let platform = Self::of(NodeList::each(nodes), total as u32, unit_speed);
        if has_resources { platform.counted(Resources::default(), Resources::default()) } else { Ok(platform) }
    }

    fn of(list: NodeList, processors: u32, unit_speed: bool) -> Self {
        let (compact, interconnect, local_transfers) = (None, None, false);
        Self { list, processors, compact, unit_speed, interconnect, local_transfers, held: Arc::default(), site: None }
    }

    /// The same machines, on which every job must be in its best placement: of the nodes that it holds processors of,
    /// at most one is held in part. On m nodes of k processors, p = a k + r processors (r < k) are then exactly a whole
    /// nodes and r processors of one more: the minimal penalty hypothesis of P.-F. Dutot and D. Trystram, "Scheduling
    /// on hierarchical clusters using malleable tasks", SPAA 2001, hypothesis 1. Where nodes differ in size, a job for which
    /// the largest of them is large enough is moreover on one node, and a wider one holds one of the largest whole, which
    /// equal nodes imply. Whatever the sizes, some best placement exists for every number of processors.
    #[must_use]
    pub fn requiring_compact(self) -> Self {
        Self { compact: Some(true), ..self }
    }

    /// The same machines, of which it is stated whether every job must be in its best placement, or nothing is.
    #[must_use]
    pub fn with_placement(self, compact: Option<bool>) -> Self {
        Self { compact, ..self }
    }

    /// Whether jobs must be in their best placement, where anything is stated of that.
    pub fn stated_placement(&self) -> Option<bool> {
        self.compact
    }

    /// The same machines, every two of which exchange data over a link of this kind, as many as want at the same time.
    ///
    /// # Errors
    /// [`PlatformError`] when the nodes form a tree or the bandwidth or latency is out of range.
    pub fn with_interconnect(self, link: Link) -> Result<Self, PlatformError> {
        if self.is_tree() {
            return Err(PlatformError::Interconnect);
        }
        link.check().map_err(|error| PlatformError::OutOfRange { node: self.list.kinds().0[0].name.clone(), error })?;
        Ok(Self { interconnect: Some(link), ..self })
    }

    /// The link between any two nodes of a fully connected cluster, if there is one; data take no time without.
    pub fn interconnect(&self) -> Option<Link> {
        self.interconnect
    }

    /// The same machines, on which data between tasks on one node take their time, too: that of the node's own link.
    #[must_use]
    pub fn with_local_transfers(self) -> Self {
        Self { local_transfers: true, ..self }
    }

    /// Whether data between tasks on one node take their time, too.
    pub fn has_local_transfers(&self) -> bool {
        self.local_transfers
    }

    /// The same machines under the rules of a shared cluster.
    ///
    /// # Errors
    /// [`SiteError`] names what does not fit the nodes.
    pub fn with_site(self, site: Site) -> Result<Self, SiteError> {
        site.check(self.node_count())?;
        Ok(Self { site: Some(Arc::new(site)), ..self })
    }

    /// The rules of a shared cluster, where any are stated. Policies that know them keep to them; nothing else asks.
    pub fn site(&self) -> Option<&Site> {
        self.site.as_deref()
    }

    /// Whether every job must be in its best placement.
    pub fn is_compact(&self) -> bool {
        self.compact == Some(true)
    }

    /// Whether there are sets of processors that no job may hold: best placement is required, and there are several nodes,
    /// one of which has several processors.
    pub fn restricts_placement(&self) -> bool {
        let computing = || self.kinds().filter(|(node, _)| node.processors > 0);
        self.is_compact()
            && computing().map(|(_, count)| count).sum::<usize>() > 1
            && computing().any(|(node, _)| node.processors > 1)
    }

    /// The processors of the largest node.
    pub fn largest_node(&self) -> u32 {
        self.kinds().map(|(node, _)| node.processors).max().unwrap_or(0)
    }

    /// Whether these processors are a best placement: see [`Platform::requiring_compact`]. Ids beyond the platform do not count.
    pub fn is_best_placement(&self, processors: &ProcSet) -> bool {
        let (parts, largest) = (self.parts(processors), self.largest_node());
        let in_part = parts.iter().filter(|&&(node, count)| count < self.list.processors(node)).count();
        let width: u32 = parts.iter().map(|part| part.1).sum();
        let is_near = if width <= largest { parts.len() <= 1 } else { parts.iter().any(|part| part.1 == largest) };
        in_part <= 1 && is_near
    }

    /// The nodes that are held in part by a job on these processors, in order. Ids beyond the platform do not count.
    pub fn held_in_part(&self, processors: &ProcSet) -> Vec<usize> {
        let mut held = self.parts(processors);
        held.retain(|&(node, count)| count < self.list.processors(node));
        held.into_iter().map(|(node, _)| node).collect()
    }

    /// How many processors each node has, where all nodes that compute have equally many.
    pub fn processors_per_node(&self) -> Option<u32> {
        let mut sizes = self.kinds().map(|(node, _)| node.processors).filter(|&size| size > 0);
        let first = sizes.next()?;
        sizes.all(|size| size == first).then_some(first)
    }

    /// The machines, in file order. Of [`Platform::cluster`] the list is made when it is first asked for, and takes memory for
    /// each node: what is the same for equal nodes is asked of [`Platform::kinds`].
    pub fn nodes(&self) -> &[Node] {
        self.list.all()
    }

    /// How many machines there are.
    pub fn node_count(&self) -> usize {
        self.list.len()
    }

    /// The machines, with how many there are of each: equal ones of [`Platform::cluster`] stand once, any others by themselves.
    pub fn kinds(&self) -> impl Iterator<Item = (&Node, usize)> {
        let (nodes, count) = self.list.kinds();
        nodes.iter().map(move |node| (node, count))
    }

    /// Whether the nodes form a tree: any of them has a parent.
    pub fn is_tree(&self) -> bool {
        self.kinds().any(|(node, _)| node.parent.is_some())
    }

    /// Returns the position of the node with this name. Takes constant time if [`Platform::is_cluster`] is true, and
    /// linear time otherwise.
    pub fn position_of(&self, name: &str) -> Option<usize> {
        self.list.position(name)
    }

    /// Returns whether the platform stores a single node and a count, because all nodes are equal. Such nodes have the
    /// names `n0`, `n1` ...
    pub fn is_cluster(&self) -> bool {
        self.list.is_stored_once()
    }

    /// Whether both have the same nodes, whatever the rules and the network.
    pub fn has_nodes_of(&self, other: &Self) -> bool {
        self.list == other.list
    }

    /// How many processors in all.
    pub fn processors(&self) -> u32 {
        self.processors
    }

    /// The processor ids of one node.
    pub fn processors_of(&self, node: usize) -> ProcSet {
        let first = self.list.first(node);
        match self.list.processors(node) {
            0 => ProcSet::new(),
            count => ProcSet::range(first, first + count - 1),
        }
    }

    /// The node that holds processor `id`.
    pub fn node_of(&self, id: u32) -> usize {
        self.list.node_of(id)
    }

    /// How long a task of this profile takes on these processors: the time of its profile, as the slowest of them has it,
    /// or its own time on this machine. `None` when it does not accept so many or cannot run there.
    pub fn time(&self, profile: &Profile, processors: &ProcSet) -> Option<Time> {
        let Some(row) = profile.machine_times() else {
            let count = processors.len();
            return profile.accepts(count).then(|| self.slowed(profile.time(count), processors));
        };
        let only = processors.last().filter(|&id| processors.len() == 1 && id < self.processors)?;
        row.get(self.node_of(only)).copied().filter(|&time| time < Profile::CANNOT_RUN)
    }

    /// How long a sequential task takes on one processor of a node; `None` when it is not sequential or cannot run
    /// there.
    pub fn time_on(&self, profile: &Profile, node: usize) -> Option<Time> {
        if self.list.processors(node) == 0 || !profile.accepts(1) {
            return None;
        }
        match profile.machine_times() {
            Some(row) => row.get(node).copied().filter(|&time| time < Profile::CANNOT_RUN),
            None if self.unit_speed => Some(profile.time(1)),
            None => Some(profile.time(1).divided_by(self.nodes()[node].speed)),
        }
    }

    /// Whether every node that computes has speed 1.
    pub fn has_unit_speed(&self) -> bool {
        self.unit_speed
    }

    /// The lowest and the highest speed of a node that has processors.
    pub fn speeds(&self) -> (f64, f64) {
        let computing = self.kinds().map(|(node, _)| node).filter(|node| node.processors > 0).map(|node| node.speed);
        computing.fold((f64::INFINITY, 0.0), |(low, high), speed| (low.min(speed), high.max(speed)))
    }

    /// A time on processors of speed 1 as it is on these: that of the slowest of them, rounded up to a tick.
    pub fn slowed(&self, time: Time, processors: &ProcSet) -> Time {
        if self.unit_speed {
            return time;
        }
        let nodes = processors.intervals().iter().map(|&(first, last)| self.node_of(first)..=self.node_of(last));
        let speeds = nodes.flatten().map(|node| &self.nodes()[node]).filter(|node| node.processors > 0);
        let slowest = speeds.map(|node| node.speed).fold(f64::INFINITY, f64::min);
        time.divided_by(slowest)
    }

    /// Whether all processors are of speed 1 and no network is between them. Which sets of them a job may hold is
    /// another question: [`Platform::restricts_placement`].
    pub fn is_homogeneous(&self) -> bool {
        let mut computing = self.kinds().map(|(node, _)| node).filter(|node| node.processors > 0);
        let speed = computing.next().map_or(1.0, |node| node.speed);
        (speed - 1.0).abs() < f64::EPSILON
            && computing.all(|node| (node.speed - speed).abs() < f64::EPSILON)
            && !self.is_tree()
    }
}

/// Every node leads to the one root. Each node is walked over once: a path stops where an earlier one has been.
fn check_tree(nodes: &[Node]) -> Result<(), PlatformError> {
    let fail = |node: &Node| PlatformError::NotATree(node.name.clone());
    if let Some(second) = nodes.iter().filter(|node| node.parent.is_none()).nth(1) {
        return Err(fail(second));
    }
    let mut reached_from = vec![usize::MAX; nodes.len()];
    for (start, node) in nodes.iter().enumerate() {
        let mut at = start;
        while reached_from[at] == usize::MAX {
            reached_from[at] = start;
            match nodes[at].parent {
                None => break,
                Some(parent) if parent >= nodes.len() => return Err(fail(node)),
                Some(parent) if reached_from[parent] == start => return Err(fail(node)),
                Some(parent) => at = parent,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, processors: u32, parent: Option<usize>) -> Node {
        Node { parent, ..Node::new(name, processors) }
    }

    #[test]
    fn ids_count_through_the_nodes() {
        let platform = Platform::new(vec![node("a", 2, None), node("switch", 0, None), node("b", 3, None)]).unwrap();
        assert_eq!(platform.processors(), 5);
        assert_eq!(platform.processors_of(2).to_string(), "2-4");
        assert!(platform.processors_of(1).is_empty());
        assert_eq!((0..5).map(|id| platform.node_of(id)).collect::<Vec<_>>(), [0, 0, 2, 2, 2]);
    }

    /// Equal nodes that are stored once are those of a list, question by question.
    #[test]
    fn equal_nodes_are_those_of_their_list() {
        for (nodes, each) in [(1, 1), (1, 7), (5, 1), (4, 3), (16, 64)] {
            let cluster = Platform::cluster(nodes, each).unwrap();
            let listed = (0..nodes).map(|at| node(&format!("n{at}"), each, None)).collect();
            let listed = Platform::new(listed).unwrap();
            assert_eq!(cluster, listed);
            assert_eq!(cluster.nodes(), listed.nodes());
            assert_eq!(cluster.node_count(), listed.nodes().len());
            assert_eq!(cluster.kinds().map(|(_, count)| count).sum::<usize>(), nodes as usize);
            for id in 0..nodes * each {
                assert_eq!(cluster.node_of(id), listed.node_of(id));
            }
            for at in 0..nodes as usize {
                assert_eq!(cluster.processors_of(at), listed.processors_of(at));
                let name = format!("n{at}");
                assert_eq!((cluster.position_of(&name), listed.position_of(&name)), (Some(at), Some(at)));
            }
            for name in ["n", "n00", "n+1", "n-1", "x", "", &format!("n{nodes}")] {
                assert_eq!((cluster.position_of(name), listed.position_of(name)), (None, None), "{name}");
            }
            let facts = |platform: &Platform| {
                let compact = platform.clone().requiring_compact();
                let held = compact.held_in_part(&ProcSet::range(nodes * each / 2, nodes * each - 1));
                let counts =
                    (platform.processors_per_node(), platform.processors(), held, compact.restricts_placement());
                (counts, platform.has_unit_speed(), platform.is_homogeneous(), platform.is_tree())
            };
            assert_eq!(facts(&cluster), facts(&listed));
            assert_ne!(cluster, Platform::cluster(nodes + 1, each).unwrap());
            assert_ne!(cluster, Platform::cluster(nodes, each + 1).unwrap());
        }
        assert_ne!(Platform::cluster(1, 4), Platform::flat(4), "another name");
        let large = Platform::cluster(Platform::MAX_PROCESSORS, 1).unwrap();
        assert_eq!((large.node_of(9_999_999), large.kinds().count()), (9_999_999, 1));
    }

    #[test]
    fn refuses_what_is_no_platform() {
        assert_eq!(Platform::flat(0), Err(PlatformError::Empty));
        assert!(matches!(Platform::cluster(100_000, 100_000), Err(PlatformError::TooLarge(_))));
        assert!(matches!(
            Platform::new(vec![node("a", 1, None), node("a", 1, None)]),
            Err(PlatformError::DuplicateName(_))
        ));
        let cycle = vec![node("r", 1, None), node("a", 1, Some(2)), node("b", 1, Some(1))];
        assert!(matches!(Platform::new(cycle), Err(PlatformError::NotATree(_))));
        let forest = vec![node("r", 1, None), node("a", 1, Some(0)), node("s", 1, None)];
        assert!(matches!(Platform::new(forest), Err(PlatformError::NotATree(_))));
        let mut slow = node("a", 1, None);
        slow.speed = 0.0;
        assert!(matches!(Platform::new(vec![slow]), Err(PlatformError::OutOfRange { .. })));
    }

    #[test]
    fn best_placement_holds_at_most_one_node_in_part() {
        let nodes = vec![node("a", 4, None), node("switch", 0, None), node("b", 2, None), node("c", 3, None)];
        let platform = Platform::new(nodes).unwrap().requiring_compact();
        let in_part = |processors: &str| platform.held_in_part(&processors.parse().unwrap());
        assert!(in_part("0-3").is_empty() && in_part("0-8").is_empty() && in_part("4-8").is_empty());
        assert_eq!(in_part("0,2"), [0]);
        assert_eq!(in_part("0-6"), [3]);
        assert_eq!(in_part("3-6,8"), [0, 3]);
        assert_eq!(in_part("3-4,8,20"), [0, 2, 3]);
        let is_best = |processors: &str| platform.is_best_placement(&processors.parse().unwrap());
        assert!(is_best("0-3") && is_best("1-2") && is_best("0-4") && is_best("0-8") && is_best("6,8"));
        assert!(!is_best("4-6"), "one of 4 is large enough for 3");
        assert!(!is_best("4-8"), "5 are wider than any node and hold no largest one");
        assert!(!is_best("0,4") && !is_best("0-2,4-6"));
        assert_eq!(platform.processors_per_node(), None);
        assert_eq!(Platform::cluster(3, 4).unwrap().processors_per_node(), Some(4));
    }

    #[test]
    fn a_rule_that_forbids_nothing_restricts_nothing() {
        let restricts = |platform: Platform| platform.requiring_compact().restricts_placement();
        assert!(!restricts(Platform::flat(8).unwrap()));
        assert!(!restricts(Platform::cluster(8, 1).unwrap()));
        assert!(restricts(Platform::cluster(2, 2).unwrap()));
        assert!(restricts(Platform::new(vec![node("a", 1, None), node("b", 2, None)]).unwrap()));
        assert!(!Platform::cluster(2, 2).unwrap().restricts_placement());
    }

    #[test]
    fn a_tree_or_a_mix_of_speeds_is_not_homogeneous() {
        assert!(Platform::cluster(4, 8).unwrap().is_homogeneous());
        assert!(!Platform::new(vec![node("r", 1, None), node("a", 1, Some(0))]).unwrap().is_homogeneous());
        let mut fast = node("b", 1, None);
        fast.speed = 2.0;
        assert!(!Platform::new(vec![node("a", 1, None), fast]).unwrap().is_homogeneous());
    }
}
