//! The predicted start of a job as lines of text, for all commands that show one.

use makespan_core::counted;

use crate::difference::Difference;
use crate::output::{shown, wrapped};

/// Width of a label, in characters.
const LABEL: usize = 12;

/// Formats a labelled line with an indent of `indent` spaces.
pub fn line(indent: usize, label: &str, text: &str) -> String {
    wrapped(&format!("{}{label:<LABEL$}", " ".repeat(indent)), indent + LABEL, &shown(text))
}

/// Formats the range of a start, which contains `percent` % of the starts, and the reasons why a job waits. A reason is a
/// text with a remedy, if there is one.
pub fn lines<'a>(
    indent: usize,
    between: Option<&str>,
    percent: u32,
    reasons: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
) -> String {
    let mut text = between
        .map_or_else(String::new, |between| line(indent, "between", &format!("{between} (in {percent} % of cases)")));
    for (reason, remedy) in reasons {
        text += &line(indent, "why not now", reason);
        text += &remedy.map_or_else(String::new, |remedy| line(indent, "would help", remedy));
    }
    text
}

/// Formats the delays of other jobs by a new job. `wait` is the difference of their mean wait. `named` contains texts
/// about delayed jobs, the longest delay first.
pub fn delays(
    later: u64,
    most_seconds: f64,
    earlier: u64,
    wait: &Difference,
    named: impl IntoIterator<Item = String>,
) -> String {
    let mut parts = match later {
        0 => vec!["none would start later".to_owned()],
        _ => vec![format!("{} would start later, by at most {most_seconds:.0} s", counted(later, "job"))],
    };
    parts.extend(named);
    if earlier > 0 {
        parts.push(format!("{} would start earlier", counted(earlier, "job")));
    }
    if !wait.is_none() {
        parts.push(format!("mean wait {}", wait.words()));
    }
    parts.join("; ")
}
