//! A flow of independent tasks to nodes of different speeds: every node has a queue of its own, and a scheduler sends the
//! tasks there, by a mapper of [`crate::kernel::mapping`].
//!
//! Words: a *machine* is one processor. Tasks that arrive wait in the *pool*. A mapping gives each a machine; once it is made
//! they are *sent*, and stay where they were sent. A task that is sent reaches its machine after its communication cost,
//! while the machine computes what it has; there it waits for its turn.
//!
//! When the tasks of the pool are mapped is the [`When`] of the policy. `flow`, the recommended one, maps them in time for
//! the first machine that would be idle, by a fast local search that takes no time to speak of.

mod communication;
mod dispatch;
mod fast;
mod machines;
mod mappers;
mod scheduling_time;
#[cfg(test)]
mod tests;

use makespan_core::{Decision, Event, Instance, Policy, Time, Unsupported, View};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::kernel::mapping::Mapper;

pub use communication::Communication;
pub use fast::LongestFirst;
pub use mappers::{MAPPERS, mapper};
pub use scheduling_time::SchedulingTime;

use dispatch::Dispatch;

/// When the tasks that wait are mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Each as it arrives, with its communication cost: immediate mode.
    Arrival,
    /// At the multiples of this interval; after a mapping at the first one after its tasks were sent.
    Every(Time),
    /// The dynamic scheduling cycle as printed: looked at once a second.
    Poll,
    /// The dynamic scheduling cycle, looked at whenever something happens.
    Events,
    /// When a machine would be idle before tasks that are sent now reach it.
    Need,
}

/// Sends the tasks of a flow to the queues of machines.
///
/// [`When::Poll`] and [`When::Events`] are the *dynamic scheduling cycle* of W. Sun, Y. Zhang, Y. Wu and Y. Inoguchi,
/// "Practical Task Flow Scheduling for High Throughput Computational Grid", section 3: with `t_l` the shortest time in
/// which a machine has done all that it has, and `t_s` the time that a mapping would take, nothing is done while
/// `t_l > t_s`; then more than 2 m tasks are mapped by the mapper as a batch, without their communication cost, for the state `t_s` later, when they
/// are sent; fewer go one by one to where they are complete first.
///
/// Deviations: all waiting tasks are mapped, not the first m; `t_l` covers the task that runs. The polled cycle does not look
/// while nothing waits, which changes nothing.
///
/// Complexity: O(m) an event for m machines, and what the mapper takes; memory for the queues.
///
/// ```
/// let policy = makespan_algos::policy::policy("ptfs[mapper=min-min,cycle=event,scheduling-time=zero]", 1)?;
/// # Ok::<(), makespan_algos::SpecError>(())
/// ```
pub struct TaskFlow {
    rules: Rules,
    mapper: Box<dyn Mapper>,
    random: ChaCha8Rng,
    dispatch: Option<Dispatch>,
}

/// What a [`TaskFlow`] goes by, beside its mapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// When tasks are mapped.
    pub when: When,
    /// How long a mapping takes.
    pub scheduling_time: SchedulingTime,
    /// How long a task is on its way.
    pub communication: Communication,
}

impl TaskFlow {
    /// With these rules and this mapper.
    pub fn new(rules: Rules, mapper: Box<dyn Mapper>, seed: u64) -> Self {
        Self { rules, mapper, random: ChaCha8Rng::seed_from_u64(seed), dispatch: None }
    }
}

impl Policy for TaskFlow {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let dispatch = match &mut self.dispatch {
            Some(dispatch) => {
                dispatch.hear(events, view);
                dispatch
            }
            none => none.insert(Dispatch::of(view)),
        };
        let wake = dispatch.send(view, self.rules, self.mapper.as_ref(), &mut self.random);
        dispatch.machines.start(view, decisions);
        let wakes = [wake, dispatch.machines.next_arrival(view.now)];
        decisions.extend(wakes.into_iter().flatten().min().map(Decision::WakeAt));
    }
}

/// What a task flow is made of.
pub(super) fn sequential_and_open(instance: &Instance) -> Result<(), Unsupported> {
    let sequential =
        |job| (0..instance.job(job).different_tasks()).all(|at| instance.profile_at(job, at).is_sequential());
    if !instance.ids().all(sequential) {
        return Err(Unsupported("jobs that are not of one task on one processor; use easy".into()));
    }
    if !instance.unavailable().is_empty() {
        return Err(Unsupported("unavailable periods; use easy".into()));
    }
    Ok(())
}
