//! Splits a command into words and determines the role of each word.

/// A piece of a command. All pieces in order, joined, are the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommandPart<'a> {
    /// The text as the user wrote it, including quotes.
    pub text: &'a str,
    pub role: WordKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordKind {
    /// Spaces and operators of the shell.
    Between,
    /// A shell keyword that can precede a program, such as `if`.
    Keyword,
    Program,
    /// The script or the program that an interpreter runs.
    Script,
    /// Any other word.
    Argument,
    /// A file that the shell reads.
    Input,
    /// A file that the shell writes.
    Output,
}

/// Interpreters: their first argument that is not an option is the program or the script that they run.
const INTERPRETERS: [&str; 17] = [
    "bash", "dash", "env", "exec", "java", "julia", "lua", "nice", "node", "nohup", "perl", "php", "python", "python3",
    "Rscript", "ruby", "sh",
];

/// Shell keywords that can precede a program.
const KEYWORDS: [&str; 10] = ["!", "{", "do", "elif", "else", "if", "then", "time", "until", "while"];

/// Returns the words of a shell line at the positions where the shell expects a program. The words keep their quotes.
///
/// ```
/// let line = "if test -f a; then LC_ALL=C <a sort | python3 count.py >out; fi";
/// assert_eq!(makespan_history::programs(line), ["test", "sort", "python3", "fi"]);
/// ```
pub fn programs(line: &str) -> Vec<&str> {
    shell_parts(line).into_iter().filter(|part| part.role == WordKind::Program).map(|part| part.text).collect()
}

/// Returns the parts of a command that is given as a list of words. Between consecutive words, there is a part with one
/// space.
pub(super) fn word_parts(words: &[String]) -> Vec<CommandPart<'_>> {
    let mut roles = Roles::default();
    let mut parts = Vec::with_capacity(words.len() * 2);
    for word in words {
        if !parts.is_empty() {
            parts.push(CommandPart { text: " ", role: WordKind::Between });
        }
        parts.push(CommandPart { text: word, role: roles.of(word) });
    }
    parts
}

/// Returns the parts of a shell line. Blanks within quotes or after a backslash do not end a word.
pub(super) fn shell_parts(line: &str) -> Vec<CommandPart<'_>> {
    let mut roles = Nested::default();
    let mut parts: Vec<CommandPart<'_>> = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let word = word_length(rest);
        let (text, role);
        if word > 0 {
            (text, rest) = rest.split_at(word);
            // A number before a redirection is a file descriptor, as in `2>file`.
            let redirects = rest.starts_with(['<', '>']) && text.bytes().all(|c| c.is_ascii_digit());
            role = if redirects { WordKind::Argument } else { roles.of(text) };
        } else {
            (text, rest) = rest.split_at(rest.find(|c: char| !is_between(c)).unwrap_or(rest.len()));
            role = WordKind::Between;
            roles.after(text);
        }
        parts.push(CommandPart { text, role });
    }
    parts
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || "|&;()<>".contains(c)
}

/// Returns the length in bytes of the word at the beginning of a text, or 0 if the text does not begin with a word.
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

/// State of a simple command. This state decides the role of the next word.
#[derive(Default)]
struct Roles {
    /// True if the previous word is a keyword.
    opened: bool,
    /// True if the program has appeared.
    begun: bool,
    /// True if an interpreter has appeared, but not its script.
    script: bool,
    /// Role of the next word, if a redirection precedes it.
    file: Option<WordKind>,
}

impl Roles {
    fn of(&mut self, word: &str) -> WordKind {
        if let Some(role) = self.file.take() {
            return role;
        }
        let is_option = word.starts_with('-');
        if self.script && !is_option && !is_assignment(word) {
            self.script = is_interpreter(word);
            return WordKind::Script;
        }
        if self.begun || is_assignment(word) || self.opened && is_option {
            return WordKind::Argument;
        }
        self.opened = KEYWORDS.contains(&word);
        self.begun = !self.opened;
        self.script = is_interpreter(word);
        if self.opened { WordKind::Keyword } else { WordKind::Program }
    }
}

/// State of a shell line with nested commands. This state decides the role of the next word.
#[derive(Default)]
struct Nested {
    roles: Roles,
    /// Stack of the enclosing commands.
    outer: Vec<Roles>,
    /// Within `((` and `))`: the length of `outer` outside of the second parenthesis. The words there are parts of an
    /// arithmetic expression.
    arithmetic: Option<usize>,
    /// True within a comment, which ends at the end of the line.
    comment: bool,
}

impl Nested {
    fn of(&mut self, word: &str) -> WordKind {
        self.comment |= word.starts_with('#');
        if self.comment || self.arithmetic.is_some() { WordKind::Argument } else { self.roles.of(word) }
    }

    /// Reads the blanks and operators between two words.
    fn after(&mut self, between: &str) {
        let mut before = ' ';
        for (at, c) in between.char_indices() {
            let next = between[at + c.len_utf8()..].chars().next();
            self.comment &= c != '\n';
            match c {
                _ if self.comment => {}
                // A function definition: the body follows.
                '(' if next == Some(')') => self.roles = Roles::default(),
                ')' if before == '(' => {}
                '(' => {
                    self.arithmetic = self.arithmetic.or((before == '(').then_some(self.outer.len()));
                    self.outer.push(std::mem::take(&mut self.roles));
                }
                ')' => {
                    self.roles = self.outer.pop().unwrap_or_default();
                    self.arithmetic = self.arithmetic.filter(|&length| length < self.outer.len());
                }
                _ if self.arithmetic.is_some() => {}
                // `2>&1`, `&>file` and `>|file` are redirections.
                '|' | '&' if matches!(before, '<' | '>') || c == '&' && next == Some('>') => {}
                '|' | '&' | ';' | '\n' => self.roles = Roles::default(),
                _ => {}
            }
            before = c;
        }
        let between = between.trim_end();
        self.roles.file = if self.comment || self.arithmetic.is_some() {
            None
        } else if between.ends_with('>') || between.ends_with(">|") {
            Some(WordKind::Output)
        } else {
            between.ends_with('<').then_some(WordKind::Input)
        };
    }
}

fn is_interpreter(word: &str) -> bool {
    word.rsplit('/').next().is_some_and(|name| INTERPRETERS.contains(&name))
}

/// Returns true if a word sets a variable for the command that follows.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name.strip_suffix('+').unwrap_or(name));
    name.is_some_and(|name| is_name(name) && !name.contains('-'))
}

/// Returns true if a text can be the name of a variable or of a setting.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Returns a word without its quotes and backslashes, as the program receives it if the shell substitutes nothing.
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
