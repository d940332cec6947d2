//! Annealing of lists on a packing. The lists are decoded by events and by insertion.

mod aim;
mod annealing;
mod decoder;
mod orders;
mod remains;
mod starts;

use makespan_core::{Objective, Schedule};
use rand_chacha::ChaCha8Rng;

use crate::kernel::packing::Packing;
use crate::search::SearchCourse;

pub(in crate::scheduler) use aim::SearchAim;
pub(super) use aim::{beyond, of_ends};
use annealing::{Annealing, CoursePart};
pub(crate) use decoder::DecodedList;
use decoder::Decoder;
pub(super) use orders::{balanced_lists, orders};
pub(crate) use remains::Remains;
use starts::ListStarts;

/// Until this share of the course, lists are decoded by events, and afterwards by insertion. At the share `PROBED`, the
/// search decides if insertion continues.
const EVENTS: f64 = 0.3;
const PROBED: f64 = 0.5;
/// Insertion ends at the share `PROBED` of the course if a list takes more than this factor times as long as by events,
/// and insertion has found no better list.
const SLOWER: f64 = 4.0;
/// Maximum number of tasks for insertion. Each insertion examines the steps of all placed tasks.
const MAX_INSERTED: usize = 5000;
/// Maximum number of remaining tasks for which allotments are chosen anew at an event.
const TASKS_A_START: usize = 300;

/// Returns the best list that is found, with its value. The search starts from lists over all balances in several orders, and from
/// known lists. Returns `None` if none of them can be decoded.
pub(super) fn search(
    packing: &Packing<'_>,
    aim: SearchAim,
    known: &[DecodedList],
    random: ChaCha8Rng,
    course: &mut SearchCourse,
) -> Option<(f64, DecodedList)> {
    let mut decoder = Decoder::new(packing, aim);
    let starts = ListStarts::new(packing, known);
    let (value, listed) = starts.by_events(&mut decoder, course)?;
    let tasks = listed.list.len();
    let mut events = Annealing::new(value, listed, random.clone());
    // If there is only one task, begin with insertion, which tries each of its choices.
    let first = if tasks > 1 { EVENTS } else { 0.0 };
    let event_steps = events.run(&mut decoder, CoursePart { from: 0.0, until: first, cold: first }, course);
    let is_enough = events.best().0 <= aim.floor || tasks > MAX_INSERTED;
    let inserted = if is_enough { None } else { starts.by_insertion(&mut decoder, events.best(), first, course) };
    let Some((value, listed)) = inserted else {
        events.run(&mut decoder, CoursePart { from: first, until: 1.0, cold: 1.0 }, course);
        return Some(events.into_best());
    };
    let mut random = random;
    random.set_stream(random.get_stream() | 1 << 32);
    let mut insertion = Annealing::new(value, listed, random);
    if tasks > 1 {
        let probe = CoursePart { from: first, until: PROBED, cold: 1.0 };
        let steps = insertion.run(&mut decoder, probe, course);
        let is_slow = steps as f64 / (PROBED - first) * SLOWER < event_steps as f64 / first;
        if insertion.best().0 < events.best().0 || !is_slow {
            insertion.run(&mut decoder, CoursePart { until: 1.0, ..probe }, course);
        } else {
            events.run(&mut decoder, CoursePart { from: PROBED, until: 1.0, cold: 1.0 }, course);
        }
    }
    let (events, insertion) = (events.into_best(), insertion.into_best());
    Some(if insertion.0 <= events.0 { insertion } else { events })
}

/// Returns the schedule of a list that has been decoded before.
pub(super) fn schedule(packing: &Packing<'_>, found: &DecodedList) -> Schedule {
    let aim = SearchAim { objective: Objective::Makespan, limit: None, floor: 0.0 };
    Decoder::new(packing, aim).schedule(found).expect("the list was carried out before")
}
