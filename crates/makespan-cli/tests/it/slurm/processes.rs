//! Finds the processes of a run on the nodes, all of which are on this machine.

use std::fs;
use std::path::Path;

use super::cluster::Cluster;

#[derive(Clone, Debug)]
pub struct Process {
    pub pid: i32,
    pub words: Vec<String>,
    environment: Vec<u8>,
}

impl Process {
    pub fn variable(&self, name: &str) -> Option<String> {
        let mut entries = self.environment.split(|&byte| byte == 0);
        let value = entries.find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    fn is_called(&self, program: &str) -> bool {
        self.words.first().is_some_and(|first| first.rsplit('/').next() == Some(program))
    }
}

/// Returns all live processes.
fn all() -> Vec<Process> {
    let pids = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let read = |pid: i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        if stat.rsplit(") ").next()?.starts_with(['Z', 'X']) {
            return None;
        }
        let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words = words.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        Some(Process { pid, words, environment: fs::read(format!("/proc/{pid}/environ")).ok()? })
    };
    pids.filter_map(read).collect()
}

fn agents_and_heads(folder: &Path) -> Vec<Process> {
    let folder = folder.display().to_string();
    all()
        .into_iter()
        .filter(|process| {
            process.is_called("makespan")
                && process.words.contains(&"agent".to_owned())
                && process.words.contains(&folder)
        })
        .collect()
}

/// Returns the agents of a run.
pub fn agents(folder: &Path) -> Vec<Process> {
    agents_and_heads(folder).into_iter().filter(|process| !process.words.contains(&"--head".to_owned())).collect()
}

/// Returns the heads of the pilots of a run.
pub fn heads(folder: &Path) -> Vec<Process> {
    agents_and_heads(folder).into_iter().filter(|process| process.words.contains(&"--head".to_owned())).collect()
}

/// Returns the `srun` processes that started the agents of a run, including their helper processes.
pub fn sruns(folder: &Path) -> Vec<Process> {
    let folder = folder.display().to_string();
    all().into_iter().filter(|process| process.is_called("srun") && process.words.contains(&folder)).collect()
}

/// Returns the shims of the tasks of a run.
pub fn shims(folder: &Path) -> Vec<Process> {
    let folder = folder.display().to_string();
    let is_shim = |process: &Process| process.words.get(1).is_some_and(|word| word == "internal-shim-of-a-job");
    all().into_iter().filter(|process| is_shim(process) && process.words.contains(&folder)).collect()
}

/// Returns the processes that Slurm started on a node of this cluster. Other clusters may run at the same time.
pub fn of_node(cluster: &Cluster, node: &str) -> Vec<i32> {
    let (name, value) = cluster.variable();
    let value = value.display().to_string();
    let is = |process: &Process, name: &str, value: &str| process.variable(name).as_deref() == Some(value);
    let there = |process: &Process| is(process, "SLURMD_NODENAME", node) && is(process, name, &value);
    all().into_iter().filter(there).map(|process| process.pid).collect()
}
