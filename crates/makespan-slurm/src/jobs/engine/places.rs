//! Maps the processors of jobs to processors of the plan.

use makespan_core::ProcSet;

use super::{Claim, SlurmJobEngine, cluster_of};
use crate::jobs::set;

impl SlurmJobEngine<'_> {
    /// Returns the processors of an attempt. If the plan contains the processors that Slurm allocated, returns these.
    /// Otherwise, returns as many free processors of the node.
    pub(super) fn processors_of(&self, claim: &Claim, planned: &ProcSet) -> ProcSet {
        let platform = self.instance.platform();
        let cluster = cluster_of(&self.options.clusters, planned);
        let mut all = ProcSet::new();
        for (name, cpus) in &claim.nodes {
            // The node was added to the cluster later, so the plan does not contain it.
            let Some(&node) = self.nodes.get(&(cluster, name.as_str())) else { return planned.clone() };
            let own = platform.processors_of(node);
            let first = own.iter().next().unwrap_or(0);
            let named = set(cpus.iter().map(|cpu| first + cpu));
            if named.is_subset(&own) {
                all.insert(&named);
                continue;
            }
            let mut free = own.clone();
            for busy in self.run.busy.values() {
                free.remove(busy);
            }
            let free = if free.len() < cpus.len() { own } else { free };
            all.insert(&set(free.iter().take(cpus.len() as usize)));
        }
        if all.len() == planned.len() { all } else { planned.clone() }
    }
}
