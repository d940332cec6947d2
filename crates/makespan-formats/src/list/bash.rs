//! Finds words of bash that other shells may not know.

use super::lines::commands;
use super::shell::{Scanner, ShellContext};

/// Each command that needs bash contains one of these texts.
const MARKS: [&str; 6] = ["[[", "<(", "source", "..", "module", "conda"];

/// Words after which a command begins.
const BEFORE: [&str; 10] = ["!", "{", "if", "then", "elif", "else", "while", "until", "do", "time"];

/// Placeholder for a character that is quoted or part of an expansion.
const QUOTED: char = '\u{1}';

/// Maximum number of additional lines that a warning lists.
const LISTED: usize = 5;

/// Returns a warning if a shell command contains a word of bash outside quotations.
pub fn bash_warning(command: &str) -> Option<String> {
    let word = bash_word(command)?;
    Some(format!(
        "`{word}` is a feature of bash, but sh runs the command and may not support this feature; write \
         bash -lc 'COMMAND', or begin the list with #!/bin/bash -l"
    ))
}

/// Returns the line of the first command that contains a word of bash, and a warning about all lines with words of
/// bash.
pub(crate) fn bash_lines(text: &str) -> Option<(usize, String)> {
    if !is_marked(text) {
        return None;
    }
    let commands = commands(text, 1).ok()?;
    let mut found = commands.iter().filter_map(|command| Some((command.line, bash_warning(&command.text)?)));
    let (line, warning) = found.next()?;
    let others: Vec<String> = found.map(|(line, _)| line.to_string()).collect();
    let lines = others[..others.len().min(LISTED)].join(", ");
    let more = match others.len() {
        0 => String::new(),
        1 => format!(". This also applies to line {lines}"),
        2..=LISTED => format!(". This also applies to lines {lines}"),
        count => format!(". This also applies to lines {lines} and {} more", count - LISTED),
    };
    Some((line, format!("{warning}{more}")))
}

fn is_marked(text: &str) -> bool {
    MARKS.iter().any(|mark| text.contains(mark))
}

/// Returns the first word of bash in a shell command.
fn bash_word(command: &str) -> Option<String> {
    if !is_marked(command) {
        return None;
    }
    let plain = unquoted(command);
    let first = plain.split([';', '|', '&', '(', ')', '\n']).find_map(first_word);
    let found = first.or_else(|| plain.contains("<(").then_some("<(")).or_else(|| range(&plain));
    found.map(str::to_owned)
}

/// Returns the first word of a simple command, if it is a word of bash.
fn first_word(command: &str) -> Option<&str> {
    let is_before = |word: &&str| BEFORE.contains(word) || word.contains('=');
    let mut words = command.split_whitespace().skip_while(is_before);
    match (words.next()?, words.next()) {
        ("[[", _) => Some("[["),
        ("source", Some(_)) => Some("source"),
        ("module", Some("load")) => Some("module load"),
        ("conda", Some("activate")) => Some("conda activate"),
        _ => None,
    }
}

/// Returns the first range in braces, such as `{1..9}`.
fn range(plain: &str) -> Option<&str> {
    let is_end = |end: &&str| {
        let digits = end.strip_prefix('-').unwrap_or(end);
        let is_letter = end.len() == 1 && end.bytes().all(|byte| byte.is_ascii_alphabetic());
        is_letter || !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    plain.match_indices('{').find_map(|(at, _)| {
        let inner = plain[at + 1..].split_once('}')?.0;
        let ends: Vec<&str> = inner.split("..").collect();
        ((2..=3).contains(&ends.len()) && ends.iter().all(is_end)).then(|| &plain[at..at + inner.len() + 2])
    })
}

/// Replaces each character that is quoted or part of an expansion by [`QUOTED`].
fn unquoted(command: &str) -> String {
    let mut scanner = Scanner::default();
    let plain = (1..).zip(command.chars()).map(|(column, c)| {
        let is_plain = scanner.within() == ShellContext::Words && !scanner.is_escaped();
        let is_expansion = scanner.follows_dollar() && c != '(';
        scanner.read(c, (1, column));
        if is_plain && !is_expansion && !matches!(c, '\'' | '"' | '`' | '\\') { c } else { QUOTED }
    });
    plain.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_words_of_bash_outside_quotations() {
        for (command, word) in [
            ("[[ -f a ]] && cat a", Some("[[")),
            ("true && [[ $x = 1 ]]", Some("[[")),
            ("if ! [[ -f a ]]; then ls; fi", Some("[[")),
            ("diff <(sort a) b", Some("<(")),
            ("source env.sh; make", Some("source")),
            ("A=1 source env.sh", Some("source")),
            ("echo $(source env.sh; echo a)", Some("source")),
            ("cat {1..9}.txt", Some("{1..9}")),
            ("echo {a..e} x{-1..10..2}", Some("{a..e}")),
            ("module load gcc && make", Some("module load")),
            ("cd x; conda activate y", Some("conda activate")),
            ("bash -c '[[ -f a ]]'", None),
            ("echo \"[[ <(a) {1..9}\" \\[[", None),
            ("grep [[:digit:]] a", None),
            ("[ -f a ] && ls ../{b,c}", None),
            ("echo ${x#..} $((1<(2)))", None),
            ("ls source module; gcc source.c", None),
            ("module avail; conda list; echo module load", None),
            ("echo {1...9} {..} {a..bc}", None),
            ("sort < (a", None),
        ] {
            assert_eq!(bash_word(command).as_deref(), word, "{command}");
        }
    }

    #[test]
    fn a_list_gives_one_warning_with_lines() {
        assert_eq!(bash_lines("echo a\nls ..\n"), None);
        let (line, warning) = bash_lines("echo a\n\n[[ a = b ]] #: cores=1\nsource x\n").unwrap();
        assert!(line == 3 && warning.contains("`[[`") && warning.ends_with("applies to line 4"), "{warning}");
        let (_, warning) = bash_lines(&"source x\n".repeat(9)).unwrap();
        assert!(warning.ends_with("applies to lines 2, 3, 4, 5, 6 and 3 more"), "{warning}");
    }
}
