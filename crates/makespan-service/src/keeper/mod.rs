//! A service that keeps jobs and runs them.
//!
//! One thread writes the store, one runs the engine, one plans for those who look. Who asks reads the store beside them.

mod admission;
mod ahead;
mod asked;
mod behind;
mod checked;
mod engine;
mod explain;
mod numbers;
mod outlook;
mod owners;
mod planner;
mod retention;
mod shared;
mod watcher;
mod wear;
mod what_if;
mod writer;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use makespan_exec::ExecuteOptions;

use crate::clock::wall;
use crate::host::Host;
use crate::store::{Reader, Store};
use crate::words::Picture;
use engine::Runner;
use outlook::Outlook;
use planner::Drawer;
use retention::Retention;
use shared::{Ask, Delivery, Shared};
use wear::Wear;
use writer::Writer;

/// How often the engine looks whether there is something to do.
const TICK: Duration = Duration::from_millis(50);

/// A service that keeps jobs in a folder, and runs them.
pub struct Keeper {
    shared: Arc<Shared>,
    folder: PathBuf,
    asks: Mutex<Sender<Ask>>,
    outlook: Arc<Mutex<Option<Arc<Outlook>>>>,
    since: f64,
    threads: Vec<JoinHandle<()>>,
}

/// How a service runs jobs.
#[derive(Clone, Debug)]
pub struct KeeperOptions {
    /// The folder of the store, made where it is missing.
    pub folder: PathBuf,
    /// The program that runs around every task ([`ExecuteOptions::shim`]).
    pub shim: Option<PathBuf>,
    /// How long a job that is ended may take to react.
    pub grace: Duration,
    /// Whether each job is limited to the memory that it states.
    pub limit_memory: bool,
    /// More processors than cores are accepted.
    pub oversubscribe: bool,
    /// From how many jobs on a run of the engine gives way to a new one, when most of them have ended and little runs: what ended is kept
    /// in the store, and not in memory for ever.
    pub long_run: usize,
    /// For how long jobs that have ended are kept, with their output and their events; for ever where nothing is stated. Those of the run
    /// that goes on stay until it gives way.
    pub keep: Option<Duration>,
}

impl KeeperOptions {
    /// Five seconds of grace.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            shim: None,
            grace: Duration::from_secs(5),
            limit_memory: false,
            oversubscribe: false,
            long_run: 5000,
            keep: None,
        }
    }
}

impl Keeper {
    /// Opens a store, and goes on with what is in it: what waits is started, and what runs is taken over.
    ///
    /// # Errors
    /// In words: another service uses the store, or it cannot be opened.
    pub fn start(options: &KeeperOptions, host: Box<dyn Host>) -> Result<Self, String> {
        let platform = host.platform();
        let store = Store::open(&options.folder)?.on(platform.processors());
        let folder = store.folder().to_owned();
        let (asks, asked) = mpsc::channel();
        let (snapshots, seen) = mpsc::channel();
        let shared = Arc::new(Shared {
            host,
            platform,
            readers: store.readers(),
            owners: Arc::default(),
            limits: Arc::default(),
            lengths: Mutex::default(),
            delivery: Mutex::new(Delivery::default()),
            latest: Mutex::new(store.latest()),
            changed: Condvar::new(),
            picture: RwLock::new(Arc::new(Picture::default())),
            wanted: Mutex::new(false),
            snapshots: Mutex::new(snapshots),
            closing: AtomicBool::new(false),
            checks: AtomicUsize::new(0),
            trouble: Mutex::new(None),
            remarks: Mutex::new(VecDeque::new()),
            worn: AtomicBool::new(false),
            writes: AtomicBool::new(true),
            runs: AtomicBool::new(false),
        });
        let limits = shared.readers.read(Reader::limits).map_err(|error| error.to_string())?;
        shared.limits.lock().unwrap_or_else(PoisonError::into_inner).processors = limits;
        let outlook = Arc::new(Mutex::new(None));
        let execution = ExecuteOptions {
            shim: options.shim.clone(),
            grace: options.grace,
            limit_memory: options.limit_memory,
            oversubscribe: options.oversubscribe,
            tick: TICK,
            ..ExecuteOptions::new("")
        };
        let writer = Writer::new(store, Arc::clone(&shared), asked);
        let runner = Runner {
            shared: Arc::clone(&shared),
            asks: asks.clone(),
            folder: folder.clone(),
            options: execution,
            wear: Wear::new(options.long_run),
        };
        let drawer = Drawer { shared: Arc::clone(&shared), snapshots: seen, outlook: Arc::clone(&outlook) };
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
        // The last to end: the others wait for its answers.
        threads.push(spawn("store", move || writer.run())?);
        Ok(Self { shared, folder, asks: Mutex::new(asks), outlook, since: wall(), threads })
    }

    /// The folder of the store, as an absolute path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Ends the service. What runs goes on, and the next service on this store takes it over.
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
            // A session that begins right now is told as well.
            while !thread.is_finished() {
                self.shared.leave();
                thread::sleep(Duration::from_millis(20));
            }
            let _ = thread.join();
        }
        let _ = self.asks.lock().unwrap_or_else(PoisonError::into_inner).send(Ask::End);
        let _ = writer.join();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.end();
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, String> {
    thread::Builder::new().name(name.into()).spawn(run).map_err(|error| format!("no thread can be started: {error}"))
}
