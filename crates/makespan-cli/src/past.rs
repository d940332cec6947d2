//! What earlier runs teach of an instance, and what a run adds to the history.

mod kinds;
mod memory;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;

use makespan_core::{Estimate, Instance, Job, JobId, Profile, TaskId, Time, Work};
use makespan_exec::{Pinning, host};
use makespan_history::estimate::{Basis, Candidate, Estimator, Exploration, Learned, Question, typical};
use makespan_history::{Command, History, HistoryError, Recorder, default_path, folder_here};
use miette::{Result, miette};

use crate::args::HistoryChoice;
use crate::loaded::Loaded;
use crate::output::complain;

pub use kinds::kinds;
#[cfg(feature = "service")]
pub use kinds::of_command;
pub use memory::Memory;

/// The history that is read and written, if there is one.
pub struct Past {
    history: Option<History>,
    place: Place,
}

/// Where commands run, and the template of which the user made them.
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

/// An instance whose unknown times are learned as far as the history knows them.
pub struct Taught {
    pub loaded: Loaded,
    /// Whether anything was learned, so that the instance is not the one of its file any more.
    pub learned: bool,
    /// What runs on an allotment of which nothing is known.
    trials: BTreeSet<TaskId>,
}

/// A task of which something is known.
struct Known {
    job: usize,
    number: usize,
    command: Command,
    processors: RangeInclusive<u32>,
    learned: Learned,
    /// Whether there is one of it: a trial of a bag would be one of all its tasks.
    single: bool,
}

impl Known {
    fn candidate(&self) -> Candidate<'_> {
        let Self { command, learned, processors, .. } = self;
        Candidate { command, learned, processors: processors.clone() }
    }
}

impl Past {
    /// The history that the options name, for commands that are made of this template if any.
    pub fn open(choice: &HistoryChoice, template: Option<String>, pinning: Pinning) -> Self {
        let path = if choice.no_history { None } else { choice.history.clone().or_else(default_path) };
        let history = path.and_then(|path| History::open(&path).map_err(|error| give_up(&error)).ok());
        Self { history, place: Place { host: host(), folder: folder_here(), template, pinning } }
    }

    /// A history that a plan is made from, which must be there.
    pub fn read(file: &Path) -> Result<Self> {
        if !file.exists() {
            return Err(miette!("{}: there is no such history; `makespan run --history` begins it", file.display()));
        }
        let history = History::open(file).map_err(|error| miette!("{error}"))?;
        let place = Place { host: host(), folder: folder_here(), template: None, pinning: Pinning::Stated };
        Ok(Self { history: Some(history), place })
    }

    /// Replaces guesses by what the history knows.
    pub fn teach(&mut self, loaded: Loaded) -> Result<Taught> {
        let untaught = |loaded| Ok(Taught { loaded, learned: false, trials: BTreeSet::new() });
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
    /// Puts what the history knows in the place of guesses, and says nothing of it.
    pub fn learn(&self, mut jobs: Vec<Job>) -> Vec<Job> {
        let has_guesses = |job: &mut Job| job.work.tasks_mut().any(|task| task.estimate.is_guess());
        let Some(history) = self.history.as_ref().filter(|_| jobs.iter_mut().any(has_guesses)) else { return jobs };
        let mut learned = jobs.clone();
        match self.place.learn(history, &mut learned) {
            Ok(_) => learned,
            Err(error) => {
                complain(&format!("note: {error}; going on without what the history knows"));
                jobs
            }
        }
    }

    #[cfg(feature = "service")]
    /// What adds to the history what runs, whatever was learned.
    pub fn recorder(self) -> Memory {
        Memory::new(self.history.map(Recorder::new), self.place, BTreeSet::new())
    }

    /// What adds to the history what runs.
    pub fn memory(self, taught: &Taught) -> Memory {
        Memory::new(self.history.map(Recorder::new), self.place, taught.trials.clone())
    }
}

/// Says once that there is no history. What was asked for goes on.
fn give_up(error: &HistoryError) {
    complain(&format!("note: {error}; going on without a history"));
}

/// What was learned, in words, and which tasks are tried on another allotment.
struct Lesson {
    remark: String,
    trials: Vec<(usize, usize)>,
}

impl Place {
    /// Puts learned times into the tasks of jobs.
    fn learn(&self, history: &History, jobs: &mut [Job]) -> Result<Lesson, HistoryError> {
        let known = self.known(history, jobs)?;
        let work = |known: &Known| known.learned.profile.least_work(Time::MAX).unwrap_or(0) as f64 / 1e9;
        let exploration = Exploration::new(history, &self.host, known.iter().map(work).sum())?;
        let tried: Vec<&Known> = known.iter().filter(|known| known.single).collect();
        let candidates: Vec<Candidate<'_>> = tried.iter().map(|known| known.candidate()).collect();
        let chosen = exploration.choose(&candidates);
        for known in &known {
            let Learned { profile, runs, spread, .. } = &known.learned;
            let estimate = Estimate::Learned { runs: *runs, spread: *spread };
            put(jobs, known, profile.clone(), estimate);
        }
        for trial in &chosen {
            let known = tried[trial.candidate];
            let Learned { runs, spread, .. } = known.learned;
            put(jobs, known, trial.profile.clone(), Estimate::Learned { runs, spread });
        }
        let times: Vec<Time> = known.iter().map(|known| known.learned.profile.longest()).collect();
        if let Some(time) = typical(&times) {
            jobs.iter_mut().for_each(|job| guess(job, time));
        }
        let trials = chosen.iter().map(|trial| (tried[trial.candidate].job, tried[trial.candidate].number)).collect();
        Ok(Lesson { remark: remark(&known, chosen.len()), trials })
    }

