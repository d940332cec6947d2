//! Describes the critical chains of a plan in text and in a report.

use makespan_core::{ChainReport, CriticalChain, Instance, ResolvedCollision, StartPlace, Time};
use makespan_formats::gantt::Marks;
use makespan_formats::report::Section;
use miette::{Result, miette};

use crate::output::{table, wrapped};
use crate::summary;

/// Name of the algorithm that plans critical chains.
const ALGORITHM: &str = "critical-jobs";
/// Maximum number of rows in a table of a page.
const SHOWN: usize = 500;

const CHAINS: [&str; 7] = ["job", "chain", "new tasks", "length (s)", "variants", "earliest (s)", "latest (s)"];
const COLLISIONS: [&str; 6] = ["task", "planned on", "at (s)", "moved to", "at (s)", "penalty"];
const LEGEND: &str = "Chains are planned in the order of their numbers. Chains with edges come before tasks without \
                      edges. In both groups, the longest chain comes first. The length is the sum of the \
                      fastest run times and the mean transfer times of a chain. Its new tasks are in no earlier \
                      chain; they must run between \"earliest\" and \"latest\", because the earlier chains keep \
                      their places and the job must end by its deadline. \"variants\" is the number of variants of \
                      the job after the chain was planned (-: the chain improves a plan of HEFT or of a search).";

/// Returns an error if `--explain` is given for an algorithm that plans no chains.
pub fn check(spec: &str) -> Result<()> {
    if spec.split('[').next() == Some(ALGORITHM) {
        return Ok(());
    }
    Err(miette!("--explain describes critical chains, but `{spec}` plans none; add --algorithm {ALGORITHM}"))
}

/// Returns the chains, the path of each chain, and the collisions as text.
pub fn text(instance: &Instance, report: &ChainReport) -> String {
    if report.is_empty() {
        return "\nno critical chains: no job is a graph of tasks\n".into();
    }
    let mut text = format!("\ncritical chains of the chosen variant:\n{}", table(&CHAINS, 1, rows(instance, report)));
    for chain in &report.chains {
        let head = format!("  {} {}: ", job(instance, chain), chain.rank);
        text += &wrapped(&head, 4, &path(instance, chain));
    }
    text += &wrapped("", 0, LEGEND);
    if report.collisions.is_empty() {
        return text + "\nno collisions\n";
    }
    text + "\ncollisions, in the order in which they were resolved:\n"
        + &table(&COLLISIONS, 1, report.collisions.iter().map(|collision| moved(instance, collision)))
}

/// Returns sections of a page about the chains and the collisions.
pub fn sections(instance: &Instance, report: &ChainReport) -> Vec<Section> {
    if report.is_empty() {
        return Vec::new();
    }
    let with_path = |(chain, mut row): (&CriticalChain, Vec<String>)| {
        row.push(path(instance, chain));
        row
    };
    let all = report.chains.iter().zip(summary::grouped_rows(rows(instance, report))).take(SHOWN);
    let chains = Section {
        title: "Critical chains".into(),
        text: format!("{LEGEND}{}", more(report.chains.len())),
        columns: CHAINS.into_iter().chain(["tasks"]).map(str::to_owned).collect(),
        rows: all.map(with_path).collect(),
        words: true,
        ..Section::default()
    };
    let each = report.collisions.iter().take(SHOWN).map(|collision| moved(instance, collision));
    let collisions = Section {
        title: "Collisions".into(),
        text: match report.collisions.len() {
            0 => "No task of the chosen variant collided.".into(),
            count => format!(
                "A task collides if its planned place is not free. It then moves to the place with the smallest penalty: additional cost, \
                 delay, and a charge for another type of processor.{}",
                more(count)
            ),
        },
        columns: if report.collisions.is_empty() { Vec::new() } else { COLLISIONS.map(str::to_owned).to_vec() },
        rows: summary::grouped_rows(each.collect()),
        ..Section::default()
    };
    vec![chains, collisions]
}

/// Returns chart marks for the tasks that collided.
pub fn marks(report: &ChainReport) -> Marks {
    let mark = |collision: &ResolvedCollision| {
        let ResolvedCollision { task, planned, resolved, penalty } = *collision;
        let text = format!(
            "collided on processor {} at {} s, moved to processor {} at {} s (penalty {penalty})",
            planned.processor, planned.start, resolved.processor, resolved.start
        );
        (task, text)
    };
    Marks { tasks: report.collisions.iter().map(mark).collect(), ..Marks::default() }
}

fn more(count: usize) -> String {
    if count > SHOWN {
        format!(" The first {SHOWN} of {count} rows are shown; --output lists all.")
    } else {
        String::new()
    }
}

fn job(instance: &Instance, chain: &CriticalChain) -> String {
    chain.tasks.first().map_or_else(String::new, |&task| instance.job_of(task).name.clone())
}

/// Returns the tasks of a chain, separated by arrows.
fn path(instance: &Instance, chain: &CriticalChain) -> String {
    let names: Vec<_> = chain.tasks.iter().map(|&task| instance.short_name(task)).collect();
    names.join(" \u{2192} ")
}

fn rows(instance: &Instance, report: &ChainReport) -> Vec<Vec<String>> {
    let seconds = |of: &dyn Fn(&CriticalChain) -> Time| {
        summary::column(&report.chains.iter().map(|chain| of(chain).seconds()).collect::<Vec<f64>>())
    };
    let length = seconds(&|chain| chain.length);
    let earliest = seconds(&|chain| chain.windows.iter().map(|window| window.earliest).min().unwrap_or_default());
    let latest = seconds(&|chain| chain.windows.iter().map(|window| window.latest).max().unwrap_or_default());
    let row = |(at, chain): (usize, &CriticalChain)| {
        let window = |text: &String| if chain.windows.is_empty() { "-".into() } else { text.clone() };
        vec![
            job(instance, chain),
            chain.rank.to_string(),
            chain.windows.len().to_string(),
            length[at].clone(),
            chain.variants.map_or_else(|| "-".into(), |count| count.to_string()),
            window(&earliest[at]),
            window(&latest[at]),
        ]
    };
    report.chains.iter().enumerate().map(row).collect()
}

fn moved(instance: &Instance, collision: &ResolvedCollision) -> Vec<String> {
    let place = |place: StartPlace| [format!("processor {}", place.processor), summary::figure(place.start.seconds())];
    let ResolvedCollision { task, planned, resolved, penalty } = *collision;
    let places = place(planned).into_iter().chain(place(resolved));
    std::iter::once(instance.name(task).into_owned()).chain(places).chain([penalty.to_string()]).collect()
}
