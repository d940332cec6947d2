//! The agent of a node: takes the tasks that the planner gives to its place, runs them, and records how they ended. A
//! place is a node in a pilot.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use makespan_core::Stop;
use makespan_exec::engine::{Engine, Identity, Notice};
use makespan_exec::{Local, cores, gpus, host};

use super::attempt::{GLANCE, RunningAttempt};
use super::board::{AgentBeacon, PilotBoard, PilotNode};
use super::link::Server;
use crate::batch::{own_cores, own_end, own_place};
use makespan_exec::order::AttemptEnd;

/// Time between two signs of life.
const BEAT: Duration = Duration::from_secs(2);

/// Time between two checks of the files while a planner is connected.
const CONNECTED: Duration = Duration::from_secs(1);

/// Minimum time between two checks of the files while no planner is connected.
const SHORTEST: Duration = Duration::from_millis(10);
/// Maximum time between two checks of the files while no planner is connected.
const LONGEST: Duration = Duration::from_millis(250);

/// Time between SIGTERM and SIGKILL for tasks when the pilot ends. For comparison: by default, Slurm kills all
/// processes 30 seconds after it has asked them to end.
const PATIENCE: Duration = Duration::from_secs(3);

/// The message by which an agent says that it accepts no more tasks.
pub(crate) const LEAVING: &str = ".";

/// First character of an agent's messages for the user. No name of an attempt begins with this character.
pub(crate) const REMARK: char = '#';

/// The options of an agent.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// The folder of the run.
    pub folder: PathBuf,
    /// The program that wraps each task ([`makespan_exec::ExecuteOptions::shim`]).
    pub shim: Option<PathBuf>,
    /// The stop request, which ends the agent and its tasks.
    pub stop: Stop,
}

/// The agent of one node in one pilot.
#[derive(Debug)]
pub(super) struct Agent {
    pub board: PilotBoard,
    pub place: PilotNode,
    pub local: Local,
    pub boot: String,
    /// The running attempts, by id.
    pub running: BTreeMap<String, RunningAttempt>,
    /// Attempts with a delayed start, and the instants at which the agent tries again.
    pub delayed: Vec<(Instant, String)>,
    /// The reason for the delay in the last report about a delayed attempt.
    pub delayed_for: String,
    /// Ends of attempts that the agent could not record yet.
    pub untold: Vec<(String, AttemptEnd)>,
    /// Ends of tasks that Slurm may have caused by stopping everything on this node. If Slurm has caused them, it soon
    /// stops this agent too.
    pub doubtful: Vec<(Instant, String, AttemptEnd)>,
    /// True if the agent is ending: no new task starts, and running tasks are ended.
    pub ending: bool,
    ending_since: Option<Instant>,
    server: Option<Server>,
    heard: Receiver<String>,
    pub beacon: AgentBeacon,
    /// True if the agent sees more cores than its pilot has. Other pilots may then run on the same cores, so tasks are
    /// not pinned.
    pub shares_cores: bool,
    limits_asked: bool,
    pause: Duration,
    looked: Option<Instant>,
    beat: Option<Instant>,
    _lock: File,
}

/// Serves a place until the pilot or the run ends. Environment variables of the job or of the Slurm step state the
/// place.
///
/// # Errors
///
/// The folder of the run cannot be read or written.
pub fn serve(options: &AgentOptions) -> Result<(), String> {
    let place = place()?;
    let board = PilotBoard::of(&options.folder);
    let wrong = |error: io::Error| format!("{}: {error}", options.folder.display());
    board.make().and_then(|()| board.make_place(&place)).map_err(wrong)?;
    // If another agent serves the place, wait for it. If that agent dies, take over.
    let lock = loop {
        if board.is_over(place.job) || options.stop.is_requested() {
            return Ok(());
        }
        match board.lock(&place).map_err(wrong)? {
            Some(lock) => break lock,
            None => thread::sleep(LONGEST),
        }
    };
    let mut agent = Agent::new(options, board, place, lock).map_err(wrong)?;
    agent.look_for_taken();
    agent.work(&options.stop);
    Ok(())
}

/// Returns the place of this process.
fn place() -> Result<PilotNode, String> {
    let (job, node) = own_place().ok_or(
        "this command is started only by `makespan run --on`, in a step of Slurm with SLURM_JOB_ID and \
         SLURMD_NODENAME, or in a job with MAKESPAN_JOB_ID",
    )?;
    Ok(PilotNode { job, node })
}

