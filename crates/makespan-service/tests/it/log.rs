//! Tests of the log of a service.

use std::fs;
use std::path::Path;

use makespan_core::Platform;
use makespan_service::backup::back_up;
use makespan_service::host::ThisMachine;
use makespan_service::words::{JobNumber, Role, State, UserSettings};
use makespan_service::{Keeper, KeeperOptions, Log, Service};

use crate::common::{admin, command, keeper, script, state, submit, until, until_state, who};

/// Runs `act` with a service that writes its log to a file, and returns the lines of the log without their times.
fn logged(folder: &Path, act: impl FnOnce(&Keeper)) -> String {
    let file = folder.join("log");
    let _ = fs::remove_file(&file);
    let options = KeeperOptions {
        shim: Some(env!("CARGO_BIN_EXE_service-shim").into()),
        oversubscribe: true,
        log: Log::open(Some(&file)).unwrap(),
        ..KeeperOptions::new(folder.join("store"))
    };
    let keeper = Keeper::start(&options, Box::new(ThisMachine(Platform::flat(2).unwrap()))).unwrap();
    act(&keeper);
    keeper.close();
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| format!("{}\n", line.split_once(' ').unwrap().1)).collect()
}

#[test]
fn starts_submissions_and_failures_are_in_the_log() {
    let temporary = tempfile::tempdir().unwrap();
    let ann = who("ann", Role::Submitter);
    let log = logged(temporary.path(), |keeper| {
        let failing = keeper.submit(&ann, script("exit 3"), Some("key")).unwrap().jobs[0];
        keeper.submit(&ann, script("exit 3"), Some("key")).unwrap();
        until_state(keeper, failing, State::Failed);
        let many = vec![command(&["true"]), command(&["true"]), command(&["sleep", "60"])];
        keeper.submit_many(&ann, many, None).unwrap();
        until_state(keeper, JobNumber(3), State::Succeeded);
        until("job 4 runs", || state(keeper, JobNumber(4)) == State::Running);
        keeper.cancel(&admin(), JobNumber(4)).unwrap();
        until_state(keeper, JobNumber(4), State::Cancelled);
        let settings = UserSettings { most_processors: Some(1), ..UserSettings::default() };
        keeper.set_user(&admin(), "ann", &settings).unwrap();
        keeper.set_user(&ann, "ann", &settings).unwrap_err();
    });
    for line in [
        "notice makespan ",
        "info the store has 0 running, 0 waiting and 0 held jobs\n",
        "info ann submitted job 1\n",
        "info job 1 of ann started\n",
        "warning job 1 of ann failed: it returned exit status 3\n",
        "info ann submitted jobs 2 to 4\n",
        "info job 3 of ann succeeded\n",
        "info root cancels job 4\n",
        "info job 4 of ann was cancelled\n",
        "notice root set the limits of ann: {\"weight\":null,\"most_waiting\":null,\"most_processors\":1}\n",
        "notice the service has stopped; running jobs continue\n",
    ] {
        assert_eq!(log.matches(line).count(), 1, "{line}{log}");
    }
    assert!(!log.contains("cleanly") && !log.contains("exit 3"), "{log}");
}

/// A copy of the store without a clean end is the store of a killed service.
#[test]
fn a_killed_service_is_in_the_log() {
    let temporary = tempfile::tempdir().unwrap();
    let other = temporary.path().join("other");
    let running = keeper(&other);
    submit(&running, script("true"));
    let store = temporary.path().join("store");
    fs::create_dir(&store).unwrap();
    for name in ["store.sqlite", "store.sqlite-wal"] {
        fs::copy(other.join(name), store.join(name)).unwrap();
    }
    running.close();
    let log = logged(temporary.path(), |_| ());
    assert!(log.contains("notice the previous service on this store did not stop cleanly\n"), "{log}");
    let log = logged(temporary.path(), |_| ());
    assert!(!log.contains("cleanly"), "{log}");
}

#[test]
fn a_backup_is_in_the_log() {
    let temporary = tempfile::tempdir().unwrap();
    let [store, log] = ["store", "log"].map(|name| temporary.path().join(name));
    logged(temporary.path(), |_| {
        for name in ["first", "second"] {
            back_up(&store, &temporary.path().join(name)).unwrap();
            let lines = || fs::read_to_string(&log).unwrap().matches("notice a backup of 0 jobs was made\n").count();
            until("the log has a line about the backup", || lines() == if name == "first" { 1 } else { 2 });
        }
    });
}
