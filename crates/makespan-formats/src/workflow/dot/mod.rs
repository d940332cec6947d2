//! DOT, the language of Graphviz, as far as graphs of tasks need it: one `digraph` with nodes, groups of nodes, edges and chains of
//! edges, their attributes, default attributes, and comments.
//!
//! A node may have `time` or `work`, seconds on a processor of speed 1, or else has a guess, and a `command` for the shell. An
//! edge may have `data`, bytes, or `transfer`, seconds.
//! Other attributes are for drawing. A subgraph is a group of nodes. Ports and undirected graphs are refused.

mod tokens;

use makespan_core::{Edge, Estimate, Graph, Job, NamedTask, Payload, Profile, Task, Time};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Read, Wrong};
use crate::error::Place;
use crate::guess::guessed;
use crate::instance::command::by_shell;
use crate::scalar::exact_decimal;
use tokens::{Token, Tokens, shown};

/// Groups within groups that are read.
const DEEPEST: usize = 100;

/// Most edges between groups.
const MAX_EDGES: usize = 1 << 20;

/// Whether a text begins like one.
pub(super) fn begins(text: &[u8]) -> bool {
    let text = std::str::from_utf8(&text[..text.len().min(4096)]).unwrap_or_default();
    let mut tokens = Tokens { rest: text, line: 1 };
    match tokens.next() {
        Ok(Some(Token::Word(word))) => matches!(word.as_str(), "digraph" | "strict" | "graph") && text.contains('{'),
        _ => false,
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
    /// How many edges groups have made.
    between_groups: usize,
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
    while parts.statement(&mut tokens, 0)?.is_some() {}
    if let Some(token) = tokens.next()? {
        return Err(tokens.wrong(format!("the graph has ended and {} follows; one graph is read", shown(Some(&token)))));
    }
    Ok(parts)
}

impl Parts {
    /// Reads a statement and gives the nodes in it; `None` at the end of the graph or group.
    fn statement(&mut self, tokens: &mut Tokens<'_>, depth: usize) -> Result<Option<Vec<u32>>, Wrong> {
        let first = match tokens.next()? {
            Some(Token::Mark('}')) => return Ok(None),
            Some(Token::Mark(';')) => return Ok(Some(Vec::new())),
            found => found,
        };
        let next = tokens.peek()?;
        match &first {
            Some(Token::Word(word))
                if matches!(word.as_str(), "graph" | "node" | "edge") && next == Some(Token::Mark('[')) =>
            {
                let usual = attributes(tokens)?;
                match word.as_str() {
                    "node" => self.usual_task.extend(usual),
                    "edge" => self.usual_edge.extend(usual),
                    _ => {}
                }
                return Ok(Some(Vec::new()));
            }
            Some(Token::Word(_)) if next == Some(Token::Mark('=')) => {
                tokens.next()?;
                tokens.word("a value")?;
                return Ok(Some(Vec::new()));
            }
            _ => {}
        }
        let is_group = matches!(&first, Some(Token::Mark(_))) || first == Some(Token::Word("subgraph".into()));
        let mut chain = vec![self.nodes(first, tokens, depth)?];
        while tokens.peek()? == Some(Token::Arrow) {
            tokens.next()?;
            let next = tokens.next()?;
            chain.push(self.nodes(next, tokens, depth)?);
        }
        let stated = attributes(tokens)?;
        if chain.len() == 1 && !is_group {
            chain[0].iter().try_for_each(|&task| self.state(task, &stated, tokens))?;
        }
        for pair in chain.windows(2) {
            let made = pair[0].len().saturating_mul(pair[1].len());
            self.between_groups = self.between_groups.saturating_add(if made > 1 { made } else { 0 });
            if self.between_groups > MAX_EDGES {
                return Err(tokens.wrong(format!("the groups make more than {MAX_EDGES} edges")));
            }
            let mut own = self.usual_edge.clone();
            own.extend(stated.clone());
            for &from in &pair[0] {
                self.edges.extend(pair[1].iter().map(|&to| (from, to, own.clone(), tokens.line)));
            }
        }
        Ok(Some(chain.concat()))
    }

    /// The nodes where an edge may begin or end: one, several with commas, or a group.
    fn nodes(&mut self, first: Option<Token>, tokens: &mut Tokens<'_>, depth: usize) -> Result<Vec<u32>, Wrong> {
        match first {
            Some(Token::Word(word)) if word == "subgraph" => {
                if let Some(Token::Word(_)) = tokens.peek()? {
                    tokens.next()?;
                }
                tokens.expect('{')?;
                self.group(tokens, depth)
            }
            Some(Token::Mark('{')) => self.group(tokens, depth),
            Some(Token::Word(word)) => {
                let mut nodes = vec![self.node(&word, tokens.line)];
                while tokens.peek()? == Some(Token::Mark(',')) {
                    tokens.next()?;
                    let word = tokens.word("a node")?;
                    nodes.push(self.node(&word, tokens.line));
                }
                Ok(nodes)
            }
            found => Err(tokens.wrong(format!("expected a node, found {}", shown(found.as_ref())))),
        }
    }

    /// The nodes of a group behind its `{`. Default attributes in it hold in it.
    fn group(&mut self, tokens: &mut Tokens<'_>, depth: usize) -> Result<Vec<u32>, Wrong> {
        if depth == DEEPEST {
            return Err(tokens.wrong(format!("more than {DEEPEST} groups stand one within another")));
        }
        let usual = (self.usual_task.clone(), self.usual_edge.clone());
        let (mut nodes, mut seen) = (Vec::new(), FxHashSet::default());
        while let Some(found) = self.statement(tokens, depth + 1)? {
            nodes.extend(found.into_iter().filter(|node| seen.insert(*node)));
        }
        (self.usual_task, self.usual_edge) = usual;
        Ok(nodes)
    }

    /// Gives a node the attributes that a statement of its own has.
    fn state(&mut self, task: u32, stated: &Attributes, tokens: &Tokens<'_>) -> Result<(), Wrong> {
        let own = &mut self.own[task as usize];
        for (key, value) in stated.iter().filter(|(key, _)| READ.contains(&key.as_str())) {
            if let Some(before) = own.insert(key.clone(), value.clone()).filter(|before| before != value) {
                let name = &self.names[task as usize];
                let problem = format!("node `{name}` has `{key}` {before} in one place and {value} here; write one");
                return Err(tokens.wrong(problem));
            }
        }
        self.tasks[task as usize].0.extend(stated.clone());
        Ok(())
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
