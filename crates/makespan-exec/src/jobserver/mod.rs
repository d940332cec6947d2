//! Lends free cores to jobs through the jobserver protocol of GNU make.
//!
//! Each job has FIFOs of its own, so the tokens that its killed processes held are free again when the job ends. In the
//! style [`JobserverStyle::Pipe`], a job reads tokens from one FIFO and returns them into another. So no process of the
//! job can take a returned token before this program sees the token. In the style [`JobserverStyle::Fifo`], the
//! protocol demands a single FIFO. If a start waits for cores, this program then competes with the processes of the job
//! for each returned token.

mod bank;
mod fifos;
mod flags;

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use makespan_core::TaskId;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::{Deserialize, Serialize};

use bank::TokenBank;
use fifos::{Fifos, probe, remove_folder};
use flags::with_jobserver;

/// Time between two ticks of the account.
const TICK: Duration = Duration::from_millis(20);

/// The form in which jobs receive the jobserver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobserverStyle {
    /// Two open file descriptors, which the job inherits: `--jobserver-auth=R,W`.
    Pipe,
    /// The path of a FIFO: `--jobserver-auth=fifo:PATH`. GNU make reads this form from version 4.4 on.
    Fifo,
}

/// The jobserver of a job, as its shim receives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobserverOrder {
    /// The option `--jobserver-auth`. If the job inherits the FIFOs, the option still lacks the file descriptors.
    pub auth: String,
    /// Number of cores of the run.
    pub cores: u32,
    /// The FIFOs from which the job reads and to which it writes, relative to the folder of the run. The shim keeps the
    /// FIFOs open, so tokens in a FIFO survive the session.
    pub fifos: Vec<String>,
    /// True if the job inherits the FIFOs.
    pub is_inherited: bool,
}

/// The account of the cores of a run on this machine, and the thread that lends cores.
#[derive(Debug)]
pub(crate) struct Lender {
    bank: Arc<Mutex<TokenBank<Fifos>>>,
    style: Option<JobserverStyle>,
    /// The path that the folder of the run had when it was opened. `MAKEFLAGS` contains this path.
    folder: PathBuf,
    cores: u32,
    /// True if the account contains a job with tokens of an earlier session.
    adopts: bool,
    is_watched: bool,
}

impl Lender {
    /// Creates the account of a run with this number of cores. Without a style, no cores are lent, but cores that an
    /// earlier session lent are awaited.
    pub fn new(folder: &Path, style: Option<JobserverStyle>, cores: u32) -> Self {
        let bank = Arc::new(Mutex::new(TokenBank::new(cores, style.is_some())));
        Self { bank, style, folder: folder.to_owned(), cores, adopts: false, is_watched: false }
    }

    /// Returns whether jobs take tokens.
    pub fn lends(&self) -> bool {
        self.style.is_some()
    }

    /// Reserves the cores of a job that is about to start. Returns false if the start must wait, because cores are
    /// lent.
    pub fn reserve(&self, task: TaskId, cores: u32) -> bool {
        !(self.lends() || self.adopts) || locked(&self.bank).reserve(task, cores)
    }

    /// Creates the FIFOs of a job with reserved cores. Returns `None` if jobs take no tokens.
    ///
    /// # Errors
    /// The path that could not be created, and the cause.
    pub fn open(
        &mut self,
        folder: &Path,
        task: TaskId,
        attempt: u32,
    ) -> Result<Option<JobserverOrder>, (PathBuf, std::io::Error)> {
        let Some(style) = self.style else { return Ok(None) };
        let name = name_of(task, attempt);
        let fifos = Fifos::create(folder, &name, style)?;
        locked(&self.bank).open(task, fifos);
        self.watch().map_err(|error| (folder.to_owned(), error))?;
        let fifos = Fifos::names(&name, style);
        let path = match style {
            JobserverStyle::Pipe => String::new(),
            JobserverStyle::Fifo => format!("fifo:{}", self.folder.join(&fifos[0]).display()),
        };
        let (auth, is_inherited) = (format!("--jobserver-auth={path}"), style == JobserverStyle::Pipe);
        Ok(Some(JobserverOrder { auth, cores: self.cores, fifos, is_inherited }))
    }

