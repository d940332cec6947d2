//! The number of jobs that meet their deadline.

use super::Schedule;
use crate::model::{Instance, Time};

/// The number of jobs that meet their deadline, and the number of jobs that have a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Punctuality {
    /// Number of jobs that end by their deadline.
    pub in_time: usize,
    /// Number of jobs with a deadline.
    pub with_deadline: usize,
}

impl Punctuality {
    /// Counts the jobs of a schedule, or returns `None` if no job has a deadline. A job with an unplaced task does not
    /// meet its deadline. Takes O(jobs + placements).
    pub fn of(instance: &Instance, schedule: &Schedule) -> Option<Self> {
        let with_deadline = instance.jobs().iter().filter(|job| job.deadline.is_some()).count();
        if with_deadline == 0 {
            return None;
        }
        let mut ends: Vec<Time> = vec![Time::ZERO; instance.jobs().len()];
        let mut left: Vec<u64> = instance.jobs().iter().map(crate::model::Job::tasks).collect();
        for placement in schedule.placements() {
            let job = instance.job_id(placement.task).index();
            ends[job] = ends[job].max(placement.end);
            left[job] = left[job].saturating_sub(1);
        }
        let jobs = instance.jobs().iter().zip(ends.iter().zip(&left));
        let in_time = jobs.filter(|(job, (end, left))| **left == 0 && job.deadline.is_some_and(|due| **end <= due));
        Some(Self { in_time: in_time.count(), with_deadline })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, Platform, ProcSet, Profile, TaskId};
    use crate::schedule::Placement;

    #[test]
    fn a_job_is_in_time_when_its_last_task_is() {
        let s = Time::from_seconds;
        let job = |name: &str| Job::new(name, Profile::rigid(1, s(2)).unwrap());
        let bag = job("bag").with_count(2.try_into().unwrap());
        let place = |task, start| Placement {
            task: TaskId(task),
            start: s(start),
            end: s(start + 2),
            processors: ProcSet::range(0, 0),
        };
        let schedule = Schedule::new(vec![place(0, 0), place(1, 2), place(2, 4)]);
        let found = |jobs: Vec<Job>| {
            let instance = Instance::new(Platform::flat(1).unwrap(), jobs, vec![]).unwrap();
            Punctuality::of(&instance, &schedule).map(|found| (found.in_time, found.with_deadline))
        };
        assert_eq!(found(vec![job("a"), bag.clone()]), None);
        assert_eq!(found(vec![job("a").with_deadline(s(2)), bag.clone()]), Some((1, 1)));
        assert_eq!(found(vec![job("a").with_deadline(s(1)), bag.clone().with_deadline(s(6))]), Some((1, 2)));
        assert_eq!(found(vec![job("a"), bag.with_deadline(s(5))]), Some((0, 1)));
        // Job `d` is not placed.
        let jobs = ["a", "b", "c", "d"].map(|name| job(name).with_deadline(s(60)));
        assert_eq!(found(jobs.to_vec()), Some((3, 4)));
    }
}
