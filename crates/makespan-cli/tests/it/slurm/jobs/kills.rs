//! The planner, jobs, slurmd and slurmctld are killed at random moments. No task is lost, and none is done twice.

use std::fmt::Write as _;
use std::process::Child;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::slurm::cluster::{Cluster, NodeSpec};
use crate::slurm::jobs::logs;
use crate::slurm::processes::{agents, shims};
use crate::slurm::workspace::{Said, Workspace};

const RUN: &str = "run list.txt --on slurm:jobs --no-history --folder run --retry 50";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Planner,
    Agent,
    Shim,
    Slurmd,
    Slurmctld,
}

struct Campaign<'a> {
    space: Workspace<'a>,
    state: u64,
    planner: Child,
    log: String,
    said: String,
}

impl Campaign<'_> {
    fn random(&mut self, below: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.state >> 33) % below as u64) as usize
    }

    fn pause(&mut self, most: usize) {
        let pause = self.random(most) as u64;
        std::thread::sleep(Duration::from_millis(pause));
    }

    fn shoot(&mut self, victim: Victim) -> bool {
        let run = self.space.path("run");
        let cluster = self.space.cluster;
        let shot = |pid: i32| kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok();
        match victim {
            Victim::Planner => {
                let killed = self.planner.kill().is_ok();
                self.planner.wait().unwrap();
                self.pause(800);
                let next = self.space.command(&format!("{RUN} --resume")).spawn().unwrap();
                let ended = std::mem::replace(&mut self.planner, next).wait_with_output().unwrap();
                let _ = writeln!(self.said, "{}---", String::from_utf8_lossy(&ended.stderr));
                killed
            }
            Victim::Agent | Victim::Shim => {
                let all = if victim == Victim::Agent { agents(&run) } else { shims(&run) };
                if all.is_empty() {
                    return false;
                }
                let at = self.random(all.len());
                shot(all[at].pid)
            }
            Victim::Slurmd => {
                let node = self.random(4);
                let killed = shot(cluster.node_id(node));
                self.pause(1500);
                cluster.start_node(node);
                killed
            }
            Victim::Slurmctld => {
                std::thread::sleep(Duration::from_secs(2));
                let killed = shot(cluster.controller_id());
                self.pause(1500);
                cluster.start_controller();
                killed
            }
        }
    }
}

fn list(jobs: usize) -> String {
    // Two copies of a job that run at the same time would notice each other's lock.
    let one = |index: usize| {
        let work = 0.2 + 0.3 * (index % 7) as f64;
        format!(
            "exec 9>lock.{index}; flock -n 9 || echo twice >>log.{index}; echo begun >>log.{index}; sleep {work:.1} 9>&- && echo done >>log.{index}\n"
        )
    };
    (0..jobs).map(one).collect()
}

fn campaign(kills: usize, seed: u64, victims: &[Victim]) -> String {
    let Some(cluster) = Cluster::start_with(&NodeSpec::equal(4, 4), "SlurmdTimeout=10\n") else { return String::new() };
    let space = Workspace::new(&cluster, &format!("jobs-kills-{seed}"));
    let jobs = kills * 12;
    space.write("list.txt", &list(jobs));
    let planner = space.command(RUN).spawn().unwrap();
    space.wait("the run begins", || space.path("run/journal.jsonl").exists());
    let mut campaign = Campaign { space, state: seed, planner, log: String::new(), said: String::new() };
    let (begun, mut done) = (Instant::now(), 0);
    let resume = || drop(cluster.command("scontrol").args(["update", "NodeName=n[0-3]", "State=RESUME"]).output());
    while done < kills && campaign.planner.try_wait().unwrap().is_none() {
        campaign.pause(900);
        resume();
        let victim = victims[campaign.random(victims.len())];
        let at = begun.elapsed().as_secs_f64();
        if campaign.shoot(victim) {
            done += 1;
            let _ = writeln!(campaign.log, "{at:7.2} s: {victim:?}");
        }
    }
    let mut last = Instant::now();
    while campaign.planner.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_mins(8) {
        std::thread::sleep(Duration::from_millis(50));
        if last.elapsed() > Duration::from_secs(5) {
            last = Instant::now();
            resume();
        }
    }
    let Campaign { space, mut planner, mut log, said: earlier, .. } = campaign;
    let _ = planner.kill();
    let said = Said::of(&planner.wait_with_output().unwrap());
    let (mut faults, mut again) = (Vec::new(), 0);
    for index in 0..jobs {
        let log = space.read(&format!("log.{index}"));
        let (begun, ended) = (log.matches("begun").count(), log.matches("done").count());
        again += begun.saturating_sub(1);
        // A kill of an agent or a shim may hit after the work is done and before it is reported.
        let most = if victims.len() > 1 { begun } else { 1 };
        if ended == 0 || ended > most || log.contains("twice") {
            faults.push(format!("job {index}: {log:?}"));
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let _ = writeln!(log, "{done} kills, {jobs} jobs, {again} begun again, {} faults, {seconds:.1} s", faults.len());
    let good = said.status == Some(0) && faults.is_empty();
    assert!(good, "{faults:#?}\n{log}{earlier}{said:#?}{}{}", space.logs(), logs(&space));
    log
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_planner_that_is_killed_ten_times_loses_nothing_and_repeats_nothing() {
    print!("{}", campaign(10, 1 + u64::from(std::process::id()), &[Victim::Planner]));
}

/// Run this test with `cargo test -p makespan-cli --test it -- --ignored --nocapture forty_kills`. The environment
/// variable `MAKESPAN_SEED` sets another seed.
#[test]
#[ignore = "long: minutes of kills; its log is the record"]
fn forty_kills_of_everything_lose_no_job() {
    let seed = std::env::var("MAKESPAN_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
    let all = [Victim::Planner, Victim::Agent, Victim::Shim, Victim::Slurmd, Victim::Slurmctld];
    print!("{}", campaign(40, seed, &all));
}
