//! The configuration of a cluster (`scontrol show config`).

use crate::text::{OptionalLimit, count, present};

/// The settings of a cluster, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    settings: Vec<(String, String)>,
}

impl Config {
    /// Parses lines `Name = value`. Other lines are headings and are ignored.
    pub fn parse(text: &str) -> Self {
        let setting = |line: &str| {
            let (name, value) = line.split_once('=')?;
            Some((name.trim().to_owned(), value.trim().to_owned()))
        };
        Self { settings: text.lines().filter_map(setting).collect() }
    }

    /// Returns the names and values as Slurm printed them.
    pub fn settings(&self) -> &[(String, String)] {
        &self.settings
    }

    /// Returns the value of a setting, or `None` if the setting is missing or has no value.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.settings.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.and_then(|(_, value)| present(value)).filter(|value| *value != "(null type)")
    }

    /// Returns the value of a numeric setting. A unit after the number, as in `30 sec`, is ignored.
    pub fn number(&self, name: &str) -> Option<OptionalLimit> {
        self.get(name)?.split_whitespace().next().and_then(count)
    }

    /// Returns Slurm's version.
    pub fn version(&self) -> Option<&str> {
        self.get("SLURM_VERSION")
    }
}
