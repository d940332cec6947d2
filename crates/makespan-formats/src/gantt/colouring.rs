//! Chooses a colour for each job. Jobs that touch in a chart get different colours. People with a common form of
//! colour blindness can also distinguish these colours.

use std::collections::BTreeMap;

use makespan_core::Schedule;

use super::scheme::{ALIKE, BEST, COLOURS};

/// Appends the pairs of units that touch in a chart. Two placements touch if they run on a processor one after the
/// other without a gap, or at the same time in adjacent rows. `unit` maps the index of a placement to its unit, such
/// as a job. Units are numbered from 0 without large gaps.
pub(super) fn contacts(schedule: &Schedule, unit: impl Fn(usize) -> u32, pairs: &mut Vec<(u32, u32)>) {
    let placements = schedule.placements();
    let mut order: Vec<usize> = (0..placements.len()).collect();
    order.sort_by_key(|&at| placements[at].start);
    // Last placement on each processor. The key is the first processor of an interval, and the value is its last
    // processor and the index of the placement.
    let mut held: BTreeMap<u32, (u32, usize)> = BTreeMap::new();
    for at in order {
        let mine = unit(at);
        let mut touch = |other: usize| {
            let other = unit(other);
            if other != mine {
                pairs.push((mine.min(other), mine.max(other)));
            }
        };
        for &(first, last) in placements[at].processors.intervals() {
            let holder = |processor: u32| {
                let (_, &(end, holder)) = held.range(..=processor).next_back()?;
                (end >= processor && placements[holder].end > placements[at].start).then_some(holder)
            };
            first.checked_sub(1).and_then(holder).into_iter().for_each(&mut touch);
            last.checked_add(1).and_then(holder).into_iter().for_each(&mut touch);
            let from = held.range(..=first).next_back().map_or(first, |(&from, _)| from);
            let before: Vec<(u32, u32, usize)> = held
                .range(from..=last)
                .map(|(&from, &(to, holder))| (from, to, holder))
                .filter(|&(_, to, _)| to >= first)
                .collect();
            for (from, to, holder) in before {
                touch(holder);
                held.remove(&from);
                if from < first {
                    held.insert(from, (first - 1, holder));
                }
                if to > last {
                    held.insert(last + 1, (to, holder));
                }
            }
            held.insert(first, (last, at));
        }
    }
}

/// Returns a colour for each unit. If `given` is true for a unit, the unit keeps its `preferred` colour.
///
/// The function repeatedly removes a unit with the fewest remaining neighbours, and then colours the units in the
/// reverse order of removal. A unit gets the colour that the fewest of its neighbours have. Ties are broken by the
/// number of neighbours with a similar colour, and then by the order of the colours, beginning with the preferred
/// colour.
///
/// If each unit is one rectangle, the graph of touching units is planar. So at most five neighbours of a unit get a
/// colour before the unit. The palette has eight colours, and two pairs of them are similar. So touching units get
/// different colours that are not similar.
pub(super) fn colours(count: usize, mut pairs: Vec<(u32, u32)>, preferred: &[u8], given: &[bool]) -> Vec<u8> {
    pairs.sort_unstable();
    pairs.dedup();
    let mut first = vec![0_usize; count + 1];
    for &(a, b) in &pairs {
        first[a as usize + 1] += 1;
        first[b as usize + 1] += 1;
    }
    for unit in 0..count {
        first[unit + 1] += first[unit];
    }
    let (mut next, mut list) = (first.clone(), vec![0_u32; 2 * pairs.len()]);
    for &(a, b) in &pairs {
        for (from, to) in [(a, b), (b, a)] {
            list[next[from as usize]] = to;
            next[from as usize] += 1;
        }
    }
    let near = |unit: usize| &list[first[unit]..first[unit + 1]];
    let mut colour: Vec<Option<u8>> = (0..count).map(|unit| given[unit].then_some(preferred[unit])).collect();
    for unit in removed(count, near).into_iter().rev().filter(|&unit| !given[unit]) {
        let mut same = [0_u32; COLOURS.len()];
        for &other in near(unit) {
            if let Some(of_other) = colour[other as usize] {
                same[usize::from(of_other)] += 1;
            }
        }
        let alike = |one: usize| -> u32 { ALIKE[one].iter().map(|&other| same[other]).sum() };
        let own = usize::from(preferred[unit]);
        let choice = (0..BEST).map(|step| (own + step) % BEST).min_by_key(|&one| (same[one], alike(one)));
        colour[unit] = choice.map(|one| one as u8);
    }
    colour.into_iter().map(Option::unwrap_or_default).collect()
}

