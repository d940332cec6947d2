//! `makespan run --on ssh:..`. A fake `ssh` starts the shell of each host on this machine.

mod real;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cli::sandbox::{Said, Sandbox};

/// Program that stands for `ssh`. Host `arm` has another processor, host `old` has an old C library, host `ro` has no
/// folder for the program. Host `away` refuses connections while the file `away` exists.
const SSH: &str = r#"#!/bin/sh
printf '%s\n' "$*" >> "$FAKE/calls"
while [ "$1" != -- ]; do shift; done
XDG_CACHE_HOME="$FAKE/cache"; export XDG_CACHE_HOME
case $2 in
  away) [ -e "$FAKE/away" ] && { echo "ssh: connect to host away port 22: Connection refused" >&2; exit 255; };;
  nokey) echo "u@nokey: Permission denied (publickey)." >&2; exit 255;;
  unknown) echo "ssh: Could not resolve hostname unknown: Name or service not known" >&2; exit 255;;
  arm|old) PATH="$FAKE/$2:$PATH";;
  ro) XDG_CACHE_HOME=/proc/none;;
esac
echo "a line of the start files"
eval "$3"
"#;

struct Hosts {
    sandbox: Sandbox,
    fake: PathBuf,
}

impl Hosts {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let fake = sandbox.path("fake");
        let script = |name: &str, text: &str| {
            let path = fake.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        script("bin/ssh", SSH);
        script("arm/uname", "#!/bin/sh\necho sparc64\n");
        script("old/getconf", "#!/bin/sh\necho glibc 2.3\n");
        Self { sandbox, fake }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = self.sandbox.command(line);
        let path = format!("{}:{}", self.fake.join("bin").display(), std::env::var("PATH").unwrap());
        command.env("PATH", path).env("FAKE", &self.fake);
        command
    }

    fn run(&self, line: &str) -> Said {
        Said::new(line, &self.command(line).output().unwrap())
    }

    /// Returns the processes with this word in their command lines.
    fn processes(&self, word: &str) -> Vec<String> {
        let folder = self.fake.display().to_string();
        let all = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let line = |pid: &String| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mark = |pid: &String| fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let has = |bytes: Vec<u8>, text: &str| String::from_utf8_lossy(&bytes).replace('\0', " ").contains(text);
        all.filter(|pid| pid.parse::<u32>().is_ok() && has(line(pid), word) && has(mark(pid), &folder)).collect()
    }
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_mins(1), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn kill(pid: &str) {
    Command::new("kill").args(["-9", pid]).status().unwrap();
}

#[test]
fn jobs_run_on_hosts_and_commands_are_in_no_command_line() {
    let hosts = Hosts::new();
    let job = "run --on ssh:a*1,b*1 --folder f -k 'sleep 0.2; echo {} $MAKESPAN_NODES; : secret' ::: 1 2 3 4";
    let said = hosts.run(job);
    assert_eq!(said.status, Some(0), "{said:?}");
    let lines: Vec<&str> = said.out.lines().collect();
    let first: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(first, ["1", "2", "3", "4"], "{said:?}");
    assert!(lines.iter().any(|line| line.ends_with('a')) && lines.iter().any(|line| line.ends_with('b')), "{said:?}");
    let calls = fs::read_to_string(hosts.fake.join("calls")).unwrap();
    assert!(calls.contains("BatchMode=yes") && calls.contains("ForwardAgent=no"), "{calls}");
    assert!(!calls.contains("secret") && !calls.contains("StrictHostKeyChecking"), "{calls}");
    until("the agents end with the run", || hosts.processes("--host").is_empty());
    // A file of hosts, the working folder of a host, and its tag.
    fs::create_dir(hosts.sandbox.path("d")).unwrap();
    hosts
        .sandbox
        .write("hosts.txt", format!("a 2 directory={} tags=fast # a comment\n", hosts.sandbox.path("d").display()));
    let said = hosts.run("run --on hosts.txt -k -- pwd");
    assert!(said.status == Some(0) && said.out.trim_end().ends_with("/d"), "{said:?}");
    for (line, part) in [
        ("run --on ssh:a,a -- true", "named twice"),
        ("run --on nothing -- true", "a file of hosts"),
        ("run --on ssh:a --pilots 2x1nodes,1h -- true", "--pilots applies only to --on slurm"),
    ] {
        let said = hosts.run(line);
        assert!(said.status != Some(0) && said.err.contains(part), "{said:?}");
    }
}

#[test]
fn unfit_hosts_are_left_out_with_a_remedy() {
    let hosts = Hosts::new();
    fs::write(hosts.fake.join("away"), "").unwrap();
    let said = hosts.run("run --on ssh:unknown,nokey,arm,old,ro,away,a*2 echo ::: x");
    assert!(said.status == Some(0) && said.out == "x\n", "{said:?}");
    let text = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "host unknown is left out: ssh: Could not resolve hostname",
        "to use it when it comes back, state its cores: unknown*8",
        "host nokey is left out: u@nokey: Permission denied (publickey).; the host accepts none of your keys",
        "run `ssh-copy-id nokey`",
        "host old is left out: its glibc 2.3 is too old",
        "host ro is left out: mkdir: cannot create directory",
        "host away is left out: ssh: connect to host away port 22: Connection refused; check that the host is on",
    ] {
        assert!(text.contains(part), "{part}: {said:?}");
    }
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        assert!(text.contains("host arm is left out: its processor is sparc64"), "{said:?}");
    }
    let said = hosts.run("run --on ssh:nokey echo ::: x");
    assert!(said.status == Some(255) && said.err.contains("no host can be used"), "{said:?}");
}

/// A host comes during the run, the agent of another host is killed, and then the planner is killed.
#[test]
fn killed_agents_and_planners_lose_no_job_and_run_none_twice() {
    let hosts = Hosts::new();
    fs::write(hosts.fake.join("away"), "").unwrap();
    let line = "run --on ssh:a*1,away*1 --folder f";
    let job = "echo begin {} $MAKESPAN_NODES >> log; sleep 1; echo end {} >> log";
    let start = |line: &str| hosts.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let log = || fs::read_to_string(hosts.sandbox.path("log")).unwrap_or_default();
    let mut planner = start(&format!("{line} '{job}' ::: 1 2 3 4 5 6"));
    until("a job begins", || log().contains("begin"));
    hosts.processes("--host").iter().for_each(|pid| kill(pid));
    fs::remove_file(hosts.fake.join("away")).unwrap();
    until("jobs run on both hosts", || log().contains(" away") && log().matches(" a\n").count() > 1);
    planner.kill().unwrap();
    planner.wait().unwrap();
    let said = hosts.run("run --folder f --resume");
    assert_eq!(said.status, Some(0), "{said:?}");
    let (log, journal) = (log(), hosts.sandbox.read("f/journal.jsonl"));
    for job in 1..=6 {
        assert_eq!(log.matches(&format!("end {job}\n")).count(), 1, "{log}\n{journal}");
    }
    assert_eq!(journal.matches("\"succeeded\"").count(), 6, "{journal}");
    until("the agents end with the run", || hosts.processes("--host").is_empty());
}
