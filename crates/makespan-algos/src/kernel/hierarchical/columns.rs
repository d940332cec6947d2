//! Starts of the tasks. Each processor is a column that is filled from bottom to top. The parent module explains the
//! parts `P_full`, `P_1` and `P_2`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{ProcSet, Time};

use super::earliest::earliest;
use super::moves::{Full, TaskParts};
use super::{ConstructionPart, Ending, PlacedTask, ReservedWidth, fastest_within, pack};

/// The columns with all tasks, except the small tasks and the tasks that did not fit.
pub(super) struct TaskColumns<'a> {
    parts: &'a TaskParts<'a>,
    placed: Vec<PlacedTask>,
    /// The instant from which each column is free above the tasks of `P_full` and `P_1`.
    top: Vec<Time>,
    /// For each column, the time of the task of `P_2` above it.
    above: Vec<Time>,
    /// The tasks of `P_2` with their processors. Their starts are not determined yet.
    second: Vec<(usize, ProcSet)>,
    left: Vec<usize>,
}

/// Puts the tasks of all parts, except the small tasks, onto columns.
pub(super) fn raise<'a>(parts: &'a TaskParts<'a>, ending: &Ending) -> TaskColumns<'a> {
    let size = parts.cluster.processors() as usize;
    let left = [parts.left.as_slice(), ending.left.as_slice()].concat();
    let placed = Vec::with_capacity(parts.profiles.len());
    let (top, above) = (vec![Time::ZERO; size], vec![Time::ZERO; size]);
    let mut columns = TaskColumns { parts, placed, top, above, second: vec![], left };
    columns.put_shelves(ending);
    if let Some((task, most)) = ending.above {
        columns.put_alone(task, most);
    }
    columns
}

