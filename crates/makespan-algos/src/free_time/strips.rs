//! Free processors over time, for a policy that asks and changes a million times.

use makespan_core::{FreeTime, Time};

use super::Period;

/// Free processors from now on, all of one class, in strips of some tens of steps that lie side by side in memory and
/// know their extremes. Between the tens of steps of a common cluster and the ten thousands of a crowded one it is
/// several times faster than a tree; a question or change walks over the strips and into those that matter.
///
/// More may be held than there are, where a policy is told of failures before the tasks that they end: none are free.
#[derive(Clone, Debug)]
pub(crate) struct Strips {
    strips: Vec<Strip>,
}

/// Consecutive steps.
#[derive(Clone, Debug)]
struct Strip {
    /// When each step begins.
    from: Vec<i64>,
    /// Free processors of each, less `added`.
    free: Vec<i64>,
    /// To be added to all.
    added: i64,
    /// Least and most of `free`.
    least: i64,
    most: i64,
}

/// Where a step is, and an instant in it.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    strip: usize,
    step: usize,
    from: i64,
}

/// A strip of twice as many steps is cut in two.
const LENGTH: usize = 32;

impl Strip {
    fn measure(&mut self) {
        self.least = self.free.iter().copied().min().unwrap_or(i64::MAX);
        self.most = self.free.iter().copied().max().unwrap_or(i64::MIN);
    }

    /// The step that holds at `at`, which is not before the strip.
    fn step(&self, at: i64) -> usize {
        self.from.partition_point(|&from| from <= at) - 1
    }
}

impl Strips {
    /// So many for ever.
    pub(crate) fn constant(free: u32) -> Self {
        let free = i64::from(free);
        Self { strips: vec![Strip { from: vec![i64::MIN], free: vec![free], added: 0, least: free, most: free }] }
    }

    /// Free processors at an instant.
    pub(crate) fn free_at(&self, instant: Time) -> u32 {
        let strip = &self.strips[self.strip(instant.ticks())];
        (strip.free[strip.step(instant.ticks())] + strip.added).max(0) as u32
    }

    /// Forgets what was before an instant.
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

    /// The first instant of a period from which `width` processors are free for `duration`.
    pub(crate) fn earliest_fit_in(&self, width: u32, duration: Time, period: Period) -> Option<Time> {
        self.earliest_fit_of_owner(width, duration, period, Time::MAX)
    }

    /// The same for somebody who holds that many processors for that long from the instant `own` on, and would give them
    /// back.
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

    /// From an instant on, until when how many are free.
    pub(crate) fn steps(&self, after: Time) -> impl Iterator<Item = (Time, u32)> + '_ {
        let at = self.strip(after.ticks());
        let first = self.strips[at].step(after.ticks());
        let free = self.strips[at..].iter().flat_map(|strip| strip.free.iter().map(|free| free + strip.added));
        let from = self.strips[at..].iter().flat_map(|strip| strip.from.iter().copied());
        let until = from.skip(first + 1).chain([i64::MAX]);
        until.zip(free.skip(first)).map(|(until, free)| (Time::from_ticks(until), free.max(0) as u32))
    }

    /// The first step from this one on, begun before `until`, in which what is free is as `wanted`; strips in which it is
    /// nowhere so are left out.
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

    /// The strip that holds at an instant; the first one for what is forgotten.
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
                // The step at `end` was cut, so that the last one of an inner strip ends with it at the latest.
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

    /// Makes a step begin at an instant.
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

    /// Drops the step that begins at an instant if it is no different from the one before.
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
        // Its value stays in the step before, or was an extreme only here: then the extremes are too wide, which is safe,
        // until they are measured again.
        let strip = &mut self.strips[index];
        strip.from.remove(step);
        strip.free.remove(step);
    }
}

impl FreeTime for Strips {
    type Instant = Time;
    /// How many, from when to when.
    type Held = (u32, Time, Time);

    fn earliest_fit(&self, width: u32, duration: Time, after: Time) -> Time {
        self.earliest_fit_in(width, duration, Period::since(after)).expect("so many are free at last")
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
