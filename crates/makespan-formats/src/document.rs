//! JSON and TOML texts into typed documents, with the place of every error.

use serde::de::DeserializeOwned;

use crate::error::{FormatError, Place};
use crate::suggest::explain;

/// Reads a JSON document.
pub(crate) fn from_json<T: DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<T, FormatError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| json_error(file, field(error.path()), error.inner()))?;
    deserializer.end().map_err(|error| json_error(file, None, &error))?;
    Ok(value)
}

/// Reads a TOML document.
pub(crate) fn from_toml<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, FormatError> {
    let toml_error = |field, error: &toml::de::Error| {
        let (line, column) = error.span().map_or((None, None), |span| {
            let before = text.get(..span.start).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            (Some(line), Some(column))
        });
        FormatError::content(file, Place { line, column, field }, explain(error.message()))
    };
    let deserializer = toml::Deserializer::parse(text).map_err(|error| toml_error(None, &error))?;
    serde_path_to_error::deserialize(deserializer).map_err(|error| toml_error(field(error.path()), error.inner()))
}

fn json_error(file: &str, field: Option<String>, error: &serde_json::Error) -> FormatError {
    let text = error.to_string();
    // serde_json appends the position, which is given apart.
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    let known = error.line() > 0;
    let place = Place { line: known.then(|| error.line()), column: known.then(|| error.column()), field };
    FormatError::content(file, place, explain(message))
}

fn field(path: &serde_path_to_error::Path) -> Option<String> {
    let text = path.to_string();
    let text = text.trim_end_matches(".?").replace(&format!(".{}", crate::scalar::NUMBER_KEY), "");
    (text != "." && text != "?" && !text.is_empty()).then_some(text)
}
