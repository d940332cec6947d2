//! Repetition of the experiments in the paper that introduced DEMT.
//!
//! The paper is P.-F. Dutot, L. Eyraud, G. Mounié and D. Trystram, "Bi-criteria algorithm for scheduling jobs on
//! cluster platforms" (SPAA 2004, DOI 10.1145/1007912.1007932), section 4. The paper plans four families of moldable
//! jobs, 25 to 400 jobs on 200 processors, with 40 runs for each number of jobs. Every algorithm is compared with a
//! lower bound on each criterion.
//!
//! In a run, every algorithm plans one random instance. All results depend only on the seed, except `times.csv` and the
//! figure of the times.

mod claims;
mod figures;
mod points;

use std::collections::BTreeSet;
use std::time::Instant;

use clap::{Args, Command};
use makespan::split_specs;
use makespan_algos::Context;
use makespan_core::{Instance, Objective, Schedule};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::campaign::{
    self, Campaign, CampaignReport, InstanceKey, Instances, at_least, failed, record, refuse, rows, table, texts,
    valid, verified,
};
use points::Points;

/// The specs of the paper's algorithms.
pub mod algorithm {
    /// The paper's own algorithm.
    pub const DEMT: &str = "demt";
    /// One job after the other, each on all processors.
    pub const GANG: &str = "gang";
    /// Each job on one processor, with the longest job first.
    pub const SEQUENTIAL: &str = "sequential";
    /// List scheduling (Graham) in the order of the shelves of the dual approximation.
    pub const SHELF: &str = "list[order=shelf]";
    /// List scheduling in ascending order of weight divided by time. This is one interpretation of the paper's
    /// "weighted LPTF". With it, the curves look like the paper's curves.
    pub const LPTF: &str = "list[order=weighted-lptf]";
    /// List scheduling in descending order of weight divided by time (Smith's rule). This is another interpretation of
    /// "weighted LPTF".
    pub const SMITH: &str = "list[order=smith]";
    /// List scheduling in ascending order of area.
    pub const SAF: &str = "list[order=saf]";
    /// The paper's algorithm, stopped after its first schedule. In this schedule, all jobs of a batch start together.
    pub const RAW: &str = "demt[compaction=raw]";
    /// The paper's algorithm, stopped after its second schedule. In this schedule, each job starts as soon as its
    /// processors are idle.
    pub const SHIFT: &str = "demt[compaction=shift]";
    /// The paper's algorithm, stopped after its third schedule: a list in the order of the batches.
    pub const UNSHUFFLED: &str = "demt[shuffles=0]";
    /// A variant of the paper's algorithm that is not in the paper. It shuffles the jobs within the batches instead of
    /// the order of the batches.
    pub const SHUFFLED_JOBS: &str = "demt[shuffle=jobs]";
    /// Variants of DEMT that the paper's figures do not show: with only some of the stages, or with a different
    /// shuffle.
    pub const STAGES: [&str; 4] = [RAW, SHIFT, UNSHUFFLED, SHUFFLED_JOBS];
    /// All algorithms, in the order of reports.
    pub const ALL: [&str; 11] =
        [DEMT, GANG, SEQUENTIAL, SHELF, LPTF, SMITH, SAF, RAW, SHIFT, UNSHUFFLED, SHUFFLED_JOBS];
}

/// A function that schedules an instance with the algorithm of a spec, and with a seed. If it fails, it returns a
/// message.
pub type Solve = fn(&Instance, &str, u64) -> Result<Schedule, String>;

/// The options of the campaign.
#[derive(Args, Clone, Debug)]
pub struct DemtOptions {
    /// The instances.
    #[command(flatten)]
    pub instances: Instances,
    /// Algorithms, separated by commas [default: the algorithms of the paper, and the stages of DEMT]
    #[arg(long, short, value_name = "SPEC,..")]
    pub algorithms: Option<String>,
    /// Number of threads [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// The function that schedules an instance. By default, it uses the algorithms of the catalogue. Not an option of
    /// the command line.
    #[arg(skip = catalogue as Solve)]
    pub solve: Solve,
}

