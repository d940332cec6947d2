//! Differences between the scenarios of a cluster's queue, with their ranges.

use std::collections::{HashMap, HashSet};

use makespan::{Simulated, SimulationInput, SimulationOptions};
use makespan_core::TaskId;
use makespan_formats::report::Section;
use makespan_slurm::forecast::{ForecastOptions, RandomRunTimes};
use miette::{Result, miette};
use serde_json::{Value, json};

use super::super::log::Log;
use super::super::play;
use super::change::Variant;
use super::listed::NamedJobs;
use super::waits::waited;
use crate::difference::Difference;
use crate::output::shown;

/// Limit for the number of pending jobs times the number of nodes, summed over all scenarios and draws. It keeps the
/// simulations within seconds.
const MOST: usize = 5_000_000;
/// Minimum number of draws for a range.
const LEAST: usize = 4;

/// The differences between one scenario and all others.
pub struct ScenarioDifferences {
    /// The scenario from which the others differ.
    base: String,
    /// The other scenarios.
    names: Vec<String>,
    draws: u32,
    percent: u32,
    /// Differences of the mean waits of the jobs that start in both scenarios, for each other scenario.
    waits: Vec<Option<Difference>>,
    /// The differences of the start of each job that does not start at the same instant everywhere. `None` if the job starts in only one of the scenarios.
    starts: Vec<(String, Vec<Option<Difference>>)>,
}

/// The start and the wait of each job in a simulation, in seconds.
struct Figures {
    starts: HashMap<String, (f64, f64)>,
}

impl Figures {
    fn of(log: &Log, one: &Simulated) -> Self {
        let running: HashSet<TaskId> = log.running.iter().map(|run| run.0).collect();
        let start = |run: &makespan_core::Run| {
            let wait = run.start - log.instance.release(run.task);
            (log.instance.name(run.task).into_owned(), (run.start.seconds(), wait.seconds()))
        };
        Self { starts: waited(one, &running).into_iter().map(start).collect() }
    }

    /// Returns the difference between the mean waits of two simulations, over the jobs that start in both. Returns
    /// `None` if there are no such jobs.
    fn wait_after(&self, base: &Self) -> Option<f64> {
        let apart = |(name, own): (&String, &(f64, f64))| Some(own.1 - base.starts.get(name)?.1);
        let mut all: Vec<f64> = self.starts.iter().filter_map(apart).collect();
        // The sum must not depend on the order of a hash map.
        all.sort_by(f64::total_cmp);
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    }
}

impl ScenarioDifferences {
    /// Simulates all scenarios with drawn run times, and compares them with the scenario at position `base`. All scenarios
    /// use equal random numbers. `simulated` are the results with expected run times. Returns `None` if there is only one
    /// scenario, or if the log is not the queue of a cluster.
    pub fn of(
        variants: &[Variant],
        base: usize,
        simulated: &[Simulated],
        rules: &[SimulationOptions],
        (seed, threads): (u64, usize),
    ) -> Result<Option<Self>> {
        let Some(like) = variants[base].log.live.as_ref().filter(|_| variants.len() > 1) else { return Ok(None) };
        let options = ForecastOptions { like: Some(&like.queue), ..ForecastOptions::default() };
        let cost = |variant: &Variant| {
            let waiting = variant.log.instance.tasks() as usize - variant.log.running.len();
            waiting.saturating_mul(variant.log.instance.platform().nodes().len()).max(1)
        };
        let affordable = MOST / variants.iter().map(cost).sum::<usize>();
        let draws = if affordable < LEAST { 0 } else { options.draws.min(affordable as u32) };
        let random = |variant: &Variant| Some(RandomRunTimes::of(&variant.log.live.as_ref()?.queue, &options));
        let Some(random) = variants.iter().map(random).collect::<Option<Vec<_>>>() else { return Ok(None) };
        let mut logs = Vec::new();
        for number in 0..draws {
            for (variant, times) in variants.iter().zip(&random) {
                let Some(log) = variant.drawn(times, number) else { return Ok(None) };
                logs.push(log.map_err(|problem| miette!("--scenario '{}': {problem}", variant.name))?);
            }
        }
        let own = variants.iter().zip(rules).cycle();
        let scenes = logs.iter().zip(own).map(|(log, (variant, options))| {
            let input = SimulationInput { instance: &log.instance, actual: &log.actual, options, seed };
            (input, variant.policy.as_str())
        });
        let scenes: Vec<_> = scenes.collect();
        let drawn = play::play(&scenes, threads)?;
        let drawn: Vec<Figures> = logs.iter().zip(&drawn).map(|(log, one)| Figures::of(log, one)).collect();
        let expected: Vec<Figures> =
            variants.iter().zip(simulated).map(|(variant, one)| Figures::of(&variant.log, one)).collect();
        let all: Vec<&[Figures]> = std::iter::once(&expected[..]).chain(drawn.chunks(variants.len())).collect();
        let others: Vec<usize> = (0..variants.len()).filter(|&at| at != base).collect();
        let difference = |of: &dyn Fn(&[Figures]) -> Option<f64>| {
            let draws = all[1..].iter().filter_map(|one| of(one)).collect();
            Some(Difference::new(of(all[0])?, draws, options.percent))
        };
        let wait = |&at: &usize| difference(&|one| one[at].wait_after(&one[base]));
        let start = |name: &str, at: usize| {
            difference(&|one| Some(one[at].starts.get(name)?.0 - one[base].starts.get(name)?.0))
        };
        let mut jobs: Vec<(&String, f64)> = all[0][base].starts.iter().map(|(name, own)| (name, own.0)).collect();
        jobs.sort_by(|one, other| one.1.total_cmp(&other.1).then_with(|| one.0.cmp(other.0)));
        let of_job = |(name, _): (&String, f64)| (name.clone(), others.iter().map(|&at| start(name, at)).collect());
        let differs =
            |one: &(String, Vec<Option<Difference>>)| one.1.iter().any(|own| own.is_none_or(|own| !own.is_none()));
        Ok(Some(Self {
            base: variants[base].name.clone(),
            names: others.iter().map(|&at| variants[at].name.clone()).collect(),
            draws,
            percent: options.percent,
            waits: others.iter().map(wait).collect(),
            starts: jobs.into_iter().map(of_job).filter(differs).collect(),
        }))
    }

