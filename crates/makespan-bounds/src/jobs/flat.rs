//! Jobs, tasks and runs of tasks in flat arrays of floats.

use makespan_core::{EndPenalty, Instance, Objective, PenaltyForm, ProcSet, Time, Weight};
use makespan_verify::proof::{JobReach, JobSpans, NodeKinds, Spans, TaskSpan, WorkBlock};

use super::programme::{JobProgramme, JobRow, PenaltyRow, TaskRun};

/// Consider the time from the release of a job to its earliest end. The mean of this time over all jobs contains about
/// this number of price periods.
const OF_A_JOB: f64 = 6.0;
/// Minimum number of price periods. There are fewer periods if `CELLS` requires this, or if the prices cover fewer
/// ticks.
const FEWEST: usize = 32;
/// Maximum number of price periods.
const MOST: usize = 128;
/// Maximum product of two numbers: the number of price periods, and the sum, over all tasks, of the squared number of
/// ways to run the task. Because of this limit, large instances have fewer price periods, but at least 8.
const CELLS: usize = 1 << 24;
/// Maximum number of ways to run a task. A way is an allotment or a node, with its time. If a task has more ways, one
/// way replaces each group of ways with similar times. This way is at least as good as every way of the group.
const MAX_WAYS: usize = 16;
/// A time in ticks that is later than the end of every schedule.
const LATE: i128 = i64::MAX as i128;

/// Builds the programme. Returns `None` if the objective is not a sum over jobs, if all weights are zero, or if some
/// job cannot run.
pub(super) fn programme(
    instance: &Instance,
    spans: &Spans,
    shares: &[u64],
    objective: Objective,
) -> Option<JobProgramme> {
    let shape = objective.shape().filter(|shape| shape.is_sum)?;
    let first = instance.first_release().ticks() as f64;
    let mut flat = JobProgramme {
        jobs: Vec::new(),
        periods: 0,
        open: Vec::new(),
        tasks: Vec::new(),
        ways: Vec::new(),
        has_blocks: false,
        first: instance.first_release(),
        unit: 1.0,
        worth: 1.0,
    };
    let places = NodeKinds::new(instance);
    let by_kind = places.least_prices(shares);
    // After a release or a closed period, prices may rise, and then blocks prove little.
    let is_steady =
        instance.unavailable().is_empty() && instance.jobs().iter().all(|job| job.release == instance.first_release());
    for (id, job) in instance.ids().zip(instance.jobs()) {
        let cost = shape.cost(job);
        let is_free = |penalty: &EndPenalty| penalty.points().iter().all(|point| point.1 == Weight::ZERO);
        if cost.weight == 0 || cost.penalty.is_some_and(is_free) {
            continue;
        }
        // For the tardiness, the cost of a job begins at its deadline, because an earlier end costs nothing. For other
        // objectives, the cost begins at the first release. If it began at another instant, such as the release of the
        // job, the value would only change by a constant.
        let from = if shape.is_tardiness() { cost.from as f64 - first } else { 0.0 };
        let JobSpans { tasks: own, soonest: end, blocks, rate } =
            JobSpans::new(spans, &places, instance, (id, shares)).ok()?;
        let reaching = JobReach::new(instance, id).map(|reaching| reaching.within(&own));
        let reach = reaching.and_then(|reaching| Some((reaching.by(LATE)?, reaching)));
        let penalty = cost.penalty.map(|penalty| penalty_row(penalty, cost.weight as f64, first));
        // The search begins with prices for a cost that grows in each tick.
        let weight = penalty.as_ref().map_or(cost.weight as f64, |row| slope(row, end as f64 - first));
        let begin = flat.tasks.len();
        let (mut soonest, mut work) = (end as f64 - first, 0.0);
        for (number, span) in own.iter().enumerate() {
            let task = job.task(number as u32);
            let from = flat.ways.len();
            let mut add = |head: i128, time: i128, tail: i128, rate: f64| {
                let way = TaskRun { head: head as f64 - first, time: time as f64, tail: tail as f64, rate };
                let own = &mut flat.ways;
                if !own[from..].iter().any(|other| other.replaces(&way)) {
                    own.push(way);
                }
            };
            if let Some((reach, reaching)) = &reach {
                for (node, processor) in one_each(instance) {
                    let Some(time) = instance.try_time(task, &processor) else { continue };
                    let at = reaching.kind_of(node).and_then(|kind| reach.of(number, kind));
                    let Some((head, tail)) = at else { continue };
                    let (head, tail) = (head.max(span.head), tail.max(span.tail));
                    add(head, time.ticks().into(), tail, shares[node] as f64);
                }
            } else {
                places.each(task, |run| {
                    let rate = places.price(run, shares, &by_kind) as f64 * f64::from(run.first);
                    add(span.head, run.time, span.tail, rate);
                });
            }
            join(&mut flat.ways, from);
            let ways = &flat.ways[from..];
            let least = |of: fn(&TaskRun) -> f64| ways.iter().map(of).fold(f64::INFINITY, f64::min);
            soonest = soonest.max(least(|way| way.head + way.time + way.tail));
            work += least(|way| way.rate * way.time) * job.equal_tasks() as f64;
            flat.tasks.push(from..flat.ways.len());
        }
        let (released, mut count) = (job.release.ticks() as f64 - first, job.equal_tasks() as f64);
        let blocks = blocks_of(&blocks, &own, rate as f64, first);
        if is_steady && flat.takes_blocks(begin, count, blocks) {
            (count, flat.has_blocks) = (1.0, true);
        }
        let tasks = begin..flat.tasks.len();
        flat.jobs.push(JobRow { weight, released, work, soonest, from, penalty, count, tasks });
    }
    if flat.jobs.is_empty() || flat.jobs.iter().any(|job| !job.soonest.is_finite()) {
        return None;
    }
    flat.scale(instance, shares);
    Some(flat)
}

