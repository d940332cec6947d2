//! Jobs of equal tasks.

use std::ops::Deref;

use super::Instance;
use crate::model::{Job, JobId, Profile, Rows};

/// A job that is not compound, with the profile of its tasks.
#[derive(Clone, Copy, Debug)]
pub struct SimpleJob<'a> {
    job: &'a Job<Rows>,
    profile: &'a Profile,
}

impl<'a> SimpleJob<'a> {
    /// Returns the time of each task on each allotment.
    pub const fn profile(&self) -> &'a Profile {
        self.profile
    }
}

impl Deref for SimpleJob<'_> {
    type Target = Job<Rows>;

    fn deref(&self) -> &Job<Rows> {
        self.job
    }
}

impl Instance {
    /// Returns a view of a job that is not compound. For a compound job, the view contains only the first task.
    pub fn simple(&self, job: JobId) -> SimpleJob<'_> {
        SimpleJob { job: self.job(job), profile: self.profile_of(job) }
    }

    /// Returns a view of each job ([`Instance::simple`]). No job should be compound.
    pub fn simple_jobs(&self) -> impl DoubleEndedIterator<Item = SimpleJob<'_>> + ExactSizeIterator + Clone {
        self.ids().map(|id| self.simple(id))
    }
}
