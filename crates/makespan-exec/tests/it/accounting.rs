//! Tests that measured resource use reaches the trace, the observer and the journal, and remains after a session.

use crate::common;

use std::time::{Duration, SystemTime};

use common::{FirstCome, Recorder, instance, job, options, text};
use makespan_core::{Accounting, Run};
use makespan_exec::{ExecuteOptions, MeasuredAttempt, Observer, execute};

/// A shell command that uses some CPU time.
const BUSY: &str = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";

/// Collects the measured attempts.
#[derive(Default)]
struct Memory(Vec<(Run, Vec<String>, u32, SystemTime)>);

impl Observer for Memory {
    fn measured(&mut self, measured: &MeasuredAttempt<'_>) {
        assert!(!measured.host.is_empty());
        self.0.push((measured.run.clone(), measured.command.to_vec(), measured.attempt, measured.began));
    }
}

#[test]
fn time_on_processors_and_peak_memory_are_counted_with_all_that_descends() {
    let folder = tempfile::tempdir().unwrap();
    // The first job keeps a string in memory. The second job waits for an orphan in a separate session, which does the work.
    let large = "x=$(head -c 40000000 /dev/zero | tr '\\0' x); test ${#x} = 40000000";
    let orphan = format!(
        "setsid -f sh -c '{BUSY}; echo done > {}/flag'; while ! test -e {}/flag; do sleep 0.01; done; sleep 0.05",
        folder.path().display(),
        folder.path().display()
    );
    let jobs =
        vec![job("idle", 1, "sleep 0.2"), job("busy", 1, BUSY), job("orphan", 1, &orphan), job("large", 1, large)];
    let instance = instance(jobs.into_iter().chain([job("bad", 1, "exit 3")]).collect());
    let mut memory = Memory::default();
    let began = SystemTime::now();
    let trace = execute(&instance, &mut FirstCome, &options(folder.path()), &mut memory).unwrap();
    let of = |id: u64| trace.runs.iter().find(|run| run.task.0 == id).unwrap().accounting.unwrap();
    let [idle, busy, orphan, large, bad]: [Accounting; 5] = [0, 1, 2, 3, 4].map(of);
    assert!(idle.cpu.seconds() < 0.1 && busy.cpu > idle.cpu + idle.cpu, "{idle:?} {busy:?}");
    assert!(orphan.cpu.seconds() > busy.cpu.seconds() / 3.0, "{orphan:?} {busy:?}");
    assert!((40_000_000..400_000_000).contains(&large.peak_memory), "{large:?}");
    assert!((100_000..30_000_000).contains(&idle.peak_memory), "{idle:?}");
    assert!([idle, busy, orphan, large, bad].iter().all(|one| one.memory_kill.is_none()));
    assert_eq!(memory.0.len(), 5);
    for (run, command, attempt, at) in &memory.0 {
        assert_eq!(trace.runs.iter().find(|one| one.task == run.task), Some(run));
        assert_eq!((*attempt, command), (1, &instance.command(run.task).to_vec()));
        assert!(*at >= began - Duration::from_secs(1) && *at <= SystemTime::now());
    }
    // A later session reports the same resource use.
    let again = ExecuteOptions { resume: true, ..options(folder.path()) };
    assert_eq!(execute(&instance, &mut FirstCome, &again, &mut Recorder::default()).unwrap(), trace);
    assert!(text(folder.path(), "journal.jsonl").contains("\"accounting\":{\"cpu\":"));
}

#[test]
fn threads_are_counted_that_run_or_wait_for_a_core() {
    let folder = tempfile::tempdir().unwrap();
    let four = "for i in 1 2 3 4; do timeout 1 sh -c 'while :; do :; done' & done; wait; true";
    let jobs = vec![job("four", 1, four), job("idle", 1, "sleep 1"), job("short", 1, "true")];
    let instance = instance(jobs);
    let trace = execute(&instance, &mut FirstCome, &options(folder.path()), &mut Memory::default()).unwrap();
    let of = |id: u64| trace.runs.iter().find(|run| run.task.0 == id).unwrap().accounting.unwrap().threads;
    assert!(of(0).is_some_and(|threads| (3..=5).contains(&threads)), "{:?}", of(0));
    assert_eq!((of(1), of(2)), (Some(0), None));
}
