//! Simulates what-if scenarios and compares them with each other and with the recorded schedule.

pub mod change;
mod closed;
mod differences;
mod groups;
mod listed;
mod parse;
mod platform;
mod starts;
mod waits;

use std::collections::HashSet;

use makespan::policy::policy_for;
use makespan::{Simulated, SimulationInput, SimulationOptions};
use makespan_core::{Instance, Run, TaskId};
use makespan_formats::report::Section;
use miette::{Result, miette};
use serde_json::{Value, json};

use self::change::Variant;
use self::differences::ScenarioDifferences;
use self::groups::{GroupProperty, Groups};
use self::listed::NamedJobs;
pub use self::parse::Scenario;
use self::starts::OutcomeStarts;
use self::waits::waited;
use super::log::Log;
use super::logged::as_logged;
use super::outputs::OutputTarget;
use super::words::named;
use super::{comparison, outputs, page, play, scene};
use crate::args::{Format, SimulateOptions};
use crate::output::{blocks, columns, csv_names, emit, wrapped};
use crate::summary;

/// Parses the scenarios that the options name.
pub fn scenarios(options: &SimulateOptions, specs: &[String]) -> Result<Vec<Scenario>> {
    let parsed =
        options.what_if.scenarios.iter().map(|text| Scenario::parse(text).map_err(|problem| miette!("{problem}")));
    let scenarios: Vec<Scenario> = parsed.collect::<Result<_>>()?;
    if !scenarios.is_empty() && specs.len() > 1 {
        return Err(miette!(
            "--policy names {} policies together with --scenario; name only one policy, and name other policies in \
             separate scenarios, such as --scenario 'policy={}'",
            specs.len(),
            specs[1]
        ));
    }
    if options.what_if.all && options.format == Format::Json {
        return Err(miette!("--all: --format json always prints all measures; remove --all"));
    }
    for (at, one) in scenarios.iter().enumerate() {
        if scenarios[..at].iter().any(|other| other.name == one.name) {
            return Err(miette!("--scenario '{}' is given twice; remove one of the two", one.name));
        }
    }
    Ok(scenarios)
}

