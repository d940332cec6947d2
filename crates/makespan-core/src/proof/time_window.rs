//! Why tasks that wait for each other cannot all end by a deadline.

use serde::{Deserialize, Serialize};

use super::reach::{Reach, Reaching};
use super::spans::{Span, Times};
use super::{CertificateError, Kind, Scope, Value};
use crate::model::{Instance, JobId, TaskId, Time};
use crate::schedule::Objective;

/// A refuted deadline: the windows of Fernandez and Bussell ("Bounds on the number of processors and time for
/// multiprocessor optimal schedules", IEEE Trans. Comput. C-22(8), 1973, DOI 10.1109/TC.1973.5009153) with a price for
/// the time of each machine.
///
/// Suppose that everything ends by `deadline`. A task cannot start before the longest path of tasks that lead to it has
/// ended, each at its fastest, and must end early enough for the longest path behind it. If that leaves too little time
/// for some task, the supposition is false. Otherwise a task that runs on a machine is at least so long within
/// `from .. until` as it would be if it started as early as possible, or ended as late as possible, whichever is less.
/// Each task pays the price of its machine for that time, and at least the least of all machines; if all of them
/// together pay more than the open time of the machines between `from` and `until` costs, the supposition is false,
/// too. The makespan is then at least `deadline` plus one tick. Transfers that no placement avoids count ([`Reaching`]); a task
/// that may hold several processors is not asked to pay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeWindow {
    /// The refuted deadline.
    pub deadline: Time,
    /// Beginning of the window.
    pub from: Time,
    /// End of the window.
    pub until: Time,
    /// For each node the price of a tick of one of its processors.
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
        self.of_jobs(instance, instance.ids()).map(Value::Integer)
    }
}

impl TimeWindow {
    /// The makespan that follows for these jobs, in ticks: `deadline + 1`. Other jobs only make it longer.
    ///
    /// # Errors
    /// [`CertificateError`] when the deadline is not refuted.
    pub(super) fn of_jobs(
        &self,
        instance: &Instance,
        jobs: impl IntoIterator<Item = JobId>,
    ) -> Result<i128, CertificateError> {
        let nodes = instance.platform().nodes().len();
        if self.prices.len() != nodes {
            let problem = format!("it has {} prices for {nodes} nodes", self.prices.len());
            return Err(CertificateError::Malformed(problem));
        }
        if self.from < Time::ZERO || self.until < self.from {
            return Err(CertificateError::Malformed("its window must not begin before 0 or after its end".into()));
        }
        let deadline = i128::from(self.deadline.ticks());
        let proven = Ok(deadline + 1);
        let mut needed = 0_i128;
        for id in jobs {
            match self.paid_by(instance, id)? {
                Some(paid) => needed = needed.checked_add(paid).ok_or(CertificateError::Overflow)?,
                None => return proven,
            }
        }
        let available = self.cost_of_open_time(instance)?;
        if needed > available {
            return proven;
        }
        Err(CertificateError::NotRefuted { deadline: self.deadline, needed, available })
    }

    /// What the tasks of a job pay at least; `None` when some task has too little time.
    fn paid_by(&self, instance: &Instance, id: JobId) -> Result<Option<i128>, CertificateError> {
        let job = instance.job(id);
        let times = Times::new(instance);
        let spans = times.spans(id);
        let deadline = i128::from(self.deadline.ticks());
        let reaching = Reaching::new(instance, id);
        let reach = match &reaching {
            Some(reaching) => match reaching.by(deadline) {
                Some(reach) => Some((reaching, reach)),
                None => return Ok(None),
            },
            None => None,
        };
        let mut sum = 0_i128;
        for (task, span) in spans.iter().enumerate() {
            if span.head + span.fastest + span.tail > deadline {
                return Ok(None);
            }
            let on = |node: usize| match &reach {
                Some((reaching, reach)) => narrowed(*span, reach, task, reaching.kind_of(node)?),
                None => Some(*span),
            };
            let Some(paid) = self.paid(&times, job.task(task as u32), on)? else { return Ok(None) };
            let paid = paid.checked_mul(i128::from(job.equal_tasks())).ok_or(CertificateError::Overflow)?;
            sum = sum.checked_add(paid).ok_or(CertificateError::Overflow)?;
        }
        Ok(Some(sum))
    }

    /// What one task pays on the machine where it pays least, with its span on each node; `None` when no machine runs it in
    /// its span.
    fn paid(
        &self,
        times: &Times<'_>,
        task: TaskId,
        span_on: impl Fn(usize) -> Option<Span>,
    ) -> Result<Option<i128>, CertificateError> {
        if times.instance.profile(task).max_processors() > 1 {
            return Ok(Some(0));
        }
        let (from, until) = (i128::from(self.from.ticks()), i128::from(self.until.ticks()));
        let mut least: Option<i128> = None;
        for (node, processor) in &times.nodes {
            let Some((time, span)) = times.on(task, processor).zip(span_on(*node)) else { continue };
            let latest = i128::from(self.deadline.ticks()) - span.tail;
            if span.head + time > latest {
                continue;
            }
            let early = span.head + time - from;
            let late = until - (latest - time);
            let within = time.min(until - from).min(early).min(late).max(0);
            let paid = within.checked_mul(i128::from(self.prices[*node])).ok_or(CertificateError::Overflow)?;
            least = Some(least.map_or(paid, |least| least.min(paid)));
        }
        Ok(least)
    }

    /// The open time of all processors within the window, at their prices.
    fn cost_of_open_time(&self, instance: &Instance) -> Result<i128, CertificateError> {
        let (from, until) = (self.from.ticks(), self.until.ticks());
        let length = i128::from(until) - i128::from(from);
        let mut sum = 0_i128;
        for (node, &price) in self.prices.iter().enumerate() {
            let own = instance.platform().processors_of(node);
            for class in instance.availability().classes() {
                let count = i128::from(own.intersection(&class.processors).len());
                let closed = class
                    .closed
                    .iter()
                    .map(|&(start, end)| i128::from((end.ticks().min(until) - start.ticks().max(from)).max(0)));
                let open = count * (length - closed.sum::<i128>());
                let cost = open.checked_mul(i128::from(price)).ok_or(CertificateError::Overflow)?;
                sum = sum.checked_add(cost).ok_or(CertificateError::Overflow)?;
            }
        }
        Ok(sum)
    }
}

/// When a task may run on a kind of node; `None` where it cannot run in time.
fn narrowed(span: Span, reach: &Reach, task: usize, kind: usize) -> Option<Span> {
    let (head, tail) = reach.of(task, kind)?;
    Some(Span { head: head.max(span.head), tail: tail.max(span.tail), ..span })
}

#[cfg(test)]
mod tests;
