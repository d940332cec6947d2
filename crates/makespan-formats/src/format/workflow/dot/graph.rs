//! Converts the nodes and edges of a DOT file, and their attributes, to a task graph.

use makespan_core::{Edge, Graph, NamedTask, Payload, Profile, Task};
use rustc_hash::FxHashMap;

use super::super::FileProblem;
use super::attributes::Attributes;
use super::{Parts, StatedEdge, contradiction};
use crate::error::FilePlace;
use crate::instance::command::by_shell;
use crate::odd::ImpossibleValues;

impl Parts {
    /// Returns the task graph. Counts impossible and contradictory values in `odd`.
    pub(super) fn graph(&self, odd: &mut ImpossibleValues) -> Result<Graph, FileProblem> {
        let tasks = self.names.iter().zip(&self.tasks);
        let tasks = tasks.map(|(name, (attributes, line))| task(name, attributes, *line, odd));
        let tasks = tasks.collect::<Result<Vec<_>, FileProblem>>()?;
        let mut edges: Vec<Edge> = Vec::with_capacity(self.edges.len());
        let mut known: FxHashMap<(u32, u32), usize> = FxHashMap::default();
        for stated in &self.edges {
            let payload = self.payload(stated, odd);
            let (from, to) = (stated.from, stated.to);
            let place = *known.entry((from, to)).or_insert(edges.len());
            match edges.get_mut(place) {
                None => edges.push(Edge { from, to, payload }),
                Some(edge) => edge.payload = self.both(edge.payload, payload, stated, odd),
            }
        }
        Graph::new(tasks, edges).map_err(|error| error.to_string().into())
    }

    /// Returns the name that warnings use for an edge.
    fn named(&self, edge: &StatedEdge) -> String {
        let [from, to] = [edge.from, edge.to].map(|task| &self.names[task as usize]);
        format!("edge `{from}` -> `{to}`")
    }

    /// Returns the payload (data or transfer time) of an edge: its `data` if stated, or else its `transfer`.
    fn payload(&self, edge: &StatedEdge, odd: &mut ImpossibleValues) -> Payload {
        let [data, transfer] = ["data", "transfer"].map(|key| edge.attributes.get(key).map(String::as_str));
        match (data, transfer) {
            (None, None) => Payload::Bytes(0),
            (None, Some(text)) => Payload::Fixed(odd.transfer(text, || self.named(edge))),
            (Some(text), transfer) => {
                if let Some(transfer) = transfer {
                    contradiction(odd, || self.named(edge), "transfer", transfer);
                }
                Payload::Bytes(odd.bytes(Some(text), || self.named(edge)))
            }
        }
    }

    /// Returns the combined payload of two parallel edges. Data sizes are summed. The longer of two transfer times is
    /// used, because parallel transfers begin at the same instant. If one edge has data and the other edge a transfer
    /// time, the transfer time is ignored.
    fn both(&self, first: Payload, second: Payload, edge: &StatedEdge, odd: &mut ImpossibleValues) -> Payload {
        match (first, second) {
            (Payload::Bytes(first), Payload::Bytes(second)) => Payload::Bytes(first.saturating_add(second)),
            (Payload::Fixed(first), Payload::Fixed(second)) => Payload::Fixed(first.max(second)),
            (Payload::Bytes(0), other) | (other, Payload::Bytes(0)) => other,
            (Payload::Bytes(bytes), Payload::Fixed(time)) | (Payload::Fixed(time), Payload::Bytes(bytes)) => {
                contradiction(odd, || self.named(edge), "transfer", &time.to_string());
                Payload::Bytes(bytes)
            }
        }
    }
}

/// Returns the task of a node. The run time is the node's `time` if stated, or else its `work`, or else a guess.
fn task(
    name: &str,
    attributes: &Attributes,
    line: usize,
    odd: &mut ImpossibleValues,
) -> Result<NamedTask, FileProblem> {
    let wrong = |problem: String| FileProblem::at(FilePlace::line(line), format!("node `{name}`: {problem}"));
    let owner = || format!("node `{name}`");
    let [time, work] = ["time", "work"].map(|key| attributes.get(key).map(String::as_str));
    if let (Some(time), Some(work)) = (time, work)
        && time != work
    {
        contradiction(odd, owner, "work", work);
    }
    let (time, estimate) = odd.run_time(time.or(work), owner);
    let profile = Profile::rigid(1, time).map_err(|error| wrong(error.to_string()))?;
    let command = attributes.get("command").map_or_else(Vec::new, |line| by_shell(line.as_str()));
    Ok(NamedTask { name: name.into(), task: Task { estimate, command, ..Task::new(profile) } })
}
