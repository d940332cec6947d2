//! Free processors over time in one flat array, for searches that build thousands of schedules a second.

mod nodes;

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use makespan_core::{FreeTime, Instance, ProcSet, Reservation, Time};

use nodes::Nodes;

/// Free processors over time, for schedules of up to some thousands of jobs.
///
/// The steps are stored in a sorted array, and a query reads them one by one. A [`makespan_core::Timeline`] answers a
/// query in logarithmic time. For up to some hundreds of steps, however, a skyline is several times faster, and cheap
/// to copy.
///
/// If best placement is required, the processors of different nodes are in different classes. A query then computes,
/// for each node, the minimum number of free processors while the job runs. The job fits if these minima allow a best
/// placement. Such a query takes O(steps * nodes).
#[derive(Debug, Default)]
pub struct Skyline {
    /// The instant at which each step begins.
    from: Vec<i64>,
    /// The number of free processors in each step. If best placement is required, this is the maximum number of
    /// processors of a best placement in this step.
    free: Vec<i32>,
    /// The number of free processors of each class in each step, step by step. The processors of a class are available
    /// at exactly the same times. The list is empty if there is only one class.
    parts: Vec<i32>,
    classes: usize,
    /// The first step that may have a free processor.
    head: usize,
    /// The latest end of all reservations that [`Skyline::place`] made.
    latest: i64,
    /// A buffer for the minimum number of free processors of each class during a period.
    least: RefCell<Vec<i32>>,
    /// The number of processors of each class that the last reservation took. The list is empty if there is only one
    /// class.
    taken: Vec<i32>,
    /// The nodes if best placement is required, otherwise `None`.
    nodes: Option<Arc<Nodes>>,
}

impl Clone for Skyline {
    fn clone(&self) -> Self {
        let mut clone = Self::default();
        clone.clone_from(self);
        clone
    }

    /// Copies `source` into the existing buffers.
    fn clone_from(&mut self, source: &Self) {
        self.from.clone_from(&source.from);
        self.free.clone_from(&source.free);
        self.parts.clone_from(&source.parts);
        self.least.get_mut().clone_from(&source.least.borrow());
        self.taken.clone_from(&source.taken);
        self.nodes.clone_from(&source.nodes);
        (self.classes, self.head, self.latest) = (source.classes, source.head, source.latest);
    }
}

impl Skyline {
    /// Maximum size of an empty skyline, as the number of steps times the number of classes. Larger skylines would be
    /// too slow to copy.
    pub const MAX: u64 = 1 << 22;

    /// Returns whether an empty skyline of the instance would be larger than [`Skyline::MAX`].
    pub fn is_too_large(instance: &Instance) -> bool {
        let classes = instance.availability().classes();
        let periods: usize = classes.iter().map(|class| class.closed.len()).sum();
        // Each closed period adds up to two steps, one for each of its ends.
        !instance.platform().restricts_placement() && classes.len() as u64 * (2 * periods as u64 + 1) > Self::MAX
    }

    /// Returns a skyline of the platform before any task is placed. During their unavailable periods, processors are
    /// not free.
    pub fn new(instance: &Instance) -> Self {
        let (classes, nodes) = nodes::classes(instance);
        let ticks = |time: Time| time.ticks();
        let changes = classes.iter().flat_map(|class| class.closed.iter().flat_map(|&(start, end)| [start, end]));
        let mut from: Vec<i64> = changes.map(ticks).chain([0]).collect();
        from.sort_unstable();
        from.dedup();
        let open = |class: &makespan_core::availability::Class, at: i64| {
            let closed = class.closed.iter().any(|&(start, end)| start.ticks() <= at && at < end.ticks());
            if closed { 0 } else { class.processors.len() as i32 }
        };
        let each = |at: &i64| classes.iter().map(|class| open(class, *at)).collect::<Vec<_>>();
        let parts: Vec<Vec<i32>> = from.iter().map(each).collect();
        let widest = |parts: &Vec<i32>| nodes.as_ref().map_or_else(|| parts.iter().sum(), |nodes| nodes.widest(parts));
        let free = parts.iter().map(widest).collect();
        let several = if classes.len() > 1 { classes.len() } else { 0 };
        let parts = if several > 0 { parts.concat() } else { Vec::new() };
        let (least, taken) = (RefCell::new(vec![0; several]), vec![0; several]);
        Self { from, free, parts, classes: several, head: 0, latest: 0, least, taken, nodes: nodes.map(Arc::new) }
    }

