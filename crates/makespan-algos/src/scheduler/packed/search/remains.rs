//! The search for a plan of the remaining tasks of an instance on a packing. The search begins with the plan that was
//! kept so far.

use makespan_core::Objective;
use rand_chacha::ChaCha8Rng;

use super::annealing::{Annealing, CoursePart};
use super::decoder::{DecodedList, Decoder, Scheme};
use super::{SearchAim, TASKS_A_START};
use crate::kernel::packing::{Inserter, ListEntry, Packing, RemainingTasks};
use crate::search::SearchCourse;

/// Prices of area that are tried when insertion chooses allotments.
const PRICES: [f64; 4] = [0.0, 0.05, 0.3, 1.0];

/// Decodes lists of the remaining tasks. The tasks that have started are placed first.
pub(crate) struct Remains<'p, 'a> {
    decoder: Decoder<'p, 'a>,
}

impl<'p, 'a> Remains<'p, 'a> {
    /// Creates the search. The tasks of `list` are the remaining tasks.
    pub(crate) fn new(
        packing: &'p Packing<'a>,
        objective: Objective,
        begun: RemainingTasks,
        list: &[ListEntry],
    ) -> Self {
        let aim = SearchAim { objective, limit: None, floor: 0.0 };
        let mut decoder = Decoder::after(packing, aim, begun, list);
        decoder.aim.floor = match objective {
            Objective::Makespan => decoder.value_of_makespan(decoder.floor(list)),
            objective if objective.is_tardiness() => 0.0,
            _ => f64::NEG_INFINITY,
        };
        Self { decoder }
    }

    /// Returns the value of a list. A lower value is better. If the value would exceed `allowed`, returns infinity.
    pub(crate) fn value(&mut self, listed: &DecodedList, allowed: f64) -> f64 {
        self.decoder.value(listed, allowed)
    }

    /// For each of several prices of area, lets insertion choose the allotment of each task. This allotment minimises
    /// the end of the task plus the price times the area of the task. If the resulting list is better than `listed`, it
    /// replaces `listed`.
    pub(crate) fn choose(&mut self, listed: &mut DecodedList) {
        let mut best = self.decoder.value(listed, f64::INFINITY);
        if listed.list.len() > TASKS_A_START {
            return;
        }
        for price in PRICES {
            let mut other = listed.clone();
            if !self.decoder.choose(&mut other.list, price) {
                continue;
            }
            let value = self.decoder.value(&other, best);
            if value < best {
                (best, *listed) = (value, other);
            }
        }
    }

    /// Anneals a list until `course` is over. The result is at least as good as the list at the beginning.
    pub(crate) fn improve(
        &mut self,
        listed: DecodedList,
        random: ChaCha8Rng,
        course: &mut SearchCourse,
    ) -> (f64, DecodedList) {
        let value = self.decoder.value(&listed, f64::INFINITY);
        if listed.list.is_empty() || !value.is_finite() {
            return (value, listed);
        }
        let mut annealing = Annealing::new(value, listed, random);
        annealing.run(&mut self.decoder, CoursePart { from: 0.0, until: 1.0, cold: 1.0 }, course);
        annealing.into_best()
    }

    /// Decodes a list. If a task cannot be placed, returns its position in the list as an error.
    pub(crate) fn carry(&mut self, listed: &DecodedList) -> Result<&Inserter<'p, 'a>, usize> {
        self.decoder.carry(listed)
    }
}

impl DecodedList {
    /// Creates a list for the scheme `Insertion`, in the order `list`. No task is restricted to a site.
    pub(crate) fn inserted(list: Vec<ListEntry>) -> Self {
        Self::anywhere(Scheme::Insertion, list)
    }
}
