//! One thread waits for what happens, and tells all streams of events: none of them has a thread of its own.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::watch;

use crate::Service;
use crate::words::{Happening, Role, Who};

/// What happened last and is kept in memory; streams that are further behind ask the service.
const KEPT: usize = 20_000;
/// How many are fetched at once.
const FETCHED: usize = 1000;
/// How long the thread waits before it looks whether the plan was remade.
const WAIT: Duration = Duration::from_millis(250);
/// What happens within this time is told at once.
const GATHERED: Duration = Duration::from_millis(20);

/// How far the service is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// The number of what happened last.
    pub(super) latest: u64,
    /// The version of the plan.
    pub(super) plan: u64,
}

/// Something that happened, as it is sent.
pub(super) struct Told {
    sequence: u64,
    user: String,
    text: String,
}

/// What happened last, for all streams.
pub(super) struct Hub {
    kept: RwLock<VecDeque<Arc<Told>>>,
    progress: watch::Sender<Progress>,
    closed: AtomicBool,
}

impl Hub {
    /// Begins at what has happened by now.
    pub(super) fn new(service: &dyn Service) -> Self {
        let progress = Progress { latest: service.latest(), plan: service.picture(&everybody()).version };
        Self {
            kept: RwLock::new(VecDeque::new()),
            progress: watch::Sender::new(progress),
            closed: AtomicBool::new(false),
        }
    }

    /// Tells how far the service is, each time it changes.
    pub(super) fn watch(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Ends the thread that runs [`Hub::run`].
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Waits for what happens, until the hub is closed.
    pub(super) fn run(&self, service: &dyn Service) {
        let who = everybody();
        while !self.closed.load(Ordering::Relaxed) {
            let known = *self.progress.borrow();
            let latest = service.wait(known.latest, WAIT);
            let mut reached = known.latest;
            while reached < latest && !self.closed.load(Ordering::Relaxed) {
                match service.happenings(&who, reached, FETCHED) {
                    Ok(more) if !more.is_empty() => reached = self.keep(&more).max(reached),
                    // The disk may be gone for a while; what happened is asked for again.
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

    /// Keeps what happened; the number of the last one.
    fn keep(&self, more: &[Happening]) -> u64 {
        let told = more.iter().filter_map(|happening| {
            let text = written(happening)?;
            Some(Arc::new(Told { sequence: happening.sequence, user: happening.user.clone(), text }))
        });
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        kept.extend(told);
        let excess = kept.len().saturating_sub(KEPT);
        kept.drain(..excess);
        more.last().map_or(0, |happening| happening.sequence)
    }

    /// What one who asks may know of what happened after a number, as text of at most so many events, and how far that goes; `None`
    /// where the beginning is not kept.
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

/// Something that happened, as an event.
pub(super) fn written(happening: &Happening) -> Option<String> {
    let json = serde_json::to_string(happening).ok()?;
    Some(format!("id: {}\ndata: {json}\n\n", happening.sequence))
}

/// One who sees all.
fn everybody() -> Who {
    Who { user: String::new(), role: Role::Reader }
}
