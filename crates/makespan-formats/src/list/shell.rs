//! As much of the shell's grammar as tells where a quotation, a comment or a line ends.

/// What an offset of a shell text is within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// Nothing: words are split, and quotations begin.
    Words,
    /// `'..'`
    Single,
    /// `$'..'`, which not every shell reads alike.
    Dollar,
    /// `".."`
    Double,
    /// `` `..` ``, whose text is unquoted once more before it is read.
    Backquotes,
    /// `${..}`
    Expansion,
    /// `$((..))`
    Arithmetic,
    /// A comment, up to the end of the line.
    Comment,
}

/// What is open, with the place where it was opened.
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
    /// `(..)` and `$(..)`, in which words begin again.
    Parenthesis,
    Expansion,
    Arithmetic,
    Comment,
}

/// Reads a shell text character by character.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    open: Vec<Open>,
    before: Before,
    /// A quotation that a backquote ends which is not its own.
    crossed: Option<Open>,
    /// The last two characters outside of quotations that are no blanks.
    last: [char; 2],
    /// A `here-document` begins: line and column.
    pub(super) here_document: Option<(usize, usize)>,
}

/// What the character before was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Before {
    /// A blank, an operator or the beginning: here a word begins.
    #[default]
    Gap,
    /// A `<` that one more makes a here-document, and how many there are.
    Less(u8),
    Dollar,
    /// `$(`, which one more makes arithmetic.
    DollarParenthesis,
    Backslash,
    Other,
}

impl Scanner {
    /// What the next character is within.
    pub(super) fn within(&self) -> Within {
        match self.open.last().map(|open| open.what) {
            None | Some(Frame::Parenthesis) => Within::Words,
            Some(Frame::Single) => Within::Single,
            Some(Frame::Dollar) => Within::Dollar,
            Some(Frame::Double) => Within::Double,
            Some(Frame::Backquotes) => Within::Backquotes,
            Some(Frame::Expansion) => Within::Expansion,
            Some(Frame::Arithmetic) => Within::Arithmetic,
            Some(Frame::Comment) => Within::Comment,
        }
    }

    /// Whether any frame around the next character is this one.
    pub(super) fn is_inside(&self, within: Within) -> bool {
        let frame = match within {
            Within::Words => return true,
            Within::Single => Frame::Single,
            Within::Dollar => Frame::Dollar,
            Within::Double => Frame::Double,
            Within::Backquotes => Frame::Backquotes,
            Within::Expansion => Frame::Expansion,
            Within::Arithmetic => Frame::Arithmetic,
            Within::Comment => Frame::Comment,
        };
        self.open.iter().any(|open| open.what == frame)
    }

    /// Whether nothing at all is open, and a `#` would begin a comment here.
    pub(super) fn may_begin_comment(&self) -> bool {
        self.open.is_empty() && self.before == Before::Gap
    }

    /// Whether the character before was a backslash that takes the next one literally.
    pub(super) fn is_escaped(&self) -> bool {
        self.before == Before::Backslash
    }

    /// Whether the character before was a `$` that the next one belongs to.
    pub(super) fn follows_dollar(&self) -> bool {
        self.before == Before::Dollar
    }

    /// The quotation that is open where the text ends, with line and column of its beginning.
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

    /// The parenthesis or brace that is open where the text ends, with line and column.
    pub(super) fn open_command(&self) -> Option<(&'static str, usize, usize)> {
        self.open.iter().find_map(|open| {
            let mark = match open.what {
                Frame::Parenthesis | Frame::Arithmetic => "(",
                Frame::Expansion => "${",
                _ => return None,
            };
            Some((mark, open.at.0, open.at.1))
        })
    }

