use makespan_core::{Job, Outcome, Platform, ProcSet, Profile, TaskId, Time};
use proptest::prelude::*;

use std::fs;

use super::*;

const FRESH: Opening = Opening { resume: false, recover: false, of_now: false, grows: false };
const RESUME: Opening = Opening { resume: true, recover: false, of_now: false, grows: false };
const RECOVER: Opening = Opening { resume: true, recover: true, of_now: false, grows: false };

fn instance(jobs: usize) -> Instance {
    let job = |index: usize| Job::new(index.to_string(), Profile::rigid(1, Time::from_seconds(1)).unwrap());
    Instance::new(Platform::flat(2).unwrap(), (0..jobs).map(job).collect(), vec![]).unwrap()
}

fn started(task: u64) -> JournalRecord {
    JournalRecord::Started {
        task: TaskId(task),
        attempt: 1,
        at: Time::from_ticks(5),
        processors: ProcSet::first(1),
        pid: 77,
        pid_start: 99,
        gpus: None,
    }
}

fn ended(task: u64, outcome: Outcome) -> JournalRecord {
    let (start, at) = (Time::from_ticks(5), Time::from_ticks(9));
    JournalRecord::Ended { task: TaskId(task), start, at, processors: ProcSet::first(1), outcome, accounting: None }
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let instance = instance(3);
    let (mut journal, history) = Journal::open(folder.path(), &instance, FRESH).unwrap();
    assert_eq!(history.tasks, vec![Progression::Open; 3]);
    for record in [
        JournalRecord::Session { at: Time::ZERO, boot: "b".into(), group: Some("/g".into()) },
        started(0),
        ended(0, Outcome::Failed { status: 3 }),
        started(1),
        JournalRecord::Ending { task: TaskId(1), cause: Cause::Walltime },
        JournalRecord::Cancelled { task: TaskId(2), at: Time::from_ticks(11) },
    ] {
        journal.append(&record).unwrap();
    }
    drop(journal);
    let (_journal, history) = Journal::open(folder.path(), &instance, RESUME).unwrap();
    assert_eq!(history.tasks[0], Progression::Ended(Outcome::Failed { status: 3 }));
    assert!(
        matches!(&history.tasks[1], Progression::Running(attempt) if attempt.pid == 77 && attempt.ending == Some(Cause::Walltime))
    );
    assert_eq!(history.tasks[2], Progression::Cancelled);
    assert_eq!((history.runs.len(), history.latest), (1, Time::from_ticks(11)));
    assert_eq!(history.attempts, [1, 1, 0]);
}

#[test]
fn a_check_refuses_the_same_and_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let check = |jobs: usize, resume: bool| {
        Journal::check(folder.path(), &instance(jobs), Opening { resume, recover: false, of_now: false, grows: false })
    };
    check(1, false).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let (mut journal, _) = Journal::open(folder.path(), &instance(1), FRESH).unwrap();
    // The journal has no list of tasks, as in earlier versions.
    journal.append(&JournalRecord::Session { at: Time::ZERO, boot: "b".into(), group: None }).unwrap();
    assert!(matches!(check(1, true), Err(JournalError::Busy { .. })));
    drop(journal);
    check(1, true).unwrap();
    assert!(matches!(check(1, false), Err(JournalError::Exists { .. })));
    assert!(matches!(check(2, true), Err(JournalError::TasksUnknown { .. })));
}

#[test]
fn refuses_a_second_process_a_second_run_and_another_instance() {
    let folder = tempfile::tempdir().unwrap();
    let (mut journal, _) = Journal::open(folder.path(), &instance(1), FRESH).unwrap();
    journal.append(&JournalRecord::Session { at: Time::ZERO, boot: "b".into(), group: None }).unwrap();
    assert!(matches!(Journal::open(folder.path(), &instance(1), RESUME), Err(JournalError::Busy { .. })));
    drop(journal);
    assert!(matches!(Journal::open(folder.path(), &instance(1), FRESH), Err(JournalError::Exists { .. })));
    assert!(matches!(Journal::open(folder.path(), &instance(2), RESUME), Err(JournalError::TasksUnknown { .. })));
}

/// Returns a run in which two of three tasks have ended, with its folder and the bytes of its journal.
fn half_done() -> (tempfile::TempDir, Instance, Vec<u8>) {
    let (folder, instance) = (tempfile::tempdir().unwrap(), instance(3));
    let (mut journal, history) = Journal::open(folder.path(), &instance, FRESH).unwrap();
    let session = JournalRecord::Session { at: Time::ZERO, boot: "b".into(), group: None };
    for record in
        [session, started(0), ended(0, Outcome::Succeeded), started(1), ended(1, Outcome::Failed { status: 3 })]
    {
        journal.append(&record).unwrap();
    }
    fs::create_dir(folder.path().join(crate::files::STATUS)).unwrap();
    for (task, status) in [(0, 0), (1, 3)] {
        leave_status(folder.path(), &instance, history.origin, task, status);
    }
    let bytes = fs::read(folder.path().join(FILE)).unwrap();
    (folder, instance, bytes)
}

