//! Learns the run times of an instance from the history of earlier runs, and records new runs in the history.

mod kinds;
mod memory;
mod needs;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;

use makespan_core::{Estimate, Instance, Job, JobId, Platform, Profile, TaskId, Time, Work, counted};
use makespan_exec::{Pinning, host};
use makespan_history::estimate::{Basis, Estimator, Exploration, LearnedTimes, Question, TrialCandidate, typical};
use makespan_history::{Command, History, HistoryError, Recorder, default_path, folder_here};
use miette::{Result, miette};

use crate::args::HistoryChoice;
use crate::loaded::LoadedInstance;
use crate::output::complain;

pub use kinds::kinds;
#[cfg(feature = "service")]
pub use kinds::of_command;
pub use memory::Memory;
pub use needs::MemoryRoom;

/// The history of earlier runs, if one is used, and the place where commands run.
pub struct RunHistory {
    history: Option<History>,
    place: Place,
}

/// The host and folder in which commands run, and the command template of the user.
#[derive(Clone)]
struct Place {
    host: String,
    folder: String,
    template: Option<String>,
    pinning: Pinning,
}

impl Place {
    fn command(&self, words: &[String]) -> Command {
        let command = Command::new(words.to_vec());
        match &self.template {
            Some(template) => command.from_template(template),
            None => command,
        }
    }
}

/// An instance in which learned run times replace guesses for all tasks with records in the history.
pub struct TaughtInstance {
    pub loaded: LoadedInstance,
    /// True if any run time was learned, so that the instance differs from its file.
    pub learned: bool,
    /// Tasks that try an allotment for which the history has no record.
    trials: BTreeSet<TaskId>,
}

/// A task for which the history has records.
struct KnownTask {
    job: usize,
    number: usize,
    command: Command,
    processors: RangeInclusive<u32>,
    learned: LearnedTimes,
    /// True if the task is not part of a bag. All tasks of a bag share one entry, so a trial would affect all of them.
    single: bool,
}

impl KnownTask {
    fn candidate(&self) -> TrialCandidate<'_> {
        let Self { command, learned, processors, .. } = self;
        TrialCandidate { command, learned, processors: processors.clone() }
    }
}

impl RunHistory {
    /// Opens the history that the options name. `template` is the template of the commands, if any.
    pub fn open(choice: &HistoryChoice, template: Option<String>, pinning: Pinning) -> Self {
        let path = if choice.no_history { None } else { choice.history.clone().or_else(default_path) };
        let history = path.and_then(|path| History::open(&path).map_err(|error| give_up(&error)).ok());
        Self { history, place: Place { host: host(), folder: folder_here(), template, pinning } }
    }

    /// Opens an existing history from which to plan.
    pub fn read(file: &Path) -> Result<Self> {
        if !file.exists() {
            return Err(miette!("{}: there is no such history; `makespan run --history` creates it", file.display()));
        }
        let history = History::open_for_reading(file).map_err(|error| miette!("{error}"))?;
        let place = Place { host: host(), folder: folder_here(), template: None, pinning: Pinning::Stated };
        Ok(Self { history: Some(history), place })
    }

    /// Replaces guessed run times by times learned from the history.
    pub fn teach(&mut self, loaded: LoadedInstance) -> Result<TaughtInstance> {
        let untaught = |loaded| Ok(TaughtInstance { loaded, learned: false, trials: BTreeSet::new() });
        let Some(history) = self.history.as_ref().filter(|_| loaded.instance.has_guesses()) else {
            return untaught(loaded);
        };
        let mut jobs = loaded.instance.all_submitted();
        match self.place.learn(history, &mut jobs) {
            Ok(lesson) if lesson.remark.is_empty() => untaught(loaded),
            Ok(lesson) => lesson.applied(loaded, jobs),
            Err(error) => {
                give_up(&error);
                self.history = None;
                untaught(loaded)
            }
        }
    }

    #[cfg(feature = "service")]
    /// Replaces guessed run times of jobs by times learned from the history. With `room`, also replaces their memory.
    /// Prints nothing if this succeeds.
    pub fn learn(&self, jobs: Vec<Job>, room: Option<&MemoryRoom>) -> Vec<Job> {
        let jobs = self.with_learned_times(jobs);
        if let Some(room) = room { self.with_learned_memory(jobs, room) } else { jobs }
    }

