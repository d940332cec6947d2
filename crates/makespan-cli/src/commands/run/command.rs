//! Commands as text.

use makespan_core::shell_line;
use makespan_formats::list::quoted;

use crate::ninja_job::command_of_edge;

/// Returns a command as a line for a shell. For a command such as `sh -c LINE`, and for the job of an edge of ninja, returns
/// the line. For other commands, quotes each word.
pub fn command_line(words: &[String]) -> String {
    match shell_line(words).or_else(|| command_of_edge(words)) {
        Some(line) => line.to_owned(),
        None => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
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
        ] {
            assert_eq!(command_line(&words.into_iter().map(str::to_owned).collect::<Vec<_>>()), line);
        }
    }
}
