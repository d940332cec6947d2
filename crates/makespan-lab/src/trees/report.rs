//! Figures and claims for people to read.

use std::fmt::Write as _;

use makespan_algos::policy::tree::Heuristic;

use super::options::RATIOS;
use super::points::{Group, Points, Ratios};
use super::{Options, Run, Setting};
use crate::campaign::{Claim, claims_text};
use crate::generate::Unit;

/// Everything, in the order of the interest in it.
pub(super) fn text(options: &Options, runs: &[Run], points: &Points, claims: &[Claim]) -> String {
    let mut text = format!(
        "Three applications on {} trees of 5 to 100 nodes, {} ranges of the ratio of communication to computation, {} \
         tasks each; seed {}.\nLP / heuristic: geometric mean of measured fair throughputs, without settings in which \
         the heuristic starves an\napplication (beyond exp(8), counted apart) or LP itself measured none. Deviation: \
         mean of 1 - measured / theory.\n",
        15 * options.trees,
        RATIOS.len(),
        options.tasks,
        options.seed
    );
    for &unit in &options.units {
        for setting in Setting::ALL {
            text += &table(options, points, unit, setting);
        }
        text += &by_ratio(points, unit);
        text += &zeros(runs, unit);
    }
    text += "\nClaims\n";
    text += &claims_text(claims);
    text.push('\n');
    text
}

fn table(options: &Options, points: &Points, unit: Unit, setting: Setting) -> String {
    let (tasks, buffer) = match setting {
        Setting::Short => (options.tasks, 10),
        Setting::Long => (10 * options.tasks, 10),
        Setting::Roomy => (10 * options.tasks, 100),
    };
    let mut text = format!(
        "\n{unit}, {tasks} tasks, buffers of {buffer}\n{:<15}{:>8}{:>8}{:>8}{:>8}{:>8}{:>11}{:>11}\n",
        "LP over", "all", "large", "small", "least", "largest", "near zero", "deviation"
    );
    for heuristic in Heuristic::ALL {
        let name = heuristic.name();
        let of = |group| points.get(&(unit, setting, group, name.to_owned()));
        let Some(all) = of(Group::All) else { continue };
        let mean = |group| figure(of(group).and_then(Ratios::geometric_mean));
        let deviation = all.deviation().map_or_else(String::new, |mean| format!("{:.2} %", 100.0 * mean));
        let _infallible = writeln!(
            text,
            "{name:<15}{:>8}{:>8}{:>8}{:>8.3}{:>8.2}{:>9.1} %{deviation:>11}",
            mean(Group::All),
            mean(Group::Large),
            mean(Group::Small),
            all.min,
            all.max,
            100.0 * all.starved()
        );
    }
    text
}

/// Geometric means by largest ratio, of short runs.
fn by_ratio(points: &Points, unit: Unit) -> String {
    let mut text = format!("\n{unit}, by largest ratio\n{:<15}", "LP over");
    for ratio in RATIOS {
        let _infallible = write!(text, "{:>8}", f64::from(ratio) / 1e6);
    }
    text.push('\n');
    for heuristic in Heuristic::ALL {
        let name = heuristic.name();
        let _infallible = write!(text, "{name:<15}");
        for ratio in RATIOS {
            let ratios = points.get(&(unit, Setting::Short, Group::Ratio(ratio), name.to_owned()));
            let _infallible = write!(text, "{:>8}", figure(ratios.and_then(Ratios::geometric_mean)));
        }
        text.push('\n');
    }
    text
}

/// Short runs in which even LP measured nothing for some application.
fn zeros(runs: &[Run], unit: Unit) -> String {
    let lp = runs.iter().filter(|run| run.key.unit == unit).filter_map(|run| run.outcome("lp", Setting::Short));
    let (zero, all) = lp.fold((0, 0), |(zero, all), outcome| (zero + usize::from(outcome.fair <= 0.0), all + 1));
    format!("LP measured nothing for some application in {zero} of {all} short runs; theory is positive in all.\n")
}

fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.3}"))
}
