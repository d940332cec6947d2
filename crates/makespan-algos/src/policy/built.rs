//! Policies that are created from entries of the catalogue.

use makespan_core::{Instance, Policy, Unsupported};

use crate::catalogue::{Spec, SpecError};

/// The part of a catalogue entry that only policies have: the function that builds the policy.
#[derive(Clone, Copy, Debug)]
pub struct OfPolicy {
    pub(super) build: fn(&mut Spec, u64) -> Result<SupportedPolicy, SpecError>,
}

/// A policy, and a function that checks whether the policy supports an instance.
pub(super) struct SupportedPolicy {
    pub policy: Box<dyn Policy>,
    pub supports: Supports,
}

type Supports = Box<dyn Fn(&Instance) -> Result<(), Unsupported>>;
