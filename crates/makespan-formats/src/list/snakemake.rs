//! What Snakemake would do, from what it prints of a dry run.
//!
//! The rules stay with Snakemake: a job runs `snakemake .. -- OUTPUT` for one job of its own, as Snakemake's executors for
//! clusters do, so that scripts, environments and logs mean what they mean there.

use makespan_core::{Estimate, Instance, Job, Need, Needs, Platform, Profile, Resource, Time};
use rustc_hash::FxHashMap;

use crate::error::{FormatError, Place};
use crate::guess::guessed;

/// One job of a dry run.
#[derive(Debug, Default, PartialEq)]
struct Step {
    rule: String,
    input: Vec<String>,
    output: Vec<String>,
    wildcards: String,
    threads: Option<u32>,
    megabytes: Option<u64>,
    benchmark: Option<String>,
    /// The command for the shell, if the rule has one.
    shell: Option<String>,
}

/// The jobs that Snakemake would run, or `None` where nothing is to be done; `file` is the workflow and `text` what is in it,
/// `printed` what `snakemake --dry-run --printshellcmds` has printed, and `benchmark` gives the text of a benchmark file of an earlier run, if there is one.
///
/// # Errors
/// [`FormatError`] where a rule is not supported, or the jobs are no instance.
pub fn read_snakemake(
    file: &str,
    text: &[u8],
    printed: &str,
    platform: &Platform,
    benchmark: impl Fn(&str) -> Option<String>,
) -> Result<Option<Instance>, FormatError> {
    let wrong = |problem: String| FormatError::content(file, Place::default(), problem);
    let steps = steps(printed).map_err(wrong)?;
    if steps.is_empty() {
        return Ok(None);
    }
    let makers: FxHashMap<&str, usize> =
        (0..).zip(&steps).flat_map(|(at, step)| step.output.iter().map(move |output| (output.as_str(), at))).collect();
    let names = names(&steps);
    let job = |(at, step): (usize, &Step)| {
        let mut before: Vec<usize> =
            step.input.iter().filter_map(|input| makers.get(input.as_str()).copied()).collect();
        before.retain(|&one| one != at);
        before.sort_unstable();
        before.dedup();
        step.job(file, text, &names[at], &benchmark)
            .map(|job| job.with_after(before.iter().map(|&one| names[one].as_str())))
    };
    let jobs = (0..).zip(&steps).map(job).collect::<Result<Vec<_>, String>>().map_err(wrong)?;
    let needed = |name: &str| name == Resource::MEMORY && steps.iter().any(|step| step.megabytes.is_some());
    let platform = super::with_needed(platform, needed);
    Instance::new(platform, jobs, Vec::new()).map(Some).map_err(|error| wrong(error.to_string()))
}

impl Step {
    fn job(
        &self,
        file: &str,
        text: &[u8],
        name: &str,
        benchmark: impl Fn(&str) -> Option<String>,
    ) -> Result<Job, String> {
        let cores = self.threads.unwrap_or(1).max(1);
        let measured = self.benchmark.as_deref().and_then(&benchmark).and_then(|text| measured(&text));
        let (profile, estimate) = match measured {
            Some((time, runs, spread)) => (Profile::rigid(cores, time), Estimate::Learned { runs, spread }),
            None => (guessed(cores, cores, None, None), Estimate::Guessed),
        };
        let profile = profile.map_err(|error| format!("job `{name}`: {error}"))?;
        let memory =
            self.megabytes.filter(|&megabytes| megabytes > 0).map(|megabytes| megabytes.saturating_mul(1_000_000));
        let needs = Needs::new(memory.map(|bytes| (Resource::MEMORY.to_owned(), Need::whole(bytes))));
        let needs = needs.map_err(|error| format!("job `{name}`: {error}"))?;
        let job = Job::new(name, profile).with_estimate(estimate).with_needs(needs);
        let job = if self.threads.is_none() { job.with_assumed_core() } else { job };
        Ok(job.with_command(self.command(file, text)))
    }

