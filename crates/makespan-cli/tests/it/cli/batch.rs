//! `makespan run --on pbs`, with programs on `PATH` that pretend to be a batch system.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cli::sandbox::{Said, Sandbox};

/// Submits a job: starts its script in a process group of its own.
const QSUB: &str = r#"cd "$FAKE" || exit 1
number=$(($(ls | grep -c 'sh$') + 1))
echo "$*" >>calls
cat >"$number.sh"
PBS_JOBID=$number.head setsid sh "$number.sh" >/dev/null 2>&1 </dev/null &
echo "$! $2" >"$number.job"
echo "$number.head""#;

/// Lists the jobs. As some batch systems do, the first lists lack jobs that have just been submitted.
const QSTAT: &str = r#"cd "$FAKE" || exit 1
echo >>polls
[ "$(grep -c '' polls)" -gt 4 ] || exit 0
for job in *.job; do
  [ -e "$job" ] || continue
  read -r process name <"$job"
  kill -0 "$process" 2>/dev/null && printf 'Job Id: %s.head\n    Job_Name = %s\n    job_state = R\n\n' "${job%.job}" "$name"
done
exit 0"#;

const QDEL: &str = r#"cd "$FAKE" || exit 1
read -r process name <"$1.job"
echo "qdel $1" >>calls
kill -9 "-$process""#;

