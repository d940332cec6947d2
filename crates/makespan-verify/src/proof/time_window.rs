//! Refutation of a deadline by the work of tasks within a window of time.

use serde::{Deserialize, Serialize};

use super::capacity::{DeadlineWindow, open_cost};
use super::error::malformed;
use super::prices::{Sum, refute};
use super::reach::{JobReach, Reach};
use super::spans::{NodeTimes, TaskSpan};
use super::{CertificateError, Kind, NodeKinds, Scope, Spans, Value};
use makespan_core::{Instance, JobId, Objective, TaskId, Time};

/// A refuted deadline: the windows of Fernandez and Bussell ("Bounds on the number of processors and time for
/// multiprocessor optimal schedules", IEEE Trans. Comput. C-22(8), 1973, DOI 10.1109/TC.1973.5009153) extended by a
/// price for the time of each machine.
///
/// Suppose that all tasks end by `deadline`. A task cannot start before the end of the longest path of tasks before
/// it. The task must end early enough for the longest path of tasks after it. On these paths, each task has its
/// shortest time. If the remaining time is too short for some task, the supposition is false.
///
/// Otherwise, consider a task on a machine. The time for which the task runs within `from .. until` is smallest if the
/// task starts as early or as late as possible. The task pays the price of the machine for this time. So the task pays
/// at least the minimum of this payment over all machines. If the payments of all tasks sum to more than the price of
/// the open time of the machines between `from` and `until`, the supposition is also false. In both cases, the makespan
/// is at least `deadline` plus one tick.
///
/// Paths include the edges between jobs, and the transfers that no placement can avoid ([`JobReach`]). A task that
/// holds several processors pays, for each of them, the minimum price of the nodes that are at least as fast as its
/// slowest processor. The check takes the minimum of this payment over all allotments, and over all possible speeds of
/// the slowest processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeWindow {
    /// The refuted deadline.
    pub deadline: Time,
    /// Beginning of the window.
    pub from: Time,
    /// End of the window.
    pub until: Time,
    /// For each node, the price of a tick of one of its processors. Empty if all prices are zero.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<u64>,
}

impl Kind for TimeWindow {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::Makespan]
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    fn value(&self, _: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        self.of_jobs(&WindowData::new(instance), instance.ids(), false).map(Value::Integer)
    }
}

/// Data about an instance that do not depend on the deadline, so they are computed only once.
pub(super) struct WindowData<'a> {
    pub(super) times: NodeTimes<'a>,
    pub(super) places: NodeKinds<'a>,
    pub(super) spans: Spans,
}

impl<'a> WindowData<'a> {
    pub(super) fn new(instance: &'a Instance) -> Self {
        let places = NodeKinds::new(instance);
        let spans = Spans::new(&places, instance);
        Self { times: NodeTimes::new(instance), places, spans }
    }
}

/// A window, the price of each node, and the minimum price of each kind of node.
struct PricedWindow<'a> {
    window: DeadlineWindow,
    by_node: &'a [u64],
    by_kind: Vec<u64>,
}

impl TimeWindow {
    /// Returns the proven earliest end of a job, in ticks: `deadline + 1`. Only the job and its predecessors are
    /// considered.
    ///
    /// # Errors
    /// [`CertificateError`] if the deadline is not refuted.
    pub(super) fn of_job(&self, known: &WindowData<'_>, id: JobId) -> Result<i128, CertificateError> {
        self.of_jobs(known, [id], true)
    }

    /// Returns the proven makespan, in ticks, of these jobs: `deadline + 1`. This value also bounds the makespan of
    /// the instance, because other jobs never shorten a schedule. If `alone` is true, jobs that wait for these jobs
    /// are ignored.
    fn of_jobs(
        &self,
        known: &WindowData<'_>,
        jobs: impl IntoIterator<Item = JobId>,
        alone: bool,
    ) -> Result<i128, CertificateError> {
        let instance = known.times.instance;
        let nodes = instance.platform().nodes().len();
        if !self.prices.is_empty() && self.prices.len() != nodes {
            return malformed(format!("there are {} prices for {nodes} nodes", self.prices.len()));
        }
        let window = DeadlineWindow::new(self.deadline, self.from, self.until)?;
        let by_kind = known.places.least_prices(&self.prices);
        let priced = PricedWindow { window, by_node: &self.prices, by_kind };
        let mut needed = Sum::default();
        for id in jobs {
            let Some(paid) = priced.paid_by(known, id, alone)? else { return Ok(window.deadline + 1) };
            needed.add(Some(paid))?;
        }
        let available = open_cost(instance, &self.prices, window.from, window.until);
        refute(self.deadline, needed.0, available.ok_or(CertificateError::Overflow)?)
    }
}

