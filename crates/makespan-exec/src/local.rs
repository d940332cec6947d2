//! The engine that runs tasks on this machine.

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
use std::time::{Duration, Instant};

use makespan_core::{ProcSet, TaskId};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::engine::{EarlierAttempt, Engine, EngineStart, HOSTS_PLACE, LeftProcesses, Notice, Refusal, TakenAttempt};
use crate::folder::Folder;
use crate::group::{ControlGroup, NO_GROUP};
use crate::jobserver::{JobserverStyle, Lender};
use crate::machine::{cores_of, host};
use crate::options::JobSetting;
use crate::process::{GLANCE, Identity, boot};
use crate::resources;
use crate::shim;
use crate::spare::{ShimDuty, SpareShim, WaitEvent};
use crate::taken::TakenOver;
use crate::traces::Traces;
use starting::{SPARES, mark, marks, scratch_of};

/// Time between the order to a shim to kill its task and the kill of the shim itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time without events after which the engine starts a spare shim.
const QUIET: Duration = Duration::from_millis(3);

/// Path of the executable of this process, valid even if the file was replaced.
const OWN: &str = "/proc/self/exe";

/// The engine of this machine. A separate process, the shim, guards each task. The shim pins the task to its cores,
/// unless the task may use all cores that no pinned task holds. If the engine has `n` cores, processor `p` of the
/// platform is core number `p` modulo `n`.
#[derive(Debug)]
pub struct Local {
    /// Folder of the run.
    folder: Folder,
    cores: Vec<usize>,
    /// The names of the GPUs of this machine, determined at the first use.
    gpus: OnceCell<Option<Vec<String>>>,
    shim: PathBuf,
    setting: JobSetting,
    _small: Option<File>,
    /// The control group of the session, which contains a group for each task.
    group: Option<ControlGroup>,
    /// True if the groups of tasks have memory limits.
    limits: bool,
    /// True if tasks end with this process.
    is_tied: bool,
    begun: Instant,
    shims: BTreeMap<TaskId, Shim>,
    /// The cores of the running pinned tasks.
    pinned: BTreeMap<TaskId, Vec<usize>>,
    lender: Lender,
    /// The running tasks of earlier sessions.
    taken: TakenOver,
    /// Spare shims: they have no task yet, or their task has ended.
    spares: VecDeque<SpareShim>,
    /// True if the engine could not start a spare shim. No spare shim is then started until a task needs a shim.
    lacking: bool,
    /// Number of shims started so far. Shims are numbered, so that the end of a shim is not mistaken for the end of a
    /// later shim.
    started: u64,
    sender: Sender<WaitEvent>,
    ends: Receiver<WaitEvent>,
}

/// Handle with which another thread can end a wait of [`Local`].
#[derive(Clone, Debug)]
pub struct Waker(Sender<WaitEvent>);

impl Waker {
    /// Wakes the engine: the current or the next wait returns early.
    pub fn wake(&self) {
        let _ = self.0.send(WaitEvent::Woken);
    }
}

/// A shim that has not been reaped. Until it is reaped, no other process has its id.
#[derive(Debug)]
struct Shim {
    process: SpareShim,
    /// The line that describes the task. The shim receives the line when the task may run.
    order: String,
    /// True if the shim received a signal or lost cores to a pinned task. A disturbed shim gets no further task.
    is_disturbed: bool,
    /// Exit status of the task, if the task has ended and the shim can run another task.
    left: Option<i32>,
}

