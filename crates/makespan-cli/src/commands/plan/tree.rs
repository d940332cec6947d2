//! `makespan plan` for bags of tasks on a tree: the rates of the nodes, the loads of the links, and the bottlenecks.

mod nodes;
mod unroll;

pub use unroll::length;

use makespan::{NodePart, STEADY_STATE, SteadyState, upgrades};
use makespan_core::tree::{TreeProblem, decimal_text, exact_period, float_of};
use makespan_core::{Instance, Objective, Time, counted};
use makespan_formats::report::{Section, TreePicture, TreeReport, write_tree};
use makespan_formats::tree_plan::{StatedPeriod, TreePlanFile, write_tree_svg};
use makespan_verify::{Bound, Proof};
use miette::{Result, miette};

use super::PlanFacts;
use crate::args::{Format, PictureOptions, PlanOptions};
use crate::output::{csv_names, draw, emit, table, write_file};
use crate::summary;

/// Maximum number of bottlenecks that are listed.
const BOTTLENECKS: usize = 10;
/// Maximum number of characters of an exact throughput. A longer text is not printed.
const DIGITS: usize = 12;

/// A steady state with its bound.
pub struct TreePlan {
    problem: TreeProblem,
    state: SteadyState,
    bound: Bound,
}

/// Writes and prints a steady state. If `length` is given, the period of the steady state has about this length.
pub fn tell(facts: PlanFacts<'_>, state: SteadyState, length: Option<Time>) -> Result<()> {
    let PlanFacts { instance, options, title, algorithm, origin, bounds, mut remarks } = facts;
    let problem = TreeProblem::new(instance).map_err(|error| miette!("{error}"))?;
    let bound = bounds.into_iter().find(|bound| bound.objective == Objective::Throughput);
    let bound = bound.ok_or_else(|| miette!("the throughput has no bound, which is a defect of Makespan"))?;
    let mut found = TreePlan { problem, state, bound };
    if let Some(length) = length {
        found.state.period = Ok(unroll::period(&found, length)?);
    }
    if let (Some(_), None, Ok(period)) = (&options.period.unroll, length, &found.state.period) {
        let shorter = period.shortened(instance, &found.problem, &found.state.rates);
        if shorter.period < period.period {
            remarks.push(format!(
                "the period is {} s, because the last task ends earliest with this period; to use another period, add \
                 --period",
                shorter.period
            ));
        }
        found.state.period = Ok(shorter);
    }
    if let Some(path) = &options.period.unroll {
        let end = unroll::write(path, instance, &found, csv_names(options.pictures.raw_names))?;
        remarks.push(format!(
            "if the period is repeated until all tasks are complete, the last task ends at {} s",
            float(end.seconds())
        ));
    }
    remarks.extend(notes(instance, &found));
    let (problem, rates) = (&found.problem, &found.state.rates);
    let mut file = TreePlanFile::new(problem, &found.state, &found.bound)
        .map_err(|error| miette!("the rates fail their own check, which is a defect of Makespan: {error}"))?;
    file.period = found.state.period.as_ref().ok().map(|period| StatedPeriod::new(problem, period.clone()));
    file.remarks.clone_from(&remarks);
    file.origin = origin;
    if let Some(path) = &options.output {
        write_file(path, |out| file.write(instance, out))?;
    }
    let PictureOptions { gantt, report, .. } = &options.pictures;
    draw(gantt, |mut out| write_tree_svg(&mut out, instance, problem, rates, title))?;
    let summary = format!("{}; {}", summary::instance(instance), headline(&found, instance));
    if let Some(path) = report {
        let nodes = nodes::TreeNodes::new(instance, &found).all();
        let sections: Vec<Section> = [Some(applications(instance, &found)), bottlenecks(instance, &found), Some(nodes)]
            .into_iter()
            .flatten()
            .collect();
        let (remarks, sections) = (&remarks, &sections);
        let pictures = &[TreePicture { title, name: title, rates }];
        let report =
            TreeReport { title, summary: &summary, instance, problem, pictures, measured: false, remarks, sections };
        write_file(path, |mut out| write_tree(&mut out, &report))?;
    }
    match options.format {
        Format::Json => {
            let mut text = Vec::new();
            file.write(instance, &mut text).map_err(|error| miette!("{error}"))?;
            emit(&String::from_utf8_lossy(&text))
        }
        Format::Text => {
            let mut sections = nodes::TreeNodes::new(instance, &found).for_reading();
            sections.insert(0, applications(instance, &found));
            sections.extend(bottlenecks(instance, &found));
            let tables: String = sections.iter().map(printed).collect();
            let head =
                format!("{}, planned by {algorithm}\n{}", summary::instance(instance), summary::remarks(&remarks));
            emit(&format!("{head}\n{}\n{}\n{tables}", headline(&found, instance), period(&found)))
        }
    }
}