/// Simulates all scenarios and prints the comparison.
pub fn simulate(
    options: &SimulateOptions,
    scenarios: &[Scenario],
    usual: &str,
    threads: usize,
    targets: &[OutputTarget],
    log: &Log,
) -> Result<()> {
    let variants: Vec<Variant> =
        scenarios.iter().map(|scenario| Variant::of(scenario, log, usual)).collect::<Result<_>>()?;
    let rules: Vec<SimulationOptions> =
        variants.iter().map(|variant| scene::rules(options, &variant.log)).collect::<Result<_>>()?;
    for variant in &variants {
        policy_for(&variant.policy, &variant.log.instance, options.seed)
            .map_err(|error| miette!("--scenario '{}': {error}", variant.name))?;
    }
    let scenes: Vec<(SimulationInput<'_>, &str)> = variants
        .iter()
        .zip(&rules)
        .map(|(variant, rules)| {
            let Log { instance, actual, .. } = &variant.log;
            (SimulationInput { instance, actual, options: rules, seed: options.seed }, variant.policy.as_str())
        })
        .collect();
    let mut simulated = play::play(&scenes, threads)?;
    // The scenario without changes is the baseline: the present queue under the cluster's own policy.
    let base = scenarios.iter().position(|scenario| scenario.changes.is_empty()).unwrap_or(0);
    let differences = ScenarioDifferences::of(&variants, base, &simulated, &rules, (options.seed, threads))?;
    let instances: Vec<&Instance> = scenes.iter().map(|(scene, _)| scene.instance).collect();
    let title = options.title();
    outputs::write(&instances, &title, targets, &simulated, csv_names(options.outputs.raw_names))?;
    simulated.iter_mut().zip(&variants).for_each(|(one, variant)| one.policy.clone_from(&variant.name));
    let ran: Vec<HashSet<TaskId>> =
        variants.iter().map(|variant| variant.log.running.iter().map(|run| run.0).collect()).collect();
    let baselines = scenarios.iter().zip(&variants).zip(simulated.iter().zip(&ran));
    let baselines = baselines.filter(|((scenario, _), _)| scenario.changes.is_empty());
    let apart = baselines.filter_map(|((_, variant), (one, ran))| {
        let told = variant.log.live.as_ref()?.differs(&variant.log.instance, &waited(one, ran))?;
        Some(format!("{}: {told}", variant.name))
    });
    let mut remarks = log.remarks.clone();
    remarks.extend(apart);
    let policies = policies(&variants);
    let (mut all, mut of, mut running) = (vec![], vec![], vec![]);
    if let Some(logged) = as_logged(log) {
        remarks.push(AS_LOGGED_DIFFERS.to_owned());
        all.push(logged);
        of.push(&log.instance);
        running.push(HashSet::new());
    }
    all.extend(simulated);
    of.extend(instances);
    running.extend(ran);
    remarks.extend(variants.iter().flat_map(|variant| variant.remarks.clone()));
    remarks.extend(of.iter().zip(&all).flat_map(|(instance, one)| given_up(instance, one)));
    let named = NamedJobs::of(scenarios);
    let outcome = Outcome { log, instances: of, all, running, policies, differences, named, remarks };
    if let Some(path) = &options.outputs.report {
        let usual = scenes[0].0;
        let scene = SimulationInput { instance: &log.instance, actual: &log.actual, ..usual };
        page::write_scenarios(path, &title, &scene, (&outcome.remarks, log), &outcome.columns(), &outcome.sections())?;
    }
    match options.format {
        Format::Json => emit(&format!("{:#}\n", outcome.json(options.seed))),
        Format::Text => emit(&outcome.text(columns(), options.what_if.all)),
    }
}

/// The note about a recorded schedule that is compared with simulations.
const AS_LOGGED_DIFFERS: &str = "the policy of AS LOGGED is the policy of the site, which the log does not state; a \
                                 difference between AS LOGGED and another column may be caused by this policy alone; \
                                 compare the other columns with each other";
/// The policy of the recorded schedule.
const POLICY_OF_SITE: &str = "of the site";

/// Returns notes about the jobs that the simulation omits, with the names of some of these jobs. Jobs with a deadline
/// have a separate note: Slurm cancels a job that cannot meet its deadline, and keeps any other job that can never
/// start.
fn given_up(instance: &Instance, outcome: &Simulated) -> Vec<String> {
    let has_deadline =
        |task: &TaskId| instance.job_of(*task).submission.as_deref().is_some_and(|own| own.deadline.is_some());
    let (late, never): (Vec<TaskId>, Vec<TaskId>) =
        outcome.simulation.cancelled.iter().partition(|task| has_deadline(task));
    let told = [
        ("can never start there, and the simulation omits them", never),
        ("with a deadline can never start there, or can start only too late, and will be cancelled", late),
    ];
    told.into_iter().filter_map(|(why, gone)| named_as_given_up(instance, &outcome.policy, why, &gone)).collect()
}

fn named_as_given_up(instance: &Instance, scenario: &str, why: &str, gone: &[TaskId]) -> Option<String> {
    let names: Vec<String> = gone.iter().map(|&task| instance.name(task).into_owned()).collect();
    let jobs = if gone.len() == 1 { "job" } else { "jobs" };
    (!gone.is_empty()).then(|| format!("{scenario}: {jobs} {} {why}", named(&names)))
}

/// Returns each scenario with its policy.
fn policies(variants: &[Variant]) -> Vec<(String, String)> {
    variants.iter().map(|variant| (variant.name.clone(), variant.policy.clone())).collect()
}

/// The results of all scenarios. If there is a recorded schedule, its results come first.
struct Outcome<'a> {
    log: &'a Log,
    instances: Vec<&'a Instance>,
    all: Vec<Simulated>,
    /// Jobs of each outcome that ran from the beginning, so they did not wait.
    running: Vec<HashSet<TaskId>>,
    policies: Vec<(String, String)>,
    /// The differences between scenarios of a cluster's queue.
    differences: Option<ScenarioDifferences>,
    named: NamedJobs,
    remarks: Vec<String>,
}