impl Agent {
    fn new(options: &AgentOptions, board: PilotBoard, place: PilotNode, lock: File) -> io::Result<Self> {
        let cores = cores().map_err(io::Error::other)?;
        let mut local = Local::new(&options.folder, cores.clone(), options.shim.clone());
        local.group();
        let boot = local.place();
        let (lines, heard) = mpsc::channel();
        let server = Server::open(lines, local.waker()).ok();
        let process = Identity::of_this();
        let beacon = AgentBeacon {
            host: host(),
            port: server.as_ref().map_or(0, |server| server.port),
            token: server.as_ref().map_or_else(String::new, |server| server.token.clone()),
            process,
            boot: boot.clone(),
            cores: cores.len(),
            gpus: gpus().map(|names| names.len()),
            clock: board.clock(),
            ends: own_end(),
            no_limits: None,
        };
        board.beat(&place)?;
        board.announce(&place, &beacon)?;
        Ok(Self {
            board,
            place,
            local,
            boot,
            running: BTreeMap::new(),
            delayed: Vec::new(),
            delayed_for: String::new(),
            untold: Vec::new(),
            doubtful: Vec::new(),
            ending: false,
            ending_since: None,
            server,
            heard,
            beacon,
            shares_cores: own_cores().is_some_and(|own| own < cores.len()),
            limits_asked: false,
            pause: SHORTEST,
            looked: None,
            beat: None,
            _lock: lock,
        })
    }

    fn work(&mut self, stop: &Stop) {
        loop {
            if !self.ending && (stop.is_requested() || self.board.is_over(self.place.job)) {
                self.ending = true;
                self.tell(LEAVING);
                self.ending_since = Some(Instant::now());
                self.end_all(false);
            }
            if self.ending_since.is_some_and(|since| since.elapsed() >= PATIENCE) {
                self.ending_since = Some(Instant::now());
                self.end_all(true);
            }
            self.hear();
            self.try_again();
            self.look_after();
            self.settle_doubts();
            self.enforce_walltimes();
            if self.ending && self.running.is_empty() && self.untold.is_empty() && self.doubtful.is_empty() {
                return;
            }
            if let Some(Notice::Ended(task)) = self.local.wait(self.next()) {
                self.exited(task);
                self.pause = SHORTEST;
            }
            while let Some(Notice::Ended(task)) = self.local.wait(Duration::ZERO) {
                self.exited(task);
            }
        }
    }

    /// Returns the maximum time to wait for the next event.
    fn next(&self) -> Duration {
        let connected = self.server.as_ref().is_some_and(Server::is_connected);
        let look = if connected { CONNECTED } else { self.pause };
        let busy = !self.delayed.is_empty() || !self.untold.is_empty() || !self.doubtful.is_empty();
        let busy = busy || self.running.values().any(RunningAttempt::is_inherited);
        if busy || self.ending { look.min(GLANCE) } else { look.min(LONGEST) }
    }

    /// Handles messages of the planner. At intervals, checks all files for new tasks and for requests to end tasks.
    fn hear(&mut self) {
        if self.beat.is_none_or(|beat| beat.elapsed() >= BEAT) {
            self.beat = Some(Instant::now());
            let _ = self.board.beat(&self.place);
        }
        let (mut ends, mut all) = (false, false);
        while let Ok(line) = self.heard.try_recv() {
            match line.as_str() {
                "!" => ends = true,
                "?" => all = true,
                id if !self.ending && is_name(id) => self.take(id),
                _ => {}
            }
        }
        let connected = self.server.as_ref().is_some_and(Server::is_connected);
        let due =
            all || self.looked.is_none_or(|looked| looked.elapsed() >= if connected { CONNECTED } else { self.pause });
        if due {
            self.looked = Some(Instant::now());
            let given = if self.ending { Vec::new() } else { self.board.ids("in", &self.place) };
            self.pause = if given.is_empty() { LONGEST.min(self.pause * 2) } else { SHORTEST };
            for id in given {
                self.take(&id);
            }
        }
        if due || ends {
            for (id, kill) in self.board.asked(&self.place) {
                // If the planner gave the task and requested its end at the same time, the agent may not have taken
                // the task yet.
                self.take(&id);
                self.end(&id, kill);
                self.board.heeded(&self.place, &id, kill);
            }
        }
    }

    fn end_all(&mut self, kill: bool) {
        self.running.values_mut().for_each(|one| one.end(&mut self.local, &self.boot, kill));
    }

    /// Limits the memory of tasks. If this is impossible, reports the reason to the planner.
    pub(super) fn limit_memory(&mut self) {
        if std::mem::replace(&mut self.limits_asked, true) {
            return;
        }
        if let Err(reason) = self.local.limit_memory() {
            self.beacon.no_limits = Some(reason);
            let _ = self.board.announce(&self.place, &self.beacon);
        }
    }

    pub(super) fn tell(&self, line: &str) {
        if let Some(server) = &self.server {
            server.tell(line);
        }
    }

    /// Writes a message to the log of the pilot.
    pub(super) fn say(&self, text: &str) {
        eprintln!("makespan agent {}: {text}", self.place.name());
    }
}

/// Returns true if the text is a file name and not a path.
fn is_name(id: &str) -> bool {
    Path::new(id).file_name().is_some_and(|name| name == id)
}
