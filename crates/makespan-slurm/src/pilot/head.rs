//! The head of a pilot: the process that starts the pilot's agents and restarts them.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::board::{PilotBoard, PilotNode};
use crate::batch::{own_job, own_launches, own_script_job, shown};
use crate::{Commands, Program};

/// Time between two checks.
const GLANCE: Duration = Duration::from_millis(250);

/// If a place has had no agent for this time, another agent is started there.
const EMPTY: Duration = Duration::from_secs(1);

/// If a step ended early, the minimum pause before it is started again.
const PAUSE: Duration = Duration::from_millis(500);
/// Maximum of this pause.
const LONGEST: Duration = Duration::from_secs(10);

/// Time in which agents must end when the run ends.
const PATIENCE: Duration = Duration::from_secs(30);

/// The options of a head.
#[derive(Clone, Debug)]
pub struct HeadOptions {
    /// The folder of the run.
    pub folder: PathBuf,
    /// The path of this program.
    pub program: PathBuf,
    /// The nodes of the allocation on which agents are started, separated by commas. `None` means all nodes.
    pub nodes: Option<String>,
    /// Time for which the pilot continues without a planner and without work.
    pub wait: Duration,
}

impl HeadOptions {
    /// Default of `wait`, long enough to resume a run after its planner has died.
    pub const WAIT: Duration = Duration::from_mins(5);
}

/// If the folder of the run is missing for this time, it counts as removed. A network file system may be unavailable
/// for a shorter time.
const REMOVED: Duration = Duration::from_secs(30);

/// Time between two checks whether the pilot is still needed.
const REVIEW: Duration = Duration::from_secs(1);

/// The data that decide whether a pilot is still needed.
#[derive(Debug)]
struct Use {
    reviewed: Instant,
    /// Instant since which the folder has been missing.
    gone: Option<Instant>,
    /// The last sign of life of a planner.
    beat: Option<Duration>,
    /// The last instant at which a new sign of life or unfinished work was found.
    needed: Instant,
}

impl Use {
    fn new() -> Self {
        let now = Instant::now();
        Self { reviewed: now, gone: None, beat: None, needed: now }
    }

    /// Returns the reason why the pilot can end, or `None` if the pilot is needed.
    fn ended(&mut self, board: &PilotBoard, job: u64, wait: Duration) -> Option<String> {
        if self.reviewed.elapsed() < REVIEW {
            return None;
        }
        self.reviewed = Instant::now();
        if board.is_removed() {
            let since = self.gone.get_or_insert_with(Instant::now);
            return (since.elapsed() >= REMOVED).then(|| "the folder of the run was removed".to_owned());
        }
        self.gone = None;
        let beat = board.last_planner_beat();
        if beat != self.beat || board.has_work(job) {
            (self.beat, self.needed) = (beat, Instant::now());
        }
        (self.needed.elapsed() >= wait).then(|| {
            let seconds = wait.as_secs();
            format!(
                "for {seconds} s, makespan run did not report, and no task was left; resuming the run requests \
                 another pilot"
            )
        })
    }
}

/// A process that the head starts: a step of Slurm that starts agents, or a single agent. The process is restarted if
/// it ends early.
#[derive(Debug, Default)]
struct Step {
    child: Option<Child>,
    begun: Option<Instant>,
    pause: Duration,
}

impl Step {
    /// Returns true if the step runs. If the step ended early, increases the pause before the next start.
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
            Err(error) => eprintln!("makespan agent: cannot start agents: {error}; trying again"),
        }
    }
}

/// Runs the head of the current pilot: starts an agent on every node in one step, and restarts agents that have died,
/// until the run is over. When the head ends, the batch system ends the job with all its processes.
///
/// # Errors
/// The folder of the run cannot be read or written.
pub fn lead(options: &HeadOptions) -> Result<(), String> {
    let variable = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let Some(job) = own_job() else {
        return Err(
            "this command is started only by `makespan run --on`, in a job with SLURM_JOB_ID or MAKESPAN_JOB_ID".into(),
        );
    };
    let nodes = match &options.nodes {
        Some(nodes) => nodes.split(',').count() as u64,
        None => variable("SLURM_JOB_NUM_NODES").or_else(|| variable("SLURM_NNODES")).unwrap_or(1),
    };
    let board = PilotBoard::of(&options.folder);
    let wrong = |error: io::Error| format!("{}: {error}", options.folder.display());
    board.make().map_err(wrong)?;
    // If another head leads the pilot, wait until that head has ended. There may be two heads, because a controller
    // that has lost its state reuses the id of a job that still runs.
    let _lock = loop {
        match board.lock_head(job).map_err(wrong)? {
            Some(lock) => break lock,
            None if board.is_over(job) => return Ok(()),
            None => sleep(GLANCE),
        }
    };
    let launches = own_launches().len();
    let mut all: Vec<Step> = (0..launches.max(1)).map(|_| Step::default()).collect();
    let mut single: BTreeMap<PilotNode, Step> = BTreeMap::new();
    let mut empty: BTreeMap<PilotNode, Instant> = BTreeMap::new();
    let mut of_use = Use::new();
    while !board.is_over(job) {
        if let Some(why) = of_use.ended(&board, job, options.wait) {
            eprintln!("makespan agent: pilot {} ends: {why}", shown(job));
            // The agents and later sessions read this record.
            if board.declare_over(job).is_err() {
                return Ok(());
            }
            break;
        }
        for (at, one) in all.iter_mut().enumerate() {
            if !one.runs() && one.may_start() {
                let launched = own_launches().into_iter().nth(at).map(|launch| agent(options, launch));
                one.start(launched.unwrap_or_else(|| step(options, job, nodes, options.nodes.as_deref())));
            }
        }
        // If each agent has its own step, this step is started again when the agent ends.
        let places = if launches > 0 { Vec::new() } else { board.places() };
        for place in places.into_iter().filter(|place| place.job == job && board.beacon(place).is_some()) {
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
    while over.elapsed() < PATIENCE && all.iter_mut().chain(single.values_mut()).any(Step::runs) {
        sleep(GLANCE);
    }
    Ok(())
}

/// Returns a step that runs agents on `nodes` nodes. If `names` is set, it contains the names of these nodes.
fn step(options: &HeadOptions, job: u64, nodes: u64, names: Option<&str>) -> Command {
    if own_script_job().is_some() {
        // The pilot has only the node of this process, so start one agent here.
        return agent(options, Command::new("env"));
    }
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
    command.args(names.map(|names| format!("--nodelist={names}")));
    command.args(["--job-name=makespan-agent", "--input=none"]);
    let mut command = agent(options, command);
    // Remove the variables that Slurm set for the script of the job, because the orders state the sizes of tasks.
    command.env_remove("SLURM_CPUS_PER_TASK").env_remove("SLURM_TRES_PER_TASK");
    command
}

/// Completes a command that runs a program: the program is an agent.
fn agent(options: &HeadOptions, mut command: Command) -> Command {
    command.arg(&options.program).args(["agent", "--folder"]).arg(&options.folder).stdin(Stdio::null());
    command
}
