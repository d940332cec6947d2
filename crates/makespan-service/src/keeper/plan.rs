//! Plans the waiting tasks of a snapshot of the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use makespan::Planner;
use makespan_core::{Instance, Objective, Schedule, TaskId, Time, Weight};

use super::behind::behind;
use super::outlook::{ClosedPeriod, ExpectedTask, Outlook, Owner, PlanInput, PlanState, Runs, by_job};
use super::owners::Owners;
use super::promise::Promise;
use super::quota::{ProcessorLimits, ProcessorUse, with_limits};
use super::shared::Snapshot;
use crate::prepare::job_of;
use crate::redact::job_of_name;
use crate::store::PendingRow;
use crate::words::{BoundPicture, JobNumber};

/// Maximum number of changes that the search for a plan tries. A limited number of changes instead of a limited time
/// makes plans of equal queues equal.
const STEPS: u64 = 10_000;
/// Maximum product of the number of tasks and the number of changes. Such a search takes about a tenth of a second.
const WORK: u64 = 2_000_000;
/// Minimum number of changes.
const FEWEST_STEPS: u64 = 100;
/// Like [`WORK`], for a search with quotas, other resources or dependencies: the maximum product of the square of the
/// number of tasks and the number of changes. A change of this search makes several schedules.
const WORK_OF_LISTS: u64 = 100_000_000;
/// Like [`FEWEST_STEPS`], for a search with quotas, other resources or dependencies.
const FEWEST_LISTS: u64 = 20;

/// Plans an instance with a fast algorithm. Returns the schedule and bounds on its objectives.
pub(super) fn planned(instance: &Instance) -> Result<(Schedule, Vec<makespan::Bound>), String> {
    planned_within(instance, steps(instance))
}

/// Returns the maximum number of changes that the search for a plan tries.
fn steps(instance: &Instance) -> u64 {
    let tasks = instance.tasks().max(1);
    if instance.has_demands() || instance.has_edges_between_jobs() {
        (WORK_OF_LISTS / tasks.saturating_mul(tasks)).clamp(FEWEST_LISTS, STEPS)
    } else {
        (WORK / tasks).clamp(FEWEST_STEPS, STEPS)
    }
}

/// Like [`planned`], with a given maximum number of changes that the search tries.
pub(super) fn planned_within(instance: &Instance, steps: u64) -> Result<(Schedule, Vec<makespan::Bound>), String> {
    if instance.tasks() == 0 {
        return Ok((Schedule::new(Vec::new()), Vec::new()));
    }
    let spec = makespan::algorithm_of_steps(instance, steps);
    let mut planned = Planner::new().algorithm(spec).plan(instance).map_err(|error| error.to_string())?;
    let bounds = std::mem::take(&mut planned.bounds);
    Ok((planned.into_schedule().map_err(|error| error.to_string())?, bounds))
}

/// Returns the bounds of a plan, with the values of the plan. Times are counted from `now`.
fn pictured(instance: &Instance, schedule: &Schedule, bounds: &[makespan::Bound], now: Time) -> Vec<BoundPicture> {
    let one = |bound: &makespan::Bound| {
        let weights = || instance.task_ids().map(|task| i128::from(instance.weight(task).millionths())).sum::<i128>();
        let (name, unit, before) = match bound.objective {
            Objective::Makespan => ("makespan", 1e9, i128::from(now.ticks())),
            Objective::WeightedCompletion => ("weighted_completion", 1e15, weights() * i128::from(now.ticks())),
            _ => return None,
        };
        let value = bound.objective.value(instance, schedule);
        let (plan, least) = ((value - before) as f64 / unit, (bound.value.integer() - before).max(0) as f64 / unit);
        let condition = instance.condition().trim();
        Some(BoundPicture {
            objective: name.into(),
            plan,
            bound: least,
            ratio: (least > 0.0).then(|| plan / least),
            proof: bound.proof.words().into(),
            conditions: (!condition.is_empty()).then(|| condition.to_owned()).into_iter().collect(),
        })
    };
    bounds.iter().filter_map(one).collect()
}

