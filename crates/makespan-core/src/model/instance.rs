//! The problem: machines, jobs, and when processors are unavailable.

mod compound;
mod error;
mod note;
mod walltime;

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::model::{Availability, Job, JobId, Platform, Precedence, ProcSet, Time, Unavailable};

pub use error::InstanceError;
pub use note::Note;

/// Most closed periods of all classes of equally available processors together.
const MAX_CLOSED: u64 = 1 << 22;

/// Machines and jobs, checked. Every job can run: its allotments are clipped to the platform and to its walltime.
#[derive(Clone, Debug)]
pub struct Instance {
    platform: Platform,
    jobs: Vec<Job>,
    unavailable: Vec<Unavailable>,
    availability: Availability,
    /// `None` where no job waits for another.
    precedence: Option<Arc<Precedence>>,
}

/// What remains of an instance at some instant of its execution.
#[derive(Clone, Debug)]
pub struct Residual {
    /// The waiting jobs, with the processors of running jobs unavailable until their expected end.
    pub instance: Instance,
    /// For each job of the residual instance its id in the original one.
    pub jobs: Vec<JobId>,
}

impl Instance {
    /// Checks and joins the parts. Allotments beyond the platform, and allotments on which a job would exceed its
    /// walltime, are left out.
    ///
    /// # Errors
    /// [`InstanceError`] names the job or period that is wrong.
    pub fn new(platform: Platform, jobs: Vec<Job>, unavailable: Vec<Unavailable>) -> Result<Self, InstanceError> {
        let mut names = FxHashSet::default();
        if let Some(job) = jobs.iter().find(|job| !names.insert(job.name.as_str())) {
            return Err(InstanceError::DuplicateName(job.name.clone()));
        }
        let classes = walltime::classes(&platform);
        let jobs = jobs.into_iter().map(|job| fitted(job, &platform, &classes)).collect::<Result<Vec<_>, _>>()?;
        check_periods(&unavailable, platform.processors())?;
        let availability = Availability::limited(platform.processors(), &unavailable, MAX_CLOSED)
            .ok_or(InstanceError::TooManyPeriods { most: MAX_CLOSED })?;
        let instance = Self { platform, jobs, unavailable, availability, precedence: None };
        // Half the range of Time is kept free, so that sums made by schedulers never saturate.
        if instance.horizon() >= i128::from(i64::MAX / 2) { Err(InstanceError::TooLong) } else { Ok(instance) }
    }

    pub(crate) fn joined(platform: Platform, jobs: Vec<Job>, unavailable: Vec<Unavailable>) -> Self {
        let availability = Availability::new(platform.processors(), &unavailable);
        Self { platform, jobs, unavailable, availability, precedence: None }
    }

    /// An instant, in ticks, by which any schedule that never idles without reason has ended: all jobs one after the
    /// other, or twice the larger of the mean load and the longest job (Garey and Graham), whichever is less. Where
    /// machines differ: all jobs one after the other, each on its fastest machine, or every job as soon as any machine is
    /// free, whichever is more.
    fn horizon(&self) -> i128 {
        let (slowest, fastest) = self.platform.speeds();
        let at = |time: Time, speed: f64, job: &Job| {
            let as_stated = self.platform.has_unit_speed() || job.profile().machine_times().is_some();
            let time = if as_stated { time } else { time.divided_by(speed) };
            i128::from(time.ticks())
        };
        let longest = |job: &Job| at(job.profile().longest(), slowest, job);
        let release = self.jobs.iter().map(|job| job.release).max().unwrap_or(Time::ZERO);
        // The tasks of a bag count one by one, and saturate where there are too many anyway.
        let all = |of: &dyn Fn(&Job) -> i128| {
            let each = self.jobs.iter().map(|job| of(job).saturating_mul(i128::from(job.tasks())));
            each.fold(0, i128::saturating_add)
        };
        let most = self.jobs.iter().map(longest).max().unwrap_or(0);
        let span = if self.has_equal_processors() {
            let load = all(&|job| job.profile().most_work());
            let greedy = (load / i128::from(self.processors()) + most).saturating_mul(2);
            all(&longest).min(greedy)
        } else {
            let load = all(&|job| longest(job) * i128::from(job.profile().max_processors()));
            let greedy = (load / i128::from(self.processors()) + most).saturating_mul(2);
            all(&|job| at(job.profile().shortest(), fastest, job)).max(greedy)
        };
        // Tasks that wait for each other may leave everything else idle.
        let span = if self.has_compound_jobs() { compound::horizon(&self.platform, &self.jobs) } else { span };
        let closed: i128 = self.unavailable.iter().map(|period| i128::from((period.end - period.start).ticks())).sum();
        let last = self.availability.last_change().max(release);
        span.saturating_add(closed + i128::from(last.ticks()))
    }

