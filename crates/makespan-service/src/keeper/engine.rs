//! The thread that runs jobs. The thread executes one session of a growing run after another.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

use makespan::estimate::Medians;
use makespan::formats::{Language, read_platform, write_atomic, write_instance};
use makespan_core::{Estimation, Estimator, Instance, Job, NewTimes, Platform, Run, TaskId, Time, fingerprint};
use makespan_exec::{ExecuteOptions, Intake, reserve, reserve_folder};

use super::follow::Follower;
use super::owners::{Owners, engine_job};
use super::shared::{SharedState, StoreRequest};
use super::watcher::Watcher;
use super::wear::RunReplacement;
use crate::prepare::unwrapped;
use crate::store::{HandedJob, Reader, Round, for_service, round_folder};

/// Pause after a failed session.
const PAUSE: Duration = Duration::from_secs(2);
/// File name of the platform in the folder of a round (one run of the engine).
const PLATFORM: &str = "platform.json";

/// The state of the thread.
pub(super) struct Runner {
    pub shared: Arc<SharedState>,
    pub asks: Sender<StoreRequest>,
    /// The folder of the service.
    pub folder: PathBuf,
    /// The options of the execution, such as the grace period and the shim.
    pub options: ExecuteOptions,
    pub wear: RunReplacement,
}

impl Runner {
    /// Runs sessions until the service ends.
    pub fn run(mut self) {
        while !self.shared.is_closing() {
            match self.round().and_then(|round| self.session(&round)) {
                Ok(()) => self.shared.relief(),
                Err(error) => {
                    self.shared.runs.store(false, Ordering::Relaxed);
                    self.shared.trouble(&format!("jobs cannot be started: {}", for_service(&error)));
                    thread::sleep(PAUSE);
                }
            }
        }
        self.shared.runs.store(false, Ordering::Relaxed);
    }

    /// Returns the round to continue. If the current round is long or has another platform, this function first runs
    /// the started jobs of the round to their end, and then begins a new round.
    fn round(&mut self) -> Result<Round, String> {
        let own = digest(&self.shared.platform)?;
        let read = || self.shared.readers.explained(Reader::round);
        let begun = || self.shared.readers.explained(Reader::begun);
        let worn = self.shared.worn.swap(false, Ordering::Relaxed);
        let Some(round) = read()? else {
            self.begin(&own)?;
            return read()?.ok_or_else(|| "no round has begun".into());
        };
        // No job of a round without a stored platform has started.
        if round.platform != own && !self.folder_of(&round).join(PLATFORM).exists() {
            self.begin(&own)?;
            return read()?.ok_or_else(|| "no round has begun".into());
        }
        let wear = match (round.platform == own, worn) {
            (true, false) => return Ok(round),
            (true, true) => self.wear.waits(self.shared.owners.lock().unwrap_or_else(PoisonError::into_inner).count()),
            (false, _) => {
                self.shared.note(
                    "the platform has changed; jobs that have already started first finish on the previous platform",
                );
                self.wear
            }
        };
        let platform = read_platform(&self.folder_of(&round).join(PLATFORM)).map_err(|error| error.to_string())?;
        self.write_out(StoreRequest::Flush)?;
        self.on(&round, platform.platform(), Some(wear))?;
        self.write_out(StoreRequest::Flush)?;
        if self.shared.is_closing() {
            return Ok(round);
        }
        if round.platform == own && !begun()?.is_empty() {
            self.wear.put_off();
            return Ok(round);
        }
        self.begin(&own)?;
        read()?.ok_or_else(|| "no round has begun".into())
    }

    fn begin(&self, digest: &str) -> Result<(), String> {
        self.write_out(|reply| StoreRequest::Round(digest.to_owned(), reply))
    }

    /// Sends a request to the thread that writes the store, and waits until the change is on disk.
    fn write_out(&self, ask: impl FnOnce(Sender<Result<(), String>>) -> StoreRequest) -> Result<(), String> {
        let (reply, answer) = mpsc::channel();
        self.asks.send(ask(reply)).map_err(|error| error.to_string())?;
        answer.recv().map_err(|error| error.to_string())?
    }

    fn folder_of(&self, round: &Round) -> PathBuf {
        round_folder(&self.folder, round.number)
    }

    fn session(&self, round: &Round) -> Result<(), String> {
        if self.shared.is_closing() {
            return Ok(());
        }
        self.on(round, &self.shared.platform, None)
    }

    /// Executes a session on a platform. If `drains` is given, the session starts no new jobs, and ends when no task
    /// is running or the maximum wait has passed.
    fn on(&self, round: &Round, platform: &Platform, drains: Option<RunReplacement>) -> Result<(), String> {
        let folder = self.folder_of(round);
        keep_platform(&folder, platform)?;
        let intake = Intake::new();
        let instance = self.open(round, platform, &intake)?;
        let ended = self.carry_out(&instance, folder, &intake, drains);
        // The session has ended and accepts no more jobs.
        self.shared.delivery.lock().unwrap_or_else(PoisonError::into_inner).intake = None;
        ended
    }

