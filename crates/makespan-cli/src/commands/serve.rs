//! `makespan serve`

use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use makespan_core::{Job, Platform, counted};
use makespan_exec::engine::Engine;
use makespan_exec::{ExecuteOptions, MeasuredAttempt, Pinning, check_memory_limits};
use makespan_service::client::default_store;
use makespan_service::host::{Host, WakeCallback, local};
use makespan_service::{Keeper, KeeperOptions, Log, Service, report_failed_start};
use miette::{Result, miette};

use super::serve_machines::{OtherMachines, machines};
use super::service::{check_addresses, listen};
use super::{serve_check, unit};
use crate::args::{MemorySource, ServeOptions};
use crate::output::{emit, shown};
use crate::past::{Memory, MemoryRoom, RunHistory, of_command};

/// The machines on which jobs run, with the history of this user.
struct Place {
    platform: Platform,
    /// The other machines on which jobs run. `None` if jobs run on this machine.
    other: Option<OtherMachines>,
    /// The history. The lock allows one thread at a time to use the database connection.
    past: Mutex<RunHistory>,
    /// The machines for which memory is learned, if memory is learned.
    room: Option<MemoryRoom>,
    memory: Mutex<Memory>,
}

impl Host for Place {
    fn platform(&self) -> Platform {
        self.platform.clone()
    }

    fn name(&self) -> String {
        self.other.as_ref().map_or_else(|| "this machine".into(), OtherMachines::name)
    }

    fn is_local(&self) -> bool {
        self.other.is_none()
    }

    fn engine(
        &self,
        folder: &Path,
        options: &ExecuteOptions,
        wake: WakeCallback<'_>,
    ) -> Result<Box<dyn Engine>, String> {
        let Some(other) = &self.other else { return local(folder, options, wake) };
        other.begin(folder, options.grace).map_err(|error| error.to_string())
    }

    fn learn(&self, jobs: Vec<Job>) -> Vec<Job> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner).learn(jobs, self.room.as_ref())
    }

    fn measured(&self, measured: &MeasuredAttempt<'_>, folder: Option<&str>) {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).measured_in(folder, measured);
    }

    fn kinds(&self, command: &[String]) -> Vec<String> {
        of_command(command, None)
    }
}

pub fn serve(options: &ServeOptions) -> Result<ExitCode> {
    let store = options.store.clone().or_else(default_store);
    let store = store.ok_or_else(|| miette!("there is no default folder for the store; name a folder with --store"))?;
    if options.unit {
        return unit::print(&store);
    }
    if options.check {
        return serve_check::check(options, &store);
    }
    run(options, &store).inspect_err(|error| {
        report_failed_start(options.log.as_deref(), &format!("the service cannot start: {error}"));
    })
}

/// Runs the service until a signal arrives.
fn run(options: &ServeOptions, store: &Path) -> Result<ExitCode> {
    let open = || RunHistory::open(&options.history, None, Pinning::All);
    let (past, recorder) = (open(), open());
    let (platform, other) = machines(options, store)?;
    if other.is_none() {
        serve_check::check_cores(options, &platform)?;
    }
    check_addresses(&options.http)?;
    if options.limit_memory && other.is_none() {
        check_memory_limits().map_err(|error| miette!("{error}"))?;
    }
    let is_learned = options.memory == MemorySource::Learned;
    let room = is_learned.then(|| MemoryRoom::of(platform.clone(), other.is_none(), options.limit_memory));
    let memory = Mutex::new(recorder.recorder());
    let place = Place { platform: platform.clone(), other, past: Mutex::new(past), room, memory };
    let log = Log::open(options.log.as_deref()).map_err(|error| {
        let file = options.log.as_ref().map_or_else(String::new, |file| format!("--log {}: ", file.display()));
        miette!("{file}cannot write the log: {error}; name a file in an existing folder that this user may write")
    })?;
    let keeping = KeeperOptions {
        log: log.clone(),
        oversubscribe: options.oversubscribe,
        limit_memory: options.limit_memory,
        raise_memory: options.memory == MemorySource::Learned,
        recover: options.recover,
        keep: options.keep.map(|days| Duration::from_secs(86_400 * u64::from(days))),
        ..KeeperOptions::new(store)
    };
    // The handler is set before the service starts, so a signal during the start is not lost.
    let (send, stopped) = mpsc::channel();
    let told = ctrlc::set_handler(move || {
        let _ = send.send(());
    });
    told.map_err(|error| miette!("cannot listen for Ctrl-C: {error}"))?;
    let engine = place.name();
    let keeper = Keeper::start(&keeping, Box::new(place)).map_err(|error| miette!("{error}"))?;
    let folder = keeper.folder().to_owned();
    let keeper = Arc::new(keeper);
    let server = listen(&options.http, &folder, Arc::clone(&keeper) as Arc<dyn Service>, &log)?;
    let (processors, runs_as) = (counted(platform.processors(), "processor"), keeper.health().runs_as);
    log.notice(&format!("the service listens at {}; jobs run on {engine}, {processors}, as {runs_as}", server.url()));
    emit(&announced(server.url(), &folder, &engine, &platform, &runs_as))?;
    let _ = stopped.recv();
    log.notice(
        "the service ends after a signal; running jobs continue, and the next service on this store takes them over",
    );
    server.stop();
    if let Some(keeper) = Arc::into_inner(keeper) {
        keeper.close();
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the message that is printed when the service is ready.
fn announced(url: &str, store: &Path, engine: &str, platform: &Platform, user: &str) -> String {
    let store = store.display().to_string();
    format!(
        "the service is at {url}\nits token is in {}/token\nit runs jobs on {engine}, {}, as the user {user}: anyone with a \
         token for submitting can run any command as {user}\n",
        shown(&store),
        counted(platform.processors(), "processor")
    )
}
