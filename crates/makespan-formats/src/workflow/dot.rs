//! DOT, the language of Graphviz, as far as graphs of tasks need it: one `digraph` with nodes, edges and chains of edges,
//! their attributes, default attributes, and comments.
//!
//! A node may have `time` or `work`, seconds on a processor of speed 1, or else has a guess, and a `command` for the shell. An
//! edge may have `data`, bytes, or `transfer`, seconds.
//! Other attributes are for drawing. Subgraphs, ports and undirected graphs are refused.

use makespan_core::{Edge, Estimate, Graph, Job, NamedTask, Payload, Profile, Task, Time};
use rustc_hash::FxHashMap;

use super::{Read, Wrong};
use crate::error::Place;
use crate::guess::guessed;
use crate::instance::command::by_shell;
use crate::scalar::exact_decimal;

/// Whether a text begins like one.
pub(super) fn begins(text: &[u8]) -> bool {
    let text = std::str::from_utf8(&text[..text.len().min(4096)]).unwrap_or_default();
    let mut tokens = Tokens { rest: text, line: 1 };
    match tokens.next() {
        Ok(Some(Token::Word(word))) => matches!(word.as_str(), "digraph" | "strict" | "graph") && text.contains('{'),
        _ => false,
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Mark(char),
    Arrow,
}

struct Tokens<'a> {
    rest: &'a str,
    line: usize,
}

impl Tokens<'_> {
    fn wrong(&self, problem: impl Into<String>) -> Wrong {
        Wrong::at(Place::line(self.line), problem)
    }

    fn skip(&mut self, bytes: usize) {
        self.line += self.rest[..bytes].matches('\n').count();
        self.rest = &self.rest[bytes..];
    }

    /// Skips blanks and comments.
    fn skip_blank(&mut self) -> Result<(), Wrong> {
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

    fn next(&mut self) -> Result<Option<Token>, Wrong> {
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
            return self.quoted().map(Some);
        }
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        // A minus sign belongs to a number, an arrow to nobody.
        let end = self.rest[..end].find("->").unwrap_or(end);
        let cut = self.rest[..end].ends_with('-') && self.rest[end..].starts_with('>');
        let end = if cut { end - 1 } else { end };
        if end > 0 {
            let word = self.rest[..end].to_owned();
            self.skip(end);
            return Ok(Some(Token::Word(word)));
        }
        if matches!(first, '{' | '}' | '[' | ']' | ';' | ',' | '=') {
            self.skip(1);
            return Ok(Some(Token::Mark(first)));
        }
        Err(self.wrong(format!("`{first}` is not expected here; ports and labels in HTML are not read")))
    }

    fn quoted(&mut self) -> Result<Token, Wrong> {
        let mut word = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.skip(at + 1);
                    return Ok(Token::Word(word));
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

    fn peek(&mut self) -> Result<Option<Token>, Wrong> {
        let (rest, line) = (self.rest, self.line);
        let token = self.next();
        (self.rest, self.line) = (rest, line);
        token
    }

    fn expect(&mut self, mark: char) -> Result<(), Wrong> {
        match self.next()? {
            Some(Token::Mark(found)) if found == mark => Ok(()),
            found => Err(self.wrong(format!("expected `{mark}`, found {}", shown(found.as_ref())))),
        }
    }

    fn word(&mut self, what: &str) -> Result<String, Wrong> {
        match self.next()? {
            Some(Token::Word(word)) => Ok(word),
            found => Err(self.wrong(format!("expected {what}, found {}", shown(found.as_ref())))),
        }
    }
}

fn shown(token: Option<&Token>) -> String {
    match token {
        Some(Token::Word(word)) => format!("`{word}`"),
        Some(Token::Mark(mark)) => format!("`{mark}`"),
        Some(Token::Arrow) => "`->`".into(),
        None => "the end".into(),
    }
}

type Attributes = FxHashMap<String, String>;

/// Attributes that are read: of these, the same place does not state two values.
const READ: [&str; 5] = ["time", "work", "command", "data", "transfer"];

