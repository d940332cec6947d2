//! Runs on several real `sshd` on this machine, in which `sshd`, agents and planners are killed.

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::cli::sandbox::Sandbox;
use crate::cli::workflow::{Task, workflow};

/// Path of the server: it refuses to start by a relative path.
const SSHD: &str = "/usr/sbin/sshd";

/// Several hosts `h1`, `h2`, .. on ports of this machine, each with its own `sshd` and host key.
struct Farm {
    sandbox: Sandbox,
    folder: PathBuf,
    /// The folder in which runs start.
    work: PathBuf,
    /// True if the hosts see an empty folder instead of `work`.
    is_far: bool,
    servers: Vec<Child>,
}

impl Farm {
    /// Starts the servers. Returns `None` if OpenSSH's server cannot be installed.
    fn new(hosts: usize, is_far: bool) -> Option<Self> {
        if !Path::new(SSHD).exists() {
            let mut install = Command::new("apt-get");
            install.args(["install", "-y", "--no-install-recommends", "openssh-server"]).stdout(Stdio::null());
            if !install.status().is_ok_and(|status| status.success()) {
                eprintln!("SKIPPED: the tests with a real sshd need openssh-server: apt install openssh-server");
                return None;
            }
        }
        let sandbox = Sandbox::new();
        let folder = sandbox.path("farm");
        fs::create_dir_all(folder.join("bin")).unwrap();
        let _ = fs::create_dir_all("/run/sshd");
        let key = |name: &str| {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(folder.join(name));
            assert!(keygen.status().unwrap().success());
            fs::read_to_string(folder.join(format!("{name}.pub"))).unwrap()
        };
        fs::write(folder.join("authorized"), key("user")).unwrap();
        let (at, mut client, mut known) = (folder.display().to_string(), String::new(), String::new());
        for host in 1..=hosts {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            known += &format!("[127.0.0.1]:{port} {}", key(&format!("host{host}")));
            client += &format!("Host h{host}\n  HostName 127.0.0.1\n  Port {port}\n");
            let server = format!(
                "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host{host}\nPidFile none\nUsePAM no\nStrictModes no\n\
                 AuthorizedKeysFile {at}/authorized\nPermitRootLogin prohibit-password\n\
                 SetEnv XDG_CACHE_HOME={at}/cache\n"
            );
            fs::write(folder.join(format!("sshd{host}")), server).unwrap();
        }
        client += &format!(
            "Host *\n  IdentityFile {at}/user\n  IdentitiesOnly yes\n  UserKnownHostsFile {at}/known\n  \
             StrictHostKeyChecking yes\n"
        );
        fs::write(folder.join("config"), client).unwrap();
        fs::write(folder.join("known"), known).unwrap();
        // The wrapper replaces only the user's own configuration.
        fs::write(folder.join("bin/ssh"), format!("#!/bin/sh\nexec /usr/bin/ssh -F {at}/config \"$@\"\n")).unwrap();
        fs::set_permissions(folder.join("bin/ssh"), fs::Permissions::from_mode(0o755)).unwrap();
        let work = sandbox.path(if is_far { "work" } else { "." });
        fs::create_dir_all(&work).unwrap();
        let mut farm = Self { sandbox, folder, work, is_far, servers: Vec::new() };
        farm.servers = (1..=hosts).map(|host| farm.serve(host)).collect();
        (1..=hosts).for_each(|host| farm.await_server(host));
        Some(farm)
    }

    fn await_server(&self, host: usize) {
        let config = fs::read_to_string(self.folder.join(format!("sshd{host}"))).unwrap();
        let port: u16 = config.lines().next().unwrap().trim_start_matches("Port ").parse().unwrap();
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(20), "sshd {host} does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn start(&self, line: &str) -> Child {
        let mut command = self.sandbox.command(line);
        let path = format!("{}:{}", self.folder.join("bin").display(), std::env::var("PATH").unwrap());
        let errors = fs::OpenOptions::new().append(true).create(true).open(self.sandbox.path("err")).unwrap();
        command.env("PATH", path).current_dir(&self.work).stdout(Stdio::null()).stderr(errors).spawn().unwrap()
    }

