//! An engine that starts tasks in pilots: Slurm jobs that start and end during a run and provide nodes for tasks.

mod agents;
mod ask;
mod differs;
mod mute;
mod seats;
mod tasks;
mod watch;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use makespan_core::{Platform, ProcSet, TaskId};
use makespan_exec::engine::{
    EarlierAttempt, Engine, EngineStart, Identity, LeftProcesses, Notice, Refusal, TakenAttempt,
};
use makespan_exec::slots::NodeSlots;

use crate::pilot::link::AgentMessage;
use crate::pilot::{AttemptEnd, PilotBoard, PilotNode};
use agents::Agent;
pub use ask::{Allocation, PilotOptions, PilotSize};
use differs::Differences;
use mute::SilentPilots;
use seats::PilotSeat;
use tasks::HeldAttempt;
use watch::{PilotReport, PilotWatch};

/// Time between two checks of the files if all agents that hold tasks are connected.
const CONNECTED: Duration = Duration::from_secs(2);

/// Minimum time between two checks of the files if an agent that holds tasks is not connected.
const SHORTEST: Duration = Duration::from_millis(10);
/// Maximum time between two checks of the files if an agent that holds tasks is not connected.
const LONGEST: Duration = Duration::from_millis(250);

/// Time between two checks for new agents and for changes of pilots.
const GLANCE: Duration = Duration::from_millis(100);

/// Time between two signs of life of this planner.
const BEAT: Duration = Duration::from_secs(10);

/// A message from another thread to the thread of the engine.
#[derive(Debug)]
enum EngineMessage {
    /// A message from the agent of a place. The number identifies the connection.
    Agent(PilotNode, u64, AgentMessage),
    /// A report of the batch system.
    Batch(PilotReport),
}

/// Runs tasks in pilots. Agents on the nodes of the pilots start the tasks ([`crate::pilot`]). If this process ends,
/// running tasks continue.
///
/// Each node of the platform is served by a node of a pilot. If no pilot has a node for it, the node of the platform
/// is down.
#[derive(Debug)]
pub struct Pilots {
    board: PilotBoard,
    options: PilotOptions,
    begun: Instant,
    run: RunSide,
    nodes: NodeSide,
    hearing: EngineInbox,
    looks: LastChecks,
}

/// Tasks that the run has given to the engine, and the engine's notices for the run.
#[derive(Debug, Default)]
struct RunSide {
    tasks: BTreeMap<TaskId, HeldAttempt>,
    by_id: BTreeMap<String, TaskId>,
    notices: VecDeque<Notice>,
    /// The number of tasks of the run that wait for nodes.
    waiting: usize,
    limits: bool,
}

/// The nodes of the plan, the agents that serve them, and a seat for each pilot.
#[derive(Debug)]
struct NodeSide {
    slots: NodeSlots,
    seats: Vec<PilotSeat>,
    agents: BTreeMap<PilotNode, Agent>,
    /// Places that were lost, each with the token of its last agent.
    gone: BTreeMap<PilotNode, Option<String>>,
    over: bool,
    /// Begin of the current idle period. In an idle period, tasks wait, no agent has a task, and a pilot lacks nodes.
    /// `None` outside such a period.
    idle: Option<Instant>,
    /// True if the pilots continue after this value is dropped.
    leaves: bool,
}

/// Messages from agents, and reports of the batch system.
#[derive(Debug)]
struct EngineInbox {
    watch: PilotWatch,
    mute: SilentPilots,
    differences: Differences,
    sender: Sender<EngineMessage>,
    heard: Receiver<EngineMessage>,
    dials: u64,
}

/// Instants of the last checks of files, agents and pilots.
#[derive(Debug)]
struct LastChecks {
    looked: Instant,
    glanced: Instant,
    beat: Instant,
    reviewed: Instant,
    pause: Duration,
}

impl Pilots {
    /// Adopts the pilots of earlier sessions that have not ended. [`Engine::request_machines`] submits the missing pilots.
    ///
    /// # Errors
    /// A message of the file system.
    pub fn begin(platform: &Platform, options: PilotOptions) -> Result<Self, String> {
        let board = PilotBoard::of(&options.folder);
        board.make().map_err(|error| format!("{}: {error}", options.folder.display()))?;
        board.sweep();
        board.beat_as_planner();
        let (sender, heard) = mpsc::channel();
        let slots = NodeSlots::of(platform, &options.allocation.sizes(), options.allocation.hosts())?;
        let watch = PilotWatch::begin(options.batch.clone(), sender.clone());
        let now = Instant::now();
        let (mute, differences) = (SilentPilots::default(), Differences::default());
        let nodes = NodeSide {
            slots,
            seats: PilotSeat::all(&options.allocation),
            agents: BTreeMap::new(),
            gone: BTreeMap::new(),
            over: false,
            idle: None,
            leaves: false,
        };
        let mut pilots = Self {
            board,
            options,
            begun: now,
            run: RunSide::default(),
            nodes,
            hearing: EngineInbox { watch, mute, differences, sender, heard, dials: 0 },
            looks: LastChecks { looked: now, glanced: now, beat: now, reviewed: now, pause: SHORTEST },
        };
        for slot in 0..pilots.nodes.slots.len() {
            pilots.close(slot);
        }
        pilots.find_earlier();
        pilots.look_for_agents();
        Ok(pilots)
    }

