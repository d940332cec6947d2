//! Errors of Slurm's programs.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use thiserror::Error;

use super::capture::Problem;
use super::{Program, Refusal};

/// Remedy for a refusal by a batch system other than Slurm.
const OTHER_REMEDY: &str = "run the command by hand, and correct the options or the description of the batch system";

/// Returns the name of the batch system of a program, for messages.
fn system_of(program: Program) -> &'static str {
    if matches!(program, Program::Named(_)) { "the batch system" } else { "Slurm" }
}

/// Returns the remedy for output with an unknown format.
fn nonsense_remedy(program: Program) -> String {
    if matches!(program, Program::Named(_)) {
        return "check the expression `submit.id` in the description of the batch system".into();
    }
    format!(
        "check that the program is Slurm's own (`type {program}`), and report its output with `{program} --version`"
    )
}

/// An error of a command, with Slurm's message and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CommandError {
    /// The program was not found.
    #[error(
        "cannot run `{program}`: there is no such program on PATH; either {} is not installed on this machine, or \
         its commands are in another folder: use a login node, or add the folder to PATH",
        system_of(*program)
    )]
    Missing {
        /// The program that was not found.
        program: Program,
    },
    /// The program could not be started.
    #[error("cannot run `{command}`: {problem}; check that you may execute the program")]
    Start {
        /// The command with its arguments.
        command: String,
        /// The error of the operating system.
        problem: String,
    },
    /// The program did not end in time and was killed.
    #[error(
        "`{command}` did not end within {} s{said}; the controller is overloaded or the network is slow; try again later",
        (limit.as_secs_f64() * 10.0).round() / 10.0
    )]
    TimedOut {
        /// The command with its arguments.
        command: String,
        /// The time limit.
        limit: Duration,
        /// A colon and the output of the command so far. Empty if there is no output.
        said: String,
    },
    /// A signal ended the program.
    #[error("`{command}` was ended by signal {signal}{said}; try again")]
    Killed {
        /// The command with its arguments.
        command: String,
        /// The number of the signal.
        signal: i32,
        /// A colon and the output of the command so far. Empty if there is no output.
        said: String,
    },
    /// Slurm refused the request.
    #[error("`{command}`: {said}{tried}; {}", if *is_of_slurm { refusal.remedy() } else { OTHER_REMEDY })]
    Refused {
        /// The command with its arguments.
        command: String,
        /// Slurm's message, on one line.
        said: String,
        /// The time for which the request was repeated, as text. Empty if it was not repeated.
        tried: String,
        /// The meaning of the message.
        refusal: Refusal,
        /// True if the program belongs to Slurm.
        is_of_slurm: bool,
    },
    /// The output of the program has an unknown format.
    #[error(
        "`{command}` printed output that cannot be understood: {problem}; {}",
        nonsense_remedy(*program)
    )]
    Nonsense {
        /// The command with its arguments.
        command: String,
        /// The program with the unknown output.
        program: Program,
        /// The problem and its position.
        problem: String,
    },
}

impl CommandError {
    /// Returns the meaning of a refusal, or `None` for other errors.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            Self::Refused { refusal, .. } => Some(*refusal),
            _ => None,
        }
    }

    /// Returns true if the same request may succeed a little later.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::TimedOut { .. }) || self.refusal().is_some_and(Refusal::is_passing)
    }

    /// Returns true if Slurm may have performed the request although it sent no answer.
    pub fn is_ambiguous(&self) -> bool {
        matches!(self, Self::TimedOut { .. } | Self::Killed { .. } | Self::Nonsense { .. })
            || self.refusal().is_some_and(Refusal::is_ambiguous)
    }

    /// Returns an error for output that has an unknown format.
    pub fn nonsense<A: AsRef<OsStr>>(program: Program, arguments: &[A], problem: impl Into<String>) -> Self {
        Self::Nonsense { command: line(program, arguments), program, problem: problem.into() }
    }

    /// Returns true if it is safe to run the program again after this error.
    pub(super) fn can_be_repeated(&self, program: Program) -> bool {
        self.is_passing() && !(program.makes() && self.is_ambiguous())
    }

    pub(super) fn of_capture(problem: Problem, program: Program, command: &str, limit: Duration) -> Self {
        let command = command.to_owned();
        match problem {
            Problem::Start(error) if error.kind() == ErrorKind::NotFound => Self::Missing { program },
            Problem::Start(error) => Self::Start { command, problem: error.to_string() },
            Problem::TimedOut(said) => {
                Self::TimedOut { command, limit, said: behind_a_colon(&one_line(&String::from_utf8_lossy(&said))) }
            }
            Problem::TooMuch => Self::Nonsense { command, program, problem: "the output is larger than 1 GiB".into() },
        }
    }

    /// Returns the error for a program that ended without success.
    pub(super) fn refused(program: Program, command: &str, status: ExitStatus, out: &str, err: &str) -> Self {
        // If a program prints nothing to standard error, the last line of standard output may contain the reason for
        // the failure.
        let last = out.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let said = [err, last].map(one_line).into_iter().find(|said| !said.is_empty());
        if let Some(signal) = status.signal() {
            return Self::Killed {
                command: command.to_owned(),
                signal,
                said: behind_a_colon(&said.unwrap_or_default()),
            };
        }
        let code = status.code().unwrap_or_default();
        let said = said.unwrap_or_else(|| format!("the command ended with status {code} and printed no message"));
        let (refusal, is_of_slurm) = (Refusal::of(&said), !matches!(program, Program::Named(_)));
        Self::Refused { command: command.to_owned(), said, tried: String::new(), refusal, is_of_slurm }
    }

    /// Adds to the error the time during which the request was repeated.
    pub(super) fn after(mut self, time: Duration) -> Self {
        if let Self::Refused { tried, refusal, .. } = &mut self
            && refusal.is_passing()
            && time >= Duration::from_secs(1)
        {
            *tried = format!(" (for {} s)", time.as_secs());
        }
        self
    }
}

/// Formats a command for messages. Long commands are shortened.
pub(super) fn line<A: AsRef<OsStr>>(program: Program, arguments: &[A]) -> String {
    const MAX_CHARACTERS: usize = 200;
    let words = arguments.iter().map(|argument| argument.as_ref().to_string_lossy().into_owned());
    let line: String = std::iter::once(program.name().to_owned()).chain(words).collect::<Vec<_>>().join(" ");
    cut(&line, MAX_CHARACTERS)
}

/// Returns the messages of a program on one line, without its name and without repeated messages.
fn one_line(said: &str) -> String {
    const MAX_CHARACTERS: usize = 600;
    let mut parts: Vec<&str> = Vec::new();
    // A line with `fatal` contains the reason for the failure. So all other lines are left out.
    let is_last_word = |line: &&str| line.contains(": fatal: ");
    let has_last_word = said.lines().any(|line| is_last_word(&line));
    for part in said.lines().filter(|line| !has_last_word || is_last_word(line)).map(|line| without_prefix(line.trim()))
    {
        if !part.is_empty() && !parts.contains(&part) {
            parts.push(part);
        }
    }
    cut(&parts.join(" / "), MAX_CHARACTERS)
}

fn behind_a_colon(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

/// Removes a prefix such as `sbatch: error: `.
fn without_prefix(line: &str) -> &str {
    let Some((program, rest)) = line.split_once(": ") else { return line };
    if !Program::ALL.iter().any(|known| known.name() == program) {
        return line;
    }
    rest.strip_prefix("error: ").or_else(|| rest.strip_prefix("fatal: ")).unwrap_or(rest)
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{} ..", &text[..at]),
        None => text.to_owned(),
    }
}
