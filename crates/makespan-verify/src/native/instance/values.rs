//! Reads values of jobs and tasks that can be written in several notations.

use std::fmt;
use std::marker::PhantomData;

use makespan_core::{Estimate, Needs, Resource, SpeedupLaw, Time};
use rustc_hash::FxHashSet;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::native::document::field;
use crate::native::scalar::{
    Count, FromLiteral, InList, NUMBER_KEY, RAW_KEY, Real, Scalar, float_text, is_number, literal, message_of, of_text,
    offset_of,
};

/// A speed-up law. The core's type is not used, because it would accept unknown parameters.
#[derive(Clone, Copy)]
pub(super) struct SpeedupEntry(SpeedupLaw);

impl From<SpeedupEntry> for SpeedupLaw {
    fn from(entry: SpeedupEntry) -> Self {
        entry.0
    }
}

impl<'de> Deserialize<'de> for SpeedupEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpeedupVisitor)
    }
}

struct SpeedupVisitor;

const LAWS: [&str; 4] = ["linear", "amdahl", "power", "downey"];

impl<'de> Visitor<'de> for SpeedupVisitor {
    type Value = SpeedupEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a speed-up law with its parameters, such as {\"amdahl\": {\"serial\": 0.05}} or {\"linear\": {}}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SpeedupEntry, A::Error> {
        let Some(law) = map.next_key::<String>()? else {
            return Err(Error::custom(
                "no speed-up law is stated; write a law such as {\"amdahl\": {\"serial\": 0.05}}",
            ));
        };
        let law = match law.as_str() {
            NUMBER_KEY => {
                let number: String = map.next_value()?;
                return Err(Error::custom(format_args!(
                    "found the number {number}; expected a speed-up law with its parameters, such as {{\"amdahl\": \
                     {{\"serial\": 0.05}}}}"
                )));
            }
            "linear" => {
                let NoParameters {} = map.next_value()?;
                SpeedupLaw::Linear {}
            }
            "amdahl" => {
                let SerialShare { serial } = map.next_value()?;
                SpeedupLaw::Amdahl { serial: serial.0.0 }
            }
            "power" => {
                let PowerExponent { exponent } = map.next_value()?;
                SpeedupLaw::Power { exponent: exponent.0.0 }
            }
            "downey" => {
                let DowneyParameters { parallelism, sigma } = map.next_value()?;
                SpeedupLaw::Downey { parallelism: parallelism.0.0, sigma: sigma.0.0 }
            }
            other => return Err(Error::unknown_variant(other, &LAWS)),
        };
        match map.next_key::<String>()? {
            Some(second) => Err(Error::custom(format_args!("`{second}` is a second speed-up law; write only one law"))),
            None => Ok(SpeedupEntry(law)),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParameters {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SerialShare {
    serial: Scalar<Real>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PowerExponent {
    exponent: Scalar<Real>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DowneyParameters {
    parallelism: Scalar<Real>,
    sigma: Scalar<Real>,
}

/// Reads a list of names.
pub(super) fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Names;

    impl<'de> Visitor<'de> for Names {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of names such as [\"a\", \"b\"]")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
            let mut names = Vec::new();
            while let Some(name) = list.next_element()? {
                names.push(name);
            }
            Ok(names)
        }
    }

    deserializer.deserialize_seq(Names)
}

/// One scalar or a list.
pub(super) enum OneOrMany<T, M> {
    One(T),
    Many(Vec<M>),
}

/// The type of the entries of [`OneOrMany::Many`].
pub(super) trait ListEntry: DeserializeOwned {
    /// True if all entries of a JSON list are read at once, from the raw text of the list.
    const AT_ONCE: bool = false;

    /// Reads a JSON list from its text, or returns `None` if an entry is not a plain value.
    fn plain_list(_text: &str) -> Option<Vec<Self>> {
        None
    }
}

impl<T: FromLiteral> ListEntry for Scalar<T> {
    const AT_ONCE: bool = true;

    fn plain_list(text: &str) -> Option<Vec<Self>> {
        T::plain_list(text).map(|list| list.into_iter().map(Self).collect())
    }
}

impl<'de, T: FromLiteral, M: ListEntry> Deserialize<'de> for OneOrMany<T, M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = OneOrManyVisitor(PhantomData);
        if M::AT_ONCE {
            return deserializer.deserialize_newtype_struct(RAW_KEY, visitor);
        }
        deserializer.deserialize_any(visitor)
    }
}

/// A [`OneOrMany`] that is read from the raw text of a JSON value.
struct RawOneOrMany<T, M>(OneOrMany<T, M>);

impl<'de, T: FromLiteral, M: ListEntry> Deserialize<'de> for RawOneOrMany<T, M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(RawVisitor(PhantomData)).map(Self)
    }
}

