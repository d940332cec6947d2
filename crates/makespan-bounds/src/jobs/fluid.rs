//! The prices of a fluid machine.

use super::programme::JobProgramme;

/// Returns, for each period, the price of a fluid machine at the middle of the period. The fluid machine uses all
/// processors for one job at a time: the released job with the largest quotient of weight and work. While a job runs,
/// the price falls by this quotient in each tick. While the machine is idle, the price is zero. Takes O(n log n +
/// periods) for n jobs.
pub(super) fn prices(programme: &JobProgramme) -> Vec<f64> {
    let mut order: Vec<usize> = (0..programme.jobs.len()).collect();
    order.sort_by(|&a, &b| programme.jobs[a].released.total_cmp(&programme.jobs[b].released));
    let urgency = |job: usize| programme.jobs[job].weight / programme.jobs[job].work.max(f64::MIN_POSITIVE);
    // The job with the largest quotient of weight and work is last.
    let mut waiting: Vec<(usize, f64)> = Vec::new();
    let (mut now, mut next) = (0.0_f64, 0);
    let mut pieces: Vec<(f64, f64, f64)> = Vec::new();
    while next < order.len() || !waiting.is_empty() {
        while next < order.len() && programme.jobs[order[next]].released <= now {
            let job = order[next];
            let place = waiting.partition_point(|&(other, _)| urgency(other) < urgency(job));
            waiting.insert(place, (job, programme.jobs[job].work));
            next += 1;
        }
        let release = order.get(next).map_or(f64::INFINITY, |&job| programme.jobs[job].released);
        let Some((job, left)) = waiting.pop() else {
            pieces.push((now, release, -1.0));
            now = release;
            continue;
        };
        let end = (now + left).min(release);
        pieces.push((now, end, urgency(job)));
        if end < now + left {
            waiting.push((job, now + left - end));
        }
        now = end;
    }
    let length = programme.period();
    let mut prices = vec![0.0; programme.periods];
    let mut price = 0.0;
    for &(from, until, fall) in pieces.iter().rev() {
        if fall < 0.0 {
            price = 0.0;
            continue;
        }
        let first = (from / length - 0.5).ceil().max(0.0) as usize;
        let last = programme.periods.min((until / length + 0.5).floor() as usize);
        for (at, own) in prices.iter_mut().enumerate().take(last).skip(first) {
            *own = price + fall * (until - (at as f64 + 0.5) * length).max(0.0);
        }
        price += fall * (until - from);
    }
    prices
}
