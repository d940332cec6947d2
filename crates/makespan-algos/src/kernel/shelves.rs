//! Two shelves: the construction of the 3/2 dual approximation.
//!
//! Source: G. Mounié, C. Rapine, D. Trystram, "A 3/2-approximation algorithm for scheduling independent monotonic
//! malleable tasks", SIAM J. Comput. 37(2), 2007, DOI 10.1137/S0097539701385995, section 4.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{ProcSet, Profile, Time};

/// A task in the two shelves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShelvedTask {
    /// Index of the task in the input.
    pub task: usize,
    /// The processors.
    pub processors: ProcSet,
    /// The start.
    pub start: Time,
}

/// One column for each processor, while tasks are placed in the two shelves.
struct Columns {
    shelved: Vec<ShelvedTask>,
    /// For each column, the end of the tasks that are stacked in it from time 0 on.
    top: Vec<Time>,
    /// For each column, the start of the second shelf.
    ceiling: Vec<Time>,
}

/// A task, by its index in the input, with an allotment.
#[derive(Clone, Copy)]
struct Entry {
    task: usize,
    processors: u32,
}

/// The state during the construction.
struct Building<'a> {
    profiles: &'a [&'a Profile],
    guess: Time,
    /// The height of both shelves together: one and a half times `guess`.
    height: Time,
    /// The end of the second shelf. It equals the height of the shelves, or is slightly later if times were rounded up.
    end: Time,
    processors: u32,
    /// Full columns, in which no other task fits. Each contains one long task, or two sequential tasks one above the
    /// other, or a sequential task above the first column of a wider task.
    full: Vec<Full>,
    /// The tasks of the first shelf with their allotments.
    lower: Vec<Entry>,
    /// The tasks of the second shelf with their allotments. The tasks are sorted by the fewest processors with which
    /// each task meets the height, the fewest last.
    upper: Vec<Entry>,
}

/// A group of full columns.
enum Full {
    One {
        task: usize,
        processors: u32,
    },
    Stacked {
        lower: usize,
        upper: usize,
    },
    /// A sequential task `upper` that runs after `lower`, on the first processor of `lower`. The other columns of
    /// `lower` belong to the first shelf.
    Beside {
        lower: usize,
        processors: u32,
        upper: usize,
    },
}

/// Maximum time by which [`two_shelves`] exceeds one and a half times the guessed makespan for tasks with speed-up
/// laws, in ticks.
pub const ROUNDING: i64 = 7;

/// Builds a schedule of monotone tasks. Its length is at most one and a half times `guess`. `first_shelf` states which
/// tasks [`makespan_bounds::dual::search`] chose for the first shelf. For tasks that are not monotone, the construction
/// may fail. In this case, the function returns `None`.
///
/// The proof of the paper requires that work never decreases with the number of processors. A speed-up law has this
/// property before times are rounded up to ticks. After rounding, the work may decrease by one tick on each processor.
/// If the construction then fails, the shelves are built again for a larger guess, with one additional tick at the end.
/// The larger guess is a multiple of 4 ticks, and at most `guess` plus 4. These shelves end at most [`ROUNDING`] ticks
/// (3/2 times 4 ticks, plus one tick) later than one and a half times `guess`, for two reasons:
///
/// * Half, three quarters and one and a half times the larger guess are integers. A time that is rounded up to an
///   integer meets an integer limit if and only if the exact time meets this limit. So every step decides as with exact
///   times, and the second shelf fits. (The work of the chosen allotments may exceed the area of `guess` by less than a
///   tick on each processor, the error of [`Profile::least_work`]. The work does not exceed the area of the larger
///   guess.)
/// * Sequential times are integers. Every processor has at most two tasks with times that are rounded up, each by less
///   than a tick. Thus, including the small tasks, the mean load of the processors is less than the larger guess plus
///   two ticks. So some processor has a load of at most the larger guess plus one tick. A small task takes at most half
///   of the guess, so it ends in time on this processor.
///
/// Takes O(n log n + processors) for n tasks.
pub fn two_shelves(
    profiles: &[&Profile],
    first_shelf: &[bool],
    guess: Time,
    processors: u32,
) -> Option<Vec<ShelvedTask>> {
    let shelved = build(profiles, first_shelf, guess, Time::ZERO, processors);
    if shelved.is_some() || !profiles.iter().any(|profile| profile.rounds_up()) {
        return shelved;
    }
    let whole = Time::from_ticks(4 * (guess.ticks() / 4 + 1));
    build(profiles, first_shelf, whole, Time::TICK, processors)
}

