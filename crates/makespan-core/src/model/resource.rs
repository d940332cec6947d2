//! Resources besides processors: amounts that platforms have and tasks need.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::model::Time;

/// The position of a resource in the list of its platform ([`crate::Platform::resources`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(pub u16);

impl ResourceId {
    /// Returns the position as an index into the resources of the platform.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The owner of a resource (each node, or the whole platform), and whether tasks return the amounts that they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceKind {
    /// Each node has an amount of its own, such as memory or GPUs.
    OfNodes,
    /// The platform has one amount for all nodes, such as licences of a program. Tasks return the amounts that they
    /// take.
    Licence,
    /// The platform has one amount that tasks use up (a *nonrenewable* resource). Tasks do not return the amounts that
    /// they take.
    Consumable,
}

/// A resource of a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Unique name.
    pub name: Box<str>,
    /// States who owns the resource (a node or the platform), and whether a task gives its amount back when it ends.
    pub kind: ResourceKind,
}

impl Resource {
    /// The name of the resource that is counted in bytes: the main memory of a node.
    pub const MEMORY: &'static str = "memory";
    /// The name of the resource that counts GPUs.
    pub const GPUS: &'static str = "gpus";

    /// For a resource in bytes, returns the largest unit (such as `MiB`) that divides the amount without remainder, and
    /// the amount in this unit. Returns `None` if no unit divides the amount, or if the resource is not counted in
    /// bytes.
    pub fn in_unit(name: &str, amount: u64) -> Option<(u64, &'static str)> {
        const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        let whole = |shift: u32| amount > 0 && amount.is_multiple_of(1 << shift);
        let unit = UNITS.iter().find(|unit| name == Self::MEMORY && whole(unit.1));
        unit.map(|(unit, shift)| (amount >> shift, *unit))
    }

    /// Formats an amount of this resource: an amount of memory in the largest unit that divides it without remainder,
    /// any other amount as a plain number.
    pub fn amount(&self, amount: u64) -> String {
        amount_of(&self.name, amount)
    }
}

/// Formats an amount of the resource with this name.
pub(crate) fn amount_of(name: &str, amount: u64) -> String {
    match Resource::in_unit(name, amount) {
        Some((count, unit)) => format!("{count} {unit}"),
        None if name == Resource::MEMORY => format!("{amount} bytes"),
        None => amount.to_string(),
    }
}

/// Amounts of resources, by name, that a node or a platform has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Resources(Vec<(Box<str>, u64)>);

/// The reason why amounts of resources, or needs for them, are invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ResourceError {
    /// The name of a resource is empty.
    #[error("the name of a resource is empty; give the resource a name, such as `memory`")]
    Nameless,
    /// A resource name occurs twice.
    #[error("the resource `{0}` is given twice; give it only once")]
    Twice(String),
    /// The amount is too large.
    #[error("{amount} of `{name}` is too much; at most 2^63 - 1 is supported")]
    TooMuch {
        /// Name of the resource.
        name: String,
        /// The stated amount.
        amount: u64,
    },
}

/// The largest supported amount of any resource.
const MOST: u64 = i64::MAX as u64;

impl Resources {
    /// Creates a set of amounts from pairs of a name and an amount.
    ///
    /// # Errors
    /// [`ResourceError`] names the invalid resource.
    ///
    /// ```
    /// use makespan_core::Resources;
    ///
    /// let resources = Resources::new([("memory", 64 << 30), ("gpus", 2)])?;
    /// assert_eq!((resources.amount("gpus"), resources.amount("disk")), (2, 0));
    /// # Ok::<(), makespan_core::ResourceError>(())
    /// ```
    pub fn new<N: Into<Box<str>>>(amounts: impl IntoIterator<Item = (N, u64)>) -> Result<Self, ResourceError> {
        let mut amounts: Vec<(Box<str>, u64)> =
            amounts.into_iter().map(|(name, amount)| (name.into(), amount)).collect();
        amounts.sort_unstable();
        check_names(amounts.iter().map(|(name, _)| &**name))?;
        match amounts.iter().find(|(_, amount)| *amount > MOST) {
            Some((name, amount)) => Err(ResourceError::TooMuch { name: name.to_string(), amount: *amount }),
            None => Ok(Self(amounts)),
        }
    }

    /// Returns the amount of a resource, or zero if the set does not contain its name.
    pub fn amount(&self, name: &str) -> u64 {
        self.0.binary_search_by(|(other, _)| (**other).cmp(name)).map_or(0, |at| self.0[at].1)
    }

    /// Returns names and amounts, in alphabetical order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, u64)> + ExactSizeIterator + Clone {
        self.0.iter().map(|(name, amount)| (&**name, *amount))
    }

    /// Returns true if there are no amounts.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Checks that names are not empty and not repeated. The names must be sorted.
fn check_names<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Result<(), ResourceError> {
    if names.clone().next().is_some_and(str::is_empty) {
        return Err(ResourceError::Nameless);
    }
    match names.clone().zip(names.skip(1)).find(|(one, next)| one == next) {
        Some((name, _)) => Err(ResourceError::Twice(name.to_owned())),
        None => Ok(()),
    }
}

