//! `makespan where`: the cluster and the size with which a job would end first.

mod candidate;
mod sizes;

use std::process::ExitCode;

use makespan_core::{SpeedupLaw, counted, range_around};
use makespan_formats::{SpeedupSpec, length};
use makespan_slurm::forecast::SAME_NAME;
use makespan_slurm::queue::{NewJob, PastRun};
use miette::{Result, miette};
use serde_json::{Value, json};

use super::queue::source::{ReadCluster, joined_notes, read_all, short_label};
use super::queue::what_if::{of_script, user};
use super::queue::{begin, run_time_from};
use crate::args::{Format, KnownTimes, WhereOptions};
use crate::output::{blocks, columns, emit, narrow, shell_word};
use candidate::{Candidate, CandidateSize, count_firsts, share_of, sort};
use sizes::RelativeTimes;

/// Percentage of the simulated ends that the range of an end contains.
const PERCENT: u32 = 80;
/// Maximum width of a cluster's name in the table.
const NAME: usize = 12;
/// By default, run times are learned from the jobs that ended in the last `DAYS` days.
const DAYS: u32 = 7;

struct Comparison {
    clusters: Vec<ReadCluster>,
    /// The candidates in the order of [`sort`].
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

/// The ended jobs of all clusters that are similar to the job, and the run times on other numbers of nodes that they
/// show.
struct Knowledge {
    /// The similar jobs of each cluster.
    similar: Vec<Vec<PastRun>>,
    /// All other ended jobs of all clusters. The job is the same on all clusters, so its run time must not depend on how
    /// many of these jobs ended where.
    others: Vec<PastRun>,
    stated: Option<SpeedupLaw>,
    /// The measured times of each cluster.
    measured: Vec<Option<RelativeTimes>>,
}

impl Knowledge {
    fn new(clusters: &[ReadCluster], job: &NewJob, stated: Option<SpeedupLaw>) -> Self {
        let own = |word: &str| job.get(word).unwrap_or_default();
        let is_similar = |run: &PastRun| run.is_like(own("user"), own("job-name"));
        let is_same = |run: &PastRun| run.user == own("user") && run.name == own("job-name");
        let same = clusters.iter().flat_map(|one| &one.queue.past).filter(|run| is_same(run)).count();
        let (mut similar, mut others) = (Vec::new(), Vec::new());
        for one in clusters {
            let (mut own, other): (Vec<_>, Vec<_>) = one.queue.past.iter().cloned().partition(is_similar);
            // Enough jobs with the same name replace those with similar names, as in forecasts.
            own.retain(|run| same < SAME_NAME || is_same(run));
            similar.push(own);
            others.extend(other);
        }
        let measured = similar.iter().map(|runs| RelativeTimes::measured(runs)).collect();
        Self { similar, others, stated, measured }
    }

    /// Returns the relative run times on a cluster: by the stated law, or those measured on this cluster, or else those
    /// measured on another cluster, with the index of that cluster.
    fn relative(&self, cluster: usize) -> Option<(RelativeTimes, usize)> {
        if let Some(law) = self.stated {
            return Some((RelativeTimes::Stated(law), cluster));
        }
        let others = (0..self.measured.len()).filter(|&other| other != cluster);
        [cluster].into_iter().chain(others).find_map(|index| Some((self.measured[index].clone()?, index)))
    }

    /// Returns the similar jobs that ended on a cluster. If there are none, returns those of all other clusters.
    fn similar(&self, cluster: usize) -> Vec<PastRun> {
        if self.similar[cluster].is_empty() { self.similar.concat() } else { self.similar[cluster].clone() }
    }

