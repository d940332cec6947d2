//! The shim: the process that starts and guards a job.
//!
//! A shim may start long before its job. The shim reads the job from its input, and then the permission to run the
//! job. So no job runs before it is in the journal: if the session dies before it gives the permission, the input
//! closes and the shim ends. The shim runs the command in a separate process group. When the command has ended, the
//! shim writes the exit status to a file. If the session has died, the shim syncs this file to disk before it ends.
//! The shim blocks all signals, so only SIGKILL ends it early. The shim is the subreaper of all its descendants.
//! Processes of the job that leave their group, session or parent remain its descendants, so the shim can wait until
//! all processes of the job have ended. If control groups can be created, the job has its own group. The group can be
//! killed as a whole, even if the shim was killed.
//!
//! After a short and small job that was not disturbed, the shim prints the exit status on its output and waits for
//! another job. After any other job, the shim ends.
//!
//! Two signals are requests of the session: SIGUSR1 makes the shim send SIGTERM to the whole job, and SIGUSR2 makes it
//! kill the job. A job that is tied to the process that started its shim is killed as soon as this process has ended.

mod accounting;
mod apart;
mod job;
mod membership;
mod order;
mod small;
mod staging;
mod threads;
mod wrapped;

use std::ffi::OsString;
use std::io::{BufRead, Stdin, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, SystemTime};

use makespan_core::MemoryKill;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{sched_getaffinity, sched_setaffinity};
use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::statvfs::{Statvfs, fstatvfs};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Pid, geteuid, setsid};

use accounting::{KernelKills, UsedCpu};
use membership::Membership;
use order::JobFiles;
pub(crate) use order::ShimOrder;
pub(crate) use small::small;
pub(crate) use staging::{check_name, check_pattern, folder_of_run, sweep};
use threads::Threads;
pub use wrapped::{WrapJob, WrappedJob};

use crate::engine::Staging;
use crate::folder::Folder;
use crate::machine::pin_thread;
use crate::process::{Identity, end_orphans, exit_code, exit_status, is_child, signal_descendants};
use crate::resources::memory_kills;
use crate::status::{AttemptClaim, AttemptStatus, StatusSlot, nanoseconds};
use crate::storage::Disk;

/// The first argument of a process that acts as a shim.
pub(crate) const ARGUMENT: &str = "internal-shim-of-a-job";

/// Signal that asks the job to end.
pub(crate) const END: Signal = Signal::SIGUSR1;

/// Signal that kills the job.
pub(crate) const KILL: Signal = Signal::SIGUSR2;

/// Exit status of a shim if its job received no permission to run.
pub(crate) const NEVER: i32 = 125;

/// Exit status of a job that succeeded although the disk was full: the status of `sysexits.h` for an input or output
/// error.
const CUT_OFF: i32 = 74;

/// Number of free bytes below which a disk is full. File systems keep some blocks that programs do not get.
const FULL: u64 = 64 << 10;

/// The exit status of a job if an unknown signal ended it.
const UNKNOWN: i32 = 128;

/// Peak memory in bytes up to which a shim takes another job. If the peak of the shim itself is higher, that peak is
/// the limit. The kernel measures the peak over all jobs of a shim, so a large job would hide the peaks of later jobs.
const SMALL: u64 = 4 << 20;

/// Milliseconds between two attempts at an operation that fails temporarily.
const PAUSE: u16 = 200;

/// Milliseconds between two checks of processes that are being killed.
const GLANCE: u16 = 2;

/// Maximum number of milliseconds between two searches for processes that are created while the job is being ended.
const LOOK: u16 = 100;

/// If this process was started as a shim, acts as the shim and does not return. Otherwise, returns immediately.
///
/// Programs that call [`crate::execute`] without a separate shim ([`crate::ExecuteOptions::shim`]) must call this
/// function first in `main`, because the shims run the same executable.
pub fn serve() {
    serve_as(std::env::args_os().skip(1));
}

