//! Tests of a service that ends or is killed at any instant. No acknowledged job is lost, no finished job runs again, and running
//! jobs continue.

use crate::common;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use common::{PATIENCE, Running, admin, keeper, keeper_on, script, state, submit, until, until_state, until_there};
use makespan_core::Platform;
use makespan_service::host::ThisMachine;
use makespan_service::words::{Filter, JobNumber, RefusalKind, Reservation, State, Stream, Submission};
use makespan_service::{Keeper, KeeperOptions, Service};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const FOLDER: &str = "MAKESPAN_TEST_FOLDER";

/// Returns a submission of a job that writes its start and its end to a file.
fn noting(folder: &Path, name: &str, seconds: f64) -> Submission {
    let log = folder.join(format!("log-{name}"));
    let text = format!("echo begin >>{0}; sleep {seconds}; echo end >>{0}", log.display());
    Submission { name: Some(name.into()), ..script(&text) }
}

/// Returns a submission of a job that also writes its start and its end, and runs until the file `go` exists.
fn lasting(folder: &Path, name: &str) -> Submission {
    let log = folder.join(format!("log-{name}"));
    let waits = until_there(&folder.join("go"));
    Submission {
        name: Some(name.into()),
        ..script(&format!("echo begin >>{0}; {waits}; echo end >>{0}", log.display()))
    }
}

fn noted(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(format!("log-{name}"))).unwrap_or_default()
}

#[test]
fn what_runs_goes_on_when_a_service_ends_and_the_next_takes_it_over() {
    let temporary = tempfile::tempdir().unwrap();
    let (at, store) = (temporary.path(), temporary.path().join("store"));
    let first = keeper(&store);
    let [runs, waits] = ["runs", "waits"].map(|name| submit(&first, lasting(at, name)));
    let also = submit(&first, noting(at, "also", 0.0));
    let held = submit(&first, Submission { hold: true, ..noting(at, "held", 0.0) });
    let behind = submit(&first, Submission { after: vec![held], ..noting(at, "behind", 0.0) });
    until_state(&first, runs, State::Running);
    first.close();
    let second = keeper(&store);
    std::fs::write(at.join("go"), "").unwrap();
    for job in [runs, waits, also] {
        until_state(&second, job, State::Succeeded);
    }
    assert_eq!((state(&second, held), state(&second, behind)), (State::Held, State::Waiting));
    second.release(&admin(), held).unwrap();
    until_state(&second, behind, State::Succeeded);
    for name in ["runs", "waits", "also", "held", "behind"] {
        assert_eq!(noted(at, name), "begin\nend\n", "{name}");
    }
    let sequence: Vec<u64> = second.happenings(&admin(), 0, 1000).unwrap().iter().map(|one| one.sequence).collect();
    assert_eq!(sequence, (1..=sequence.len() as u64).collect::<Vec<_>>());
    // A second service on the same store is refused.
    let options = KeeperOptions::new(&store);
    let refused = Keeper::start(&options, Box::new(ThisMachine(Platform::flat(2).unwrap()))).err().unwrap();
    assert!(refused.contains("another service"), "{refused}");
}