struct RawVisitor<T, M>(PhantomData<(T, M)>);

impl<T: FromLiteral, M: ListEntry> Visitor<'_> for RawVisitor<T, M> {
    type Value = OneOrMany<T, M>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        if is_number(text) {
            return one(text, false);
        }
        match M::plain_list(text) {
            Some(many) => Ok(OneOrMany::Many(many)),
            None => of_text(text, OneOrManyVisitor(PhantomData)).map_err(|error: E| placed::<T, M, E>(text, error)),
        }
    }
}

/// If `text` is a JSON list, adds the position in the list to the error.
fn placed<T: FromLiteral, M: ListEntry, E: Error>(text: &str, error: E) -> E {
    struct ListedValues<T, M>(PhantomData<(T, M)>);

    impl<'de, T: FromLiteral, M: ListEntry> Deserialize<'de> for ListedValues<T, M> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_any(OneOrManyVisitor::<T, M>(PhantomData)).map(|_| Self(PhantomData))
        }
    }

    let found =
        serde_path_to_error::deserialize::<_, ListedValues<T, M>>(&mut serde_json::Deserializer::from_str(text)).err();
    let place = found.filter(|_| text.starts_with('[')).and_then(|found| {
        let back = text.len() - offset_of(text.as_bytes(), found.inner())?;
        Some((message_of(found.inner()), InList { back, entry: field(found.path())? }))
    });
    place.map_or(error, |(message, place)| E::custom(place.join(&message)))
}

struct OneOrManyVisitor<T, M>(PhantomData<(T, M)>);

impl<'de, T: FromLiteral, M: ListEntry> Visitor<'de> for OneOrManyVisitor<T, M> {
    type Value = OneOrMany<T, M>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, or a list", T::EXPECTED)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        one(&value.to_string(), false)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        one(&value.to_string(), false)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        one(&float_text(value), false)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        one(value, true)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        match map.next_key::<String>()? {
            Some(key) if key == RAW_KEY => map.next_value::<RawOneOrMany<T, M>>().map(|raw| raw.0),
            Some(key) if key == NUMBER_KEY => one(&map.next_value::<String>()?, false),
            _ => Err(Error::custom(format_args!("found a table; expected {}, or a list", T::EXPECTED))),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut many = Vec::new();
        while let Some(element) = list.next_element()? {
            many.push(element);
        }
        Ok(OneOrMany::Many(many))
    }
}

fn one<T: FromLiteral, M, E: Error>(text: &str, quoted: bool) -> Result<OneOrMany<T, M>, E> {
    literal(text, quoted).map(|scalar| OneOrMany::One(scalar.0))
}

/// Times by node name, in the order of the file.
pub(super) struct TimesOn(pub Vec<(String, Time)>);

impl<'de> Deserialize<'de> for TimesOn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TimesOnVisitor)
    }
}

struct TimesOnVisitor;

impl<'de> Visitor<'de> for TimesOnVisitor {
    type Value = TimesOn;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of times by the names of nodes, such as {\"n0\": 12.0, \"n1\": 31.5}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TimesOn, A::Error> {
        let (mut times, mut seen) = (Vec::new(), FxHashSet::default());
        while let Some((node, time)) = map.next_entry::<String, Scalar<Time>>()? {
            if !seen.insert(node.clone()) {
                return Err(Error::custom(format_args!("the node `{node}` occurs twice")));
            }
            times.push((node, time.0));
        }
        Ok(TimesOn(times))
    }
}

