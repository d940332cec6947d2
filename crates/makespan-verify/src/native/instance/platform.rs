//! Reads the platform of a native file.

use std::collections::HashMap;

use makespan_core::{Link, Node, Platform, Resources, Setup, Time};
use serde::Deserialize;

use super::resources::ResourcesEntry;
use super::site::SiteEntry;
use super::values::{ListEntry, OneOrMany};
use crate::native::bandwidth::Bandwidth;
use crate::native::scalar::{Count, Scalar, Speed};
use crate::native::suggest::nearest;

/// A platform in a file. The platform is checked while it is read, so that errors state the place in the file.
#[derive(Deserialize)]
#[serde(try_from = "Fields")]
pub(super) struct PlatformEntry(pub Platform);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    processors: Option<Scalar<Count>>,
    nodes: Option<OneOrMany<Count, NodeEntry>>,
    processors_per_node: Option<Scalar<Count>>,
    placement: Option<String>,
    bandwidth: Option<Scalar<Bandwidth>>,
    latency: Option<Scalar<Time>>,
    local_transfers: Option<bool>,
    resources: Option<ResourcesEntry>,
    licences: Option<ResourcesEntry>,
    consumables: Option<ResourcesEntry>,
    #[serde(default)]
    setups: Vec<SetupEntry>,
    site: Option<SiteEntry>,
}

/// A setup time between two consecutive tasks on one machine.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetupEntry {
    from: String,
    to: String,
    time: Scalar<Time>,
    on: Option<String>,
}

impl ListEntry for NodeEntry {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeEntry {
    name: String,
    processors: Scalar<Count>,
    speed: Option<Scalar<Speed>>,
    parent: Option<String>,
    bandwidth: Option<Scalar<Bandwidth>>,
    latency: Option<Scalar<Time>>,
    resources: Option<ResourcesEntry>,
}

impl TryFrom<Fields> for PlatformEntry {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let compact = match fields.placement.as_deref() {
            None => None,
            Some("any") => Some(false),
            Some("compact") if fields.nodes.is_some() => Some(true),
            Some("compact") => {
                return Err("`placement` is \"compact\", but the platform states no nodes within which jobs can be \
                            kept; state `nodes` and `processors_per_node`, or remove `placement`"
                    .to_owned());
            }
            Some(other) => {
                return Err(format!(
                    "`placement` is `{other}`; write \"any\", the default, or \"compact\" (each job on one node if a node is large \
                     enough, otherwise on whole nodes and a part of at most one node)"
                ));
            }
        };
        if fields.resources.is_some() && matches!(fields.nodes, Some(OneOrMany::Many(_))) {
            return Err(
                "the platform has both `resources` and a list of nodes; state the `resources` of each node in the list"
                    .to_owned(),
            );
        }
        let platform = match (fields.processors, fields.nodes, fields.processors_per_node) {
            (Some(processors), None, None) => Platform::flat(processors.0.0),
            (None, Some(OneOrMany::One(nodes)), Some(each)) => Platform::cluster(nodes.0, each.0.0),
            (None, Some(OneOrMany::Many(nodes)), None) => Platform::new(resolved(nodes)?),
            _ => {
                return Err("a platform must state either `processors`, or a number of `nodes` with \
                            `processors_per_node`, or a list of `nodes`"
                    .to_owned());
            }
        };
        let local = fields.local_transfers == Some(true);
        let between = match (fields.bandwidth, fields.latency) {
            (Some(bandwidth), latency) => {
                Some(Link { bandwidth: bandwidth.0.0, latency: latency.map_or(Time::ZERO, |latency| latency.0) })
            }
            (None, None) => None,
            (None, Some(_)) => {
                return Err("the platform has a `latency`, but no `bandwidth`; state the bandwidth, or remove the \
                            latency"
                    .to_owned());
            }
        };
        let joined = |platform: Platform| match between {
            Some(link) => platform.with_interconnect(link),
            None => Ok(platform),
        };
        let platform = platform.and_then(joined);
        let equipped = |platform: Platform| match &fields.resources {
            Some(ResourcesEntry(resources)) => platform.with_node_resources(resources),
            None => Ok(platform),
        };
        let amounts = |entry: Option<ResourcesEntry>| entry.map_or_else(Resources::default, |entry| entry.0);
        let platform = platform.and_then(equipped).and_then(|platform| {
            platform.with_licences(amounts(fields.licences))?.with_consumables(amounts(fields.consumables))
        });
        let platform = platform.map(|platform| if local { platform.with_local_transfers() } else { platform });
        let platform = platform.map(|platform| platform.with_placement(compact)).map_err(|error| error.to_string())?;
        let setup = |SetupEntry { from, to, time, on }| Setup {
            on: on.map(Into::into),
            from: from.into(),
            to: to.into(),
            time: time.0,
        };
        let setups = fields.setups.into_iter().map(setup).collect();
        let platform = platform.with_setups(setups).map_err(|error| error.to_string())?;
        match fields.site {
            Some(site) => site.on(platform).map(Self).map_err(|problem| format!("`site`: {problem}")),
            None => Ok(Self(platform)),
        }
    }
}

/// Returns the nodes, with parents as indices instead of names.
fn resolved(entries: Vec<NodeEntry>) -> Result<Vec<Node>, String> {
    let positions: HashMap<String, usize> =
        entries.iter().enumerate().map(|(at, entry)| (entry.name.clone(), at)).collect();
    let node = |entry: NodeEntry| {
        let parent = match &entry.parent {
            None => None,
            Some(parent) => Some(*positions.get(parent).ok_or_else(|| {
                let near = nearest(parent, positions.keys().map(String::as_str));
                let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                format!("node `{}`: its parent `{parent}` does not exist{hint}", entry.name)
            })?),
        };
        let link = match (entry.bandwidth, entry.latency) {
            (Some(bandwidth), latency) => {
                Some(Link { bandwidth: bandwidth.0.0, latency: latency.map_or(Time::ZERO, |latency| latency.0) })
            }
            (None, None) => None,
            (None, Some(_)) => {
                return Err(format!(
                    "node `{}` has a `latency`, but no `bandwidth`; state the bandwidth, or remove the latency",
                    entry.name
                ));
            }
        };
        let speed = entry.speed.map_or(1.0, |speed| speed.0.0);
        let resources = entry.resources.map_or_else(Resources::default, |resources| resources.0);
        Ok(Node { speed, parent, link, resources, ..Node::new(entry.name, entry.processors.0.0) })
    };
    entries.into_iter().map(node).collect()
}