impl DemtOptions {
    /// Returns the specs, in the order of reports.
    fn algorithms(&self) -> Vec<String> {
        self.algorithms.as_ref().map_or_else(|| algorithm::ALL.map(String::from).to_vec(), |list| split_specs(list))
    }

    /// Formats the first part of the report: a description of the runs, and the definition of a ratio.
    fn text(&self) -> String {
        let sizes: Vec<String> = self.instances.sizes.iter().map(ToString::to_string).collect();
        format!(
            "{} runs for each point, {} jobs on {} processors, seed {}. The figures are in\n\
             the order of these numbers of jobs. A ratio is the sum of the values over the sum of the references:\n\
             for the makespan, the best proven bound; for the weighted completion, the value of the paper's\n\
             linear programme as printed. This value is an estimate and not a bound. With it, the ratios\n\
             can be compared with the paper's ratios. Ratios to the proven bound are in summary.csv and in\n\
             figures 3c to 6c.\n",
            self.instances.runs,
            sizes.join(", "),
            self.instances.processors,
            self.instances.seed
        )
    }
}

fn catalogue(instance: &Instance, spec: &str, seed: u64) -> Result<Schedule, String> {
    let scheduler = makespan_algos::scheduler(spec).map_err(|error| error.to_string())?;
    let plan = scheduler.schedule(instance, &mut Context::with_seed(seed)).map_err(|error| error.to_string())?;
    plan.into_schedule().ok_or_else(|| "it plans no placements".to_owned())
}

/// The bounds of an instance, in the integer units of their objectives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Proven lower bound on the makespan.
    makespan: i128,
    /// Proven lower bound on weighted completion.
    minsum: i128,
    /// Value of the linear programme as printed in the paper. This value is an estimate of the minimum, not a bound.
    printed: i128,
}

/// The values of an algorithm's schedule, in the integer units of the objectives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DemtOutcome {
    makespan: i128,
    /// Weighted completion.
    minsum: i128,
    /// Scheduling time in seconds.
    seconds: f64,
}

type Run = campaign::GridRun<InstanceKey, Bounds, DemtOutcome>;

/// Writes three tables (`results.csv`, `summary.csv` and `times.csv`). Also writes the pictures `figure2.svg` and
/// `figure7.svg`, and three pictures for each of figures 3 to 6, such as `figure3a.svg`.
impl Campaign for DemtOptions {
    const NAME: &'static str = "demt";
    const PAPER: &'static str =
        "Dutot, Eyraud, Mounié, Trystram: bi-criteria algorithm for scheduling jobs on cluster platforms (SPAA 2004)";
    const UNIT: &'static str = "instances";
    const MEASURES_TIME: bool = true;
    type Run = Run;

    fn arguments(command: Command) -> Command {
        let runs = "Number of runs for each combination of family and number of jobs; the paper has 40";
        Self::augment_args(command).mut_arg("runs", |arg| arg.default_value("40").help(runs))
    }

    fn check(&self) -> Result<(), LabError> {
        self.instances.check()?;
        let algorithms = self.algorithms();
        for spec in &algorithms {
            makespan_algos::scheduler(spec).map_err(|error| LabError::Algorithm(error.to_string()))?;
        }
        if algorithms.iter().collect::<BTreeSet<_>>().len() < algorithms.len() {
            refuse("algorithms", algorithms.join(" "), "name each algorithm only once")?;
        }
        Ok(())
    }

    fn version(&self) -> String {
        let (instances, algorithms) = (&self.instances, self.algorithms().join(" "));
        format!("seed {}; {} processors; {algorithms}", instances.seed, instances.processors)
    }

    fn threads(&self) -> Option<usize> {
        self.threads
    }

    /// Returns the keys. Large instances come first, so that no core is idle at the end.
    fn keys(&self) -> Vec<InstanceKey> {
        let mut keys: Vec<InstanceKey> = self.instances.keys().collect();
        keys.sort_by_key(|key| std::cmp::Reverse(key.jobs));
        keys
    }

