//! A real Slurm on this machine for tests: a controller and several nodes in a temporary folder, with their own
//! ports. It needs Debian's packages `slurm-wlm` and `munge` and no special rights. `./check` installs the packages if
//! it may.
//!
//! The cluster stops when its value is dropped or the test process ends in any way. The module uses only the standard
//! library and `tempfile`, so that tests of other crates can include it by path.

#![allow(dead_code, unused_imports)]

mod configuration;
mod database;
mod ports;

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

pub use configuration::NodeSpec;
pub use database::AccountingDatabase;
use ports::Ports;

/// Programs that must be installed.
const PROGRAMS: [&str; 5] = ["slurmctld", "slurmd", "munged", "sinfo", "srun"];
/// Environment variable. If it is set, tests fail without Slurm instead of being skipped.
const REQUIRED: &str = "MAKESPAN_REQUIRE_SLURM";

/// A running cluster.
pub struct Cluster {
    folder: PathBuf,
    nodes: Vec<NodeSpec>,
    /// A process that stops the cluster when its standard input closes.
    keeper: Child,
    _ports: Ports,
}

impl Cluster {
    /// Returns the cluster of 4 nodes with 4 processors that all tests of this process share. Returns `None` if Slurm
    /// is not installed.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
        SHARED.get_or_init(|| Self::start(&NodeSpec::equal(4, 4))).as_ref()
    }

    /// Starts a cluster. Returns `None`, and prints a message, if Slurm is not installed.
    pub fn start(nodes: &[NodeSpec]) -> Option<Self> {
        Self::start_with(nodes, "")
    }

    /// Starts a cluster with additional lines in its `slurm.conf`. If a key occurs twice, the later value counts.
    pub fn start_with(nodes: &[NodeSpec], lines: &str) -> Option<Self> {
        if let Some(missing) = PROGRAMS.into_iter().find(|name| found(name).is_none()) {
            let message =
                format!("SKIPPED: a test with a real Slurm, for want of `{missing}`: apt install slurm-wlm munge");
            assert!(std::env::var_os(REQUIRED).is_none(), "{message}");
            skipped(&message);
            return None;
        }
        let ports = Ports::take(nodes.len() + 1);
        let folder = new_folder();
        configuration::write(&folder, nodes, &ports, lines);
        let cluster = Self { keeper: keeper(&folder), folder, nodes: nodes.to_vec(), _ports: ports };
        start_munged(&cluster.folder);
        cluster.start_controller();
        for node in 0..nodes.len() {
            cluster.start_node(node);
        }
        cluster.wait_until_idle();
        Some(cluster)
    }

    /// Returns the variable with which Slurm's programs find the cluster.
    pub fn variable(&self) -> (&'static str, PathBuf) {
        ("SLURM_CONF", self.folder.join("slurm.conf"))
    }

    /// Returns a folder that all nodes share.
    pub fn shared_folder(&self) -> PathBuf {
        self.folder.join("shared")
    }

    /// Returns the folder with the logs of the daemons.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a command that finds this cluster.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let (name, value) = self.variable();
        command.env(name, value).stdin(Stdio::null());
        command
    }

    /// Runs a program of Slurm and returns its output without the last line break.
    pub fn ask(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.command(program).args(arguments).output().expect("a program of Slurm starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {arguments:?}: {} {said}{}", output.status, logs(&self.folder));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// Starts the controller, or restarts it after it was killed.
    pub fn start_controller(&self) {
        let mut controller = self.command(found("slurmctld").expect("it is installed"));
        controller.args(["-f".as_ref(), self.folder.join("slurm.conf").as_os_str()]);
        daemon(&self.folder, controller, "slurmctld");
    }

    /// Starts a node, or restarts it after it was killed.
    pub fn start_node(&self, node: usize) {
        let mut slurmd = self.command(found("slurmd").expect("it is installed"));
        slurmd.args(["-N", &self.nodes[node].name, "-f"]).arg(self.folder.join("slurm.conf"));
        daemon(&self.folder, slurmd, &self.nodes[node].name);
    }

    /// Returns the process id of the controller.
    pub fn controller_id(&self) -> i32 {
        self.id("slurmctld")
    }

    /// Returns the process id of a node's slurmd.
    pub fn node_id(&self, node: usize) -> i32 {
        self.id(&format!("slurmd.{}", self.nodes[node].name))
    }

    /// Waits until every node is idle.
    pub fn wait_until_idle(&self) {
        let give_up = Instant::now() + Duration::from_mins(1);
        let idle = || {
            let asked = self.command("sinfo").args(["-h", "-N", "-t", "idle", "-o", "%N"]).output();
            asked.map_or(0, |output| String::from_utf8_lossy(&output.stdout).lines().count())
        };
        while idle() < self.nodes.len() {
            assert!(Instant::now() < give_up, "the cluster is not ready after 60 s{}", logs(&self.folder));
            std::thread::sleep(Duration::from_millis(25));
        }
    }

    fn id(&self, file: &str) -> i32 {
        let path = self.folder.join("pid").join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        text.trim().parse().expect("the file holds a process id")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        drop(self.keeper.wait());
    }
}

