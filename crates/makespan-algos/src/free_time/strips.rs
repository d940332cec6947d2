//! Free processors over time, for a policy with millions of queries and changes.

use makespan_core::{FreeTime, Time};

use super::Period;

/// The number of free processors from the current instant on. All processors are of one class.
///
/// The steps are stored in strips of some tens of steps. The steps of a strip are contiguous in memory. Each strip
/// stores the minimum and the maximum of its steps. A query or a change visits all strips. It reads the single steps
/// of a strip only if the minimum and the maximum of the strip do not determine the result. Strips are several times
/// faster than a tree if there are tens of steps (a common cluster) to tens of thousands of steps (a crowded cluster).
///
/// A policy may learn of a failure before it learns that the failure ended tasks. More processors may then be held
/// than exist. In this case, no processors are free.
#[derive(Clone, Debug)]
pub(crate) struct Strips {
    strips: Vec<Strip>,
}

/// Consecutive steps.
#[derive(Clone, Debug)]
struct Strip {
    /// The instant at which each step begins.
    from: Vec<i64>,
    /// The number of free processors in each step, without `added`.
    free: Vec<i64>,
    /// A number to be added to each number in `free`.
    added: i64,
    /// The minimum of `free`.
    least: i64,
    /// The maximum of `free`.
    most: i64,
}

/// A step, and an instant in this step.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    strip: usize,
    step: usize,
    from: i64,
}

/// Number of steps of a new strip. A strip that has grown to twice this number of steps is split.
const LENGTH: usize = 32;

impl Strip {
    fn measure(&mut self) {
        self.least = self.free.iter().copied().min().unwrap_or(i64::MAX);
        self.most = self.free.iter().copied().max().unwrap_or(i64::MIN);
    }

    /// Returns the step that contains the instant `at`. The strip must begin at `at` or earlier.
    fn step(&self, at: i64) -> usize {
        self.from.partition_point(|&from| from <= at) - 1
    }
}

impl Strips {
    /// Returns strips in which the number of free processors never changes.
    pub(crate) fn constant(free: u32) -> Self {
        let free = i64::from(free);
        Self { strips: vec![Strip { from: vec![i64::MIN], free: vec![free], added: 0, least: free, most: free }] }
    }

    /// Returns the number of free processors at an instant.
    pub(crate) fn free_at(&self, instant: Time) -> u32 {
        let strip = &self.strips[self.strip(instant.ticks())];
        (strip.free[strip.step(instant.ticks())] + strip.added).max(0) as u32
    }

    /// Removes the steps that end at the instant `before` or earlier.
    pub(crate) fn forget(&mut self, before: Time) {
        let now = before.ticks();
        let strip = self.strip(now);
        self.strips.drain(..strip);
        let first = &mut self.strips[0];
        let step = first.step(now);
        if step > 0 {
            first.from.drain(..step);
            first.free.drain(..step);
            first.measure();
        }
    }

    /// Returns the first instant in `period` from which `width` processors are free for `duration`.
    pub(crate) fn earliest_fit_in(&self, width: u32, duration: Time, period: Period) -> Option<Time> {
        self.earliest_fit_of_owner(width, duration, period, Time::MAX)
    }

    /// Returns the first instant in `period` from which `width` processors are free for `duration`. The caller already
    /// holds `width` processors from the instant `own` on. These processors are treated as free.
    pub(crate) fn earliest_fit_of_owner(&self, width: u32, duration: Time, period: Period, own: Time) -> Option<Time> {
        let (width, duration) = (i64::from(width), duration.ticks());
        let (from, until) = (period.from.ticks(), period.until.ticks());
        if from >= until {
            return None;
        }
        let strip = self.strip(from);
        let mut at = Cursor { strip, step: self.strips[strip].step(from), from };
        loop {
            at = self.next(at, until, |free| free >= width, |strip| strip.most + strip.added >= width)?;
            let end = at.from.saturating_add(duration).min(own.ticks());
            match self.next(at, end, |free| free < width, |strip| strip.least + strip.added < width) {
                Some(blocked) => at = blocked,
                None => return Some(Time::from_ticks(at.from)),
            }
        }
    }