/// What has been read, in the order of the file.
#[derive(Default)]
struct Parts {
    names: Vec<String>,
    numbers: FxHashMap<String, u32>,
    tasks: Vec<(Attributes, usize)>,
    /// What the nodes state themselves, not by the usual attributes.
    own: Vec<Attributes>,
    edges: Vec<(u32, u32, Attributes, usize)>,
    usual_task: Attributes,
    usual_edge: Attributes,
}

pub(super) fn read(text: &str, name: &str) -> Result<Read, Wrong> {
    let job = Job::compound(name, parts(text)?.graph()?);
    Ok(Read::of(vec![job], Vec::new()))
}

/// The labels of nodes, and edges by their numbers.
type Drawn = (Vec<String>, Vec<(u32, u32)>);

/// The label of each node, or its name where it has none, and the edges: a graph that another program has drawn, and that says
/// nothing of times.
pub(super) fn labels(text: &str) -> Result<Drawn, Wrong> {
    let Parts { names, tasks, edges, .. } = parts(text)?;
    let label = |(name, (attributes, _)): (&String, &(Attributes, usize))| {
        attributes.get("label").filter(|label| !label.is_empty()).unwrap_or(name).clone()
    };
    let labels = names.iter().zip(&tasks).map(label).collect();
    Ok((labels, edges.iter().map(|&(from, to, ..)| (from, to)).collect()))
}

fn parts(text: &str) -> Result<Parts, Wrong> {
    let mut tokens = Tokens { rest: text, line: 1 };
    let mut first = tokens.word("`digraph`")?;
    if first == "strict" {
        first = tokens.word("`digraph`")?;
    }
    if first != "digraph" {
        return Err(tokens.wrong(format!("expected `digraph`, found `{first}`; tasks wait in a direction")));
    }
    if let Some(Token::Word(_)) = tokens.peek()? {
        tokens.next()?;
    }
    tokens.expect('{')?;
    let mut parts = Parts::default();
    while parts.statement(&mut tokens)? {}
    if let Some(token) = tokens.next()? {
        return Err(tokens.wrong(format!("the graph has ended and {} follows; one graph is read", shown(Some(&token)))));
    }
    Ok(parts)
}

impl Parts {
    /// Reads a statement; `false` at the end of the graph.
    fn statement(&mut self, tokens: &mut Tokens<'_>) -> Result<bool, Wrong> {
        let word = match tokens.next()? {
            Some(Token::Mark('}')) => return Ok(false),
            Some(Token::Mark(';')) => return Ok(true),
            Some(Token::Word(word)) => word,
            found => return Err(tokens.wrong(format!("expected a node, found {}", shown(found.as_ref())))),
        };
        if word == "subgraph" {
            return Err(tokens.wrong("subgraphs are not read; write the nodes of the graph itself"));
        }
        let next = tokens.peek()?;
        if matches!(word.as_str(), "graph" | "node" | "edge") && next == Some(Token::Mark('[')) {
            let usual = attributes(tokens)?;
            match word.as_str() {
                "node" => self.usual_task.extend(usual),
                "edge" => self.usual_edge.extend(usual),
                _ => {}
            }
            return Ok(true);
        }
        if next == Some(Token::Mark('=')) {
            tokens.next()?;
            tokens.word("a value")?;
            return Ok(true);
        }
        let mut chain = vec![self.node(&word, tokens.line)];
        while tokens.peek()? == Some(Token::Arrow) {
            tokens.next()?;
            let next = tokens.word("a node")?;
            chain.push(self.node(&next, tokens.line));
        }
        let stated = attributes(tokens)?;
        if let &[task] = chain.as_slice() {
            let own = &mut self.own[task as usize];
            for (key, value) in stated.iter().filter(|(key, _)| READ.contains(&key.as_str())) {
                if let Some(before) = own.insert(key.clone(), value.clone()).filter(|before| before != value) {
                    let problem =
                        format!("node `{word}` has `{key}` {before} in one place and {value} here; write one");
                    return Err(tokens.wrong(problem));
                }
            }
            self.tasks[task as usize].0.extend(stated.clone());
        }
        for pair in chain.windows(2) {
            let mut own = self.usual_edge.clone();
            own.extend(stated.clone());
            self.edges.push((pair[0], pair[1], own, tokens.line));
        }
        Ok(true)
    }

