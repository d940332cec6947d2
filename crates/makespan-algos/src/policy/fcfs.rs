//! First come, first served.

use makespan_core::{Decision, Event, Policy, View};

use super::nodes_now::NodesNow;
use super::order::QueueReading;
use super::queue_state::{ProcessorStarts, QueueState, wait_for};
use super::space::Space;

/// Starts the tasks of a queue strictly in order. A task that does not fit delays all tasks after it.
///
/// Source: the baseline of D. Feitelson, L. Rudolph and U. Schwiegelshohn, "Parallel job scheduling - a status
/// report", JSSPP 2004, DOI `10.1007/11407522_1`. A task starts only on processors that are open until its estimated
/// end. Complexity for n tasks: O(log n) for an event on equal processors that are always open. If tasks need
/// resources, each task costs a walk over the nodes. In all other cases, an event costs a walk over the running tasks.
///
/// ```
/// let policy = makespan_algos::policy::policy("fcfs[order=sjf]", 1)?;
/// # Ok::<(), makespan_algos::SpecError>(())
/// ```
#[derive(Debug, Default)]
pub struct Fcfs {
    reading: QueueReading,
    state: Option<QueueState>,
    /// The nodes if tasks need resources, otherwise `None`.
    nodes: Option<NodesNow>,
}

impl Fcfs {
    /// Returns a policy with a queue that follows the rules in `reading`.
    pub fn new(reading: QueueReading) -> Self {
        Self { reading, ..Self::default() }
    }
}

impl Policy for Fcfs {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        QueueState::hear(&mut self.state, self.reading, events, view);
        let Some(state) = self.state.as_mut() else { return };
        state.held.extend(view, &[]);
        NodesNow::hear(&mut self.nodes, events, view);
        if let Some(nodes) = &mut self.nodes {
            nodes.start_heads(state, view, decisions);
            decisions.extend(wait_for(&state.queue, view));
            return;
        }
        if !state.counted {
            state.start_heads(&mut Space::of(view), decisions);
            decisions.extend(wait_for(&state.queue, view));
            return;
        }
        let mut starts = ProcessorStarts::new(view);
        while let Some(place) = state.queue.first()
            && place.asked.width <= state.held.free(view.now)
            && starts.start(state, place, decisions)
        {}
    }
}
