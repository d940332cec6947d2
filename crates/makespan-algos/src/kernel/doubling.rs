//! The selection step of DEMT, which fills batches of doubling length with tasks of high weight.

use std::cmp::Reverse;

use makespan_core::{Profile, TaskId, Time};

use super::knapsack::{self, Item};
use super::list::AllottedTask;
use super::open::{OpenLimit, OpenPlatform, fewest};

/// A task, with the data that the selection needs.
#[derive(Clone, Copy, Debug)]
pub struct SelectionTask<'a> {
    /// The task.
    pub task: TaskId,
    /// The times of the task.
    pub profile: &'a Profile,
    /// The weight of the task, in millionths.
    pub weight: u64,
}

/// Tasks that run one after another on the same processors. Most piles contain a single task.
pub type TaskPile = Vec<AllottedTask>;

/// The tasks that run between two instants.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Start of the batch, counted from the instant from which the batches are planned.
    pub offset: Time,
    /// Piles that fit on the platform at the same time. Each pile is at most as long as the batch.
    pub piles: Vec<TaskPile>,
}

/// The processors that are open during one batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchRoom {
    /// Number of processors that all piles may use together.
    pub processors: u32,
    /// For each number of open processors, in ascending order, the longest time for which at least this number is
    /// open.
    pub limits: Vec<OpenLimit>,
}

/// The number of open processors over time.
pub trait OpenRoom {
    /// Returns the open processors of the batch that starts at `offset` and lasts for `length`.
    fn of_batch(&self, offset: Time, length: Time) -> BatchRoom;

    /// Returns the first change of the open processors after `offset`.
    fn next_change(&self, offset: Time) -> Option<Time>;
}

/// A platform with processors that are always open.
impl OpenRoom for u32 {
    fn of_batch(&self, _offset: Time, length: Time) -> BatchRoom {
        BatchRoom { processors: *self, limits: vec![(*self, length)] }
    }

    fn next_change(&self, _offset: Time) -> Option<Time> {
        None
    }
}

impl OpenRoom for OpenPlatform<'_> {
    fn of_batch(&self, offset: Time, length: Time) -> BatchRoom {
        BatchRoom { processors: self.capacity(offset, length), limits: self.limits(offset, length) }
    }

    fn next_change(&self, offset: Time) -> Option<Time> {
        OpenPlatform::next_change(self, offset)
    }
}

/// Selects tasks into batches. Let s be the shortest time of a task, and K = log2(`guess` / s), rounded down. For j
/// from 0 to K, batch j runs from `t_j = guess / 2^(K - j)` to `2 t_j`.
///
/// A task is a candidate for a batch if enough processors are open long enough for the task during the batch.
/// Sequential candidates that take at most half of the length of the batch are stacked into piles, by decreasing
/// weight. A knapsack then selects piles and tasks that fit at the same time, with the largest total weight. If tasks
/// remain after batch K, further batches follow. The lengths of these batches continue to double, up to the longest
/// time of a task.
pub fn batches(candidates: &[SelectionTask<'_>], guess: Time, room: &impl OpenRoom) -> Vec<Batch> {
    let Some(shortest) = candidates.iter().map(|candidate| candidate.profile.shortest()).min() else { return vec![] };
    let longest = candidates.iter().map(|candidate| candidate.profile.longest()).max().unwrap_or(guess).max(guess);
    let doublings = (guess.ticks() / shortest.ticks()).max(1).ilog2();
    let mut remaining: Vec<SelectionTask<'_>> = candidates.to_vec();
    remaining.sort_by_key(|candidate| (Reverse(candidate.weight), candidate.task));
    let mut batches = Vec::new();
    let mut offset = Time::from_ticks(guess.ticks() >> doublings);
    let mut step = 0;
    let mut length = offset;
    while !remaining.is_empty() {
        let (piles, rest) = select(remaining, length, &room.of_batch(offset, length));
        remaining = rest;
        step += 1;
        let actual = piles.iter().map(|pile| pile_length(pile, candidates)).max().unwrap_or(Time::ZERO);
        let regular = step <= doublings + 1;
        let idle = piles.is_empty();
        batches.push(Batch { offset, piles });
        if idle && !regular {
            // No task fits, because too few processors are open. A longer batch would not help, so the next batch
            // begins when the number of open processors changes.
            offset = room.next_change(offset).unwrap_or(offset);
        } else {
            offset += if regular { length } else { actual };
        }
        length = if step <= doublings {
            Time::from_ticks(guess.ticks() >> (doublings - step))
        } else {
            (length * 2).min(longest)
        };
    }
    batches
}

fn pile_length(pile: &TaskPile, candidates: &[SelectionTask<'_>]) -> Time {
    let time = |allotted: &AllottedTask| {
        let at = candidates.partition_point(|candidate| candidate.task < allotted.task);
        candidates[at].profile.time(allotted.processors)
    };
    pile.iter().map(time).sum()
}

/// Returns the piles of one batch and the remaining candidates. `remaining` and the returned candidates are sorted by
/// decreasing weight.
fn select<'a>(
    remaining: Vec<SelectionTask<'a>>,
    length: Time,
    BatchRoom { processors, limits }: &BatchRoom,
) -> (Vec<TaskPile>, Vec<SelectionTask<'a>>) {
    let half = Time::from_ticks(length.ticks() / 2);
    // Maximum length of a pile. This length may be less than the length of the batch, because processors may be closed.
    let highest = limits.first().map_or(Time::ZERO, |limit| limit.1);
    let mut piles: Vec<(Item, Vec<usize>)> = Vec::new();
    // The pile to which small sequential tasks are added: its index and its length.
    let mut open: Option<(usize, Time)> = None;
    let mut allotments = vec![0; remaining.len()];
    for (index, candidate) in remaining.iter().enumerate() {
        let Some(width) = fewest(candidate.profile, limits) else { continue };
        allotments[index] = width;
        // A weight of zero is treated as a millionth, so that every task is eventually selected.
        let value = candidate.weight.max(1);
        let time = candidate.profile.time(width);
        let small = width == 1 && time <= half;
        if let Some((at, height)) = open
            && small
            && height + time <= highest
        {
            piles[at].0.value += value;
            piles[at].1.push(index);
            open = Some((at, height + time));
            continue;
        }
        piles.push((Item { width, value }, vec![index]));
        if small {
            open = Some((piles.len() - 1, time));
        }
    }
    let items: Vec<Item> = piles.iter().map(|(item, _)| *item).collect();
    let chosen = knapsack::choose(&items, *processors);
    let mut selected = vec![false; remaining.len()];
    let mut batch = Vec::new();
    for ((_, members), _) in piles.into_iter().zip(chosen).filter(|(_, chosen)| *chosen) {
        let allotted = |&index: &usize| AllottedTask { task: remaining[index].task, processors: allotments[index] };
        batch.push(members.iter().map(allotted).collect());
        members.iter().for_each(|&index| selected[index] = true);
    }
    let rest = remaining.into_iter().zip(selected).filter(|(_, selected)| !selected).map(|(candidate, _)| candidate);
    (batch, rest.collect())
}
