//! Records of estimated times that were replaced during the run.

use makespan_core::{Estimate, Instance, NewTimes, Profile, TaskId, Time};
use serde::{Deserialize, Serialize};

/// Tasks with equal times in a journal record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EqualTimes {
    /// The ranges of the tasks, each with its first and its last task. A bag is represented by its first task.
    pub jobs: Vec<(TaskId, TaskId)>,
    /// The new times of the tasks.
    pub times: RecordedTimes,
    /// The number of runs from which the times were learned, and the spread of these runs; `None` for a guess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<(u32, f64)>,
}

/// New times of a task, relative to the times in the instance. All times are in whole ticks, so they are read back
/// exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedTimes {
    /// The times of the instance, scaled so that the longest time has this value.
    Longest(Time),
    /// The speed-up law of the instance, scaled to this time on one processor.
    Sequential(Time),
    /// The times on all allotments of the task, ascending.
    Each(Vec<Time>),
    /// The times on one processor of each node.
    OnNodes(Vec<Time>),
}

impl RecordedTimes {
    fn of(profile: &Profile, stated: &Profile) -> Self {
        if stated.clone().lasting(profile.longest()) == *profile {
            return Self::Longest(profile.longest());
        }
        match (profile.speedup(), stated.speedup()) {
            (Some((time, law)), Some((_, own))) if law == own => Self::Sequential(time),
            _ => match profile.machine_times() {
                Some(row) => Self::OnNodes(row.to_vec()),
                None => Self::Each(
                    (profile.min_processors()..=profile.max_processors()).map(|count| profile.time(count)).collect(),
                ),
            },
        }
    }

    /// Returns the new profile of a task. `stated` is the profile in the instance. Returns `None` if the times do not
    /// fit this profile.
    fn profile(&self, stated: &Profile) -> Option<Profile> {
        let (min, max) = (stated.min_processors(), stated.max_processors());
        match self {
            Self::Longest(longest) => Some(stated.clone().lasting(*longest)),
            Self::Sequential(time) => Profile::law(*time, stated.speedup()?.1, min, max).ok(),
            Self::OnNodes(row) => Profile::on_machines(row.clone()).ok(),
            Self::Each(times) if min == max => Profile::rigid(min, *times.first()?).ok(),
            Self::Each(times) => {
                // The task does not accept smaller allotments, so their times do not matter.
                let fewer = std::iter::repeat_n(*times.first()?, min as usize - 1);
                Profile::table(fewer.chain(times.iter().copied()).collect()).ok()?.at_least(min)
            }
        }
    }
}

