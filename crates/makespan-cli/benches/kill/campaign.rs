//! Kills random processes of runs and resumes each run afterwards. An independent check compares the state of the run
//! with what the jobs wrote themselves.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::check::{Evidence, canonical, starts_of_done};
use super::processes::{Process, kill_group, of_run, signal};

/// A series of random kills.
pub struct Campaign {
    pub kills: usize,
    pub seed: u64,
    /// True if progress is printed.
    pub tells: bool,
    /// True if all runs have jobs that fail at first and are retried.
    pub retries: bool,
}

/// The results of a campaign.
#[derive(Default)]
pub struct Summary {
    pub kills: BTreeMap<&'static str, usize>,
    pub runs: usize,
    pub sessions: usize,
    pub jobs: usize,
    pub faults: Vec<String>,
}

/// The processes that a kill hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Session,
    Shim,
    Job,
    Group,
    Everything,
    Stopped,
    AllStopped,
}

const VICTIMS: [(Victim, &str); 7] = [
    (Victim::Session, "session, SIGKILL"),
    (Victim::Shim, "shim, SIGKILL"),
    (Victim::Job, "process of a job, SIGKILL"),
    (Victim::Group, "group of a job, SIGKILL"),
    (Victim::Everything, "everything, SIGKILL"),
    (Victim::Stopped, "session, SIGTERM"),
    (Victim::AllStopped, "everything, SIGTERM"),
];

/// Number of kills in one run, after which the run may end.
const KILLS_OF_A_RUN: usize = 10;

/// The kind of run with jobs that fail at first.
const RETRIES: usize = 3;

/// The kind of run with many short jobs. Their ends are synced in groups.
const SHORT: usize = 4;

/// The number of its jobs.
const SHORT_JOBS: usize = 150;

/// Number of retries of a job that fails.
const TRIES: &str = "3";

/// A pseudorandom number generator (splitmix64, Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    fn pick<T: Copy>(&mut self, among: &[T]) -> Option<T> {
        if among.is_empty() { None } else { Some(among[self.below(among.len())]) }
    }
}

impl Campaign {
    pub fn run(&self, makespan: &Path) -> Summary {
        let (mut summary, mut random) = (Summary::default(), Random(self.seed));
        while summary.total() < self.kills {
            let kills = KILLS_OF_A_RUN.min(self.kills - summary.total());
            let kind = if self.retries { RETRIES } else { summary.runs % (SHORT + 1) };
            Scene::new(makespan, summary.runs, kind).play(kills, &mut random, &mut summary);
            summary.runs += 1;
            if self.tells {
                eprintln!("{} kills in {} runs, {} faults", summary.total(), summary.runs, summary.faults.len());
            }
        }
        summary
    }
}

impl Summary {
    pub fn total(&self) -> usize {
        self.kills.values().sum()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, sessions, jobs, faults, .. } = self;
        writeln!(
            out,
            "{} kills, {runs} runs, {sessions} sessions, {jobs} jobs: {} faults",
            self.total(),
            faults.len()
        )?;
        for (victim, count) in &self.kills {
            writeln!(out, "  {count:5} {victim}")?;
        }
        faults.iter().try_for_each(|fault| writeln!(out, "FAULT {fault}"))
    }
}

/// One run, from its start until all its jobs have succeeded.
struct Scene<'a> {
    makespan: &'a Path,
    sandbox: tempfile::TempDir,
    evidence: Evidence,
    names: Vec<String>,
    /// Jobs that are done, with the number of their starts at that time.
    done: BTreeMap<String, usize>,
    /// True if jobs fail at first and are retried.
    retries: bool,
    title: String,
}

impl<'a> Scene<'a> {
    /// Creates a run of independent jobs, a bag, a graph, jobs that fail at first, or short jobs.
    fn new(makespan: &'a Path, number: usize, kind: usize) -> Self {
        let sandbox = tempfile::tempdir().unwrap();
        let log = sandbox.path().join("log");
        fs::write(&log, "").unwrap();
        let (title, instance, names) = match kind {
            0 => ("plain", plain(&log), (0..12).map(|index| format!("j{index}")).collect()),
            RETRIES => ("retries", flaky(&log), (0..8).map(|index| format!("j{index}")).collect()),
            SHORT => ("short", short(&log), (0..SHORT_JOBS).map(|index| format!("j{index}")).collect()),
            1 => ("bag", bag(&log), (0..10).map(|index| format!("bag/{index}")).chain(["solo".into()]).collect()),
            _ => ("graph", graph(&log), ["split", "a", "b", "c", "join"].map(|task| format!("g/{task}")).to_vec()),
        };
        fs::write(sandbox.path().join("i.toml"), instance).unwrap();
        let folder = sandbox.path().join("f");
        fs::create_dir(&folder).unwrap();
        let evidence = Evidence { log, folder: canonical(&folder) };
        let (title, retries) = (format!("run {number}, {title}"), kind == RETRIES);
        Self { makespan, sandbox, evidence, names, done: BTreeMap::new(), retries, title }
    }

