//! A job to be planned, and its strategy.

use std::cmp::Reverse;

use makespan_core::{Instance, JobId, View, Weight};

use super::choice::FlowChoice;
use super::records::JobRecords;
use super::rules::{Clock, JobFlowRules};
use crate::free_time::Calendar;
use crate::kernel::chains::affordable::heft_within;
use crate::kernel::chains::deadline::{deadline, makespan_alone};
use crate::kernel::chains::draft::Draft;
use crate::kernel::chains::frame::Frame;
use crate::kernel::chains::outline::{Outline, Share};
use crate::kernel::chains::squeeze::{SqueezeLimits, SqueezeResult, squeeze};
use crate::kernel::chains::strategy::{JobSchedule, heft, pareto};
use crate::kernel::chains::tariff::{Purse, Tariff};
use crate::kernel::graph::GraphProblem;
use crate::policy::jobs::as_graph;

/// Number of equal parts into which the time from HEFT's end to the deadline is divided. Some variants are planned to
/// end by HEFT's end, and others by the end of each part.
const SHARES: i64 = 2;
/// Maximum number of places that the search for a plan within the deadline and the budget tries.
const TRIED: u64 = 20_000;

/// A job as a separate instance, released now.
pub(super) struct Alone {
    pub job: JobId,
    released: i64,
    instance: Instance,
    problem: GraphProblem,
}

/// A job to be planned.
pub(super) struct FlowCandidate<'a> {
    /// The job.
    pub job: JobId,
    /// The release, in ticks.
    pub released: i64,
    /// The priority. Jobs with a higher priority are served first. Among equal priorities, jobs with a higher weight
    /// are served first.
    pub priority: i32,
    /// The cost if the job is late.
    pub weight: Weight,
    /// The instant by which the job must end, in ticks.
    pub deadline: i64,
    /// The instant by which the plan should end, in ticks. Between this instant and the deadline, the longest task can
    /// run again. If the rules reserve no time for this second run, `wanted` is the deadline.
    pub wanted: i64,
    /// The makespan of HEFT for the job on idle processors, in ticks.
    pub alone: i64,
    /// A lower bound on the makespan of any plan, in ticks: the longest path, with the fastest time of each task.
    pub shortest: i64,
    /// The sum of the mean times of the tasks, in ticks. The means are over the processors.
    pub work: f64,
    /// Whether an earlier plan of the job was in time.
    pub promised: bool,
    /// The maximum cost of the job in thousandths. `i64::MAX` if the job has no budget.
    pub budget: i64,
    /// The purse for HEFT's plan, if the job has a budget.
    purse: Option<Purse>,
    /// Whether a search tries to find a plan if no other plan is in time and within the budget.
    searches: bool,
    /// The current plan of the job, if it has one.
    pub before: Option<FlowChoice>,
    outline: Outline<'a>,
}

/// Returns the maximum of `times`, rounded up to ticks.
pub(super) fn longest(times: &[f64]) -> i64 {
    times.iter().copied().fold(0.0, f64::max).ceil() as i64
}

impl Alone {
    /// Returns each of the jobs as a separate instance.
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

impl<'a> FlowCandidate<'a> {
    /// Returns a candidate for a job. The candidate includes the data of earlier plans of the job.
    pub fn new(
        alone: &'a Alone,
        rules: &JobFlowRules,
        records: &JobRecords,
        spares: bool,
        tariff: Option<&Tariff>,
    ) -> Self {
        let Alone { job, released, ref instance, ref problem } = *alone;
        let mut outline = Outline::new(instance, problem, JobId(0), &rules.method);
        if let Some(tariff) = tariff {
            outline = outline.priced(tariff);
        }
        let budget = tariff.and_then(|tariff| Some((tariff, tariff.budget(job)?)));
        let all: Vec<u32> = (0..problem.tasks() as u32).collect();
        let purse = budget.map(|(tariff, budget)| Purse::new(instance, problem, tariff, budget, &all));
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
            budget: budget.map_or(i64::MAX, |(_, budget)| budget),
            purse,
            searches: tariff.is_some(),
            before: entry.and_then(|entry| entry.choice.clone()),
            outline,
        }
    }

