//! Parses the changes of `--change`: `TIME:NODE:WHAT`.

use makespan::{NetworkChange, NodeChange};
use makespan_core::tree::TreeProblem;
use makespan_core::{Instance, Quantity, Time};
use makespan_formats::parse_bandwidth;
use miette::{Result, miette};

/// Parses one change.
pub fn read(text: &str, instance: &Instance, problem: &TreeProblem) -> Result<NetworkChange> {
    let fail = |reason: String| miette!("--change {text}: {reason}");
    let form =
        || fail("write TIME:NODE:WHAT, such as 90s:n3:bandwidth=7kbit/s, 2min:n3:speed=0.5 or 1h:n3:removed".into());
    // A name may contain colons. The time precedes the first colon, and the change follows the last.
    let (time, rest) = text.split_once(':').ok_or_else(form)?;
    let (name, what) = rest.rsplit_once(':').ok_or_else(form)?;
    let at = Time::parse(time).map_err(|error| fail(error.to_string()))?;
    let nodes = instance.platform().nodes();
    let place = nodes.iter().position(|node| node.name == name);
    let place = place.ok_or_else(|| fail(format!("there is no node `{name}`")))?;
    let node = problem.order().iter().position(|&other| other == place).unwrap_or_default();
    let what = match what.split_once('=') {
        None if what == "removed" => NodeChange::Removed,
        Some(("bandwidth", value)) => NodeChange::Bandwidth(parse_bandwidth(value).map_err(fail)?),
        Some(("speed", value)) => {
            let speed = value.trim().parse();
            let speed = speed.map_err(|_| fail(format!("`{value}` is not a speed; write a positive number")))?;
            let speed = Quantity::SPEED.check(speed);
            NodeChange::Speed(speed.map_err(|error| fail(format!("`{value}` is not a speed: {error}")))?)
        }
        _ => return Err(form()),
    };
    if node == 0 && !matches!(what, NodeChange::Speed(_)) {
        return Err(fail(format!(
            "`{name}` is the root of the tree, from which all tasks are sent; the root has no link, and cannot be \
             removed"
        )));
    }
    Ok(NetworkChange { at, node, what })
}
