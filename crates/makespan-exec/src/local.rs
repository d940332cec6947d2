//! The processes of this machine.

mod affinity;
mod starting;

use std::cell::OnceCell;
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use makespan_core::{ProcSet, TaskId};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::engine::{Earlier, Engine, Left, Notice, Refusal, Start, Taken};
use crate::folder::Folder;
use crate::group::{Group, NO_GROUP};
use crate::machine::{cores_of, host};
use crate::options::JobSetting;
use crate::process::{GLANCE, Identity, boot};
use crate::resources;
use crate::shim;
use crate::spare::{Duty, Signalled, Spare};
use crate::taken::TakenOver;
use crate::traces::Traces;
use starting::{SPARES, mark, marks, scratch_of};

/// How long a shim that was told to kill its task may take before it is killed itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long nothing must happen until a shim is started ahead.
const QUIET: Duration = Duration::from_millis(3);

/// The executable of this very process, even where its file was replaced since.
const OWN: &str = "/proc/self/exe";

/// This machine: each task is guarded by a process of its own, the shim, which pins the task to its cores unless the
/// task may use all cores that no pinned task holds.
///
/// Processor `p` is the `p`-th of the cores that it was given, modulo their number.
#[derive(Debug)]
pub struct Local {
    /// The folder of the run.
    folder: Folder,
    cores: Vec<usize>,
    /// What programs call the GPUs of this machine, as soon as somebody asks.
    gpus: OnceCell<Option<Vec<String>>>,
    shim: PathBuf,
    setting: JobSetting,
    _small: Option<File>,
    /// The control group of the session, which holds one for each task.
    group: Option<Group>,
    /// Whether groups of tasks have limits of memory.
    limits: bool,
    /// Whether tasks end with this process.
    is_tied: bool,
    begun: Instant,
    shims: BTreeMap<TaskId, Shim>,
    /// The cores of the pinned tasks that run.
    pinned: BTreeMap<TaskId, Vec<usize>>,
    /// What goes on of an earlier session.
    taken: TakenOver,
    /// Shims that have no task yet, or no task any more.
    spares: VecDeque<Spare>,
    /// Whether one could not be started; then no other is until a task needs one.
    lacking: bool,
    /// Numbers the shims, so that the end of an earlier one is not taken for that of a later one.
    started: u64,
    sender: Sender<Signalled>,
    ends: Receiver<Signalled>,
}

/// Ends a wait of [`Local`] from another thread.
#[derive(Clone, Debug)]
pub struct Waker(Sender<Signalled>);

impl Waker {
    /// Wakes it: a wait that goes on, or the next one, returns before its time.
    pub fn wake(&self) {
        let _ = self.0.send(Signalled::Woken);
    }
}

/// A shim that we have not reaped, so its id is ours.
#[derive(Debug)]
struct Shim {
    process: Spare,
    /// The line with its task, which it gets when the task may run.
    order: String,
    /// True if it was signalled or lost cores to a pinned task. It then takes no other task.
    is_disturbed: bool,
    /// The status of its task that has ended, if it can run another one.
    left: Option<i32>,
}

