//! The functions that execute an instance with a policy in a folder.

mod check;
mod settled;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::rc::Rc;

use makespan_core::{Instance, Outcome, Policy, Schedule, TaskId, Time, Trace};

use crate::clock::{Clock, began};
use crate::engine::{Engine, TakenAttempt};
use crate::files::Files;
use crate::halt::EndCounter;
use crate::identity::identity;
use crate::jobserver::check_jobserver;
use crate::journal::{FILE, History, Journal, JournalRecord, Progression, RecordedRun, TaskList, locked, strangers};
use crate::local::Local;
use crate::machine::cores;
use crate::recover::{closed_tasks, open_tasks};
use crate::session::{
    EngineSide, HandOver, HoldState, Ledger, PlanAgain, PolicySide, PruningState, Retries, Session, SessionState,
};
use crate::storage::{Disk, Storage};
use crate::{ExecuteError, ExecuteOptions, Observer, OutputFiles, SessionBegin};
use check::opening;
pub use check::{check, check_folder, check_machine, check_memory_limits, check_tasks};
use settled::{SettledRun, settled};

/// Executes the commands of an instance on this machine. A policy decides when each task starts, and on which
/// processors.
///
/// Time 0 is the start of the run. Every task is submitted at its release date. Processor `p` of the platform is the
/// `p`-th core that this process may use. Each task is pinned to its cores, or only the tasks that [`crate::Pinning`]
/// selects. If a task fails, the policy is informed and the other tasks continue. A task that reaches its time limit
/// receives SIGTERM, and SIGKILL after the grace period. All descendants of the task receive the signals, in any
/// process group and session. When the main process of the task has ended, its remaining descendants receive SIGKILL.
/// The processors of a task are free when all its processes have ended.
///
/// When a run is resumed, the policy first receives its log, and then [`Submitted`](makespan_core::Event::Submitted)
/// for exactly the tasks that remain to be run. Time is counted from the first start of the run, so the trace covers
/// all sessions. A task that outlived an earlier session continues, and its time limit is measured from its start. If
/// the instance was edited, such a task is ended and run again, unless it has written its exit status. A task that
/// finished is never repeated.
///
/// If the platform states `gpus`, the GPUs are numbered across its nodes. GPU `g` is the `g`-th GPU that this process
/// may use, or the `g`-th entry of `CUDA_VISIBLE_DEVICES` if this variable is set. Each task receives its GPUs in
/// `CUDA_VISIBLE_DEVICES`, which is empty if the task needs no GPU. No two running tasks hold the same GPU.
///
/// All commands run in the working directory of this process. Tasks find the files of their predecessors in this
/// directory, so data need no transfer. A task is not started, and counts as failed, if one of its predecessors did
/// not succeed. When a run with dependencies is resumed, the policy is informed of the tasks that remain failed.
///
/// A stop request ends the running tasks, and the function returns the trace so far; see
/// [`crate::Stop::is_requested`]. A task that another program, such as a service manager, ends at the same time also
/// counts as stopped and runs again when the run is resumed.
///
/// If the options contain an [`Estimation`](makespan_core::Estimation), its estimator receives every success, and the
/// policy receives the new times. The journal stores the new times, and a resumed run uses them.
///
/// The entries of the policy's log ([`Policy::log`]) are written to the journal and passed to the observer.
///
/// While the journal cannot be written because the disk is full, no task starts and no end is reported. The run
/// continues when the journal can be written again.
///
/// ```standalone_crate
/// # makespan_exec::serve();
/// use makespan_core::{Decision, Event, Instance, Job, Platform, Policy, ProcSet, Profile, Time, View};
/// use makespan_exec::{ExecuteOptions, Silent, execute};
///
/// /// One job after another, on processor 0.
/// struct InTurn;
///
/// impl Policy for InTurn {
///     fn on(&mut self, _events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
///         let next = view.waiting.first().filter(|_| view.running.is_empty());
///         decisions.extend(next.map(|task| Decision::Start { task, processors: ProcSet::first(1) }));
///     }
/// }
///
/// let folder = tempfile::tempdir()?;
/// let command = ["sh", "-c", "echo hello from $MAKESPAN_JOB"].map(String::from).to_vec();
/// let job = Job::new("hello", Profile::rigid(1, Time::from_seconds(1))?).with_command(command);
/// let instance = Instance::new(Platform::flat(1)?, vec![job], vec![])?;
/// let trace = execute(&instance, &mut InTurn, &ExecuteOptions::new(folder.path()), &mut Silent)?;
/// assert!(trace.all_succeeded(&instance));
/// assert_eq!(std::fs::read_to_string(folder.path().join("hello.out"))?, "hello from hello\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ExecuteError`]. After an error, no task of the run is running.
pub fn execute(
    instance: &Instance,
    policy: &mut dyn Policy,
    options: &ExecuteOptions,
    observer: &mut dyn Observer,
) -> Result<Trace, ExecuteError> {
    reserve(instance, options)?.execute(policy, observer)
}

