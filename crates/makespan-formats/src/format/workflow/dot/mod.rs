//! DOT, the language of Graphviz. The reader supports the parts that task graphs need: one `digraph` with nodes, node
//! groups, edges, edge chains, attributes, default attributes and comments.
//!
//! A node may have a `time` or `work`, both in seconds on a processor of speed 1, and a shell `command`. If a node has
//! neither `time` nor `work`, its run time is a guess. An edge may have `data` in bytes or `transfer` in seconds.
//! Contradictions are counted and reported: `time` takes precedence over `work`, and `data` over `transfer`. If an
//! attribute is stated several times, the last value is used. The data sizes of parallel edges are summed. In a graph
//! that is declared `strict`, repeated edges between two nodes are one edge, with the last value of each attribute.
//! Ports and drawing attributes are ignored without a warning. A warning names all other ignored attributes. A
//! subgraph is a group of nodes. Undirected graphs are refused.

mod attributes;
mod graph;
mod tokens;

use makespan_core::Job;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{FileProblem, ReadJobs, remarked};
use crate::odd::{ImpossibleValues, ValueProblem};
use attributes::{Attributes, Element, IgnoredAttributes, is_read};
use tokens::{Token, Tokens, shown};

/// Maximum nesting depth of groups.
const DEEPEST: usize = 100;

/// Maximum number of edges between groups or lists of nodes, because one statement can create many edges.
const MAX_EDGES: usize = 1 << 20;

/// Returns whether a text begins like a graph in DOT.
pub(super) fn begins(text: &[u8]) -> bool {
    let text = std::str::from_utf8(&text[..text.len().min(4096)]).unwrap_or_default();
    let mut tokens = Tokens { rest: text, line: 1 };
    match tokens.next() {
        Ok(Some(Token::Word(word))) => {
            matches!(word.to_ascii_lowercase().as_str(), "digraph" | "strict" | "graph") && text.contains('{')
        }
        _ => false,
    }
}

/// An edge as written in the file.
struct StatedEdge {
    from: u32,
    to: u32,
    attributes: Attributes,
}

/// Content of a graph read so far, in file order.
#[derive(Default)]
struct Parts {
    names: Vec<String>,
    numbers: FxHashMap<String, u32>,
    tasks: Vec<(Attributes, usize)>,
    /// Attributes that statements set for each node, without default attributes.
    own: Vec<Attributes>,
    edges: Vec<StatedEdge>,
    /// Index of each edge of a strict graph, by its two nodes.
    of_strict: Option<FxHashMap<(u32, u32), usize>>,
    unread: IgnoredAttributes,
    odd: ImpossibleValues,
    /// Number of edges between groups or lists of nodes so far.
    between_groups: usize,
    usual_task: Attributes,
    usual_edge: Attributes,
}

/// Reads a graph. With `strict`, impossible values and ignored attributes are errors.
pub(super) fn read(text: &str, name: &str, strict: bool) -> Result<ReadJobs, FileProblem> {
    let mut parts = parts(text)?;
    let mut odd = std::mem::take(&mut parts.odd);
    let job = Job::compound(name, parts.graph(&mut odd)?);
    odd.refuse(strict)?;
    let unread = remarked(parts.unread.remark(), strict)?;
    Ok(ReadJobs::of(vec![job], odd.remarks().chain(unread).collect()))
}

/// The labels and edges of a graph, without the tasks' attributes.
pub(super) struct DotGraph {
    /// Label of each node, or its name if it has no label.
    pub labels: Vec<String>,
    /// Edges, as pairs of node indices.
    pub edges: Vec<(u32, u32)>,
    /// Warning about ignored attributes, except attributes that only affect drawing. `None` if there are no such
    /// attributes.
    pub unread: Option<String>,
}

/// Reads a graph, but returns only its labels and edges.
pub(super) fn labels(text: &str) -> Result<DotGraph, FileProblem> {
    let Parts { names, tasks, edges, mut unread, .. } = parts(text)?;
    tasks.iter().for_each(|(attributes, _)| unread.count_read(Element::Node, attributes));
    edges.iter().for_each(|edge| unread.count_read(Element::Edge, &edge.attributes));
    let label = |(name, (attributes, _)): (&String, &(Attributes, usize))| {
        attributes.get("label").filter(|label| !label.is_empty()).unwrap_or(name).clone()
    };
    let labels = names.iter().zip(&tasks).map(label).collect();
    let edges = edges.iter().map(|edge| (edge.from, edge.to)).collect();
    Ok(DotGraph { labels, edges, unread: unread.remark() })
}