    /// What Snakemake does for one job. The comment makes a job of another shell command another job, and one without a shell
    /// command a job of another workflow.
    fn command(&self, file: &str, text: &[u8]) -> Vec<String> {
        let hash = super::short_hash(self.shell.as_deref().map_or(text, str::as_bytes));
        let mut words: Vec<String> = ["sh", "-c"].map(str::to_owned).into();
        words.extend([format!("exec snakemake \"$@\" # rule {hash}"), self.rule.clone()]);
        words.extend(["--snakefile", file, "--cores", "{processors}"].map(str::to_owned));
        words.extend(["--nolock", "--notemp", "--force", "--quiet", "all", "--allowed-rules"].map(str::to_owned));
        // A job without output is asked for by its rule.
        words.extend([self.rule.clone(), "--".into(), self.output.first().unwrap_or(&self.rule).clone()]);
        words
    }
}

/// The names of jobs: the rule with its wildcards, and a number where that is not unique.
fn names(steps: &[Step]) -> Vec<String> {
    let mut seen: FxHashMap<String, u32> = FxHashMap::default();
    let name = |step: &Step| {
        let name =
            if step.wildcards.is_empty() { step.rule.clone() } else { format!("{} {}", step.rule, step.wildcards) };
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name} ({count})") }
    };
    steps.iter().map(name).collect()
}

/// The jobs that are printed, in their order.
fn steps(printed: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    let mut within = false;
    let mut in_shell = false;
    for line in printed.lines() {
        let shell = steps.last_mut().map(|step| &mut step.shell);
        if let (Some(shell), Some(command)) = (shell, line.strip_prefix("Shell command: ")) {
            *shell = (command != "None").then(|| command.to_owned());
            (in_shell, within) = (command != "None", false);
            continue;
        }
        in_shell &= !line.is_empty() && line != "Job stats:";
        if in_shell {
            let shell = steps.last_mut().and_then(|step| step.shell.as_mut());
            shell.into_iter().for_each(|shell| shell.extend(["\n", line]));
            continue;
        }
        if let Some(rule) = rule(line)? {
            steps.push(Step { rule: rule.to_owned(), ..Step::default() });
            within = true;
            continue;
        }
        let Some(stated) = line.strip_prefix("    ").filter(|_| within) else {
            within = false;
            continue;
        };
        let (Some(step), Some((key, value))) = (steps.last_mut(), stated.split_once(": ")) else { continue };
        let files = || value.split(", ").map(str::to_owned).collect();
        match key {
            "input" => step.input = files(),
            "output" => step.output = files(),
            "wildcards" => value.clone_into(&mut step.wildcards),
            "threads" => step.threads = value.parse().ok(),
            "benchmark" => step.benchmark = Some(value.to_owned()),
            "resources" => {
                let megabytes = value.split(", ").find_map(|one| one.strip_prefix("mem_mb="));
                step.megabytes = megabytes.and_then(|text| text.parse().ok());
            }
            _ => {}
        }
    }
    Ok(steps)
}

/// The name of a rule whose job begins on a line.
fn rule(line: &str) -> Result<Option<&str>, String> {
    let named = |word: &str| line.strip_prefix(word)?.strip_suffix(':').filter(|name| !name.contains(' '));
    if let Some(name) = named("checkpoint ").or_else(|| named("localcheckpoint ")) {
        return Err(format!(
            "`{name}` is a checkpoint, behind which Snakemake finds its jobs while it runs; run it by Snakemake"
        ));
    }
    Ok(named("rule ").or_else(|| named("localrule ")))
}

