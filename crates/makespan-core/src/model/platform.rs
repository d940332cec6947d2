//! Platforms: nodes with processors, and the network between nodes.

mod list;
mod resources;
mod setups;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::model::{ProcSet, Profile, Quantity, QuantityError, Resources, Site, SiteError, Time};
use list::NodeList;
pub use setups::{Setup, SetupMachine};

use resources::PlatformAmounts;
use setups::Setups;

/// A machine. All its processors have the same relative speed. A node without processors is a switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Unique name.
    pub name: String,
    /// Number of processors.
    pub processors: u32,
    /// Work units per second and processor; 1 on a homogeneous cluster.
    pub speed: f64,
    /// Index of the parent in the tree; `None` for the root and for the nodes of a fully connected cluster.
    pub parent: Option<usize>,
    /// The link to the parent.
    pub link: Option<Link>,
    /// Amounts of resources besides processors, by name: bytes of memory, GPUs, or any other countable resource.
    pub resources: Resources,
}

impl Node {
    /// Creates a node of speed 1 without parent, link or resources.
    pub fn new(name: impl Into<String>, processors: u32) -> Self {
        Self { name: name.into(), processors, speed: 1.0, parent: None, link: None, resources: Resources::default() }
    }
}

/// A network link between a node and its parent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Bandwidth in bytes per second.
    pub bandwidth: f64,
    /// Time until the first byte of a transfer arrives.
    pub latency: Time,
}

impl Link {
    /// Checks that the bandwidth and the latency are within their ranges.
    fn check(self) -> Result<(), QuantityError> {
        Quantity::BANDWIDTH.check(self.bandwidth)?;
        Quantity::LATENCY.check(self.latency.seconds()).map(drop)
    }
}

/// The nodes on which an instance runs, and their network. Processor ids start at 0 and are consecutive: the processors
/// of the first node come first, then the processors of the second node, and so on.
#[derive(Clone, Debug, PartialEq)]
pub struct Platform {
    list: NodeList,
    processors: u32,
    /// True if every job must be in its best placement ([`Platform::requiring_compact`]). `None` if the file does not
    /// mention placement.
    compact: Option<bool>,
    /// True if every node with processors has speed 1.
    unit_speed: bool,
    /// The link between every two nodes of a fully connected cluster. `None` if data take no time.
    interconnect: Option<Link>,
    /// True if data take time even between tasks on the same node.
    local_transfers: bool,
    /// Amounts of the resources of the nodes and of the platform, besides processors.
    held: Arc<PlatformAmounts>,
    /// The rules of the shared cluster, if the platform is one.
    site: Option<Arc<Site>>,
    /// The setup times between consecutive tasks, if any are stated.
    setups: Option<Arc<Setups>>,
}

/// The reason why nodes do not form a platform.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlatformError {
    /// The platform has no processors.
    #[error("the platform has no processors; give the platform at least 1 processor")]
    Empty,
    /// The platform has more processors than are supported.
    #[error("the platform has {0} processors; at most 16777216 are supported")]
    TooLarge(u64),
    /// Two nodes have the same name.
    #[error("two nodes are named `{0}`; names must be unique")]
    DuplicateName(String),
    /// A speed, bandwidth or latency is out of range.
    #[error("node `{node}`: {error}")]
    OutOfRange {
        /// Name of the node.
        node: String,
        /// The value that is out of range, and its range.
        error: QuantityError,
    },
    /// A parent does not exist, or the parents form a cycle.
    #[error(
        "node `{0}`: its parents do not lead to a root; remove cycles from the parents, and leave one node \
         without a parent"
    )]
    NotATree(String),
    /// A resource name is used for two kinds of resources.
    #[error(
        "`{0}` is the name of two resources of different kinds (resource of nodes, licence or consumable); use \
         different names"
    )]
    ResourceKinds(String),
    /// The platform has more resources than are supported.
    #[error("there are {0} resources; at most 1024 are supported")]
    TooManyResources(usize),
    /// The platform has too many nodes with resources.
    #[error("the platform has {0} nodes with resources; at most 1048576 are supported")]
    TooManyEquipped(usize),
    /// A link between all nodes was given for a tree. The nodes of a tree have links of their own.
    #[error("the nodes form a tree, and each node states its own link; remove the bandwidth of the platform")]
    Interconnect,
    /// A setup time is wrong.
    #[error("setups[{at}]: {problem}")]
    Setup {
        /// Position of the setup time in the list.
        at: usize,
        /// The problem and its remedy.
        problem: String,
    },
}

impl Platform {
    /// Maximum number of processors of a platform.
    pub const MAX_PROCESSORS: u32 = 1 << 24;

    /// Maximum number of nodes of a platform on which nodes have resources. The limit bounds the memory that schedulers
    /// use, because they store the free amounts of each node.
    pub const MAX_EQUIPPED: usize = 1 << 20;

    /// Creates a homogeneous cluster of a single node.
    ///
    /// # Errors
    /// [`PlatformError`] if there are no processors or too many.
    pub fn flat(processors: u32) -> Result<Self, PlatformError> {
        Self::new(vec![Node::new("cluster", processors)])
    }

