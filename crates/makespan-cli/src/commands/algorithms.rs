//! `makespan algorithms`

use std::process::ExitCode;

use makespan::Entry;
use makespan::catalogue::Parameter;
use makespan::policy::tree::{OfHeuristic, heuristics};
use makespan::policy::{OfPolicy, policies};
use miette::{Result, miette};
use serde_json::json;

use crate::args::{AlgorithmsOptions, Format};
use crate::output::{emit, wrapped};

pub fn algorithms(options: &AlgorithmsOptions) -> Result<ExitCode> {
    // The parameters of a spec such as list[order=saf] are removed, because an algorithm is explained by its name.
    let name = options.name.as_deref().map(|spec| spec.split('[').next().unwrap_or(spec).trim());
    let listing = Listing::of(name);
    if let Some(name) = name.filter(|_| listing.is_empty()) {
        let problem = makespan::scheduler(name).err().map_or_else(String::new, |error| error.to_string());
        return Err(miette!("{problem} (`makespan algorithms --all` lists all algorithms and policies)"));
    }
    match options.format {
        Format::Text if name.is_some() => emit(&listing.explained())?,
        Format::Text if options.all => emit(&listing.text())?,
        Format::Text => emit(&needed())?,
        Format::Json => emit(&format!("{:#}\n", listing.json()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The algorithms and policies that suffice for most users.
const NEEDED: [&str; 8] = ["optimise", "demt", "dual", "heft", "steady-state", "easy", "conservative", "slurm"];

/// Returns one line of text for each algorithm and each policy in `NEEDED`.
fn needed() -> String {
    let mut text = "Algorithms, for plan:\n\n".to_owned();
    let line = |name: &str, summary: &str| wrapped(&format!("  {name:<13}"), 15, summary);
    let is_needed = |name: &str| NEEDED.contains(&name);
    let schedulers = makespan::catalogue().iter().filter(|entry| is_needed(entry.name));
    schedulers.for_each(|entry| text += &line(entry.name, entry.summary));
    text += "\nPolicies, for simulate:\n\n";
    policies().iter().filter(|entry| is_needed(entry.name)).for_each(|entry| text += &line(entry.name, entry.summary));
    let others = makespan::catalogue().len() + policies().len() + heuristics().len() - NEEDED.len();
    text + &format!("\nDetails: makespan algorithms NAME. All, including {others} more: makespan algorithms --all\n")
}

/// The entries to print from each catalogue.
struct Listing {
    schedulers: Vec<&'static Entry>,
    policies: Vec<&'static Entry<OfPolicy>>,
    heuristics: Vec<&'static Entry<OfHeuristic>>,
}

impl Listing {
    /// Returns the entries with this name, or all entries if `name` is `None`.
    fn of(name: Option<&str>) -> Self {
        fn named<K>(entries: &'static [Entry<K>], name: Option<&str>) -> Vec<&'static Entry<K>> {
            entries.iter().filter(|entry| name.is_none_or(|name| entry.name == name)).collect()
        }
        Self {
            schedulers: named(makespan::catalogue(), name),
            policies: named(policies(), name),
            heuristics: named(heuristics(), name),
        }
    }

    fn is_empty(&self) -> bool {
        self.schedulers.is_empty() && self.policies.is_empty() && self.heuristics.is_empty()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for entry in &self.schedulers {
            text += &described(entry, "plans", Some(entry.kind.guarantee));
            text.push('\n');
        }
        text += "Policies, for simulate:\n\n";
        self.policies.iter().for_each(|entry| text += &(described(entry, "drives", None) + "\n"));
        text += "Policies, for simulate with bags of tasks on a tree:\n\n";
        self.heuristics.iter().for_each(|entry| text += &(described(entry, "drives", None) + "\n"));
        text
    }

    /// Describes each entry and adds an example of a command line.
    fn explained(&self) -> String {
        let schedulers = self.schedulers.iter().map(|entry| {
            // The last spec has the most parameters.
            let spec = entry.kind.compared.last().unwrap_or(&entry.name);
            let called = format!("makespan plan INSTANCE --algorithm '{spec}'");
            described(entry, "plans", Some(entry.kind.guarantee)) + &example(&called)
        });
        let called = |name: &str, what: &str| example(&format!("makespan simulate {what} --policy {name}"));
        let policies = self.policies.iter().map(|entry| described(entry, "drives", None) + &called(entry.name, "LOG"));
        let heuristics =
            self.heuristics.iter().map(|entry| described(entry, "drives", None) + &called(entry.name, "TREE"));
        schedulers.chain(policies).chain(heuristics).collect::<Vec<_>>().join("\n")
    }

    fn json(&self) -> serde_json::Value {
        let scheduler = |entry: &&Entry| {
            let mut listed = listed("scheduler", entry);
            listed["guarantee"] = entry.kind.guarantee.into();
            listed["examples"] = entry.kind.compared.into();
            listed
        };
        let online = self.policies.iter().map(|entry| listed("policy", entry));
        let nodes = self.heuristics.iter().map(|entry| listed("tree policy", entry));
        self.schedulers.iter().map(scheduler).chain(online).chain(nodes).collect()
    }
}

fn example(command: &str) -> String {
    wrapped("  example    ", 13, command)
}

fn described<K>(entry: &Entry<K>, verb: &str, guarantee: Option<&str>) -> String {
    let line = |key: &str, value: &str| wrapped(&format!("  {key:<11}"), 13, value);
    let guarantee = guarantee.map_or_else(String::new, |guarantee| line("guarantee", guarantee));
    format!(
        "{}\n{}{}{}{guarantee}{}",
        entry.name,
        wrapped("  ", 2, entry.summary),
        parameters(entry.parameters),
        line(verb, entry.supports),
        line("source", entry.source)
    )
}

fn parameters(parameters: &[Parameter]) -> String {
    let line = |parameter: &Parameter| {
        let values = format!("{}; default {}", parameter.values, parameter.default);
        wrapped(&format!("  [{}=..]   ", parameter.name), 13, &values)
    };
    parameters.iter().map(line).collect()
}

fn listed<K>(kind: &str, entry: &Entry<K>) -> serde_json::Value {
    let parameter = |parameter: &Parameter| json!({ "name": parameter.name, "values": parameter.values, "default": parameter.default });
    json!({
        "kind": kind,
        "name": entry.name,
        "summary": entry.summary,
        "supports": entry.supports,
        "source": entry.source,
        "parameters": entry.parameters.iter().map(parameter).collect::<Vec<_>>(),
    })
}
