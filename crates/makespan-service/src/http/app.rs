//! What all answers share.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::StatusCode;
use tokio::sync::{Semaphore, watch};

use super::hub::Hub;
use super::limits::{Buckets, Limits};
use super::problem::Problem;
use crate::Service;
use crate::tokens::Tokens;
use crate::words::{Metric, Refusal, Who};

/// Questions that are answered at once.
const QUICK: usize = 24;
/// Changes at once, each of which waits for the disk: those who only look do not wait with them.
const CHANGES: usize = 16;
/// Questions at once that wait for the planner.
const SLOW: usize = 4;
/// How long a question waits for its turn.
const TURN: Duration = Duration::from_secs(30);

/// How long a question takes.
#[derive(Clone, Copy)]
pub(super) enum Pace {
    /// Milliseconds.
    Quick,
    /// As long as the disk takes.
    Change,
    /// As long as the planner takes.
    Slow,
}

/// What all answers share.
pub(super) struct App {
    pub(super) service: Arc<dyn Service>,
    pub(super) tokens: Arc<Tokens>,
    pub(super) limits: Limits,
    pub(super) buckets: Buckets,
    pub(super) behind_proxy: bool,
    pub(super) hub: Arc<Hub>,
    /// Becomes true when the server is to stop.
    pub(super) closing: watch::Receiver<bool>,
    /// Differs from that of an earlier server, so that what it sent is not taken for what this one has.
    pub(super) life: String,
    pub(super) counts: Counts,
    /// The plan as those see it who see all, with its version.
    pub(super) plan: Mutex<Option<(u64, Bytes)>>,
    /// For the bodies that arrive.
    pub(super) bodies: Semaphore,
    quick: Semaphore,
    changes: Semaphore,
    slow: Semaphore,
}

/// What the server itself counts.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) connections: AtomicUsize,
    pub(super) streams: AtomicUsize,
    answers: [AtomicU64; 6],
}

/// One more for as long as it lives.
pub(super) struct Counting(Arc<App>, fn(&Counts) -> &AtomicUsize);

impl Counting {
    pub(super) fn new(app: Arc<App>, which: fn(&Counts) -> &AtomicUsize) -> Self {
        which(&app.counts).fetch_add(1, Ordering::Relaxed);
        Self(app, which)
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        (self.1)(&self.0.counts).fetch_sub(1, Ordering::Relaxed);
    }
}

impl Counts {
    /// Counts an answer by the first digit of its status.
    pub(super) fn answered(&self, status: StatusCode) {
        self.answers[usize::from(status.as_u16() / 100).min(5)].fetch_add(1, Ordering::Relaxed);
    }

    /// The counts for a monitor.
    pub(super) fn metrics(&self) -> Vec<Metric> {
        const CLASSES: [&str; 6] = ["", "1xx", "2xx", "3xx", "4xx", "5xx"];
        let classes = CLASSES.iter().zip(&self.answers).skip(2);
        let answers =
            classes.map(|(class, count)| (vec![("status", (*class).to_owned())], count.load(Ordering::Relaxed) as f64));
        let gauge = |count: &AtomicUsize| vec![(Vec::new(), count.load(Ordering::Relaxed) as f64)];
        vec![
            Metric {
                name: "makespan_http_answers_total",
                help: "Answers over HTTP.",
                is_counter: true,
                values: answers.collect(),
            },
            Metric {
                name: "makespan_http_connections",
                help: "Open connections.",
                is_counter: false,
                values: gauge(&self.connections),
            },
            Metric {
                name: "makespan_http_event_streams",
                help: "Open streams of events.",
                is_counter: false,
                values: gauge(&self.streams),
            },
        ]
    }
}

impl App {
    pub(super) fn new(
        service: Arc<dyn Service>,
        tokens: Arc<Tokens>,
        limits: Limits,
        behind_proxy: bool,
        hub: Arc<Hub>,
        closing: watch::Receiver<bool>,
        life: String,
    ) -> Self {
        let buckets = Buckets::new(limits.requests);
        Self {
            service,
            tokens,
            limits,
            buckets,
            behind_proxy,
            hub,
            closing,
            life,
            counts: Counts::default(),
            plan: Mutex::new(None),
            bodies: super::body::room(),
            quick: Semaphore::new(QUICK),
            changes: Semaphore::new(CHANGES),
            slow: Semaphore::new(SLOW),
        }
    }

    /// Asks the service on a thread that may block, of which there are not many.
    pub(super) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        pace: Pace,
        who: &Who,
        question: impl FnOnce(&dyn Service, &Who) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Problem> {
        let turns = match pace {
            Pace::Quick => &self.quick,
            Pace::Change => &self.changes,
            Pace::Slow => &self.slow,
        };
        let Ok(Ok(turn)) = tokio::time::timeout(TURN, turns.acquire()).await else { return Err(Problem::busy()) };
        let (app, who) = (self.clone(), who.clone());
        let answer = tokio::task::spawn_blocking(move || question(app.service.as_ref(), &who)).await;
        drop(turn);
        match answer {
            Ok(answer) => answer.map_err(Problem::from),
            // The question has panicked, which was printed.
            Err(_) => Err(Problem::internal()),
        }
    }

    /// The plan in JSON for those who see all; it is written once for each version.
    pub(super) fn plan_of_all(&self, version: u64, write: impl FnOnce() -> Bytes) -> Bytes {
        let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        match plan.as_ref() {
            Some((written, bytes)) if *written == version => bytes.clone(),
            _ => {
                let bytes = write();
                *plan = Some((version, bytes.clone()));
                bytes
            }
        }
    }
}
