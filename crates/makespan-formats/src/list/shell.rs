//! Scans shell text to find where quotations, comments and lines end. Only this part of the shell's grammar is
//! implemented.

/// Context of a position in a shell text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShellContext {
    /// No quotation. The shell splits the text into words, and quotations can begin.
    Words,
    /// `'..'`
    Single,
    /// `$'..'`. Shells differ in how they read this quotation.
    Dollar,
    /// `".."`
    Double,
    /// `` `..` ``. The shell removes backslashes from this text before it parses the text.
    Backquotes,
    /// `${..}`
    Expansion,
    /// `$((..))`
    Arithmetic,
    /// A comment, up to the end of the line.
    Comment,
}

/// Open quotation, expansion, parenthesis or comment, with the line and column at which it begins.
#[derive(Clone, Copy, Debug)]
struct Open {
    what: Frame,
    at: (usize, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    Single,
    Dollar,
    Double,
    Backquotes,
    /// `(..)` or `$(..)`. Inside, the shell splits the text into words again.
    Parenthesis,
    Expansion,
    /// A parenthesis of an arithmetic expansion, but not its first one.
    Arithmetic,
    /// The first parenthesis of an arithmetic expansion `$((..))`.
    ArithmeticStart,
    Comment,
}

/// Scanner that reads a shell text character by character.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    open: Vec<Open>,
    before: PreviousCharacter,
    /// Open quotation that a backquote cuts off, because the backquote ends the text around the quotation.
    crossed: Option<Open>,
    /// Expansion that begins with `${\`. Shells differ in how they read it.
    unclear: Option<Open>,
    /// Last two characters outside quotations, without blanks.
    last: [char; 2],
    /// Line and column at which a here-document begins.
    pub(super) here_document: Option<(usize, usize)>,
}

/// Kind of the previous character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PreviousCharacter {
    /// A blank, an operator or the beginning of the text. A word begins here.
    #[default]
    Gap,
    /// One or more `<`, with their number. Two `<` begin a here-document.
    Less(u8),
    Dollar,
    /// `$(`. Another `(` turns `$(` into an arithmetic expansion.
    DollarParenthesis,
    /// `${`
    DollarBrace,
    Backslash,
    Other,
}

impl Scanner {
    /// Returns the context of the next character.
    pub(super) fn within(&self) -> ShellContext {
        match self.open.last().map(|open| open.what) {
            None | Some(Frame::Parenthesis) => ShellContext::Words,
            Some(Frame::Single) => ShellContext::Single,
            Some(Frame::Dollar) => ShellContext::Dollar,
            Some(Frame::Double) => ShellContext::Double,
            Some(Frame::Backquotes) => ShellContext::Backquotes,
            Some(Frame::Expansion) => ShellContext::Expansion,
            Some(Frame::Arithmetic | Frame::ArithmeticStart) => ShellContext::Arithmetic,
            Some(Frame::Comment) => ShellContext::Comment,
        }
    }

    /// Returns whether any context around the next character is `within`.
    pub(super) fn is_inside(&self, within: ShellContext) -> bool {
        let frame = match within {
            ShellContext::Words => return true,
            ShellContext::Single => Frame::Single,
            ShellContext::Dollar => Frame::Dollar,
            ShellContext::Double => Frame::Double,
            ShellContext::Backquotes => Frame::Backquotes,
            ShellContext::Expansion => Frame::Expansion,
            ShellContext::Arithmetic => Frame::Arithmetic,
            ShellContext::Comment => Frame::Comment,
        };
        self.open.iter().any(|open| open.what == frame)
    }

    /// Returns whether `#` would begin a comment here, outside all quotations, expansions and parentheses.
    pub(super) fn may_begin_comment(&self) -> bool {
        self.open.is_empty() && self.before == PreviousCharacter::Gap
    }

    /// Returns whether the previous character is a backslash that escapes the next character.
    pub(super) fn is_escaped(&self) -> bool {
        self.before == PreviousCharacter::Backslash
    }