/// Some jobs fail while no service runs. Checks that the next services know the reason of each failure.
#[test]
fn the_reason_of_a_failure_is_known_after_a_restart() {
    let temporary = tempfile::tempdir().unwrap();
    let (at, store) = (temporary.path(), temporary.path().join("store"));
    let first = keeper_on(&store, 3);
    let nowhere = submit(&first, Submission { directory: Some("/no/such/folder".into()), ..script("true") });
    until_state(&first, nowhere, State::Failed);
    let (waits, ended) = (until_there(&at.join("go")), at.join("ended"));
    let ends = |end: &str| script(&format!("{waits}; echo >>{}; {end}", ended.display()));
    let [fails, lacks, killed] = ["exit 3", "exec /no/such/program", "kill -9 $$"].map(|end| submit(&first, ends(end)));
    let behind = submit(&first, Submission { after: vec![fails], ..script("true") });
    [fails, lacks, killed].iter().for_each(|&job| until_state(&first, job, State::Running));
    first.close();
    std::fs::write(at.join("go"), "").unwrap();
    until("the jobs end", || std::fs::read_to_string(&ended).is_ok_and(|text| text.len() == 3));
    std::thread::sleep(Duration::from_millis(300));
    for _ in 0..2 {
        let next = keeper_on(&store, 3);
        until("the last job has ended", || state(&next, behind).is_final());
        for (job, state, reason) in [
            (nowhere, State::Failed, "it returned exit status 125: "),
            (fails, State::Failed, "it returned exit status 3"),
            (lacks, State::Failed, "it returned exit status 127: "),
            (killed, State::Failed, "it ended with status 137 (killed by signal 9)"),
            (behind, State::NotStarted, "job 2, which it waits for, did not succeed"),
        ] {
            until_state(&next, job, state);
            let known = next.job(&admin(), job).unwrap();
            for found in [&known.reason, &known.task_list[0].reason] {
                let is_so = found.as_ref().is_some_and(|found| found.starts_with(reason));
                assert!(is_so || (job == behind && found.is_none()), "job {job}: {found:?}");
            }
            assert!(known.reason.is_some(), "job {job}");
        }
        next.close();
    }
}

#[test]
fn on_other_machines_what_has_begun_comes_to_its_end_first() {
    let temporary = tempfile::tempdir().unwrap();
    let (at, store) = (temporary.path(), temporary.path().join("store"));
    let first = keeper_on(&store, 2);
    let jobs: Vec<JobNumber> = (0..6).map(|job| submit(&first, lasting(at, &job.to_string()))).collect();
    until("two run", || jobs.iter().filter(|&&job| state(&first, job) == State::Running).count() == 2);
    first.close();
    let second = keeper_on(&store, 3);
    std::fs::write(at.join("go"), "").unwrap();
    jobs.iter().for_each(|&job| until_state(&second, job, State::Succeeded));
    (0..6).for_each(|job| assert_eq!(noted(at, &job.to_string()), "begin\nend\n", "job {job}"));
    until("the new machines are shown", || second.picture(&admin()).processors == 3);
}

/// The service that is killed in a process of its own. It is a test only so that the test program can start it. It reads the names
/// of jobs from standard input, and prints a line for each accepted job.
#[test]
fn helper() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let keeper = keeper(&folder.join("store"));
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (name, seconds) = line.split_once(' ').unwrap();
        let job = submit(&keeper, noting(folder, name, seconds.parse().unwrap()));
        println!("took {name} {job}");
    }
}

fn spawn(folder: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "restart::helper", "--nocapture"]).env(FOLDER, folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Kills a service `count` times while it accepts and runs jobs.
fn kills(count: usize, seed: u64) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut taken: BTreeMap<String, JobNumber> = BTreeMap::new();
    let mut given = 0;
    for _ in 0..count {
        let mut child = spawn(folder);
        let mut input: ChildStdin = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, answers) = std::sync::mpsc::channel();
        let reader =
            std::thread::spawn(move || output.lines().map_while(Result::ok).for_each(|line| _ = send.send(line)));
        let end = Instant::now() + Duration::from_millis(random.random_range(20..700));
        while Instant::now() < end {
            let _ = writeln!(input, "j{given} {}", f64::from(random.random_range(0..30_u32)) / 100.0);
            given += 1;
            std::thread::sleep(Duration::from_millis(random.random_range(0..60)));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        reader.join().unwrap();
        for line in answers.try_iter().filter(|line| line.starts_with("took ")) {
            let words: Vec<&str> = line.split(' ').collect();
            taken.insert(words[1].to_owned(), JobNumber(words[2].parse().unwrap()));
        }
    }
    assert!(taken.len() >= count, "{} jobs were taken in {count} lives", taken.len());
    let last = keeper(&folder.join("store"));
    let open = Filter { state: vec![State::Waiting, State::Running, State::Held], ..Filter::default() };
    let begun = Instant::now();
    while last.jobs(&admin(), &open, None, 1).unwrap().total > 0 {
        assert!(begun.elapsed() < 4 * PATIENCE, "{:?} {:?}", last.jobs(&admin(), &open, None, 5), last.health());
        std::thread::sleep(Duration::from_millis(20));
    }
    let all = last.jobs(&admin(), &Filter::default(), None, 1000).unwrap();
    assert!(all.total as usize >= taken.len() && all.total <= given);
    for (name, job) in &taken {
        let found = last.job(&admin(), *job).unwrap();
        let stands = (&found.summary.name, found.summary.state);
        let error = last.log(&admin(), *job, 0, Stream::Err, 0, 1000).unwrap().bytes;
        assert_eq!(stands, (name, State::Succeeded), "{found:?} {}", String::from_utf8_lossy(&error));
    }
    for job in all.items {
        let lines = noted(folder, &job.name);
        // Each job has started and ended exactly once.
        assert_eq!(lines.matches("end").count(), 1, "job {} of {taken:?}: {lines}", job.name);
        assert_eq!(lines.matches("begin").count(), 1, "job {}: {lines}", job.name);
    }
    let mut sequence = 0;
    loop {
        let part = last.happenings(&admin(), sequence, 1000).unwrap();
        let Some(end) = part.last().map(|one| one.sequence) else { break };
        assert!(part.iter().map(|one| one.sequence).eq(sequence + 1..=end));
        sequence = end;
    }
    assert_eq!(sequence, last.latest());
}