/// Allotments of a job: one number, or `{min, max}`.
#[derive(Clone, Copy)]
pub(super) enum Allotments {
    Exactly(u32),
    Range { min: Option<u32>, max: Option<u32> },
}

impl<'de> Deserialize<'de> for Allotments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AllotmentsVisitor)
    }
}

struct AllotmentsVisitor;

impl<'de> Visitor<'de> for AllotmentsVisitor {
    type Value = Allotments;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of processors such as 8, or a range such as {\"min\": 1, \"max\": 64}")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Allotments, E> {
        exactly(&value.to_string())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Allotments, E> {
        exactly(&value.to_string())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Allotments, E> {
        exactly(&float_text(value))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Allotments, A::Error> {
        let (mut min, mut max) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            let (slot, name) = match key.as_str() {
                NUMBER_KEY => return exactly(&map.next_value::<String>()?),
                "min" => (&mut min, "min"),
                "max" => (&mut max, "max"),
                other => return Err(Error::unknown_field(other, &["min", "max"])),
            };
            if slot.replace(map.next_value::<Scalar<Count>>()?.0.0).is_some() {
                return Err(Error::duplicate_field(name));
            }
        }
        Ok(Allotments::Range { min, max })
    }
}

fn exactly<E: Error>(text: &str) -> Result<Allotments, E> {
    literal::<Count, E>(text, false).map(|count| Allotments::Exactly(count.0.0))
}

/// Source of run times or of memory: `"stated"`, `"guessed"`, or earlier runs. For earlier runs, the entry states the
/// number and the spread of the runs.
#[derive(Clone, Copy)]
pub(super) struct EstimateEntry(pub Estimate);

impl<'de> Deserialize<'de> for EstimateEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EstimateVisitor)
    }
}

/// Returns the source of the memory in `needs`.
pub(super) fn memory_estimate(stated: Option<EstimateEntry>, needs: &Needs) -> Result<Estimate, String> {
    let Some(EstimateEntry(estimate)) = stated else { return Ok(Estimate::Stated) };
    if needs.of(Resource::MEMORY).is_none() {
        return Err(
            "`memory_estimate` states the source of the memory in `needs`, but `needs` states no memory; state \
                    `memory`, or remove `memory_estimate`"
                .to_owned(),
        );
    }
    Ok(estimate)
}

struct EstimateVisitor;

impl<'de> Visitor<'de> for EstimateVisitor {
    type Value = EstimateEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"stated\", \"guessed\", or from runs, such as {\"runs\": 5, \"spread\": 0.1}")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<EstimateEntry, E> {
        match word {
            "stated" => Ok(EstimateEntry(Estimate::Stated)),
            "guessed" => Ok(EstimateEntry(Estimate::Guessed)),
            other => Err(Error::unknown_variant(other, &["stated", "guessed"])),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EstimateEntry, A::Error> {
        let (mut runs, mut spread) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "runs" if runs.is_none() => runs = Some(map.next_value::<Scalar<Count>>()?.0.0),
                "spread" if spread.is_none() => spread = Some(map.next_value::<Scalar<Real>>()?.0.0),
                "runs" => return Err(Error::duplicate_field("runs")),
                "spread" => return Err(Error::duplicate_field("spread")),
                other => return Err(Error::unknown_field(other, &["runs", "spread"])),
            }
        }
        let spread = spread.unwrap_or(0.0);
        match runs {
            Some(runs @ 1..) if spread >= 0.0 => Ok(EstimateEntry(Estimate::Learned { runs, spread })),
            Some(1..) => {
                Err(Error::custom("`spread` is negative; write the standard deviation divided by the mean, at least 0"))
            }
            Some(_) => Err(Error::custom(
                "`runs` is 0; write the number of runs from which the value was computed, at least 1",
            )),
            None => Err(Error::missing_field("runs")),
        }
    }
}
