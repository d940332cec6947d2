//! Bounds for dependent tasks and unequal processors, from windows of time with prices for machines.

pub(crate) mod prices;
mod search;
#[cfg(test)]
mod tests;

use makespan_core::{Instance, JobId, Objective, ProcSet, Time};
use makespan_verify::proof::{JobReach, JobWindows, NodeKinds, Spans, TimeWindow};
use makespan_verify::{Bound, Proof};

use crate::Clock;

/// The run time of a task on a machine that cannot run the task. This value is larger than any run time.
pub(crate) const NEVER: i64 = i64::MAX;

/// The tasks of some jobs in flat arrays. Times are in ticks.
pub(crate) struct TaskArrays {
    /// The number of kinds of nodes. Each kind is a column of `times`. Two nodes are of one kind if every task takes
    /// the same time on both.
    pub(crate) kinds: usize,
    /// The number of processors of each kind.
    processors: Vec<u32>,
    /// For each task, its run times on one processor of each kind. A task that may hold several processors has, for
    /// each kind, its shortest time at the speed of this kind.
    pub(crate) times: Vec<Vec<i64>>,
    pub(crate) heads: Vec<i64>,
    pub(crate) fastest: Vec<i64>,
    pub(crate) tails: Vec<i64>,
    /// For each task, the number of equal tasks that it represents, or zero for a task that may hold several
    /// processors. The search ignores tasks with the count zero.
    counts: Vec<u64>,
    /// For each node of the platform, its kind.
    pub(crate) kind_of: Vec<Option<usize>>,
    /// The jobs with transfers that can delay tasks. Each job has the index of its first task in these arrays.
    reaching: Vec<(usize, JobReach)>,
}

/// Two times for each task and kind of node: the earliest start of the task (`heads`), and the least time from the end
/// of the task to the end of all tasks (`tails`). Both are [`NEVER`] if the task cannot meet the deadline on nodes of
/// this kind.
pub(crate) struct KindStarts {
    pub(crate) heads: Vec<i64>,
    pub(crate) tails: Vec<i64>,
}

/// Maximum product of the number of jobs and the number of nodes. If the product is larger, the window of each job uses
/// only the longest path.
const MAX_STATED: usize = 1 << 22;

/// Returns the best bound from windows on one objective. For the makespan, one window covers all jobs. For other
/// objectives of time, each job has a window, as if only the job and its predecessors existed.
pub(crate) fn best(instance: &Instance, objective: Objective, clock: &Clock) -> Bound {
    let places = NodeKinds::new(instance);
    let spans = Spans::new(&places, instance);
    let proof = match objective {
        Objective::Makespan => {
            let ids: Vec<JobId> = instance.ids().collect();
            Proof::TimeWindow(search::window(&TaskArrays::of(instance, &ids, &spans, false), clock))
        }
        Objective::Cost => return crate::cost::cheapest::cheapest(instance),
        // For the throughput, the verifier rejects job windows, and the bound is zero.
        _ => Proof::JobWindows(JobWindows { windows: alone(instance, &spans, clock) }),
    };
    let nothing = Bound { objective, value: 0.into(), makespan_at_most: None, proof: proof.clone() };
    Bound::proved_by(objective, proof, instance).unwrap_or(nothing)
}

/// Returns a window for each job. Uses only the longest path if the job has one task, if there are too many jobs and
/// nodes (see `MAX_STATED`), or if the clock has expired.
fn alone(instance: &Instance, spans: &Spans, clock: &Clock) -> Vec<TimeWindow> {
    let many = instance.jobs().len().saturating_mul(instance.platform().node_count()) > MAX_STATED;
    let of = |id: JobId| {
        if many || instance.job(id).tasks() == 1 || clock.is_over() {
            let deadline = Time::from_ticks(i64::try_from(spans.completion(instance, id) - 1).unwrap_or(0));
            return TimeWindow { deadline, from: Time::ZERO, until: Time::ZERO, prices: Vec::new() };
        }
        search::window(&TaskArrays::of(instance, &[id], spans, true), clock)
    };
    instance.ids().map(of).collect()
}