    /// Returns the frame of the job on the processors of the platform.
    pub fn real(&self) -> &Frame<'a> {
        &self.outline.real
    }

    /// Returns the key by which jobs are sorted: higher priorities first, then higher weights, then earlier releases.
    pub fn urgency(&self) -> (Reverse<i32>, Reverse<Weight>, i64, JobId) {
        (Reverse(self.priority), Reverse(self.weight), self.released, self.job)
    }

    /// If a plan meets the deadline but ends after `wanted`, returns the time from `wanted` to its end, in ticks.
    /// Otherwise, returns zero.
    pub fn shortfall(&self, offer: &JobSchedule) -> i64 {
        if offer.finish > self.deadline { 0 } else { (offer.finish - self.wanted).max(0) }
    }

    /// Returns whether no plan can end by the deadline within the budget.
    pub fn is_hopeless(&self) -> bool {
        let poor = self.purse.as_ref().is_some_and(Purse::is_empty);
        poor || self.real().release() + self.shortest > self.deadline
    }

    /// Returns whether a plan is within the budget.
    pub fn affords(&self, offer: &JobSchedule) -> bool {
        offer.cost <= self.budget
    }

    /// Returns HEFT's schedule, within the budget if the job has one.
    fn heft(&self, calendars: &[Calendar]) -> Draft<'_> {
        match &self.purse {
            Some(purse) => heft_within(self.real(), calendars, purse.clone()),
            None => heft(self.real(), calendars),
        }
    }

    /// Returns the variants that end by the deadline within the budget, sorted by the end of the job. The variants use processors that
    /// are free according to `calendars`. Each variant is planned to end by an instant between HEFT's end and `wanted`.
    /// If HEFT's schedule ends after `wanted`, the deadline is used instead of `wanted`. If prices or budgets are
    /// stated and no variant is found, a search is tried.
    pub fn variants(&self, calendars: &[Calendar]) -> Vec<JobSchedule> {
        if self.is_hopeless() {
            return Vec::new();
        }
        let first = self.heft(calendars);
        let end = if self.wanted > first.finish() { self.wanted } else { self.deadline };
        let shares = if end > first.finish() { 0..=SHARES } else { SHARES..=SHARES };
        let strategy = |parts| self.outline.strategy(calendars, &first, end, Share { parts, of: SHARES });
        let mut offers: Vec<JobSchedule> = shares.flat_map(strategy).collect();
        if self.searches {
            offers.push(JobSchedule::plain(&first));
        }
        offers.retain(|offer| offer.finish <= self.deadline && self.affords(offer));
        if offers.is_empty() && self.searches {
            let limits = SqueezeLimits { end: self.deadline, budget: self.budget, steps: TRIED };
            if let SqueezeResult::Found(found) = squeeze(self.real(), calendars, limits) {
                offers.push(JobSchedule::plain(&found));
            }
        }
        pareto(offers)
    }

    /// Returns HEFT's schedule of the job.
    pub fn fallback(&self, calendars: &[Calendar]) -> JobSchedule {
        JobSchedule::plain(&self.heft(calendars))
    }

    /// Returns the plan of the job that uses the variant with the index `chosen`.
    pub fn taken(&self, variants: Vec<JobSchedule>, chosen: usize) -> FlowChoice {
        let offer = variants[chosen].clone();
        let in_time = offer.finish <= self.deadline;
        let until = offer.held_until(self.real());
        FlowChoice { variants, chosen: Some(chosen), offer, until, in_time, given_up: false }
    }

    /// Returns the plan that uses HEFT's schedule `offer`, which is not a variant. If this schedule is late and
    /// `reject` is set, or if it exceeds the budget, the job is cancelled.
    pub fn late(&self, offer: JobSchedule, reject: bool) -> FlowChoice {
        let in_time = offer.finish <= self.deadline;
        let until = offer.held_until(self.real());
        let given_up = reject && !in_time || !self.affords(&offer);
        let in_time = in_time && !given_up;
        FlowChoice { variants: Vec::new(), chosen: None, offer, until, in_time, given_up }
    }

    /// Returns the current plan if its processors are still free according to `calendars`.
    pub fn kept(&self, calendars: &[Calendar]) -> Option<&FlowChoice> {
        self.before.as_ref().filter(|choice| choice.fits(calendars, self.real().release()))
    }
}
