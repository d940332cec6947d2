//! The figures of the paper, drawn from the measurements of the campaign.

use makespan::spec_title;
use makespan_formats::gantt::{GanttOptions, NamedSchedule, write_svg};
use makespan_formats::plot::Figure;
use makespan_generate::{Family, MoldableOptions, generate};

use super::points::{Criterion, Point, Points};
use super::{DemtOptions, algorithm};
use crate::LabError;
use crate::campaign::{File, failed, figure, in_memory, plot, series, valid};
use crate::statistics::RatioSummary;

/// The families, with the numbers of the paper's figures.
const FIGURES: [(u32, Family); 4] = [(3, Family::Weak), (4, Family::High), (5, Family::Mixed), (6, Family::Cirne)];

/// Largest ratio that the figures show. The ratios of `gang` reach hundreds, but the interesting differences are below
/// this value.
const LARGEST: f64 = 6.0;

/// Returns the names and contents of all figures except figure 2. There are three figures for each family:
/// * Figure `a` shows the makespan divided by its proven bound.
/// * Figure `b` shows the weighted completion (minsum) divided by the value of the linear programme as printed in the
///   paper. The paper's figure shows this quotient, too.
/// * Figure `c` shows the minsum divided by its proven bound.
///
/// The last figure (figure 7) shows the time of DEMT.
pub(super) fn all(points: &Points) -> Result<Vec<File>, LabError> {
    let charts = [
        ('a', Criterion::Makespan, "makespan / proven bound"),
        ('b', Criterion::MinsumPrinted, "weighted completion / printed programme (estimate)"),
        ('c', Criterion::Minsum, "weighted completion / proven bound"),
    ];
    let mut figures = Vec::new();
    for (number, family) in FIGURES {
        if points.iter().all(|point| point.family != family) {
            continue;
        }
        for (letter, criterion, label) in charts {
            let ratios = ratios(points, family, criterion, label);
            figures.push(figure(&format!("figure{number}{letter}"), &ratios)?);
        }
    }
    figures.push(figure("figure7", &times(points))?);
    Ok(figures)
}

/// Returns figure 2, which shows the principle of the algorithm: batches of doubling length and their compaction, in
/// plans of one small instance.
pub(super) fn principle(options: &DemtOptions) -> Result<File, LabError> {
    let (seed, solve) = (options.instances.seed, options.solve);
    let instance =
        generate(&MoldableOptions { family: Family::Mixed, jobs: 24, processors: 10, seed, arrival_rate: None })?;
    let stages = [
        ("batches of doubling length", algorithm::RAW),
        ("each job as soon as its processors are idle", algorithm::SHIFT),
        ("a list in the order of the batches", algorithm::UNSHUFFLED),
        ("the order of the batches shuffled", algorithm::DEMT),
    ];
    let mut schedules = Vec::new();
    for (name, spec) in stages {
        let schedule = solve(&instance, spec, seed).and_then(|schedule| valid(&instance, &schedule).map(|()| schedule));
        schedules.push((name, schedule.map_err(|reason| failed(spec, "the instance of figure 2", reason))?));
    }
    let named: Vec<NamedSchedule<'_>> =
        schedules.iter().map(|(name, schedule)| NamedSchedule { name, schedule }).collect();
    let options =
        GanttOptions { title: "DEMT on 24 jobs and 10 processors", objectives: false, ..GanttOptions::default() };
    in_memory("figure2.svg", |svg| write_svg(svg, &instance, &named, &options))
}

/// Returns the figure of a family and a criterion. A curve shows the average ratio of an algorithm, with the smallest
/// and the largest ratio of a run.
fn ratios(points: &Points, family: Family, criterion: Criterion, label: &str) -> Figure {
    let curve = |algorithm: &str| {
        let point = |point: &Point| {
            let RatioSummary { min, of_sums, max } = point.ratio(criterion);
            (point.jobs as f64, [of_sums, min, max])
        };
        series(spec_title(algorithm), points.curve(family, algorithm).into_iter().map(point))
    };
    let drawn = points.algorithms().into_iter().filter(|spec| !algorithm::STAGES.contains(spec));
    let title = format!("{family}: {label}");
    let ratios = plot(title, "jobs", "ratio: average, smallest and largest", drawn.map(curve).collect());
    Figure { y_most: Some(LARGEST), ..ratios }
}

/// Returns figure 7: the time of DEMT as a function of the number of jobs.
fn times(points: &Points) -> Figure {
    let curve = |family: Family| {
        let point = |point: &Point| {
            let [low, mean, high] = point.seconds.map(|seconds| seconds * 1e3);
            (point.jobs as f64, [mean, low, high])
        };
        series(family.to_string(), points.curve(family, algorithm::DEMT).into_iter().map(point))
    };
    let lines = Family::ALL.into_iter().map(curve).filter(|series| !series.points.is_empty());
    plot("Time of DEMT", "jobs", "milliseconds: mean, least and greatest", lines.collect())
}
