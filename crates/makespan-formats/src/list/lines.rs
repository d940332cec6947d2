//! A text as commands, each with what is noted of it.

use super::notes::Notes;
use super::shell::{Scanner, Within};
use crate::error::Place;

/// Linux gives a program no argument of more bytes.
pub(super) const LONGEST: usize = 128 * 1024 - 1;

/// One command of a list.
#[derive(Debug)]
pub(super) struct Command {
    /// The line on which it begins, from 1.
    pub line: usize,
    /// What the shell runs, on one line, without a comment at its end.
    pub text: String,
    pub notes: Notes,
}

/// What is wrong, and where.
#[derive(Debug)]
pub(super) struct Wrong {
    pub place: Place,
    pub problem: String,
}

impl Wrong {
    pub(super) fn at(line: usize, problem: impl Into<String>) -> Self {
        Self { place: Place::line(line), problem: problem.into() }
    }
}

/// The commands of a list, in its order.
pub(super) fn commands(text: &str) -> Result<Vec<Command>, Wrong> {
    let mut lines = (1..).zip(text.lines());
    let (mut commands, mut notes) = (Vec::new(), Notes::default());
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
        commands.push(Command { line: number, text, notes: std::mem::take(&mut notes) });
    }
    match notes.line() {
        Some(line) => {
            Err(Wrong::at(line, "no command follows this note; write it before a command, or at the end of its line"))
        }
        None => Ok(commands),
    }
}

/// What is noted at the end of a command, and on which line.
type Note = Option<(usize, String)>;

/// The command that begins on a line, with the lines that continue it.
fn command<'a>(
    first: usize,
    line: &'a str,
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
) -> Result<(String, Note), Wrong> {
    let (mut scanner, mut text, mut part) = (Scanner::default(), String::new(), (first, line));
    let note = loop {
        let (number, line) = part;
        let comment = scan(&mut scanner, line, number, &mut text);
        if text.len() > LONGEST {
            let problem = format!("the command is longer than {LONGEST} bytes, the most that a program can be given");
            return Err(Wrong::at(first, problem));
        }
        if let Some(comment) = comment {
            break comment.strip_prefix("#:").map(|note| (number, note.to_owned()));
        }
        let continued = scanner.is_escaped() && scanner.within() != Within::Single && text.ends_with('\\');
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
        let place = Place { line: Some(line), column: Some(column), field: None };
        let problem = format!(
            "the quotation that `{mark}` begins does not end on its line; a command is one line, or ends its lines with \\"
        );
        return Err(Wrong { place, problem });
    }
    if let Some((line, column)) = scanner.here_document {
        let place = Place { line: Some(line), column: Some(column), field: None };
        let problem = "`<<` begins a here-document, which needs more lines than a command of a list has; write the text to a file first";
        return Err(Wrong { place, problem: problem.into() });
    }
    let end = text.trim_end().len();
    // A blank that was escaped belongs to its word.
    let backslashes = end - text[..end].trim_end_matches('\\').len();
    let escaped = text[end..].chars().next().filter(|_| backslashes % 2 == 1);
    text.truncate(end + escaped.map_or(0, char::len_utf8));
    if text.contains('\0') {
        return Err(Wrong::at(first, "the command holds a NUL byte, which no argument can; remove it"));
    }
    Ok((text, note))
}

/// Reads a line behind `text`; the comment at its end, which is not added.
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

/// Words with which no command begins, but a line of a script does.
const WITHIN: [&str; 8] = ["do", "done", "then", "else", "elif", "fi", "esac", "}"];

/// A file whose commands go over several lines is a script.
fn refuse_scripts(line: usize, text: &str) -> Result<(), Wrong> {
    let first = text.split(|c: char| c.is_whitespace() || c == ';').next().unwrap_or_default();
    if WITHIN.contains(&first) {
        let problem = format!(
            "`{first}` goes on with a command of earlier lines, and each line of a list is a command; write it on one line, \
             or run the whole as a script: sh FILE"
        );
        return Err(Wrong::at(line, problem));
    }
    Ok(())
}
