//! A folder that all nodes share, and commands of `makespan` in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::cluster::Cluster;

/// Maximum time of an action that is quick on an idle machine.
const PATIENCE: Duration = Duration::from_mins(3);

pub struct Workspace<'a> {
    pub cluster: &'a Cluster,
    folder: PathBuf,
}

impl<'a> Workspace<'a> {
    /// Creates a folder with this name.
    pub fn new(cluster: &'a Cluster, name: &str) -> Self {
        let folder = cluster.shared_folder().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self { cluster, folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Returns a command of `makespan` with the words of a line as arguments.
    pub fn command(&self, line: &str) -> Command {
        let mut command = self.cluster.command(assert_cmd::cargo_bin!("makespan"));
        command.args(line.split_whitespace()).current_dir(&self.folder);
        command.env("MAKESPAN_HISTORY", self.folder.join("history.sqlite"));
        for name in ["SLURM_JOB_ID", "SLURM_JOBID"] {
            command.env_remove(name);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command that must end within `PATIENCE`.
    pub fn makespan(&self, line: &str) -> Said {
        self.said(self.command(line).spawn().unwrap())
    }

    /// Waits for a process, which must end within `PATIENCE`.
    pub fn said(&self, mut process: Child) -> Said {
        let end = Instant::now() + PATIENCE;
        while process.try_wait().unwrap().is_none() {
            if Instant::now() > end {
                process.kill().unwrap();
                let said = Said::of(&process.wait_with_output().unwrap());
                panic!("it does not end\n{said:#?}{}", self.logs());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Said::of(&process.wait_with_output().unwrap())
    }

    /// Waits for a condition, for at most `PATIENCE`.
    pub fn wait(&self, what: &str, mut there: impl FnMut() -> bool) {
        let end = Instant::now() + PATIENCE;
        while !there() {
            assert!(Instant::now() < end, "{what}: it does not come\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns the queue, and the logs of heads and agents.
    pub fn logs(&self) -> String {
        let mut text = self.cluster.ask("squeue", &[]);
        let runs = fs::read_dir(&self.folder).unwrap().flatten().map(|entry| entry.path().join("pilot"));
        for entry in runs.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten() {
            if entry.path().extension().is_some_and(|end| end == "log") {
                text +=
                    &format!("\n{}\n{}", entry.path().display(), fs::read_to_string(entry.path()).unwrap_or_default());
            }
        }
        text
    }
}

/// The output and the exit status of a command.
#[derive(Debug)]
pub struct Said {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    pub fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { status: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    #[track_caller]
    pub fn holds(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.out.contains(part) || self.err.contains(part), "`{part}` is not in\n{self:#?}");
        }
    }
}

/// Returns name, processors and outcome of each job in the table of a run.
pub fn table(folder: &Path) -> Vec<(String, String, String)> {
    let text = fs::read_to_string(folder.join("jobs.csv")).unwrap();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column =
        |name: &str| head.iter().position(|column| *column == name).unwrap_or_else(|| panic!("{name} in {head:?}"));
    let (name, state, resources) = (column("job_id"), column("final_state"), column("allocated_resources"));
    let cells = lines.map(|line| line.split(',').map(|cell| cell.trim_matches('"').to_owned()).collect::<Vec<_>>());
    cells.map(|cells| (cells[name].clone(), cells[resources].clone(), cells[state].clone())).collect()
}
