//! Verdicts on two kinds of statements: claims about the heuristics, and targets of this project.

use makespan_core::Time;

use super::published::PublishedFile;
use super::{Cell, FILES, GROUPS, MappingKey, MappingOptions, Run, gap};
use crate::campaign::{AnyRun, Claim, find};

const BRAUN: &str = "Braun et al. 2001";
const AIM: &str = "Aim";
/// The other heuristics of Braun et al. that this project implements (besides the genetic algorithm and Min-min).
const OTHERS: [&str; 4] = ["olb", "met", "mct", "max-min"];
/// Maximum rounding error of published makespans, which have one decimal.
const ROUNDING: f64 = 0.05;

pub(super) fn all(options: &MappingOptions, runs: &[Run], cells: &[Cell<'_>]) -> Vec<Claim> {
    let mut claims = vec![
        order("The genetic algorithm is the best, Min-min comes next", cells, &GROUPS[..4], |gap| {
            OTHERS.iter().all(|other| gap("min-min") < gap(other)) && gap("braun-ga") <= gap("min-min")
        }),
        order(
            "Duplex is hardly better than Min-min: by less than half a percentage point",
            cells,
            &GROUPS[..4],
            |gap| gap("min-min") - gap("duplex") < 0.5,
        ),
        order("On consistent machines MET is the worst", cells, &GROUPS[1..2], |gap| {
            ["olb", "mct", "min-min", "max-min"].iter().all(|other| gap(other) < gap("met"))
        }),
        order("On inconsistent machines OLB is the worst", cells, &GROUPS[3..4], |gap| {
            ["met", "mct", "min-min", "max-min"].iter().all(|other| gap(other) < gap("olb"))
        }),
        exact(runs),
        same_bounds(runs),
        sound(runs),
    ];
    claims.extend([(1, 0.45), (10, 0.33)].map(|(seconds, most)| aim(options, seconds, most, cells)));
    claims.push(each_file(options, cells));
    claims
}

/// Returns a claim about mean gaps. The claim has one answer for each group of matrices that was measured.
fn order(
    statement: &'static str,
    cells: &[Cell<'_>],
    groups: &[&'static str],
    holds: impl Fn(&dyn Fn(&str) -> f64) -> bool,
) -> Claim {
    let of_group = |group: &&'static str| {
        let gap = |algorithm: &str| find(cells, group, algorithm).map_or(f64::NAN, |cell| cell.mean(gap));
        let mut figures =
            ["braun-ga", "min-min", "duplex"].iter().chain(&OTHERS).map(|&name| (name, gap(name))).collect::<Vec<_>>();
        figures.sort_by(|a, b| a.1.total_cmp(&b.1));
        let figures: Vec<String> = figures.iter().map(|(name, gap)| format!("{name} {gap:.1}")).collect();
        (!gap("min-min").is_nan()).then(|| (format!("{group}: {}", figures.join(", ")), holds(&gap)))
    };
    Claim::each(BRAUN, statement, "; ", groups.iter().filter_map(of_group))
}

fn files(runs: &[Run]) -> impl Iterator<Item = (&PublishedFile, &Run)> {
    runs.iter().filter_map(|run| if let MappingKey::File(file) = run.key { Some((&FILES[file], run)) } else { None })
}

fn seconds(ticks: i128) -> f64 {
    ticks as f64 / Time::from_seconds(1).ticks() as f64
}

fn exact(runs: &[Run]) -> Claim {
    let published =
        files(runs).flat_map(|(file, run)| file.heuristics.iter().map(move |known| (file.file, known, run)));
    let evidence = published.filter_map(|(file, (algorithm, expect), run)| {
        let found = seconds(run.of(algorithm)?.value?);
        let figure = format!("{file} {algorithm}: {found:.1}, published {expect:.1}");
        Some((figure, (found - expect).abs() <= ROUNDING))
    });
    Claim::each(
        "Published",
        "The heuristics give exactly the published makespans, which have one decimal",
        "; ",
        evidence,
    )
}

fn same_bounds(runs: &[Run]) -> Claim {
    let apart: Vec<f64> =
        files(runs).map(|(published, run)| (seconds(run.bound()) / published.bound - 1.0).abs()).collect();
    let largest = apart.iter().copied().fold(0.0, f64::max);
    let measured = if apart.is_empty() { String::new() } else { format!("at most {largest:.1e} apart") };
    let answers: Vec<bool> = apart.iter().map(|&apart| apart <= 1e-5).collect();
    let statement = "The relative difference between the verified bound and the published optimum of the linear programme is at most 10^-5";
    Claim::new("Published", statement, measured, &answers)
}

fn sound(runs: &[Run]) -> Claim {
    let evidence = files(runs).map(|(published, run)| {
        let bound = seconds(run.bound());
        let figure = format!("{}: {bound:.1}, best {:.1}", published.file, published.best);
        (figure, bound <= published.best + ROUNDING)
    });
    Claim::each("Published", "No bound is above the best published makespan", "; ", evidence)
}

fn aim(options: &MappingOptions, seconds: i64, most: f64, cells: &[Cell<'_>]) -> Claim {
    let statement = format!("`optimise`: mean gap at most {most} % in {seconds} s");
    let spec = options.search.known(1000 * seconds);
    let found = [GROUPS[0], GROUPS[4]].into_iter().filter_map(|group| find(cells, &group, spec.as_ref()?));
    let evidence = found.map(|cell| (cell.group, cell.mean(gap)));
    Claim::each(AIM, statement, "; ", evidence.map(|(group, mean)| (format!("{group}: {mean:.3} %"), mean <= most)))
}

fn each_file(options: &MappingOptions, cells: &[Cell<'_>]) -> Claim {
    let cell = options.search.known(1000).and_then(|spec| find(cells, &GROUPS[0], &spec));
    let most = cell.map(|cell| cell.range(gap).1);
    let figure = most.map(|most| (format!("at most {most:.3} %"), most <= 1.0));
    Claim::one(AIM, "`optimise`: the gap of each file is at most 1 % in 1 s", figure)
}
