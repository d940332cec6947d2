//! Finds the jobs that Snakemake would run, from the output of a dry run. Each job runs `snakemake .. -- OUTPUT`, as
//! Snakemake's cluster executors do. Snakemake itself executes the rule, so scripts, environments and logs have their
//! usual meaning.

use makespan_core::{Estimate, Instance, Job, Need, Needs, Platform, Profile, Resource, Time, literal_word};
use rustc_hash::FxHashMap;

use crate::error::{FilePlace, FormatError};
use crate::guess::guessed;

/// A job in the output of a dry run.
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
    /// True if the job only collects its input: it has no output and no action.
    is_target: bool,
    /// Number and name of the group of the job.
    group: Option<(usize, String)>,
}

/// Returns the jobs that Snakemake would run, or `None` if nothing must be done. `file` is the name and `text` the
/// content of the workflow. `printed` is the output of `snakemake --dry-run --printshellcmds`. `benchmark` returns the
/// content of a benchmark file from an earlier run, if it exists.
///
/// # Errors
/// [`FormatError`] if a rule is not supported, or if the jobs are not a valid instance.
pub fn read_snakemake(
    file: &str,
    text: &[u8],
    printed: &str,
    platform: &Platform,
    benchmark: impl Fn(&str) -> Option<String>,
) -> Result<Option<Instance>, FormatError> {
    let wrong = |problem: String| FormatError::content(file, FilePlace::default(), problem);
    let groups = grouped(steps(printed).map_err(wrong)?);
    if groups.is_empty() {
        return Ok(None);
    }
    let outputs =
        |group: &'_ Group| -> Vec<String> { group.0.iter().flat_map(|step| step.output.iter().cloned()).collect() };
    let makers: FxHashMap<String, usize> =
        (0..).zip(&groups).flat_map(|(at, group)| outputs(group).into_iter().map(move |output| (output, at))).collect();
    let names = names(&groups);
    let job = |(at, group): (usize, &Group)| {
        let inputs = group.0.iter().flat_map(|step| &step.input);
        let mut before: Vec<usize> = inputs.filter_map(|input| makers.get(input).copied()).collect();
        before.retain(|&one| one != at);
        before.sort_unstable();
        before.dedup();
        group
            .job(file, text, &names[at], &benchmark)
            .map(|job| job.with_after(before.iter().map(|&one| names[one].as_str())))
    };
    let jobs = (0..).zip(&groups).map(job).collect::<Result<Vec<_>, String>>().map_err(wrong)?;
    let needed = |name: &str| name == Resource::MEMORY && groups.iter().any(|group| group.megabytes().is_some());
    let platform = super::with_needed(platform, needed);
    Instance::new(platform, jobs, Vec::new()).map(Some).map_err(|error| wrong(error.to_string()))
}

/// Jobs that one process of Snakemake runs: the jobs of a rule's `group:`, or one job.
#[derive(Debug)]
struct Group(Vec<Step>);

/// Returns the jobs by group. Jobs that only collect input are omitted, because Snakemake has nothing to do for them.
fn grouped(steps: Vec<Step>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for step in steps.into_iter().filter(|step| !step.is_target) {
        let last = groups.last_mut().filter(|Group(others)| step.group.is_some() && others[0].group == step.group);
        match last {
            Some(Group(others)) => others.push(step),
            None => groups.push(Group(vec![step])),
        }
    }
    groups
}

impl Group {
    fn job(
        &self,
        file: &str,
        text: &[u8],
        name: &str,
        benchmark: impl Fn(&str) -> Option<String>,
    ) -> Result<Job, String> {
        let cores = self.threads().unwrap_or(1);
        let (profile, estimate) = match self.measured(benchmark) {
            Some((time, runs, spread)) => (Profile::rigid(cores, time), Estimate::Learned { runs, spread }),
            None => (guessed(cores, cores, None, None), Estimate::Guessed),
        };
        let profile = profile.map_err(|error| format!("job `{name}`: {error}"))?;
        let memory =
            self.megabytes().filter(|&megabytes| megabytes > 0).map(|megabytes| megabytes.saturating_mul(1_000_000));
        let needs = Needs::new(memory.map(|bytes| (Resource::MEMORY.to_owned(), Need::whole(bytes))));
        let needs = needs.map_err(|error| format!("job `{name}`: {error}"))?;
        let job = Job::new(name, profile).with_estimate(estimate).with_needs(needs);
        let job = if self.threads().is_none() { job.with_assumed_core() } else { job };
        Ok(job.with_command(self.command(file, text)))
    }