    /// Kills a server and the processes of its connections. Agents continue.
    fn kill_server(&mut self, host: usize) {
        let server = &mut self.servers[host - 1];
        let children = |of: &str| {
            let listed = Command::new("ps").args(["-o", "pid=", "--ppid", of]).output().unwrap();
            String::from_utf8(listed.stdout).unwrap().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        let sessions = children(&server.id().to_string());
        let deeper: Vec<String> = sessions.iter().flat_map(|pid| children(pid)).collect();
        server.kill().unwrap();
        server.wait().unwrap();
        sessions.iter().chain(&deeper).for_each(|pid| kill(pid));
    }

    fn start_server(&mut self, host: usize) {
        self.servers[host - 1] = self.serve(host);
        self.await_server(host);
    }

    fn serve(&self, host: usize) -> Child {
        let log = fs::File::create(self.folder.join(format!("log{host}"))).unwrap();
        let mut server = Command::new(if self.is_far { "unshare" } else { SSHD });
        if self.is_far {
            let hide = format!("mount -t tmpfs none '{}' && exec \"$@\"", self.work.display());
            server.args(["--mount", "sh", "-c", &hide, "sh", SSHD]);
        }
        server.args(["-D", "-e", "-f"]).arg(self.folder.join(format!("sshd{host}")));
        server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
    }

    /// Returns the agents of the run.
    fn agents(&self) -> Vec<String> {
        let listed = Command::new("pgrep").arg("-f").arg(format!("agent --host {}", self.folder.display())).output();
        String::from_utf8(listed.unwrap().stdout).unwrap().split_whitespace().map(str::to_owned).collect()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.sandbox.path("log")).unwrap_or_default()
    }

    /// Checks that each job was counted once and that no job ran twice at once.
    fn check(&self, jobs: usize) {
        let (log, journal) = (self.log(), fs::read_to_string(self.work.join("f/journal.jsonl")).unwrap());
        let errors = self.sandbox.read("err");
        assert!(!log.contains("twice"), "a job ran twice at once:\n{log}\n{errors}");
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        for record in journal.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()) {
            if let Some(job) = record["ended"]["job"].as_u64().filter(|_| record["ended"]["outcome"] == "succeeded") {
                *counts.entry(job).or_default() += 1;
            }
        }
        assert_eq!(counts.len(), jobs, "{errors}");
        assert!(counts.values().all(|&count| count == 1), "{counts:?}\n{errors}");
        (1..=jobs).for_each(|job| assert!(log.contains(&format!("end {job}\n")), "job {job} did not end"));
    }
}

impl Drop for Farm {
    fn drop(&mut self) {
        (1..=self.servers.len()).for_each(|host| self.kill_server(host));
        self.agents().iter().for_each(|pid| kill(pid));
    }
}

fn kill(pid: &str) {
    let _ = Command::new("kill").args(["-9", pid]).stderr(Stdio::null()).status();
}

/// Returns the command line of a run. Each job reports if another attempt of the job runs.
fn line(hosts: usize, jobs: usize, seconds: &str) -> String {
    let names: Vec<String> = (1..=hosts).map(|host| format!("h{host}*2")).collect();
    let numbers: Vec<String> = (1..=jobs).map(|job| job.to_string()).collect();
    format!(
        "run --on ssh:{} --folder f 'exec 9>lock.{{}}; flock -n 9 || echo twice {{}} >> log; echo begin {{}} >> log; \
         sleep {seconds}; echo end {{}} >> log' ::: {}",
        names.join(","),
        numbers.join(" ")
    )
}

/// Returns the command line of a workflow in which each job reads and writes a file. The hosts do not share the folder of
/// the run.
fn staged_line(farm: &Farm, hosts: usize, jobs: usize) -> String {
    let (log, lock) = (farm.sandbox.path("log"), farm.sandbox.path("lock"));
    let (log, lock) = (log.display(), lock.display());
    let texts: Vec<[String; 4]> = (1..=jobs)
        .map(|job| {
            fs::write(farm.work.join(format!("in{job}")), format!("{job}\n")).unwrap();
            let command = format!(
                "exec 9>{lock}.{job}; flock -n 9 || echo twice {job} >>{log}; echo begin {job} >>{log}; sleep 1.5; \
                 cat in{job} in{job} >out{job}; echo end {job} >>{log}"
            );
            [format!("t{job}"), command, format!("in{job}"), format!("out{job}")]
        })
        .collect();
    let files: Vec<[[&str; 1]; 2]> =
        texts.iter().map(|[_, _, read, written]| [[read.as_str()], [written.as_str()]]).collect();
    let tasks: Vec<Task<'_>> = texts
        .iter()
        .zip(&files)
        .map(|([name, command, ..], [read, written])| (name.as_str(), command.as_str(), &read[..], &written[..]))
        .collect();
    fs::write(farm.work.join("w.json"), workflow(&tasks)).unwrap();
    let names: Vec<String> = (1..=hosts).map(|host| format!("h{host}*2")).collect();
    let scratch = farm.sandbox.path("scratch");
    fs::create_dir_all(&scratch).unwrap();
    format!("run --on ssh:{} --folder f --scratch {} w.json", names.join(","), scratch.display())
}

