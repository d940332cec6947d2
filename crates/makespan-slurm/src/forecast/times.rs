//! Run times of jobs, learned from jobs that ended.

use std::collections::HashMap;

use makespan_core::remaining_after;

use super::usual::USUAL;
use crate::queue::{PastRun, Queue, QueueJob, without_numbers};

/// The source of a run-time prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredictionSource {
    /// Ended runs of the same user with the same name. If there are fewer than 3, ended runs of the same user with
    /// similar names: only their digits differ. Contains the number of these runs.
    Name(usize),
    /// Ended jobs of the same user, by the fractions of their limits that they used. Contains the number of these
    /// jobs.
    User(usize),
    /// Ended jobs of all users, by the fractions of their limits that they used. Contains the number of these jobs.
    Anybody(usize),
    /// Jobs of public logs, because no ended job of this cluster is known.
    Usual,
    /// The time limit of the job, because its run time is unknown.
    Limit,
}

/// The source of run-time predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RunTimes {
    /// Ended jobs of this cluster. If there are none, [`Usual`](Self::Usual) is used instead.
    #[default]
    Learned,
    /// The fractions of time limits that jobs of public logs used.
    Usual,
    /// The time limit of each job.
    Limits,
}

/// The run times and fractions of limits from which the run time of one job is predicted.
#[derive(Clone, Debug)]
pub(super) struct JobRunTimes {
    /// Run times of similar jobs in seconds, in ascending order.
    pub own: std::sync::Arc<[i64]>,
    /// Fractions of limits that other jobs used, in ascending order.
    pub others: std::sync::Arc<[f64]>,
    /// Fractions of limits that jobs of public logs used, in ascending order. All together have the weight of one job
    /// in `others`.
    pub usual: &'static [f64],
    pub limit: i64,
    /// The time, in seconds, of which the fractions are parts: the limit, or [`TYPICAL_LIMIT`] without a limit.
    pub whole: i64,
    pub known: PredictionSource,
    /// The number of the job's group. The jobs of a group have the same user and the same or similar names.
    pub name: usize,
    /// The number of the job's user.
    pub user: usize,
}

/// The distribution of the run time of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct RunTimeDistribution {
    /// Run times in seconds with their weights, in ascending order.
    values: Vec<(i64, f64)>,
}

impl RunTimeDistribution {
    /// Returns the smallest run time, in seconds, such that at least this share of all weights belongs to run times up to
    /// this one.
    pub fn quantile(&self, share: f64) -> i64 {
        let wanted = share * self.values.iter().map(|value| value.1).sum::<f64>();
        let mut sum = 0.0;
        let found = self.values.iter().find(|value| {
            sum += value.1;
            sum >= wanted
        });
        found.or(self.values.last()).map_or(0, |value| value.0)
    }
}

/// The run times of ended jobs, from which the run times of all jobs are predicted.
#[derive(Default)]
pub(super) struct KnownRunTimes {
    /// Run times in seconds, in ascending order, by user and name, and by user and the name that [`without_numbers`] returns.
    by_name: HashMap<(String, String), std::sync::Arc<[i64]>>,
    by_user: HashMap<String, std::sync::Arc<[f64]>>,
    all: std::sync::Arc<[f64]>,
    usual: &'static [f64],
}

/// Maximum number of known runs in a group. More runs would not improve the predictions.
const ENOUGH: usize = 500;
/// Minimum number of runs with the same name that replace the runs with similar names.
pub const SAME_NAME: usize = 3;
/// The time limit that is assumed for a job without one, in seconds.
pub(super) const FOR_EVER: i64 = 365 * 86_400;
/// If a job is predicted to start later than this time from now, in seconds, it waits for a job without a time limit.
pub(super) const LATE: i64 = FOR_EVER / 2;
/// The time limit, in seconds, from which the run time of a job without a limit is predicted if no run of similar jobs is
/// known: a day.
const TYPICAL_LIMIT: i64 = 86_400;

impl KnownRunTimes {
    pub(super) fn of(queue: &Queue, from: RunTimes) -> Self {
        match from {
            RunTimes::Learned => Self::of_past(queue),
            RunTimes::Usual => Self { usual: &USUAL, ..Self::default() },
            RunTimes::Limits => Self::default(),
        }
    }

