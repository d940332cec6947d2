//! Reads projects of PSPLIB. A project has activities with precedence constraints and shared resources. Activities use
//! up nonrenewable resources.
//!
//! R. Kolisch and A. Sprecher, "PSPLIB: a project scheduling problem library", European Journal of Operational
//! Research 96(1), 1997, DOI 10.1016/S0377-2217(96)00170-1. Three formats are read: the output of the generator `ProGen`
//! (`.sm` with one mode for each activity, `.mm` with several), the format of J. H. Patterson (`.rcp`), which consists only
//! of numbers, and the output of `ProGen/max` (`.sch`), which has time lags.
//!
//! The reader converts a project to one compound job. A period becomes a second. Renewable resources become licences
//! of the platform, and nonrenewable resources become consumables. The platform always has enough processors. The
//! modes of an activity become its allotments, in descending order of duration. Activities without duration are
//! omitted. Successors of an omitted activity wait for its predecessors instead.

mod max;
mod patterson;
mod progen;
mod project;
#[cfg(test)]
mod tests;

use crate::error::{FilePlace, FormatError};
use crate::format::Remarked;
use crate::format::head::{Head, WANTED};
use crate::format::workflow::job_name;
use project::Project;

/// Problem with a file, and its place.
struct FileProblem {
    place: FilePlace,
    problem: String,
}

impl FileProblem {
    fn at(line: usize, problem: impl Into<String>) -> Self {
        Self { place: FilePlace::line(line), problem: problem.into() }
    }
}

/// Converts a problem with the whole file.
impl From<String> for FileProblem {
    fn from(problem: String) -> Self {
        Self { place: FilePlace::default(), problem }
    }
}

/// Returns whether a file begins like a project in Patterson's form, or has the file extension `.rcp`.
pub(crate) fn is_patterson(head: &Head<'_>) -> bool {
    head.first.is_ascii_digit() && patterson::begins(head.text) || head.named && !is_project(head)
}

/// Returns whether a file begins like the output of `ProGen/max`, or has the file extension `.sch`.
pub(crate) fn is_max(head: &Head<'_>) -> bool {
    head.first.is_ascii_digit() && (head.named || max::begins(head.text))
}

/// Reads a project with time lags in the form that `ProGen/max` writes. Returns the instance, and remarks about the file.
pub(crate) fn read_max(file: &str, text: &str) -> Remarked {
    instance(file, max::read(text))
}

/// Returns whether a file begins like the output of `ProGen`, or has the file extension `.sm` or `.mm`.
///
/// # Errors
/// An error message if the file begins with a line of `*`, as projects do, but is not a project.
pub(crate) fn is_progen(head: &Head<'_>) -> Result<bool, String> {
    if head.named || is_project(head) || head.first != b'*' {
        return Ok(head.named || is_project(head));
    }
    Err(format!("the text begins with a line of `*` like a project of PSPLIB, but has none of its headings; {WANTED}"))
}

fn is_project(head: &Head<'_>) -> bool {
    head.first == b'*' && progen::is_project(head.text)
}

/// Reads a project in the form that `ProGen` writes. Returns the instance, and remarks about the file.
pub(crate) fn read_progen(file: &str, text: &str) -> Remarked {
    instance(file, progen::read(text))
}

/// Reads a project in Patterson's form. Returns the instance, and remarks about the file.
pub(crate) fn read_patterson(file: &str, text: &str) -> Remarked {
    instance(file, patterson::read(text))
}

fn instance(file: &str, project: Result<Project, FileProblem>) -> Remarked {
    let wrong = |wrong: FileProblem| FormatError::content(file, wrong.place, wrong.problem);
    project.and_then(|project| project.instance(&job_name(file))).map_err(wrong)
}

/// Returns the whole numbers of a line.
fn numbers(line: usize, text: &str) -> Result<Vec<u64>, FileProblem> {
    text.split_whitespace().map(|word| number(line, word)).collect()
}

fn number(line: usize, word: &str) -> Result<u64, FileProblem> {
    let plain = word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse()
        .ok()
        .filter(|_| plain)
        .ok_or_else(|| FileProblem::at(line, format!("`{word}` is not a whole number from 0")))
}
