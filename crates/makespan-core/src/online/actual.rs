//! How long jobs really take, which no policy sees.

use crate::model::{Instance, JobId, ProcSet, Profile, Time};

/// The real times behind the estimates of an instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Actual {
    /// Every job takes as long as estimated.
    #[default]
    AsEstimated,
    /// Each job takes these times, in the order of the instance's jobs. A profile accepts every allotment that the job's
    /// estimate does.
    Profiles(Vec<Profile>),
}

impl Actual {
    /// How long a job really takes on these processors, were it not ended before.
    ///
    /// # Panics
    /// When the job does not accept as many processors.
    pub fn time(&self, instance: &Instance, job: JobId, processors: &ProcSet) -> Time {
        match self {
            Self::AsEstimated => instance.time(job, processors),
            Self::Profiles(profiles) => {
                let time = instance.platform().time(&profiles[job.index()], processors);
                time.expect("a job is timed only where it can run")
            }
        }
    }
}
