//! Upper bounds on the fair throughput of a tree, from prices of tasks and ports.

use makespan_core::tree::{TreePrices, TreeProblem};
use makespan_core::{Instance, Objective};

use super::kind::{Kind, Scope};
use super::{CertificateError, Value};

impl Kind for TreePrices {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::Throughput]
    }

    /// Returns [`Scope::Any`], because the conversion to a tree problem rejects unsuitable instances and names the node
    /// or job.
    fn scope(&self) -> Scope {
        Scope::Any
    }

    /// Returns the proven upper bound. Every rounding in the computation increases the bound, so the bound remains
    /// valid.
    fn value(&self, _: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        let problem = TreeProblem::new(instance).map_err(CertificateError::NoTree)?;
        let proved = self.fair_throughput(&problem);
        proved.map(Value::Rational).map_err(|error| CertificateError::Malformed(error.to_string()))
    }
}
