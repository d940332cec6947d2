//! The cores on which pinned and unpinned jobs run.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use makespan_core::{Instance, Job, Time};
use makespan_exec::{ExecuteOptions, Pinning, Silent, cores, execute};

use crate::common::{FirstCome, instance, job, options};

/// Prints the cores of a process, such as `0-1,4`.
const CORES: &str = "sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/$p/status";

/// Runs an instance. Returns false if this process may use only one core, which makes the test meaningless.
fn runs(instance: &Instance, folder: &Path, pinning: Pinning) -> bool {
    if cores().unwrap().len() < 2 {
        eprintln!("SKIPPED: this process may use one core only");
        return false;
    }
    let options = ExecuteOptions { pinning, ..options(folder) };
    let trace = execute(instance, &mut FirstCome, &options, &mut Silent).unwrap();
    assert!(trace.all_succeeded(instance));
    true
}

/// Returns the lines of an output as sets of cores.
fn printed(folder: &Path, name: &str) -> Vec<BTreeSet<usize>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        first.parse::<usize>().unwrap()..=last.parse().unwrap()
    };
    let set = |line: &str| line.split(',').flat_map(range).collect();
    fs::read_to_string(folder.join(name)).unwrap().lines().map(set).collect()
}

fn all() -> BTreeSet<usize> {
    cores().unwrap().into_iter().collect()
}

fn without(core: usize) -> BTreeSet<usize> {
    all().into_iter().filter(|other| *other != core).collect()
}

fn released(job: Job, milliseconds: i64) -> Job {
    Job { release: Time::from_ticks(milliseconds * 1_000_000), ..job }
}

#[test]
fn only_jobs_that_state_cores_are_pinned_and_learn_their_number_of_threads() {
    let script = format!("p=$$; {CORES}; echo ${{OMP_NUM_THREADS-none}} $MAKESPAN_PROCESSORS >&2");
    let assumed = Job { after: vec!["stated".into()], ..job("assumed", 1, &script).with_assumed_core() };
    let instance = instance(vec![job("stated", 1, &script), assumed]);
    for (pinning, is_pinned) in [(Pinning::Stated, [true, false]), (Pinning::All, [true, true])] {
        let folder = tempfile::tempdir().unwrap();
        if !runs(&instance, folder.path(), pinning) {
            return;
        }
        for (name, is_pinned) in ["stated", "assumed"].into_iter().zip(is_pinned) {
            let allowed = printed(folder.path(), &format!("{name}.out")).remove(0);
            let told = fs::read_to_string(folder.path().join(format!("{name}.err"))).unwrap();
            assert_eq!(allowed.len() == 1, is_pinned, "{name} {pinning:?}");
            assert_eq!(told.trim(), if is_pinned { "1 1" } else { "none 1" }, "{name} {pinning:?}");
        }
    }
}

#[test]
fn an_unpinned_job_starts_on_no_core_of_a_pinned_one() {
    let pinned = job("pinned", 1, "sleep 0.5");
    let later = job("later", 1, &format!("p=$$; {CORES}")).with_assumed_core();
    let after = Job { after: vec!["pinned".into()], ..job("after", 1, &format!("p=$$; {CORES}")).with_assumed_core() };
    let instance = instance(vec![pinned, released(later, 100), after]);
    let folder = tempfile::tempdir().unwrap();
    if runs(&instance, folder.path(), Pinning::Stated) {
        assert_eq!(printed(folder.path(), "later.out"), [without(cores().unwrap()[0])]);
        assert_eq!(printed(folder.path(), "after.out"), [all()]);
    }
}

#[test]
fn a_pinned_job_takes_its_cores_from_the_unpinned_jobs_that_run() {
    // The first process has its own session. Another process is born while the pinned job runs.
    let script =
        format!("setsid sleep 3 & c=$!; p=$$; {CORES}; sleep 0.8; {CORES}; p=$c; {CORES}; p=self; {CORES}; kill $c");
    let unpinned = job("unpinned", 1, &script).with_assumed_core();
    let instance = instance(vec![unpinned, released(job("pinned", 1, "sleep 1"), 300)]);
    let folder = tempfile::tempdir().unwrap();
    if runs(&instance, folder.path(), Pinning::Stated) {
        let left = without(cores().unwrap()[1]);
        assert_eq!(printed(folder.path(), "unpinned.out"), [all(), left.clone(), left.clone(), left]);
    }
}
