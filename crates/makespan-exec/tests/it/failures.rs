//! Failing jobs, and runs that are resumed after an edit of their instance.

use crate::common;

use std::path::Path;

use common::{FirstCome, instance, job, options, text};
use makespan_core::{
    Decision, Event, Instance, Job, Outcome, Platform, Policy, Resources, Run, Running, Time, Trace, View,
};
use makespan_exec::journal::JournalError;
use makespan_exec::{
    ExecuteError, ExecuteOptions, HaltCount, HaltLimit, HaltRule, Observer, Progress, Silent, execute,
};

/// Ends that an observer receives, in order.
#[derive(Default)]
struct Reports {
    started: usize,
    ended: Vec<(String, Outcome)>,
    retried: Vec<(String, u32, String)>,
    interrupted: Vec<String>,
    messages: Vec<String>,
}

fn name(run: &Run, progress: &Progress<'_>) -> String {
    progress.view.instance.name(run.task).into_owned()
}

impl Observer for Reports {
    fn started(&mut self, _running: &Running, _progress: &Progress<'_>) {
        self.started += 1;
    }

    fn ended(&mut self, run: &Run, _reason: Option<&str>, progress: &Progress<'_>) {
        self.ended.push((name(run, progress), run.outcome));
        assert!(progress.ended as usize >= self.ended.len());
    }

    fn retried(&mut self, run: &Run, reason: Option<&str>, attempt: u32, progress: &Progress<'_>) {
        self.retried.push((name(run, progress), attempt, reason.unwrap_or_default().to_owned()));
    }

    fn interrupted(&mut self, run: &Run, progress: &Progress<'_>) {
        self.interrupted.push(name(run, progress));
    }

    fn message(&mut self, text: &str) {
        self.messages.push(text.to_owned());
    }
}

fn run(instance: &Instance, options: &ExecuteOptions) -> (Trace, Reports) {
    let mut reports = Reports::default();
    let trace = execute(instance, &mut FirstCome, options, &mut reports).unwrap();
    (trace, reports)
}

fn after(mut job: Job, other: &str) -> Job {
    job.after = vec![other.into()];
    job
}

/// Returns a job that records each start, and succeeds at the given start.
fn succeeds_at(folder: &Path, start: u32) -> String {
    let log = folder.join("log").display().to_string();
    format!("echo x >>{log}-$MAKESPAN_JOB; test $(wc -l <{log}-$MAKESPAN_JOB) -ge {start}")
}

fn shell(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(String::from).to_vec()
}

fn starts(folder: &Path, job: &str) -> usize {
    text(folder, &format!("log-{job}")).lines().count()
}

#[test]
fn a_task_that_fails_is_tried_again_as_often_as_is_asked() {
    let temporary = tempfile::tempdir().unwrap();
    let at = temporary.path();
    let scripts = |start| succeeds_at(at, start);
    let jobs = vec![
        job("third", 1, &scripts(3)),
        job("never", 1, &scripts(99)),
        after(job("behind", 1, &scripts(1)), "third"),
        after(job("lost", 1, &scripts(1)), "never"),
        Job::new("slow", makespan_core::Profile::rigid(1, Time::from_ticks(50_000_000)).unwrap())
            .with_walltime(Time::from_ticks(50_000_000))
            .with_command(shell(&format!("{}; sleep 60", scripts(99)))),
        job("missing", 1, "").with_command(vec!["no-such-program-at-all".into()]),
    ];
    let instance = instance(jobs);
    let tries = ExecuteOptions { retries: 2, ..options(&at.join("run")) };
    let (trace, reports) = run(&instance, &tries);
    assert_eq!(["third", "never", "behind", "lost", "slow"].map(|job| starts(at, job)), [3, 3, 1, 0, 3]);
    assert_eq!(reports.retried.len(), 6);
    assert!(
        reports.retried.iter().any(|(job, attempt, why)| job == "third" && *attempt == 2 && why.contains("status 1"))
    );
    assert_eq!(reports.ended.len(), 6);
    let outcome = |name: &str| reports.ended.iter().find(|(job, _)| job == name).unwrap().1;
    assert_eq!(["third", "behind"].map(outcome), [Outcome::Succeeded; 2]);
    assert_eq!(["lost", "missing"].map(outcome), [Outcome::NotStarted; 2]);
    assert_eq!((outcome("never"), outcome("slow")), (Outcome::Failed { status: 1 }, Outcome::TimedOut));
    assert_eq!(trace.runs.len(), 3 + 3 + 1 + 1 + 3 + 1);
    // With the same number of retries, a failed job is not tried again. With more retries, it is.
    let again = ExecuteOptions { resume: true, ..tries.clone() };
    assert_eq!(run(&instance, &again).0, trace);
    let more = ExecuteOptions { retries: 3, ..again.clone() };
    assert_eq!(run(&instance, &more).1.ended.len(), 3, "never, slow, and again lost");
    assert_eq!(["never", "lost", "slow"].map(|job| starts(at, job)), [4, 0, 4]);
    // With `retry_failed`, the count restarts at zero.
    let anew = ExecuteOptions { retry_failed: true, retries: 1, ..again };
    run(&instance, &anew);
    assert_eq!(["never", "lost", "slow"].map(|job| starts(at, job)), [6, 0, 6]);
}

