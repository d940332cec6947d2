//! What a text looks like that no format claims at once: a list of commands, TOML, or something that is not read.

use crate::format::Format;

/// All that is read, for messages.
pub(crate) const KNOWN: &str = "a list of shell commands, native JSON or TOML, SWF, Batsim, sacct --parsable2, ETC, a moldable set, WfFormat, DAX, \
                                STG, DOT, XML of compound jobs, PSPLIB (.sm, .mm, .rcp), or by its name a Makefile (.mk, .mak) or a Snakefile (.smk)";

/// Endings of lists, besides none at all.
const LISTS: [&str; 12] =
    ["txt", "list", "lst", "sh", "cmd", "cmds", "command", "commands", "job", "jobs", "tasks", "parallel"];

/// Endings of what is never a list, with what it is.
const OTHERS: [(&str, &str); 6] = [
    ("yaml", "YAML"),
    ("yml", "YAML"),
    ("csv", "CSV"),
    ("tsv", "a table with tabs"),
    ("md", "Markdown"),
    ("html", "HTML"),
];

/// Most bytes of a line that is looked at.
const LOOKED: usize = 4096;

/// The format of a text that no other format claims, by the ending of its name and by its first lines.
///
/// # Errors
/// What it seems to be, and what would be right.
pub(crate) fn list_or_toml(text: &[u8], ending: Option<&str>) -> Result<Format, String> {
    let first = first_line(text);
    if text.iter().take(LOOKED).any(|&byte| byte == 0 || (byte < 0x20 && !byte.is_ascii_whitespace() && byte != 0x1b)) {
        return Err(format!("the file is no text but bytes of some other kind; give {KNOWN}"));
    }
    if let Some((_, what)) = OTHERS.iter().find(|(other, _)| Some(*other) == ending) {
        return Err(not_read(what));
    }
    if is_toml(&first) {
        return Ok(Format::Toml);
    }
    let listed = ending.is_none_or(|ending| LISTS.contains(&ending));
    if first.split('\t').any(|name| name == "realtime") {
        return Err(
            "this is a trace of Nextflow, which goes with its graph in DOT: plan FILE.dot --nextflow-trace TRACE"
                .into(),
        );
    }
    if let Some(what) = other(text, &first) {
        return Err(not_read(what));
    }
    if listed {
        return Ok(Format::List);
    }
    Err(format!(
        "the format is not known; give {KNOWN}. A list of commands has the ending .txt, .list, .sh, .cmds or .jobs, or none"
    ))
}

fn not_read(what: &str) -> String {
    format!("this is {what}, which is not read; give {KNOWN}")
}

/// The first line that is neither blank nor a comment.
fn first_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(16 * LOOKED)]);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
    line.chars().take(LOOKED).collect()
}

/// Whether a line is a header or a pair of TOML: a shell has no blanks around `=`, and begins its tests with `[ `.
fn is_toml(line: &str) -> bool {
    let name = |text: &str| {
        let text = text.trim().trim_matches(['"', '\'']);
        !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-. \"'".contains(c))
    };
    if let Some(header) = line.strip_prefix('[') {
        let header = header.strip_prefix('[').unwrap_or(header).split('#').next().unwrap_or_default().trim_end();
        let inner = header.trim_end_matches(']');
        return inner.len() < header.len() && name(inner) && !inner.starts_with([' ', '-']);
    }
    match line.split_once('=') {
        Some((key, value)) if !key.trim().contains(' ') && name(key) => {
            let apart = key.ends_with(' ') && !key.trim().is_empty();
            let top =
                ["version", "platform", "jobs", "unavailable"].contains(&key.trim()) || key.starts_with("platform.");
            // `version=2` alone is a pair of either; a command follows an assignment of a shell.
            apart || top && !value.trim().contains(' ') || top && value.trim_start().starts_with(['{', '['])
        }
        _ => false,
    }
}

/// What else a text seems to be.
fn other(text: &[u8], first: &str) -> Option<&'static str> {
    let shebang = text.starts_with(b"#!");
    if shebang {
        return Some("a script (it begins with `#!`; `makespan run -- ./FILE` runs it as one job)");
    }
    if is_yaml(first) {
        return Some("YAML");
    }
    if is_csv(text, first) {
        return Some("CSV");
    }
    None
}

/// `---`, `key:` or `key: value`, where no command could be: a word ends with the colon.
fn is_yaml(line: &str) -> bool {
    if line == "---" || line.starts_with("--- ") || line.starts_with("%YAML") || line.starts_with("- ") {
        return true;
    }
    let key = line.split_once(':').filter(|(_, rest)| rest.is_empty() || rest.starts_with(' '));
    // `: a` does nothing in a shell, and is a command.
    key.is_some_and(|(key, _)| !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-\"'".contains(c)))
}

/// Two lines or more with equally many commas, or semicolons, between cells without blanks around.
fn is_csv(text: &[u8], first: &str) -> bool {
    let text = String::from_utf8_lossy(&text[..text.len().min(16 * LOOKED)]);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(3).collect();
    [',', ';', '\t'].iter().any(|&mark| {
        let count = first.matches(mark).count();
        let cells = first.split(mark).all(|cell| !cell.trim().contains(char::is_whitespace) && cell.len() < 64);
        count >= 1 && lines.len() >= 2 && cells && lines.iter().all(|line| line.matches(mark).count() == count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_what_is_not_read() {
        let look = |text: &str, ending: Option<&str>| list_or_toml(text.as_bytes(), ending);
        for list in [
            "echo a\n",
            "# comment\nsleep 1\n",
            "FOO=1 ./x\n",
            "X=2\n",
            "[ -f a ] && b\n",
            "[[ a = b ]] && c\n",
            "if true; then a; fi\n",
            ": nothing\n",
            "a,b c\n",
            "./a;./b\n",
            "7z a b\n",
            "version=2 make\n",
            "#: cores=2\nx = y\n\t b\n",
            "cp a,b c,d\n",
        ] {
            let found = look(list, Some("txt"));
            let expected = if list.contains("x = y") { Format::Toml } else { Format::List };
            assert_eq!(found, Ok(expected), "{list}");
        }
        assert_eq!(look("echo a\n", None), Ok(Format::List));
        for toml in [
            "version = 1\n",
            "[platform]\nprocessors = 3",
            "[[jobs]]\n",
            "[ platform ]\n",
            "vesion = 3",
            "version=2\n",
            "platform.processors=3",
            "platform={processors = 3}",
        ] {
            let found = look(toml, None);
            let expected = if toml.starts_with("[ ") { Format::List } else { Format::Toml };
            assert_eq!(found, Ok(expected), "{toml}");
        }
        for (text, ending, what) in [
            ("jobs:\n - name: a\n", Some("txt"), "YAML"),
            ("---\na: b\n", None, "YAML"),
            ("a b\n", Some("yaml"), "YAML"),
            ("name,time\na,3\n", Some("txt"), "CSV"),
            ("name;time\na;3\n", None, "CSV"),
            ("a b\n", Some("csv"), "CSV"),
            ("#!/bin/sh\nfor i in a; do\n", Some("sh"), "a script"),
            ("words in a book\n", Some("md"), "Markdown"),
            ("words\n", Some("rs"), "the format is not known"),
            ("a\0b", None, "no text"),
        ] {
            let error = look(text, ending).unwrap_err();
            assert!(error.contains(what) && error.contains("a list of"), "{text}: {error}");
        }
    }
}
