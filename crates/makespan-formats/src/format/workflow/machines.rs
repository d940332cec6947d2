//! Reads the machines of a file in `WfFormat`.

use makespan_core::{Node, Platform, Resource, Resources};
use serde::Deserialize;

use crate::figure::Figure;
use crate::needs::bytes;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Machine {
    node_name: String,
    cpu: Option<Cpu>,
    #[serde(default)]
    memory_in_bytes: Figure,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cpu {
    #[serde(default)]
    core_count: Figure,
    #[serde(default, rename = "speedInMHz")]
    speed: Figure,
}

impl Machine {
    /// Returns the memory in bytes, if the machine states a positive number.
    fn memory(&self) -> Option<u64> {
        self.memory_in_bytes.text()?.parse().ok().and_then(bytes)
    }

    fn cores(&self) -> Result<u32, String> {
        let name = &self.node_name;
        let text = self.cpu.as_ref().and_then(|cpu| cpu.core_count.text());
        let text = text.ok_or_else(|| format!("machine `{name}` has no `coreCount`"))?;
        let cores = text.parse().ok().filter(|&cores| cores > 0);
        cores.ok_or_else(|| format!("machine `{name}`: `{text}` is not a number of cores"))
    }
}

/// Returns the machines on which the workflow ran. All machines have speed 1, because the file states measured run
/// times.
///
/// # Errors
/// The reason why the machines of the file cannot be used.
pub(super) fn machines(machines: &[Machine], remarks: &mut Vec<String>) -> Result<Option<Platform>, String> {
    if machines.is_empty() {
        return Ok(None);
    }
    let node = |machine: &Machine| {
        let name = &machine.node_name;
        let cores = machine.cores()?;
        let resources = Resources::new(machine.memory().map(|memory| (Resource::MEMORY, memory)));
        let resources = resources.map_err(|error| format!("machine `{name}`: {error}"))?;
        Ok(Node { resources, ..Node::new(name.clone(), cores) })
    };
    let nodes = machines.iter().map(node).collect::<Result<Vec<Node>, String>>()?;
    let platform = Platform::new(nodes).map_err(|error| error.to_string())?;
    remarks.extend(unused(machines));
    Ok(Some(platform))
}

/// Returns remarks about data of the machines that planning ignores.
fn unused(machines: &[Machine]) -> Vec<String> {
    let range = |figures: Vec<f64>| {
        let least = figures.iter().copied().reduce(f64::min)?;
        Some((least, figures.into_iter().fold(least, f64::max)))
    };
    let speeds = machines.iter().filter_map(|machine| machine.cpu.as_ref()?.speed.text()?.parse().ok());
    let speeds = range(speeds.collect()).map(|(least, most)| {
        format!(
            "the machines state clock rates of {least} to {most} MHz; the clock rates are ignored, and the run times \
             are used as measured"
        )
    });
    let without: Vec<&Machine> = machines.iter().filter(|machine| machine.memory().is_none()).collect();
    // If no machine states memory, there is no warning here, because another warning states that needs for memory are
    // ignored.
    let stated = machines.iter().any(|machine| machine.memory_in_bytes.text().is_some());
    let without = without.first().filter(|_| stated).map(|first| {
        format!(
            "{} of {} machines (such as `{}`) state no memory; tasks that need memory do not run on these machines",
            without.len(),
            machines.len(),
            first.node_name
        )
    });
    speeds.into_iter().chain(without).collect()
}
