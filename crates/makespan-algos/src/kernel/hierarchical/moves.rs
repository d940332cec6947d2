//! The parts, and the three transformations. The transformations make the second shelf fit, and none of them adds work.
//! The parent module explains the parts `P_full`, `P_1` and `P_2`.

use std::cmp::Reverse;

use makespan_core::{Profile, Time};

use super::{Cluster, time_within};

/// A task and the width that is reserved for it: a k + 2^j processors on nodes of k processors. Some of the reserved
/// processors may stay idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReservedWidth {
    pub(super) task: usize,
    pub(super) width: u32,
}

/// A group of columns of `P_full`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Full {
    One(ReservedWidth),
    /// Two sequential tasks in one column.
    Stacked {
        lower: usize,
        upper: usize,
    },
}

impl Full {
    pub(super) fn width(self) -> u32 {
        match self {
            Self::One(slot) => slot.width,
            Self::Stacked { .. } => 1,
        }
    }
}

/// The parts of all tasks during the construction.
#[derive(Clone)]
pub(super) struct TaskParts<'a> {
    pub(super) profiles: &'a [&'a Profile],
    pub(super) cluster: Cluster,
    pub(super) guess: Time,
    pub(super) half: Time,
    pub(super) height: Time,
    /// The height, plus one tick if times are rounded up.
    pub(super) limit: Time,
    pub(super) full: Vec<Full>,
    /// Tasks of `P_1` that no transformation moves.
    pub(super) first: Vec<ReservedWidth>,
    /// Tasks of `P_1` with a reserved width of several processors. A width of a k + 2^j could lose half of its last 2^j
    /// processors.
    pub(super) narrowable: Vec<ReservedWidth>,
    /// Sequential tasks of `P_1` that take at most half of the height of the schedule, by decreasing time.
    pub(super) singles: Vec<ReservedWidth>,
    /// Tasks of `P_2` in boxes, in decreasing order of the width that each task would have in the first shelf.
    pub(super) second: Vec<ReservedWidth>,
    pub(super) small: Vec<usize>,
    /// Tasks that did not fit. This happens only if some tasks are not monotone.
    pub(super) left: Vec<usize>,
    full_width: u32,
    first_width: u32,
    second_width: u64,
    /// Whether every task is in its part and `second` and `singles` are sorted.
    is_sorted: bool,
}