    fn spawn(&self, retry: bool) -> Child {
        let mut command = Command::new(self.makespan);
        command.env("MAKESPAN_HISTORY", self.sandbox.path().join("history.sqlite"));
        command.args(["run", "i.toml", "--oversubscribe", "--folder", "f", "--resume"]);
        command.args(retry.then_some("--retry-failed")).current_dir(self.sandbox.path());
        command.args(self.retries.then_some(["--retry", TRIES]).into_iter().flatten());
        let appended =
            |name: &str| fs::File::options().append(true).create(true).open(self.sandbox.path().join(name)).unwrap();
        command.stdin(Stdio::null()).stdout(appended("printed")).stderr(appended("errors")).spawn().unwrap()
    }

    fn play(mut self, mut kills: usize, random: &mut Random, summary: &mut Summary) {
        let (begun, mut retry) = (Instant::now(), false);
        loop {
            let mut session = self.spawn(retry);
            summary.sessions += 1;
            let mut killed = false;
            while session.try_wait().unwrap().is_none() {
                if begun.elapsed() > Duration::from_mins(5) {
                    summary.faults.push(format!("{}: it does not come to its end", self.title));
                    signal(session.id() as i32, Signal::SIGKILL);
                    return;
                }
                sleep(Duration::from_millis(3 + random.below(120) as u64));
                if kills > 0
                    && let Some(victim) = self.strike(&session, random)
                {
                    kills -= 1;
                    let (_, name) = VICTIMS[victim];
                    *summary.kills.entry(name).or_default() += 1;
                    retry |= matches!(VICTIMS[victim].0, Victim::Shim | Victim::Job | Victim::Group);
                    killed = matches!(VICTIMS[victim].0, Victim::Session | Victim::Everything);
                    if killed {
                        break;
                    }
                }
            }
            let status = session.wait().unwrap();
            // SIGTERM also kills a session that does not yet handle signals.
            killed |= status.code().is_none();
            self.look(killed, summary);
            if status.success() && kills == 0 {
                break;
            }
            if status.success() {
                // All jobs ended before all kills were used. The remaining kills belong to another run.
                break;
            }
            if !killed && kills == 0 {
                retry = true;
            }
        }
        self.conclude(summary);
    }

    /// Kills random processes, if there are any. Returns the index of the victim in `VICTIMS`.
    fn strike(&self, session: &Child, random: &mut Random) -> Option<usize> {
        let processes = of_run(&self.evidence.folder);
        let (shims, jobs): (Vec<Process>, Vec<Process>) =
            processes.iter().copied().partition(|process| process.is_shim);
        let victim = random.below(VICTIMS.len());
        let everything = |how: Signal| processes.iter().for_each(|process| signal(process.pid, how));
        match VICTIMS[victim].0 {
            Victim::Session => signal(session.id() as i32, Signal::SIGKILL),
            Victim::Shim => signal(random.pick(&shims)?.pid, Signal::SIGKILL),
            Victim::Job => signal(random.pick(&jobs)?.pid, Signal::SIGKILL),
            Victim::Group => kill_group(random.pick(&jobs)?.pid),
            Victim::Everything => {
                everything(Signal::SIGKILL);
                signal(session.id() as i32, Signal::SIGKILL);
            }
            Victim::Stopped => signal(session.id() as i32, Signal::SIGTERM),
            Victim::AllStopped => {
                everything(Signal::SIGTERM);
                signal(session.id() as i32, Signal::SIGTERM);
            }
        }
        Some(victim)
    }

    /// Checks the run after a session: finished jobs did not start again, no job ran twice at the same time, and a
    /// session that ended normally left no process.
    fn look(&mut self, killed: bool, summary: &mut Summary) {
        let mut fault = |text: String| summary.faults.push(format!("{}: {text}", self.title));
        if !killed {
            let left = of_run(&self.evidence.folder);
            if !left.is_empty() {
                fault(format!("the session ended and left {left:?}"));
            }
        }
        for (job, &starts) in &self.done {
            let now = self.evidence.times("start", job);
            if now != starts {
                fault(format!("{job} was done after {starts} starts and has {now}"));
            }
        }
        for twin in self.evidence.twins() {
            fault(format!("{twin} ran twice at once"));
        }
        let stopped = [129, 130, 143];
        for status in self.evidence.failures().into_iter().filter(|status| stopped.contains(status)) {
            fault(format!("a stopped job is recorded as failed with {status}"));
        }
        self.done.extend(starts_of_done(&self.evidence));
    }

