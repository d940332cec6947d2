//! The main function and the commands of `makespan`.

use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use miette::Result;
use nix::sys::signal::{SigSet, Signal};

use crate::args::{Arguments, Command};
use crate::entry::{enter, unknown_argument};
use crate::{commands, makefile, ninja};

/// Runs the command line of `makespan` and returns the exit status.
pub fn main() -> ExitCode {
    // A write beyond `ulimit -f` then fails, as on a full disk, and does not kill this process. Threads inherit the blocked
    // signal. Jobs begin without blocked signals.
    let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
    enter(explain, error_status, carry_out)
}

/// Returns the exit status of `run` after an error. This status is larger than every number of failed jobs that `run`
/// can return.
fn error_status(words: &[String]) -> Option<u8> {
    (words.first().map(String::as_str) == Some("run")).then_some(commands::run::ERROR)
}

fn carry_out(arguments: &Arguments) -> Result<ExitCode> {
    match &arguments.command {
        Command::Plan(options) => commands::plan::plan(options),
        Command::Bound(options) => commands::bound::bound(options),
        Command::Verify(options) => commands::verify::verify(options),
        Command::Compare(options) => commands::compare::compare(options),
        Command::Simulate(options) => commands::simulate::simulate(options),
        Command::Where(options) => commands::where_first::find(options),
        Command::Report(options) => commands::report::report(options),
        Command::Run(options) => commands::run::run(options),
        Command::Status(options) => commands::run::show_status(options),
        #[cfg(feature = "service")]
        Command::Serve(options) => commands::serve::serve(options),
        #[cfg(feature = "service")]
        Command::Submit(options) => commands::service::submit(options),
        Command::Queue(options) => commands::queue::queue(options),
        Command::Job(options) => commands::inspect::job(options),
        #[cfg(feature = "service")]
        Command::Cancel(options) => commands::service::change(options, "cancel"),
        #[cfg(feature = "service")]
        Command::Hold(options) => commands::service::change(options, "hold"),
        #[cfg(feature = "service")]
        Command::Release(options) => commands::service::change(options, "release"),
        Command::Logs(options) => commands::inspect::logs(options),
        #[cfg(feature = "service")]
        Command::Wait(options) => commands::service::wait(options),
        #[cfg(feature = "service")]
        Command::Token(options) => commands::service::token(options),
        #[cfg(feature = "service")]
        Command::Service(options) => commands::service::operate(options),
        Command::Agent(options) => commands::agent::agent(options),
        Command::Shard(options) => commands::compare::shard(options),
        Command::Profile(options) => commands::profile::profile(options),
        Command::History(options) => commands::history::history(options),
        Command::Slurm(options) => commands::slurm::slurm(options),
        Command::Generate(options) => commands::generate::generate(options),
        Command::Convert(options) => commands::convert::convert(options),
        Command::Algorithms(options) => commands::algorithms::algorithms(options),
        Command::Completions { shell } => commands::setup::completions(&Arguments::command(), *shell),
        Command::Setup(options) => commands::setup::setup(&Arguments::command(), options),
    }
}

/// Returns a message for an error in the command line, if the advice to the user depends on the command.
fn explain(error: &clap::Error, words: &[String]) -> Option<String> {
    let command = words.first().map_or("", String::as_str);
    if let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
        && name == "reproduce"
    {
        return Some(
            "error: unrecognized subcommand 'reproduce'; `makespan reproduce NAME` is now `makespan-lab NAME`, such as: makespan-lab \
             demt; `cargo build --release -p makespan-lab` builds it"
                .into(),
        );
    }
    #[cfg(not(feature = "service"))]
    if let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
        && ["serve", "submit", "cancel", "hold", "release", "wait", "token", "service"].contains(&name.as_str())
    {
        return Some(format!(
            "error: `{name}` needs the feature `service`, but this makespan was built without it; build makespan with the default features"
        ));
    }
    if let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
        && words.first() == Some(name)
        && ["backup", "restore", "user", "reservation"].contains(&name.as_str())
    {
        return Some(format!("error: unrecognized subcommand '{name}'; write: makespan service {name}"));
    }
    if command == "submit" && unknown_argument(error).is_some_and(|word| word.split('=').next() == Some("--store")) {
        return Some(
            "error: submit has no option '--store'; name the store in the variable, as in: MAKESPAN_STORE=FOLDER makespan submit .., \
             or the service with --url and --token-file"
                .into(),
        );
    }
    match command {
        "run" => explain_run(error, words),
        "queue" => explain_queue(error),
        _ => None,
    }
}