impl<'a> TaskParts<'a> {
    pub(super) fn new(profiles: &'a [&'a Profile], cluster: Cluster, guess: Time) -> Self {
        Self {
            profiles,
            cluster,
            guess,
            half: Time::from_ticks(guess.ticks() / 2),
            height: cluster.height(guess),
            limit: cluster.limit(profiles, guess),
            full: vec![],
            first: vec![],
            narrowable: vec![],
            singles: vec![],
            second: vec![],
            small: vec![],
            left: vec![],
            full_width: 0,
            first_width: 0,
            second_width: 0,
            is_sorted: false,
        }
    }

    /// Let k be the number of processors of a node. Returns the smallest number of processors of the form a k + 2^j on
    /// which a task takes at most the height of the schedule. If no number suffices, returns a number larger than the
    /// platform.
    pub(super) fn least(&self, task: usize) -> u32 {
        let least = self.profiles[task].min_allotment(self.height);
        least.map_or(u32::MAX, |least| self.cluster.round_up(least))
    }

    /// Returns f, the number of processors that neither `P_full` nor `P_1` uses.
    pub(super) fn idle(&self) -> u32 {
        self.cluster.processors() - self.full_width - self.first_width
    }

    /// Returns whether `P_2` fits next to `P_full`.
    pub(super) fn is_feasible(&self) -> bool {
        u64::from(self.full_width) + self.second_width <= u64::from(self.cluster.processors())
    }

    pub(super) fn time(&self, slot: ReservedWidth) -> Time {
        time_within(self.profiles[slot.task], slot.width).unwrap_or(Time::MAX)
    }

    pub(super) fn enter_second(&mut self, slot: ReservedWidth) {
        self.second_width += u64::from(slot.width);
        self.second.push(slot);
    }

    /// Adds a task with a reserved width to `P_1`, or to `P_full` if the task takes longer than the guessed makespan.
    /// The processors must be idle.
    pub(super) fn enter(&mut self, slot: ReservedWidth) {
        let time = self.time(slot);
        if time > self.guess {
            self.full_width += slot.width;
            self.full.push(Full::One(slot));
            return;
        }
        self.first_width += slot.width;
        if slot.width == 1 && 2 * i128::from(time.ticks()) <= i128::from(self.height.ticks()) {
            let sorted_place = || self.singles.partition_point(|&other| self.time(other) >= time);
            let at = if self.is_sorted { sorted_place() } else { self.singles.len() };
            self.singles.insert(at, slot);
        } else if slot.width > 1 && self.is_low(time) && self.least(slot.task) < slot.width {
            self.narrowable.push(slot);
        } else {
            self.first.push(slot);
        }
    }

    /// Returns whether a time is at most three quarters of the guessed makespan.
    fn is_low(&self, time: Time) -> bool {
        4 * i128::from(time.ticks()) <= 3 * i128::from(self.guess.ticks())
    }

    /// Sorts `P_2` and the sequential tasks, after all tasks have entered.
    pub(super) fn sort(&mut self) {
        let (mut second, mut singles) = (std::mem::take(&mut self.second), std::mem::take(&mut self.singles));
        second.sort_by_cached_key(|slot| Reverse((self.least(slot.task), slot.task)));
        singles.sort_by_cached_key(|&slot| Reverse(self.time(slot)));
        (self.second, self.singles, self.is_sorted) = (second, singles, true);
    }

    /// Performs one transformation, if possible. Returns whether a transformation was performed.
    pub(super) fn transform(&mut self) -> bool {
        self.lower_one() || self.narrow_one() || self.stack_two()
    }

    /// Section 5.1: if a task of `P_2` takes at most the height of the schedule on idle processors of the first shelf,
    /// moves the task there.
    ///
    /// The paper reduces the canonical allotment of the first shelf. This function uses the smallest number of
    /// processors of the form a k + 2^j with which the task meets the height (k processors in a node). This number is
    /// never larger than the number in the paper, so the task fits more often. For example, a task with three
    /// processors in `P_2` and two in `P_1` may need only one.
    fn lower_one(&mut self) -> bool {
        let Some(&ReservedWidth { task, width }) = self.second.last() else { return false };
        let least = self.least(task);
        if least > self.idle() {
            return false;
        }
        self.second.pop();
        self.second_width -= u64::from(width);
        self.enter(ReservedWidth { task, width: least });
        true
    }

    /// Section 5.2: moves a task of `P_1` to `P_full`, on fewer processors. The task must take at most three quarters
    /// of the guessed makespan in `P_1`.
    fn narrow_one(&mut self) -> bool {
        let Some(slot) = self.narrowable.pop() else { return false };
        self.first_width -= slot.width;
        let width = self.least(slot.task);
        self.full_width += width;
        self.full.push(Full::One(ReservedWidth { task: slot.task, width }));
        true
    }

    /// Section 5.3: stacks two sequential tasks of `P_1` in a column of `P_full`. Each takes at most half of the height
    /// of the schedule.
    fn stack_two(&mut self) -> bool {
        if self.singles.len() < 2 {
            return false;
        }
        if let (Some(upper), Some(lower)) = (self.singles.pop(), self.singles.pop()) {
            self.first_width -= 2;
            self.full_width += 1;
            self.full.push(Full::Stacked { lower: lower.task, upper: upper.task });
        }
        true
    }

    /// Removes the widest boxes from `P_2` until the remaining boxes fit. This is needed only if some tasks are not
    /// monotone.
    pub(super) fn give_up(&mut self) {
        let mut second = std::mem::take(&mut self.second);
        second.sort_by_key(|slot| Reverse(slot.width));
        let mut fitting = second.into_iter();
        while !self.is_feasible()
            && let Some(slot) = fitting.next()
        {
            self.second_width -= u64::from(slot.width);
            self.left.push(slot.task);
        }
        self.second = fitting.collect();
    }

    /// Returns all tasks of `P_1`.
    pub(super) fn first_shelf(&self) -> impl Iterator<Item = ReservedWidth> + '_ {
        self.first.iter().chain(&self.narrowable).chain(&self.singles).copied()
    }
}
