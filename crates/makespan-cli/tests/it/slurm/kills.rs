//! All kinds of processes are killed at random moments. No task is lost, and none is done twice.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Child;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::cluster::{Cluster, NodeSpec};
use super::processes::{Process, agents, heads, shims, sruns};
use super::workspace::{Said, Workspace};

/// The kind of process that is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Planner,
    Agent,
    Srun,
    Shim,
    Slurmd,
    Slurmctld,
    Head,
}

const VICTIMS: [Victim; 7] =
    [Victim::Planner, Victim::Agent, Victim::Srun, Victim::Shim, Victim::Slurmd, Victim::Slurmctld, Victim::Head];

struct Campaign<'a> {
    space: Workspace<'a>,
    jobs: usize,
    state: u64,
    planner: Child,
    /// Tasks with a shim that was killed, or may have been killed with its step.
    hit: BTreeSet<String>,
    log: String,
    /// Output of the killed sessions.
    said: String,
}

/// Number of jobs that wait for the last kill, so that the run does not end before it.
const WAITING: usize = 4;

fn line(jobs: usize) -> String {
    // Two copies of a job that run at the same time would notice each other's lock. A kill of a step may hit the sleep
    // first.
    let one = |index: usize| {
        let work = 0.2 + 0.3 * (index % 7) as f64;
        let wait =
            if index < jobs.saturating_sub(WAITING) { "" } else { "until test -e enough; do sleep 0.1 9>&-; done; " };
        format!(
            "echo begun $SLURMD_NODENAME >>log.{index}; exec 9>lock.{index}; flock -n 9 || echo twice >>log.{index}; {wait}sleep {work:.1} 9>&- && echo done >>log.{index}\n"
        )
    };
    (0..jobs).map(one).collect()
}

const RUN: &str = "run list.txt --on slurm --nodes 4 --no-history --folder run --retry 50";

impl<'a> Campaign<'a> {
    fn begin(cluster: &'a Cluster, jobs: usize, seed: u64) -> Self {
        let space = Workspace::new(cluster, &format!("kills-{seed}"));
        space.write("list.txt", &line(jobs));
        let planner = space.command(RUN).spawn().unwrap();
        Self { space, jobs, state: seed, planner, hit: BTreeSet::new(), log: String::new(), said: String::new() }
    }

    fn random(&mut self, below: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % below
    }

    fn one_of(&mut self, processes: Vec<Process>) -> Option<Process> {
        let count = processes.len() as u64;
        if count == 0 { None } else { processes.into_iter().nth(self.random(count) as usize) }
    }

    fn shoot(&mut self, victim: Victim) -> bool {
        let run = self.space.path("run");
        let shot = |process: &Process| kill(Pid::from_raw(process.pid), Signal::SIGKILL).is_ok();
        // Slurm ends all processes of a step with SIGKILL, including shims.
        let every: Vec<String> = shims(&run).iter().filter_map(job_of).collect();
        match victim {
            Victim::Planner => {
                let killed = self.planner.kill().is_ok();
                self.planner.wait().unwrap();
                std::thread::sleep(Duration::from_millis(self.random(600)));
                let next = self.space.command(&format!("{RUN} --resume")).spawn().unwrap();
                let ended = std::mem::replace(&mut self.planner, next).wait_with_output().unwrap();
                let _ = writeln!(self.said, "{}---", String::from_utf8_lossy(&ended.stderr));
                killed
            }
            Victim::Agent | Victim::Head | Victim::Srun => {
                let all = match victim {
                    Victim::Agent => agents(&run),
                    Victim::Head => heads(&run),
                    _ => sruns(&run),
                };
                if victim == Victim::Srun && self.random(2) == 0 {
                    self.hit.extend(every);
                    return !all.is_empty() && all.iter().all(shot);
                }
                self.hit.extend(every);
                self.one_of(all).is_some_and(|process| shot(&process))
            }
            Victim::Shim => {
                let Some(shim) = self.one_of(shims(&run)) else { return false };
                self.hit.extend(job_of(&shim));
                shot(&shim)
            }
            Victim::Slurmd => {
                let node = self.random(4) as usize;
                let killed = kill(Pid::from_raw(self.space.cluster.node_id(node)), Signal::SIGKILL).is_ok();
                std::thread::sleep(Duration::from_millis(self.random(1500)));
                self.space.cluster.start_node(node);
                killed
            }
            Victim::Slurmctld => {
                // The controller writes its state with a short delay.
                std::thread::sleep(Duration::from_secs(2));
                let killed = kill(Pid::from_raw(self.space.cluster.controller_id()), Signal::SIGKILL).is_ok();
                std::thread::sleep(Duration::from_millis(self.random(1500)));
                self.space.cluster.start_controller();
                killed
            }
        }
    }

