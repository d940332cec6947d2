//! Placeholders for arguments in a template.

use super::super::shell::{Scanner, ShellContext, quoted, within_double, within_single};
use super::TemplateError;

#[derive(Clone, Debug)]
pub(super) struct Placeholder {
    /// Text of the placeholder.
    pub(super) text: String,
    /// Index of the source, from 0, or `None` for all sources.
    pub(super) source: Option<usize>,
    pub(super) part: ArgumentPart,
    within: ShellContext,
    /// True if `$NAME` precedes the placeholder, so that the inserted text could become a part of the name.
    follows_name: bool,
    /// True if `<` or `>` follows the placeholder, so that an inserted number could become the number of a file
    /// descriptor.
    is_redirected: bool,
}

/// Part of the argument that is inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgumentPart {
    Whole,
    WithoutEnding,
    Name,
    Folder,
    Stem,
    /// Number of the command instead of an argument.
    Number,
}

impl Placeholder {
    pub(super) fn new(text: String, source: Option<usize>, part: ArgumentPart, within: ShellContext) -> Self {
        Self { text, source, part, within, follows_name: false, is_redirected: false }
    }

    /// Sets the fields that depend on the text before and after the placeholder.
    pub(super) fn between(mut self, front: &str, back: &str) -> Self {
        let name = front.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        self.follows_name = name.len() < front.len() && name.ends_with('$');
        self.is_redirected = back.starts_with(['<', '>']);
        self
    }

    /// Appends the inserted text to `line`. If the text before or after the placeholder could merge with the inserted
    /// text, also inserts an empty quotation.
    pub(super) fn fill(&self, number: usize, arguments: &[&str], line: &mut String) {
        let empty = match self.within {
            ShellContext::Words => "''",
            ShellContext::Double => "\"\"",
            _ => "",
        };
        if self.follows_name {
            *line += empty;
        }
        self.put(number, arguments, line);
        if self.is_redirected && self.within == ShellContext::Words {
            *line += empty;
        }
    }

    fn put(&self, number: usize, arguments: &[&str], line: &mut String) {
        if self.part == ArgumentPart::Number {
            *line += &number.to_string();
            return;
        }
        let arguments = match self.source {
            // An argument may be missing in the last group, or in a line with few columns.
            Some(source) => arguments.get(source..=source).unwrap_or_default(),
            None => arguments,
        };
        for (at, argument) in arguments.iter().enumerate() {
            if at > 0 {
                line.push(' ');
            }
            let part = self.part.of(argument);
            *line += &match self.within {
                ShellContext::Single => within_single(part),
                ShellContext::Double => within_double(part),
                _ => quoted(part),
            };
        }
    }
}

impl ArgumentPart {
    /// Returns the part of an argument, by the rules of GNU parallel 20221122. An extension begins at the last dot of
    /// the name, even if this dot is the first character of the name. A text that ends with a slash is a folder with an
    /// empty name.
    fn of(self, argument: &str) -> &str {
        let name = &argument[argument.rfind('/').map_or(0, |at| at + 1)..];
        let stem = &name[..name.rfind('.').unwrap_or(name.len())];
        match self {
            Self::Whole | Self::Number => argument,
            Self::WithoutEnding => &argument[..argument.len() - name.len() + stem.len()],
            Self::Name => name,
            Self::Folder => folder(argument),
            Self::Stem => stem,
        }
    }
}

/// Returns the folder of a path, as `dirname` does.
fn folder(path: &str) -> &str {
    let inner = path.trim_end_matches('/');
    match inner.rfind('/') {
        Some(at) => Some(inner[..at].trim_end_matches('/')).filter(|folder| !folder.is_empty()).unwrap_or("/"),
        None if inner.is_empty() && !path.is_empty() => "/",
        None => ".",
    }
}

/// Returns the placeholder at the beginning of a text: its text, source and part.
pub(super) fn placeholder(text: &str) -> Option<(String, Option<usize>, ArgumentPart)> {
    // No placeholder has more than 7 bytes between its braces.
    let inner = text.get(1..)?.split('}').next().filter(|inner| inner.len() < 8 && inner.len() + 1 < text.len())?;
    let digits = inner.len() - inner.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let part = match &inner[digits..] {
        "" => ArgumentPart::Whole,
        "." => ArgumentPart::WithoutEnding,
        "/" => ArgumentPart::Name,
        "//" => ArgumentPart::Folder,
        "/." => ArgumentPart::Stem,
        "#" if digits == 0 => ArgumentPart::Number,
        _ => return None,
    };
    let source = match &inner[..digits] {
        "" => None,
        number => Some(number.parse::<usize>().ok()?.checked_sub(1)?),
    };
    Some((format!("{{{inner}}}"), source, part))
}

/// Returns the unsupported replacement string of GNU parallel with which a text begins, and an alternative to this
/// string.
pub(super) fn foreign(text: &str) -> Option<(&str, &'static str)> {
    let inner = text.strip_prefix('{')?;
    if inner.starts_with('=') {
        let end = inner.find("=}").filter(|&end| end > 0)?;
        return Some((&text[..end + 3], "change the argument in the shell, for example: x={}; echo \"${x#a}\""));
    }
    let end = inner.find('}')?;
    let position = inner[..end].strip_prefix('-').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    if position.is_some_and(|part| ["", ".", "/", "//", "/."].contains(&part)) && inner.len() > 1 && end > 1 {
        return Some((&text[..end + 2], "count the sources from the first, such as {1}"));
    }
    let remedy = match inner[..end].trim_start_matches(|c: char| c.is_ascii_digit()) {
        "%" => "use {#}, the number of the command, which is unique",
        "##" => "count the arguments yourself, and write their number",
        ".." => "remove both endings in the shell, for example: x={}; x=${x%.*}; echo ${x%.*}",
        "+/" => "use {//} for the folder, or {/} for the name",
        _ => return None,
    };
    Some((&text[..end + 2], remedy))
}

/// Returns the placeholder, or an error if no quotation can make its argument one word.
pub(super) fn safe(
    (text, source, part): (String, Option<usize>, ArgumentPart),
    scanner: &Scanner,
) -> Result<Placeholder, TemplateError> {
    let unsafe_frames = [
        ShellContext::Dollar,
        ShellContext::Backquotes,
        ShellContext::Expansion,
        ShellContext::Arithmetic,
        ShellContext::Comment,
    ];
    if part != ArgumentPart::Number
        && let Some(within) = unsafe_frames.into_iter().find(|within| scanner.is_inside(*within))
    {
        return Err(refused(text, within));
    }
    if part != ArgumentPart::Number && scanner.is_escaped() {
        let (within, remedy) = ("after a backslash", "remove the backslash, because arguments are always quoted");
        return Err(TemplateError::Unsafe { place: text, within, remedy });
    }
    Ok(Placeholder::new(text, source, part, scanner.within()))
}

pub(super) fn refused(place: String, within: ShellContext) -> TemplateError {
    let (within, remedy) = match within {
        ShellContext::Dollar => ("in $'..'", "write '..' instead"),
        ShellContext::Backquotes => ("between backquotes", "write $(..) instead"),
        ShellContext::Expansion => ("in ${..}", "assign it to a variable first, for example: x={}; echo ${x}"),
        ShellContext::Arithmetic => ("in $((..))", "assign it to a variable first, for example: x={}; echo $((x))"),
        _ => ("in a comment", "remove the comment"),
    };
    TemplateError::Unsafe { place, within, remedy }
}
