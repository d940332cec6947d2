//! The thread that makes the plans that users see: the expected starts and ends of tasks, and the bounds of the plan.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use makespan_core::{ProcSet, TaskId, Time};

use super::forecasts::Forecasts;
use super::outlook::{ClosedPeriod, ExpectedTask, Outlook, PlanInput, Runs};
use super::plan::PlanBasis;
use super::promise::Promise;
use super::rules::PlannedSlot;
use super::shared::{SharedState, Snapshot};
use crate::clock::wall;
use crate::store::{BACKED_UP, PendingRow, Reader};
use crate::words::{BoxPicture, ClosedPicture, JobNumber, NodePicture, Picture, Role, State, Who};

/// Pause between two requests for a snapshot of the engine.
const PAUSE: Duration = Duration::from_millis(300);
/// Maximum age of a plan. An older plan is replaced even if nothing has changed.
const LONGEST: Duration = Duration::from_secs(10);
/// Time after a change of reservations or limits in which every snapshot is planned, because the engine applies the change
/// later than the store.
const SETTLING: Duration = Duration::from_secs(1);
/// Factor of the rest after planning. The thread rests for the planning time times this factor, so that the processors
/// are free for jobs.
const SHARE: u32 = 10;
/// Maximum rest after planning, so that the expected start of a new job is soon available.
const LONGEST_REST: Duration = Duration::from_secs(2);
/// Maximum number of ended tasks in a picture.
const PAST: usize = 2000;

/// Maximum number of planned jobs that wait for other jobs or for their earliest start.
const PENDING: usize = 1000;

/// The file of the forecasts.
enum ForecastFile {
    Closed,
    Open(Box<Forecasts>),
    Failed,
}

/// The state of the thread.
pub(super) struct Drawer {
    pub shared: Arc<SharedState>,
    pub snapshots: Receiver<Snapshot>,
    pub outlook: Arc<Mutex<Option<Arc<Outlook>>>>,
    /// The folder of the store.
    pub folder: PathBuf,
}

impl Drawer {
    /// Plans until the service ends.
    pub fn run(self) {
        let (mut last, mut changes, mut version, mut request) = (None::<Instant>, (0, PlanInput::default()), 0, 0);
        let mut rest = Duration::ZERO;
        let mut backup = self.last_backup();
        let mut settings = (0, None::<Instant>);
        let mut promise = None;
        let mut forecasts = ForecastFile::Closed;
        while !self.shared.is_closing() {
            self.rest(PAUSE.max(rest));
            let now = self.last_backup();
            if now != backup {
                backup = now;
                let note = std::fs::read_to_string(self.folder.join(BACKED_UP));
                note.iter().for_each(|note| self.shared.log.notice(note));
            }
            // Events are also checked, because held jobs change the plan but never reach the engine.
            let events = self.shared.wait(u64::MAX, Duration::ZERO);
            let changed = self.shared.settings.load(Ordering::Relaxed);
            if changed != settings.0 {
                settings = (changed, Some(Instant::now()));
            }
            let is_settling = settings.1.is_some_and(|at| at.elapsed() < SETTLING);
            request += 1;
            *self.shared.wanted.lock().unwrap_or_else(PoisonError::into_inner) = request;
            let Some(snapshot) = self.snapshot(request) else { continue };
            let is_old = last.is_none_or(|last| last.elapsed() > LONGEST);
            // The engine may not have received all submitted jobs.
            let is_complete =
                snapshot.tasks >= self.shared.owners.lock().unwrap_or_else(PoisonError::into_inner).tasks_in_engine();
            let includes =
                PlanInput { events: if is_complete { events } else { 0 }, settings: (!is_settling).then_some(changed) };
            let now = (snapshot.changes, includes);
            if now == changes && !is_old && !is_settling && !self.is_overdue() {
                rest = Duration::ZERO;
                continue;
            }
            changes = now;
            let begun = Instant::now();
            version += 1;
            promise = self.draw(&snapshot, includes, version, promise);
            forecasts = self.record(forecasts);
            rest = (begun.elapsed() * SHARE).min(LONGEST_REST);
            last = Some(Instant::now());
        }
    }

    /// Returns the time of the note about the last backup, if there is a note.
    fn last_backup(&self) -> Option<SystemTime> {
        self.folder.join(BACKED_UP).metadata().and_then(|found| found.modified()).ok()
    }