    /// Checks at the end that each job succeeded once in the journal, and that it really ended at least once.
    fn conclude(self, summary: &mut Summary) {
        summary.jobs += self.names.len();
        let mut fault = |text: String| summary.faults.push(format!("{}: {text}", self.title));
        for job in self.names.iter().filter(|job| self.evidence.times("end", job) == 0) {
            fault(format!("{job} is lost"));
        }
        if self.retries {
            for job in self.names.iter().filter(|job| self.evidence.times("fail", job) != 1) {
                fault(format!("{job} has failed {} times", self.evidence.times("fail", job)));
            }
        }
        let printed = fs::read_to_string(self.sandbox.path().join("printed")).unwrap_or_default();
        for (number, job) in self.names.iter().enumerate() {
            let line = format!("out {job}");
            let count = printed.lines().filter(|other| **other == line).count();
            let ends = self.evidence.ends_of(number as u64);
            if count > ends {
                fault(format!("{job} has ended {ends} times and its output was printed {count} times"));
            }
        }
        let successes = self.evidence.successes();
        if successes.len() != self.names.len() || successes.values().any(|&count| count != 1) {
            fault(format!("the journal tells {successes:?}"));
        }
    }
}

/// Returns the script of a job that logs its start, its end, and whether an earlier attempt of it is still alive. A
/// part of its work is done by a process that leaves its process group or its session.
fn script(log: &Path, work: &str) -> String {
    let log = log.display();
    format!(
        "while read -r what name pid; do \
         if [ \"$what\" = start ] && {{ [ \"$name\" = \"$MAKESPAN_JOB\" ] || [ \"$name\" = \"$MAKESPAN_JOB/away\" ]; }} && \
         grep -qs \"^State:.[^ZX]\" /proc/$pid/status && tr \"\\0\" \"\\n\" </proc/$pid/environ 2>/dev/null | \
         grep -qsxF \"MAKESPAN_JOB=$MAKESPAN_JOB\"; then echo \"twice $MAKESPAN_JOB\" >>{log}; fi; done <{log}; \
         echo \"start $MAKESPAN_JOB $$\" >>{log}; \
         setsid sh -c \"echo start $MAKESPAN_JOB/away \\$\\$ >>{log}; {work}\"; timeout 60 sleep 0.03; \
         echo \"end $MAKESPAN_JOB\" >>{log}"
    )
}

fn entry(head: &str, log: &Path, work: &str) -> String {
    format!("{head}\ncommand = [\"sh\", \"-c\", '''{}''']\n", script(log, work))
}

const HEAD: &str = "version = 1\n[platform]\nprocessors = 3\n";

fn plain(log: &Path) -> String {
    let work = ["sleep 0.05", "sleep 0.02 & wait", "sleep 0.1"];
    let job = |index: usize| {
        let processors = 1 + index % 4 / 3;
        entry(&format!("[[jobs]]\nname = \"j{index}\"\nprocessors = {processors}\ntime = 0.1"), log, work[index % 3])
    };
    format!("{HEAD}{}", (0..12).map(job).collect::<String>())
}

/// Returns jobs that fail once, after their work.
fn flaky(log: &Path) -> String {
    let fails = |name: &str| {
        let place = log.display();
        format!("grep -qsx \"fail {name}\" {place} || {{ echo \"fail {name}\" >>{place}; exit 7; }}")
    };
    let job = |index: usize| {
        let name = format!("j{index}");
        let head = format!("[[jobs]]\nname = \"{name}\"\nprocessors = {}\ntime = 0.1", 1 + index % 4 / 3);
        // The last command of the script logs its end.
        let entry = entry(&head, log, "sleep 0.05");
        entry.replace("sleep 0.03; ", &format!("sleep 0.03; {}; ", fails(&name)))
    };
    format!("{HEAD}{}", (0..8).map(job).collect::<String>())
}

/// Returns jobs that print their names and take a few milliseconds.
fn short(log: &Path) -> String {
    let place = log.display();
    let script = format!(
        "echo \"start $MAKESPAN_JOB $$\" >>{place}; echo \"out $MAKESPAN_JOB\"; echo \"end $MAKESPAN_JOB\" >>{place}"
    );
    let head = |index: usize| format!("[[jobs]]\nname = \"j{index}\"\nprocessors = 1\ntime = 0.01");
    let job = |index: usize| format!("{}\ncommand = [\"sh\", \"-c\", '''{script}''']\n", head(index));
    format!("{HEAD}{}", (0..SHORT_JOBS).map(job).collect::<String>())
}

fn bag(log: &Path) -> String {
    let bag = entry("[[jobs]]\nname = \"bag\"\ncount = 10\ntime = 0.1", log, "sleep 0.06");
    format!("{HEAD}{bag}{}", entry("[[jobs]]\nname = \"solo\"\nprocessors = 2\ntime = 0.1", log, "sleep 0.1"))
}

fn graph(log: &Path) -> String {
    let task = |name: &str| entry(&format!("[[jobs.tasks]]\nname = \"{name}\"\nwork = 0.1"), log, "sleep 0.08");
    let edge = |(from, to): (&str, &str)| format!("[[jobs.edges]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
    let edges = [("split", "a"), ("split", "b"), ("split", "c"), ("a", "join"), ("b", "join"), ("c", "join")];
    let tasks: String = ["split", "a", "b", "c", "join"].into_iter().map(task).collect();
    format!("{HEAD}[[jobs]]\nname = \"g\"\n{tasks}{}", edges.map(edge).concat())
}