#[test]
fn twenty_kills_lose_nothing_and_repeat_nothing() {
    kills(20, 1);
}

/// Kills a service 300 times. Run this test with `cargo test -p makespan-service --test it -- --ignored --nocapture three_hundred`.
#[test]
#[ignore = "long: minutes of kills"]
fn three_hundred_kills() {
    for seed in 2..17 {
        kills(20, seed);
        println!("{} kills", (seed - 1) * 20);
    }
}

/// Starts a service that replaces a run of the engine as soon as the run has six jobs.
fn short_runs(folder: &Path, keep: Option<Duration>) -> Running {
    let options = KeeperOptions {
        shim: Some(env!("CARGO_BIN_EXE_service-shim").into()),
        oversubscribe: true,
        long_run: 6,
        keep,
        ..KeeperOptions::new(folder)
    };
    Keeper::start(&options, Box::new(ThisMachine(Platform::flat(2).unwrap()))).unwrap().into()
}

#[test]
fn a_long_run_gives_way_to_a_new_one_and_no_job_notices() {
    let temporary = tempfile::tempdir().unwrap();
    let (at, store) = (temporary.path(), temporary.path().join("store"));
    let keeper = short_runs(&store, None);
    let held = submit(&keeper, Submission { hold: true, ..noting(at, "held", 0.0) });
    let behind = submit(&keeper, Submission { after: vec![held], ..noting(at, "behind", 0.0) });
    let jobs: Vec<JobNumber> = (0..12).map(|job| submit(&keeper, noting(at, &job.to_string(), 0.05))).collect();
    jobs.iter().for_each(|&job| until_state(&keeper, job, State::Succeeded));
    until("another run has begun", || store.join("round-2").join("platform.json").exists());
    // After the change to the second run, jobs can wait for jobs of the first run, and the output of those jobs can still be read.
    let last = submit(&keeper, Submission { after: vec![jobs[11]], ..noting(at, "last", 0.0) });
    until_state(&keeper, last, State::Succeeded);
    keeper.release(&admin(), held).unwrap();
    until_state(&keeper, behind, State::Succeeded);
    for name in (0..12).map(|job| job.to_string()).chain(["held", "behind", "last"].map(String::from)) {
        assert_eq!(noted(at, &name), "begin\nend\n", "{name}");
    }
    assert!(keeper.log(&admin(), jobs[0], 0, Stream::Out, 0, 10).unwrap().ended);
    keeper.close();
    let next = short_runs(&store, None);
    assert_eq!(state(&next, last), State::Succeeded);
    let more = submit(&next, noting(at, "more", 0.0));
    until_state(&next, more, State::Succeeded);
}

