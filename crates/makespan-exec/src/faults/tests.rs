//! Lets every step of a run of six jobs fail once in every way, and then resumes the run. Checks that no job is lost
//! or repeated, and that all reports are true.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use makespan_core::{
    Decision, Estimate, Estimation, Estimator, Event, Instance, Job, Need, Needs, NewTimes, Outcome, Platform, Policy,
    Profile, Resources, Run, Running, Stop, TaskId, Time, Trace, View,
};
use nix::libc::{EAGAIN, EDQUOT, EIO, EMFILE, ENOSPC};

use super::processes::script;
use super::{Fault, KillPoint, KilledSession, World};
use crate::engine::Engine;
use crate::execute::{Machine, execute_on};
use crate::files::Files;
use crate::{ExecuteError, ExecuteOptions, Intake, Observer, Progress};

/// First come, first served.
struct FirstCome;

impl Policy for FirstCome {
    fn on(&mut self, _events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let mut free = view.free.clone();
        for task in view.waiting.iter() {
            let Some(processors) = free.take(view.instance.profile(task).min_processors()) else { break };
            decisions.push(Decision::Start { task, processors });
        }
    }
}

/// Returns six jobs on two processors, with a GPU for each processor. The jobs behave as in [`script`]: one job fails,
/// and one job reaches its time limit and ignores SIGTERM.
fn six() -> Instance {
    let job = |index: u32| {
        let processors = if index == 5 { 2 } else { 1 };
        let mut job = Job::new(format!("j{index}"), Profile::rigid(processors, Time::from_seconds(1)).unwrap());
        job = job.with_needs(Needs::new([("gpus", Need::per_processor(1))]).unwrap());
        job = job.with_estimate(Estimate::Guessed);
        job.walltime = (index == 3).then(|| Time::from_seconds(2));
        job
    };
    let platform = Platform::flat(2).unwrap().with_node_resources(&Resources::new([("gpus", 2)]).unwrap()).unwrap();
    Instance::new(platform, (0..6).map(job).collect(), vec![]).unwrap()
}

fn due(task: u64) -> Outcome {
    match (task, script(TaskId(task)).1) {
        (3, _) => Outcome::TimedOut,
        (_, 0) => Outcome::Succeeded,
        (_, status) => Outcome::Failed { status },
    }
}

/// The reports that the observer received in all sessions.
#[derive(Clone, Default)]
struct Told {
    /// For each reported end: the outcome, and the number of starts of the task before the report.
    ends: BTreeMap<u64, (Outcome, usize)>,
    world: Option<World>,
    /// Number of times that failed tasks are tried again.
    retries: u32,
    /// The latest estimates that the observer received.
    estimates: BTreeMap<u64, Time>,
    /// Number of jobs that have arrived, if jobs arrive during the run. The caller remembers it across sessions.
    come: Option<usize>,
    intake: Intake,
    /// Number of tasks that the run has accepted so far.
    grown: u64,
    /// Maximum time between an end and the sync of the journal.
    group: Duration,
}

/// Estimator that estimates, for every job, the longest run time of a finished job.
#[derive(Default)]
struct Longest(Time);

impl Estimator for Longest {
    fn ended(&mut self, instance: &Instance, run: &Run) -> Vec<NewTimes> {
        self.0 = self.0.max(run.end - run.start);
        let longest = |task| instance.profile(task).clone().lasting(self.0);
        let estimate = Estimate::Learned { runs: 1, spread: 0.0 };
        instance.task_ids().map(|task| NewTimes { task, profile: longest(task), estimate }).collect()
    }

    fn grown(&mut self, instance: &Instance) -> Vec<NewTimes> {
        if self.0 == Time::ZERO {
            return Vec::new();
        }
        let longest = |task| instance.profile(task).clone().lasting(self.0);
        let estimate = Estimate::Learned { runs: 1, spread: 0.0 };
        instance.task_ids().map(|task| NewTimes { task, profile: longest(task), estimate }).collect()
    }
}

