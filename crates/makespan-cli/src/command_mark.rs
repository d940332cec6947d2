//! Inserts a missing `--` before the command on the command line. GNU parallel does not need this `--`.

use std::ffi::OsString;

use clap::{Arg, Command};

use crate::args::SOURCES;

/// The identifier of the option that names files of arguments.
const FILES: &str = "args_from";

/// Returns the words of a command line. Inserts a missing `--` before the command if its arguments follow `:::` or a
/// similar word, or come from files (`--args-from`).
pub fn with_mark(mut words: Vec<OsString>, program: impl FnOnce() -> Command) -> Vec<OsString> {
    let mark = words.iter().position(|word| SOURCES.iter().any(|mark| word == mark));
    let may_name_files = |word: &OsString| word.to_string_lossy().starts_with('-');
    if mark.is_none() && !words.iter().any(may_name_files) {
        return words;
    }
    let program = program();
    let takes_command = |command: &&Command| command.get_arguments().any(Arg::is_last_set);
    let verb = words.get(1).and_then(|word| program.find_subcommand(word)).filter(takes_command);
    let Some(verb) = verb else { return words };
    let (mut at, mut has_arguments, end) = (2, mark.is_some(), mark.unwrap_or(words.len()));
    if words[..end].iter().any(|word| word == "--") {
        return words;
    }
    while at < end {
        let word = words[at].to_string_lossy().into_owned();
        let Some((option, is_next_value)) = option(&word, verb) else {
            if has_arguments {
                words.insert(at, "--".into());
            }
            return words;
        };
        has_arguments |= option.is_some_and(|option| option.get_id() == FILES);
        at += 1 + usize::from(is_next_value);
    }
    words
}

/// Parses a word of a command line. Returns `None` if the word is no option. Otherwise, returns two values: the option
/// if it takes a value, and true if this value is the next word.
fn option<'a>(word: &str, verb: &'a Command) -> Option<(Option<&'a Arg>, bool)> {
    let with_value = |is_meant: &dyn Fn(&Arg) -> bool| {
        verb.get_arguments().find(|arg| is_meant(arg)).filter(|arg| arg.get_action().takes_values())
    };
    if let Some(option) = word.strip_prefix("--") {
        let (name, is_whole) = option.split_once('=').map_or((option, true), |(name, _)| (name, false));
        let is_called = |arg: &Arg| {
            arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
        };
        let found = with_value(&is_called);
        let takes_next = found.is_some_and(|option| !option.is_require_equals_set());
        return Some((found, is_whole && takes_next));
    }
    let options = word.strip_prefix('-').filter(|options| !options.is_empty())?;
    for (place, short) in options.char_indices() {
        let is_called = |arg: &Arg| {
            arg.get_short() == Some(short) || arg.get_all_short_aliases().is_some_and(|all| all.contains(&short))
        };
        if let Some(found) = with_value(&is_called) {
            return Some((Some(found), place + short.len_utf8() == options.len()));
        }
    }
    Some((None, false))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Arguments;

    #[test]
    fn the_mark_is_inserted_before_a_command_with_arguments() {
        for (line, expected) in [
            ("run echo ::: a", "run -- echo ::: a"),
            ("run -k -j 3 --tag echo {} ::: a", "run -k -j 3 --tag -- echo {} ::: a"),
            ("run -P 2 echo ::: a", "run -P 2 -- echo ::: a"),
            ("run -kP 2 -a f echo", "run -kP 2 -a f -- echo"),
            ("run --max-procs 2 echo ::: a", "run --max-procs 2 -- echo ::: a"),
            ("run -kj3 --jobs=2 --folder x echo :::: f", "run -kj3 --jobs=2 --folder x -- echo :::: f"),
            ("run --lb echo ::: -- a", "run --lb -- echo ::: -- a"),
            ("run -a f -kN2 echo {}", "run -a f -kN2 -- echo {}"),
            ("run --args-from=f echo {}", "run --args-from=f -- echo {}"),
            ("run --jobserver echo ::: a", "run --jobserver -- echo ::: a"),
            ("run --jobserver=fifo echo ::: a", "run --jobserver=fifo -- echo ::: a"),
            ("run -ka- echo", "run -ka- -- echo"),
            ("run x.txt --args-from f", "run x.txt --args-from f"),
            ("run -A list x.txt", "run -A list x.txt"),
            ("run -- echo ::: a", "run -- echo ::: a"),
            ("run l.txt -- echo ::: a", "run l.txt -- echo ::: a"),
            ("run l.txt --resume", "run l.txt --resume"),
            ("plan x.toml", "plan x.toml"),
            ("bound x ::: a", "bound x ::: a"),
        ] {
            let words = format!("makespan {line}").split(' ').map(OsString::from).collect();
            let expected: Vec<OsString> = format!("makespan {expected}").split(' ').map(OsString::from).collect();
            assert_eq!(with_mark(words, Arguments::command), expected, "{line}");
        }
    }
}