/// The data from which a plan is made.
pub(super) struct PlanBasis<'a> {
    pub snapshot: &'a Snapshot,
    pub includes: PlanInput,
    pub closed: Vec<ClosedPeriod>,
    /// The jobs that wait for other jobs or for their earliest start.
    pub pending: Vec<PendingRow>,
    pub limits: ProcessorLimits,
    pub promise: Option<Promise>,
}

/// Like [`planned`], but keeps a promise if it is possible.
fn planned_by(instance: &Instance, promise: Option<Promise>) -> Result<(Schedule, Vec<makespan::Bound>), String> {
    let (schedule, bounds) = planned(instance)?;
    let late = promise.and_then(|promise| Some((promise, promise.start(instance, &schedule)?)));
    if let Some((promise, start)) = late.filter(|(promise, start)| *start > promise.latest) {
        let (other, _) = planned(&promise.urgent(instance)?)?;
        if promise.start(instance, &other).is_some_and(|other| other < start) {
            return Ok((other, bounds));
        }
    }
    Ok((schedule, bounds))
}

impl PlanBasis<'_> {
    /// Plans the waiting tasks.
    pub fn outlook(self, owners: &Mutex<Owners>) -> Result<Outlook, String> {
        Arc::new(self.state(owners)).outlook(Vec::new())
    }

    /// Returns the state in which the running and waiting tasks have their jobs and users.
    fn state(self, owners: &Mutex<Owners>) -> PlanState {
        let Self { snapshot, includes, closed, mut pending, limits, promise } = self;
        let Snapshot { origin, now, part, running, .. } = snapshot;
        let owners = owners.lock().unwrap_or_else(PoisonError::into_inner);
        let running = running.iter().filter_map(|(run, ahead)| {
            let (owned, task) = owners.of(run.task)?;
            let (user, processors, start) = (owned.user.clone(), run.processors.len(), origin + run.start.seconds());
            let (length, is_known) = ahead.length(*now - run.start);
            let longer_than = (!is_known).then(|| ahead.expected.seconds());
            let (end, place) = (start + length.seconds(), run.processors.clone());
            let latest = ahead.walltime.map(|walltime| start + walltime.seconds());
            let uses = ProcessorUse { user: user.clone(), processors, until: run.start + length };
            let job = owned.job;
            let resources = snapshot.resources.get(&run.task).cloned().unwrap_or_default();
            let runs =
                Runs { job, user, task, processors, place, resources, start, end, longer_than, latest, spread: 0.3 };
            Some((runs, uses))
        });
        let (running, uses): (Vec<Runs>, Vec<ProcessorUse>) = running.unzip();
        let waiting = part.tasks.iter().map(|&task| {
            let (owned, task) = owners.of(task)?;
            Some(Owner { job: owned.job, task, title: owned.title.clone(), user: owned.user.clone() })
        });
        let waiting: Vec<Option<Owner>> = waiting.collect();
        drop(owners);
        let received: BTreeSet<JobNumber> = waiting.iter().flatten().map(|owner| owner.job).collect();
        pending.retain(|row| !received.contains(&row.job));
        PlanState {
            origin: *origin,
            now: *now,
            includes,
            received: part.instance.clone(),
            owners: waiting,
            pending,
            running,
            uses,
            limits,
            closed,
            promise,
        }
    }
}

