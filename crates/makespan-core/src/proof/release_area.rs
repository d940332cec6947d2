//! A bound on the makespan of a flow: what arrives from an instant on has to be computed after it.

use crate::model::{Instance, JobId, Time};
use crate::proof::{LateWork, Proof};
use crate::schedule::Objective;

/// No schedule of a sequential instance ends earlier than this: what [`LateWork::best`] proves at prices in proportion to the
/// speeds of the nodes.
///
/// The work of a task is then its time at speed 1; of one with times of its own, the least of its time on a node times the
/// node's speed. Zero where nothing is proved, as when figures are too large. Complexity: that of the search.
pub fn release_area_bound(instance: &Instance) -> Time {
    let speeds: Vec<f64> = instance.platform().nodes().iter().map(|node| node.speed).collect();
    let proved = Proof::LateWork(LateWork::best(instance, &speeds)).proves(Objective::Makespan, instance).ok();
    proved.and_then(|ticks| i64::try_from(ticks.integer()).ok()).map_or(Time::ZERO, Time::from_ticks)
}

/// The sum of the integer prices of all processors, at most.
const SCALE: i32 = 40;

impl LateWork {
    /// The instant and the number of tasks that prove most at these prices, one for each node; they need not add up to
    /// anything, and are made integers here.
    ///
    /// All instants of release and, at each, all numbers of tasks up to that of the processors are tried, and all tasks at once.
    /// O(n log n + n m) for n tasks on m processors, in floats: which one is best may be missed by their rounding, and what is
    /// proved is exact.
    pub fn best(instance: &Instance, prices: &[f64]) -> Self {
        let prices = whole(instance, prices);
        let sold = sold(instance, &prices);
        let nothing = Self { from: Time::ZERO, tasks: None, prices: Vec::new() };
        let mut order: Vec<JobId> = instance.ids().collect();
        order.sort_by_key(|&job| std::cmp::Reverse(instance.job(job).release));
        let Some(&all_sold) = sold.last().filter(|&&sold| sold > 0.0) else { return Self { prices, ..nothing } };
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
            // Only when all tasks of an instant are in.
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
        Self { from, tasks, prices }
    }
}

/// By a power of two, so that whole prices of some size stay in proportion.
fn whole(instance: &Instance, prices: &[f64]) -> Vec<i64> {
    let nodes = instance.platform().nodes();
    let sum: f64 = prices.iter().zip(nodes).map(|(price, node)| price * f64::from(node.processors)).sum();
    let power = SCALE - sum.max(f64::MIN_POSITIVE).log2().ceil() as i32;
    prices.iter().map(|price| (price.max(0.0) * 2_f64.powi(power)) as i64).collect()
}

/// What the 1, 2, 3 .. dearest processors sell a tick for.
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

/// What a task pays at least.
fn paid(instance: &Instance, id: JobId, prices: &[i64]) -> f64 {
    let nodes = instance.platform().nodes().iter().zip(prices).enumerate().filter(|(_, (node, _))| node.processors > 0);
    let on = nodes.filter_map(|(at, (_, &price))| {
        Some(instance.time_on(instance.job(id).first(), at)?.ticks() as f64 * price as f64)
    });
    on.reduce(f64::min).unwrap_or(0.0)
}
