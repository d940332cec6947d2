//! Tests of stores that earlier versions wrote, and of stores that were moved.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use makespan_service::words::{JobNumber, State, Stream};
use makespan_service::{Keeper, Service, tokens};
use rusqlite::Connection;

use crate::common::{admin, copy, keeper, script, state, submit, until_state};

fn output(service: &Keeper, job: u64) -> String {
    String::from_utf8(service.log(&admin(), JobNumber(job), 0, Stream::Out, 0, 100).unwrap().bytes).unwrap()
}

/// Commit 134f65d3 wrote this store. Four jobs have ended, job 3 is held, and job 4 waits for job 3.
#[test]
fn a_store_of_commit_134f65d3_continues() {
    let temporary = tempfile::tempdir().unwrap();
    let store = temporary.path().join("store");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/stores/134f65d3"), &store);
    fs::set_permissions(store.join("tokens.json"), fs::Permissions::from_mode(0o600)).unwrap();
    let sql = fs::read_to_string(store.join("store.sql")).unwrap();
    Connection::open(store.join("store.sqlite")).unwrap().execute_batch(&sql).unwrap();
    let keeper = keeper(&store);
    let states = [State::Succeeded, State::Failed, State::Held, State::Waiting, State::Succeeded, State::Succeeded];
    for (number, expected) in (1..).map(JobNumber).zip(states) {
        assert_eq!(state(&keeper, number), expected, "job {number}");
    }
    assert_eq!((output(&keeper, 1), output(&keeper, 6)), ("one\n".into(), "b\n".into()));
    let users = keeper.users(&admin()).unwrap();
    assert_eq!((users[0].most_waiting, users[0].most_processors, users[1].ended), (Some(50), Some(1), 4));
    assert_eq!(tokens::list(&store).unwrap().len(), 2);
    keeper.release(&admin(), JobNumber(3)).unwrap();
    until_state(&keeper, JobNumber(4), State::Succeeded);
    assert_eq!(submit(&keeper, script("echo new")), JobNumber(7));
    until_state(&keeper, JobNumber(7), State::Succeeded);
    for job in 1..=7 {
        assert_eq!(keeper.job(&admin(), JobNumber(job)).unwrap().task_list[0].attempts, 1, "job {job}");
    }
}

#[test]
fn a_stopped_store_can_be_moved() {
    let temporary = tempfile::tempdir().unwrap();
    let [here, there] = ["here", "there"].map(|name| temporary.path().join(name));
    let first = keeper(&here);
    let job = submit(&first, script("echo moved"));
    until_state(&first, job, State::Succeeded);
    let waits = submit(&first, makespan_service::words::Submission { hold: true, ..script("echo after") });
    first.close();
    fs::rename(&here, &there).unwrap();
    let second = keeper(&there);
    assert_eq!((output(&second, job.0), state(&second, waits)), ("moved\n".into(), State::Held));
    second.release(&admin(), waits).unwrap();
    until_state(&second, waits, State::Succeeded);
    assert_eq!(output(&second, waits.0), "after\n");
    assert!(!here.exists());
}
