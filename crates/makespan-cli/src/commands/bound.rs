//! `makespan bound`

use std::process::ExitCode;

use makespan::Plan;
use makespan::{Planner, STEADY_STATE};
use makespan_core::tree::{TreeProblem, decimal_text};
use makespan_core::{Instance, Objective, counted};
use makespan_formats::TreePlanFile;
use makespan_formats::schedule::write_bounds;
use makespan_verify::proof::{
    Alone, DeadlinePrices, DueBy, LastJob, LateWork, MachineTimePrices, ResourceWindow, Scale, Selection, TimeWindow,
};
use makespan_verify::{Bound, Proof};
use miette::{Result, miette};

use crate::args::{BoundOptions, Format};
use crate::input::load;
use crate::output::{emit, shown};
use crate::summary;

pub fn bound(options: &BoundOptions) -> Result<ExitCode> {
    let loaded = load(&options.input)?;
    let instance = &loaded.instance;
    let limit = Some(options.time_limit.duration());
    let bounds = makespan::thorough_bound(instance, limit).map_err(|error| miette!("{error}"))?;
    for bound in &bounds {
        bound
            .verify(instance)
            .map_err(|error| miette!("a bound fails its own check, a defect of Makespan: {error}"))?;
    }
    match options.format {
        Format::Json => {
            let mut text = Vec::new();
            write_bounds(instance, &bounds.iter().collect::<Vec<_>>(), &mut text)
                .map_err(|error| miette!("{error}"))?;
            emit(&format!("{}\n", String::from_utf8_lossy(&text)))?;
        }
        Format::Text => {
            let proven: String = bounds.iter().map(|bound| proven(instance, bound)).collect::<Result<_>>()?;
            let head = summary::instance(instance);
            emit(&format!("{head}\n{}\n{proven}", summary::remarks(&loaded.remarks)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a line with a bound, and the lines that explain its proof.
fn proven(instance: &Instance, bound: &Bound) -> Result<String> {
    let Bound { objective, ref value, makespan_at_most, ref proof } = *bound;
    let condition = makespan_at_most.map_or_else(String::new, |most| format!(" when the makespan is at most {most} s"));
    let sign = if objective.is_maximised() { "<=" } else { ">=" };
    let unit = match objective {
        Objective::Cost => "",
        Objective::Throughput => " weighted tasks a second",
        _ => " s",
    };
    let mut why = why(instance, objective, proof);
    if let Some(grid) = proof.rounding(objective, instance) {
        why += &format!("\n  rounded up: all times are multiples of {grid} s");
    }
    if objective.is_maximised() {
        why += &format!("; {} is reached", reached(instance)?);
    }
    let guesses = instance.condition();
    Ok(format!("{objective} {sign} {}{unit}{condition}{guesses}\n  {why}\n", value.decimal(objective)))
}

/// Returns the throughput that a planned steady state reaches.
fn reached(instance: &Instance) -> Result<String> {
    let planned = Planner::new().algorithm(STEADY_STATE).plan(instance).map_err(|error| miette!("{error}"))?;
    let stated = match (&planned.plan, planned.bounds.first()) {
        (Plan::Periodic(state), Some(bound)) => {
            let problem = TreeProblem::new(instance).map_err(|error| miette!("{error}"))?;
            TreePlanFile::new(&problem, &state.rates, bound).ok()
        }
        _ => None,
    };
    stated.map_or_else(|| Ok("nothing".into()), |file| Ok(decimal_text(&file.fair_throughput)))
}

/// Explains a bound that considers only the jobs with deadlines up to `due`.
fn of_due(instance: &Instance, objective: Objective, DueBy { due, proof }: &DueBy) -> String {
    let speaks = proof.objectives().contains(&DueBy::objective(objective));
    let objective = if speaks { objective } else { Objective::MaxLateness };
    let part = DueBy::part(instance, *due, objective);
    let inner = why(&part, DueBy::objective(objective), proof);
    format!("the jobs with deadlines up to {due} s alone: {inner}")
}

fn late_work(late: &LateWork) -> String {
    let which = late.tasks.map_or_else(|| "the tasks".to_owned(), |tasks| format!("the longest {tasks} of the tasks"));
    let (from, machines) = (late.from, late.prices.len());
    format!("prices for time on {machines} machines, paid by {which} that are released at {from} s or later")
}

/// Explains a proof in one sentence.
fn why(instance: &Instance, objective: Objective, proof: &Proof) -> String {
    match proof {
        Proof::Alone(Alone { job }) => format!("job `{}` cannot end sooner, even alone", shown(&instance.job(*job).name)),
        Proof::Rejection(rejection) => {
            let how = match rejection.selection {
                Selection::Price(0) => "the jobs need more processor time".to_owned(),
                Selection::Price(_) => "the jobs at its middle leave too little time for the others".to_owned(),
                Selection::Knapsack => "whichever jobs run at its middle, the work does not fit".to_owned(),
            };
            format!("{} s is too short: {how}", rejection.deadline)
        }
        Proof::DualFeasible(refutation) => {
            let how = match refutation.terms.as_slice() {
                [term] if term.widths == Scale::Whole => "jobs with these run times do not fit one after the other",
                [term] if term.times == Scale::Whole => "jobs with these numbers of processors cannot all run at the same time",
                _ => "jobs with these run times and numbers of processors do not fit",
            };
            format!("{} s is too short: {how}", refutation.deadline)
        }
        Proof::TimeWindow(window) if window.from == window.until => {
            format!("{} s is too short for the longest path of tasks", window.deadline)
        }
        Proof::TimeWindow(TimeWindow { deadline, from, until, .. }) => {
            format!("{deadline} s is too short: too much work must run from {from} s to {until} s")
        }
        Proof::ResourceWindow(ResourceWindow { deadline, from, until, resource }) => {
            let held = shown(resource);
            format!("{deadline} s is too short: too much of `{held}` must be held from {from} s to {until} s")
        }
        Proof::Paths(_) => "each job ends after the longest path of tasks that leads to its end".to_owned(),
        Proof::PathFlow(_) => {
            "paths of tasks and the amounts of resources, together (linear programming duality)".to_owned()
        }
        Proof::Deductions(deductions) => {
            let why = match deductions.steps.len() {
                0 => "for the longest path of tasks".to_owned(),
                1 => "because of the amounts that tasks must hold in some period".to_owned(),
                count => {
                    format!(
                        "by {count} deductions, each from the amounts that tasks must hold in a period or from tasks that exclude each other"
                    )
                }
            };
            format!("{} s is too short {why}", deductions.deadline)
        }
        Proof::Refutation(refutation) => {
            let bytes = counted(refutation.steps.len(), "byte");
            format!("a complete search with learning finds no schedule of a smaller value (a proof of {bytes})")
        }
        Proof::DueBy(due_by) => of_due(instance, objective, due_by),
        Proof::LastJob(LastJob { proof }) => {
            format!("the bound holds for the job that ends last: {}", why(instance, Objective::Makespan, proof))
        }
        Proof::JobWindows(_) => {
            "even if it ran alone, no job could end sooner: its longest path of tasks, or the work that must run in some window, takes this long".to_owned()
        }
        Proof::JobPrices(prices) => {
            let steps = prices.prices.len();
            format!(
                "prices for processors at every instant, in {steps} steps, paid by all tasks of each job (Lagrangian duality)"
            )
        }
        Proof::IntervalPrices(prices) => {
            format!("prices for processor time in {} intervals (linear programming duality)", prices.ends.len() + 1)
        }
        Proof::MachinePrices(prices) => {
            format!("prices for time on {} machines", prices.prices.len())
        }
        Proof::DeadlinePrices(DeadlinePrices { deadline, prices, .. }) => {
            format!("{deadline} s is too short: prices for a processor at every instant, in {} steps", prices.len())
        }
        Proof::MachineTimePrices(MachineTimePrices { deadline: Some(deadline), prices, .. }) => {
            format!("{deadline} s is too short: prices for each of {} machines at every instant", prices.len())
        }
        Proof::MachineTimePrices(prices) => {
            format!("prices for each of {} machines at every instant (Lagrangian duality)", prices.prices.len())
        }
        Proof::PositionPrices(prices) => {
            format!("prices for positions on {} (an assignment problem)", counted(prices.prices.len(), "processor"))
        }
        Proof::LateWork(late) => late_work(late),
        Proof::CostPrices(prices) if prices.horizon.is_none() => "the sum of the least costs of all tasks".to_owned(),
        Proof::CostPrices(_) => {
            "prices for processor time and for the time between dependent tasks (Lagrangian duality)".to_owned()
        }
        Proof::TreePrices(_) => "prices for tasks and for the time of ports (linear programming duality)".to_owned(),
        Proof::TimePrices(prices) if !prices.widths.is_empty() => {
            let (steps, functions) = (prices.prices.len(), prices.widths.len());
            let s = if functions == 1 { "" } else { "s" };
            format!(
                "prices for a processor and {functions} function{s} of the width at every instant, in {steps} steps (Lagrangian duality)"
            )
        }
        Proof::TimePrices(prices) => {
            format!("prices for a processor at every instant, in {} steps (Lagrangian duality)", prices.prices.len())
        }
    }
}
