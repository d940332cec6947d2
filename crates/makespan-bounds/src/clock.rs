//! The time limit of a search for bounds.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use makespan_core::Stop;

/// The time limit of a search for bounds. A search checks the clock between two steps, so it ends at most one step
/// after the time limit. An early end makes a bound weaker, but never wrong.
#[derive(Debug, Default)]
pub struct Clock {
    end: Option<Instant>,
    stop: Option<Stop>,
    questions: Option<Questions>,
}

/// A counter of the remaining checks. The clock has expired once `left` is at most `last`.
#[derive(Clone, Debug)]
struct Questions {
    left: Arc<AtomicI64>,
    last: i64,
}

impl Clock {
    /// A clock that never expires.
    pub const ENDLESS: Self = Self { end: None, stop: None, questions: None };

    /// Returns a clock that expires at the instant `end`, or when `stop` is requested.
    pub fn until(end: Instant, stop: &Stop) -> Self {
        Self { end: Some(end), stop: Some(stop.clone()), questions: None }
    }

    /// Returns a clock that expires after the given number of checks. The result of a search then does not depend on
    /// the speed of the machine.
    pub fn of_questions(questions: u32) -> Self {
        let left = Arc::new(AtomicI64::new(questions.into()));
        Self { questions: Some(Questions { left, last: 0 }), ..Self::ENDLESS }
    }

    /// Returns the number of checks that were made after the clock had expired. This number includes the checks of
    /// clocks from [`Self::part`].
    pub fn asked_late(&self) -> u64 {
        let late = self.questions.as_ref().map(|of| of.last - of.left.load(Ordering::Relaxed));
        late.map_or(0, |late| late.max(0).unsigned_abs())
    }

    /// Returns true if the search must end now.
    pub fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
            || self.stop.as_ref().is_some_and(Stop::is_requested)
            || self.questions.as_ref().is_some_and(|of| of.left.fetch_sub(1, Ordering::Relaxed) <= of.last)
    }

    /// Returns the time until the end of the clock, or `None` if the clock has no end time.
    pub fn left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Returns a clock that expires after the fraction `share` of the remaining time, or of the remaining checks.
    #[must_use]
    pub fn part(&self, share: f64) -> Self {
        let questions = self.questions.as_ref().map(|of| {
            let now = of.left.load(Ordering::Relaxed);
            let part = ((now - of.last).max(0) as f64 * share) as i64;
            Questions { left: Arc::clone(&of.left), last: (now - part).max(of.last) }
        });
        Self { end: self.left().map(|left| Instant::now() + left.mul_f64(share)), stop: self.stop.clone(), questions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_over_at_its_end_or_when_it_is_stopped() {
        let stop = Stop::default();
        let now = Instant::now();
        let (late, past) = (Clock::until(now + Duration::from_hours(1), &stop), Clock::until(now, &stop));
        assert!(past.is_over() && !late.is_over() && !late.part(0.5).is_over() && !Clock::ENDLESS.is_over());
        stop.request();
        assert!(late.is_over() && late.part(0.5).is_over());
        let counted = Clock::of_questions(2);
        assert_eq!([(); 4].map(|()| counted.is_over()), [false, false, true, true]);
        assert_eq!(counted.asked_late(), 2);
        let counted = Clock::of_questions(4);
        let part = counted.part(0.5);
        assert_eq!([(); 3].map(|()| part.is_over()), [false, false, true]);
        assert_eq!([(); 2].map(|()| counted.is_over()), [false, true]);
    }
}