/// Works as [`serve`]. `wrap` finds the steps of this program before and after the commands of jobs.
pub fn serve_wrapping(wrap: WrapJob) {
    serve_all(std::env::args_os().skip(1), Some(wrap));
}

/// Works as [`serve`], for a program with arguments that differ from the arguments of the process, such as a script of
/// an interpreter. `arguments` excludes the program name.
pub fn serve_as(arguments: impl IntoIterator<Item = OsString>) {
    serve_all(arguments.into_iter(), None);
}

fn serve_all(mut arguments: impl Iterator<Item = OsString>, wrap: Option<WrapJob>) {
    if arguments.next().is_none_or(|first| first != ARGUMENT) {
        return;
    }
    let (held, named, group) = (arguments.next(), arguments.next(), arguments.next());
    if held.as_ref().is_some_and(|second| second == small::VERSION) {
        println!("{}", small::PROTOCOL);
        std::process::exit(0);
    }
    let (Some(held), Some(named), Some(group)) = (held, named, group) else { std::process::exit(NEVER) };
    std::process::exit(serve_run(Path::new(&held), Path::new(&named), Path::new(&group), wrap));
}

/// The state of a shim and its job.
#[expect(clippy::struct_excessive_bools, reason = "each field states whether one event of the job has occurred")]
struct Shim {
    signals: SignalFd,
    files: Option<JobFiles>,
    membership: Membership,
    threads: Threads,
    /// The main process of the job, or `None` before the job starts.
    main: Option<Pid>,
    /// The exit status of the main process. The second value is true if the main process had been asked to end.
    status: Option<(i32, bool)>,
    asked: bool,
    /// The processes of the job that were asked to end.
    heard: Vec<Identity>,
    /// Milliseconds until the next search for other processes.
    look: u16,
    killing: bool,
    stopped: bool,
    /// The input of the shim, if the job must be killed when the input closes.
    tied: Option<Stdin>,
    /// The reason for the failure, if it was not a failure of the job's own program.
    reason: Option<String>,
    /// CPU time of earlier jobs.
    used: UsedCpu,
    kills: KernelKills,
    /// True if the status was written and another job may follow.
    is_reusable: bool,
    wrap: Option<WrapJob>,
}

/// Runs the jobs that arrive on the input, one after another. `held` is a path to the open folder of the run, `named`
/// is its original path, and `group` is the path of the job's control group.
fn serve_run(held: &Path, named: &Path, group: &Path, wrap: Option<WrapJob>) -> i32 {
    let all = SigSet::all();
    let prepared = all.thread_block().and_then(|()| set_child_subreaper(true));
    // If this process already leads a process group, the call fails and the process stays in its session.
    let _ = setsid();
    let signals = prepared.and_then(|()| SignalFd::with_flags(&all, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK));
    let folder = Folder::held(held, named);
    let within = folder.path();
    let mut membership = Membership::of(group);
    let Ok(signals) = signals else {
        membership.remove();
        return NEVER;
    };
    let mut shim = Shim { wrap, ..Shim::new(signals, membership) };
    let mut last = NEVER;
    while let Some(order) = ShimOrder::read() {
        let Ok(files) = order.open(&within) else {
            last = NEVER;
            break;
        };
        shim.take(files, &order);
        last = shim.serve(&within, &order);
        if !shim.is_free(&order) || writeln!(std::io::stdout(), "{last}").is_err() {
            break;
        }
    }
    if is_alone() {
        shim.membership.remove();
    }
    last
}

impl Shim {
    /// Creates a shim without a job.
    fn new(signals: SignalFd, membership: Membership) -> Self {
        Self {
            signals,
            files: None,
            membership,
            threads: Threads::default(),
            main: None,
            status: None,
            asked: false,
            heard: Vec::new(),
            look: GLANCE,
            killing: false,
            stopped: false,
            tied: None,
            reason: None,
            used: UsedCpu::default(),
            kills: KernelKills::read(),
            is_reusable: false,
            wrap: None,
        }
    }

