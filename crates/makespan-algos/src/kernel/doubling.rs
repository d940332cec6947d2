//! Batches of doubling length filled with weight: the selection step of DEMT.

use std::cmp::Reverse;

use makespan_core::{Profile, TaskId, Time};

use super::knapsack::{self, Item};
use super::list::Allotted;
use super::open::{Limit, Open, fewest};

/// A task as the selection sees it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Its task.
    pub task: TaskId,
    /// Its times.
    pub profile: &'a Profile,
    /// Its weight, in millionths.
    pub weight: u64,
}

/// Tasks that run one after the other on the same processors; mostly a single one.
pub type Pile = Vec<Allotted>;

/// What runs between two instants.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Start after the origin.
    pub offset: Time,
    /// Piles that fit side by side on the platform, none longer than the batch.
    pub piles: Vec<Pile>,
}

/// What is open for one batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchRoom {
    /// How many processors its piles share.
    pub processors: u32,
    /// For how long each number of processors, ascending, is open.
    pub limits: Vec<Limit>,
}

/// What is open while batches run.
pub trait Room {
    /// What is open for the batch from an offset on over a length.
    fn of_batch(&self, offset: Time, length: Time) -> BatchRoom;

    /// When what is open changes next after an offset.
    fn next_change(&self, offset: Time) -> Option<Time>;
}

/// A platform that is always open.
impl Room for u32 {
    fn of_batch(&self, _offset: Time, length: Time) -> BatchRoom {
        BatchRoom { processors: *self, limits: vec![(*self, length)] }
    }

    fn next_change(&self, _offset: Time) -> Option<Time> {
        None
    }
}

impl Room for Open<'_> {
    fn of_batch(&self, offset: Time, length: Time) -> BatchRoom {
        BatchRoom { processors: self.capacity(offset, length), limits: self.limits(offset, length) }
    }

    fn next_change(&self, offset: Time) -> Option<Time> {
        Open::next_change(self, offset)
    }
}

/// Selects tasks into batches of length `t_j = guess / 2^(K - j)`, batch j running from `t_j` to `t_j+1`.
///
/// For each batch: the tasks that some allotment lets end within its length, on processors that are open then for as
/// long; of these, sequential ones of at most half the length are piled up by decreasing weight; a knapsack picks the
/// piles and tasks of largest weight that fit side by side. What is left when t reaches the guess goes on with doubling
/// lengths, up to the longest task, and these later batches follow each other without gap.
pub fn batches(candidates: &[Candidate<'_>], guess: Time, room: &impl Room) -> Vec<Batch> {
    let Some(shortest) = candidates.iter().map(|candidate| candidate.profile.shortest()).min() else { return vec![] };
    let longest = candidates.iter().map(|candidate| candidate.profile.longest()).max().unwrap_or(guess).max(guess);
    let doublings = (guess.ticks() / shortest.ticks()).max(1).ilog2();
    let mut remaining: Vec<Candidate<'_>> = candidates.to_vec();
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
            // Longer batches would not help where too little is open: on to where that changes.
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

fn pile_length(pile: &Pile, candidates: &[Candidate<'_>]) -> Time {
    let time = |allotted: &Allotted| {
        let at = candidates.partition_point(|candidate| candidate.task < allotted.task);
        candidates[at].profile.time(allotted.processors)
    };
    pile.iter().map(time).sum()
}

/// The piles of one batch, and the candidates that stay. Candidates come and stay by decreasing weight.
fn select<'a>(
    remaining: Vec<Candidate<'a>>,
    length: Time,
    BatchRoom { processors, limits }: &BatchRoom,
) -> (Vec<Pile>, Vec<Candidate<'a>>) {
    let half = Time::from_ticks(length.ticks() / 2);
    // A single processor may be open for less.
    let highest = limits.first().map_or(Time::ZERO, |limit| limit.1);
    let mut piles: Vec<(Item, Vec<usize>)> = Vec::new();
    // The open pile of small sequential tasks and its height.
    let mut open: Option<(usize, Time)> = None;
    let mut allotments = vec![0; remaining.len()];
    for (index, candidate) in remaining.iter().enumerate() {
        let Some(width) = fewest(candidate.profile, limits) else { continue };
        allotments[index] = width;
        // A weight of zero counts a millionth, so that every task is chosen in the end.
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
        let allotted = |&index: &usize| Allotted { task: remaining[index].task, processors: allotments[index] };
        batch.push(members.iter().map(allotted).collect());
        members.iter().for_each(|&index| selected[index] = true);
    }
    let rest = remaining.into_iter().zip(selected).filter(|(_, selected)| !selected).map(|(candidate, _)| candidate);
    (batch, rest.collect())
}
