//! The state that all request handlers share.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::StatusCode;
use tokio::sync::{Semaphore, watch};

use super::hub::Hub;
use super::limits::{Buckets, RequestLimits};
use super::options::ServerOptions;
use super::problem::Problem;
use crate::Service;
use crate::log::Log;
use crate::tokens::Tokens;
use crate::words::{Metric, MetricKind, Refusal, Who};

/// Maximum number of simultaneous quick requests.
const QUICK: usize = 24;
/// Maximum number of simultaneous requests that write. These requests have a separate limit, because they wait for the
/// disk.
const CHANGES: usize = 16;
/// Maximum number of simultaneous requests that compute plans.
const SLOW: usize = 4;
/// Maximum time that a request waits until it is processed.
const TURN: Duration = Duration::from_secs(30);

/// The expected duration of a request.
#[derive(Clone, Copy)]
pub(super) enum RequestDuration {
    /// The request takes milliseconds.
    Quick,
    /// The request waits for the disk.
    Change,
    /// The request computes a plan.
    Slow,
}

/// The state that all request handlers share.
pub(super) struct App {
    pub(super) service: Arc<dyn Service>,
    pub(super) tokens: Arc<Tokens>,
    pub(super) log: Log,
    pub(super) limits: RequestLimits,
    pub(super) buckets: Buckets,
    pub(super) behind_proxy: bool,
    pub(super) hub: Arc<Hub>,
    /// Becomes true when the server must stop.
    pub(super) closing: watch::Receiver<bool>,
    /// A random number of this server process. The number makes the entity tags of this process different from the
    /// entity tags of earlier processes.
    pub(super) life: String,
    pub(super) counts: ServerCounters,
    /// The version and the JSON text of the plan for readers and admins.
    pub(super) plan: Mutex<Option<(u64, Bytes)>>,
    /// The memory for request bodies that are being received ([`super::body::room`]).
    pub(super) bodies: Semaphore,
    quick: Semaphore,
    changes: Semaphore,
    slow: Semaphore,
}

/// The counters of the server.
#[derive(Default)]
pub(super) struct ServerCounters {
    pub(super) connections: AtomicUsize,
    pub(super) streams: AtomicUsize,
    answers: [AtomicU64; 6],
}

/// A guard that increases a counter when it is created, and decreases it when it is dropped.
pub(super) struct Counting(Arc<App>, fn(&ServerCounters) -> &AtomicUsize);

impl Counting {
    pub(super) fn new(app: Arc<App>, which: fn(&ServerCounters) -> &AtomicUsize) -> Self {
        which(&app.counts).fetch_add(1, Ordering::Relaxed);
        Self(app, which)
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        (self.1)(&self.0.counts).fetch_sub(1, Ordering::Relaxed);
    }
}

impl ServerCounters {
    /// Counts a response by the first digit of its status.
    pub(super) fn answered(&self, status: StatusCode) {
        self.answers[usize::from(status.as_u16() / 100).min(5)].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the metrics of the server.
    pub(super) fn metrics(&self) -> Vec<Metric> {
        const CLASSES: [&str; 6] = ["", "1xx", "2xx", "3xx", "4xx", "5xx"];
        let classes = CLASSES.iter().zip(&self.answers).skip(2);
        let answers =
            classes.map(|(class, count)| (vec![("status", (*class).to_owned())], count.load(Ordering::Relaxed) as f64));
        let gauge = |count: &AtomicUsize| vec![(Vec::new(), count.load(Ordering::Relaxed) as f64)];
        vec![
            Metric {
                name: "makespan_http_answers_total",
                help: "HTTP responses.",
                kind: MetricKind::Counter,
                values: answers.collect(),
            },
            Metric {
                name: "makespan_http_connections",
                help: "Open connections.",
                kind: MetricKind::Gauge,
                values: gauge(&self.connections),
            },
            Metric {
                name: "makespan_http_event_streams",
                help: "Open streams of events.",
                kind: MetricKind::Gauge,
                values: gauge(&self.streams),
            },
        ]
    }
}

impl App {
    pub(super) fn new(
        service: Arc<dyn Service>,
        options: ServerOptions,
        hub: Arc<Hub>,
        closing: watch::Receiver<bool>,
        life: String,
    ) -> Self {
        let ServerOptions { tokens, limits, behind_proxy, log, .. } = options;
        let buckets = Buckets::new(limits.requests);
        Self {
            service,
            tokens,
            log,
            limits,
            buckets,
            behind_proxy,
            hub,
            closing,
            life,
            counts: ServerCounters::default(),
            plan: Mutex::new(None),
            bodies: super::body::room(),
            quick: Semaphore::new(QUICK),
            changes: Semaphore::new(CHANGES),
            slow: Semaphore::new(SLOW),
        }
    }

    /// Calls the service on a thread that may block. The number of simultaneous calls is limited for each `pace`.
    pub(super) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        pace: RequestDuration,
        who: &Who,
        question: impl FnOnce(&dyn Service, &Who) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Problem> {
        let turns = match pace {
            RequestDuration::Quick => &self.quick,
            RequestDuration::Change => &self.changes,
            RequestDuration::Slow => &self.slow,
        };
        let Ok(Ok(turn)) = tokio::time::timeout(TURN, turns.acquire()).await else { return Err(Problem::busy()) };
        let (app, who) = (self.clone(), who.clone());
        let answer = tokio::task::spawn_blocking(move || question(app.service.as_ref(), &who)).await;
        drop(turn);
        match answer {
            Ok(answer) => answer.map_err(Problem::from),
            // The call has panicked, and the panic message was printed.
            Err(_) => Err(Problem::internal()),
        }
    }

    /// Returns the JSON text of the plan for readers and admins. Calls `write` only if the stored text has another
    /// version.
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
