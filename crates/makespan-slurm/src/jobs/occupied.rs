//! The periods in which jobs in the queue of a cluster use processors.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use makespan_core::{Platform, ProcSet, Time, Unavailable};

use super::set;
use crate::{Job, JobState, OptionalLimit};

/// Maximum number of pending jobs to consider, in the order of their priorities.
const MOST: usize = 200;

/// Assumed run time of a job without a time limit, in seconds.
const LONG: u64 = 24 * 3600;

/// The estimated future of the queue of a cluster. Times are in seconds from now.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueOutlook {
    /// The periods in which jobs use processors.
    pub periods: Vec<Unavailable>,
    /// The expected start of each pending job, by the id of the job.
    pub starts: HashMap<u64, u64>,
    /// For each processor, the instant from which no job in the queue uses the processor.
    pub free: Vec<u64>,
}

impl QueueOutlook {
    /// Estimates when jobs use processors. Running jobs use their processors until their limits. Each pending job uses
    /// the processors that become free first.
    pub fn of(platform: &Platform, jobs: &[Job]) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let mut outlook = Self { free: vec![0; platform.processors() as usize], ..Self::default() };
        let node_of = |name: &str| platform.nodes().iter().position(|node| node.name == name);
        for job in jobs.iter().filter(|job| job.state.holds_nodes()) {
            let end = job.end.and_then(|end| u64::try_from(end).ok()).filter(|&end| end > now);
            let left =
                end.map_or(if job.state == JobState::Completing { 1 } else { LONG }, |end| end - now).min(LONG * 365);
            let mut held = ProcSet::new();
            for name in &job.nodes {
                let Some(node) = node_of(name) else { continue };
                let own = platform.processors_of(node);
                let first = own.iter().next().unwrap_or(0);
                let share = job.shares.iter().find(|share| share.nodes.contains(name));
                // If the processors are unknown, the job may hold all of them.
                let here = share.map_or_else(|| own.clone(), |share| set(share.cpus.iter().map(|cpu| first + cpu)));
                held.insert(&here.intersection(&own));
            }
            let free = &mut outlook.free;
            held.iter().for_each(|id| free[id as usize] = free[id as usize].max(left));
            outlook.periods.extend(period(held, 0, left));
        }
        let mut waiting: Vec<&Job> =
            jobs.iter().filter(|job| job.state.is_waiting() && !job.is_held() && job.dependency.is_none()).collect();
        waiting.sort_by_key(|job| (Reverse(job.priority), job.id));
        for job in waiting.into_iter().take(MOST) {
            let count = job.cpus.unwrap_or(1).max(job.node_count.0).max(1);
            let (start, ids) = outlook.append(count, length(job));
            outlook.starts.insert(job.id, start);
            outlook.periods.extend(period(ids, start, start + length(job)));
        }
        outlook
    }

    /// Returns the expected start of a job with this number of processors behind all jobs in the queue. Returns `None` if
    /// the cluster has too few processors.
    pub fn start_behind(&self, count: usize) -> Option<u64> {
        let mut free = self.free.clone();
        free.sort_unstable();
        free.get(count.max(1) - 1).copied()
    }

    /// Adds a job behind all jobs in the queue. Returns its expected start and its processors.
    pub fn append(&mut self, count: u64, length: u64) -> (u64, ProcSet) {
        let free = &mut self.free;
        let mut ids: Vec<u32> = (0..free.len() as u32).collect();
        ids.sort_by_key(|&id| free[id as usize]);
        ids.truncate(count.min(free.len() as u64) as usize);
        let start = ids.last().map_or(0, |&id| free[id as usize]);
        ids.iter().for_each(|&id| free[id as usize] = start + length);
        (start, set(ids.into_iter()))
    }
}

/// Returns the time limit of a job in seconds.
pub(super) fn length(job: &Job) -> u64 {
    job.time_limit.and_then(OptionalLimit::value).unwrap_or(LONG).clamp(1, LONG * 365)
}

/// Estimates the periods in which other jobs use processors (`QueueOutlook`). Instant 0 is now.
pub fn occupied(platform: &Platform, jobs: &[Job]) -> Vec<Unavailable> {
    QueueOutlook::of(platform, jobs).periods
}

fn period(processors: ProcSet, start: u64, end: u64) -> Option<Unavailable> {
    // Limit times to an instant after every plan, to avoid overflow.
    let time = |seconds: u64| Time::from_seconds(i64::try_from(seconds.min(LONG * 3650)).unwrap_or(0));
    let (start, end) = (time(start), time(end));
    (!processors.is_empty() && start < end).then_some(Unavailable { processors, start, end })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, records};

    #[test]
    fn what_runs_and_what_waits_is_occupied() {
        let text = "JobId=7 JobName=a JobState=RUNNING NodeList=n1 NumNodes=1 NumCPUs=2 EndTime=2100-01-01T00:00:00 Nodes=n1 CPU_IDs=1-2 Mem=0 GRES=\n\
            JobId=8 JobName=b JobState=PENDING Reason=Resources Priority=5 NumNodes=1 NumCPUs=7 TimeLimit=00:10:00\n";
        let jobs: Vec<Job> = records(Kind::Job, text).0.into_iter().map(|record| Job::of(record).unwrap()).collect();
        let nodes = ["n0", "n1"].map(|name| makespan_core::Node::new(name, 4));
        let platform = Platform::new(nodes.to_vec()).unwrap();
        let periods = occupied(&platform, &jobs);
        assert_eq!(periods.len(), 2);
        assert_eq!((periods[0].processors.to_string(), periods[0].start), ("5-6".to_owned(), Time::ZERO));
        assert_eq!(periods[1].processors.len(), 7, "it waits for one of them");
        assert_eq!(periods[1].start, periods[0].end);
    }
}