    /// Returns a skyline of interchangeable processors from the instant `now` on. Each entry of `held` is a number of
    /// processors and the instant until which they are held. The instants must be in ascending order.
    pub fn counted(processors: u32, now: i64, held: &[(i64, u32)]) -> Self {
        let mut free = processors as i32 - held.iter().map(|&(_, width)| width as i32).sum::<i32>();
        // No processors are free before `now`.
        let past = (now > 0).then_some((0, 0));
        let (mut from, mut counts): (Vec<i64>, Vec<i32>) = past.into_iter().chain([(now, free)]).unzip();
        for &(end, width) in held {
            free += width as i32;
            if from.last().is_some_and(|&last| last < end) {
                from.push(end);
                counts.push(free);
            } else if let Some(last) = counts.last_mut() {
                *last = free;
            }
        }
        let head = counts.iter().position(|&free| free > 0).unwrap_or(0);
        Self { from, free: counts, head, ..Self::default() }
    }

    /// If best placement is required, returns the processors of each class, in the order of [`Reservation::parts`].
    pub fn pools(&self) -> Option<&[ProcSet]> {
        self.nodes.as_deref().map(Nodes::pools)
    }

    /// Holds `width` processors for `duration` at their earliest fit from `release` on, and returns the start. These
    /// processors cannot be released again.
    pub fn place(&mut self, width: u32, duration: i64, release: i64) -> i64 {
        let width = width as i32;
        let (first, start) = self.first_fit(width, duration, release);
        self.take(first, start, start + duration, width);
        self.latest = self.latest.max(start + duration);
        start
    }

    /// Returns the latest end of all reservations that [`Skyline::place`] made, or zero if there are none.
    pub fn latest(&self) -> i64 {
        self.latest
    }

    /// Returns the step in which the earliest fit begins, and the start of this fit.
    fn first_fit(&self, width: i32, duration: i64, release: i64) -> (usize, i64) {
        let mut first = self.head;
        // Begin with the step `head`, because most tasks do not wait for their release. Skip steps only if a later
        // step begins by the release.
        if self.from.get(first + 1).is_some_and(|&next| next <= release) {
            first += self.from[first + 1..].partition_point(|&next| next <= release);
        }
        loop {
            while self.free[first] < width {
                first += 1;
            }
            let start = self.from[first].max(release);
            let end = start + duration;
            let mut step = first + 1;
            while step < self.from.len() && self.from[step] < end && self.free[step] >= width {
                step += 1;
            }
            if step < self.from.len() && self.from[step] < end {
                first = step + 1;
            } else if self.classes == 0 || self.has_throughout(width, first, end) {
                return (first, start);
            } else {
                first += 1;
            }
        }
    }

    /// Returns whether the processors that are free from the beginning of step `first` to `end` suffice for a job of
    /// this width.
    fn has_throughout(&self, width: i32, first: usize, end: i64) -> bool {
        let Some(nodes) = &self.nodes else { return self.free_throughout(first, end) >= width };
        let classes = self.classes;
        let last = first + 1 + self.from[first + 1..].partition_point(|&from| from < end);
        if last == first + 1 {
            return true;
        }
        let mut least = self.least.borrow_mut();
        least_of(&self.parts[first * classes..last * classes], &mut least);
        nodes.widest(&least) >= width
    }

    /// Returns the number of processors that are free without interruption from the beginning of step `first` to
    /// `end`.
    fn free_throughout(&self, first: usize, end: i64) -> i32 {
        let mut sum = 0;
        for class in 0..self.classes {
            let mut least = i32::MAX;
            let mut step = first;
            while step < self.from.len() && (step == first || self.from[step] < end) {
                least = least.min(self.parts[step * self.classes + class]);
                step += 1;
            }
            sum += least;
        }
        sum
    }

    /// Holds `width` processors from `start` to `end`. `start` is in step `first`.
    fn take(&mut self, first: usize, start: i64, end: i64, width: i32) {
        let period = self.cut_period(first, start, end);
        if self.classes > 0 {
            self.take_parts(period.clone(), width);
        }
        self.add(period.clone(), -width);
        self.join(period.end);
        self.join(period.start);
        while self.free[self.head] == 0 {
            self.head += 1;
        }
    }

