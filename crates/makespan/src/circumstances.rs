//! Options with which a user configures a simulation, and their translation to [`SimulationOptions`].

use std::path::Path;

use makespan_core::Instance;
use makespan_formats::{FormatError, read_failures};
use makespan_sim::{FailureModel, FailureModelError, SimulationOptions};
use thiserror::Error;

/// Options with which a user selects the walltimes and failures of a simulation.
///
/// ```
/// use makespan::{Circumstances, Instance, Job, Platform, Profile, Time};
///
/// let job = Job::new("a", Profile::rigid(2, Time::from_seconds(60))?);
/// let instance = Instance::new(Platform::flat(4)?, vec![job], vec![])?;
/// let stated = Circumstances { failures: Some("model:mtbf=30d,mttr=4h".into()), ..Circumstances::default() };
/// assert!(stated.rules(&instance)?.failure_model.is_some());
/// let refused = Circumstances { kill_at_walltime: true, ..Circumstances::default() }.rules(&instance);
/// assert_eq!(refused.unwrap_err().option(), Some("kill_at_walltime"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// True if a job is terminated when it reaches its walltime.
    pub kill_at_walltime: bool,
    /// True if the policies know the actual run times of the jobs. Then no job is terminated at its walltime.
    pub is_clairvoyant: bool,
    /// The path of a CSV file of failures and repairs, or a model such as `model:mtbf=30d,mttr=4h`.
    pub failures: Option<String>,
    /// The maximum number of times that a job is queued again after an interruption.
    pub requeues: Option<u32>,
    /// The seed of the random failures of a model.
    pub seed: u64,
}

/// The reason why an option cannot be applied: it contradicts the instance or another option, or its value is invalid.
#[derive(Debug, Error)]
pub enum CircumstanceError {
    /// `kill_at_walltime` has no effect together with `is_clairvoyant`: the actual run times are then the estimates,
    /// so no job exceeds its walltime.
    #[error(
        "this option needs --estimates user: with clairvoyant or unknown estimates, no job runs longer than its estimate"
    )]
    NoneCutShort,
    /// `kill_at_walltime` has no effect, because no job has a walltime.
    #[error(
        "no job has a walltime; either the log has no requested times, or they are not used (in a moldable replay, or \
         on a platform with speeds other than 1)"
    )]
    NoWalltimes,
    /// The text of the failure model is invalid.
    #[error("{text}: {source}")]
    Model {
        /// The text of the option.
        text: String,
        /// The reason why the text is invalid.
        source: FailureModelError,
    },
    /// The file that lists the failures cannot be read.
    #[error(transparent)]
    File(#[from] FormatError),
}

impl CircumstanceError {
    /// Returns the name of the invalid option. Returns `None` if a file is invalid, because the error then names the
    /// file.
    pub fn option(&self) -> Option<&'static str> {
        match self {
            Self::NoneCutShort | Self::NoWalltimes => Some("kill_at_walltime"),
            Self::Model { .. } => Some("failures"),
            Self::File(_) => None,
        }
    }
}

impl Circumstances {
    /// Returns the rules of the simulation. The rules include the failures that a file lists or that a model draws.
    ///
    /// # Errors
    /// Returns [`CircumstanceError`] if an option is invalid, or if it would have no effect on the simulation.
    pub fn rules(&self, instance: &Instance) -> Result<SimulationOptions, CircumstanceError> {
        let Self { kill_at_walltime, is_clairvoyant, ref failures, requeues, seed } = *self;
        if kill_at_walltime && is_clairvoyant {
            return Err(CircumstanceError::NoneCutShort);
        }
        if kill_at_walltime && instance.jobs().iter().all(|job| job.walltime.is_none()) {
            return Err(CircumstanceError::NoWalltimes);
        }
        let mut rules = SimulationOptions { kill_at_walltime, ..SimulationOptions::default() };
        rules.requeues = requeues.unwrap_or(rules.requeues);
        match failures.as_deref().map(|text| (text, text.strip_prefix("model:"))) {
            None => {}
            Some((text, Some(model))) => {
                let model = FailureModel::parse(model, seed);
                let wrong = |source| CircumstanceError::Model { text: text.to_owned(), source };
                rules.failure_model = Some(model.map_err(wrong)?);
            }
            Some((file, None)) => rules.failures = read_failures(Path::new(file), instance.platform())?,
        }
        Ok(rules)
    }
}