    #[cfg(feature = "service")]
    fn with_learned_times(&self, mut jobs: Vec<Job>) -> Vec<Job> {
        let has_guesses = |job: &mut Job| job.work.tasks_mut().any(|task| task.estimate.is_guess());
        let Some(history) = self.history.as_ref().filter(|_| jobs.iter_mut().any(has_guesses)) else { return jobs };
        let mut learned = jobs.clone();
        match self.place.learn(history, &mut learned) {
            Ok(_) => learned,
            Err(error) => {
                complain(&format!("note: {error}; continuing without learned run times"));
                jobs
            }
        }
    }

    #[cfg(feature = "service")]
    /// Returns a recorder that adds all processes to the history. No process is marked as a trial.
    pub fn recorder(self) -> Memory {
        Memory::new(self.history.map(Recorder::new), self.place, BTreeSet::new())
    }

    /// Returns a recorder that adds the processes of a run to the history.
    pub fn memory(self, taught: &TaughtInstance) -> Memory {
        Memory::new(self.history.map(Recorder::new), self.place, taught.trials.clone())
    }
}

/// Prints a note that the history cannot be used. The command continues without a history.
fn give_up(error: &HistoryError) {
    complain(&format!("note: {error}; continuing without a history"));
}

/// The note about the learned times, and the tasks that try another allotment.
struct Lesson {
    remark: String,
    trials: Vec<(usize, usize)>,
}

impl Place {
    /// Replaces guessed times in the tasks of jobs by learned times.
    fn learn(&self, history: &History, jobs: &mut [Job]) -> Result<Lesson, HistoryError> {
        let known = self.known(history, jobs)?;
        let work = |known: &KnownTask| known.learned.profile.least_work(Time::MAX).unwrap_or(0) as f64 / 1e9;
        let exploration = Exploration::new(history, &self.host, known.iter().map(work).sum())?;
        let tried: Vec<&KnownTask> = known.iter().filter(|known| known.single).collect();
        let candidates: Vec<TrialCandidate<'_>> = tried.iter().map(|known| known.candidate()).collect();
        let chosen = exploration.choose(&candidates);
        for known in &known {
            let LearnedTimes { profile, runs, spread, .. } = &known.learned;
            let estimate = Estimate::Learned { runs: *runs, spread: *spread };
            put(jobs, known, profile.clone(), estimate);
        }
        for trial in &chosen {
            let known = tried[trial.candidate];
            let LearnedTimes { runs, spread, .. } = known.learned;
            put(jobs, known, trial.profile.clone(), Estimate::Learned { runs, spread });
        }
        let times: Vec<Time> = known.iter().map(|known| known.learned.profile.longest()).collect();
        if let Some(time) = typical(&times) {
            jobs.iter_mut().for_each(|job| guess(job, time));
        }
        let trials = chosen.iter().map(|trial| (tried[trial.candidate].job, tried[trial.candidate].number)).collect();
        let has_graphs = jobs.iter().any(|job| job.work.graph().is_some());
        let remark = remark(&known, chosen.len(), if has_graphs { "task" } else { "job" });
        Ok(Lesson { remark, trials })
    }

    /// Returns the tasks with guessed times for which the history has records.
    fn known(&self, history: &History, jobs: &mut [Job]) -> Result<Vec<KnownTask>, HistoryError> {
        let mut estimator = Estimator::new(history, self.host.as_str(), self.folder.as_str())?;
        let here = Path::new(&self.folder);
        let mut known = Vec::new();
        for (number_of_job, job) in jobs.iter_mut().enumerate() {
            let single = !matches!(job.work, Work::Bag(..));
            for (number, task) in job.work.tasks_mut().enumerate() {
                if !task.estimate.is_guess() || task.command.is_empty() || task.profile.machine_times().is_some() {
                    continue;
                }
                let command = if single { self.command(&task.command) } else { self.command(&any_of(&task.command)) };
                let processors = task.profile.min_processors()..=task.profile.max_processors();
                let inputs = command.input_bytes(here);
                let pinned = self.pinning.includes(task.assumes_one_core);
                let question = Question { command: &command, processors: processors.clone(), pinned, inputs };
                if let Some(learned) = estimator.estimate(&question)? {
                    known.push(KnownTask { job: number_of_job, number, command, processors, learned, single });
                }
            }
        }
        Ok(known)
    }
}

impl Lesson {
    /// Returns the instance with the learned times, and with a note about these times.
    fn applied(self, loaded: LoadedInstance, jobs: Vec<Job>) -> Result<TaughtInstance> {
        let platform = loaded.instance.platform().clone();
        let loaded = rebuilt(loaded, platform, jobs, self.remark)?;
        let id = |&(job, number): &(usize, usize)| loaded.instance.job(JobId(job as u32)).task(number as u32);
        let trials = self.trials.iter().map(id).collect();
        Ok(TaughtInstance { loaded, learned: true, trials })
    }
}

