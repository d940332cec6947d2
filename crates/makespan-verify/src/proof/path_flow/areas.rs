//! Area arcs. Between the end of one task and the start of another, tasks hold at most the available amounts.

use serde::{Deserialize, Serialize};

use super::super::error::unproved;
use super::super::{CertificateError, NodeKinds, NodeRun};
use super::rate::Rate;
use makespan_core::{Instance, TaskId};

/// A set of area arcs with common prices.
///
/// Let B be the tasks strictly between two tasks u and v: they wait for u, and v waits for them. Let `t_i` be the time
/// of task i, and `q_i` the price, for one tick, of the amounts that task i holds. Let R be the price of all available
/// amounts for one tick. All tasks of B run between the end of u and the start of v. In this time, they hold at most
/// the available amounts, so `R (start_v - end_u) >= sum_B q_i t_i`. An arc without u begins at the first release of a
/// task of B. An arc without v ends at the end of the schedule. The instants at which an arc begins and ends are
/// unknown, so closed periods cannot be subtracted from the available amounts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Areas {
    /// For each node, the price of a tick of one of its processors. Empty if processors have no price.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<u64>,
    /// Pairs of the name of a resource and the price of one unit of this resource for a tick.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<(String, u64)>,
    /// The arcs. Each arc has three values. The first two are positions among the distinct tasks: of the task after
    /// which the arc begins, and of the task before which the arc ends. The third value is the flow.
    pub arcs: Vec<(Option<u32>, Option<u32>, u64)>,
}

/// A set of area arcs, with sums of their flows.
pub(super) struct ArcSet<'a> {
    rate: Rate<'a>,
    /// The price of all available amounts for one tick.
    all: i128,
    /// For each distinct task, the total flow of the arcs that have this task strictly between their ends.
    flows: Vec<i128>,
}

/// The flow on the area arcs that end at tasks, and on the area arcs that begin at tasks or at a release date.
#[derive(Default)]
pub(super) struct AreaFlow {
    /// Pairs of the position of a distinct task, and a flow into this task.
    pub into: Vec<(usize, i128)>,
    /// Pairs of the position of a distinct task, and a flow out of this task.
    pub out: Vec<(usize, i128)>,
    /// The total flow of the arcs that begin at a release date instead of at a task.
    pub begins: i128,
    /// The sum, over the arcs that begin at a release date, of the flow of the arc multiplied by this date. `None` on
    /// overflow.
    pub released: Option<i128>,
}

impl<'a> ArcSet<'a> {
    /// Checks that the task at the end of each arc waits for the task at the beginning of the arc. An arc leads from a
    /// task to one of its indirect successors. For each task, sums the flow of the arcs that lead past it: the task
    /// comes after the beginning and before the end of these arcs. Takes O((tasks + edges) * arcs).
    pub(super) fn new(
        areas: &'a Areas,
        instance: &'a Instance,
        places: &'a NodeKinds<'a>,
        brought: &mut AreaFlow,
    ) -> Result<Self, CertificateError> {
        let rate = Rate::new(instance, places, &areas.prices, &areas.resources)?;
        let all = rate.of_all().ok_or(CertificateError::Overflow)?;
        let mut flows = vec![0_i128; instance.different_tasks()];
        let walk = TaskGraph::new(instance);
        let mut arcs: Vec<_> = areas.arcs.iter().collect();
        arcs.sort_unstable();
        let mut between = Vec::new();
        for same in arcs.chunk_by(|a, b| a.0 == b.0) {
            let behind = walk.behind(same[0].0)?;
            for &&(after, before, flow) in same {
                let flow = i128::from(flow);
                walk.between(&behind, before, &mut between)?;
                between.iter().for_each(|&row| flows[row] += flow);
                match after {
                    Some(row) => brought.out.push((row as usize, flow)),
                    None => {
                        let first = walk.first_release(&between, before);
                        brought.begins += flow;
                        let released = flow.checked_mul(first).zip(brought.released);
                        brought.released = released.and_then(|(own, sum)| sum.checked_add(own));
                    }
                }
                brought.into.extend(before.map(|row| (row as usize, flow)));
            }
        }
        Ok(Self { rate, all, flows })
    }

