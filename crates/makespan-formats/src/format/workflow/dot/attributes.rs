//! Sorts attributes of DOT into three groups: attributes that the reader uses, attributes that only affect drawing,
//! and unknown attributes.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

/// Attributes of a node, an edge or a graph.
pub(super) type Attributes = FxHashMap<String, String>;

/// Element that has attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Element {
    Node,
    Edge,
    Graph,
}

/// Node attributes that are read.
const OF_NODES: [&str; 3] = ["time", "work", "command"];
/// Edge attributes that are read.
const OF_EDGES: [&str; 2] = ["data", "transfer"];

/// Node attributes of Graphviz (<https://graphviz.org/docs/nodes/>).
const DRAWN_NODES: &str = " area class color colorscheme comment distortion fillcolor fixedsize fontcolor fontname fontsize \
    gradientangle group height href id image imagepos imagescale label labelloc layer margin nojustify ordering orientation \
    penwidth peripheries pin pos rank rects regular root samplepoints shape shapefile showboxes sides skew sortv style \
    target tooltip URL vertices width xlabel xlp z ";

/// Edge attributes of Graphviz (<https://graphviz.org/docs/edges/>).
const DRAWN_EDGES: &str = " arrowhead arrowsize arrowtail class color colorscheme comment constraint decorate dir edgehref \
    edgetarget edgetooltip edgeURL fillcolor fontcolor fontname fontsize head_lp headclip headhref headlabel headport \
    headtarget headtooltip headURL href id key label labelangle labeldistance labelfloat labelfontcolor labelfontname \
    labelfontsize labelhref labeltarget labeltooltip labelURL layer len lhead lp ltail minlen nojustify penwidth pos samehead \
    sametail showboxes style tail_lp tailclip tailhref taillabel tailport tailtarget tailtooltip tailURL target tooltip URL \
    weight xlabel xlp ";

/// Attributes of graphs, subgraphs and clusters in Graphviz (<https://graphviz.org/docs/graph/>).
const DRAWN_GRAPHS: &str = " area bb beautify bgcolor center charset class cluster clusterrank color colorscheme comment compound \
    concentrate Damping defaultdist dim dimen diredgeconstraints dpi epsilon esep fillcolor fontcolor fontname fontnames fontpath \
    fontsize forcelabels gradientangle href id imagepath inputscale K label label_scheme labeljust labelloc landscape layer \
    layerlistsep layers layerselect layersep layout levels levelsgap lheight linelength lp lwidth margin maxiter mclimit mindist mode \
    model mosek newrank nodesep nojustify normalize notranslate nslimit nslimit1 oneblock ordering orientation outputorder overlap \
    overlap_scaling overlap_shrink pack packmode pad page pagedir pencolor penwidth peripheries quadtree quantum rank rankdir ranksep \
    ratio remincross resolution root rotate rotation samehead sametail scale searchsize sep showboxes size smoothing sortv splines \
    start style stylesheet target tooltip TBbalance truecolor URL viewport voro_margin xdotversion ";

/// Ignored attributes that do not affect drawing, each with the number of its uses.
#[derive(Default)]
pub(super) struct IgnoredAttributes(BTreeMap<(Element, String), usize>);

/// Returns whether the reader uses this attribute for elements of this kind.
pub(super) fn is_read(element: Element, key: &str) -> bool {
    match element {
        Element::Node => OF_NODES.contains(&key),
        Element::Edge => OF_EDGES.contains(&key),
        Element::Graph => false,
    }
}

/// Returns whether an attribute is a drawing attribute of Graphviz.
fn draws(element: Element, key: &str) -> bool {
    let known = match element {
        Element::Node => DRAWN_NODES,
        Element::Edge => DRAWN_EDGES,
        Element::Graph => DRAWN_GRAPHS,
    };
    key.starts_with('_') || known.contains(&format!(" {key} "))
}

impl IgnoredAttributes {
    /// Counts the attributes of a statement that are neither read nor used for drawing.
    pub(super) fn count(&mut self, element: Element, attributes: &Attributes) {
        attributes.keys().for_each(|key| self.count_one(element, key));
    }

    /// Counts an attribute unless it is read or used for drawing.
    pub(super) fn count_one(&mut self, element: Element, key: &str) {
        if !is_read(element, key) && !draws(element, key) {
            self.add(element, key);
        }
    }

    /// Counts attributes such as `time`, which the reader uses in other graphs. In a graph of Nextflow processes,
    /// these attributes are ignored, because the trace states the run times.
    pub(super) fn count_read(&mut self, element: Element, attributes: &Attributes) {
        attributes.keys().filter(|key| is_read(element, key)).for_each(|key| self.add(element, key));
    }

    fn add(&mut self, element: Element, key: &str) {
        *self.0.entry((element, key.to_owned())).or_default() += 1;
    }

    /// Returns a warning that names the counted attributes, or `None` if there are none.
    pub(super) fn remark(&self) -> Option<String> {
        let named = |((element, key), count): (&(Element, String), &usize)| {
            let element = match element {
                Element::Node => "nodes",
                Element::Edge => "edges",
                Element::Graph => "graphs",
            };
            format!("`{key}` of {element} ({count})")
        };
        let names: Vec<String> = self.0.iter().map(named).collect();
        (!names.is_empty()).then(|| {
            let names = names.join(", ");
            format!(
                "unknown attributes are ignored: {names}; nodes may have `time`, `work` and `command`, \
                 edges `data` and `transfer`"
            )
        })
    }
}
