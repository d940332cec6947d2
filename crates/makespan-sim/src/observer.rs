//! Observers of a simulation.

use makespan_core::Time;

/// Receives the progress of a simulation, for display.
pub trait Observer {
    /// Called after each instant at which the policy received events. `ended` is the number of tasks that have ended or
    /// were cancelled so far.
    fn progress(&mut self, _now: Time, _ended: usize) {}
}

/// An observer that ignores the progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
