//! Changes of a queue for what-if questions.

use std::collections::HashSet;

use super::{Queue, QueueJob, SlurmReservation};
use crate::text::compress;

/// A change of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueChange {
    /// Another time limit of a job, or of all tasks of an array.
    Limit {
        /// The job as Slurm shows it, or the number of an array.
        job: String,
        /// The time limit in seconds.
        seconds: u64,
    },
    /// The highest priority for a pending job, or for all pending tasks of an array.
    Top {
        /// The job as Slurm shows it, or the number of an array.
        job: String,
    },
    /// Other limits of a QOS on the number of jobs that run at the same time.
    QosJobs {
        /// The name of the QOS.
        qos: String,
        /// The change.
        jobs: NumberChange,
    },
    /// A period in which nodes start no jobs, and before which they start only jobs that end in time.
    Closed {
        /// The name of the reservation.
        name: String,
        /// The nodes. Empty for all nodes.
        nodes: Vec<String>,
        /// The start in seconds since 1970.
        start: i64,
        /// The end in seconds since 1970, or `None` if the nodes do not come back.
        end: Option<i64>,
    },
}

/// A new number, or a difference from the present number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberChange {
    /// The new number.
    To(u64),
    /// The number that is added.
    More(u64),
    /// The number that is subtracted. The result is at least 0.
    Fewer(u64),
}

impl NumberChange {
    fn applied(self, present: u64) -> u64 {
        match self {
            Self::To(all) => all,
            Self::More(more) => present.saturating_add(more),
            Self::Fewer(fewer) => present.saturating_sub(fewer),
        }
    }
}

/// Duration, in seconds, of a period without an end: ten years.
pub(super) const FOR_GOOD: i64 = 10 * 365 * 86_400;

impl Queue {
    /// Applies a change.
    ///
    /// # Errors
    /// A sentence with a remedy, if the change names something that the queue does not have, or changes nothing.
    pub fn change(&mut self, change: &QueueChange) -> Result<(), String> {
        match change {
            QueueChange::Limit { job, seconds } => self.set_limit(job, *seconds),
            QueueChange::Top { job } => self.put_on_top(job),
            QueueChange::QosJobs { qos, jobs } => self.set_qos_jobs(qos, *jobs),
            QueueChange::Closed { name, nodes, start, end } => self.close(name, nodes, *start, *end),
        }
    }

    /// Returns the jobs with this number. The number of an array means all its tasks.
    fn named(&self, name: &str) -> Result<Vec<usize>, String> {
        let is = |job: &QueueJob| {
            job.shown == name
                || job.id.to_string() == name
                || job.array.is_some_and(|member| member.array.to_string() == name)
        };
        let found: Vec<usize> = (0..self.jobs.len()).filter(|&job| is(&self.jobs[job])).collect();
        if found.is_empty() {
            let some: Vec<&str> = self.jobs.iter().rev().take(3).map(|job| job.shown.as_str()).collect();
            let such = if some.is_empty() {
                String::new()
            } else {
                format!("; the queue has jobs such as {}", some.join(", "))
            };
            return Err(format!("the queue has no pending or running job {name}{such}"));
        }
        Ok(found)
    }

    fn set_limit(&mut self, name: &str, seconds: u64) -> Result<(), String> {
        let now = self.now;
        for index in self.named(name)? {
            let job = &mut self.jobs[index];
            if let Some(run) = &mut job.run {
                let end = run.started.saturating_add_unsigned(seconds);
                if end <= now {
                    let ran = now.saturating_sub(run.started).unsigned_abs().div_ceil(60);
                    return Err(format!("job {} has already run for {ran} min; state a longer limit", job.shown));
                }
                run.ends_by = Some(end);
            }
            job.limit = Some(seconds);
            job.request.min_time = job.request.min_time.filter(|&least| least < seconds);
        }
        Ok(())
    }

