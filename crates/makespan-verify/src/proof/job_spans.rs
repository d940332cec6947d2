//! Spans of the tasks of a job from the work of the tasks before and after them.

use std::cmp::Reverse;

use makespan_core::{Instance, JobId, TaskId};

use super::{CertificateError, NodeKinds, Spans, TaskSpan};

/// Maximum number of tasks of a job. Spans of larger jobs depend only on paths.
const MAX_TASKS: usize = 1 << 11;

/// The spans of a job, ignoring the jobs that wait for this job, and the work of the job. The work of a run of a task
/// is its time, multiplied by the shares of the processors that it holds.
#[derive(Clone, Debug)]
pub struct JobSpans {
    /// The spans of the tasks, by their positions in the job. A bag has one span.
    pub tasks: Vec<TaskSpan>,
    /// A lower bound on the end of the job, in ticks.
    pub soonest: i128,
    /// The latest work of the job, in ascending order of tails. For every time x, the tasks of the job do at most as
    /// much work in the last x ticks of the job as all processors do in these blocks. Empty if the job is a single
    /// task.
    pub blocks: Vec<WorkBlock>,
    /// The work of all processors in one tick: the sum of their shares.
    pub rate: i128,
}

/// A period in which all processors work for one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkBlock {
    /// The time from the end of the period to the end of the job.
    pub tail: i128,
    /// The length of the period.
    pub time: i128,
}

impl JobSpans {
    /// Computes the spans of a job. `shares` contains the share of a processor of each node. If a job has up to 2048
    /// tasks, the spans also contain the time for the work of the tasks before and after a task.
    ///
    /// # Errors
    /// [`CertificateError::Overflow`] if the work does not fit into 128 bits.
    pub fn new(
        spans: &Spans,
        places: &NodeKinds<'_>,
        instance: &Instance,
        (id, shares): (JobId, &[u64]),
    ) -> Result<Self, CertificateError> {
        let job = instance.job(id);
        let mut tasks = spans.alone(instance, id);
        let mut soonest = spans.completion(instance, id);
        let nodes = instance.platform().nodes().iter().zip(shares);
        let rate = nodes.map(|(node, &share)| i128::from(node.processors) * i128::from(share)).sum();
        if job.tasks() == 1 || rate == 0 {
            return Ok(Self { tasks, soonest, blocks: Vec::new(), rate });
        }
        let by_kind = places.least_prices(shares);
        let work = |task: u32| least_work(places, job.task(task), (shares, &by_kind));
        let mut work =
            (0..tasks.len() as u32).map(work).collect::<Option<Vec<i128>>>().ok_or(CertificateError::Overflow)?;
        if (2..=MAX_TASKS).contains(&tasks.len()) {
            let at = |task: TaskId| (task.0 - job.first().0) as usize;
            let before = |task: u32| {
                let edges = instance.incoming(job.task(task)).filter(|edge| job.has_task(edge.from));
                edges.map(|edge| at(edge.from)).collect()
            };
            let before = (0..tasks.len() as u32).map(before).collect();
            let graph = JobGraph { order: instance.order(id).map(at).collect(), before, work: &work, rate };
            graph.raise(&mut tasks);
            soonest = soonest.max(graph.soonest(&tasks));
        }
        work.iter_mut().for_each(|work| *work = work.saturating_mul(job.equal_tasks().into()));
        let blocks = blocks(&tasks, &work, rate);
        Ok(Self { tasks, soonest, blocks, rate })
    }
}

/// Returns the least work of a task over all its choices, or `None` on overflow. The arguments are the shares by node
/// and the least shares by kind of node.
fn least_work(places: &NodeKinds<'_>, task: TaskId, (by_node, by_kind): (&[u64], &[u64])) -> Option<i128> {
    let mut least = Some(i128::MAX);
    places.each(task, |run| {
        let share = i128::from(places.price(run, by_node, by_kind)) * i128::from(run.first);
        least = least.and_then(|least| Some(least.min(share.checked_mul(run.time)?)));
    });
    least.map(|least| if least == i128::MAX { 0 } else { least })
}

/// The tasks of a job, with their least work.
struct JobGraph<'a> {
    /// The tasks, each after the tasks that it waits for.
    order: Vec<usize>,
    /// For each task, the tasks that it waits for directly.
    before: Vec<Vec<usize>>,
    work: &'a [i128],
    /// The work of all processors in one tick.
    rate: i128,
}

/// A set of tasks, by their positions in the job.
type TaskSet = Vec<u64>;