/// Submits the tasks of a job array, and lists them.
const QSUB_ARRAY: &str = r#"cd "$FAKE" || exit 1
number=$(($(ls | grep -c 'sh$') + 1))
echo "$*" >>calls
cat >"$number.sh"
while [ $# -gt 0 ]; do case $1 in -t) tasks=$2;; -N) name=$2;; esac; shift; done
for task in $(seq "$tasks"); do
  TASK=$task JOB=$number setsid sh "$number.sh" >/dev/null 2>&1 </dev/null &
  echo "$! $name" >"$number.$task.job"
done
echo "job $number""#;
const QSTAT_ARRAY: &str = r#"cd "$FAKE" || exit 1
for job in *.job; do
  read -r process name <"$job"
  task=${job#*.}
  kill -0 "$process" 2>/dev/null && echo "${job%%.*} ${task%.job} R $name"
done
exit 0"#;

/// A system with job arrays and pilots of several nodes.
const WIDE: &str = r#"name = "Wide"
job-id = "$JOB"
task-id = "$TASK"
[submit]
command = ["qsub", "-N", "{name}"]
memory = ["-m", "{megabytes}"]
nodes = ["-w", "{nodes}x{cores}"]
array = ["-t", "{count}"]
id = 'job (?<job>\d+)'
[list]
command = ["qstat"]
job = '(?m)^(?<job>\d+) (?<task>\d+) (?<state>\w) (?<name>.*)$'
[cancel]
command = ["qdel"]
task = "{job}.{task}"
[nodes]
names = '"n1 n2"'
launch = ["sh", "launch", "{node}", "{index}"]
"#;

struct Batch(Sandbox);

impl Batch {
    fn new() -> Self {
        Self::with(QSUB, QSTAT)
    }

    fn with(qsub: &str, qstat: &str) -> Self {
        let sandbox = Sandbox::new();
        fs::create_dir_all(sandbox.path("bin")).unwrap();
        fs::create_dir_all(sandbox.path("jobs")).unwrap();
        for (name, text) in [("qsub", qsub), ("qstat", qstat), ("qdel", QDEL)] {
            let path = sandbox.path("bin").join(name);
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self(sandbox)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = self.0.command(line);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.0.path("bin").display())).env("FAKE", self.0.path("jobs"));
        command
    }

    fn run(&self, line: &str) -> Said {
        Said::new(line, &self.command(line).output().unwrap())
    }

    /// Returns a command of the batch system.
    fn program(&self, name: &str, words: &[&str]) -> Command {
        let mut command = Command::new(self.0.path("bin").join(name));
        command.args(words).env("FAKE", self.0.path("jobs"));
        command
    }
}

#[test]
fn a_run_on_a_described_batch_system_is_resumed_in_its_pilots() {
    let batch = Batch::new();
    let job = |index: usize| format!("echo begun >>log.{index}; sleep 0.4; echo done >>log.{index}\n");
    batch.0.write("list.txt", (0..6).map(job).collect::<String>());
    let line = "run list.txt --on pbs*2 --nodes 2 --time 10m --partition long --submit-option=-V --folder run";
    let mut planner = batch.command(line).spawn().unwrap();
    let begun = Instant::now();
    while !batch.0.path("log.0").exists() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    planner.kill().unwrap();
    planner.wait().unwrap();
    let said = batch.run(&format!("{line} --resume"));
    assert_eq!(said.status, Some(0), "{said:?}");
    assert!(said.err.contains("the description of OpenPBS is untested on a real system"), "{said:?}");
    for index in 0..6 {
        assert_eq!(batch.0.read(&format!("log.{index}")), "begun\ndone\n", "job {index}: {said:?}");
    }
    let calls = batch.0.read("jobs/calls");
    let expected = "-r n -j oe -o /dev/null -l ncpus=2 -l walltime=600 -q long -V";
    assert_eq!(calls.lines().filter(|call| call.ends_with(expected)).count(), 2, "{calls}");
    assert_eq!(calls.lines().count(), 2, "the second session uses the pilots of the first session: {calls}");
    let said = batch.run(&format!("{line} --resume"));
    assert_eq!(said.status, Some(0), "{said:?}");
    assert_eq!(batch.0.read("jobs/calls"), calls, "a complete run submits and cancels no pilot");
}

#[test]
fn pilots_have_several_nodes_and_memory_and_are_submitted_together() {
    let batch = Batch::with(QSUB_ARRAY, QSTAT_ARRAY);
    batch.0.write("wide.toml", WIDE);
    batch.0.write("launch", "echo \"$1 $2\" >>launched\nshift 2\nexec \"$@\"\n");
    let line = "run --on batch:wide.toml*1 --pilots 2x2nodes,10m --node-memory 1GiB --folder run";
    let said = batch.run(&format!("{line} 'echo $MAKESPAN_NODES; sleep 0.3; : {{}}' ::: 1 2 3 4 5 6 7 8"));
    assert_eq!(said.status, Some(0), "{said:?}");
    let nodes: Vec<&str> = said.out.lines().collect();
    assert!(nodes.len() == 8 && nodes.contains(&"n1") && nodes.contains(&"n2"), "{said:?}");
    let calls = batch.0.read("jobs/calls");
    let submitted: Vec<&str> = calls.lines().filter(|call| call.starts_with("-N")).collect();
    assert!(submitted.len() == 1 && submitted[0].ends_with("-m 1024 -w 2x1 -t 2"), "{calls}");
    let launched = batch.0.read("launched");
    assert_eq!(launched.lines().filter(|line| *line == "n2 1").count(), 2, "{launched}");
}

#[test]
fn a_service_runs_jobs_in_pilots() {
    let batch = Batch::new();
    let mut serve = batch.command("serve --on pbs*2 --store st --listen 127.0.0.1:0 --no-history");
    let mut service = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(service.stdout.take().unwrap()).lines().take(3);
    let said: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(said[2].contains("it runs jobs on OpenPBS, 2 processors"), "{said:?}");
    let line = "submit --wait -- 'echo $MAKESPAN_JOB_ID >log'";
    let output = batch.command(line).env("MAKESPAN_STORE", batch.0.path("st")).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{:?}", Said::new(line, &output));
    assert_eq!(batch.0.read("log"), "1\n");
    service.kill().unwrap();
    service.wait().unwrap();
    // The pilot outlives the service.
    assert!(batch.program("qdel", &["1"]).status().unwrap().success());
}

#[test]
fn wrong_batch_systems_are_refused() {
    let batch = Batch::new();
    batch.0.write("list.txt", "true\n");
    batch.0.write("own.toml", "name = \"Own\"\n[submit]\ncommand = [\"qsub\"]\n");
    let cases = [
        ("--on pbs*none", "`none` is not a number of cores"),
        ("--on batch:own.toml*2", "own.toml: TOML parse error"),
        ("--on batch:missing.toml", "missing.toml: No such file"),
        ("--on sge --pilots 2x4nodes", "pilots with several nodes: the description of Grid Engine has no key"),
        ("--on slurm --node-memory 2GiB", "--node-memory: Slurm reports the memory of its nodes"),
        ("--on pbs --pilots auto", "--pilots auto: write the number of pilots"),
    ];
    for (options, expected) in cases {
        let said = batch.run(&format!("run list.txt {options}"));
        assert!(said.status != Some(0) && said.err.contains(expected), "{options}: {said:?}");
    }
}