/// Returns an error if the plans of the algorithm do not support an option.
pub fn check_options(spec: &str, options: &PlanOptions) -> Result<()> {
    if spec.split('[').next() == Some(STEADY_STATE) { refuse(options) } else { refuse_options_of_trees(options) }
}

/// Returns an error for options of schedules and of searches. A steady state has no placements, and its computation
/// has no time limit.
fn refuse(options: &PlanOptions) -> Result<()> {
    let search = &options.search;
    let given = [
        (options.swf.is_some(), "--swf"),
        (options.pictures.jobs.is_some(), "--jobs"),
        (search.objective.is_some(), "--objective"),
        (search.time_limit.is_some(), "--time-limit"),
        (search.makespan_at_most.is_some(), "--makespan-at-most"),
        (options.threads.is_some(), "--threads"),
    ];
    match given.into_iter().find(|(given, _)| *given) {
        Some((_, option)) => Err(miette!(
            "{option} is not for a steady state, which has only rates, no start times or processors; remove the option"
        )),
        None => Ok(()),
    }
}

/// Returns an error for options that apply only to the steady state of a tree.
fn refuse_options_of_trees(options: &PlanOptions) -> Result<()> {
    let given = [(options.period.period.is_some(), "--period"), (options.period.unroll.is_some(), "--unroll")];
    match given.into_iter().find(|(given, _)| *given) {
        Some((_, option)) => Err(miette!(
            "{option} is only for the steady state of bags of tasks on a tree, but nodes of this instance have no \
             `parent`, or no job has a `count`; remove {option}"
        )),
        None => Ok(()),
    }
}

fn headline(found: &TreePlan, instance: &Instance) -> String {
    let state = &found.state;
    let value = format!("fair throughput {} weighted tasks a second", float(float_of(&state.throughput)));
    if let Some(fairness) = &state.fairness {
        let excess = fairness.excess(&found.problem, &state.rates).map_or(f64::INFINITY, |excess| float_of(&excess));
        let most = float(float_of(&found.bound.value.rational()));
        let alpha = fairness.alpha;
        return format!(
            "alpha-fair with alpha {alpha}, proved within {excess:.1e}{}; {value} (at most {most})",
            instance.condition()
        );
    }
    match &state.optimum {
        Some(optimum) => {
            let exact = optimum.throughput.to_string();
            let exact = if exact.len() <= DIGITS { format!(": exactly {exact}") } else { String::new() };
            format!("{value}, optimal{}{exact}", instance.condition())
        }
        None => format!("{value}, proven within {:.1e} of the optimum{}", found.gap(), instance.condition()),
    }
}

impl TreePlan {
    /// Returns the relative gap between the value and its bound.
    fn gap(&self) -> f64 {
        let bound = self.bound.value.rational();
        if bound.is_zero() { 0.0 } else { float_of(&((&bound - &self.state.throughput) / &bound)) }
    }
}

/// Describes the period in one sentence.
fn period(found: &TreePlan) -> String {
    let digits = exact_period(&found.state.rates).to_string().len();
    match &found.state.period {
        Ok(period) => {
            let reached = float_of(&(period.throughput(&found.problem) / &found.state.throughput));
            let loss = 100.0 * (1.0 - reached).max(0.0);
            let best = if found.state.fairness.is_none() { "the optimum" } else { "the rates" };
            let tasks: u64 = period.tasks.iter().sum();
            let start_up = period.start_up(&found.problem).map_or("-".into(), |time| float(time.seconds()));
            let buffers = period.buffers(&found.problem).into_iter().max().unwrap_or(0);
            format!(
                "period {} s with {}, {loss:.2} % below {best}; steady after {start_up} s; buffers of at most {}",
                float(period.period.seconds()),
                counted(tasks, "task"),
                counted(buffers, "task")
            )
        }
        Err(error) => format!("no period is written ({error}); the exact period, in nanoseconds, has {digits} digits"),
    }
}