    /// Generates the instance, computes its bounds, and schedules it with every algorithm. Verifies every bound and
    /// validates every schedule. Returns an error if a value is below its bound.
    fn measure(&self, key: InstanceKey) -> Result<Run, LabError> {
        let (instance, seed) = (self.instances.draw(key)?, self.instances.seed_of(key));
        let makespan = verified(&makespan_bounds::makespan(&instance), &instance, key)?;
        let minsum = verified(&makespan_bounds::weighted_completion(&instance), &instance, key)?;
        let printed = makespan_bounds::printed_minsum_estimate(&instance);
        let mut outcomes = Vec::new();
        for algorithm in self.algorithms() {
            let outcome = measure(&instance, &algorithm, seed, self.solve);
            let outcome = outcome.map_err(|reason| failed(&algorithm, key, reason))?;
            at_least(makespan, Objective::Makespan, outcome.makespan, &algorithm, key)?;
            at_least(minsum, Objective::WeightedCompletion, outcome.minsum, &algorithm, key)?;
            outcomes.push((algorithm, outcome));
        }
        // Store the estimate as an integer, because a float may change when the journal is written and read again.
        let printed = (printed * 1e15).round() as i128;
        Ok(Run { key, seed, facts: Bounds { makespan, minsum, printed }, outcomes })
    }

    /// Returns the report. `results.csv` contains no times, so that equal seeds give equal bytes.
    fn report(&self, runs: &[Run]) -> Result<CampaignReport, LabError> {
        let points = Points::of(runs);
        let times = rows(runs).map(|(run, algorithm, outcome)| {
            record(&[&run.key.family, &run.key.jobs, &run.key.run, &algorithm], [outcome.seconds])
        });
        let mut files = figures::all(&points)?;
        files.push(figures::principle(self)?);
        files.extend([results(runs), table("times.csv", "family,jobs,run,algorithm,seconds", times), points.summary()]);
        Ok(CampaignReport { claims: claims::all(&points), text: self.text(), files })
    }
}

fn measure(instance: &Instance, algorithm: &str, seed: u64, solve: Solve) -> Result<DemtOutcome, String> {
    let begin = Instant::now();
    let schedule = solve(instance, algorithm, seed)?;
    let seconds = begin.elapsed().as_secs_f64();
    valid(instance, &schedule)?;
    let [makespan, minsum] =
        [Objective::Makespan, Objective::WeightedCompletion].map(|objective| objective.value(instance, &schedule));
    Ok(DemtOutcome { makespan, minsum, seconds })
}

/// Returns a table with a row for each run and algorithm. The values, and the bounds with which they are compared, are
/// exact.
fn results(runs: &[Run]) -> campaign::File {
    let header = "family,jobs,run,instance_seed,algorithm,makespan,makespan_bound,makespan_ratio,\
                  weighted_completion,weighted_completion_bound,weighted_completion_ratio,\
                  printed_programme_estimate,printed_programme_ratio";
    let time = |value| Objective::Makespan.decimal(value);
    let sum = |value| Objective::WeightedCompletion.decimal(value);
    let row = |(run, algorithm, outcome): campaign::GridRow<'_, Run>| {
        let (InstanceKey { family, jobs, run: number }, DemtOutcome { makespan, minsum, .. }) = (run.key, outcome);
        let Bounds { makespan: least, minsum: least_sum, printed } = run.facts;
        let ratio = |value: i128, reference: i128| [value as f64 / reference as f64];
        let head = texts(&[&family, &jobs, &number, &run.seed, &algorithm]);
        let makespans = record(&[&time(*makespan), &time(least)], ratio(*makespan, least));
        let sums = record(&[&sum(*minsum), &sum(least_sum)], ratio(*minsum, least_sum));
        [head, makespans, sums, record(&[&sum(printed)], ratio(*minsum, printed))].concat()
    };
    table("results.csv", header, rows(runs).map(row))
}

#[cfg(test)]
mod tests;
