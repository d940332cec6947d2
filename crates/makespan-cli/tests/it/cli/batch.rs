//! `makespan run --on pbs`, with programs on `PATH` that pretend to be a batch system.

use std::fs;
use std::os::unix::fs::PermissionsExt;
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
kill -9 -- "-$process""#;

struct Batch(Sandbox);

impl Batch {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        fs::create_dir_all(sandbox.path("bin")).unwrap();
        fs::create_dir_all(sandbox.path("jobs")).unwrap();
        for (name, text) in [("qsub", QSUB), ("qstat", QSTAT), ("qdel", QDEL)] {
            let path = sandbox.path("bin").join(name);
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self(sandbox)
    }

    fn command(&self, line: &str) -> std::process::Command {
        let mut command = self.0.command(line);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.0.path("bin").display())).env("FAKE", self.0.path("jobs"));
        command
    }

    fn run(&self, line: &str) -> Said {
        Said::new(line, &self.command(line).output().unwrap())
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
    let expected = "-r n -j oe -o /dev/null -l select=1:ncpus=2 -l walltime=600 -q long -V";
    assert_eq!(calls.lines().filter(|call| call.ends_with(expected)).count(), 2, "{calls}");
    assert_eq!(calls.lines().count(), 2, "the second session uses the pilots of the first session: {calls}");
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
        ("--on pbs --pilots 2x4nodes", "pilots with several nodes need --on slurm"),
        ("--on pbs --pilots auto", "--pilots auto: write the number of pilots"),
    ];
    for (options, expected) in cases {
        let said = batch.run(&format!("run list.txt {options}"));
        assert!(said.status != Some(0) && said.err.contains(expected), "{options}: {said:?}");
    }
}
