//! Who watches a simulation.

use makespan_core::Time;

/// Hears how far a simulation is, to show it.
pub trait Observer {
    /// After each instant at which the policy was told something: the instant, and how many tasks have ended or were
    /// given up.
    fn progress(&mut self, _now: Time, _ended: usize) {}
}

/// An observer that shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
