//! How many pilots, of how many nodes, for how long.

use makespan_core::Time;
use makespan_slurm::{Limit, duration};
use miette::{Result, miette};

/// Most pilots at once.
const MOST: usize = 1000;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    pub nodes: usize,
    /// As Slurm takes it; without it the partition's default.
    pub time: Option<String>,
}

impl Size {
    /// Seconds, where a time is stated.
    pub fn seconds(&self) -> Option<u64> {
        self.time.as_deref().and_then(duration).and_then(Limit::value)
    }
}

/// As many nodes as the plan is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Auto {
    /// At most so many, on all pilots together; without it as many as the partition has.
    pub most: Option<usize>,
    /// At most for so long, as Slurm takes it; without it as long as the partition gives.
    pub time: Option<String>,
}

impl Auto {
    /// `auto`, `auto:8nodes` or `auto:8nodes,2h`; `None` of anything that does not begin so.
    pub fn parse(text: &str) -> Option<Result<Self>> {
        let rest = text.strip_prefix("auto")?;
        if rest.is_empty() {
            return Some(Ok(Self { most: None, time: None }));
        }
        let rest = rest.strip_prefix(':')?;
        let wrong =
            || miette!("--pilots {text}: write at most how many nodes, and for how long, such as auto:8nodes,2h");
        let (nodes, time) = rest.split_once(',').map_or((rest, None), |(nodes, time)| (nodes, Some(time)));
        let most = node_count(nodes.trim()).filter(|&most| most > 0);
        let time = time.map(|time| slurm_time(time).ok_or_else(wrong)).transpose();
        Some(most.ok_or_else(wrong).and_then(|most| Ok(Self { most: Some(most), time: time? })))
    }
}

/// As [`sizes`] reads it.
pub fn written(sizes: &[Size]) -> String {
    let part = |size: &Size| {
        let time = size.time.as_ref().map(|time| format!(",{time}")).unwrap_or_default();
        format!("1x{}nodes{time}", size.nodes)
    };
    sizes.iter().map(part).collect::<Vec<_>>().join("+")
}

/// `2x4nodes,1h`, several with `+` between them.
pub fn sizes(text: &str) -> Result<Vec<Size>> {
    let wrong =
        || miette!("--pilots {text}: write how many pilots, of how many nodes, and for how long, such as 2x4nodes,1h");
    let mut all = Vec::new();
    for part in text.split('+') {
        let (shape, time) = part.split_once(',').map_or((part, None), |(shape, time)| (shape, Some(time)));
        let (count, nodes) = shape.trim().split_once('x').unwrap_or(("1", shape.trim()));
        let (count, nodes) = count.parse::<usize>().ok().zip(node_count(nodes)).ok_or_else(wrong)?;
        if count == 0 || nodes == 0 || count > MOST {
            return Err(wrong());
        }
        let time = time.map(|time| slurm_time(time).ok_or_else(wrong)).transpose()?;
        all.extend(std::iter::repeat_n(Size { nodes, time }, count));
    }
    Ok(all)
}

/// `4nodes`, `1node` or `4`.
fn node_count(text: &str) -> Option<usize> {
    text.trim_end_matches("nodes").trim_end_matches("node").parse().ok()
}

/// A time as Slurm takes it: `1-12:00:00` as it is, `90m` or `2h` in minutes and seconds.
pub fn slurm_time(text: &str) -> Option<String> {
    let text = text.trim();
    if text.contains(':') || text.contains('-') {
        return duration(text).and_then(Limit::value).filter(|&seconds| seconds > 0).map(|_| text.to_owned());
    }
    let seconds = Time::parse(text).ok().filter(|time| *time > Time::ZERO)?.ticks().div_euclid(1_000_000_000);
    Some(of_seconds(seconds.max(1).unsigned_abs()))
}

/// Seconds as Slurm takes them.
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
        assert_eq!(Size { nodes: 1, time: slurm_time("1-00:00:10") }.seconds(), Some(86_410));
    }

    #[test]
    fn sizes_that_the_plan_chooses_are_read() {
        let auto = |text: &str| Auto::parse(text).and_then(Result::ok).map(|auto| (auto.most, auto.time));
        assert_eq!(auto("auto"), Some((None, None)));
        assert_eq!(auto("auto:8nodes"), Some((Some(8), None)));
        assert_eq!(auto("auto:1node,90m"), Some((Some(1), Some("1:30:00".into()))));
        for wrong in ["auto:", "auto:0nodes", "auto:8nodes,", "auto:8nodes,0s", "auto:8nodes,2h,1", "auto8"] {
            assert_eq!(auto(wrong), None, "{wrong}");
        }
    }
}
