//! Real run times, which no policy sees.

use crate::model::{Instance, ProcSet, Profile, TaskId, Time};

/// The real run times of the tasks of an instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Actual {
    /// Every task takes its estimated time.
    #[default]
    AsEstimated,
    /// For each task, its own profile of real times, in the order of the instance's tasks. Each profile accepts every
    /// allotment that the estimated profile of its task accepts.
    Profiles(Vec<Profile>),
    /// For each task, a factor in millionths by which its estimate is multiplied, in the order of the instance's
    /// tasks. The product is rounded up to a tick and is at least one tick.
    Factors(Vec<u64>),
}

impl Actual {
    /// Returns the real time that a task takes on these processors, if neither its walltime nor a failure ends it
    /// earlier.
    ///
    /// # Panics
    /// Panics if the task does not accept this number of processors.
    pub fn time(&self, instance: &Instance, task: TaskId, processors: &ProcSet) -> Time {
        match self {
            Self::AsEstimated => instance.time(task, processors),
            Self::Profiles(profiles) => {
                let time = instance.platform().time(&profiles[task.index()], processors);
                time.expect("the task must be able to run on the given processors")
            }
            Self::Factors(factors) => scaled(instance.time(task, processors), factors[task.index()]),
        }
    }

    /// Returns the real times of a task as a profile. With [`Actual::Factors`], times are rounded down.
    pub fn profile(&self, instance: &Instance, task: TaskId) -> Profile {
        match self {
            Self::AsEstimated => instance.profile(task).clone(),
            Self::Profiles(profiles) => profiles[task.index()].clone(),
            Self::Factors(factors) => {
                let profile = instance.profile(task).clone();
                let ticks = i128::from(profile.longest().ticks()) * i128::from(factors[task.index()]) / 1_000_000;
                profile.lasting(Time::from_ticks(i64::try_from(ticks).unwrap_or(i64::MAX).max(1)))
            }
        }
    }
}

/// Returns a time multiplied by a factor in millionths, rounded up, and at least a tick. Saturates.
fn scaled(time: Time, millionths: u64) -> Time {
    let ticks = (i128::from(time.ticks()) * i128::from(millionths) + 999_999) / 1_000_000;
    Time::from_ticks(i64::try_from(ticks).unwrap_or(i64::MAX).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, Node, Platform};

    #[test]
    fn factors_stretch_what_a_job_takes_where_it_runs() {
        let node = |name: &str, speed| Node { speed, ..Node::new(name, 1) };
        let platform = Platform::new(vec![node("slow", 1.0), node("fast", 2.0)]).unwrap();
        let task = |name: &str, ticks| Job::new(name, Profile::rigid(1, Time::from_ticks(ticks)).unwrap());
        let tasks = vec![task("a", 10), task("b", 10), task("c", 1)];
        let instance = Instance::new(platform, tasks, vec![]).unwrap();
        let actual = Actual::Factors(vec![1_300_000, 1_000_001, 1]);
        let time = |task, on| actual.time(&instance, TaskId(task), &ProcSet::range(on, on)).ticks();
        assert_eq!([time(0, 0), time(0, 1)], [13, 7]);
        assert_eq!([time(1, 0), time(1, 1)], [11, 6], "rounded up");
        assert_eq!(time(2, 0), 1, "every task takes at least a tick");
        assert_eq!(scaled(Time::from_ticks(i64::MAX), u64::MAX), Time::from_ticks(i64::MAX));
    }
}
