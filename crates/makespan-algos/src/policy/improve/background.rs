//! A search on a thread that continues between the events of a run.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use makespan_core::{Stop, Time, View};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::search::SearchCourse;

/// A function that improves a plan. The second argument is the initial temperature, as a fraction of the temperature
/// of a search that begins without a plan. The function returns the cost of the new plan, and the new plan.
pub(super) type Improve<P> = Box<dyn FnMut(P, f64, ChaCha8Rng, &mut SearchCourse) -> (f64, P) + Send>;

/// Duration of a slice: the search between two pauses of the thread.
const SLICE: Duration = Duration::from_millis(10);
/// Maximum total duration of the slices after an event.
const ENOUGH: Duration = Duration::from_secs(1);
/// Time from the last event to the beginning of a search. If tasks end more often than this, a search between events
/// would find nothing, and would only take processor time from the tasks.
const QUIET: Time = Time::from_ticks(500_000_000);
/// Time from the beginning of a search to the first check for a better plan. After each check, the time to the next
/// check doubles.
const FIRST_LOOK: Time = Time::from_ticks(100_000_000);
/// The initial temperatures of the slices, in turn, as fractions of the temperature of a search without a plan.
const WARMTHS: [f64; 4] = [0.5, 0.1, 1.0, 0.25];

/// A search on a thread that continues to improve the plan. The thread uses a part of one core.
pub(super) struct Background<P> {
    share: f64,
    worker: Option<(Sender<Work<P>>, JoinHandle<()>)>,
    found: Arc<Mutex<Option<P>>>,
    /// The signal that stops the current search.
    stop: Stop,
    /// Whether the thread has received the current plan.
    is_going: bool,
    /// The instant from which a search of the current plan may begin.
    quiet: Time,
    /// The time from the next check for a better plan to the check after it.
    pause: Time,
    /// The sum of the times between checks since the search began.
    waited: Time,
}

/// A plan to be improved, and the parameters of the search.
struct Work<P> {
    plan: P,
    improve: Improve<P>,
    stop: Stop,
    found: Arc<Mutex<Option<P>>>,
    share: f64,
}

impl<P: Clone + Send + 'static> Background<P> {
    /// Returns a background search that uses a fraction of one core: `share`, between 0 and 1.
    pub fn new(share: f64) -> Self {
        Self {
            share: share.clamp(0.01, 1.0),
            worker: None,
            found: Arc::default(),
            stop: Stop::default(),
            is_going: false,
            quiet: Time::ZERO,
            pause: FIRST_LOOK,
            waited: Time::ZERO,
        }
    }

    /// Returns a better plan of the same tasks, if the thread has found one.
    pub fn take(&mut self) -> Option<P> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Updates the search after an event. If `changed` is set, the plan has changed, so the search of the old plan
    /// ends. If `is_settled` is set, the plan cannot be improved, and no search begins. Otherwise, a search of the
    /// plan that `work` returns begins at the first call that is [`QUIET`] later and has no change.
    ///
    /// Returns the instant at which this function must be called next, even if no event occurs. Returns `None` if no
    /// search is running, no processor is free, or the thread has used its time for this plan.
    pub fn go_on(
        &mut self,
        changed: bool,
        is_settled: bool,
        view: &View<'_>,
        work: impl FnOnce() -> Option<(P, Improve<P>)>,
    ) -> Option<Time> {
        if changed {
            self.end();
            self.quiet = view.now + QUIET;
            return (!is_settled).then_some(self.quiet);
        }
        if !self.is_going && !is_settled && view.now < self.quiet {
            return Some(self.quiet);
        }
        if !self.is_going
            && !is_settled
            && let Some((plan, improve)) = work()
        {
            self.begin(plan, improve);
        }
        let budget = ENOUGH.div_f64(self.share);
        if !self.is_going || view.free.is_empty() || self.waited > Time::from_ticks(budget.as_nanos() as i64) {
            return None;
        }
        let look = view.now + self.pause;
        self.waited += self.pause;
        self.pause += self.pause;
        Some(look)
    }

    /// Ends the search of a plan, and discards its result.
    fn end(&mut self) {
        self.stop.request();
        // Replace the cell for the result, so that a late result of this search is not used.
        self.found = Arc::default();
        (self.is_going, self.pause, self.waited) = (false, FIRST_LOOK, Time::ZERO);
    }

    fn begin(&mut self, plan: P, improve: Improve<P>) {
        self.stop = Stop::default();
        let (stop, found) = (self.stop.clone(), Arc::clone(&self.found));
        let (sender, _) = self.worker.get_or_insert_with(|| {
            let (sender, receiver) = channel();
            (sender, std::thread::spawn(move || receiver.iter().for_each(Work::search)))
        });
        self.is_going = sender.send(Work { plan, improve, stop, found, share: self.share }).is_ok();
    }
}

impl<P> Drop for Background<P> {
    fn drop(&mut self) {
        self.stop.request();
        if let Some((sender, worker)) = self.worker.take() {
            drop(sender);
            // Ignore a panic in the thread, because it is already reported.
            _ = worker.join();
        }
    }
}

impl<P: Clone> Work<P> {
    fn search(self) {
        let Self { mut plan, mut improve, stop, found, share } = self;
        let mut best = f64::INFINITY;
        let mut spent = Duration::ZERO;
        for (round, &warmth) in (0..).zip(WARMTHS.iter().cycle()) {
            if stop.is_requested() || spent >= ENOUGH {
                return;
            }
            let begin = Instant::now();
            let random = ChaCha8Rng::seed_from_u64(round);
            let rank;
            (rank, plan) = improve(plan, warmth, random, &mut SearchCourse::until(begin + SLICE, &stop));
            if rank < best && !stop.is_requested() {
                best = rank;
                *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(plan.clone());
            }
            let took = begin.elapsed();
            spent += took;
            std::thread::sleep(took.mul_f64(1.0 / share - 1.0).min(Duration::from_secs(1)));
        }
    }
}
