//! The initial lists of a search.

use super::decoder::{DecodedList, Decoder, Scheme};
use super::orders::{balanced_lists, orders};
use crate::kernel::packing::{ListEntry, Packing, Row};
use crate::search::SearchCourse;

/// Prices of area that are tried when insertion chooses allotments.
const PRICES: [f64; 4] = [0.0, 0.05, 0.3, 1.0];
/// Maximum fraction of the search that each scheme spends on initial lists.
const TRIED: f64 = 0.1;
/// For a budget of steps, the total number of tasks in the lists that are tried without using up steps.
const TASKS: usize = 40_000;

/// The initial lists: known lists, and lists in several orders for each set of allotments that balances area and
/// longest path.
pub(super) struct ListStarts<'p, 'a> {
    packing: &'p Packing<'a>,
    known: Vec<DecodedList>,
    lists: Vec<Vec<ListEntry>>,
}

/// The best list so far, while initial lists are tried.
struct StartTrials<'t> {
    course: &'t mut SearchCourse,
    until: f64,
    /// The number of lists that may still be tried without using up steps of the course.
    free: usize,
    best: Option<(f64, DecodedList)>,
}

impl StartTrials<'_> {
    /// Returns whether another list may be tried.
    fn goes_on(&mut self) -> bool {
        if self.free > 0 && self.course.leaves_time() {
            self.free -= 1;
            return true;
        }
        self.course.step().is_some_and(|done| done <= self.until)
    }

    fn consider(&mut self, decoder: &mut Decoder<'_, '_>, listed: DecodedList) {
        let least = self.best.as_ref().map_or(f64::INFINITY, |best| best.0);
        let value = decoder.value(&listed, least);
        if value < least {
            self.best = Some((value, listed));
        }
    }
}

impl<'p, 'a> ListStarts<'p, 'a> {
    pub fn new(packing: &'p Packing<'a>, known: &[DecodedList]) -> Self {
        Self { packing, known: known.to_vec(), lists: balanced_lists(packing) }
    }

    fn trying<'t>(&self, from: f64, course: &'t mut SearchCourse) -> StartTrials<'t> {
        let tasks = self.lists.first().map_or(1, |list| list.len().max(1));
        StartTrials { course, until: from + TRIED, free: TASKS / tasks, best: None }
    }

    /// Decodes lists by events, and returns the best decoded list. If no list can be decoded, returns `None`. Tries all
    /// known lists. Then tries the other initial lists until their time is over and at least one list has been decoded.
    pub fn by_events(&self, decoder: &mut Decoder<'_, '_>, course: &mut SearchCourse) -> Option<(f64, DecodedList)> {
        let mut trying = self.trying(0.0, course);
        for listed in &self.known {
            trying.consider(decoder, DecodedList::anywhere(Scheme::Events, listed.list.clone()));
        }
        for list in &self.lists {
            if trying.best.is_some() && !trying.goes_on() {
                break;
            }
            trying.consider(decoder, DecodedList::anywhere(Scheme::Events, list.clone()));
        }
        trying.best
    }

    /// Returns the best list by insertion. Tries four kinds of lists: the result of [`ListStarts::by_events`], known
    /// lists, lists for which insertion chooses the allotments, and the other lists that [`ListStarts::by_events`]
    /// tries.
    pub fn by_insertion(
        &self,
        decoder: &mut Decoder<'_, '_>,
        events: &(f64, DecodedList),
        from: f64,
        course: &mut SearchCourse,
    ) -> Option<(f64, DecodedList)> {
        let mut trying = self.trying(from, course);
        for listed in decoder.inserted(&events.1)? {
            trying.consider(decoder, listed);
        }
        for listed in &self.known {
            trying.consider(decoder, DecodedList { scheme: Scheme::Insertion, ..listed.clone() });
        }
        // If the first list could not be decoded, no other list is tried.
        trying.best.as_ref()?;
        for price in PRICES {
            for list in self.orders() {
                if !trying.goes_on() {
                    return trying.best;
                }
                let mut list = list;
                if decoder.choose(&mut list, price) {
                    trying.consider(decoder, DecodedList::anywhere(Scheme::Insertion, list));
                }
            }
        }
        for list in &self.lists {
            if !trying.goes_on() {
                break;
            }
            trying.consider(decoder, DecodedList::anywhere(Scheme::Insertion, list.clone()));
        }
        trying.best
    }

    /// Returns lists for which insertion chooses the allotments. The orders are the orders of [`orders`] and three
    /// more: by deadline minus the longest path from the task to the end, by release, and by decreasing area. Each
    /// order is computed twice: with the allotments of fewest processors, and with the fastest allotments.
    fn orders(&self) -> Vec<Vec<ListEntry>> {
        let packing = self.packing;
        let instance = packing.instance();
        let mut lists = Vec::new();
        for choices in [packing.fewest(), packing.quickest()] {
            let ranks = packing.ranks(&choices);
            let job = |row: Row| &instance.jobs()[packing.job_of(row).index()];
            let due = |row: Row| job(row).deadline.map_or(f64::MAX, |deadline| deadline.ticks() as f64);
            lists.extend(orders(packing, &choices));
            lists.push(packing.list(&choices, |row| due(row) - ranks[row.index()]));
            lists.push(packing.list(&choices, |row| packing.release_of(row) as f64));
            lists.push(packing.list(&choices, |row| -packing.area(choices[row.index()])));
        }
        lists
    }
}