    /// Stores the files and the order of a new job.
    fn take(&mut self, files: JobFiles, order: &ShimOrder) {
        self.files = Some(files);
        self.tied = order.is_tied.then(std::io::stdin);
        (self.main, self.status, self.look, self.is_reusable) = (None, None, GLANCE, false);
        self.threads = Threads::default();
        self.kills.refresh();
    }

    /// Closes the files of the job. Returns whether the shim can run another job.
    fn is_free(&mut self, order: &ShimOrder) -> bool {
        self.files = None;
        let is_plain = order.memory.is_none() && order.staging.is_none();
        let is_disturbed = self.asked || self.killing || self.stopped || self.reason.is_some();
        is_plain && !is_disturbed && self.is_reusable && self.membership.is_usable()
    }

    /// Waits until the job may run, runs it, and writes its status to the folder of the run.
    fn serve(&mut self, folder: &Path, order: &ShimOrder) -> i32 {
        let Some(mut slot) = self.reserve(&folder.join(&order.status)) else { return NEVER };
        let Some(claim) = read_claim() else {
            slot.release(&Disk);
            return NEVER;
        };
        if let (Some(group), Some(bytes)) = (self.membership.group(), order.memory)
            && let Err(error) = group.set_limit(bytes)
        {
            self.say(&format!("cannot limit the memory of the job: {error}"));
        }
        let mut scratch = None;
        let status = match &order.staging {
            None => self.run_wrapped(order, folder),
            Some(staging) => self.run_apart(order, staging, &mut scratch),
        };
        let status = self.with_whole_output(status);
        self.leave(&mut slot, claim, status);
        self.end_rest();
        // All processes of the job have ended, so no process writes to the folder.
        drop(scratch);
        status
    }

    /// Returns the exit status of a job, or [`CUT_OFF`] if the job succeeded but the disk of its output is full. Such
    /// a job may have ignored that its output was cut off.
    fn with_whole_output(&mut self, status: i32) -> i32 {
        // Both files are in the folder of the run, so they are on one disk.
        let is_full = |files: &JobFiles| fstatvfs(&files.outputs[0]).is_ok_and(|disk| is_full(&disk));
        if status != 0 || !self.files.as_ref().is_some_and(is_full) {
            return status;
        }
        self.reason = Some(
            "the disk was full when the job ended, so its output may be incomplete; free space, and run the job again"
                .to_owned(),
        );
        CUT_OFF
    }

    /// Writes a line to the standard error of the job.
    fn say(&mut self, text: &str) {
        if let Some(JobFiles { outputs: [_, errors], .. }) = &mut self.files {
            let _ = writeln!(errors, "makespan: {text}");
        }
    }

    /// Reserves disk space for the status. Retries while the disk is full. Returns `None` if the session has ended or
    /// wants the job to end.
    fn reserve(&mut self, path: &Path) -> Option<StatusSlot> {
        loop {
            match StatusSlot::reserve(&Disk, path) {
                Ok(slot) => return Some(slot),
                Err(_) if is_alone() || self.asked || self.killing => return None,
                Err(_) => self.heed(PAUSE),
            }
        }
    }

    /// Runs the command until its main process has ended. Other processes of the job may still be running.
    fn run(&mut self, order: &ShimOrder, apart: Option<(&Path, &Staging)>) -> i32 {
        self.heed(0);
        let mut told = false;
        while self.main.is_none() && self.status.is_none() {
            if self.asked || self.killing {
                return 128 + Signal::SIGTERM as i32;
            }
            match self.spawn(order, apart) {
                Ok(pid) => self.main = Some(pid),
                Err(error) if matches!(error, Errno::EAGAIN | Errno::ENOMEM | Errno::EMFILE | Errno::ENFILE) => {
                    if !std::mem::replace(&mut told, true) {
                        self.say(&format!("cannot start the command yet: {error}; trying again"));
                    }
                    self.heed(PAUSE);
                }
                Err(error) => {
                    self.say(&format!("cannot start the command: {error}"));
                    return if error == Errno::ENOENT { 127 } else { 126 };
                }
            }
        }
        loop {
            self.reap();
            if let Some((status, _)) = self.status {
                return status;
            }
            self.wait();
        }
    }

