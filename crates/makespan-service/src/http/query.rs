//! Parsers for the query and the path of a URL.

use std::collections::HashMap;
use std::fmt::Display;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use super::problem::Problem;
use crate::words::JobNumber;

/// The parameters of a query that have not been read. Handlers remove the parameters that they read. The remaining
/// parameters are errors.
pub(super) struct Query {
    words: Vec<(String, String)>,
    known: Vec<&'static str>,
}

impl Query {
    fn new(query: &str) -> Self {
        Self { words: form_urlencoded::parse(query.as_bytes()).into_owned().collect(), known: Vec::new() }
    }

    /// Removes a parameter and returns all its values.
    pub(super) fn all(&mut self, name: &'static str) -> Vec<String> {
        self.known.push(name);
        let (taken, left) = std::mem::take(&mut self.words).into_iter().partition(|(word, _)| word == name);
        self.words = left;
        let taken: Vec<(String, String)> = taken;
        taken.into_iter().map(|(_, value)| value).collect()
    }

    /// Removes a parameter that may occur only once, and returns its value.
    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<String>, Problem> {
        let mut values = self.all(name);
        if values.len() > 1 {
            return Err(Problem::bad_input(format!("`{name}` is stated {} times", values.len()))
                .at(format!("query.{name}"))
                .remedy("state it once"));
        }
        Ok(values.pop())
    }

    /// Removes a parameter, and returns its parsed value.
    pub(super) fn value<T: FromStr<Err: Display>>(&mut self, name: &'static str) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        text.parse().map(Some).map_err(|error| {
            Problem::bad_input(format!("`{text}` is not a value of `{name}`: {error}")).at(format!("query.{name}"))
        })
    }

    /// Removes a parameter that is an instant or a duration, and returns its value. The value is finite.
    pub(super) fn seconds(&mut self, name: &'static str) -> Result<Option<f64>, Problem> {
        let value: Option<f64> = self.value(name)?;
        if value.is_some_and(|value| !value.is_finite()) {
            return Err(Problem::bad_input(format!("`{name}` is not a number of seconds")).at(format!("query.{name}")));
        }
        Ok(value)
    }

    /// Returns a problem if there are remaining parameters.
    pub(super) fn finish(self) -> Result<(), Problem> {
        let Some((word, _)) = self.words.first() else { return Ok(()) };
        let known = if self.known.is_empty() { "none".into() } else { self.known.join(", ") };
        Err(Problem::bad_input(format!("`{word}` is an unknown parameter"))
            .at(format!("query.{word}"))
            .remedy(format!("known parameters: {known}")))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        Ok(Self::new(parts.uri.query().unwrap_or_default()))
    }
}

/// The decoded parameters of a path.
pub(super) struct Segments(HashMap<String, String>);

impl Segments {
    /// Returns a parameter as text.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Returns a parameter that is a number.
    pub(super) fn number(&self, name: &str) -> Result<u64, Problem> {
        let text = self.text(name);
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| digits).ok_or_else(|| {
            Problem::bad_input(format!("`{text}` is not a number"))
                .at(format!("path.{name}"))
                .remedy("write a whole number")
        })
    }

    /// Returns the parameter `job`.
    pub(super) fn job(&self) -> Result<JobNumber, Problem> {
        self.number("job").map(JobNumber)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Segments {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Path::<HashMap<String, String>>::from_request_parts(parts, state).await {
            Ok(Path(segments)) => Ok(Self(segments)),
            Err(rejection) => Err(Problem::bad_input(rejection.body_text()).at("path")),
        }
    }
}