/// Writes the status file of the first attempt of a task.
fn leave_status(folder: &Path, instance: &Instance, run: i64, task: u64, exit: i32) {
    let claim = crate::status::AttemptClaim {
        run,
        instance: makespan_core::fingerprint(instance),
        task: TaskId(task),
        attempt: 1,
        at: Time::from_ticks(5),
        processors: ProcSet::first(1),
    };
    let status = crate::status::AttemptStatus {
        claim,
        exit,
        asked: false,
        stopped: false,
        ended: run + 9,
        accounting: None,
        left_background: false,
        reason: None,
    };
    let path = Files::at(folder.to_owned(), instance).status(TaskId(task), 1);
    crate::status::StatusSlot::reserve(&Disk, &path).unwrap().fill(&Disk, &status, true).unwrap();
}

/// Returns the tasks that would run, or run again.
fn open_tasks(history: &History) -> Vec<u64> {
    let open = |(id, task): (u64, &Progression)| matches!(task, Progression::Open).then_some(id);
    (0..).zip(&history.tasks).filter_map(open).collect()
}

#[test]
fn no_damage_repeats_or_loses_a_job() {
    check_damage(5, 31);
}

#[test]
#[ignore = "long: it damages a journal in thousands of places"]
fn no_damage_in_any_place_repeats_or_loses_a_job() {
    check_damage(1, 3);
}

/// Truncates a journal at every `length`-th length, and flips every `bit`-th bit alone. Either the damage is reported,
/// or no finished task is open again. After the recovery of a damaged journal, no task that succeeded is open.
fn check_damage(length: usize, bit: usize) {
    let (folder, instance, bytes) = half_done();
    let path = folder.path().join(FILE);
    let truncated = (0..=bytes.len()).step_by(length).map(|length| bytes[..length].to_vec());
    let flipped = (0..bytes.len() * 8).step_by(bit).map(|bit| {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    });
    let swapped = (1..4).map(|line| {
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
        lines.swap(line, line + 1);
        lines.concat()
    });
    let (mut refused, mut harmless) = (0, 0);
    for damaged in truncated.chain(flipped).chain(swapped) {
        fs::write(&path, &damaged).unwrap();
        match Journal::open(folder.path(), &instance, RESUME) {
            Ok((_, history)) => {
                harmless += 1;
                let settled = |task: u32| match &history.tasks[task as usize] {
                    // The status file of this task is read.
                    Progression::Running(attempt) => attempt.attempt == 1,
                    progression => matches!(progression, Progression::Ended(_)),
                };
                assert!(settled(0) && settled(1), "{:?}\n{}", history.tasks, String::from_utf8_lossy(&damaged));
            }
            Err(error) => {
                refused += 1;
                assert!(error.to_string().contains("--recover"), "{error}");
                assert!(Journal::check(folder.path(), &instance, RESUME).is_err());
                let (journal, history) = Journal::open(folder.path(), &instance, RECOVER).unwrap();
                drop(journal);
                let settled = !open_tasks(&history).contains(&0);
                assert!(settled, "{:?}\n{}", history.tasks, String::from_utf8_lossy(&damaged));
                let (_, again) = Journal::open(folder.path(), &instance, RESUME).unwrap();
                assert_eq!(again, history, "what was recovered is a journal like any other");
            }
        }
    }
    assert!(refused > bytes.len() / length && harmless > 10, "{refused} {harmless}");
}

#[test]
fn a_foreign_file_is_left_alone_and_an_old_journal_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (instance, path) = (instance(1), folder.path().join(FILE));
    for foreign in ["my diary\n", "my diary", "{\"a\":1}\n{\"b\":2}\n", "\0\0\0", "{\"header\":{\"title\":1}}\n"] {
        fs::write(&path, foreign).unwrap();
        for how in [FRESH, RESUME, RECOVER] {
            let error = Journal::open(folder.path(), &instance, how).unwrap_err();
            assert!(matches!(error, JournalError::NotAJournal { .. }), "{foreign:?}: {error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), foreign);
        }
    }
    fs::write(&path, "{\"header\":{\"version\":1,\"fingerprint\":\"ab\",\"origin\":5}}\n{\"stopped\":{\"at\":1}}\n")
        .unwrap();
    for how in [FRESH, RESUME, RECOVER] {
        let error = Journal::open(folder.path(), &instance, how).unwrap_err();
        assert!(matches!(error, JournalError::Version { version: 1, .. }), "{error}");
    }
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/null", &path).unwrap();
    let error = Journal::open(folder.path(), &instance, FRESH).unwrap_err().to_string();
    assert!(error.contains("symbolic link"), "{error}");
}