/// Builds the shelves for the guess `guess`. The second shelf ends `slack` ticks after one and a half times this
/// guess.
fn build(
    profiles: &[&Profile],
    first_shelf: &[bool],
    guess: Time,
    slack: Time,
    processors: u32,
) -> Option<Vec<ShelvedTask>> {
    let half = Time::from_ticks(guess.ticks() / 2);
    let height = guess + half;
    let is_small = |profile: &Profile| profile.accepts(1) && profile.time(1) <= half;
    let mut small = Vec::new();
    let mut building = Building {
        profiles,
        guess,
        height,
        end: height + slack,
        processors,
        full: vec![],
        lower: vec![],
        upper: vec![],
    };
    for (task, profile) in profiles.iter().enumerate() {
        if is_small(profile) {
            small.push(task);
        } else if first_shelf[task] {
            building.lower.push(Entry { task, processors: profile.min_allotment(guess)? });
        } else {
            building.upper.push(Entry { task, processors: profile.min_allotment(half)? });
        }
    }
    building.upper.sort_by_key(|entry| Reverse((profiles[entry.task].min_allotment(height), entry.task)));
    while building.transform() {}
    building.place(&small)
}

impl Building<'_> {
    /// Performs one round of the three transformations. Returns whether a task was moved.
    fn transform(&mut self) -> bool {
        let narrowed = self.narrow();
        let stacked = self.stack();
        let lowered = self.lower_one();
        narrowed || stacked || lowered
    }

    fn time(&self, entry: Entry) -> Time {
        self.profiles[entry.task].time(entry.processors)
    }

    /// Returns whether a task takes at most three quarters of the guessed makespan.
    fn is_low(&self, entry: Entry) -> bool {
        4 * i128::from(self.time(entry).ticks()) <= 3 * i128::from(self.guess.ticks())
    }

    /// First transformation: reduces the allotments of wide tasks of the first shelf. If a task has several processors
    /// and takes at most three quarters of the guessed makespan, it gets the fewest processors with which it meets the
    /// height.
    fn narrow(&mut self) -> bool {
        let before = self.lower.len();
        let lower = std::mem::take(&mut self.lower);
        for entry in lower {
            let Entry { task, processors } = entry;
            let fewer = self.profiles[task].min_allotment(self.height).unwrap_or(processors);
            if processors > 1 && fewer < processors && self.is_low(entry) {
                self.full.push(Full::One { task, processors: fewer });
            } else {
                self.lower.push(entry);
            }
        }
        self.lower.len() < before
    }

    /// Second transformation: stacks pairs of sequential tasks of the first shelf, each of which takes at most three
    /// quarters of the guessed makespan. A single such task may remain. If this task and another task of the shelf
    /// together end within the height, it is stacked on the other task.
    fn stack(&mut self) -> bool {
        let (mut low, rest): (Vec<_>, Vec<_>) =
            self.lower.iter().copied().partition(|&entry| entry.processors == 1 && self.is_low(entry));
        let moved = low.len() > 1;
        self.lower = rest;
        while low.len() > 1 {
            if let (Some(lower), Some(upper)) = (low.pop(), low.pop()) {
                self.full.push(Full::Stacked { lower: lower.task, upper: upper.task });
            }
        }
        let Some(single) = low.pop() else { return moved };
        let room = self.height - self.time(single);
        let Some(at) = self.lower.iter().position(|&entry| self.time(entry) <= room) else {
            self.lower.push(single);
            return moved;
        };
        let lower = self.lower.swap_remove(at);
        self.full.push(Full::Beside { lower: lower.task, processors: lower.processors, upper: single.task });
        true
    }

    /// Third transformation: considers the task of the second shelf that needs the fewest processors to meet the
    /// height. If at least this number of processors is idle in the first shelf, moves the task there. If the task
    /// takes at most the guessed makespan on these processors, the task joins the first shelf. Otherwise, the task
    /// fills its columns.
    fn lower_one(&mut self) -> bool {
        let Some(&Entry { task, .. }) = self.upper.last() else { return false };
        let idle = self.processors.saturating_sub(self.columns() + self.lower_width());
        let Some(processors) = self.profiles[task].min_allotment(self.height).filter(|&fewest| fewest <= idle) else {
            return false;
        };
        self.upper.pop();
        let entry = Entry { task, processors };
        if self.time(entry) <= self.guess {
            self.lower.push(entry);
        } else {
            self.full.push(Full::One { task, processors });
        }
        true
    }

    /// Returns the number of full columns.
    fn columns(&self) -> u32 {
        let columns = |full: &Full| match full {
            Full::One { processors, .. } => *processors,
            Full::Stacked { .. } | Full::Beside { .. } => 1,
        };
        self.full.iter().map(columns).sum()
    }

    /// Returns the number of columns of the first shelf. If a wide task shares its first column with a sequential
    /// task, its other columns are included.
    fn lower_width(&self) -> u32 {
        let beside = |full: &Full| match full {
            Full::Beside { processors, .. } => processors - 1,
            _ => 0,
        };
        self.full.iter().map(beside).sum::<u32>() + self.lower.iter().map(|entry| entry.processors).sum::<u32>()
    }

    /// Assigns processors to all tasks. Full columns begin at the left, and the first shelf follows. The second shelf
    /// begins at the right. Finally, the small tasks go to the largest gaps.
    fn place(self, small: &[usize]) -> Option<Vec<ShelvedTask>> {
        let upper_width: u32 = self.upper.iter().map(|entry| entry.processors).sum();
        let room = self.processors.checked_sub(self.columns())?;
        if self.lower_width() > room || upper_width > room {
            return None;
        }
        let size = self.processors as usize;
        let mut columns = Columns {
            shelved: Vec::with_capacity(self.profiles.len()),
            top: vec![Time::ZERO; size],
            ceiling: vec![self.end; size],
        };
        self.place_full(&mut columns);
        let mut right = self.processors;
        for &entry in &self.upper {
            let Entry { task, processors } = entry;
            right -= processors;
            let start = self.end - self.time(entry);
            columns.ceiling[right as usize..(right + processors) as usize].fill(start);
            columns.shelved.push(ShelvedTask {
                task,
                processors: ProcSet::range(right, right + processors - 1),
                start,
            });
        }
        self.fill_gaps(small, &mut columns)?;
        Some(columns.shelved)
    }

    /// Places all tasks except the tasks of the second shelf and the small tasks.
    fn place_full(&self, columns: &mut Columns) {
        let mut column = 0;
        let mut beyond = self.columns();
        let take = |from: &mut u32, count: u32| {
            *from += count;
            if count == 0 { ProcSet::new() } else { ProcSet::range(*from - count, *from - 1) }
        };
        for full in &self.full {
            match *full {
                Full::One { task, processors } => {
                    columns.put(self, task, take(&mut column, processors), Time::ZERO);
                }
                Full::Stacked { lower, upper } => {
                    let shared = take(&mut column, 1);
                    let end = columns.put(self, lower, shared.clone(), Time::ZERO);
                    columns.put(self, upper, shared, end);
                }
                Full::Beside { lower, processors, upper } => {
                    let shared = take(&mut column, 1);
                    let others = take(&mut beyond, processors - 1);
                    let end = columns.put(self, lower, shared.union(&others), Time::ZERO);
                    columns.put(self, upper, shared, end);
                }
            }
        }
        for &Entry { task, processors } in &self.lower {
            columns.put(self, task, take(&mut beyond, processors), Time::ZERO);
        }
    }

    /// Places each small task in the column with the largest gap. This gap is always large enough, because the total
    /// work of all tasks is at most the processor time up to the guessed makespan.
    fn fill_gaps(&self, small: &[usize], columns: &mut Columns) -> Option<()> {
        let Columns { shelved, top, ceiling } = columns;
        let gap = |column: u32| (ceiling[column as usize].saturating_since(top[column as usize]), Reverse(column));
        let mut gaps: BinaryHeap<(Time, Reverse<u32>)> = (0..self.processors).map(gap).collect();
        for &task in small {
            let time = self.profiles[task].time(1);
            let (gap, Reverse(first)) = gaps.pop()?;
            if time > gap {
                return None;
            }
            let start = ceiling[first as usize] - gap;
            shelved.push(ShelvedTask { task, processors: ProcSet::range(first, first), start });
            gaps.push((gap - time, Reverse(first)));
        }
        Some(())
    }
}

impl Columns {
    /// Puts a task at `start` on the columns `processors`. Returns its end.
    fn put(&mut self, building: &Building<'_>, task: usize, processors: ProcSet, start: Time) -> Time {
        let end = start + building.profiles[task].time(processors.len());
        processors.iter().for_each(|column| self.top[column as usize] = end);
        self.shelved.push(ShelvedTask { task, processors, start });
        end
    }
}

#[cfg(test)]
mod tests;
