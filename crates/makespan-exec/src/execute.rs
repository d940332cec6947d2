//! The entrance: an instance, a policy, a folder.

mod check;
mod settled;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::rc::Rc;

use makespan_core::{Instance, Policy, Schedule, TaskId, Time, Trace};

use crate::clock::{Clock, began};
use crate::engine::{Engine, Taken};
use crate::files::Files;
use crate::fingerprint::identity;
use crate::halt::Halting;
use crate::journal::{FILE, History, Journal, Progression, Record, TaskList, locked, strangers};
use crate::local::Local;
use crate::machine::cores;
use crate::recover::{closed_tasks, open_tasks};
use crate::session::{EngineSide, Handed, Holding, Ledger, PlanAgain, PolicySide, Retries, Session, State};
use crate::storage::{Disk, Storage};
use crate::{ExecuteError, ExecuteOptions, Observer, OutputFiles, SessionBegin};
use check::opening;
pub use check::{check, check_folder, check_machine, check_memory_limits, check_tasks};
use settled::{Settled, settled};

/// Executes the commands of an instance on this machine, as a policy decides.
///
/// Instant 0 is the start of the run. Every task is submitted at its release date; processor `p` of the platform is the
/// `p`-th core that this process may use, and each task is pinned to its cores, or those tasks that [`crate::Pinning`] selects. A task that fails is reported to the
/// policy and the others go on. A task that reaches its walltime is sent SIGTERM, and SIGKILL after the grace period;
/// the signals go to all that descends from it, in whatever process group or session it is, and so does a last SIGKILL when
/// the task's own process has ended. Its processors are given away when nothing of it is left.
///
/// When a run is resumed, the policy hears [`Submitted`](makespan_core::Event::Submitted) for every task that is still
/// to be run and is told nothing of the others, after it has recalled what it told of its plans; time goes on from the first start, so the trace covers all sessions. A task
/// that outlived the death of an earlier session goes on under this one, with its walltime counted from its start. Where tasks were edited since, it
/// is ended and run again, unless it has left its exit status: a task that finished is never repeated.
///
/// Where the platform states `gpus`, those of its nodes are numbered through, and `g` is the `g`-th that this process may use: an
/// entry of its own `CUDA_VISIBLE_DEVICES`, if that is set. Each task has those that it holds in that variable, which is empty for a
/// task that needs none; no two running tasks hold the same.
///
/// All commands run in the working directory of this process, where a task finds the files of those that it waits for; data
/// need no time. A task that waits for one that did not succeed is not started, and ends as such. Resuming a run tells the
/// policy of the tasks that stay failed, where tasks wait for each other.
///
/// A stop request ends the running tasks, and the trace so far is returned; [`crate::Stop::is_requested`] tells. A task that
/// others end at that moment, as service managers do, was stopped as well: it runs again when the run is resumed.
///
/// Where the options have an [`Estimation`](makespan_core::Estimation), its estimator hears of every success, and the policy is told of the times that it
/// replaced. They go to the journal, so that a run that is resumed goes on with them.
///
/// What the policy tells of its plans ([`Policy::log`]) goes to the journal and to the observer.
///
/// While the journal cannot be written, since the disk is full, no task starts and no end is told; the run goes on when it can.
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
/// [`ExecuteError`]; when it is returned nothing of the run is running any more.
pub fn execute(
    instance: &Instance,
    policy: &mut dyn Policy,
    options: &ExecuteOptions,
    observer: &mut dyn Observer,
) -> Result<Trace, ExecuteError> {
    reserve(instance, options)?.execute(policy, observer)
}

/// A run that no other process can begin or go on with, until this is dropped or has been executed. What is written to its
/// folder meanwhile belongs to this run.
#[derive(Debug)]
pub struct Reserved<'a> {
    instance: &'a Instance,
    options: &'a ExecuteOptions,
    files: Rc<Files>,
    lock: File,
}

/// Makes the folder of a run on this machine, and keeps others out of it.
///
/// # Errors
/// [`ExecuteError`], where [`execute`] would not begin either.
pub fn reserve<'a>(instance: &'a Instance, options: &'a ExecuteOptions) -> Result<Reserved<'a>, ExecuteError> {
    check_machine(instance, options)?;
    reserve_folder(instance, options)
}

