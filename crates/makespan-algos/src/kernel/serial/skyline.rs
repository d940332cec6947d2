//! Free processors over time in one flat array: for searches that build thousands of schedules a second.

mod nodes;

use std::sync::Arc;

use makespan_core::{Instance, ProcSet, Time};

use nodes::Nodes;

/// Free processors over time, for schedules of some thousands of jobs at most.
///
/// The same function as [`makespan_core::Timeline`], which answers in logarithmic time, as a sorted array of steps: a
/// question walks over the steps, which for hundreds of them is several times faster and copies in no time.
///
/// Where best placement is required the processors of each node are a class, and a job fits where the least that each
/// node has free over its time is enough for a best placement. A question then takes steps times nodes.
#[derive(Debug, Default)]
pub struct Skyline {
    /// When each step begins.
    from: Vec<i64>,
    /// Processors free until the next step; where best placement is required, of the widest job that fits there.
    free: Vec<i32>,
    /// The same for each class of equally available processors, step by step; empty when there is one class.
    parts: Vec<i32>,
    classes: usize,
    /// Every step before this one is full.
    head: usize,
    /// When the last of what was placed ends.
    latest: i64,
    /// Least free processors of each class over a period, while it is measured.
    least: Vec<i32>,
    /// How many of each class were taken last, where there are several.
    taken: Vec<i32>,
    /// The nodes, where best placement is required.
    nodes: Option<Arc<Nodes>>,
}

impl Clone for Skyline {
    fn clone(&self) -> Self {
        let mut clone = Self::default();
        clone.clone_from(self);
        clone
    }

    /// Copies into the buffers that are there.
    fn clone_from(&mut self, source: &Self) {
        self.from.clone_from(&source.from);
        self.free.clone_from(&source.free);
        self.parts.clone_from(&source.parts);
        self.least.clone_from(&source.least);
        self.taken.clone_from(&source.taken);
        self.nodes.clone_from(&source.nodes);
        (self.classes, self.head, self.latest) = (source.classes, source.head, source.latest);
    }
}

impl Skyline {
    /// Most figures that a skyline should hold before anything is placed, steps times classes: copies of it are made.
    pub const MAX: u64 = 1 << 22;

    /// Whether closed periods alone make it larger than that.
    pub fn is_too_large(instance: &Instance) -> bool {
        let classes = instance.availability().classes();
        let periods: usize = classes.iter().map(|class| class.closed.len()).sum();
        // No more than two instants a period; few are shared where there are many.
        !instance.platform().restricts_placement() && classes.len() as u64 * (2 * periods as u64 + 1) > Self::MAX
    }

    /// The platform of the instance, empty but for its reservations and outages.
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
        let (least, taken) = (vec![0; several], vec![0; several]);
        Self { from, free, parts, classes: several, head: 0, latest: 0, least, taken, nodes: nodes.map(Arc::new) }
    }

    /// The processors of each class, where best placement is required, in the order of [`Skyline::taken`].
    pub fn pools(&self) -> Option<&[ProcSet]> {
        self.nodes.as_deref().map(Nodes::pools)
    }

    /// How many processors of each class were placed last; empty where there is only one class.
    pub fn taken(&self) -> impl Iterator<Item = u32> + '_ {
        self.taken.iter().map(|&count| count as u32)
    }

    /// Places `width` processors for `duration` at their earliest fit, not before `release`; returns the start.
    pub fn place(&mut self, width: u32, duration: i64, release: i64) -> i64 {
        let width = width as i32;
        let (first, start) = self.earliest_fit(width, duration, release);
        self.hold(first, start, start + duration, width);
        self.latest = self.latest.max(start + duration);
        start
    }

    /// When the last of what was placed ends; zero before anything is.
    pub fn latest(&self) -> i64 {
        self.latest
    }

    /// When `width` processors would be placed for `duration`.
    pub fn would_start(&mut self, width: u32, duration: i64, release: i64) -> i64 {
        self.earliest_fit(width as i32, duration, release).1
    }

    /// The step in which the earliest fit begins, and when.
    fn earliest_fit(&mut self, width: i32, duration: i64, release: i64) -> (usize, i64) {
        let mut first = self.head;
        // The last step goes on for ever.
        while self.from.get(first + 1).is_some_and(|&next| next <= release) {
            first += 1;
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
            } else if self.classes == 0 || self.fits(width, first, end) {
                return (first, start);
            } else {
                first += 1;
            }
        }
    }

    /// Whether enough processors are free from step `first` until `end`, each throughout.
    fn fits(&mut self, width: i32, first: usize, end: i64) -> bool {
        let Some(nodes) = &self.nodes else { return self.free_throughout(first, end) >= width };
        let classes = self.classes;
        let last = first + 1 + self.from[first + 1..].partition_point(|&from| from < end);
        if last == first + 1 {
            return true;
        }
        least_of(&self.parts[first * classes..last * classes], &mut self.least);
        nodes.widest(&self.least) >= width
    }

    /// Processors that are free from step `first` until `end`, each throughout.
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

    /// Takes `width` processors from `start`, which lies in step `first`, until `end`.
    fn hold(&mut self, first: usize, start: i64, end: i64, width: i32) {
        let first = self.cut(first, start);
        let mut last = first;
        while last < self.from.len() && self.from[last] < end {
            last += 1;
        }
        let last = if self.from.get(last) == Some(&end) { last } else { self.cut(last - 1, end) };
        if self.classes > 0 {
            self.hold_parts(first, last, width);
        }
        if let Some(nodes) = &self.nodes {
            let steps = self.parts[first * self.classes..last * self.classes].chunks_exact(self.classes);
            self.free[first..last].iter_mut().zip(steps).for_each(|(free, parts)| *free = nodes.widest(parts));
        } else {
            self.free[first..last].iter_mut().for_each(|free| *free -= width);
        }
        self.join(last);
        self.join(first);
        while self.free[self.head] == 0 {
            self.head += 1;
        }
    }

    /// Takes from the most constrained classes first, as the timeline does, or a best placement.
    fn hold_parts(&mut self, first: usize, last: usize, width: i32) {
        let classes = self.classes;
        least_of(&self.parts[first * classes..last * classes], &mut self.least);
        if let Some(nodes) = &self.nodes {
            nodes.take(width, &self.least, &mut self.taken);
        } else {
            let mut missing = width;
            for (taken, &least) in self.taken.iter_mut().zip(&self.least) {
                *taken = missing.min(least);
                missing -= *taken;
            }
        }
        for parts in self.parts[first * classes..last * classes].chunks_exact_mut(classes) {
            for (part, taken) in parts.iter_mut().zip(&self.taken) {
                *part -= taken;
            }
        }
    }

    /// Makes a step begin at `at`, which lies in `step`; returns that step.
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

    /// Drops a step that is no different from the one before.
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

/// The least of each class over the steps of `parts`.
fn least_of(parts: &[i32], least: &mut [i32]) {
    least.fill(i32::MAX);
    for parts in parts.chunks_exact(least.len()) {
        least.iter_mut().zip(parts).for_each(|(least, &part)| *least = (*least).min(part));
    }
}