impl TaskArrays {
    /// Collects the tasks of `jobs`. If `alone` is set, the tails ignore the jobs that wait for these jobs.
    pub(crate) fn of(instance: &Instance, jobs: &[JobId], spans: &Spans, alone: bool) -> Self {
        let platform = instance.platform();
        // Nodes of equal speed share a column, except if jobs have a time for each machine.
        let mut columns: Vec<(usize, ProcSet)> = Vec::new();
        let mut column_of = vec![None; platform.nodes().len()];
        for (node, column) in column_of.iter_mut().enumerate() {
            let Some(id) = platform.processors_of(node).iter().next() else { continue };
            let speed = |other: usize| platform.nodes()[other].speed.to_bits();
            let same = |other: &(usize, ProcSet)| !instance.has_machine_times() && speed(other.0) == speed(node);
            *column = Some(columns.iter().position(same).unwrap_or_else(|| {
                columns.push((node, ProcSet::range(id, id)));
                columns.len() - 1
            }));
        }
        let mut rows: Vec<Vec<i64>> = Vec::new();
        let mut tasks = Self {
            kinds: 0,
            processors: Vec::new(),
            times: Vec::new(),
            heads: Vec::new(),
            fastest: Vec::new(),
            tails: Vec::new(),
            counts: Vec::new(),
            kind_of: Vec::new(),
            reaching: Vec::new(),
        };
        let ticks = |time: i128| i64::try_from(time).unwrap_or(i64::MAX / 4);
        for &id in jobs {
            let job = instance.job(id);
            let begin = tasks.heads.len();
            let own = alone.then(|| spans.alone(instance, id));
            let own = own.as_deref().unwrap_or_else(|| spans.of_job(instance, id));
            for (task, span) in (0..job.different_tasks()).zip(own) {
                let profile = instance.profile(job.task(task));
                let sequential = profile.max_processors() == 1;
                let on = |(_, processor): &(usize, ProcSet)| {
                    if sequential {
                        instance.try_time(job.task(task), processor).map_or(NEVER, Time::ticks)
                    } else {
                        platform.slowed(profile.shortest(), processor).ticks()
                    }
                };
                rows.push(columns.iter().map(on).collect());
                tasks.fastest.push(ticks(span.fastest));
                tasks.heads.push(ticks(span.head));
                tasks.tails.push(ticks(span.tail));
                tasks.counts.push(if sequential { job.equal_tasks() } else { 0 });
            }
            let reaching = JobReach::new(instance, id).map(|reaching| (begin, reaching.within(own)));
            tasks.reaching.extend(reaching);
        }
        tasks.join_equal_nodes(&rows, instance, &column_of);
        tasks
    }

    /// Merges several columns into one kind if every task takes the same time in all these columns.
    fn join_equal_nodes(&mut self, rows: &[Vec<i64>], instance: &Instance, column_of: &[Option<usize>]) {
        let mut columns: Vec<usize> = Vec::new();
        let count = column_of.iter().flatten().max().map_or(0, |last| last + 1);
        let mut kind_of_column = Vec::with_capacity(count);
        for column in 0..count {
            let same = |&other: &usize| rows.iter().all(|row| row[other] == row[column]);
            kind_of_column.push(columns.iter().position(same).unwrap_or_else(|| {
                columns.push(column);
                self.processors.push(0);
                columns.len() - 1
            }));
        }
        for (node, column) in column_of.iter().enumerate() {
            let kind = column.map(|column| kind_of_column[column]);
            self.kind_of.push(kind);
            if let Some(kind) = kind {
                self.processors[kind] += instance.platform().nodes()[node].processors;
            }
        }
        self.kinds = columns.len();
        self.times = rows.iter().map(|row| columns.iter().map(|&column| row[column]).collect()).collect();
    }

    /// Returns the earliest starts and the tails of the tasks if all tasks end by `deadline`. Returns `None` if some
    /// task cannot end by the deadline.
    pub(crate) fn starts(&self, deadline: i64) -> Option<KindStarts> {
        let each = |values: &[i64]| {
            values.iter().flat_map(|&value| std::iter::repeat_n(value, self.kinds)).collect::<Vec<i64>>()
        };
        let mut starts = KindStarts { heads: each(&self.heads), tails: each(&self.tails) };
        for (begin, reaching) in &self.reaching {
            let reach = reaching.by(i128::from(deadline))?;
            for task in 0..reaching.tasks() {
                let row = (begin + task) * self.kinds..(begin + task + 1) * self.kinds;
                let (heads, tails) = (&mut starts.heads[row.clone()], &mut starts.tails[row]);
                heads.fill(NEVER);
                tails.fill(NEVER);
                // Nodes of one kind have equal run times, but may have different numbers of processors. `reaching`
                // distinguishes such nodes. So one kind may correspond to several kinds of `reaching`. Use the least
                // values of these kinds.
                for (node, kind) in self.kind_of.iter().enumerate() {
                    let Some((kind, other)) = kind.zip(reaching.kind_of(node)) else { continue };
                    if let Some((head, tail)) = reach.of(task, other) {
                        heads[kind] = heads[kind].min(i64::try_from(head).unwrap_or(NEVER));
                        tails[kind] = tails[kind].min(i64::try_from(tail).unwrap_or(NEVER));
                    }
                }
            }
        }
        Some(starts)
    }

    pub(crate) fn len(&self) -> usize {
        self.heads.len()
    }
}
