//! The data that the critical jobs method computes once for each job.

use std::sync::OnceLock;

use makespan_core::{Instance, JobId};

use super::draft::Draft;
use super::frame::Frame;
use super::method::Method;
use super::ranking::Chain;
use super::strategy::{ChainJob, JobSchedule, Settings, strategy};
use super::tariff::Tariff;
use crate::free_time::Calendar;
use crate::kernel::graph::GraphProblem;

/// A fraction of the time from the end of HEFT's schedule to the deadline, such as 3/4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The numerator.
    pub parts: i64,
    /// The denominator.
    pub of: i64,
}

/// A job that the critical jobs method plans on processors. If chains are planned on types of processors, the outline
/// also contains a frame of these types. One outline computes strategies for different calendars. The first
/// computation ranks the chains.
#[derive(Clone, Debug)]
pub struct Outline<'a> {
    /// The job on processors.
    pub real: Frame<'a>,
    types: Option<Frame<'a>>,
    chains: OnceLock<Vec<Chain>>,
    settings: Settings,
}

impl<'a> Outline<'a> {
    /// Returns the outline of a job of the instance.
    pub fn new(instance: &Instance, problem: &'a GraphProblem, job: JobId, method: &Method) -> Self {
        let real = Frame::new(instance, problem, job, false);
        let types = method.types.then(|| Frame::new(instance, problem, job, true));
        Self { real, types, chains: OnceLock::new(), settings: method.settings }
    }

    /// Replaces the costs of tasks by their charges under a tariff.
    #[must_use]
    pub fn priced(self, tariff: &Tariff) -> Self {
        let types = self.types.map(|types| types.priced(tariff));
        Self { real: self.real.priced(tariff), types, ..self }
    }

    /// Returns the chains of the job. The first call ranks the chains.
    pub fn chains(&self) -> &[Chain] {
        self.chains.get_or_init(|| self.real.chart.chains(self.settings.cover))
    }

    /// Returns the strategy on `calendars`. `first` is HEFT's schedule on these calendars. Let E be the end of
    /// `first`, and D the deadline. If E is before D, the strategy is planned to end by E + `share` (D - E), otherwise
    /// by D.
    pub fn strategy(&self, calendars: &[Calendar], first: &Draft, deadline: i64, share: Share) -> Vec<JobSchedule> {
        let Share { parts, of } = share;
        let span = deadline.saturating_sub(first.finish());
        let end = if parts == of || span <= 0 { deadline } else { first.finish() + span / of * parts };
        let (real, chains) = (&self.real, self.chains());
        let chosen = self.types.as_ref().unwrap_or(real);
        strategy(&ChainJob { chosen, real, chains, calendars, first, end, held: deadline }, &self.settings)
    }
}
