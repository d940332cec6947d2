//! Measures the scheduler `optimise`: the distance of its plans from proven bounds, and its speed.
//!
//! The instances are from the four families of the campaign `demt`. The measured time is the time for which a user
//! waits: from the instance to the schedule with its bounds. The reference measurement has 10 instances for each
//! combination of family and number of jobs, and two searches. The limit is 1 s for both objectives, and also 10 s for
//! the weighted completion. One instance is planned at a time.

mod targets;

use std::fmt::Display;
use std::time::Instant;

use clap::{Args, Command};
use makespan::{Planned, Planner};
use makespan_core::{Instance, Objective};
use makespan_formats::plot::Figure;
use makespan_generate::Family;
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::campaign::{
    self, Campaign, CampaignReport, File, GridRow, Instances, MeasuredPlan, SearchOptions, SearchSetting, aligned,
    at_least, cells, cores, failed, figure, plot, record, refuse, rows, series, table, valid, verified,
};

/// The algorithm with which `optimise` is compared.
const REFERENCE: &str = "demt";

/// A function that plans an instance with the algorithm of a spec, and with a seed. If it fails, it returns a message.
pub type PlanOf = fn(&Instance, &str, u64) -> Result<Planned, String>;

/// The options of the campaign.
#[derive(Args, Clone, Debug)]
pub struct OptimiserOptions {
    /// The instances.
    #[command(flatten)]
    pub instances: Instances,
    /// The limits. Plans for weighted completion are made with each limit, and plans for the makespan only with the
    /// first limit.
    #[command(flatten)]
    pub search: SearchOptions,
    /// The planner of the catalogue. Not an option of the command line.
    #[arg(skip = catalogue as PlanOf)]
    pub plan: PlanOf,
}

impl OptimiserOptions {
    /// Returns the combinations of objective and limit, in the order of the results.
    fn settings(&self) -> Vec<SearchSetting> {
        let limits = &self.search.limits.0;
        let weighted = limits.iter().map(|&limit| (Objective::WeightedCompletion, limit));
        let makespan = limits.first().map(|&limit| (Objective::Makespan, limit));
        weighted.chain(makespan).map(|(objective, limit)| SearchSetting { objective, limit }).collect()
    }

    /// Formats the report: a description of the measurements, and a table for each combination of objective and limit.
    fn text(&self, points: &[Point]) -> String {
        const WIDTHS: [i32; 7] = [-8, 6, 10, 10, 10, 14, 14];
        let (instances, searches) = (&self.instances, self.search.searches);
        let mut text = format!(
            "Moldable jobs on {} processors; instances for each point: {}; seed {}.\n\
             Searches for each plan: {searches}; {}.\n\
             A ratio is value / verified bound. A time is the time from the instance to the plan with its bounds.\n",
            instances.processors,
            instances.runs,
            instances.seed,
            cores(self.search.at_once)
        );
        for group in points.chunk_by(|a, b| a.setting == b.setting) {
            text += &format!("\n{}: {}\n", group[0].setting, group[0].setting.spec(searches));
            text += &aligned(&WIDTHS, ["family", "jobs", "mean", "largest", "demt", "mean time (s)", "longest (s)"]);
            for Point { family, jobs, mean, max, demt, seconds, longest, .. } in group {
                let ratios = [mean, max, demt].map(|ratio| format!("{ratio:.4}"));
                let times = [seconds, longest].map(|seconds| format!("{seconds:.3}"));
                let head = [family.to_string(), jobs.to_string()];
                text += &aligned(&WIDTHS, head.into_iter().chain(ratios).chain(times));
            }
        }
        text
    }
}

fn catalogue(instance: &Instance, spec: &str, seed: u64) -> Result<Planned, String> {
    Planner::new().algorithm(spec).seed(seed).plan(instance).map_err(|error| error.to_string())
}

/// The key of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OptimiserKey {
    pub setting: SearchSetting,
    pub instance: campaign::InstanceKey,
}

/// A run. Its `facts` field is the value of DEMT's plan.
type Run = campaign::GridRun<OptimiserKey, i128, MeasuredPlan>;