/// Options of xargs and GNU parallel that `run` does not have, and what to write instead.
const FOREIGN: [(&[&str], &str); 26] = [
    (
        &["-n", "--max-lines", "-L", "-l"],
        "each command gets one argument; to give each command 2 arguments, write -N 2",
    ),
    (&["-I", "-i", "--replace"], "`{}` always stands for the argument; remove the option"),
    (&["-t", "-v", "--trace"], "--dry-run prints the commands, and --joblog FILE records them"),
    (&["-u", "--ungroup"], "--line-buffer prints lines as they come"),
    (&["--group", "--will-cite", "--citation", "--bibtex", "--gnu", "--silent", "--record-env"], "remove the option"),
    (
        &["-X", "-m", "-x", "-s", "--xargs", "--exit", "--max-chars"],
        "state the number of arguments of each command, such as -N 100",
    ),
    (
        &[
            "--pipe",
            "--pipepart",
            "--pipe-part",
            "--block",
            "--spreadstdin",
            "--cat",
            "--fifo",
            "--recstart",
            "--recend",
        ],
        "jobs read no standard input; split the input into files, and run the command for each file",
    ),
    (
        &[
            "-S",
            "--sshlogin",
            "--sshloginfile",
            "--slf",
            "--transfer",
            "--transferfile",
            "--return",
            "--cleanup",
            "--trc",
            "--basefile",
            "--onall",
            "--nonall",
        ],
        "jobs run on this machine, or on a Slurm cluster with --on slurm",
    ),
    (&["--files", "--tmpdir", "--compress"], "the outputs of the jobs are files in the folder of the run (--folder)"),
    (&["--tmux", "--bg"], "`makespan status` and `makespan logs` show a run from another terminal"),
    (&["-p", "--interactive"], "to see the commands without running them, add --dry-run"),
    (
        &["-E", "-e", "--eof"],
        "remove the arguments from the end marker on, for example with: sed '/^END$/,$d' FILE | makespan run -a - ..",
    ),
    (&["--filter"], "select the arguments, for example with: grep .. FILE | makespan run -a - .."),
    (
        &["--csv"],
        "--colsep , splits arguments at commas, also within quotation marks; otherwise use another separator, such as a tab: --colsep '\\t'",
    ),
    (
        &["--plus", "--rpl"],
        "compute other parts of an argument in the command, such as: -- 'x={}; echo \"${x%.tar.gz}\"'",
    ),
    (
        &["--noswap", "--memsuspend", "--limit"],
        "--memfree SIZE and --load PERCENT delay starts while the machine is busy",
    ),
    (&["--termseq"], "the signals cannot be changed: jobs that must end get SIGTERM, and SIGKILL after 5 s"),
    (&["--arg-sep", "--arg-file-sep"], "write ::: before arguments, and :::: before files of arguments"),
    (&["--shebang", "--hashbang"], "write the commands to a list, or in a script after: makespan run - <<'END'"),
    (
        &["--fg", "--semaphore", "--sem"],
        "to add commands one by one, start `makespan serve`, and add each with `makespan submit`",
    ),
    (
        &["-d", "--delimiter"],
        "arguments are separated by line ends, or with -0 by NUL bytes; convert other separators, for example with: \
         tr , '\\n' | makespan run -a - ..",
    ),
    (&["--resume-failed"], "write --resume --retry-failed"),
    (
        &["--header", "--skip-first-line"],
        "skip the first line, for example with: tail -n +2 FILE | makespan run -a - ..",
    ),
    (
        &["--trim"],
        "--colsep removes the blanks around columns; remove other blanks from the arguments, for example with sed",
    ),
    (
        &["--quote"],
        "arguments are always quoted, and no shell interprets a command of several words; remove the option",
    ),
    (&["--tagstring"], "--tag begins each line with the arguments of its job"),
];

fn explain_run(error: &clap::Error, words: &[String]) -> Option<String> {
    let unknown = unknown_argument(error).map(|word| word.split('=').next().unwrap_or(word));
    if let Some((option, remedy)) = unknown.and_then(|word| Some((word, foreign(word)?))) {
        return Some(format!("error: makespan has no option '{option}': {remedy}"));
    }
    let goal = unknown_argument(error).filter(|word| !word.starts_with('-'));
    if let Some((file, goal)) = makefile_of(words).zip(goal) {
        return Some(format!(
            "error: unexpected argument '{goal}' found; to build a goal other than the default of a makefile or of ninja, write this goal after --: \
             makespan run {file} -- {goal}"
        ));
    }
    if let (Some(word), Some(first)) = (goal, words.get(1).filter(|first| !first.starts_with('-'))) {
        return Some(format!(
            "error: unexpected argument '{word}' found; write -- before a command of several words: makespan run -- {first} {word}; \
             to run it for each line of standard input: makespan run -a - -- {first} {word}"
        ));
    }
    let message = error.to_string();
    match error.kind() {
        ErrorKind::MissingRequiredArgument
            if message.split("Usage:").next().is_some_and(|missing| missing.contains("<INSTANCE")) =>
        {
            Some(
                "error: there is nothing to run; name a list of commands, - for a list on \
                standard input, or a command: makespan run -- 'gzip -9 {}' ::: *.txt\n\nFor more information, try '--help'."
                    .into(),
            )
        }
        _ => None,
    }
}

/// Returns what to write instead of an option of xargs or GNU parallel.
fn foreign(option: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(options, _)| options.contains(&option)).map(|(_, remedy)| *remedy)
}

fn explain_queue(error: &clap::Error) -> Option<String> {
    let message = error.to_string();
    (error.kind() == ErrorKind::ArgumentConflict && message.contains("'--state")).then(|| {
        format!(
            "{}: --state selects jobs of a service, but the queue of a cluster has only pending and running jobs; \
             remove --state",
            message.lines().next().unwrap_or_default()
        )
    })
}

/// Returns the first argument that is a makefile or a manifest of ninja, if there is one.
fn makefile_of(words: &[String]) -> Option<&str> {
    let is_build = |word: &&str| makefile::is_makefile(Path::new(word)) || ninja::is_ninja(Path::new(word));
    words.iter().map(String::as_str).find(is_build)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn options_of_other_programs_have_a_remedy() {
        for (option, remedy) in
            FOREIGN.iter().flat_map(|(options, remedy)| options.iter().map(move |one| (one, remedy)))
        {
            let words = ["makespan", "run", option, "--", "true"];
            let error = Arguments::try_parse_from(words).err().unwrap_or_else(|| panic!("`run` has {option}"));
            let words: Vec<String> = words[1..].iter().map(ToString::to_string).collect();
            let message = explain(&error, &words).unwrap_or_default();
            assert!(message.contains(option) && message.contains(remedy), "{option}: {message}");
        }
    }
}
