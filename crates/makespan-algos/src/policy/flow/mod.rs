//! A flow of independent tasks to nodes of different speeds. Every node has its own queue, and a dispatcher sends the
//! tasks to these queues, using a mapper of [`crate::kernel::mapping`].
//!
//! Terms: a *machine* is one processor. Tasks that arrive wait in the *pool*. A mapping assigns a machine to each task.
//! After the mapping, the tasks are *sent* to their machines, and never move to other machines. The communication cost
//! of a task is the time until the task reaches its machine. Meanwhile, the machine runs other tasks. Then the task
//! waits in the queue of the machine.
//!
//! [`MappingInstants`] determines when the tasks of the pool are mapped. The recommended policy `flow` maps them by a
//! fast local search, shortly before a machine would become idle.

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

/// The instants at which waiting tasks are mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingInstants {
    /// Each task is mapped when it arrives (immediate mode). The communication cost of the task is taken into account.
    Arrival,
    /// Tasks are mapped at the multiples of an interval. The next mapping begins at the first multiple after the tasks
    /// of the previous mapping were sent.
    Every(Time),
    /// Tasks are mapped by the dynamic scheduling cycle as printed in the paper. The cycle is checked once a second.
    Poll,
    /// Tasks are mapped by the dynamic scheduling cycle, which is checked at every event.
    Events,
    /// Tasks are mapped at the last instant at which they can still reach the machines before a machine becomes idle.
    Need,
}

/// Sends the tasks of a flow to the queues of machines.
///
/// [`MappingInstants::Poll`] and [`MappingInstants::Events`] are the *dynamic scheduling cycle* of W. Sun, Y. Zhang, Y.
/// Wu and Y. Inoguchi, "Practical Task Flow Scheduling for High Throughput Computational Grid", section 3. Let `t_l` be
/// the shortest time in which a machine completes its tasks, and `t_s` the time that a mapping would take. Tasks are
/// mapped only if `t_l` is at most `t_s`. Then the number of waiting tasks decides how they are mapped. If more than 2
/// m tasks wait for m machines, the mapper maps them as a batch. The mapper ignores the communication cost of the
/// tasks, and assumes the state at the instant at which the tasks are sent, `t_s` later. If at most 2 m tasks wait,
/// each task is sent separately to the machine on which it completes earliest.
///
/// Deviations: all waiting tasks are mapped, not only the first m; `t_l` includes the running task. While no task
/// waits, the polled cycle is not checked, which does not change the result. Complexity: O(m) for each event on m
/// machines, plus the time of the mapper.
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

/// The rules of a [`TaskFlow`], apart from its mapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The instants at which tasks are mapped.
    pub when: MappingInstants,
    /// The time that a mapping takes.
    pub scheduling_time: SchedulingTime,
    /// The communication cost of a task.
    pub communication: Communication,
}

impl TaskFlow {
    /// Returns a policy that follows `rules` and maps tasks by `mapper`.
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

/// Checks that an instance is a flow of tasks. All tasks must be sequential, and processors must always be open.
pub(super) fn sequential_and_open(instance: &Instance) -> Result<(), Unsupported> {
    let sequential =
        |job| (0..instance.job(job).different_tasks()).all(|at| instance.profile_at(job, at).is_sequential());
    if !instance.ids().all(sequential) {
        return Err(Unsupported("it does not support jobs of several tasks or on several processors; use easy".into()));
    }
    if !instance.unavailable().is_empty() {
        return Err(Unsupported("it does not support unavailable periods; use easy".into()));
    }
    Ok(())
}
