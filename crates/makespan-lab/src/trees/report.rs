//! The report as text.

use std::fmt::{Display, Write as _};

use makespan_algos::policy::tree::Heuristic;

use super::points::{Ratios, TreeGroup};
use super::statements::{Evidence, STATEMENTS, percent};
use super::{RATIOS, Setting, TreeCampaignOptions, outcome};
use crate::campaign::{aligned, shown};

/// The column widths of the table that compares interpretations of the paper.
const READINGS: [i32; 9] = [-54, 6, -18, -24, -18, -19, 7, 8, 8];

/// Formats the whole report: first the results for the selected interpretation of the paper, then a table of all
/// interpretations.
pub(super) fn text(options: &TreeCampaignOptions, all: &[Evidence<'_>]) -> String {
    let mut text = format!(
        "{}.\n{} trees of 5 to 100 nodes, {} ranges of the ratio of communication to computation, {} tasks each; seed \
         {}.\nLP / heuristic: geometric mean of the ratio of measured fair throughputs. It leaves out settings in which the \
         throughput\nof LP is zero, and settings in which the ratio is above exp(8) (near zero). Deviation: mean of \
         1 - measured / theory.\n",
        options.reading,
        15 * options.trees,
        RATIOS.len(),
        options.tasks,
        options.seed
    );
    if let Some(chosen) = all.first() {
        for setting in Setting::ALL {
            text += &table(options, chosen, setting);
        }
        text += &by_ratio(chosen);
        text += &zeros(chosen);
    }
    if all.len() > 1 {
        text += &readings(all);
    }
    text
}

/// Formats a table with a row for each interpretation of the paper. A row shows the statements that are true in short
/// runs. The rows are sorted by the number of true statements, largest first.
fn readings(all: &[Evidence<'_>]) -> String {
    let mut text = String::from("\nAll readings, short runs\n");
    for (at, statement) in STATEMENTS.iter().enumerate() {
        let _infallible = writeln!(text, "{:>3}  {}", at + 1, statement.text);
    }
    let header = ["reading", "holds", "  1..5..10...15", "DATA-CENTRIC", "CGBC", "FCFS", "PBC", "LP / BP", "theory"];
    text += &format!("\n{}", aligned(&READINGS, header));
    let mut rows: Vec<(usize, String)> = all.iter().map(row).collect();
    rows.sort_by_key(|&(holds, _)| std::cmp::Reverse(holds));
    text.extend(rows.into_iter().map(|(_, row)| row));
    text += "Ratios LP / heuristic. DATA-CENTRIC: mean, largest, share of ratios up to 1.05; CGBC: mean, mean on large \
             trees,\nlargest; FCFS: mean, mean on large trees, largest; PBC: share near zero; LP / BP: mean over \
             back-pressure;\ntheory: mean deviation of LP, DATA-CENTRIC and CGBC.\n";
    text
}

fn row(evidence: &Evidence<'_>) -> (usize, String) {
    let answers = STATEMENTS.iter().map(|statement| (statement.judge)(evidence).map(|(_, yes)| yes));
    let answers: Vec<Option<bool>> = answers.collect();
    let holds = answers.iter().filter(|&&answer| answer == Some(true)).count();
    let mark = |answer: &Option<bool>| match answer {
        Some(true) => '+',
        Some(false) => '-',
        None => '?',
    };
    let marks: String = answers.iter().map(mark).collect();
    let mean = |group, name| shown(evidence.mean(group, name), 3);
    let largest = |name| shown(evidence.of(TreeGroup::All, name).map(|ratios| ratios.max), 1);
    let share = |share: Option<f64>| share.map_or_else(|| "-".into(), percent);
    let close = share(evidence.share("data-centric", |ratio| ratio <= 1.05));
    let data = format!("{} {} {close}", mean(TreeGroup::All, "data-centric"), largest("data-centric"));
    let three = |name| format!("{} {} {}", mean(TreeGroup::All, name), mean(TreeGroup::Large, name), largest(name));
    let starved = share(evidence.of(TreeGroup::All, "pbc").map(Ratios::starved));
    let theory = share(evidence.deviation(Setting::Short));
    let (cgbc, fcfs, own) = (three("cgbc"), three("fcfs"), mean(TreeGroup::All, "back-pressure"));
    let head: [&dyn Display; 4] = [&evidence.reading.to_string(), &holds, &format!("  {marks}"), &data];
    (holds, aligned(&READINGS, [&head[..], &[&cgbc, &fcfs, &starved, &own, &theory]].concat()))
}

fn table(options: &TreeCampaignOptions, evidence: &Evidence<'_>, setting: Setting) -> String {
    const WIDTHS: [i32; 8] = [-15, 8, 8, 8, 8, 8, 11, 11];
    let (tasks, buffer) = match setting {
        Setting::Short => (options.tasks, 10),
        Setting::Long => (10 * options.tasks, 10),
        Setting::Roomy => (10 * options.tasks, 100),
    };
    let header = ["LP over", "all", "large", "small", "least", "largest", "near zero", "deviation"];
    let mut text = format!("\n{tasks} tasks, buffers of {buffer}\n{}", aligned(&WIDTHS, header));
    for name in Heuristic::ALL.map(Heuristic::name) {
        let of = |group| evidence.at(setting, group, name);
        let Some(all) = of(TreeGroup::All) else { continue };
        let [every, large, small] = [TreeGroup::All, TreeGroup::Large, TreeGroup::Small]
            .map(|group| shown(of(group).and_then(Ratios::geometric_mean), 3));
        let deviation = all.deviation().map_or_else(String::new, |mean| format!("{:.2} %", 100.0 * mean));
        let (least, largest, starved) = (shown(all.min, 3), shown(all.max, 2), percent(all.starved()));
        let cells: [&dyn Display; 8] = [&name, &every, &large, &small, &least, &largest, &starved, &deviation];
        text += &aligned(&WIDTHS, cells);
    }
    text
}

/// Formats a table for short runs. A cell is the geometric mean of LP's throughput divided by the throughput of a
/// heuristic. There is a row for each heuristic, and a column for each largest ratio of communication to computation.
fn by_ratio(evidence: &Evidence<'_>) -> String {
    let line = |first: &str, cells: Vec<String>| aligned(&[-15, 8], std::iter::once(first.to_owned()).chain(cells));
    let mut text = "\nBy largest ratio\n".to_owned();
    text += &line("LP over", RATIOS.map(|ratio| (f64::from(ratio) / 1e6).to_string()).to_vec());
    for name in Heuristic::ALL.map(Heuristic::name) {
        text += &line(name, RATIOS.map(|ratio| shown(evidence.mean(TreeGroup::Ratio(ratio), name), 3)).to_vec());
    }
    text
}

/// Returns a sentence that states in how many short runs the measured throughput of some application is zero under LP.
fn zeros(evidence: &Evidence<'_>) -> String {
    let lp = evidence.runs.iter().filter_map(|run| outcome(run, "lp", Setting::Short));
    let (zero, all) = lp.fold((0, 0), |(zero, all), outcome| (zero + usize::from(outcome.fair <= 0.0), all + 1));
    format!(
        "With LP, the measured throughput of some application is zero in {zero} of {all} short runs; the theoretical throughput is positive in all of them.\n"
    )
}
