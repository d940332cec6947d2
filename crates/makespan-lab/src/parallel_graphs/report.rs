//! Ratios for people to read.

use super::points::find;
use super::{Group, Options, Point, Run};
use crate::campaign::{cores, text_table};

/// How it was measured, and the ratios.
pub(super) fn text(options: &Options, runs: &[Run], points: &[Point]) -> String {
    let counts = || runs.iter().map(|run| run.tasks);
    let mut text = format!(
        "Graphs of moldable tasks on equal processors: {} of {} to {} tasks, seed {}.\n\
         Searches of optimise: {}; {}.\n",
        runs.len(),
        counts().min().unwrap_or(0),
        counts().max().unwrap_or(0),
        options.seed,
        options.search.searches,
        cores(options.search.at_once),
    );
    text += "\nmakespan over the verified bound, and over the best of CPA, MCPA and LP rounding; means of all graphs\n";
    let header = ["algorithm", "geometric", "mean", "least", "largest", "over best", "seconds"];
    text += &text_table(header, options.algorithms().iter().filter_map(|algorithm| row(algorithm, points)));
    let groups: Vec<Group> = points.chunk_by(|a, b| a.group == b.group).map(|group| group[0].group).collect();
    let shown = shown(options);
    text += "\n\ngeometric means of makespan over the verified bound by group\n";
    let names = shown.clone().map(|algorithm| algorithm.unwrap_or_else(|| "-".to_owned()));
    let mut header = vec!["group".to_owned()];
    header.extend(names.iter().cloned());
    let header: [&str; 6] = std::array::from_fn(|at| header[at].as_str());
    let of_group = |group: &Group| {
        let figure = |algorithm: &Option<String>| {
            let point = algorithm.as_ref().and_then(|algorithm| find(points, *group, algorithm));
            point.map_or_else(|| "-".to_owned(), |point| format!("{:.3}", point.geometric))
        };
        let [first, second, third, fourth, fifth] = shown.each_ref().map(figure);
        [group.name(), first, second, third, fourth, fifth]
    };
    text += &text_table(header, groups.iter().map(of_group));
    text + "\n"
}

/// The algorithms of the table by group: the literature, and the first two limits of `optimise`.
fn shown(options: &Options) -> [Option<String>; 5] {
    let mut specs = options.search.specs();
    let literature = ["cpa", "mcpa", "lp-rounding"].map(|name| Some(name.to_owned()));
    let [first, second, third] = literature;
    [first, second, third, specs.next(), specs.next()]
}

fn row(algorithm: &str, points: &[Point]) -> Option<[String; 7]> {
    let point = find(points, Group::All, algorithm)?;
    let Point { geometric, mean, range, over_baselines, seconds, .. } = point;
    let figures = [geometric, mean, &range.0, &range.1, over_baselines, seconds].map(|figure| format!("{figure:.3}"));
    let [geometric, mean, least, largest, over, seconds] = figures;
    Some([algorithm.to_owned(), geometric, mean, least, largest, over, seconds])
}
