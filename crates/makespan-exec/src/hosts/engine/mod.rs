//! The engine: keeps the connections to the hosts, and gives tasks to their agents.

mod contact;
mod files;
mod tasks;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use makespan_core::{Platform, ProcSet, TaskId};

use super::lease::since_boot;
use super::link::HostEvent;
use super::message::{Opening, PlannerMessage};
use super::paths::{TOKEN, hex, make_private};
use super::probe::ProbedHosts;
use super::program::OwnProgram;
use crate::engine::{
    EarlierAttempt, Engine, EngineStart, HOSTS_PLACE, Identity, LeftProcesses, Notice, Refusal, TakenAttempt,
};
use crate::order::AttemptEnd;
use crate::slots::NodeSlots;
use contact::Host;
use tasks::HeldAttempt;

/// Time between two checks of the connections.
const GLANCE: Duration = Duration::from_millis(100);

/// Time that agents have to end at the end of a session.
const PARTING: Duration = Duration::from_secs(5);

/// The options of the engine.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// The folder of the run. The path is absolute.
    pub folder: PathBuf,
    /// The working folder of tasks on hosts without a stated folder. The path is absolute.
    pub here: PathBuf,
    /// True if tasks run in their own folders ([`crate::Scratch`]). Hosts then need not share the folder of the run.
    pub is_scratch: bool,
    /// Time between SIGTERM and SIGKILL for a task.
    pub grace: Duration,
}

/// Runs tasks on hosts. Each node of the platform is a host. A node is down while its host cannot be reached.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each field states whether one event of the session has occurred")]
pub struct Hosts {
    options: HostOptions,
    begun: Instant,
    /// The id of the run.
    run: String,
    slots: NodeSlots,
    all: Vec<Host>,
    tasks: BTreeMap<TaskId, HeldAttempt>,
    by_id: BTreeMap<String, TaskId>,
    notices: VecDeque<Notice>,
    limits: bool,
    program: Arc<OwnProgram>,
    sender: Sender<HostEvent>,
    events: Receiver<HostEvent>,
    glanced: Instant,
    /// The instant since which no host has been reachable.
    alone: Option<Instant>,
    is_over: bool,
    /// True if this session has decided which attempts of earlier sessions it takes over.
    is_settled: bool,
    /// True if the tasks continue after this value is dropped.
    leaves: bool,
}

impl Hosts {
    /// Opens the run on all hosts. The nodes of the platform are the hosts, by name.
    ///
    /// # Errors
    /// A message with the remedy.
    pub fn begin(platform: &Platform, probed: ProbedHosts, options: HostOptions) -> Result<Self, String> {
        let run = id_of_run(&options)?;
        let sizes = vec![1; platform.nodes().iter().filter(|node| node.processors > 0).count()];
        let slots = NodeSlots::of(platform, &sizes, Vec::new())?;
        let ProbedHosts { mut hosts, program, sender, events } = probed;
        let mut own = Vec::new();
        for slot in 0..slots.len() {
            let name = slots.name(slot);
            let at = hosts.iter().position(|host| host.spec.name == name).ok_or_else(|| {
                format!("the plan uses the host `{name}`, which --on does not name or which cannot be used; name it")
            })?;
            own.push(Host::new(hosts.swap_remove(at)));
        }
        let mut engine = Self {
            options,
            begun: Instant::now(),
            run,
            slots,
            all: own,
            tasks: BTreeMap::new(),
            by_id: BTreeMap::new(),
            notices: VecDeque::new(),
            limits: false,
            program,
            sender,
            events,
            glanced: Instant::now(),
            alone: None,
            is_over: false,
            is_settled: false,
            leaves: false,
        };
        for slot in 0..engine.slots.len() {
            engine.close(slot);
            engine.open_run(slot);
        }
        engine.await_hosts();
        Ok(engine)
    }

    /// Waits until each host with a connection has answered, or its connection has ended.
    fn await_hosts(&mut self) {
        while self.all.iter().any(Host::is_opening) {
            if let Ok(event) = self.events.recv_timeout(GLANCE) {
                self.hear(event);
            }
            self.all.iter().for_each(Host::expire);
        }
    }

    /// Sends the run to a host that has reported its properties.
    fn open_run(&mut self, slot: usize) {
        let text = |path: &PathBuf| path.display().to_string();
        let host = &self.all[slot];
        let opening = Opening {
            run: self.run.clone(),
            host: host.spec.name.clone(),
            folder: text(&self.options.folder),
            directory: host.spec.directory.clone(),
            here: text(&self.options.here),
            is_scratch: self.options.is_scratch,
            shares: false,
        };
        host.send(PlannerMessage::Open(Box::new(opening)));
    }