    fn of_past(queue: &Queue) -> Self {
        let mut by_name: HashMap<(String, String), Vec<i64>> = HashMap::new();
        let mut by_user: HashMap<String, Vec<f64>> = HashMap::new();
        let mut all = Vec::new();
        // If there are too many runs, keep the latest ones.
        let mut runs: Vec<&PastRun> = queue.past.iter().collect();
        runs.sort_by_key(|run| std::cmp::Reverse(run.id));
        let keep = |list: &mut Vec<f64>, part| {
            if list.len() < ENOUGH {
                list.push(part)
            }
        };
        for run in runs {
            let seconds = i64::try_from(run.seconds).unwrap_or(FOR_EVER).min(FOR_EVER);
            let similar = without_numbers(&run.name);
            let same = (similar != run.name).then(|| run.name.clone());
            for name in same.into_iter().chain([similar]) {
                let own = by_name.entry((run.user.clone(), name)).or_default();
                if own.len() < ENOUGH {
                    own.push(seconds);
                }
            }
            if let Some(limit) = run.limit.filter(|&limit| limit > 0) {
                let part = (run.seconds as f64 / limit as f64).min(1.0);
                keep(by_user.entry(run.user.clone()).or_default(), part);
                keep(&mut all, part);
            }
        }
        let sorted = |mut list: Vec<i64>| {
            list.sort_unstable();
            list.into()
        };
        Self {
            by_name: by_name.into_iter().map(|(key, list)| (key, sorted(list))).collect(),
            by_user: by_user.into_iter().map(|(key, list)| (key, ascending(list))).collect(),
            all: ascending(all),
            usual: &USUAL,
        }
    }

    /// Returns, for each job, the data from which its run time is predicted.
    pub(super) fn of_jobs(&self, jobs: &[QueueJob]) -> Vec<JobRunTimes> {
        let mut names: HashMap<(String, String), usize> = HashMap::new();
        let mut users: HashMap<&str, usize> = HashMap::new();
        let mut all = Vec::with_capacity(jobs.len());
        for job in jobs {
            let (next_name, next_user) = (names.len(), users.len());
            let group = self.group(job);
            let own = self.by_name.get(&group).cloned().unwrap_or_default();
            let name = *names.entry(group).or_insert(next_name);
            let user = *users.entry(&job.user).or_insert(next_user);
            all.push(JobRunTimes { name, user, ..self.of_job(job, own) });
        }
        all
    }

    /// Returns the user of a job, and the name under which the job's similar runs are known.
    fn group(&self, job: &QueueJob) -> (String, String) {
        let same = (job.user.clone(), job.name.clone());
        if self.by_name.get(&same).is_some_and(|runs| runs.len() >= SAME_NAME) {
            same
        } else {
            (same.0, without_numbers(&job.name))
        }
    }

    fn of_job(&self, job: &QueueJob, own: std::sync::Arc<[i64]>) -> JobRunTimes {
        let of_user = self.by_user.get(&job.user).filter(|list| list.len() >= 3);
        // If a job has no limit, the fractions that jobs of this cluster used cannot be used.
        let (others, usual) = match job.limit {
            Some(_) => (of_user.unwrap_or(&self.all).clone(), self.usual),
            None if own.is_empty() => (std::sync::Arc::default(), self.usual),
            None => Default::default(),
        };
        let whole = job.limit.map_or(TYPICAL_LIMIT, |_| limit(job));
        let known = match (own.len(), others.len()) {
            (0, 0) if usual.is_empty() => PredictionSource::Limit,
            (0, 0) => PredictionSource::Usual,
            (0, count) if of_user.is_some() => PredictionSource::User(count),
            (0, count) => PredictionSource::Anybody(count),
            (count, _) => PredictionSource::Name(count),
        };
        JobRunTimes { own, others, usual, limit: limit(job), whole, known, name: 0, user: 0 }
    }
}

/// Returns the time limit of a job in seconds.
pub(super) fn limit(job: &QueueJob) -> i64 {
    job.limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(FOR_EVER).clamp(1, FOR_EVER)
}

