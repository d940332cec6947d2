//! *Slots*: the nodes of the plan that have processors. A cluster node serves each slot.

use makespan_core::{Outage, Platform, ProcSet, Resource, ResourceKind};

use crate::engine::Notice;

/// A node of the plan that has processors.
#[derive(Debug)]
struct Slot {
    name: String,
    processors: ProcSet,
    /// The index of the first GPU of the node among all GPUs of the platform, and the number of GPUs of the node.
    gpus: (u64, u64),
    /// The cluster node that must serve this slot. `None` if any node may serve it.
    host: Option<String>,
    is_open: bool,
}

/// The slots, in the order of the plan.
#[derive(Debug)]
pub struct NodeSlots {
    all: Vec<Slot>,
    /// The first slot of each pilot.
    firsts: Vec<usize>,
}

impl NodeSlots {
    /// Builds the slots of a platform. `sizes` contains the number of nodes of each pilot. `hosts` contains, for each
    /// slot, the cluster node that must serve it.
    ///
    /// # Errors
    /// The pilots have another number of nodes than the platform.
    pub fn of(platform: &Platform, sizes: &[usize], hosts: Vec<Option<String>>) -> Result<Self, String> {
        let mut hosts = hosts.into_iter();
        let gpus = platform.resource(Resource::GPUS);
        let gpus = gpus.filter(|&id| platform.resource_of(id).kind == ResourceKind::OfNodes);
        let mut first_gpu = 0;
        let mut all = Vec::new();
        for (index, node) in platform.nodes().iter().enumerate().filter(|(_, node)| node.processors > 0) {
            let own = gpus.map_or(0, |id| platform.amount(index, id));
            let (name, processors) = (node.name.clone(), platform.processors_of(index));
            let host = hosts.next().flatten();
            all.push(Slot { name, processors, gpus: (first_gpu, own), host, is_open: true });
            first_gpu += own;
        }
        let asked: usize = sizes.iter().sum();
        if asked != all.len() {
            return Err(format!(
                "the plan is for {} nodes, but the pilots have {asked}; request pilots with the number of nodes of \
                 the plan",
                all.len()
            ));
        }
        let firsts = sizes.iter().scan(0, |next, size| {
            let first = *next;
            *next += size;
            Some(first)
        });
        Ok(Self { firsts: firsts.collect(), all })
    }

    /// Returns the number of slots.
    #[expect(clippy::len_without_is_empty, reason = "a platform has at least one node with processors")]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the slots of the pilot of a seat.
    pub fn of_seat(&self, seat: usize) -> std::ops::Range<usize> {
        self.firsts[seat]..self.firsts.get(seat + 1).copied().unwrap_or(self.all.len())
    }

    /// Returns the seat of the pilot that serves a slot.
    pub fn seat(&self, slot: usize) -> usize {
        self.firsts.partition_point(|&first| first <= slot) - 1
    }

    /// Returns the processors of a slot on the platform.
    pub fn processors(&self, slot: usize) -> &ProcSet {
        &self.all[slot].processors
    }

    /// Returns the number of GPUs of a slot in the plan.
    pub fn gpu_count(&self, slot: usize) -> u64 {
        self.all[slot].gpus.1
    }

    /// Returns the name of a slot in the plan.
    pub fn name(&self, slot: usize) -> &str {
        &self.all[slot].name
    }

    /// Chooses a free slot for a cluster node. Prefers the slot that requires this node, then a slot with the node's
    /// name, then a slot that requires no node.
    pub fn choose(&self, free: &[usize], node: &str) -> Option<usize> {
        let find = |matches: &dyn Fn(&Slot) -> bool| free.iter().copied().find(|&slot| matches(&self.all[slot]));
        let own = find(&|slot| slot.host.as_deref() == Some(node));
        let named = || find(&|slot| slot.host.is_none() && slot.name == node);
        own.or_else(named).or_else(|| find(&|slot| slot.host.is_none()))
    }