    /// Returns the largest number of threads that a job of the group states, if any states one.
    fn threads(&self) -> Option<u32> {
        self.0.iter().filter_map(|step| step.threads).max().map(|threads| threads.max(1))
    }

    /// Returns an upper bound on the memory of the group. Snakemake runs the jobs of a group in parallel if there are
    /// enough cores.
    fn megabytes(&self) -> Option<u64> {
        let cores = self.threads().unwrap_or(1);
        let at_once = |step: &Step| u64::from((cores / step.threads.unwrap_or(1).max(1)).max(1));
        let count = self.0.len() as u64;
        self.0.iter().filter_map(|step| Some(step.megabytes?.saturating_mul(at_once(step).min(count)))).max()
    }

    /// Returns three figures from the benchmark files of the jobs: the sum of the mean run times, the smallest number
    /// of runs, and the largest spread. Returns `None` if a job has no benchmark file.
    fn measured(&self, benchmark: impl Fn(&str) -> Option<String>) -> Option<(Time, u32, f64)> {
        let mut all = self.0.iter().map(|step| measured(&benchmark(step.benchmark.as_deref()?)?));
        let first = all.next()??;
        all.try_fold(first, |(time, runs, spread), next| {
            let next = next?;
            Some((time + next.0, runs.min(next.1), spread.max(next.2)))
        })
    }

    /// Returns the command that runs Snakemake for these jobs. The command contains a hash of the shell commands as a
    /// comment. So if a shell command changes, the command changes too. If a job has no shell command, the hash is of
    /// the whole workflow.
    fn command(&self, file: &str, text: &[u8]) -> Vec<String> {
        let shells: Option<Vec<&str>> = self.0.iter().map(|step| step.shell.as_deref()).collect();
        let hash = super::short_hash(shells.map_or(text.to_vec(), |shells| shells.join("\n").into_bytes()).as_slice());
        let mut words: Vec<String> = ["sh", "-c"].map(str::to_owned).into();
        words.extend([format!("exec snakemake \"$@\" # rule {hash}"), self.0[0].rule.clone()]);
        words.extend(["--snakefile".to_owned(), literal_word(file), "--cores".to_owned(), "{processors}".to_owned()]);
        words.extend(["--nolock", "--notemp", "--force", "--quiet", "all", "--allowed-rules"].map(str::to_owned));
        let mut rules: Vec<&String> = self.0.iter().map(|step| &step.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        words.extend(rules.into_iter().cloned());
        words.push("--".into());
        // For a job without output, Snakemake is called with the name of the rule.
        words.extend(self.0.iter().map(|step| literal_word(step.output.first().unwrap_or(&step.rule))));
        words
    }
}

/// Returns the names of the jobs. A name consists of the group or the rule, followed by the wildcards. If the name
/// would not be unique, a number follows.
fn names(groups: &[Group]) -> Vec<String> {
    let mut seen: FxHashMap<String, u32> = FxHashMap::default();
    let name = |Group(steps): &Group| {
        let Step { rule, wildcards, group, .. } = &steps[0];
        let rule = group.as_ref().map_or(rule, |(_, name)| name);
        let name = if wildcards.is_empty() { rule.clone() } else { format!("{rule} {wildcards}") };
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name} ({count})") }
    };
    groups.iter().map(name).collect()
}

