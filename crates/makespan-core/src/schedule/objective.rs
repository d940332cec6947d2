//! Objectives and metrics of schedules.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::shape::{Origin, Shape, Unit};
use crate::model::{Area, Instance, Time, WeightedTime};
use crate::schedule::{Schedule, cost};

/// An objective: an exact value that schedules minimise, or a throughput that they maximise. Bounds are proved on
/// objectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// The end of the last job, in ticks.
    Makespan,
    /// The sum over jobs of the weight multiplied by the completion time ("minsum"), in millionths of a unit of weight
    /// times ticks. A bag completes when its last task ends.
    WeightedCompletion,
    /// The mean over jobs of completion minus release, in thousandths of a tick (1e-12 s), rounded down. A bag is one
    /// job.
    MeanFlow,
    /// The sum over tasks of the task's volume divided by its time ([`crate::cost`]). Each quotient is in thousandths
    /// and rounded up. A task costs more on fast processors than on slow ones.
    Cost,
    /// The minimum over jobs of the job's throughput divided by its weight, in weighted tasks per second. This
    /// objective is maximised. For a steady state, the value is a rational. For a schedule, the throughput of a job is
    /// its number of tasks divided by the makespan, in billionths and rounded down. Bounds on the throughput apply
    /// only to steady states, not to schedules.
    #[serde(rename = "fair_throughput")]
    Throughput,
    /// The largest tardiness of any job (`Tmax`), in ticks. The tardiness is the time from the job's deadline to its end,
    /// or zero if the job ends earlier or has no deadline.
    MaxTardiness,
    /// The sum over jobs of the weight multiplied by the tardiness ("total weighted tardiness"), in millionths of a unit
    /// of weight times ticks.
    WeightedTardiness,
    /// The largest lateness (`Lmax`) of the jobs with a deadline, in ticks. The lateness is the end minus the deadline,
    /// so it is negative if the job is early. The value is 0 if no job has a deadline.
    MaxLateness,
    /// The sum over jobs of the tardiness, in ticks. Best-effort bags are ignored.
    TotalTardiness,
    /// The number of jobs that end after their deadline. Best-effort bags are ignored.
    TardyJobs,
    /// The sum of the weights of the jobs that end after their deadline, in millionths of a unit of weight.
    WeightedTardyJobs,
    /// The sum over jobs of the weight multiplied by the penalty of the end ([`crate::EndPenalty`]), in units of 1e-12.
    TotalPenalty,
    /// The largest product of a job's weight and penalty, in units of 1e-12.
    MaxPenalty,
}