    /// Returns whether the previous character is a `$` that belongs to the next character.
    pub(super) fn follows_dollar(&self) -> bool {
        self.before == PreviousCharacter::Dollar
    }

    /// Returns the quotation that is open at the end of the text, with line and column of its beginning.
    pub(super) fn open_quotation(&self) -> Option<(char, usize, usize)> {
        self.crossed.iter().chain(&self.open).find_map(|open| {
            let mark = match open.what {
                Frame::Single | Frame::Dollar => '\'',
                Frame::Double => '"',
                Frame::Backquotes => '`',
                _ => return None,
            };
            Some((mark, open.at.0, open.at.1))
        })
    }

    /// Returns the parenthesis or brace that is open at the end of the text, with line and column.
    pub(super) fn open_command(&self) -> Option<(&'static str, usize, usize)> {
        self.unclear.iter().chain(&self.open).find_map(|open| {
            let mark = match open.what {
                Frame::Parenthesis | Frame::Arithmetic | Frame::ArithmeticStart => "(",
                Frame::Expansion => "${",
                _ => return None,
            };
            Some((mark, open.at.0, open.at.1))
        })
    }

    /// Returns the operator at the end of the text, ignoring blanks, if a command must follow this operator.
    pub(super) fn operator(&self) -> Option<&'static str> {
        match self.last {
            ['&', '&'] => Some("&&"),
            ['|', '|'] => Some("||"),
            [_, '|'] => Some("|"),
            ['|', '&'] => Some("|&"),
            _ => None,
        }
    }

    /// Returns whether an apostrophe is an ordinary character here. Apostrophes are ordinary inside double quotation
    /// marks and inside expansions within double quotation marks.
    fn has_literal_apostrophes(&self) -> bool {
        let around = self.open.iter().rev().find(|open| open.what != Frame::Expansion);
        around.is_some_and(|open| matches!(open.what, Frame::Double | Frame::Arithmetic | Frame::ArithmeticStart))
    }

    /// Handles a backslash at the end of a line. The shell removes the backslash and the line break.
    pub(super) fn join(&mut self) {
        self.before = PreviousCharacter::Other;
    }

    /// Reads one character at a line and column.
    pub(super) fn read(&mut self, c: char, at: (usize, usize)) {
        let before = std::mem::replace(&mut self.before, PreviousCharacter::Other);
        if c != ')' && self.open.last().is_some_and(|open| open.what == Frame::ArithmeticStart) {
            // Only `))` ends an arithmetic expansion. The previous `)` was an ordinary character.
            self.open.push(Open { what: Frame::Arithmetic, at });
        }
        let within = self.within();
        let literal = before == PreviousCharacter::Backslash;
        if within == ShellContext::Words && (literal || !c.is_whitespace() && c != '\\') {
            // An escaped character is not an operator. A backslash is not recorded here, because it may continue the
            // line.
            self.last = [self.last[1], if literal { '\\' } else { c }];
        }
        let crosses = c == '`' && before != PreviousCharacter::Backslash && within != ShellContext::Backquotes;
        if crosses && self.is_inside(ShellContext::Backquotes) {
            // The shell ends the text between backquotes at the next backquote, even inside a quotation.
            self.crossed = self.crossed.or(self.open.last().copied());
        }
        match within {
            ShellContext::Comment => {
                if c == '\n' {
                    self.open.pop();
                    self.before = PreviousCharacter::Gap;
                }
                return;
            }
            ShellContext::Single => {
                if c == '\'' {
                    self.open.pop();
                }
                return;
            }
            _ => {}
        }
        if before == PreviousCharacter::Backslash {
            return;
        }
        let push = |open: &mut Vec<Open>, what| open.push(Open { what, at });
        match c {
            '\\' if before == PreviousCharacter::DollarBrace => self.unclear = self.open.last().copied(),
            '\\' => self.before = PreviousCharacter::Backslash,
            '\'' if within == ShellContext::Dollar => drop(self.open.pop()),
            _ if within == ShellContext::Dollar => {}
            '$' => self.before = PreviousCharacter::Dollar,
            '`' if within == ShellContext::Backquotes => drop(self.open.pop()),
            '`' => {
                push(&mut self.open, Frame::Backquotes);
                self.before = PreviousCharacter::Gap;
            }
            '"' if within == ShellContext::Double => drop(self.open.pop()),
            '"' => push(&mut self.open, Frame::Double),
            '\'' if before == PreviousCharacter::Dollar && !self.has_literal_apostrophes() => {
                push(&mut self.open, Frame::Dollar)
            }
            '\'' if !self.has_literal_apostrophes() => push(&mut self.open, Frame::Single),
            '{' if before == PreviousCharacter::Dollar => {
                push(&mut self.open, Frame::Expansion);
                self.before = PreviousCharacter::DollarBrace;
            }
            '}' if within == ShellContext::Expansion => drop(self.open.pop()),
            '(' if before == PreviousCharacter::Dollar => {
                push(&mut self.open, Frame::Parenthesis);
                self.before = PreviousCharacter::DollarParenthesis;
            }
            '(' if before == PreviousCharacter::DollarParenthesis => {
                if let Some(open) = self.open.last_mut() {
                    open.what = Frame::ArithmeticStart;
                }
                push(&mut self.open, Frame::Arithmetic);
            }
            '(' if within == ShellContext::Arithmetic => push(&mut self.open, Frame::Arithmetic),
            ')' if within == ShellContext::Arithmetic => drop(self.open.pop()),
            '(' if within == ShellContext::Words => {
                push(&mut self.open, Frame::Parenthesis);
                self.before = PreviousCharacter::Gap;
            }
            ')' if within == ShellContext::Words => {
                self.open.pop();
                self.before = PreviousCharacter::Gap;
            }
            '#' if matches!(before, PreviousCharacter::Gap | PreviousCharacter::DollarParenthesis)
                && within == ShellContext::Words =>
            {
                push(&mut self.open, Frame::Comment)
            }
            '<' if within == ShellContext::Words => match before {
                PreviousCharacter::Less(1) => {
                    self.here_document.get_or_insert(at);
                    self.before = PreviousCharacter::Less(2);
                }
                // In some shells, `<<<` precedes a text and does not begin a here-document.
                PreviousCharacter::Less(2) => {
                    self.here_document = None;
                    self.before = PreviousCharacter::Less(3);
                }
                PreviousCharacter::Less(count) => self.before = PreviousCharacter::Less(count),
                _ => self.before = PreviousCharacter::Less(1),
            },
            ';' | '|' | '&' => self.before = PreviousCharacter::Gap,
            c if c.is_whitespace() => self.before = PreviousCharacter::Gap,
            _ => {}
        }
    }
}

/// Words with a special meaning at the beginning of a command.
const RESERVED: [&str; 17] = [
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "function",
    "select", "time", "coproc",
];

/// Returns an argument as one word for the shell. Unsafe arguments are in quotation marks.
pub fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=@%+,-".contains(c);
    // An argument `a=b` before a command would be an assignment.
    let means_itself = !argument.contains('=') && !RESERVED.contains(&argument);
    if !argument.is_empty() && argument.chars().all(plain) && means_itself {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

/// Escapes an argument for use inside single quotation marks.
pub(super) fn within_single(argument: &str) -> String {
    argument.replace('\'', "'\\''")
}

/// Escapes an argument for use inside double quotation marks.
pub(super) fn within_double(argument: &str) -> String {
    let mut text = String::with_capacity(argument.len());
    for c in argument.chars() {
        if matches!(c, '"' | '\\' | '$' | '`') {
            text.push('\\');
        }
        text.push(c);
    }
    text
}
