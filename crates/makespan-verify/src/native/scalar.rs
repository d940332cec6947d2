//! Numbers and texts of JSON and TOML, read exactly.
//!
//! A reader receives each JSON number as its literal text. If the feature `arbitrary_precision` of `serde_json` is on,
//! `serde_json` passes this text as a map with one private key. If the reader requests a raw value, `serde_json` passes
//! the text in the same way even without this feature. A TOML float is converted to the shortest decimal number that
//! has the value of the float. So times and weights are never rounded to floating point.

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU64;

use makespan_core::{Platform, ProcSet, Quantity, Time, Weight};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// Map key under which `serde_json` passes the literal text of a number.
pub const NUMBER_KEY: &str = "$serde_json::private::Number";

/// Name for raw values in `serde_json`. If a reader requests a newtype struct of this name, `serde_json` passes the
/// raw text of the value in a map. The only key of the map is this name. Other formats ignore the name.
pub const RAW_KEY: &str = "$serde_json::private::RawValue";

/// In an error about a JSON list that was read from its raw text: the separator between the message and the position
/// ([`InList`]).
const LIST_KEY: &str = "$makespan::private::List";

/// The position of an error within a JSON list, if the list was read from its raw text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InList {
    /// The number of bytes between the error and the end of the list.
    pub back: usize,
    /// The entry with the error, such as `[3]`.
    pub entry: String,
}

impl InList {
    /// Appends this position to a message. [`InList::split`] separates the position from the message again.
    pub fn join(&self, message: &str) -> String {
        format!("{message}{LIST_KEY}{}:{}", self.back, self.entry)
    }

    /// Splits a message into its text and the position at its end. If the message contains no position, the position is
    /// `None`.
    pub fn split(message: &str) -> (&str, Option<Self>) {
        let split = message.rsplit_once(LIST_KEY).and_then(|(message, place)| {
            let (back, entry) = place.split_once(':')?;
            Some((message, Self { back: back.parse().ok()?, entry: entry.to_owned() }))
        });
        split.map_or((message, None), |(message, place)| (message, Some(place)))
    }
}

/// Returns the message of a `serde_json` error, without the position of the error.
pub fn message_of(error: &serde_json::Error) -> String {
    // The position is reported separately, so it is removed from the message.
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message).to_owned()
}

/// Returns the byte offset of a `serde_json` error in `text`, if the error has a position.
pub fn offset_of(text: &[u8], error: &serde_json::Error) -> Option<usize> {
    let mut ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let start = match error.line() {
        0 => return None,
        1 => 0,
        line => ends.nth(line - 2)?,
    };
    Some(start + error.column()).filter(|&offset| offset <= text.len())
}

/// A type of values that can be read from a number or a text, in JSON or TOML.
pub trait FromLiteral: Sized {
    /// Description of the expected value, for error messages.
    const EXPECTED: &'static str;

    /// Reads the text of a value. `quoted` is true if the value is a text, and false if it is a number.
    fn from_literal(text: &str, quoted: bool) -> Result<Self, String>;

    /// Reads a JSON list from its raw text. Returns `None` if the type has no reader for whole lists, or if an entry
    /// is not a plain value.
    fn plain_list(_text: &str) -> Option<Vec<Self>> {
        None
    }
}

/// Value that is written as a number or a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalar<T>(pub T);

/// Number of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u32);

/// Number of tasks of a bag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BagTasks(pub NonZeroU64);

/// Number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

/// Finite number for which the precision of a float suffices, such as a parameter of a speed-up law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Real(pub f64);

/// Speed of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed(pub f64);

impl FromLiteral for Time {
    const EXPECTED: &'static str = "a time: seconds such as 12.5, or a text with a unit such as \"2h\"";

    fn from_literal(text: &str, _quoted: bool) -> Result<Self, String> {
        Self::parse(text).map_err(|error| error.to_string())
    }

