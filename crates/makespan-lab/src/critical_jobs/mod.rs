//! Compound jobs by their critical chains: the example of two jobs, cost under a walltime, and jobs in time.
//!
//! A. Tselishchev and V. V. Toporkov, "Compound job scheduling and job-flows management in distributed computing" (54th IWK,
//! Ilmenau 2009), section 4, which prints one example and no campaign. The example's tasks are not in the text: two jobs with
//! its walltimes, 110 and 140, on 8 processors are built here. The campaigns measure the method beside HEFT: makespan and cost on
//! layered graphs and shapes of workflows, and how many jobs of a flow end within their walltimes, where they are planned as
//! they come, each onto what earlier ones left, and where the metascheduler serves them in virtual time.
//!
//! Finished instances are kept in a journal in the output folder, so an interrupted campaign goes on where it stopped.

mod costs;
mod example;
mod flows;
pub mod makespans;
mod report;
mod run;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub use example::{Example, Way, example};
pub use flows::Served;
pub use run::{Key, Outcome, Run};

use crate::LabError;
use crate::campaign::{Claim, Finished, Progress, Work, build, csv_table, finish, write};

/// The columns of `results.csv`.
const HEADER: &str = "campaign,group,run,algorithm,makespan,cost,on_time,jobs,fallbacks,utilisation,balance,as_told,\
                      collisions,penalty";

/// A campaign.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder for the results; made when missing.
    pub output: PathBuf,
    /// Graphs of each shape.
    pub graphs: u32,
    /// Flows of jobs at each mean time between two of them.
    pub flows: u32,
    /// Jobs of a flow.
    pub jobs: usize,
    /// How many instances at the same time; one a core without it.
    pub threads: Option<usize>,
    /// The same seed gives the same results.
    pub seed: u64,
    /// Makespans beside HEFT's.
    pub makespans: makespans::Options,
}

/// What a campaign found.
#[derive(Clone, Debug)]
pub struct Summary {
    /// What the paper claims, and what is aimed at, with verdicts.
    pub claims: Vec<Claim>,
    /// Instances in the results.
    pub runs: usize,
    /// Instances among them that an earlier campaign had finished.
    pub reused: usize,
    /// All this as text.
    pub text: String,
}

/// Runs the campaign and writes `results.csv`, `makespans.csv`, `report.txt` and the Gantt charts of the example,
/// `figure2.svg` (one job after the other) and `figure3.svg` (both at once), to the output folder.
///
/// # Errors
/// [`LabError`] when an option is unusable, a file cannot be written, or a plan is invalid.
pub fn reproduce(options: &Options, progress: &mut dyn Progress) -> Result<Summary, LabError> {
    check(options)?;
    let version = format!("build {:016x}; seed {}; {} jobs", build()?, options.seed, options.jobs);
    let keys = run::keys(options.graphs, options.flows);
    let work = Work { folder: &options.output, version, keys, threads: options.threads };
    let Finished { runs, reused } = finish(&work, |key| run::execute(options, key), progress)?;
    let part = makespans::reproduce(&options.makespans, (&options.output, options.seed), progress)?;
    let example = example()?;
    let mut claims = report::claims(&runs, &example);
    claims.extend(flows::claims(&runs));
    claims.extend(part.claims);
    let parts = flows::text(&runs, options.jobs) + "\n\n" + &part.text;
    let text = report::text(options, &runs, &example, &parts, &claims);
    let write = |name: &str, contents: &[u8]| write(&options.output, name, contents);
    let rows = runs.iter().flat_map(Run::rows);
    write("results.csv", &csv_table(HEADER, rows))?;
    write("report.txt", text.as_bytes())?;
    for (name, svg) in example.figures()? {
        write(name, &svg)?;
    }
    Ok(Summary { claims, runs: runs.len() + part.runs, reused: reused + part.reused, text })
}

fn check(options: &Options) -> Result<(), LabError> {
    if options.graphs == 0 || options.flows == 0 || options.jobs == 0 {
        let value = options.graphs.min(options.flows).min(options.jobs as u32).to_string();
        return Err(LabError::Option { name: "graphs, flows or jobs", value, expected: "each must be at least 1" });
    }
    Ok(())
}
