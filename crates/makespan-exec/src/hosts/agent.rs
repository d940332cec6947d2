//! The agent of a host: runs the attempts that a planner orders, and reports how they ended. An agent outlives the
//! connection to its planner for [`super::FENCE`]. Its tasks end with it, even if it is killed.

mod files;
mod listen;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use makespan_core::{Stop, TaskId};

use super::frame::FrameSender;
use super::lease::{Lease, since_boot};
use super::message::{HostMessage, Opening, PlannerMessage};
use super::paths::{LOCK, LOG, MARK, SOCKET, hex};
use crate::engine::{Engine, Notice};
use crate::local::Local;
use crate::machine::cores;
use crate::options::JobSetting;
use crate::order::{AttemptEnd, AttemptOrder};
use files::{OwnFiles, id_of};
use listen::{AgentEvent, Listener};

/// Maximum time between two checks of the lease.
const GLANCE: Duration = Duration::from_millis(250);

/// Pause before a failed start is tried again.
const PAUSE: Duration = Duration::from_millis(200);

/// Time between SIGTERM and SIGKILL for tasks when the agent ends.
const PATIENCE: Duration = Duration::from_secs(3);

/// Time in which the first planner must connect, and in which another agent of the same run must end.
const BEGIN: Duration = Duration::from_secs(20);

/// The state of an agent.
struct Agent {
    local: Local,
    /// Identifies this process for the planner.
    name: String,
    lease: Lease,
    /// The files of attempts, if the host does not share the folder of the run.
    files: Option<OwnFiles>,
    running: BTreeMap<TaskId, AttemptOrder>,
    /// Attempts with a delayed start.
    delayed: Vec<(Instant, AttemptOrder)>,
    /// The reason for the delay in the last message about a delayed start.
    delayed_for: String,
    /// Ended attempts that the planner has not recorded, with the files to send.
    ended: BTreeMap<String, (AttemptEnd, Vec<PathBuf>)>,
    /// The number of the connection to the planner, and its sender.
    planner: Option<(u64, FrameSender<HostMessage>)>,
    events: Receiver<AgentEvent>,
    limits_asked: bool,
    /// The instant from which the agent is ending.
    ending: Option<Instant>,
    has_killed: bool,
}

/// Runs the agent with its files in `folder`, until the run is over or contact to the planner is lost.
///
/// # Errors
/// The folder cannot be used.
pub fn serve(folder: &Path, stop: &Stop) -> Result<(), String> {
    // The agent must not receive the signals of the session of `ssh`.
    let _ = nix::unistd::setsid();
    let wrong = |error: io::Error| format!("{}: {error}", folder.display());
    let begun = Instant::now();
    let _lock = loop {
        match lock(folder).map_err(wrong)? {
            Some(lock) => break lock,
            None if begun.elapsed() > BEGIN => return Ok(()),
            None => thread::sleep(Duration::from_millis(50)),
        }
    };
    // The tasks of an agent end with it. If an agent was killed, its tasks may still be ending.
    Local::end_marked(&format!("{MARK}={}", folder.display()), Duration::ZERO);
    let listener = Listener::open(folder).map_err(wrong)?;
    let Ok(AgentEvent::Open(number, opening, sender)) = listener.events.recv_timeout(BEGIN) else {
        remove(folder);
        return Ok(());
    };
    let mut agent = Agent::new(&opening, folder, listener)?;
    agent.welcome(number, sender);
    agent.work(stop);
    remove(folder);
    agent.part();
    Ok(())
}

/// Locks the folder of an agent. Returns `None` if another agent uses the folder, or has just removed it.
fn lock(folder: &Path) -> io::Result<Option<File>> {
    let path = folder.join(LOCK);
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path)?;
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => return Ok(None),
        Err(fs::TryLockError::Error(error)) => return Err(error),
        Ok(()) => {}
    }
    let is_there = fs::metadata(path).is_ok_and(|there| file.metadata().is_ok_and(|own| own.ino() == there.ino()));
    Ok(is_there.then_some(file))
}

