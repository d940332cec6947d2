//! Bounds on the makespan of sequential jobs, from the work that is released late.

use makespan_core::{Instance, JobId, Objective, Time};
use makespan_verify::Proof;
use makespan_verify::proof::LateWork;

/// Returns a lower bound on the makespan of an instance of sequential jobs: the bound of [`LateWork`] at prices in
/// proportion to the speeds of the nodes. At these prices, the work of a task is its time at speed 1. If a task has a
/// time for each machine, its work is the minimum of time multiplied by speed over the nodes.
///
/// Returns zero if the check proves nothing, for example because values are too large. Takes O(n log n + n m) for n
/// tasks on m processors.
pub fn release_area_bound(instance: &Instance) -> Time {
    let speeds: Vec<f64> = instance.platform().nodes().iter().map(|node| node.speed).collect();
    let proved = Proof::LateWork(late_work(instance, &speeds)).proves(Objective::Makespan, instance).ok();
    proved.and_then(|ticks| i64::try_from(ticks.integer()).ok()).map_or(Time::ZERO, Time::from_ticks)
}

/// The sum of the integer prices of all processors is at most 2 to the power of `SCALE`.
const SCALE: i32 = 40;

/// Returns the certificate with the strongest bound at the given prices. `prices` contains one price for each node.
/// Only the ratios of the prices matter, because the function scales the prices and rounds them to integers.
///
/// Besides the prices, the certificate states an instant and a number of tasks. The function tries all release dates as
/// instants. For each instant, it tries each number of tasks up to the number of processors, and also all tasks
/// together. Takes O(n log n + n m) for n tasks on m processors. The function computes in floats, so the bound may be
/// slightly weaker than the strongest one. The certificate is valid even then, because its check is exact.
pub(crate) fn late_work(instance: &Instance, prices: &[f64]) -> LateWork {
    let prices = whole(instance, prices);
    let sold = sold(instance, &prices);
    let nothing = LateWork { from: Time::ZERO, tasks: None, prices: Vec::new() };
    let mut order: Vec<JobId> = instance.ids().collect();
    order.sort_by_key(|&job| std::cmp::Reverse(instance.job(job).release));
    let Some(&all_sold) = sold.last().filter(|&&sold| sold > 0.0) else { return LateWork { prices, ..nothing } };
    let mut largest: Vec<f64> = Vec::with_capacity(sold.len() + 1);
    let (mut total, mut best) = (0.0, (f64::NEG_INFINITY, nothing.from, nothing.tasks));
    let mut jobs = order.into_iter().peekable();
    while let Some(id) = jobs.next() {
        let (paid, count) = (paid(instance, id, &prices), instance.job(id).tasks());
        total += paid * count as f64;
        for _ in 0..count.min(sold.len() as u64) {
            largest.insert(largest.partition_point(|&other| other >= paid), paid);
            largest.truncate(sold.len());
        }
        let release = instance.job(id).release;
        // Include all tasks with this release date before computing a bound.
        if jobs.peek().is_some_and(|&next| instance.job(next).release == release) {
            continue;
        }
        let (mut span, mut tasks, mut sum) = (total / all_sold, None, 0.0);
        for (number, (paid, sold)) in (1..).zip(largest.iter().zip(&sold)) {
            sum += paid;
            if sum / sold > span {
                (span, tasks) = (sum / sold, Some(number));
            }
        }
        let end = release.ticks() as f64 + span;
        if end > best.0 {
            best = (end, release, tasks);
        }
    }
    let (_, from, tasks) = best;
    LateWork { from, tasks, prices }
}

/// Scales prices by a power of two and rounds them down. If all prices are whole numbers with a sum of at most
/// 2^`SCALE`, the ratios of the prices do not change.
fn whole(instance: &Instance, prices: &[f64]) -> Vec<i64> {
    let nodes = instance.platform().nodes();
    let sum: f64 = prices.iter().zip(nodes).map(|(price, node)| price * f64::from(node.processors)).sum();
    let power = SCALE - sum.max(f64::MIN_POSITIVE).log2().ceil() as i32;
    prices.iter().map(|price| (price.max(0.0) * 2_f64.powi(power)) as i64).collect()
}

/// Returns, for k = 1, 2, 3, ..., the sum of the k largest prices of processors.
fn sold(instance: &Instance, prices: &[i64]) -> Vec<f64> {
    let each = instance.platform().nodes().iter().zip(prices);
    let mut each: Vec<f64> =
        each.flat_map(|(node, &price)| std::iter::repeat_n(price as f64, node.processors as usize)).collect();
    each.sort_by(|a, b| b.total_cmp(a));
    let add = |sum: &mut f64, price: f64| {
        *sum += price;
        Some(*sum)
    };
    each.into_iter().scan(0.0, add).collect()
}

/// Returns the minimum payment of a task over all nodes.
fn paid(instance: &Instance, id: JobId, prices: &[i64]) -> f64 {
    let nodes = instance.platform().nodes().iter().zip(prices).enumerate().filter(|(_, (node, _))| node.processors > 0);
    let on = nodes.filter_map(|(at, (_, &price))| {
        Some(instance.time_on(instance.job(id).first(), at)?.ticks() as f64 * price as f64)
    });
    on.reduce(f64::min).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use makespan_core::{Job, Node, Platform, Profile};

    use super::*;

    fn s(seconds: i64) -> Time {
        Time::from_seconds(seconds)
    }

    /// Returns an instance with one node of one processor for each speed. `tasks` contains the size in seconds and the
    /// release of each sequential task.
    fn flow(speeds: &[f64], tasks: &[(i64, i64)]) -> Instance {
        let node = |(at, &speed): (usize, &f64)| Node { speed, ..Node::new(format!("n{at}"), 1) };
        let job = |(at, &(size, release)): (usize, &(i64, i64))| {
            Job::new(at.to_string(), Profile::rigid(1, s(size)).unwrap()).with_release(s(release))
        };
        let platform = Platform::new(speeds.iter().enumerate().map(node).collect()).unwrap();
        Instance::new(platform, tasks.iter().enumerate().map(job).collect(), vec![]).unwrap()
    }

    #[test]
    fn the_bound_is_the_largest_over_instants_and_numbers_of_tasks() {
        let bound = |instance: &Instance| release_area_bound(instance).seconds();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-8, "{a} is not {b}");
        // The largest lower bound follows from the last task: its release plus its time on the fast node.
        let tasks = [(3, 0), (6, 10), (6, 10), (6, 10), (6, 10), (6, 10), (6, 10), (3, 30)];
        near(bound(&flow(&[1.0, 3.0], &tasks)), 31.0);
        // The lower bounds are 20 / 4 from all work and all speeds, (8 + 8) / 4 from the two largest tasks, and 8 / 3
        // from the largest task.
        near(bound(&flow(&[1.0, 3.0], &[(8, 0), (8, 0), (4, 0)])), 5.0);
        // The largest lower bound follows from the largest task.
        near(bound(&flow(&[1.0, 3.0], &[(30, 0), (2, 0)])), 10.0);
        // The largest lower bound follows from the work that is released at 4.
        near(bound(&flow(&[1.0, 3.0], &[(8, 0), (8, 4), (8, 4)])), 8.0);
        // The task takes 6 s on the first machine and 2 s on the second.
        let row = Job::new("r", Profile::on_machines(vec![s(6), s(2)]).unwrap());
        let platform = Platform::cluster(2, 1).unwrap();
        near(bound(&Instance::new(platform, vec![row], vec![]).unwrap()), 2.0);
        assert_eq!(release_area_bound(&flow(&[1.0], &[])), Time::ZERO);
    }
}
