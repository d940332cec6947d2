//! The words of a command and what each is for.

/// A piece of a command; all pieces one after another are the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// As it is written, quotes included.
    pub text: String,
    pub role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Spaces and operators of the shell.
    Between,
    /// A program, or the script that an interpreter runs.
    Program,
    /// Any other word.
    Argument,
    /// A file that the shell writes.
    Output,
}

/// Programs whose first argument that is no option is the program that they run.
const INTERPRETERS: [&str; 18] = [
    "bash", "dash", "env", "exec", "java", "julia", "lua", "nice", "node", "nohup", "perl", "php", "python", "python3",
    "Rscript", "ruby", "sh", "time",
];

/// Words of the shell after which a program stands.
const KEYWORDS: [&str; 10] = ["!", "{", "do", "elif", "else", "if", "then", "time", "until", "while"];

/// The parts of a list of words, with a space between two.
pub(super) fn word_parts(words: &[String]) -> Vec<Part> {
    let mut roles = Roles::default();
    let mut parts = Vec::with_capacity(words.len() * 2);
    for word in words {
        if !parts.is_empty() {
            parts.push(Part { text: " ".into(), role: Role::Between });
        }
        parts.push(Part { text: word.clone(), role: roles.of(word) });
    }
    parts
}

/// The parts of a line of the shell. Quotes and backslashes keep a word together; what is substituted is not looked into.
pub(super) fn shell_parts(line: &str) -> Vec<Part> {
    let mut roles = Roles::default();
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let word = word_length(rest);
        if word > 0 {
            let text = &rest[..word];
            parts.push(Part { text: text.to_owned(), role: roles.of(text) });
            rest = &rest[word..];
            continue;
        }
        let length = rest.find(|c: char| !is_between(c)).unwrap_or(rest.len());
        let text = &rest[..length];
        roles.after(text);
        parts.push(Part { text: text.to_owned(), role: Role::Between });
        rest = &rest[length..];
    }
    parts
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || "|&;()<>".contains(c)
}

/// How many bytes belong to the word at the beginning of a text; 0 where none begins.
fn word_length(text: &str) -> usize {
    let (mut quote, mut escaped) = (None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, _) if is_between(c) => return at,
            _ => {}
        }
    }
    text.len()
}

/// What the next word is for.
#[derive(Default)]
struct Roles {
    /// The program was there, and perhaps its script.
    begun: bool,
    /// An interpreter was there and its script was not.
    script: bool,
    /// The shell writes the next word.
    output: bool,
}

impl Roles {
    fn of(&mut self, word: &str) -> Role {
        if std::mem::take(&mut self.output) {
            return Role::Output;
        }
        if self.script && !word.starts_with('-') && !is_assignment(word) {
            self.script = is_interpreter(word);
            return Role::Program;
        }
        if self.begun || is_assignment(word) {
            return Role::Argument;
        }
        self.begun = !KEYWORDS.contains(&word);
        self.script = is_interpreter(word);
        Role::Program
    }

    /// What operators between words change.
    fn after(&mut self, between: &str) {
        if between.contains(['|', '&', ';', '(', ')', '\n']) && !between.contains('>') {
            *self = Self::default();
        }
        self.output = between.trim_end().ends_with(['>', '|']) && between.contains('>');
    }
}

fn is_interpreter(word: &str) -> bool {
    word.rsplit('/').next().is_some_and(|name| INTERPRETERS.contains(&name))
}

/// Whether the word sets a variable for the command behind it.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Whether a text can be the name of a variable or of a setting.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// A word without its quotes and backslashes, as the program gets it where nothing is substituted.
pub(super) fn unquoted(word: &str) -> String {
    let (mut quote, mut escaped, mut text) = (None, false, String::with_capacity(word.len()));
    for c in word.chars() {
        match (quote, c) {
            _ if escaped => {
                escaped = false;
                text.push(c);
            }
            (None | Some('"'), '\\') => escaped = true,
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            _ => text.push(c),
        }
    }
    text
}
