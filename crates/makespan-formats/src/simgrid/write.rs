//! Writes a tree as a platform file of `SimGrid`.

use std::io::{self, Write};

use makespan_core::Platform;

use super::reading::MASTER;
use crate::gantt::escape::Text;

/// Writes the machines of a tree. The root comes first, and each edge becomes a route with one link. `SimGrid`
/// computes longer routes itself (`routing="Floyd"`). Reading the file gives the same nodes, in file order.
///
/// # Errors
/// Errors of the writer. [`io::ErrorKind::InvalidInput`] if the platform is not a tree, if a link has no bandwidth, or
/// if the root does not compute but other nodes do. In the last case, a reader would make the first host the root.
pub fn write_simgrid(platform: &Platform, writer: &mut dyn Write) -> io::Result<()> {
    let nodes = platform.nodes();
    let refuse = |problem: String| io::Error::new(io::ErrorKind::InvalidInput, problem);
    let roots: Vec<usize> = (0..nodes.len()).filter(|&at| nodes[at].parent.is_none()).collect();
    let &[root] = &roots[..] else {
        return Err(refuse(
            "only a tree of nodes can be written for SimGrid, but several nodes of this platform have no parent".into(),
        ));
    };
    if nodes[root].processors == 0 {
        return Err(refuse(format!(
            "the root `{}` has no processors, but hosts of SimGrid have at least one, and data must start on a host; \
             give the root a processor",
            nodes[root].name
        )));
    }
    if let Some(node) = nodes.iter().find(|node| node.parent.is_some() && node.link.is_none()) {
        return Err(refuse(format!("node `{}` has a parent, but no bandwidth; give its `bandwidth`", node.name)));
    }
    writeln!(writer, "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">")?;
    writeln!(
        writer,
        "<!-- A unit of work is 10^6 flop. -->\n<platform version=\"4.1\">\n <zone id=\"tree\" routing=\"Floyd\">"
    )?;
    let order = std::iter::once(root).chain((0..nodes.len()).filter(|&at| at != root));
    for node in order.map(|at| &nodes[at]) {
        let name = Text(&node.name);
        match node.processors {
            0 => writeln!(writer, "  <router id=\"{name}\"/>")?,
            cores => {
                let cores = if cores == 1 { String::new() } else { format!(" core=\"{cores}\"") };
                let role =
                    if node.name == MASTER { "><prop id=\"role\" value=\"compute_node\"/></host>" } else { "/>" };
                writeln!(writer, "  <host id=\"{name}\" speed=\"{}Mf\"{cores}{role}", node.speed)?;
            }
        }
    }
    let links = nodes.iter().filter_map(|node| Some((node, node.link?, node.parent?)));
    for (node, link, _) in links.clone() {
        let (name, bandwidth) = (Text(&node.name), link.bandwidth);
        writeln!(writer, "  <link id=\"to {name}\" bandwidth=\"{bandwidth}Bps\" latency=\"{}s\"/>", link.latency)?;
    }
    for (node, _, parent) in links {
        let (from, to) = (Text(&nodes[parent].name), Text(&node.name));
        writeln!(writer, "  <route src=\"{from}\" dst=\"{to}\"><link_ctn id=\"to {to}\"/></route>")?;
    }
    writeln!(writer, " </zone>\n</platform>")
}
