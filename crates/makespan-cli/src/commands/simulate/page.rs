//! The report of a simulation.

use std::path::{Path, PathBuf};

use makespan::{Simulated, SimulationInput};
use makespan_core::{Instance, Measures, Schedule, Usage, UsageStep};
use makespan_formats::LogRow;
use makespan_formats::gantt::{GanttOptions, Marks, NamedSchedule, duration, write_svg};
use makespan_formats::report::{PolicyPanel, Section, SimulationLevel, SimulationReport, write_simulation};
use miette::Result;

use super::comparison;
use super::domains::DomainSetup;
use super::log::Log;
use crate::decisions;
use crate::output::{draw, write_file};
use crate::summary::{column, grouped};

/// Maximum number of placements, over all policies, on a page with a chart and details of jobs. A browser would load a
/// larger page too slowly.
const MAX_CHARTED: u64 = 1_500_000;

/// Writes one page about all policies.
pub fn write(
    path: &Path,
    title: &str,
    scene: &SimulationInput<'_>,
    log: &Log,
    simulated: &[Simulated],
    domains: Option<&DomainSetup>,
) -> Result<()> {
    let charted = scene.instance.tasks().saturating_mul(simulated.len() as u64) <= MAX_CHARTED;
    let levels: Vec<Vec<SimulationLevel>> = simulated.iter().map(|one| levels(scene, one)).collect();
    let schedules: Vec<Schedule> =
        simulated.iter().filter(|_| charted).map(|one| one.simulation.trace.schedule()).collect();
    let summaries = summaries(simulated.iter());
    let marks: Vec<Marks> = simulated.iter().map(|one| marks(scene, one)).collect();
    let mut remarks = log.remarks.clone();
    if !charted {
        remarks.push(format!(
            "The page has no chart and no table of jobs: {} policies with {} tasks each are more than {MAX_CHARTED} placements. \
             --jobs writes a table of all jobs.",
            simulated.len(),
            scene.instance.tasks()
        ));
    }
    let panel =
        |(index, one): (usize, &'_ Simulated)| (index, one.simulation.trace.runs.iter().map(|run| run.end).max());
    let panels: Vec<PolicyPanel<'_>> = simulated
        .iter()
        .enumerate()
        .map(panel)
        .map(|(index, end)| PolicyPanel {
            name: &simulated[index].policy,
            summary: &summaries[index],
            end: end.unwrap_or_default(),
            processors: scene.instance.processors(),
            levels: &levels[index],
            phases: simulated[index].task_flow.as_ref().map(|flow| &flow.phases),
            schedule: schedules.get(index),
            marks: &marks[index],
        })
        .collect();
    let own = domains.map(|domains| domains.section(scene.instance, simulated));
    let sections: Vec<Section> = own.into_iter().chain(sections(scene, simulated)).collect();
    let report = SimulationReport {
        title,
        instance: scene.instance,
        policies: &panels,
        seed: scene.seed,
        remarks: &remarks,
        is_present: log.is_present(),
        week: log.week,
        comparison: &comparison::section(simulated),
        sections: &sections,
    };
    write_file(path, |mut out| write_simulation(&mut out, &report))
}

/// Draws the schedules of all policies below each other. Policies treat the tasks of a bag like jobs, so each task has
/// its own colour.
pub fn draw_gantt(paths: &[PathBuf], title: &str, scene: &SimulationInput<'_>, simulated: &[Simulated]) -> Result<()> {
    let schedules: Vec<Schedule> = simulated.iter().map(|one| one.simulation.trace.schedule()).collect();
    let marks: Vec<Marks> = simulated.iter().map(|one| marks(scene, one)).collect();
    let named: Vec<NamedSchedule<'_>> =
        simulated.iter().zip(&schedules).map(|(one, schedule)| NamedSchedule { name: &one.policy, schedule }).collect();
    let options = GanttOptions { title, objectives: false, bags_apart: true, marks: &marks, ..GanttOptions::default() };
    draw(paths, |mut out| write_svg(&mut out, scene.instance, &named, &options))
}

/// Writes one page about scenarios, each with its own instance. The first scenario may be the recorded schedule.
pub fn write_scenarios(
    path: &Path,
    title: &str,
    scene: &SimulationInput<'_>,
    (remarks, log): (&[String], &Log),
    outcomes: &[(&Instance, &Simulated)],
    sections: &[Section],
) -> Result<()> {
    let levels: Vec<Vec<SimulationLevel>> = outcomes.iter().map(|(instance, one)| levels_of(instance, one)).collect();
    let summaries = summaries(outcomes.iter().map(|(_, one)| *one));
    let all: Vec<Simulated> = outcomes.iter().map(|(_, one)| (*one).clone()).collect();
    let panel = |(index, one): (usize, &Simulated)| {
        one.simulation.trace.runs.iter().map(|run| run.end).max().map(|end| (index, end))
    };
    let panels: Vec<PolicyPanel<'_>> = all
        .iter()
        .enumerate()
        .filter_map(panel)
        .map(|(index, end)| PolicyPanel {
            name: &outcomes[index].1.policy,
            summary: &summaries[index],
            end,
            processors: outcomes[index].0.processors(),
            levels: &levels[index],
            phases: None,
            schedule: None,
            marks: Marks::NONE,
        })
        .collect();
    let report = SimulationReport {
        title,
        instance: scene.instance,
        policies: &panels,
        seed: scene.seed,
        remarks,
        is_present: log.is_present(),
        week: log.week,
        comparison: &comparison::section(&all),
        sections,
    };
    write_file(path, |mut out| write_simulation(&mut out, &report))
}

fn marks(scene: &SimulationInput<'_>, simulated: &Simulated) -> Marks {
    let rows = LogRow::all(scene.instance, &simulated.log);
    decisions::marks(scene.instance, &rows, simulated.compound.as_ref()).with_outcomes(&simulated.simulation.trace)
}

/// Returns the tables of compound jobs and decisions of each policy.
fn sections(scene: &SimulationInput<'_>, simulated: &[Simulated]) -> Vec<Section> {
    let instance = scene.instance;
    let of = |one: &Simulated| {
        let name = |what: &str| if simulated.len() == 1 { what.to_owned() } else { format!("{what}: {}", one.policy) };
        let rows = LogRow::all(instance, &one.log);
        let jobs = one.compound.as_ref();
        let jobs = jobs.and_then(|jobs| decisions::jobs(&name("Compound jobs"), instance, jobs, "`--format json`"));
        [jobs, decisions::decisions(&name("Decisions"), &rows, "the file of `--log`")]
    };
    simulated.iter().flat_map(of).flatten().collect()
}

fn levels(scene: &SimulationInput<'_>, simulated: &Simulated) -> Vec<SimulationLevel> {
    levels_of(scene.instance, simulated)
}

fn levels_of(instance: &Instance, simulated: &Simulated) -> Vec<SimulationLevel> {
    let level = |&UsageStep { from, held, waiting }: &UsageStep| SimulationLevel { time: from, held, waiting };
    Usage::of(instance, &simulated.simulation.trace).steps.iter().map(level).collect()
}

/// Returns a summary line for each policy. All slowdowns are formatted with the same number of digits.
fn summaries<'a>(all: impl Iterator<Item = &'a Simulated>) -> Vec<String> {
    let all: Vec<_> = all.map(|one| &one.measures).collect();
    let slowdowns = column(&all.iter().map(|measures| measures.bounded_slowdown.mean).collect::<Vec<f64>>());
    let line = |(measures, slowdown): (&&Measures, String)| {
        let (wait, used) = (duration(measures.wait.mean), 100.0 * measures.utilisation);
        format!("mean wait {wait}, mean bounded slowdown {}, utilisation {used:.1}\u{A0}%", grouped(&slowdown))
    };
    all.iter().zip(slowdowns).map(line).collect()
}
