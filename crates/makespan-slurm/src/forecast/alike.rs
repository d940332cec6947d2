//! Groups of similar jobs, such as the tasks of an array. If a job of a group cannot start in a scheduling cycle, no
//! later job of the group can start in this cycle.

use std::collections::HashMap;

use super::bid::JobCandidate;
use super::counters::Counter;
use crate::queue::Queue;

/// The key of a group: the amounts that a job adds to each counter. If a counter depends on the time limit, the key
/// also contains the job's time limit in minutes.
type Counted<'a> = (&'a [(usize, u64)], Option<u64>);

/// Groups of similar jobs.
#[derive(Debug, Default)]
pub(super) struct SimilarJobs {
    /// For each job, the number of its group. All jobs of a group add equal amounts to the same counters.
    pub limits: Vec<usize>,
    /// The number of groups in `limits`.
    pub groups: usize,
    /// For each bid, the position of the next bid with another partition or another group.
    pub next: Vec<u32>,
}

impl SimilarJobs {
    pub(super) fn of(queue: &Queue, uses: &[Vec<(usize, u64)>], counters: &[Counter], bids: &[JobCandidate]) -> Self {
        let mut groups: HashMap<Counted<'_>, usize> = HashMap::new();
        let mut alike = Self::default();
        for (job, uses) in queue.jobs.iter().zip(uses) {
            let falls = uses.iter().any(|own| counters[own.0].falls);
            let next = groups.len();
            let key = (uses.as_slice(), if falls { job.minutes() } else { None });
            alike.limits.push(*groups.entry(key).or_insert(next));
        }
        alike.groups = groups.len();
        alike.next = vec![bids.len() as u32; bids.len()];
        let group = |bid: &JobCandidate| (bid.partition, alike.limits[bid.job]);
        for at in (1..bids.len()).rev() {
            let is_alike = group(&bids[at - 1]) == group(&bids[at]);
            alike.next[at - 1] = if is_alike { alike.next[at] } else { at as u32 };
        }
        alike
    }
}
