//! Converts Python objects to the JSON text of an instance in Makespan's own format. So the reader of files also
//! checks Python objects. Numbers keep their decimals: `2.2` is exactly 2.2 seconds, as in a file.

use std::fmt::Write;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDelta, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::errors;

/// Maximum nesting depth. No valid instance is nested so deeply.
const MAX_DEPTH: usize = 32;
const NOT_UNICODE: &str = "found a text with half a surrogate pair; write a valid Unicode text";
const FINITE: &str = "write a finite number, or leave it out";
const TOO_LONG: &str = "found a number of thousands of digits; write a smaller one";

/// The path of a value in the document.
struct Path<'a> {
    above: Option<&'a Path<'a>>,
    step: Step<'a>,
    depth: usize,
}

enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

impl Path<'_> {
    const ROOT: Path<'static> = Path { above: None, step: Step::Root, depth: 0 };

    fn to<'b>(&'b self, step: Step<'b>) -> Path<'b> {
        Path { above: Some(self), step, depth: self.depth + 1 }
    }

    /// Returns the path as text, such as `jobs[3].time[0]`.
    fn text(&self) -> String {
        let mut text = self.above.map_or_else(String::new, Path::text);
        match self.step {
            Step::Root => {}
            Step::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text += key;
            }
            Step::Index(index) => text += &format!("[{index}]"),
        }
        text
    }
}

/// Converts a dict of numbers, texts, lists and dicts to JSON. Leaves out entries that are None.
///
/// # Errors
///
/// `InputError` with the path of a value of another type.
pub fn json(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut text = String::new();
    write(value, &mut text, &Path::ROOT)?;
    Ok(text)
}

/// Converts the argument `name` to JSON.
///
/// # Errors
///
/// The errors of [`json`], with the name of the argument.
pub fn json_of(value: &Bound<'_, PyAny>, name: &str) -> PyResult<String> {
    let mut text = String::new();
    write(value, &mut text, &Path::ROOT.to(Step::Key(name)))?;
    Ok(text)
}

fn write(value: &Bound<'_, PyAny>, out: &mut String, path: &Path<'_>) -> PyResult<()> {
    let py = value.py();
    if path.depth > MAX_DEPTH {
        return Err(errors::at(
            py,
            &path.text(),
            "lists and dicts are nested too deeply here; does one of them contain itself?",
        ));
    }
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_cow().map_err(|_| errors::at(py, &path.text(), NOT_UNICODE))?;
        quoted(text.as_ref(), out);
    } else if let Ok(number) = value.cast::<PyFloat>() {
        float(py, number.value(), out, path)?;
    } else if let Ok(flag) = value.cast::<PyBool>() {
        out.push_str(if flag.is_true() { "true" } else { "false" });
    } else if let Ok(number) = value.cast::<PyInt>() {
        match number.extract::<i64>() {
            Ok(number) => written(out, format_args!("{number}")),
            Err(_) => {
                let text = number.str().map_err(|_| errors::at(py, &path.text(), TOO_LONG))?;
                out.push_str(text.to_cow()?.as_ref());
            }
        }
    } else if let Ok(list) = value.cast::<PyList>() {
        sequence(list.iter(), out, path)?;
    } else if let Ok(dict) = value.cast::<PyDict>() {
        object(dict, out, path)?;
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        sequence(tuple.iter(), out, path)?;
    } else if value.is_none() {
        out.push_str("null");
    } else {
        return other(value, out, path);
    }
    Ok(())
}

fn object(dict: &Bound<'_, PyDict>, out: &mut String, path: &Path<'_>) -> PyResult<()> {
    out.push('{');
    let mut first = true;
    for (key, value) in dict.iter() {
        let Ok(name) = key.cast::<PyString>() else {
            let problem = format!("found the key {}; keys must be texts", key.repr()?);
            return Err(errors::at(dict.py(), &path.text(), problem));
        };
        if value.is_none() {
            continue;
        }
        if !first {
            out.push(',');
        }
        first = false;
        let name = name.to_cow().map_err(|_| errors::at(dict.py(), &path.text(), NOT_UNICODE))?;
        quoted(&name, out);
        out.push(':');
        write(&value, out, &path.to(Step::Key(&name)))?;
    }
    out.push('}');
    Ok(())
}

fn sequence<'py>(values: impl Iterator<Item = Bound<'py, PyAny>>, out: &mut String, path: &Path<'_>) -> PyResult<()> {
    out.push('[');
    for (index, value) in values.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(&value, out, &path.to(Step::Index(index)))?;
    }
    out.push(']');
    Ok(())
}

/// Writes a duration, a decimal number, a range, or a number or array of numpy. Returns an error for any other type.
fn other(value: &Bound<'_, PyAny>, out: &mut String, path: &Path<'_>) -> PyResult<()> {
    let py = value.py();
    if value.is_instance_of::<PyDelta>() {
        return duration(value, out);
    }
    let kind = value.get_type().name()?.to_string();
    if kind == "range" {
        return sequence(value.try_iter()?.collect::<PyResult<Vec<_>>>()?.into_iter(), out, path);
    }
    if kind == "Decimal" {
        if !value.call_method0("is_finite")?.extract::<bool>()? {
            return Err(errors::at(py, &path.text(), format!("found {}; {FINITE}", value.str()?)));
        }
        out.push_str(value.str()?.to_cow()?.as_ref());
        return Ok(());
    }
    // numpy and similar libraries have these methods for arrays and scalars.
    for method in ["tolist", "item"] {
        if value.hasattr(method)? {
            let plain = value.call_method0(method)?;
            if !plain.get_type().is(value.get_type()) {
                return write(&plain, out, &path.to(Step::Root));
            }
        }
    }
    let problem = format!("found a value of type `{kind}`; write a number, a text, a list or a dict");
    Err(errors::at(py, &path.text(), problem))
}

/// Writes a duration as exact seconds.
fn duration(value: &Bound<'_, PyAny>, out: &mut String) -> PyResult<()> {
    let part = |name: &str| value.getattr(name)?.extract::<i128>();
    let microseconds = (part("days")? * 86_400 + part("seconds")?) * 1_000_000 + part("microseconds")?;
    let (sign, size) = (if microseconds < 0 { "-" } else { "" }, microseconds.unsigned_abs());
    written(out, format_args!("{sign}{}.{:06}", size / 1_000_000, size % 1_000_000));
    Ok(())
}

/// Writes the shortest decimal that equals the float, as Python does.
fn float(py: Python<'_>, number: f64, out: &mut String, path: &Path<'_>) -> PyResult<()> {
    if !number.is_finite() {
        let problem = format!("found {number}; {FINITE}");
        return Err(errors::at(py, &path.text(), problem));
    }
    if number.fract() == 0.0 && number.abs() < 1e15 {
        written(out, format_args!("{}", number as i64));
    } else {
        written(out, format_args!("{number:?}"));
    }
    Ok(())
}

fn written(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(arguments);
}

fn quoted(text: &str, out: &mut String) {
    let plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    out.push('"');
    if text.bytes().all(plain) {
        out.push_str(text);
    } else {
        let escaped = serde_json::to_string(text).unwrap_or_default();
        out.push_str(escaped.get(1..escaped.len() - 1).unwrap_or_default());
    }
    out.push('"');
}