/// Removes the files of the agent.
fn remove(folder: &Path) {
    OwnFiles::remove_all(folder);
    [SOCKET, LOG, LOCK].iter().for_each(|name| drop(fs::remove_file(folder.join(name))));
    let _ = fs::remove_dir(folder);
}

impl Agent {
    fn new(opening: &Opening, folder: &Path, listener: Listener) -> Result<Self, String> {
        OwnFiles::remove_all(folder);
        let files = if opening.shares { None } else { Some(OwnFiles::make(folder)?) };
        let run = files.as_ref().map_or(Path::new(&opening.folder), OwnFiles::run).to_owned();
        let here = if files.is_some() { run.clone() } else { opening.here.clone().into() };
        let directory = opening.directory.as_ref().map_or(here, PathBuf::from);
        let setting = JobSetting { folder: Some(directory), niceness: None };
        let cores = cores().map_err(|error| error.to_string())?;
        let mut local = Local::new(&run, cores, None).with_setting(setting);
        local.group();
        local.tie();
        listener.wake(local.waker());
        let name = hex(format!("{}\0{}\0{:?}", folder.display(), std::process::id(), since_boot()).as_bytes());
        Ok(Self {
            local,
            name,
            files,
            lease: Lease::new(since_boot()),
            running: BTreeMap::new(),
            delayed: Vec::new(),
            delayed_for: String::new(),
            ended: BTreeMap::new(),
            planner: None,
            events: listener.events,
            limits_asked: false,
            ending: None,
            has_killed: false,
        })
    }

    fn work(&mut self, stop: &Stop) {
        loop {
            while let Ok(event) = self.events.try_recv() {
                self.hear(event);
            }
            let now = since_boot();
            if self.ending.is_none() && (stop.is_requested() || !self.lease.is_valid(now)) {
                self.begin_end();
            }
            if self.ending.is_some_and(|since| since.elapsed() >= PATIENCE) && !self.has_killed {
                self.has_killed = true;
                self.end_all(true);
            }
            if self.ending.is_some() && self.running.is_empty() {
                return;
            }
            if let Some(number) = self.lease.beat(now) {
                self.tell(HostMessage::Beat(number));
            }
            self.try_again();
            let mut wait = if self.delayed.is_empty() { GLANCE } else { PAUSE };
            while let Some(notice) = self.local.wait(wait) {
                if let Notice::Ended(task) = notice {
                    self.exited(task);
                }
                wait = Duration::ZERO;
            }
        }
    }

