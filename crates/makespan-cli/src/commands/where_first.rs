//! `makespan where`: the cluster and the size with which a job would end first.

use std::process::ExitCode;

use makespan_core::{SpeedupLaw, counted, range_around};
use makespan_formats::{SpeedupSpec, length};
use makespan_slurm::forecast::{ForecastOptions, RandomRunTimes, forecast};
use makespan_slurm::queue::{NewJob, Queue};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use serde_json::{Value, json};

use super::queue::source::ClusterSource;
use super::queue::what_if::user;
use crate::args::{Format, KnownTimes, WhereOptions};
use crate::output::{emit, narrow, shell_word, shortened, shown, table};

/// Percentage of the simulated ends that the range of an end contains.
const PERCENT: u32 = 80;
/// Maximum width of a cluster's name in the table.
const NAME: usize = 12;
/// By default, run times are learned from the jobs that ended in the last `DAYS` days.
const DAYS: u32 = 7;

/// A cluster with its queue.
struct Cluster {
    source: ClusterSource,
    queue: Queue,
}

/// The job on a cluster with a number of nodes. All times are in seconds from the instant of the queue of the cluster.
struct Candidate {
    /// The index of the cluster.
    cluster: usize,
    /// The number of nodes, if it differs from the script.
    nodes: Option<u32>,
    start: Option<i64>,
    end: Option<f64>,
    /// The end in each simulation with random run times, or `None` if the job does not start.
    drawn: Vec<Option<f64>>,
    /// The share of the joint draws in which this candidate ends first.
    first: f64,
    /// The reason why the job does not start now.
    reason: String,
}

/// The candidates, in the order of their expected ends.
struct Comparison {
    clusters: Vec<Cluster>,
    candidates: Vec<Candidate>,
    /// Number of joint draws.
    draws: usize,
    remarks: Vec<String>,
}