/// Returns the penalty of a job. Instants are counted from `first`.
fn penalty_row(penalty: &EndPenalty, weight: f64, first: f64) -> PenaltyRow {
    let point = |&(at, value): &(Time, Weight)| (at.ticks() as f64 - first, weight * value.millionths() as f64);
    let points = penalty.points().iter().map(point).collect();
    PenaltyRow { points, has_steps: penalty.form() == PenaltyForm::Steps }
}

/// Returns the mean growth of a penalty for each tick from `soonest`, the earliest end of the job, to the last point.
/// The growth is never zero, because it scales the prices.
fn slope(row: &PenaltyRow, soonest: f64) -> f64 {
    let &(last, most) = row.points.last().expect("a penalty has a point");
    (most / (last - soonest).max(1.0)).max(f64::MIN_POSITIVE)
}

/// Returns the blocks of a job as runs of tasks, from the first release on.
fn blocks_of(blocks: &[WorkBlock], own: &[TaskSpan], rate: f64, first: f64) -> Vec<TaskRun> {
    let head = own.iter().map(|span| span.head).min().unwrap_or(0) as f64 - first;
    let run = |block: &WorkBlock| TaskRun { head, time: block.time as f64, tail: block.tail as f64, rate };
    blocks.iter().map(run).collect()
}

/// Returns the least payment for the latest run of a task if the price is the time to the end of the job.
fn latest(ways: &[TaskRun]) -> f64 {
    let paid = |way: &TaskRun| way.rate * way.time * (way.tail + way.time / 2.0);
    ways.iter().map(paid).fold(f64::INFINITY, f64::min)
}

/// If the task has more than `MAX_WAYS` ways, merges ways of similar times. The ways of the task begin at the index
/// `from`.
fn join(ways: &mut Vec<TaskRun>, from: usize) {
    let count = ways.len() - from;
    if count <= MAX_WAYS {
        return;
    }
    let mut own = ways.split_off(from);
    own.sort_by(|a, b| a.time.total_cmp(&b.time));
    ways.extend(own.chunks(count.div_ceil(MAX_WAYS)).map(|some| {
        let least = |of: fn(&TaskRun) -> f64| some.iter().map(of).fold(f64::INFINITY, f64::min);
        TaskRun {
            head: least(|way| way.head),
            time: least(|way| way.time),
            tail: least(|way| way.tail),
            rate: least(|way| way.rate),
        }
    }));
}

/// Returns each node with its first processor. This processor represents all processors of the node.
fn one_each(instance: &Instance) -> impl Iterator<Item = (usize, ProcSet)> {
    let platform = instance.platform();
    let one = |node: usize| platform.processors_of(node).iter().next().map(|id| (node, ProcSet::range(id, id)));
    (0..platform.nodes().len()).filter_map(one)
}