/// The amount of a resource that a task holds, as a function of its allotment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// A fixed amount for the task, plus an amount for each of its processors.
    Linear {
        /// Amount for the task as a whole.
        whole: u64,
        /// Amount for each processor.
        per_processor: u64,
    },
    /// The amounts for the task on 1, 2, 3, ... processors. The last amount also applies to more processors.
    ByAllotment(Arc<[u64]>),
}

impl Need {
    /// Returns the need for a fixed amount for the task as a whole.
    pub const fn whole(amount: u64) -> Self {
        Self::Linear { whole: amount, per_processor: 0 }
    }

    /// Returns the need for a fixed amount for each processor of the task.
    pub const fn per_processor(amount: u64) -> Self {
        Self::Linear { whole: 0, per_processor: amount }
    }

    /// Returns the amount that the task holds on `processors` processors, summed over all nodes, without rounding the
    /// shares of nodes.
    pub fn total(&self, processors: u32) -> u64 {
        self.whole_of(processors).saturating_add(self.each().saturating_mul(processors.into()))
    }

    /// Returns the amount that the task holds on one node. The node has `here` of the task's `processors` processors.
    /// The result is the node's share of the amount for the whole task, rounded up, plus the amounts for the `here`
    /// processors.
    ///
    /// ```
    /// use makespan_core::Need;
    ///
    /// let need = Need::Linear { whole: 10, per_processor: 3 };
    /// assert_eq!((need.share(1, 4), need.share(3, 4), need.share(4, 4)), (6, 17, 22));
    /// ```
    pub fn share(&self, here: u32, processors: u32) -> u64 {
        let whole = self.whole_of(processors);
        let share = if here >= processors {
            whole
        } else {
            match whole.checked_mul(here.into()) {
                Some(product) => product.div_ceil(processors.into()),
                // The quotient is at most `whole`, so it fits into 64 bits.
                None => (u128::from(whole) * u128::from(here)).div_ceil(processors.into()) as u64,
            }
        };
        share.saturating_add(self.each().saturating_mul(here.into()))
    }

    /// Returns the maximum number, up to `most`, of the task's processors that can be on one node. `left` is the free
    /// amount of the resource on this node. `processors` is the total number of the task's processors.
    #[inline]
    pub fn fitting(&self, left: u64, most: u32, processors: u32) -> u32 {
        if let Self::Linear { whole: 0, per_processor } = *self {
            // Without an amount for the whole task, there is no share to round up.
            return match per_processor.checked_mul(most.into()) {
                Some(all) if all <= left => most,
                _ => (left / per_processor) as u32,
            };
        }
        if self.share(most, processors) <= left {
            return most;
        }
        // The share of a node never falls as its number of processors grows, so binary search is correct.
        let (mut low, mut high) = (0, most - 1);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.share(middle, processors) <= left { low = middle } else { high = middle - 1 }
        }
        low
    }

    /// Returns true if the amount is zero on every allotment.
    pub fn is_nothing(&self) -> bool {
        match self {
            Self::Linear { whole, per_processor } => *whole == 0 && *per_processor == 0,
            Self::ByAllotment(amounts) => amounts.iter().all(|&amount| amount == 0),
        }
    }

    fn whole_of(&self, processors: u32) -> u64 {
        match self {
            Self::Linear { whole, .. } => *whole,
            Self::ByAllotment(amounts) => {
                let at = (processors.max(1) as usize - 1).min(amounts.len().saturating_sub(1));
                amounts.get(at).copied().unwrap_or(0)
            }
        }
    }

    const fn each(&self) -> u64 {
        match self {
            Self::Linear { per_processor, .. } => *per_processor,
            Self::ByAllotment(_) => 0,
        }
    }

    fn largest(&self) -> u64 {
        match self {
            Self::Linear { whole, per_processor } => *whole.max(per_processor),
            Self::ByAllotment(amounts) => amounts.iter().copied().max().unwrap_or(0),
        }
    }
}

/// The resources that a task needs besides processors, by name. On each node, a task holds two amounts: the amount for
/// each of its processors there, and a share of the amount for the whole task. The share is proportional to the task's
/// processors on the node and is rounded up. If the resource is a licence or a consumable, the task holds a single
/// amount for all its nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Needs(Option<Arc<[NamedNeed]>>);

/// A need with the name of its resource.
type NamedNeed = (Box<str>, Need);

impl Needs {
    /// The needs of a task that needs no resources besides processors.
    pub const NONE: Self = Self(None);

