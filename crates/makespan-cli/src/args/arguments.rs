//! The options that state the arguments of a template and the maximum number of jobs at once.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

/// Options that name the sources of arguments and state how to combine them.
#[derive(Args, Clone)]
pub struct ArgumentOptions {
    /// Read arguments from a file, one per line; - is standard input
    ///
    /// May be given several times. Each file is an additional source of arguments, before the sources that follow the
    /// command. `:::: FILE` after the command has the same effect
    #[arg(help_heading = "Arguments", long, short = 'a', alias = "arg-file", value_name = "FILE")]
    pub args_from: Vec<PathBuf>,
    /// Arguments in files end with a NUL byte, as `find -print0` writes them
    #[arg(help_heading = "Arguments", short = '0', long)]
    pub null: bool,
    /// Link all sources of arguments, and repeat the arguments of shorter sources
    ///
    /// Without this option, the sources form all combinations. `:::+` and `::::+` link one source to the source before,
    /// and stop at the end of the shorter one
    #[arg(help_heading = "Arguments", long, alias = "xapply")]
    pub link: bool,
    /// Split each argument into columns {1} {2} .. at this regular expression
    ///
    /// Blanks around columns are removed. {} stands for all columns. Without arguments, -C DIR runs DIR/build.ninja
    #[arg(help_heading = "Arguments", long, short = 'C', value_name = "REGEX", allow_hyphen_values = true)]
    pub colsep: Option<String>,
    /// Give N arguments to each command: {1} {2} .. are the arguments of one group
    ///
    /// The last group may be shorter; its missing arguments are empty. -N 0 runs the command once for each argument,
    /// and inserts no argument
    #[arg(help_heading = "Arguments", short = 'N', long, alias = "max-replace-args", value_name = "N")]
    pub max_args: Option<usize>,
    /// Run nothing if there are no arguments; Makespan always does this
    ///
    /// The option exists for users of xargs, which runs the command once if this option is missing
    #[arg(help_heading = "Arguments", short = 'r', long)]
    pub no_run_if_empty: bool,
}

impl ArgumentOptions {
    /// Returns true if an option is given that is meaningful only with a command template.
    pub fn is_stated(&self) -> bool {
        !self.args_from.is_empty() || self.link || self.colsep.is_some() || self.max_args.is_some()
    }
}

/// The maximum number of jobs at once, in the notation of GNU parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobSlots {
    /// An absolute number.
    Count(u32),
    /// One slot for each job.
    All,
    /// The number of processors plus this difference.
    Beyond(i32),
    /// A percentage of the processors.
    Percent(u32),
}

impl JobSlots {
    /// Returns the number of slots, at least 1, for a machine with `processors` processors and an instance with
    /// `tasks` tasks.
    pub fn of(self, processors: u32, tasks: u64) -> u32 {
        let count = match self {
            Self::Count(count) => u64::from(count),
            Self::All => tasks,
            Self::Beyond(more) => u64::from(processors.saturating_add_signed(more)),
            Self::Percent(percent) => u64::from(processors) * u64::from(percent) / 100,
        };
        u32::try_from(count).unwrap_or(u32::MAX).clamp(1, makespan_core::Platform::MAX_PROCESSORS)
    }
}

impl std::fmt::Display for JobSlots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::All => write!(f, "0"),
            Self::Beyond(more) => write!(f, "{more:+}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl FromStr for JobSlots {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "write a number of jobs (such as 8), 0 (all jobs at once), +N or -N (N more or fewer jobs than \
                     cores), or a percentage of the cores (200%: two jobs per core)";
        let number = |digits: &str| {
            let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_plain.then(|| digits.parse::<u32>().ok()).flatten().filter(|&count| i32::try_from(count).is_ok())
        };
        let signed = |digits: &str| number(digits).and_then(|count| i32::try_from(count).ok());
        let read = if let Some(digits) = text.strip_suffix('%') {
            number(digits).filter(|&percent| percent > 0).map(Self::Percent)
        } else if let Some(digits) = text.strip_prefix('+') {
            signed(digits).map(Self::Beyond)
        } else if let Some(digits) = text.strip_prefix('-') {
            signed(digits).map(|count| Self::Beyond(-count))
        } else {
            number(text).map(|count| if count == 0 { Self::All } else { Self::Count(count) })
        };
        read.ok_or(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_counted_as_gnu_parallel_counts_them() {
        for (text, slots) in [("3", 3), ("0", 40), ("+1", 5), ("-1", 3), ("-9", 1), ("200%", 8), ("50%", 2), ("1%", 1)]
        {
            let read: JobSlots = text.parse().unwrap();
            assert_eq!(read.of(4, 40), slots, "{text}");
            assert_eq!(read.to_string(), text);
        }
        for text in ["", "x", "1.5", "%", "0%", "++1", "+", "-", "99999999999"] {
            assert!(text.parse::<JobSlots>().is_err(), "{text}");
        }
    }
}
