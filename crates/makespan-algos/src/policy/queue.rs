//! The waiting tasks in order. An index finds the next task that fits, without a visit to every task.

use makespan_core::{Instance, TaskId, TaskSet, Time};

use super::order::{LeafRequest, QueuePlace, QueueReading, Widths};
use crate::kernel::leaves::{LeafMinimum, Tree};

/// Waiting tasks in the order of a queue. The tasks are stored in small blocks that are contiguous in memory. A tree
/// over the blocks stores in each node the minimum width and the minimum time of the tasks below the node.
#[derive(Debug)]
pub(super) struct Queue {
    reading: QueueReading,
    /// The instant for which the order was last computed.
    now: Time,
    widths: Widths,
    /// The set of all waiting tasks.
    waiting: TaskSet,
    blocks: Vec<Block>,
    /// Number of blocks without tasks.
    empty: usize,
    /// The tree over the blocks.
    tree: Tree<LeafRequest>,
}

/// Consecutive places in ascending order.
#[derive(Debug)]
struct Block {
    places: Vec<QueuePlace>,
    /// The upper limit of the block. Places in this block and in earlier blocks are at most equal to this limit, and
    /// places in later blocks are greater.
    upto: QueuePlace,
    /// The minimum width and the minimum time in this block.
    least: LeafRequest,
}

/// The free processors for a task. A task that ends within `window` may use `free` processors. A longer task may use
/// `beside` processors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    /// Number of processors that are free now.
    pub free: u32,
    /// Time for which all the `free` processors stay free.
    pub window: Time,
    /// Number of the `free` processors that stay free after `window`.
    pub beside: u32,
}

impl Gap {
    /// Returns whether a task with this request fits.
    pub(super) fn admits(self, LeafRequest { width, time }: LeafRequest) -> bool {
        width <= self.beside || width <= self.free && time <= self.window
    }
}

/// A block with more than twice this number of places is divided into two blocks.
const LENGTH: usize = 16;

impl Queue {
    /// Returns an empty queue.
    pub(super) fn new(instance: &Instance, reading: QueueReading) -> Self {
        Self {
            reading,
            now: Time::ZERO,
            widths: Widths::new(reading.request, instance),
            waiting: TaskSet::default(),
            blocks: Vec::new(),
            empty: 0,
            tree: Tree::default(),
        }
    }

    /// Returns the number of waiting tasks.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Advances to an instant. If the order depends on how long tasks have waited, sorts the queue again. Returns
    /// whether the queue was sorted.
    pub(super) fn advance(&mut self, instance: &Instance, now: Time) -> bool {
        if now == self.now || !self.reading.order.moves() {
            return false;
        }
        self.now = now;
        let mut places: Vec<QueuePlace> = self.waiting.iter().map(|task| self.place_of(instance, task)).collect();
        places.sort_unstable();
        let block = |places: &[QueuePlace]| Block {
            places: places.to_vec(),
            upto: places[places.len() - 1],
            least: all(places),
        };
        self.blocks = places.chunks(LENGTH).map(block).collect();
        self.empty = 0;
        self.tree.clear();
        self.measure_from(0);
        true
    }

    /// Replaces the waiting tasks of the queue by `waiting`.
    pub(super) fn reset(&mut self, instance: &Instance, waiting: &TaskSet) {
        let gone: Vec<QueuePlace> = self.iter().filter(|place| !waiting.contains(place.task)).collect();
        gone.into_iter().for_each(|place| self.remove(place));
        waiting.iter().for_each(|task| self.insert(instance, task));
    }

    /// Returns the place of a task, or `None` if the task does not wait.
    pub(super) fn place(&self, instance: &Instance, task: TaskId) -> Option<QueuePlace> {
        self.contains(task).then(|| self.place_of(instance, task))
    }

    /// Moves the waiting tasks in `restated`, which have new run times, to their new places. Returns whether the queue
    /// contains such tasks.
    pub(super) fn restate(&mut self, instance: &Instance, restated: &TaskSet) -> bool {
        let moved: Vec<QueuePlace> = self.iter().filter(|place| restated.contains(place.task)).collect();
        moved.iter().for_each(|&place| self.remove(place));
        moved.iter().for_each(|place| self.insert(instance, place.task));
        !moved.is_empty()
    }

