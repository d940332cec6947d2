//! `makespan bound`

use std::process::ExitCode;

use makespan::Plan;
use makespan::{Planner, STEADY_STATE};
use makespan_core::tree::{TreeProblem, decimal_text};
use makespan_core::{Instance, Objective, counted};
use makespan_formats::TreePlanFile;
use makespan_formats::schedule::write_bounds;
use makespan_verify::proof::{
    Alone, DeadlinePrices, Derived, DueBy, EndLimits, LastJob, LateWork, MachineTimePrices, ResourceWindow, Scale,
    Selection, SetupSums, Term, TimeWindow,
};
use makespan_verify::{Bound, Proof};
use miette::{Result, miette};

use crate::args::{BoundOptions, Format};
use crate::input::load;
use crate::output::{emit, shown, wrapped};
use crate::summary;

pub fn bound(options: &BoundOptions) -> Result<ExitCode> {
    let loaded = load(&options.input)?;
    let instance = &loaded.instance;
    let limit = Some(options.time_limit.duration());
    let bounds = makespan::thorough_bound(instance, limit).map_err(|error| miette!("{error}"))?;
    for bound in &bounds {
        bound
            .verify(instance)
            .map_err(|error| miette!("a bound fails its own check, which is a defect of Makespan: {error}"))?;
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
        objective if objective.needs_penalties() => "",
        Objective::Cost | Objective::TardyJobs | Objective::WeightedTardyJobs => "",
        Objective::Throughput => " weighted tasks a second",
        _ => " s",
    };
    let mut why = why(instance, objective, proof);
    if objective.is_maximised() {
        why += &format!("; {} is reached", reached(instance)?);
    }
    let mut why = wrapped("  ", 2, &why);
    if let Some(grid) = proof.rounding(objective, instance) {
        why += &format!("  rounded up: all times are multiples of {grid} s\n");
    }
    let guesses = instance.condition();
    Ok(format!("{objective} {sign} {}{unit}{condition}{guesses}\n{why}", value.decimal(objective)))
}

/// Returns the throughput that a planned steady state reaches.
fn reached(instance: &Instance) -> Result<String> {
    let planned = Planner::new().algorithm(STEADY_STATE).plan(instance).map_err(|error| miette!("{error}"))?;
    let stated = match (&planned.plan, planned.bounds.first()) {
        (Plan::Periodic(state), Some(bound)) => {
            let problem = TreeProblem::new(instance).map_err(|error| miette!("{error}"))?;
            TreePlanFile::new(&problem, state, bound).ok()
        }
        _ => None,
    };
    stated.map_or_else(|| Ok("nothing".into()), |file| Ok(decimal_text(&file.fair_throughput)))
}

/// Explains a bound that considers only the jobs with deadlines up to `due`.
fn of_due(instance: &Instance, objective: Objective, DueBy { due, proof }: &DueBy) -> String {
    let speaks = proof.objectives().contains(&DueBy::objective(objective));
    let objective = if speaks { objective } else { Objective::MaxTardiness };
    let part = DueBy::part(instance, *due, objective);
    let inner = why(&part, DueBy::objective(objective), proof);
    format!("the jobs with deadlines up to {due} s alone: {inner}")
}

fn late_work(late: &LateWork) -> String {
    let which = late.tasks.map_or_else(|| "the tasks".to_owned(), |tasks| format!("the {tasks} longest tasks"));
    let (from, machines) = (late.from, late.prices.len());
    format!(
        "suppose that {which} that are released at {from} s or later may use more time on machines than there is, and pay for it: even then, these tasks do not end sooner (prices of {machines} machines)"
    )
}

fn of_selection(selection: &Selection) -> &'static str {
    match selection {
        Selection::Price(0) => "the jobs need more processor time",
        Selection::Price(_) => "the jobs that run in the middle of this interval leave too little time for other jobs",
        Selection::Knapsack => "whichever jobs run in the middle of this interval, the work does not fit",
    }
}

fn of_terms(terms: &[Term]) -> &'static str {
    match terms {
        [term] if term.widths == Scale::Whole => "jobs with these run times do not fit one after the other",
        [term] if term.times == Scale::Whole => "jobs with these numbers of processors cannot all run at the same time",
        _ => "jobs with these run times and numbers of processors do not fit",
    }
}

fn of_steps(count: usize) -> String {
    match count {
        0 => "for the longest path of tasks".to_owned(),
        1 => "because of the amounts that tasks must hold in some period".to_owned(),
        count => format!(
            "by {count} deductions, each from the amounts that tasks must hold in a period or from tasks that exclude each other"
        ),
    }
}

const MORE_PROCESSORS: &str = "may use more processors than there are, and pay for them";
const MORE_TIME_ON_MACHINES: &str = "jobs may use more time on machines than there is, and pay for it";

/// Explains a bound from prices. `relaxed` states what jobs may exceed, and for what they pay.
fn priced(relaxed: &str, prices: &str) -> String {
    format!("suppose that {relaxed}: even then, no schedule is better ({prices})")
}