impl Objective {
    /// The objectives of schedules, in the order in which reports list them.
    pub const OF_SCHEDULES: [Self; 12] = [
        Self::Makespan,
        Self::WeightedCompletion,
        Self::MeanFlow,
        Self::Cost,
        Self::MaxTardiness,
        Self::WeightedTardiness,
        Self::MaxLateness,
        Self::TotalTardiness,
        Self::TardyJobs,
        Self::WeightedTardyJobs,
        Self::TotalPenalty,
        Self::MaxPenalty,
    ];
    /// The objectives that are computed from other objectives ([`crate::DerivedObjective`]).
    pub const DERIVED: [Self; 4] = [Self::MaxLateness, Self::TotalTardiness, Self::TardyJobs, Self::WeightedTardyJobs];
    /// The objectives that depend on the penalties of jobs.
    pub const PENALTIES: [Self; 2] = [Self::TotalPenalty, Self::MaxPenalty];
    /// The objectives that have a [`Shape`]: [`Objective::OF_TIME`] and [`Objective::PENALTIES`].
    pub const OF_ENDS: [Self; 7] = [
        Self::Makespan,
        Self::WeightedCompletion,
        Self::MeanFlow,
        Self::MaxTardiness,
        Self::WeightedTardiness,
        Self::TotalPenalty,
        Self::MaxPenalty,
    ];
    /// The objectives of [`Objective::OF_ENDS`] that depend on the end of each job, not only of the last one.
    pub const OF_JOB_ENDS: [Self; 6] = [
        Self::WeightedCompletion,
        Self::MeanFlow,
        Self::MaxTardiness,
        Self::WeightedTardiness,
        Self::TotalPenalty,
        Self::MaxPenalty,
    ];
    /// The objectives of [`Objective::OF_ENDS`] that are sums over jobs.
    pub const SUMS_OF_ENDS: [Self; 4] =
        [Self::WeightedCompletion, Self::MeanFlow, Self::WeightedTardiness, Self::TotalPenalty];
    /// The objectives that are linear in the ends of jobs, or linear after the deadlines.
    pub const OF_TIME: [Self; 5] =
        [Self::Makespan, Self::WeightedCompletion, Self::MeanFlow, Self::MaxTardiness, Self::WeightedTardiness];
    /// The objectives of [`Objective::OF_TIME`] that depend on the end of each job, not only of the last one.
    pub const OF_JOBS: [Self; 4] =
        [Self::WeightedCompletion, Self::MeanFlow, Self::MaxTardiness, Self::WeightedTardiness];
    /// The objectives of [`Objective::OF_TIME`] that are sums over jobs.
    pub const SUMS: [Self; 3] = [Self::WeightedCompletion, Self::MeanFlow, Self::WeightedTardiness];
    /// The objectives of [`Objective::OF_TIME`] that depend on deadlines.
    pub const OF_DEADLINES: [Self; 2] = [Self::MaxTardiness, Self::WeightedTardiness];
    /// The objectives that are reported with a bound for every schedule, in the order in which reports list them.
    pub const STANDARD: [Self; 2] = [Self::Makespan, Self::WeightedCompletion];

    /// Returns the objectives that are reported with a bound for every schedule of this instance:
    /// [`Objective::STANDARD`], and [`Objective::OF_DEADLINES`] if some job has a deadline. The order is the order in
    /// reports.
    pub fn standard(instance: &Instance) -> impl Iterator<Item = Self> + Clone + use<> {
        let of_deadlines = Self::OF_DEADLINES.into_iter().take(if instance.has_deadlines() { 2 } else { 0 });
        Self::STANDARD.into_iter().chain(of_deadlines)
    }

    /// Returns true if the objective is one of [`Objective::standard`].
    pub fn is_standard(self, instance: &Instance) -> bool {
        Self::standard(instance).any(|other| other == self)
    }

    /// Returns the shape of the objective, or `None` if the objective does not depend on the ends of jobs or is derived
    /// ([`Objective::derived`]).
    #[inline]
    pub const fn shape(self) -> Option<Shape> {
        Some(match self {
            Self::Makespan => Shape::max(Origin::Zero),
            Self::WeightedCompletion => Shape::sum(Origin::Zero, Unit::WeightedTime),
            Self::MeanFlow => Shape::sum(Origin::Release, Unit::MeanTime),
            Self::MaxTardiness => Shape::max(Origin::Deadline),
            Self::WeightedTardiness => Shape::sum(Origin::Deadline, Unit::WeightedTime),
            Self::TotalPenalty => Shape::sum(Origin::Penalty, Unit::WeightedPenalty),
            Self::MaxPenalty => Shape { is_sum: false, from: Origin::Penalty, unit: Unit::WeightedPenalty },
            Self::Cost
            | Self::Throughput
            | Self::MaxLateness
            | Self::TotalTardiness
            | Self::TardyJobs
            | Self::WeightedTardyJobs => return None,
        })
    }

    /// Returns the shape of an objective that depends on the end of each job. Returns `None` for the makespan, which
    /// depends only on the end of the last job.
    #[inline]
    pub const fn of_jobs(self) -> Option<Shape> {
        if matches!(self, Self::Makespan) { None } else { self.shape() }
    }

