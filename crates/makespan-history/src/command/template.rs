//! Templates: commands with holes.

use super::words::{CommandPart, WordKind, is_name};

/// The text of a hole.
const HOLE: &str = "{}";

/// A command with holes instead of numbers, paths and file names, and the texts that the holes replace. Commands with
/// the same template probably do the same work with different arguments. Only the texts of commands are compared.
///
/// These texts become holes: numbers, with or without a unit; words with a slash, a wildcard or an ending such as `.txt`; values
/// after `--option=`, `name=` or `-j`, if they are of one of these kinds; and digits in other words. The program stays in the
/// template, and so does the script that an interpreter runs.
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
    /// The texts of the holes, in their order.
    pub arguments: Vec<String>,
}

impl Template {
    pub(super) fn of(parts: &[CommandPart<'_>]) -> Self {
        let mut template = Self::default();
        for CommandPart { text, role } in parts {
            match role {
                WordKind::Between | WordKind::Keyword | WordKind::Program | WordKind::Script => template.keep(text),
                WordKind::Argument | WordKind::Input => template.argument(text),
                WordKind::Output => template.hole(text),
            }
        }
        template
    }

    /// Returns the command with every hole filled.
    pub fn filled(&self) -> String {
        let mut arguments = self.arguments.iter();
        let mut pieces = self.text.split(HOLE);
        let first = pieces.next().unwrap_or_default().to_owned();
        pieces.fold(first, |text, piece| text + arguments.next().map_or("", String::as_str) + piece)
    }

    /// Adds an argument. The whole argument or a part of it may become a hole.
    fn argument(&mut self, word: &str) {
        let value_at = match word.split_once('=') {
            Some((name, _)) if name.starts_with('-') || is_name(name) => name.len() + 1,
            // The number after a letter, as in -j8. A word such as --sha256 stays whole.
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

    /// Adds a text with a hole for each sequence of digits.
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

    /// Adds a text that is not a hole. If the text contains `{}`, adds a hole with the text `{}`, so that
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

/// Returns true if a whole word is a number, a path or a file name.
fn varies(word: &str) -> bool {
    let word = word.trim_matches(['\'', '"']);
    is_number(word) || is_path(word)
}

/// Returns true if a word is a number, with an optional sign, fraction, exponent or unit of letters.
fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['-', '+']);
    let unit = digits.trim_start_matches(|c: char| c.is_ascii_digit() || "._,:+-eE".contains(c));
    digits.starts_with(|c: char| c.is_ascii_digit())
        && unit.len() <= 3
        && unit.chars().all(|c| c.is_alphabetic() || c == '%')
}

/// Returns true if a word is a path, a file pattern, or a name with an ending.
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
