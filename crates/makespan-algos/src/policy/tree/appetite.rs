//! The speed at which the children of a node take tasks, as observed by the node.

use makespan_core::Time;
use makespan_core::network::NodeView;

/// The observations of one child.
#[derive(Clone, Debug, Default)]
struct ChildObservations {
    /// Work units in the buffer of the child, or on the way to it.
    backlog: f64,
    /// Work units that have left the buffer of the child.
    freed: f64,
    /// Time in which the buffer of the child was not empty, in seconds.
    busy: f64,
    /// Number of requests since the weight of all observations was last halved.
    requests: u32,
    since: Time,
}

/// A send that the node considers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    /// Work units of the task.
    pub(super) work: f64,
    /// Seconds for which the send occupies the port.
    pub(super) seconds: f64,
    /// Lower limit for the time of a hop, in seconds.
    pub(super) shortest: f64,
}

/// The observations of all children. From the requests of a child, the node learns how much work per second leaves the
/// buffer of the child while this buffer is not empty.
#[derive(Clone, Debug, Default)]
pub(super) struct ChildDemands {
    children: Vec<ChildObservations>,
    /// Number of requests after which the weight of observations is halved.
    window: u32,
}

/// If a buffer holds B tasks, `window` is this number times (B + 1).
const WINDOW: u32 = 8;

impl ChildDemands {
    pub(super) fn new(buffer: u32) -> Self {
        Self { children: Vec::new(), window: WINDOW.saturating_mul(buffer.saturating_add(1)) }
    }

    /// Updates the observations of a child, after the child has sent a request or a task was sent to it.
    pub(super) fn look(&mut self, view: &NodeView<'_>, child: usize) {
        if self.children.len() < view.degree() {
            self.children.resize(view.degree(), ChildObservations::default());
        }
        let backlog =
            (0..view.kinds.len()).map(|kind| f64::from(view.level(child, kind)) * view.kinds[kind].work).sum();
        let seen = &mut self.children[child];
        seen.pass(view.now);
        if backlog < seen.backlog {
            seen.freed += seen.backlog - backlog;
            seen.requests += 1;
        }
        seen.backlog = backlog;
        if seen.requests >= self.window {
            *seen = ChildObservations { freed: seen.freed / 2.0, busy: seen.busy / 2.0, requests: 0, ..seen.clone() };
        }
    }

    /// Records that a task with `work` units of work is being sent to a child.
    pub(super) fn sent(&mut self, view: &NodeView<'_>, child: usize, work: f64) {
        self.look(view, child);
        self.children[child].backlog += work;
    }

    /// Discards the observations of a child that was removed.
    pub(super) fn forget(&mut self, child: usize) {
        if let Some(seen) = self.children.get_mut(child) {
            *seen = ChildObservations::default();
        }
    }

    /// Returns the instant until which a send to `child` should wait, or `None` if the send need not wait.
    ///
    /// Let w be the work of the sent task. The send should wait if, during the send, another child would run out of
    /// work and lose more than w. The other child can only lose work that the node could send to it instead. So its
    /// loss is at most the work of the kinds in `offered` that the node could send to it in the time of the send, minus
    /// its backlog. If the other child has not requested a task by the returned instant, it takes tasks so slowly that
    /// it would lose at most w.
    pub(super) fn wait(&self, view: &NodeView<'_>, offered: &[bool], child: usize, hop: Hop) -> Option<Time> {
        let fed = |other: usize| {
            let kinds = (0..offered.len()).filter(|&kind| offered[kind]);
            let rate = kinds.map(|kind| view.kinds[kind].work / view.hop(other, kind).max(hop.shortest));
            rate.fold(0.0, f64::max) * hop.seconds - self.children[other].backlog > hop.work
        };
        let others = self.children.iter().enumerate().filter(|&(other, _)| other != child);
        let waits = others.filter_map(|(other, seen)| {
            let until = seen.until(view.now, hop.work, hop.seconds)?;
            fed(other).then_some(until)
        });
        waits.max()
    }
}

impl ChildObservations {
    fn pass(&mut self, now: Time) {
        if self.backlog > 0.0 {
            self.busy += (now - self.since).seconds();
        }
        self.since = now;
    }

    fn until(&self, now: Time, work: f64, seconds: f64) -> Option<Time> {
        // The child would lose the work freed / busy * seconds - backlog.
        let busy = self.busy + (now - self.since).seconds();
        let enough = self.freed * seconds / (work + self.backlog);
        if self.backlog <= 0.0 || enough <= busy * (1.0 + 1e-9) {
            return None;
        }
        let wait = Time::from_seconds_f64(enough - busy).ok()?;
        Some(now + wait.max(Time::from_ticks(1)))
    }
}