    /// Forecasts the job on the cluster with the index `at`, with each number of nodes that is compared. Also returns
    /// notes.
    fn candidates(
        &self,
        at: usize,
        clusters: &[ReadCluster],
        job: &NewJob,
        options: &WhereOptions,
    ) -> Result<(Vec<Candidate>, Vec<String>)> {
        let (mut candidates, mut notes) = (Vec::new(), Vec::new());
        let learns = learns(options);
        let relative = self.relative(at).filter(|_| job.get("ntasks").is_none() && (learns || self.stated.is_some()));
        if !options.nodes.is_empty() && relative.is_none() {
            if !learns {
                let problem = "--times limits and --times usual ignore the run times of ended jobs";
                return Err(miette!("--nodes: {problem}; state the speed-up, such as --speedup amdahl:0.05"));
            }
            return Err(miette!(
                "--nodes: no two numbers of nodes have similar jobs that succeeded (user {}, name {}), so the run times on other numbers \
                 are unknown; state the speed-up, such as --speedup amdahl:0.05",
                job.get("user").unwrap_or_default(),
                job.get("job-name").unwrap_or_default()
            ));
        }
        let (times, from) = relative.unzip();
        // The forecast knows the run time of the job with the number of nodes in the script.
        let stated = u32::try_from(job.min_nodes()).unwrap_or(u32::MAX);
        let sizes = sizes(options, times.as_ref(), job, stated);
        let similar = self.similar(at);
        if self.similar[at].is_empty() && !similar.is_empty() && learns {
            let jobs = counted(similar.len(), "job");
            notes.push(format!("no similar job has ended here, so the run time is from {jobs} on other clusters"));
        }
        let compared: Vec<u32> = sizes.iter().copied().flatten().collect();
        if let Some(note) = times.as_ref().filter(|_| !compared.is_empty()).and_then(|times| times.note(&compared)) {
            let other = from.filter(|&from| from != at).map(|from| format!(" (of {})", clusters[from].label));
            notes.push(note + &other.unwrap_or_default());
        }
        for &nodes in &sizes {
            let resized = nodes.map_or_else(|| job.clone(), |nodes| job.clone().with_nodes(nodes));
            let size = CandidateSize::new(times.as_ref(), nodes, stated, [&similar, &self.others]);
            let queue = &clusters[at].queue;
            let resized = resized.with_instants(|text| begin(text, queue.now));
            match resized.and_then(|resized| Candidate::new(at, queue, &resized, size, options)) {
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
        Ok((candidates, notes))
    }
}

/// Returns true if run times are learned from ended jobs.
fn learns(options: &WhereOptions) -> bool {
    options.times.unwrap_or_default() == KnownTimes::Learned
}

impl Comparison {
    fn new(options: &WhereOptions) -> Result<Self> {
        let script = options.script.display();
        let (job, ignored) = of_script(&options.script).map_err(|problem| miette!("{script}: {problem}"))?;
        let job = job.of_user(&user());
        let law = law(options)?;
        if !options.nodes.is_empty() && job.get("ntasks").is_some() {
            return Err(miette!(
                "{script}: --nodes: the script states --ntasks, so more nodes give no more processors; state --ntasks-per-node instead"
            ));
        }
        let names: Vec<&str> = options.from.iter().map(String::as_str).collect();
        let (clusters, mut remarks) = read_all(&names, if learns(options) { options.past.unwrap_or(DAYS) } else { 0 })?;
        if !ignored.is_empty() {
            remarks.push(format!("ignored: {}", ignored.join(", ")));
        }
        let known = Knowledge::new(&clusters, &job, law);
        let (mut candidates, mut notes) = (Vec::new(), Vec::new());
        for (at, cluster) in clusters.iter().enumerate() {
            let (own, new) = known.candidates(at, &clusters, &job, options)?;
            candidates.extend(own);
            notes.extend(cluster.queue.remarks.iter().cloned().chain(new).map(|note| (at, note)));
        }
        remarks.extend(joined_notes(&clusters, notes.iter().map(|(at, note)| (*at, note))));
        if candidates.is_empty() {
            return Err(miette!("{script}: no cluster accepts the job: {}", remarks.join("; ")));
        }
        let draws = count_firsts(&mut candidates);
        sort(&mut candidates);
        Ok(Self { clusters, candidates, draws, remarks })
    }

    /// Returns the candidate to choose: the first of [`sort`], if it has an expected end.
    fn best(&self) -> Option<&Candidate> {
        self.candidates.first().filter(|best| best.end.is_some())
    }

    /// Returns the share of the joint draws in which the job ends first on a cluster, with any number of nodes.
    fn share_of(&self, cluster: usize) -> f64 {
        share_of(&self.candidates, cluster)
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
                short_label(&self.clusters[own.cluster].label, NAME),
                own.nodes.map_or_else(|| "-".to_owned(), |nodes| nodes.to_string()),
                after(own.start.map(|start| start as f64)),
                length(own.run),
                after(own.end),
                range
                    .filter(|_| own.end.is_some())
                    .map_or_else(|| "-".to_owned(), |(early, late)| format!("{} .. {}", length(early), length(late))),
                if self.draws == 0 { "-".to_owned() } else { format!("{:.0} %", 100.0 * own.first) },
            ]
        };
        let heading = ["starts in", "runs for", "ends in", "between", "first"];
        let rows: Vec<Vec<String>> = self.candidates.iter().map(row).collect();
        let mut text = blocks(&["cluster", "nodes"], &heading, &rows, columns()) + "\n";
        match self.best() {
            Some(best) => {
                let name = &self.clusters[best.cluster].label;
                // With one cluster, only the sizes compete.
                let (place, share) = match self.clusters.len() {
                    1 => (on(best.nodes), best.first),
                    _ => (format!(" on {name}"), self.share_of(best.cluster)),
                };
                let sure = if self.draws == 0 || self.candidates.len() == 1 {
                    String::new()
                } else {
                    let joint = counted(self.draws, "joint simulation");
                    format!("; the job ends first{place} in {:.0} % of {joint}", 100.0 * share)
                };
                text += &narrow("", 0, &format!("the best choice is {name}{}{sure}", on(best.nodes)));
                text += &format!("  {}\n", self.command(best, options));
            }
            None => text += "no cluster is expected to start the job\n",
        }
        for own in self.candidates.iter().filter(|own| own.end.is_none()) {
            let name = &self.clusters[own.cluster].label;
            text += &narrow("note: ", 6, &format!("{name}{}: {}", on(own.nodes), own.reason));
        }
        self.remarks.iter().for_each(|remark| text += &narrow("note: ", 6, remark));
        text
    }