#[test]
fn an_end_must_fit_its_start() {
    let (folder, instance, bytes) = half_done();
    drop(bytes);
    for record in [
        started(1),
        ended(2, Outcome::Succeeded),
        started(0),
        JournalRecord::Interrupted { task: TaskId(2), at: Time::ZERO },
    ] {
        let copy = tempfile::tempdir().unwrap();
        fs::copy(folder.path().join(FILE), copy.path().join(FILE)).unwrap();
        let (mut journal, _) = Journal::open(copy.path(), &instance, RESUME).unwrap();
        journal.append(&record).unwrap();
        drop(journal);
        let error = Journal::open(copy.path(), &instance, RESUME).unwrap_err();
        assert!(matches!(error, JournalError::Damaged { line: 7, .. }), "{error}");
    }
}

#[test]
fn a_status_without_its_start_is_noticed() {
    let (folder, instance, bytes) = half_done();
    let path = folder.path().join(FILE);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    fs::write(&path, lines[..4].concat()).unwrap();
    let error = Journal::open(folder.path(), &instance, RESUME).unwrap_err();
    assert!(matches!(error, JournalError::Contradiction { .. }), "{error}");
    fs::remove_file(&path).unwrap();
    for how in [FRESH, RESUME] {
        let error = Journal::open(folder.path(), &instance, how).unwrap_err();
        assert!(matches!(error, JournalError::Lost { .. }), "{error}");
    }
    let (journal, history) = Journal::open(folder.path(), &instance, RECOVER).unwrap();
    assert_eq!((open_tasks(&history), history.runs.len()), (vec![2], 2));
    drop(journal);
    // A status file of another run is ignored if there is also a status file of this run.
    leave_status(folder.path(), &instance, history.origin + 7, 2, 0);
    let (_, history) = Journal::open(folder.path(), &instance, RESUME).unwrap();
    assert_eq!(open_tasks(&history), [2]);
}

/// Checks all pairs of actions in two folders with runs of one instance. A journal copied from the other folder is
/// refused, and recovery ignores it.
#[test]
fn the_journal_of_another_run_of_the_same_instance_is_refused() {
    for done in [1, 2, 3] {
        let (own, instance, bytes) = half_done();
        let other = tempfile::tempdir().unwrap();
        let (mut journal, _) = Journal::open(other.path(), &instance, FRESH).unwrap();
        journal.append(&JournalRecord::Session { at: Time::ZERO, boot: "b".into(), group: None }).unwrap();
        for task in 0..done {
            journal.append(&started(task)).unwrap();
            journal.append(&ended(task, Outcome::Succeeded)).unwrap();
        }
        drop(journal);
        let path = own.path().join(FILE);
        fs::copy(other.path().join(FILE), &path).unwrap();
        let error = Journal::open(own.path(), &instance, RESUME).unwrap_err();
        assert!(matches!(error, JournalError::OtherRun { .. }), "{error}");
        assert!(Journal::check(own.path(), &instance, RESUME).is_err());
        let (journal, recovered) = Journal::open(own.path(), &instance, RECOVER).unwrap();
        assert_eq!((open_tasks(&recovered), recovered.runs.len()), (vec![2], 2), "what its own status files tell");
        drop(journal);
        assert_eq!(Journal::open(own.path(), &instance, RESUME).unwrap().1, recovered);
        fs::write(&path, bytes).unwrap();
        assert_eq!(open_tasks(&Journal::open(own.path(), &instance, RESUME).unwrap().1), [2]);
    }
}

proptest! {
    /// Checks that a truncated journal contains exactly the records on complete lines, and that it can be continued.
    #[test]
    fn a_torn_journal_keeps_its_whole_lines(cut in 0.0..1.0_f64) {
        let folder = tempfile::tempdir().unwrap();
        let instance = instance(2);
        let (mut journal, _) = Journal::open(folder.path(), &instance, FRESH).unwrap();
        for record in [started(0), ended(0, Outcome::Succeeded), started(1)] {
            journal.append(&record).unwrap();
        }
        drop(journal);
        let path = folder.path().join(FILE);
        let bytes = fs::read(&path).unwrap();
        let kept = &bytes[..(bytes.len() as f64 * cut) as usize];
        fs::write(&path, kept).unwrap();
        let whole = kept.split(|&byte| byte == b'\n').count() - 1;
        let (mut journal, history) = Journal::open(folder.path(), &instance, RESUME).unwrap();
        prop_assert_eq!(history.attempts[0] == 1, whole >= 2);
        prop_assert_eq!(history.runs.len(), usize::from(whole >= 3));
        journal.append(&started(1)).unwrap();
        drop(journal);
        let (_journal, history) = Journal::open(folder.path(), &instance, RESUME).unwrap();
        prop_assert_eq!(history.attempts[1], 1);
    }
}
