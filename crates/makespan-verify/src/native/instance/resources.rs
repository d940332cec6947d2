//! Reads and writes the resources of nodes and the needs of tasks.

use std::fmt;

use makespan_core::{Need, Needs, Resources};
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::values::OneOrMany;
use crate::native::amount::{Amount, with_unit};
use crate::native::scalar::Scalar;

/// Amounts by resource name.
pub(super) struct ResourcesEntry(pub Resources);

impl<'de> Deserialize<'de> for ResourcesEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ResourcesVisitor)
    }
}

struct ResourcesVisitor;

impl<'de> Visitor<'de> for ResourcesVisitor {
    type Value = ResourcesEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of amounts by name, such as {\"memory\": \"64GiB\", \"gpus\": 2}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ResourcesEntry, A::Error> {
        let mut amounts: Vec<(String, u64)> = Vec::new();
        while let Some((name, amount)) = map.next_entry::<String, Scalar<Amount>>()? {
            if name == PER_PROCESSOR {
                return Err(Error::custom(format_args!(
                    "`{PER_PROCESSOR}` is not a name of a resource: in `needs`, this key states the amounts for each processor; choose another name"
                )));
            }
            amounts.push((name, amount.0.0));
        }
        Resources::new(amounts).map(ResourcesEntry).map_err(Error::custom)
    }
}

/// Key of the amounts that a task needs per processor.
pub const PER_PROCESSOR: &str = "per_processor";

/// Needs by resource name. A need is one amount, or a list with an amount for each number of processors. Amounts per
/// processor are stated under [`PER_PROCESSOR`].
pub(super) struct NeedsEntry(pub Needs);

impl<'de> Deserialize<'de> for NeedsEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NeedsVisitor)
    }
}

struct NeedsVisitor;

impl<'de> Visitor<'de> for NeedsVisitor {
    type Value = NeedsEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a table of amounts by name, such as {\"memory\": \"4GiB\", \"per_processor\": {\"memory\": \"1GiB\"}}; a list \
             states the amounts for 1, 2, 3 .. processors",
        )
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NeedsEntry, A::Error> {
        let mut needs: Vec<(String, Need)> = Vec::new();
        let mut each: Option<Resources> = None;
        while let Some(name) = map.next_key::<String>()? {
            if name == PER_PROCESSOR {
                if each.replace(map.next_value::<ResourcesEntry>()?.0).is_some() {
                    return Err(Error::duplicate_field(PER_PROCESSOR));
                }
                continue;
            }
            let need = match map.next_value::<OneOrMany<Amount, Scalar<Amount>>>()? {
                OneOrMany::One(amount) => Need::whole(amount.0),
                OneOrMany::Many(amounts) if amounts.is_empty() => {
                    return Err(Error::custom(format_args!(
                        "the list of `{name}` is empty; give an amount for each allotment"
                    )));
                }
                OneOrMany::Many(amounts) => Need::ByAllotment(amounts.iter().map(|amount| amount.0.0).collect()),
            };
            needs.push((name, need));
        }
        for (name, amount) in each.iter().flat_map(Resources::iter) {
            match needs.iter_mut().find(|(other, _)| other == name) {
                None => needs.push((name.to_owned(), Need::per_processor(amount))),
                Some((_, Need::Linear { per_processor, .. })) => *per_processor = amount,
                Some((_, Need::ByAllotment(_))) => {
                    return Err(Error::custom(format_args!(
                        "`{name}` states amounts both as a list and in `{PER_PROCESSOR}`; remove one of the two"
                    )));
                }
            }
        }
        Needs::new(needs).map(NeedsEntry).map_err(Error::custom)
    }
}

/// Amounts by resource name, for writing.
pub struct ResourcesOut<'a>(pub &'a Resources);

impl Serialize for ResourcesOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, amount)| (name, AmountOut::of(name, amount))))
    }
}

/// Amount of a resource, with a unit for resources that are measured in bytes.
#[derive(Serialize)]
#[serde(untagged)]
pub enum AmountOut {
    /// An amount without a unit.
    Number(u64),
    /// A number and its unit, such as `4GiB`.
    WithUnit(String),
}

impl AmountOut {
    /// Returns the notation of an amount of the resource `name`.
    pub fn of(name: &str, amount: u64) -> Self {
        with_unit(name, amount).map_or(Self::Number(amount), Self::WithUnit)
    }
}
