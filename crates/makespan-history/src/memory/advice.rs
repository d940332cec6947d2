//! Compares the memory that jobs state with the memory that they used.

use std::collections::BTreeMap;

use super::{ExcessRule, MemoryBasis, MemoryModel, MemoryRun, STEP};

/// Minimum number of jobs for which advice is given.
pub const MIN_JOBS: usize = 5;
/// Share of the jobs, in percent, that used at most [`MemoryAdvice::used`].
pub const MEMORY_SHARE: usize = 95;
/// Maximum number of the latest jobs from which an amount is advised.
const RECENT: usize = 200;

/// The memory of one job that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryUse {
    /// User of the job. `None` if jobs have no users.
    pub user: Option<String>,
    /// Name of the job, or template of its command.
    pub name: String,
    /// Memory in bytes that the job states.
    pub stated: Option<u64>,
    /// Peak memory in bytes.
    pub peak: u64,
    /// Memory in bytes that the job certainly needed: its peak or, if it was killed, the larger of its peak and its
    /// reservation.
    pub needed: u64,
    /// Run time in seconds.
    pub seconds: f64,
    /// True if an attempt of the job was killed for lack of memory.
    pub is_killed: bool,
    /// True if the job never succeeded because it was killed, so that it needs more than `needed`.
    pub needs_more: bool,
}

/// The advice about jobs with one user and one name.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryAdvice {
    /// User of the jobs.
    pub user: Option<String>,
    /// Name of the jobs, or template of their commands.
    pub name: String,
    /// Number of jobs.
    pub jobs: usize,
    /// Number of jobs that were killed for lack of memory.
    pub killed: usize,
    /// Median of the stated amounts in bytes. `None` if no job states an amount.
    pub stated: Option<u64>,
    /// Amount in bytes that 95 % of the jobs did not exceed: the peak of rank ⌈0.95 n⌉.
    pub used: u64,
    /// Amount in bytes that the jobs should state: the prediction ([`MemoryModel`]), but at least the amount that 95 % of
    /// the jobs needed. If no job was killed, the amount is at most `stated`, unless 95 % of the jobs used more. A job on a
    /// cluster is usually not tried again with more memory, so the amount suffices for 95 % of the jobs.
    pub advised: u64,
    /// True if a smaller amount would save nothing, so that `advised` is `stated`.
    pub is_unchanged: bool,
    /// Reserved memory of the jobs that state an amount, in GiB hours.
    pub reserved: f64,
    /// GiB hours that the advised amount would have saved. Negative if the jobs need more than they state.
    ///
    /// A job with a peak above the advised amount fails once with this amount, at the end of its run time, and then
    /// runs again with its stated amount.
    pub saved: f64,
}

/// Returns advice for each user and name with at least [`MIN_JOBS`] jobs, the largest saving first, and the number of
/// jobs of all other names. `uses` are in the order in which the jobs ended.
pub fn advise(uses: &[MemoryUse]) -> (Vec<MemoryAdvice>, usize) {
    let mut groups: BTreeMap<(Option<&str>, &str), Vec<&MemoryUse>> = BTreeMap::new();
    for job in uses {
        groups.entry((job.user.as_deref(), &job.name)).or_default().push(job);
    }
    let few = groups.values().map(Vec::len).filter(|&jobs| jobs < MIN_JOBS).sum();
    let mut advice: Vec<MemoryAdvice> =
        groups.values().filter(|jobs| jobs.len() >= MIN_JOBS).filter_map(|jobs| of_group(jobs)).collect();
    // The sort is stable, so groups with equal savings stay in the order of user and name.
    advice.sort_by(|a, b| b.saved.total_cmp(&a.saved));
    (advice, few)
}

fn of_group(jobs: &[&MemoryUse]) -> Option<MemoryAdvice> {
    let run = |job: &&MemoryUse| MemoryRun { peak: job.needed, inputs: None, is_killed: job.needs_more };
    let runs: Vec<MemoryRun> = jobs[jobs.len().saturating_sub(RECENT)..].iter().map(run).collect();
    let predicted = MemoryModel::of(&runs, MemoryBasis::LikeCommands, ExcessRule::Kill)?.predict(None);
    let used = contains_share(jobs.iter().map(|job| job.peak));
    let least = contains_share(jobs.iter().map(|job| job.needed)).div_ceil(STEP) * STEP;
    let killed = jobs.iter().filter(|job| job.is_killed).count();
    let mut amounts: Vec<u64> = jobs.iter().filter_map(|job| job.stated).collect();
    amounts.sort_unstable();
    let stated = amounts.get(amounts.len() / 2).copied();
    let limit = stated.filter(|_| killed == 0).unwrap_or(u64::MAX);
    let mut advised = predicted.min(limit).max(least);
    let (reserved, mut saved) = savings(jobs, advised);
    let mut is_unchanged = Some(advised) == stated;
    if let Some(stated) = stated.filter(|&stated| killed == 0 && advised <= stated && saved <= 0.0) {
        (advised, saved, is_unchanged) = (stated, 0.0, true);
    }
    let (user, name) = (jobs[0].user.clone(), jobs[0].name.clone());
    Some(MemoryAdvice { user, name, jobs: jobs.len(), killed, stated, used, advised, is_unchanged, reserved, saved })
}

/// Returns the amount of rank `⌈0.95 n⌉` of `n` amounts. There must be an amount.
fn contains_share(amounts: impl Iterator<Item = u64>) -> u64 {
    let mut sorted: Vec<u64> = amounts.collect();
    sorted.sort_unstable();
    sorted[(sorted.len() * MEMORY_SHARE).div_ceil(100) - 1]
}

/// Returns the GiB hours that jobs with stated amounts reserved, and the GiB hours that an advised amount would save.
fn savings(jobs: &[&MemoryUse], advised: u64) -> (f64, f64) {
    let (mut reserved, mut saved) = (0.0, 0.0);
    for job in jobs {
        let Some(stated) = job.stated else { continue };
        let (before, after) = (gib_hours(stated, job.seconds), gib_hours(advised, job.seconds));
        reserved += before;
        saved += if job.needed <= advised { before - after } else { -after };
    }
    (reserved, saved)
}

/// Returns the product of an amount in bytes and a time in seconds, in GiB hours.
fn gib_hours(bytes: u64, seconds: f64) -> f64 {
    const GIB: f64 = (1_u64 << 30) as f64;
    bytes as f64 / GIB * seconds / 3600.0
}