#[test]
fn the_first_failure_ends_a_run_that_is_to_fail_fast() {
    let temporary = tempfile::tempdir().unwrap();
    let at = temporary.path();
    let jobs = vec![
        job("bad", 1, &format!("{}; exit 4", succeeds_at(at, 1))),
        job("long", 1, &format!("{}; sleep 0.4; echo done", succeeds_at(at, 1))),
        job("later", 1, &succeeds_at(at, 1)),
    ];
    let instance = instance(jobs);
    let fast = ExecuteOptions { halt: Some(HaltRule::FAIL_FAST), ..options(&at.join("run")) };
    let (trace, reports) = run(&instance, &fast);
    assert_eq!(["bad", "long", "later"].map(|job| starts(at, job)), [1, 1, 0]);
    assert_eq!((text(&at.join("run"), "long.out").as_str(), trace.runs.len()), ("done\n", 2));
    assert!(reports.interrupted.is_empty());
    // The other jobs run when the run is resumed.
    let again = ExecuteOptions { resume: true, ..options(&at.join("run")) };
    let (trace, _) = run(&instance, &again);
    assert_eq!((trace.runs.len(), starts(at, "bad"), starts(at, "later")), (3, 1, 1));
}

/// A job that ignores SIGTERM is killed after the grace period. It has not failed, and runs again.
#[test]
fn a_halt_ends_running_jobs_which_run_again() {
    let temporary = tempfile::tempdir().unwrap();
    let at = temporary.path();
    let begun = at.join("begun").display().to_string();
    let stubborn = format!("test -e {begun} && exit 0; trap '' TERM; touch {begun}; while :; do sleep 0.05; done");
    let bad = format!("until test -e {begun}; do sleep 0.01; done; exit 4");
    let instance =
        instance(vec![job("stubborn", 1, &stubborn), job("bad", 1, &bad), job("later", 1, &succeeds_at(at, 1))]);
    let now = HaltRule { ends_running: true, ..HaltRule::FAIL_FAST };
    let halted = ExecuteOptions { halt: Some(now), ..options(&at.join("run")) };
    let (trace, reports) = run(&instance, &halted);
    assert_eq!((trace.runs.len(), starts(at, "later")), (1, 0), "{trace:?}");
    assert_eq!(reports.interrupted, ["stubborn"]);
    // The failure of the earlier session does not count again.
    let (trace, reports) = run(&instance, &ExecuteOptions { resume: true, ..halted });
    assert_eq!((trace.runs.len(), starts(at, "later"), reports.interrupted.len()), (3, 1, 0), "{trace:?}");
}

