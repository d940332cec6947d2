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
///
/// # Errors
/// Why the machines that the file names cannot be used.
pub(super) fn machines(machines: &[Machine], remarks: &mut Vec<String>) -> Result<Option<Platform>, String> {
    if machines.is_empty() {
        return Ok(None);
    }
    let node = |machine: &Machine| {
        let name = &machine.node_name;
        let cores = machine.cpu.as_ref().and_then(|cpu| cpu.core_count);
        let cores = cores.ok_or_else(|| format!("machine `{name}` has no `coreCount`"))?.0.0;
        let memory = machine.memory_in_bytes.and_then(|memory| bytes(memory.0.0));
        let resources = Resources::new(memory.map(|memory| (Resource::MEMORY, memory)));
        let resources = resources.map_err(|error| format!("machine `{name}`: {error}"))?;
        Ok(Node { resources, ..Node::new(name.clone(), cores) })
    };
    let nodes = machines.iter().map(node).collect::<Result<Vec<Node>, String>>()?;
    let platform = Platform::new(nodes).map_err(|error| error.to_string())?;
    remarks.extend(unused(machines));
    Ok(Some(platform))
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
    let memory = |machine: &&Machine| machine.memory_in_bytes.is_some_and(|memory| memory.0.0 > 0.0);
    let without: Vec<&Machine> = machines.iter().filter(|machine| !memory(machine)).collect();
    // Where none has any, needs of memory are told to be left out.
    let stated = machines.iter().any(|machine| machine.memory_in_bytes.is_some());
    let without = without.first().filter(|_| stated).map(|first| {
        format!(
            "{} of {} machines (such as `{}`) state no memory: tasks that need some do not run there",
            without.len(),
            machines.len(),
            first.node_name
        )
    });
    speeds.into_iter().chain(without).collect()
}
