//! Tests of damaged databases and journals.

use std::fs;
use std::path::Path;

use makespan_exec::journal::FILE;
use makespan_service::backup::back_up;
use makespan_service::words::{JobNumber, State, Stream};
use makespan_service::{Service, StoreState, examine};
use proptest::prelude::*;

use crate::common::{admin, copy, keeper, options, script, start, submit, until, until_state};

/// Texts of which each error about a damaged store contains one.
const REMEDIES: [&str; 6] = [
    "makespan service restore",
    "makespan serve --recover",
    "choose another folder",
    "use that version",
    "restore both files",
    "continue with the program that started the run",
];

/// Makes a store in which three jobs have run.
fn make(store: &Path) {
    let keeper = keeper(store);
    let jobs = ["echo one", "exit 2", "echo three"].map(|text| submit(&keeper, script(text)));
    jobs.iter()
        .zip([State::Succeeded, State::Failed, State::Succeeded])
        .for_each(|(&job, state)| until_state(&keeper, job, state));
    keeper.close();
}

/// Returns the first problem that `serve --check` reports.
fn problem(store: &Path) -> Option<String> {
    examine(store).into_iter().find_map(|(_, state)| match state {
        StoreState::Unusable(text) => Some(text),
        _ => None,
    })
}

fn has_remedy(text: &str) -> bool {
    REMEDIES.iter().any(|remedy| text.contains(remedy))
}

/// Overwrites random parts of the database or of the journal. Checks that the service starts, or that the start, the check
/// and a backup report the damaged file and a remedy.
#[test]
fn damage_is_reported_with_its_place_and_a_remedy() {
    let temporary = tempfile::tempdir().unwrap();
    let sound = temporary.path().join("sound");
    make(&sound);
    let journal = Path::new("round-1").join(FILE);
    let strategy = (any::<bool>(), 0.0..1.0_f64, 1_usize..300, any::<u8>());
    let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |((in_journal, at, length, byte) in strategy)| {
        let case = tempfile::tempdir().unwrap();
        let store = case.path().join("store");
        copy(&sound, &store);
        let file = if in_journal { store.join(&journal) } else { store.join("store.sqlite") };
        let mut bytes = fs::read(&file).unwrap();
        let at = (at * bytes.len() as f64) as usize;
        let end = (at + length).min(bytes.len());
        bytes[at..end].fill(byte);
        fs::write(&file, &bytes).unwrap();
        let found = problem(&store);
        let saved = back_up(&store, &case.path().join("backup")).map_err(|error| error.to_string());
        let started = start(&options(&store));
        match started {
            Ok(keeper) => {
                keeper.close();
                // The check also reads parts that the service reads later.
                prop_assert!(found.as_deref().is_none_or(has_remedy), "{found:?}");
            }
            Err(text) => {
                prop_assert!(text.contains(&*file.to_string_lossy()) && has_remedy(&text), "{text}");
                prop_assert!(found.as_ref().is_some_and(|found| has_remedy(found)), "{found:?}");
                let saved = saved.expect_err("a damaged store was saved");
                prop_assert!(has_remedy(&saved) && !saved.contains(".partial-"), "{saved}");
            }
        }
    });
}