    /// The number of a node, which is made where it is first named.
    fn node(&mut self, name: &str, line: usize) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        self.tasks.push((self.usual_task.clone(), line));
        self.own.push(Attributes::default());
        number
    }

    fn graph(self) -> Result<Graph, Wrong> {
        let task = |(name, (attributes, line)): (&String, &(Attributes, usize))| {
            let wrong = |problem: String| Wrong::at(Place::line(*line), format!("node `{name}`: {problem}"));
            let stated = match (attributes.get("time"), attributes.get("work")) {
                (Some(text), None) | (None, Some(text)) => Some(text),
                (None, None) => None,
                (Some(_), Some(_)) => return Err(wrong("it has both `time` and `work`; write one of them".into())),
            };
            let stated = stated.map(|text| Time::parse(text).map_err(|error| wrong(error.to_string()))).transpose()?;
            let (profile, estimate) = match stated {
                Some(time) => (Profile::rigid(1, time), Estimate::Stated),
                None => (guessed(1, 1, None, None), Estimate::Guessed),
            };
            let profile = profile.map_err(|error| wrong(error.to_string()))?;
            let command = attributes.get("command").map_or_else(Vec::new, |line| by_shell(line.as_str()));
            Ok(NamedTask { name: name.as_str().into(), task: Task { estimate, command, ..Task::new(profile) } })
        };
        let tasks = self.names.iter().zip(&self.tasks).map(task).collect::<Result<Vec<_>, Wrong>>()?;
        let edge = |(from, to, attributes, line): &(u32, u32, Attributes, usize)| {
            let name = |task: &u32| &self.names[*task as usize];
            let wrong = |problem: String| {
                Wrong::at(Place::line(*line), format!("edge `{}` -> `{}`: {problem}", name(from), name(to)))
            };
            let payload = match (attributes.get("data"), attributes.get("transfer")) {
                (None, None) => Payload::Bytes(0),
                (Some(text), None) => {
                    let bytes = exact_decimal(text, 0).filter(|bytes| (0..=1_000_000_000_000_000_000).contains(bytes));
                    let bytes = bytes.ok_or_else(|| wrong(format!("`{text}` is not a whole number of bytes")))?;
                    Payload::Bytes(bytes as u64)
                }
                (None, Some(text)) => Payload::Fixed(Time::parse(text).map_err(|error| wrong(error.to_string()))?),
                (Some(_), Some(_)) => return Err(wrong("it has both `data` and `transfer`; write one of them".into())),
            };
            Ok(Edge { from: *from, to: *to, payload })
        };
        let edges = self.edges.iter().map(edge).collect::<Result<Vec<_>, Wrong>>()?;
        Graph::new(tasks, edges).map_err(|error| error.to_string().into())
    }
}

/// The lists of attributes that follow, if any.
fn attributes(tokens: &mut Tokens<'_>) -> Result<Attributes, Wrong> {
    let mut all = Attributes::default();
    while tokens.peek()? == Some(Token::Mark('[')) {
        tokens.next()?;
        loop {
            match tokens.next()? {
                Some(Token::Mark(']')) => break,
                Some(Token::Mark(';' | ',')) => {}
                Some(Token::Word(key)) => {
                    tokens.expect('=')?;
                    let value = tokens.word("a value")?;
                    if READ.contains(&key.as_str()) && all.get(&key).is_some_and(|before| *before != value) {
                        return Err(tokens.wrong(format!("`{key}` is stated twice; write it once")));
                    }
                    all.insert(key, value);
                }
                found => return Err(tokens.wrong(format!("expected an attribute, found {}", shown(found.as_ref())))),
            }
        }
    }
    Ok(all)
}
