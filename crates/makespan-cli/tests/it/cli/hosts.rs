//! `makespan run --on ssh:..`. A fake `ssh` starts the shell of each host on this machine.

mod real;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cli::sandbox::{Said, Sandbox};
use crate::cli::workflow::{Task, workflow};

/// Program that stands for `ssh`. Host `arm` has another processor, host `old` has an old C library, host `ro` has no
/// folder for the program. Host `away` refuses connections while the file `away` exists. Host `far` sees an empty folder
/// instead of the folder `work`.
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
  far) exec unshare --map-root-user --mount sh -c 'mount -t tmpfs none "$FAKE/../work" && exec /bin/sh';;
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
        ("run --on slurm:a,slurm:a -- true", "occurs twice; name each cluster once"),
        ("run --on slurm:a,b -- true", "`b` is not a cluster; write slurm:NAME"),
        ("run --on slurm:a,slurm:/no/slurm.conf -- true", "--on slurm:/no/slurm.conf: there is no such file"),
        ("run --on slurm:a,slurm:b --domains d.toml -- true", "--domains needs a policy that starts the jobs"),
        ("run --on slurm:a,slurm:b --nodes 2 -- true", "--nodes and --pilots apply only to pilots"),
        ("run --on ssh:a --pilots 2x1nodes,1h -- true", "--pilots applies only to pilots of a batch system"),
    ] {
        let said = hosts.run(line);
        assert!(said.status != Some(0) && said.err.contains(part), "{said:?}");
    }
}

/// The service is killed while a job runs. The next service takes the job over.
#[test]
fn a_service_runs_jobs_on_hosts() {
    let hosts = Hosts::new();
    let serve = || {
        let mut command = hosts.command("serve --on ssh:a*1,b*1 --store st --listen 127.0.0.1:0 --no-history");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().take(3);
        let said: Vec<String> = lines.map(Result::unwrap).collect();
        assert!(said[2].contains("it runs jobs on 2 hosts, 2 processors"), "{said:?}");
        child
    };
    let ask = |line: &str| {
        let output = hosts.command(line).env("MAKESPAN_STORE", hosts.sandbox.path("st")).output().unwrap();
        let said = Said::new(line, &output);
        assert_eq!(said.status, Some(0), "{said:?}");
        said.out
    };
    let mut service = serve();
    let count = ": {}; echo $MAKESPAN_NODES >>nodes; sleep 0.3";
    ask(&format!("submit -- '{count}' ::: 1 2"));
    ask("submit -- 'echo begun >>log; sleep 1; echo done >>log'");
    until("the second job begins", || hosts.sandbox.path("log").exists());
    service.kill().unwrap();
    service.wait().unwrap();
    let mut service = serve();
    ask("wait 1 2");
    assert_eq!(hosts.sandbox.read("log"), "begun\ndone\n");
    let nodes = hosts.sandbox.read("nodes");
    assert!(nodes.contains('a') && nodes.contains('b'), "{nodes}");
    service.kill().unwrap();
    service.wait().unwrap();
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

/// A host that does not share the folder of the run receives the input files and returns outputs, statuses and files.
#[test]
fn hosts_without_a_shared_folder_exchange_files() {
    if !Command::new("unshare").args(["--map-root-user", "--mount", "true"]).status().is_ok_and(|ended| ended.success())
    {
        eprintln!("SKIPPED: a test with a host without a shared folder needs unshare and user namespaces");
        return;
    }
    let hosts = Hosts::new();
    let work = hosts.sandbox.path("work");
    fs::create_dir_all(work.join("in")).unwrap();
    let run = |line: &str| Said::new(line, &hosts.command(line).current_dir(&work).output().unwrap());
    let said = run("run --on ssh:far echo ::: x");
    let text = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.status != Some(0) && text.contains("it does not see the folder of the run"), "{said:?}");
    fs::write(work.join("hosts.txt"), format!("far 2 directory={}\n", hosts.fake.display())).unwrap();
    let said = run("run --on hosts.txt --folder f -k 'pwd; echo {} >&2; exit {}' ::: 0 3");
    assert_eq!(said.status, Some(1), "{said:?}");
    let pwd = hosts.fake.canonicalize().unwrap();
    assert_eq!(said.out, format!("{0}\n{0}\n", pwd.display()), "{said:?}");
    let long: String = (0..200_000).map(|line| format!("{line}\n")).collect();
    fs::write(work.join("in/a"), &long).unwrap();
    let tasks: [Task<'_>; 3] = [
        ("split", "mkdir parts; sort -r in/a >parts/1; wc -l <in/a >parts/2", &["in/a"], &["parts/1", "parts/2"]),
        ("join", "head -n 1 parts/1 >out; cat parts/2 >>out; : >empty", &["parts/1", "parts/2"], &["out", "empty"]),
        ("bad", "echo half >half; exit 4", &[], &["half"]),
    ];
    fs::write(work.join("w.json"), workflow(&tasks)).unwrap();
    let said = run("run w.json --no-history --on ssh:far*2 --folder w --scratch /tmp");
    assert_eq!(said.status, Some(1), "{said:?}");
    assert_eq!(fs::read_to_string(work.join("out")).unwrap(), "99999\n200000\n", "{said:?}");
    assert_eq!(fs::read_to_string(work.join("empty")).unwrap(), "");
    assert!(!work.join("half").exists() && said.err.contains("returned exit status 4"), "{said:?}");
    let hidden = |folder: PathBuf| {
        let names = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(".makespan") || name.contains(".part")).collect::<Vec<_>>()
    };
    for folder in ["", "parts", "w/status"] {
        assert_eq!(hidden(work.join(folder)), [""; 0], "{folder}");
    }
    until("the agents end with the run", || hosts.processes("--host").is_empty());
}
