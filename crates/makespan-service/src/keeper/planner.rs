//! The thread that plans for those who look: what starts when, and how far that is from the best possible.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use makespan::Planner;
use makespan_core::{Instance, Objective, ProcSet, Schedule, TaskId, Time};

use super::shared::{Shared, Snapshot};
use crate::store::{Reader, wall};
use crate::words::{BoundPicture, BoxPicture, JobNumber, NodePicture, Picture, State};

/// Between two looks at the engine.
const PAUSE: Duration = Duration::from_millis(300);
/// A plan is made again at the latest after so long, though nothing has happened.
const LONGEST: Duration = Duration::from_secs(10);
/// Planning takes at most this share of one core: the others are for jobs.
const SHARE: u32 = 20;
/// Most boxes of the past.
const PAST: usize = 2000;

/// A task that waits, in a plan.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    pub job: JobNumber,
    pub task: u64,
    pub title: String,
    pub user: String,
    /// Seconds after 1970.
    pub start: f64,
    pub end: f64,
    pub processors: ProcSet,
    /// How much its time may differ: the standard deviation of the logarithm.
    pub spread: f64,
}

/// What is expected of the engine.
#[derive(Debug)]
pub(super) struct Outlook {
    pub origin: f64,
    pub now: Time,
    /// What waits beside what runs.
    pub instance: Instance,
    /// By their start.
    pub expected: Vec<Expected>,
    /// What runs: its job, its processors, when it is expected to end, and how much that may differ.
    pub running: Vec<(JobNumber, u32, f64, f64)>,
    /// By job: its first start and its last end.
    pub jobs: BTreeMap<JobNumber, (f64, f64)>,
    pub bounds: Vec<BoundPicture>,
}

/// A plan of what waits by a rule that takes little time, and its bounds.
pub(super) fn planned(instance: &Instance) -> Result<(Schedule, Vec<makespan_core::Bound>), String> {
    if instance.tasks() == 0 {
        return Ok((Schedule::new(Vec::new()), Vec::new()));
    }
    let spec = makespan::algorithm_of_run(instance);
    let mut planned = Planner::new().algorithm(spec).plan(instance).map_err(|error| error.to_string())?;
    let bounds = std::mem::take(&mut planned.bounds);
    Ok((planned.into_schedule().map_err(|error| error.to_string())?, bounds))
}

/// The bounds of a plan, counted from now.
pub(super) fn pictured(
    instance: &Instance,
    schedule: &Schedule,
    bounds: &[makespan_core::Bound],
    now: Time,
) -> Vec<BoundPicture> {
    let one = |bound: &makespan_core::Bound| {
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
            proof: bound.proof.name().into(),
            conditions: (!condition.is_empty()).then(|| condition.to_owned()).into_iter().collect(),
        })
    };
    bounds.iter().filter_map(one).collect()
}

/// The thread.
pub(super) struct Drawer {
    pub shared: Arc<Shared>,
    pub snapshots: Receiver<Snapshot>,
    pub outlook: Arc<Mutex<Option<Arc<Outlook>>>>,
}

impl Drawer {
    /// Plans until the service ends.
    pub fn run(self) {
        let (mut last, mut changes, mut version) = (None::<Instant>, (0, 0), 0);
        let mut rest = Duration::ZERO;
        while !self.shared.is_closing() {
            self.rest(PAUSE.max(rest));
            *self.shared.wanted.lock().unwrap_or_else(PoisonError::into_inner) = true;
            let Ok(snapshot) = self.snapshots.recv_timeout(PAUSE) else { continue };
            let is_old = last.is_none_or(|last| last.elapsed() > LONGEST);
            // Jobs that are held never come to the engine.
            let now = (snapshot.changes, self.shared.wait(u64::MAX, Duration::ZERO));
            if now == changes && !is_old {
                rest = Duration::ZERO;
                continue;
            }
            changes = now;
            let begun = Instant::now();
            version += 1;
            self.draw(&snapshot, version);
            rest = begun.elapsed() * SHARE;
            rest = rest.min(LONGEST);
            last = Some(Instant::now());
        }
    }

