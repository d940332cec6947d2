//! A short test job on some nodes. It checks that the clocks agree and that the folder is shared. It also checks that
//! if several nodes try to move a file, exactly one of them succeeds.

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

/// The script that runs on each node.
const SCRIPT: &str = include_str!("../probe.sh");
/// Number of files that all nodes try to move.
const FILES: u32 = 40;
/// Maximum run time of the test job.
const RUNS: Duration = Duration::from_mins(1);

/// The answers of one node.
#[derive(Debug, Default)]
struct NodeAnswers {
    /// Differences between the node's clock and this machine's clock, in seconds, one for each received line. Positive
    /// if the node's clock is ahead. Each value is too small by the transmission time of its line.
    ahead: Vec<f64>,
    has_program: Option<bool>,
    /// The output of `cksum` on the node for the program.
    sum: Option<String>,
    shared: Option<String>,
    met: Option<String>,
    taken: Option<u32>,
}

/// The answers of all nodes, by name.
type Nodes = BTreeMap<String, NodeAnswers>;

pub(super) fn examine(examination: &Examination, commands: &Commands) -> Vec<Finding> {
    const TOPIC: &str = "test job";
    if examination.nodes == 0 {
        return vec![Finding::unknown(TOPIC, "none was run", "to check the clocks and the folder, remove --nodes 0")];
    }
    // If the cluster has fewer nodes than requested, the test uses all nodes of the cluster. If the number of nodes is
    // unknown, the test requests `nodes` nodes, and srun reports the problem.
    let there = match examination.own_job {
        Some(job) => commands.allocation(job).map(|allocated| allocated.machines),
        None => commands.machines(examination.partition.as_deref()),
    };
    let there = there.map_or(examination.nodes, |machines| machines.platform.node_count() as u32);
    let asked_nodes = examination.nodes.min(there);
    match asked(examination, commands, asked_nodes) {
        Ok((nodes, problem)) if nodes.is_empty() => {
            let said = problem.unwrap_or_else(|| "the nodes printed nothing".to_owned());
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
        Err(error) => vec![Finding::unknown(TOPIC, error.to_string(), "choose a writable folder: --folder")],
    }
}

/// Runs the test job. Returns the answers of the nodes, and a problem if there was one.
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
    // When the temporary folder is dropped, all files of the nodes are removed.
    Ok(heard)
}

/// Returns the output of `cksum` for a file on this machine.
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
