//! What is under way at a port or at the processors of a node.

use makespan_core::Time;

/// One task under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    pub(super) kind: u32,
    /// Who receives it; the node itself for a task that is computed.
    pub(super) node: u32,
    /// Ticks of latency that are left; they pass first, whatever the rate.
    latency: f64,
    /// Ticks that its bytes or work still take when alone.
    remaining: f64,
    /// Ticks of service so far.
    pub(super) used: f64,
}

impl Active {
    fn left(&self) -> f64 {
        self.latency + self.remaining
    }
}

/// A resource of `capacity` units, of which a task uses at most one. More tasks than units share them evenly.
#[derive(Clone, Debug)]
pub(super) struct Server {
    capacity: u32,
    active: Vec<Active>,
    /// Since when the remaining times are right.
    since: Time,
    /// Stirs whenever a known end becomes wrong.
    pub(super) version: u32,
    /// Ticks of service in all.
    pub(super) busy: f64,
}

impl Server {
    pub(super) fn new(capacity: u32) -> Self {
        Self { capacity, active: Vec::new(), since: Time::ZERO, version: 0, busy: 0.0 }
    }

    /// Service of each task in a tick.
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

    /// One more task, which takes so many ticks alone: latency, and then what depends on the rate.
    pub(super) fn add(&mut self, now: Time, kind: usize, node: usize, [latency, remaining]: [f64; 2]) {
        self.advance(now);
        self.active.push(Active { kind: kind as u32, node: node as u32, latency, remaining, used: 0.0 });
        self.version = self.version.wrapping_add(1);
    }

    fn first(&self) -> Option<usize> {
        let order = |&(_, a): &(usize, &Active), &(_, b): &(usize, &Active)| a.left().total_cmp(&b.left());
        self.active.iter().enumerate().min_by(order).map(|(at, _)| at)
    }

    /// When the next task is over if nothing changes; the end of time for one that takes longer than a time can be.
    pub(super) fn next_end(&self) -> Option<Time> {
        let first = self.first()?;
        let ticks = (self.active[first].left() / self.rate()).ceil();
        let left = i64::MAX - self.since.ticks();
        Some(if ticks >= left as f64 { Time::MAX } else { Time::from_ticks(self.since.ticks() + ticks as i64) })
    }

    /// Takes out the task that is over.
    pub(super) fn finish(&mut self, now: Time) -> Option<Active> {
        self.advance(now);
        let first = self.first()?;
        self.version = self.version.wrapping_add(1);
        Some(self.active.swap_remove(first))
    }

    /// Multiplies the remaining time of the tasks for a node, whose rate has changed. Latency is no matter of the rate.
    pub(super) fn stretch(&mut self, now: Time, node: usize, factor: f64) {
        self.advance(now);
        for active in self.active.iter_mut().filter(|active| active.node as usize == node) {
            active.remaining *= factor;
        }
        self.version = self.version.wrapping_add(1);
    }

    /// Takes out a task for this node, finished or not.
    pub(super) fn abort(&mut self, now: Time, node: usize) -> Option<Active> {
        let at = self.active.iter().position(|active| active.node as usize == node)?;
        self.advance(now);
        self.version = self.version.wrapping_add(1);
        Some(self.active.swap_remove(at))
    }

    /// Takes out all tasks.
    pub(super) fn abort_all(&mut self, now: Time) -> Vec<Active> {
        self.advance(now);
        self.version = self.version.wrapping_add(1);
        std::mem::take(&mut self.active)
    }
}

/// Ticks that an amount takes at a rate a second.
pub(super) fn ticks(amount: f64, rate: f64) -> f64 {
    (amount / rate * Time::TICKS_PER_SECOND as f64).ceil()
}
