//! The search that goes on between events of a run.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use makespan_core::{Objective, Stop, Time, View};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::kept::Kept;
use crate::free_time::Skyline;
use crate::kernel::choices::Choices;
use crate::scheduler::{Residual, Solution, Wholes, Wish};
use crate::search::Course;

/// How long it searches without a pause.
const SLICE: Duration = Duration::from_millis(10);
/// How long it searches after an event, pauses not counted.
const ENOUGH: Duration = Duration::from_secs(1);
/// When the policy first looks at what was found; then after twice the time, again and again.
const FIRST_LOOK: Time = Time::from_ticks(100_000_000);
/// Temperatures of the slices, one after the other, as shares of that of a search from nothing.
const WARMTHS: [f64; 4] = [0.5, 0.1, 1.0, 0.25];

/// A thread that goes on improving the plan, on a share of one core.
#[derive(Debug)]
pub(super) struct Background {
    share: f64,
    worker: Option<(Sender<Work>, JoinHandle<()>)>,
    found: Arc<Mutex<Option<Solution>>>,
    /// Ends what is being searched.
    stop: Stop,
    /// Whether the present plan is being searched.
    is_going: bool,
    /// How long after the present look the next one is, and how long it has looked in all.
    pause: Time,
    waited: Time,
}

/// A plan to be improved, with all that it takes.
struct Work {
    choices: Arc<Choices>,
    wishes: Vec<Wish>,
    wholes: Option<Arc<Wholes>>,
    skyline: Skyline,
    processors: u32,
    objective: Objective,
    area_price: f64,
    floor: i64,
    plan: Solution,
    stop: Stop,
    found: Arc<Mutex<Option<Solution>>>,
    share: f64,
}

impl Background {
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
    pub fn take(&mut self, plan: &mut Solution) {
        if let Some(found) = self.found.lock().unwrap_or_else(PoisonError::into_inner).take() {
            *plan = found;
        }
    }

    /// After an event: what is searched is out of date where something `changed`. When to look again, if what is found could
    /// start something.
    pub fn go_on(&mut self, changed: bool, kept: &Kept, skyline: &Skyline, view: &View<'_>) -> Option<Time> {
        if changed {
            self.end();
            // What was just started is not yet in the view: it begins at the next instant.
            let soon = view.now + Time::from_ticks(1_000_000);
            return (!kept.plan.order.is_empty()).then_some(soon);
        }
        if !self.is_going && !kept.plan.order.is_empty() {
            self.begin(kept, skyline);
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

    fn begin(&mut self, kept: &Kept, skyline: &Skyline) {
        self.stop = Stop::default();
        let work = Work {
            choices: Arc::clone(&kept.choices),
            wishes: kept.wishes.clone(),
            wholes: kept.wholes.clone(),
            skyline: skyline.clone(),
            processors: kept.processors(),
            objective: kept.objective,
            area_price: kept.area_price,
            floor: kept.floor,
            plan: kept.plan.clone(),
            stop: self.stop.clone(),
            found: Arc::clone(&self.found),
            share: self.share,
        };
        let (sender, _) = self.worker.get_or_insert_with(|| {
            let (sender, receiver) = channel();
            (sender, std::thread::spawn(move || receiver.iter().for_each(Work::search)))
        });
        self.is_going = sender.send(work).is_ok();
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop.request();
        if let Some((sender, worker)) = self.worker.take() {
            drop(sender);
            // A panic there was reported, and is no reason for another.
            _ = worker.join();
        }
    }
}

impl Work {
    fn search(self) {
        let Self { choices, wishes, wholes, skyline, stop, share, .. } = &self;
        let residual = Residual {
            choices,
            wishes,
            wholes: wholes.as_deref(),
            skyline,
            processors: self.processors,
            objective: self.objective,
            area_price: self.area_price,
            floor: self.floor,
        };
        let mut plan = self.plan.clone();
        let mut best = f64::INFINITY;
        let mut spent = Duration::ZERO;
        for (round, &warmth) in (0..).zip(WARMTHS.iter().cycle()) {
            if stop.is_requested() || spent >= ENOUGH {
                return;
            }
            let begin = Instant::now();
            let random = ChaCha8Rng::seed_from_u64(round);
            let found = residual.improve(plan, warmth, random, &mut Course::until(begin + SLICE, stop));
            plan = found.solution;
            if found.rank < best && !stop.is_requested() {
                best = found.rank;
                *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(plan.clone());
            }
            let took = begin.elapsed();
            spent += took;
            std::thread::sleep(took.mul_f64(1.0 / share - 1.0).min(Duration::from_secs(1)));
        }
    }
}
