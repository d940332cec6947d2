//! The priority of a job that is not submitted yet, from the factors of the cluster's multifactor priority.

use super::{Queue, QueueJob};
use crate::OptionalLimit;
use crate::text::duration;

/// The weights of the factors that can be computed, from the cluster's settings.
struct PriorityWeights {
    age: f64,
    size: f64,
    partition: f64,
    fair_share: f64,
    /// The age in seconds at which the age factor is 1.
    max_age: f64,
    favors_small: bool,
}

impl Queue {
    /// Returns the weights of the multifactor priority. Returns `None` if the cluster uses another priority, or if the
    /// size factor depends on time limits.
    fn priority_weights(&self) -> Option<PriorityWeights> {
        if !self.has_priority("multifactor")
            || self.config.get("PriorityFlags").unwrap_or_default().contains("SMALL_RELATIVE_TO_TIME")
        {
            return None;
        }
        let weight = |name: &str| self.config.number(name).and_then(OptionalLimit::value).unwrap_or(0) as f64;
        let max_age = self.config.get("PriorityMaxAge").and_then(duration).and_then(OptionalLimit::value);
        Some(PriorityWeights {
            age: weight("PriorityWeightAge"),
            size: weight("PriorityWeightJobSize"),
            partition: weight("PriorityWeightPartition"),
            fair_share: f64::from(self.fair_share_weight()),
            max_age: max_age.filter(|&age| age > 0).unwrap_or(7 * 86_400) as f64,
            favors_small: self.config.get("PriorityFavorSmall").is_some_and(|text| text.eq_ignore_ascii_case("yes")),
        })
    }

    /// Returns the priority that a new job gets when it is submitted. The priority is derived from the priority of a
    /// similar pending job: the factors in which the two jobs differ are exchanged. Factors of the QOS and of the
    /// account are equal for both jobs. Returns `None` if a factor is unknown.
    pub(super) fn priority_by_factors(&self, new: &QueueJob) -> Option<u64> {
        let weights = self.priority_weights()?;
        let is_alike = |job: &&QueueJob| {
            job.run.is_none() && !job.is_held && job.qos == new.qos && job.account == new.account && job.priority > 1
        };
        // Prefer a job of the user, because its fair share needs no data.
        let mut alike: Vec<&QueueJob> = self.jobs.iter().filter(is_alike).collect();
        alike.sort_by_key(|job| (job.user != new.user, job.partitions != new.partitions, job.id));
        let own = self.factors(new, &weights, 0.0)?;
        alike.into_iter().find_map(|job| {
            let age = (self.now - job.eligible.or(job.submitted)?).max(0) as f64;
            let other = self.factors(job, &weights, age)?;
            let shares = if job.user == new.user || weights.fair_share <= 0.0 {
                0.0
            } else {
                weights.fair_share * (self.fair_share_of(new)?.factor - self.fair_share_of(job)?.factor)
            };
            Some((job.priority as f64 + own - other + shares).max(1.0) as u64)
        })
    }

    /// Returns the sum of the weighted factors of a job that has waited for `age` seconds, without the fair share.
    fn factors(&self, job: &QueueJob, weights: &PriorityWeights, age: f64) -> Option<f64> {
        let highest = f64::from(self.partitions.iter().map(partition_factor).max().unwrap_or(0).max(1));
        let own = self.partition(job.partitions.first()?)?;
        let (nodes, cpus) = (self.nodes.len().max(1) as f64, self.all_cpus().max(1) as f64);
        let shares = (job.request.min_nodes as f64 / nodes).midpoint(job.request.all_cpus() as f64 / cpus);
        let size = if weights.favors_small { 1.0 - shares } else { shares };
        Some(
            weights.age * (age / weights.max_age).min(1.0)
                + weights.size * size.clamp(0.0, 1.0)
                + weights.partition * (f64::from(partition_factor(own)) / highest),
        )
    }

    fn all_cpus(&self) -> u64 {
        self.nodes.iter().map(|node| u64::from(node.usable_cpus)).sum()
    }
}

