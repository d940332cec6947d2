//! Aggregation of runs by family, number of jobs and algorithm.

use makespan_generate::Family;

use super::{Bounds, DemtOutcome, Run};
use crate::campaign::{File, GridCell, GridRow, cells, record, table};
use crate::statistics::{RatioSummary, ratio_of_sums};

/// The value and the reference of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Criterion {
    /// Makespan divided by its proven bound.
    Makespan,
    /// Weighted completion divided by the value of the linear programme as printed in the paper. This ratio can be
    /// compared with the paper's figures.
    MinsumPrinted,
    /// Weighted completion divided by its proven bound.
    Minsum,
}

/// The results of an algorithm over all runs with one family and one number of jobs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub family: Family,
    pub jobs: usize,
    pub algorithm: String,
    pub runs: usize,
    pub makespan: RatioSummary,
    pub minsum: RatioSummary,
    pub minsum_printed: RatioSummary,
    /// Shortest, mean and longest time of a run, in seconds.
    pub seconds: [f64; 3],
}

/// All points of a campaign. They are sorted by family, then by algorithm (in the order of the options), and then by
/// number of jobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Points(pub Vec<Point>);

impl Point {
    /// Returns the ratios for a criterion.
    pub fn ratio(&self, criterion: Criterion) -> RatioSummary {
        match criterion {
            Criterion::Makespan => self.makespan,
            Criterion::MinsumPrinted => self.minsum_printed,
            Criterion::Minsum => self.minsum,
        }
    }
}

impl Points {
    /// Aggregates runs. `runs` must be sorted by key.
    pub fn of(runs: &[Run]) -> Self {
        let mut cells = cells(runs, |run| vec![(run.key.family, run.key.jobs)]);
        let place = |algorithm: &str| runs[0].outcomes.iter().position(|(name, _)| name == algorithm);
        cells.sort_by_key(|cell| (cell.group.0, place(cell.algorithm)));
        Self(cells.iter().filter_map(point).collect())
    }

    /// Returns a table with a row for each point: the minimum, the average (of sums) and the maximum of the ratios.
    pub fn summary(&self) -> File {
        let header = "family,jobs,algorithm,runs,makespan_ratio_min,makespan_ratio,makespan_ratio_max,\
                      weighted_completion_ratio_min,weighted_completion_ratio,weighted_completion_ratio_max,\
                      printed_programme_ratio_min,printed_programme_ratio,printed_programme_ratio_max";
        let row = |point: &Point| {
            let ratios = [point.makespan, point.minsum, point.minsum_printed];
            let figures = ratios.into_iter().flat_map(|RatioSummary { min, of_sums, max }| [min, of_sums, max]);
            record(&[&point.family, &point.jobs, &point.algorithm, &point.runs], figures)
        };
        table("summary.csv", header, self.iter().map(row))
    }

    /// Returns all points.
    pub fn iter(&self) -> impl Iterator<Item = &Point> {
        self.0.iter()
    }

    /// Returns the points of one curve, in ascending order of the number of jobs.
    pub fn curve(&self, family: Family, algorithm: &str) -> Vec<&Point> {
        self.iter().filter(|point| point.family == family && point.algorithm == algorithm).collect()
    }

    /// Returns the specs of all algorithms, each once, in the order in which reports list them.
    pub fn algorithms(&self) -> Vec<&str> {
        let mut specs: Vec<&str> = Vec::new();
        for point in self.iter() {
            if !specs.contains(&point.algorithm.as_str()) {
                specs.push(&point.algorithm);
            }
        }
        specs
    }
}

fn point(cell: &GridCell<'_, (Family, usize), Run>) -> Option<Point> {
    let ratio = |value: fn(&DemtOutcome) -> i128, reference: fn(&Bounds) -> i128| {
        let pair = |&(run, _, outcome): &GridRow<'_, Run>| (value(outcome) as f64, reference(&run.facts) as f64);
        ratio_of_sums(cell.rows.iter().map(pair))
    };
    let seconds = |(.., outcome): &GridRow<'_, Run>| outcome.seconds;
    let (shortest, longest) = cell.range(seconds);
    Some(Point {
        family: cell.group.0,
        jobs: cell.group.1,
        algorithm: cell.algorithm.to_owned(),
        runs: cell.rows.len(),
        makespan: ratio(|outcome| outcome.makespan, |bounds| bounds.makespan)?,
        minsum: ratio(|outcome| outcome.minsum, |bounds| bounds.minsum)?,
        minsum_printed: ratio(|outcome| outcome.minsum, |bounds| bounds.printed)?,
        seconds: [shortest, cell.mean(seconds), longest],
    })
}
