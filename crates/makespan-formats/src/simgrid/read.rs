//! From the document to hosts, links and routes.

use makespan_core::{Link, Platform};
use roxmltree::Node;
use rustc_hash::FxHashMap;

use super::tree::{Place, Route, Zone, joined};
use super::units::{bandwidth, latency, speed};
use crate::error::{self, FormatError};
use crate::suggest::nearest;
use crate::xml;

/// A problem and the byte at which it stands.
type Wrong = (usize, String);

/// The versions of the form: 3 names zones `AS` and speeds `power`.
const VERSIONS: [&str; 5] = ["3", "3.0", "4", "4.0", "4.1"];

/// Hosts of one cluster, which a few bytes declare.
const MAX_HOSTS: usize = 100_000;

/// Reads a platform file of `SimGrid` that describes a tree; `file` names it in errors.
///
/// # Errors
/// [`FormatError`] with the line: broken XML, an element or unit that is not read, or a network that is no tree.
pub fn read_simgrid(file: &str, text: &str) -> Result<Platform, FormatError> {
    let document = xml::parse(text)
        .map_err(|broken| FormatError::content(file, error::Place::line(broken.line), broken.problem))?;
    let wrong = |(at, problem): Wrong| {
        FormatError::content(file, error::Place::line(document.text_pos_at(at).row as usize), problem)
    };
    let root = document.root_element();
    if root.tag_name().name() != "platform" {
        return Err(wrong((root.range().start, "the file is no `platform` of SimGrid".into())));
    }
    only_known(root).map_err(wrong)?;
    if let Some(version) = root.attribute("version").filter(|version| !VERSIONS.contains(version)) {
        let known = VERSIONS.join(", ");
        let problem = format!("version `{version}` of SimGrid's platforms is not known; read are {known}");
        return Err(wrong((root.range().start, problem)));
    }
    let mut zone = Zone::default();
    let zones: Vec<Node<'_, '_>> = elements(root).collect();
    let [only] = zones[..] else {
        return Err(wrong((
            root.range().start,
            "a platform must hold one zone (or cluster), which is the tree".into(),
        )));
    };
    only_known(only).map_err(wrong)?;
    match only.tag_name().name() {
        "zone" | "AS" => read_zone(only, &mut zone).map_err(wrong)?,
        "cluster" => cluster(only, &mut zone).map_err(wrong)?,
        other => return Err(wrong((only.range().start, unread(other)))),
    }
    let nodes = joined(zone).map_err(wrong)?;
    Platform::new(nodes).map_err(|error| wrong((root.range().start, error.to_string())))
}

fn elements<'a, 'input>(node: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(|child| child.is_element() && child.tag_name().name() != "prop")
}

fn unread(element: &str) -> String {
    format!("the element `{element}` is not read; a tree is made of host, router, link, route, or of one cluster")
}

fn read_zone(zone: Node<'_, '_>, into: &mut Zone) -> Result<(), Wrong> {
    let children: Vec<Node<'_, '_>> = elements(zone).collect();
    if let [only] = children[..]
        && only.tag_name().name() == "cluster"
    {
        return cluster(only, into);
    }
    for child in children {
        only_known(child)?;
        match child.tag_name().name() {
            "host" => into.places.push(host(child)?),
            "router" => into.places.push(Place::switch(needed(child, "id")?, child.range().start)),
            "link" => {
                let link =
                    Link { bandwidth: figure(child, "bandwidth", bandwidth)?, latency: delay(child, "latency")? };
                if let Some("FATPIPE") = child.attribute("sharing_policy") {
                    let problem =
                        "a link of policy FATPIPE is never shared, and here a link is; write SHARED or leave it out";
                    return Err((child.range().start, problem.into()));
                }
                if into.links.insert(needed(child, "id")?, link).is_some() {
                    return Err((child.range().start, format!("two links are named `{}`", needed(child, "id")?)));
                }
            }
            "route" => into.routes.push(route(child, &into.links)?),
            other => return Err((child.range().start, unread(other))),
        }
    }
    Ok(())
}

/// What is read of each element. Others, such as files of changing speeds, would make another platform.
fn only_known(node: Node<'_, '_>) -> Result<(), Wrong> {
    let element = node.tag_name().name();
    let known: &[&str] = match element {
        "platform" => &["version"],
        "zone" | "AS" => &["id", "routing"],
        "host" => &["id", "speed", "power", "core", "coordinates"],
        "router" => &["id", "coordinates"],
        "link" => &["id", "bandwidth", "latency", "sharing_policy"],
        "route" => &["src", "dst", "symmetrical"],
        "link_ctn" => &["id", "direction"],
        _ => return Ok(()),
    };
    match node.attributes().find(|attribute| !known.contains(&attribute.name())) {
        None => Ok(()),
        Some(other) => {
            let (other, known) = (other.name(), known.join(", "));
            let problem = format!("the attribute `{other}` of a {element} is not read; read are {known}");
            Err((node.range().start, problem))
        }
    }
}

