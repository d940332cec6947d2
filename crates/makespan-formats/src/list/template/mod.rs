//! Makes commands from a template and arguments. Templates support the common replacement strings of GNU parallel.

mod arguments;
mod place;

use thiserror::Error;

use super::lines::LONGEST;
use super::shell::{Scanner, ShellContext, quoted};
pub use arguments::{ArgumentRules, ArgumentSource, Arguments, separator};
use place::{ArgumentPart, Placeholder, foreign, placeholder, refused, safe};

/// Maximum number of commands that a template makes.
const MOST: usize = 10_000_000;

/// Maximum total size of all commands, in bytes.
const MAX_BYTES: usize = 1 << 30;

/// Shell command with placeholders for arguments. The placeholders are `{}`, `{.}` (without the file extension), `{/}`
/// (without folders), `{//}` (only the folder), `{/.}` (without folders and extension) and `{#}` (the number of the
/// command). `{1}`, `{2.}` and so on stand for the argument of one source.
///
/// An inserted argument is always one word for the shell, whatever it contains, both inside and outside quotation
/// marks. If a template has no placeholder, `{}` is appended.
///
/// ```
/// use makespan_formats::list::{Arguments, Template};
///
/// let template = Template::parse("convert {} '{/.}.png'")?;
/// let lines = template.lines(&Arguments::product(vec![vec!["a b.jpg".into(), "it's.jpg".into()]]))?;
/// assert_eq!(lines, ["convert 'a b.jpg' 'a b.png'", r"convert 'it'\''s.jpg' 'it'\''s.png'"]);
/// # Ok::<(), makespan_formats::list::TemplateError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Template {
    pieces: Vec<Piece>,
    /// First placeholder for an argument, if the user wrote one.
    stated: Option<String>,
}

