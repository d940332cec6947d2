//! Anneals lists of tasks with allotments on a [`Packing`]. To evaluate a list, the search makes a schedule from it: at
//! first event by event, and later by insertion.

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

/// The fraction of the search in which lists are decoded by events. Afterwards, lists are decoded by insertion.
const EVENTS: f64 = 0.3;
/// The fraction of the search after which it is decided whether insertion continues.
const PROBED: f64 = 0.5;
/// Maximum ratio of the time to decode a list by insertion to the time to decode a list by events. If the ratio is
/// higher and insertion has not found a better list than events, insertion ends at `PROBED`.
const SLOWER: f64 = 4.0;
/// Maximum number of tasks for insertion. The time of one insertion grows with the number of placed tasks.
const MAX_INSERTED: usize = 5000;
/// Maximum number of remaining tasks for which [`Remains::choose`] chooses allotments.
const TASKS_A_START: usize = 300;

/// Returns the best list found, and its value. The search begins with known lists, and with several lists for each set
/// of allotments that balances area and longest path. Returns `None` if none of these lists can be decoded.
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
    // A single task needs no order. Begin with insertion, which tries each allotment of the task.
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

/// Returns the schedule of a list that was decoded before.
pub(super) fn schedule(packing: &Packing<'_>, found: &DecodedList) -> Schedule {
    let aim = SearchAim { objective: Objective::Makespan, limit: None, floor: 0.0 };
    Decoder::new(packing, aim).schedule(found).expect("the list was carried out before")
}