    /// Sleeps, unless the service ends.
    fn rest(&self, rest: Duration) {
        let end = Instant::now() + rest;
        while !self.shared.is_closing() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    fn draw(&self, snapshot: &Snapshot, version: u64) {
        let begun = Instant::now();
        let outlook = self.outlook_of(snapshot);
        let picture = self.picture(snapshot, outlook.as_ref().ok(), version, begun.elapsed());
        if let Err(error) = &outlook {
            self.shared.note(&format!("no plan can be shown: {error}"));
        }
        *self.outlook.lock().unwrap_or_else(PoisonError::into_inner) = outlook.ok().map(Arc::new);
        *self.shared.picture.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(picture);
    }

    fn outlook_of(&self, snapshot: &Snapshot) -> Result<Outlook, String> {
        let Snapshot { origin, now, part, running, .. } = snapshot;
        let instance = &part.instance;
        let (schedule, bounds) = planned(instance)?;
        let owners = self.shared.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let mut expected: Vec<Expected> = schedule
            .placements()
            .iter()
            .filter_map(|at| {
                let (owned, task) = owners.of(part.tasks[at.task.index()])?;
                Some(Expected {
                    job: owned.job,
                    task,
                    title: owned.title.clone(),
                    user: owned.user.clone(),
                    start: origin + at.start.seconds(),
                    end: origin + at.end.seconds(),
                    processors: at.processors.clone(),
                    spread: spread(instance, at.task),
                })
            })
            .collect();
        expected.sort_by(|one, other| one.start.total_cmp(&other.start));
        let mut jobs: BTreeMap<JobNumber, (f64, f64)> = BTreeMap::new();
        for one in &expected {
            let of_job = jobs.entry(one.job).or_insert((one.start, one.end));
            *of_job = (of_job.0.min(one.start), of_job.1.max(one.end));
        }
        let running = running.iter().filter_map(|(run, end)| {
            let (owned, _) = owners.of(run.task)?;
            Some((owned.job, run.processors.len(), origin + end.seconds(), 0.3))
        });
        let running = running.collect();
        drop(owners);
        let bounds = pictured(instance, &schedule, &bounds, *now);
        Ok(Outlook { origin: *origin, now: *now, instance: instance.clone(), expected, running, jobs, bounds })
    }

    fn picture(&self, snapshot: &Snapshot, outlook: Option<&Outlook>, version: u64, planning: Duration) -> Picture {
        let Snapshot { origin, running, left_out, down, .. } = snapshot;
        let platform = snapshot.part.instance.platform();
        let is_down = |first: u32| down.iter().any(|set| set.contains(first));
        let mut first = 0;
        let mut nodes = Vec::new();
        for node in platform.nodes().iter().filter(|node| node.processors > 0) {
            nodes.push(NodePicture {
                name: node.name.clone(),
                first,
                processors: node.processors,
                down: is_down(first),
            });
            first += node.processors;
        }
        let owners = self.shared.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let mut boxes: Vec<BoxPicture> = running
            .iter()
            .filter_map(|(run, end)| {
                let (owned, task) = owners.of(run.task)?;
                Some(BoxPicture {
                    job: owned.job,
                    task,
                    name: owned.title.clone(),
                    user: owned.user.clone(),
                    state: State::Running,
                    start: origin + run.start.seconds(),
                    end: origin + end.seconds(),
                    processors: run.processors.intervals().to_vec(),
                })
            })
            .collect();
        drop(owners);
        boxes.extend(outlook.into_iter().flat_map(|outlook| &outlook.expected).map(box_of));
        boxes.extend(self.past(Picture::MOST.saturating_sub(boxes.len()).min(PAST)));
        let counts = self.shared.readers.read(Reader::counts).unwrap_or_default();
        let count = |state: State| counts.get(&state).copied().unwrap_or(0);
        let remarks: VecDeque<String> = self.shared.remarks.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Picture {
            version,
            now: wall(),
            processors: platform.processors(),
            nodes,
            boxes,
            planned_left_out: *left_out,
            bounds: outlook.map(|outlook| outlook.bounds.clone()).unwrap_or_default(),
            waiting: count(State::Waiting),
            held: count(State::Held),
            running: count(State::Running),
            policy: crate::POLICY.into(),
            engine: self.shared.host.name(),
            planning: planning.as_secs_f64(),
            remarks: remarks.into(),
        }
    }

    fn past(&self, most: usize) -> Vec<BoxPicture> {
        let past = self.shared.readers.read(|reader| reader.past(most)).unwrap_or_default();
        let one = |(job, name, user, row): (JobNumber, String, String, crate::store::TaskRow)| {
            let processors: ProcSet = row.processors.as_deref().unwrap_or_default().parse().ok()?;
            Some(BoxPicture {
                job,
                task: row.task,
                name,
                user,
                state: row.state,
                start: row.started?,
                end: row.ended?,
                processors: processors.intervals().to_vec(),
            })
        };
        past.into_iter().filter_map(one).collect()
    }
}

fn box_of(one: &Expected) -> BoxPicture {
    BoxPicture {
        job: one.job,
        task: one.task,
        name: one.title.clone(),
        user: one.user.clone(),
        state: State::Waiting,
        start: one.start,
        end: one.end,
        processors: one.processors.intervals().to_vec(),
    }
}

/// How much the time of a task may differ from what is expected: as the runs did from which it was learned; a stated one by a little, a
/// guess by much.
fn spread(instance: &Instance, task: TaskId) -> f64 {
    match instance.task(task).estimate {
        makespan_core::Estimate::Stated => 0.1,
        makespan_core::Estimate::Learned { spread, .. } => spread.clamp(0.02, 2.0),
        makespan_core::Estimate::Guessed => 1.0,
    }
}
