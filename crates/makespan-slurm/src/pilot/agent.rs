//! The agent of a node: takes what its place is given, runs it, and says how it ended.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use makespan_core::{Stop, TaskId};
use makespan_exec::engine::{Engine, Identity, Notice};
use makespan_exec::{Local, cores, gpus, host};

use super::begun::Begun;
use super::board::{Beacon, Board, Place};
use super::inherited::{GLANCE, Inherited};
use super::link::Server;
use super::order::Fate;

/// Between two signs of life.
const BEAT: Duration = Duration::from_secs(2);

/// Between two looks at the files while a planner is connected.
const CONNECTED: Duration = Duration::from_secs(1);

/// The same without a planner: at first, and at last.
const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_millis(250);

/// How long tasks may take to react when the pilot ends, before they are killed. Slurm kills all half a minute after it asked,
/// where a site did not choose otherwise.
const PATIENCE: Duration = Duration::from_secs(3);

/// What an agent says when it takes nothing more.
pub(crate) const LEAVING: &str = ".";

/// What stands before something that an agent says to the user. No name of an attempt has it.
pub(crate) const REMARK: char = '#';

/// How an agent runs.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// The folder of the run.
    pub folder: PathBuf,
    /// The program around each task ([`makespan_exec::ExecuteOptions::shim`]).
    pub shim: Option<PathBuf>,
    /// Ends the agent, and what it runs.
    pub stop: Stop,
}

/// The agent of one node in one pilot.
#[derive(Debug)]
pub(super) struct Agent {
    pub board: Board,
    pub place: Place,
    pub local: Local,
    pub boot: String,
    pub running: BTreeMap<TaskId, Begun>,
    pub inherited: Vec<Inherited>,
    /// What is to be begun again at an instant.
    pub delayed: Vec<(Instant, String)>,
    /// Why, as was said last.
    pub delayed_for: String,
    /// Ends that could not be said.
    pub untold: Vec<(String, Fate)>,
    /// Ends that look as if somebody had stopped all that runs here, who may be about to stop this agent, too.
    pub doubtful: Vec<(Instant, String, Fate)>,
    /// Whether nothing new is begun, and what runs is ended.
    pub ending: bool,
    ending_since: Option<Instant>,
    server: Option<Server>,
    heard: Receiver<String>,
    pub beacon: Beacon,
    limits_asked: bool,
    pause: Duration,
    looked: Option<Instant>,
    beat: Option<Instant>,
    _lock: File,
}

/// Serves a place, which the environment of a step of Slurm names, until its pilot ends or the run is over.
///
/// # Errors
/// What the system says of the folder, in words.
pub fn serve(options: &AgentOptions) -> Result<(), String> {
    let place = place()?;
    let board = Board::of(&options.folder);
    let wrong = |error: io::Error| format!("{}: {error}", options.folder.display());
    board.make().and_then(|()| board.make_place(&place)).map_err(wrong)?;
    // One that is there already serves the place; should it die, this one goes on.
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

/// The place of this process.
fn place() -> Result<Place, String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let job = variable("SLURM_JOB_ID").and_then(|job| job.parse().ok());
    match (job, variable("SLURMD_NODENAME")) {
        (Some(job), Some(node)) => Ok(Place { job, node }),
        _ => Err("an agent is started by `makespan run --on slurm` in a step of Slurm, which sets SLURM_JOB_ID and SLURMD_NODENAME".into()),
    }
}

impl Agent {
    fn new(options: &AgentOptions, board: Board, place: Place, lock: File) -> io::Result<Self> {
        let cores = cores().map_err(io::Error::other)?;
        let mut local = Local::new(&options.folder, cores.clone(), options.shim.clone());
        local.group();
        let boot = local.place();
        let (lines, heard) = mpsc::channel();
        let server = Server::open(lines, local.waker()).ok();
        let process = Identity::of_this();
        let beacon = Beacon {
            host: host(),
            port: server.as_ref().map_or(0, |server| server.port),
            token: server.as_ref().map_or_else(String::new, |server| server.token.clone()),
            process,
            boot: boot.clone(),
            cores: cores.len(),
            gpus: gpus().map(|names| names.len()),
            clock: board.clock(),
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
            inherited: Vec::new(),
            delayed: Vec::new(),
            delayed_for: String::new(),
            untold: Vec::new(),
            doubtful: Vec::new(),
            ending: false,
            ending_since: None,
            server,
            heard,
            beacon,
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
            if self.ending
                && self.running.is_empty()
                && self.inherited.is_empty()
                && self.untold.is_empty()
                && self.doubtful.is_empty()
            {
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

    /// How long to wait at most.
    fn next(&self) -> Duration {
        let connected = self.server.as_ref().is_some_and(Server::is_connected);
        let look = if connected { CONNECTED } else { self.pause };
        let busy = !self.inherited.is_empty() || !self.delayed.is_empty() || !self.untold.is_empty();
        let busy = busy || !self.doubtful.is_empty();
        if busy || self.ending { look.min(GLANCE) } else { look.min(LONGEST) }
    }

    /// Takes what was given, and ends what is to end: what planners told of, and now and then whatever is there.
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
                // What was given with it comes first.
                self.take(&id);
                self.end(&id, kill);
                self.board.heeded(&self.place, &id, kill);
            }
        }
    }

    fn end_all(&mut self, kill: bool) {
        let running = self.running.values().map(|begun| begun.id.clone());
        let ids: Vec<String> = running.chain(self.inherited.iter().map(|one| one.id.clone())).collect();
        ids.iter().for_each(|id| self.end(id, kill));
    }

    /// Gives tasks limits of memory, where that is possible; otherwise the planner is told.
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

    /// To the log of the pilot.
    pub(super) fn say(&self, text: &str) {
        eprintln!("makespan agent {}: {text}", self.place.name());
    }
}

/// Whether it is the name of a file and no path.
fn is_name(id: &str) -> bool {
    Path::new(id).file_name().is_some_and(|name| name == id)
}
