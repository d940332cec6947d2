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
    /// The nodes of the allocation on which agents are started, with commas between them; `None` for all.
    pub nodes: Option<String>,
    /// How long the pilot is kept when its planner is gone and it has nothing left to do.
    pub wait: Duration,
}

impl HeadOptions {
    /// How long that is where nobody says anything else: time enough to resume a run that has died.
    pub const WAIT: Duration = Duration::from_mins(5);
}

/// How long the folder of the run must be gone until it is taken as removed: file systems of a network may be away for a while.
const REMOVED: Duration = Duration::from_secs(30);

/// Between two looks at whether the pilot is still of use.
const REVIEW: Duration = Duration::from_secs(1);

/// Whether a pilot is still of use.
#[derive(Debug)]
struct Use {
    reviewed: Instant,
    /// Since when the folder is gone.
    gone: Option<Instant>,
    /// The last sign of life of a planner, and when it was new or there was something to do.
    beat: Option<Duration>,
    needed: Instant,
}

impl Use {
    fn new() -> Self {
        let now = Instant::now();
        Self { reviewed: now, gone: None, beat: None, needed: now }
    }

    /// Why it is not, if so.
    fn ended(&mut self, board: &Board, job: u64, wait: Duration) -> Option<String> {
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
            format!("for {seconds} s no planner was there, and nothing is left to do; resuming the run asks for another pilot")
        })
    }
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
    let nodes = match &options.nodes {
        Some(nodes) => nodes.split(',').count() as u64,
        None => variable("SLURM_JOB_NUM_NODES").or_else(|| variable("SLURM_NNODES")).unwrap_or(1),
    };
    let board = Board::of(&options.folder);
    let wrong = |error: io::Error| format!("{}: {error}", options.folder.display());
    board.make().map_err(wrong)?;
    // One that is there already leads. Should it end, this one goes on: a controller without its memory gives the number of a job again, and
    // what it has forgotten may live for a while.
    let _lock = loop {
        match board.lock_head(job).map_err(wrong)? {
            Some(lock) => break lock,
            None if board.is_over(job) => return Ok(()),
            None => sleep(GLANCE),
        }
    };
    let mut all = Step::default();
    let mut single: BTreeMap<Place, Step> = BTreeMap::new();
    let mut empty: BTreeMap<Place, Instant> = BTreeMap::new();
    let mut of_use = Use::new();
    while !board.is_over(job) {
        if let Some(why) = of_use.ended(&board, job, options.wait) {
            eprintln!("makespan agent: pilot {job} ends: {why}");
            // Agents see it, and whoever resumes the run.
            if board.declare_over(job).is_err() {
                return Ok(());
            }
            break;
        }
        if !all.runs() && all.may_start() {
            all.start(step(options, job, nodes, options.nodes.as_deref()));
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

/// A step of agents on so many nodes: on these, if any are named.
fn step(options: &HeadOptions, job: u64, nodes: u64, names: Option<&str>) -> Command {
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
    command.arg(&options.program).args(["agent", "--folder"]).arg(&options.folder);
    // Tasks are measured by what they are given, not by what the script of the job was.
    command.env_remove("SLURM_CPUS_PER_TASK").env_remove("SLURM_TRES_PER_TASK");
    command.stdin(Stdio::null());
    command
}