impl EqualTimes {
    /// Converts new times to records. `stated` returns the profile of a task in the instance.
    pub(crate) fn of<'a>(restated: &[NewTimes], stated: impl Fn(TaskId) -> &'a Profile) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for NewTimes { task, profile, estimate } in restated {
            let times = RecordedTimes::of(profile, stated(*task));
            let learned = match *estimate {
                Estimate::Learned { runs, spread } => Some((runs, spread)),
                Estimate::Guessed | Estimate::Stated => None,
            };
            match all.last_mut().filter(|last| last.times == times && last.learned == learned) {
                Some(last) => match last.jobs.last_mut().filter(|(_, before)| before.0 + 1 == task.0) {
                    Some((_, before)) => *before = *task,
                    None => last.jobs.push((*task, *task)),
                },
                None => all.push(Self { jobs: vec![(*task, *task)], times, learned }),
            }
        }
        all
    }

    /// Returns the tasks.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.jobs.iter().flat_map(|(first, last)| (first.0..=last.0).map(TaskId))
    }

    /// Returns the new times of a task. `stated` is the instance at the beginning of the run. Returns `None` if the
    /// times do not fit the task.
    pub(crate) fn restated(&self, task: TaskId, stated: &Instance) -> Option<NewTimes> {
        let profile = self.times.profile(stated.profile(task))?;
        let learned = |(runs, spread)| Estimate::Learned { runs, spread };
        Some(NewTimes { task, profile, estimate: self.learned.map_or(Estimate::Guessed, learned) })
    }
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, Platform, SpeedupLaw};
    use proptest::prelude::*;

    use super::*;

    fn profile(kind: u8, min: u32, times: &[i64]) -> Profile {
        let time = Time::from_ticks(times[0]);
        match kind {
            0 => Profile::rigid(min, time).unwrap(),
            1 => Profile::law(time, SpeedupLaw::Amdahl { serial: 0.37 }, min, 7).unwrap(),
            2 => Profile::law(time, SpeedupLaw::Power { exponent: 0.7 }, min, 7).unwrap(),
            3 => {
                Profile::on_machines(times[..2].iter().map(|&time| Time::from_ticks(time)).collect::<Vec<_>>()).unwrap()
            }
            _ => Profile::table(times.iter().map(|&time| Time::from_ticks(time)).collect())
                .unwrap()
                .at_least(min)
                .unwrap(),
        }
    }

    proptest! {
        /// Checks that records are read back unchanged, for all combinations of old and new times.
        #[test]
        fn times_are_read_as_they_were_written(
            rows in prop::collection::vec((0_u8..5, 0_u8..5, 1_u32..4, prop::collection::vec(1_i64..1_000_000_000_000, 7)), 1..8),
            factor in 1_i64..1000,
        ) {
            let nodes = ["a", "b"].map(|name| makespan_core::Node::new(name, 4));
            let jobs = rows.iter().enumerate().map(|(at, (kind, _, min, times))| Job::new(at.to_string(), profile(*kind, *min, times)));
            let instance = Instance::new(Platform::new(nodes.to_vec()).unwrap(), jobs.collect(), vec![]).unwrap();
            let estimate = |at: usize| if at.is_multiple_of(3) { Estimate::Guessed } else { Estimate::Learned { runs: at as u32, spread: 0.25 } };
            let restated = rows.iter().enumerate().map(|(at, (kind, other, min, times))| {
                let scaled: Vec<i64> = times.iter().map(|time| 1 + time / factor).collect();
                let own = instance.profile(TaskId(at as u64)).clone();
                let same = kind == other || *kind == 0 || *kind == 3;
                let profile = if same { own.lasting(Time::from_ticks(scaled[0])) } else { profile((*other).max(1), *min, &scaled) };
                NewTimes { task: TaskId(at as u64), profile, estimate: estimate(at) }
            });
            let restated: Vec<NewTimes> = restated.collect();
            let written: Vec<String> = EqualTimes::of(&restated, |task| instance.profile(task)).iter().map(|one| serde_json::to_string(one).unwrap()).collect();
            let read = written.iter().flat_map(|text| {
                let one: EqualTimes = serde_json::from_str(text).unwrap();
                one.tasks().map(|task| one.restated(task, &instance).unwrap()).collect::<Vec<_>>()
            });
            let read: Vec<NewTimes> = read.collect();
            for (read, restated) in read.iter().zip(&restated) {
                // A rigid profile, or a profile by machine, is written as a list of times if it replaces a profile of
                // another kind.
                let each = |profile: &Profile| (profile.min_processors()..=profile.max_processors()).map(|count| profile.time(count)).collect::<Vec<_>>();
                prop_assert_eq!((read.task, read.estimate, each(&read.profile)), (restated.task, restated.estimate, each(&restated.profile)));
                prop_assert_eq!(read.profile.machine_times(), restated.profile.machine_times());
            }
            prop_assert_eq!(read.len(), restated.len());
        }
    }

    #[test]
    fn equal_times_share_a_line() {
        let job = |index: u64| Job::new(index.to_string(), Profile::rigid(1, Time::from_seconds(60)).unwrap());
        let instance = Instance::new(Platform::flat(1).unwrap(), (0..9).map(job).collect(), vec![]).unwrap();
        let like = |task| NewTimes {
            task: TaskId(task),
            profile: Profile::rigid(1, Time::from_ticks(if task == 5 { 3 } else { 7 })).unwrap(),
            estimate: Estimate::Guessed,
        };
        let written = EqualTimes::of(&[0, 1, 2, 4, 5].map(like), |task| instance.profile(task));
        let text = serde_json::to_string(&written).unwrap();
        assert_eq!(text, r#"[{"jobs":[[0,2],[4,4]],"times":{"longest":7}},{"jobs":[[5,5]],"times":{"longest":3}}]"#);
    }
}
