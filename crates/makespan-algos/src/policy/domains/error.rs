//! Errors in the description of domains.

use makespan_core::Unsupported;
use thiserror::Error;

use crate::policy::PolicyError;

/// The reason why a metascheduler cannot be created.
#[derive(Clone, Debug, Error)]
pub enum DomainError {
    /// A node is in no domain, or some of its processors are in different domains.
    #[error("node `{node}` belongs to no domain or to several; state each node in exactly one domain")]
    Node {
        /// The name of the node.
        node: String,
    },
    /// A processor does not exist or is in two domains.
    #[error("domain `{domain}`: processor {processor} does not exist or belongs to another domain")]
    Processor {
        /// The name of the domain.
        domain: String,
        /// The id of the processor.
        processor: u32,
    },
    /// A job belongs to the owners of two domains.
    #[error("job `{job}` belongs to the owners of two domains; state it in one of them")]
    TwoOwners {
        /// The name of the job.
        job: String,
    },
    /// A job of an owner does not fit into its domain.
    #[error("domain `{domain}`: job `{job}` needs {needs} processors, but the domain has {has}")]
    Wide {
        /// The name of the domain.
        domain: String,
        /// The name of the job.
        job: String,
        /// The minimum number of processors of the job.
        needs: u32,
        /// The number of processors of the domain.
        has: u32,
    },
    /// The local policy does not exist, or does not support the jobs of the owners.
    #[error("domain `{domain}`: {source}")]
    Policy {
        /// The name of the domain.
        domain: String,
        /// The problem of the policy.
        source: PolicyError,
    },
    /// The jobs of users cannot be planned.
    #[error("the metascheduler cannot plan the jobs of users: {0}")]
    Users(Unsupported),
}
