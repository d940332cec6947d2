//! Commands as text.

use makespan_core::{replaced_placeholders, shell_line};
use makespan_formats::list::quoted;

use crate::ninja_job::command_of_edge;

/// Returns a command as a line for a shell. For a command such as `sh -c LINE`, and for the job of an edge of ninja, returns
/// the line. For other commands, quotes each word. `{processors}` and other placeholders stay as they are.
pub fn command_line(words: &[String]) -> String {
    line_with(words, |_| None)
}

/// Returns a command as a line for a shell. Replaces `{processors}` by the number of cores.
pub fn command_line_on(words: &[String], cores: u32) -> String {
    line_with(words, |name| (name == "processors").then(|| cores.to_string()))
}

fn line_with(words: &[String], value: impl Fn(&str) -> Option<String>) -> String {
    match shell_line(words).or_else(|| command_of_edge(words)) {
        Some(line) => replaced_placeholders(line, value).into_owned(),
        None => words.iter().map(|word| quoted(&replaced_placeholders(word, &value))).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_line_stays_as_it_is() {
        for (words, line) in [
            (vec!["sh", "-c", "echo 'a b' | wc"], "echo 'a b' | wc"),
            (vec!["/bin/bash", "-c", "x"], "x"),
            (vec!["echo", "a b", "c"], "echo 'a b' c"),
            (vec!["perl", "-c", "x"], "perl -c x"),
            (vec!["/bin/makespan", "ninja-job", "--manifest", "b.ninja", "--", "cc -o a"], "cc -o a"),
            (vec!["env", "ninja-job", "--", "x"], "env ninja-job -- x"),
            (vec!["sh", "-c", "a {processors} {literal:processors}"], "a {processors} {processors}"),
        ] {
            assert_eq!(command_line(&words.into_iter().map(str::to_owned).collect::<Vec<_>>()), line);
        }
        let words = ["sh", "-c", "a {processors} {literal:processors}"].map(str::to_owned);
        assert_eq!(command_line_on(&words, 3), "a 3 {processors}");
    }
}
