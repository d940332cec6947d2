//! Estimates that change while an instance is executed.

use std::fmt;
use std::sync::Arc;

use crate::model::{Instance, Restated};
use crate::online::Run;

/// Learns run times from tasks that have ended. The driver of a policy calls an estimator after each success and puts
/// the returned times into the instance that the policy sees ([`Instance::restate`]).
///
/// The calls are in the order of the ends, and equal calls must give equal results. A run that is resumed in another
/// process first repeats the calls for all tasks that ended before.
pub trait Estimator {
    /// Learns from a task that succeeded. Returns new times of other tasks, and of the task itself if it represents a
    /// bag.
    fn ended(&mut self, instance: &Instance, run: &Run) -> Vec<Restated>;

    /// Learns about jobs that were appended to the instance ([`Instance::append`]). Returns known times of the new
    /// tasks; by default, none.
    fn grown(&mut self, _instance: &Instance) -> Vec<Restated> {
        Vec::new()
    }
}

/// Creates [`Estimator`]s: a new one for each execution of an instance.
#[derive(Clone)]
pub struct Estimation(Arc<Make>);

type Make = dyn Fn(&Instance) -> Box<dyn Estimator> + Send + Sync;

impl Estimation {
    /// Creates an estimation from a function.
    pub fn new(make: impl Fn(&Instance) -> Box<dyn Estimator> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    /// Creates an estimator that has not learned anything yet.
    pub fn begin(&self, instance: &Instance) -> Box<dyn Estimator> {
        (self.0)(instance)
    }
}

impl fmt::Debug for Estimation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Estimation")
    }
}