/// The same for a run on another engine than this machine, which is not asked what it has.
///
/// # Errors
/// As there.
pub fn reserve_folder<'a>(instance: &'a Instance, options: &'a ExecuteOptions) -> Result<Reserved<'a>, ExecuteError> {
    check_tasks(instance)?;
    let files = Rc::new(Files::new(&options.folder, instance)?.with_scratch(options.scratch.clone()));
    let (lock, is_own) = locked(&files.folder().join("lock"))?;
    // Somebody may have run in it until a moment ago.
    let is_begun = options.resume && files.folder().join(FILE).symlink_metadata().is_ok();
    if !is_begun && Journal::inspect(&files, instance, opening(options))? {
        strangers::check(&files, &options.results, is_own)?;
    }
    Ok(Reserved { instance, options, files, lock })
}

impl Reserved<'_> {
    /// [`execute`], with what was reserved.
    ///
    /// # Errors
    /// As there.
    pub fn execute(self, policy: &mut dyn Policy, observer: &mut dyn Observer) -> Result<Trace, ExecuteError> {
        let setting = self.options.setting.clone();
        let mut engine = Local::new(self.folder(), cores()?, self.options.shim.clone()).with_setting(setting);
        self.execute_on(&mut engine, policy, observer)
    }

    /// The same on any engine.
    ///
    /// # Errors
    /// As there.
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

    /// The same where no policy decides: the engine is given all tasks at once, in the order of a plan and in the sizes that it has for
    /// them, and says when each has begun ([`crate::engine::Notice::Begun`]). What it takes later only, or in a run that is resumed,
    /// may be planned `again`.
    ///
    /// What waits for others is given with them ([`crate::engine::Start::after`]). Journal, outcomes, retries and history are
    /// those of other runs. Tasks that the plan leaves out are not run.
    ///
    /// # Errors
    /// As there.
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

    /// The folder of the run; the path is absolute.
    pub fn folder(&self) -> &Path {
        self.files.folder()
    }
}

/// What a run stands on.
pub(crate) struct Machine<'a> {
    pub storage: &'a dyn Storage,
    pub engine: &'a mut dyn Engine,
    pub files: Rc<Files>,
    pub lock: Option<File>,
}

/// Who says what is to be started.
pub(crate) enum Driver<'a> {
    /// A policy, task by task.
    Policy(&'a mut dyn Policy),
    /// A plan, all at once; the engine decides when.
    Plan(&'a Schedule, PlanAgain<'a>),
}

/// [`execute`] on any machine.
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
    let Settled { mut journal, history, goes_on } = settled(&mut machine, instance, options, observer)?;
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
    let mut open = open_tasks(instance, &history, options);
    observer.began(&SessionBegin {
        open: &open,
        runs: &history.runs,
        origin: began(history.origin, Time::ZERO),
        outputs: &OutputFiles::new(files.folder(), files.stems()),
    });
    let closed = closed_tasks(&history, &open);
    open.retain(|task| !taken.contains(task));
    let restated = history.restated(instance);
    let memory_kills = engine.memory_kills().unwrap_or(0);
    let retries = Retries::new(instance, &history.runs, &open, options.retry_failed);
    let (policy, handed) = match driver {
        Driver::Plan(plan, again) => (None, Some(Handed::new(instance, plan, again, options.resume, &history.runs))),
        Driver::Policy(policy) => (Some(policy), None),
    };
    let state = State::new(instance, open, history.runs, taken.len());
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
        leaves: false,
        halted: false,
        halting: Halting::new(options.halt),
        holding: Holding::default(),
        news: Vec::new(),
    };
    for Taken { task, gpus } in goes_on {
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

/// Writes down that a session begins, and says what its clock is.
fn open_session(
    engine: &mut dyn Engine,
    journal: &mut Journal,
    instance: &Instance,
    history: &History,
) -> Result<Clock, ExecuteError> {
    let clock = Clock::since(history.origin, history.latest, engine);
    let group = engine.group();
    journal.note(Record::Session { at: clock.now(engine), boot: engine.place(), group });
    if history.grows {
        let list = history.known.more(instance);
        if !list.is_empty() {
            journal.note(Record::Grown { list });
        }
    } else if !history.listed {
        journal.note(Record::Tasks { list: TaskList::of(instance) });
    }
    journal.commit()?;
    Ok(clock)
}
