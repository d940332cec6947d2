//! Tests of jobs in real processes: their environment and their outcomes.

use crate::common;

use common::{FirstCome, Recorder, instance, job, options, text};
use makespan_core::{Outcome, ProcSet, TaskId, Time};
use makespan_exec::{ExecuteError, ExecuteOptions, cores, execute};

#[test]
fn jobs_get_their_allotment_their_cores_and_nothing_on_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo {processors} $MAKESPAN_PROCESSORS $OMP_NUM_THREADS $RAYON_NUM_THREADS $MAKESPAN_JOB; \
                  cat; grep Cpus_allowed_list /proc/self/status; echo noise >&2";
    let instance = instance(vec![job("wide", 2, script), job("na/me", 1, script)]);
    let mut heard = Recorder::default();
    let trace = execute(&instance, &mut FirstCome, &options(folder.path()), &mut heard).unwrap();
    assert!(trace.all_succeeded(&instance), "{trace:?}");
    let cores = cores().unwrap();
    let list = |count: usize| {
        let ids: Vec<u32> = cores.iter().take(count).map(|&core| core as u32).collect();
        ProcSet::from_intervals(ids.into_iter().map(|id| (id, id)).collect()).to_string()
    };
    assert_eq!(text(folder.path(), "wide.out"), format!("2 2 2 2 wide\nCpus_allowed_list:\t{}\n", list(2)));
    assert_eq!(text(folder.path(), "_na_me~1.out"), format!("1 1 1 1 na/me\nCpus_allowed_list:\t{}\n", list(1)));
    assert_eq!(text(folder.path(), "wide.err"), "noise\n");
    assert_eq!(heard.started, ["wide", "na/me"]);
    assert!(heard.ticks > 0);
    assert!(trace.runs[0].end <= trace.runs[1].start, "the second waits for the processors of the first");
}

#[test]
fn failing_jobs_are_reported_and_the_others_kept() {
    let folder = tempfile::tempdir().unwrap();
    let missing = job("missing", 1, "").with_command(vec!["no-such-program-at-all".into()]);
    // `exit` is a builtin of the shell, not a program.
    let builtin = job("builtin", 1, "").with_command(vec!["exit".into(), "0".into()]);
    let jobs = vec![job("bad", 1, "exit 7"), missing, builtin, job("killed", 1, "kill -9 $$"), job("good", 2, "true")];
    let instance = instance(jobs);
    let mut heard = Recorder::default();
    let trace = execute(&instance, &mut FirstCome, &options(folder.path()), &mut heard).unwrap();
    let outcome = |id: u64| trace.runs.iter().find(|run| run.task == TaskId(id)).unwrap().outcome;
    assert_eq!(outcome(0), Outcome::Failed { status: 7 });
    assert_eq!((outcome(1), outcome(2)), (Outcome::NotStarted, Outcome::NotStarted));
    assert_eq!(outcome(3), Outcome::Failed { status: 137 });
    assert_eq!(outcome(4), Outcome::Succeeded);
    assert!(!trace.all_succeeded(&instance));
    let reason = |name: &str| heard.ended.iter().find(|(job, _)| job == name).unwrap().1.clone().unwrap();
    assert!(reason("missing").contains("no program of this name"));
    assert!(reason("killed").contains("signal 9"));
    // A resumed run does not repeat failed jobs, except on request.
    let mut again = ExecuteOptions { resume: true, ..options(folder.path()) };
    let kept = execute(&instance, &mut FirstCome, &again, &mut heard).unwrap();
    assert_eq!(kept, trace);
    again.retry_failed = true;
    let retried = execute(&instance, &mut FirstCome, &again, &mut heard).unwrap();
    assert_eq!(retried.runs.len(), 9);
    assert_eq!(retried.runs[..5], trace.runs[..]);
    assert_eq!(retried.runs.iter().filter(|run| run.task == TaskId(4)).count(), 1);
}

#[test]
fn a_walltime_ends_the_whole_group_even_against_its_will() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("survived");
    let stubborn = format!("trap '' TERM; (sleep 3; touch {}) & while :; do sleep 0.05; done", mark.display());
    let mut jobs = vec![job("polite", 1, "sleep 60"), job("stubborn", 1, &stubborn)];
    for job in &mut jobs {
        job.work.task_mut().unwrap().profile = makespan_core::Profile::rigid(1, Time::from_ticks(1_000_000)).unwrap();
        job.walltime = Some(Time::from_ticks(100_000_000));
    }
    let instance = instance(jobs);
    let trace = execute(&instance, &mut FirstCome, &options(folder.path()), &mut Recorder::default()).unwrap();
    assert!(trace.runs.iter().all(|run| run.outcome == Outcome::TimedOut), "{trace:?}");
    assert!(trace.schedule().makespan() < Time::from_seconds(3));
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(!mark.exists());
}

#[test]
fn release_dates_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let release = Time::from_ticks(150_000_000);
    let instance = instance(vec![job("late", 1, "true").with_release(release), job("early", 1, "true")]);
    let mut heard = Recorder::default();
    let trace = execute(&instance, &mut FirstCome, &options(folder.path()), &mut heard).unwrap();
    assert_eq!(heard.started, ["early", "late"]);
    assert!(trace.runs[1].start >= release);
}

#[test]
fn refuses_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let bare = job("bare", 1, "true").with_command(vec![]);
    let options = ExecuteOptions { oversubscribe: false, ..options(folder.path()) };
    let run = |instance: &makespan_core::Instance| {
        execute(instance, &mut FirstCome, &options, &mut Recorder::default()).unwrap_err()
    };
    assert!(matches!(run(&instance(vec![job("a", 1, "true"), bare])), ExecuteError::NoCommand(name) if name == "bare"));
    let wide = makespan_core::Platform::flat(100_000).unwrap();
    let wide = makespan_core::Instance::new(wide, vec![job("a", 1, "true")], vec![]).unwrap();
    assert!(matches!(run(&wide), ExecuteError::TooFewCores { processors: 100_000, .. }));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