/// Kills servers, agents and planners at random until the run has ended. Returns the number of kills of each kind. If
/// `is_far` is true, the hosts do not share the folder of the run.
fn campaign(kills: usize, jobs: usize, seed: u64, is_far: bool) -> Option<[usize; 3]> {
    const HOSTS: usize = 4;
    let mut farm = Farm::new(HOSTS, is_far)?;
    let line = if is_far { staged_line(&farm, HOSTS, jobs) } else { line(HOSTS, jobs, "1.5") };
    let mut random = seed;
    let mut below = |most: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % most
    };
    let mut counts = [0; 3];
    let mut planner = farm.start(&line);
    let begun = Instant::now();
    while counts.iter().sum::<usize>() < kills && planner.try_wait().unwrap().is_none() {
        // Kills during the start of a planner would leave the rest of the run untested.
        let begins = farm.log().matches("begin").count();
        let waited = Instant::now();
        while farm.log().matches("begin").count() == begins && waited.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(below(1500)));
        match below(3) {
            0 => {
                let host = 1 + below(HOSTS as u64) as usize;
                farm.kill_server(host);
                std::thread::sleep(Duration::from_millis(below(400)));
                farm.start_server(host);
                counts[0] += 1;
            }
            1 => {
                let agents = farm.agents();
                if !agents.is_empty() {
                    kill(&agents[below(agents.len() as u64) as usize]);
                    counts[1] += 1;
                }
            }
            _ => {
                planner.kill().unwrap();
                planner.wait().unwrap();
                std::thread::sleep(Duration::from_millis(below(800)));
                planner = farm.start(&line.replacen("run", "run --resume", 1));
                counts[2] += 1;
            }
        }
        assert!(begun.elapsed() < Duration::from_mins(20), "{}", farm.sandbox.read("err"));
    }
    let status = planner.wait().unwrap();
    assert!(status.success(), "{status}: {}", farm.sandbox.read("err"));
    farm.check(jobs);
    for job in (1..=jobs).filter(|_| is_far) {
        let written = fs::read_to_string(farm.work.join(format!("out{job}"))).unwrap_or_default();
        assert_eq!(written, format!("{job}\n{job}\n"), "the output of job {job} came back");
    }
    println!("{kills} kills: {} of sshd, {} of agents, {} of planners", counts[0], counts[1], counts[2]);
    Some(counts)
}

#[test]
#[ignore = "long: four minutes of kills, needs sshd"]
fn sixty_kills_of_servers_agents_and_planners_cause_no_fault() {
    if let Some(counts) = campaign(60, 400, 7, false) {
        assert!(counts.iter().sum::<usize>() == 60 && counts.iter().all(|&count| count > 10), "{counts:?}");
    }
}

#[test]
#[ignore = "long: two minutes of kills, needs sshd"]
fn twenty_kills_without_a_shared_folder_cause_no_fault() {
    if let Some(counts) = campaign(20, 140, 11, true) {
        assert!(counts.iter().sum::<usize>() == 20, "{counts:?}");
    }
}

/// Checks the fence: while a host is unplugged, its jobs end there and run elsewhere.
#[test]
#[ignore = "long: the fence takes a minute, needs sshd"]
fn jobs_of_an_unplugged_host_end_there_and_run_elsewhere() {
    let Some(mut farm) = Farm::new(2, false) else { return };
    let mut planner = farm.start(&line(2, 4, "45"));
    let begun = Instant::now();
    while farm.log().matches("begin").count() < 4 {
        assert!(begun.elapsed() < Duration::from_secs(30), "{}", farm.sandbox.read("err"));
        std::thread::sleep(Duration::from_millis(50));
    }
    farm.kill_server(2);
    assert!(planner.wait().unwrap().success(), "{}", farm.sandbox.read("err"));
    farm.check(4);
    assert_eq!(farm.log().matches("begin").count(), 6, "two jobs ran elsewhere: {}", farm.log());
    assert_eq!(farm.log().matches("end").count(), 4, "they ended on the unplugged host: {}", farm.log());
}