    fn put_on_top(&mut self, name: &str) -> Result<(), String> {
        let named = self.named(name)?;
        let waits: Vec<usize> = named.into_iter().filter(|&job| self.jobs[job].run.is_none()).collect();
        let Some(&first) = waits.first() else {
            return Err(format!("job {name} runs, so its priority has no effect; name a pending job"));
        };
        if waits.iter().all(|&job| self.jobs[job].is_held) {
            let id = self.jobs[first].id;
            return Err(format!(
                "job {name} is held, so its priority has no effect; release it first: scontrol release {id}"
            ));
        }
        let top = self.jobs.iter().filter(|job| job.run.is_none()).map(|job| job.priority).max().unwrap_or(0);
        for job in waits {
            // The fair share adds at most its weight to the priority of another job.
            self.jobs[job].priority = top.saturating_add(1 + u64::from(self.fair_share_weight()));
        }
        Ok(())
    }

    fn set_qos_jobs(&mut self, name: &str, jobs: NumberChange) -> Result<(), String> {
        if self.qos.is_empty() {
            return Err("no QOS is known; save the output of `sacctmgr -P show qos` as sacctmgr.qos.txt".to_owned());
        }
        let names: Vec<String> = self.qos.iter().map(|qos| qos.name.clone()).collect();
        let mut found = self.qos.iter_mut().filter(|qos| qos.name == name).peekable();
        if found.peek().is_none() {
            return Err(format!("there is no QOS {name}; the cluster has {}", names.join(", ")));
        }
        let mut is_limited = false;
        for qos in found {
            for limits in [&mut qos.all, &mut qos.each_user, &mut qos.each_account] {
                if let Some(most) = &mut limits.jobs {
                    *most = jobs.applied(*most);
                    is_limited = true;
                }
            }
        }
        match (is_limited, jobs) {
            (true, _) => Ok(()),
            (false, NumberChange::To(most)) => {
                self.qos.iter_mut().filter(|qos| qos.name == name).for_each(|qos| qos.all.jobs = Some(most));
                Ok(())
            }
            (false, _) => Err(format!(
                "QOS {name} does not limit the number of running jobs, so nothing changes; to set a limit of 4, write \
                 jobs=4"
            )),
        }
    }

