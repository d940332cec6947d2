//! The classes of processors that a skyline distinguishes, and best placement among them.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use makespan_core::availability::Class;
use makespan_core::{Instance, ProcSet};

/// The nodes of a platform that requires best placement. If all processors of a node are closed at the same times,
/// they form one class. Otherwise, they form several classes.
#[derive(Debug)]
pub(super) struct Nodes {
    sizes: Vec<i32>,
    /// The classes of each node.
    classes: Vec<Range<usize>>,
    /// The nodes by decreasing size.
    by_size: Vec<usize>,
    /// Whether each node consists of exactly one class.
    plain: bool,
    pools: Vec<ProcSet>,
}

/// Returns the classes. The processors of a class are available at exactly the same times. If best placement is
/// required, all processors of a class also belong to one node.
pub(super) fn classes(instance: &Instance) -> (Cow<'_, [Class]>, Option<Nodes>) {
    let available = instance.availability().classes();
    let platform = instance.platform();
    if !platform.restricts_placement() {
        return (Cow::Borrowed(available), None);
    }
    let mut all: Vec<Class> = Vec::new();
    let (mut sizes, mut ranges) = (Vec::new(), Vec::new());
    for node in (0..platform.nodes().len()).filter(|&node| platform.nodes()[node].processors > 0) {
        let own = platform.processors_of(node);
        let begin = all.len();
        let parts = available.iter().map(|class| (class.processors.intersection(&own), class));
        let parts = parts.filter(|(processors, _)| !processors.is_empty());
        all.extend(parts.map(|(processors, class)| Class { processors, closed: class.closed.clone() }));
        sizes.push(own.len() as i32);
        ranges.push(begin..all.len());
    }
    let mut by_size: Vec<usize> = (0..sizes.len()).collect();
    by_size.sort_by_key(|&node| Reverse(sizes[node]));
    let plain = all.len() == sizes.len();
    let pools = all.iter().map(|class| class.processors.clone()).collect();
    (Cow::Owned(all), Some(Nodes { sizes, classes: ranges, by_size, plain, pools }))
}

impl Nodes {
    pub(super) fn pools(&self) -> &[ProcSet] {
        &self.pools
    }

    /// Returns the maximum number of processors of a best placement. `free` contains the number of free processors of
    /// each class. Usually, the result is the largest number of free processors on one node. If a node of the largest
    /// size is entirely free, a best placement may use all entirely free nodes, and the partly free node with the most
    /// free processors. The result is then the number of free processors on all these nodes.
    pub(super) fn widest(&self, free: &[i32]) -> i32 {
        let (mut whole, mut part, mut most) = (0, 0, 0);
        let mut add = |free: i32, size: i32| {
            let is_whole = free == size;
            whole += if is_whole { size } else { 0 };
            part = part.max(if is_whole { 0 } else { free });
            most = most.max(free);
        };
        if self.plain {
            free.iter().zip(&self.sizes).for_each(|(&free, &size)| add(free, size));
        } else {
            (0..self.sizes.len()).for_each(|node| add(self.free(node, free), self.sizes[node]));
        }
        if most == self.largest() { whole + part } else { most }
    }

    fn largest(&self) -> i32 {
        self.by_size.first().map_or(0, |&node| self.sizes[node])
    }

    /// Takes a best placement of `width` processors. `width` must be at most [`Nodes::widest`]. If the processors fit
    /// on one node, takes them from one node. Otherwise, takes entirely free nodes as a whole while they fit, the
    /// largest first, and the remaining processors from one more node. For this last node, partly used nodes are
    /// preferred to free nodes, and then nodes with fewer free processors.
    pub(super) fn take(&self, width: i32, free: &[i32], taken: &mut [i32]) {
        taken.fill(0);
        let mut rest = width;
        let wide = if width < self.largest() { &[] } else { &self.by_size[..] };
        for &node in wide {
            let size = self.sizes[node];
            if size <= rest && self.free(node, free) == size {
                let classes = self.classes[node].clone();
                taken[classes.clone()].copy_from_slice(&free[classes]);
                rest -= size;
            }
        }
        if rest == 0 {
            return;
        }
        let left = (0..self.sizes.len()).filter(|&node| taken[self.classes[node].start] == 0);
        let ranked = left.map(|node| (node, self.free(node, free))).filter(|&(_, free)| free >= rest);
        let Some((_, _, node)) = ranked.map(|(node, free)| (free == self.sizes[node], free, node)).min() else {
            return;
        };
        for class in self.classes[node].clone() {
            taken[class] = rest.min(free[class]);
            rest -= taken[class];
        }
    }

    fn free(&self, node: usize, free: &[i32]) -> i32 {
        free[self.classes[node].clone()].iter().sum()
    }
}
