//! Free processors over time in one flat array: for searches that build thousands of schedules a second.

use makespan_core::{Instance, Time};

/// Free processors over time, for schedules of some thousands of jobs at most.
///
/// The same function as [`makespan_core::Timeline`], which answers in logarithmic time, as a sorted array of steps: a
/// question walks over the steps, which for hundreds of them is several times faster and copies in no time.
#[derive(Debug, Default)]
pub struct Skyline {
    /// When each step begins.
    from: Vec<i64>,
    /// Processors free until the next step.
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
        (self.classes, self.head, self.latest) = (source.classes, source.head, source.latest);
    }
}

impl Skyline {
    /// The platform of the instance, empty but for its reservations and outages.
    pub fn new(instance: &Instance) -> Self {
        let classes = instance.availability().classes();
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
        let free = parts.iter().map(|parts| parts.iter().sum()).collect();
        let several = if classes.len() > 1 { classes.len() } else { 0 };
        let parts = if several > 0 { parts.concat() } else { Vec::new() };
        Self { from, free, parts, classes: several, head: 0, latest: 0, least: vec![0; several] }
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
    pub fn would_start(&self, width: u32, duration: i64, release: i64) -> i64 {
        self.earliest_fit(width as i32, duration, release).1
    }

    /// The step in which the earliest fit begins, and when.
    fn earliest_fit(&self, width: i32, duration: i64, release: i64) -> (usize, i64) {
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
            } else if self.classes == 0 || self.free_throughout(first, end) >= width {
                return (first, start);
            } else {
                first += 1;
            }
        }
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
        for free in &mut self.free[first..last] {
            *free -= width;
        }
        self.join(last);
        self.join(first);
        while self.free[self.head] == 0 {
            self.head += 1;
        }
    }

    /// Takes from the most constrained classes first, as the timeline does.
    fn hold_parts(&mut self, first: usize, last: usize, width: i32) {
        let classes = self.classes;
        self.least.fill(i32::MAX);
        for parts in self.parts[first * classes..last * classes].chunks_exact(classes) {
            for (least, &part) in self.least.iter_mut().zip(parts) {
                *least = (*least).min(part);
            }
        }
        let mut missing = width;
        for least in &mut self.least {
            *least = missing.min(*least);
            missing -= *least;
        }
        for parts in self.parts[first * classes..last * classes].chunks_exact_mut(classes) {
            for (part, taken) in parts.iter_mut().zip(&self.least) {
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