    /// Returns true if the objective is one of [`Objective::OF_DEADLINES`].
    #[inline]
    pub fn is_tardiness(self) -> bool {
        self.shape().is_some_and(Shape::is_tardiness)
    }

    /// Returns true if the objective depends on the deadlines of jobs, and so needs a job with a deadline.
    pub fn needs_deadlines(self) -> bool {
        self.is_tardiness() || Self::DERIVED.contains(&self)
    }

    /// Returns true if the objective depends on the penalties of jobs, and so needs a job with a penalty.
    pub fn needs_penalties(self) -> bool {
        Self::PENALTIES.contains(&self)
    }

    /// Returns true if the instance has the data on which the objective depends: a deadline or a penalty.
    pub fn is_meant_for(self, instance: &Instance) -> bool {
        (!self.needs_deadlines() || instance.has_deadlines()) && (!self.needs_penalties() || instance.has_penalties())
    }

    /// Returns true if the objective is a sum over jobs that increases whenever a job ends a tick later. A sum of
    /// tardiness values stays constant while a job that is delayed still ends by its deadline. A penalty need not
    /// increase either.
    #[inline]
    pub fn is_sum_of_ends(self) -> bool {
        self.shape().is_some_and(|shape| shape.is_sum && !shape.is_tardiness() && !shape.is_penalty())
    }

    /// Returns true if the objective depends on the weights of jobs.
    #[inline]
    pub fn is_weighted(self) -> bool {
        self.shape().is_some_and(Shape::is_weighted)
    }

    /// Returns true if the objective is a mean over jobs. Searches minimise the sum instead.
    #[inline]
    pub fn is_mean(self) -> bool {
        self.shape().is_some_and(|shape| shape.unit == Unit::MeanTime)
    }

    /// Returns the value of a schedule.
    pub fn value(self, instance: &Instance, schedule: &Schedule) -> i128 {
        let Some(shape) = self.of_jobs() else {
            return match self {
                Self::Cost => cost(instance, schedule),
                Self::Throughput => throughput(instance, schedule),
                _ if Self::DERIVED.contains(&self) => of_due_dates(self, instance, schedule),
                _ => i128::from(schedule.makespan().ticks()),
            };
        };
        let spans = instance.jobs().iter().zip(spans(instance, schedule));
        let ends = spans.filter_map(|(job, span)| Some((shape.cost(job), span?.end.ticks())));
        // Only the penalty of an end centuries after the last point can exceed the range of integers.
        let costs = ends.map(|(cost, end)| cost.exact(end.into()).unwrap_or(i128::MAX));
        let total = if shape.is_sum { costs.fold(0, i128::saturating_add) } else { costs.max().unwrap_or(0) };
        shape.value(total, instance.jobs().len())
    }

    /// Returns true if larger values are better, so that bounds are upper bounds.
    pub const fn is_maximised(self) -> bool {
        matches!(self, Self::Throughput)
    }

    /// Formats a value as an exact decimal. Depending on the objective, the unit is seconds, weight times seconds or
    /// weighted tasks per second. A cost has no unit.
    pub fn decimal(self, value: i128) -> String {
        match self.shape() {
            Some(Shape { unit: Unit::Time, .. }) => {
                Time::from_ticks(i64::try_from(value).unwrap_or(i64::MAX)).to_string()
            }
            // The unit of weighted time has at least as many decimal places as the units of all remaining objectives.
            _ => {
                let scale = 10_i128.pow((Unit::WeightedTime.places() - self.places()) as u32);
                WeightedTime(value.saturating_mul(scale)).to_string()
            }
        }
    }

    /// Returns the number n of decimal places of a value. The unit of the integer value is 10^-n. For a time, the unit
    /// is 10^-n seconds.
    pub const fn places(self) -> usize {
        match (self.shape(), self) {
            (Some(shape), _) => shape.unit.places(),
            (None, Self::TardyJobs) => 0,
            (None, Self::Cost) => 3,
            (None, Self::WeightedTardyJobs) => 6,
            (None, _) => 9,
        }
    }