pub fn find(options: &WhereOptions) -> Result<ExitCode> {
    let comparison = Comparison::new(options)?;
    emit(&match options.format {
        Format::Json => format!("{:#}\n", comparison.json(options)),
        Format::Text => comparison.text(options),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the speed-up law that the options state, if any.
fn law(options: &WhereOptions) -> Result<Option<SpeedupLaw>> {
    match options.speedup {
        None => Ok(None),
        Some(SpeedupSpec::Law(law)) => Ok(Some(law)),
        Some(other) => Err(miette!("--speedup {other}: this law is only for logs; write a law such as amdahl:0.05")),
    }
}

impl Comparison {
    fn new(options: &WhereOptions) -> Result<Self> {
        let script = options.script.display();
        let text = std::fs::read_to_string(&options.script).into_diagnostic().wrap_err_with(|| format!("{script}"))?;
        let (job, ignored) = NewJob::of_script(&text).map_err(|problem| miette!("{script}: {problem}"))?;
        let job = job.of_user(&user());
        let law = law(options)?;
        if law.is_some() && job.get("ntasks").is_some() {
            return Err(miette!(
                "{script}: --nodes: the script states --ntasks, so more nodes give no more processors; state --ntasks-per-node instead"
            ));
        }
        let learns = options.times.unwrap_or_default() == KnownTimes::Learned;
        let (mut clusters, mut candidates, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
        if !ignored.is_empty() {
            remarks.push(format!("ignored: {}", ignored.join(", ")));
        }
        for (index, from) in options.from.iter().enumerate() {
            if options.from[..index].contains(from) {
                return Err(miette!("--from names {from} twice; name each cluster once"));
            }
            let source = ClusterSource::parse(from)?;
            let mut queue = source.read(None, if learns { options.past.unwrap_or(DAYS) } else { 0 })?;
            queue.remarks.extend(queue.past_missing.take().filter(|_| learns));
            clusters.push(Cluster { source, queue });
        }
        let sizes: Vec<Option<u32>> =
            if options.nodes.is_empty() { vec![None] } else { options.nodes.iter().copied().map(Some).collect() };
        for (at, cluster) in clusters.iter().enumerate() {
            let mut notes = cluster.queue.remarks.clone();
            for &nodes in &sizes {
                let resized = nodes.map_or_else(|| job.clone(), |nodes| job.clone().with_nodes(nodes));
                // The forecast knows the run time of the job with the number of nodes in the script.
                let stated = u32::try_from(job.min_nodes()).unwrap_or(u32::MAX);
                let ratio =
                    nodes.zip(law).map_or(1.0, |(nodes, law)| law.time_fraction(nodes) / law.time_fraction(stated));
                match candidate(at, &cluster.queue, &resized, (nodes, ratio), options) {
                    Ok((candidate, new)) => {
                        candidates.push(candidate);
                        for note in new {
                            if !notes.contains(&note) {
                                notes.push(note);
                            }
                        }
                    }
                    Err(problem) => notes.push(format!("not possible{}: {problem}", on(nodes))),
                }
            }
            let name = cluster.label();
            remarks.extend(notes.iter().map(|note| format!("{name}: {note}")));
        }
        if candidates.is_empty() {
            return Err(miette!("{script}: no cluster accepts the job: {}", remarks.join("; ")));
        }
        let draws = count_firsts(&mut candidates);
        candidates.sort_by(|one, other| {
            let end = |own: &Candidate| own.end.unwrap_or(f64::INFINITY);
            end(one).total_cmp(&end(other)).then(one.cluster.cmp(&other.cluster)).then(one.nodes.cmp(&other.nodes))
        });
        Ok(Self { clusters, candidates, draws, remarks })
    }

    /// Returns the candidate with the earliest expected end.
    fn best(&self) -> Option<&Candidate> {
        self.candidates.first().filter(|best| best.end.is_some())
    }

    /// Returns the share of the joint draws in which the job ends first on a cluster, with any number of nodes.
    fn share_of(&self, cluster: usize) -> f64 {
        self.candidates.iter().filter(|own| own.cluster == cluster).map(|own| own.first).sum()
    }

    /// Returns the command that submits the job as the candidate describes.
    fn command(&self, candidate: &Candidate, options: &WhereOptions) -> String {
        let own = &self.clusters[candidate.cluster];
        let nodes = candidate.nodes.map_or(String::new(), |nodes| format!(" -N{nodes}"));
        format!("{}{nodes} {}", own.source.sbatch(&own.queue), shell_word(options.script.as_os_str()))
    }

    fn text(&self, options: &WhereOptions) -> String {
        let after = |seconds: Option<f64>| seconds.map_or_else(|| "never".to_owned(), length);
        let row = |own: &Candidate| {
            let range = range_around(own.end, own.drawn.iter().flatten().copied().collect(), PERCENT);
            vec![
                shortened(&shown(&self.clusters[own.cluster].label()), NAME),
                own.nodes.map_or_else(|| "-".to_owned(), |nodes| nodes.to_string()),
                after(own.start.map(|start| start as f64)),
                after(own.end),
                range
                    .filter(|_| own.end.is_some())
                    .map_or_else(|| "-".to_owned(), |(early, late)| format!("{} .. {}", length(early), length(late))),
                if self.draws == 0 { "-".to_owned() } else { format!("{:.0} %", 100.0 * own.first) },
            ]
        };
        let heading = ["cluster", "nodes", "starts in", "ends in", "between", "first"];
        let mut text = table(&heading, 1, self.candidates.iter().map(row)) + "\n";
        match self.best() {
            Some(best) => {
                let name = self.clusters[best.cluster].label();
                let sure = if self.draws == 0 {
                    String::new()
                } else {
                    let joint = counted(self.draws, "joint simulation");
                    format!("; {name} is first in {:.0} % of {joint}", 100.0 * self.share_of(best.cluster))
                };
                text += &narrow("", 0, &format!("the job is expected to end first on {name}{}{sure}", on(best.nodes)));
                text += &format!("  {}\n", self.command(best, options));
            }
            None => text += "no cluster is expected to start the job\n",
        }
        for own in self.candidates.iter().filter(|own| own.end.is_none()) {
            let name = self.clusters[own.cluster].label();
            text += &narrow("note: ", 6, &format!("{name}{}: {}", on(own.nodes), own.reason));
        }
        self.remarks.iter().for_each(|remark| text += &narrow("note: ", 6, remark));
        text
    }

    fn json(&self, options: &WhereOptions) -> Value {
        let candidate = |own: &Candidate| {
            let range = range_around(own.end, own.drawn.iter().flatten().copied().collect(), PERCENT).unzip();
            json!({
                "cluster": self.clusters[own.cluster].label(),
                "nodes": own.nodes,
                "starts_in_seconds": own.start,
                "ends_in_seconds": own.end,
                "early": range.0,
                "late": range.1,
                "first": (self.draws > 0).then_some(own.first),
                "why_not_now": own.reason,
                "command": self.command(own, options),
            })
        };
        json!({
            "candidates": self.candidates.iter().map(candidate).collect::<Vec<_>>(),
            "best": self.best().map(candidate),
            "best_cluster_first": self.best().filter(|_| self.draws > 0).map(|best| self.share_of(best.cluster)),
            "draws": self.draws,
            "percent": PERCENT,
            "remarks": self.remarks,
        })
    }
}

impl Cluster {
    /// Returns the name of the cluster, or else the text that selects the cluster.
    fn label(&self) -> String {
        self.source.label(&self.queue)
    }
}

/// Returns ` with 4 nodes`, or an empty text.
fn on(nodes: Option<u32>) -> String {
    nodes.map_or(String::new(), |nodes| format!(" with {}", counted(nodes, "node")))
}

/// Forecasts the job on a cluster. `nodes` is a number of nodes that replaces the one in the script, and `ratio` is the
/// factor of the run time. Also returns notes about assumptions.
fn candidate(
    cluster: usize,
    before: &Queue,
    job: &NewJob,
    (nodes, ratio): (Option<u32>, f64),
    options: &WhereOptions,
) -> Result<(Candidate, Vec<String>), String> {
    let (queue, own, notes) = before.with_new_job(job)?;
    let usual = ForecastOptions::default();
    let play = ForecastOptions {
        draws: options.draws.unwrap_or(usual.draws),
        times: options.times.unwrap_or_default().into(),
        like: Some(before),
        ..usual
    };
    let with = forecast(&queue, &play);
    let expected: Vec<_> = with.expected.iter().filter(|one| own.contains(&one.job)).collect();
    let end = |start: Option<i64>, run: i64| Some((start? - queue.now) as f64 + ratio * run as f64);
    let expected_end = latest(expected.iter().map(|one| end(one.outlook.start, one.lasts)));
    let random = RandomRunTimes::of(&queue, &play);
    let drawn = with.drawn.iter().zip(0..).map(|(starts, number)| {
        let runs = random.draw(number);
        latest(own.iter().map(|&job| end(starts[job], runs[job])))
    });
    let starts = expected.iter().map(|one| Some(one.outlook.start? - queue.now));
    let start = starts.collect::<Option<Vec<i64>>>().and_then(|starts| starts.into_iter().min());
    let reason = expected.first().map_or(String::new(), |one| one.why().text.clone());
    Ok((Candidate { cluster, nodes, start, end: expected_end, drawn: drawn.collect(), first: 0.0, reason }, notes))
}

/// Returns the latest of several ends, or `None` if one of them is unknown.
fn latest(mut ends: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    ends.try_fold(0.0, |last: f64, end| Some(end?.max(last)))
}

/// Computes the share of the joint draws in which each candidate ends first, and returns the number of joint draws. A
/// joint draw combines the simulations with equal numbers of all candidates. If several candidates end at the same time,
/// each gets an equal part of the draw.
fn count_firsts(candidates: &mut [Candidate]) -> usize {
    let draws = candidates.iter().map(|own| own.drawn.len()).min().unwrap_or(0);
    for number in 0..draws {
        let end = |own: &Candidate| own.drawn[number].unwrap_or(f64::INFINITY);
        let first = candidates.iter().map(end).fold(f64::INFINITY, f64::min);
        if first.is_infinite() {
            continue;
        }
        let is_first = |own: &Candidate| end(own) <= first;
        let tied = candidates.iter().filter(|own| is_first(own)).count();
        for own in candidates.iter_mut().filter(|own| own.drawn[number].is_some_and(|end| end <= first)) {
            own.first += 1.0 / tied as f64;
        }
    }
    candidates.iter_mut().for_each(|own| own.first /= draws.max(1) as f64);
    draws
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joint_draws_count_the_earliest_end_and_share_ties() {
        let own = |drawn: &[Option<f64>]| Candidate {
            cluster: 0,
            nodes: None,
            start: None,
            end: None,
            drawn: drawn.to_vec(),
            first: 0.0,
            reason: String::new(),
        };
        let mut all =
            [own(&[Some(1.0), Some(5.0), None, None]), own(&[Some(2.0), Some(5.0), Some(9.0), None, Some(1.0)])];
        assert_eq!(count_firsts(&mut all), 4);
        assert!(all.iter().all(|own| (own.first - 0.375).abs() < 1e-12));
    }
}