/// Prints a message on standard error directly, so that the test harness does not capture it.
fn skipped(message: &str) {
    drop(writeln!(std::io::stderr(), "\n{message}"));
}

/// Creates a folder for daemons.
fn new_folder() -> PathBuf {
    let temporary = tempfile::Builder::new().prefix("ms-slurm-").tempdir().expect("a temporary folder");
    let folder = fs::canonicalize(temporary.keep()).expect("the folder is there");
    for name in ["", "state", "log", "pid", "munge", "shared"] {
        fs::create_dir_all(folder.join(name)).expect("a folder is made");
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).expect("a folder is opened");
    }
    folder
}

fn start_munged(folder: &Path) {
    let own = folder.join("munge");
    let key: Vec<u8> = (0..1024).map(|_| std::hash::BuildHasher::hash_one(&RANDOM(), 0u8) as u8).collect();
    fs::write(own.join("key"), key).expect("a key is written");
    fs::set_permissions(own.join("key"), fs::Permissions::from_mode(0o600)).expect("a key is closed");
    let mut munged = Command::new(found("munged").expect("it is installed"));
    munged.arg("--force").stdin(Stdio::null());
    for (option, file) in [("key-file", "key"), ("socket", "sock"), ("log-file", "log"), ("seed-file", "seed")] {
        munged.arg(format!("--{option}={}", own.join(file).display()));
    }
    munged.arg(format!("--pid-file={}", folder.join("pid/munged").display()));
    daemon(folder, munged, "munged");
}

/// Starts a daemon, which puts itself into the background.
fn daemon(folder: &Path, mut command: Command, name: &str) {
    let said = File::create(folder.join("log").join(format!("{name}.said"))).expect("a log is made");
    command.stdout(said.try_clone().expect("a log is shared")).stderr(said).process_group(0).current_dir("/");
    let status = command.status().expect("a daemon starts");
    assert!(status.success(), "{name}: {status}{}", logs(folder));
}

/// Returns the last lines of each log.
fn logs(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder.join("log")).expect("there are logs").flatten() {
        let log = String::from_utf8_lossy(&fs::read(entry.path()).unwrap_or_default()).into_owned();
        let lines: Vec<&str> = log.lines().rev().take(4).collect();
        text += &format!("\n{}:\n  {}", entry.file_name().display(), lines.join("\n  "));
    }
    text
}

/// A source of random numbers without a library: the random keys of the hash maps.
const RANDOM: fn() -> std::collections::hash_map::RandomState = std::collections::hash_map::RandomState::new;

/// Starts the process that stops the cluster when this process ends.
fn keeper(folder: &Path) -> Child {
    let mut keeper = Command::new("/bin/sh");
    keeper.args(["-c", include_str!("stop.sh"), "stop.sh"]).arg(folder).stdin(Stdio::piped()).process_group(0);
    keeper.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a shell starts")
}

/// Searches for a program on `PATH` and in the folders of daemons.
fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin", "/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}