impl Outcome<'_> {
    fn columns(&self) -> Vec<(&Instance, &Simulated)> {
        self.instances.iter().copied().zip(&self.all).collect()
    }

    fn groups(&self) -> Vec<Groups> {
        let plain = self.instances.iter().all(|instance| !instance.has_compound_jobs());
        let all = if plain { &GroupProperty::ALL[..] } else { &[] };
        all.iter().filter_map(|&by| Groups::of(by, &self.waited())).collect()
    }

    fn waits(&self) -> Vec<[usize; 8]> {
        self.waited().iter().map(waits::counts).collect()
    }

    /// Returns the last run of each job for each outcome. Jobs that ran from the beginning are left out.
    fn waited(&self) -> Vec<(&Instance, Vec<&Run>)> {
        let outcomes = self.instances.iter().zip(&self.all).zip(&self.running);
        outcomes.map(|((&instance, one), running)| (instance, waited(one, running))).collect()
    }

    /// Returns the start of each job in each outcome. Returns `None` unless the queue of a cluster is simulated.
    fn starts(&self) -> Option<OutcomeStarts<'_>> {
        self.log.is_present().then(|| OutcomeStarts::of(&self.waited(), self.log.past.clock.as_ref(), &self.named))
    }

    /// Returns the policy of each outcome.
    fn specs(&self) -> Vec<String> {
        let of = |one: &Simulated| {
            self.policies.iter().find(|(name, _)| *name == one.policy).map(|(_, policy)| policy.clone())
        };
        self.all.iter().map(|one| of(one).unwrap_or_else(|| POLICY_OF_SITE.to_owned())).collect()
    }

    fn names(&self) -> Vec<String> {
        self.all.iter().map(|one| one.policy.clone()).collect()
    }

    /// Formats the tables below each other. A table is at most `width` characters wide, unless a single column is
    /// wider.
    fn text(&self, width: usize, is_complete: bool) -> String {
        let mut text = summary::instance(&self.log.instance) + "; times in seconds\n";
        if let Some(clock) = &self.log.past.clock {
            let begins = if self.log.is_present() { "time 0, which is now:" } else { "the log begins" };
            text += &format!("{begins} {}\n", clock.shows(makespan_core::Time::ZERO));
        }
        text += &(summary::remarks(&self.remarks) + "\n");
        text += &comparison::text_of_scenarios(&self.all, &self.specs(), is_complete, width);
        let names = self.names();
        if let Some(starts) = self.starts() {
            text += "\nstarts\n";
            text += &blocks(&["job", "user", "processors"], &names, &starts.cells(), width);
            if starts.more() > 0 {
                text += &format!("and {} more jobs (--format json prints all)\n", starts.more());
            }
        }
        if let Some(differences) = &self.differences {
            text += &format!("\n{}\n", differences.title());
            text += &blocks(&[""], differences.names(), &differences.cells(&self.named), width);
            differences.notes(&self.named).iter().for_each(|note| text += &wrapped("", 0, note));
        }
        text += "\njobs by their wait\n";
        text += &blocks(&["wait"], &names, &waits::cells(&self.waits(), true), width);
        for groups in self.groups() {
            text += &format!("\n{}\n", groups.title());
            text += &blocks(&[groups.by.word(), "jobs"], &names, &groups.cells(), width);
        }
        text
    }

    /// Returns the tables of the comparison as sections of a page.
    fn sections(&self) -> Vec<Section> {
        let heading = |first: &[&str]| first.iter().map(|&word| word.to_owned()).chain(self.names()).collect();
        let mut sections: Vec<Section> = Vec::new();
        sections.push(Section {
            title: "Policies".into(),
            columns: vec!["scenario".into(), "policy".into()],
            rows: self.names().into_iter().zip(self.specs()).map(|(name, policy)| vec![name, policy]).collect(),
            ..Section::default()
        });
        sections.extend(self.starts().map(|starts| Section {
            title: "Starts".into(),
            columns: heading(&["job", "user", "processors"]),
            rows: starts.cells(),
            ..Section::default()
        }));
        sections.extend(self.differences.iter().map(|one| one.section(&self.named)));
        sections.push(Section {
            title: "Jobs by their wait".into(),
            text: "The share of jobs in each range of waits.".into(),
            columns: heading(&["wait"]),
            rows: waits::cells(&self.waits(), false),
            ..Section::default()
        });
        sections.extend(self.groups().iter().map(|groups| Section {
            title: groups.title().replacen('m', "M", 1),
            columns: heading(&[groups.by.word(), "jobs"]),
            rows: summary::grouped_rows(groups.cells()),
            ..Section::default()
        }));
        sections
    }

    fn json(&self, seed: u64) -> Value {
        let outcome = |((instance, one), waits): ((&Instance, &Simulated), [usize; 8])| {
            let given_up = one.simulation.cancelled.iter().map(|&task| instance.name(task));
            json!({
                "scenario": one.policy,
                "policy": self.policies.iter().find(|(name, _)| *name == one.policy).map(|(_, policy)| policy),
                "jobs": instance.tasks(),
                "processors": instance.processors(),
                "metrics": one.measures,
                "waits": waits::json(&waits),
                "given_up": given_up.collect::<Vec<_>>(),
            })
        };
        json!({
            "jobs": self.log.instance.tasks(),
            "processors": self.log.instance.processors(),
            "seed": seed,
            "begin": self.log.past.clock.as_ref().map(|clock| clock.shows(makespan_core::Time::ZERO)),
            "remarks": self.remarks,
            "scenarios": self.columns().into_iter().zip(self.waits()).map(outcome).collect::<Vec<_>>(),
            "starts": self.starts().map(|starts| starts.json()),
            "differences": self.differences.as_ref().map(ScenarioDifferences::json),
            "groups": self.groups().iter().map(Groups::json).collect::<Vec<_>>(),
        })
    }
}
