//! Jobs whose processors go down.

use makespan_core::{JobId, Logged, View};

use super::candidate::{Alone, Candidate, Choice, fits};
use super::{JobFlow, is_whole, placements};
use crate::policy::again::calendars;
use crate::policy::wholes::{tasks, whole_of};

impl JobFlow {
    /// Whole jobs with tasks that are planned on processors which are expected to be down then take other places, those of
    /// the earliest deadline first.
    pub(super) fn rescue(&mut self, view: &View<'_>) {
        let mut stranded: Vec<usize> =
            self.reservations.stranded(view).into_iter().map(|job| whole_of(view.instance, job)).collect();
        stranded.dedup();
        if stranded.is_empty() {
            return;
        }
        let deadline = |whole: usize| self.book.get(whole).map_or(i64::MAX, |entry| entry.deadline);
        stranded.sort_by_key(|&whole| (deadline(whole), whole));
        self.release(|whole| stranded.contains(&whole), view);
        for whole in stranded {
            if !is_whole(view, whole) || !self.take_other_variant(whole, view) {
                self.plan_rest(whole, view);
            }
        }
    }

    /// Whether a variant of its strategy fits a whole job, none of whose tasks has started: the best by the job's own
    /// criterion is taken.
    fn take_other_variant(&mut self, whole: usize, view: &View<'_>) -> bool {
        let rules = self.rules;
        let Some((choice, from)) = self.book.get(whole).and_then(|entry| {
            let choice = entry.choice.clone()?;
            let chosen = choice.chosen?;
            Some((choice, chosen))
        }) else {
            return false;
        };
        let alone = Alone::all(&[whole], &rules, view);
        let Some(alone) = alone.first() else { return false };
        let candidate = Candidate::new(alone, &rules, &self.book);
        let calendars = calendars(view.instance.processors(), &self.reservations.taken(view));
        let feasible = |at: &usize| {
            let offer = &choice.variants[*at];
            fits(offer, &offer.held_until(&candidate.real), &calendars, view.now.ticks())
        };
        let others = (0..choice.variants.len()).filter(|&at| at != from).filter(feasible);
        let criterion = rules.method.settings.criterion;
        let Some(to) = others.min_by_key(|&at| (choice.variants[at].key(criterion), at)) else { return false };
        let next: Choice = candidate.taken(choice.variants, to);
        self.reservations.add(placements(candidate.first, &next.offer.places, &next.until));
        self.book.note(whole, candidate.deadline, next);
        let first: JobId = tasks(view.instance, whole).next().unwrap_or(candidate.first);
        self.tell(view, first, Logged::OtherVariant { from, to });
        true
    }
}