    /// The machines.
    pub fn platform(&self) -> &Platform {
        &self.platform
    }

    /// How many processors the platform has.
    pub fn processors(&self) -> u32 {
        self.platform.processors()
    }

    /// The jobs, in file order.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// One job.
    pub fn job(&self, id: JobId) -> &Job {
        &self.jobs[id.index()]
    }

    /// How long one task of a job is estimated to take on these processors: [`Instance::time`], of each task of a
    /// compound job for itself.
    ///
    /// # Panics
    /// When the task does not accept these processors ([`Instance::accepts_task`]), or a compound job has no such task.
    pub fn time_of(&self, id: JobId, task: u32, processors: &ProcSet) -> Time {
        let profile = self.job(id).profile_of(task);
        self.platform.time(profile, processors).expect("a task is timed only where it can run")
    }

    /// [`Instance::time_of`], or `None` where the task cannot run ([`Instance::accepts_task`]).
    ///
    /// # Panics
    /// When a compound job has no such task.
    pub fn try_time_of(&self, id: JobId, task: u32, processors: &ProcSet) -> Option<Time> {
        let job = self.job(id);
        let time = self.platform.time(job.profile_of(task), processors)?;
        (job.is_compound() || job.walltime.is_none_or(|walltime| time <= walltime)).then_some(time)
    }

    /// How long a job is estimated to take on these processors: the time of its profile, as the slowest of them has it,
    /// or its own time on this machine.
    ///
    /// # Panics
    /// When the job does not accept these processors ([`Instance::accepts`]).
    pub fn time(&self, id: JobId, processors: &ProcSet) -> Time {
        self.platform.time(self.job(id).profile(), processors).expect("a job is timed only where it can run")
    }

    /// Whether a job can run on these processors, as many and as fast as they are: it accepts their number, it has a time
    /// on the machine where times are its own, and its walltime is kept. Ids beyond the platform do not count.
    pub fn accepts(&self, id: JobId, processors: &ProcSet) -> bool {
        self.accepts_task(id, 0, processors)
    }

    /// [`Instance::accepts`], of each task of a compound job for itself; the walltime of a compound job is for all of them
    /// and is not looked at.
    ///
    /// # Panics
    /// When a compound job has no such task.
    pub fn accepts_task(&self, id: JobId, task: u32, processors: &ProcSet) -> bool {
        self.try_time_of(id, task, processors).is_some()
    }

    /// How long a sequential job takes on one processor of a node (by its position in the platform): its own time there,
    /// or its time over the speed of the node, rounded up to a tick. `None` when the job is not sequential, or cannot run
    /// there within its walltime. Of tasks of compound jobs [`Platform::time_on`] tells it.
    pub fn time_on(&self, id: JobId, node: usize) -> Option<Time> {
        let job = self.job(id);
        let time = self.platform.time_on(job.profile(), node)?;
        job.walltime.is_none_or(|walltime| time <= walltime).then_some(time)
    }

    /// Whether some job, or task of a compound job, has a time of its own on each machine: *unrelated* machines.
    pub fn has_machine_times(&self) -> bool {
        let own = |task: &crate::model::Task| task.profile.machine_times().is_some();
        self.jobs.iter().any(|job| match &job.graph {
            Some(graph) => graph.tasks().iter().any(|task| own(&task.task)),
            None => own(&job.task),
        })
    }

    /// Whether which processors a job has does not change its time, and no network is between them: what an algorithm
    /// needs that thinks in numbers of processors. Which sets a job may hold is another question:
    /// [`Platform::restricts_placement`].
    pub fn has_equal_processors(&self) -> bool {
        self.platform.is_homogeneous() && !self.has_machine_times()
    }

    /// Whether every job takes one processor, on whichever node: the instances of mapping algorithms, on *uniform*
    /// machines (a time is the same work over a speed) or unrelated ones.
    pub fn is_sequential(&self) -> bool {
        self.jobs.iter().all(|job| !job.is_compound() && job.profile().is_sequential())
    }

    /// All job ids, in file order.
    pub fn ids(&self) -> impl Iterator<Item = JobId> + use<> {
        (0..self.jobs.len() as u32).map(JobId)
    }

    /// Reservations and outages, as given.
    pub fn unavailable(&self) -> &[Unavailable] {
        &self.unavailable
    }

    /// Reservations and outages, grouped.
    pub fn availability(&self) -> &Availability {
        &self.availability
    }

