//! How a cluster is configured: `scontrol show config`.

use crate::text::{Limit, count, present};

/// Settings by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    settings: Vec<(String, String)>,
}

impl Config {
    /// Reads lines `Name = value`; other lines are headings.
    pub fn parse(text: &str) -> Self {
        let setting = |line: &str| {
            let (name, value) = line.split_once('=')?;
            Some((name.trim().to_owned(), value.trim().to_owned()))
        };
        Self { settings: text.lines().filter_map(setting).collect() }
    }

    /// Names and values as they stand there.
    pub fn settings(&self) -> &[(String, String)] {
        &self.settings
    }

    /// The value of a setting, unless it says that there is none.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.settings.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.and_then(|(_, value)| present(value)).filter(|value| *value != "(null type)")
    }

    /// A setting that is a number; a unit behind it, as in `30 sec`, is left out.
    pub fn number(&self, name: &str) -> Option<Limit> {
        self.get(name)?.split_whitespace().next().and_then(count)
    }

    /// Slurm's version.
    pub fn version(&self) -> Option<&str> {
        self.get("SLURM_VERSION")
    }
}