/// Returns an instance with these machines and jobs. Notes about the replaced times and amounts are made again, and
/// `remark` is added.
fn rebuilt(loaded: LoadedInstance, platform: Platform, jobs: Vec<Job>, remark: String) -> Result<LoadedInstance> {
    let LoadedInstance { instance: before, mut remarks, has_made_up_names } = loaded;
    let instance = Instance::new(platform, jobs, before.unavailable().to_vec()).map_err(|error| miette!("{error}"))?;
    let replaced: Vec<String> = before.notes().iter().map(|note| note.describe(&before)).collect();
    remarks.retain(|remark| !replaced.contains(remark));
    remarks.extend(instance.notes().iter().map(|note| note.describe(&instance)));
    remarks.push(remark);
    Ok(LoadedInstance { instance, remarks, has_made_up_names })
}

/// Returns the command of a bag's task, with a task number that does not occur in the bag. Every command of the bag is
/// similar to this command.
fn any_of(command: &[String]) -> Vec<String> {
    let number = u64::MAX.to_string();
    command.iter().map(|word| word.replace("{task}", &number)).collect()
}

fn put(jobs: &mut [Job], known: &KnownTask, profile: Profile, estimate: Estimate) {
    let job = &mut jobs[known.job];
    let walltime = job.walltime;
    if let Some(task) = job.work.tasks_mut().nth(known.number) {
        task.profile = within(profile, walltime);
        task.estimate = estimate;
    }
}

/// The reason why no bound is printed.
pub const NO_BOUND: &str = "no bound is stated, because some run times were learned from jobs that shared cores with \
                            other jobs; to pin all jobs to cores, add --pin";

/// Returns true if a run time was learned from runs that were not pinned to cores. Such a time depends on other jobs
/// on these cores, so no bound may be derived from it.
pub fn has_shared_times(instance: &Instance, pinning: Pinning) -> bool {
    let is_learned = |task: TaskId| matches!(instance.task(task).estimate, Estimate::Learned { .. });
    instance.different_task_ids().any(|task| is_learned(task) && !pinning.pins(instance, task))
}

/// Sets the run times of tasks without records to a typical time of the tasks with records.
fn guess(job: &mut Job, time: Time) {
    let walltime = job.walltime;
    for task in job.work.tasks_mut().filter(|task| task.estimate.is_guess() && task.profile.machine_times().is_none()) {
        let (fewest, most) = (task.profile.min_processors(), task.profile.max_processors());
        let guessed = match task.profile.speedup() {
            Some((_, law)) => {
                let alone = Time::from_seconds_f64(time.seconds() / law.time_fraction(fewest)).unwrap_or(time);
                Profile::law(alone, law, fewest, most)
            }
            None => Profile::rigid(fewest, time),
        };
        if let Ok(profile) = guessed {
            task.profile = within(profile, walltime);
        }
    }
}

/// Limits the times of a profile to the walltime. If the learned time is longer, the job is still accepted, because
/// this run may be faster.
fn within(profile: Profile, walltime: Option<Time>) -> Profile {
    let Some(walltime) = walltime.filter(|walltime| profile.longest() > *walltime) else { return profile };
    let fastest = profile.fastest();
    match profile.clone().within(walltime) {
        Some(kept) => kept,
        None => Profile::rigid(fastest, walltime).unwrap_or(profile),
    }
}

/// Describes in one sentence how many times were learned. Returns an empty text if there are none.
fn remark(known: &[KnownTask], trials: usize, word: &str) -> String {
    if known.is_empty() {
        return String::new();
    }
    let same = known.iter().filter(|known| known.learned.basis == Basis::Command).count();
    let tasks = |count: usize| counted(count, word);
    let mut text = format!("times of {} are learned from earlier runs of the same command", tasks(same));
    let alike = known.len() - same;
    if same == 0 {
        text = format!("times of {} are learned from earlier runs of similar commands", tasks(alike));
    } else if alike > 0 {
        text += &format!(", of {} from similar commands", tasks(alike));
    }
    if trials > 0 {
        let verb = if trials == 1 { "runs" } else { "run" };
        text += &format!("; {} {verb} on another number of processors to learn the speed-up", tasks(trials));
    }
    text
}