impl Observer for Told {
    fn started(&mut self, _running: &Running, _progress: &Progress<'_>) {}

    fn estimated(&mut self, tasks: &[TaskId], progress: &Progress<'_>) {
        let longest = |task: TaskId| progress.view.instance.profile(task).longest();
        self.estimates.extend(tasks.iter().map(|&task| (task.0, longest(task))));
    }

    fn ended(&mut self, run: &Run, _reason: Option<&str>, _progress: &Progress<'_>) {
        let world = self.world.as_ref().unwrap().0.borrow();
        let starts = world.started.get(&run.task.0).copied().unwrap_or(0);
        self.ends.insert(run.task.0, (run.outcome, starts));
    }

    fn grown(&mut self, tasks: Range<TaskId>, progress: &Progress<'_>) {
        assert!(progress.view.instance.tasks() >= tasks.end.0 && tasks.start.0 == self.grown.max(tasks.start.0));
        self.grown = self.grown.max(tasks.end.0);
    }

    fn tick(&mut self, progress: &Progress<'_>) {
        let Some(come) = &mut self.come else { return };
        let all_are_in = progress.view.instance.tasks() == *come as u64;
        if *come < 6 && all_are_in && progress.view.waiting.is_empty() {
            *come += 1;
            self.intake.append(vec![six().submitted(makespan_core::JobId(*come as u32 - 1))]);
        } else if progress.ended == 6 {
            self.intake.leave();
        }
    }
}

enum Left {
    Done(Trace),
    Refused(ExecuteError),
    Died,
}

fn session(world: &World, told: &mut Told, resume: bool, retry_failed: bool) -> Left {
    let whole = six();
    let come = told.come.unwrap_or(6);
    let instance = whole.with_jobs(whole.all_submitted().into_iter().take(come).collect());
    told.intake = Intake::new();
    let intake = told.come.map(|_| told.intake.clone());
    let stop = Stop::default();
    world.0.borrow_mut().stop = stop.clone();
    told.world = Some(world.clone());
    let estimation = Some(Estimation::new(|_| Box::new(Longest::default())));
    let retries = told.retries;
    let options = ExecuteOptions {
        resume,
        retry_failed,
        retries,
        estimation,
        intake,
        stop,
        group: told.group,
        ..ExecuteOptions::new("/run")
    };
    let mut engine = world.clone();
    let files = Rc::new(Files::at(PathBuf::from("/run"), &instance));
    let machine = Machine { storage: world, engine: &mut engine, files, lock: None };
    let done = catch_unwind(AssertUnwindSafe(|| execute_on(machine, &instance, &mut FirstCome, &options, told)));
    match done {
        Ok(Ok(trace)) => Left::Done(trace),
        Ok(Err(error)) => Left::Refused(error),
        Err(payload) if payload.is::<KilledSession>() => Left::Died,
        Err(payload) => std::panic::resume_unwind(payload),
    }
}

/// Returns the last outcome of each task.
fn last(trace: &Trace) -> BTreeMap<u64, Outcome> {
    trace.runs.iter().map(|run| (run.task.0, run.outcome)).collect()
}

/// Returns whether a task has ended and will not be tried again.
fn is_over(trace: &Trace, task: u64, retries: u32) -> bool {
    let runs = || trace.runs.iter().filter(|run| run.task.0 == task);
    let failures = runs().filter(|run| matches!(run.outcome, Outcome::Failed { .. } | Outcome::TimedOut)).count();
    runs().any(|run| matches!(run.outcome, Outcome::Succeeded | Outcome::NotStarted)) || failures > retries as usize
}

/// Resumes the run until every task has ended, and checks the results.
fn complete(world: &World, mut told: Told, case: &str, first: Option<Trace>) {
    let before = told.ends.clone();
    let mut trace = first;
    for round in 0..4 {
        let whole = trace.as_ref().is_some_and(|trace| (0..6).all(|task| is_over(trace, task, told.retries)));
        if whole {
            break;
        }
        assert!(round < 3, "{case}: it does not come to its end");
        world.pass(Duration::ZERO);
        trace = match session(world, &mut told, true, false) {
            Left::Done(trace) => Some(trace),
            Left::Refused(error) => panic!("{case}: it is not resumed: {error}"),
            Left::Died => panic!("{case}: one fault is enough"),
        };
    }
    let trace = trace.unwrap();
    let inner = world.0.borrow();
    assert!(inner.violations.is_empty(), "{case}: {:?}", inner.violations);
    let victim = |task: u64| inner.victims.contains(&task);
    for (task, outcome) in last(&trace) {
        let killed = victim(task) && outcome == Outcome::Failed { status: 137 };
        // If the disk is faulty, a task may be reported as not started.
        let broken = outcome == Outcome::NotStarted && case.starts_with(&format!("{:?}", Fault::Refused(EIO)));
        // If no session ran when the task reached its time limit, the task may have succeeded.
        let alone = outcome == Outcome::Succeeded && inner.completed.get(&task).is_some_and(|&count| count > 0);
        assert!(outcome == due(task) || killed || broken || alone, "{case}: job {task} ended as {outcome:?}");
        assert_eq!(told.ends.get(&task).map_or(outcome, |told| told.0), outcome, "{case}: job {task}");
        let completed = inner.completed.get(&task).copied().unwrap_or(0);
        assert!(completed > 0 || outcome != Outcome::Succeeded, "{case}: job {task} is lost");
    }
    // The last session uses estimates learned in all sessions. Task 3, which has a
    // time limit, is not checked.
    let succeeded = trace.runs.iter().filter(|run| run.outcome == Outcome::Succeeded);
    let longest = succeeded.map(|run| run.end - run.start).max().unwrap_or(Time::from_seconds(1));
    for task in (0..6).filter(|task| *task != 3) {
        let estimate = told.estimates.get(&task).copied().unwrap_or(Time::from_seconds(1));
        assert_eq!(estimate, longest, "{case}: job {task}");
    }
    for (task, (outcome, starts)) in before {
        assert_eq!(
            inner.started.get(&task).copied().unwrap_or(0),
            starts,
            "{case}: job {task} was {outcome:?}, and ran again"
        );
    }
}

/// A machine at the begin of a session.
struct Scene {
    world: World,
    told: Told,
    resume: bool,
}

impl Scene {
    /// Returns a new run.
    fn new() -> Self {
        Self { world: World::new(None), told: Told::default(), resume: false }
    }

