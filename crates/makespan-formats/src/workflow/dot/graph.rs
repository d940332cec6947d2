//! Converts nodes and edges with their attributes to a graph of tasks.

use makespan_core::{Edge, Graph, NamedTask, Payload, Profile, Task};
use rustc_hash::FxHashMap;

use super::super::Wrong;
use super::attributes::Attributes;
use super::{Parts, StatedEdge};
use crate::error::Place;
use crate::instance::command::by_shell;
use crate::odd::Odd;

impl Parts {
    /// Returns the graph. Counts impossible values in `odd`.
    pub(super) fn graph(&self, odd: &mut Odd) -> Result<Graph, Wrong> {
        let tasks = self.names.iter().zip(&self.tasks);
        let tasks = tasks.map(|(name, (attributes, line))| task(name, attributes, *line, odd));
        let tasks = tasks.collect::<Result<Vec<_>, Wrong>>()?;
        let mut edges: Vec<Edge> = Vec::with_capacity(self.edges.len());
        let mut known: FxHashMap<(u32, u32), usize> = FxHashMap::default();
        for stated in &self.edges {
            let payload = self.payload(stated, odd)?;
            let (from, to) = (stated.from, stated.to);
            let place = *known.entry((from, to)).or_insert(edges.len());
            match edges.get_mut(place) {
                None => edges.push(Edge { from, to, payload }),
                Some(edge) => edge.payload = self.both(edge.payload, payload, stated)?,
            }
        }
        Graph::new(tasks, edges).map_err(|error| error.to_string().into())
    }

    fn wrong(&self, edge: &StatedEdge, problem: &str) -> Wrong {
        let [from, to] = [edge.from, edge.to].map(|task| &self.names[task as usize]);
        Wrong::at(Place::line(edge.line), format!("edge `{from}` -> `{to}`: {problem}"))
    }

    fn payload(&self, edge: &StatedEdge, odd: &mut Odd) -> Result<Payload, Wrong> {
        let owner = || {
            let [from, to] = [edge.from, edge.to].map(|task| &self.names[task as usize]);
            format!("edge `{from}` -> `{to}`")
        };
        match (edge.attributes.get("data"), edge.attributes.get("transfer")) {
            (None, None) => Ok(Payload::Bytes(0)),
            (Some(text), None) => Ok(Payload::Bytes(odd.bytes(Some(text), owner))),
            (None, Some(text)) => Ok(Payload::Fixed(odd.transfer(text, owner))),
            (Some(_), Some(_)) => Err(self.wrong(edge, "it has both `data` and `transfer`; write one of them")),
        }
    }

    /// Combines the payloads of two parallel edges. Data are added. Two transfers run at the same time, so the longer
    /// one counts.
    fn both(&self, first: Payload, second: Payload, edge: &StatedEdge) -> Result<Payload, Wrong> {
        match (first, second) {
            (Payload::Bytes(first), Payload::Bytes(second)) => Ok(Payload::Bytes(first.saturating_add(second))),
            (Payload::Fixed(first), Payload::Fixed(second)) => Ok(Payload::Fixed(first.max(second))),
            (Payload::Bytes(0), other) | (other, Payload::Bytes(0)) => Ok(other),
            _ => Err(self
                .wrong(edge, "one edge has `data` and a parallel edge has `transfer`; use the same attribute on both")),
        }
    }
}

fn task(name: &str, attributes: &Attributes, line: usize, odd: &mut Odd) -> Result<NamedTask, Wrong> {
    let wrong = |problem: String| Wrong::at(Place::line(line), format!("node `{name}`: {problem}"));
    let stated = match (attributes.get("time"), attributes.get("work")) {
        (Some(_), Some(_)) => return Err(wrong("it has both `time` and `work`; write one of them".into())),
        (time, work) => time.or(work),
    };
    let (time, estimate) = odd.run_time(stated.map(String::as_str), || format!("node `{name}`"));
    let profile = Profile::rigid(1, time).map_err(|error| wrong(error.to_string()))?;
    let command = attributes.get("command").map_or_else(Vec::new, |line| by_shell(line.as_str()));
    Ok(NamedTask { name: name.into(), task: Task { estimate, command, ..Task::new(profile) } })
}
