//! The dual approximation of Mounié, Rapine and Trystram: a search for the smallest deadline that is not refuted.
//!
//! Source: G. Mounié, C. Rapine, D. Trystram, "A 3/2-approximation algorithm for scheduling independent monotonic
//! malleable tasks", SIAM J. Comput. 37(2), 2007, DOI 10.1137/S0097539701385995, sections 3 and 4.

mod choice;

pub use choice::{LeastWork, Need, choose, is_exact};

use makespan_core::{Area, Profile, Time};
use makespan_verify::proof::{Rejection, Selection};

/// The result of [`search`]. The search assumes that all jobs are released at time zero and that all processors are
/// always available.
#[derive(Clone, Debug)]
pub struct Dual {
    /// The smallest accepted deadline. For this deadline, the jobs can be divided into two shelves (see `first_shelf`)
    /// such that their total work is at most the processor time until the deadline.
    pub guess: Time,
    /// For each job, true if the job is in the first shelf, of length `guess`. The other jobs are in the second shelf,
    /// of length `guess / 2`.
    pub first_shelf: Vec<bool>,
    /// The largest refuted deadline with its proof, or `None` if no deadline was refuted.
    pub rejection: Option<Rejection>,
}

/// Searches for the smallest deadline that is not refuted, for jobs with the given profiles on `processors`
/// processors.
///
/// Let m be the number of processors. The search tries a deadline d as follows. In a schedule of length d, a job that
/// takes more than d/2 crosses the instant d/2. So the crossing jobs hold at most m processors in all. Give each
/// crossing job the allotment of least work that meets the deadline d. Give each other job the allotment of least work
/// that meets the deadline d/2. If the total work is more than m d even for the best choice of crossing jobs, no
/// schedule has length d.
///
/// Let W(d) be the least total work over all choices of crossing jobs. W(d) never increases with d. So after trying d,
/// the search knows that all deadlines below W(d)/m are refuted. If W(d)/m is at least d, the deadline W(d)/m is
/// accepted, because the least work for this deadline is at most W(d). So each step narrows the interval of undecided
/// deadlines from both sides. Deadlines are whole ticks, so the search ends with the exact limit. For n jobs, each step
/// takes O(n log m). Near the end of the search, a step takes O(n m) more for the knapsack.
///
/// If the knapsack is too large ([`is_exact`]), a deadline d may remain undecided. Then the work of the choice by price
/// is more than m d. This work exceeds W(d) by at most the saving of one job. The saving of a job is less than the
/// least work of the job for the deadline d/2, which is at most m d/2. If d is at least the optimum, W(d) is at most m
/// times the optimum. So an undecided d is less than twice the optimum, and the guess is at most twice the optimum.
pub fn search<'a>(profiles: impl ExactSizeIterator<Item = &'a Profile> + Clone, processors: u32) -> Dual {
    let mut search = Search::new(profiles, processors);
    while search.accepted.ticks() - search.floor.ticks() > 1 {
        let middle = search.floor.ticks() + (search.accepted.ticks() - search.floor.ticks()) / 2;
        search.attempt(Time::from_ticks(middle));
    }
    search.finish()
}

struct Search<I> {
    profiles: I,
    processors: u32,
    needs: Vec<Need>,
    /// The smallest accepted deadline. The jobs of the first shelf were chosen for this deadline.
    accepted: Time,
    first_shelf: Vec<bool>,
    /// The largest refuted deadline.
    refuted: Time,
    /// The largest deadline that is refuted or remains undecided. A deadline remains undecided if the knapsack is too
    /// large.
    floor: Time,
}

impl<'a, I: ExactSizeIterator<Item = &'a Profile> + Clone> Search<I> {
    fn new(profiles: I, processors: u32) -> Self {
        let longest = profiles.clone().map(Profile::shortest).max().unwrap_or(Time::ZERO);
        let area: Area = profiles.clone().filter_map(|profile| profile.least_work(Time::MAX)).sum();
        let m = Area::from(processors);
        let refuted = (ceiling(area, m) - Time::TICK).max(longest - Time::TICK);
        let mut search = Self {
            needs: Vec::with_capacity(profiles.len()),
            first_shelf: vec![true; profiles.len()],
            // Initially, the end of the last job if the jobs run one after the other.
            accepted: profiles.clone().map(Profile::longest).sum::<Time>().max(refuted + Time::TICK),
            profiles,
            processors,
            refuted,
            floor: refuted,
        };
        // Try the initial `accepted`. This deadline is always accepted, and the attempt sets the first shelf. So the
        // shelf is set even if the search tries no other deadline, for example if there is only one job.
        if search.needs.capacity() > 0 {
            search.attempt(search.accepted);
            search.attempt(refuted + Time::TICK);
        }
        search
    }

    fn attempt(&mut self, deadline: Time) {
        let target = deadline.area(self.processors);
        self.fill(deadline);
        let choice = choose(&self.needs, self.processors, target);
        let m = Area::from(self.processors);
        if choice.least > target {
            self.refute(deadline);
        } else {
            self.refute((ceiling(choice.least, m) - Time::TICK).min(deadline - Time::TICK));
        }
        match choice.found {
            Some((work, first_shelf)) if work <= target => self.accept(deadline, first_shelf),
            // The chosen jobs also fit under a later deadline, because their least widths do not increase with the
            // deadline.
            Some((work, first_shelf)) => {
                self.accept(ceiling(work, m).max(deadline), first_shelf);
                self.floor = self.floor.max(deadline);
            }
            None => {}
        }
    }

    fn refute(&mut self, deadline: Time) {
        self.refuted = self.refuted.max(deadline);
        self.floor = self.floor.max(deadline);
    }

    fn accept(&mut self, deadline: Time, first_shelf: Vec<bool>) {
        if deadline <= self.accepted {
            self.accepted = deadline;
            self.first_shelf = first_shelf;
        }
    }

    fn fill(&mut self, deadline: Time) {
        let half = Time::from_ticks(deadline.ticks() / 2);
        self.needs.clear();
        // If a job misses the deadline on every allotment, use a width that no platform has.
        let need = |profile: &Profile| Need {
            short: profile.least_work(half),
            crossing: profile.least_work(deadline).unwrap_or(Area::MAX >> 32),
            width: profile.min_allotment(deadline).unwrap_or(u32::MAX),
        };
        self.needs.extend(self.profiles.clone().map(need));
    }

    fn finish(mut self) -> Dual {
        let refuted = self.refuted;
        let rejection = (refuted > Time::ZERO).then(|| {
            self.fill(refuted);
            let choice = choose(&self.needs, self.processors, refuted.area(self.processors));
            // The last instant of the first half of the schedule. Every run that takes more than half of the deadline
            // contains this instant.
            let at = Time::from_ticks(refuted.ticks() / 2);
            let selection = choice.price.map_or(Selection::Knapsack, Selection::Price);
            Rejection { deadline: refuted, from: Time::ZERO, at, selection }
        });
        Dual { guess: self.accepted, first_shelf: self.first_shelf, rejection }
    }
}

/// Returns `area / processors`, rounded up to a tick.
fn ceiling(area: Area, processors: Area) -> Time {
    Time::from_ticks(i64::try_from((area + processors - 1).div_euclid(processors)).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