    /// The earliest release date; zero without jobs.
    pub fn first_release(&self) -> Time {
        self.jobs.iter().map(|job| job.release).min().unwrap_or(Time::ZERO)
    }

    /// Whether some job is released after another.
    pub fn has_release_dates(&self) -> bool {
        let first = self.first_release();
        self.jobs.iter().any(|job| job.release > first)
    }

    /// Whether some job is a bag of tasks.
    pub fn has_bags(&self) -> bool {
        self.jobs.iter().any(Job::is_bag)
    }

    /// Whether some job is a graph of tasks.
    pub fn has_compound_jobs(&self) -> bool {
        self.jobs.iter().any(Job::is_compound)
    }

    /// How many tasks all jobs have together; a job that is neither bag nor compound has one.
    pub fn tasks(&self) -> u64 {
        self.jobs.iter().map(Job::tasks).fold(0, u64::saturating_add)
    }

    /// What the user should know about this instance.
    pub fn notes(&self) -> Vec<Note> {
        let mut dominated = self.ids().filter(|&id| self.job(id).profile().dominated() > 0).peekable();
        let Some(&example) = dominated.peek() else { return Vec::new() };
        let (jobs, allotments) = dominated
            .fold((0, 0), |(jobs, allotments), id| (jobs + 1, allotments + self.job(id).profile().dominated()));
        vec![Note::Dominated { jobs, allotments, example }]
    }

    /// Which jobs wait for which, where the tasks of compound jobs have become jobs ([`crate::Expansion`]); `None` where no
    /// job waits for another.
    pub fn precedence(&self) -> Option<&Precedence> {
        self.precedence.as_deref()
    }

    /// The same jobs, which are those that the precedence speaks of.
    pub(crate) fn with_precedence(self, precedence: Precedence) -> Self {
        Self { precedence: Some(Arc::new(precedence)), ..self }
    }

    /// Whether a job that waits for another may have to wait for its data as well: not where all processors are on one
    /// node, or nothing is carried.
    pub fn has_transfers(&self) -> bool {
        let dependences = self.precedence.iter().flat_map(|precedence| precedence.dependences());
        compound::takes_time(&self.platform, dependences.map(|dependence| dependence.load))
    }

    /// The same machines with other jobs, which must come from this instance. None of them waits for another.
    pub fn with_jobs(&self, jobs: Vec<Job>) -> Self {
        Self::joined(self.platform.clone(), jobs, self.unavailable.clone())
    }
}

/// `classes` are those of the platform.
fn fitted(job: Job, platform: &Platform, classes: &[walltime::Class]) -> Result<Job, InstanceError> {
    let processors = platform.processors();
    let needs = job.profile().min_processors();
    if job.is_compound() {
        return compound::fitted(job, platform);
    }
    let Job { name, weight, priority, release, walltime, mut task, count, graph, data } = job;
    check_row(&name, &task.profile, platform)?;
    task.profile = match task.profile.at_most(processors) {
        Some(profile) => profile,
        None => return Err(InstanceError::TooWide { job: name, needs, processors }),
    };
    if let Some(walltime) = walltime {
        task.profile = match walltime::kept(task.profile, walltime, platform, classes) {
            Ok(profile) => profile,
            Err(shortest) => return Err(InstanceError::Walltime { job: name, shortest, walltime }),
        };
    }
    Ok(Job { name, weight, priority, release, walltime, task, count, graph, data })
}

/// Whether the times on machines, if there are any, are those of this platform's nodes. `name` is the job's or the task's.
fn check_row(name: &str, profile: &crate::model::Profile, platform: &Platform) -> Result<(), InstanceError> {
    let Some(row) = profile.machine_times() else { return Ok(()) };
    let nodes = platform.node_count();
    if row.len() != nodes {
        return Err(InstanceError::MachineTimes { job: name.to_owned(), times: row.len(), nodes });
    }
    let nowhere = (0..nodes).all(|node| platform.time_on(profile, node).is_none());
    if nowhere { Err(InstanceError::Nowhere(name.to_owned())) } else { Ok(()) }
}

fn check_periods(unavailable: &[Unavailable], processors: u32) -> Result<(), InstanceError> {
    for (index, period) in unavailable.iter().enumerate() {
        let Some(processor) = period.processors.last() else { return Err(InstanceError::EmptyPeriod { index }) };
        if processor >= processors {
            return Err(InstanceError::UnknownProcessor { index, processor, last: processors - 1 });
        }
        if period.end <= period.start {
            return Err(InstanceError::EmptyPeriod { index });
        }
    }
    Ok(())
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests;
