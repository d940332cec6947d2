//! The short help of `run`: the most important options, on one screen. `--help` lists all options.

use clap::{Arg, ArgAction};

/// Usage of `run`.
pub const USAGE: &str = "makespan run [OPTIONS] LIST\n       makespan run [OPTIONS] -- 'COMMAND {}' ::: ARGUMENT..";
/// Last line of the short help.
pub const MORE: &str = "All options, notes in lists and makefiles: makespan run --help";

/// Options of the short help with their headings, in the order of the help. Each text replaces the text of `--help`,
/// which may be longer.
const SHORT: [(&str, &[(&str, &str)]); 6] = [
    (
        "Arguments",
        &[
            ("instance", "A list of shell commands, one per line; - reads stdin"),
            ("template", "A command with {}, then ::: and its arguments"),
            ("args_from", "Read arguments from a file, one per line"),
        ],
    ),
    (
        "How many at once",
        &[
            ("jobs", "Run at most N jobs at once"),
            ("processors", "Number of cores to use [default: all cores]"),
            ("pin", "Pin each job to its cores"),
        ],
    ),
    (
        "When a job fails",
        &[
            ("retry", "Run a failed job up to N more times"),
            ("halt", "End the run early, such as now,fail=1 or soon,fail=10%"),
            ("timeout", "Time limit of each job, such as 90s or 2h"),
            ("resume", "Continue the latest run and skip ended jobs"),
            ("retry_failed", "With --resume, run failed jobs again"),
        ],
    ),
    (
        "Output",
        &[
            ("keep_order", "Print outputs in the order of the list"),
            ("line_buffer", "Print lines as they come"),
            ("tag", "Begin each line with the arguments of its job"),
            ("quiet", "Print only errors and the line `result:`"),
            ("joblog", "Write a line for each job that ends"),
            ("dry_run", "Print the commands and run nothing"),
            ("folder", "Folder of the run [default: runs/NAME-1, NAME-2 ..]"),
        ],
    ),
    (
        "Slurm",
        &[
            ("on", "Run on slurm, slurm:jobs, sge*CORES or ssh:HOST,.."),
            ("nodes", "Number of nodes [default: 1]"),
            ("time", "Time limit of an allocation, such as 2h"),
        ],
    ),
    ("Planning", &[("algorithm", "Algorithm that plans [default: optimise]")]),
];

/// Headings of the long help for options that the short help leaves out.
const LONG: [(&str, &[&str]); 3] = [
    ("Arguments", &["null", "format", "strict"]),
    ("How many at once", &["cores_per_job", "oversubscribe"]),
    ("Planning", &["policy", "domains", "seed", "history", "no_history", "memory"]),
];
const OTHER: &str = "Other options";

/// Sets the heading, text and position of an argument of `run`. An argument that `SHORT` does not contain is hidden
/// from the short help.
pub fn placed(arg: Arg) -> Arg {
    let entries = SHORT.iter().flat_map(|(heading, entries)| entries.iter().map(move |entry| (*heading, entry)));
    let Some((order, (heading, (_, text)))) = entries.enumerate().find(|(_, (_, (id, _)))| arg.get_id() == *id) else {
        let stated = LONG.iter().find(|(_, ids)| ids.contains(&arg.get_id().as_str())).map(|(heading, _)| *heading);
        let arg = arg.hide_short_help(true);
        return match (stated, arg.get_help_heading()) {
            (Some(heading), _) => arg.help_heading(heading),
            (None, Some("Failures and resuming")) => arg.help_heading("When a job fails"),
            (None, Some(_)) => arg,
            (None, None) => arg.help_heading(OTHER),
        };
    };
    let long = arg.get_long_help().or_else(|| arg.get_help()).cloned();
    let arg = if arg.get_id() == "template" { arg.value_name("COMMAND") } else { arg };
    let arg = match long {
        Some(long) => arg.long_help(long),
        None => arg,
    };
    let arg = arg.help(*text).help_heading(heading).display_order(order);
    if arg.get_action().takes_values() { arg.hide_possible_values(true).hide_default_value(true) } else { arg }
}

/// Returns the option that prints the help of `run`.
pub fn option() -> Arg {
    Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::Help)
        .help("Print help; -h prints a short help")
        .help_heading(OTHER)
        .hide_short_help(true)
}

#[cfg(test)]
mod tests {
    use clap::{Args, CommandFactory};

    use super::*;
    use crate::args::{Arguments, RunOptions};

    fn help(option: &str) -> String {
        Arguments::command().try_get_matches_from(["makespan", "run", option]).unwrap_err().to_string()
    }

    #[test]
    fn the_short_help_fits_one_screen() {
        let short = help("-h");
        let lines: Vec<&str> = short.lines().collect();
        assert!((24..=40).contains(&lines.len()), "{} lines:\n{short}", lines.len());
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{short}");
        let at: Vec<usize> = SHORT.iter().map(|(heading, _)| short.find(&format!("{heading}:")).unwrap()).collect();
        assert!(at.is_sorted(), "{short}");
        for word in ["SimGrid", "ETC", " log", "bandwidth"] {
            assert!(!short.contains(word), "{word}:\n{short}");
        }
    }

    #[test]
    fn the_long_help_has_every_option_and_its_text() {
        let long = help("--help");
        let all = RunOptions::augment_args(clap::Command::new("run"));
        for arg in all.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let first = arg.get_help().unwrap().to_string();
            let first = first.lines().next().unwrap();
            assert!(long.contains(first), "{first}");
        }
        for (id, _) in SHORT.iter().flat_map(|(_, entries)| *entries) {
            assert!(all.get_arguments().any(|arg| arg.get_id() == *id), "{id}");
        }
    }
}