    /// Returns the name of the objective in files and on the command line.
    pub const fn name(self) -> &'static str {
        self.words()[0]
    }

    /// Returns the heading of a table column with values of the objective.
    pub const fn heading(self) -> &'static str {
        self.words()[2]
    }

    /// Returns three texts for the objective: its name in files and on the command line, a phrase for use in sentences,
    /// and the heading of a table column.
    const fn words(self) -> [&'static str; 3] {
        match self {
            Self::Makespan => ["makespan", "makespan", "makespan"],
            Self::WeightedCompletion => ["weighted_completion", "weighted completion", "w. compl."],
            Self::MeanFlow => ["mean_flow", "mean flow", "mean_flow"],
            Self::Cost => ["cost", "cost", "cost"],
            Self::Throughput => ["fair_throughput", "fair throughput", "fair throughput"],
            Self::MaxTardiness => ["max_tardiness", "maximum tardiness", "max. tard."],
            Self::WeightedTardiness => ["weighted_tardiness", "weighted tardiness", "w. tard."],
            Self::MaxLateness => ["max_lateness", "maximum lateness", "max. late."],
            Self::TotalTardiness => ["total_tardiness", "total tardiness", "tot. tard."],
            Self::TardyJobs => ["tardy_jobs", "number of tardy jobs", "tardy"],
            Self::WeightedTardyJobs => ["weighted_tardy_jobs", "weighted number of tardy jobs", "w. tardy"],
            Self::TotalPenalty => ["total_penalty", "total penalty", "tot. pen."],
            Self::MaxPenalty => ["max_penalty", "maximum penalty", "max. pen."],
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.words()[1])
    }
}

/// Metrics of a schedule or a trace, as floats for display and statistics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// End of the last job, in seconds.
    pub makespan: f64,
    /// Sum over jobs of the weight multiplied by the completion time, in units of weight times seconds.
    pub weighted_completion: f64,
    /// Mean over jobs of completion minus release, in seconds.
    pub mean_flow: f64,
    /// Mean over jobs of `max(1, flow / max(10 s, run time))`, in which `flow` is completion minus release. The run
    /// time of a bag is the time from its first start to its last end.
    pub mean_bounded_slowdown: f64,
    /// Area (processors times time) that jobs use, divided by the area of open processors from the first release to the
    /// makespan, in [0, 1].
    pub utilisation: f64,
}

impl Metrics {
    /// The threshold of the bounded slowdown. Shorter run times are replaced by the threshold.
    pub const SLOWDOWN_THRESHOLD: Time = Time::from_seconds(10);

    /// Computes the metrics of a schedule.
    pub fn of(instance: &Instance, schedule: &Schedule) -> Self {
        let placements = schedule.placements();
        let spans = spans(instance, schedule);
        let count = spans.iter().flatten().count().max(1) as f64;
        let (mut flows, mut slowdowns) = (0.0, 0.0);
        for (job, span) in instance.jobs().iter().zip(&spans) {
            let Some(Span { start, end }) = *span else { continue };
            let flow = (end - job.release).seconds();
            flows += flow;
            slowdowns += (flow / (end - start).max(Self::SLOWDOWN_THRESHOLD).seconds()).max(1.0);
        }
        let used: Area = placements.iter().map(|p| (p.end - p.start).area(p.processors.len())).sum();
        let makespan = schedule.makespan();
        let open = instance.availability().open_area(instance.first_release(), makespan);
        Self {
            makespan: makespan.seconds(),
            weighted_completion: weighted_completion(instance, schedule).seconds(),
            mean_flow: flows / count,
            mean_bounded_slowdown: slowdowns / count,
            utilisation: utilisation(used, open),
        }
    }
}