/// Returns the factor by which a partition raises the priorities of its jobs.
pub(super) fn partition_factor(partition: &crate::Partition) -> u32 {
    partition.record.get("PriorityJobFactor").and_then(|text| text.parse().ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{ClusterOutput, NewJob, Texts};

    #[test]
    fn a_new_job_comes_last_if_jobs_are_ordered_by_submission() {
        let job = |(id, user, priority): (u32, &str, u32)| {
            format!(
                "JobId={id} JobName=j UserId={user}(1) Account=a QOS=normal Priority={priority} JobState=PENDING \
                 SubmitTime=1 EligibleTime=1 TimeLimit=00:10:00 Partition=p NumNodes=1-1 NumCPUs=1 MinCPUsNode=1\n"
            )
        };
        let jobs: String = [(1, "ann", 900), (2, "bob", 700), (3, "ann", 800), (4, "bob", 0)].map(job).concat();
        for (kind, expected) in [("basic", 699), ("multifactor", 800)] {
            let queue = Texts::default()
                .with(ClusterOutput::Nodes, "NodeName=n0 CPUTot=4 State=IDLE Partitions=p\n")
                .with(ClusterOutput::Partitions, "PartitionName=p State=UP Nodes=n0 PriorityJobFactor=7\n")
                .with(ClusterOutput::Jobs, jobs.clone())
                .with(
                    ClusterOutput::Config,
                    format!("PriorityType = priority/{kind}\nPriorityFlags = SMALL_RELATIVE_TO_TIME\n"),
                )
                .queue(Some(1_000))
                .unwrap();
            let (new, _) = NewJob::of_words("nodes=1 time=10 partition=p user=ann account=a qos=normal").unwrap();
            let (changed, own, remarks) = queue.with_new_job(&new).unwrap();
            assert_eq!(changed.jobs[own[0]].priority, expected, "{remarks:?}");
        }
    }

    proptest! {
        /// Checks that the priority of a new job is the priority of an equal pending job, without the age of that job.
        #[test]
        fn a_new_job_has_the_priority_of_an_equal_job_without_age(
            age in 0_i64..200_000,
            weights in (0_u32..5000, 0_u32..5000, 0_u32..5000),
            (nodes, cpus) in (1_u64..4, 1_u64..5),
        ) {
            let (by_age, by_size, by_partition) = weights;
            let (now, count) = (1_000_000, nodes * cpus);
            let size = (nodes as f64 / 4.0).midpoint(count as f64 / 16.0);
            let base = f64::from(by_size) * size + f64::from(by_partition);
            let old = base + f64::from(by_age) * (age as f64 / 86_400.0).min(1.0) + 500.0;
            let job = format!(
                "JobId=1 JobName=j UserId=ann(1) Account=a QOS=normal Priority={} JobState=PENDING SubmitTime={} EligibleTime={} \
                 TimeLimit=00:10:00 Partition=p NumNodes={nodes}-{nodes} NumCPUs={count} MinCPUsNode=1\n",
                old as u64, now - age, now - age,
            );
            let node = |at: u32| format!("NodeName=n{at} CPUTot=4 State=IDLE Partitions=p\n");
            let queue = Texts::default()
                .with(ClusterOutput::Nodes, (0..4).map(node).collect::<String>())
                .with(ClusterOutput::Partitions, "PartitionName=p State=UP Nodes=n[0-3] PriorityJobFactor=7\n")
                .with(ClusterOutput::Jobs, job)
                .with(ClusterOutput::Config, format!(
                    "PriorityType = priority/multifactor\nPriorityMaxAge = 1-00:00:00\nPriorityWeightAge = {by_age}\n\
                     PriorityWeightJobSize = {by_size}\nPriorityWeightPartition = {by_partition}\n"
                ))
                .queue(Some(now))
                .unwrap();
            let words = format!("nodes={nodes} ntasks={count} time=10 partition=p user=ann account=a qos=normal");
            let (new, _) = NewJob::of_words(&words).unwrap();
            let (changed, own, _) = queue.with_new_job(&new).unwrap();
            let found = changed.jobs[own[0]].priority;
            prop_assert!(found.abs_diff((base + 500.0) as u64) <= 1, "{found} {base}");
        }
    }
}