impl TaskColumns<'_> {
    fn put_shelves(&mut self, ending: &Ending) {
        let (parts, cluster) = (self.parts, self.parts.cluster);
        let full: Vec<u32> = parts.full.iter().map(|full| full.width()).collect();
        let is_stacked = |slot: &ReservedWidth| ending.stacked.is_some_and(|(single, _)| single == slot.task);
        let slots: Vec<ReservedWidth> = parts.first_shelf().filter(|slot| !is_stacked(slot)).collect();
        let first: Vec<u32> = slots.iter().map(|slot| slot.width).collect();
        let (full_places, first_places, idle) = if ending.grouped {
            pack::grouped(&full, &first, cluster)
        } else {
            (pack::from_left(&full, cluster), pack::from_right(&first, cluster), pack::SmpRange::default())
        };
        for (full, place) in parts.full.iter().zip(full_places) {
            match *full {
                Full::One(slot) => self.put(slot.task, place, slot.width, ConstructionPart::Full),
                Full::Stacked { lower, upper } => {
                    self.put(lower, place, 1, ConstructionPart::Full);
                    self.put(upper, place, 1, ConstructionPart::Full);
                }
            }
        }
        for (slot, place) in slots.iter().zip(first_places) {
            self.put(slot.task, place, slot.width, ConstructionPart::First);
            if let Some((single, _)) = ending.stacked.filter(|&(_, host)| host == slot.task) {
                self.put(single, place, 1, ConstructionPart::First);
            }
        }
        if let Some((task, processors)) = ending.beside {
            let part = if parts.profiles[task].time(processors) > parts.guess {
                ConstructionPart::Full
            } else {
                ConstructionPart::First
            };
            self.put(task, idle, processors, part);
        }
        let boxes: Vec<u32> = parts.second.iter().map(|slot| slot.width).collect();
        for (slot, place) in parts.second.iter().zip(pack::from_right(&boxes, cluster)) {
            // Use the canonical allotment, even if a part of the box then stays idle. If the box is narrower, use the
            // width of the box.
            let canonical = parts.profiles[slot.task].min_allotment(parts.half).unwrap_or(slot.width);
            let Some(processors) = fastest_within(parts.profiles[slot.task], canonical.min(slot.width)) else {
                self.left.push(slot.task);
                continue;
            };
            self.put_above(slot.task, place.take(processors, cluster));
        }
    }

    /// Puts a task on the first columns of `place`, above the tasks that are already there.
    fn put(&mut self, task: usize, place: pack::SmpRange, width: u32, part: ConstructionPart) {
        let profile = self.parts.profiles[task];
        let Some(processors) = fastest_within(profile, width) else {
            self.left.push(task);
            return;
        };
        let processors = place.take(processors, self.parts.cluster);
        let start = processors.iter().map(|id| self.top[id as usize]).max().unwrap_or(Time::ZERO);
        let end = start + profile.time(processors.len());
        processors.iter().for_each(|id| self.top[id as usize] = end);
        self.placed.push(PlacedTask { task, processors, start, end, part });
    }

    fn put_above(&mut self, task: usize, processors: ProcSet) {
        let time = self.parts.profiles[task].time(processors.len());
        processors.iter().for_each(|id| self.above[id as usize] = time);
        self.second.push((task, processors));
    }

    /// Places the only task of `P_2` where it ends first.
    fn put_alone(&mut self, task: usize, most: u32) {
        match earliest(self.parts.profiles[task], self.parts.cluster, &self.top, most) {
            Some(spot) if spot.end <= self.parts.limit => self.put_above(task, spot.processors),
            _ => self.left.push(task),
        }
    }

    /// Returns the number of tasks without a place.
    pub(super) fn left(&self) -> usize {
        self.left.len()
    }

    /// Returns whether every task has a place and ends by the height of the schedule, or one tick later.
    pub(super) fn is_within_height(&self) -> bool {
        let limit = self.parts.limit;
        self.left.is_empty() && self.top.iter().zip(&self.above).all(|(&top, &above)| top + above <= limit)
    }

    /// Adds the small tasks, each to the column with the least load. Then starts the tasks of `P_2` as soon as
    /// possible, and puts the tasks that did not fit on top.
    ///
    /// If the work of all tasks is at most the processor time up to the guessed makespan, some column always has a load
    /// of at most the guessed makespan. A small task therefore fits on this column (area argument of section 4.4).
    pub(super) fn finish(mut self) -> Vec<PlacedTask> {
        let (profiles, cluster) = (self.parts.profiles, self.parts.cluster);
        let mut small = self.parts.small.clone();
        small.sort_by_cached_key(|&task| Reverse(profiles[task].time(1)));
        let loads = self.top.iter().zip(&self.above).zip(0_u32..);
        let mut loads: BinaryHeap<Reverse<(Time, u32)>> =
            loads.map(|((&top, &above), id)| Reverse((top + above, id))).collect();
        for task in small {
            let Some(mut least) = loads.peek_mut() else { break };
            let time = profiles[task].time(1);
            let id = least.0.1;
            least.0.0 += time;
            let start = self.top[id as usize];
            self.top[id as usize] = start + time;
            let processors = ProcSet::range(id, id);
            self.placed.push(PlacedTask { task, processors, start, end: start + time, part: ConstructionPart::Small });
        }
        for (task, processors) in std::mem::take(&mut self.second) {
            let start = processors.iter().map(|id| self.top[id as usize]).max().unwrap_or(Time::ZERO);
            let end = start + profiles[task].time(processors.len());
            processors.iter().for_each(|id| self.top[id as usize] = end);
            self.placed.push(PlacedTask { task, processors, start, end, part: ConstructionPart::Second });
        }
        self.left.sort_by_key(|&task| (Reverse(profiles[task].longest()), task));
        for task in std::mem::take(&mut self.left) {
            let Some(spot) = earliest(profiles[task], cluster, &self.top, cluster.processors()) else { continue };
            spot.processors.iter().for_each(|id| self.top[id as usize] = spot.end);
            let (start, end) = (spot.start, spot.end);
            self.placed.push(PlacedTask {
                task,
                processors: spot.processors,
                start,
                end,
                part: ConstructionPart::Left,
            });
        }
        self.placed
    }
}
