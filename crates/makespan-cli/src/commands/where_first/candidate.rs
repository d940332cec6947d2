//! The forecast of a job on a cluster with a number of nodes.

use std::cmp::Reverse;

use makespan_slurm::forecast::{ForecastOptions, PredictionSource, RandomRunTimes, RunTimeDistribution, forecast};
use makespan_slurm::queue::{NewJob, PastRun, Queue};

use super::sizes::RelativeTimes;
use crate::args::WhereOptions;
use crate::commands::queue::QueueClock;

/// A number of nodes to compare, with the run times that the job has on them.
pub struct CandidateSize {
    /// The number of nodes, if it differs from the script.
    pub nodes: Option<u32>,
    /// The factor of the run time.
    pub ratio: f64,
    /// The ended jobs from which the run time of the job is learned.
    pub past: Vec<PastRun>,
    /// True if the run time on these nodes is derived from run times on other nodes.
    pub is_scaled: bool,
}

impl CandidateSize {
    /// Derives the run times on a number of nodes. `stated` is the number in the script. `similar` are the similar jobs,
    /// and `others` are all other ended jobs.
    pub fn new(
        relative: Option<&RelativeTimes>,
        nodes: Option<u32>,
        stated: u32,
        [similar, others]: [&[PastRun]; 2],
    ) -> Self {
        let count = nodes.unwrap_or(stated);
        let scaled = match relative {
            // The runs of similar jobs are from several numbers of nodes.
            Some(times @ RelativeTimes::Measured { .. }) => times.scaled(similar, count),
            _ => Vec::new(),
        };
        if !scaled.is_empty() {
            return Self { nodes, ratio: 1.0, past: [&scaled, others].concat(), is_scaled: true };
        }
        let ratio = relative.map_or(1.0, |times| times.ratio(stated, count));
        Self { nodes, ratio, past: [similar, others].concat(), is_scaled: relative.is_some() && count != stated }
    }
}

/// The job on a cluster with a number of nodes. All times are in seconds from the instant of the queue of the cluster.
pub struct Candidate {
    /// The index of the cluster.
    pub cluster: usize,
    /// The number of nodes, if it differs from the script.
    pub nodes: Option<u32>,
    pub start: Option<i64>,
    /// Expected run time.
    pub run: f64,
    /// The source of the run time.
    pub known: PredictionSource,
    pub end: Option<f64>,
    /// The simulations with random run times.
    pub simulations: Vec<SimulatedJob>,
    /// The distribution of the run time of each task, before `ratio` is applied.
    pub distributions: Vec<RunTimeDistribution>,
    /// The factor of the run time.
    pub ratio: f64,
    /// The end in each simulation, or `None` if the job does not start or is killed at its time limit.
    pub drawn: Vec<Option<f64>>,
    /// The share of the joint draws in which this candidate ends first.
    pub first: f64,
    /// The reason why the job does not start now, or why it does not end.
    pub reason: String,
    /// The time limit, if the job would be killed when it reaches the limit with this number of nodes.
    killed_at: Option<f64>,
}

/// The starts and run times in seconds of the tasks of the job in one simulation.
pub struct SimulatedJob {
    pub starts: Vec<Option<i64>>,
    pub runs: Vec<i64>,
}

impl Candidate {
    /// Forecasts the job on a cluster. `before` is the queue without the job. Also returns notes about assumptions.
    ///
    /// # Errors
    /// The cluster rejects the job. Contains a sentence with a remedy.
    pub fn new(
        cluster: usize,
        before: &Queue,
        job: &NewJob,
        size: CandidateSize,
        options: &WhereOptions,
    ) -> Result<(Self, Vec<String>), String> {
        let CandidateSize { nodes, ratio, past, is_scaled } = size;
        let (mut queue, own, notes) = before.with_new_job(job)?;
        let usual = ForecastOptions::default();
        let clock = QueueClock::new(queue.now);
        let words = |seconds: i64| clock.words(seconds);
        let play = ForecastOptions {
            draws: options.draws.unwrap_or(usual.draws),
            times: options.times.unwrap_or_default().into(),
            like: Some(before),
            clock: &words,
            ..usual
        };
        let with = forecast(&queue, &play);
        let expected: Vec<_> = with.expected.iter().filter(|one| own.contains(&one.job)).collect();
        // The starts follow from the jobs that ended on this cluster. The run time of the new job follows from `past`.
        queue.past = past;
        let random = RandomRunTimes::of(&queue, &play);
        let limit = own.iter().filter_map(|&job| queue.jobs[job].limit).min().map(|limit| limit as f64);
        let killed_at = limit.filter(|_| is_scaled);
        let is_killed = |run: f64| killed_at.is_some_and(|limit| run >= limit);
        let expected_runs = expected.iter().map(|one| {
            // A job that accepts less time than its limit (--time-min) may get less.
            let least = queue.jobs[one.job].request.min_time;
            ratio * least.map_or_else(|| random.mean(one.job), |_| random.mean(one.job).min(one.lasts)) as f64
        });
        let run = expected_runs.clone().fold(0.0, f64::max);
        let ends =
            expected.iter().zip(expected_runs).map(|(one, run)| Some((one.outlook.start? - queue.now) as f64 + run));
        let end = latest(ends).filter(|_| !is_killed(run));
        let simulations = with.drawn.iter().zip(0..).map(|(starts, number)| {
            let runs = random.draw(number);
            SimulatedJob {
                starts: own.iter().map(|&job| Some(starts[job]? - queue.now)).collect(),
                runs: own.iter().map(|&job| runs[job]).collect(),
            }
        });
        let starts = expected.iter().map(|one| Some(one.outlook.start? - queue.now));
        let start = starts.collect::<Option<Vec<i64>>>().and_then(|starts| starts.into_iter().min());
        let mut reason = expected.first().map_or(String::new(), |one| one.why().text.clone());
        if let Some(limit) = killed_at.filter(|_| start.is_some() && is_killed(run)) {
            reason = format!(
                "the expected run time reaches the time limit of {}, so Slurm would kill the job; state a longer --time",
                makespan_formats::length(limit)
            );
        }
        let candidate = Self {
            cluster,
            nodes,
            start,
            run,
            known: random.known(own[0]),
            end,
            simulations: simulations.collect(),
            distributions: own.iter().map(|&job| random.distribution(job)).collect(),
            ratio,
            drawn: Vec::new(),
            first: 0.0,
            reason,
            killed_at,
        };
        Ok((candidate, notes))
    }

