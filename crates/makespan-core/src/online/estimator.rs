//! Estimates that change while an instance is carried out.

use std::fmt;
use std::sync::Arc;

use crate::model::{Instance, Restated};
use crate::online::Run;

/// Learns times from what has ended. Whoever drives a policy asks it after each success, and puts what it says into the instance
/// that the policy sees ([`Instance::restate`]).
///
/// It is asked in the order of the ends, and says the same when it hears the same: a run that goes on in another process
/// lets it hear all that ended before.
pub trait Estimator {
    /// A task of this instance has ended with success, at last. Returned are new times of others, and of itself where it stands for
    /// the tasks of a bag.
    fn ended(&mut self, instance: &Instance, run: &Run) -> Vec<Restated>;

    /// Jobs have come, behind those that the instance had ([`Instance::append`]). Returned is what is known of their times; by
    /// default nothing.
    fn grown(&mut self, _instance: &Instance) -> Vec<Restated> {
        Vec::new()
    }
}

/// Makes an [`Estimator`] for an instance, a new one for each time that it is carried out.
#[derive(Clone)]
pub struct Estimation(Arc<Make>);

type Make = dyn Fn(&Instance) -> Box<dyn Estimator> + Send + Sync;

impl Estimation {
    /// Made by a function.
    pub fn new(make: impl Fn(&Instance) -> Box<dyn Estimator> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    /// An estimator that has heard nothing yet.
    pub fn begin(&self, instance: &Instance) -> Box<dyn Estimator> {
        (self.0)(instance)
    }
}

impl fmt::Debug for Estimation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Estimation")
    }
}
