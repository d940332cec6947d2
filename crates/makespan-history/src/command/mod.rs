//! Commands of the history.

mod inputs;
mod template;
mod words;

pub use template::Template;
pub use words::programs;

use words::{CommandPart, shell_parts, word_parts};

/// The command of a task, before `{processors}` and similar placeholders are replaced. Runs on different allotments are therefore
/// runs of one command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Command {
    words: Vec<String>,
    stated: Option<String>,
}

impl Command {
    /// Creates a command from a program and its arguments. `["sh", "-c", LINE]` stands for the shell line `LINE`.
    pub fn new(words: Vec<String>) -> Self {
        Self { words, stated: None }
    }

    /// Returns this command with the template that it was made from, such as `gzip {}` for `gzip a.txt`.
    #[must_use]
    pub fn from_template(self, template: impl Into<String>) -> Self {
        Self { stated: Some(template.into()), ..self }
    }

    /// Returns the program and its arguments.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the template that the user wrote, if the command was made from a template.
    pub fn stated_template(&self) -> Option<&str> {
        self.stated.as_deref()
    }

    /// Returns the command with a hole for each number, path and file name ([`Template`]).
    pub fn template(&self) -> Template {
        Template::of(&self.parts())
    }

    /// Returns the command as a user would type it in a shell.
    pub fn line(&self) -> String {
        match self.shell_line() {
            Some(line) => line.to_owned(),
            None => self.words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        }
    }

    /// Returns the line that a shell runs after `-c`, if the command has this form.
    fn shell_line(&self) -> Option<&str> {
        makespan_core::shell_line(&self.words)
    }

    fn parts(&self) -> Vec<CommandPart<'_>> {
        match self.shell_line() {
            Some(line) => shell_parts(line),
            None => word_parts(&self.words),
        }
    }
}

/// Quotes a word for a shell, if necessary.
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
