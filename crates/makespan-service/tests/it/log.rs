//! Tests of the log of a service.

use std::fs;
use std::path::Path;

use makespan_core::Platform;
use makespan_service::backup::back_up;
use makespan_service::host::ThisMachine;
use makespan_service::words::{Filter, JobNumber, Role, State, Submission, UserSettings};
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

/// Returns the first and the last number in a line about submitted jobs, such as `info ann submitted jobs 2 to 4`.
fn submitted(line: &str) -> Option<(u64, u64)> {
    let (_, jobs) = line.split_once(" submitted job")?;
    let mut numbers = jobs.split_whitespace().filter_map(|word| word.parse().ok());
    let first = numbers.next()?;
    Some((first, numbers.next().unwrap_or(first)))
}

/// Three users submit, hold, release and cancel jobs. Checks that no line about a job precedes the line about the
/// request that caused it.
#[test]
fn lines_are_in_causal_order() {
    let temporary = tempfile::tempdir().unwrap();
    let log = logged(temporary.path(), |keeper| {
        let act = |user: &str| {
            let ann = who(user, Role::Submitter);
            for _ in 0..8 {
                let [fails, ends] =
                    ["exit 3", "true"].map(|text| keeper.submit(&ann, script(text), None).unwrap().jobs[0]);
                // The job that waits for the failed job may end in the transaction in which it is submitted.
                keeper.submit(&ann, Submission { after: vec![fails], ..script("true") }, None).unwrap();
                keeper.submit_many(&ann, vec![command(&["true"]), command(&["true"])], None).unwrap();
                let _ = keeper.cancel(&ann, ends);
                let held = keeper.submit(&ann, Submission { hold: true, ..script("true") }, None).unwrap().jobs[0];
                keeper.release(&ann, held).unwrap();
            }
        };
        std::thread::scope(|scope| _ = ["ann", "bob", "carol"].map(|user| scope.spawn(move || act(user))));
        let open = Filter { state: vec![State::Held, State::Waiting, State::Running], ..Filter::default() };
        until("all jobs have ended", || keeper.jobs(&admin(), &open, None, 1).unwrap().total == 0);
    });
    let lines: Vec<&str> = log.lines().collect();
    let jobs = lines.iter().filter_map(|line| submitted(line)).map(|(_, last)| last).max().unwrap();
    assert_eq!(jobs, 3 * 8 * 6);
    for job in 1..=jobs {
        let at = |what: String| lines.iter().position(|line| format!("{line} ").contains(&what));
        let begun =
            lines.iter().position(|line| submitted(line).is_some_and(|(first, last)| (first..=last).contains(&job)));
        let first = at(format!(" job {job} of "));
        assert!(begun.is_some() && begun < first, "job {job}: {log}");
        for (cause, effect) in [("released", "started"), ("cancels", "was cancelled")] {
            let cause = at(format!(" {cause} job {job} "));
            let effect =
                lines.iter().position(|line| line.contains(&format!(" job {job} of ")) && line.contains(effect));
            assert!(cause.is_none() || effect.is_none() || cause < effect, "job {job}: {log}");
        }
    }
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
