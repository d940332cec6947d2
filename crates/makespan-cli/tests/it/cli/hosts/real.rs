//! Runs on several real `sshd` on this machine, in which `sshd`, agents and planners are killed.

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::cli::sandbox::Sandbox;

/// Path of the server: it refuses to start by a relative path.
const SSHD: &str = "/usr/sbin/sshd";

/// Several hosts `h1`, `h2`, .. on ports of this machine, each with its own `sshd` and host key.
struct Farm {
    sandbox: Sandbox,
    folder: PathBuf,
    servers: Vec<Child>,
}

impl Farm {
    /// Starts the servers. Returns `None` if OpenSSH's server cannot be installed.
    fn new(hosts: usize) -> Option<Self> {
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
        let servers = (1..=hosts).map(|host| serve(&folder, host)).collect();
        let farm = Self { sandbox, folder, servers };
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
        command.env("PATH", path).stdout(Stdio::null()).stderr(errors).spawn().unwrap()
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
        self.servers[host - 1] = serve(&self.folder, host);
        self.await_server(host);
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
        let (log, journal) = (self.log(), self.sandbox.read("f/journal.jsonl"));
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

fn serve(folder: &Path, host: usize) -> Child {
    let mut server = Command::new(SSHD);
    let log = fs::File::create(folder.join(format!("log{host}"))).unwrap();
    server.args(["-D", "-e", "-f"]).arg(folder.join(format!("sshd{host}")));
    server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
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

/// Kills servers, agents and planners at random until the run has ended. Returns the numbers of kills.
fn campaign(kills: usize, jobs: usize, seed: u64) -> Option<[usize; 3]> {
    const HOSTS: usize = 4;
    let mut farm = Farm::new(HOSTS)?;
    let mut random = seed;
    let mut below = |most: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % most
    };
    let mut counts = [0; 3];
    let mut planner = farm.start(&line(HOSTS, jobs, "1.5"));
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
                planner = farm.start(&line(HOSTS, jobs, "1.5").replacen("run", "run --resume", 1));
                counts[2] += 1;
            }
        }
        assert!(begun.elapsed() < Duration::from_mins(20), "{}", farm.sandbox.read("err"));
    }
    let status = planner.wait().unwrap();
    assert!(status.success(), "{status}: {}", farm.sandbox.read("err"));
    farm.check(jobs);
    println!("{kills} kills: {} of sshd, {} of agents, {} of planners", counts[0], counts[1], counts[2]);
    Some(counts)
}

#[test]
#[ignore = "long: four minutes of kills, needs sshd"]
fn sixty_kills_of_servers_agents_and_planners_cause_no_fault() {
    if let Some(counts) = campaign(60, 400, 7) {
        assert!(counts.iter().sum::<usize>() == 60 && counts.iter().all(|&count| count > 10), "{counts:?}");
    }
}

/// Checks the fence: while a host is unplugged, its jobs end there and run elsewhere.
#[test]
#[ignore = "long: the fence takes a minute, needs sshd"]
fn jobs_of_an_unplugged_host_end_there_and_run_elsewhere() {
    let Some(mut farm) = Farm::new(2) else { return };
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
