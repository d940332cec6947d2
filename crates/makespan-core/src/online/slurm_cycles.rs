//! The two scheduling cycles of Slurm: when they take place, and which jobs they visit.

use std::collections::HashMap;

/// The parameters of the two cycles. The fields have the names of the parameters in `slurm.conf`. Times are in a unit
/// that the caller chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleRules {
    /// `bf_interval`: time between two backfill cycles.
    pub bf_interval: i64,
    /// `bf_window`: jobs are planned only if they can start within this time from now.
    pub bf_window: i64,
    /// `bf_resolution`: unit to which the ends of plans are rounded up.
    pub bf_resolution: i64,
    /// `bf_window_linear`: time by which the windows grow in which ends of running jobs count as one end. 0 if each window
    /// is twice as long as the window before.
    pub bf_window_linear: i64,
    /// `bf_max_job_test`: maximum number of pairs that a backfill cycle visits.
    pub bf_max_job_test: usize,
    /// `bf_max_job_part`: maximum number of jobs of one partition that a backfill cycle visits. 0 means no limit.
    pub bf_max_job_part: usize,
    /// `bf_max_job_user`: maximum number of jobs of one user that a backfill cycle visits. 0 means no limit.
    pub bf_max_job_user: usize,
    /// `bf_max_job_start`: maximum number of jobs that a backfill cycle starts. 0 means no limit.
    pub bf_max_job_start: usize,
    /// `bf_max_job_array_resv`: maximum number of reservations for the tasks of an array in a backfill cycle.
    pub bf_max_job_array_resv: usize,
    /// `bf_min_age_reserve`: minimum time that a job must have waited to be planned for a later start.
    pub bf_min_age_reserve: i64,
    /// `bf_min_prio_reserve`: minimum priority of a job to be planned for a later start.
    pub bf_min_prio_reserve: u64,
    /// `default_queue_depth`: maximum number of pairs that the main cycle visits at an event.
    pub default_queue_depth: usize,
    /// `partition_job_depth`: maximum number of jobs of one partition that the main cycle visits at an event. 0 means
    /// no limit.
    pub partition_job_depth: usize,
    /// `sched_interval`: minimum time between two main cycles that visit all jobs. `None` if all main cycles visit only
    /// the first jobs.
    pub sched_interval: Option<i64>,
    /// Minimum time between two main cycles.
    pub pause: i64,
    /// Maximum number of reservations in a backfill cycle.
    pub reservations: usize,
    /// True if there are backfill cycles.
    pub backfills: bool,
}

impl CycleRules {
    /// A value of `bf_min_prio_reserve` with which no job is planned for a later start.
    pub const NO_RESERVATION: u64 = 4_000_000_000;

    /// Returns the default parameters of Slurm. `second` is the length of a second in the unit of the caller.
    pub fn usual(second: i64) -> Self {
        Self {
            bf_interval: 30 * second,
            bf_window: 86_400 * second,
            bf_resolution: 60 * second,
            bf_window_linear: 0,
            bf_max_job_test: 500,
            bf_max_job_part: 0,
            bf_max_job_user: 0,
            bf_max_job_start: 0,
            bf_max_job_array_resv: 20,
            bf_min_age_reserve: 0,
            bf_min_prio_reserve: 0,
            default_queue_depth: 100,
            partition_job_depth: 0,
            sched_interval: Some(60 * second),
            pause: 0,
            reservations: usize::MAX,
            backfills: true,
        }
    }
}

/// A kind of cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cycle {
    /// Starts jobs by priority. The first job that does not fit in a partition blocks the partition for later jobs,
    /// unless the job would not fit even if no other job ran.
    Main,
    /// Starts each job that delays no job before it, and reserves nodes for the jobs that do not start.
    Backfill,
}

/// A waiting job and a partition in which it may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CyclePair {
    /// The number of the job.
    pub job: usize,
    /// The number of the partition.
    pub partition: usize,
    /// The number of the user.
    pub user: usize,
    /// The number of the array, if the job is a task of an array.
    pub array: Option<usize>,
    /// True if the job requests a reservation. Such a job competes only for reserved nodes.
    pub has_reservation: bool,
    /// The submission of the job.
    pub submitted: i64,
    /// The priority of the job.
    pub priority: u64,
}

/// The waiting jobs and the nodes that cycles visit. The queue consists of pairs of a job and a partition. Several
/// successive pairs may differ only in the way to satisfy the features that the job requests.
pub trait CycleQueue {
    /// Called when a cycle begins. `before` is the previous cycle of this kind, if any.
    fn begin(&mut self, cycle: Cycle, before: Option<i64>);

    /// Called when a cycle ends.
    fn end(&mut self);

    /// Returns the positions of the pairs.
    fn range(&self) -> std::ops::Range<usize>;

    /// Returns, for each partition, the number of pairs in the queue that contain this partition.
    fn pairs_of_partitions(&self) -> &[usize];

