//! Attempts that an earlier agent of this place began.

use std::time::{Duration, Instant};

use makespan_exec::Local;
use makespan_exec::engine::was_stopped;

use super::board::{Board, Left};
use super::order::{Fate, Order};

/// One of them. The process around it goes on without the agent, and leaves its status.
#[derive(Debug)]
pub(super) struct Inherited {
    pub id: String,
    pub order: Order,
    left: Left,
    /// Since when it is watched, at the latest since when it runs.
    pub since: Instant,
    /// When it was asked to end.
    pub asked: Option<Instant>,
    pub timed_out: bool,
}

impl Inherited {
    pub fn new(id: String, order: Order, left: Left) -> Self {
        let order = Order { gpus: left.gpus.clone().or(order.gpus), ..order };
        Self { id, order, left, since: Instant::now(), asked: None, timed_out: false }
    }

    /// How it ended, if it has.
    pub fn fate(&self, board: &Board, local: &Local, boot: &str) -> Option<Fate> {
        if self.left.boot == boot && self.left.shim.is_alive() {
            return None;
        }
        Some(match was_stopped(&board.run().join(&self.order.files.status)) {
            Some(_) if self.timed_out => Fate::TimedOut,
            // The status tells more.
            Some(false) => Fate::Exit(0),
            // Whatever ended its agent ended it.
            Some(true) => Fate::Gone,
            None => {
                if self.left.boot == boot {
                    local.end_strays(&self.order.name);
                }
                Fate::Gone
            }
        })
    }

    pub fn end(&mut self, boot: &str, kill: bool) {
        self.asked.get_or_insert_with(Instant::now);
        if self.left.boot == boot {
            Local::end_shim(self.left.shim, kill);
        }
    }
}

/// How often it is looked at them.
pub(super) const GLANCE: Duration = Duration::from_millis(50);
