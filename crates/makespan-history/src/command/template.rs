//! Commands with holes.

use super::words::{Part, Role, is_name};

/// A hole.
const HOLE: &str = "{}";

/// A command in which numbers, paths and names of files are holes, and what stands in the holes. Commands of one template do
/// the same thing with other arguments, as far as one can tell from their text.
///
/// Holes are: numbers, with a unit or without; words with a slash, a wildcard or an ending such as `.txt`; what stands behind
/// `--option=`, `name=` or `-j`, if it is one of these; and any digits in other words. Programs stay, with the script that an
/// interpreter runs.
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
    /// What stands in the holes, in their order.
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

    /// The command again.
    pub fn filled(&self) -> String {
        let mut arguments = self.arguments.iter();
        let mut pieces = self.text.split(HOLE);
        let first = pieces.next().unwrap_or_default().to_owned();
        pieces.fold(first, |text, piece| text + arguments.next().map_or("", String::as_str) + piece)
    }

    /// A word that may vary, in part or whole.
    fn argument(&mut self, word: &str) {
        let value_at = match word.split_once('=') {
            Some((name, _)) if name.starts_with('-') || is_name(name) => name.len() + 1,
            // The number behind a letter, as in -j8; --sha256 is one word.
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

    /// A text in which digits vary.
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

    /// A text that stays. What looks like a hole in it is one with itself in it, so that [`Template::filled`] gives the command.
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

/// Whether a word as a whole is a number, a path or the name of a file.
fn varies(word: &str) -> bool {
    let word = word.trim_matches(['\'', '"']);
    is_number(word) || is_path(word)
}

/// A number, with a sign, a fraction, an exponent or a unit of letters.
fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['-', '+']);
    let unit = digits.trim_start_matches(|c: char| c.is_ascii_digit() || "._,:+-eE".contains(c));
    digits.starts_with(|c: char| c.is_ascii_digit())
        && unit.len() <= 3
        && unit.chars().all(|c| c.is_alphabetic() || c == '%')
}

/// A path, a pattern of files, or a name with an ending.
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
