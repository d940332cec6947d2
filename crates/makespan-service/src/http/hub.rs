//! Distributes events to all streams of events. Only one thread waits for events, so the streams need no threads.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::watch;

use crate::Service;
use crate::words::{Happening, Role, Who};

/// Maximum number of latest events in memory. Streams that need earlier events read them from the service.
const KEPT: usize = 20_000;
/// Maximum number of events that are read from the service at once.
const FETCHED: usize = 1000;
/// Interval at which the thread checks for a new plan.
const WAIT: Duration = Duration::from_millis(250);
/// Pause after each announcement. Events that arrive within this pause are announced together.
const GATHERED: Duration = Duration::from_millis(20);

/// The progress of the service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// The number of the latest event.
    pub(super) latest: u64,
    /// The version of the plan.
    pub(super) plan: u64,
}

/// An event in the form in which it is sent.
pub(super) struct SentEvent {
    sequence: u64,
    user: String,
    text: String,
}

/// The latest events, for all streams.
pub(super) struct Hub {
    kept: RwLock<VecDeque<Arc<SentEvent>>>,
    progress: watch::Sender<Progress>,
    closed: AtomicBool,
}

impl Hub {
    /// Creates a hub for events after the latest event of the service.
    pub(super) fn new(service: &dyn Service) -> Self {
        let progress = Progress { latest: service.latest(), plan: service.picture(&everybody()).version };
        Self {
            kept: RwLock::new(VecDeque::new()),
            progress: watch::Sender::new(progress),
            closed: AtomicBool::new(false),
        }
    }

    /// Returns a receiver of the progress of the service.
    pub(super) fn watch(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Ends the thread that runs [`Hub::run`].
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Waits for events and announces them until the hub is closed.
    pub(super) fn run(&self, service: &dyn Service) {
        let who = everybody();
        while !self.closed.load(Ordering::Relaxed) {
            let known = *self.progress.borrow();
            let latest = service.wait(known.latest, WAIT);
            let mut reached = known.latest;
            while reached < latest && !self.closed.load(Ordering::Relaxed) {
                match service.happenings(&who, reached, FETCHED) {
                    Ok(more) if !more.is_empty() => reached = self.keep(&more).max(reached),
                    // The store may be temporarily unreadable, so the events are requested again.
                    _ => {
                        std::thread::sleep(WAIT);
                        break;
                    }
                }
            }
            let plan = service.picture(&who).version;
            let now = Progress { latest: reached, plan };
            if now != known {
                self.progress.send_replace(now);
                std::thread::sleep(GATHERED);
            }
        }
    }

    /// Stores events in memory, and returns the number of the last event.
    fn keep(&self, more: &[Happening]) -> u64 {
        let told = more.iter().filter_map(|happening| {
            let text = written(happening)?;
            Some(Arc::new(SentEvent { sequence: happening.sequence, user: happening.user.clone(), text }))
        });
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        kept.extend(told);
        let excess = kept.len().saturating_sub(KEPT);
        kept.drain(..excess);
        more.last().map_or(0, |happening| happening.sequence)
    }

    /// Returns the text of the first `most` events after event `after` that `who` may see. Also returns the number of
    /// the last event that was examined. Returns `None` if event `after + 1` is not in memory.
    pub(super) fn after(&self, who: &Who, after: u64, most: usize) -> Option<(String, u64)> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        if kept.front()?.sequence > after + 1 {
            return None;
        }
        let first = kept.partition_point(|told| told.sequence <= after);
        let (mut text, mut reached, mut count) = (String::new(), after, 0);
        for told in kept.range(first..) {
            if count == most {
                break;
            }
            reached = told.sequence;
            if who.role != Role::Submitter || who.user == told.user {
                text += &told.text;
                count += 1;
            }
        }
        Some((text, reached))
    }
}

/// Returns an event as the text of a server-sent event.
pub(super) fn written(happening: &Happening) -> Option<String> {
    let json = serde_json::to_string(happening).ok()?;
    Some(format!("id: {}\ndata: {json}\n\n", happening.sequence))
}

/// Returns a client that may see the jobs of all users.
fn everybody() -> Who {
    Who { user: String::new(), role: Role::Reader }
}
