//! Sets of nodes to which a task can be restricted.

use crate::kernel::packing::machines::PackingMachines;

/// The index of a set of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeSet(u32);

impl NodeSet {
    /// The set of all nodes.
    pub const ANY: Self = Self(0);
}

/// All sets of nodes to which a task can be restricted. These are the set of all nodes, the groups of equal nodes, and
/// each single node. For each speed, the nodes that are at least as fast also form a set.
#[derive(Clone, Debug)]
pub struct Sites {
    /// The nodes of each set, in the order of the packing.
    nodes: Vec<u32>,
    begins: Vec<u32>,
    /// For each node, the index of the set that contains only this node.
    alone: Vec<NodeSet>,
}

impl Sites {
    pub(super) fn new(machines: &PackingMachines) -> Self {
        let count = machines.nodes.len() as u32;
        let mut sites = Self { nodes: Vec::new(), begins: vec![0], alone: Vec::new() };
        sites.add(0..count);
        for &(_, end) in &machines.classes {
            sites.add(0..end as u32);
        }
        let kind = |node: u32| {
            let at = node as usize;
            let amounts = &machines.amounts[at * machines.resources..][..machines.resources];
            (machines.class_of(at), amounts, machines.nodes[at].processors)
        };
        let mut by_kind: Vec<u32> = (0..count).collect();
        by_kind.sort_by_key(|&node| (kind(node), node));
        let kinds = by_kind.chunk_by(|&a, &b| kind(a) == kind(b));
        kinds.filter(|nodes| nodes.len() > 1).for_each(|nodes| {
            sites.add(nodes.iter().copied());
        });
        sites.alone = (0..count).map(|node| sites.add([node])).collect();
        sites
    }

    /// Returns the index of the set of these nodes. Adds the set if it is new.
    fn add(&mut self, nodes: impl IntoIterator<Item = u32>) -> NodeSet {
        let begin = self.nodes.len();
        self.nodes.extend(nodes);
        let of = |site: &[u32]| &self.nodes[site[0] as usize..site[1] as usize];
        // Search for an equal set only if the set has several nodes. There are few such sets. Each single node is
        // added only once.
        let several = self.nodes.len() - begin > 1 || self.begins.len() == 2;
        let known =
            if several { self.begins.windows(2).position(|site| *of(site) == self.nodes[begin..]) } else { None };
        if let Some(known) = known {
            self.nodes.truncate(begin);
            return NodeSet(known as u32);
        }
        self.begins.push(self.nodes.len() as u32);
        NodeSet(self.begins.len() as u32 - 2)
    }

    /// Returns the set that contains only this node.
    pub(crate) fn alone(&self, node: usize) -> NodeSet {
        self.alone[node]
    }

    /// Returns the number of sets.
    pub fn count(&self) -> u32 {
        self.begins.len() as u32 - 1
    }

    /// Returns the set with this index.
    pub fn at(&self, number: u32) -> NodeSet {
        debug_assert!(number < self.count());
        NodeSet(number)
    }

    pub(super) fn nodes(&self, site: NodeSet) -> &[u32] {
        let at = site.0 as usize;
        &self.nodes[self.begins[at] as usize..self.begins[at + 1] as usize]
    }
}