/// A run that is locked for this process. The lock lasts until this value is dropped or the run is executed. No other
/// process writes to the folder of a locked run.
#[derive(Debug)]
pub struct ReservedRun<'a> {
    instance: &'a Instance,
    options: &'a ExecuteOptions,
    files: Rc<Files>,
    lock: File,
}

/// Creates the folder of a run on this machine and locks it.
///
/// # Errors
/// [`ExecuteError`] if [`execute`] would not begin.
pub fn reserve<'a>(instance: &'a Instance, options: &'a ExecuteOptions) -> Result<ReservedRun<'a>, ExecuteError> {
    check_machine(instance, options)?;
    reserve_folder(instance, options)
}

/// Creates and locks the folder of a run on another engine. The resources of this machine are not checked.
///
/// # Errors
/// The errors of [`reserve`].
pub fn reserve_folder<'a>(
    instance: &'a Instance,
    options: &'a ExecuteOptions,
) -> Result<ReservedRun<'a>, ExecuteError> {
    check_tasks(instance)?;
    let files = Rc::new(Files::new(&options.folder, instance)?.with_scratch(options.scratch.clone()));
    let (lock, is_own) = locked(&files.folder().join("lock"))?;
    // Another process may just have created a run in this folder.
    let is_begun = options.resume && files.folder().join(FILE).symlink_metadata().is_ok();
    if !is_begun && Journal::inspect(&files, instance, opening(options))? {
        strangers::check(&files, &options.results, is_own)?;
    }
    Ok(ReservedRun { instance, options, files, lock })
}

impl ReservedRun<'_> {
    /// Executes the reserved run in the same way as [`execute`].
    ///
    /// # Errors
    /// The errors of [`execute`].
    pub fn execute(self, policy: &mut dyn Policy, observer: &mut dyn Observer) -> Result<Trace, ExecuteError> {
        let (setting, style) = (self.options.setting.clone(), self.options.jobserver);
        style.map_or(Ok(()), |style| check_jobserver(self.folder(), style)).map_err(ExecuteError::NoJobserver)?;
        let engine = Local::new(self.folder(), cores()?, self.options.shim.clone()).with_setting(setting);
        let mut engine = engine.with_jobserver(style, self.instance.processors());
        if let Some(intake) = &self.options.intake {
            let waker = engine.waker();
            intake.on_request(move || waker.wake());
        }
        self.execute_on(&mut engine, policy, observer)
    }

    /// Executes the reserved run on the given engine in the same way as [`execute`].
    ///
    /// # Errors
    /// The errors of [`execute`].
    pub fn execute_on(
        self,
        engine: &mut dyn Engine,
        policy: &mut dyn Policy,
        observer: &mut dyn Observer,
    ) -> Result<Trace, ExecuteError> {
        let Self { instance, options, files, lock } = self;
        let machine = Machine { storage: &Disk, engine, files, lock: Some(lock) };
        drive_on(machine, instance, Driver::Policy(policy), options, observer)
    }

    /// Executes the reserved run without a policy. The engine receives all tasks at once, in the order and with the
    /// allotments of the plan, and reports when each task has begun ([`crate::engine::Notice::Begun`]). The function
    /// `again` may replan tasks that the engine does not accept yet, and tasks of a resumed run.
    ///
    /// Tasks with predecessors are handed over with their predecessors ([`crate::engine::EngineStart::after`]).
    /// Journal, outcomes, retries and history are the same as in other runs. Only tasks in the plan are run.
    ///
    /// # Errors
    /// The errors of [`execute`].
    pub fn hand_over(
        self,
        engine: &mut dyn Engine,
        plan: &Schedule,
        again: PlanAgain<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Trace, ExecuteError> {
        let Self { instance, options, files, lock } = self;
        let machine = Machine { storage: &Disk, engine, files, lock: Some(lock) };
        drive_on(machine, instance, Driver::Plan(plan, again), options, observer)
    }

    /// Returns the absolute path of the folder of the run.
    pub fn folder(&self) -> &Path {
        self.files.folder()
    }
}

/// The file system, the engine and the folder of a run.
pub(crate) struct Machine<'a> {
    pub storage: &'a dyn Storage,
    pub engine: &'a mut dyn Engine,
    pub files: Rc<Files>,
    pub lock: Option<File>,
}

/// The decision maker of a run.
pub(crate) enum Driver<'a> {
    /// A policy decides about each task at run time.
    Policy(&'a mut dyn Policy),
    /// A plan of all tasks. The engine decides when each task starts.
    Plan(&'a Schedule, PlanAgain<'a>),
}

