//! Tests of jobs that arrive during a run, and of jobs that are cancelled.

use crate::common;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use common::{FirstCome, instance, job, options, text};
use makespan_core::{Instance, Job, Outcome, Run, TaskId};
use makespan_exec::{ExecuteOptions, Intake, Observer, Progress, execute};

/// Submits jobs, cancels jobs and leaves the session at times that a test chooses.
struct Driver<'a> {
    intake: Intake,
    ended: BTreeMap<String, (Outcome, String)>,
    cancelled: Vec<String>,
    refused: Vec<String>,
    messages: Vec<String>,
    ticks: u64,
    /// Function that is called at each progress report.
    act: &'a mut dyn FnMut(&Intake, &Progress<'_>),
    begun: Instant,
}

impl Observer for Driver<'_> {
    fn ended(&mut self, run: &Run, reason: Option<&str>, progress: &Progress<'_>) {
        let name = progress.view.instance.name(run.task).into_owned();
        self.ended.insert(name, (run.outcome, reason.unwrap_or_default().to_owned()));
    }

    fn grown(&mut self, tasks: Range<TaskId>, progress: &Progress<'_>) {
        assert!(tasks.end.0 <= progress.view.instance.tasks());
    }

    fn not_grown(&mut self, reason: &str) {
        self.refused.push(reason.to_owned());
    }

    fn cancelled(&mut self, task: TaskId, progress: &Progress<'_>) {
        self.cancelled.push(progress.view.instance.name(task).into_owned());
    }

    fn message(&mut self, text: &str) {
        self.messages.push(text.to_owned());
    }

    fn tick(&mut self, progress: &Progress<'_>) {
        assert!(self.begun.elapsed() < Duration::from_mins(1), "it does not come to its end");
        self.ticks += 1;
        (self.act)(&self.intake, progress);
    }
}

/// Runs a session with these initial jobs until it is asked to leave.
fn session<'a>(folder: &Path, jobs: Vec<Job>, act: &'a mut dyn FnMut(&Intake, &Progress<'_>)) -> Driver<'a> {
    let intake = Intake::new();
    let begun = Instant::now();
    let mut driver = Driver {
        intake: intake.clone(),
        ended: BTreeMap::new(),
        cancelled: Vec::new(),
        refused: Vec::new(),
        messages: Vec::new(),
        ticks: 0,
        act,
        begun,
    };
    let options = ExecuteOptions { resume: true, intake: Some(intake), ..options(folder) };
    execute(&instance(jobs), &mut FirstCome, &options, &mut driver).unwrap();
    driver
}

fn after(mut job: Job, other: &str) -> Job {
    job.after = vec![other.into()];
    job
}

fn id(instance: &Instance, name: &str) -> TaskId {
    instance.task_ids().find(|&task| instance.name(task) == name).unwrap()
}

#[test]
fn jobs_come_wait_for_others_and_are_taken_back() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("run");
    let mut step = 0;
    let mut act = |intake: &Intake, progress: &Progress<'_>| {
        let instance = progress.view.instance;
        match step {
            0 => {
                intake.append(vec![job("a", 1, "echo a"), after(job("b", 1, "cat a.out; echo b"), "a")]);
                intake.append(vec![job("long", 2, "sleep 60"), job("waits", 1, "echo never")]);
                intake.append(vec![after(job("behind", 1, "echo never"), "waits")]);
                // A job with this name already exists.
                intake.append(vec![job("a", 1, "echo twice")]);
                intake.append(vec![after(job("late", 1, "echo never"), "long")]);
                step = 1;
            }
            1 if progress.view.running.iter().any(|run| instance.name(run.task) == "long") => {
                // One job waits, one waits for another job, one runs, and one has ended.
                intake.cancel(["waits", "late", "long", "a"].map(|name| id(instance, name)).to_vec());
                step = 2;
            }
            2 if progress.ended == instance.tasks() => {
                intake.append(vec![after(job("after b", 1, "echo again"), "b"), after(job("lost", 1, "echo"), "long")]);
                step = 3;
            }
            3 if instance.tasks() == 8 && progress.ended == 8 => intake.leave(),
            _ => {}
        }
    };
    let driver = session(&folder, vec![], &mut act);
    let outcome = |name: &str| driver.ended.get(name).map(|(outcome, _)| *outcome);
    assert_eq!((outcome("a"), outcome("b")), (Some(Outcome::Succeeded), Some(Outcome::Succeeded)));
    assert!(
        matches!(driver.ended["long"], (Outcome::Failed { .. }, ref why) if why == "it was cancelled"),
        "{:?}",
        driver.ended
    );
    assert_eq!(driver.cancelled, ["waits", "late"]);
    assert_eq!((outcome("behind"), outcome("lost")), (Some(Outcome::NotStarted), Some(Outcome::NotStarted)));
    assert_eq!(outcome("after b"), Some(Outcome::Succeeded));
    assert!(driver.refused.len() == 1 && driver.refused[0].contains("`a`"), "{:?}", driver.refused);
    assert_eq!(text(&folder, "a.out"), "a\n");
}

#[test]
fn what_runs_goes_on_when_a_session_leaves_and_is_taken_over_with_more_jobs() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("run");
    let jobs = |count: usize| -> Vec<Job> {
        let script = |at: usize| format!("echo begin >>log{at}; sleep 0.{}; echo end >>log{at}", 3 + at % 5);
        let script = |at| format!("cd {}; {}", temporary.path().display(), script(at));
        (0..count).map(|at| job(&format!("j{at}"), 1, &script(at))).collect()
    };
    let mut known = 0;
    for round in 0..4 {
        // Some jobs arrived while no session ran.
        let at_hand = known + round;
        let mut asked = false;
        let mut act = |intake: &Intake, progress: &Progress<'_>| {
            if !std::mem::replace(&mut asked, true) {
                intake.append(jobs(at_hand + 3).split_off(at_hand));
            } else if progress.view.instance.tasks() == at_hand as u64 + 3 && progress.view.running.len() == 2 {
                intake.leave();
            }
        };
        let driver = session(&folder, jobs(at_hand), &mut act);
        assert!(!driver.messages.iter().any(|text| text.contains("runs again")), "{:?}", driver.messages);
        known = at_hand + 3;
    }
    thread::sleep(Duration::from_millis(900));
    let mut act = |intake: &Intake, progress: &Progress<'_>| {
        if progress.ended == known as u64 {
            intake.leave();
        }
    };
    session(&folder, jobs(known), &mut act);
    for at in 0..known {
        assert_eq!(text(temporary.path(), &format!("log{at}")), "begin\nend\n", "job {at}");
    }
    // With a different list of submitted jobs, the run counts as edited.
    let mut act = |intake: &Intake, _: &Progress<'_>| intake.leave();
    let driver = session(&folder, jobs(known - 1), &mut act);
    assert!(driver.messages.iter().any(|text| text.contains("edited")), "{:?}", driver.messages);
}