    /// Returns the place of a task, even if the task does not wait. The request of a task changes only when its run
    /// times change.
    fn place_of(&self, instance: &Instance, task: TaskId) -> QueuePlace {
        QueuePlace::new(instance, task, self.widths.of(instance, task), self.reading, self.now)
    }

    /// Returns whether the task waits.
    pub(super) fn contains(&self, task: TaskId) -> bool {
        self.waiting.contains(task)
    }

    /// Adds a task.
    pub(super) fn insert(&mut self, instance: &Instance, task: TaskId) {
        if !self.waiting.insert(task) {
            return;
        }
        let place = self.place_of(instance, task);
        let at = self.block_of(place);
        if at == self.blocks.len() {
            self.append(place);
            return;
        }
        let block = &mut self.blocks[at];
        self.empty -= usize::from(block.places.is_empty());
        let among = block.places.partition_point(|other| *other < place);
        block.places.insert(among, place);
        if block.places.len() <= 2 * LENGTH {
            let least = block.least.least(place.asked);
            self.set(at, least);
            return;
        }
        let later = block.places.split_off(LENGTH);
        let upto = std::mem::replace(&mut block.upto, block.places[LENGTH - 1]);
        block.least = all(&block.places);
        self.blocks.insert(at + 1, Block { least: all(&later), places: later, upto });
        self.measure_from(at);
    }

    /// Adds a place after all other places.
    fn append(&mut self, place: QueuePlace) {
        match self.blocks.last_mut() {
            Some(last) if last.places.len() < 2 * LENGTH => {
                self.empty -= usize::from(last.places.is_empty());
                last.places.push(place);
                last.upto = place;
                let least = last.least.least(place.asked);
                self.set(self.blocks.len() - 1, least);
            }
            _ => {
                self.blocks.push(Block { places: vec![place], upto: place, least: place.asked });
                self.measure_from(self.blocks.len() - 1);
            }
        }
    }

    /// Removes the task at a place.
    pub(super) fn remove(&mut self, place: QueuePlace) {
        self.waiting.remove(place.task);
        let at = self.block_of(place);
        let Some(block) = self.blocks.get_mut(at) else { return };
        let Ok(among) = block.places.binary_search(&place) else { return };
        block.places.remove(among);
        self.empty += usize::from(block.places.is_empty());
        if self.empty > LENGTH && 2 * self.empty > self.blocks.len() {
            self.blocks.retain(|block| !block.places.is_empty());
            self.empty = 0;
            self.tree.clear();
            self.measure_from(0);
        } else {
            let block = &self.blocks[at];
            // Compute the minimum again only if the removed place had the minimum.
            if place.asked.width == block.least.width || place.asked.time == block.least.time {
                self.set(at, all(&block.places));
            }
        }
    }

    /// Returns all waiting tasks in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = QueuePlace> + '_ {
        self.blocks.iter().flat_map(|block| block.places.iter().copied())
    }

    /// Returns the first waiting task.
    pub(super) fn first(&self) -> Option<QueuePlace> {
        self.search(None, |asked| asked.width < u32::MAX)
    }

    /// Returns the first place after `after` with a task that fits into the gap. Without `after`, searches from the
    /// beginning.
    pub(super) fn next_admitted(&self, after: Option<QueuePlace>, gap: Gap) -> Option<QueuePlace> {
        self.search(after, |asked| gap.admits(asked))
    }

    /// Returns the block for a place. If the place is after all blocks, returns the number of blocks.
    fn block_of(&self, place: QueuePlace) -> usize {
        self.blocks.partition_point(|block| block.upto < place)
    }

    /// Returns the first place after `after` with a request that `may` accepts. If `may` accepts a request, `may` must
    /// also accept every request with at most the same width and at most the same time.
    fn search(&self, after: Option<QueuePlace>, may: impl Fn(LeafRequest) -> bool) -> Option<QueuePlace> {
        let mut at = 0;
        if let Some(after) = after {
            at = self.block_of(after);
            let places = &self.blocks.get(at)?.places;
            let later = &places[places.partition_point(|other| *other <= after)..];
            if let Some(found) = later.iter().find(|place| may(place.asked)) {
                return Some(*found);
            }
            at += 1;
        }
        loop {
            at = self.tree.next(at, &may)?;
            if let Some(found) = self.blocks[at].places.iter().find(|place| may(place.asked)) {
                return Some(*found);
            }
            at += 1;
        }
    }

    /// Sets the minimum of a block.
    fn set(&mut self, at: usize, asked: LeafRequest) {
        self.blocks[at].least = asked;
        self.tree.set(at, asked);
    }

    /// Updates the minima of the block `from` and of all later blocks. The number of blocks must not have decreased
    /// since the tree was last cleared.
    fn measure_from(&mut self, from: usize) {
        self.tree.refill(from, self.blocks.len(), |block| self.blocks[block].least);
    }
}