    /// Closes a slot, so that no task starts on it. Returns a notice if the slot was open.
    pub fn close(&mut self, slot: usize) -> Option<Notice> {
        let (outage, processors) = (Outage(slot as u32), self.all[slot].processors.clone());
        let was_open = std::mem::replace(&mut self.all[slot].is_open, false);
        was_open.then_some(Notice::Down { outage, processors, expected: None })
    }

    /// Opens a slot. Returns a notice if the slot was closed.
    pub fn open(&mut self, slot: usize) -> Option<Notice> {
        let was_open = std::mem::replace(&mut self.all[slot].is_open, true);
        (!was_open).then_some(Notice::Up(Outage(slot as u32)))
    }

    /// Returns the slot of the first of the processors.
    pub fn first_of(&self, processors: &ProcSet) -> Option<usize> {
        let first = processors.iter().next()?;
        self.all.iter().position(|slot| slot.processors.contains(first))
    }

    /// Splits the processors of a task by slot. Within each slot, processors are numbered from 0.
    pub fn parts(&self, processors: &ProcSet) -> Vec<(usize, ProcSet)> {
        let part = |(index, slot): (usize, &Slot)| {
            let own = slot.processors.intersection(processors);
            let first = slot.processors.iter().next()?;
            let here = own.intervals().iter().map(|&(from, to)| (from - first, to - first)).collect();
            (!own.is_empty()).then(|| (index, ProcSet::from_intervals(here)))
        };
        self.all.iter().enumerate().filter_map(part).collect()
    }

    /// Converts GPU numbers of the platform to GPU numbers of a slot. Within a slot, GPUs are numbered from 0. If GPUs
    /// belong to no node, returns the numbers unchanged.
    pub fn gpus(&self, slot: usize, numbers: &[u64]) -> Vec<u64> {
        let (first, own) = self.all[slot].gpus;
        if self.all.iter().all(|slot| slot.gpus.1 == 0) {
            return numbers.to_vec();
        }
        let here = numbers.iter().filter(|&&number| (first..first + own).contains(&number));
        here.map(|number| number - first).collect()
    }
}

#[cfg(test)]
mod tests {
    use makespan_core::{Node, Resources};

    use super::*;

    #[test]
    fn processors_and_gpus_are_numbered_through_the_platform_and_on_each_node() {
        let node = |name: &str, processors, gpus| {
            let resources = Resources::new([("gpus", gpus)]).unwrap();
            Node { resources, ..Node::new(name, processors) }
        };
        let platform = Platform::new(vec![node("a", 2, 1), node("switch", 0, 9), node("b", 4, 2)]).unwrap();
        let mut slots = NodeSlots::of(&platform, &[1, 1], vec![None, Some("x".into())]).unwrap();
        assert!(NodeSlots::of(&platform, &[3], vec![]).is_err());
        let parts = |text: &str| {
            let parts = slots.parts(&text.parse().unwrap()).into_iter();
            parts.map(|(slot, here)| format!("{slot}:{here}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!((parts("0-3"), parts("5"), parts("1")), ("0:0-1 1:0-1".into(), "1:3".into(), "0:1".into()));
        assert_eq!((slots.gpus(0, &[0, 2]), slots.gpus(1, &[0, 2])), (vec![0], vec![1]));
        assert_eq!((slots.first_of(&ProcSet::range(3, 4)), slots.seat(0), slots.seat(1)), (Some(1), 0, 1));
        assert!(slots.close(1).is_some() && slots.close(1).is_none());
        assert!(slots.open(1).is_some() && slots.open(1).is_none());
        let chosen = |free: &[usize], node: &str| slots.choose(free, node);
        assert_eq!((chosen(&[0, 1], "x"), chosen(&[0, 1], "b"), chosen(&[1], "y")), (Some(1), Some(0), None));
        assert_eq!((slots.of_seat(0), slots.of_seat(1)), (0..1, 1..2));
    }
}