    /// The operator behind which the text ends, but for blanks, if another command must follow.
    pub(super) fn operator(&self) -> Option<&'static str> {
        match self.last {
            ['&', '&'] => Some("&&"),
            ['|', '|'] => Some("||"),
            [_, '|'] => Some("|"),
            ['|', '&'] => Some("|&"),
            _ => None,
        }
    }

    /// Whether an apostrophe is a character like others: in double quotation marks, also in the expansions there.
    fn has_literal_apostrophes(&self) -> bool {
        let around = self.open.iter().rev().find(|open| open.what != Frame::Expansion);
        around.is_some_and(|open| matches!(open.what, Frame::Double | Frame::Arithmetic))
    }

    /// A line ends behind a backslash that continues it: both are as if they were not there.
    pub(super) fn join(&mut self) {
        self.before = Before::Other;
    }

    /// Reads one character at a line and column.
    pub(super) fn read(&mut self, c: char, at: (usize, usize)) {
        let before = std::mem::replace(&mut self.before, Before::Other);
        let within = self.within();
        let literal = before == Before::Backslash;
        if within == Within::Words && (literal || !c.is_whitespace() && c != '\\') {
            // What is taken literally is no operator, and the backslash that says so may end the line.
            self.last = [self.last[1], if literal { '\\' } else { c }];
        }
        let crosses = c == '`' && before != Before::Backslash && within != Within::Backquotes;
        if crosses && self.is_inside(Within::Backquotes) {
            // A shell ends the text between backquotes at the next one, wherever that stands.
            self.crossed = self.crossed.or(self.open.last().copied());
        }
        match within {
            Within::Comment => {
                if c == '\n' {
                    self.open.pop();
                    self.before = Before::Gap;
                }
                return;
            }
            Within::Single => {
                if c == '\'' {
                    self.open.pop();
                }
                return;
            }
            _ => {}
        }
        if before == Before::Backslash {
            return;
        }
        let push = |open: &mut Vec<Open>, what| open.push(Open { what, at });
        match c {
            '\\' => self.before = Before::Backslash,
            '\'' if within == Within::Dollar => drop(self.open.pop()),
            _ if within == Within::Dollar => {}
            '$' => self.before = Before::Dollar,
            '`' if within == Within::Backquotes => drop(self.open.pop()),
            '`' => {
                push(&mut self.open, Frame::Backquotes);
                self.before = Before::Gap;
            }
            '"' if within == Within::Double => drop(self.open.pop()),
            '"' => push(&mut self.open, Frame::Double),
            '\'' if before == Before::Dollar && !self.has_literal_apostrophes() => push(&mut self.open, Frame::Dollar),
            '\'' if !self.has_literal_apostrophes() => push(&mut self.open, Frame::Single),
            '{' if before == Before::Dollar => push(&mut self.open, Frame::Expansion),
            '}' if within == Within::Expansion => drop(self.open.pop()),
            '(' if before == Before::Dollar => {
                push(&mut self.open, Frame::Parenthesis);
                self.before = Before::DollarParenthesis;
            }
            '(' if before == Before::DollarParenthesis => {
                if let Some(open) = self.open.last_mut() {
                    open.what = Frame::Arithmetic;
                }
                push(&mut self.open, Frame::Arithmetic);
            }
            '(' if within == Within::Arithmetic => push(&mut self.open, Frame::Arithmetic),
            ')' if within == Within::Arithmetic => drop(self.open.pop()),
            '(' if within == Within::Words => {
                push(&mut self.open, Frame::Parenthesis);
                self.before = Before::Gap;
            }
            ')' if within == Within::Words => {
                self.open.pop();
                self.before = Before::Gap;
            }
            '#' if matches!(before, Before::Gap | Before::DollarParenthesis) && within == Within::Words => {
                push(&mut self.open, Frame::Comment)
            }
            '<' if within == Within::Words => match before {
                Before::Less(1) => {
                    self.here_document.get_or_insert(at);
                    self.before = Before::Less(2);
                }
                // `<<<` is a text in some shells, and no here-document.
                Before::Less(2) => {
                    self.here_document = None;
                    self.before = Before::Less(3);
                }
                Before::Less(count) => self.before = Before::Less(count),
                _ => self.before = Before::Less(1),
            },
            ';' | '|' | '&' => self.before = Before::Gap,
            c if c.is_whitespace() => self.before = Before::Gap,
            _ => {}
        }
    }
}

/// Words that mean something else where a command may stand.
const RESERVED: [&str; 17] = [
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "function",
    "select", "time", "coproc",
];

/// An argument as one word of the shell: as it is where that is safe, else in quotation marks.
pub fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=@%+,-".contains(c);
    // `a=b` in front of a command would be an assignment.
    let means_itself = !argument.contains('=') && !RESERVED.contains(&argument);
    if !argument.is_empty() && argument.chars().all(plain) && means_itself {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

/// An argument within single quotation marks.
pub(super) fn within_single(argument: &str) -> String {
    argument.replace('\'', "'\\''")
}

/// An argument within double quotation marks.
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
