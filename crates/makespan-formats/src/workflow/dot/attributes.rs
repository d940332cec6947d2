//! Which attributes of DOT mean something here, which are for drawing, and which are neither.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

/// The attributes of a node, an edge or a graph.
pub(super) type Attributes = FxHashMap<String, String>;

/// An element that has attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Element {
    Node,
    Edge,
    Graph,
}

/// Attributes of nodes that are read.
const OF_NODES: [&str; 3] = ["time", "work", "command"];
/// Attributes of edges that are read.
const OF_EDGES: [&str; 2] = ["data", "transfer"];

/// Graphviz's attributes of nodes (<https://graphviz.org/docs/nodes/>).
const DRAWN_NODES: &str = " area class color colorscheme comment distortion fillcolor fixedsize fontcolor fontname fontsize \
    gradientangle group height href id image imagepos imagescale label labelloc layer margin nojustify ordering orientation \
    penwidth peripheries pin pos rank rects regular root samplepoints shape shapefile showboxes sides skew sortv style \
    target tooltip URL vertices width xlabel xlp z ";

/// Graphviz's attributes of edges (<https://graphviz.org/docs/edges/>).
const DRAWN_EDGES: &str = " arrowhead arrowsize arrowtail class color colorscheme comment constraint decorate dir edgehref \
    edgetarget edgetooltip edgeURL fillcolor fontcolor fontname fontsize head_lp headclip headhref headlabel headport \
    headtarget headtooltip headURL href id key label labelangle labeldistance labelfloat labelfontcolor labelfontname \
    labelfontsize labelhref labeltarget labeltooltip labelURL layer len lhead lp ltail minlen nojustify penwidth pos samehead \
    sametail showboxes style tail_lp tailclip tailhref taillabel tailport tailtarget tailtooltip tailURL target tooltip URL \
    weight xlabel xlp ";

/// Attributes that are stated and neither read nor for drawing, with their numbers.
#[derive(Default)]
pub(super) struct Unread(BTreeMap<(Element, String), usize>);

/// Whether an attribute of this element is read.
pub(super) fn is_read(element: Element, key: &str) -> bool {
    match element {
        Element::Node => OF_NODES.contains(&key),
        Element::Edge => OF_EDGES.contains(&key),
        Element::Graph => false,
    }
}

/// Whether an attribute is one of Graphviz's. Attributes of the graph are all for drawing.
fn draws(element: Element, key: &str) -> bool {
    let known = match element {
        Element::Node => DRAWN_NODES,
        Element::Edge => DRAWN_EDGES,
        Element::Graph => return true,
    };
    key.starts_with('_') || known.contains(&format!(" {key} "))
}

impl Unread {
    /// Counts the attributes of a statement that are neither read nor for drawing.
    pub(super) fn count(&mut self, element: Element, attributes: &Attributes) {
        for key in attributes.keys().filter(|key| !is_read(element, key) && !draws(element, key)) {
            *self.0.entry((element, key.clone())).or_default() += 1;
        }
    }

    /// Returns one sentence that names the attributes, if there are any.
    pub(super) fn remark(&self) -> Option<String> {
        let named = |((element, key), count): (&(Element, String), &usize)| {
            let element = if *element == Element::Node { "nodes" } else { "edges" };
            format!("`{key}` of {element} ({count})")
        };
        let names: Vec<String> = self.0.iter().map(named).collect();
        (!names.is_empty()).then(|| {
            let names = names.join(", ");
            format!(
                "attributes that are neither read nor for drawing are ignored: {names}; nodes have `time`, `work` and `command`, \
                 edges `data` and `transfer`"
            )
        })
    }
}