#[test]
fn a_run_halts_at_a_number_or_a_percentage_of_ends() {
    for (counts, limit, ended) in [
        (HaltCount::Failures, HaltLimit::Number(2), 4),
        (HaltCount::Failures, HaltLimit::Percent(40), 4),
        (HaltCount::Failures, HaltLimit::Percent(41), 5),
        (HaltCount::Failures, HaltLimit::Number(3), 5),
        (HaltCount::Successes, HaltLimit::Number(2), 3),
        (HaltCount::Ends, HaltLimit::Percent(60), 3),
        (HaltCount::Ends, HaltLimit::Percent(61), 4),
    ] {
        let temporary = tempfile::tempdir().unwrap();
        let jobs = ["true", "false", "true", "false", "true"];
        let jobs = (1..).zip(jobs).map(|(number, script): (u32, _)| job(&number.to_string(), 2, script)).collect();
        let rule = HaltRule { ends_running: false, counts, limit };
        let (trace, _) = run(&instance(jobs), &ExecuteOptions { halt: Some(rule), ..options(temporary.path()) });
        assert_eq!(trace.runs.len(), ended, "{counts:?} {limit:?}");
    }
}

/// Policy that starts all jobs that fit, and records the instants of its calls.
struct Calls(Vec<Time>);

impl Policy for Calls {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        self.0.push(view.now);
        FirstCome.on(events, view, decisions);
        decisions.push(Decision::WakeAt(view.now + Time::from_ticks(20_000_000)));
    }
}

#[test]
fn nothing_is_planned_after_the_failure_that_ends_a_run() {
    let temporary = tempfile::tempdir().unwrap();
    // A job that cannot be started fails during the first call.
    let missing = job("bad", 1, "true").with_command(vec!["no-such-program-at-all".into()]);
    for (name, bad) in [("starts not", missing), ("fails", job("bad", 1, "sleep 0.1; exit 4"))] {
        let jobs = vec![job("long", 1, "sleep 0.6"), bad, job("later", 1, "true")];
        let options = ExecuteOptions { halt: Some(HaltRule::FAIL_FAST), ..options(&temporary.path().join(name)) };
        let mut policy = Calls(Vec::new());
        let trace = execute(&instance(jobs), &mut policy, &options, &mut Silent).unwrap();
        let end = trace.runs.iter().find(|run| run.task.0 == 1).unwrap().end;
        assert!(policy.0.iter().all(|&called| called <= end), "{name}: {:?} after {end}", policy.0);
        assert!(name == "fails" || policy.0.len() == 1, "{name}: {:?}", policy.0);
        assert!(trace.runs.len() == 2 - usize::from(name == "starts not"), "{name}: {:?}", trace.runs);
    }
}

#[test]
fn a_timeout_ends_what_states_no_walltime() {
    let temporary = tempfile::tempdir().unwrap();
    let jobs = vec![
        job("stuck", 1, "sleep 60"),
        job("quick", 1, "true"),
        job("stated", 1, "sleep 0.4").with_walltime(Time::from_seconds(50)),
    ];
    let timeout = Some(Time::from_ticks(150_000_000));
    let (trace, reports) = run(&instance(jobs), &ExecuteOptions { timeout, ..options(temporary.path()) });
    let outcome = |name: &str| reports.ended.iter().find(|(job, _)| job == name).unwrap().1;
    assert_eq!(["stuck", "quick", "stated"].map(outcome), [Outcome::TimedOut, Outcome::Succeeded, Outcome::Succeeded]);
    assert_eq!(trace.runs.len(), 3);
}

