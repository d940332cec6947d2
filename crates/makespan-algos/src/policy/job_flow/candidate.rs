//! One job to be planned, and its strategy.

use std::cmp::Reverse;

use makespan_core::{Instance, JobId, View, Weight};

use super::choice::Choice;
use super::records::JobRecords;
use super::rules::{Clock, JobFlowRules};
use crate::free_time::Calendar;
use crate::kernel::chains::deadline::{deadline, makespan_alone};
use crate::kernel::chains::frame::Frame;
use crate::kernel::chains::outline::{Outline, Share};
use crate::kernel::chains::strategy::{Offer, heft, pareto};
use crate::kernel::graph::GraphProblem;
use crate::policy::jobs::as_graph;

/// Ends from that of HEFT to the deadline under which variants are sought, less one.
const SHARES: i64 = 2;

/// A job as an instance of its own, released now.
pub(super) struct Alone {
    pub job: JobId,
    released: i64,
    instance: Instance,
    problem: GraphProblem,
}

/// A job to be planned.
pub(super) struct Candidate<'a> {
    /// Which job.
    pub job: JobId,
    /// When it was released, in ticks.
    pub released: i64,
    /// Those of higher priority are served first, and of these the ones of greater weight.
    pub priority: i32,
    /// What it counts for when it is late.
    pub weight: Weight,
    /// By when it has to end, in ticks.
    pub deadline: i64,
    /// By when its plan should end, so that its longest task can run again; the deadline where nothing is spared.
    pub wanted: i64,
    /// How long HEFT takes for it on idle processors.
    pub alone: i64,
    /// No plan is shorter: its longest path, each task at its fastest.
    pub shortest: i64,
    /// What it takes of a processor of mean speed.
    pub work: f64,
    /// Whether it was planned in time before.
    pub promised: bool,
    /// Its plan so far.
    pub before: Option<Choice>,
    outline: Outline<'a>,
}

/// The longest of these times, rounded up to ticks.
pub(super) fn longest(times: &[f64]) -> i64 {
    times.iter().copied().fold(0.0, f64::max).ceil() as i64
}

impl Alone {
    /// The jobs of these numbers.
    pub fn all(jobs: &[JobId], rules: &JobFlowRules, view: &View<'_>) -> Vec<Self> {
        let alone = |&job: &JobId| {
            let own = as_graph(view.instance, job);
            let release = own.release;
            let instance = view.instance.with_jobs(vec![own.with_release(release.max(view.now))]);
            let problem = rules.method.problem(&instance);
            Self { job, released: release.ticks(), instance, problem }
        };
        jobs.iter().map(alone).collect()
    }
}

impl<'a> Candidate<'a> {
    /// The job with what is known of it.
    pub fn new(alone: &'a Alone, rules: &JobFlowRules, records: &JobRecords, spares: bool) -> Self {
        let Alone { job, released, ref instance, ref problem } = *alone;
        let outline = Outline::new(instance, problem, JobId(0), &rules.method);
        let now = outline.real.release();
        let makespan = makespan_alone(&outline.real);
        let waited = match rules.clock {
            Clock::Arrival => 0,
            Clock::Handover => now - released,
        };
        let entry = records.get(job);
        let own = &instance.jobs()[0];
        let by = || deadline(own.deadline, released, || makespan, rules.method.deadline).saturating_add(waited);
        let deadline = entry.map_or_else(by, |entry| entry.deadline);
        let times = crate::kernel::graph::rank::mean_times(problem);
        let spare = if spares { longest(&times) } else { 0 };
        Self {
            job,
            released,
            priority: own.priority,
            weight: own.weight,
            deadline,
            wanted: deadline.saturating_sub(spare),
            alone: makespan,
            shortest: outline.real.longest_path(),
            work: times.iter().sum(),
            promised: entry.is_some_and(|entry| entry.in_time),
            before: entry.and_then(|entry| entry.choice.clone()),
            outline,
        }
    }

    /// The job on processors.
    pub fn real(&self) -> &Frame<'a> {
        &self.outline.real
    }

    /// By this the jobs of a buffer are served: higher priorities first, then greater weights, then as they came.
    pub fn urgency(&self) -> (Reverse<i32>, Reverse<Weight>, i64, JobId) {
        (Reverse(self.priority), Reverse(self.weight), self.released, self.job)
    }

    /// How far a plan in time ends after what is wanted.
    pub fn shortfall(&self, offer: &Offer) -> i64 {
        if offer.finish > self.deadline { 0 } else { (offer.finish - self.wanted).max(0) }
    }

    /// Whether no places whatever are in time.
    pub fn is_hopeless(&self) -> bool {
        self.real().release() + self.shortest > self.deadline
    }

    /// The variants that end in time on processors that are free as `calendars` say, by finish: under the end that is wanted, or
    /// else the deadline, and under shares of the time between HEFT's end and it.
    pub fn variants(&self, calendars: &[Calendar]) -> Vec<Offer> {
        if self.is_hopeless() {
            return Vec::new();
        }
        let first = heft(self.real(), calendars);
        let end = if self.wanted > first.finish() { self.wanted } else { self.deadline };
        let shares = if end > first.finish() { 0..=SHARES } else { SHARES..=SHARES };
        let strategy = |parts| self.outline.strategy(calendars, &first, end, Share { parts, of: SHARES });
        let mut offers: Vec<Offer> = shares.flat_map(strategy).collect();
        offers.retain(|offer| offer.finish <= self.deadline);
        pareto(offers)
    }

    /// HEFT's places.
    pub fn fallback(&self, calendars: &[Calendar]) -> Offer {
        Offer::plain(&heft(self.real(), calendars))
    }

    /// One of these variants is taken.
    pub fn taken(&self, variants: Vec<Offer>, chosen: usize) -> Choice {
        let offer = variants[chosen].clone();
        let in_time = offer.finish <= self.deadline;
        let until = offer.held_until(self.real());
        Choice { variants, chosen: Some(chosen), offer, until, in_time, given_up: false }
    }

    /// No variant is in time: HEFT's places, unless they are late and `reject` says that the job is given up then.
    pub fn late(&self, offer: Offer, reject: bool) -> Choice {
        let in_time = offer.finish <= self.deadline;
        let until = offer.held_until(self.real());
        Choice { variants: Vec::new(), chosen: None, offer, until, in_time, given_up: reject && !in_time }
    }

    /// Whether its plan so far can be kept on these calendars.
    pub fn kept(&self, calendars: &[Calendar]) -> Option<&Choice> {
        self.before.as_ref().filter(|choice| choice.fits(calendars, self.real().release()))
    }
}
