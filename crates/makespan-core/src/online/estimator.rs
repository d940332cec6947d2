//! Estimates that change while an instance is executed.

use std::fmt;
use std::sync::Arc;

use crate::model::{Instance, NewTimes};
use crate::online::Run;

/// A method that learns run times from tasks that have ended. The driver of a policy calls an estimator after each
/// success. The driver puts the returned times into the instance that the policy sees ([`Instance::restate`]).
///
/// The driver calls [`Estimator::ended`] in the order in which tasks end. Equal sequences of calls must give equal
/// results: a run that is resumed in another process first repeats the calls for all tasks that ended in the earlier
/// process.
pub trait Estimator {
    /// Learns from a task that succeeded. Returns new times of other tasks. If the task is the first of a bag, the
    /// result may also contain an entry for this task, which stands for the whole bag.
    fn ended(&mut self, instance: &Instance, run: &Run) -> Vec<NewTimes>;

    /// Learns about jobs that were appended to the instance ([`Instance::append`]). Returns new times for the tasks of
    /// these jobs for which the estimator has better estimates. The default implementation returns no times.
    fn grown(&mut self, _instance: &Instance) -> Vec<NewTimes> {
        Vec::new()
    }
}

/// A function that creates a new [`Estimator`] for each execution of an instance.
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
