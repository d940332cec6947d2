//! The instants at which the price may change.

use makespan_core::{Availability, Instance, Time};

/// The fraction of the instants that are evenly spaced. All other instants are placed by the costs of starts and ends:
/// the larger the second derivative of these costs at some time, the closer together the instants are ([`settled`]).
const EVEN: f64 = 0.15;

/// Returns about `count` instants, the first of which is the first release. The distances between the first instants
/// are small and grow. Later instants are evenly spaced.
pub(super) fn first(instance: &Instance, shortest: f64, last: f64, count: usize) -> Vec<f64> {
    let origin = instance.first_release().ticks() as f64;
    // If the span is very short, adding it to the origin changes nothing in floating point. So use a minimum span.
    let last = last.max(2.0).max(origin / 1e12);
    let (geometric, even) = (count / 3, count - count / 3);
    let even = (1..=even).map(|index| last * index as f64 / even as f64);
    let shortest = shortest.clamp(1.0, last);
    let geometric = (0..=geometric).map(|index| shortest * (last / shortest).powf(index as f64 / geometric as f64));
    on_grid(origin, last, even.chain(geometric).map(|offset| origin + offset).chain([origin]).collect())
}

/// Returns about `count` instants, and the instants `fixed`. The instants lie close together at times at which the
/// costs of starts and ends have large second derivatives (`bends`).
///
/// Let b be the second derivative of the cost of a job. The best price decreases at the rate b, but prices are constant
/// over intervals of some length h. At the end of an interval, the price falls. So the job gains about b h^2 if it
/// starts at such an end. Let d be the sum of b over the jobs that start or end in a unit of time. The sum of the gains
/// of all jobs is least if h is proportional to d^(-1/3).
pub(super) fn settled(old: &[f64], bends: &[f64], count: usize, fixed: &[f64]) -> Vec<f64> {
    let cells = old.len() - 1;
    let bend = |cell: usize| {
        let near = cell.saturating_sub(1)..(cell + 2).min(cells);
        let length: f64 = near.clone().map(|cell| old[cell + 1] - old[cell]).sum();
        (near.map(|cell| bends[cell]).sum::<f64>() / length).cbrt()
    };
    let sharp: Vec<f64> = (0..cells).map(|cell| bend(cell) * (old[cell + 1] - old[cell])).collect();
    let sum: f64 = sharp.iter().sum();
    let span = old[cells] - old[0];
    let mass = |cell: usize| (1.0 - EVEN) * sharp[cell] / sum + EVEN * (old[cell + 1] - old[cell]) / span;
    let mut instants = vec![old[0], old[cells]];
    let (mut cell, mut before) = (0, 0.0);
    for index in 1..count {
        let target = index as f64 / count as f64;
        while cell + 1 < cells && before + mass(cell) < target {
            before += mass(cell);
            cell += 1;
        }
        let share = ((target - before) / mass(cell)).clamp(0.0, 1.0);
        instants.push(old[cell] + share * (old[cell + 1] - old[cell]));
    }
    let mut instants = on_grid(old[0], span, instants);
    insert(&mut instants, fixed, old[0], old[cells]);
    instants
}

/// Adds the instants of `more` that lie between `first` and `last`.
pub(super) fn insert(instants: &mut Vec<f64>, more: &[f64], first: f64, last: f64) {
    instants.extend(more.iter().copied().filter(|&instant| instant > first && instant < last));
    instants.sort_unstable_by(f64::total_cmp);
    instants.dedup();
}

/// Number of binary places of the grid, relative to the span of the instants.
const PLACES: i32 = 24;

/// Rounds the instants to points of a grid that begins at `origin`, sorts them, and removes duplicates. The distance
/// between grid points is a power of two, in ticks, that depends on the span. So if all times are doubled, all instants
/// are doubled.
fn on_grid(origin: f64, span: f64, mut instants: Vec<f64>) -> Vec<f64> {
    let grid = 2_f64.powi(span.log2().floor() as i32 - PLACES).max(1.0);
    instants.iter_mut().for_each(|instant| *instant = origin + ((*instant - origin) / grid).round() * grid);
    instants.sort_unstable_by(f64::total_cmp);
    instants.dedup();
    instants
}

/// For each pair of consecutive instants, returns the mean number of available processors between them.
pub(super) fn open(availability: &Availability, instants: &[f64]) -> Vec<f64> {
    let time = |instant: f64| Time::from_ticks(instant as i64);
    let mean = |pair: &[f64]| availability.open_area(time(pair[0]), time(pair[1])) as f64 / (pair[1] - pair[0]);
    instants.windows(2).map(mean).collect()
}

/// For each pair of consecutive instants, returns the mean capacity between them. `worth` returns the capacity of a
/// number of available processors.
pub(super) fn worth(availability: &Availability, instants: &[f64], worth: impl Fn(u32) -> f64) -> Vec<f64> {
    let time = |instant: f64| Time::from_ticks(instant as i64);
    let mean = |pair: &[f64]| {
        let periods = availability.open_periods(time(pair[0]), time(pair[1]));
        periods.map(|(length, open)| length.ticks() as f64 * worth(open)).sum::<f64>() / (pair[1] - pair[0])
    };
    instants.windows(2).map(mean).collect()
}