fn in_steps(steps: usize) -> String {
    format!("prices in {} of time, Lagrangian duality", counted(steps, "step"))
}

/// Explains sums of run times and setup times.
fn of_setups(licence: Option<&str>) -> String {
    let machine = licence.map_or_else(|| "the processors".to_owned(), |name| format!("`{}`", shown(name)));
    format!("all tasks on {machine}, each with its smallest setup time, take this long")
}

/// Explains limits on ends that no schedule keeps together.
fn of_limits(conflicts: usize) -> String {
    let sets = counted(conflicts, "set");
    format!("{sets} of limits on the ends of jobs cannot be kept, so in each set some job ends later")
}

/// Explains a proof in one sentence.
fn why(instance: &Instance, objective: Objective, proof: &Proof) -> String {
    match proof {
        Proof::Alone(Alone { job }) => format!("job `{}` cannot end sooner, even alone", shown(&instance.job(*job).name)),
        Proof::Rejection(rejection) => format!("{} s is too short: {}", rejection.deadline, of_selection(&rejection.selection)),
        Proof::DualFeasible(refutation) => {
            format!("{} s is too short: {}", refutation.deadline, of_terms(&refutation.terms))
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
            "the paths of tasks and the use of processors and resources together need this long (linear programming duality)"
                .to_owned()
        }
        Proof::Deductions(deductions) => {
            format!("{} s is too short {}", deductions.deadline, of_steps(deductions.steps.len()))
        }
        Proof::Refutation(refutation) => {
            let bytes = counted(refutation.steps.len(), "byte");
            format!("a complete search with learning finds no schedule of a smaller value (a proof of {bytes})")
        }
        Proof::DueBy(due_by) => of_due(instance, objective, due_by),
        Proof::SetupSums(SetupSums { licence }) => of_setups(licence.as_deref()),
        Proof::EndLimits(EndLimits { conflicts }) => of_limits(conflicts.len()),
        Proof::Derived(Derived { proof }) => match objective.derived(instance) {
            Some(derived) => {
                let inner = why(&derived.instance, derived.base, proof);
                format!("with other due dates, weights or penalties: {inner}")
            }
            None => "a bound on another objective".to_owned(),
        },
        Proof::LastJob(LastJob { proof }) => {
            format!("the bound holds for the job that ends last: {}", why(instance, Objective::Makespan, proof))
        }
        Proof::JobWindows(_) => {
            "each job ends no sooner than it could alone: after its longest path of tasks, and after the work that must run within some period".to_owned()
        }
        Proof::JobPrices(prices) => {
            let tasks = format!("the tasks of each job {MORE_PROCESSORS}");
            priced(&tasks, &in_steps(prices.prices.len()))
        }
        Proof::IntervalPrices(prices) => {
            let intervals = prices.ends.len() + 1;
            priced(
                "jobs may use more processor time than there is, and pay for it",
                &format!("prices in {intervals} intervals of time, linear programming duality"),
            )
        }
        Proof::MachinePrices(prices) => {
            priced(MORE_TIME_ON_MACHINES, &format!("prices of {} machines", prices.prices.len()))
        }
        Proof::DeadlinePrices(DeadlinePrices { deadline, prices, .. }) => {
            format!(
                "{deadline} s is too short: at prices that change over time (in {} steps), the jobs would have to pay more than all processors can earn",
                prices.len()
            )
        }
        Proof::MachineTimePrices(MachineTimePrices { deadline: Some(deadline), prices, .. }) => {
            format!(
                "{deadline} s is too short: at prices that change over time, the jobs would have to pay more than the {} machines can earn",
                prices.len()
            )
        }
        Proof::MachineTimePrices(prices) => {
            let machines = prices.prices.len();
            let changing = format!("prices of {machines} machines that change over time, Lagrangian duality");
            priced(MORE_TIME_ON_MACHINES, &changing)
        }
        Proof::PositionPrices(prices) => {
            format!(
                "no assignment of the jobs to positions on {} is better (prices of an assignment problem)",
                counted(prices.prices.len(), "processor")
            )
        }
        Proof::LateWork(late) => late_work(late),
        Proof::CostPrices(prices) if prices.horizon.is_none() => {
            "no plan costs less than the sum of the least costs of all tasks".to_owned()
        },
        Proof::CostPrices(_) => {
            "suppose that a plan may use too many processors and start tasks too early, and pays a price for each: even then, no plan costs less (Lagrangian duality)".to_owned()
        }
        Proof::TreePrices(_) => {
            "at some prices of tasks, processors and links, no rates earn more than this (linear programming duality)".to_owned()
        },
        Proof::TimePrices(prices) => {
            let functions = match prices.widths.len() {
                0 => String::new(),
                widths => format!(" and for {} of their numbers of processors", counted(widths, "function")),
            };
            priced(&format!("jobs {MORE_PROCESSORS}{functions}"), &in_steps(prices.prices.len()))
        }
    }
}
