//! Splits the text of a list into commands and their notes.

use super::notes::CommandNotes;
use super::shell::{Scanner, ShellContext};
use super::wrong::ListProblem;
use crate::error::FilePlace;

/// Maximum length of an argument on Linux, in bytes.
pub(super) const LONGEST: usize = 128 * 1024 - 1;

/// One command of a list.
#[derive(Debug)]
pub(super) struct ListCommand {
    /// First line of the command, from 1.
    pub line: usize,
    /// Command for the shell, on one line and without a comment at its end.
    pub text: String,
    pub notes: CommandNotes,
}

/// Returns the commands of a list, in their order. `first` is the number of the first line of the text.
pub(super) fn commands(text: &str, first: usize) -> Result<Vec<ListCommand>, ListProblem> {
    let mut lines = (first..).zip(text.lines());
    let (mut commands, mut notes) = (Vec::new(), CommandNotes::default());
    while let Some((number, line)) = lines.next() {
        let line = line.trim_start();
        if let Some(note) = line.strip_prefix("#:") {
            notes.add(note, number)?;
            continue;
        }
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (text, note) = command(number, line, &mut lines)?;
        refuse_scripts(number, &text)?;
        if let Some((at, note)) = note {
            notes.add(&note, at)?;
        }
        if text.is_empty() {
            continue;
        }
        commands.push(ListCommand { line: number, text, notes: std::mem::take(&mut notes) });
    }
    match notes.line() {
        Some(line) => Err(ListProblem::at(
            line,
            "no command follows this note; write the note before a command, or at the end of the line of a command",
        )),
        None => Ok(commands),
    }
}

/// Note at the end of a command, and the line number of the note.
type Note = Option<(usize, String)>;

/// Reads the command that begins on a line, and its continuation lines.
fn command<'a>(
    first: usize,
    line: &'a str,
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
) -> Result<(String, Note), ListProblem> {
    let (mut scanner, mut text, mut part) = (Scanner::default(), String::new(), (first, line));
    let note = loop {
        let (number, line) = part;
        let comment = scan(&mut scanner, line, number, &mut text);
        if text.len() > LONGEST {
            let problem =
                format!("the command is longer than {LONGEST} bytes, the maximum for an argument of a program");
            return Err(ListProblem::at(first, problem));
        }
        if let Some(comment) = comment {
            break comment.strip_prefix("#:").map(|note| (number, note.to_owned()));
        }
        let continued = scanner.is_escaped() && scanner.within() != ShellContext::Single && text.ends_with('\\');
        if !continued {
            break None;
        }
        text.pop();
        scanner.join();
        match lines.next() {
            Some((number, next)) => part = (number, next),
            None => break None,
        }
    };
    if let Some((mark, line, column)) = scanner.open_quotation() {
        let place = FilePlace { line: Some(line), column: Some(column), field: None };
        let problem = format!(
            "the quote `{mark}` is not closed on its line; write the command on one line, or end its lines with \\"
        );
        return Err(ListProblem { place, problem });
    }
    if let Some((line, column)) = scanner.here_document {
        let place = FilePlace { line: Some(line), column: Some(column), field: None };
        let problem = "`<<` begins a here-document, but each command of a list is one line; write the text to a file \
                       first";
        return Err(ListProblem { place, problem: problem.into() });
    }
    if let Some((mark, line, column)) = scanner.open_command() {
        let place = FilePlace { line: Some(line), column: Some(column), field: None };
        let problem = format!("the command that begins with `{mark}` {GOES_ON}");
        return Err(ListProblem { place, problem });
    }
    if let Some(operator) = scanner.operator() {
        return Err(ListProblem::at(part.0, format!("a command that ends with `{operator}` {GOES_ON}")));
    }
    let end = text.trim_end().len();
    // An escaped blank is a part of a word, so it is not removed.
    let backslashes = end - text[..end].trim_end_matches('\\').len();
    let escaped = text[end..].chars().next().filter(|_| backslashes % 2 == 1);
    text.truncate(end + escaped.map_or(0, char::len_utf8));
    if text.contains('\0') {
        return Err(ListProblem::at(
            first,
            "the command contains a NUL byte, which arguments cannot contain; remove it",
        ));
    }
    Ok((text, note))
}

/// Appends a line to `text`, without a comment at the end of the line. Returns the comment.
fn scan<'a>(scanner: &mut Scanner, line: &'a str, number: usize, text: &mut String) -> Option<&'a str> {
    for (column, (at, c)) in (1..).zip(line.char_indices()) {
        if c == '#' && scanner.may_begin_comment() {
            return Some(&line[at..]);
        }
        scanner.read(c, (number, column));
        text.push(c);
    }
    None
}

/// Reason in errors about a line that is not a complete command.
const GOES_ON: &str = "continues on the next line, but each line of a list is a command; write the command on one \
                       line, or end its lines with \\";

/// Words that can begin a line in a script, but cannot begin a command.
const WITHIN: [&str; 11] = ["do", "done", "then", "else", "elif", "fi", "esac", "}", "&&", "||", "|"];

/// First words and last words of commands that can extend over several lines.
const COMPOUND: [(&str, &str); 7] = [
    ("if", "fi"),
    ("for", "done"),
    ("while", "done"),
    ("until", "done"),
    ("select", "done"),
    ("case", "esac"),
    ("{", "}"),
];

/// Commands that only affect the shell in which they run.
const OF_THE_SHELL: [&str; 11] =
    ["cd", "pushd", "popd", "export", "set", "unset", "alias", "unalias", "umask", "ulimit", "shopt"];

/// Returns an error if the file is a script and not a list. In a script, a command may extend over several lines, or
/// may affect later commands.
fn refuse_scripts(line: usize, text: &str) -> Result<(), ListProblem> {
    let first = text.split(|c: char| c.is_whitespace() || c == ';').next().unwrap_or_default();
    let alone = !text.contains([';', '&', '|', '>', '<', '(', '`', '\n']);
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let assigns = first.split_once('=').is_some_and(|(name, _)| is_name(name)) && first == text.trim_end();
    if alone && (OF_THE_SHELL.contains(&first) || assigns) {
        let problem = format!(
            "`{first}` alone has no effect on the next lines: each line of a list runs in its own shell; write it on \
             the line of the command that needs it, such as `{} && ..`",
            text.trim_end()
        );
        return Err(ListProblem::at(line, problem));
    }
    let defines =
        text.split_once('(').is_some_and(|(name, rest)| is_name(name.trim_end()) && rest.trim_start().starts_with(')'));
    if defines || first == "function" {
        let problem = "the other lines cannot use this function, because each line of a list runs in its own shell; \
                       write the function and its calls to a script, and run the script with: sh FILE";
        return Err(ListProblem::at(line, problem));
    }
    let ends = |last: &str| text.split(|c: char| c.is_whitespace() || ";&|()".contains(c)).any(|word| word == last);
    if let Some((_, last)) = COMPOUND.iter().find(|(opens, last)| *opens == first && !ends(last)) {
        return Err(ListProblem::at(
            line,
            format!("the command begins with `{first}` but does not end with `{last}`, so it {GOES_ON}"),
        ));
    }
    if WITHIN.contains(&first) {
        let problem = format!(
            "`{first}` continues a command of earlier lines, but each line of a list is a command; write the command \
             on one line, or run the whole file as a script: sh FILE"
        );
        return Err(ListProblem::at(line, problem));
    }
    Ok(())
}