impl Local {
    /// Starts tasks of the run in this folder on these cores, by this shim or by this program ([`crate::ExecuteOptions::shim`]).
    pub fn new(folder: &Path, cores: Vec<usize>, shim: Option<PathBuf>) -> Self {
        let (sender, ends) = mpsc::channel();
        let small = if shim.is_none() { shim::small() } else { None };
        // What is open stays the same program, even where its file is replaced.
        let opened = small.as_ref().map(|file| PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())));
        let shim = shim.or(opened).unwrap_or_else(|| OWN.into());
        Self {
            folder: Folder::named(folder),
            cores,
            gpus: OnceCell::new(),
            shim,
            setting: JobSetting::default(),
            _small: small,
            group: None,
            limits: false,
            is_tied: false,
            begun: Instant::now(),
            shims: BTreeMap::new(),
            pinned: BTreeMap::new(),
            taken: TakenOver::default(),
            spares: VecDeque::new(),
            lacking: false,
            started: 0,
            sender,
            ends,
        }
    }

    /// Gives all tasks this working folder and this niceness.
    #[must_use]
    pub fn with_setting(mut self, setting: JobSetting) -> Self {
        self.setting = setting;
        self
    }

    /// Tasks that start from now on are killed as soon as this process is gone, however it ends.
    pub fn tie(&mut self) {
        self.is_tied = true;
    }

    /// Ends waits from other threads.
    pub fn waker(&self) -> Waker {
        Waker(self.sender.clone())
    }

    /// Asks a shim of an earlier session on this machine to end its task, or to kill it.
    pub fn end_shim(shim: Identity, kill: bool) {
        shim.signal(if kill { shim::KILL } else { shim::END });
        shim.signal(Signal::SIGCONT);
    }

    /// Kills what is left on this machine of a task of this name, whose shim is gone. Returns when nothing of it lives.
    pub fn end_strays(&self, name: &str) {
        let marks =
            marks(name, self.folder.name()).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        Traces { marks, ..Traces::default() }.end(Duration::ZERO);
    }

    fn signal(&mut self, task: TaskId, signal: Signal) {
        if let Some(shim) = self.shims.get_mut(&task) {
            shim.is_disturbed = true;
            let pid = Pid::from_raw(shim.process.child.id() as i32);
            let _ = kill(pid, signal);
            // Should somebody have halted it.
            let _ = kill(pid, Signal::SIGCONT);
        } else if let Some(shim) = self.taken.shim(task) {
            shim.signal(signal);
            shim.signal(Signal::SIGCONT);
        }
    }

    /// Waits until nothing is left of a task that an earlier session started and that was killed.
    fn outlast(&mut self, task: TaskId) {
        while self.taken.shim(task).is_some_and(Identity::is_alive) {
            sleep(GLANCE);
        }
        self.taken.forget(task);
    }
}