fn parts(text: &str) -> Result<Parts, FileProblem> {
    let mut tokens = Tokens { rest: text, line: 1 };
    let mut first = tokens.word("`digraph`")?;
    let is_strict = first.eq_ignore_ascii_case("strict");
    if is_strict {
        first = tokens.word("`digraph`")?;
    }
    if !first.eq_ignore_ascii_case("digraph") {
        return Err(tokens.wrong(format!("expected `digraph`, found `{first}`; dependencies need a direction")));
    }
    if let Some(Token::Word(_)) = tokens.peek()? {
        tokens.next()?;
    }
    tokens.expect('{')?;
    let mut parts = Parts { of_strict: is_strict.then(FxHashMap::default), ..Parts::default() };
    while parts.statement(&mut tokens, 0)?.is_some() {}
    if let Some(token) = tokens.next()? {
        return Err(tokens
            .wrong(format!("{} follows the end of the graph; a file may have only one graph", shown(Some(&token)))));
    }
    Ok(parts)
}

impl Parts {
    /// Reads a statement and returns its nodes, or `None` at the end of the graph or group.
    fn statement(&mut self, tokens: &mut Tokens<'_>, depth: usize) -> Result<Option<Vec<u32>>, FileProblem> {
        let first = match tokens.next()? {
            Some(Token::Mark('}')) => return Ok(None),
            Some(Token::Mark(';')) => return Ok(Some(Vec::new())),
            found => found,
        };
        let next = tokens.peek()?;
        match &first {
            Some(Token::Word(word)) if let (Some(element), true) = (element(word), next == Some(Token::Mark('['))) => {
                let usual = self.attributes(tokens, element)?;
                self.unread.count(element, &usual);
                match element {
                    Element::Node => self.usual_task.extend(usual),
                    Element::Edge => self.usual_edge.extend(usual),
                    Element::Graph => {}
                }
                return Ok(Some(Vec::new()));
            }
            Some(Token::Word(word)) if next == Some(Token::Mark('=')) => {
                tokens.next()?;
                tokens.word("a value")?;
                self.unread.count_one(Element::Graph, word);
                return Ok(Some(Vec::new()));
            }
            _ => {}
        }
        let is_group = match &first {
            Some(Token::Word(word)) => word.eq_ignore_ascii_case("subgraph"),
            first => matches!(first, Some(Token::Mark(_))),
        };
        let mut chain = vec![self.nodes(first, tokens, depth)?];
        while tokens.peek()? == Some(Token::Arrow) {
            tokens.next()?;
            let next = tokens.next()?;
            chain.push(self.nodes(next, tokens, depth)?);
        }
        let element = if chain.len() == 1 { Element::Node } else { Element::Edge };
        let stated = self.attributes(tokens, element)?;
        self.unread.count(element, &stated);
        if chain.len() == 1 && !is_group {
            chain[0].iter().for_each(|&task| self.state(task, &stated));
        }
        for pair in chain.windows(2) {
            let made = pair[0].len().saturating_mul(pair[1].len());
            self.between_groups = self.between_groups.saturating_add(if made > 1 { made } else { 0 });
            if self.between_groups > MAX_EDGES {
                return Err(tokens.wrong(format!("the groups make more than {MAX_EDGES} edges")));
            }
            for &from in &pair[0] {
                pair[1].iter().for_each(|&to| self.edge(from, to, &stated));
            }
        }
        Ok(Some(chain.concat()))
    }

    /// Adds an edge. If a strict graph already has this edge, the function instead adds the attributes to the existing
    /// edge.
    fn edge(&mut self, from: u32, to: u32, stated: &Attributes) {
        if let Some(known) = &mut self.of_strict {
            let place = *known.entry((from, to)).or_insert(self.edges.len());
            if let Some(edge) = self.edges.get_mut(place) {
                edge.attributes.extend(stated.clone());
                return;
            }
        }
        let mut attributes = self.usual_edge.clone();
        attributes.extend(stated.clone());
        self.edges.push(StatedEdge { from, to, attributes });
    }