    /// Returns the pair at a position. Returns `None` if the job no longer waits, or the partition starts no jobs.
    fn pair(&self, at: usize) -> Option<CyclePair>;

    /// Returns true if a limit or missing licences delay a job.
    fn is_limited(&mut self, at: usize) -> bool;

    /// Returns the instant from which limits no longer delay a job, if this needs no event.
    fn limited_until(&self, _at: usize) -> Option<i64> {
        None
    }

    /// Skips the pairs from position `at` on that are limited like the pair before. Returns the next position and the
    /// number of skipped pairs. If this number is at least `most`, it may be inexact.
    fn skip_limited(&mut self, at: usize, _most: usize) -> (usize, usize) {
        (at, 0)
    }

    /// Returns true if no job from position `at` on can start now.
    fn is_full(&self, _at: usize) -> bool {
        false
    }

    /// Returns true if no waiting job can start in this cycle any more, and no reservation is made.
    fn is_exhausted(&self) -> bool {
        false
    }

    /// Starts a job in its partition. Returns false if the job does not fit.
    fn start(&mut self, at: usize, cycle: Cycle) -> bool;

    /// Returns true if a job that does not fit now would fit if no other job ran. If the result is false, reservations
    /// take nodes that the job needs, and as in Slurm 22.05 (`_pick_best_nodes`), the job does not block its partition.
    fn fits_idle_nodes(&mut self, _at: usize) -> bool {
        true
    }

    /// Prevents starts on the nodes of a partition for the rest of a main cycle.
    fn block(&mut self, partition: usize);

    /// Reserves nodes for a job that does not fit now. Returns false if the job would start after the window.
    fn reserve(&mut self, at: usize) -> bool;
}

/// Runs the cycles. A main cycle takes place at every event. A backfill cycle takes place after a change, at least an
/// interval after the previous backfill cycle.
#[derive(Clone, Debug)]
pub struct SlurmCycles {
    rules: CycleRules,
    /// The last main cycle.
    main: Option<i64>,
    /// Whether a main cycle is due at the end of the pause after `main`.
    paused: bool,
    /// The last main cycle that visited all jobs.
    all: Option<i64>,
    /// Whether a main cycle has left out jobs since `all`.
    cut: bool,
    /// The last backfill cycle.
    backfill: Option<i64>,
    /// Whether anything has changed since the last backfill cycle.
    changed: bool,
    /// The next backfill cycle, if any is due.
    due: Option<i64>,
    /// An instant at which a limit no longer delays a job, without an event.
    silent: Option<i64>,
}

impl SlurmCycles {
    /// Returns the cycles of a scheduler that has not run yet.
    pub fn new(rules: CycleRules) -> Self {
        Self {
            rules,
            main: None,
            paused: false,
            all: None,
            cut: false,
            backfill: None,
            changed: true,
            due: None,
            silent: None,
        }
    }

    /// Notes that jobs or nodes have changed, so another backfill cycle is due.
    pub fn note_change(&mut self) {
        self.changed = true;
    }

    /// Runs the cycles that are due now.
    pub fn run(&mut self, now: i64, queue: &mut impl CycleQueue) {
        if self.silent.is_some_and(|at| at <= now) {
            (self.silent, self.changed) = (None, true);
        }
        self.paused = self.pause_until().is_some_and(|at| now < at);
        if self.paused {
            return;
        }
        queue.begin(Cycle::Main, self.main.replace(now));
        self.main_cycle(now, queue);
        queue.end();
        self.see_change(now);
        if self.due.is_some_and(|due| now >= due) {
            queue.begin(Cycle::Backfill, self.backfill.replace(now));
            self.backfill_cycle(now, queue);
            queue.end();
            self.see_change(now);
        }
    }

    /// Returns the next instant at which cycles must run, even if no event occurs before. Assumes that jobs wait.
    pub fn next(&self) -> Option<i64> {
        let all = self.all.zip(self.rules.sched_interval).filter(|_| self.cut);
        let all = all.map(|(before, interval)| before.saturating_add(interval));
        let pause = self.pause_until();
        let next = [self.due, all, self.silent].into_iter().flatten().min();
        if self.paused { pause } else { next.map(|at| at.max(pause.unwrap_or(at))) }
    }

    fn pause_until(&self) -> Option<i64> {
        self.main.map(|last| last.saturating_add(self.rules.pause))
    }

    /// If something has changed, schedules a backfill cycle.
    fn see_change(&mut self, now: i64) {
        if self.changed && self.due.is_none() && self.rules.backfills {
            self.due = Some(self.backfill.map_or(now, |last| now.max(last.saturating_add(self.rules.bf_interval))));
        }
    }

