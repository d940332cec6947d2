//! Joins the jobs of users and of owners into one instance.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use makespan::policy::DomainRules;
use makespan_core::{Actual, Instance, Job, JobId, ProcSet, Profile, counted};
use makespan_formats::{DomainEntry, DomainsFile, LoggedStarts, Replay, ReplayOptions, read_domains};
use makespan_slurm::expand;
use miette::{Result, miette};

use super::super::log::Log;
use super::DomainSetup;
use crate::args::SimulateOptions;
use crate::input::replay_at;

/// Reads the domains, and adds the jobs of their owners to the jobs of users.
pub fn join(path: &Path, options: &SimulateOptions, log: Log) -> Result<(Log, DomainSetup)> {
    let file = path.display().to_string();
    let wrong = |field: String, problem: String| miette!("{file}: {field}: {problem}");
    let stated = read_domains(path).map_err(|error| miette!("{error}"))?;
    let Log { instance, actual, mut remarks, past, .. } = log;
    let users: Vec<JobId> = instance.ids().collect();
    let name = options.trace.display().to_string();
    let budgets = budgets(&stated, &instance, &name).map_err(|(field, problem)| wrong(field, problem))?;
    let mut all = JoinedJobs {
        names: users.iter().map(|&job| instance.job(job).name.clone()).collect(),
        actual: instance.task_ids().map(|task| actual.profile(&instance, task)).collect(),
        jobs: instance.all_submitted(),
    };
    let mut rules: Vec<DomainRules> = Vec::new();
    for (at, domain) in stated.domains.iter().enumerate() {
        let of = |key: &str| format!("domains[{at}].{key}");
        let processors = processors(domain, &instance, &rules).map_err(|problem| wrong(of("nodes"), problem))?;
        let first = all.jobs.len();
        if let Some(log) = &domain.log {
            let owners = replay_at(log, &reading(options, &processors));
            let owners = owners.map_err(|error| wrong(of("log"), error.to_string()))?;
            let place = format!("domain `{}`: {}", domain.name, log.display());
            remarks.extend(owners.remarks.iter().map(|remark| format!("{place}: {remark}")));
            all.add(domain, owners).map_err(|problem| wrong(of("log"), problem))?;
        }
        let owners: Vec<JobId> = (first..all.jobs.len()).map(|job| JobId(job as u32)).collect();
        remarks.push(format!(
            "domain `{}`: {}, policy {}, {} of owners",
            domain.name,
            counted(processors.len() as usize, "processor"),
            domain.policy,
            counted(owners.len(), "job"),
        ));
        let (name, policy) = (domain.name.clone(), domain.policy.clone());
        rules.push(DomainRules { name, processors, policy, price: domain.price, owners });
    }
    let platform = instance.platform().clone();
    if !instance.has_equal_processors() {
        // The run times in a log are divided by the speed of the processors, so the time limits in the log do not
        // apply.
        all.jobs[users.len()..].iter_mut().for_each(|job| job.walltime = None);
    }
    let joined = Instance::new(platform, all.jobs, instance.unavailable().to_vec());
    let instance = joined.map_err(|error| miette!("{file}: {error}"))?;
    let past = LoggedStarts { starts: Vec::new(), ..past };
    let log = Log { instance, actual: Actual::Profiles(all.actual), remarks, past, ..log };
    Ok((log, DomainSetup { file, rules, budgets, users }))
}

/// Reads the domains of a run. All jobs of the instance belong to users.
pub fn without_owners(path: &Path, instance: &Instance) -> Result<DomainSetup> {
    let file = path.display().to_string();
    let wrong = |(field, problem): (String, String)| miette!("{file}: {field}: {problem}");
    let stated = read_domains(path).map_err(|error| miette!("{error}"))?;
    let budgets = budgets(&stated, instance, "the instance").map_err(wrong)?;
    let mut rules: Vec<DomainRules> = Vec::new();
    for (at, domain) in stated.domains.into_iter().enumerate() {
        if domain.log.is_some() {
            let problem = "a run has no simulated jobs of owners; remove `log`, or use `makespan simulate`";
            return Err(wrong((format!("domains[{at}].log"), problem.into())));
        }
        let processors = processors(&domain, instance, &rules);
        let processors = processors.map_err(|problem| wrong((format!("domains[{at}].nodes"), problem)))?;
        let DomainEntry { name, policy, price, .. } = domain;
        rules.push(DomainRules { name, processors, policy, price, owners: Vec::new() });
    }
    Ok(DomainSetup { users: instance.ids().collect(), file, rules, budgets })
}

/// Returns the budgets by job. `name` names the instance in errors. An error contains the field of the file and the
/// problem.
fn budgets(stated: &DomainsFile, instance: &Instance, name: &str) -> Result<BTreeMap<JobId, i64>, (String, String)> {
    let job = |(of, &budget): (&String, &i64)| {
        let job = instance.ids().find(|&job| instance.job(job).name == *of);
        let problem = || (format!("budgets.{of}"), format!("{name} has no job with this name"));
        Ok((job.ok_or_else(problem)?, budget))
    };
    stated.budgets.iter().map(job).collect()
}

/// Returns the options for the log of a domain with these processors.
fn reading(options: &SimulateOptions, processors: &ProcSet) -> ReplayOptions {
    ReplayOptions {
        processors: Some(processors.len()),
        estimates: options.estimates.into(),
        seed: options.seed,
        strict: options.strict,
        ..ReplayOptions::default()
    }
}

/// Returns the processors of the nodes of a domain. `others` contains the domains before this one.
fn processors(domain: &DomainEntry, instance: &Instance, others: &[DomainRules]) -> Result<ProcSet, String> {
    let names = expand(&domain.nodes).map_err(|error| error.to_string())?;
    if names.is_empty() {
        return Err("no node is stated; write names such as n[0-3]".to_owned());
    }
    let platform = instance.platform();
    let mut processors = ProcSet::new();
    for name in &names {
        let node = platform.position_of(name).ok_or_else(|| {
            let first = &platform.nodes()[0].name;
            format!(
                "the platform has no node `{name}`; its first node is `{first}`, and --platform states other machines"
            )
        })?;
        let own = platform.processors_of(node);
        if let Some(other) = others.iter().find(|other| !own.intersection(&other.processors).is_empty()) {
            return Err(format!(
                "node `{name}` belongs to domain `{}`, too; state each node in one domain",
                other.name
            ));
        }
        processors.insert(&own);
    }
    if processors.is_empty() {
        return Err("these nodes have no processors".to_owned());
    }
    Ok(processors)
}

/// The jobs of users and owners.
struct JoinedJobs {
    jobs: Vec<Job>,
    names: BTreeSet<String>,
    actual: Vec<Profile>,
}

impl JoinedJobs {
    /// Adds the jobs of a log. Their names begin with the name of the domain.
    fn add(&mut self, domain: &DomainEntry, owners: Replay) -> Result<(), String> {
        let Replay { instance, actual, .. } = owners;
        self.actual.extend(instance.task_ids().map(|task| actual.profile(&instance, task)));
        let named = |name: &str| format!("{}-{name}", domain.name);
        for mut job in instance.all_submitted() {
            job.name = named(&job.name);
            job.after = job.after.iter().map(|name| named(name).into()).collect();
            if !self.names.insert(job.name.clone()) {
                return Err(format!(
                    "two jobs have the name `{}`; rename the domain or a job of the instance",
                    job.name
                ));
            }
            self.jobs.push(job);
        }
        Ok(())
    }
}
