//! A short job on some nodes: are their clocks the same, is the folder shared, and does a file move to one place only?

mod judge;
mod listen;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::command::{CommandError, Commands, Program};

use super::{Examination, Finding, split};
use judge::{clocks, program, renames, shared};
use listen::listen;

/// What each node does.
const SCRIPT: &str = include_str!("../probe.sh");
/// Files that all nodes reach for.
const FILES: u32 = 40;
/// How long the job itself may take once it runs.
const RUNS: Duration = Duration::from_mins(1);

/// What one node said.
#[derive(Debug, Default)]
struct Said {
    /// Seconds that its clock is before ours, or behind it if negative, as far as each line tells: the line's way is part of it.
    ahead: Vec<f64>,
    has_program: Option<bool>,
    /// What `cksum` says of the program.
    sum: Option<String>,
    shared: Option<String>,
    met: Option<String>,
    taken: Option<u32>,
}

/// What all nodes said.
type Nodes = BTreeMap<String, Said>;

pub(super) fn examine(examination: &Examination, commands: &Commands) -> Vec<Finding> {
    const TOPIC: &str = "test job";
    if examination.nodes == 0 {
        return vec![Finding::unknown(TOPIC, "none was run", "leave --nodes 0 out to examine clocks and the folder")];
    }
    // As many nodes as there are, if fewer than were asked for; without an answer srun says what is wrong.
    let there = match examination.own_job {
        Some(job) => commands.allocation(job).map(|allocated| allocated.machines),
        None => commands.machines(examination.partition.as_deref()),
    };
    let there = there.map_or(examination.nodes, |machines| machines.platform.node_count() as u32);
    let asked_nodes = examination.nodes.min(there);
    match asked(examination, commands, asked_nodes) {
        Ok((nodes, problem)) if nodes.is_empty() => {
            let said = problem.unwrap_or_else(|| "the nodes said nothing".to_owned());
            let (said, remedy) = split(&said);
            vec![Finding::bad(TOPIC, said, remedy)]
        }
        Ok((nodes, problem)) => {
            let names: Vec<&str> = nodes.keys().map(String::as_str).collect();
            let ran = format!("ran on {}", names.join(", "));
            let job = match problem {
                None => Finding::good(TOPIC, ran),
                Some(problem) => {
                    let (said, remedy) = split(&problem);
                    Finding::doubtful(TOPIC, format!("{ran}; {said}"), remedy)
                }
            };
            vec![
                job,
                clocks(&nodes),
                program(&nodes, &std::env::current_exe().unwrap_or_default()),
                shared(&nodes, asked_nodes),
                renames(&nodes),
            ]
        }
        Err(error) => vec![Finding::unknown(TOPIC, error.to_string(), "name a folder that can be written: --folder")],
    }
}

/// Runs the job. Besides what the nodes said, what went wrong.
fn asked(examination: &Examination, commands: &Commands, nodes: u32) -> io::Result<(Nodes, Option<String>)> {
    let place = tempfile::Builder::new().prefix(".makespan-doctor-").tempdir_in(&examination.folder)?;
    let folder = place.path().canonicalize()?;
    for name in ["here", "todo"] {
        fs::create_dir(folder.join(name))?;
    }
    for file in 0..FILES {
        fs::write(folder.join("todo").join(file.to_string()), file.to_string())?;
    }
    let token = folder.display().to_string();
    fs::write(folder.join("token"), &token)?;
    let program = std::env::current_exe().unwrap_or_default();
    let nodes = nodes.to_string();
    let mut step = commands.process(Program::Srun);
    step.args(["--nodes", &nodes, "--ntasks", &nodes, "--ntasks-per-node=1", "--cpus-per-task=1", "--wait=0"]);
    step.args(["--job-name=makespan-doctor", "--unbuffered", "--kill-on-bad-exit=0", "--chdir=/"]);
    match examination.own_job {
        Some(job) => {
            step.args(["--overlap", &format!("--jobid={job}")]);
        }
        None => {
            let wait = examination.patience.as_secs().max(1);
            step.args(["--time=2", "--mem=64", &format!("--immediate={wait}")]);
            if let Some(partition) = &examination.partition {
                step.args(["--partition", partition]);
            }
        }
    }
    step.args(["sh", "-c", SCRIPT, "makespan-doctor"]).arg(&folder).arg(&token).arg(&nodes).arg(&program);
    step.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let heard = match step.spawn() {
        Ok(child) => listen(child, examination.patience + RUNS),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let missing = CommandError::Missing { program: Program::Srun };
            return Ok((Nodes::new(), Some(missing.to_string())));
        }
        Err(error) => return Err(error),
    };
    // What a node has written is removed here: the folder goes with its value.
    Ok(heard)
}

/// What `cksum` says of a file here.
fn sum(program: &Path) -> Option<String> {
    let output = Command::new("cksum").stdin(fs::File::open(program).ok()?).stderr(Stdio::null()).output().ok()?;
    let said = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(said.split_whitespace().take(2).collect::<Vec<_>>().join(":")).filter(|sum| !sum.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_reaches_for_all_files() {
        let files: Vec<String> = (0..FILES).map(|file| file.to_string()).collect();
        assert!(SCRIPT.contains(&format!("in {}; do", files.join(" "))));
    }
}