    fn is_killed(&self, run: f64) -> bool {
        self.killed_at.is_some_and(|limit| run >= limit)
    }
}

/// Returns the latest of several ends, or `None` if one of them is unknown.
fn latest(mut ends: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    ends.try_fold(0.0, |last: f64, end| Some(end?.max(last)))
}

/// Computes the ends of all candidates in joint draws, and the share of the joint draws in which each candidate ends
/// first. Returns the number of joint draws. A joint draw combines the simulations with equal numbers of all candidates.
/// If several candidates end at the same time, each gets an equal part of the draw.
///
/// The job is the same on all clusters, so a joint draw uses equal quantiles of its run times: a job that is long on one
/// cluster is long on each. The ranks of the run times that were drawn for the first candidate decide for all candidates.
pub fn count_firsts(candidates: &mut [Candidate]) -> usize {
    let draws = candidates.iter().map(|own| own.simulations.len()).min().unwrap_or(0);
    let Some(first) = candidates.first() else { return 0 };
    let of_task = |task: usize| first.simulations[..draws].iter().map(|one| one.runs[task]).collect::<Vec<_>>();
    let ranks: Vec<Vec<usize>> = (0..first.distributions.len()).map(|task| ranks(&of_task(task))).collect();
    for own in &mut *candidates {
        let run = |task: usize, number: usize| {
            let share = (ranks[task][number] as f64 + 0.5) / draws as f64;
            own.ratio * own.distributions[task].quantile(share) as f64
        };
        let end = |number: usize| {
            let ends = own.simulations[number].starts.iter().enumerate().map(|(task, start)| {
                let run = run(task, number);
                start.filter(|_| !own.is_killed(run)).map(|start| start as f64 + run)
            });
            latest(ends)
        };
        own.drawn = (0..draws).map(end).collect();
    }
    for number in 0..draws {
        let end = |own: &Candidate| own.drawn[number].unwrap_or(f64::INFINITY);
        let first = candidates.iter().map(end).fold(f64::INFINITY, f64::min);
        if first.is_infinite() {
            continue;
        }
        let tied = candidates.iter().filter(|own| end(own) <= first).count();
        for own in candidates.iter_mut().filter(|own| own.drawn[number].is_some_and(|end| end <= first)) {
            own.first += 1.0 / tied as f64;
        }
    }
    candidates.iter_mut().for_each(|own| own.first /= draws.max(1) as f64);
    draws
}

/// Returns the share of the joint draws in which the job ends first on a cluster, with any number of nodes.
pub fn share_of(candidates: &[Candidate], cluster: usize) -> f64 {
    candidates.iter().filter(|own| own.cluster == cluster).map(|own| own.first).sum()
}

/// Sorts candidates, the best one first. The candidates with an expected end come first. Among these, a candidate comes
/// first if the job ends first on its cluster in more joint draws. The candidates of a cluster are in the descending
/// order of their own shares. In both comparisons, the earlier expected end decides between equal shares.
pub fn sort(candidates: &mut [Candidate]) {
    let end = |own: &Candidate| own.end.unwrap_or(f64::INFINITY);
    // The shares are sums of parts of draws, so equal shares may differ by rounding errors.
    let rounded = |share: f64| Reverse((share * 1e9).round() as i64);
    let of_cluster = |cluster: usize| {
        let ends = candidates.iter().filter(|own| own.cluster == cluster).map(end);
        (rounded(share_of(candidates, cluster)), ends.fold(f64::INFINITY, f64::min))
    };
    let count = candidates.iter().map(|own| own.cluster + 1).max().unwrap_or(0);
    let clusters: Vec<_> = (0..count).map(of_cluster).collect();
    candidates.sort_by(|one, other| {
        let key = |own: &Candidate| (own.end.is_none(), clusters[own.cluster].0);
        let [first, second] = [one, other].map(|own| clusters[own.cluster].1);
        key(one)
            .cmp(&key(other))
            .then(first.total_cmp(&second))
            .then(one.cluster.cmp(&other.cluster))
            .then(rounded(one.first).cmp(&rounded(other.first)))
            .then(end(one).total_cmp(&end(other)))
            .then(one.nodes.cmp(&other.nodes))
    });
}