    fn close(&mut self, slot: usize) {
        self.notices.extend(self.slots.close(slot));
    }

    fn open(&mut self, slot: usize) {
        self.notices.extend(self.slots.open(slot));
    }

    fn tell(&mut self, slot: usize, text: &str) {
        self.notices.push_back(Notice::Told(format!("host {}: {text}", self.slots.name(slot))));
    }
}

/// Returns the id of the run, which is stored in the folder of the run. Hosts that read this file share the folder.
fn id_of_run(options: &HostOptions) -> Result<String, String> {
    let path = options.folder.join(TOKEN);
    if [&options.folder, &options.here].iter().any(|path| path.to_str().is_none()) {
        return Err("the names of the folder of the run and of the current folder must be UTF-8; rename them".into());
    }
    if let Some(id) = std::fs::read_to_string(&path).ok().filter(|id| id.ends_with('\n')) {
        return Ok(id.trim_end().to_owned());
    }
    let text = format!("{}\0{}\0{:?}\0{:?}", path.display(), std::process::id(), since_boot(), SystemTime::now());
    let id = hex(text.as_bytes());
    path.parent().map_or(Ok(()), make_private)?;
    std::fs::write(&path, format!("{id}\n")).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(id)
}

impl Engine for Hosts {
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn place(&self) -> String {
        HOSTS_PLACE.into()
    }

    fn follows(&self, place: &str) -> Result<(), String> {
        if place.is_empty() || place == HOSTS_PLACE {
            return Ok(());
        }
        Err("the run began on other machines, where its jobs may still run; resume it without --on ssh, as it began"
            .into())
    }

    fn host(&self, processors: &ProcSet) -> String {
        self.slots.first_of(processors).map_or_else(String::new, |slot| self.slots.name(slot).to_owned())
    }

    fn limit_memory(&mut self) -> Result<(), String> {
        self.limits = true;
        Ok(())
    }

    fn awaits(&self) -> bool {
        !self.is_over
    }

    fn start(&mut self, start: &EngineStart<'_>) -> Result<Identity, Refusal> {
        self.prepare(start)?;
        Ok(Identity { pid: 0, start: 0 })
    }

    fn go(&mut self, task: TaskId, claim: &str) {
        self.give(task, claim);
    }

    fn call_off(&mut self, task: TaskId) {
        self.drop_task(task);
    }

    fn end(&mut self, task: TaskId, kill: bool) {
        self.ask_end(task, kill);
    }

    fn wait(&mut self, timeout: Duration) -> Option<Notice> {
        let begun = Instant::now();
        self.settle();
        loop {
            while let Ok(event) = self.events.try_recv() {
                self.hear(event);
            }
            if self.glanced.elapsed() >= GLANCE {
                self.glanced = Instant::now();
                self.look_after_hosts();
            }
            if let Some(notice) = self.notices.pop_front() {
                return Some(notice);
            }
            let left = timeout.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return None;
            }
            if let Ok(event) = self.events.recv_timeout(left.min(GLANCE)) {
                self.hear(event);
            }
        }
    }

    fn leave(&mut self) {
        self.leaves = true;
    }

    fn reap(&mut self, task: TaskId) -> i32 {
        let Some(held) = self.tasks.get(&task) else { return -1 };
        let status = AttemptEnd::exit_status(held.end.as_ref());
        self.drop_task(task);
        status
    }

    fn take_over(&mut self, earlier: &[EarlierAttempt]) -> Vec<TakenAttempt> {
        self.adopt(earlier)
    }

    fn end_left(&mut self, _left: &LeftProcesses<'_>, _grace: Duration, tell: &mut dyn FnMut(&str)) {
        self.outlast_strangers(tell);
    }
}

/// Ends the agents, because they get no tasks when this planner has ended.
impl Drop for Hosts {
    fn drop(&mut self) {
        if self.leaves {
            return;
        }
        self.all.iter().for_each(|host| host.send(PlannerMessage::Over));
        let begun = Instant::now();
        while self.all.iter().any(Host::is_connected) && begun.elapsed() < PARTING {
            while let Ok(event) = self.events.try_recv() {
                self.hear(event);
            }
            sleep(Duration::from_millis(5));
        }
    }
}
