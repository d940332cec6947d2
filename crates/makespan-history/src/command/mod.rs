//! Commands, as the history knows them.

mod inputs;
mod template;
mod words;

pub use template::Template;
pub use words::programs;

use words::{Part, shell_parts, word_parts};

/// What a task runs: its words before `{processors}` and the like are replaced, so that runs at different allotments are runs of
/// one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    words: Vec<String>,
    stated: Option<String>,
}

impl Command {
    /// A program and its arguments; `sh -c LINE` is the line.
    pub fn new(words: Vec<String>) -> Self {
        Self { words, stated: None }
    }

    /// The same command, which was made from this template: `gzip {}` for `gzip a.txt`.
    #[must_use]
    pub fn from_template(self, template: impl Into<String>) -> Self {
        Self { stated: Some(template.into()), ..self }
    }

    /// The program and its arguments.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The template that the user wrote, where the command was made from one.
    pub fn stated_template(&self) -> Option<&str> {
        self.stated.as_deref()
    }

    /// The command with a hole wherever it has a number, a path or the name of a file ([`Template`]).
    pub fn template(&self) -> Template {
        Template::of(&self.parts())
    }

    /// The command as one would type it.
    pub fn line(&self) -> String {
        match self.shell_line() {
            Some(line) => line.to_owned(),
            None => self.words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        }
    }

    /// What the shell is given to run.
    fn shell_line(&self) -> Option<&str> {
        match self.words.as_slice() {
            [shell, option, line] if shell == "sh" && option == "-c" => Some(line),
            _ => None,
        }
    }

    fn parts(&self) -> Vec<Part<'_>> {
        match self.shell_line() {
            Some(line) => shell_parts(line),
            None => word_parts(&self.words),
        }
    }
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%^{}".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests;
