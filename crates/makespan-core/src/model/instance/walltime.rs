//! Walltimes on processors of one or several speeds.

use crate::model::{Platform, Profile, Time};

/// The processors with at least a given speed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    speed: f64,
    /// Number of processors with at least this speed.
    processors: u32,
}

/// Returns a class for each distinct speed of a platform, in descending order of speed.
pub(super) fn classes(platform: &Platform) -> Vec<Class> {
    let computing = platform.kinds().filter(|(node, _)| node.processors > 0);
    let mut nodes: Vec<(f64, u32)> =
        computing.map(|(node, count)| (node.speed, node.processors * count as u32)).collect();
    nodes.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut classes: Vec<Class> = Vec::new();
    for (speed, more) in nodes {
        match classes.last_mut() {
            Some(last) if last.speed <= speed => last.processors += more,
            last => {
                let processors = more + last.map_or(0, |last| last.processors);
                classes.push(Class { speed, processors });
            }
        }
    }
    classes
}

/// Removes the allotments or machines on which the job exceeds the walltime on any choice of processors. On a
/// remaining allotment, the job ends within the walltime if its processors are fast enough (see `Instance::accepts`).
///
/// # Errors
/// If all times exceed the walltime, returns the shortest time of the job.
pub(super) fn kept(profile: Profile, walltime: Time, platform: &Platform, classes: &[Class]) -> Result<Profile, Time> {
    if let Some(row) = profile.machine_times() {
        // A time on a node without processors is ignored.
        let shortest = (0..row.len()).filter_map(|node| platform.time_on(&profile, node)).min().unwrap_or(Time::MAX);
        return if shortest > walltime { Err(shortest) } else { profile.within(walltime).ok_or(shortest) };
    }
    let shortest_in = |class: &Class| {
        let profile = profile.clone().at_most(class.processors)?;
        Some(at_speed(profile.shortest(), class.speed))
    };
    let shortest = classes.iter().filter_map(shortest_in).min().unwrap_or(Time::MAX);
    if shortest > walltime {
        return Err(shortest);
    }
    let fastest = classes.first().map_or(1.0, |class| class.speed);
    profile.within(longest_within(walltime, fastest)).ok_or(shortest)
}

/// Returns true if both profiles end within the walltime at exactly the same speeds, on every allotment. The profiles
/// must have equal allotments.
pub(super) fn same_speeds(one: &Profile, other: &Profile, walltime: Time, classes: &[Class]) -> bool {
    if classes.len() == 1 || one.machine_times().is_some() {
        return true;
    }
    let keeps =
        |profile: &Profile, processors, class: &Class| at_speed(profile.time(processors), class.speed) <= walltime;
    let mut all = one.min_processors()..=one.max_processors();
    all.all(|count| classes.iter().all(|class| keeps(one, count, class) == keeps(other, count, class)))
}

/// Converts a time on a processor of speed 1 to the time on a processor of speed `speed`.
pub(super) fn at_speed(time: Time, speed: f64) -> Time {
    if is_one(speed) { time } else { time.divided_by(speed) }
}

const fn is_one(speed: f64) -> bool {
    speed.to_bits() == 1.0_f64.to_bits()
}

/// Returns the longest time on a processor of speed 1 that becomes at most `limit` on a processor of speed `speed`.
fn longest_within(limit: Time, speed: f64) -> Time {
    if is_one(speed) {
        return limit;
    }
    let (mut low, mut high) = (0, i64::MAX);
    while low < high {
        let middle = low + (high - low) / 2 + 1;
        if at_speed(Time::from_ticks(middle), speed) <= limit { low = middle } else { high = middle - 1 }
    }
    Time::from_ticks(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Instance, InstanceError, Job, Node, TaskId};

    fn platform(nodes: &[(u32, f64)]) -> Platform {
        let node = |(index, &(processors, speed)): (usize, &(u32, f64))| Node {
            speed,
            ..Node::new(format!("n{index}"), processors)
        };
        Platform::new(nodes.iter().enumerate().map(node).collect()).unwrap()
    }

    fn fitted(nodes: &[(u32, f64)], seconds: &[i64], walltime: i64) -> Result<(u32, u32), InstanceError> {
        let times = seconds.iter().copied().map(Time::from_seconds).collect();
        let mut job = Job::new("a", Profile::table(times).unwrap());
        job.walltime = Some(Time::from_seconds(walltime));
        let instance = Instance::new(platform(nodes), vec![job], vec![])?;
        let profile = instance.profile(TaskId(0));
        Ok((profile.min_processors(), profile.max_processors()))
    }

    #[test]
    fn enough_processors_must_be_fast_enough() {
        let rigid = |walltime| {
            let mut job = Job::new("a", Profile::rigid(4, Time::from_seconds(10)).unwrap());
            job.walltime = Some(Time::from_seconds(walltime));
            Instance::new(platform(&[(2, 2.0), (4, 1.0)]), vec![job], vec![]).map(|_| ())
        };
        // The job takes 5 s on processors of speed 2, but there are only two of these.
        let refused = rigid(6).unwrap_err().to_string();
        assert!(refused.contains("takes at least 10 s, but its time limit is 6 s"), "{refused}");
        assert_eq!(rigid(10), Ok(()));
        // The job takes 12 s on one processor, 10 s on two at speed 2, and 9 s on three at speed 1.
        let nodes = [(2, 2.0), (1, 1.0)];
        assert_eq!(fitted(&nodes, &[24, 20, 9], 9), Ok((3, 3)));
        assert_eq!(fitted(&nodes, &[24, 20, 9], 10), Ok((2, 3)));
        assert!(fitted(&nodes, &[24, 20, 9], 8).is_err());
        // The job takes 10 s on two processors at speed 2, but only one is that fast. At speed 1, it takes 20 s.
        let mixed = [(1, 2.0), (2, 1.0)];
        assert_eq!(fitted(&mixed, &[50, 20, 9], 10), Ok((3, 3)));
    }

    #[test]
    fn allotments_are_left_out_by_the_time_that_they_take_at_the_speed_of_the_platform() {
        assert_eq!(fitted(&[(4, 0.5)], &[10, 6, 5], 14), Ok((2, 3)));
        assert_eq!(fitted(&[(4, 2.0)], &[10, 6, 5], 4), Ok((2, 3)));
        assert_eq!(fitted(&[(4, 1.0)], &[10, 6, 5], 14), Ok((1, 3)));
        for (speed, limit) in [(0.3, 7), (3.0, 1_000_000_007), (1e-3, i64::MAX / 4), (1e6, i64::MAX / 4), (1.0, 12)] {
            let limit = Time::from_ticks(limit);
            let longest = longest_within(limit, speed);
            assert!(at_speed(longest, speed) <= limit);
            assert!(longest == Time::MAX || at_speed(longest + Time::TICK, speed) > limit);
        }
    }
}
