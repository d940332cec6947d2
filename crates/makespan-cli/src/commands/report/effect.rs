//! The effect of a change on waits and slowdowns, with its range over blocks of time.

use makespan::{Instance, Metrics, Time};
use makespan_core::{Outcome, Run, TaskId, Trace};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::difference::Difference;

/// Number of resamples.
pub const RESAMPLES: usize = 2000;
/// Percentage of the resamples that a range contains.
pub const PERCENT: u32 = 99;
/// Minimum number of blocks with jobs.
pub const LEAST_BLOCKS: usize = 4;

const DAY: i64 = 86_400 * Time::TICKS_PER_SECOND;
/// Number of weeks from which on a block is a week instead of a day.
const WEEKS: i64 = 8;

/// The wait in seconds and the bounded slowdown of each task, or `None` for a task that did not end.
pub struct TaskWaits(Vec<Option<(f64, f64)>>);

impl TaskWaits {
    pub fn of(instance: &Instance, trace: &Trace) -> Self {
        let mut waits = vec![None; instance.tasks() as usize];
        let has_ended = |run: &&Run| !matches!(run.outcome, Outcome::Interrupted | Outcome::NotStarted);
        for run in trace.runs.iter().filter(has_ended) {
            let release = instance.release(run.task);
            let time = (run.end - run.start).max(Metrics::SLOWDOWN_THRESHOLD);
            let slowdown = ((run.end - release).seconds() / time.seconds()).max(1.0);
            waits[run.task.index()] = Some(((run.start - release).seconds(), slowdown));
        }
        Self(waits)
    }

    /// Returns the mean wait of some tasks in seconds.
    pub fn mean(&self, tasks: &[TaskId]) -> f64 {
        let waits = tasks.iter().filter_map(|task| self.0[task.index()]).map(|one| one.0);
        let (count, sum) = waits.fold((0.0, 0.0), |(count, sum): (f64, f64), wait| (count + 1.0, sum + wait));
        sum / count.max(1.0)
    }

    /// Returns the number of tasks that ended.
    pub fn ended(&self) -> usize {
        self.0.iter().flatten().count()
    }
}

/// Returns the tenth of the tasks that ran on the most processors.
pub fn widest(trace: &Trace) -> Vec<TaskId> {
    let mut tasks: Vec<(u32, TaskId)> = trace.runs.iter().map(|run| (run.processors.len(), run.task)).collect();
    tasks.sort_unstable_by(|one, other| other.cmp(one));
    tasks.truncate(tasks.len().div_ceil(10));
    tasks.into_iter().map(|one| one.1).collect()
}

/// The blocks of a log, and the random resamples of these blocks. All effects use equal resamples.
pub struct Resamples {
    /// The block of each task, by the release of its job.
    block: Vec<usize>,
    blocks: usize,
    is_weekly: bool,
    /// The blocks of each resample, drawn with replacement.
    drawn: Vec<Vec<usize>>,
}

impl Resamples {
    /// Divides the tasks into blocks of a day, or of a week if the log has at least eight weeks. Draws the resamples
    /// (block bootstrap; H. R. Künsch, "The jackknife and the bootstrap for general stationary observations", Annals of
    /// Statistics 17(3), 1989, with blocks that do not overlap).
    pub fn new(instance: &Instance, seed: u64) -> Self {
        let first = instance.first_release().ticks();
        let since: Vec<i64> = instance.task_ids().map(|task| instance.release(task).ticks() - first).collect();
        let last = since.iter().copied().max().unwrap_or(0);
        let is_weekly = last >= WEEKS * 7 * DAY;
        let length = if is_weekly { 7 * DAY } else { DAY };
        // Blocks without jobs are left out, because they cannot change a mean.
        let mut used: Vec<i64> = since.iter().map(|at| at / length).collect();
        used.sort_unstable();
        used.dedup();
        let block = since.iter().map(|at| used.partition_point(|&block| block < at / length)).collect();
        let blocks = used.len();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let drawn = (0..RESAMPLES).map(|_| (0..blocks).map(|_| random.random_range(0..blocks)).collect());
        Self { block, blocks, is_weekly, drawn: drawn.collect() }
    }

