//! The sizes of pilots: the number of nodes, and the time limit.

use makespan_core::Time;
use makespan_slurm::{OptionalLimit, duration};
use miette::{Result, miette};

/// Maximum number of pilots with equal sizes.
const MOST: usize = 1000;

/// The size of a pilot that is requested from Slurm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PilotRequest {
    pub nodes: usize,
    /// Time limit in the format of Slurm. `None` means the default of the partition.
    pub time: Option<String>,
}

impl PilotRequest {
    /// Returns the time limit in seconds, if one is stated.
    pub fn seconds(&self) -> Option<u64> {
        self.time.as_deref().and_then(duration).and_then(OptionalLimit::value)
    }
}

/// Limits for the pilots that the planner chooses (`--pilots auto`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PilotLimits {
    /// Maximum number of nodes of all pilots together. `None` means all nodes of the partition.
    pub most: Option<usize>,
    /// Maximum time limit in the format of Slurm. `None` means the limit of the partition.
    pub time: Option<String>,
}

impl PilotLimits {
    /// Reads `auto`, `auto:8nodes` or `auto:8nodes,2h`. Returns `None` if the text neither is `auto` nor begins with
    /// `auto:`.
    pub fn parse(text: &str) -> Option<Result<Self>> {
        let rest = text.strip_prefix("auto")?;
        if rest.is_empty() {
            return Some(Ok(Self { most: None, time: None }));
        }
        let rest = rest.strip_prefix(':')?;
        let wrong = || {
            miette!(
                "--pilots {text}: write the maximum number of nodes and the time limit of pilots, such as \
                 auto:8nodes,2h"
            )
        };
        let (nodes, time) = rest.split_once(',').map_or((rest, None), |(nodes, time)| (nodes, Some(time)));
        let most = node_count(nodes.trim()).filter(|&most| most > 0);
        let time = time.map(|time| slurm_time(time).ok_or_else(wrong)).transpose();
        Some(most.ok_or_else(wrong).and_then(|most| Ok(Self { most: Some(most), time: time? })))
    }
}

/// Writes sizes in the format that [`sizes`] reads.
pub fn written(sizes: &[PilotRequest]) -> String {
    let part = |size: &PilotRequest| {
        let time = size.time.as_ref().map(|time| format!(",{time}")).unwrap_or_default();
        format!("1x{}nodes{time}", size.nodes)
    };
    sizes.iter().map(part).collect::<Vec<_>>().join("+")
}

/// Reads sizes such as `2x4nodes,1h`, with `+` between several sizes.
pub fn sizes(text: &str) -> Result<Vec<PilotRequest>> {
    let wrong = || {
        miette!(
            "--pilots {text}: write the number of pilots, the nodes of each pilot and the time limit of pilots, such \
             as 2x4nodes,1h"
        )
    };
    let mut all = Vec::new();
    for part in text.split('+') {
        let (shape, time) = part.split_once(',').map_or((part, None), |(shape, time)| (shape, Some(time)));
        let (count, nodes) = shape.trim().split_once('x').unwrap_or(("1", shape.trim()));
        let (count, nodes) = count.parse::<usize>().ok().zip(node_count(nodes)).ok_or_else(wrong)?;
        if count == 0 || nodes == 0 || count > MOST {
            return Err(wrong());
        }
        let time = time.map(|time| slurm_time(time).ok_or_else(wrong)).transpose()?;
        all.extend(std::iter::repeat_n(PilotRequest { nodes, time }, count));
    }
    Ok(all)
}

/// Reads a number of nodes such as `4nodes`, `1node` or `4`.
fn node_count(text: &str) -> Option<usize> {
    text.trim_end_matches("nodes").trim_end_matches("node").parse().ok()
}

/// Converts a time to the format of Slurm. A time such as `1-12:00:00` is returned unchanged; `90m` becomes `1:30:00`.
pub fn slurm_time(text: &str) -> Option<String> {
    let text = text.trim();
    if text.contains(':') || text.contains('-') {
        return duration(text).and_then(OptionalLimit::value).filter(|&seconds| seconds > 0).map(|_| text.to_owned());
    }
    let seconds = Time::parse(text).ok().filter(|time| *time > Time::ZERO)?.ticks().div_euclid(1_000_000_000);
    Some(of_seconds(seconds.max(1).unsigned_abs()))
}

/// Writes seconds in the format of Slurm, `hours:minutes:seconds`.
pub fn of_seconds(seconds: u64) -> String {
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pilots_are_read() {
        let shown = |text: &str| {
            let all = sizes(text).ok()?.into_iter();
            Some(all.map(|size| format!("{} {}", size.nodes, size.time.unwrap_or_default())).collect::<Vec<_>>())
        };
        assert_eq!(shown("2x4nodes,1h"), Some(vec!["4 1:00:00".into(), "4 1:00:00".into()]));
        assert_eq!(shown("1x1node+3,90m"), Some(vec!["1 ".into(), "3 1:30:00".into()]));
        assert_eq!(shown("2x3nodes,1-00:00:00").map(|all| all.len()), Some(2));
        for wrong in ["", "x", "0x4", "2x0nodes", "2x4nodes,soon", "2x4nodes,0s", "-1x2"] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
        let two = sizes("2x4nodes,1h").unwrap();
        assert_eq!(sizes(&written(&two)).unwrap(), two);
        assert_eq!(PilotRequest { nodes: 1, time: slurm_time("1-00:00:10") }.seconds(), Some(86_410));
    }

    #[test]
    fn sizes_that_the_plan_chooses_are_read() {
        let auto = |text: &str| PilotLimits::parse(text).and_then(Result::ok).map(|auto| (auto.most, auto.time));
        assert_eq!(auto("auto"), Some((None, None)));
        assert_eq!(auto("auto:8nodes"), Some((Some(8), None)));
        assert_eq!(auto("auto:1node,90m"), Some((Some(1), Some("1:30:00".into()))));
        for wrong in ["auto:", "auto:0nodes", "auto:8nodes,", "auto:8nodes,0s", "auto:8nodes,2h,1", "auto8"] {
            assert_eq!(auto(wrong), None, "{wrong}");
        }
    }
}
