//! The dual function of the interval programme.

use makespan_core::{Instance, SimpleJob, Time};
use makespan_verify::proof::soonest_completion;

use super::grid::Grid;

/// The costs and the works of the jobs in each interval, and the available processor time of each interval. The costs
/// and works of a bag are sums over its tasks. Floats are precise enough, because the check of the certificate is
/// exact.
pub(super) struct IntervalProgramme {
    /// For each job, its first possible interval and the index of its first cell.
    rows: Vec<(usize, usize)>,
    /// For each job, one cell for each interval from its first possible interval on. A cell contains the cost of an end
    /// in this interval, in millionths of weight times ticks, and the least work for such an end, in processor-ticks.
    cells: Vec<(f64, f64)>,
    /// The available area of each interval that has a price.
    areas: Vec<f64>,
}

impl IntervalProgramme {
    /// Builds the corrected programme with the intervals `(0, b_1], .., (b_J, inf)`. The last interval has no price.
    pub(super) fn corrected(instance: &Instance, grid: &Grid) -> Self {
        let ends = grid.ends();
        let cell = |job: &SimpleJob<'_>, soonest: Time, index: usize| {
            let begin = if index == 0 { Time::ZERO } else { ends[index - 1] + Time::TICK };
            let limit = ends.get(index).map_or(Time::MAX, |&end| end - job.release);
            (begin.max(soonest), job.profile().least_work(limit))
        };
        Self::build(instance, ends, ends.len() + 1, cell)
    }

    /// Builds the programme as printed in the paper of Dutot et al. Interval j is `(t_j, t_(j+1)]`. A job that ends in
    /// interval j costs its weight times `t_j`. No interval contains the instants before the first interval or after
    /// the last one.
    pub(super) fn printed(instance: &Instance, grid: &Grid) -> Self {
        let ends = &grid.ends()[1..];
        let cell = |job: &SimpleJob<'_>, _, index: usize| (grid.ends()[index], job.profile().least_work(ends[index]));
        Self::build(instance, ends, ends.len(), cell)
    }

    fn build(
        instance: &Instance,
        ends: &[Time],
        intervals: usize,
        cell: impl Fn(&SimpleJob<'_>, Time, usize) -> (Time, Option<makespan_core::Area>),
    ) -> Self {
        let mut rows = Vec::with_capacity(instance.jobs().len());
        let mut cells = Vec::new();
        // Skip best-effort bags. Such bags have no weight, so they cost nothing in the last interval.
        for (id, job) in instance.ids().zip(instance.simple_jobs()).filter(|(_, job)| !job.is_best_effort()) {
            let tasks = job.tasks() as f64;
            let alone = job.release + job.profile().shortest();
            let soonest = soonest_completion(instance, id);
            let first = ends.partition_point(|&end| end < alone);
            rows.push((first, cells.len()));
            let weight = job.task_weight().millionths() as f64;
            cells.extend((first..intervals).filter_map(|index| {
                let (completion, work) = cell(&job, soonest, index);
                Some((tasks * weight * completion.ticks() as f64, tasks * work? as f64))
            }));
        }
        let area = |end: Time| instance.availability().open_area(instance.first_release(), end) as f64;
        let before = std::iter::once(0.0).chain(ends.iter().map(|&end| area(end)));
        let areas = ends.iter().zip(before).map(|(&end, before)| area(end) - before).collect();
        Self { rows, cells, areas }
    }

    /// Returns the number of prices.
    pub(super) fn prices(&self) -> usize {
        self.areas.len()
    }

    /// Returns the available area before the end of each interval that has a price.
    pub(super) fn areas_until(&self) -> Vec<f64> {
        let sums = self.areas.iter().scan(0.0, |sum, area| {
            *sum += area;
            Some(*sum)
        });
        sums.collect()
    }

    /// Returns the total cost if every job ends in the last interval. The dual function never exceeds this cost.
    pub(super) fn largest(&self) -> f64 {
        let ends = self.rows.iter().skip(1).map(|&(_, start)| start).chain([self.cells.len()]);
        ends.filter_map(|end| self.cells.get(end.checked_sub(1)?)).map(|cell| cell.0).sum()
    }

    /// Returns the value of the dual function at the cumulated prices `sigma`. Stores a supergradient in `gradient`.
    pub(super) fn evaluate(&self, sigma: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = 0.0;
        for ((slope, area), price) in gradient.iter_mut().zip(&self.areas).zip(sigma) {
            *slope = -area;
            value -= area * price;
        }
        let ends = self.rows.iter().skip(1).map(|&(_, start)| start).chain([self.cells.len()]);
        for (&(first, start), end) in self.rows.iter().zip(ends) {
            let mut best = (f64::INFINITY, 0, 0.0);
            for (offset, &(cost, work)) in self.cells[start..end].iter().enumerate() {
                let total = cost + work * sigma.get(first + offset).copied().unwrap_or(0.0);
                if total < best.0 {
                    best = (total, first + offset, work);
                }
            }
            value += best.0;
            if let Some(slope) = gradient.get_mut(best.1) {
                *slope += best.2;
            }
        }
        value
    }
}