    fn plain_list(text: &str) -> Option<Vec<Self>> {
        Self::of_plain_list(text)
    }
}

impl FromLiteral for Weight {
    const EXPECTED: &'static str = "a weight: a number from 0 to 1000000000";

    fn from_literal(text: &str, _quoted: bool) -> Result<Self, String> {
        Self::parse(text).map_err(|error| error.to_string())
    }
}

impl FromLiteral for Count {
    const EXPECTED: &'static str = "a whole number";

    fn from_literal(text: &str, quoted: bool) -> Result<Self, String> {
        let count = text.parse().ok().filter(|&count| !quoted && count <= Platform::MAX_PROCESSORS);
        count.map(Self).ok_or_else(|| {
            format!("`{text}` is not a count; write a whole number from 0 to {}", Platform::MAX_PROCESSORS)
        })
    }
}

impl FromLiteral for BagTasks {
    const EXPECTED: &'static str = "a number of tasks";

    fn from_literal(text: &str, quoted: bool) -> Result<Self, String> {
        const MAX: u64 = 1_000_000_000_000_000_000;
        let count = text.parse().ok().filter(|count: &NonZeroU64| !quoted && count.get() <= MAX);
        count.map(Self).ok_or_else(|| {
            format!("`{text}` is not a number of tasks; write a whole number from 1 to 10^18, or remove `count`")
        })
    }
}

impl FromLiteral for Bytes {
    const EXPECTED: &'static str = "a number of bytes";

    fn from_literal(text: &str, quoted: bool) -> Result<Self, String> {
        const MAX: i128 = 1_000_000_000_000_000_000;
        let bytes = exact_decimal(text, 0).filter(|bytes| !quoted && (0..=MAX).contains(bytes));
        bytes.map(|bytes| Self(bytes as u64)).ok_or_else(|| {
            format!("`{text}` is not a number of bytes; write a whole number from 0 to 10^18, such as 5e5")
        })
    }
}

impl FromLiteral for Real {
    const EXPECTED: &'static str = "a number";

    fn from_literal(text: &str, quoted: bool) -> Result<Self, String> {
        let value = text.parse().ok().filter(|value: &f64| !quoted && value.is_finite());
        value.map(Self).ok_or_else(|| format!("`{text}` is not a finite number"))
    }
}

impl FromLiteral for Speed {
    const EXPECTED: &'static str = "a speed";

    fn from_literal(text: &str, quoted: bool) -> Result<Self, String> {
        let Real(speed) = Real::from_literal(text, quoted)?;
        Quantity::SPEED.check(speed).map(Self).map_err(|error| error.to_string())
    }
}

impl FromLiteral for ProcSet {
    const EXPECTED: &'static str = "a set of processors such as \"0-3,8\"";

    fn from_literal(text: &str, _quoted: bool) -> Result<Self, String> {
        let set: Self = text.parse().map_err(|error: makespan_core::ProcSetError| error.to_string())?;
        // A larger processor number could overflow the size of the set.
        match set.last() {
            Some(last) if last >= Platform::MAX_PROCESSORS => Err(format!(
                "`{text}` contains processor {last}; processor ids must be below {}",
                Platform::MAX_PROCESSORS
            )),
            _ => Ok(set),
        }
    }
}

/// Reads a number as its literal text.
impl FromLiteral for String {
    const EXPECTED: &'static str = "a number";

    fn from_literal(text: &str, quoted: bool) -> Result<Self, String> {
        if quoted { Err(format!("`{text}` is a text, not a number; write a number")) } else { Ok(text.to_owned()) }
    }
}

impl<'de, T: FromLiteral> Deserialize<'de> for Scalar<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(RAW_KEY, ScalarVisitor(PhantomData))
    }
}

struct ScalarVisitor<T>(PhantomData<T>);