    /// Starts the command on its cores. A new process has the cores of its parent. Therefore, this process changes to
    /// the cores of the command, and changes back after the start. If the job is not pinned, the cores of the shim are
    /// not changed here, because the session may change them at the same time.
    fn spawn(&mut self, order: &ShimOrder, apart: Option<(&Path, &Staging)>) -> Result<Pid, Errno> {
        let files = self.files.as_ref().ok_or(Errno::EBADF)?;
        let here = Pid::from_raw(0);
        let pinned = |cores: &Vec<usize>| {
            let all = sched_getaffinity(here)?;
            pin_thread(cores).map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(0)))?;
            Ok::<_, Errno>(all)
        };
        let before = order.cores.as_ref().map(pinned).transpose()?;
        let started = match apart {
            None => job::spawn(order, files, None),
            Some((folder, staging)) => apart::spawn(order, files, folder, staging),
        };
        if let Some(all) = before {
            let _ = sched_setaffinity(here, &all);
        }
        if started.is_ok() {
            self.membership.started(order.memory.is_some());
            self.threads.started();
        }
        started
    }

    /// Kills the job, and all processes that it starts in the meantime.
    fn kill(&mut self) {
        (self.asked, self.killing) = (true, true);
        self.kill_all();
    }

    /// Kills all living processes of the job.
    fn kill_all(&mut self) {
        self.membership.kill();
        signal_descendants(Signal::SIGKILL);
    }

    /// Waits for a signal. While processes are being killed, waits only briefly, because new processes may appear.
    fn wait(&mut self) {
        if self.killing {
            self.kill_all();
            return self.heed(GLANCE);
        }
        if self.asked && self.status.is_some() {
            // The main process of the job may have started further processes while it was being ended.
            end_orphans(&mut self.heard);
            self.look = (self.look * 2).min(LOOK);
            return self.heed(self.look);
        }
        let is_running = self.status.is_none();
        let pause = self.threads.pause().filter(|_| is_running);
        match self.membership.stay() {
            Some(Duration::ZERO) => {
                self.membership.step_out();
            }
            stay => match stay.into_iter().chain(pause).min() {
                None => self.heed(u16::MAX),
                Some(pause) => self.heed(u16::try_from(pause.as_millis() + 1).unwrap_or(u16::MAX)),
            },
        }
        if is_running {
            self.threads.count_if_due();
        }
    }

    /// Waits up to this number of milliseconds for a signal, and handles it.
    fn heed(&mut self, milliseconds: u16) {
        let mut polled = vec![PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        let tied = self.tied.as_ref().filter(|_| !self.killing);
        // No event is requested, because the end of the input is always reported.
        polled.extend(tied.map(|input| PollFd::new(input.as_fd(), PollFlags::empty())));
        let _ = poll(&mut polled, PollTimeout::from(milliseconds));
        if self.tied.is_some() && !self.killing && is_alone() {
            self.kill();
        }
        while let Ok(Some(info)) = self.signals.read_signal() {
            match Signal::try_from(info.ssi_signo as i32) {
                Ok(END) => {
                    self.asked = true;
                    self.heard.extend(signal_descendants(Signal::SIGTERM));
                }
                Ok(KILL) => self.kill(),
                Ok(Signal::SIGTERM | Signal::SIGINT | Signal::SIGHUP | Signal::SIGQUIT) => self.stopped = true,
                _ => {}
            }
        }
    }

    /// Reaps processes that have ended. Returns whether a process of the job is alive.
    fn reap(&mut self) -> bool {
        loop {
            let main = self.main.filter(|_| self.status.is_none());
            let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
            let code = match waitid(Id::All, flags) {
                Ok(WaitStatus::StillAlive) => return true,
                Err(Errno::EINVAL) => main.and_then(|main| exit_code(main.as_raw())),
                _ => None,
            };
            let (pid, status) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, status)) => (pid, status),
                Ok(WaitStatus::Signaled(pid, signal, _)) => (pid, 128 + signal as i32),
                Ok(WaitStatus::StillAlive) => return true,
                // A real-time signal, which `nix` does not know, ended a process. The process was reaped, but its id
                // is unknown.
                Err(Errno::EINVAL) => match main.filter(|main| !is_child(main.as_raw())) {
                    Some(main) => (main, code.map_or(UNKNOWN, |code| exit_status(ExitStatus::from_raw(code)))),
                    None => continue,
                },
                Ok(_) | Err(Errno::EINTR) => continue,
                Err(_) => return false,
            };
            if self.main == Some(pid) {
                self.status = Some((status, self.asked));
            }
        }
    }

    /// Writes the status. If the session has ended, no other process knows the status. In this case, retries after
    /// each failure, and syncs the status to disk before the function returns. Otherwise, the session records the end
    /// and syncs the folder.
    fn leave(&mut self, slot: &mut StatusSlot, claim: AttemptClaim, status: i32) {
        // A signal to all processes may have reached the job earlier than it reached this process.
        self.heed(0);
        let ended = nanoseconds(SystemTime::now());
        let asked = self.status.map_or(self.asked, |(_, asked)| asked);
        let mut accounting =
            accounting::of_job(self.membership.group(), self.threads.mean(), status != 0, &mut self.used);
        // A session compares the kernel's counts itself, because it knows all jobs.
        if let Some(accounting) = &mut accounting
            && !asked
            && is_alone()
            && self.kills.explain(status, memory_kills)
        {
            accounting.memory_kill.get_or_insert(MemoryKill::Likely);
        }
        let is_small = accounting.is_some_and(|accounting| accounting.peak_memory <= accounting::own_peak().max(SMALL));
        let (stopped, reason) = (self.stopped, self.reason.take());
        let left_background = !asked && !stopped && self.main.is_some() && self.reap();
        let left = AttemptStatus { claim, exit: status, asked, stopped, ended, accounting, left_background, reason };
        loop {
            let is_filled = slot.fill(&Disk, &left, is_alone()).is_ok();
            self.is_reusable = is_filled && is_small;
            if is_filled || !is_alone() || self.killing {
                return;
            }
            self.heed(PAUSE);
        }
    }

    /// Ends the remaining processes of the command. Processes that were already asked to end may continue until the job
    /// is killed.
    fn end_rest(&mut self) {
        while self.reap() {
            self.killing |= !self.asked;
            self.wait();
        }
    }
}

/// Returns whether less than [`FULL`] bytes are free on a disk. A file system that reports no size is never full.
fn is_full(disk: &Statvfs) -> bool {
    let free = if geteuid().is_root() { disk.blocks_free() } else { disk.blocks_available() };
    disk.blocks() > 0 && free.saturating_mul(disk.fragment_size()) < FULL
}

/// Returns whether the session has ended.
fn is_alone() -> bool {
    let input = std::io::stdin();
    let mut polled = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
    let _ = poll(&mut polled, PollTimeout::ZERO);
    polled[0].revents().is_some_and(|events| events.contains(PollFlags::POLLHUP))
}

/// Reads the line that permits the job to run. Returns `None` if the session has ended.
fn read_claim() -> Option<AttemptClaim> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).ok()?;
    serde_json::from_str(line.strip_suffix('\n')?).ok()
}