/// Returns the minimum width and the minimum time of some places.
fn all(places: &[QueuePlace]) -> LeafRequest {
    places.iter().map(|place| place.asked).fold(LeafRequest::NONE, LeafRequest::least)
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, Platform, Profile};
    use proptest::prelude::*;

    use super::*;

    /// Returns rigid tasks of many widths and times.
    fn instance(tasks: u64) -> Instance {
        let job = |index: u64| {
            let (width, time) = (1 + index * 7 % 13, 1 + index * index % 17);
            Job::new(index.to_string(), Profile::rigid(width as u32, Time::from_ticks(time as i64)).unwrap())
        };
        Instance::new(Platform::flat(13).unwrap(), (0..tasks).map(job).collect(), vec![]).unwrap()
    }

    /// Returns the instance of the function `instance` with different times for every third task.
    fn other_times(tasks: u64) -> Instance {
        let before = instance(tasks);
        let other = |task: TaskId| {
            let time = Time::from_ticks(1 + (task.0 * 5 % 23) as i64);
            let profile = Profile::rigid(before.profile(task).min_processors(), time).unwrap();
            let job = before.alone(task);
            if task.0.is_multiple_of(3) { Job::new(job.name, profile) } else { job }
        };
        let jobs = before.task_ids().map(other).collect();
        Instance::new(Platform::flat(13).unwrap(), jobs, vec![]).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn a_queue_is_a_sorted_list(
            changes in prop::collection::vec((0_u64..700, 0_u8..3, 0_u32..14, 0_u32..14, 0_i64..18), 0..1500),
            (order, all) in (0_usize..5, any::<bool>()),
        ) {
            let instance = instance(700);
            let order = ["fcfs", "sjf", "laf", "widest", "wfp3"][order].parse().unwrap();
            let mut queue = Queue::new(&instance, QueueReading { order, ..QueueReading::default() });
            let mut naive: Vec<QueuePlace> = Vec::new();
            if all {
                queue.reset(&instance, &instance.task_ids().collect());
                naive = instance.task_ids().map(|task| queue.place_of(&instance, task)).collect();
                naive.sort_unstable();
            }
            for (now, (task, change, free, beside, window)) in changes.into_iter().enumerate() {
                let task = TaskId(task);
                if now % 5 == 0 && queue.advance(&instance, Time::from_ticks(now as i64)) {
                    naive = naive.iter().map(|place| queue.place_of(&instance, place.task)).collect();
                    naive.sort_unstable();
                }
                match queue.place(&instance, task) {
                    Some(place) if change > 0 => {
                        queue.remove(place);
                        naive.retain(|other| *other != place);
                    }
                    None if change < 2 => {
                        queue.insert(&instance, task);
                        let place = queue.place(&instance, task).unwrap();
                        naive.insert(naive.partition_point(|other| *other < place), place);
                    }
                    _ => {}
                }
                let gap = Gap { free, beside: beside.min(free), window: Time::from_ticks(window) };
                let after = naive.get(free as usize * 7).copied();
                let found = naive.iter().find(|place| Some(**place) > after && gap.admits(place.asked)).copied();
                prop_assert_eq!(queue.next_admitted(after, gap), found);
                prop_assert_eq!((queue.first(), queue.len()), (naive.first().copied(), naive.len()));
            }
            prop_assert!(queue.iter().eq(naive.iter().copied()));
            // With new run times, some tasks move to other places.
            let (others, before) = (other_times(700), &instance);
            let restated: TaskSet =
                before.task_ids().filter(|&task| others.profile(task) != before.profile(task)).collect();
            queue.restate(&others, &restated);
            naive = naive.iter().map(|place| queue.place_of(&others, place.task)).collect();
            naive.sort_unstable();
            prop_assert!(queue.iter().eq(naive.iter().copied()));
            let instance = others;
            let few = naive.iter().step_by(9).map(|place| place.task).chain([TaskId(3)]).collect();
            queue.reset(&instance, &few);
            prop_assert_eq!(queue.iter().map(|place| place.task).collect::<TaskSet>(), few);
        }
    }
}