    /// Creates a set of needs from pairs of a resource name and a need.
    ///
    /// # Errors
    /// [`ResourceError`] names the invalid resource.
    ///
    /// ```
    /// use makespan_core::{Need, Needs};
    ///
    /// let needs = Needs::new([("memory", Need::whole(4 << 30)), ("gpus", Need::per_processor(1))])?;
    /// assert_eq!(needs.of("gpus").map(|need| need.total(3)), Some(3));
    /// # Ok::<(), makespan_core::ResourceError>(())
    /// ```
    pub fn new<N: Into<Box<str>>>(needs: impl IntoIterator<Item = (N, Need)>) -> Result<Self, ResourceError> {
        let mut needs: Vec<NamedNeed> = needs.into_iter().map(|(name, need)| (name.into(), need)).collect();
        needs.sort_by(|a, b| a.0.cmp(&b.0));
        check_names(needs.iter().map(|(name, _)| &**name))?;
        if let Some((name, need)) = needs.iter().find(|(_, need)| need.largest() > MOST) {
            return Err(ResourceError::TooMuch { name: name.to_string(), amount: need.largest() });
        }
        Ok(Self((!needs.is_empty()).then(|| needs.into())))
    }

    /// Returns the need for a resource, if there is one.
    pub fn of(&self, name: &str) -> Option<&Need> {
        self.iter().find(|(other, _)| *other == name).map(|(_, need)| need)
    }

    /// Returns names and needs, in alphabetical order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Need)> + ExactSizeIterator + Clone {
        self.0.as_deref().unwrap_or_default().iter().map(|(name, need)| (&**name, need))
    }

    /// Returns true if no resource is needed.
    pub const fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// A task's need for one resource of the platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The id of the resource.
    pub resource: ResourceId,
    /// The owner of the resource, and whether tasks return amounts.
    pub kind: ResourceKind,
    /// The amount that the task needs, by allotment.
    pub need: Need,
}

impl Demand {
    /// Returns the amounts that a task with `processors` processors holds, each with the position of its node. `parts`
    /// contains the number of the task's processors on each node ([`crate::Platform::parts`]). If the resource belongs
    /// to no node, the result is the total amount, without a node.
    pub fn amounts(&self, parts: &[(usize, u32)], processors: u32) -> impl Iterator<Item = (Option<usize>, u64)> {
        let parts = if self.kind == ResourceKind::OfNodes { parts } else { &[] };
        let common = (self.kind != ResourceKind::OfNodes).then(|| (None, self.need.total(processors)));
        let share = move |&(node, here): &(usize, u32)| (Some(node), self.need.share(here, processors));
        parts.iter().map(share).chain(common)
    }
}

/// A task needs more of a resource than other tasks leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// Name of the job or task.
    pub job: String,
    /// The resource of which there is too little.
    pub resource: Resource,
    /// Name of the node on which there is too little, if the resource belongs to nodes.
    pub node: Option<String>,
    /// The instant of the shortage.
    pub at: Time,
    /// Amount that the task needs on this node, or on the platform if `node` is `None`.
    pub needs: u64,
    /// Amount that other tasks hold on this node, or on the platform.
    pub held: u64,
    /// Total amount that this node, or the platform, has.
    pub there: u64,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { job, resource, node, at, .. } = self;
        let [needs, held, there] = [self.needs, self.held, self.there].map(|amount| resource.amount(amount));
        write!(f, "job `{job}` needs {needs} of `{}`", resource.name)?;
        if let Some(node) = node {
            write!(f, " on node `{node}`")?;
        }
        write!(f, " at {at} s, but other jobs hold {held} of the total of {there}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_processors_fit_as_shares_allow() {
        let needs = [
            Need::whole(7),
            Need::per_processor(3),
            Need::Linear { whole: 11, per_processor: 2 },
            Need::ByAllotment([9, 4, 5].into()),
            Need::whole(i64::MAX as u64),
        ];
        for need in needs {
            for processors in 1..8 {
                for most in 0..=processors {
                    for left in 0..30 {
                        let fitting = need.fitting(left, most, processors);
                        let tried = (0..=most).rev().find(|&here| need.share(here, processors) <= left);
                        assert_eq!(Some(fitting), tried, "{need:?} {processors} {most} {left}");
                    }
                }
            }
        }
    }

    #[test]
    fn names_are_unique_and_amounts_can_be_counted() {
        assert_eq!(Resources::new([("a", 1), ("a", 2)]), Err(ResourceError::Twice("a".into())));
        assert_eq!(Resources::new([("", 1)]), Err(ResourceError::Nameless));
        assert!(matches!(Resources::new([("a", u64::MAX)]), Err(ResourceError::TooMuch { .. })));
        assert_eq!(Needs::new([("a", Need::whole(1)), ("a", Need::whole(1))]), Err(ResourceError::Twice("a".into())));
        assert!(Needs::new::<&str>([]).unwrap().is_empty());
    }

    #[test]
    fn memory_is_told_in_whole_units() {
        let told = |name: &str, amount| amount_of(name, amount);
        assert_eq!(told("memory", 4 << 30), "4 GiB");
        assert_eq!(told("memory", (4 << 30) + 1), "4294967297 bytes");
        assert_eq!((told("memory", 0), told("gpus", 1024)), ("0 bytes".into(), "1024".into()));
    }
}
