//! Jobs whose tasks are equal.

use std::ops::Deref;

use super::Instance;
use crate::model::{Job, JobId, Profile, Rows};

/// A job that is not compound beside the time that each of its tasks takes.
#[derive(Clone, Copy, Debug)]
pub struct SimpleJob<'a> {
    job: &'a Job<Rows>,
    profile: &'a Profile,
}

impl<'a> SimpleJob<'a> {
    /// How long each task takes on each allotment.
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
    /// A job that is not compound; of a compound one only the first task.
    pub fn simple(&self, job: JobId) -> SimpleJob<'_> {
        SimpleJob { job: self.job(job), profile: self.profile_of(job) }
    }

    /// All jobs, none of which is to be compound ([`Instance::simple`]).
    pub fn simple_jobs(&self) -> impl DoubleEndedIterator<Item = SimpleJob<'_>> + ExactSizeIterator + Clone {
        self.ids().map(|id| self.simple(id))
    }
}