#[test]
fn what_has_ended_is_forgotten_and_what_has_not_goes_on() {
    let temporary = tempfile::tempdir().unwrap();
    let (at, store) = (temporary.path(), temporary.path().join("store"));
    let keeper = short_runs(&store, Some(Duration::ZERO));
    let held = submit(&keeper, Submission { hold: true, ..noting(at, "held", 0.0) });
    let jobs: Vec<JobNumber> = (0..12).map(|job| submit(&keeper, noting(at, &job.to_string(), 0.05))).collect();
    until("the first run is forgotten", || store.join("round-2").exists() && !store.join("round-1").exists());
    for (name, &job) in jobs.iter().enumerate() {
        assert_eq!(noted(at, &name.to_string()), "begin\nend\n");
        let forgotten =
            keeper.job(&admin(), job).map_or_else(|refused| refused.kind == RefusalKind::Unknown, |_| false);
        assert!(forgotten, "{job}");
    }
    keeper.release(&admin(), held).unwrap();
    until("it has run", || noted(at, "held") == "begin\nend\n");
    let last = keeper.latest();
    keeper.close();
    // The numbers of deleted jobs and events are not used again.
    let next = short_runs(&store, Some(Duration::ZERO));
    assert!(next.latest() >= last);
    assert!(submit(&next, noting(at, "more", 0.0)).0 > jobs[11].0);
}

#[test]
fn a_reservation_is_kept_over_a_restart() {
    let temporary = tempfile::tempdir().unwrap();
    let first = keeper(temporary.path());
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    let all = Reservation { number: 0, name: "all".into(), start: now, end: now + 1e6, processors: vec![(0, 1)] };
    let kept = first.reserve(&admin(), all).unwrap();
    first.close();
    let second = keeper(temporary.path());
    let waits = submit(&second, script("true"));
    until("the engine knows the job", || second.picture(&admin()).waiting == 1);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(state(&second, waits), State::Waiting);
    second.unreserve(&admin(), kept.number).unwrap();
    until_state(&second, waits, State::Succeeded);
}

/// After a clean stop, the database file alone is a complete copy. The service refuses a database that is older than the folders
/// `round-N` in the same folder. Such a database would give new jobs the numbers of old jobs, although the output files
/// of the old jobs still exist.
#[test]
fn a_database_that_is_older_than_its_rounds_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let store = temporary.path().join("store");
    let old = |name: &str| temporary.path().join(name);
    let first = keeper(&store);
    let job = submit(&first, script("echo one"));
    until_state(&first, job, State::Succeeded);
    first.close();
    assert!(
        std::fs::metadata(store.join("store.sqlite-wal")).map_or(0, |wal| wal.len()) == 0,
        "all is in the database"
    );
    std::fs::copy(store.join("store.sqlite"), old("one")).unwrap();
    let second = keeper(&store);
    let other = submit(&second, script("echo two"));
    until_state(&second, other, State::Succeeded);
    second.close();
    std::fs::copy(store.join("store.sqlite"), old("two")).unwrap();
    let start = || {
        let options = KeeperOptions {
            shim: Some(env!("CARGO_BIN_EXE_service-shim").into()),
            oversubscribe: true,
            ..KeeperOptions::new(&store)
        };
        Keeper::start(&options, Box::new(ThisMachine(Platform::flat(2).unwrap()))).map(drop)
    };
    let put_back = |name: &str| {
        for log in ["store.sqlite-wal", "store.sqlite-shm"] {
            let _ = std::fs::remove_file(store.join(log));
        }
        std::fs::copy(old(name), store.join("store.sqlite")).unwrap();
    };
    put_back("one");
    let error = start().unwrap_err();
    assert!(error.contains("job 2, which has output in round-1") && error.contains("store.sqlite-wal"), "{error}");
    std::fs::create_dir(store.join("round-7")).unwrap();
    put_back("two");
    assert!(start().unwrap_err().contains("does not contain round 7"));
    std::fs::remove_dir(store.join("round-7")).unwrap();
    put_back("two");
    start().unwrap();
    assert_eq!(std::fs::read_to_string(store.join("round-1/1.out")).unwrap(), "one\n");
}
