//! An algorithm and its parameters as a text. The value of a parameter may itself be a spec, as in
//! `batch[scheduler=demt[shuffles=5]]`.

use makespan_core::Objective;
use thiserror::Error;

use super::spec_list::outside_brackets;

/// Returns the objective in `of` with the name `text` in specs, such as `mean-flow`.
pub(crate) fn objective_named(text: &str, of: impl IntoIterator<Item = Objective>) -> Option<Objective> {
    of.into_iter().find(|objective| objective.name().replace('_', "-") == text)
}

/// A parsed spec: the name of an algorithm and its parameters, from a text such as `name[key=value,..]`.
#[derive(Clone, Debug)]
pub struct Spec {
    name: String,
    parameters: Vec<(String, String)>,
}

/// Reason why a text is not a valid spec.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecError {
    /// The text does not have the form of a spec.
    #[error("`{0}` does not name an algorithm; write name or name[key=value,..]")]
    Syntax(String),
    /// The catalogue does not contain the name, or the algorithm does not have the parameter.
    #[error("unknown {what} `{found}`{hint}")]
    Unknown {
        /// The kind of the unknown name, such as `algorithm` or `parameter`.
        what: &'static str,
        /// The unknown name.
        found: String,
        /// A hint that lists valid names.
        hint: String,
    },
    /// The value of a parameter is invalid.
    #[error("{key}={value}: {key} must be {expected}")]
    Value {
        /// The key of the parameter.
        key: String,
        /// The invalid value.
        value: String,
        /// A description of the valid values.
        expected: String,
    },
    /// The spec contains a parameter more than once.
    #[error("the parameter `{0}` is given twice")]
    Repeated(String),
}

impl SpecError {
    /// Returns the error for an unknown name. The hint suggests the name in `known` that is nearest to `found`. If no
    /// name is near, the hint lists all names.
    pub(crate) fn unknown(what: &'static str, found: &str, known: impl Iterator<Item = &'static str>) -> Self {
        let known: Vec<&str> = known.collect();
        let nearest = known.iter().map(|word| (strsim::damerau_levenshtein(word, found), word)).min();
        let hint = match nearest {
            None => "; this entry has no parameters".to_owned(),
            Some((distance, word)) if distance <= 2 => format!("; did you mean `{word}`?"),
            Some(_) => format!("; known: {}", known.join(", ")),
        };
        Self::Unknown { what, found: found.to_owned(), hint }
    }

    /// If `is_other` accepts the unknown name, replaces the hint by a statement that the name belongs to another kind
    /// of entry, `other`.
    #[must_use]
    pub fn unless(self, is_other: impl Fn(&str) -> bool, other: &str) -> Self {
        match self {
            Self::Unknown { what, found, .. } if is_other(&found) => {
                Self::Unknown { what, found, hint: format!("; it is {other}") }
            }
            error => error,
        }
    }
}

impl Spec {
    /// Parses a spec.
    ///
    /// # Errors
    /// [`SpecError`] if the text is not of the form `name[key=value,..]` or repeats a key.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let fail = || SpecError::Syntax(text.to_owned());
        let text = text.trim();
        let (name, inside) = match text.split_once('[') {
            None => (text, None),
            Some((name, rest)) => (name, Some(rest.strip_suffix(']').ok_or_else(fail)?)),
        };
        let is_word =
            |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
        if !is_word(name) || !inside.is_none_or(brackets_match) {
            return Err(fail());
        }
        let mut parameters: Vec<(String, String)> = Vec::new();
        for part in inside.into_iter().flat_map(outside_brackets) {
            let (key, value) = part.split_once('=').ok_or_else(fail)?;
            if parameters.iter().any(|(known, _)| known == key.trim()) {
                return Err(SpecError::Repeated(key.trim().to_owned()));
            }
            parameters.push((key.trim().to_owned(), value.trim().to_owned()));
        }
        Ok(Self { name: name.to_owned(), parameters })
    }

    /// Returns the name of the algorithm: the part before the bracket.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the stated value of a parameter.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Removes a parameter and returns its parsed value, or returns the default if the parameter is missing.
    ///
    /// # Errors
    /// [`SpecError::Value`] if `read` rejects the value. The error contains the description of valid values that
    /// `read` returns.
    pub fn take<T>(
        &mut self,
        key: &str,
        default: T,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, SpecError> {
        let Some(at) = self.parameters.iter().position(|(known, _)| known == key) else { return Ok(default) };
        let (key, value) = self.parameters.remove(at);
        read(&value).map_err(|expected| SpecError::Value { key, value, expected })
    }

    /// Checks that [`Spec::take`] has taken every parameter of the spec. A parameter that was not taken is unknown.
    ///
    /// # Errors
    /// [`SpecError::Unknown`] for the first unknown parameter. `known` contains the valid keys.
    pub fn finish(self, known: impl Iterator<Item = &'static str>) -> Result<(), SpecError> {
        match self.parameters.first() {
            None => Ok(()),
            Some((key, _)) => Err(SpecError::unknown("parameter", key, known)),
        }
    }
}

/// Returns whether the brackets in a text are balanced.
fn brackets_match(text: &str) -> bool {
    let depth = text.chars().try_fold(0_u32, |depth, c| match c {
        '[' => Some(depth + 1),
        ']' => depth.checked_sub(1),
        _ => Some(depth),
    });
    depth == Some(0)
}
