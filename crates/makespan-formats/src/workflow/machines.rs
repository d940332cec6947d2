//! The machines of a file in `WfFormat`.

use makespan_core::{Node, Platform, Resource, Resources};
use serde::Deserialize;

use crate::needs::bytes;
use crate::scalar::{Count, Real, Scalar};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Machine {
    node_name: String,
    cpu: Option<Cpu>,
    memory_in_bytes: Option<Scalar<Real>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cpu {
    core_count: Option<Scalar<Count>>,
    #[serde(rename = "speedInMHz")]
    speed: Option<Scalar<Real>>,
}

/// The machines on which the workflow ran, each at speed 1: the run times are those that were measured there.
pub(super) fn machines(machines: &[Machine], remarks: &mut Vec<String>) -> Option<Platform> {
    let node = |machine: &Machine| {
        let cores = machine.cpu.as_ref()?.core_count?.0.0;
        let memory = machine.memory_in_bytes.and_then(|memory| bytes(memory.0.0));
        let resources = Resources::new(memory.map(|memory| (Resource::MEMORY, memory))).ok()?;
        Some(Node { resources, ..Node::new(machine.node_name.clone(), cores) })
    };
    let nodes = machines.iter().map(node).collect::<Option<Vec<Node>>>()?;
    let platform = Platform::new(nodes).ok()?;
    remarks.extend(unused(machines));
    Some(platform)
}

/// What machines state and is not planned with.
fn unused(machines: &[Machine]) -> Vec<String> {
    let range = |figures: Vec<f64>| {
        let least = figures.iter().copied().reduce(f64::min)?;
        Some((least, figures.into_iter().fold(least, f64::max)))
    };
    let speeds = machines.iter().filter_map(|machine| Some(machine.cpu.as_ref()?.speed?.0.0));
    let speeds = range(speeds.collect()).map(|(least, most)| {
        format!(
            "the machines state clock rates of {least} to {most} MHz; run times are planned as measured, at speed 1"
        )
    });
    speeds.into_iter().collect()
}
