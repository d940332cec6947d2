//! Projects of PSPLIB: activities that wait for each other and share resources, some of which are used up.
//!
//! R. Kolisch and A. Sprecher, "PSPLIB: a project scheduling problem library", European Journal of Operational Research
//! 96(1), 1997, DOI 10.1016/S0377-2217(96)00170-1. Two forms are read: what the generator `ProGen` writes (`.sm` with one mode an
//! activity, `.mm` with several) and that of J. H. Patterson (`.rcp`), which is numbers alone.
//!
//! A project is one compound job. A period is a second. Renewable resources are licences of the platform, nonrenewable ones
//! its consumables, and processors are never what is scarce. The modes of an activity, by falling duration, are its
//! allotments. Activities without duration are left out, and what waits for them waits for what they wait for.

mod patterson;
mod progen;
mod project;
#[cfg(test)]
mod tests;

use makespan_core::Instance;

use crate::error::{FormatError, Place};
use crate::format::Format;

/// What is wrong, and where.
struct Wrong {
    place: Place,
    problem: String,
}

impl Wrong {
    fn at(line: usize, problem: impl Into<String>) -> Self {
        Self { place: Place::line(line), problem: problem.into() }
    }
}

/// For problems of the whole file.
impl From<String> for Wrong {
    fn from(problem: String) -> Self {
        Self { place: Place::default(), problem }
    }
}

/// Detects the format of PSPLIB from the beginning of the text, or else from the ending of the file name.
pub(crate) fn detect(text: &[u8], ending: Option<&str>) -> Option<Format> {
    match text.first()? {
        b'*' if progen::is_project(text) => Some(Format::ProGen),
        b'0'..=b'9' if patterson::begins(text) => Some(Format::Patterson),
        _ => match ending? {
            "sm" | "mm" => Some(Format::ProGen),
            "rcp" => Some(Format::Patterson),
            _ => None,
        },
    }
}

/// Reads a project; `name` is that of its job. What is remarked is said beside the instance.
pub(crate) fn read(file: &str, text: &str, format: Format, name: &str) -> Result<(Instance, Vec<String>), FormatError> {
    let project = match format {
        Format::ProGen => progen::read(text),
        _ => patterson::read(text),
    };
    let wrong = |wrong: Wrong| FormatError::content(file, wrong.place, wrong.problem);
    project.and_then(|project| project.instance(name)).map_err(wrong)
}

/// The whole numbers of a line.
fn numbers(line: usize, text: &str) -> Result<Vec<u64>, Wrong> {
    text.split_whitespace().map(|word| number(line, word)).collect()
}

fn number(line: usize, word: &str) -> Result<u64, Wrong> {
    let plain = word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|_| plain).ok_or_else(|| Wrong::at(line, format!("`{word}` is not a whole number from 0")))
}