    /// Reads the nodes at one end of an edge: a node, several nodes separated by commas, or a group.
    fn nodes(&mut self, first: Option<Token>, tokens: &mut Tokens<'_>, depth: usize) -> Result<Vec<u32>, FileProblem> {
        match first {
            Some(Token::Word(word)) if word.eq_ignore_ascii_case("subgraph") => {
                if let Some(Token::Word(_)) = tokens.peek()? {
                    tokens.next()?;
                }
                tokens.expect('{')?;
                self.group(tokens, depth)
            }
            Some(Token::Mark('{')) => self.group(tokens, depth),
            Some(Token::Word(word)) => {
                let mut nodes = vec![self.node(&word, tokens.line)];
                tokens.port()?;
                while tokens.peek()? == Some(Token::Mark(',')) {
                    tokens.next()?;
                    let word = tokens.word("a node")?;
                    nodes.push(self.node(&word, tokens.line));
                    tokens.port()?;
                }
                Ok(nodes)
            }
            found => Err(tokens.wrong(format!("expected a node, found {}", shown(found.as_ref())))),
        }
    }

    /// Reads the nodes of a group, after its `{`. Default attributes of a group apply only within this group.
    fn group(&mut self, tokens: &mut Tokens<'_>, depth: usize) -> Result<Vec<u32>, FileProblem> {
        if depth == DEEPEST {
            return Err(tokens.wrong(format!("subgraphs are nested more than {DEEPEST} levels deep")));
        }
        let usual = (self.usual_task.clone(), self.usual_edge.clone());
        let (mut nodes, mut seen) = (Vec::new(), FxHashSet::default());
        while let Some(found) = self.statement(tokens, depth + 1)? {
            nodes.extend(found.into_iter().filter(|node| seen.insert(*node)));
        }
        (self.usual_task, self.usual_edge) = usual;
        Ok(nodes)
    }

    /// Adds the attributes of a statement to a node. If an attribute already has a different value, counts the
    /// contradiction and replaces the value.
    fn state(&mut self, task: u32, stated: &Attributes) {
        let own = &mut self.own[task as usize];
        for (key, value) in stated.iter().filter(|(key, _)| is_read(Element::Node, key)) {
            if let Some(before) = own.insert(key.clone(), value.clone()).filter(|before| before != value) {
                contradiction(&mut self.odd, || format!("node `{}`", self.names[task as usize]), key, &before);
            }
        }
        self.tasks[task as usize].0.extend(stated.clone());
    }

    /// Reads the attribute lists at this position, if there are any. If an attribute is stated several times, the last
    /// value is used.
    fn attributes(&mut self, tokens: &mut Tokens<'_>, element: Element) -> Result<Attributes, FileProblem> {
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
                        let is_read = is_read(element, &key);
                        if let Some(before) =
                            all.insert(key.clone(), value.clone()).filter(|before| is_read && *before != value)
                        {
                            contradiction(&mut self.odd, || format!("line {}", tokens.line), &key, &before);
                        }
                    }
                    found => {
                        return Err(tokens.wrong(format!("expected an attribute, found {}", shown(found.as_ref()))));
                    }
                }
            }
        }
        Ok(all)
    }

    /// Returns the number of a node. If the name is new, adds the node.
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
}

/// Returns the kind of element for which a keyword sets the default attributes.
fn element(word: &str) -> Option<Element> {
    match word.to_ascii_lowercase().as_str() {
        "node" => Some(Element::Node),
        "edge" => Some(Element::Edge),
        "graph" => Some(Element::Graph),
        _ => None,
    }
}

/// Counts an attribute of `owner` that is ignored, because it contradicts an attribute that takes precedence.
fn contradiction(odd: &mut ImpossibleValues, owner: impl FnOnce() -> String, key: &str, value: &str) {
    odd.add(ValueProblem::Contradiction, owner, Some(&format!("{key}={value}")));
}
