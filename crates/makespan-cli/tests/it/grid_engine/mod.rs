//! Runs on a real Grid Engine, in which planners, agents, heads and pilots are killed at random moments.
//!
//! `cluster.sh` starts Grid Engine in namespaces of its own and then starts this program again there, as an ordinary
//! user.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/grid_engine/cluster.sh");

/// Exit status of the script if Grid Engine cannot be installed.
const NOT_INSTALLED: i32 = 77;

/// Runs a helper test of this program on a Grid Engine. The helper test prints its result.
fn on_grid_engine(helper: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("bash");
    command.arg(SCRIPT).arg(folder.path()).arg(std::env::current_exe().unwrap());
    command.args(["--exact", helper, "--ignored", "--nocapture"]).env("MAKESPAN_GRID", "1");
    let output = command.output().unwrap();
    let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).join("\n");
    if output.status.code() == Some(NOT_INSTALLED) || !nix::unistd::geteuid().is_root() {
        eprintln!("SKIPPED: the tests with a real Grid Engine need root and Debian's gridengine-master");
        return;
    }
    println!("{said}");
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "long: a real Grid Engine, two minutes of kills"]
fn twenty_kills_on_grid_engine_lose_nothing_and_repeat_nothing() {
    on_grid_engine("grid_engine::helper_of_kills");
}

#[test]
#[ignore = "long: helper that runs only inside a Grid Engine"]
fn helper_of_kills() {
    if std::env::var_os("MAKESPAN_GRID").is_some() {
        let seed = std::env::var("MAKESPAN_SEED").ok().and_then(|seed| seed.parse().ok());
        Campaign::begin(160, seed.unwrap_or(7)).run(20);
    }
}

#[derive(Clone, Copy, Debug)]
enum Victim {
    Planner,
    Agent,
    Head,
    Pilot,
}

const VICTIMS: [Victim; 4] = [Victim::Planner, Victim::Agent, Victim::Head, Victim::Pilot];

const RUN: &str = "run list.txt --on sge*2 --nodes 3 --time 20m --no-history --folder run --retry 50";

struct Campaign {
    folder: PathBuf,
    jobs: usize,
    state: u64,
    planner: Child,
    /// Jobs that ran when their pilot was killed.
    hit: BTreeSet<usize>,
    log: String,
}

impl Campaign {
    fn begin(jobs: usize, seed: u64) -> Self {
        let folder = std::env::current_dir().unwrap();
        // If two copies of a job run at the same time, the second copy finds the lock taken, and writes `twice`. The
        // last three jobs wait for the last kill.
        let line = |index: usize| {
            let work = 0.2 + 0.3 * (index % 7) as f64;
            let wait = if index + 3 < jobs { "" } else { "until test -e enough; do sleep 0.1 9>&-; done; " };
            format!(
                "echo begun >>log.{index}; exec 9>lock.{index}; flock -n 9 || echo twice >>log.{index}; {wait}sleep {work:.1} 9>&- && echo done >>log.{index}\n"
            )
        };
        fs::write(folder.join("list.txt"), (0..jobs).map(line).collect::<String>()).unwrap();
        let planner = planner(&folder, RUN);
        Self { folder, jobs, state: seed, planner, hit: BTreeSet::new(), log: String::new() }
    }

    fn random(&mut self, below: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % below
    }

    /// Returns the jobs that have begun and not ended.
    fn running(&self) -> BTreeSet<usize> {
        let is_open = |&index: &usize| {
            let log = fs::read_to_string(self.folder.join(format!("log.{index}"))).unwrap_or_default();
            log.matches("begun").count() > log.matches("done").count()
        };
        (0..self.jobs).filter(is_open).collect()
    }