    /// Returns the length of a block: `week` or `day`.
    pub fn block(&self) -> &'static str {
        if self.is_weekly { "week" } else { "day" }
    }

    /// Returns the number of blocks with jobs.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Compares two simulations of equal jobs. The differences are paired: each is the mean, over the tasks that ended in
    /// both simulations, of the value of the task in `after` minus its value in `before`.
    pub fn effect(&self, before: &TaskWaits, after: &TaskWaits) -> Effect {
        let mut sums = vec![(0.0, 0.0, 0.0); self.blocks];
        for ((&block, before), after) in self.block.iter().zip(&before.0).zip(&after.0) {
            if let Some((before, after)) = before.zip(*after) {
                let (count, wait, slowdown) = sums[block];
                sums[block] = (count + 1.0, wait + after.0 - before.0, slowdown + after.1 - before.1);
            }
        }
        let mean = |blocks: &mut dyn Iterator<Item = usize>| {
            let sum = blocks.map(|block| sums[block]);
            let (count, wait, slowdown) =
                sum.fold((0.0, 0.0, 0.0), |sum: (f64, f64, f64), one| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2));
            (wait / count.max(1.0), slowdown / count.max(1.0))
        };
        let whole = mean(&mut (0..self.blocks));
        let drawn: Vec<(f64, f64)> = self.drawn.iter().map(|blocks| mean(&mut blocks.iter().copied())).collect();
        let part = |of: fn(&(f64, f64)) -> f64| Difference::new(of(&whole), drawn.iter().map(of).collect(), PERCENT);
        Effect { wait: part(|one| one.0), slowdown: part(|one| one.1) }
    }
}

/// The differences of the mean wait, in seconds, and of the mean bounded slowdown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    pub wait: Difference,
    pub slowdown: Difference,
}

impl Effect {
    /// Returns true if no resample has a difference.
    pub fn is_none(&self) -> bool {
        let is_zero = |own: &Difference| own.seconds == 0.0 && own.range.is_none_or(|range| range == (0.0, 0.0));
        is_zero(&self.wait) && is_zero(&self.slowdown)
    }
}

#[cfg(test)]
mod tests {
    use makespan::{Job, Platform, Profile};

    use super::*;

    fn instance(days: i64) -> Instance {
        let second = Profile::rigid(1, Time::from_seconds(1)).unwrap();
        let job = |day: i64| Job::new(format!("{day}"), second.clone()).with_release(Time::from_ticks(day * DAY));
        Instance::new(Platform::flat(1).unwrap(), (0..days).map(job).collect(), Vec::new()).unwrap()
    }

    #[test]
    fn equal_changes_have_no_spread_and_opposite_changes_have_zero_in_their_range() {
        let days = instance(20);
        let resamples = Resamples::new(&days, 1);
        assert_eq!((resamples.blocks(), resamples.is_weekly), (20, false));
        let before = TaskWaits(vec![Some((100.0, 2.0)); 20]);
        let effect = resamples.effect(&before, &TaskWaits(vec![Some((90.0, 1.5)); 20]));
        assert_eq!((effect.wait.seconds, effect.wait.range), (-10.0, Some((-10.0, -10.0))));
        assert!(effect.wait.is_certain() && (effect.slowdown.seconds + 0.5).abs() < 1e-12);
        let mixed = (0..20).map(|day| Some((100.0 + f64::from(day % 2 * 40 - 20), 2.0))).collect();
        let effect = resamples.effect(&before, &TaskWaits(mixed));
        let (early, late) = effect.wait.range.unwrap();
        assert!(
            effect.wait.seconds.abs() < 1e-12 && early < -5.0 && late > 5.0 && !effect.wait.is_certain(),
            "{effect:?}"
        );
        // A task that ended in only one simulation is left out.
        let one = (0..20).map(|day| (day == 0).then_some((70.0, 2.0))).collect();
        assert!((resamples.effect(&before, &TaskWaits(one)).wait.seconds + 30.0).abs() < 1e-12);
        assert!(Resamples::new(&instance(60), 1).is_weekly);
    }
}
