//! A simulated machine for tests: a disk and a process table in memory, with a virtual clock. Tests choose the step that fails.

mod disk;
mod processes;
mod tests;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use makespan_core::Stop;
use nix::libc::ENOSPC;

use disk::Inode;
use processes::Process;

/// A fault at one step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The step fails with this error, once.
    Refused(i32),
    /// All writes to the disk and all starts of processes fail for three seconds.
    Full(i32),
    /// Half of the data are written, and then the disk is full for three seconds.
    Half,
    /// The session or the shim that performs the step is killed: before the step, after it, or in the middle of a
    /// write.
    Killed(KillPoint),
    /// The machine loses power.
    Power(KillPoint),
    /// The session receives a stop request.
    Stopped,
    /// All tasks receive a stop request. The session receives a stop request 100 ms later.
    AllStopped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KillPoint {
    Before,
    Half,
    After,
}

/// Panic payload: the session was killed.
pub(super) struct KilledSession;

/// Part of a step that is performed before a fault, and the fault.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Whole,
    HalfThenError,
    HalfThen(Fault),
    WholeThen(Fault),
}

/// State of the machine.
#[derive(Clone)]
pub(super) struct MachineState {
    pub clock: Duration,
    pub boots: u32,
    names: BTreeMap<PathBuf, usize>,
    names_on_disk: BTreeMap<PathBuf, usize>,
    folders: BTreeSet<PathBuf>,
    folders_on_disk: BTreeSet<PathBuf>,
    inodes: Vec<Inode>,
    processes: BTreeMap<i32, Process>,
    next_pid: i32,
    /// The shim that performs the current step, or `None` for the session.
    actor: Option<i32>,
    /// The number of steps so far.
    pub steps: usize,
    /// The number of the step that fails, and its fault.
    pub plan: Option<(usize, Fault)>,
    pub fired: bool,
    full_until: Option<(Duration, i32)>,
    /// Instant at which the session will receive a stop request.
    stop_at: Option<Duration>,
    pub stop: Stop,
    /// For each task, the number of completed runs and the number of starts.
    pub completed: BTreeMap<u64, usize>,
    pub started: BTreeMap<u64, usize>,
    /// Tasks with killed shims.
    pub victims: BTreeSet<u64>,
    pub violations: Vec<String>,
    /// Number of syncs of file contents.
    pub syncs: usize,
}

/// A handle to the simulated machine.
#[derive(Clone)]
pub(super) struct World(pub Rc<RefCell<MachineState>>);

impl World {
    pub fn new(plan: Option<(usize, Fault)>) -> Self {
        Self(Rc::new(RefCell::new(MachineState {
            clock: Duration::ZERO,
            boots: 0,
            names: BTreeMap::new(),
            names_on_disk: BTreeMap::new(),
            folders: BTreeSet::new(),
            folders_on_disk: BTreeSet::new(),
            inodes: Vec::new(),
            processes: BTreeMap::new(),
            next_pid: 100,
            actor: None,
            steps: 0,
            plan,
            fired: false,
            full_until: None,
            stop_at: None,
            stop: Stop::default(),
            completed: BTreeMap::new(),
            started: BTreeMap::new(),
            victims: BTreeSet::new(),
            violations: Vec::new(),
            syncs: 0,
        })))
    }

    /// Returns an independent copy of the machine.
    pub fn copy(&self) -> Self {
        Self(Rc::new(RefCell::new(self.0.borrow().clone())))
    }

    /// Performs a step. `writes` is true if the step needs disk space or a new process.
    fn step(&self, writes: bool) -> io::Result<Effect> {
        let mut inner = self.0.borrow_mut();
        inner.steps += 1;
        if let Some((until, code)) = inner.full_until
            && inner.clock < until
            && writes
        {
            return Err(io::Error::from_raw_os_error(code));
        }
        let fault = match inner.plan {
            Some((step, fault)) if step == inner.steps => fault,
            _ => return Ok(Effect::Whole),
        };
        inner.fired = true;
        let full = inner.clock + Duration::from_secs(3);
        match fault {
            Fault::Refused(code) => Err(io::Error::from_raw_os_error(code)),
            Fault::Full(code) => {
                inner.full_until = Some((full, code));
                if writes { Err(io::Error::from_raw_os_error(code)) } else { Ok(Effect::Whole) }
            }
            Fault::Half => {
                inner.full_until = Some((full, ENOSPC));
                Ok(Effect::HalfThenError)
            }
            Fault::Killed(KillPoint::Half) | Fault::Power(KillPoint::Half) => Ok(Effect::HalfThen(fault)),
            Fault::Killed(KillPoint::After) | Fault::Power(KillPoint::After) => Ok(Effect::WholeThen(fault)),
            Fault::Killed(KillPoint::Before) | Fault::Power(KillPoint::Before) => {
                drop(inner);
                Err(self.strike(fault))
            }
            Fault::Stopped => {
                inner.stop.request();
                Ok(Effect::Whole)
            }
            Fault::AllStopped => {
                inner.stop_at = Some(inner.clock + Duration::from_millis(100));
                drop(inner);
                self.stop_processes();
                Ok(Effect::Whole)
            }
        }
    }

    /// Applies the effect that follows a step.
    fn done(&self, effect: Effect) -> io::Result<()> {
        match effect {
            Effect::Whole => Ok(()),
            Effect::HalfThenError => Err(io::Error::from_raw_os_error(ENOSPC)),
            Effect::HalfThen(fault) | Effect::WholeThen(fault) => Err(self.strike(fault)),
        }
    }

    /// Kills the shim that performs the step, or ends the session with a panic.
    fn strike(&self, fault: Fault) -> io::Error {
        let actor = self.0.borrow().actor;
        match (fault, actor) {
            (Fault::Killed(_), Some(pid)) => self.kill_shim(pid),
            (Fault::Killed(_), None) => std::panic::resume_unwind(Box::new(KilledSession)),
            _ => {
                self.0.borrow_mut().lose_power();
                std::panic::resume_unwind(Box::new(KilledSession));
            }
        }
        io::Error::from_raw_os_error(nix::libc::EIO)
    }

    /// Lets the remaining processes run for `time` after the session has died.
    pub fn pass(&self, time: Duration) {
        self.0.borrow_mut().orphan();
        let until = self.0.borrow().clock + time;
        while self.next_event(until).is_some() {}
        self.0.borrow_mut().clock = until;
    }
}

impl MachineState {
    /// Loses all data that were not synced, and all processes.
    fn lose_power(&mut self) {
        self.names = self.names_on_disk.clone();
        self.folders = self.folders_on_disk.clone();
        for inode in &mut self.inodes {
            inode.content.clone_from(&inode.on_disk);
        }
        self.processes.clear();
        self.boots += 1;
        self.actor = None;
    }
}