    fn hear(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::Open(number, _, sender) => self.welcome(number, sender),
            // Only the latest connection counts: an earlier one may contain outdated orders.
            AgentEvent::Message(number, message) if self.planner.as_ref().is_some_and(|(own, _)| *own == number) => {
                self.heed(message);
            }
            AgentEvent::Closed(number) if self.planner.as_ref().is_some_and(|(own, _)| *own == number) => {
                self.planner = None;
            }
            AgentEvent::Message(..) | AgentEvent::Closed(_) => {}
        }
    }

    fn heed(&mut self, message: PlannerMessage) {
        match message {
            PlannerMessage::Open(_) => {}
            PlannerMessage::Start(order) => self.take(*order),
            PlannerMessage::End { id, kill } => self.end(&id, kill),
            PlannerMessage::Returned(beat) => self.lease.returned(beat),
            PlannerMessage::Forget(id) => {
                let written = self.ended.remove(&id).map_or_else(Vec::new, |(_, written)| written);
                self.files.iter().for_each(|files| files.forget(&written, &id));
            }
            PlannerMessage::File(part) => self.files.iter().for_each(|files| files.receive(&part)),
            PlannerMessage::Over => self.begin_end(),
        }
    }

    /// Accepts a new connection of the planner, and reports all attempts.
    fn welcome(&mut self, number: u64, sender: FrameSender<HostMessage>) {
        let held = self.running.values().chain(self.delayed.iter().map(|(_, order)| order)).map(id_of);
        let held = held.chain(self.ended.keys().cloned()).collect();
        sender.send(HostMessage::Welcome { agent: self.name.clone(), held, shares: self.files.is_none() });
        for (id, (end, files)) in &self.ended {
            sender.send_files(id, files.clone(), HostMessage::Ended(id.clone(), end.clone()));
        }
        self.planner = Some((number, sender));
    }

    fn tell(&self, message: HostMessage) {
        if let Some((_, sender)) = &self.planner {
            sender.send(message);
        }
    }

    /// Starts an attempt. If the lease has expired, the planner treats the attempt as lost, so it must not start.
    fn take(&mut self, mut order: AttemptOrder) {
        let id = id_of(&order);
        let delayed = self.delayed.iter().any(|(_, order)| id_of(order) == id);
        let is_held = delayed || self.ended.contains_key(&id) || self.task_of(&id).is_some();
        if is_held || self.ending.is_some() || !self.lease.is_valid(since_boot()) {
            return;
        }
        if let Some(Err(reason)) = self.files.as_ref().map(|files| files.place(&id, &mut order)) {
            return self.ended(id, AttemptEnd::Refused(reason), Vec::new());
        }
        if order.memory.is_some()
            && !std::mem::replace(&mut self.limits_asked, true)
            && let Err(reason) = self.local.limit_memory()
        {
            self.tell(HostMessage::Told(format!("the memory of jobs is not limited: {reason}")));
        }
        match self.local.start(&order.start()) {
            Ok(_) => {
                self.local.go(order.task, &order.claim);
                self.running.insert(order.task, order);
            }
            Err(refusal) if refusal.passing => {
                if self.delayed_for != refusal.reason {
                    self.tell(HostMessage::Told(format!("no job can begin: {}; trying again", refusal.reason)));
                    self.delayed_for = refusal.reason;
                }
                self.delayed.push((Instant::now() + PAUSE, order));
            }
            Err(refusal) => self.ended(id, AttemptEnd::Refused(refusal.reason), Vec::new()),
        }
    }

    fn try_again(&mut self) {
        let now = Instant::now();
        let (due, rest) = std::mem::take(&mut self.delayed).into_iter().partition(|(at, _)| *at <= now);
        self.delayed = rest;
        for (_, order) in Vec::into_iter(due) {
            self.take(order);
        }
    }

    fn exited(&mut self, task: TaskId) {
        let status = self.local.reap(task);
        if let Some(order) = self.running.remove(&task) {
            let files = self.files.as_ref().map_or_else(Vec::new, |files| files.written(&order, status == 0));
            self.ended(id_of(&order), AttemptEnd::Exit(status), files);
        }
    }

    fn ended(&mut self, id: String, end: AttemptEnd, files: Vec<PathBuf>) {
        if let Some((_, sender)) = &self.planner {
            sender.send_files(&id, files.clone(), HostMessage::Ended(id.clone(), end.clone()));
        }
        self.ended.insert(id, (end, files));
    }

    /// Returns the task of a running attempt.
    fn task_of(&self, id: &str) -> Option<TaskId> {
        self.running.iter().find(|(_, order)| id_of(order) == id).map(|(&task, _)| task)
    }

    fn end(&mut self, id: &str, kill: bool) {
        if let Some(task) = self.task_of(id) {
            return self.local.end(task, kill);
        }
        let before = self.delayed.len();
        self.delayed.retain(|(_, order)| id_of(order) != id);
        if self.delayed.len() < before {
            self.ended(id.to_owned(), AttemptEnd::Gone, Vec::new());
        }
    }

    fn begin_end(&mut self) {
        self.ending.get_or_insert_with(Instant::now);
        self.delayed.clear();
        self.end_all(false);
    }

    fn end_all(&mut self, kill: bool) {
        let tasks: Vec<TaskId> = self.running.keys().copied().collect();
        tasks.into_iter().for_each(|task| self.local.end(task, kill));
    }

    /// Ends the connection after all messages were sent.
    fn part(self) {
        if let Some((_, sender)) = self.planner {
            sender.finish();
        }
    }
}