/// Error in a template, or in filling it with arguments.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// The template is empty.
    #[error("the template is empty; write a command such as 'gzip {{}}'")]
    Empty,
    /// A placeholder in a position in which quotation cannot make the argument one word.
    #[error("`{place}` is {within}, where an argument cannot be quoted safely; {remedy}")]
    Unsafe {
        /// The placeholder.
        place: String,
        /// Description of the place.
        within: &'static str,
        /// The remedy.
        remedy: &'static str,
    },
    /// A replacement string of GNU parallel that is not supported.
    #[error("`{place}` is a replacement string of GNU parallel that is not supported; {remedy}")]
    Foreign {
        /// The replacement string.
        place: String,
        /// A command that has the same effect.
        remedy: &'static str,
    },
    /// A column separator that is not a regular expression.
    #[error("the column separator `{text}` is not a regular expression: {problem}; write for example a comma or '\\t'")]
    Separator {
        /// The separator.
        text: String,
        /// The reason.
        problem: String,
    },
    /// A quotation has no end.
    #[error("the quote `{mark}` is not closed in the template")]
    Open {
        /// The quotation mark.
        mark: char,
    },
    /// A placeholder refers to a source that does not exist.
    #[error("`{place}` refers to argument source {number}, but there {}; remove the placeholder, or add a source",
        if *.sources == 1 { "is only 1 source".to_owned() } else { format!("are only {} sources", .sources) })]
    NoSource {
        /// The placeholder.
        place: String,
        /// The number of the source.
        number: usize,
        /// The number of existing sources.
        sources: usize,
    },
    /// A placeholder for an argument, but there are no arguments.
    #[error(
        "`{0}` stands for an argument, but there are no arguments; write ::: and the arguments after the command, or \
         read the arguments from standard input with -a -; if `{0}` belongs to the command itself, write the command \
         to a list"
    )]
    NoArguments(String),
    /// An argument with a NUL byte, which cannot be passed to a program.
    #[error("the argument `{0}` contains a NUL byte, which arguments cannot contain")]
    Nul(String),
    /// A command that is too long.
    #[error("command {number} is longer than {LONGEST} bytes, the maximum for an argument of a program")]
    TooLong {
        /// The number of the command, from 1.
        number: usize,
    },
    /// The template makes too many commands.
    #[error("the arguments result in {0} commands, but a run may have at most {MOST}")]
    TooMany(u128),
    /// The total size of the commands is too large.
    #[error("the commands are more than {MAX_BYTES} bytes in all; start a run with fewer commands")]
    TooLarge,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Place(Placeholder),
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// [`TemplateError`], for example if an inserted argument could become several words.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        if text.trim().is_empty() {
            return Err(TemplateError::Empty);
        }
        let (mut pieces, mut before, mut scanner, mut rest) = (Vec::new(), String::new(), Scanner::default(), text);
        while let Some(c) = rest.chars().next() {
            let may_begin = c == '{' && !scanner.follows_dollar();
            if let Some((place, remedy)) = foreign(rest).filter(|_| may_begin) {
                return Err(TemplateError::Foreign { place: place.to_owned(), remedy });
            }
            let found = if may_begin { placeholder(rest) } else { None };
            match found {
                Some(found) => {
                    let length = found.0.len();
                    let (front, back) = (&text[..text.len() - rest.len()], &rest[length..]);
                    let place = safe(found, &scanner)?.between(front, back);
                    pieces.extend([Piece::Text(std::mem::take(&mut before)), Piece::Place(place)]);
                    // The scanner must treat a placeholder as a part of a word.
                    scanner.read('x', (1, 1));
                    rest = &rest[length..];
                }
                None => {
                    scanner.read(c, (1, 1));
                    before.push(c);
                    rest = &rest[c.len_utf8()..];
                }
            }
        }
        if let Some((mark, ..)) = scanner.open_quotation() {
            return Err(TemplateError::Open { mark });
        }
        pieces.push(Piece::Text(before));
        let stated = pieces.iter().find_map(|piece| match piece {
            Piece::Place(place) if place.part != ArgumentPart::Number => Some(place.text.clone()),
            _ => None,
        });
        if pieces.iter().all(|piece| matches!(piece, Piece::Text(_))) {
            let end = Placeholder::new("{}".into(), None, ArgumentPart::Whole, ShellContext::Words);
            let in_comment = scanner.within() != ShellContext::Words;
            if in_comment {
                return Err(refused("{}".into(), ShellContext::Comment));
            }
            pieces.extend([Piece::Text(" ".into()), Piece::Place(end)]);
        }
        Ok(Self { pieces, stated })
    }

    /// Reads a command from the words of a command line. One word is a shell command. If there are several words, they
    /// are a program and its arguments, and the shell does not interpret any character in them.
    ///
    /// ```
    /// use makespan_formats::list::{Arguments, Template};
    ///
    /// let lines = |words: &[&str]| {
    ///     let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    ///     Template::of_words(&words)?.lines(&Arguments::product(vec![vec!["a b".into()]]))
    /// };
    /// assert_eq!(lines(&["echo {} > x"])?, ["echo 'a b' > x"]);
    /// assert_eq!(lines(&["echo", "see {}.txt", ">", "x"])?, ["echo 'see ''a b'.txt '>' x"]);
    /// # Ok::<(), makespan_formats::list::TemplateError>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Template::parse`].
    pub fn of_words(words: &[String]) -> Result<Self, TemplateError> {
        match words {
            [line] => Self::parse(line),
            _ => Self::parse(&words.iter().map(|word| one_word(word)).collect::<Vec<_>>().join(" ")),
        }
    }

    /// Returns the commands for these arguments.
    ///
    /// # Errors
    /// [`TemplateError`] if a source does not exist, if there are too many commands, or if a command is too long.
    pub fn lines(&self, arguments: &Arguments) -> Result<Vec<String>, TemplateError> {
        self.lines_from(1, arguments)
    }

    /// Like [`Template::lines`], for arguments that follow the arguments of earlier calls. `first` is the number of
    /// the first command.
    ///
    /// # Errors
    /// The errors of [`Template::lines`].
    pub fn lines_from(&self, first: usize, arguments: &Arguments) -> Result<Vec<String>, TemplateError> {
        if let Some(place) = self.stated.as_ref().filter(|_| arguments.is_empty()) {
            return Err(TemplateError::NoArguments(place.clone()));
        }
        if arguments.is_one_of_each() {
            self.check_sources(arguments.sources())?;
        }
        if let Some(argument) = arguments.all().find(|argument| argument.contains('\0')) {
            return Err(TemplateError::Nul(argument.to_owned()));
        }
        let count = arguments.commands();
        if count > MOST as u128 {
            return Err(TemplateError::TooMany(count));
        }
        let (mut lines, mut bytes) = (Vec::new(), 0);
        for number in 0..count as usize {
            let inserted = if arguments.is_inserted() { arguments.of(number) } else { Vec::new() };
            let line = self.line(first + number, &inserted);
            if line.len() > LONGEST {
                return Err(TemplateError::TooLong { number: first + number });
            }
            bytes += line.len();
            if bytes > MAX_BYTES {
                return Err(TemplateError::TooLarge);
            }
            lines.push(line);
        }
        Ok(lines)
    }

    /// Returns an error if a placeholder refers to a source that does not exist.
    fn check_sources(&self, sources: usize) -> Result<(), TemplateError> {
        for piece in &self.pieces {
            if let Piece::Place(Placeholder { text, source: Some(number), .. }) = piece
                && *number >= sources
            {
                return Err(TemplateError::NoSource { place: text.clone(), number: number + 1, sources });
            }
        }
        Ok(())
    }

    fn line(&self, number: usize, arguments: &[&str]) -> String {
        let mut line = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => line += text,
                Piece::Place(place) => place.fill(number, arguments, &mut line),
            }
        }
        line
    }
}

/// Quotes a word for the shell, but leaves placeholders for arguments unquoted.
fn one_word(word: &str) -> String {
    let (mut line, mut before, mut rest) = (String::new(), String::new(), word);
    while let Some(c) = rest.chars().next() {
        let found = if c == '{' { placeholder(rest) } else { None };
        let length = found.map_or(0, |(text, ..)| text.len());
        if length > 0 {
            if !before.is_empty() {
                line += &quoted(&std::mem::take(&mut before));
            }
            line += &rest[..length];
            rest = &rest[length..];
        } else {
            before.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    if !before.is_empty() || line.is_empty() {
        line += &quoted(&before);
    }
    line
}