    /// Adds a running job of an earlier session. No core is lent before [`Self::begin`], because other running jobs of the
    /// earlier session are not in the account yet.
    pub fn adopt(&mut self, folder: &Path, task: TaskId, attempt: u32, cores: u32) {
        let earlier = Fifos::earlier(folder, &name_of(task, attempt));
        self.adopts |= earlier.is_some();
        locked(&self.bank).adopt(task, cores, earlier);
    }

    /// Starts to lend cores to jobs of earlier sessions, and to take back their tokens. Call this after all these jobs were
    /// added, and all other processes of earlier sessions have ended.
    pub fn begin(&mut self) {
        if self.adopts {
            // Without the thread, tokens come back only when a start is tried.
            let _ = self.watch();
        }
    }

    /// Frees the cores and tokens of a job that has ended.
    pub fn close(&self, task: TaskId) {
        let closed = locked(&self.bank).close(task);
        if let Some(fifos) = closed {
            fifos.remove();
        }
    }

    /// Removes the files of all jobs. Call this only after all jobs have ended.
    pub fn remove(&self, folder: &Path) {
        locked(&self.bank).close_all().for_each(Fifos::remove);
        if self.lends() || self.adopts {
            remove_folder(folder);
        }
    }

    /// Starts the thread that lends cores, unless it is running.
    fn watch(&mut self) -> std::io::Result<()> {
        if !self.is_watched {
            let bank = Arc::downgrade(&self.bank);
            thread::Builder::new().name("jobserver".into()).spawn(move || lend(&bank))?;
            self.is_watched = true;
        }
        Ok(())
    }
}

/// Checks that jobs of a run in this folder can use a jobserver.
///
/// # Errors
/// The cause and the remedy.
pub(crate) fn check_jobserver(folder: &Path, style: JobserverStyle) -> Result<(), String> {
    // make splits the variable MAKEFLAGS at blanks, and expands references to variables.
    let is_plain = |text: &str| !text.contains(|c: char| c.is_whitespace() || c.is_control() || "$\\#'\"".contains(c));
    if style == JobserverStyle::Fifo && !folder.to_str().is_some_and(is_plain) {
        return Err(format!(
            "{}: MAKEFLAGS cannot contain this path; choose a folder without blanks, quotation marks, `$`, `#` and \
             `\\`, or use --jobserver=pipe",
            folder.display()
        ));
    }
    probe(folder).map_err(|(path, error)| {
        format!("{}: cannot create a FIFO: {error}; choose a folder on a local disk", path.display())
    })
}

fn name_of(task: TaskId, attempt: u32) -> String {
    format!("{}.{attempt}", task.0)
}

fn locked(bank: &Mutex<TokenBank<Fifos>>) -> MutexGuard<'_, TokenBank<Fifos>> {
    bank.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lends cores until the account is dropped.
fn lend(bank: &Weak<Mutex<TokenBank<Fifos>>>) {
    let mut ticked = Instant::now();
    while let Some(bank) = bank.upgrade() {
        let mut account = locked(&bank);
        if ticked.elapsed() < TICK {
            account.update();
        } else {
            ticked = Instant::now();
            account.tick();
        }
        let is_claimed = account.is_claimed();
        let watched: Vec<_> = account.watched().filter_map(|fifos| fifos.watched(is_claimed)).collect();
        drop(account);
        drop(bank);
        let mut polled: Vec<_> = watched.iter().map(|fifo| PollFd::new(fifo.as_fd(), PollFlags::POLLIN)).collect();
        // After an error such as an interrupt, the account is updated early.
        let _ = poll(&mut polled, PollTimeout::from(TICK.as_millis() as u8));
    }
}

/// Returns the environment variables through which programs find a jobserver. `existing` is the current value of
/// `MAKEFLAGS`, and `descriptors` are the numbers of the inherited files.
pub(crate) fn jobserver_environment(
    existing: Option<&OsStr>,
    order: &JobserverOrder,
    descriptors: &str,
) -> [(&'static str, String); 2] {
    let auth = format!("{}{descriptors}", order.auth);
    let flags = with_jobserver(existing.and_then(OsStr::to_str).unwrap_or_default(), order.cores, &auth);
    // cargo and its build scripts read CARGO_MAKEFLAGS first.
    ["CARGO_MAKEFLAGS", "MAKEFLAGS"].map(|name| (name, flags.clone()))
}