/// Returns all units in the order of their removal. The next unit always has the fewest remaining neighbours. Ties are
/// broken in favour of the unit that reached this number of neighbours last.
fn removed<'a>(count: usize, near: impl Fn(usize) -> &'a [u32]) -> Vec<usize> {
    let mut degree: Vec<usize> = (0..count).map(|unit| near(unit).len()).collect();
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); degree.iter().max().map_or(0, |most| most + 1)];
    for (unit, &degree) in degree.iter().enumerate() {
        waiting[degree].push(unit);
    }
    let (mut order, mut gone, mut least) = (Vec::with_capacity(count), vec![false; count], 0);
    while order.len() < count {
        // A unit is in the lists of all degrees that it has had. Only its entry in the list of its current degree is
        // valid.
        let Some(unit) = waiting[least].pop() else {
            least += 1;
            continue;
        };
        if gone[unit] || degree[unit] != least {
            continue;
        }
        gone[unit] = true;
        order.push(unit);
        for &other in near(unit) {
            let other = other as usize;
            if !gone[other] {
                degree[other] -= 1;
                waiting[degree[other]].push(other);
                least = least.min(degree[other]);
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use makespan_core::{Placement, ProcSet, TaskId, Time};
    use proptest::prelude::*;

    use super::*;

    /// Returns a schedule of rectangles that do not overlap. Each rectangle has a row, a height, a gap before its
    /// start, and a length. Each rectangle in turn starts as early as possible after its gap.
    fn packed(parts: &[(u32, u32, i64, i64)], processors: u32) -> Schedule {
        let mut free = vec![0_i64; processors as usize];
        let place = |(task, &(row, height, gap, length)): (usize, &(u32, u32, i64, i64))| {
            let first = row % processors;
            let last = (first + height).min(processors - 1);
            let rows = first as usize..=last as usize;
            let start = free[rows.clone()].iter().max().unwrap() + gap;
            free[rows].fill(start + length);
            let processors = format!("{first}-{last}").parse::<ProcSet>().unwrap();
            let [start, end] = [start, start + length].map(Time::from_seconds);
            Placement { task: TaskId(task as u64), start, end, processors }
        };
        Schedule::new(parts.iter().enumerate().map(place).collect())
    }

    /// Returns whether two rectangles share a part of an edge, or are consecutive on a processor.
    fn touch(a: &Placement, b: &Placement) -> bool {
        let [(first, last), (begin, end)] = [a, b].map(|one| one.processors.intervals()[0]);
        let at_once = a.start < b.end && b.start < a.end;
        let beside = last + 1 == begin || end + 1 == first;
        let follows = first <= end && begin <= last && (a.end == b.start || b.end == a.start);
        at_once && beside || follows
    }

    fn coloured(schedule: &Schedule) -> Vec<u8> {
        let count = schedule.placements().len();
        let task = |at: usize| schedule.placements()[at].task.0 as u32;
        let mut pairs = Vec::new();
        contacts(schedule, task, &mut pairs);
        let preferred: Vec<u8> = (0..count).map(|unit| (unit % BEST) as u8).collect();
        colours(count, pairs, &preferred, &vec![false; count])
    }

    proptest! {
        /// Checks that touching jobs have different colours that are not similar, if each job is one rectangle, with
        /// and without gaps.
        #[test]
        fn rectangles_that_touch_are_told_apart(
            parts in prop::collection::vec((0_u32..12, 0_u32..6, 0_i64..2, 1_i64..6), 1..120),
        ) {
            let schedule = packed(&parts, 12);
            let colour = coloured(&schedule);
            let placements = schedule.placements();
            for (at, a) in placements.iter().enumerate() {
                for b in &placements[..at] {
                    let [one, other] = [a, b].map(|placement| usize::from(colour[placement.task.index()]));
                    let differ = one != other && !ALIKE[one].contains(&other);
                    prop_assert!(differ || !touch(a, b), "{a:?} and {b:?} are {} and {}", COLOURS[one], COLOURS[other]);
                }
            }
        }

        /// Checks that neighbours have different colours if each job has fewer neighbours than there are colours. The
        /// pairs of neighbours are arbitrary.
        #[test]
        fn few_neighbours_always_differ(pairs in prop::collection::vec((0_u32..40, 0_u32..40), 0..90)) {
            let mut degree = [0_usize; 40];
            let mut kept: Vec<(u32, u32)> = Vec::new();
            for (a, b) in pairs.into_iter().map(|(a, b)| (a.min(b), a.max(b))) {
                let full = [a, b].iter().any(|&unit| degree[unit as usize] >= BEST - 1);
                if a != b && !full && !kept.contains(&(a, b)) {
                    degree[a as usize] += 1;
                    degree[b as usize] += 1;
                    kept.push((a, b));
                }
            }
            let colour = colours(40, kept.clone(), &[0; 40], &[false; 40]);
            prop_assert!(kept.iter().all(|&(a, b)| colour[a as usize] != colour[b as usize]));
        }
    }

    #[test]
    fn what_has_its_colour_keeps_it() {
        let colour = colours(3, vec![(0, 1), (1, 2)], &[8, 3, 4], &[true, false, false]);
        assert_eq!(colour[0], 8);
        assert_ne!(colour[1], 3, "pink looks like the grey of best effort");
    }
}