impl Local {
    /// Creates the engine for the run in `folder` on these cores. `shim` is the program of the shims. The default is
    /// this program ([`crate::ExecuteOptions::shim`]).
    pub fn new(folder: &Path, cores: Vec<usize>, shim: Option<PathBuf>) -> Self {
        let (sender, ends) = mpsc::channel();
        let small = if shim.is_none() { shim::small() } else { None };
        // The path of an open file leads to the same program even after the file is replaced.
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
            lender: Lender::new(folder, None, 0),
            taken: TakenOver::default(),
            spares: VecDeque::new(),
            lacking: false,
            started: 0,
            sender,
            ends,
        }
    }

    /// Sets the working folder and the niceness of all tasks.
    #[must_use]
    pub fn with_setting(mut self, setting: JobSetting) -> Self {
        self.setting = setting;
        self
    }

    /// Lends the cores of this run to the processes of its tasks. `cores` is the number of processors of the platform.
    /// Without a style, no cores are lent, but tasks of an earlier session may return tokens.
    #[must_use]
    pub fn with_jobserver(mut self, style: Option<JobserverStyle>, cores: u32) -> Self {
        self.lender = Lender::new(self.folder.name(), style, cores);
        self
    }

    /// Ties tasks to this process: tasks that start from now on are killed when this process ends in any way.
    pub fn tie(&mut self) {
        self.is_tied = true;
    }

    /// Returns a handle that ends waits from other threads.
    pub fn waker(&self) -> Waker {
        Waker(self.sender.clone())
    }

    /// Asks a shim of an earlier session on this machine to end its task. With `kill`, the shim kills the task.
    pub fn end_shim(shim: Identity, kill: bool) {
        shim.signal(if kill { shim::KILL } else { shim::END });
        shim.signal(Signal::SIGCONT);
    }

    /// Ends all processes that an earlier session on this machine left running in the folder of a run. The folder need
    /// not exist any more. Returns when these processes have ended.
    pub fn end_left_in(folder: &Path, grace: Duration) {
        let (name, value) = mark(folder);
        Self::end_marked(&format!("{name}={value}"), grace);
    }

    /// Ends all processes on this machine with this environment variable, `NAME=value`, except this process and its
    /// ancestors. Returns when these processes have ended.
    pub fn end_marked(mark: &str, grace: Duration) {
        Traces { marks: vec![mark.to_owned()], ..Traces::default() }.end(grace);
    }

    /// Kills the remaining processes of the task with this name on this machine, after its shim has ended. Returns
    /// when all these processes have ended.
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
            // SIGCONT is necessary because the shim may have been stopped by SIGSTOP.
            let _ = kill(pid, Signal::SIGCONT);
        } else if let Some(shim) = self.taken.shim(task) {
            shim.signal(signal);
            shim.signal(Signal::SIGCONT);
        }
    }

    /// Waits until a killed task of an earlier session has ended with all its processes.
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

    fn place(&self) -> String {
        boot()
    }

    fn follows(&self, place: &str) -> Result<(), String> {
        // Earlier versions also wrote the id of a boot.
        if place == HOSTS_PLACE {
            return Err("jobs of this run may still run on its hosts; resume the run with the same --on".into());
        }
        if let Some((engine, kind)) = place.split_once(':') {
            let engine = if kind == "pilot" { engine } else { place };
            return Err(format!("jobs of this run may still run on {engine}; resume the run with --on {engine}"));
        }
        Ok(())
    }

    fn host(&self, _processors: &ProcSet) -> String {
        host()
    }

    fn group(&mut self) -> Option<String> {
        self.group = ControlGroup::of_run();
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

    fn reserve_cores(&mut self, task: TaskId, processors: &ProcSet) -> bool {
        self.lender.reserve(task, processors.len())
    }

    fn start(&mut self, start: &EngineStart<'_>) -> Result<Identity, Refusal> {
        let mut shim = self.spawn(start).inspect_err(|_| self.lender.close(start.task))?;
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
            // If the shim was killed in the meantime, the engine reports its end.
            let _ = input.write_all(format!("{}{claim}\n", std::mem::take(&mut shim.order)).as_bytes());
        }
    }

    fn call_off(&mut self, task: TaskId) {
        self.pinned.remove(&task);
        self.lender.close(task);
        if let Some(shim) = self.shims.remove(&task) {
            shim.process.dismiss();
        }
    }

    fn end(&mut self, task: TaskId, kill: bool) {
        self.signal(task, if kill { shim::KILL } else { shim::END });
    }

    fn wait(&mut self, timeout: Duration) -> Option<Notice> {
        self.lender.begin();
        let begun = Instant::now();
        loop {
            let left = timeout.saturating_sub(begun.elapsed());
            // Tasks that were just let run take precedence over the start of spare shims.
            let ahead = left > QUIET && self.is_short_of_spares();
            match self.ends.recv_timeout(if ahead { QUIET } else { left }) {
                Err(_) if ahead => self.refill(),
                Ok(WaitEvent::Ended(task, number, left)) => {
                    if let Some(shim) = self.shims.get_mut(&task).filter(|shim| shim.process.number == number) {
                        shim.left = left;
                        return Some(Notice::Ended(task));
                    }
                    if let Some(notice) = self.taken.ended(task, number) {
                        if matches!(notice, Notice::Lost(..)) {
                            self.pinned.remove(&task);
                            self.lender.close(task);
                        }
                        return Some(notice);
                    }
                }
                Ok(WaitEvent::Woken) | Err(_) => return None,
            }
        }
    }

    fn take_over(&mut self, earlier: &[EarlierAttempt]) -> Vec<TakenAttempt> {
        let mut goes_on = Vec::new();
        for attempt in earlier {
            let Some(gpus) = &attempt.gpus else { continue };
            self.started += 1;
            let status = self.folder.path().join(&attempt.files.status);
            let scratch = scratch_of(&attempt.files);
            let duty = ShimDuty { task: attempt.task, marks: marks(&attempt.name, self.folder.name()), scratch };
            if self.taken.take(attempt, status, duty, self.started, &self.sender) {
                if attempt.is_pinned {
                    self.pinned.insert(attempt.task, cores_of(&attempt.processors, &self.cores));
                }
                let (folder, cores) = (self.folder.path(), attempt.processors.len());
                self.lender.adopt(&folder, attempt.task, attempt.attempt, cores);
                goes_on.push(TakenAttempt { task: attempt.task, gpus: gpus.clone() });
            }
        }
        goes_on
    }

    fn reap(&mut self, task: TaskId) -> i32 {
        self.pinned.remove(&task);
        self.lender.close(task);
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
        // A shim with a running task does not need the session.
        self.shims.clear();
        self.pinned.clear();
        self.lender = Lender::new(self.folder.name(), None, 0);
        self.taken = TakenOver::default();
        self.group = None;
    }

    fn is_alive(&self, shim: Identity) -> bool {
        shim.is_alive()
    }

    fn end_left(&mut self, left: &LeftProcesses<'_>, grace: Duration, tell: &mut dyn FnMut(&str)) {
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
            tell("processes of an earlier session are still running; the run continues as soon as they have ended");
        }
        while alive().next().is_some() {
            sleep(Duration::from_millis(20));
        }
        // Processes that outlived their shim can be found by their control group or their environment.
        let (name, value) = mark(self.folder.name());
        let group = left.group.and_then(ControlGroup::of_earlier);
        let (marks, spared) = (vec![format!("{name}={value}")], self.taken.shims());
        Traces { marks, group, spared, ..Traces::default() }.end(grace);
    }
}

/// Stops the tasks if a session ends because its policy or its observer panics.
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
        self.lender.remove(&self.folder.path());
        // All spare shims end at the same time, while this process waits for the first.
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