    fn close(&mut self, name: &str, nodes: &[String], start: i64, end: Option<i64>) -> Result<(), String> {
        let known: HashSet<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
        if let Some(unknown) = nodes.iter().find(|name| !known.contains(name.as_str())) {
            let there = compress(self.nodes.iter().map(|node| node.name.as_str()));
            return Err(format!("there is no node {unknown}; the nodes are {there}"));
        }
        if start < self.now || end.is_some_and(|end| end <= start) {
            return Err("the period must not begin in the past, and must end after its beginning".to_owned());
        }
        let taken = |name: &String| self.reservations.iter().any(|kept| kept.name == *name);
        let names = std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name}-{number}")));
        let name = names.into_iter().find(|name| !taken(name)).unwrap_or_else(|| name.to_owned());
        let all = || self.nodes.iter().map(|node| node.name.clone()).collect();
        self.reservations.push(SlurmReservation {
            name,
            start,
            end: end.unwrap_or_else(|| start.saturating_add(FOR_GOOD)),
            nodes: if nodes.is_empty() { all() } else { nodes.to_vec() },
            is_partial: false,
            flags: vec!["MAINT".into(), "IGNORE_JOBS".into()],
            users: Vec::new(),
            accounts: Vec::new(),
            licences: Vec::new(),
        });
        Ok(())
    }

    /// Returns true if an expected start is after a period without an end ([`QueueChange::Closed`]): the job can never
    /// start.
    pub fn is_never(&self, start: i64) -> bool {
        start.saturating_sub(self.now) >= FOR_GOOD / 2
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{ClusterOutput, Qos, Texts};
    use super::*;

    fn queue() -> Queue {
        let node = |at: u32| format!("NodeName=n{at} CPUTot=4 State=IDLE Partitions=p\n");
        let job = |id: u32, state: &str, more: &str| {
            format!(
                "JobId={id} JobName=j UserId=u(1) Priority={} JobState={state} SubmitTime=1000 TimeLimit=00:10:00 Partition=p {more}\n",
                100 - id
            )
        };
        let jobs = job(1, "RUNNING", "StartTime=1000 RunTime=00:01:00 NumNodes=1 NumCPUs=2 NodeList=n0")
            + &job(2, "PENDING", "NumNodes=1-1 NumCPUs=1 TimeMin=00:05:00")
            + &job(3, "PENDING", "NumNodes=1-1 NumCPUs=1 ArrayJobId=3 ArrayTaskId=1-4")
            + &job(4, "PENDING", "NumNodes=1-1 NumCPUs=1 Reason=JobHeldUser").replace("Priority=96", "Priority=0");
        let texts = Texts::default().with(ClusterOutput::Nodes, node(0) + &node(1)).with(ClusterOutput::Jobs, jobs);
        let mut queue = texts.queue(Some(1060)).unwrap();
        let mut qos = Qos { name: "high".into(), ..Qos::default() };
        qos.each_user.jobs = Some(3);
        queue.qos = vec![qos, Qos { name: "free".into(), ..Qos::default() }];
        queue
    }

    fn top(job: &str) -> QueueChange {
        QueueChange::Top { job: job.into() }
    }

    #[test]
    fn changes_that_change_nothing_are_refused_with_a_remedy() {
        let limit = |job: &str, seconds| QueueChange::Limit { job: job.into(), seconds };
        let jobs = |qos: &str, jobs| QueueChange::QosJobs { qos: qos.into(), jobs };
        let closed = |nodes: &[&str], start, end| QueueChange::Closed {
            name: "m".into(),
            nodes: nodes.iter().map(|&name| name.into()).collect(),
            start,
            end,
        };
        for (change, part) in [
            (limit("9", 60), "no pending or running job 9; the queue has jobs such as 4"),
            (limit("1", 30), "has already run for 1 min; state a longer limit"),
            (top("1"), "job 1 runs"),
            (top("4"), "scontrol release 4"),
            (jobs("low", NumberChange::More(1)), "the cluster has high, free"),
            (jobs("free", NumberChange::More(1)), "write jobs=4"),
            (closed(&["n7"], 2000, None), "the nodes are n[0-1]"),
            (closed(&["n1"], 1000, None), "in the past"),
            (closed(&["n1"], 2000, Some(2000)), "after its beginning"),
        ] {
            let mut changed = queue();
            let error = changed.change(&change).unwrap_err();
            assert!(error.contains(part), "{change:?}: {error}");
            assert_eq!(changed, queue(), "{change:?}");
        }
        let mut queue = queue();
        queue.qos.clear();
        assert!(queue.change(&jobs("high", NumberChange::To(1))).unwrap_err().contains("sacctmgr.qos.txt"));
    }

    proptest! {
        #[test]
        fn limits_priorities_and_counts_are_as_stated(seconds in 120_u64..100_000, count in 0_u64..9, kind in 0_usize..3) {
            let mut changed = queue();
            changed.change(&QueueChange::Limit { job: "3".into(), seconds }).unwrap();
            let tasks: Vec<&QueueJob> = changed.jobs.iter().filter(|job| job.id == 3).collect();
            prop_assert!(tasks.len() == 4 && tasks.iter().all(|job| job.limit == Some(seconds)));
            changed.change(&QueueChange::Limit { job: "1".into(), seconds }).unwrap();
            prop_assert_eq!(changed.jobs[0].run.as_ref().unwrap().ends_by, Some(1000 + seconds as i64));
            changed.change(&QueueChange::Limit { job: "2".into(), seconds }).unwrap();
            prop_assert_eq!(changed.jobs[1].request.min_time, Some(300).filter(|&least| least < seconds));
            changed.change(&top("3_2")).unwrap();
            let first = changed.jobs.iter().max_by_key(|job| job.priority).unwrap();
            prop_assert_eq!(&first.shown, "3_2");
            let jobs = [NumberChange::To(count), NumberChange::More(count), NumberChange::Fewer(count)][kind];
            changed.change(&QueueChange::QosJobs { qos: "high".into(), jobs }).unwrap();
            prop_assert_eq!(changed.qos[0].each_user.jobs, Some([count, 3 + count, 3_u64.saturating_sub(count)][kind]));
            prop_assert_eq!(changed.qos[0].all.jobs, None);
        }
    }
}
