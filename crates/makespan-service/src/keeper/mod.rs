//! The implementation of the service: it stores jobs and runs them.
//!
//! One thread writes the store, one thread runs the engine, and one thread makes the plans that users see. Read
//! requests access the store directly. Another thread deletes old jobs, if the options state how long jobs are kept.

mod ahead;
mod asked;
mod behind;
mod checked;
mod engine;
mod explain;
mod follow;
mod forecasts;
mod future;
mod levels;
mod line;
mod numbers;
mod outlook;
mod owners;
mod plan;
mod planner;
mod promise;
mod quota;
mod retention;
mod room;
mod rules;
mod shared;
mod tally;
mod watcher;
mod wear;
mod what_if;
mod writer;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use makespan_core::counted;
use makespan_exec::{ExecuteOptions, Local};

use crate::clock::wall;
use crate::host::Host;
use crate::log::Log;
use crate::store::{
    DATABASE, JournalFault, Reader, Round, Store, database_fault, journal_fault, missing_outputs, round_folder,
};
use crate::words::{Picture, State};
use engine::Runner;
use outlook::Outlook;
pub(crate) use owners::Owners;
use planner::Drawer;
use retention::Retention;
use shared::{Delivery, SharedState, StoreRequest};
use wear::RunReplacement;
use writer::Writer;

/// Interval at which the engine checks for work.
const TICK: Duration = Duration::from_millis(50);

/// A service that stores jobs in a folder and runs them.
pub struct Keeper {
    shared: Arc<SharedState>,
    folder: PathBuf,
    asks: Mutex<Sender<StoreRequest>>,
    outlook: Arc<Mutex<Option<Arc<Outlook>>>>,
    since: f64,
    threads: Vec<JoinHandle<()>>,
}

/// Options of a service.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "choices of the user that go in any combination")]
pub struct KeeperOptions {
    /// The folder of the store. A missing folder is created.
    pub folder: PathBuf,
    /// The shim program, which runs every task ([`ExecuteOptions::shim`]).
    pub shim: Option<PathBuf>,
    /// Time between SIGTERM and SIGKILL when the service ends a job.
    pub grace: Duration,
    /// Whether the memory of each job is limited to the amount that the job states.
    pub limit_memory: bool,
    /// Whether a job is tried again with twice the memory after each kill for lack of memory
    /// ([`ExecuteOptions::raise_memory`]).
    pub raise_memory: bool,
    /// Whether the platform may have more processors than this machine has cores.
    pub oversubscribe: bool,
    /// Minimum number of jobs in a run of the engine that is replaced by a new run. The replacement releases the
    /// memory of ended jobs. A run is replaced when most of its jobs have ended and the running tasks are short. Ended
    /// jobs stay in the store.
    pub long_run: usize,
    /// The time for which ended jobs, their output and their events are kept; `None` keeps ended jobs forever. Jobs of
    /// the engine's current run are kept until the run is replaced.
    pub keep: Option<Duration>,
    /// Whether a damaged journal is replaced. Jobs with intact records are kept, and all other jobs run again.
    pub recover: bool,
    /// The log of the service.
    pub log: Log,
}

impl KeeperOptions {
    /// Returns the default options with the given folder of the store.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            shim: None,
            grace: Duration::from_secs(5),
            limit_memory: false,
            raise_memory: false,
            oversubscribe: false,
            long_run: 5000,
            keep: None,
            recover: false,
            log: Log::default(),
        }
    }
}