impl<'de, T: FromLiteral> Visitor<'de> for ScalarVisitor<T> {
    type Value = Scalar<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        literal(&value.to_string(), false)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        literal(&value.to_string(), false)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        literal(&float_text(value), false)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        literal(value, true)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        match map.next_key::<Key>()? {
            Some(Key::Raw) => map.next_value::<Raw<T>>().map(|raw| raw.0),
            Some(Key::Number) => literal(&map.next_value::<String>()?, false),
            _ => Err(Error::custom(format_args!("found a table; expected {}", T::EXPECTED))),
        }
    }
}

/// A map key: one of the two private keys of `serde_json`, or another key.
enum Key {
    Raw,
    Number,
    Other,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(KeyVisitor)
    }
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Key, E> {
        Ok(match key {
            RAW_KEY => Key::Raw,
            NUMBER_KEY => Key::Number,
            _ => Key::Other,
        })
    }
}

/// A scalar that is read from the raw text of a JSON value. Numbers need no allocation.
struct Raw<T>(Scalar<T>);

impl<'de, T: FromLiteral> Deserialize<'de> for Raw<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(RawVisitor(PhantomData)).map(Self)
    }
}

struct RawVisitor<T>(PhantomData<T>);

impl<T: FromLiteral> Visitor<'_> for RawVisitor<T> {
    type Value = Scalar<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let text = text.trim_ascii();
        if is_number(text) {
            return literal(text, false);
        }
        of_text(text, ScalarVisitor(PhantomData))
    }
}

/// Returns true if the text of a JSON value is a number.
pub fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
}

/// Reads a JSON value from its text.
pub fn of_text<'de, V: Visitor<'de>, E: Error>(text: &'de str, visitor: V) -> Result<V::Value, E> {
    serde_json::Deserializer::from_str(text).deserialize_any(visitor).map_err(|error| E::custom(message_of(&error)))
}

/// Returns the shortest decimal number that denotes a float. Very large and very small numbers have an exponent.
pub fn float_text(value: f64) -> String {
    let size = value.abs();
    if size.is_finite() && size != 0.0 && !(1e-9..1e17).contains(&size) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// Reads a literal for a visitor of serde.
pub fn literal<T: FromLiteral, E: Error>(text: &str, quoted: bool) -> Result<Scalar<T>, E> {
    T::from_literal(text, quoted).map(Scalar).map_err(E::custom)
}

/// Returns `text` times `10^places` if the product is an integer that fits into the result type. The result is exact,
/// so that stated numbers are compared without rounding.
pub fn exact_decimal(text: &str, places: usize) -> Option<i128> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (negative, digits) = mantissa.strip_prefix('-').map_or((false, mantissa), |rest| (true, rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let shift = exponent.checked_add(places as i64)?.checked_sub(fraction.len() as i64)?;
    let significant = all.trim_start_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    let value: i128 = if shift >= 0 {
        let zeros = usize::try_from(shift).ok().filter(|&zeros| zeros < 40)?;
        format!("{significant}{}", "0".repeat(zeros)).parse().ok()?
    } else {
        let cut = usize::try_from(-shift).ok().filter(|&cut| cut < significant.len())?;
        let (kept, dropped) = significant.split_at(significant.len() - cut);
        if dropped.bytes().any(|byte| byte != b'0') {
            return None;
        }
        kept.parse().ok()?
    };
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stated_figures_are_exact_or_refused() {
        assert_eq!(exact_decimal("12.5", 9), Some(12_500_000_000));
        assert_eq!(exact_decimal("-1e3", 0), Some(-1000));
        assert_eq!(exact_decimal("1.50e-8", 9), Some(15));
        assert_eq!(exact_decimal("0.000", 2), Some(0));
        assert_eq!(exact_decimal("12.5000000001", 9), None);
        for bad in ["", ".", "x", "1.2.3", "1e400", "1e99999999999999999999", "NaN"] {
            assert_eq!(exact_decimal(bad, 9), None, "{bad}");
        }
    }
}