impl JobGraph<'_> {
    /// Raises the heads and the tails of all tasks.
    ///
    /// Let S be tasks that a task waits for, directly or not, and let h be their least head. All tasks of S run between
    /// h and the start of the task. So this start is at least h plus the work of S divided by the rate of all
    /// processors. The sets S are the tasks with heads from some h on. The tails follow in the same way from the
    /// tasks that wait for the task.
    fn raise(&self, spans: &mut [TaskSpan]) {
        let times: Vec<i128> = spans.iter().map(|span| span.fastest).collect();
        let mut heads: Vec<i128> = spans.iter().map(|span| span.head).collect();
        self.pass(self.order.iter().copied(), &self.before, &times, &mut heads);
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); spans.len()];
        for (task, before) in self.before.iter().enumerate() {
            before.iter().for_each(|&other| after[other].push(task));
        }
        let mut tails: Vec<i128> = spans.iter().map(|span| span.tail).collect();
        self.pass(self.order.iter().rev().copied(), &after, &times, &mut tails);
        for (span, (head, tail)) in spans.iter_mut().zip(heads.into_iter().zip(tails)) {
            (span.head, span.tail) = (head, tail);
        }
    }

    /// Raises the starts of all tasks. `neighbours` lists the direct predecessors of each task, or its direct
    /// successors if `starts` are tails. `order` lists each task after its neighbours. Takes O(n^2) for n tasks, plus
    /// O(n / 64) for each edge.
    fn pass(&self, order: impl Iterator<Item = usize>, neighbours: &[Vec<usize>], times: &[i128], starts: &mut [i128]) {
        let words = starts.len().div_ceil(64);
        let mut reached: Vec<TaskSet> = vec![Vec::new(); starts.len()];
        // The tasks that the pass has visited, by descending starts.
        let mut visited: Vec<(i128, usize)> = Vec::with_capacity(starts.len());
        for task in order {
            let mut own = vec![0_u64; words];
            let mut start = starts[task];
            for &other in &neighbours[task] {
                own.iter_mut().zip(&reached[other]).for_each(|(own, other)| *own |= other);
                own[other / 64] |= 1 << (other % 64);
                start = start.max(starts[other] + times[other]);
            }
            let mut work = 0_i128;
            for &(from, other) in &visited {
                if own[other / 64] >> (other % 64) & 1 == 1 {
                    work = work.saturating_add(self.work[other]);
                    start = start.max(from + self.time(work));
                }
            }
            starts[task] = start;
            let place = visited.partition_point(|&(other, _)| other > start);
            visited.insert(place, (start, task));
            reached[task] = own;
        }
    }

    /// Returns the time in which all processors do some work, rounded up.
    fn time(&self, work: i128) -> i128 {
        work.saturating_add(self.rate - 1) / self.rate
    }

    /// Returns a lower bound on the end of the job: all tasks with heads from some instant on run between this instant
    /// and the end of the job less their least tail.
    fn soonest(&self, spans: &[TaskSpan]) -> i128 {
        let mut order: Vec<usize> = (0..spans.len()).collect();
        order.sort_unstable_by_key(|&task| Reverse(spans[task].head));
        let (mut work, mut tail, mut soonest) = (0_i128, i128::MAX, 0);
        for task in order {
            work = work.saturating_add(self.work[task]);
            tail = tail.min(spans[task].tail);
            soonest = soonest.max(spans[task].head + self.time(work) + tail);
        }
        soonest
    }
}

/// Returns the latest work of a job, if all processors do the work `rate` in one tick. Each task works from its tail
/// on, as seen from the end of the job, and all processors work as soon as some task has work left. Times are rounded
/// down to ticks, so the blocks contain at most the work of all tasks.
fn blocks(spans: &[TaskSpan], work: &[i128], rate: i128) -> Vec<WorkBlock> {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_unstable_by_key(|&task| (spans[task].tail, task));
    let mut blocks: Vec<WorkBlock> = Vec::new();
    // The work of the last block.
    let mut sum = 0_i128;
    for task in order {
        let tail = spans[task].tail;
        if blocks.last().is_none_or(|last| last.tail + last.time < tail) {
            blocks.push(WorkBlock { tail, time: 0 });
            sum = 0;
        }
        sum = sum.saturating_add(work[task]);
        if let Some(last) = blocks.last_mut() {
            last.time = sum / rate;
        }
    }
    blocks.retain(|block| block.time > 0);
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_between_two_tasks_separates_them() {
        // Task 0, then tasks 1 to 4 on two processors, then task 5.
        let before = vec![vec![], vec![0], vec![0], vec![0], vec![0], vec![1, 2, 3, 4]];
        let areas = [5, 3, 3, 3, 2, 1];
        let graph = JobGraph { order: (0..6).collect(), before, work: &areas, rate: 2 };
        let span = |&fastest: &i128| TaskSpan { head: 1, fastest, tail: 0 };
        let mut spans: Vec<TaskSpan> = areas.iter().map(span).collect();
        graph.raise(&mut spans);
        let of = |task: usize| (spans[task].head, spans[task].tail);
        assert_eq!([0, 1, 4, 5].map(of), [(1, 7), (6, 1), (6, 1), (12, 0)]);
        assert_eq!(graph.soonest(&spans), 13);
        // Without edges, the end follows from the area of all tasks.
        let apart = JobGraph { before: vec![vec![]; 6], order: (0..6).collect(), work: &areas, rate: 2 };
        let mut spans: Vec<TaskSpan> = areas.iter().map(span).collect();
        apart.raise(&mut spans);
        assert_eq!((spans[5].head, apart.soonest(&spans)), (1, 10));
    }

    #[test]
    fn all_processors_work_in_a_block() {
        let span = |tail| TaskSpan { head: 0, fastest: 1, tail };
        let block = |tail, time| WorkBlock { tail, time };
        let found = |tails: [i128; 3], areas: [i128; 3]| blocks(&tails.map(span), &areas, 2);
        assert_eq!(found([4, 0, 1], [3, 2, 4]), [block(0, 3), block(4, 1)]);
        assert_eq!(found([4, 0, 1], [3, 2, 6]), [block(0, 5)]);
        assert_eq!(found([4, 0, 1], [1, 1, 1]), []);
    }
}