    /// Returns the end and the number of free processors of each step, beginning with the step that contains `after`.
    pub(crate) fn steps(&self, after: Time) -> impl Iterator<Item = (Time, u32)> + '_ {
        let at = self.strip(after.ticks());
        let first = self.strips[at].step(after.ticks());
        let free = self.strips[at..].iter().flat_map(|strip| strip.free.iter().map(|free| free + strip.added));
        let from = self.strips[at..].iter().flat_map(|strip| strip.from.iter().copied());
        let until = from.skip(first + 1).chain([i64::MAX]);
        until.zip(free.skip(first)).map(|(until, free)| (Time::from_ticks(until), free.max(0) as u32))
    }

    /// Returns the first step from `at` on that begins before `until` and has a number of free processors that `wanted`
    /// accepts. A strip is skipped if `may` returns false. `may` must return true for each strip that contains a step
    /// that `wanted` accepts.
    fn next(
        &self,
        at: Cursor,
        until: i64,
        wanted: impl Fn(i64) -> bool,
        may: impl Fn(&Strip) -> bool,
    ) -> Option<Cursor> {
        let mut first = at.step;
        for (index, strip) in self.strips.iter().enumerate().skip(at.strip) {
            if strip.from[0] >= until {
                return None;
            }
            if may(strip)
                && let Some(found) = strip.free[first..].iter().position(|&free| wanted(free + strip.added))
            {
                let step = first + found;
                let from = strip.from[step].max(at.from);
                return (from < until).then_some(Cursor { strip: index, step, from });
            }
            first = 0;
        }
        None
    }

    /// Returns the strip that contains an instant, or the first strip if the instant is before all remaining strips.
    fn strip(&self, at: i64) -> usize {
        self.strips.partition_point(|strip| strip.from[0] <= at).saturating_sub(1)
    }

    fn add(&mut self, change: i64, start: i64, end: i64) {
        let begin = self.strips[0].from[0];
        let (start, end) = (start.max(begin), end.max(begin));
        if start >= end || change == 0 {
            return;
        }
        self.cut(start);
        self.cut(end);
        let first = self.strip(start);
        for strip in &mut self.strips[first..] {
            if strip.from[0] >= end {
                break;
            }
            let last = strip.from.len() - 1;
            if strip.from[0] >= start && strip.from[last] < end {
                // A step begins at `end`, so the last step of this strip ends by `end`.
                strip.added += change;
                continue;
            }
            for (from, free) in strip.from.iter().zip(&mut strip.free) {
                *free += if start <= *from && *from < end { change } else { 0 };
            }
            strip.measure();
        }
        self.join(end);
        self.join(start);
    }

    /// Splits the step that contains the instant `at`, unless the step begins at `at`.
    fn cut(&mut self, at: i64) {
        let index = self.strip(at);
        let strip = &mut self.strips[index];
        let step = strip.step(at);
        if strip.from[step] == at {
            return;
        }
        strip.from.insert(step + 1, at);
        strip.free.insert(step + 1, strip.free[step]);
        if strip.from.len() >= 2 * LENGTH {
            let (from, free) = (strip.from.split_off(LENGTH), strip.free.split_off(LENGTH));
            let mut rest = Strip { from, free, added: strip.added, least: 0, most: 0 };
            rest.measure();
            strip.measure();
            self.strips.insert(index + 1, rest);
        }
    }

    /// Merges the step that begins at the instant `at` with the previous step if both have equal numbers of free
    /// processors.
    fn join(&mut self, at: i64) {
        let index = self.strip(at);
        let strip = &self.strips[index];
        let step = strip.step(at);
        let free = strip.free[step] + strip.added;
        let before = match (step.checked_sub(1), index.checked_sub(1).map(|index| &self.strips[index])) {
            (Some(step), _) => strip.free[step] + strip.added,
            (None, Some(before)) => before.free.last().map_or(i64::MIN, |free| free + before.added),
            (None, None) => return,
        };
        if before != free || strip.from[step] != at {
            return;
        }
        if strip.from.len() == 1 {
            self.strips.remove(index);
            return;
        }
        // If the removed step had the minimum or the maximum of its strip, the stored range is too wide until it is
        // computed again. A range that is too wide is safe: queries then only read more steps than necessary.
        let strip = &mut self.strips[index];
        strip.from.remove(step);
        strip.free.remove(step);
    }
}

impl FreeTime for Strips {
    type Instant = Time;
    /// The number of processors, the start and the end.
    type Held = (u32, Time, Time);

    fn earliest_fit(&self, width: u32, duration: Time, after: Time) -> Time {
        self.earliest_fit_in(width, duration, Period::since(after)).expect("enough processors are free at the end")
    }

    fn fits(&self, width: u32, start: Time, duration: Time) -> bool {
        self.earliest_fit_in(width, duration, Period { from: start, until: start + Time::TICK }).is_some()
    }

    fn hold(&mut self, width: u32, start: Time, end: Time) -> (u32, Time, Time) {
        self.add(-i64::from(width), start.ticks(), end.ticks());
        (width, start, end)
    }

    fn release(&mut self, &(width, start, end): &(u32, Time, Time)) {
        self.add(i64::from(width), start.ticks(), end.ticks());
    }
}
