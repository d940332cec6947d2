//! Points and verdicts for people to read.

use std::fmt::Write as _;

use super::{Options, Point, Verdict};

/// A table a setting, then the targets.
pub(super) fn text(options: &Options, points: &[Point], verdicts: &[Verdict]) -> String {
    let mut text = head(options);
    for group in points.chunk_by(|a, b| a.setting == b.setting) {
        text += &format!("\n{}: {}\n", group[0].setting, group[0].setting.spec(options.searches));
        text += &table(group);
    }
    text += "\nmeans of the families, and targets\n";
    for verdict in verdicts {
        let Verdict { setting, family, figure, .. } = verdict;
        let _infallible = writeln!(text, "{setting:<30}  {family:<6}  {figure:<10}  {verdict}");
    }
    let (reached, all) = (count(verdicts, Some(true)), verdicts.len() - count(verdicts, None));
    text + &format!("{reached} of {all} targets hold\n")
}

fn count(verdicts: &[Verdict], holds: Option<bool>) -> usize {
    verdicts.iter().filter(|verdict| verdict.holds() == holds).count()
}

/// How it was measured.
fn head(options: &Options) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let instances = match options.at_once {
        1 => "one instance at a time".to_owned(),
        count => format!("{count} instances at the same time"),
    };
    format!(
        "Moldable jobs on {} processors; instances a point: {}; seed {}.\n\
         Searches a plan: {}; {instances}; cores of the machine: {cores}.\n\
         A ratio is value over verified bound; a time runs from the instance to the plan with its bounds.\n",
        options.instances.processors, options.instances.runs, options.instances.seed, options.searches
    )
}

fn table(points: &[Point]) -> String {
    let mut text = format!(
        "{:<8}{:>6}{:>10}{:>10}{:>10}{:>14}{:>14}\n",
        "family", "jobs", "mean", "largest", "demt", "mean time (s)", "longest (s)"
    );
    for Point { family, jobs, mean, max, demt, seconds, longest, .. } in points {
        let _infallible =
            writeln!(text, "{family:<8}{jobs:>6}{mean:>10.4}{max:>10.4}{demt:>10.4}{seconds:>14.3}{longest:>14.3}");
    }
    text
}