/// Summary of all plans with one family, one number of jobs, one objective and one limit. A ratio is a value divided by
/// its bound.
#[derive(Clone, Debug, PartialEq)]
struct Point {
    setting: SearchSetting,
    family: Family,
    jobs: usize,
    runs: usize,
    min: f64,
    mean: f64,
    max: f64,
    /// Mean ratio of DEMT.
    demt: f64,
    /// Mean wall time in seconds.
    seconds: f64,
    /// Longest wall time in seconds.
    longest: f64,
}

/// Aggregates runs. Returns a point for each combination of objective, limit, family and number of jobs.
fn points(runs: &[Run]) -> Vec<Point> {
    let group = |run: &Run| vec![(run.key.setting, run.key.instance.family, run.key.instance.jobs)];
    let ratio = |&(run, spec, _): &GridRow<'_, Run>| run.ratio(spec).unwrap_or(f64::NAN);
    let seconds = |(.., plan): &GridRow<'_, Run>| plan.seconds;
    let point = |cell: campaign::GridCell<'_, (SearchSetting, Family, usize), Run>| {
        let ((setting, family, jobs), (min, max)) = (cell.group, cell.range(ratio));
        Point {
            setting,
            family,
            jobs,
            runs: cell.rows.len(),
            min,
            mean: cell.mean(ratio),
            max,
            demt: cell.mean(|(run, ..)| run.facts as f64 / run.bound() as f64),
            seconds: cell.mean(seconds),
            longest: cell.range(seconds).1,
        }
    };
    cells(runs, group).into_iter().map(point).collect()
}

/// Writes `results.csv`, `summary.csv`, and a figure for each combination of objective and limit.
impl Campaign for OptimiserOptions {
    const NAME: &'static str = "optimiser";
    const PAPER: &'static str =
        "Speed of the optimiser, and distance of its plans from proven bounds, on the instances of demt";
    const UNIT: &'static str = "plans";
    const MEASURES_TIME: bool = true;
    type Run = Run;

    fn arguments(command: Command) -> Command {
        let limits = "Time limits such as 500ms, or steps=500; plans for the makespan use only the first limit";
        Self::augment_args(command).mut_arg("limits", |arg| arg.help(limits))
    }

    fn check(&self) -> Result<(), LabError> {
        self.instances.check()?;
        if self.search.limits.0.is_empty() {
            refuse("limits", "empty", "give at least one limit")?;
        }
        self.search.check()
    }

    fn version(&self) -> String {
        format!("seed {}; {} processors; {}", self.instances.seed, self.instances.processors, self.search)
    }

    fn search(&self) -> Option<&SearchOptions> {
        Some(&self.search)
    }

    fn keys(&self) -> Vec<OptimiserKey> {
        let of = |setting| self.instances.keys().map(move |instance| OptimiserKey { setting, instance });
        self.settings().into_iter().flat_map(of).collect()
    }

    /// Generates the instance and plans it. Measures the time of planning. Then validates the schedule and verifies
    /// every bound.
    fn measure(&self, key: OptimiserKey) -> Result<Run, LabError> {
        let OptimiserKey { setting, instance: drawn } = key;
        let (instance, seed) = (self.instances.draw(drawn)?, self.instances.seed_of(drawn));
        let spec = setting.spec(self.search.searches);
        let failed = |reason: String| failed(&spec, drawn, reason);
        let begin = Instant::now();
        let planned = (self.plan)(&instance, &spec, seed).map_err(failed)?;
        let seconds = begin.elapsed().as_secs_f64();
        let schedule = planned.schedule().ok_or_else(|| failed("it plans no placements".into()))?;
        valid(&instance, schedule).map_err(failed)?;
        let objective = setting.objective;
        let mut most: Option<i128> = None;
        for bound in &planned.bounds {
            let proved = verified(bound, &instance, drawn)?;
            if bound.makespan_at_most.is_some() {
                // Ignore this bound, because it holds only for schedules with a makespan of at most `makespan_at_most`.
                continue;
            }
            let value = bound.objective.value(&instance, schedule);
            at_least(proved, bound.objective, value, &spec, drawn)?;
            if bound.objective == objective {
                most = most.max(Some(proved));
            }
        }
        let bound = most.filter(|&bound| bound > 0).ok_or_else(|| failed(format!("no bound on the {objective}")))?;
        let demt =
            reference(&instance, objective, seed).map_err(|reason| campaign::failed(REFERENCE, drawn, reason))?;
        at_least(bound, objective, demt, REFERENCE, drawn)?;
        let plan = MeasuredPlan { value: Some(objective.value(&instance, schedule)), bound, seconds };
        Ok(Run { key, seed, facts: demt, outcomes: vec![(spec, plan)] })
    }

