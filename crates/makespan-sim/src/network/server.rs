//! The tasks in progress at a port or at the processors of a node.

use makespan_core::Time;

/// A task in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    pub(super) kind: u32,
    /// For a transfer, the receiving node. For a computation, the computing node.
    pub(super) node: u32,
    /// Remaining ticks of latency. The latency passes before the transfer of the bytes and does not depend on the rate
    /// of the port.
    latency: f64,
    /// Remaining ticks for the bytes or the work of the task, if the task had a whole unit of the server for itself.
    remaining: f64,
    /// Ticks of service that the task has received so far.
    pub(super) used: f64,
}

impl Active {
    fn left(&self) -> f64 {
        self.latency + self.remaining
    }
}

/// A port or the processors of a node: a resource of `capacity` units. Each task uses at most one unit. If there are
/// more tasks than units, the tasks share the units evenly.
#[derive(Clone, Debug)]
pub(super) struct Server {
    capacity: u32,
    active: Vec<Active>,
    /// The instant at which the remaining times of the tasks were last updated.
    since: Time,
    /// A number that increases whenever the predicted end of the next task changes. An event that was created with
    /// another number is obsolete.
    pub(super) version: u32,
    /// Total ticks of service that all tasks have received.
    pub(super) busy: f64,
}

impl Server {
    pub(super) fn new(capacity: u32) -> Self {
        Self { capacity, active: Vec::new(), since: Time::ZERO, version: 0, busy: 0.0 }
    }

    /// Returns the fraction of a unit that each task gets.
    fn rate(&self) -> f64 {
        let (active, capacity) = (self.active.len() as f64, f64::from(self.capacity));
        if active <= capacity { 1.0 } else { capacity / active }
    }

    pub(super) fn advance(&mut self, now: Time) {
        let elapsed = (now - self.since).ticks() as f64;
        self.since = now;
        if elapsed > 0.0 && !self.active.is_empty() {
            let service = elapsed * self.rate();
            self.busy += service * self.active.len() as f64;
            for active in &mut self.active {
                let beyond = service - active.latency;
                active.latency = (-beyond).max(0.0);
                active.remaining = (active.remaining - beyond.max(0.0)).max(0.0);
                active.used += service;
            }
        }
    }

    /// Adds a task. The array contains the latency of the task and its remaining time at the full rate, both in ticks.
    pub(super) fn add(&mut self, now: Time, kind: usize, node: usize, [latency, remaining]: [f64; 2]) {
        self.advance(now);
        self.active.push(Active { kind: kind as u32, node: node as u32, latency, remaining, used: 0.0 });
        self.version = self.version.wrapping_add(1);
    }

    fn first(&self) -> Option<usize> {
        let order = |&(_, a): &(usize, &Active), &(_, b): &(usize, &Active)| a.left().total_cmp(&b.left());
        self.active.iter().enumerate().min_by(order).map(|(at, _)| at)
    }

    /// Returns the next instant at which a task ends, if no task is added or removed before this instant. Returns
    /// `Time::MAX` if the instant is too late to represent.
    pub(super) fn next_end(&self) -> Option<Time> {
        let first = self.first()?;
        let ticks = (self.active[first].left() / self.rate()).ceil();
        let left = i64::MAX - self.since.ticks();
        Some(if ticks >= left as f64 { Time::MAX } else { Time::from_ticks(self.since.ticks() + ticks as i64) })
    }

    /// Removes and returns the task with the least remaining time. The caller ensures that this task ends now.
    pub(super) fn finish(&mut self, now: Time) -> Option<Active> {
        self.advance(now);
        let first = self.first()?;
        self.version = self.version.wrapping_add(1);
        Some(self.active.swap_remove(first))
    }

    /// Adapts the tasks for `node` to a new rate: multiplies their remaining times by `factor`, which is the old rate
    /// divided by the new rate. Latencies do not depend on the rate, so they stay the same.
    pub(super) fn stretch(&mut self, now: Time, node: usize, factor: f64) {
        self.advance(now);
        for active in self.active.iter_mut().filter(|active| active.node as usize == node) {
            active.remaining *= factor;
        }
        self.version = self.version.wrapping_add(1);
    }

    /// Removes a task for this node, even if the task is not finished.
    pub(super) fn abort(&mut self, now: Time, node: usize) -> Option<Active> {
        let at = self.active.iter().position(|active| active.node as usize == node)?;
        self.advance(now);
        self.version = self.version.wrapping_add(1);
        Some(self.active.swap_remove(at))
    }

    /// Removes all tasks.
    pub(super) fn abort_all(&mut self, now: Time) -> Vec<Active> {
        self.advance(now);
        self.version = self.version.wrapping_add(1);
        std::mem::take(&mut self.active)
    }
}

/// Returns the number of ticks that an amount of bytes or work takes at `rate` units per second.
pub(super) fn ticks(amount: f64, rate: f64) -> f64 {
    (amount / rate * Time::TICKS_PER_SECOND as f64).ceil()
}
