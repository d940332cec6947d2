//! The predicted start of a job as lines of text, for all commands that show one.

use makespan_core::WaitReason;

use crate::output::{shown, wrapped};

/// Width of a label, in characters.
const LABEL: usize = 12;

/// Formats a labelled line with an indent of `indent` spaces.
pub fn line(indent: usize, label: &str, text: &str) -> String {
    wrapped(&format!("{}{label:<LABEL$}", " ".repeat(indent)), indent + LABEL, &shown(text))
}

/// Formats the range of a start, which contains `percent` % of the starts, and the reasons why a job waits.
pub fn lines(indent: usize, between: Option<&str>, percent: u32, reasons: &[WaitReason]) -> String {
    let mut text = between
        .map_or_else(String::new, |between| line(indent, "between", &format!("{between} (in {percent} % of cases)")));
    for reason in reasons {
        text += &line(indent, "why not now", &reason.text);
        text += &reason.remedy.as_ref().map_or_else(String::new, |remedy| line(indent, "would help", remedy));
    }
    text
}
