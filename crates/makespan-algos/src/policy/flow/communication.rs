//! The communication cost of tasks: the time that a task takes to reach a machine.

use makespan_core::{Instance, Payload, Route, TaskId, Time};

/// The communication cost of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Communication {
    /// One cost for all tasks and all machines.
    Fixed(Time),
    /// The cost of the links between the root of the platform and the node. This cost is the sum of the latencies, plus
    /// the data of the task divided by the smallest bandwidth. If there are no links, the cost is zero.
    Links,
}

impl Communication {
    /// The valid values of the parameter `communication`.
    pub(crate) const VALUES: &str = "`links`, or a time such as 0.05s";

    /// Returns the time that a task takes to reach a node.
    pub(super) fn cost(self, instance: &Instance, task: TaskId, node: usize) -> Time {
        match self {
            Self::Fixed(time) => time,
            Self::Links => {
                let platform = instance.platform();
                let above = std::iter::successors(Some(node), |&node| platform.nodes()[node].parent);
                let links = above.filter_map(|node| platform.nodes()[node].link).chain(platform.interconnect());
                let mut route = Route { takes_time: true, ..Route::LOCAL };
                for link in links {
                    route.latency += link.latency;
                    route.bandwidth = route.bandwidth.min(link.bandwidth);
                }
                route.time(Payload::Bytes(instance.task(task).data.unwrap_or(0)))
            }
        }
    }
}

impl std::str::FromStr for Communication {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "links" {
            return Ok(Self::Links);
        }
        match Time::parse(text) {
            Ok(time) if time >= Time::ZERO => Ok(Self::Fixed(time)),
            _ => Err(Self::VALUES.to_owned()),
        }
    }
}