/// Cuts the journal at random places, and deletes random status files. Checks that the check, the start and the backup
/// agree: either all report the journal with a remedy, or the service starts. Checks that no ended job runs again, also
/// after a recovery.
#[test]
fn a_journal_that_lost_its_end_is_reported() {
    let temporary = tempfile::tempdir().unwrap();
    let sound = temporary.path().join("sound");
    make(&sound);
    let config = ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() };
    let reported = std::cell::Cell::new(0);
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let outcome = runner.run(&(0.0..1.0_f64, any::<[bool; 3]>()), |(part, kept)| {
        let case = tempfile::tempdir().unwrap();
        let store = case.path().join("store");
        copy(&sound, &store);
        let journal = store.join("round-1").join(FILE);
        let bytes = fs::read(&journal).unwrap();
        fs::write(&journal, &bytes[..(part * bytes.len() as f64) as usize]).unwrap();
        for (job, _) in (1..).zip(kept).filter(|(_, kept)| !kept) {
            let _ = fs::remove_file(store.join("round-1/status").join(format!("{job}.1")));
        }
        let found = problem(&store);
        let saved = back_up(&store, &case.path().join("backup")).map_err(|error| error.to_string());
        let started = start(&options(&store));
        let keeper = match (found, started) {
            (Some(found), Err(text)) => {
                let is_named = |text: &str| text.contains("makespan serve --recover") && text.contains("round-1");
                prop_assert!(is_named(&found) && is_named(&text), "{found}\n{text}");
                prop_assert!(saved.is_err_and(|saved| is_named(&saved)));
                reported.set(reported.get() + 1);
                let mut recovering = options(&store);
                recovering.recover = true;
                start(&recovering).unwrap()
            }
            (None, Ok(keeper)) => keeper,
            (found, started) => return Err(TestCaseError::fail(format!("{found:?} {:?}", started.err()))),
        };
        let next = submit(&keeper, script("true"));
        until_state(&keeper, next, State::Succeeded);
        for job in (1..=3).map(JobNumber) {
            prop_assert_eq!(keeper.job(&admin(), job).unwrap().task_list[0].attempts, 1);
        }
        keeper.close();
        Ok(())
    });
    outcome.unwrap();
    assert!(reported.get() > 0);
}

/// Replaces the folder of the round by an older copy, in which two jobs have not ended. Checks that the service, the check
/// and a backup report it, and that no ended job runs again after a recovery.
#[test]
fn an_older_copy_of_a_round_repeats_no_job() {
    let temporary = tempfile::tempdir().unwrap();
    let [store, earlier] = ["store", "earlier"].map(|name| temporary.path().join(name));
    make(&store);
    copy(&store, &earlier);
    let keeper = keeper(&store);
    for text in ["echo four", "echo five"] {
        let job = submit(&keeper, script(text));
        until_state(&keeper, job, State::Succeeded);
    }
    keeper.close();
    fs::remove_dir_all(store.join("round-1")).unwrap();
    copy(&earlier.join("round-1"), &store.join("round-1"));
    let error = start(&options(&store)).err().unwrap();
    let saved = back_up(&store, &temporary.path().join("backup")).unwrap_err().to_string();
    assert!(error.contains("older than the database: it lacks the ends of 2 jobs") && has_remedy(&error), "{error}");
    assert!(problem(&store).as_ref() == Some(&error) && saved.contains(&error), "{saved}");
    let mut recovering = options(&store);
    recovering.recover = true;
    let keeper = start(&recovering).unwrap();
    let next = submit(&keeper, script("true"));
    until_state(&keeper, next, State::Succeeded);
    for job in (1..=5).map(JobNumber) {
        assert_eq!(keeper.job(&admin(), job).unwrap().task_list[0].attempts, 1);
    }
}

/// Damages the journal while a job is running and no service runs. Checks that the recovery ends the job before it starts
/// the job again.
#[test]
fn a_recovery_runs_no_job_twice_at_once() {
    let [empty, missing, gone]: [fn(&Path); 3] = [
        |round| fs::write(round.join(FILE), "").unwrap(),
        |round| fs::remove_file(round.join(FILE)).unwrap(),
        |round| fs::remove_dir_all(round).unwrap(),
    ];
    for (has_ended_jobs, damage) in [(true, empty), (true, missing), (false, missing), (false, gone)] {
        let temporary = tempfile::tempdir().unwrap();
        let [store, notes, free] = ["store", "notes", "free"].map(|name| temporary.path().join(name));
        if has_ended_jobs {
            make(&store);
        }
        let keeper = keeper(&store);
        // The second run of the job checks whether the process of the first run still exists.
        let text = format!(
            "if [ -e {notes} ]; then kill -0 $(cat {notes}) 2>/dev/null && echo twice >> {notes}; touch {free}; fi; \
             echo $$ >> {notes}; until [ -e {free} ]; do sleep 0.02; done",
            notes = notes.display(),
            free = free.display()
        );
        let job = submit(&keeper, script(&text));
        until("the job has started", || notes.exists());
        keeper.close();
        damage(&store.join("round-1"));
        let mut recovering = options(&store);
        recovering.recover = true;
        let keeper = start(&recovering).unwrap();
        until_state(&keeper, job, State::Succeeded);
        let lines = fs::read_to_string(&notes).unwrap();
        assert!(lines.lines().count() == 2 && !lines.contains("twice"), "{lines}");
        keeper.close();
    }
}