    /// Returns a new run that tries failed tasks again.
    fn with_retries() -> Self {
        Self { told: Told { retries: 1, ..Told::default() }, ..Self::new() }
    }

    /// Returns a new run with retries in which records of two seconds are synced together.
    fn in_groups() -> Self {
        let group = Duration::from_secs(2);
        Self { told: Told { retries: 1, group, ..Told::default() }, ..Self::new() }
    }

    /// Returns a new run with jobs that arrive one by one.
    fn that_grows() -> Self {
        Self { told: Told { come: Some(1), ..Told::default() }, ..Self::new() }
    }

    /// Returns a run with a session that was just killed, after some tasks had ended and while others ran.
    fn half_done() -> Self {
        let killed_at = |step: usize| {
            let world = World::new(Some((step, Fault::Killed(KillPoint::After))));
            let mut told = Told::default();
            let died = matches!(session(&world, &mut told, false, false), Left::Died);
            world.pass(Duration::from_millis(300));
            (died && (2..5).contains(&told.ends.len())).then_some(Self { world, told, resume: true })
        };
        (1..200).find_map(killed_at).unwrap()
    }

    /// Runs the scene with one fault. Returns `None` if the run has no such step.
    fn play(&self, step: usize, fault: Fault) -> Option<()> {
        let (world, mut told) = (self.world.copy(), self.told.clone());
        let starts = |world: &World| world.0.borrow().started.values().sum::<usize>();
        let (started, steps) = (starts(&world), world.0.borrow().steps);
        (world.0.borrow_mut().plan, world.0.borrow_mut().fired) = (Some((steps + step, fault)), false);
        let case = format!("{fault:?} at step {step}, resumed: {}", self.resume);
        let left = session(&world, &mut told, self.resume, false);
        if !world.0.borrow().fired {
            assert!(matches!(left, Left::Done(_)), "{case}");
            return None;
        }
        match left {
            Left::Died => {
                for pause in [0, 1200, 3_600_000] {
                    let world = world.copy();
                    world.pass(Duration::from_millis(pause));
                    let finished = world.0.borrow().completed.clone();
                    let goes_on = world.undisturbed();
                    let shims_live = !matches!(fault, Fault::Power(_));
                    complete(&world, told.clone(), &format!("{case}, {pause} ms later"), None);
                    let inner = world.0.borrow();
                    // Failed tasks may be tried again.
                    let over = |task: u64| told.retries == 0 || script(TaskId(task)).1 == 0;
                    let kept = |task: u64| shims_live && !inner.victims.contains(&task) && over(task);
                    for (task, count) in finished.iter().filter(|(task, _)| kept(**task)) {
                        assert_eq!(inner.completed[task], *count, "{case}, {pause} ms later: job {task} ran again");
                    }
                    for (task, starts) in goes_on.iter().filter(|(task, _)| over(**task)) {
                        assert_eq!(inner.started[task], *starts, "{case}, {pause} ms later: job {task} did not go on");
                    }
                }
            }
            Left::Refused(error) => {
                let began = starts(&world) > started;
                let passing = matches!(fault, Fault::Refused(_) | Fault::Full(_) | Fault::Half);
                assert!(!began || !passing, "{case}: it gave up: {error}");
                world.pass(Duration::from_secs(5));
                complete(&world, told, &case, None);
            }
            Left::Done(trace) => {
                let stopped = matches!(fault, Fault::Stopped | Fault::AllStopped);
                assert!(stopped || trace.runs.len() >= 6, "{case}: {trace:?}");
                complete(&world, told, &case, Some(trace));
            }
        }
        Some(())
    }