impl PlanState {
    /// Plans the waiting tasks and the jobs `new`, which are not submitted.
    pub fn outlook(self: &Arc<Self>, new: Vec<PendingRow>) -> Result<Outlook, String> {
        let Self { origin, now, running, limits, uses, .. } = &**self;
        // The engine receives a job that waits for nothing at once, so such a job precedes the pending jobs. The order of
        // the jobs decides ties.
        let waits = |row: &PendingRow| row.begin.is_some() || !row.after.is_empty();
        let (deferred, direct): (Vec<PendingRow>, Vec<PendingRow>) = new.into_iter().partition(waits);
        let pending: Vec<&PendingRow> = direct.iter().chain(&self.pending).chain(&deferred).collect();
        let mut tasks = self.owners.clone();
        let instance = with_pending(self.received.clone(), &pending, running, (*origin, *now), &mut tasks)?;
        let instance = with_limits(instance, &mut tasks, |owner| Some(owner.as_ref()?.user.as_str()), uses, limits)?;
        let (schedule, bounds) = planned_by(&instance, self.promise)?;
        let rows: BTreeMap<JobNumber, &PendingRow> = pending.iter().map(|&row| (row.job, row)).collect();
        let expected = schedule.placements().iter().filter_map(|at| {
            let Owner { job, task, title, user } = tasks.get(at.task.index())?.clone()?;
            let row = rows.get(&job);
            Some(ExpectedTask {
                job,
                task,
                title,
                user,
                start: origin + at.start.seconds(),
                end: origin + at.end.seconds(),
                slot: (at.start, at.end),
                processors: at.processors.clone(),
                spread: spread(&instance, at.task),
                begin: row.and_then(|row| row.begin),
                after: row.map_or_else(Vec::new, |row| row.after.clone()),
                behind: None,
            })
        });
        let mut expected: Vec<ExpectedTask> = expected.collect();
        expected.sort_by(|one, other| one.start.total_cmp(&other.start));
        let causes = behind(&expected, running, instance.platform().processors());
        expected.iter_mut().zip(causes).for_each(|(one, cause)| one.behind = cause);
        let jobs = by_job(&expected, running);
        let bounds = pictured(&instance, &schedule, &bounds, *now);
        Ok(Outlook { state: Arc::clone(self), instance, expected, jobs, bounds })
    }
}

/// Adds the pending jobs to an instance. Each pending job starts after `now`, after its earliest start and after the
/// jobs for which it waits.
fn with_pending(
    instance: Instance,
    pending: &[&PendingRow],
    running: &[Runs],
    (origin, now): (f64, Time),
    tasks: &mut Vec<Option<Owner>>,
) -> Result<Instance, String> {
    if pending.is_empty() {
        return Ok(instance);
    }
    let mut jobs = instance.all_submitted();
    let mut names: BTreeMap<JobNumber, Vec<Box<str>>> = BTreeMap::new();
    for job in &jobs {
        if let Some(number) = job_of_name(&job.name) {
            names.entry(number).or_default().push(job.name.as_str().into());
        }
    }
    for row in pending {
        let mut job = job_of(&row.spec, instance.platform())?;
        job.name = row.job.to_string();
        job.weight = Weight::from_millionths((row.weight * 1e6).round() as u64).map_err(|error| error.to_string())?;
        let first = running.iter().filter(|runs| row.after.contains(&runs.job)).map(|runs| runs.end);
        let earliest = first.chain(row.begin).fold(origin, f64::max);
        job.release = Time::from_ticks(((earliest - origin) * 1e9) as i64).max(now);
        job.after = row.after.iter().filter_map(|job| names.get(job)).flatten().map(|name| (&**name).into()).collect();
        names.insert(row.job, vec![job.name.as_str().into()]);
        let owner = |task| Owner { job: row.job, task, title: row.title.clone(), user: row.user.clone() };
        tasks.extend((0..job.work.tasks()).map(|task| Some(owner(task))));
        jobs.push(job);
    }
    Ok(instance.with_jobs(jobs))
}

