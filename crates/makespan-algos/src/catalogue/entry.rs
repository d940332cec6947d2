//! What a spec can name.

use makespan_core::{Objective, Scheduler};

use super::{Spec, SpecError};
use crate::scheduler::Mapped;

/// A parameter, as specs name it.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its key.
    pub name: &'static str,
    /// What it may be.
    pub values: &'static str,
    /// What it is when the spec does not say.
    pub default: &'static str,
}

/// A line of the catalogue, for listings: a scheduler ([`OfScheduler`]), a policy ([`crate::policy::OfPolicy`]) or a heuristic
/// of the nodes of a tree ([`crate::policy::tree::OfHeuristic`]).
#[derive(Clone, Copy, Debug)]
pub struct Entry<K = OfScheduler> {
    /// The name in specs.
    pub name: &'static str,
    /// One line: what it does.
    pub summary: &'static str,
    /// What it plans or drives.
    pub supports: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// What only entries of its kind have.
    pub kind: K,
}

/// What a scheduler has besides.
#[derive(Clone, Copy, Debug)]
pub struct OfScheduler {
    /// Objectives that the scheduler minimises. For `optimise`, all objectives that its parameter `objective` accepts.
    pub minimises: &'static [Objective],
    /// What is proved.
    pub guarantee: &'static str,
    /// Specs that stand for it in comparisons.
    pub compared: &'static [&'static str],
    /// Specs that stand for it in the property harness, which plans thousands of small instances.
    pub representatives: &'static [&'static str],
    pub(crate) build: Build,
}

/// How a scheduler is made of its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Build {
    Scheduler(fn(&mut Spec) -> Result<Box<dyn Scheduler>, SpecError>),
    /// It is a mapper, which policies can use as well.
    Mapper(fn(&mut Spec) -> Result<Mapped, SpecError>),
}

impl<K> Entry<K> {
    /// What `build` makes of the entry that a spec names, and of its parameters. `what` is said of an unknown name.
    ///
    /// # Errors
    /// [`SpecError`] names what is unknown and what would be right.
    pub(crate) fn made<T>(
        entries: &'static [Self],
        what: &'static str,
        spec: &str,
        build: impl FnOnce(&Self, &mut Spec) -> Result<T, SpecError>,
    ) -> Result<T, SpecError> {
        let mut parsed = Spec::parse(spec)?;
        let found = entries.iter().find(|entry| entry.name == parsed.name());
        let unknown = || SpecError::unknown(what, parsed.name(), entries.iter().map(|entry| entry.name));
        let entry = found.ok_or_else(unknown)?;
        let made = build(entry, &mut parsed)?;
        parsed.finish(entry.parameters.iter().map(|parameter| parameter.name))?;
        Ok(made)
    }
}
