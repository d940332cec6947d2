//! Reads the graph that `ninja -t graph` prints in the language of Graphviz.

use rustc_hash::FxHashMap;

/// Edges of the graph of ninja. An edge connects input files with output files.
#[derive(Debug, Default)]
pub(super) struct BuildGraph<'a> {
    pub(super) edges: Vec<GraphEdge<'a>>,
    /// For each output file, the index of its edge.
    producers: FxHashMap<&'a str, usize>,
}

/// An edge of the graph.
#[derive(Debug, Default)]
pub(super) struct GraphEdge<'a> {
    /// All inputs: explicit, implicit and order-only.
    pub(super) inputs: Vec<&'a str>,
    /// All outputs, explicit outputs first.
    pub(super) outputs: Vec<&'a str>,
}

impl<'a> BuildGraph<'a> {
    /// Returns the edge that makes a file.
    pub(super) fn producer(&self, file: &str) -> Option<usize> {
        self.producers.get(file).copied()
    }

    /// Reads the output of the tool. Returns `None` if a file of the graph has no name.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let mut graph = Self::default();
        let (mut files, mut edges) = (FxHashMap::default(), FxHashMap::<&str, GraphEdge<'_>>::default());
        let mut arrows = Vec::new();
        // Edges in the order of their first outputs.
        let mut order = Vec::new();
        for line in text.lines() {
            let Some((id, rest)) = line.strip_prefix('"').and_then(|line| line.split_once('"')) else { continue };
            if let Some(rest) = rest.strip_prefix(" -> \"") {
                let Some((to, attributes)) = rest.split_once('"') else { continue };
                arrows.push((id, to, attributes));
            } else if let Some(label) = rest.strip_prefix(" [label=\"") {
                match label.strip_suffix("\", shape=ellipse]") {
                    Some(_) => drop(edges.insert(id, GraphEdge::default())),
                    None => drop(files.insert(id, label.strip_suffix("\"]").unwrap_or(label))),
                }
            }
        }
        let mut simple = Vec::new();
        for (from, to, attributes) in arrows {
            if let (true, Some(edge)) = (attributes.is_empty(), edges.get_mut(from)) {
                if edge.outputs.is_empty() {
                    order.push(from);
                }
                edge.outputs.push(*files.get(to)?);
            } else if let Some(edge) = edges.get_mut(to) {
                edge.inputs.push(*files.get(from)?);
            } else {
                simple.push(GraphEdge { inputs: vec![*files.get(from)?], outputs: vec![*files.get(to)?] });
            }
        }
        let others: Vec<GraphEdge<'_>> = order.into_iter().filter_map(|id| edges.remove(id)).collect();
        for edge in others.into_iter().chain(simple) {
            graph.producers.extend(edge.outputs.iter().map(|output| (*output, graph.edges.len())));
            graph.edges.push(edge);
        }
        Some(graph)
    }
}
