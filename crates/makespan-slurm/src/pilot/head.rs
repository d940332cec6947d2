//! Starts the agents of a pilot, again and again.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::board::{Board, Place};
use crate::{Commands, Program};

/// Between two looks.
const GLANCE: Duration = Duration::from_millis(250);

/// How long the place of an agent that was there must be empty until another is started.
const EMPTY: Duration = Duration::from_secs(1);

/// Between two starts of what does not stay: at first, and at last.
const PAUSE: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(10);

/// How long agents may take to end with the run.
const PATIENCE: Duration = Duration::from_secs(30);

/// How the head of a pilot runs.
#[derive(Clone, Debug)]
pub struct HeadOptions {
    /// The folder of the run.
    pub folder: PathBuf,
    /// This program.
    pub program: PathBuf,
}

/// A step of Slurm that may have to be started again.
#[derive(Debug, Default)]
struct Step {
    child: Option<Child>,
    begun: Option<Instant>,
    pause: Duration,
}

impl Step {
    /// Whether it runs. One that ended at once is not started again at once.
    fn runs(&mut self) -> bool {
        if let Some(child) = &mut self.child
            && !matches!(child.try_wait(), Ok(None))
        {
            self.child = None;
            let short = self.begun.is_some_and(|begun| begun.elapsed() < LONGEST);
            self.pause = if short { LONGEST.min(PAUSE.max(self.pause * 2)) } else { PAUSE };
        }
        self.child.is_some()
    }

    fn may_start(&self) -> bool {
        self.begun.is_none_or(|begun| begun.elapsed() >= self.pause)
    }

    fn start(&mut self, mut command: Command) {
        self.begun = Some(Instant::now());
        match command.spawn() {
            Ok(child) => self.child = Some(child),
            Err(error) => eprintln!("makespan agent: cannot start srun: {error}; trying again"),
        }
    }
}

/// Leads the pilot that this process is in: starts an agent on every node, all in one step, and another where one has died, until the run is
/// over. Without it the job ends, and with the job all that runs.
///
/// # Errors
/// What the system says of the folder, in words.
pub fn lead(options: &HeadOptions) -> Result<(), String> {
    let variable = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let Some(job) = variable("SLURM_JOB_ID") else {
        return Err("the head of a pilot runs in a job of Slurm, which sets SLURM_JOB_ID".into());
    };
    let nodes = variable("SLURM_JOB_NUM_NODES").or_else(|| variable("SLURM_NNODES")).unwrap_or(1);
    let board = Board::of(&options.folder);
    let wrong = |error: io::Error| format!("{}: {error}", options.folder.display());
    board.make().map_err(wrong)?;
    let Some(_lock) = board.lock_head(job).map_err(wrong)? else { return Ok(()) };
    let mut all = Step::default();
    let mut single: BTreeMap<Place, Step> = BTreeMap::new();
    let mut empty: BTreeMap<Place, Instant> = BTreeMap::new();
    while !board.is_over(job) {
        if !all.runs() && all.may_start() {
            all.start(step(options, job, nodes, None));
        }
        for place in board.places().into_iter().filter(|place| place.job == job && board.beacon(place).is_some()) {
            if !matches!(board.lock(&place), Ok(Some(_))) {
                empty.remove(&place);
                continue;
            }
            let since = *empty.entry(place.clone()).or_insert_with(Instant::now);
            let step_of = single.entry(place.clone()).or_default();
            if since.elapsed() >= EMPTY && !step_of.runs() && step_of.may_start() {
                step_of.start(step(options, job, 1, Some(&place.node)));
            }
        }
        sleep(GLANCE);
    }
    let over = Instant::now();
    while over.elapsed() < PATIENCE && (all.runs() || single.values_mut().any(Step::runs)) {
        sleep(GLANCE);
    }
    Ok(())
}

/// A step of agents on so many nodes, or on this one.
fn step(options: &HeadOptions, job: u64, nodes: u64, node: Option<&str>) -> Command {
    let mut command = Commands::new().process(Program::Srun);
    command.args([
        "--overlap",
        "--ntasks-per-node=1",
        "--cpu-bind=none",
        "--kill-on-bad-exit=0",
        "--wait=0",
        "--no-kill",
    ]);
    command.args([format!("--jobid={job}"), format!("--nodes={nodes}"), format!("--ntasks={nodes}")]);
    command.args(node.map(|node| format!("--nodelist={node}")));
    command.args(["--job-name=makespan-agent", "--input=none"]);
    command.arg(&options.program).args(["agent", "--folder"]).arg(&options.folder);
    // Tasks are measured by what they are given, not by what the script of the job was.
    command.env_remove("SLURM_CPUS_PER_TASK").env_remove("SLURM_TRES_PER_TASK");
    command.stdin(Stdio::null());
    command
}