/// Deletes the folder of the round. Checks that the service starts only with the option `recover`, that no ended job runs
/// again, also after a restart, and that the output of an ended job is not shown as empty.
#[test]
fn a_missing_round_repeats_no_job() {
    let temporary = tempfile::tempdir().unwrap();
    let store = temporary.path().join("store");
    make(&store);
    fs::remove_dir_all(store.join("round-1")).unwrap();
    let warned = examine(&store).into_iter().any(|(topic, state)| {
        topic == "outputs"
            && matches!(state, StoreState::Doubtful(text) if text.contains("the outputs of 2 jobs are missing"))
    });
    let found = problem(&store).unwrap();
    let error = start(&options(&store)).err().unwrap();
    assert!(warned && found == error && error.contains("3 jobs") && has_remedy(&error), "{found}\n{error}");
    let mut recovering = options(&store);
    recovering.recover = true;
    for session in 0..2 {
        let keeper = start(&recovering).unwrap();
        let next = submit(&keeper, script("true"));
        until_state(&keeper, next, State::Succeeded);
        for (job, state) in [(1, State::Succeeded), (2, State::Failed), (3, State::Succeeded)] {
            let found = keeper.job(&admin(), JobNumber(job)).unwrap();
            assert_eq!((found.summary.state, found.task_list[0].attempts), (state, 1), "session {session}");
            assert!(!store.join("round-1").exists());
        }
        let refused = keeper.log(&admin(), JobNumber(1), 0, Stream::Out, 0, 100).unwrap_err();
        assert!(refused.message.contains("the output of job 1 is missing"), "{refused:?}");
        assert!(keeper.log(&admin(), next, 0, Stream::Out, 0, 100).unwrap().bytes.is_empty());
        keeper.close();
        recovering.recover = false;
        assert_eq!(problem(&store), None);
    }
}

/// With the option `recover`, a service continues with the intact records of a damaged journal. Jobs that have ended do
/// not run again.
#[test]
fn a_damaged_journal_is_recovered_on_request() {
    let temporary = tempfile::tempdir().unwrap();
    let store = temporary.path().join("store");
    make(&store);
    let journal = store.join("round-1").join(FILE);
    let mut lines: Vec<String> = fs::read_to_string(&journal).unwrap().lines().map(str::to_owned).collect();
    let middle = lines.len() / 2;
    lines[middle] = "?".repeat(20);
    fs::write(&journal, lines.join("\n") + "\n").unwrap();
    let error = start(&options(&store)).err().unwrap();
    let line = format!("{}, line {}", journal.display(), middle + 1);
    assert!(error.contains(&line) && error.contains("makespan serve --recover"), "{error}");
    let mut recovering = options(&store);
    recovering.recover = true;
    let keeper = start(&recovering).unwrap();
    let next = submit(&keeper, script("echo four"));
    until_state(&keeper, next, State::Succeeded);
    for (job, state) in [(1, State::Succeeded), (2, State::Failed), (3, State::Succeeded)] {
        let found = keeper.job(&admin(), JobNumber(job)).unwrap();
        assert_eq!((found.summary.state, found.task_list[0].attempts), (state, 1));
    }
}