    pub fn title(&self) -> String {
        format!("differences from {}", shown(&self.base))
    }

    /// Returns the scenarios of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns a row for the mean wait, and rows for the starts of the first jobs and of the named jobs.
    pub fn cells(&self, named: &NamedJobs) -> Vec<Vec<String>> {
        let words = |one: &Option<Difference>| one.map_or_else(|| "-".to_owned(), |one| one.words());
        let waits = std::iter::once("wait, mean".to_owned()).chain(self.waits.iter().map(words));
        let start = |(name, own): &(String, Vec<Option<Difference>>)| {
            std::iter::once(format!("start of {}", shown(name))).chain(own.iter().map(words)).collect()
        };
        let listed = named.listed(&self.starts, |job| &job.0);
        std::iter::once(waits.collect()).chain(listed.into_iter().map(start)).collect()
    }

    /// Returns the notes below the table.
    pub fn notes(&self, named: &NamedJobs) -> Vec<String> {
        let mut notes = Vec::new();
        if self.starts.iter().any(|(_, own)| own.iter().any(Option::is_none)) {
            notes.push("the difference of the mean waits is over the jobs that start in both scenarios".to_owned());
        }
        let more = self.starts.len() - named.listed(&self.starts, |job| &job.0).len();
        if more > 0 {
            notes.push(format!("{more} more jobs start at other times (--format json has all)"));
        }
        notes.push(match self.draws {
            0 => "the differences have no ranges, because simulations with random run times would take too long".to_owned(),
            draws => format!(
                "a range contains {} % of the differences in {draws} simulations with random run times, which are equal in \
                 all scenarios; a difference is not certain if its range contains 0",
                self.percent
            ),
        });
        notes
    }

    pub fn section(&self, named: &NamedJobs) -> Section {
        Section {
            title: self.title().replacen('d', "D", 1),
            text: self.notes(named).join(". "),
            columns: std::iter::once(String::new()).chain(self.names.iter().cloned()).collect(),
            rows: self.cells(named),
            ..Section::default()
        }
    }

    pub fn json(&self) -> Value {
        let all = |own: &[Option<Difference>]| own.iter().map(|one| one.map(|one| one.json())).collect::<Vec<_>>();
        let start = |(name, own): &(String, Vec<Option<Difference>>)| json!({ "job": name, "start": all(own) });
        json!({
            "from": self.base,
            "scenarios": self.names,
            "draws": self.draws,
            "percent": self.percent,
            "mean_wait": all(&self.waits),
            "jobs": self.starts.iter().map(start).collect::<Vec<_>>(),
        })
    }
}