pub(super) fn ascending(mut list: Vec<f64>) -> std::sync::Arc<[f64]> {
    list.sort_by(f64::total_cmp);
    list.into()
}

impl JobRunTimes {
    /// Returns the expected run time of a job that has already run for `ran` seconds, in seconds.
    pub(super) fn mean(&self, ran: i64) -> i64 {
        let own = longer(&self.own, ran);
        let (others, usual) = (self.beyond(&self.others, ran), self.beyond(self.usual, ran));
        let whole = self.whole as f64;
        // All public logs together have the weight of one other job. All other jobs together have the weight of one
        // run of similar jobs.
        let other = with_one_more(others.iter().sum(), others.len(), mean(usual)).map(|part| part * whole);
        let known = with_one_more(own.iter().sum::<i64>() as f64, own.len(), other);
        self.within(ran, known.map_or_else(|| self.unseen(ran), |known| known.round() as i64))
    }

    /// Returns the distribution of the run time of a job that has not started.
    pub(super) fn distribution(&self) -> RunTimeDistribution {
        let seconds = |part: f64| (part * self.whole as f64).round() as i64;
        let parts = self.others.len() + usize::from(!self.usual.is_empty());
        let part = 1.0 / parts.max(1) as f64;
        let own = self.own.iter().map(|&run| (run, 1.0));
        let others = self.others.iter().map(|&one| (seconds(one), part));
        let usual = self.usual.iter().map(|&one| (seconds(one), part / self.usual.len() as f64));
        let mut values: Vec<(i64, f64)> = own.chain(others).chain(usual).collect();
        if values.is_empty() {
            values.push((self.unseen(0), 1.0));
        }
        values.iter_mut().for_each(|value| value.0 = self.within(0, value.0));
        values.sort_unstable_by_key(|value| value.0);
        RunTimeDistribution { values }
    }

    pub(super) fn within(&self, ran: i64, seconds: i64) -> i64 {
        seconds.clamp(ran + 1, self.limit.max(ran + 1))
    }

    /// Returns the fractions of the limit that are longer than the elapsed time `ran`.
    pub(super) fn beyond<'a>(&self, parts: &'a [f64], ran: i64) -> &'a [f64] {
        // If the job is pending, every fraction is possible.
        let over = |&part: &f64| ran > 0 && part * self.whole as f64 <= ran as f64;
        &parts[parts.partition_point(over)..]
    }

    /// Returns the predicted run time of a job that has run longer than every known run. This is 5/4 of the elapsed
    /// time, up to the limit. If there are no known runs, returns the limit.
    pub(super) fn unseen(&self, ran: i64) -> i64 {
        match self.known {
            PredictionSource::Limit => self.limit.max(ran + 1),
            _ => (ran + remaining_after(ran)).min(self.limit.max(ran + 1)),
        }
    }
}

fn mean(list: &[f64]) -> Option<f64> {
    (!list.is_empty()).then(|| list.iter().sum::<f64>() / list.len() as f64)
}

/// Returns the mean of `count` values with the sum `sum`. If `more` is set, `more` is one more value.
fn with_one_more(sum: f64, count: usize, more: Option<f64>) -> Option<f64> {
    let all = count + usize::from(more.is_some());
    (all > 0).then(|| (sum + more.unwrap_or_default()) / all as f64)
}