impl PricedWindow<'_> {
    /// Returns the minimum total payment of the tasks of a job, or `None` if some task cannot run within its span.
    fn paid_by(&self, known: &WindowData<'_>, id: JobId, alone: bool) -> Result<Option<i128>, CertificateError> {
        let instance = known.times.instance;
        let job = instance.job(id);
        let own = alone.then(|| known.spans.alone(instance, id));
        let spans = own.as_deref().unwrap_or_else(|| known.spans.of_job(instance, id));
        let deadline = self.window.deadline;
        if spans.iter().any(|span| span.head + span.fastest + span.tail > deadline) {
            return Ok(None);
        }
        let reaching = JobReach::new(instance, id).map(|reaching| reaching.within(spans));
        let reach = match &reaching {
            Some(reaching) => match reaching.by(deadline) {
                Some(reach) => Some((reaching, reach)),
                None => return Ok(None),
            },
            None => None,
        };
        let mut sum = 0_i128;
        for (number, span) in spans.iter().enumerate() {
            let task = job.task(number as u32);
            let paid = match &reach {
                Some((reaching, reach)) => {
                    let on = |node: usize| narrowed(*span, reach, number, reaching.kind_of(node)?);
                    self.paid_on_nodes(&known.times, task, on)?
                }
                None => self.paid(&known.places, task, *span)?,
            };
            let Some(paid) = paid else { return Ok(None) };
            let paid = paid.checked_mul(i128::from(job.equal_tasks())).ok_or(CertificateError::Overflow)?;
            sum = sum.checked_add(paid).ok_or(CertificateError::Overflow)?;
        }
        Ok(Some(sum))
    }

    /// Returns the minimum payment of one task, or `None` if the task cannot run in its span.
    fn paid(&self, places: &NodeKinds<'_>, task: TaskId, span: TaskSpan) -> Result<Option<i128>, CertificateError> {
        let mut least: Option<Option<i128>> = None;
        places.each(task, |run| {
            let Some(time) = self.window.least(span.head, run.time, span.tail) else { return };
            let price = if self.by_node.is_empty() { 0 } else { places.price(run, self.by_node, &self.by_kind) };
            let paid = time.checked_mul(i128::from(price)).and_then(|paid| paid.checked_mul(run.first.into()));
            // A payment that overflows is larger than any other payment.
            least = Some(match (least.flatten(), paid) {
                (Some(least), Some(paid)) => Some(least.min(paid)),
                (least, paid) => least.or(paid),
            });
        });
        least.map(|least| least.ok_or(CertificateError::Overflow)).transpose()
    }

    /// Returns the minimum payment of a task of one processor over all nodes, within its span on each node. Returns
    /// `None` if there is no node on which the task can run in its span.
    fn paid_on_nodes(
        &self,
        times: &NodeTimes<'_>,
        task: TaskId,
        span_on: impl Fn(usize) -> Option<TaskSpan>,
    ) -> Result<Option<i128>, CertificateError> {
        let mut least: Option<i128> = None;
        for (node, processor) in &times.nodes {
            let Some((time, span)) = times.on(task, processor).zip(span_on(*node)) else { continue };
            let Some(within) = self.window.least(span.head, time, span.tail) else { continue };
            let price = self.by_node.get(*node).copied().unwrap_or(0);
            let paid = within.checked_mul(i128::from(price)).ok_or(CertificateError::Overflow)?;
            least = Some(least.map_or(paid, |least| least.min(paid)));
        }
        Ok(least)
    }
}

/// Returns the span of a task on a kind of node. Returns `None` if the task cannot run on this kind of node by the
/// deadline.
fn narrowed(span: TaskSpan, reach: &Reach, task: usize, kind: usize) -> Option<TaskSpan> {
    let (head, tail) = reach.of(task, kind)?;
    Some(TaskSpan { head: head.max(span.head), tail: tail.max(span.tail), ..span })
}

#[cfg(test)]
mod tests;