    fn report(&self, runs: &[Run]) -> Result<CampaignReport, LabError> {
        let points = points(runs);
        let mut files = figures(&points)?;
        files.extend([results(runs), summary(&points)]);
        Ok(CampaignReport { claims: targets::claims(&points), text: self.text(&points), files })
    }
}

/// Returns the value of DEMT's plan.
fn reference(instance: &Instance, objective: Objective, seed: u64) -> Result<i128, String> {
    let planned = Planner::new().algorithm(REFERENCE).seed(seed).plan_unproved(instance);
    let schedule = planned.and_then(Planned::into_schedule).map_err(|error| error.to_string())?;
    Ok(objective.value(instance, &schedule))
}

/// Returns a table with a row for each plan. Values and bounds are exact.
fn results(runs: &[Run]) -> File {
    let header = "objective,limit,family,jobs,run,instance_seed,value,bound,ratio,demt,demt_ratio,seconds";
    let row = |(run, spec, plan): GridRow<'_, Run>| {
        let (OptimiserKey { setting, instance }, demt) = (run.key, run.facts);
        let decimal = |value| setting.objective.decimal(value);
        let campaign::InstanceKey { family, jobs, run: number } = instance;
        let head: [&dyn Display; 6] = [&setting.objective.name(), &setting.limit, &family, &jobs, &number, &run.seed];
        let values = [&plan.value.map_or_else(String::new, decimal) as &dyn Display, &decimal(plan.bound)];
        let plan_ratio = record(&[&head[..], &values].concat(), [run.ratio(spec)]);
        [plan_ratio, record(&[&decimal(demt)], [demt as f64 / plan.bound as f64, plan.seconds])].concat()
    };
    table("results.csv", header, rows(runs).map(row))
}

/// Returns a table with a row for each point.
fn summary(points: &[Point]) -> File {
    let header = "objective,limit,family,jobs,runs,ratio_min,ratio_mean,ratio_max,demt_ratio_mean,\
                  seconds_mean,seconds_max";
    let row = |point: &Point| {
        let Point { setting, family, jobs, runs, min, mean, max, demt, seconds, longest } = *point;
        let head: [&dyn Display; 5] = [&setting.objective.name(), &setting.limit, &family, &jobs, &runs];
        record(&head, [min, mean, max, demt, seconds, longest])
    };
    table("summary.csv", header, points.iter().map(row))
}

/// Returns a figure for each combination of objective and limit. The figure shows, for each family, the mean and the
/// range of the ratios as functions of the number of jobs.
fn figures(points: &[Point]) -> Result<Vec<File>, LabError> {
    let curve = |family: &[Point]| {
        series(family[0].family.to_string(), family.iter().map(|p| (p.jobs as f64, [p.mean, p.min, p.max])))
    };
    let of_setting = |group: &[Point]| {
        let lines = group.chunk_by(|a, b| a.family == b.family).map(curve).collect();
        let y_label = "value / verified bound: mean, least and greatest";
        let ratios = plot(group[0].setting.to_string(), "jobs", y_label, lines);
        figure(&group[0].setting.file_stem(), &Figure { log_x: true, ..ratios })
    };
    points.chunk_by(|a, b| a.setting == b.setting).map(of_setting).collect()
}

#[cfg(test)]
mod tests;