    /// The tasks whose times are guesses and of which the history knows something.
    fn known(&self, history: &History, jobs: &mut [Job]) -> Result<Vec<Known>, HistoryError> {
        let mut estimator = Estimator::new(history, self.host.as_str(), self.folder.as_str());
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
                let pinned = self.pinning == Pinning::All || !task.assumes_one_core;
                let question = Question { command: &command, processors: processors.clone(), pinned, inputs };
                if let Some(learned) = estimator.estimate(&question)? {
                    known.push(Known { job: number_of_job, number, command, processors, learned, single });
                }
            }
        }
        Ok(known)
    }
}

impl Lesson {
    /// The instance of the jobs, with a remark that says what was learned.
    fn applied(self, loaded: Loaded, jobs: Vec<Job>) -> Result<Taught> {
        let Loaded { instance: guessed, mut remarks, has_made_up_names } = loaded;
        let (platform, closed) = (guessed.platform().clone(), guessed.unavailable().to_vec());
        let instance = Instance::new(platform, jobs, closed).map_err(|error| miette!("{error}"))?;
        // What was said of guesses may not be true any more.
        let before: Vec<String> = guessed.notes().iter().map(|note| note.describe(&guessed)).collect();
        remarks.retain(|remark| !before.contains(remark));
        remarks.extend(instance.notes().iter().map(|note| note.describe(&instance)));
        remarks.push(self.remark);
        let id = |&(job, number): &(usize, usize)| instance.job(JobId(job as u32)).task(number as u32);
        let trials = self.trials.iter().map(id).collect();
        Ok(Taught { loaded: Loaded { instance, remarks, has_made_up_names }, learned: true, trials })
    }
}

/// The command of a task of a bag that is none of those that ran: what it is like is known from all of them.
fn any_of(command: &[String]) -> Vec<String> {
    let number = u64::MAX.to_string();
    command.iter().map(|word| word.replace("{task}", &number)).collect()
}

fn put(jobs: &mut [Job], known: &Known, profile: Profile, estimate: Estimate) {
    let job = &mut jobs[known.job];
    let walltime = job.walltime;
    if let Some(task) = job.work.tasks_mut().nth(known.number) {
        task.profile = within(profile, walltime);
        task.estimate = estimate;
    }
}

/// Why no bound is stated.
pub const NO_BOUND: &str = "no bound is stated, because some run times were learned from jobs that shared cores with others; --pin pins all jobs";

/// Returns whether some learned times are of tasks that are not pinned. Such a time depends on the jobs beside it, so it orders
/// starts, and no bound is stated.
pub fn has_shared_times(instance: &Instance, pinning: Pinning) -> bool {
    let is_learned = |task: TaskId| matches!(instance.task(task).estimate, Estimate::Learned { .. });
    instance.different_task_ids().any(|task| is_learned(task) && !pinning.pins(instance, task))
}

/// Tasks of which nothing is known are guessed to take as long as what is known of the others.
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

/// A profile that keeps the walltime: what was learned is no reason to refuse a job, which may be faster this time.
fn within(profile: Profile, walltime: Option<Time>) -> Profile {
    let Some(walltime) = walltime.filter(|walltime| profile.longest() > *walltime) else { return profile };
    let fastest = profile.fastest();
    match profile.clone().within(walltime) {
        Some(kept) => kept,
        None => Profile::rigid(fastest, walltime).unwrap_or(profile),
    }
}

/// What was learned, in one sentence; empty if nothing was.
fn remark(known: &[Known], trials: usize) -> String {
    if known.is_empty() {
        return String::new();
    }
    let same = known.iter().filter(|known| known.learned.basis == Basis::Command).count();
    let tasks = |count: usize| format!("{count} task{}", if count == 1 { "" } else { "s" });
    let mut text = format!("times of {} are learned from earlier runs of the same command", tasks(same));
    let alike = known.len() - same;
    if same == 0 {
        text = format!("times of {} are learned from earlier runs of commands like theirs", tasks(alike));
    } else if alike > 0 {
        text += &format!(", of {} from commands like theirs", tasks(alike));
    }
    if trials > 0 {
        let verb = if trials == 1 { "runs" } else { "run" };
        text += &format!("; {} {verb} on another number of processors to learn the speed-up", tasks(trials));
    }
    text
}
