//! Finds the prose in a file: comments, messages and paragraphs.

/// The kind of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Comment,
    /// A string in source code with at least two words.
    Message,
    Paragraph,
}

/// A piece of prose. A placeholder replaces code in backquotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    pub kind: Kind,
    /// Number of the first line, counted from 1.
    pub line: usize,
    pub text: String,
}

/// The syntax that marks prose in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `//`, `/* */` and strings in double quotes.
    Rust,
    /// `//` and `/* */`, but not strings.
    Script,
    /// `#` at the beginning of a line.
    Shell,
    Markdown,
}

impl Language {
    /// Returns the language of a file, or `None` if the file contains no prose.
    pub fn of(file: &str) -> Option<Self> {
        let name = file.rsplit('/').next().unwrap_or(file);
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("rs") => Some(Self::Rust),
            Some("js" | "mjs" | "css") => Some(Self::Script),
            Some("md") => Some(Self::Markdown),
            Some("py" | "pyi" | "sh" | "toml") => Some(Self::Shell),
            None if file == "check" || file == "justfile" || file == ".ci/run" => Some(Self::Shell),
            None if file.starts_with("scripts/") || name == "run" => Some(Self::Shell),
            _ => None,
        }
    }
}

/// Returns all passages of a text.
pub fn passages(language: Language, text: &str) -> Vec<Passage> {
    match language {
        Language::Markdown => paragraphs(text),
        Language::Shell => {
            let comment = |line: &str| {
                line.trim_start().strip_prefix('#').map(|rest| rest.trim_start_matches(['#', '!']).to_owned())
            };
            joined(text.lines().map(comment), Kind::Comment)
        }
        Language::Rust | Language::Script => {
            let (comments, strings) = scanned(text, language == Language::Rust);
            let mut all = joined(comments.into_iter(), Kind::Comment);
            all.extend(strings.into_iter().filter(|(_, text)| is_message(text)).map(|(line, text)| Passage {
                kind: Kind::Message,
                line,
                text: prose(&text),
            }));
            all
        }
    }
}

/// Returns true if a string has at least two words of letters.
fn is_message(text: &str) -> bool {
    text.split(' ')
        .filter(|word| word.len() > 1 && word.chars().all(|c| c.is_alphabetic() || ",.;:'".contains(c)))
        .count()
        > 1
}

/// Joins consecutive comment lines into passages. An empty comment or a code fence ends a passage.
fn joined(lines: impl Iterator<Item = Option<String>>, kind: Kind) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let (mut open, mut fenced) = (false, false);
    for (index, line) in lines.enumerate() {
        let Some(line) = line else {
            (open, fenced) = (false, false);
            continue;
        };
        let text = line.trim();
        if text.starts_with("```") {
            (open, fenced) = (false, !fenced);
        } else if fenced || text.is_empty() || text.starts_with("# ") || line.starts_with("     ") {
            open = false;
        } else if open && !text.starts_with(['*', '-', '|']) {
            let last = passages.last_mut().unwrap();
            last.text = format!("{} {text}", last.text);
        } else {
            passages.push(Passage {
                kind,
                line: index + 1,
                text: text.trim_start_matches(['*', '-', '|', ' ']).to_owned(),
            });
            open = true;
        }
    }
    passages.iter_mut().for_each(|passage| passage.text = prose(&passage.text));
    passages
}

/// Returns the paragraphs, list items and table cells of a document, without code.
fn paragraphs(text: &str) -> Vec<Passage> {
    let line = |line: &str| (!line.starts_with("    ") && !line.starts_with('#')).then(|| line.to_owned());
    let mut fenced = false;
    let lines = text.lines().map(|text| {
        let fence = text.trim_start().starts_with("```");
        fenced ^= fence;
        if fenced || fence { None } else { line(text) }
    });
    let mut all = joined(lines, Kind::Paragraph);
    // Each cell of a table is a separate passage.
    let cells = all.iter().filter(|passage| passage.text.contains(" | "));
    let cells: Vec<Passage> = cells
        .flat_map(|row| row.text.split(" | ").map(|cell| Passage { text: cell.trim().to_owned(), ..row.clone() }))
        .collect();
    all.retain(|passage| !passage.text.contains(" | "));
    all.extend(cells);
    all
}

/// Replaces code in backquotes by a placeholder, and removes the targets of links, since these are not prose.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for (index, part) in text.split('`').enumerate() {
        out += if index % 2 == 0 { part } else { "`x`" };
    }
    while let Some((before, rest)) = out.split_once("](") {
        let after = rest.split_once(')').map_or("", |(_, after)| after);
        out = format!("{before}] {after}");
    }
    let plain = out.replace("**", "").replace(['[', ']'], "");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the comment of each line, and all strings with their line numbers.
fn scanned(text: &str, strings_too: bool) -> (Vec<Option<String>>, Vec<(usize, String)>) {
    let mut comments = Vec::new();
    let mut strings = Vec::new();
    let (mut in_block, mut string): (bool, Option<(usize, String, usize)>) = (false, None);
    for (index, line) in text.lines().enumerate() {
        let mut comment = None;
        let mut rest = line;
        while !rest.is_empty() {
            if let Some((start, mut so_far, hashes)) = string.take() {
                let end =
                    if hashes == 0 { end_of_string(rest) } else { rest.find(&format!("\"{}", "#".repeat(hashes - 1))) };
                let part = &rest[..end.unwrap_or(rest.len())];
                so_far += part.trim_start().trim_end_matches('\\');
                let Some(end) = end else {
                    so_far.push(' ');
                    string = Some((start, so_far, hashes));
                    break;
                };
                strings.push((start, so_far.replace("\\n", ". ").replace("\\\"", "\"")));
                rest = &rest[end + hashes.max(1)..];
            } else if in_block {
                let (body, after) = rest.split_once("*/").map_or((rest, None), |(body, after)| (body, Some(after)));
                comment = Some(body.trim_start().trim_start_matches('*').to_owned());
                in_block = after.is_none();
                rest = after.unwrap_or("");
            } else if let Some(body) = rest.strip_prefix("//") {
                comment = Some(body.trim_start_matches(['/', '!']).to_owned());
                break;
            } else if let Some(body) = rest.strip_prefix("/*") {
                in_block = true;
                rest = body;
            } else if strings_too && rest.starts_with("r#") && rest.trim_start_matches(['r', '#']).starts_with('"') {
                let hashes = rest[1..].bytes().take_while(|&byte| byte == b'#').count();
                string = Some((index + 1, String::new(), hashes + 1));
                rest = &rest[hashes + 2..];
            } else if let Some(body) = rest.strip_prefix('"') {
                if strings_too {
                    string = Some((index + 1, String::new(), 0));
                    rest = body;
                } else {
                    rest = end_of_string(body).map_or("", |end| &body[end + 1..]);
                }
            } else if let Some(body) = rest.strip_prefix("'\"'").or(rest.strip_prefix("'\\\"'")) {
                rest = body;
            } else {
                let first = rest.chars().next().unwrap().len_utf8();
                rest = rest[first..].find(['"', '/', '\'', 'r']).map_or("", |next| &rest[first + next..]);
            }
        }
        comments.push(comment);
    }
    (comments, strings)
}

/// Returns the position of the quote that ends a string. Skips escaped quotes.
pub fn end_of_string(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}
