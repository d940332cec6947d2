//! Formats a number and its noun for a sentence, such as "2 jobs".

use std::fmt::Display;

/// Returns a number followed by its noun. The noun is singular if the number is 1, otherwise plural.
///
/// ```
/// use makespan_core::counted;
///
/// assert_eq!(counted(1, "job"), "1 job");
/// assert_eq!(counted(0, "unavailable period"), "0 unavailable periods");
/// ```
pub fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
