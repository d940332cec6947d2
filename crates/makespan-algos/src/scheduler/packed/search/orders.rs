//! The initial lists of a search.

use crate::kernel::packing::{ListEntry, Packing, Row};
use crate::scheduler::packed::density;

/// Returns lists in several orders for each set of allotments that balances area and longest path.
pub(in crate::scheduler::packed) fn balanced_lists(packing: &Packing<'_>) -> Vec<Vec<ListEntry>> {
    packing.balanced().iter().flat_map(|choices| orders(packing, choices)).collect()
}

/// Returns lists with the allotments `choices` in several orders, such as tasks by decreasing longest path, jobs by
/// weight relative to their area, and jobs by deadline.
pub(in crate::scheduler::packed) fn orders(packing: &Packing<'_>, choices: &[u32]) -> Vec<Vec<ListEntry>> {
    let instance = packing.instance();
    let ranks = packing.ranks(choices);
    let mut areas = vec![0.0; instance.jobs().len()];
    let mut longest = vec![0.0_f64; instance.jobs().len()];
    for row in packing.rows() {
        let job = packing.job_of(row).index();
        areas[job] += packing.area(choices[row.index()]) * f64::from(packing.count_of(row));
        longest[job] = longest[job].max(ranks[row.index()]);
    }
    let largest = ranks.iter().copied().fold(1.0, f64::max);
    // Within a job, the tasks with the longest paths come first.
    let within = |row: Row| -ranks[row.index()] / largest;
    let by_job = |keys: Vec<f64>| {
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
        let mut place = vec![0.0; keys.len()];
        order.into_iter().enumerate().for_each(|(at, job)| place[job] = 2.0 * at as f64);
        packing.list(choices, |row| place[packing.job_of(row).index()] + within(row))
    };
    let weight = |job: usize| instance.jobs()[job].weight.as_f64().max(1e-9);
    let jobs = 0..instance.jobs().len();
    let mut lists = vec![
        packing.list(choices, within),
        packing.list(choices, |row| -density(packing, choices, row)),
        packing.list(choices, |row| packing.area(choices[row.index()])),
        by_job(jobs.clone().map(|job| areas[job] / weight(job)).collect()),
        by_job(jobs.clone().map(|job| longest[job] / weight(job)).collect()),
    ];
    if instance.jobs().iter().any(|job| job.deadline.is_some()) {
        let due = |job: usize| instance.jobs()[job].deadline.map_or(f64::MAX, |deadline| deadline.ticks() as f64);
        lists.push(by_job(jobs.map(due).collect()));
    }
    lists
}