impl JobProgramme {
    /// Replaces the tasks of the last job, from `begin` on, by the blocks of the job if the blocks have the larger
    /// payment at a price that falls linearly. Each task represents `count` tasks. Returns true if the tasks were
    /// replaced.
    fn takes_blocks(&mut self, begin: usize, count: f64, blocks: Vec<TaskRun>) -> bool {
        let Some(first) = self.tasks.get(begin).map(|own| own.start) else { return false };
        let paid = self.tasks[begin..].iter().map(|own| latest(&self.ways[own.clone()]) * count).sum::<f64>();
        if blocks.iter().map(|block| latest(&[*block])).sum::<f64>() <= paid {
            return false;
        }
        self.tasks.truncate(begin);
        self.ways.truncate(first);
        for block in blocks {
            self.tasks.push(self.ways.len()..self.ways.len() + 1);
            self.ways.push(block);
        }
        true
    }

    /// Converts all numbers to the units of [`JobProgramme`]. The unit of weights is the mean weight of a job.
    fn scale(&mut self, instance: &Instance, shares: &[u64]) {
        let nodes = instance.platform().nodes();
        let rate: f64 = nodes.iter().zip(shares).map(|(node, &share)| f64::from(node.processors) * share as f64).sum();
        self.worth = self.jobs.iter().map(|job| job.weight).sum::<f64>() / self.jobs.len() as f64;
        // After a certain time, all prices are zero. This time is the sum of two parts. The first part is the time
        // until all work is done, if all processors are busy whenever a released job has work left. The second part is
        // half of the mean time from the release to the earliest end of a job.
        let mut order: Vec<&JobRow> = self.jobs.iter().collect();
        order.sort_by(|a, b| a.released.total_cmp(&b.released));
        let end = order.iter().fold(0.0_f64, |end, job| end.max(job.released) + job.work / rate);
        let alone = order.iter().map(|job| job.soonest - job.released).sum::<f64>() / order.len() as f64;
        let span = end + alone / 2.0;
        self.unit = span.max(1.0);
        let wanted = (OF_A_JOB * span / alone.max(1.0)) as usize;
        // For each way to run a task, the check examines the instants of all ways to run this task.
        let cells: usize = self.tasks.iter().map(|own| own.len() * own.len()).sum();
        let room = (CELLS / cells.max(1)).clamp(8, MOST);
        self.periods = wanted.clamp(FEWEST, MOST).min(room).min(span.max(1.0) as usize);
        for way in &mut self.ways {
            for time in [&mut way.head, &mut way.time, &mut way.tail] {
                *time /= self.unit;
            }
            way.rate /= rate;
        }
        for job in &mut self.jobs {
            for time in [&mut job.released, &mut job.soonest, &mut job.from] {
                *time /= self.unit;
            }
            job.work /= rate * self.unit;
            job.weight /= self.worth;
            for (at, cost) in job.penalty.iter_mut().flat_map(|row| &mut row.points) {
                *at /= self.unit;
                *cost /= self.worth * self.unit;
            }
            // All prices are zero after the last period. So a job costs nothing if its cost begins later. Limit `from`,
            // because the search examines all ends up to `from`.
            let ways = job.tasks.clone().flat_map(|task| &self.ways[self.tasks[task].clone()]);
            let longest = ways.map(|way| way.time + way.tail).fold(0.0, f64::max);
            job.from = job.from.min(job.soonest.max(1.0) + longest);
        }
        self.worth /= rate;
        self.open = vec![0.0; self.periods];
        let instants = self.instants();
        for (node, &share) in shares.iter().enumerate() {
            let processors = instance.platform().processors_of(node);
            for class in instance.availability().classes() {
                let count = f64::from(processors.intersection(&class.processors).len()) * share as f64 / rate;
                for (open, pair) in self.open.iter_mut().zip(instants.windows(2)).filter(|_| count > 0.0) {
                    let within = |&(start, end): &(Time, Time)| (end.min(pair[1]) - start.max(pair[0])).max(Time::ZERO);
                    let closed: Time = class.closed.iter().map(within).sum();
                    *open += count * (pair[1] - pair[0] - closed).ticks() as f64 / self.unit;
                }
            }
        }
    }
}