#[test]
fn a_job_that_used_too_much_memory_waits_for_twice_as_much() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("run");
    let amounts = Resources::new([("memory", 4 << 30)]).unwrap();
    let platform = || Platform::flat(2).unwrap().with_node_resources(&amounts).unwrap();
    let needs = || makespan_core::Needs::new([("memory", makespan_core::Need::whole(2 << 30))]).unwrap();
    let stamp = |name: &str| {
        format!("date +%s%N >{0}/{name}.begin; sleep 0.2; date +%s%N >{0}/{name}.end", temporary.path().display())
    };
    // The first attempt is killed as if it had run out of memory. The second attempt needs all the memory of the
    // platform.
    let script = format!(
        "test -e {0}/once || {{ touch {0}/once; sleep 0.05; exit 9; }}; {1}",
        temporary.path().display(),
        stamp("a")
    );
    let jobs = vec![
        job("a", 1, &script).with_needs(needs()),
        job("b", 1, &stamp("b")).with_needs(needs()),
        job("c", 1, &stamp("c")).with_needs(needs()),
    ];
    let instance = Instance::new(platform(), jobs, vec![]).unwrap();
    let first = ExecuteOptions { halt: Some(HaltRule::FAIL_FAST), ..options(&folder) };
    let (trace, _) = run(&instance, &first);
    assert!(trace.runs.iter().any(|run| run.outcome == Outcome::Failed { status: 9 }));
    // Memory is not scarce in this test, so the cause is written into the journal.
    let journal = text(&folder, "journal.jsonl");
    let marked: Vec<String> = journal
        .lines()
        .enumerate()
        .map(|(number, line)| {
            let (body, _) = line.split_once(&format!(",\"number\":{number},")).unwrap();
            let body = if body.contains("\"status\":9") {
                body.replacen("\"peak_memory\"", "\"memory_kill\":\"likely\",\"peak_memory\"", 1)
            } else {
                body.to_owned()
            };
            let open = format!("{body},\"number\":{number}");
            format!("{open},\"check\":\"{:08x}\"}}\n", crc32fast::hash(open.as_bytes()))
        })
        .collect();
    std::fs::write(folder.join("journal.jsonl"), marked.concat()).unwrap();
    for name in ["b", "c"] {
        let _ = std::fs::remove_file(temporary.path().join(format!("{name}.end")));
    }
    // No retries are allowed, but an attempt with more memory is not one of them.
    let more = ExecuteOptions { resume: true, raise_memory: true, ..options(&folder) };
    let (trace, reports) = run(&instance, &more);
    assert!(trace.all_succeeded(&instance), "{trace:?} {:?}", reports.messages);
    let reserved: Vec<Option<u64>> =
        trace.runs.iter().filter(|run| run.task.0 == 0).map(|run| run.accounting.unwrap().reserved_memory).collect();
    assert_eq!(reserved, [Some(2 << 30), Some(4 << 30)]);
    let last = |id: u64| trace.runs.iter().rev().find(|run| run.task.0 == id).unwrap();
    let (a, others) = (last(0), [last(1), last(2)]);
    assert!(others.iter().all(|other| other.end <= a.start || a.end <= other.start), "{trace:?}");
}

/// Resumes a run as another process would, and returns the sorted names of the jobs that were started.
fn resumed(at: &Path, instance: &Instance, more: ExecuteOptions) -> (Vec<String>, Trace, Reports) {
    let before: Vec<usize> = instance.task_ids().map(|task| starts(at, &instance.name(task))).collect();
    let (trace, reports) = run(instance, &ExecuteOptions { resume: true, ..more });
    let ran = instance.task_ids().zip(before).filter(|(task, count)| starts(at, &instance.name(*task)) > *count);
    (ran.map(|(task, _)| instance.name(task).into_owned()).collect(), trace, reports)
}