    /// Creates a fully connected cluster of `nodes` nodes with `processors_per_node` processors each.
    ///
    /// # Errors
    /// [`PlatformError`] if there are no processors or too many.
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

    /// Creates a platform of the given nodes. Either no node has a parent (fully connected), or the parents connect the
    /// nodes to one tree.
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
        let held = Arc::default();
        Self { list, processors, compact, unit_speed, interconnect, local_transfers, held, site: None, setups: None }
    }

    /// Requires best placement: a job holds all processors of each of its nodes, except for at most one node. Let each
    /// node have k processors, and let p = q k + r with r < k. Then a job on p processors holds all processors of
    /// exactly q nodes, and r processors of one more node. Source: the minimal penalty hypothesis of P.-F. Dutot and D.
    /// Trystram, "Scheduling on hierarchical clusters using malleable tasks", SPAA 2001, hypothesis 1.
    ///
    /// If nodes differ in size, two more rules apply. A job that fits on the largest node is on one node. A wider job
    /// holds all processors of a node of the largest size. On nodes of equal size, these two rules follow from the
    /// first rule. Every number of processors has a best placement.
    #[must_use]
    pub fn requiring_compact(self) -> Self {
        Self { compact: Some(true), ..self }
    }

    /// Sets whether every job must be in its best placement ([`Platform::requiring_compact`]). `None` means that the
    /// file does not mention placement.
    #[must_use]
    pub fn with_placement(self, compact: Option<bool>) -> Self {
        Self { compact, ..self }
    }

    /// Returns whether jobs must be in their best placement, or `None` if the file does not mention placement.
    pub fn stated_placement(&self) -> Option<bool> {
        self.compact
    }

    /// Adds a link like `link` between every two nodes. Any number of transfers can use a link at the same time without
    /// slowing each other down.
    ///
    /// # Errors
    /// [`PlatformError`] if the nodes form a tree, or if the bandwidth or latency is out of range.
    pub fn with_interconnect(self, link: Link) -> Result<Self, PlatformError> {
        if self.is_tree() {
            return Err(PlatformError::Interconnect);
        }
        link.check().map_err(|error| PlatformError::OutOfRange { node: self.list.kinds().0[0].name.clone(), error })?;
        Ok(Self { interconnect: Some(link), ..self })
    }

    /// Returns the link between every two nodes of a fully connected cluster. Without a link, data between nodes take
    /// no time.
    pub fn interconnect(&self) -> Option<Link> {
        self.interconnect
    }

    /// Makes data between tasks on the same node take time, at the bandwidth and latency of the node's own link.
    #[must_use]
    pub fn with_local_transfers(self) -> Self {
        Self { local_transfers: true, ..self }
    }

    /// Returns true if data take time even between tasks on the same node.
    pub fn has_local_transfers(&self) -> bool {
        self.local_transfers
    }

    /// Adds the rules of a shared cluster.
    ///
    /// # Errors
    /// [`SiteError`] names the rule that does not fit the nodes.
    pub fn with_site(self, site: Site) -> Result<Self, SiteError> {
        site.check(self.node_count())?;
        Ok(Self { site: Some(Arc::new(site)), ..self })
    }

    /// Returns the rules of the shared cluster, if the platform has any. Policies that do not support these rules
    /// ignore them.
    pub fn site(&self) -> Option<&Site> {
        self.site.as_deref()
    }

    /// Returns true if every job must be in its best placement.
    pub fn is_compact(&self) -> bool {
        self.compact == Some(true)
    }

    /// Returns true if some sets of processors are forbidden for every job. This is so if best placement is required,
    /// at least two nodes have processors, and at least one node has several processors.
    pub fn restricts_placement(&self) -> bool {
        let computing = || self.kinds().filter(|(node, _)| node.processors > 0);
        self.is_compact()
            && computing().map(|(_, count)| count).sum::<usize>() > 1
            && computing().any(|(node, _)| node.processors > 1)
    }

    /// Returns the number of processors of the largest node.
    pub fn largest_node(&self) -> u32 {
        self.kinds().map(|(node, _)| node.processors).max().unwrap_or(0)
    }

    /// Returns true if a job on these processors is in its best placement (see [`Platform::requiring_compact`]). Ids
    /// beyond the platform are ignored.
    pub fn is_best_placement(&self, processors: &ProcSet) -> bool {
        let (parts, largest) = (self.parts(processors), self.largest_node());
        let in_part = parts.iter().filter(|&&(node, count)| count < self.list.processors(node)).count();
        let width: u32 = parts.iter().map(|part| part.1).sum();
        let is_near = if width <= largest { parts.len() <= 1 } else { parts.iter().any(|part| part.1 == largest) };
        in_part <= 1 && is_near
    }

    /// Returns the nodes of which a job on these processors holds some, but not all processors. The nodes are in
    /// order. Ids beyond the platform are ignored.
    pub fn held_in_part(&self, processors: &ProcSet) -> Vec<usize> {
        let mut held = self.parts(processors);
        held.retain(|&(node, count)| count < self.list.processors(node));
        held.into_iter().map(|(node, _)| node).collect()
    }

    /// Returns the number of processors of each node, if all nodes with processors have equal numbers of processors.
    pub fn processors_per_node(&self) -> Option<u32> {
        let mut sizes = self.kinds().map(|(node, _)| node.processors).filter(|&size| size > 0);
        let first = sizes.next()?;
        sizes.all(|size| size == first).then_some(first)
    }

    /// Returns the nodes, in file order. For a platform from [`Platform::cluster`], the list is built at the first call
    /// and then uses memory for each node. [`Platform::kinds`] is cheaper if equal nodes need not be distinguished.
    pub fn nodes(&self) -> &[Node] {
        self.list.all()
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        self.list.len()
    }

    /// Returns the nodes, each with a count. A platform from [`Platform::cluster`] has a single entry for all its
    /// nodes. Any other platform has one entry per node.
    pub fn kinds(&self) -> impl Iterator<Item = (&Node, usize)> {
        let (nodes, count) = self.list.kinds();
        nodes.iter().map(move |node| (node, count))
    }

    /// Returns true if the network is a tree, that is, if some node has a parent.
    pub fn is_tree(&self) -> bool {
        self.kinds().any(|(node, _)| node.parent.is_some())
    }

    /// Returns the position of the node with this name. Takes constant time if [`Platform::is_cluster`] is true, and
    /// linear time otherwise.
    pub fn position_of(&self, name: &str) -> Option<usize> {
        self.list.position(name)
    }

    /// Returns true if the platform stores a single node and a count, because all nodes are equal. Such nodes have the
    /// names `n0`, `n1` ...
    pub fn is_cluster(&self) -> bool {
        self.list.is_stored_once()
    }

    /// Returns true if both platforms have the same nodes. Their rules and their networks may differ.
    pub fn has_nodes_of(&self, other: &Self) -> bool {
        self.list == other.list
    }

    /// Returns the total number of processors.
    pub fn processors(&self) -> u32 {
        self.processors
    }

    /// Returns the processor ids of one node.
    pub fn processors_of(&self, node: usize) -> ProcSet {
        let first = self.list.first(node);
        match self.list.processors(node) {
            0 => ProcSet::new(),
            count => ProcSet::range(first, first + count - 1),
        }
    }

    /// Returns the node of processor `id`.
    pub fn node_of(&self, id: u32) -> usize {
        self.list.node_of(id)
    }

    /// Returns the time of a task with this profile on these processors. If the profile states a time for each
    /// machine, the result is the time on the machine to which the processors belong. Otherwise, the result is the
    /// profile's time on this number of processors, at the speed of the slowest processor. Returns `None` if the task
    /// does not accept this number of processors or cannot run on this machine.
    pub fn time(&self, profile: &Profile, processors: &ProcSet) -> Option<Time> {
        let Some(row) = profile.machine_times() else {
            let count = processors.len();
            return profile.accepts(count).then(|| self.slowed(profile.time(count), processors));
        };
        let only = processors.last().filter(|&id| processors.len() == 1 && id < self.processors)?;
        row.get(self.node_of(only)).copied().filter(|&time| time < Profile::CANNOT_RUN)
    }

    /// Returns the time of a sequential task on one processor of a node, or `None` if the task is not sequential or
    /// cannot run on this node.
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

    /// Returns true if every node with processors has speed 1.
    pub fn has_unit_speed(&self) -> bool {
        self.unit_speed
    }

    /// Returns the lowest and the highest speed of all nodes with processors.
    pub fn speeds(&self) -> (f64, f64) {
        let computing = self.kinds().map(|(node, _)| node).filter(|node| node.processors > 0).map(|node| node.speed);
        computing.fold((f64::INFINITY, 0.0), |(low, high), speed| (low.min(speed), high.max(speed)))
    }

    /// Converts a time on processors of speed 1 to the time on the given processors, at the speed of the slowest one.
    /// Rounds up to a tick.
    pub fn slowed(&self, time: Time, processors: &ProcSet) -> Time {
        if self.unit_speed {
            return time;
        }
        let nodes = processors.intervals().iter().map(|&(first, last)| self.node_of(first)..=self.node_of(last));
        let speeds = nodes.flatten().map(|node| &self.nodes()[node]).filter(|node| node.processors > 0);
        let slowest = speeds.map(|node| node.speed).fold(f64::INFINITY, f64::min);
        time.divided_by(slowest)
    }

    /// Returns true if all processors have speed 1 and there is no tree network. Some sets of processors may still be
    /// forbidden ([`Platform::restricts_placement`]).
    pub fn is_homogeneous(&self) -> bool {
        let mut computing = self.kinds().map(|(node, _)| node).filter(|node| node.processors > 0);
        let speed = computing.next().map_or(1.0, |node| node.speed);
        (speed - 1.0).abs() < f64::EPSILON
            && computing.all(|node| (node.speed - speed).abs() < f64::EPSILON)
            && !self.is_tree()
    }
}

/// Checks that the parents of every node lead to a single root. Visits each node once: a path towards the root ends at
/// the first node that an earlier path has visited.
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

    /// Compares the answers of a platform that stores its equal nodes once with the answers of a platform that stores a
    /// list of the same nodes.
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