/// The mean time of a benchmark file, from how many runs, and their spread.
fn measured(text: &str) -> Option<(Time, u32, f64)> {
    let mut lines = text.lines();
    let column = lines.next()?.split('\t').position(|name| name == "s")?;
    let times: Vec<f64> = lines
        .filter_map(|line| line.split('\t').nth(column)?.parse().ok())
        .filter(|time: &f64| time.is_finite() && *time >= 0.0)
        .collect();
    let count = times.len() as f64;
    let mean = times.iter().sum::<f64>() / count;
    let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / count;
    // Hundredths of a second are written: 0.00 was less than half of one.
    let mean = if times.is_empty() { return None } else { mean.max(0.005) };
    let time = Time::parse(&format!("{mean:.6}")).ok()?;
    Some((time, times.len() as u32, variance.sqrt() / mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "Building DAG of jobs...\n\n[Mon Nov 23 14:14:19 2026]\nrule count:\n    input: data/a.txt\n    output: counts/a.n\n    \
        log: logs/a.log\n    jobid: 2\n    benchmark: bench/a.tsv\n    reason: Missing output files: counts/a.n\n    wildcards: s=a\n    threads: 2\n    \
        resources: tmpdir=/tmp, mem_mb=100, mem=100 MB\nShell command: wc\n\nrule count:\n    input: data/b c.txt\n    output: counts/b c.n\n    \
        wildcards: s=b c\n\n[x]\nlocalrule all:\n    input: counts/a.n, counts/b c.n\n    jobid: 0\n    resources: tmpdir=/tmp\nJob stats:\n";

    #[test]
    fn what_a_rule_does_is_a_part_of_its_job() {
        let printed = |shell: &str| {
            format!(
                "rule a:\n    output: x\nShell command: {shell}\n  echo\n\n[x]\nrule b:\n    output: y\nShell command: None\n"
            )
        };
        let commands = |text: &[u8], shell: &str| {
            let instance = read_snakemake("S", text, &printed(shell), &Platform::flat(1).unwrap(), |_| None);
            let instance = instance.unwrap().unwrap();
            instance.jobs().iter().map(|job| instance.command(job.first()).to_vec()).collect::<Vec<_>>()
        };
        let (first, edited, other) = (commands(b"1", "cc"), commands(b"2", "cc"), commands(b"2", "cc -g"));
        assert_eq!(first[0], edited[0]);
        assert_ne!(first[1], edited[1], "what it does is not printed");
        assert_ne!(first[0], other[0]);
        assert_eq!(edited[1], other[1]);
    }

    #[test]
    fn a_dry_run_is_read() {
        let bench = |name: &str| {
            (name == "bench/a.tsv").then(|| "s\th:m:s\tmax_rss\n2.0\t0:00:02\t3\n4.0\t0:00:04\t3\n".to_owned())
        };
        let memory = makespan_core::Resources::new([("memory", 1_u64 << 30)]).unwrap();
        let platform = Platform::flat(4).unwrap().with_node_resources(&memory).unwrap();
        let instance = read_snakemake("Snakefile", b"", PRINTED, &platform, bench).unwrap().unwrap();
        let jobs = instance.jobs();
        let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(names, ["count s=a", "count s=b c", "all"]);
        assert_eq!(jobs[2].after.iter().map(|name| &**name).collect::<Vec<_>>(), names[..2]);
        let first = instance.task(jobs[0].first());
        assert_eq!(
            (first.profile.time(2), first.estimate),
            (Time::from_seconds(3), Estimate::Learned { runs: 2, spread: 1.0 / 3.0 })
        );
        assert_eq!(first.needs.iter().next(), Some(("memory", &Need::whole(100_000_000))));
        assert_eq!(first.command.last().unwrap(), "counts/a.n");
        assert_eq!(instance.task(jobs[2].first()).command.last().unwrap(), "all");
        assert!(instance.task(jobs[1].first()).estimate.is_guess());
        assert!(read_snakemake("Snakefile", b"", "Nothing to be done.\n", &platform, |_| None).unwrap().is_none());
        let checkpoint = read_snakemake("S", b"", "checkpoint c:\n    output: a\n", &platform, |_| None).unwrap_err();
        assert!(checkpoint.to_string().contains("`c` is a checkpoint"));
        assert_eq!((measured("s\n"), measured("x\n1\n"), measured("s\n-1\n")), (None, None, None));
        assert_eq!(measured("s\n0.00\n"), Some((Time::parse("5ms").unwrap(), 1, 0.0)));
    }
}