    fn carry_out(
        &self,
        instance: &Instance,
        folder: PathBuf,
        intake: &Intake,
        drains: Option<RunReplacement>,
    ) -> Result<(), String> {
        let (drains, wear) = (drains.is_some(), drains.unwrap_or(self.wear));
        let options = ExecuteOptions {
            folder,
            resume: true,
            intake: Some(intake.clone()),
            estimation: Some(self.learning()),
            ..self.options.clone()
        };
        let is_local = self.shared.host.is_local() && !drains;
        let reserved = if is_local { reserve(instance, &options) } else { reserve_folder(instance, &options) };
        let reserved = reserved.map_err(|error| error.to_string())?;
        let mut engine = self.shared.host.engine(reserved.folder(), &options, &mut |wake| intake.on_request(wake))?;
        let (owners, rules) = (Arc::clone(&self.shared.owners), Arc::clone(&self.shared.rules));
        let begun = || self.shared.readers.explained(Reader::begun);
        rules.lock().unwrap_or_else(PoisonError::into_inner).begun = drains.then(begun).transpose()?;
        let mut follower = Follower::new(owners, rules);
        let mut watcher = Watcher::new(Arc::clone(&self.shared), self.asks.clone(), drains, wear);
        reserved.execute_on(&mut *engine, &mut follower, &mut watcher).map(drop).map_err(|error| error.to_string())
    }

    /// Returns the instance of all jobs of the round, and directs new jobs to the session. The slow part of this
    /// function does not hold the lock for which submissions wait.
    fn open(&self, round: &Round, platform: &Platform, intake: &Intake) -> Result<Instance, String> {
        let handed_behind = |position: u64| self.shared.readers.explained(|reader| reader.handed(round, position));
        let job = |one: &HandedJob| engine_job(one, platform).map_err(|error| format!("job {}: {error}", one.job));
        let handed = handed_behind(0)?;
        let mut owners = Owners::default();
        handed.iter().for_each(|one| owners.push(one));
        let jobs = handed.iter().map(job).collect::<Result<Vec<Job>, _>>()?;
        let instance = Instance::new(platform.clone(), jobs, Vec::new()).map_err(|error| error.to_string())?;
        let mut delivery = self.shared.delivery.lock().unwrap_or_else(PoisonError::into_inner);
        let last = handed.last().map_or(0, |last| last.position);
        let meanwhile = handed_behind(last)?;
        meanwhile.iter().for_each(|one| owners.push(one));
        let jobs = meanwhile.iter().map(job).collect::<Result<Vec<Job>, _>>()?;
        if !jobs.is_empty() {
            intake.append(jobs);
        }
        *self.shared.owners.lock().unwrap_or_else(PoisonError::into_inner) = owners;
        delivery.upto = meanwhile.last().map_or(last, |last| last.position);
        delivery.intake = Some(intake.clone());
        delivery.platform = Some(platform.clone());
        // Requests that arrived between two sessions are applied before the new session starts any task.
        let cancelled = self.shared.readers.explained(Reader::to_cancel)?;
        let _ = self.shared.ask_session(&delivery, &cancelled, Intake::cancel);
        for jobs in delivery.holding.values() {
            let _ = self.shared.ask_session(&delivery, jobs, Intake::withdraw);
        }
        self.shared.announce(&delivery).map_err(|error| error.to_string())?;
        Ok(instance)
    }

    /// Returns the estimation that predicts run times from the run times of ended tasks.
    fn learning(&self) -> Estimation {
        let shared = Arc::clone(&self.shared);
        Estimation::new(move |instance| {
            let mut learning = Learning { medians: Medians::default(), shared: Arc::clone(&shared) };
            learning.grown(instance);
            Box::new(learning)
        })
    }
}

/// An estimator that predicts run times from the medians of ended tasks. The estimator also stores these run times for
/// the prediction of running tasks.
struct Learning {
    medians: Medians,
    shared: Arc<SharedState>,
}

impl Learning {
    /// Returns the kinds of a task, from the most specific kind to the most general one.
    fn kinds(&self, instance: &Instance, task: TaskId) -> Vec<String> {
        self.shared.host.kinds(unwrapped(&instance.task(task).command).0)
    }
}

impl Estimator for Learning {
    fn ended(&mut self, instance: &Instance, run: &Run) -> Vec<NewTimes> {
        let mut lengths = self.shared.lengths.lock().unwrap_or_else(PoisonError::into_inner);
        lengths.add(self.kinds(instance, run.task), run.end - run.start);
        drop(lengths);
        self.medians.ended(instance, run)
    }

    fn grown(&mut self, instance: &Instance) -> Vec<NewTimes> {
        let shared = Arc::clone(&self.shared);
        let owners = shared.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let made = |task: TaskId| owners.of(task).map_or(Time::ZERO, |(owned, _)| Time::from_ticks(owned.submitted));
        let kinds = |task: TaskId| shared.host.kinds(unwrapped(&instance.task(task).command).0);
        self.medians.grow(instance, kinds, made)
    }
}

fn digest(platform: &Platform) -> Result<String, String> {
    let alone = Instance::new(platform.clone(), Vec::new(), Vec::new()).map_err(|error| error.to_string())?;
    Ok(fingerprint(&alone))
}

/// Writes the platform of a round to its folder. Even if the platform of the service changes later, the round is
/// finished on the written platform.
fn keep_platform(folder: &Path, platform: &Platform) -> Result<(), String> {
    let path = folder.join(PLATFORM);
    if path.exists() {
        return Ok(());
    }
    // Only the owner may read commands and their output, regardless of the mode of the store.
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| format!("{}: {error}", folder.display()))?;
    let alone = Instance::new(platform.clone(), Vec::new(), Vec::new()).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    write_instance(&alone, Language::Json, &mut text).map_err(|error| error.to_string())?;
    write_atomic(&path, |out| out.write_all(&text)).map_err(|error| format!("{}: {error}", path.display()))
}
