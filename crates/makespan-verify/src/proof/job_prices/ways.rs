//! For each task of a job, its choices of an allotment and nodes, each with its payment per tick.

use makespan_core::{Instance, JobId};

use crate::proof::time_window::WindowData;
use crate::proof::{CertificateError, JobReach, JobSpans, WorkBlock};

/// A choice of an allotment and nodes for a task. The task starts at or after `head`, runs for `time` ticks, and ends
/// at least `tail` ticks before the end of the job. In each tick, the task pays the price multiplied by `rate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskWay {
    pub(super) head: i128,
    pub(super) time: i128,
    pub(super) tail: i128,
    pub(super) rate: i128,
}

impl TaskWay {
    /// Returns the earliest end of the job if the task uses this choice.
    pub(super) fn first(&self) -> i128 {
        self.head + self.time + self.tail
    }

    /// Returns true if this choice is at least as good as `other`, whatever the prices are.
    fn replaces(&self, other: &Self) -> bool {
        self.head <= other.head && self.time <= other.time && self.tail <= other.tail && self.rate <= other.rate
    }
}

/// The choices for each distinct task of a job, and a lower bound on the end of the job.
pub(super) struct JobWays {
    pub(super) tasks: Vec<Vec<TaskWay>>,
    /// The latest work of the job ([`JobSpans::blocks`]). Each block is a task with one choice.
    pub(super) blocks: Vec<Vec<TaskWay>>,
    pub(super) soonest: i128,
    /// The least head of a task.
    pub(super) head: i128,
}

/// Maximum number of choices for a task. If there are more, several choices are replaced by one that is at least as
/// good as each of them.
const MAX_WAYS: usize = 16;
/// An instant after the end of every schedule.
const LATE: i128 = i64::MAX as i128;

/// Returns the choices for each distinct task of a job. Omits a choice if another choice is at least as good at any
/// prices.
pub(super) fn of_job(known: &WindowData<'_>, id: JobId, shares: &[u64]) -> Result<JobWays, CertificateError> {
    let instance: &Instance = known.times.instance;
    let job = instance.job(id);
    let JobSpans { tasks: spans, soonest, blocks, rate } =
        JobSpans::new(&known.spans, &known.places, instance, (id, shares))?;
    let reaching = JobReach::new(instance, id).map(|reaching| reaching.within(&spans));
    let reach = match reaching {
        Some(reaching) => Some((reaching.by(LATE).ok_or(CertificateError::Overflow)?, reaching)),
        None => None,
    };
    let by_kind = known.places.least_prices(shares);
    let each = spans.iter().enumerate().map(|(number, span)| {
        let task = job.task(number as u32);
        let mut ways = Vec::new();
        let mut add = |way: TaskWay| {
            if !ways.iter().any(|other: &TaskWay| other.replaces(&way)) {
                ways.retain(|other| !way.replaces(other));
                ways.push(way);
            }
        };
        if let Some((reach, reaching)) = &reach {
            for (node, processor) in &known.times.nodes {
                let Some(time) = known.times.on(task, processor) else { continue };
                let Some((head, tail)) = reaching.kind_of(*node).and_then(|kind| reach.of(number, kind)) else {
                    continue;
                };
                let (head, tail) = (head.max(span.head), tail.max(span.tail));
                add(TaskWay { head, time, tail, rate: shares[*node].into() });
            }
        } else {
            known.places.each(task, |run| {
                let share = i128::from(known.places.price(run, shares, &by_kind));
                add(TaskWay { head: span.head, time: run.time, tail: span.tail, rate: share * i128::from(run.first) });
            });
        }
        if ways.is_empty() { Err(CertificateError::Overflow) } else { Ok(joined(ways)) }
    });
    let head = spans.iter().map(|span| span.head).min().unwrap_or(0);
    let block = |block: &WorkBlock| vec![TaskWay { head, time: block.time, tail: block.tail, rate }];
    Ok(JobWays { tasks: each.collect::<Result<_, _>>()?, blocks: blocks.iter().map(block).collect(), soonest, head })
}

/// If there are more than [`MAX_WAYS`] choices, replaces choices with similar times by one choice that is at least as
/// good as each of them.
fn joined(mut ways: Vec<TaskWay>) -> Vec<TaskWay> {
    if ways.len() <= MAX_WAYS {
        return ways;
    }
    ways.sort_unstable_by_key(|way| (way.time, way.rate, way.head, way.tail));
    let each = ways.chunks(ways.len().div_ceil(MAX_WAYS)).map(|some| {
        let least = |of: fn(&TaskWay) -> i128| some.iter().map(of).min().unwrap_or(0);
        TaskWay {
            head: least(|way| way.head),
            time: least(|way| way.time),
            tail: least(|way| way.tail),
            rate: least(|way| way.rate),
        }
    });
    each.collect()
}
