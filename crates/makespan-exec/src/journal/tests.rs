use makespan_core::{Job, JobId, Outcome, Platform, ProcSet, Profile, Time};
use proptest::prelude::*;

use super::*;

fn instance(jobs: usize) -> Instance {
    let job = |index: usize| Job::new(index.to_string(), Profile::rigid(1, Time::from_seconds(1)).unwrap());
    Instance::new(Platform::flat(2).unwrap(), (0..jobs).map(job).collect(), vec![]).unwrap()
}

fn started(job: u32) -> Record {
    Record::Started {
        job: JobId(job),
        attempt: 1,
        at: Time::from_ticks(5),
        processors: ProcSet::first(1),
        pid: 77,
        pid_start: 99,
    }
}

fn ended(job: u32, outcome: Outcome) -> Record {
    let (start, at) = (Time::from_ticks(5), Time::from_ticks(9));
    Record::Ended { job: JobId(job), start, at, processors: ProcSet::first(1), outcome }
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let instance = instance(3);
    let (mut journal, history) = Journal::open(folder.path(), &instance, false).unwrap();
    assert_eq!(history.jobs, vec![Progression::Open; 3]);
    for record in [
        Record::Session { at: Time::ZERO, boot: "b".into() },
        started(0),
        ended(0, Outcome::Failed { status: 3 }),
        started(1),
        Record::Ending { job: JobId(1), cause: Cause::Walltime },
        Record::Cancelled { job: JobId(2), at: Time::from_ticks(11) },
    ] {
        journal.append(&record).unwrap();
    }
    drop(journal);
    let (_journal, history) = Journal::open(folder.path(), &instance, true).unwrap();
    assert_eq!(history.jobs[0], Progression::Ended(Outcome::Failed { status: 3 }));
    assert!(
        matches!(&history.jobs[1], Progression::Running(attempt) if attempt.pid == 77 && attempt.ending == Some(Cause::Walltime))
    );
    assert_eq!(history.jobs[2], Progression::Cancelled);
    assert_eq!((history.runs.len(), history.latest), (1, Time::from_ticks(11)));
    assert_eq!(history.attempts, [1, 1, 0]);
}

#[test]
fn a_check_refuses_the_same_and_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let check = |jobs: usize, resume: bool| Journal::check(folder.path(), &instance(jobs), resume);
    check(1, false).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let (journal, _) = Journal::open(folder.path(), &instance(1), false).unwrap();
    assert!(matches!(check(1, true), Err(JournalError::Busy { .. })));
    drop(journal);
    check(1, true).unwrap();
    assert!(matches!(check(1, false), Err(JournalError::Exists { .. })));
    assert!(matches!(check(2, true), Err(JournalError::OtherInstance { .. })));
}

#[test]
fn refuses_a_second_process_a_second_run_and_another_instance() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = Journal::open(folder.path(), &instance(1), false).unwrap();
    assert!(matches!(Journal::open(folder.path(), &instance(1), true), Err(JournalError::Busy { .. })));
    drop(journal);
    assert!(matches!(Journal::open(folder.path(), &instance(1), false), Err(JournalError::Exists { .. })));
    assert!(matches!(Journal::open(folder.path(), &instance(2), true), Err(JournalError::OtherInstance { .. })));
}

#[test]
fn a_damaged_line_in_the_middle_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let instance = instance(1);
    drop(Journal::open(folder.path(), &instance, false).unwrap());
    let path = folder.path().join(FILE);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{{\"started\":\n{text}")).unwrap();
    let error = Journal::open(folder.path(), &instance, true).unwrap_err();
    assert!(matches!(&error, JournalError::Malformed { line: 2, .. }), "{error}");
    fs::write(&path, "{\"stopped\":{\"at\":1}}\n").unwrap();
    assert!(matches!(Journal::open(folder.path(), &instance, true), Err(JournalError::Malformed { line: 1, .. })));
}

proptest! {
    /// Cut anywhere, a journal holds exactly the records whose lines are whole, and can be continued.
    #[test]
    fn a_torn_journal_keeps_its_whole_lines(cut in 0.0..1.0_f64) {
        let folder = tempfile::tempdir().unwrap();
        let instance = instance(2);
        let (mut journal, _) = Journal::open(folder.path(), &instance, false).unwrap();
        for record in [started(0), ended(0, Outcome::Succeeded), started(1)] {
            journal.append(&record).unwrap();
        }
        drop(journal);
        let path = folder.path().join(FILE);
        let bytes = fs::read(&path).unwrap();
        let kept = &bytes[..(bytes.len() as f64 * cut) as usize];
        fs::write(&path, kept).unwrap();
        let whole = kept.split(|&byte| byte == b'\n').count() - 1;
        let (mut journal, history) = Journal::open(folder.path(), &instance, true).unwrap();
        prop_assert_eq!(history.attempts[0] == 1, whole >= 2);
        prop_assert_eq!(history.runs.len(), usize::from(whole >= 3));
        journal.append(&started(1)).unwrap();
        drop(journal);
        let (_journal, history) = Journal::open(folder.path(), &instance, true).unwrap();
        prop_assert_eq!(history.attempts[1], 1);
    }
}
