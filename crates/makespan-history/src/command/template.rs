//! Commands with holes in place of their variable parts.

use super::words::{Part, Role, is_name};

/// Text of a hole.
const HOLE: &str = "{}";

/// A command with holes in place of numbers, paths and file names, together with the texts that fill the holes. Judging by their
/// text, commands with the same template do the same work with different arguments.
///
/// These texts become holes: numbers with or without a unit; words with a slash, a wildcard or an extension such as `.txt`; such
/// a number or name after `--option=`, `name=` or `-j`; and digits within other words. The program does not become a hole, nor
/// does the script that an interpreter runs.
///
/// ```
/// use makespan_history::Command;
///
/// let line = "python3 train.py --epochs 10 --rate=0.1 data/a.csv > a.log";
/// let template = Command::new(["sh", "-c", line].map(str::to_owned).to_vec()).template();
/// assert_eq!(template.text, "python3 train.py --epochs {} --rate={} {} > {}");
/// assert_eq!(template.arguments, ["10", "0.1", "data/a.csv", "a.log"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// The command with `{}` for each hole.
    pub text: String,
    /// Texts that fill the holes, in order of position.
    pub arguments: Vec<String>,
}

impl Template {
    pub(super) fn of(parts: &[Part<'_>]) -> Self {
        let mut template = Self::default();
        for Part { text, role } in parts {
            match role {
                Role::Between | Role::Keyword | Role::Program | Role::Script => template.keep(text),
                Role::Argument | Role::Input => template.argument(text),
                Role::Output => template.hole(text),
            }
        }
        template
    }

    /// Returns the command with its holes filled.
    pub fn filled(&self) -> String {
        let mut arguments = self.arguments.iter();
        let mut pieces = self.text.split(HOLE);
        let first = pieces.next().unwrap_or_default().to_owned();
        pieces.fold(first, |text, piece| text + arguments.next().map_or("", String::as_str) + piece)
    }

    /// Appends a word that may vary in part or as a whole.
    fn argument(&mut self, word: &str) {
        let value_at = match word.split_once('=') {
            Some((name, _)) if name.starts_with('-') || is_name(name) => name.len() + 1,
            // A number after a letter, as in -j8, is a value. --sha256 is one word.
            _ if word.starts_with("--") => word.len(),
            _ if word.starts_with('-') => word.find(|c: char| c != '-' && !c.is_alphabetic()).unwrap_or(word.len()),
            _ => 0,
        };
        let (name, value) = word.split_at(value_at);
        if varies(word) {
            self.hole(word);
        } else if varies(value) {
            self.keep(name);
            self.hole(value);
        } else if name.is_empty() || word.contains('=') {
            self.keep(name);
            self.digits(value);
        } else {
            self.keep(word);
        }
    }

    /// Appends a text in which each sequence of digits becomes a hole.
    fn digits(&mut self, text: &str) {
        let mut rest = text;
        while let Some(from) = rest.find(|c: char| c.is_ascii_digit()) {
            let length = rest[from..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - from);
            self.keep(&rest[..from]);
            self.hole(&rest[from..from + length]);
            rest = &rest[from + length..];
        }
        self.keep(rest);
    }

    /// Appends a text that does not vary. If the text contains `{}`, this `{}` becomes a hole that is filled with `{}`, so that
    /// [`Template::filled`] returns the original command.
    fn keep(&mut self, text: &str) {
        for (index, piece) in text.split(HOLE).enumerate() {
            if index > 0 {
                self.hole(HOLE);
            }
            self.text += piece;
        }
    }

    fn hole(&mut self, text: &str) {
        self.text += HOLE;
        self.arguments.push(text.to_owned());
    }
}

/// Returns whether the whole word is a number, a path or a file name.
fn varies(word: &str) -> bool {
    let word = word.trim_matches(['\'', '"']);
    is_number(word) || is_path(word)
}

/// Returns whether a word is a number. The number may have a sign, a fraction, an exponent or a unit of letters.
fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['-', '+']);
    let unit = digits.trim_start_matches(|c: char| c.is_ascii_digit() || "._,:+-eE".contains(c));
    digits.starts_with(|c: char| c.is_ascii_digit())
        && unit.len() <= 3
        && unit.chars().all(|c| c.is_alphabetic() || c == '%')
}

/// Returns whether a word is a path, a file pattern, or a name with an extension.
fn is_path(word: &str) -> bool {
    const LONGEST_ENDING: usize = 8;
    if word.starts_with('-') || word.contains('=') || word.contains('$') {
        return false;
    }
    let ending = |(stem, ending): (&str, &str)| {
        !stem.is_empty()
            && (1..=LONGEST_ENDING).contains(&ending.len())
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let spaced = word.contains(char::is_whitespace);
    !spaced && word.contains(['/', '*', '?']) || word.rsplit_once('.').is_some_and(ending)
}