    /// Returns the payment of a run of a task for the area arcs, or `None` on overflow. The bound contains the sum,
    /// over all arcs, of the length of the arc multiplied by its flow. The payment is the minimum that the run adds to
    /// this sum.
    pub(super) fn paid(&self, row: usize, task: TaskId, run: &NodeRun) -> Option<i128> {
        let flow = self.flows[row];
        if flow == 0 || self.all == 0 {
            return Some(0);
        }
        let held = self.rate.of(task, run).unwrap_or(i128::MAX).saturating_mul(run.time);
        // If the product overflows, the division comes first. Then the result is rounded down more, so the bound
        // remains valid.
        let product = flow.checked_mul(held).map(|product| product / self.all);
        product.or_else(|| flow.checked_mul(held / self.all))
    }
}

/// The graph of the distinct tasks.
struct TaskGraph<'a> {
    instance: &'a Instance,
    /// The tasks in a topological order of the graph.
    order: Vec<TaskId>,
    /// For each distinct task, its position in `order`.
    place: Vec<usize>,
}

impl<'a> TaskGraph<'a> {
    fn new(instance: &'a Instance) -> Self {
        let order: Vec<TaskId> = instance.in_order().collect();
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &task)| place[instance.different(task)] = at);
        Self { instance, order, place }
    }

    fn known(&self, row: u32) -> Result<usize, CertificateError> {
        let problem =
            || CertificateError::Malformed("an area arc refers to a task that the instance does not have".into());
        Some(row as usize).filter(|&row| row < self.place.len()).ok_or_else(problem)
    }

    /// Returns, for each distinct task, true if this task waits for the task `after`, directly or indirectly. If
    /// `after` is `None`, because the arc begins at a release, the result is true for all tasks. Takes O(tasks +
    /// edges).
    fn behind(&self, after: Option<u32>) -> Result<Vec<bool>, CertificateError> {
        let Some(after) = after else { return Ok(vec![true; self.place.len()]) };
        let first = self.known(after)?;
        let mut behind = vec![false; self.place.len()];
        for &task in &self.order[self.place[first] + 1..] {
            let mut before = self.instance.incoming(task).map(|edge| self.instance.different(edge.from));
            behind[self.instance.different(task)] = before.any(|row| row == first || behind[row]);
        }
        Ok(behind)
    }

    /// Collects the distinct tasks strictly between the ends of an arc. `behind` marks the tasks that wait for the
    /// beginning of the arc. Takes O(tasks + edges), counting only the marked tasks.
    fn between(&self, behind: &[bool], before: Option<u32>, between: &mut Vec<usize>) -> Result<(), CertificateError> {
        between.clear();
        let Some(before) = before else {
            between.extend((0..behind.len()).filter(|&row| behind[row]));
            return Ok(());
        };
        let last = self.known(before)?;
        if !behind[last] {
            return unproved("an area arc leads to a task that does not wait for the task at which the arc begins");
        }
        let mut seen = vec![false; behind.len()];
        let mut stack = vec![last];
        while let Some(row) = stack.pop() {
            for edge in self.instance.incoming(self.order[self.place[row]]) {
                let from = self.instance.different(edge.from);
                if behind[from] && !seen[from] {
                    seen[from] = true;
                    between.push(from);
                    stack.push(from);
                }
            }
        }
        Ok(())
    }

    /// Returns the earliest release of the tasks `between`. If the list is empty, returns the release of the task
    /// `before`, or 0 if `before` is `None`.
    fn first_release(&self, between: &[usize], before: Option<u32>) -> i128 {
        let release = |row: usize| i128::from(self.instance.release(self.order[self.place[row]]).ticks());
        let least = between.iter().map(|&row| release(row)).min();
        least.or_else(|| before.map(|row| release(row as usize))).unwrap_or(0)
    }
}