/// Returns the utilisation: the area that tasks use, divided by the area of open processors, or 0 if no processor is
/// open. Plans, simulations and runs all use this definition.
pub(crate) fn utilisation(used: Area, open: Area) -> f64 {
    if open > 0 { used as f64 / open as f64 } else { 0.0 }
}

/// The ends of best-effort bags and of the other jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeparateEnds {
    /// Makespan of all jobs except best-effort bags.
    pub others: Time,
    /// End of the last best-effort task.
    pub best_effort: Time,
}

impl SeparateEnds {
    /// Computes the ends in a schedule, or returns `None` if the instance has no best-effort bag.
    pub fn of(instance: &Instance, schedule: &Schedule) -> Option<Self> {
        let best_effort: Vec<bool> = instance.jobs().iter().map(crate::model::Job::is_best_effort).collect();
        if !best_effort.contains(&true) {
            return None;
        }
        let last = |wanted: bool| {
            let of = schedule
                .placements()
                .iter()
                .filter(|placement| best_effort[instance.job_id(placement.task).index()] == wanted);
            of.map(|placement| placement.end).max().unwrap_or(Time::ZERO)
        };
        Some(Self { others: last(false), best_effort: last(true) })
    }
}

/// The span of a job, from its first start to its last end.
#[derive(Clone, Copy)]
struct Span {
    start: Time,
    end: Time,
}

/// Returns the span of each job, or `None` for a job without placements.
fn spans(instance: &Instance, schedule: &Schedule) -> Vec<Option<Span>> {
    let mut spans: Vec<Option<Span>> = vec![None; instance.jobs().len()];
    for placement in schedule.placements() {
        let (start, end) = (placement.start, placement.end);
        let span = spans[instance.job_id(placement.task).index()].get_or_insert(Span { start, end });
        *span = Span { start: span.start.min(start), end: span.end.max(end) };
    }
    spans
}

/// Returns the weighted completion. The sum contains each job once, with the end of its last task.
fn weighted_completion(instance: &Instance, schedule: &Schedule) -> WeightedTime {
    let ends = spans(instance, schedule);
    let each = instance.jobs().iter().zip(ends);
    each.filter_map(|(job, span)| Some(job.weight.times(span?.end))).sum()
}

/// Returns the value of one of [`Objective::DERIVED`], computed from the ends of the jobs with a deadline.
fn of_due_dates(objective: Objective, instance: &Instance, schedule: &Schedule) -> i128 {
    let jobs = instance.jobs().iter().zip(spans(instance, schedule));
    let late = jobs.filter_map(|(job, span)| Some((job, i128::from(span?.end.ticks() - job.deadline?.ticks()))));
    let counted = late.clone().filter(|(job, late)| !job.is_best_effort() && *late > 0);
    match objective {
        Objective::MaxLateness => late.map(|(_, late)| late).max().unwrap_or(0),
        Objective::TotalTardiness => counted.map(|(_, late)| late).sum(),
        Objective::TardyJobs => counted.count() as i128,
        _ => counted.map(|(job, _)| i128::from(job.weight.millionths())).sum(),
    }
}

/// Returns the fair throughput: the minimum over jobs of the number of tasks divided by the makespan and by the weight,
/// in billionths of a weighted task per second.
fn throughput(instance: &Instance, schedule: &Schedule) -> i128 {
    let makespan = i128::from(schedule.makespan().ticks());
    // The factors convert millionths of weight to weight, ticks to seconds, and the result to billionths.
    let scale = 1_000_000 * i128::from(Time::TICKS_PER_SECOND) * 1_000_000_000;
    let each = instance.jobs().iter().map(|job| (job.tasks() as i128, i128::from(job.weight.millionths()) * makespan));
    let rates = each.filter(|&(_, divisor)| divisor > 0).map(|(tasks, divisor)| tasks.saturating_mul(scale) / divisor);
    rates.min().unwrap_or(0)
}
