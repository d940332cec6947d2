//! Returns the complete jobs of an instance, for comparisons in tests.

use makespan_core::{Instance, Job};

pub fn submitted(instance: &Instance) -> Vec<Job> {
    instance.ids().map(|id| instance.submitted(id)).collect()
}