#[test]
fn after_an_edit_only_what_was_edited_runs_again() {
    let temporary = tempfile::tempdir().unwrap();
    let at = temporary.path();
    let ok = succeeds_at(at, 1);
    let bad = format!("{ok}; exit 5");
    let jobs = || {
        vec![job("a", 1, &ok), after(job("b", 1, &ok), "a"), job("c", 1, &ok), job("bad", 1, &bad), job("d", 1, &ok)]
    };
    let first = instance(jobs());
    let plain = || options(&at.join("run"));
    run(&first, &plain());
    // Only times, weights, order and other jobs were edited: no finished job is repeated, and failed jobs
    // remain failed.
    let mut edited = jobs();
    edited.remove(4);
    let profile = makespan_core::Profile::rigid(1, Time::from_seconds(500)).unwrap();
    edited[2] = Job::new("c", profile).with_command(shell(&ok));
    edited.reverse();
    edited.insert(1, job("new", 2, &ok));
    let (ran, trace, reports) = resumed(at, &instance(edited.clone()), plain());
    assert_eq!(ran, ["new"]);
    assert_eq!(trace.runs.len(), 5);
    let said = reports.messages.concat();
    assert!(said.contains("1 is new: `new`") && said.contains("1 was removed: `d`"), "{said}");
    // A corrected command runs, and so do the successors of an edited job.
    edited[0] = job("bad", 1, &format!("{ok};"));
    let position = edited.iter().position(|job| job.name == "a").unwrap();
    edited[position] = job("a", 1, &format!("{ok}; true"));
    let (ran, trace, reports) = resumed(at, &instance(edited.clone()), plain());
    assert_eq!(ran, ["bad", "b", "a"]);
    assert!(trace.all_succeeded(&instance(edited.clone())), "{trace:?}");
    assert!(reports.messages.concat().contains("were changed, or wait for a changed job"));
    // After the edit is reverted, the command has changed again.
    edited[position] = job("a", 1, &ok);
    let (ran, _, _) = resumed(at, &instance(edited.clone()), plain());
    assert_eq!(ran, ["b", "a"]);
    assert_eq!(resumed(at, &instance(edited), plain()).0, Vec::<String>::new());
}

#[test]
fn lines_are_known_by_what_they_do() {
    let temporary = tempfile::tempdir().unwrap();
    let at = temporary.path();
    let log = |word: &str| format!("echo {word} >>{}/words; test {word} != bad", at.display());
    let lines = |words: &[&str]| {
        instance(
            words.iter().enumerate().map(|(line, word)| job(&format!("{}-{word}", line + 1), 1, &log(word))).collect(),
        )
    };
    let made_up = |resume| ExecuteOptions { made_up_names: true, resume, ..options(&at.join("run")) };
    run(&lines(&["x", "bad", "x"]), &made_up(false));
    let (trace, _) = run(&lines(&["new", "x", "good", "x", "x"]), &made_up(true));
    let words = text(at, "words");
    let count = |word: &str| words.lines().filter(|line| *line == word).count();
    assert_eq!((count("x"), count("bad"), count("new"), count("good")), (3, 1, 1, 1));
    assert_eq!(trace.runs.len(), 5);
}

#[test]
fn a_journal_of_an_earlier_version_is_continued_but_not_with_another_instance() {
    let temporary = tempfile::tempdir().unwrap();
    let at = temporary.path();
    let ok = succeeds_at(at, 1);
    let first = instance(vec![job("a", 1, &ok), job("b", 1, &ok)]);
    run(&first, &options(at));
    // Journals of version 2 have no list of tasks and no accounting.
    let journal = text(at, "journal.jsonl");
    let old = journal.lines().filter(|line| !line.starts_with("{\"tasks\"")).enumerate().map(|(number, line)| {
        let body = line.rsplit_once(",\"number\"").unwrap().0.replacen("\"version\":3", "\"version\":2", 1);
        let body = match body.split_once(",\"accounting\"") {
            Some((before, _)) => format!("{before}}}"),
            None => body,
        };
        let open = format!("{body},\"number\":{number}");
        format!("{open},\"check\":\"{:08x}\"}}\n", crc32fast::hash(open.as_bytes()))
    });
    std::fs::write(at.join("journal.jsonl"), old.collect::<String>()).unwrap();
    std::fs::remove_dir_all(at.join("status")).unwrap();
    let edited = instance(vec![job("a", 1, &ok), job("b", 1, "true")]);
    let resume = ExecuteOptions { resume: true, ..options(at) };
    let refused = execute(&edited, &mut FirstCome, &resume, &mut Reports::default()).unwrap_err();
    assert!(matches!(refused, ExecuteError::Journal(JournalError::TasksUnknown { .. })), "{refused}");
    assert!(resumed(at, &first, options(at)).0.is_empty());
    // From now on, the journal lists each task.
    let (ran, trace, _) = resumed(at, &edited, options(at));
    assert!(ran.is_empty() && trace.all_succeeded(&edited) && trace.runs.len() == 2, "{trace:?}");
    assert_eq!((starts(at, "a"), starts(at, "b")), (1, 1));
}