    fn close(&mut self, slot: usize) {
        self.run.notices.extend(self.nodes.slots.close(slot));
    }

    fn open(&mut self, slot: usize) {
        self.run.notices.extend(self.nodes.slots.open(slot));
    }

    fn tell(&mut self, text: impl Into<String>) {
        self.run.notices.push_back(Notice::Told(text.into()));
    }

    fn take_in(&mut self, heard: EngineMessage) {
        match heard {
            EngineMessage::Agent(place, number, said) => self.heard_of_agent(&place, number, said),
            EngineMessage::Batch(report) => self.heard_of_pilots(report),
        }
    }

    /// Checks the files and the pilots, each after its interval.
    fn look(&mut self) {
        if self.looks.glanced.elapsed() >= GLANCE {
            self.looks.glanced = Instant::now();
            if self.looks.beat.elapsed() >= BEAT {
                self.looks.beat = Instant::now();
                self.board.beat_as_planner();
            }
            self.look_for_agents();
            self.look_after_agents();
            self.look_after_seats();
            self.look_for_mute();
            self.look_for_deaf();
            self.tell_differences();
        }
        if self.looks.looked.elapsed() >= self.until_look() {
            self.looks.looked = Instant::now();
            let found = self.look_for_ends();
            self.looks.pause = if found { SHORTEST } else { LONGEST.min(self.looks.pause * 2) };
        }
    }

    fn until_look(&self) -> Duration {
        let alone = self.nodes.agents.values().any(|agent| !agent.is_connected() && agent.holds > 0);
        if alone { self.looks.pause } else { CONNECTED }
    }
}

impl Engine for Pilots {
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn place(&self) -> String {
        match self.options.batch.as_slurm() {
            Some(_) => crate::PILOTS.into(),
            None => format!("{}{}", self.options.batch.name(), crate::OTHER_PILOTS),
        }
    }

    fn follows(&self, place: &str) -> Result<(), String> {
        crate::follows(&self.place(), place)
    }

    fn host(&self, processors: &ProcSet) -> String {
        self.nodes.slots.first_of(processors).map_or_else(String::new, |slot| self.node_name(slot))
    }

    fn request_machines(&mut self) -> Result<(), String> {
        self.ask_first()?;
        self.look_for_agents();
        Ok(())
    }

    fn limit_memory(&mut self) -> Result<(), String> {
        self.run.limits = true;
        Ok(())
    }

    fn outlives_us(&self) -> bool {
        true
    }

    fn awaits(&self) -> bool {
        !self.nodes.over
    }

    fn hear_waiting(&mut self, tasks: usize, shortest: &dyn Fn() -> Option<Duration>) {
        self.run.waiting = tasks;
        self.give_back_idle(shortest);
    }

    fn start(&mut self, start: &EngineStart<'_>) -> Result<Identity, Refusal> {
        self.prepare(start)?;
        Ok(Identity { pid: 0, start: 0 })
    }

    fn go(&mut self, task: TaskId, claim: &str) {
        if let Some(held) = self.run.tasks.get_mut(&task) {
            claim.clone_into(&mut held.order.claim);
            held.is_let_go = true;
        }
        self.give(task);
    }

    fn call_off(&mut self, task: TaskId) {
        self.drop_task(task);
    }

    fn end(&mut self, task: TaskId, kill: bool) {
        self.ask_end(task, kill);
    }

    fn wait(&mut self, timeout: Duration) -> Option<Notice> {
        let begun = Instant::now();
        loop {
            while let Ok(heard) = self.hearing.heard.try_recv() {
                self.take_in(heard);
            }
            if self.run.notices.is_empty() {
                self.give_again();
                self.look();
            }
            if let Some(notice) = self.run.notices.pop_front() {
                return Some(notice);
            }
            let left = timeout.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return None;
            }
            let next = GLANCE.min(self.until_look().saturating_sub(self.looks.looked.elapsed()));
            if let Ok(heard) = self.hearing.heard.recv_timeout(left.min(next.max(Duration::from_millis(1)))) {
                self.take_in(heard);
            }
        }
    }

    fn leave(&mut self) {
        self.nodes.leaves = true;
    }

    fn reap(&mut self, task: TaskId) -> i32 {
        let Some(held) = self.run.tasks.get(&task) else { return -1 };
        let status = AttemptEnd::exit_status(held.fate.as_ref());
        self.drop_task(task);
        status
    }

    fn take_over(&mut self, earlier: &[EarlierAttempt]) -> Vec<TakenAttempt> {
        self.find_tasks(earlier)
    }

    fn end_left(&mut self, _left: &LeftProcesses<'_>, grace: Duration, tell: &mut dyn FnMut(&str)) {
        self.end_strangers(grace, tell);
    }
}

/// End the pilots, because they get no tasks when this planner has ended.
impl Drop for Pilots {
    fn drop(&mut self) {
        if !self.nodes.leaves {
            self.end_pilots();
        }
    }
}

/// Returns the path of this program. Callers need the path to start the program on other nodes.
///
/// # Errors
/// The operating system does not return the path.
pub fn this_program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("cannot find the path of this program: {error}"))
}
