//! The jobs of an instance for tests that compare them with all that they are.

use makespan_core::{Instance, Job};

pub fn submitted(instance: &Instance) -> Vec<Job> {
    instance.ids().map(|id| instance.submitted(id)).collect()
}