    fn run(mut self, kills: usize) -> String {
        let begun = Instant::now();
        let mut done = 0;
        while done < kills {
            std::thread::sleep(Duration::from_millis(50 + self.random(900)));
            let ended = self.planner.try_wait().unwrap();
            if let Some(status) = ended {
                let output = std::mem::replace(&mut self.planner, self.space.command("--version").spawn().unwrap());
                let said = Said::of(&output.wait_with_output().unwrap());
                assert!(status.success(), "after {done} kills\n{}{said:#?}{}", self.log, self.space.logs());
                panic!("the run ended after {done} of {kills} kills\n{}", self.log);
            }
            // Slurm drains a node on which it could not end a job. An administrator would resume it.
            let resume = ["update", "NodeName=n[0-3]", "State=RESUME"];
            drop(self.space.cluster.command("scontrol").args(resume).output());
            let victim = VICTIMS[self.random(VICTIMS.len() as u64) as usize];
            let at = begun.elapsed().as_secs_f64();
            if self.shoot(victim) {
                done += 1;
                let _ = writeln!(self.log, "{at:7.2} s: {victim:?}");
            }
        }
        self.space.write("enough", "");
        let mut last = Instant::now();
        while self.planner.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_mins(8) {
            std::thread::sleep(Duration::from_millis(50));
            if last.elapsed() > Duration::from_secs(5) {
                last = Instant::now();
                let resume = ["update", "NodeName=n[0-3]", "State=RESUME"];
                drop(self.space.cluster.command("scontrol").args(resume).output());
            }
        }
        let mut planner = std::mem::replace(&mut self.planner, self.space.command("--version").spawn().unwrap());
        let _ = planner.kill();
        let said = Said::of(&planner.wait_with_output().unwrap());
        let mut faults = Vec::new();
        let (mut again, mut casualties) = (0, 0);
        for index in 0..self.jobs {
            let log = self.space.read(&format!("log.{index}"));
            let (begun, ended) = (log.matches("begun").count(), log.matches("done").count());
            again += begun - 1;
            let was_hit = self.hit.contains(&index.to_string());
            casualties += usize::from(was_hit);
            if ended == 0 {
                faults.push(format!("job {index} was lost: {log}"));
            }
            if ended > 1 && !was_hit {
                faults.push(format!("job {index} was done twice: {log}"));
            }
            if log.contains("twice") {
                faults.push(format!("job {index} ran twice at once: {log}"));
            }
        }
        let good = said.status == Some(0) && faults.is_empty();
        let _ = writeln!(
            self.log,
            "{kills} kills, {} jobs, {again} begun again, {casualties} in reach of a kill, {} faults, {:.1} s",
            self.jobs,
            faults.len(),
            begun.elapsed().as_secs_f64()
        );
        assert!(good, "{faults:#?}\n{}{}{said:#?}{}", self.log, self.said, self.space.logs());
        self.log
    }
}

/// Returns the number in the name of the job of a shim.
fn job_of(shim: &Process) -> Option<String> {
    // A shim receives its job on standard input. Its child process has the name in its environment.
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", shim.pid)).ok()?;
    let child = children.split_whitespace().next()?;
    let words = std::fs::read(format!("/proc/{child}/environ")).ok()?;
    let name = words.split(|&byte| byte == 0).find_map(|entry| entry.strip_prefix(b"MAKESPAN_JOB="))?;
    let name = String::from_utf8_lossy(name).into_owned();
    let number: usize = name.split('-').next()?.parse().ok()?;
    Some((number - 1).to_string())
}

fn campaign(kills: usize, seed: u64) -> String {
    let Some(cluster) = Cluster::start_with(&NodeSpec::equal(4, 4), "SlurmdTimeout=10\n") else { return String::new() };
    Campaign::begin(&cluster, kills * 16, seed).run(kills)
}

#[test]
#[ignore = "long: a real Slurm"]
fn ten_kills_lose_nothing_and_repeat_nothing() {
    print!("{}", campaign(10, 1 + u64::from(std::process::id())));
}

/// Run this test with `cargo test -p makespan-cli --test it -- --ignored --nocapture sixty_kills`. The environment
/// variable `MAKESPAN_SEED` sets another seed.
#[test]
#[ignore = "long: minutes of kills; its log is the record"]
fn sixty_kills_lose_nothing_and_repeat_nothing() {
    let seed = std::env::var("MAKESPAN_SEED").ok().and_then(|seed| seed.parse().ok());
    print!("{}", campaign(60, seed.unwrap_or(7)));
}
