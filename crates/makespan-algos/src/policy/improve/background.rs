//! The search that goes on between events of a run.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use makespan_core::{Stop, Time, View};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::search::Course;

/// Improves a plan, from this share of the temperature of a search from nothing on; its value with it, less being better.
pub(super) type Improve<P> = Box<dyn FnMut(P, f64, ChaCha8Rng, &mut Course) -> (f64, P) + Send>;

/// How long it searches without a pause.
const SLICE: Duration = Duration::from_millis(10);
/// How long it searches after an event, pauses not counted.
const ENOUGH: Duration = Duration::from_secs(1);
/// When the policy first looks at what was found; then after twice the time, again and again.
const FIRST_LOOK: Time = Time::from_ticks(100_000_000);
/// Temperatures of the slices, one after the other, as shares of that of a search from nothing.
const WARMTHS: [f64; 4] = [0.5, 0.1, 1.0, 0.25];

/// A thread that goes on improving the plan, on a share of one core.
pub(super) struct Background<P> {
    share: f64,
    worker: Option<(Sender<Work<P>>, JoinHandle<()>)>,
    found: Arc<Mutex<Option<P>>>,
    /// Ends what is being searched.
    stop: Stop,
    /// Whether the present plan is being searched.
    is_going: bool,
    /// How long after the present look the next one is, and how long it has looked in all.
    pause: Time,
    waited: Time,
}

/// A plan to be improved, and how.
struct Work<P> {
    plan: P,
    improve: Improve<P>,
    stop: Stop,
    found: Arc<Mutex<Option<P>>>,
    share: f64,
}

impl<P: Clone + Send + 'static> Background<P> {
    /// On this share of one core, between nothing and one.
    pub fn new(share: f64) -> Self {
        Self {
            share: share.clamp(0.01, 1.0),
            worker: None,
            found: Arc::default(),
            stop: Stop::default(),
            is_going: false,
            pause: FIRST_LOOK,
            waited: Time::ZERO,
        }
    }

    /// Takes the better plan that was found of the same tasks.
    pub fn take(&mut self) -> Option<P> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// After an event: what is searched is out of date where something `changed`. Unless the plan `is_settled`, what `work` says is searched
    /// then. When to look again, if what is found could start something.
    pub fn go_on(
        &mut self,
        changed: bool,
        is_settled: bool,
        view: &View<'_>,
        work: impl FnOnce() -> Option<(P, Improve<P>)>,
    ) -> Option<Time> {
        if changed {
            self.end();
            // What was just started is not yet in the view: it begins at the next instant.
            let soon = view.now + Time::from_ticks(1_000_000);
            return (!is_settled).then_some(soon);
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

    /// Ends the search of a plan; what it has found is lost.
    fn end(&mut self) {
        self.stop.request();
        // A new place for what is found, so that nothing of the old one comes later.
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
            // A panic there was reported, and is no reason for another.
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
            (rank, plan) = improve(plan, warmth, random, &mut Course::until(begin + SLICE, &stop));
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
