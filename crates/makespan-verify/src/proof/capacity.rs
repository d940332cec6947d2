//! The amounts of processors and resources that are available between two instants.

use super::CertificateError;
use super::error::malformed;
use makespan_core::{Instance, ResourceId, ResourceKind, Time};

/// The number of processors of a node, and the periods in which some of these processors are closed.
pub(super) struct OpenProcessors<'a> {
    processors: i128,
    /// Groups of processors that are closed in the same periods. Each entry contains the number of processors of a
    /// group, and the periods.
    closed: Vec<(i128, &'a [(Time, Time)])>,
}

impl<'a> OpenProcessors<'a> {
    /// Collects the processors of a node. Takes O(g) for g groups of processors that are closed in the same periods.
    pub(super) fn new(instance: &'a Instance, node: usize) -> Self {
        let own = instance.platform().processors_of(node);
        let classes = instance.availability().classes().iter().filter(|class| !class.closed.is_empty());
        let closed = classes.map(|class| (own.intersection(&class.processors).len().into(), &class.closed[..]));
        Self { processors: own.len().into(), closed: closed.filter(|closed| closed.0 > 0).collect() }
    }

    /// Returns the open time within a window, summed over all processors of the node, in ticks. Returns `None` on
    /// overflow.
    pub(super) fn within(&self, from: i128, until: i128) -> Option<i128> {
        let closed =
            self.closed.iter().flat_map(|&(count, periods)| periods.iter().map(move |&period| (count, period)));
        let closed: i128 = closed.map(|(count, period)| count * overlap(period, from, until)).sum();
        self.processors.checked_mul((until - from).max(0))?.checked_sub(closed)
    }
}

/// Returns the price of all open processors within a window. For each node, this is the open time of its processors,
/// multiplied by the price of the node. Takes O(nodes * groups), where a group is a set of processors that are closed
/// in the same periods. Returns `None` on overflow.
pub(super) fn open_cost(instance: &Instance, prices: &[u64], from: i128, until: i128) -> Option<i128> {
    let mut priced = prices.iter().enumerate().filter(|&(_, &price)| price > 0);
    priced.try_fold(0_i128, |sum, (node, &price)| {
        sum.checked_add(OpenProcessors::new(instance, node).within(from, until)?.checked_mul(price.into())?)
    })
}

/// Returns the available amount of a resource, summed over the ticks of a window. The amounts of a node are
/// unavailable while all its processors are closed.
pub(super) fn open_amount(instance: &Instance, resource: ResourceId, from: i128, until: i128) -> Option<i128> {
    let platform = instance.platform();
    let length = (until - from).max(0);
    let total = i128::try_from(platform.total(resource)).ok()?;
    let whole = total.checked_mul(length)?;
    if platform.resource_of(resource).kind != ResourceKind::OfNodes || instance.availability().is_always_open() {
        return Some(whole);
    }
    let mut closed = 0_i128;
    for node in 0..platform.nodes().len() {
        let amount = platform.amount(node, resource);
        if amount > 0 && platform.nodes()[node].processors > 0 {
            let own: i128 = closed_nodes(instance, node).iter().map(|&period| overlap(period, from, until)).sum();
            closed = closed.checked_add(own.checked_mul(amount.into())?)?;
        }
    }
    whole.checked_sub(closed)
}

/// Returns the periods in which all processors of a node are closed, ascending.
fn closed_nodes(instance: &Instance, node: usize) -> Vec<(Time, Time)> {
    let own = instance.platform().processors_of(node);
    let classes = instance.availability().classes().iter();
    let mut classes = classes.filter(|class| !own.intersection(&class.processors).is_empty());
    let first = classes.next().map(|class| class.closed.clone()).unwrap_or_default();
    classes.fold(first, |both, class| {
        let meet = |&(start, end): &(Time, Time)| {
            let other = class.closed.iter();
            other.map(move |&(from, until)| (start.max(from), end.min(until))).filter(|(start, end)| start < end)
        };
        both.iter().flat_map(meet).collect()
    })
}

fn overlap((start, end): (Time, Time), from: i128, until: i128) -> i128 {
    (i128::from(end.ticks()).min(until) - i128::from(start.ticks()).max(from)).max(0)
}

/// A deadline by which all tasks are assumed to end, and a window of time before the deadline.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeadlineWindow {
    pub(super) deadline: i128,
    pub(super) from: i128,
    pub(super) until: i128,
}

impl DeadlineWindow {
    /// Creates the window from `from` to `until`, for the supposition that all tasks end by `deadline`.
    ///
    /// # Errors
    /// [`CertificateError::Malformed`] if the window begins before 0 or after its end.
    pub(super) fn new(deadline: Time, from: Time, until: Time) -> Result<Self, CertificateError> {
        if from < Time::ZERO || until < from {
            return malformed("the window begins before 0 or after its end");
        }
        let [deadline, from, until] = [deadline, from, until].map(|time| i128::from(time.ticks()));
        Ok(Self { deadline, from, until })
    }

    /// Returns the minimum time, in ticks, for which a task of duration `time` runs within the window, over all its
    /// possible starts. This minimum occurs at the earliest or at the latest start. Returns `None` if the task cannot
    /// meet the deadline.
    pub(super) fn least(&self, head: i128, time: i128, tail: i128) -> Option<i128> {
        let latest = self.deadline - tail;
        if head + time > latest {
            return None;
        }
        let (early, late) = (head + time - self.from, self.until - (latest - time));
        Some(time.min(self.until - self.from).min(early).min(late).max(0))
    }
}