    fn json(&self, options: &WhereOptions) -> Value {
        let candidate = |own: &Candidate| {
            let range = range_around(own.end, own.drawn.iter().flatten().copied().collect(), PERCENT).unzip();
            json!({
                "cluster": self.clusters[own.cluster].label,
                "nodes": own.nodes,
                "starts_in_seconds": own.start,
                "run_seconds": own.run,
                "run_time_from": run_time_from(own.known),
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

/// Returns ` with 4 nodes`, or an empty text.
fn on(nodes: Option<u32>) -> String {
    nodes.map_or(String::new(), |nodes| format!(" with {}", counted(nodes, "node")))
}

/// Returns the numbers of nodes to compare on a cluster: the stated ones, or else the number in the script and those on
/// which similar jobs succeeded, if the script accepts these numbers. `None` is the number in the script.
fn sizes(options: &WhereOptions, relative: Option<&RelativeTimes>, job: &NewJob, stated: u32) -> Vec<Option<u32>> {
    let mut sizes = options.nodes.clone();
    if sizes.is_empty() {
        sizes = relative.map_or_else(Vec::new, RelativeTimes::sizes);
        sizes.retain(|&nodes| job.accepts(nodes));
        if sizes.is_empty() {
            return vec![None];
        }
        sizes.push(stated);
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes.into_iter().map(Some).collect()
}
