//! Run times of a job on other numbers of nodes: by a stated law, or from similar jobs that have ended.

use std::collections::BTreeMap;

use makespan_core::{Distribution, SpeedupLaw, Time, counted};
use makespan_history::law::{Sample, best};
use makespan_slurm::queue::PastRun;

/// Relative error that the medians of a few runs have by chance.
const NOISE: f64 = 0.05;

/// The run times of a job on several numbers of nodes, relative to each other.
#[derive(Clone, Debug)]
pub enum RelativeTimes {
    /// The law that the user states.
    Stated(SpeedupLaw),
    /// Times of similar jobs that succeeded on two or more numbers of nodes.
    Measured {
        /// The median run time in seconds, by number of nodes.
        medians: BTreeMap<u32, f64>,
        /// The law that fits the medians. It gives the times on other numbers of nodes.
        law: SpeedupLaw,
        /// The run time on one node by the law, in seconds.
        sequential: f64,
        /// The number of jobs.
        jobs: usize,
    },
}

impl RelativeTimes {
    /// Learns relative times from these runs of similar jobs. Returns `None` unless runs succeeded on at
    /// least two different numbers of nodes. Runs with another number of processors on each node than most runs are ignored.
    pub fn measured(runs: &[PastRun]) -> Option<Self> {
        let usual = usual_processors(runs);
        let mut by_nodes: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for run in runs.iter().filter(|run| is_measured(run, usual)) {
            by_nodes.entry(run.nodes?).or_default().push(run.seconds as f64);
        }
        let jobs = by_nodes.values().map(Vec::len).sum();
        let medians: BTreeMap<u32, f64> =
            by_nodes.into_iter().map(|(nodes, seconds)| (nodes, Distribution::of(seconds).median)).collect();
        let sample = |(&processors, &seconds): (&u32, &f64)| {
            Some(Sample { processors, time: Time::from_seconds_f64(seconds).ok()? })
        };
        let samples = medians.iter().map(sample).collect::<Option<Vec<_>>>()?;
        let fit = best(&samples, NOISE)?;
        Some(Self::Measured { medians, law: fit.law, sequential: fit.sequential.seconds(), jobs })
    }

    /// Returns the time on `nodes`, in an arbitrary unit.
    fn time(&self, nodes: u32) -> f64 {
        match self {
            Self::Stated(law) => law.time_fraction(nodes),
            Self::Measured { medians, law, sequential, .. } => {
                medians.get(&nodes).copied().unwrap_or_else(|| sequential * law.time_fraction(nodes))
            }
        }
    }

    /// Returns the factor by which the run time changes from `from` nodes to `to` nodes.
    pub fn ratio(&self, from: u32, to: u32) -> f64 {
        self.time(to) / self.time(from)
    }

    /// Returns the measured numbers of nodes.
    pub fn sizes(&self) -> Vec<u32> {
        match self {
            Self::Stated(_) => Vec::new(),
            Self::Measured { medians, .. } => medians.keys().copied().collect(),
        }
    }

    /// Describes the source of the times on these numbers of nodes, if it is not a stated law.
    pub fn note(&self, sizes: &[u32]) -> Option<String> {
        let Self::Measured { medians, jobs, .. } = self else { return None };
        let words = |all: &[u32]| all.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let measured = words(&self.sizes());
        let mut note = format!("run times on {measured} nodes are those of {}", counted(*jobs, "similar job"));
        let others: Vec<u32> = sizes.iter().copied().filter(|nodes| !medians.contains_key(nodes)).collect();
        if !others.is_empty() {
            note += &format!(
                "; run times on {} nodes come from the speed-up law that fits these jobs best",
                words(&others)
            );
        }
        Some(note)
    }

    /// Returns the runs that succeeded, with the run times that they would have on `nodes`.
    pub fn scaled(&self, runs: &[PastRun], nodes: u32) -> Vec<PastRun> {
        let usual = usual_processors(runs);
        let measured = runs.iter().filter(|run| is_measured(run, usual));
        let scaled = measured.filter_map(|run| {
            let seconds = (run.seconds as f64 * self.ratio(run.nodes?, nodes)).round().max(1.0);
            Some(PastRun { seconds: seconds as u64, ..run.clone() })
        });
        scaled.collect()
    }
}

/// Returns true if the run time of a job shows how fast its program is on its number of nodes.
fn is_measured(run: &PastRun, usual: Option<u64>) -> bool {
    let is_at_limit = run.limit.is_some_and(|limit| run.seconds >= limit);
    run.has_succeeded && !is_at_limit && run.nodes.is_some() && (usual.is_none() || on_node(run) == usual)
}

/// Returns the number of processors that a run held on each node.
fn on_node(run: &PastRun) -> Option<u64> {
    Some(run.cpus? / u64::from(run.nodes?))
}

/// Returns the most frequent number of processors on each node. If several numbers are equally frequent, returns the
/// largest.
fn usual_processors(runs: &[PastRun]) -> Option<u64> {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for processors in runs.iter().filter(|run| run.has_succeeded).filter_map(on_node) {
        *counts.entry(processors).or_default() += 1;
    }
    counts.into_iter().max_by_key(|&(processors, count)| (count, processors)).map(|(processors, _)| processors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(nodes: u32, cpus: u64, seconds: u64) -> PastRun {
        PastRun {
            id: 1,
            name: "fit".into(),
            user: "ann".into(),
            account: None,
            partition: "p".into(),
            limit: Some(1000),
            seconds,
            has_succeeded: true,
            nodes: Some(nodes),
            cpus: Some(cpus),
            shown: None,
            submitted: None,
            started: None,
        }
    }

    #[test]
    fn measured_times_are_used_where_they_exist_and_a_law_elsewhere() {
        let runs = [run(1, 4, 390), run(1, 4, 400), run(1, 4, 410), run(2, 8, 200), run(4, 16, 100)];
        let times = RelativeTimes::measured(&runs).unwrap();
        assert_eq!(times.sizes(), [1, 2, 4]);
        assert!((times.ratio(1, 2) - 0.5).abs() < 1e-9 && (times.ratio(4, 8) - 0.5).abs() < 0.02);
        let scaled: Vec<u64> = times.scaled(&runs, 2).iter().map(|run| run.seconds).collect();
        assert_eq!(scaled, [195, 200, 205, 200, 200]);
        let note = times.note(&[1, 8]).unwrap();
        assert!(note.contains("1, 2, 4 nodes are those of 5 similar jobs") && note.contains("on 8 nodes"), "{note}");
        // A job may be slower on more nodes.
        let slow = RelativeTimes::measured(&[run(1, 4, 100), run(2, 8, 150)]).unwrap();
        assert!((slow.ratio(1, 2) - 1.5).abs() < 1e-9);
    }

    #[test]
    fn failed_runs_and_runs_with_other_processors_show_no_speed_up() {
        let failed = PastRun { has_succeeded: false, ..run(2, 8, 1) };
        let at_limit = run(2, 8, 1000);
        let unknown = PastRun { nodes: None, ..run(2, 8, 200) };
        let narrow = run(2, 2, 300);
        assert!(
            RelativeTimes::measured(&[run(1, 4, 400), run(1, 4, 400), failed, at_limit, unknown, narrow]).is_none()
        );
        assert!(RelativeTimes::measured(&[]).is_none());
    }
}
