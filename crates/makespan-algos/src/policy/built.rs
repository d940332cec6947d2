//! A policy that was created from an entry of the catalogue.

use makespan_core::{Instance, Policy, Unsupported};

use crate::catalogue::{Spec, SpecError};

/// What a policy has besides an entry of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct OfPolicy {
    pub(super) build: fn(&mut Spec, u64) -> Result<Built, SpecError>,
}

/// A policy and what it cannot drive.
pub(super) struct Built {
    pub policy: Box<dyn Policy>,
    pub supports: Supports,
}

type Supports = Box<dyn Fn(&Instance) -> Result<(), Unsupported>>;