    /// Runs the scene with every fault at every step, and returns the number of steps.
    fn play_all(&self) -> usize {
        let killed = [KillPoint::Before, KillPoint::Half, KillPoint::After];
        let faults = [EIO, ENOSPC, EAGAIN, EMFILE]
            .map(Fault::Refused)
            .into_iter()
            .chain([ENOSPC, EDQUOT].map(Fault::Full))
            .chain([Fault::Half, Fault::Stopped, Fault::AllStopped])
            .chain(killed.map(Fault::Killed))
            .chain(killed.map(Fault::Power));
        faults.map(|fault| (1..).take_while(|&step| self.play(step, fault).is_some()).count()).min().unwrap_or(0)
    }
}

#[test]
fn every_step_fails_once_in_every_way() {
    let steps = Scene::new().play_all();
    assert!(steps > 60, "a run has some {steps} steps");
}

#[test]
fn every_step_of_a_run_with_retries_fails_once_in_every_way() {
    let steps = Scene::with_retries().play_all();
    assert!(steps > 80, "a run with retries has some {steps} steps");
}

#[test]
fn every_step_of_a_run_that_syncs_in_groups_fails_once_in_every_way() {
    let steps = Scene::in_groups().play_all();
    assert!(steps > 60, "a run that syncs in groups has some {steps} steps");
}

/// Checks that the observer receives ends that are close in time together, and never before the sync.
#[test]
fn a_group_has_several_ends() {
    let syncs = |group: Duration| {
        let world = World::new(None);
        let mut told = Told { group, ..Told::default() };
        let Left::Done(trace) = session(&world, &mut told, false, false) else { panic!("it fails") };
        assert_eq!((trace.runs.len(), told.ends.len()), (6, 6));
        world.0.borrow().syncs
    };
    let (alone, grouped) = (syncs(Duration::ZERO), syncs(Duration::from_secs(2)));
    assert!(grouped < alone, "{grouped} syncs instead of {alone}");
}

#[test]
fn every_step_of_a_run_that_grows_fails_once_in_every_way() {
    let steps = Scene::that_grows().play_all();
    assert!(steps > 60, "a run that grows has some {steps} steps");
}

#[test]
fn every_step_of_a_resumption_fails_once_in_every_way() {
    let steps = Scene::half_done().play_all();
    assert!(steps > 30, "a resumption has some {steps} steps");
}

#[test]
fn without_a_fault_nothing_is_odd() {
    let world = World::new(None);
    let mut told = Told::default();
    let Left::Done(trace) = session(&world, &mut told, false, false) else { panic!("it fails") };
    assert_eq!(last(&trace).into_iter().collect::<Vec<_>>(), (0..6).map(|task| (task, due(task))).collect::<Vec<_>>());
    assert_eq!(told.ends.len(), 6);
    // The resumed run has nothing to do.
    let Left::Done(again) = session(&world, &mut told, true, false) else { panic!("it fails") };
    assert_eq!(again, trace);
    assert!(world.now() < Duration::from_secs(20));
    // With retries, each failed job is tried up to two more times.
    let (world, mut told) = (World::new(None), Told { retries: 2, ..Told::default() });
    let Left::Done(trace) = session(&world, &mut told, false, false) else { panic!("it fails") };
    let runs = |task: u64| trace.runs.iter().filter(|run| run.task.0 == task).count();
    assert_eq!([0, 1, 2, 3, 4, 5].map(runs), [1, 1, 3, 3, 1, 1]);
    assert_eq!(told.ends.len(), 6);
}
