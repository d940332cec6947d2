//! Compound jobs by their critical chains: the example of two jobs, cost under a deadline, and jobs in time.
//!
//! A. Tselishchev and V. V. Toporkov, "Compound job scheduling and job-flows management in distributed computing" (54th IWK,
//! Ilmenau 2009), section 4, which prints one example and no campaign. The example's tasks are not in the text: two jobs with
//! its deadlines, 110 and 140, on 8 processors are built here. The campaigns measure the method beside HEFT: makespan and cost on
//! layered graphs and shapes of workflows, and how many jobs of a flow end by their deadline, where they are planned as
//! they come, each onto what earlier ones left, and where the metascheduler serves them in virtual time.

mod costs;
mod deadlines;
mod example;
mod flows;
pub mod makespans;
mod outcome;
mod report;
mod run;
#[cfg(test)]
mod tests;

use clap::Args;

pub use example::{Example, Way, example};
pub use outcome::{Key, Outcome, Served};
pub use run::Run;

use crate::LabError;
use crate::campaign::{AnyCampaign, Campaign, Report, positive, table};

/// The columns of `results.csv`.
const HEADER: &str = "campaign,group,run,algorithm,makespan,cost,on_time,jobs,fallbacks,utilisation,balance,as_told,\
                      collisions,penalty";

/// A campaign.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Graphs of each of 3 shapes
    #[arg(long, default_value_t = 20)]
    pub graphs: u32,
    /// Flows of jobs at each of 4 mean times between two jobs
    #[arg(long, default_value_t = 3)]
    pub flows: u32,
    /// Jobs of a flow
    #[arg(long, default_value_t = 30)]
    pub jobs: usize,
    /// How many threads [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// The same seed gives the same results
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Makespans beside HEFT's.
    #[command(flatten)]
    pub makespans: makespans::Options,
}

/// Writes `results.csv`, the Gantt charts of the example, `figure2.svg` (one job after the other) and `figure3.svg` (both at
/// once), and to the folder `makespans` what that part writes.
impl Campaign for Options {
    const NAME: &'static str = "critical-jobs";
    const PAPER: &'static str = "Tselishchev, Toporkov: compound jobs by their critical chains (IWK 2009)";
    const UNIT: &'static str = "instances";
    type Key = Key;
    type Run = Run;
    type Points = ();

    fn arguments(command: clap::Command) -> clap::Command {
        makespans::Options::usual_search(Self::augment_args(command))
    }

    fn check(&self) -> Result<(), LabError> {
        positive(&[("graphs", self.graphs as usize), ("flows", self.flows as usize), ("jobs", self.jobs)])?;
        self.makespans.check()
    }

    fn version(&self) -> String {
        format!("seed {}; {} jobs", self.seed, self.jobs)
    }

    fn threads(&self) -> Option<usize> {
        self.threads
    }

    fn keys(&self) -> Vec<Key> {
        run::keys(self.graphs, self.flows)
    }

    fn key(run: &Run) -> Key {
        run.key
    }

    fn measure(&self, key: Key) -> Result<Run, LabError> {
        run::execute(self, key)
    }

    fn report(&self, runs: &[Run]) -> Result<Report<()>, LabError> {
        let example = example()?;
        let mut claims = report::claims(runs, &example);
        claims.extend(flows::claims(runs));
        let text = report::text(self, runs, &example) + &flows::text(runs, self.jobs);
        let mut files = vec![table("results.csv", HEADER, runs.iter().flat_map(Run::rows))];
        files.extend(example.figures()?);
        Ok(Report { points: (), text, claims, files })
    }

    fn part(&self) -> Option<Box<dyn AnyCampaign>> {
        Some(Box::new(makespans::Options { seed: self.seed, ..self.makespans.clone() }))
    }
}