fn host(node: Node<'_, '_>) -> Result<Place, Wrong> {
    let speed = stated_speed(node)?;
    Ok(Place { name: needed(node, "id")?, processors: cores(node)?, speed, at: node.range().start })
}

/// `speed`, which older files name `power`.
fn stated_speed(node: Node<'_, '_>) -> Result<f64, Wrong> {
    let key = match (node.has_attribute("power"), node.has_attribute("speed")) {
        (true, true) => return Err((node.range().start, "it has both `power` and `speed`; write `speed`".into())),
        (true, false) => "power",
        (false, _) => "speed",
    };
    figure(node, key, speed)
}

fn cores(node: Node<'_, '_>) -> Result<u32, Wrong> {
    let text = node.attribute("core").unwrap_or("1");
    text.parse()
        .ok()
        .filter(|&cores: &u32| cores > 0)
        .ok_or_else(|| (node.range().start, format!("`{text}` is not a number of cores; write a whole number from 1")))
}

fn route(node: Node<'_, '_>, links: &FxHashMap<String, Link>) -> Result<Route, Wrong> {
    let mut names = Vec::new();
    for step in elements(node) {
        if step.tag_name().name() != "link_ctn" {
            return Err((step.range().start, unread(step.tag_name().name())));
        }
        let name = needed(step, "id")?;
        if !links.contains_key(&name) {
            let near = nearest(&name, links.keys().map(String::as_str));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err((step.range().start, format!("there is no link `{name}` above{hint}")));
        }
        only_known(step)?;
        names.push(name);
    }
    Ok(Route { from: needed(node, "src")?, to: needed(node, "dst")?, links: names, at: node.range().start })
}

/// Hosts below a switch, which is below the way out if the cluster has a backbone: data come from there.
fn cluster(node: Node<'_, '_>, into: &mut Zone) -> Result<(), Wrong> {
    let at = node.range().start;
    let known =
        ["id", "prefix", "suffix", "radical", "speed", "power", "core", "bw", "lat", "bb_bw", "bb_lat", "router_id"];
    if let Some(other) = node.attributes().find(|attribute| !known.contains(&attribute.name())) {
        return Err((
            at,
            format!("the attribute `{}` of a cluster is not read; a tree needs {}", other.name(), known.join(", ")),
        ));
    }
    let (id, prefix) = (needed(node, "id")?, node.attribute("prefix").unwrap_or_default());
    let suffix = node.attribute("suffix").unwrap_or_default();
    let one = Link { bandwidth: figure(node, "bw", bandwidth)?, latency: delay(node, "lat")? };
    let speed = stated_speed(node)?;
    let processors = cores(node)?;
    let router = node.attribute("router_id").map_or_else(|| format!("{prefix}{id}_router{suffix}"), String::from);
    into.places.push(Place::switch(router.clone(), at));
    let mut above = router.clone();
    let join = |from: &str, to: &str, link: Link, into: &mut Zone| {
        let name = format!("{from} to {to}");
        into.links.insert(name.clone(), link);
        into.routes.push(Route { from: from.into(), to: to.into(), links: vec![name], at });
    };
    if node.has_attribute("bb_bw") {
        above = format!("{id}_backbone");
        into.places.push(Place::switch(above.clone(), at));
        let backbone = Link { bandwidth: figure(node, "bb_bw", bandwidth)?, latency: delay(node, "bb_lat")? };
        join(&router, &above, backbone, into);
    }
    for number in radical(&needed(node, "radical")?).map_err(|problem| (at, problem))? {
        let name = format!("{prefix}{number}{suffix}");
        into.places.push(Place { name: name.clone(), processors, speed, at });
        join(&above, &name, one, into);
    }
    Ok(())
}

/// Numbers such as `0-3,8`.
fn radical(text: &str) -> Result<Vec<u32>, String> {
    let wrong = || format!("`{text}` is no radical; write numbers such as 0-99,120");
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
        let (first, last) = (number(first)?, number(last)?);
        if last < first {
            return Err(wrong());
        }
        if (last - first) as usize >= MAX_HOSTS - numbers.len() {
            return Err(format!("the radical `{text}` declares more than {MAX_HOSTS} hosts, the most that are read"));
        }
        numbers.extend(first..=last);
    }
    Ok(numbers)
}

fn needed(node: Node<'_, '_>, key: &str) -> Result<String, Wrong> {
    let missing = || (node.range().start, format!("`{}` lacks the attribute `{key}`", node.tag_name().name()));
    node.attribute(key).map(String::from).ok_or_else(missing)
}

fn figure<T>(node: Node<'_, '_>, key: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<T, Wrong> {
    read(&needed(node, key)?).map_err(|problem| (node.range().start, problem))
}

fn delay(node: Node<'_, '_>, key: &str) -> Result<makespan_core::Time, Wrong> {
    latency(node.attribute(key).unwrap_or("0")).map_err(|problem| (node.range().start, problem))
}
