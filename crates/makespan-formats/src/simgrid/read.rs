//! Reads the hosts, links and routes of a document.

use makespan_core::{Link, Platform};
use roxmltree::Node;

use super::SimgridPlatform;
use super::cluster::{cabinet, cluster};
use super::reading::{PlatformProblem, PlatformReading, SILENT, computing, delay, elements, figure, needed, shared};
use super::tree::{HostOrRouter, PlatformZones, Route, flat, joined};
use super::units::bandwidth;
use crate::error::{self, FormatError};
use crate::ignored::Ignored;
use crate::xml;

/// Supported versions of the format. In version 3, zones are named `AS`, and the attribute for speeds is `power`.
const VERSIONS: [&str; 5] = ["3", "3.0", "4", "4.0", "4.1"];

/// Reads the hosts of a `SimGrid` platform file, with the network if it is a tree. `file` is the file name for error
/// messages.
///
/// # Errors
/// [`FormatError`] with the line, for broken XML, a host without a speed, or a file without hosts.
pub fn read_simgrid(file: &str, text: &str) -> Result<SimgridPlatform, FormatError> {
    let text = xml::prepared(text);
    let document = xml::parse(&text)
        .map_err(|broken| FormatError::content(file, error::FilePlace::line(broken.line), broken.problem))?;
    let line = |at: usize| document.text_pos_at(at).row as usize;
    let wrong = |(at, problem): PlatformProblem| FormatError::content(file, error::FilePlace::line(line(at)), problem);
    let root = document.root_element();
    if root.tag_name().name() != "platform" {
        return Err(wrong((root.range().start, "the file is not a `platform` of SimGrid".into())));
    }
    if let Some(version) = root.attribute("version").filter(|version| !VERSIONS.contains(version)) {
        let known = VERSIONS.join(", ");
        let problem =
            format!("version `{version}` of SimGrid's platforms is not supported; the supported versions are {known}");
        return Err(wrong((root.range().start, problem)));
    }
    let mut reading = PlatformReading { zone: PlatformZones::default(), lost: None, ignored: Ignored::beside(SILENT) };
    reading.ignored.attributes(root);
    children(root, &mut reading).map_err(wrong)?;
    let PlatformReading { zone, lost, ignored } = reading;
    if zone.places.iter().all(|place| place.processors == 0) {
        return Err(wrong((root.range().start, "the platform has no host that runs jobs".into())));
    }
    zone.unique().map_err(wrong)?;
    let is_joined = zone.has_network();
    let tree = match lost {
        None if is_joined => joined(&zone),
        None => Ok(flat(&zone)),
        Some(lost) => Err(lost),
    };
    let mut remarks: Vec<String> = ignored.remark("the platform").into_iter().collect();
    let (nodes, lost) = match tree {
        Ok(nodes) => (nodes, None),
        Err((at, why)) => {
            let why = format!("line {}: {why}", line(at));
            remarks.push(format!("the network of the platform is ignored, because it is not a supported tree: {why}"));
            (flat(&zone), Some(why))
        }
    };
    let platform = Platform::new(nodes).map_err(|error| wrong((root.range().start, error.to_string())))?;
    Ok(SimgridPlatform { platform, remarks, lost })
}

/// Reads the elements of a platform or a zone, including nested zones.
fn children(zone: Node<'_, '_>, into: &mut PlatformReading) -> Result<(), PlatformProblem> {
    for child in elements(zone) {
        let name = child.tag_name().name();
        match name {
            "zone" | "AS" => children(child, into)?,
            "host" | "peer" => {
                let host = host(child, into)?;
                into.zone.places.push(host);
            }
            "router" => into.zone.places.push(HostOrRouter::switch(needed(child, "id")?, child.range().start)),
            "cluster" => cluster(child, into)?,
            "cabinet" => cabinet(child, into)?,
            "link" => link(child, into),
            "route" | "zoneRoute" | "ASroute" | "ASRoute" => route(child, into),
            "include" | "random" | "foreach" | "set" => {
                let problem =
                    format!("<{name}> refers to elements that are not in this file; write the elements into the file");
                return Err((child.range().start, problem));
            }
            "bypassRoute" | "bypassZoneRoute" | "bypassASroute" | "backbone" | "host_link" => {
                into.lose((child.range().start, format!("<{name}> is not supported")));
                continue;
            }
            _ => {
                into.ignored.element(name);
                continue;
            }
        }
        into.ignored.attributes(child);
        if name == "peer" {
            into.lose((child.range().start, "the network of <peer> is not supported".into()));
        }
        match name {
            "zone" | "AS" => {}
            "route" | "zoneRoute" | "ASroute" | "ASRoute" => {
                let steps = elements(child).filter(|step| step.tag_name().name() == "link_ctn");
                steps.for_each(|step| into.ignored.attributes(step));
            }
            _ => elements(child).for_each(|inner| into.ignored.element(inner.tag_name().name())),
        }
    }
    Ok(())
}

fn host(node: Node<'_, '_>, into: &mut PlatformReading) -> Result<HostOrRouter, PlatformProblem> {
    let (processors, speed) = computing(node, into)?;
    Ok(HostOrRouter { name: needed(node, "id")?, processors, speed, at: node.range().start })
}

fn link(node: Node<'_, '_>, into: &mut PlatformReading) {
    let at = node.range().start;
    let read = || {
        let link = Link { bandwidth: figure(node, "bandwidth", bandwidth)?, latency: delay(node, "latency")? };
        shared(node, "sharing_policy")?;
        Ok((needed(node, "id")?, link))
    };
    if let Some((name, link)) = into.network(read())
        && into.zone.links.insert(name.clone(), link).is_some()
    {
        into.lose((at, format!("two links are named `{name}`")));
    }
}

/// Reads a route between two hosts or routers, or a route between the gateways of two zones. A route from a host to
/// itself is ignored.
fn route(node: Node<'_, '_>, into: &mut PlatformReading) {
    let (from, to) = if node.tag_name().name() == "route" { ("src", "dst") } else { ("gw_src", "gw_dst") };
    let read = || {
        let mut links = Vec::new();
        for step in elements(node).filter(|step| step.tag_name().name() != "prop") {
            if step.tag_name().name() != "link_ctn" {
                return Err((step.range().start, format!("<{}> of a route is not supported", step.tag_name().name())));
            }
            links.push(needed(step, "id")?);
        }
        Ok(Route { from: needed(node, from)?, to: needed(node, to)?, links, at: node.range().start })
    };
    if let Some(route) = into.network(read())
        && route.from != route.to
    {
        into.zone.routes.push(route);
    }
}