    fn shoot(&mut self, victim: Victim) -> bool {
        let run = self.folder.join("run");
        let (heads, agents) = processes(&run);
        let shot = |pid: &i32| kill(Pid::from_raw(*pid), Signal::SIGKILL).is_ok();
        match victim {
            Victim::Planner => {
                let killed = self.planner.kill().is_ok();
                self.planner.wait().unwrap();
                std::thread::sleep(Duration::from_millis(self.random(600)));
                self.planner = planner(&self.folder, &format!("{RUN} --resume"));
                killed
            }
            Victim::Agent => {
                let chosen = self.random(agents.len().max(1) as u64) as usize;
                agents.get(chosen).is_some_and(shot)
            }
            Victim::Head => {
                // Grid Engine ends the job with all its processes when the head ends.
                let chosen = self.random(heads.len().max(1) as u64) as usize;
                self.hit.extend(self.running());
                heads.get(chosen).is_some_and(shot)
            }
            Victim::Pilot => {
                let pilots = fs::read_dir(run.join("pilot/pilots")).into_iter().flatten().flatten();
                let over = run.join("pilot/over");
                let open = pilots.filter_map(|entry| entry.file_name().into_string().ok());
                let mut open: Vec<String> = open.filter(|name| !over.join(name).exists()).collect();
                open.sort();
                let chosen = self.random(open.len().max(1) as u64) as usize;
                let Some(pilot) = open.get(chosen) else { return false };
                self.hit.extend(self.running());
                // The pilots of the first session are tasks of a job array.
                let number: u64 = pilot.parse().unwrap();
                let (job, task) = (number % 1_000_000_000_000, number / 1_000_000_000_000);
                let name = if task > 0 { format!("{job}.{task}") } else { job.to_string() };
                Command::new("qdel").arg(name).output().is_ok_and(|output| output.status.success())
            }
        }
    }

    fn run(mut self, kills: usize) {
        let begun = Instant::now();
        let mut done = 0;
        while done < kills {
            std::thread::sleep(Duration::from_millis(500 + self.random(2000)));
            assert!(self.planner.try_wait().unwrap().is_none(), "the run ended after {done} kills\n{}", self.said());
            let victim = VICTIMS[self.random(VICTIMS.len() as u64) as usize];
            if self.shoot(victim) {
                done += 1;
                let _ = writeln!(self.log, "{:7.2} s: {victim:?}", begun.elapsed().as_secs_f64());
            }
        }
        fs::write(self.folder.join("enough"), "").unwrap();
        while self.planner.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_mins(5) {
            std::thread::sleep(Duration::from_millis(50));
        }
        let ended = self.planner.try_wait().unwrap();
        let (mut faults, mut again) = (Vec::new(), 0);
        for index in 0..self.jobs {
            let log = fs::read_to_string(self.folder.join(format!("log.{index}"))).unwrap_or_default();
            let (starts, ends) = (log.matches("begun").count(), log.matches("done").count());
            again += starts.saturating_sub(1);
            if ends == 0 || (ends > 1 && !self.hit.contains(&index)) || log.contains("twice") {
                faults.push(format!("job {index}: {}", log.replace('\n', " ")));
            }
        }
        let good = ended.is_some_and(|status| status.success()) && faults.is_empty();
        println!(
            "{}{kills} kills, {} jobs, {again} begun again, {} in reach of a kill, {} faults, {:.1} s",
            self.log,
            self.jobs,
            self.hit.len(),
            faults.len(),
            begun.elapsed().as_secs_f64()
        );
        assert!(good, "{ended:?} {faults:#?}\n{}", self.said());
    }

    /// Returns the output of the sessions and of the pilots.
    fn said(&self) -> String {
        let logs = fs::read_dir(self.folder.join("run/pilot")).into_iter().flatten().flatten();
        let logs = logs.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "log"));
        std::iter::once(self.folder.join("said"))
            .chain(logs)
            .map(|path| format!("{}:\n{}", path.display(), fs::read_to_string(&path).unwrap_or_default()))
            .collect()
    }
}

/// Starts a session, and appends its error output to the file `said`.
fn planner(folder: &Path, line: &str) -> Child {
    let said = fs::OpenOptions::new().create(true).append(true).open(folder.join("said")).unwrap();
    let mut command = Command::new(assert_cmd::cargo_bin!("makespan"));
    command.args(line.split_whitespace()).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said).spawn().unwrap()
}

/// Returns the heads and the agents of a run.
fn processes(run: &Path) -> (Vec<i32>, Vec<i32>) {
    let pids = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let words = |pid: i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect::<Vec<_>>()
    };
    let folder = run.display().to_string();
    let own = pids.map(|pid: i32| (pid, words(pid)));
    let own = own.filter(|(_, words)| words.get(1).is_some_and(|word| word == "agent") && words.contains(&folder));
    let (heads, agents): (Vec<_>, Vec<_>) = own.partition(|(_, words)| words.contains(&"--head".to_owned()));
    let pids = |all: Vec<(i32, Vec<String>)>| all.into_iter().map(|(pid, _)| pid).collect();
    (pids(heads), pids(agents))
}