/// Returns the values in `list` that are longer than the elapsed time `ran`.
pub(super) fn longer(list: &[i64], ran: i64) -> &[i64] {
    &list[list.partition_point(|&seconds| seconds <= ran)..]
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::queue::{ClusterOutput, Texts};

    pub fn times(own: &[i64], others: &[f64], limit: i64) -> JobRunTimes {
        let known = if own.is_empty() && others.is_empty() {
            PredictionSource::Limit
        } else {
            PredictionSource::Name(own.len())
        };
        JobRunTimes { own: own.into(), others: others.into(), usual: &[], limit, whole: limit, known, name: 0, user: 0 }
    }

    pub fn usual(own: &[i64], others: &[f64], limit: i64) -> JobRunTimes {
        JobRunTimes { usual: &USUAL, known: PredictionSource::Usual, ..times(own, others, limit) }
    }

    #[test]
    fn a_job_that_runs_is_as_long_as_those_that_ran_longer() {
        let known = times(&[10, 20, 60], &[], 100);
        assert_eq!((known.mean(0), known.mean(15), known.mean(30), known.mean(70)), (30, 40, 60, 87));
        assert_eq!((times(&[], &[], 100).mean(0), times(&[], &[], 100).mean(99)), (100, 100));
        assert_eq!(times(&[], &[0.1, 0.3], 100).mean(0), 20);
        assert_eq!(times(&[500], &[], 100).mean(0), 100, "nothing runs beyond its limit");
    }

    #[test]
    fn quantiles_have_the_weights_of_the_known_run_times() {
        // The fractions 0.1 and 0.3 together have the weight of one run.
        let all = times(&[10, 20], &[0.1, 0.3], 100).distribution();
        let quantiles = [0.0, 0.4, 0.6, 0.9, 1.0].map(|share| all.quantile(share));
        assert_eq!(quantiles, [10, 10, 20, 30, 30]);
        assert_eq!(times(&[], &[], 100).distribution().quantile(0.5), 100);
        assert_eq!(times(&[500], &[], 100).distribution().quantile(0.5), 100, "nothing runs beyond its limit");
        let usual = usual(&[], &[], 1000).distribution();
        let mean = (0..20).map(|at| usual.quantile((f64::from(at) + 0.5) / 20.0)).sum::<i64>() / 20;
        assert_eq!(mean, 445);
    }

    #[test]
    fn what_is_usual_counts_as_one_of_the_others_and_they_as_one_run() {
        // In public logs, jobs use 44.5 % of their limits on average. Jobs that use more than half of their limits use
        // 80 % on average.
        assert_eq!((usual(&[], &[], 1000).mean(0), usual(&[], &[], 1000).mean(500)), (445, 824));
        assert_eq!(usual(&[], &[0.1], 1000).mean(0), 273);
        assert_eq!(usual(&[10, 20], &[], 1000).mean(0), (10 + 20 + 445) / 3);
        assert_eq!(usual(&[10, 20], &[], 1000).mean(500), 824, "no known run took as long");
    }

    fn queue(past: &[(&str, u32)], pending: &[&str]) -> Queue {
        let job = |id: usize, name: &str, rest: String| {
            format!(
                "JobId={id} JobName={name} UserId=ann(1) Priority=1 SubmitTime=10 EligibleTime=10 TimeLimit=00:10:00 Partition=p \
                 NumNodes=1-1 NumCPUs=1 {rest}\n"
            )
        };
        let ended = past.iter().enumerate().map(|(at, &(name, seconds))| {
            let times = format!(
                "JobState=COMPLETED StartTime=100 EndTime={} RunTime=00:00:{seconds:02} NodeList=n0",
                100 + seconds
            );
            job(at + 1, name, times)
        });
        let pending = pending.iter().enumerate().map(|(at, name)| job(at + 500, name, "JobState=PENDING".into()));
        Texts::default()
            .with(ClusterOutput::Nodes, "NodeName=n0 CPUTot=4 State=IDLE Partitions=p\n")
            .with(ClusterOutput::Jobs, ended.chain(pending).collect::<String>())
            .queue(Some(1000))
            .unwrap()
    }

    #[test]
    fn three_runs_with_the_same_name_replace_runs_with_similar_names() {
        let past = [("fit-1", 5), ("fit-1", 6), ("fit-2", 40), ("fit-2", 41), ("fit-2", 42), ("dock", 7)];
        let queue = queue(&past, &["fit-1", "fit-2", "fit-3", "dock", "fit-2"]);
        let jobs = KnownRunTimes::of(&queue, RunTimes::Learned).of_jobs(&queue.jobs);
        let own: Vec<Vec<i64>> = jobs.iter().map(|job| job.own.to_vec()).collect();
        let all = vec![5, 6, 40, 41, 42];
        assert_eq!(own, [all.clone(), vec![40, 41, 42], all, vec![7], vec![40, 41, 42]]);
        let [first, second, third, dock, again] = [0, 1, 2, 3, 4].map(|at: usize| jobs[at].name);
        assert!(first == third && second == again && first != second && first != dock && second != dock);
    }
}
