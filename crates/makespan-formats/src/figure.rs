//! Reads JSON values that should be numbers. Values of other types are accepted without an error.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::scalar::{NUMBER_KEY, float_text};

/// A type that can be read from any JSON value.
pub(crate) trait FromFigure: Sized {
    /// Reads a scalar. `text` is the literal of a number, the content of a string, "a table" for an object, and `None`
    /// for null.
    fn from_text(text: Option<&str>) -> Self;

    /// Reads a JSON list.
    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error>;
}

/// Reads any JSON value.
pub(crate) fn figure<'de, T: FromFigure, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(FigureVisitor(PhantomData))
}

/// The text of a JSON value: the literal of a number, the content of a string, or a description such as "a list". The
/// text of null is `None`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figure(Option<String>);

impl Figure {
    /// Returns the text of the value.
    pub(crate) fn text(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl FromFigure for Figure {
    fn from_text(text: Option<&str>) -> Self {
        Self(text.map(str::to_owned))
    }

    fn from_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self(Some("a list".into())))
    }
}

impl<'de> Deserialize<'de> for Figure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        figure(deserializer)
    }
}

struct FigureVisitor<T>(PhantomData<T>);

impl<'de, T: FromFigure> Visitor<'de> for FigureVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(T::from_text(None))
    }

    fn visit_none<E: Error>(self) -> Result<T, E> {
        Ok(T::from_text(None))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
        Ok(T::from_text(Some(if value { "true" } else { "false" })))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        Ok(T::from_text(Some(&value.to_string())))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        Ok(T::from_text(Some(&value.to_string())))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        Ok(T::from_text(Some(&float_text(value))))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<T, E> {
        Ok(T::from_text(Some(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::from_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        match map.next_key::<String>()? {
            // `serde_json` passes a number as a map from this key to the literal.
            Some(key) if key == NUMBER_KEY => Ok(T::from_text(Some(&map.next_value::<String>()?))),
            key => {
                if key.is_some() {
                    map.next_value::<IgnoredAny>()?;
                }
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(T::from_text(Some("a table")))
            }
        }
    }
}