/// Returns notes for the user about the rates.
fn notes(instance: &Instance, found: &TreePlan) -> Vec<String> {
    let mut notes = Vec::new();
    let problem = &found.problem;
    let late = |node: &usize| {
        let slow = (0..instance.jobs().len()).all(|app| problem.send_time(*node, app).is_none());
        problem.nodes()[*node].parent.is_some() && slow
    };
    let unreachable: Vec<usize> = (0..problem.nodes().len()).filter(late).collect();
    if let Some(&first) = unreachable.first() {
        let name = &instance.platform().nodes()[first].name;
        notes.push(format!(
            "not reached: {} such as `{name}`; sending a single task there takes longer than the longest supported time",
            counted(unreachable.len(), "node")
        ));
    }
    if let Ok(period) = &found.state.period {
        let starts = period.starts(problem);
        let last = instance.jobs().iter().enumerate().map(|(app, job)| {
            let rate: f64 = (0..starts.len()).map(|node| float_of(found.state.rates.of(node, app))).sum();
            job.tasks() as f64 / rate
        });
        let last = last.fold(0.0, f64::max);
        let works = |node: usize| {
            !period.tasks[node * instance.jobs().len()..][..instance.jobs().len()].iter().all(|&n| n == 0)
        };
        let late: Vec<usize> = (0..starts.len())
            .filter(|&node| works(node) && starts[node].is_none_or(|start| start.seconds() > last))
            .collect();
        if let Some(&first) = late.first() {
            let name = &instance.platform().nodes()[first].name;
            notes.push(format!(
                "the period is too long for this number of tasks: the last task is sent after about {} s, before {} such as `{name}` would get \
                 their first task; with a shorter --period these nodes start sooner, but the throughput is lower",
                float(last),
                counted(late.len(), "node")
            ));
        }
    }
    notes
}

fn applications(instance: &Instance, found: &TreePlan) -> Section {
    let flows = found.state.rates.flows(&found.problem);
    let root = found.problem.root() * instance.jobs().len();
    let rows = found.problem.applications().iter().enumerate().map(|(at, app)| {
        let job = instance.job(app.job);
        let rate = float_of(&flows[root + at]);
        let lasts = app.count as f64 / rate;
        vec![
            job.name.clone(),
            decimal_text(&app.weight),
            app.count.to_string(),
            float(rate),
            float(rate / float_of(&app.weight)),
            float(lasts),
        ]
    });
    let columns = ["application", "weight", "tasks", "tasks/s", "weighted", "lasts about (s)"];
    section("Applications", "", &columns, rows.collect())
}

/// Lists the parts that limit the fair throughput. An upgrade of such a part would raise the fair throughput.
/// Returns `None` for alpha-fair rates, because other parts limit them.
fn bottlenecks(instance: &Instance, found: &TreePlan) -> Option<Section> {
    let (Proof::TreePrices(prices), None) = (&found.bound.proof, &found.state.fairness) else { return None };
    let upgrades = upgrades(&found.problem, &found.state.rates, prices);
    let rows = upgrades.iter().take(BOTTLENECKS).map(|upgrade| {
        let name = &instance.platform().nodes()[upgrade.node].name;
        let part = match upgrade.part {
            NodePart::Processors => format!("processors of {name}"),
            NodePart::Link => format!("link to {name}"),
            NodePart::Latency => format!("latency of the link to {name}"),
        };
        vec![part, format!("{:.3}", upgrade.gain)]
    });
    let text = "The increase of the fair throughput if one node or link becomes one percent faster, estimated from the dual prices of the bound.";
    let rows = rows.collect();
    Some(section("Bottlenecks", text, &["part", "gain for 1 % (%)"], rows))
}

fn section(title: &str, text: &str, columns: &[&str], rows: Vec<Vec<String>>) -> Section {
    let columns = columns.iter().map(ToString::to_string).collect();
    Section { title: title.into(), text: text.into(), columns, rows, ..Section::default() }
}

fn printed(section: &Section) -> String {
    let columns: Vec<&str> = section.columns.iter().map(String::as_str).collect();
    let text = if section.text.is_empty() { String::new() } else { format!("{}\n", section.text) };
    format!("\n{}\n{text}{}", section.title, table(&columns, 1, section.rows.iter().cloned()))
}

/// Formats a number with at least four significant digits.
fn float(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || !size.is_finite() => value.to_string(),
        size if (1e-3..1e6).contains(&size) => {
            let places = (3 - size.log10().floor() as i64).clamp(0, 7) as usize;
            format!("{value:.places$}")
        }
        _ => format!("{value:.3e}"),
    }
}