    /// Takes processors for a reservation in the steps `period`. If best placement is required, takes a best
    /// placement. Otherwise, takes processors of the classes with the least availability first, as the timeline does.
    fn take_parts(&mut self, period: Range<usize>, width: i32) {
        let classes = self.classes;
        let least = self.least.get_mut();
        least_of(&self.parts[period.start * classes..period.end * classes], least);
        if let Some(nodes) = &self.nodes {
            nodes.take(width, least, &mut self.taken);
        } else {
            let mut missing = width;
            for (taken, &least) in self.taken.iter_mut().zip(&*least) {
                *taken = missing.min(least);
                missing -= *taken;
            }
        }
        for parts in self.parts[period.start * classes..period.end * classes].chunks_exact_mut(classes) {
            parts.iter_mut().zip(&self.taken).for_each(|(part, taken)| *part -= taken);
        }
    }

    /// Adds `change`, which may be negative, to the numbers of free processors in the steps `period`. The caller must
    /// have changed `parts` before.
    fn add(&mut self, period: Range<usize>, change: i32) {
        if let Some(nodes) = &self.nodes {
            let steps = self.parts[period.start * self.classes..period.end * self.classes].chunks_exact(self.classes);
            self.free[period].iter_mut().zip(steps).for_each(|(free, parts)| *free = nodes.widest(parts));
        } else {
            self.free[period].iter_mut().for_each(|free| *free += change);
        }
    }

    /// Returns the step that contains an instant.
    fn step(&self, at: i64) -> usize {
        self.from.partition_point(|&from| from <= at) - 1
    }

    /// Splits steps at `start` and at `end`. `start` is in step `first`. Returns the steps between these instants.
    fn cut_period(&mut self, first: usize, start: i64, end: i64) -> Range<usize> {
        let first = self.cut(first, start);
        let mut last = first;
        while last < self.from.len() && self.from[last] < end {
            last += 1;
        }
        let last = if self.from.get(last) == Some(&end) { last } else { self.cut(last - 1, end) };
        first..last
    }

    /// Splits `step` at the instant `at`, unless `step` begins there. Returns the step that begins at `at`.
    fn cut(&mut self, step: usize, at: i64) -> usize {
        if self.from[step] == at {
            return step;
        }
        let next = step + 1;
        self.from.insert(next, at);
        self.free.insert(next, self.free[step]);
        if self.classes > 0 {
            let parts = step * self.classes..next * self.classes;
            let at = next * self.classes;
            self.parts.extend_from_within(parts);
            self.parts[at..].rotate_right(self.classes);
        }
        next
    }

    /// Merges a step with the previous step if both have equal numbers of free processors.
    fn join(&mut self, step: usize) {
        let classes = self.classes;
        let same = step > 0
            && self.free[step - 1] == self.free[step]
            && (0..classes).all(|class| self.parts[(step - 1) * classes + class] == self.parts[step * classes + class]);
        if same {
            self.from.remove(step);
            self.free.remove(step);
            self.parts.drain(step * classes..(step + 1) * classes);
            self.head = self.head.min(step - 1);
        }
    }
}

impl FreeTime for Skyline {
    type Instant = i64;
    type Held = Reservation;

    fn earliest_fit(&self, width: u32, duration: i64, after: i64) -> i64 {
        self.first_fit(width as i32, duration, after).1
    }

    fn hold(&mut self, width: u32, start: i64, end: i64) -> Reservation {
        self.take(self.step(start), start, end, width as i32);
        let [start, end] = [start, end].map(Time::from_ticks);
        if self.classes == 0 {
            return Reservation::on_open_platform(width, start, end);
        }
        Reservation::of_parts(self.taken.iter().map(|&count| count as u32).collect(), start, end)
    }

    fn release(&mut self, held: &Reservation) {
        let (start, end, classes) = (held.start.ticks(), held.end.ticks(), self.classes);
        let period = self.cut_period(self.step(start), start, end);
        self.head = self.head.min(period.start);
        if let Some(given) = held.parts() {
            for parts in self.parts[period.start * classes..period.end * classes].chunks_exact_mut(classes) {
                parts.iter_mut().zip(given).for_each(|(part, &given)| *part += given as i32);
            }
        }
        self.add(period.clone(), held.width as i32);
        self.join(period.end);
        self.join(period.start);
    }
}

/// Writes the minimum number of free processors of each class into `least`. `parts` contains these numbers for some
/// steps, step by step.
fn least_of(parts: &[i32], least: &mut [i32]) {
    least.fill(i32::MAX);
    for parts in parts.chunks_exact(least.len()) {
        least.iter_mut().zip(parts).for_each(|(least, &part)| *least = (*least).min(part));
    }
}

#[cfg(test)]
mod tests;