/// Executes a run as [`execute`] does, on the given machine.
#[cfg(test)]
pub(crate) fn execute_on(
    machine: Machine<'_>,
    instance: &Instance,
    policy: &mut dyn Policy,
    options: &ExecuteOptions,
    observer: &mut dyn Observer,
) -> Result<Trace, ExecuteError> {
    drive_on(machine, instance, Driver::Policy(policy), options, observer)
}

fn drive_on(
    mut machine: Machine<'_>,
    instance: &Instance,
    mut driver: Driver<'_>,
    options: &ExecuteOptions,
    observer: &mut dyn Observer,
) -> Result<Trace, ExecuteError> {
    if !is_complete(&machine.files, instance, options) {
        machine.engine.request_machines().map_err(ExecuteError::NoMachines)?;
    }
    let SettledRun { mut journal, history, goes_on } = settled(&mut machine, instance, options, observer)?;
    let Machine { storage, engine, files, .. } = machine;
    let taken: Vec<TaskId> = goes_on.iter().map(|taken| taken.task).collect();
    let clock = open_session(engine, &mut journal, instance, &history)?;
    if options.limit_memory {
        engine.limit_memory().map_err(ExecuteError::NoMemoryLimit)?;
    }
    if let Driver::Policy(policy) = &mut driver {
        policy.recall(&history.told);
    }
    history.told.iter().for_each(|entry| observer.told(entry));
    let mut retries = Retries::new(instance, &history.runs, options);
    let mut open = open_tasks(instance, &history, options, &retries);
    observer.began(&SessionBegin {
        open: &open,
        runs: &history.runs,
        origin: began(history.origin, Time::ZERO),
        outputs: &OutputFiles::new(files.folder(), files.stems()),
    });
    let closed = closed_tasks(&history, &open);
    open.retain(|task| !taken.contains(task));
    if options.retry_failed {
        retries.forgive(&open);
    }
    let restated = history.restated(instance);
    let memory_kills = engine.memory_kills().unwrap_or(0);
    let (policy, handed) = match driver {
        Driver::Plan(plan, again) => (None, Some(HandOver::new(instance, plan, again, options.resume, &history.runs))),
        Driver::Policy(policy) => (Some(policy), None),
    };
    let state = SessionState::new(instance, open, history.runs, taken.len());
    let ledger = Ledger {
        journal,
        storage,
        origin: history.origin,
        fingerprint: identity(instance, history.grows),
        known: if history.grows { TaskList::of(instance) } else { TaskList::default() },
        stalled: None,
        synced: None,
        group: None,
    };
    let estimator = options.estimation.as_ref().map(|estimation| estimation.begin(instance));
    let mut session = Session {
        options,
        observer,
        files,
        clock,
        state,
        ledger,
        policy: PolicySide::new(instance, estimator),
        machine: EngineSide::new(engine, handed, memory_kills),
        attempts: history.attempts,
        retries,
        cancelled: BTreeSet::new(),
        pruning: PruningState::default(),
        leaves: false,
        may_grow: options.intake.is_some(),
        halted: false,
        halting: EndCounter::new(options.halt),
        holding: HoldState::default(),
        news: Vec::new(),
    };
    for TakenAttempt { task, gpus } in goes_on {
        if let Progression::Running(attempt) = &history.tasks[task.index()] {
            session.take_over(task, attempt, gpus)?;
        }
    }
    if options.intake.is_some() {
        session.tell_earlier(&history.tasks);
    }
    session.recall(restated);
    match policy {
        Some(policy) => session.run(&closed, policy)?,
        None => session.hand_over(&closed)?,
    }
    let mut runs = session.state.runs;
    runs.sort_by_key(|run| run.end);
    Ok(Trace { runs })
}

/// Returns true if an earlier session completed the run: every task of the instance has succeeded, and no task can be
/// added.
fn is_complete(files: &Files, instance: &Instance, options: &ExecuteOptions) -> bool {
    if !options.resume || options.run_all || options.intake.is_some() {
        return false;
    }
    let Ok(run) = RecordedRun::read(files.folder()) else { return false };
    let has_succeeded = |task: &Progression| matches!(task, Progression::Ended(Outcome::Succeeded));
    run.history.tasks.iter().all(has_succeeded)
        && run.names.len() as u64 == instance.tasks()
        && run.unnamed(instance).is_empty()
}

/// Writes the begin of a session to the journal and returns the clock of the session.
fn open_session(
    engine: &mut dyn Engine,
    journal: &mut Journal,
    instance: &Instance,
    history: &History,
) -> Result<Clock, ExecuteError> {
    let clock = Clock::since(history.origin, history.latest, engine);
    let group = engine.group();
    journal.note(JournalRecord::Session { at: clock.now(engine), boot: engine.place(), group });
    if history.grows {
        let list = history.known.more(instance);
        if !list.is_empty() {
            journal.note(JournalRecord::Grown { list });
        }
    } else if !history.listed {
        journal.note(JournalRecord::Tasks { list: TaskList::of(instance) });
    }
    journal.commit()?;
    Ok(clock)
}