/// Returns the spread of the run time of a task: the standard deviation of the logarithm of the run time. The spread
/// is small for a stated time and large for a guess. For a learned time, it is the spread of the runs from which the
/// time was learned.
fn spread(instance: &Instance, task: TaskId) -> f64 {
    match instance.task(task).estimate {
        makespan_core::Estimate::Stated => 0.1,
        makespan_core::Estimate::Learned { spread, .. } => spread.clamp(0.02, 2.0),
        makespan_core::Estimate::Guessed => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use makespan_core::{EndedTasks, Job, Platform, ProcSet, Profile, Running, TaskSet, Unavailable, View};
    use proptest::prelude::*;

    use super::super::ahead::LengthPredictor;
    use super::super::future::{StartRange, range};
    use super::super::owners::tests::handed;
    use super::*;
    use crate::prepare::spec;
    use crate::store::HandedJob;

    const PROCESSORS: u32 = 4;
    const USERS: [&str; 3] = ["ann", "bob", "carol"];
    /// The instant at which the run began, in seconds since 1970.
    const ORIGIN: f64 = 1.7e9 + 0.1;
    /// The instant of the plan, in seconds after `ORIGIN`.
    const NOW: i64 = 100;

    fn seconds(count: i64) -> Time {
        Time::from_seconds(count)
    }

    fn job(number: usize, width: u32, length: i64) -> Job {
        Job::new(number.to_string(), Profile::rigid(width, seconds(length)).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        /// Plans random queues of users with quotas, with reservations, and with running jobs, some of which take longer
        /// than expected. Checks that no expected start is in the past, and that each waiting job has a range that
        /// includes its expected start, also some time after the plan was made. Checks that a job that is not submitted has
        /// the plan and the range that it would have after its submission.
        #[test]
        fn expected_starts_are_in_their_ranges(
            running in proptest::collection::vec((1_u32..3, 1_i64..30, 0_usize..3, 0_i64..30, proptest::option::of(0_i64..20)), 0..4),
            longer in proptest::collection::vec(1_i64..60, 0..3),
            waiting in proptest::collection::vec((1_u32..=4, 1_i64..9, 0_usize..3, 1_u64..3, 1_u64..4), 1..8),
            pending in proptest::collection::vec((1_u32..=4, 1_i64..9, 0_usize..3, proptest::option::of(-5_i64..20), proptest::option::of(0_usize..12)), 0..4),
            limits in proptest::collection::vec(proptest::option::of(1_u32..=4), 3),
            reservations in proptest::collection::vec((-10_i64..30, 1_i64..30, 0_u32..4, 1_u32..=4), 0..3),
            later in 0_i64..40,
        ) {
            let now = seconds(NOW);
            let (mut owners, mut jobs, mut runs, mut used) = (Owners::default(), Vec::new(), Vec::new(), 0);
            let lengths: Vec<Time> = { let mut longer = longer; longer.sort_unstable(); longer.into_iter().map(seconds).collect() };
            for (width, length, user, elapsed, more) in running {
                if used + width <= PROCESSORS {
                    owners.push(&handed(jobs.len(), USERS[user]));
                    let processors = ProcSet::range(used, used + width - 1);
                    let run = Running { task: TaskId(jobs.len() as u64), start: seconds(NOW - elapsed), processors };
                    let walltime = more.map(|more| seconds(elapsed + more));
                    runs.push((run, LengthPredictor { expected: seconds(length), walltime, lengths: lengths.clone() }));
                    jobs.push(job(jobs.len() + 1, width, length));
                    used += width;
                }
            }
            for (width, length, user, tasks, weight) in waiting {
                owners.push(&HandedJob { tasks, ..handed(jobs.len(), USERS[user]) });
                let weight = Weight::from_millionths(weight * 1_000_000).unwrap();
                jobs.push(Job { weight, ..job(jobs.len() + 1, width, length).with_count(tasks.try_into().unwrap()) });
            }
            let platform = Platform::flat(PROCESSORS).unwrap();
            let first = jobs.len();
            let pending = pending.into_iter().enumerate().map(|(at, (width, length, user, begin, after))| PendingRow {
                job: JobNumber((first + at + 1) as u64),
                title: String::new(),
                user: USERS[user].into(),
                spec: spec(job(first + at + 1, width, length), &platform).unwrap(),
                weight: 1.0,
                begin: begin.map(|begin| ORIGIN + (NOW + begin) as f64),
                after: after.map(|before| JobNumber((before % (first + at) + 1) as u64)).into_iter().collect(),
            });
            let mut pending: Vec<PendingRow> = pending.collect();
            let period = |(start, length, first, width): (i64, i64, u32, u32)| Unavailable {
                start: seconds(NOW + start),
                end: seconds(NOW + start + length),
                processors: ProcSet::range(first, (first + width).min(PROCESSORS) - 1),
            };
            let periods: Vec<Unavailable> = reservations.into_iter().map(period).collect();
            let closed = periods.iter().filter(|one| one.end > now).map(|one| ClosedPeriod {
                reservation: Some("demo".into()),
                start: ORIGIN + one.start.seconds(),
                end: ORIGIN + one.end.seconds(),
                processors: one.processors.clone(),
            });
            let closed: Vec<ClosedPeriod> = closed.collect();
            let instance = Instance::new(platform, jobs, periods).unwrap();
            let waiting: TaskSet = instance.task_ids().skip(runs.len()).collect();
            let all: Vec<Running> = runs.iter().map(|(run, _)| run.clone()).collect();
            let (free, ended) = (ProcSet::new(), EndedTasks::default());
            let view = View { now, instance: &instance, waiting: &waiting, running: &all, free: &free, down: &[], ended };
            let end = |run: &Running| run.start + runs[run.task.index()].1.length(now - run.start).0;
            let part = instance.residual_until(&view, Time::MAX, &end);
            let tasks = instance.tasks();
            let snapshot =
                Snapshot { origin: ORIGIN, now, part, request: 0, tasks, running: runs.clone(), resources: BTreeMap::new(), left_out: 0, down: Vec::new(), changes: 0 };
            let limits: ProcessorLimits = USERS.iter().zip(limits).filter_map(|(user, limit)| Some(((*user).to_owned(), limit?))).collect();
            let owners = Mutex::new(owners);
            let basis = |pending: &[PendingRow]| PlanBasis {
                snapshot: &snapshot, includes: PlanInput::default(), closed: closed.clone(), pending: pending.to_vec(), limits: limits.clone(), promise: None,
            };
            if pending.last().is_some_and(|row| row.begin.is_none() && row.after.is_empty()) {
                pending.rotate_right(1);
            }
            let outlook = basis(&pending).outlook(&owners).unwrap();
            let begun = ORIGIN + now.seconds();
            prop_assert!(outlook.expected.iter().all(|one| one.start >= begun), "{:?}", outlook.expected);
            if let Some(at) = pending.iter().position(|row| row.job.0 as usize == first + pending.len()) {
                let new = pending.remove(at);
                let tried = basis(&pending).outlook(&owners).unwrap().state.outlook(vec![new.clone()]).unwrap();
                prop_assert_eq!(format!("{:?}", outlook.expected), format!("{:?}", tried.expected));
                let found = |outlook: &Outlook| range(outlook, new.job, None, begun);
                prop_assert_eq!(found(&outlook), found(&tried));
            }
            for instant in [begun, begun + later as f64] {
                for &job in outlook.jobs.keys() {
                    let start = outlook.of_waiting(job, instant).unwrap().start;
                    let found = range(&outlook, job, start, instant);
                    let is_in = |found: StartRange| {
                        instant <= found.early && found.early <= found.start && found.start <= found.late && start.is_none_or(|start| found.start.total_cmp(&start).is_eq())
                    };
                    prop_assert!(found.is_some_and(is_in), "{job:?}: {start:?} {found:?}");
                }
            }
        }
    }
}
