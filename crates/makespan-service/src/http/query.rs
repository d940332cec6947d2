//! What stands behind the question mark of an address, and the parts of its path.

use std::collections::HashMap;
use std::fmt::Display;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use super::problem::Problem;
use crate::words::JobNumber;

/// The names and values of a query, each of which is taken once; what is left is an error.
pub(super) struct Query {
    words: Vec<(String, String)>,
    known: Vec<&'static str>,
}

impl Query {
    fn new(query: &str) -> Self {
        Self { words: form_urlencoded::parse(query.as_bytes()).into_owned().collect(), known: Vec::new() }
    }

    /// All values of a name.
    pub(super) fn all(&mut self, name: &'static str) -> Vec<String> {
        self.known.push(name);
        let (taken, left) = std::mem::take(&mut self.words).into_iter().partition(|(word, _)| word == name);
        self.words = left;
        let taken: Vec<(String, String)> = taken;
        taken.into_iter().map(|(_, value)| value).collect()
    }

    /// The value of a name that may be stated once.
    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<String>, Problem> {
        let mut values = self.all(name);
        if values.len() > 1 {
            return Err(Problem::bad_input(format!("`{name}` is stated {} times", values.len()))
                .at(format!("query.{name}"))
                .remedy("state it once"));
        }
        Ok(values.pop())
    }

    /// A value that is read as a number or a truth.
    pub(super) fn value<T: FromStr<Err: Display>>(&mut self, name: &'static str) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        text.parse().map(Some).map_err(|error| {
            Problem::bad_input(format!("`{text}` is no value of `{name}`: {error}")).at(format!("query.{name}"))
        })
    }

    /// An instant or a duration, which is finite.
    pub(super) fn seconds(&mut self, name: &'static str) -> Result<Option<f64>, Problem> {
        let value: Option<f64> = self.value(name)?;
        if value.is_some_and(|value| !value.is_finite()) {
            return Err(Problem::bad_input(format!("`{name}` is no number of seconds")).at(format!("query.{name}")));
        }
        Ok(value)
    }

    /// Refuses what was not taken.
    pub(super) fn finish(self) -> Result<(), Problem> {
        let Some((word, _)) = self.words.first() else { return Ok(()) };
        let known = if self.known.is_empty() { "nothing is known here".into() } else { self.known.join(", ") };
        Err(Problem::bad_input(format!("`{word}` is not known"))
            .at(format!("query.{word}"))
            .remedy(format!("known are: {known}")))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        Ok(Self::new(parts.uri.query().unwrap_or_default()))
    }
}

/// The parts of a path that stand for something, as they are when they are decoded.
pub(super) struct Segments(HashMap<String, String>);

impl Segments {
    /// One of them.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// One of them that is a number.
    pub(super) fn number(&self, name: &str) -> Result<u64, Problem> {
        let text = self.text(name);
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| digits).ok_or_else(|| {
            Problem::bad_input(format!("`{text}` is no number"))
                .at(format!("path.{name}"))
                .remedy("write a whole number")
        })
    }

    /// The job.
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
