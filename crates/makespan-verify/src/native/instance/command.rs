//! Reads the command of a job or a task.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

/// Program and option that run a line in the shell.
pub const SHELL: [&str; 2] = ["sh", "-c"];

/// Returns the command that runs a line in the shell.
pub fn by_shell(line: impl Into<String>) -> Vec<String> {
    let [shell, option] = SHELL.map(str::to_owned);
    vec![shell, option, line.into()]
}

/// Command, stated as a list of words or as a text for the shell.
#[derive(Default)]
pub(super) struct CommandEntry(pub Vec<String>);

impl<'de> Deserialize<'de> for CommandEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CommandVisitor)
    }
}

struct CommandVisitor;

impl<'de> Visitor<'de> for CommandVisitor {
    type Value = CommandEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a program and its arguments such as [\"gzip\", \"a.txt\"], or a text that the shell runs")
    }

    fn visit_str<E: Error>(self, line: &str) -> Result<CommandEntry, E> {
        if line.trim().is_empty() {
            return Err(Error::custom("the command is empty; write a command line for the shell, or remove `command`"));
        }
        if line.contains('\0') {
            return Err(Error::custom(
                "the command contains a NUL byte, which arguments cannot contain; remove this byte",
            ));
        }
        Ok(CommandEntry(by_shell(line)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<CommandEntry, A::Error> {
        let mut words = Vec::new();
        while let Some(word) = list.next_element::<String>()? {
            words.push(word);
        }
        Ok(CommandEntry(words))
    }
}
