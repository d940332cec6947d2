//! Reads TOML texts into typed documents. Errors state the place.

use makespan_verify::native::document::field;
use serde::de::DeserializeOwned;

use crate::error::{FilePlace, FormatError};
use crate::suggest::explain;

/// Reads a TOML document.
pub(crate) fn from_toml<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, FormatError> {
    let toml_error = |field, error: &toml::de::Error| {
        let (line, column) = error.span().map_or((None, None), |span| {
            let before = text.get(..span.start).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            (Some(line), Some(column))
        });
        let message = match error.message() {
            // The message of the TOML parser states only the position of the repeated key, so the key is read from the
            // text.
            "duplicate key" => {
                let key = error.span().and_then(|span| text.get(span)).unwrap_or_default();
                format!("the key `{key}` occurs twice; remove one of the two")
            }
            message => explain(message),
        };
        FormatError::content(file, FilePlace { line, column, field }, message)
    };
    let deserializer = toml::Deserializer::parse(text).map_err(|error| toml_error(None, &error))?;
    serde_path_to_error::deserialize(deserializer).map_err(|error| toml_error(field(error.path()), error.inner()))
}