/// Returns the jobs in the output, in their order.
fn steps(printed: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    let mut within = false;
    let mut in_shell = false;
    let mut group: Option<(usize, String)> = None;
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
        if let Some(name) = group_of(line) {
            group = Some((group.map_or(0, |(number, _)| number + 1), name.to_owned()));
            within = false;
            continue;
        }
        // In a group, the jobs are indented.
        let indented = line.strip_prefix(INDENT).filter(|_| group.is_some());
        if let Some(rule) = rule(indented.unwrap_or(line))? {
            let group = group.clone().filter(|_| indented.is_some());
            steps.push(Step { rule: rule.to_owned(), group, ..Step::default() });
            within = true;
            continue;
        }
        let is_in_group = steps.last().is_some_and(|step| step.group.is_some());
        let line = if is_in_group { indented.unwrap_or(line) } else { line };
        let Some(stated) = line.strip_prefix(INDENT).filter(|_| within) else {
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
            // If a rule has an action and no output, Snakemake always runs the rule and states this reason.
            "reason" => step.is_target = step.output.is_empty() && !value.contains("run or shell"),
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

/// Indentation of the fields of a job.
const INDENT: &str = "    ";

/// Returns the name of a group if its jobs follow. A date may precede the name on the line.
fn group_of(line: &str) -> Option<&str> {
    let begun = line
        .strip_prefix("Group job ")
        .or_else(|| line.strip_prefix('[')?.split_once("] Group job ").map(|(_, rest)| rest));
    begun?.split_once(" (jobs in ").map(|(name, _)| name)
}

/// Returns the name of the rule of a job, if a job begins on this line.
fn rule(line: &str) -> Result<Option<&str>, String> {
    let named = |word: &str| line.strip_prefix(word)?.strip_suffix(':').filter(|name| !name.contains(' '));
    if let Some(name) = named("checkpoint ").or_else(|| named("localcheckpoint ")) {
        return Err(format!(
            "`{name}` is a checkpoint, so Snakemake decides at run time which jobs follow; run the workflow with \
             Snakemake"
        ));
    }
    Ok(named("rule ").or_else(|| named("localrule ")))
}

/// Returns the mean run time in a benchmark file, the number of runs, and the spread.
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
    // Benchmark files state hundredths of a second. A value of 0.00 stands for less than 0.005 s.
    let mean = if times.is_empty() { return None } else { mean.max(0.005) };
    let time = Time::parse(&format!("{mean:.6}")).ok()?;
    Some((time, times.len() as u32, variance.sqrt() / mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of Snakemake 9.27.
    const GROUPS: &str = "Building DAG of jobs...\n\n[d] Group job g (jobs in lexicogr. order):\n\n    [d]\n    rule a:\n        output: a1\n        \
        jobid: 3\n        reason: Missing output files: a1\n        wildcards: s=1\n        resources: tmpdir=/tmp, mem_mb=100\nShell command: make a\n\n    [d]\n    rule b:\n        \
        input: a1, z\n        output: b1\n        jobid: 2\n        reason: Missing\n        wildcards: s=1\n        threads: 2\nShell command: make b\n\n\
        [d] Group job g (jobs in lexicogr. order):\n\n    [d]\n    rule a:\n        output: a2\n        wildcards: s=2\nShell command: make a\n\n\
        [d]\nrule z:\n    output: z\n    reason: Missing output files: z\nShell command: None\n\n\
        [d]\nrule do:\n    input: b1\n    jobid: 7\n    reason: Rules with a run or shell declaration but no output are always executed.\nShell command: echo\n\n\
        [d]\nrule all:\n    input: b1, a2\n    jobid: 0\n    reason: Input files updated by another job: b1\n    resources: tmpdir=/tmp\nShell command: None\nJob stats:\n";

    #[test]
    fn a_group_is_one_job_and_a_rule_that_only_collects_files_is_none() {
        let platform = Platform::flat(2).unwrap();
        let resources = makespan_core::Resources::new([("memory", 1 << 30)]).unwrap();
        let platform = platform.with_node_resources(&resources).unwrap();
        let instance = read_snakemake("S", b"", GROUPS, &platform, |_| None).unwrap().unwrap();
        let jobs = instance.jobs();
        assert_eq!(jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["g s=1", "g s=2", "z", "do"]);
        let after = |at: usize| jobs[at].after.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!([after(0), after(1), after(3)], [vec!["z".to_owned()], vec![], vec!["g s=1".to_owned()]]);
        let words = instance.command(jobs[0].first()).to_vec();
        assert_eq!(words[words.len() - 6..], ["--allowed-rules", "a", "b", "--", "a1", "b1"]);
        // The group has two threads, so two jobs of 100 MB may run at the same time.
        assert_eq!(instance.profile(jobs[0].first()).min_processors(), 2);
        assert_eq!(instance.demands(jobs[0].first())[0].need.total(1), 200_000_000);
        let flag = |at: usize| instance.task(jobs[at].first()).assumes_one_core;
        assert_eq!([flag(0), flag(1)], [false, true]);
        assert!(
            read_snakemake("S", b"", &GROUPS[GROUPS.find("[d]\nrule all").unwrap()..], &platform, |_| None)
                .unwrap()
                .is_none()
        );
    }

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
