//! Starts: columns from bottom to top, one a processor.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{ProcSet, Time};

use super::earliest::earliest;
use super::moves::{Full, Parts};
use super::{Ending, Part, Placed, Slot, fastest_within, pack};

/// The columns with everything on them but the small jobs and what is left over.
pub(super) struct Columns<'a> {
    parts: &'a Parts<'a>,
    placed: Vec<Placed>,
    /// When each column is free above `P_full`, `P_1` and what is stacked there.
    top: Vec<Time>,
    /// How long the job of `P_2` above it takes.
    above: Vec<Time>,
    /// `P_2`: job and processors, without a start.
    second: Vec<(usize, ProcSet)>,
    left: Vec<usize>,
}

/// Puts the parts onto columns.
pub(super) fn raise<'a>(parts: &'a Parts<'a>, ending: &Ending) -> Columns<'a> {
    let size = parts.cluster.processors() as usize;
    let left = [parts.left.as_slice(), ending.left.as_slice()].concat();
    let placed = Vec::with_capacity(parts.profiles.len());
    let (top, above) = (vec![Time::ZERO; size], vec![Time::ZERO; size]);
    let mut columns = Columns { parts, placed, top, above, second: vec![], left };
    columns.put_shelves(ending);
    if let Some((job, most)) = ending.above {
        columns.put_alone(job, most);
    }
    columns
}

impl Columns<'_> {
    fn put_shelves(&mut self, ending: &Ending) {
        let (parts, cluster) = (self.parts, self.parts.cluster);
        let full: Vec<u32> = parts.full.iter().map(|full| full.width()).collect();
        let is_stacked = |slot: &Slot| ending.stacked.is_some_and(|(single, _)| single == slot.job);
        let slots: Vec<Slot> = parts.first_shelf().filter(|slot| !is_stacked(slot)).collect();
        let first: Vec<u32> = slots.iter().map(|slot| slot.width).collect();
        let (full_places, first_places, idle) = if ending.grouped {
            pack::grouped(&full, &first, cluster)
        } else {
            (pack::from_left(&full, cluster), pack::from_right(&first, cluster), pack::Place::default())
        };
        for (full, place) in parts.full.iter().zip(full_places) {
            match *full {
                Full::One(slot) => self.put(slot.job, place, slot.width, Part::Full),
                Full::Stacked { lower, upper } => {
                    self.put(lower, place, 1, Part::Full);
                    self.put(upper, place, 1, Part::Full);
                }
            }
        }
        for (slot, place) in slots.iter().zip(first_places) {
            self.put(slot.job, place, slot.width, Part::First);
            if let Some((single, _)) = ending.stacked.filter(|&(_, host)| host == slot.job) {
                self.put(single, place, 1, Part::First);
            }
        }
        if let Some((job, processors)) = ending.beside {
            let part = if parts.profiles[job].time(processors) > parts.guess { Part::Full } else { Part::First };
            self.put(job, idle, processors, part);
        }
        let boxes: Vec<u32> = parts.second.iter().map(|slot| slot.width).collect();
        for (slot, place) in parts.second.iter().zip(pack::from_right(&boxes, cluster)) {
            // The canonical allotment, which may leave a part of its box idle, or a narrower box.
            let canonical = parts.profiles[slot.job].min_allotment(parts.half).unwrap_or(slot.width);
            let Some(processors) = fastest_within(parts.profiles[slot.job], canonical.min(slot.width)) else {
                self.left.push(slot.job);
                continue;
            };
            self.put_above(slot.job, place.take(processors, cluster));
        }
    }

    /// On top of the first of these columns.
    fn put(&mut self, job: usize, place: pack::Place, width: u32, part: Part) {
        let profile = self.parts.profiles[job];
        let Some(processors) = fastest_within(profile, width) else {
            self.left.push(job);
            return;
        };
        let processors = place.take(processors, self.parts.cluster);
        let start = processors.iter().map(|id| self.top[id as usize]).max().unwrap_or(Time::ZERO);
        let end = start + profile.time(processors.len());
        processors.iter().for_each(|id| self.top[id as usize] = end);
        self.placed.push(Placed { job, processors, start, end, part });
    }

    fn put_above(&mut self, job: usize, processors: ProcSet) {
        let time = self.parts.profiles[job].time(processors.len());
        processors.iter().for_each(|id| self.above[id as usize] = time);
        self.second.push((job, processors));
    }

    /// The only job of `P_2`: wherever it ends first.
    fn put_alone(&mut self, job: usize, most: u32) {
        match earliest(self.parts.profiles[job], self.parts.cluster, &self.top, most) {
            Some(spot) if spot.end <= self.parts.limit => self.put_above(job, spot.processors),
            _ => self.left.push(job),
        }
    }

    /// How many jobs have no place.
    pub(super) fn left(&self) -> usize {
        self.left.len()
    }

    /// Whether everything has a place below the height, or the tick above it.
    pub(super) fn is_within_height(&self) -> bool {
        let limit = self.parts.limit;
        self.left.is_empty() && self.top.iter().zip(&self.above).all(|(&top, &above)| top + above <= limit)
    }

    /// Adds the small jobs, each to the column of the least load, lets `P_2` start as soon as it can, and puts what is
    /// left over on top.
    ///
    /// By the area argument of section 4.4 a column of load at most the guess always exists for a small job, if the
    /// work of all jobs is at most that of the guess.
    pub(super) fn finish(mut self) -> Vec<Placed> {
        let (profiles, cluster) = (self.parts.profiles, self.parts.cluster);
        let mut small = self.parts.small.clone();
        small.sort_by_cached_key(|&job| Reverse(profiles[job].time(1)));
        let loads = self.top.iter().zip(&self.above).zip(0_u32..);
        let mut loads: BinaryHeap<Reverse<(Time, u32)>> =
            loads.map(|((&top, &above), id)| Reverse((top + above, id))).collect();
        for job in small {
            let Some(mut least) = loads.peek_mut() else { break };
            let time = profiles[job].time(1);
            let id = least.0.1;
            least.0.0 += time;
            let start = self.top[id as usize];
            self.top[id as usize] = start + time;
            let processors = ProcSet::range(id, id);
            self.placed.push(Placed { job, processors, start, end: start + time, part: Part::Small });
        }
        for (job, processors) in std::mem::take(&mut self.second) {
            let start = processors.iter().map(|id| self.top[id as usize]).max().unwrap_or(Time::ZERO);
            let end = start + profiles[job].time(processors.len());
            processors.iter().for_each(|id| self.top[id as usize] = end);
            self.placed.push(Placed { job, processors, start, end, part: Part::Second });
        }
        self.left.sort_by_key(|&job| (Reverse(profiles[job].longest()), job));
        for job in std::mem::take(&mut self.left) {
            let Some(spot) = earliest(profiles[job], cluster, &self.top, cluster.processors()) else { continue };
            spot.processors.iter().for_each(|id| self.top[id as usize] = spot.end);
            let (start, end) = (spot.start, spot.end);
            self.placed.push(Placed { job, processors: spot.processors, start, end, part: Part::Left });
        }
        self.placed
    }
}