    fn main_cycle(&mut self, now: i64, queue: &mut impl CycleQueue) {
        let interval_is_over = |interval: i64| self.all.is_none_or(|before| now >= before.saturating_add(interval));
        let mut depth = self.rules.default_queue_depth;
        if self.rules.sched_interval.is_some_and(interval_is_over) {
            (self.all, self.cut, depth) = (Some(now), false, usize::MAX);
        }
        let mut closed: Vec<bool> = queue.pairs_of_partitions().iter().map(|&count| count == 0).collect();
        let mut open = closed.iter().filter(|&&is_closed| !is_closed).count();
        let mut by_partition = CycleCounts::default();
        let (mut at, mut visited) = (queue.range().start, 0);
        while at < queue.range().end && open > 0 {
            let here = at;
            at += 1;
            let Some(pair) = queue.pair(here).filter(|pair| !closed[pair.partition]) else { continue };
            visited += 1;
            if visited > depth {
                self.cut = true;
                return;
            }
            if by_partition.is_beyond(pair.partition, self.rules.partition_job_depth) {
                continue;
            }
            if queue.is_limited(here) {
                // Skipped pairs would not be counted as pairs of their partition.
                if self.rules.partition_job_depth == 0 {
                    let (next, count) = queue.skip_limited(at, depth);
                    (at, visited) = (next, visited.saturating_add(count));
                    // The cycle has also skipped pairs that it may not visit.
                    self.cut |= visited > depth;
                }
                continue;
            }
            if queue.start(here, Cycle::Main) {
                self.changed = true;
                continue;
            }
            if queue.is_exhausted() {
                break;
            }
            // The next pair may be another way to satisfy the features in the same partition, which may fit.
            let has_more = at < queue.range().end && queue.pair(at) == Some(pair);
            let may_block = !has_more && !pair.has_reservation && self.may_reserve(now, &pair);
            if may_block && queue.fits_idle_nodes(here) {
                closed[pair.partition] = true;
                open -= 1;
                queue.block(pair.partition);
            }
        }
    }

    fn backfill_cycle(&mut self, now: i64, queue: &mut impl CycleQueue) {
        (self.changed, self.due) = (false, None);
        let (mut by_partition, mut by_user) = (CycleCounts::default(), CycleCounts::default());
        let mut by_array: HashMap<usize, usize> = HashMap::new();
        let (mut started, mut reserved, mut silent) = (0, 0, None);
        let depth = self.rules.bf_max_job_test;
        let (mut at, mut visited) = (queue.range().start, 0);
        while at < queue.range().end && visited < depth && !queue.is_full(at) {
            let here = at;
            at += 1;
            let Some(pair) = queue.pair(here) else { continue };
            visited += 1;
            if by_partition.is_beyond(pair.partition, self.rules.bf_max_job_part)
                || by_user.is_beyond(pair.user, self.rules.bf_max_job_user)
            {
                continue;
            }
            if queue.is_limited(here) {
                silent = [silent, queue.limited_until(here)].into_iter().flatten().min();
                // Skipped pairs would not be counted as pairs of their partition and their user.
                if self.rules.bf_max_job_part == 0 && self.rules.bf_max_job_user == 0 {
                    let (next, count) = queue.skip_limited(at, depth);
                    (at, visited) = (next, visited.saturating_add(count));
                }
                continue;
            }
            if queue.start(here, Cycle::Backfill) {
                started += 1;
                if started == self.rules.bf_max_job_start {
                    self.changed = true;
                    break;
                }
                continue;
            }
            if queue.is_exhausted() {
                break;
            }
            let mut of_array = pair.array.map(|array| by_array.entry(array).or_insert(0));
            let is_full = of_array.as_ref().is_some_and(|count| **count >= self.rules.bf_max_job_array_resv);
            if reserved < self.rules.reservations && !is_full && self.may_reserve(now, &pair) && queue.reserve(here) {
                reserved += 1;
                of_array.iter_mut().for_each(|count| **count += 1);
            }
        }
        self.silent = silent.map(|at| at.max(now.saturating_add(self.rules.bf_interval)));
    }

    /// Returns true if the rules allow a reservation for a job. A job without a reservation does not block its
    /// partition either.
    fn may_reserve(&self, now: i64, pair: &CyclePair) -> bool {
        now.saturating_sub(pair.submitted) >= self.rules.bf_min_age_reserve
            && pair.priority >= self.rules.bf_min_prio_reserve
    }
}

/// Numbers of jobs in a scheduling cycle, by partition or by user.
#[derive(Default)]
struct CycleCounts(HashMap<usize, usize>);

impl CycleCounts {
    /// Counts one more job. Returns true if the number of jobs exceeds `limit`. If `limit` is 0, there is no limit, and
    /// the job is not counted.
    fn is_beyond(&mut self, of: usize, limit: usize) -> bool {
        if limit == 0 {
            return false;
        }
        let count = self.0.entry(of).or_insert(0);
        *count += 1;
        *count > limit
    }
}
