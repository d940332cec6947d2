//! What is claimed about the heuristics and aimed at, beside what was measured.

use makespan_core::Time;
use makespan_generate::Consistency;

use super::points::find;
use super::{FILES, Group, Key, Options, Point, Run};
use crate::campaign::Claim;

const BRAUN: &str = "Braun et al. 2001";
const AIM: &str = "Aim";
/// Of the eleven heuristics of that paper, those that are built, without its genetic algorithm and Min-min.
const OTHERS: [&str; 4] = ["olb", "met", "mct", "max-min"];
/// Makespans are published with one decimal.
const ROUNDING: f64 = 0.05;

pub(super) fn all(options: &Options, runs: &[Run], points: &[Point]) -> Vec<Claim> {
    let mut claims = vec![
        order("The genetic algorithm is the best, Min-min comes next", points, &Group::ALL, |gap| {
            OTHERS.iter().all(|other| gap("min-min") < gap(other)) && gap("braun-ga") <= gap("min-min")
        }),
        order("Duplex is hardly better than Min-min: by less than half a point", points, &Group::ALL, |gap| {
            gap("min-min") - gap("duplex") < 0.5
        }),
        order("On consistent machines MET is the worst", points, &[Group::Drawn(Consistency::Consistent)], |gap| {
            ["olb", "mct", "min-min", "max-min"].iter().all(|other| gap(other) < gap("met"))
        }),
        order("On inconsistent machines OLB is the worst", points, &[Group::Drawn(Consistency::Inconsistent)], |gap| {
            ["met", "mct", "min-min", "max-min"].iter().all(|other| gap(other) < gap("olb"))
        }),
        exact(runs),
        same_bounds(runs),
        sound(runs),
    ];
    claims.extend([(1, 0.45), (10, 0.33)].map(|(seconds, most)| aim(options, seconds, most, points)));
    claims.push(each_file(options, points));
    claims
}

/// A claim about mean gaps, answered by each group that was measured.
fn order(
    statement: &'static str,
    points: &[Point],
    groups: &[Group],
    holds: impl Fn(&dyn Fn(&str) -> f64) -> bool,
) -> Claim {
    let (mut measured, mut answers) = (Vec::new(), Vec::new());
    for &group in groups.iter().filter(|&&group| group != Group::AllDrawn) {
        let gap = |algorithm: &str| find(points, group, algorithm).map_or(f64::NAN, |point| point.mean);
        if gap("min-min").is_nan() {
            continue;
        }
        let mut figures =
            ["braun-ga", "min-min", "duplex"].iter().chain(&OTHERS).map(|&name| (name, gap(name))).collect::<Vec<_>>();
        figures.sort_by(|a, b| a.1.total_cmp(&b.1));
        let figures: Vec<String> = figures.iter().map(|(name, gap)| format!("{name} {gap:.1}")).collect();
        measured.push(format!("{}: {}", group.name(), figures.join(", ")));
        answers.push(holds(&gap));
    }
    Claim::new(BRAUN, statement, measured.join("; "), &answers)
}

fn files(runs: &[Run]) -> impl Iterator<Item = (&super::Published, &Run)> {
    runs.iter().filter_map(|run| if let Key::File(file) = run.key { Some((&FILES[file], run)) } else { None })
}

fn seconds(ticks: i128) -> f64 {
    ticks as f64 / Time::from_seconds(1).ticks() as f64
}

fn exact(runs: &[Run]) -> Claim {
    let (mut measured, mut answers) = (Vec::new(), Vec::new());
    for (published, run) in files(runs) {
        for (algorithm, expect) in published.heuristics {
            let Some(outcome) = run.outcomes.iter().find(|outcome| outcome.algorithm == *algorithm) else { continue };
            let found = seconds(outcome.makespan);
            measured.push(format!("{} {algorithm}: {found:.1}, published {expect:.1}", published.file));
            answers.push((found - expect).abs() <= ROUNDING);
        }
    }
    Claim::new("Published", "The heuristics give the published makespans to the digit", measured.join("; "), &answers)
}

fn same_bounds(runs: &[Run]) -> Claim {
    let ratio = |(published, run): (&super::Published, &Run)| seconds(run.bound) / published.bound - 1.0;
    let apart: Vec<f64> = files(runs).map(|file| ratio(file).abs()).collect();
    let largest = apart.iter().copied().fold(0.0, f64::max);
    let measured = if apart.is_empty() { vec![] } else { vec![format!("at most {largest:.1e} apart")] };
    let answers: Vec<bool> = apart.iter().map(|&apart| apart <= 1e-5).collect();
    Claim::new(
        "Published",
        "The verified bound is that of the linear programme, within 10^-5",
        measured.join("; "),
        &answers,
    )
}

fn sound(runs: &[Run]) -> Claim {
    let (mut measured, mut answers) = (Vec::new(), Vec::new());
    for (published, run) in files(runs) {
        let bound = seconds(run.bound);
        measured.push(format!("{}: {bound:.1}, best {:.1}", published.file, published.best));
        answers.push(bound <= published.best + ROUNDING);
    }
    Claim::new("Published", "No bound is above the best published makespan", measured.join("; "), &answers)
}

fn aim(options: &Options, seconds: i64, most: f64, points: &[Point]) -> Claim {
    let statement = if seconds == 1 {
        "`optimise`: mean gap at most 0.45 % in 1 s"
    } else {
        "`optimise`: mean gap at most 0.33 % in 10 s"
    };
    let groups = [Group::Files, Group::AllDrawn];
    let of = |spec: String| groups.into_iter().filter_map(move |group| find(points, group, &spec));
    let found: Vec<&Point> = options.search.known(1000 * seconds).into_iter().flat_map(of).collect();
    let measured: Vec<String> =
        found.iter().map(|point| format!("{}: {:.3} %", point.group.name(), point.mean)).collect();
    let answers: Vec<bool> = found.iter().map(|point| point.mean <= most).collect();
    Claim::new(AIM, statement, measured.join("; "), &answers)
}

fn each_file(options: &Options, points: &[Point]) -> Claim {
    let point = options.search.known(1000).and_then(|spec| find(points, Group::Files, &spec));
    let measured: Vec<String> = point.map(|point| format!("at most {:.3} %", point.max)).into_iter().collect();
    let answers: Vec<bool> = point.iter().map(|point| point.max <= 1.0).collect();
    Claim::new(AIM, "`optimise`: each file within 1 % in 1 s", measured.join("; "), &answers)
}