    /// Returns the snapshot for a request, if the engine sends it soon.
    fn snapshot(&self, request: u64) -> Option<Snapshot> {
        loop {
            let snapshot = self.snapshots.recv_timeout(PAUSE).ok()?;
            if snapshot.request == request {
                return Some(snapshot);
            }
        }
    }

    /// Returns true if an expected start or end is overdue: the instant has passed, but the task has not started or ended.
    fn is_overdue(&self) -> bool {
        let outlook = self.outlook.lock().unwrap_or_else(PoisonError::into_inner).clone();
        outlook.is_some_and(|outlook| outlook.is_overdue(wall()))
    }

    /// Sleeps for the time `rest`, or until a client waits for a plan or the service ends.
    fn rest(&self, rest: Duration) {
        let end = Instant::now() + rest;
        while !self.shared.is_closing() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
            if self.shared.awaited.load(Ordering::Relaxed) > 0 {
                return;
            }
        }
    }

    /// Records forecasts and starts, and calibrates the ranges of starts. If the file of the forecasts cannot be used, the
    /// log gets one line, and the file is tried again after the next plan.
    fn record(&self, file: ForecastFile) -> ForecastFile {
        let outlook = self.outlook.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(outlook) = outlook else { return file };
        let has_failed = matches!(file, ForecastFile::Failed);
        let everybody = Who { user: String::new(), role: Role::Reader };
        let start_of = |job: JobNumber| {
            let row = self.shared.readers.read(|reader| reader.job(&everybody, job));
            row.ok().flatten().and_then(|row| row.summary.started)
        };
        let opened = match file {
            ForecastFile::Open(forecasts) => Ok(forecasts),
            _ => Forecasts::open(&self.folder).map(Box::new),
        };
        let recorded = opened.and_then(|mut forecasts| {
            forecasts.record(&outlook, wall(), start_of)?;
            Ok(forecasts)
        });
        match recorded {
            Ok(forecasts) => {
                let calibration = Arc::new(forecasts.calibration.clone());
                *self.shared.calibration.lock().unwrap_or_else(PoisonError::into_inner) = calibration;
                ForecastFile::Open(forecasts)
            }
            Err(error) => {
                if !has_failed {
                    self.shared.log.warning(&format!("{error}; the ranges of starts are not calibrated"));
                }
                ForecastFile::Failed
            }
        }
    }

    /// Makes a plan, and gives it to the users and to the engine. Returns the promise of the plan to the job that has
    /// waited longest.
    fn draw(
        &self,
        snapshot: &Snapshot,
        includes: PlanInput,
        version: u64,
        promise: Option<Promise>,
    ) -> Option<Promise> {
        let begun = Instant::now();
        let closed = self.closed(snapshot);
        let shown = closed.iter().map(closed_picture).collect();
        let outlook = self.outlook(snapshot, (includes, promise), closed);
        let picture = self.picture(snapshot, outlook.as_ref().ok(), version, begun.elapsed());
        let picture = Picture { closed: shown, ..picture };
        if let Err(error) = &outlook {
            self.shared.note(&format!("no plan can be made: {error}"));
        }
        let outlook = outlook.ok();
        let promise = outlook.as_ref().and_then(|outlook| self.promise(outlook));
        let slots = outlook.iter().flat_map(|outlook| &outlook.expected).map(PlannedSlot::from).collect();
        self.shared.follow(slots);
        *self.outlook.lock().unwrap_or_else(PoisonError::into_inner) = outlook.map(Arc::new);
        *self.shared.picture.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(picture);
        promise
    }

    /// Returns the promise of a plan to the job that has waited longest. A job that waits for other jobs gets no promise.
    fn promise(&self, outlook: &Outlook) -> Option<Promise> {
        let waits = |one: &&ExpectedTask| one.after.is_empty() && one.begin.is_none();
        let oldest = outlook.expected.iter().filter(waits).min_by_key(|one| (one.job, one.slot.0))?;
        let owners = self.shared.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let (owned, _) = owners.of(TaskId(owners.tasks(oldest.job).start))?;
        Some(Promise::renewed(outlook.promise, oldest.job, Time::from_ticks(owned.submitted), oldest.slot.0))
    }

    fn outlook(
        &self,
        snapshot: &Snapshot,
        (includes, promise): (PlanInput, Option<Promise>),
        closed: Vec<ClosedPeriod>,
    ) -> Result<Outlook, String> {
        // If the snapshot omits tasks of a long queue, pending jobs are also omitted.
        let pending = if snapshot.left_out == 0 { self.pending(wall())? } else { Vec::new() };
        let limits = self.shared.rules.lock().unwrap_or_else(PoisonError::into_inner).processors.clone();
        PlanBasis { snapshot, includes, closed, pending, limits, promise }.outlook(&self.shared.owners)
    }

    /// Returns the reservations that have not ended, and the processors that are down.
    fn closed(&self, snapshot: &Snapshot) -> Vec<ClosedPeriod> {
        let reservations = self.shared.readers.read(|reader| reader.reservations(wall())).unwrap_or_default();
        let reserved = reservations.into_iter().map(|one| ClosedPeriod {
            reservation: Some(one.name),
            start: one.start,
            end: one.end,
            processors: ProcSet::from_intervals(one.processors),
        });
        let down = snapshot.down.iter().map(|period| ClosedPeriod {
            reservation: None,
            start: snapshot.origin + period.start.seconds(),
            end: snapshot.origin + period.end.seconds(),
            processors: period.processors.clone(),
        });
        reserved.chain(down).collect()
    }

    /// Returns the jobs that wait for other jobs or for their earliest start.
    fn pending(&self, now: f64) -> Result<Vec<PendingRow>, String> {
        self.shared.readers.explained(|reader| reader.pending(now, PENDING))
    }

    fn picture(&self, snapshot: &Snapshot, outlook: Option<&Outlook>, version: u64, planning: Duration) -> Picture {
        let Snapshot { origin, running, left_out, down, .. } = snapshot;
        let platform = snapshot.part.instance.platform();
        let is_down = |first: u32| down.iter().any(|period| period.processors.contains(first));
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
            .filter_map(|(run, ahead)| {
                let (owned, task) = owners.of(run.task)?;
                let (length, is_known) = ahead.length(snapshot.now - run.start);
                Some(BoxPicture {
                    job: owned.job,
                    task,
                    name: owned.title.clone(),
                    user: owned.user.clone(),
                    state: State::Running,
                    start: origin + run.start.seconds(),
                    end: origin + (run.start + length).seconds(),
                    longer_than: (!is_known).then(|| ahead.expected.seconds()),
                    behind: None,
                    processors: run.processors.intervals().to_vec(),
                })
            })
            .collect();
        drop(owners);
        let now = origin + snapshot.now.seconds();
        boxes.extend(
            outlook.into_iter().flat_map(|outlook| {
                outlook.expected.iter().map(move |one| box_of(one, outlook.unknown(one.behind, now)))
            }),
        );
        boxes.extend(self.past(Picture::MOST.saturating_sub(boxes.len()).min(PAST)));
        let counts = self.shared.readers.read(Reader::counts).unwrap_or_default();
        let count = |state: State| counts.get(&state).copied().unwrap_or(0);
        let remarks: VecDeque<String> = self.shared.remarks.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Picture {
            version,
            // `now` is the instant to which the bounds refer, not the instant at which the plan was ready.
            now,
            processors: platform.processors(),
            nodes,
            boxes,
            planned_left_out: *left_out,
            closed: Vec::new(),
            bounds: outlook.map(|outlook| outlook.bounds.clone()).unwrap_or_default(),
            waiting: count(State::Waiting),
            held: count(State::Held),
            running: count(State::Running),
            policy: crate::PLANNER.into(),
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
                longer_than: None,
                behind: None,
                processors: processors.intervals().to_vec(),
            })
        };
        past.into_iter().filter_map(one).collect()
    }
}

fn closed_picture(period: &ClosedPeriod) -> ClosedPicture {
    let ClosedPeriod { reservation, start, end, processors } = period;
    ClosedPicture {
        reservation: reservation.clone(),
        start: *start,
        end: *end,
        processors: processors.intervals().to_vec(),
    }
}

fn box_of(one: &ExpectedTask, behind: Option<&Runs>) -> BoxPicture {
    BoxPicture {
        job: one.job,
        task: one.task,
        name: one.title.clone(),
        user: one.user.clone(),
        state: State::Waiting,
        start: one.start,
        end: one.end,
        longer_than: None,
        behind: behind.map(|runs| runs.job),
        processors: one.processors.intervals().to_vec(),
    }
}
