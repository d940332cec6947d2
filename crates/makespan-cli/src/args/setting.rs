//! The options of `run` for the environment of jobs on this machine, the delay of their starts, and the cores that they
//! share.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use makespan_exec::{ExecuteOptions, JobSetting, JobserverStyle, StartHold};
use makespan_formats::parse_amount;
use miette::{Result, miette};

use super::{JobSlots, WaitTime};

/// The form in which jobs receive the jobserver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum JobserverForm {
    /// Two file descriptors, for all versions of GNU make, cargo and gcc
    Pipe,
    /// A named FIFO, for ninja from 1.13 and GNU make from 4.4
    Fifo,
}

impl JobserverForm {
    fn style(self) -> JobserverStyle {
        match self {
            Self::Pipe => JobserverStyle::Pipe,
            Self::Fifo => JobserverStyle::Fifo,
        }
    }
}

/// Options for jobs on this machine, mostly with the names of GNU parallel. None of them kills a job.
#[derive(Args, Clone)]
pub struct SettingOptions {
    /// Wait this long after each start before the next one, such as 0.5 or 2m
    ///
    /// This option only delays starts and kills nothing
    #[arg(help_heading = "How many at once", long, value_name = "TIME", allow_hyphen_values = true)]
    pub delay: Option<WaitTime>,
    /// Start a job only while this much memory is available, such as 2GiB
    ///
    /// This option only delays starts and kills nothing: running jobs continue when memory becomes short. K, M, G and T
    /// are powers of 1024, and k, m, g and t powers of 1000
    #[arg(help_heading = "How many at once", long, value_name = "SIZE", value_parser = memory)]
    pub memfree: Option<u64>,
    /// Start a job only while fewer threads than N run on this machine; 100% is one thread for each core
    ///
    /// This option only delays starts and kills nothing. Threads of all programs count. 0 waits until no thread runs
    #[arg(help_heading = "How many at once", long, value_name = "N", allow_hyphen_values = true)]
    pub load: Option<JobSlots>,
    /// Lend cores that no job holds to make, cargo, gcc and ninja in running jobs
    ///
    /// These programs start further processes only with a token from the jobserver of GNU make. A token stands for one
    /// core. While a core is lent, no job starts on it. Jobs are not pinned to cores
    #[arg(help_heading = "How many at once", long, value_name = "FORM", conflicts_with = "pin")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "pipe")]
    pub jobserver: Option<JobserverForm>,
    /// Run the jobs in this folder, which is created if it does not exist
    ///
    /// The list, the folder of the run and the files of other options are still relative to the current folder
    #[arg(
        help_heading = "Environment",
        long,
        visible_alias = "workdir",
        value_name = "DIR",
        conflicts_with = "scratch"
    )]
    pub wd: Option<PathBuf>,
    /// Refuse to run unless this variable is exported; jobs get all exported variables
    ///
    /// May be given several times. NAME may be an exported function of bash
    #[arg(help_heading = "Environment", long, value_name = "NAME")]
    pub env: Vec<String>,
    /// Niceness of the jobs, from -20 to 19, unless Makespan has a higher niceness
    #[arg(help_heading = "Environment", long, value_name = "N", allow_hyphen_values = true)]
    #[arg(value_parser = clap::value_parser!(i32).range(-20..=19))]
    pub nice: Option<i32>,
}

impl SettingOptions {
    /// Applies these options to the options of a run on this machine, which has `processors` processors.
    pub fn apply(&self, options: &mut ExecuteOptions, processors: u32) -> Result<()> {
        if self.delay.is_some() || self.memfree.is_some() || self.load.is_some() {
            let load = self.load.map(|load| if load == JobSlots::All { 1 } else { load.of(processors, 0) });
            let delay = self.delay.map_or(Duration::ZERO, |WaitTime(delay)| delay);
            options.hold = Some(StartHold { delay, free_memory: self.memfree, load });
        }
        options.jobserver = self.jobserver.map(JobserverForm::style);
        let folder = self.wd.as_deref().map(folder).transpose()?;
        options.setting = JobSetting { folder, niceness: self.nice };
        self.env.iter().try_for_each(|name| check_exported(name))
    }

