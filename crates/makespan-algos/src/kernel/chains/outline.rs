//! One job as the method sees it, whatever else is planned.

use std::sync::OnceLock;

use makespan_core::{Instance, JobId};

use super::draft::Draft;
use super::frame::Frame;
use super::method::Method;
use super::ranking::Chain;
use super::strategy::{Offer, Settings, Task, strategy};
use crate::free_time::Calendar;
use crate::kernel::graph::GraphProblem;

/// A part of the time from HEFT's end to the deadline, such as 3 of 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// How many parts.
    pub parts: i64,
    /// Of how many.
    pub of: i64,
}

/// A job on processors, and on types of them where chains are planned on these. It is made once and asked for strategies on many
/// calendars; its chains are ranked at the first.
#[derive(Clone, Debug)]
pub struct Outline<'a> {
    /// The job on processors.
    pub real: Frame<'a>,
    types: Option<Frame<'a>>,
    chains: OnceLock<Vec<Chain>>,
    settings: Settings,
}

impl<'a> Outline<'a> {
    /// The tasks of a job of the instance, by this method.
    pub fn new(instance: &Instance, problem: &'a GraphProblem, job: JobId, method: &Method) -> Self {
        let real = Frame::new(instance, problem, job, false);
        let types = method.types.then(|| Frame::new(instance, problem, job, true));
        Self { real, types, chains: OnceLock::new(), settings: method.settings }
    }

    /// The strategy on these calendars, where HEFT gives `first`, for the end at a share of the time from HEFT's end to the
    /// deadline; for the deadline itself where HEFT is late.
    pub fn strategy(&self, calendars: &[Calendar], first: &Draft, deadline: i64, share: Share) -> Vec<Offer> {
        let Share { parts, of } = share;
        let span = deadline.saturating_sub(first.finish());
        let end = if parts == of || span <= 0 { deadline } else { first.finish() + span / of * parts };
        let real = &self.real;
        let chains = self.chains.get_or_init(|| real.chart.chains(self.settings.cover));
        let chosen = self.types.as_ref().unwrap_or(real);
        strategy(&Task { chosen, real, chains, calendars, first, end, held: deadline }, &self.settings)
    }
}
