//! How fast children take tasks, as their parent sees it.

use makespan_core::Time;
use makespan_core::network::NodeView;

/// What a node has seen of one child.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// Work units in its buffer or on the way to it.
    backlog: f64,
    /// Work units that have left its buffer, and in how many seconds in which there were some.
    freed: f64,
    busy: f64,
    /// Requests since old times were last given half their weight.
    requests: u32,
    since: Time,
}

/// A send that is thought of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    /// Work units of the task.
    pub(super) work: f64,
    /// Seconds of the port.
    pub(super) seconds: f64,
    /// What a hop takes at least.
    pub(super) shortest: f64,
}

/// For each child the work a second that leaves its buffer while there is some, known from its requests.
#[derive(Clone, Debug, Default)]
pub(super) struct Appetites {
    children: Vec<Seen>,
    /// Requests after which what was seen has half its weight.
    window: u32,
}

/// How many buffers of requests are remembered in full.
const WINDOW: u32 = 8;

impl Appetites {
    pub(super) fn new(buffer: u32) -> Self {
        Self { children: Vec::new(), window: WINDOW.saturating_mul(buffer.saturating_add(1)) }
    }

    /// Takes note of what the view says of a child, which asked or was sent something.
    pub(super) fn look(&mut self, view: &NodeView<'_>, child: usize) {
        if self.children.len() < view.degree() {
            self.children.resize(view.degree(), Seen::default());
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
            *seen = Seen { freed: seen.freed / 2.0, busy: seen.busy / 2.0, requests: 0, ..seen.clone() };
        }
    }

    /// Takes note that a child is being sent so much work.
    pub(super) fn sent(&mut self, view: &NodeView<'_>, child: usize, work: f64) {
        self.look(view, child);
        self.children[child].backlog += work;
    }

    /// A child is gone and asks for nothing more.
    pub(super) fn forget(&mut self, child: usize) {
        if let Some(seen) = self.children.get_mut(child) {
            *seen = Seen::default();
        }
    }

    /// Until when a send to `child` of so much work, for so many seconds of the port, had better wait, since another child
    /// would meanwhile run out of work and lose more: the instant at which that child would turn out to be so slow that it
    /// loses no more. `None` if no other would lose more. Another child loses at most what it could be sent of the kinds
    /// that are `offered` now.
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

impl Seen {
    fn pass(&mut self, now: Time) {
        if self.backlog > 0.0 {
            self.busy += (now - self.since).seconds();
        }
        self.since = now;
    }

    fn until(&self, now: Time, work: f64, seconds: f64) -> Option<Time> {
        // It would lose freed / busy * seconds - backlog.
        let busy = self.busy + (now - self.since).seconds();
        let enough = self.freed * seconds / (work + self.backlog);
        if self.backlog <= 0.0 || enough <= busy * (1.0 + 1e-9) {
            return None;
        }
        let wait = Time::from_seconds_f64(enough - busy).ok()?;
        Some(now + wait.max(Time::from_ticks(1)))
    }
}