    /// Returns the first given option that applies only to processes on this machine.
    pub fn of_this_machine(&self) -> Option<&'static str> {
        let given = [
            ("--delay", self.delay.is_some()),
            ("--memfree", self.memfree.is_some()),
            ("--load", self.load.is_some()),
            ("--jobserver", self.jobserver.is_some()),
            ("--wd", self.wd.is_some()),
            ("--nice", self.nice.is_some()),
        ];
        given.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }
}

/// Reads an amount of memory with the units of GNU parallel or of Makespan.
fn memory(text: &str) -> Result<u64, String> {
    const UNITS: &str = "KMGTP";
    let unit = text.chars().last().filter(|_| text.len() > 1);
    let power = unit.and_then(|unit| UNITS.find(unit.to_ascii_uppercase())).map(|index| index as u32 + 1);
    let (Some(unit), Some(power)) = (unit, power) else { return parse_amount(text) };
    let base: u64 = if unit.is_ascii_uppercase() { 1024 } else { 1000 };
    let number = parse_amount(&text[..text.len() - 1])?;
    number.checked_mul(base.pow(power)).ok_or_else(|| format!("`{text}` is too much; at most 2^63 - 1 is supported"))
}

/// Returns the absolute path of the folder of the jobs.
fn folder(path: &Path) -> Result<PathBuf> {
    let name = path.display().to_string();
    if name == "..." {
        return Err(miette!(
            "--wd ...: a folder for each job is not supported; create the folder in the command: mkdir -p DIR && cd \
             DIR && .."
        ));
    }
    if is_template(&name) {
        return Err(miette!(
            "--wd {name}: all jobs run in one folder; use the replacement string in the command: cd {name} && .."
        ));
    }
    if path.exists() && !path.is_dir() {
        return Err(miette!("--wd {name}: this path is a file; name a folder"));
    }
    std::path::absolute(path).map_err(|error| miette!("--wd {name}: {error}"))
}

/// Returns true if a text contains a replacement string.
fn is_template(text: &str) -> bool {
    let inside = text.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(inside, _)| inside);
    let is_mark = |inside: &str| {
        let kind = inside.trim_start_matches(|digit: char| digit.is_ascii_digit());
        ["", ".", "/", "//", "/.", "#", "%"].contains(&kind)
    };
    inside.into_iter().any(is_mark)
}

/// Returns an error if jobs would not get the variable.
fn check_exported(name: &str) -> Result<()> {
    let is_exported = |name: &str| std::env::var_os(name).is_some();
    if name == "_" || !name.contains(['=', '\0']) && (is_exported(name) || is_exported(&format!("BASH_FUNC_{name}%%")))
    {
        return Ok(());
    }
    Err(miette!("--env {name}: no variable of this name is exported, so jobs would not have it; write: export {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_the_units_of_both_programs() {
        for (text, bytes) in
            [("1K", 1 << 10), ("2G", 2 << 30), ("3m", 3_000_000), ("1GiB", 1 << 30), ("5MB", 5_000_000), ("7", 7)]
        {
            assert_eq!(memory(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "x", "-1G", "1.5x", "99999999P"] {
            assert!(memory(text).is_err(), "{text}");
        }
    }

    #[test]
    fn one_folder_is_for_all_jobs() {
        assert!(["p{}", "{1}/x", "{//}", "a{#}"].into_iter().all(|text| folder(Path::new(text)).is_err()));
        assert!(folder(Path::new("...")).is_err() && folder(Path::new("/dev/null")).is_err());
        assert!(
            ["a{b}", "${x}", "a b"]
                .into_iter()
                .all(|text| folder(Path::new(text)).is_ok_and(|path| path.is_absolute()))
        );
    }
}
