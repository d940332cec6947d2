//! How long a search for bounds may go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use makespan_core::Stop;

/// Says when a search for bounds has to end with what it has. It is asked between steps, so that an answer is never late by more than one.
///
/// What is found is a bound whenever the search ends: an early end costs tightness and never truth.
#[derive(Debug, Default)]
pub struct Clock {
    end: Option<Instant>,
    stop: Option<Stop>,
    questions: Option<Questions>,
}

/// How many questions may be asked yet, and with how many left the clock is over.
#[derive(Clone, Debug)]
struct Questions {
    left: Arc<AtomicI64>,
    last: i64,
}

impl Clock {
    /// A search ends when it is done.
    pub const ENDLESS: Self = Self { end: None, stop: None, questions: None };

    /// Until an instant, or until somebody asks for an end.
    pub fn until(end: Instant, stop: &Stop) -> Self {
        Self { end: Some(end), stop: Some(stop.clone()), questions: None }
    }

    /// So many questions long, whenever they are asked: what is found does not depend on the machine.
    pub fn of_questions(questions: u32) -> Self {
        let left = Arc::new(AtomicI64::new(questions.into()));
        Self { questions: Some(Questions { left, last: 0 }), ..Self::ENDLESS }
    }

    /// How many questions were asked of it and of its parts when its number was used up.
    pub fn asked_late(&self) -> u64 {
        let late = self.questions.as_ref().map(|of| of.last - of.left.load(Ordering::Relaxed));
        late.map_or(0, |late| late.max(0).unsigned_abs())
    }

    /// Whether the search has to end now.
    pub fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
            || self.stop.as_ref().is_some_and(Stop::is_requested)
            || self.questions.as_ref().is_some_and(|of| of.left.fetch_sub(1, Ordering::Relaxed) <= of.last)
    }

    /// How much time is left; `None` where time is not what ends the search.
    pub fn left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// A part of the time that is left, or of the questions.
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
