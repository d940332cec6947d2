//! Splits a text in DOT into words and marks.

use super::super::FileProblem;
use crate::error::FilePlace;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Word(String),
    Mark(char),
    Arrow,
}

pub(super) struct Tokens<'a> {
    pub(super) rest: &'a str,
    pub(super) line: usize,
}

impl Tokens<'_> {
    pub(super) fn wrong(&self, problem: impl Into<String>) -> FileProblem {
        FileProblem::at(FilePlace::line(self.line), problem)
    }

    fn skip(&mut self, bytes: usize) {
        self.line += self.rest[..bytes].matches('\n').count();
        self.rest = &self.rest[bytes..];
    }

    /// Skips blanks and comments.
    fn skip_blank(&mut self) -> Result<(), FileProblem> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.skip(blank);
            let end = if self.rest.starts_with("//") || self.rest.starts_with('#') {
                self.rest.find('\n').unwrap_or(self.rest.len())
            } else if self.rest.starts_with("/*") {
                self.rest.find("*/").map(|at| at + 2).ok_or_else(|| self.wrong("a comment does not end"))?
            } else {
                return Ok(());
            };
            self.skip(end);
        }
    }

    pub(super) fn next(&mut self) -> Result<Option<Token>, FileProblem> {
        self.skip_blank()?;
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        if self.rest.starts_with("->") {
            self.skip(2);
            return Ok(Some(Token::Arrow));
        }
        if self.rest.starts_with("--") {
            return Err(self.wrong("`--` is an edge without direction; write `->`"));
        }
        if first == '"' {
            let mut word = self.quoted()?;
            // `+` concatenates quoted texts.
            loop {
                self.skip_blank()?;
                let Some(rest) = self.rest.strip_prefix('+') else { return Ok(Some(Token::Word(word))) };
                self.rest = rest;
                self.skip_blank()?;
                if !self.rest.starts_with('"') {
                    return Err(self.wrong("`+` must be followed by text in quotation marks"));
                }
                word += &self.quoted()?;
            }
        }
        if first == '<' {
            return self.html().map(Some);
        }
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        // A minus sign may be a part of a number, but `->` is never a part of a word.
        let end = self.rest[..end].find("->").unwrap_or(end);
        let cut = self.rest[..end].ends_with('-') && self.rest[end..].starts_with('>');
        let end = if cut { end - 1 } else { end };
        if end > 0 {
            let word = self.rest[..end].to_owned();
            self.skip(end);
            return Ok(Some(Token::Word(word)));
        }
        if matches!(first, '{' | '}' | '[' | ']' | ';' | ',' | '=' | ':') {
            self.skip(1);
            return Ok(Some(Token::Mark(first)));
        }
        Err(self.wrong(format!("`{first}` is not expected here")))
    }

    fn quoted(&mut self) -> Result<String, FileProblem> {
        let mut word = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.skip(at + 1);
                    return Ok(word);
                }
                '\\' => match chars.next() {
                    Some((_, c @ ('"' | '\\'))) => word.push(c),
                    Some((_, '\n')) => {}
                    Some((_, c)) => word.extend(['\\', c]),
                    None => break,
                },
                c => word.push(c),
            }
        }
        Err(self.wrong("a text does not end; a quotation mark is missing"))
    }

    /// Reads an HTML-like text, from `<` to the matching `>`.
    fn html(&mut self) -> Result<Token, FileProblem> {
        let mut depth = 0_usize;
        for (at, c) in self.rest.char_indices() {
            match c {
                '<' => depth += 1,
                '>' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let word = self.rest[1..at].to_owned();
                self.skip(at + 1);
                return Ok(Token::Word(word));
            }
        }
        Err(self.wrong("a text in HTML does not end; a `>` is missing"))
    }

    /// Skips the port of a node, such as `:p` or `:p:ne`. Ports only affect drawing.
    pub(super) fn port(&mut self) -> Result<(), FileProblem> {
        for _ in 0..2 {
            if self.peek()? == Some(Token::Mark(':')) {
                self.next()?;
                self.word("a port")?;
            }
        }
        Ok(())
    }

    pub(super) fn peek(&mut self) -> Result<Option<Token>, FileProblem> {
        let (rest, line) = (self.rest, self.line);
        let token = self.next();
        (self.rest, self.line) = (rest, line);
        token
    }

    pub(super) fn expect(&mut self, mark: char) -> Result<(), FileProblem> {
        match self.next()? {
            Some(Token::Mark(found)) if found == mark => Ok(()),
            found => Err(self.wrong(format!("expected `{mark}`, found {}", shown(found.as_ref())))),
        }
    }

    pub(super) fn word(&mut self, what: &str) -> Result<String, FileProblem> {
        match self.next()? {
            Some(Token::Word(word)) => Ok(word),
            found => Err(self.wrong(format!("expected {what}, found {}", shown(found.as_ref())))),
        }
    }
}

pub(super) fn shown(token: Option<&Token>) -> String {
    match token {
        Some(Token::Word(word)) => format!("`{word}`"),
        Some(Token::Mark(mark)) => format!("`{mark}`"),
        Some(Token::Arrow) => "`->`".into(),
        None => "the end".into(),
    }
}