impl Engine for Local {
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }

    fn place(&self) -> String {
        boot()
    }

    fn follows(&self, place: &str) -> Result<(), String> {
        // The id of a boot, as earlier versions wrote it, too.
        if let Some((engine, kind)) = place.split_once(':') {
            let engine = if kind == "pilot" { engine } else { place };
            return Err(format!("jobs of this run may still run on {engine}; resume it with --on {engine}"));
        }
        Ok(())
    }

    fn host(&self, _processors: &ProcSet) -> String {
        host()
    }

    fn group(&mut self) -> Option<String> {
        self.group = Group::of_run();
        self.group.as_ref().and_then(|group| Some(group.path().to_str()?.to_owned()))
    }

    fn limit_memory(&mut self) -> Result<(), String> {
        let Some(group) = &self.group else {
            return Err(NO_GROUP.into());
        };
        group.limit_memory()?;
        self.limits = true;
        Ok(())
    }

    fn memory_kills(&self) -> Option<u64> {
        resources::memory_kills()
    }

    fn start(&mut self, start: &Start<'_>) -> Result<Identity, Refusal> {
        let mut shim = self.spawn(start)?;
        if start.is_pinned {
            self.pin(start.task, start.processors);
        }
        let (pid, identity) = (shim.process.child.id(), shim.process.identity());
        self.shims.insert(start.task, shim);
        identity.map_err(|error| {
            self.call_off(start.task);
            Refusal { reason: format!("cannot watch process {pid}: {error}"), passing: true, closing: false }
        })
    }

    fn go(&mut self, task: TaskId, claim: &str) {
        if let Some(shim) = self.shims.get_mut(&task)
            && let Some(input) = &mut shim.process.input
        {
            // A shim that was killed meanwhile is reported by its end.
            let _ = input.write_all(format!("{}{claim}\n", std::mem::take(&mut shim.order)).as_bytes());
        }
    }

    fn call_off(&mut self, task: TaskId) {
        self.pinned.remove(&task);
        if let Some(shim) = self.shims.remove(&task) {
            shim.process.dismiss();
        }
    }

    fn end(&mut self, task: TaskId, kill: bool) {
        self.signal(task, if kill { shim::KILL } else { shim::END });
    }

    fn wait(&mut self, timeout: Duration) -> Option<Notice> {
        let begun = Instant::now();
        loop {
            let left = timeout.saturating_sub(begun.elapsed());
            // Jobs that have just been let run come first.
            let ahead = left > QUIET && self.is_short_of_spares();
            match self.ends.recv_timeout(if ahead { QUIET } else { left }) {
                Err(_) if ahead => self.refill(),
                Ok(Signalled::Ended(task, number, left)) => {
                    if let Some(shim) = self.shims.get_mut(&task).filter(|shim| shim.process.number == number) {
                        shim.left = left;
                        return Some(Notice::Ended(task));
                    }
                    if let Some(notice) = self.taken.ended(task, number) {
                        if matches!(notice, Notice::Lost(..)) {
                            self.pinned.remove(&task);
                        }
                        return Some(notice);
                    }
                }
                Ok(Signalled::Woken) | Err(_) => return None,
            }
        }
    }

    fn take_over(&mut self, earlier: &[Earlier]) -> Vec<Taken> {
        let mut goes_on = Vec::new();
        for attempt in earlier {
            let Some(gpus) = &attempt.gpus else { continue };
            self.started += 1;
            let status = self.folder.path().join(&attempt.files.status);
            let scratch = scratch_of(&attempt.files);
            let duty = Duty { task: attempt.task, marks: marks(&attempt.name, self.folder.name()), scratch };
            if self.taken.take(attempt, status, duty, self.started, &self.sender) {
                if attempt.is_pinned {
                    self.pinned.insert(attempt.task, cores_of(&attempt.processors, &self.cores));
                }
                goes_on.push(Taken { task: attempt.task, gpus: gpus.clone() });
            }
        }
        goes_on
    }

    fn reap(&mut self, task: TaskId) -> i32 {
        self.pinned.remove(&task);
        self.taken.forget(task);
        let Some(shim) = self.shims.remove(&task) else { return -1 };
        match shim.left {
            Some(status) if !shim.is_disturbed && self.spares.len() < self.cores.len().max(SPARES) => {
                self.spares.push_front(shim.process);
                status
            }
            _ => shim.process.dismiss(),
        }
    }

    fn leave(&mut self) {
        // A shim that was let run needs nobody.
        self.shims.clear();
        self.pinned.clear();
        self.taken = TakenOver::default();
        self.group = None;
    }

    fn is_alive(&self, shim: Identity) -> bool {
        shim.is_alive()
    }

    fn end_left(&mut self, left: &Left<'_>, grace: Duration, tell: &mut dyn FnMut(&str)) {
        let begun = Instant::now();
        let alive = || left.shims.iter().filter(|shim| shim.is_alive());
        alive().for_each(|shim| shim.signal(shim::END));
        let steps = [(grace, shim::KILL), (grace + PATIENCE, Signal::SIGKILL)];
        for (until, then) in steps {
            while alive().next().is_some() && begun.elapsed() < until {
                alive().for_each(|shim| shim.signal(Signal::SIGCONT));
                sleep(Duration::from_millis(5));
            }
            alive().for_each(|shim| shim.signal(then));
        }
        if alive().next().is_some() {
            tell("processes of an earlier session do not end; the run goes on when they are gone");
        }
        while alive().next().is_some() {
            sleep(Duration::from_millis(20));
        }
        // What outlived its shim is known by its control group, or else by its environment.
        let (name, value) = mark(self.folder.name());
        let group = left.group.and_then(Group::of_earlier);
        let (marks, spared) = (vec![format!("{name}={value}")], self.taken.shims());
        Traces { marks, group, spared, ..Traces::default() }.end(grace);
    }
}

/// A session that ends in a panic of its policy or its observer leaves nothing running either.
impl Drop for Local {
    fn drop(&mut self) {
        let tasks: Vec<TaskId> = self.shims.keys().copied().collect();
        let taken = self.taken.tasks();
        for &task in tasks.iter().chain(&taken) {
            self.signal(task, shim::KILL);
        }
        taken.into_iter().for_each(|task| self.outlast(task));
        for task in tasks {
            self.call_off(task);
        }
        // They end while others are waited for.
        self.spares.iter_mut().for_each(|spare| drop(spare.input.take()));
        std::mem::take(&mut self.spares).into_iter().for_each(|spare| {
            spare.dismiss();
        });
        if let Some(group) = &self.group {
            if group.is_populated() {
                group.kill();
            }
            group.give_up_limits();
            group.remove();
        }
    }
}