/// Returns the rank of each value in ascending order. Equal values keep their order.
fn ranks(values: &[i64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|&index| values[index]);
    let mut ranks = vec![0; values.len()];
    order.into_iter().enumerate().for_each(|(rank, index)| ranks[index] = rank);
    ranks
}

#[cfg(test)]
mod tests {
    use makespan_slurm::queue::{ClusterOutput, Texts};

    use super::*;

    /// Returns the distribution of run times that are equally likely. The job has no time limit, so nothing else is known.
    fn distribution(runs: &[i64]) -> RunTimeDistribution {
        let line = |(id, run): (usize, &i64)| format!("{id}|u|p|{run}|COMPLETED|a\n");
        let past: String = runs.iter().enumerate().map(line).collect();
        let texts = Texts::default()
            .with(ClusterOutput::Nodes, "NodeName=n0 CPUTot=4 CPUAlloc=0 State=IDLE Partitions=p")
            .with(
                ClusterOutput::Jobs,
                "JobId=2 JobName=a UserId=u(1) Priority=8 JobState=PENDING Partition=p NumNodes=1 NumCPUs=4",
            )
            .with(ClusterOutput::Past, format!("JobIDRaw|User|Partition|ElapsedRaw|State|JobName\n{past}"));
        let queue = texts.queue(Some(0)).unwrap();
        RandomRunTimes::of(&queue, &ForecastOptions::default()).distribution(0)
    }

    /// Returns a candidate with these starts and drawn run times.
    fn candidate(starts: &[Option<i64>], runs: &[i64], killed_at: Option<f64>) -> Candidate {
        let simulations =
            starts.iter().zip(runs).map(|(&start, &run)| SimulatedJob { starts: vec![start], runs: vec![run] });
        Candidate {
            cluster: 0,
            nodes: None,
            start: None,
            run: 0.0,
            known: PredictionSource::Limit,
            end: None,
            simulations: simulations.collect(),
            distributions: vec![distribution(runs)],
            ratio: 1.0,
            drawn: Vec::new(),
            first: 0.0,
            reason: String::new(),
            killed_at,
        }
    }

    #[test]
    fn joint_draws_count_the_earliest_end_and_share_ties() {
        let mut all = [
            candidate(&[Some(0), Some(4), None, None], &[1; 4], None),
            candidate(&[Some(1), Some(4), Some(8), None, Some(0)], &[1; 5], None),
        ];
        assert_eq!(count_firsts(&mut all), 4);
        assert!(all.iter().all(|own| (own.first - 0.375).abs() < 1e-12));
    }

    #[test]
    fn joint_draws_use_equal_quantiles_of_the_run_time() {
        // The second cluster starts the job a second later, and the job is never shorter there.
        let mut all = [candidate(&[Some(0); 3], &[30, 10, 20], None), candidate(&[Some(1); 3], &[10, 20, 30], None)];
        assert_eq!(count_firsts(&mut all), 3);
        assert_eq!((all[0].first, all[1].first), (1.0, 0.0));
        assert_eq!(all[1].drawn, [Some(31.0), Some(11.0), Some(21.0)]);
    }

    proptest::proptest! {
        #[test]
        fn the_first_candidate_is_the_best_of_the_cluster_with_the_largest_share(
            all in proptest::collection::vec((0_usize..3, 0..5_u32, proptest::option::of(0_u32..4)), 1..8),
        ) {
            let own = |&(cluster, first, end): &(usize, u32, Option<u32>)| {
                let end = end.map(f64::from);
                Candidate { cluster, first: f64::from(first) / 7.0, end, ..candidate(&[], &[1], None) }
            };
            let mut all: Vec<Candidate> = all.iter().map(own).collect();
            sort(&mut all);
            let best = &all[0];
            let close = 1e-9;
            for other in &all {
                let [share, most] = [other, best].map(|own| share_of(&all, own.cluster));
                proptest::prop_assert!(other.end.is_none() || best.end.is_some());
                proptest::prop_assert!(other.end.is_none() || share <= most + close);
                let competes = other.cluster == best.cluster && other.end.is_some();
                proptest::prop_assert!(!competes || other.first <= best.first + close);
                let is_equal = competes && (other.first - best.first).abs() < close;
                proptest::prop_assert!(!is_equal || best.end <= other.end);
            }
        }
    }

    #[test]
    fn a_job_that_reaches_its_limit_does_not_end() {
        let mut all = [candidate(&[Some(0); 2], &[5, 9], Some(9.0)), candidate(&[Some(90); 2], &[5, 5], None)];
        count_firsts(&mut all);
        assert_eq!((all[0].drawn.clone(), all[1].first), (vec![Some(5.0), None], 0.5));
    }
}