impl Keeper {
    /// Opens the store and starts the service. The service schedules the waiting jobs of the store, and takes over the tasks that
    /// still run.
    ///
    /// # Errors
    /// A message, for example if another service uses the store, or if the store cannot be opened.
    pub fn start(options: &KeeperOptions, host: Box<dyn Host>) -> Result<Self, String> {
        let platform = host.platform();
        let mut store = Store::open(&options.folder)?.on(platform.processors());
        let folder = store.folder().to_owned();
        let log = options.log.clone();
        log.notice(&format!("makespan {} starts on the store {}", env!("CARGO_PKG_VERSION"), folder.display()));
        store.remarks().iter().for_each(|remark| log.notice(remark));
        let (asks, asked) = mpsc::channel();
        let (snapshots, seen) = mpsc::channel();
        let shared = Arc::new(SharedState {
            host,
            log,
            platform,
            readers: store.readers(),
            owners: Arc::default(),
            rules: Arc::default(),
            lengths: Mutex::default(),
            delivery: Mutex::new(Delivery::default()),
            latest: Mutex::new(store.latest()),
            changed: Condvar::new(),
            picture: RwLock::new(Arc::new(Picture::default())),
            wanted: Mutex::new(0),
            snapshots: Mutex::new(snapshots),
            settings: AtomicU64::new(0),
            awaited: AtomicUsize::new(0),
            closing: AtomicBool::new(false),
            checks: AtomicUsize::new(0),
            trouble: Mutex::new(None),
            tally: Mutex::default(),
            calibration: Mutex::new(Arc::new(forecasts::uncalibrated())),
            remarks: Mutex::new(VecDeque::new()),
            worn: AtomicBool::new(false),
            writes: AtomicBool::new(true),
            runs: AtomicBool::new(false),
        });
        if let Some(round) = shared.readers.explained(Reader::round)? {
            let fault = shared.readers.explained(|reader| Ok(journal_fault(&folder, &round, reader)))??;
            match fault {
                Some(fault) if !options.recover => return Err(fault.text()),
                Some(JournalFault::Lost(fault)) => begin_again(&mut store, &round, &fault, options)?,
                Some(JournalFault::Damaged(_)) | None => {}
            }
        }
        let missing = shared.readers.read(|reader| Ok(missing_outputs(&folder, reader)));
        missing.ok().flatten().iter().for_each(|warning| shared.log.warning(warning));
        let counts = shared.readers.explained(Reader::counts)?;
        let of = |state| counts.get(&state).copied().unwrap_or(0);
        let [running, waiting, held] = [State::Running, State::Waiting, State::Held].map(of);
        shared.log.info(&format!("the store has {running} running, {waiting} waiting and {held} held jobs"));
        let limits = shared.readers.explained(Reader::limits)?;
        shared.rules.lock().unwrap_or_else(PoisonError::into_inner).processors = limits;
        let outlook = Arc::new(Mutex::new(None));
        let execution = ExecuteOptions {
            shim: options.shim.clone(),
            grace: options.grace,
            limit_memory: options.limit_memory,
            raise_memory: options.raise_memory,
            oversubscribe: options.oversubscribe,
            tick: TICK,
            recover: options.recover,
            ..ExecuteOptions::new("")
        };
        let writer = Writer::new(store, Arc::clone(&shared), asked);
        let runner = Runner {
            shared: Arc::clone(&shared),
            asks: asks.clone(),
            folder: folder.clone(),
            options: execution,
            wear: RunReplacement::new(options.long_run),
        };
        let drawer = Drawer {
            shared: Arc::clone(&shared),
            snapshots: seen,
            outlook: Arc::clone(&outlook),
            folder: folder.clone(),
        };
        let retention = options.keep.map(|keep| Retention {
            shared: Arc::clone(&shared),
            asks: asks.clone(),
            folder: folder.clone(),
            keep,
        });
        let mut threads = vec![spawn("engine", move || runner.run())?, spawn("planner", move || drawer.run())?];
        if let Some(retention) = retention {
            threads.push(spawn("retention", move || retention.run())?);
        }
        // This thread must end last, because the other threads wait for its replies.
        threads.push(spawn("store", move || writer.run())?);
        Ok(Self { shared, folder, asks: Mutex::new(asks), outlook, since: wall(), threads })
    }

    /// Returns the folder of the store as an absolute path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Ends the service. Running tasks continue, and the next service on this store takes them over.
    pub fn close(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.shared.closing.store(true, Ordering::Relaxed);
        self.shared.changed.notify_all();
        self.shared.leave();
        let mut threads = std::mem::take(&mut self.threads);
        let Some(writer) = threads.pop() else { return };
        for thread in threads {
            // The request is repeated, because a session that begins at this moment must also receive the request.
            while !thread.is_finished() {
                self.shared.leave();
                thread::sleep(Duration::from_millis(20));
            }
            let _ = thread.join();
        }
        let _ = self.asks.lock().unwrap_or_else(PoisonError::into_inner).send(StoreRequest::End);
        let _ = writer.join();
        self.shared.log.notice("the service has stopped; running jobs continue");
        self.shared.log.flush();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.end();
    }
}

/// Begins a new round, because the engine would repeat jobs of the present round. Ends all tasks of the present round that
/// still run on this machine, since they run again.
fn begin_again(store: &mut Store, round: &Round, fault: &str, options: &KeeperOptions) -> Result<(), String> {
    options.log.warning(fault);
    Local::end_left_in(&round_folder(store.folder(), round.number), options.grace);
    let database = store.folder().join(DATABASE);
    let reset = store.change(|change| Ok(change.reset()?.len() as u64));
    let (again, _) = reset.map_err(|error| database_fault(&database, &error))?;
    options
        .log
        .warning(&format!("a new round begins; {} that had started and not ended run again", counted(again, "job")));
    Ok(())
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, String> {
    thread::Builder::new().name(name.into()).spawn(run).map_err(|error| format!("no thread can be started: {error}"))
}
