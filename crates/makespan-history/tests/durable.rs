//! Tests of the history when processes are killed or write at the same time, and when space or permissions are missing.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Program, Stdio};
use std::time::Duration;

use makespan_core::Time;
use makespan_history::{Command, Filter, History, HistoryError, Recorder, RunRecord};

const FILE: &str = "TEST_HISTORY_FILE";
const COUNT: &str = "TEST_HISTORY_COUNT";

fn record(number: u64) -> RunRecord {
    RunRecord {
        folder: "/work".into(),
        host: "here".into(),
        ..RunRecord::succeeded(
            Command::new(vec!["echo".into(), format!("{number} {}", "x".repeat(200))]),
            Time::from_seconds(1),
        )
    }
}

/// Child process of the other tests: appends records one by one and reports each.
#[test]
#[ignore = "a part of the other tests, which start it"]
fn writer_for_other_tests() {
    let (Ok(path), Ok(count)) = (std::env::var(FILE), std::env::var(COUNT)) else { return };
    let mut out = std::io::stdout();
    let mut history = match History::open(Path::new(&path)) {
        Ok(history) => history,
        Err(error) => return writeln!(out, "\nerror {error}").unwrap(),
    };
    for number in 0..count.parse().unwrap() {
        match history.append(&record(number)) {
            Ok(()) => writeln!(out, "\nadded").unwrap(),
            Err(error) => return writeln!(out, "\nerror {error}").unwrap(),
        }
    }
}

/// Starts a writer process. `before` are the words of a program that runs the writer.
fn start(before: &[&str], path: &Path, count: u64) -> Child {
    let exe = std::env::current_exe().unwrap();
    let words = before.iter().map(|word| (*word).to_owned()).chain([exe.to_str().unwrap().to_owned()]);
    let words: Vec<String> =
        words.chain(["writer_for_other_tests", "--exact", "--ignored", "--nocapture"].map(str::to_owned)).collect();
    let mut program = Program::new(&words[0]);
    program.args(&words[1..]).env(FILE, path).env(COUNT, count.to_string());
    program.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits for a writer. Returns the number of records that the writer reported as added, and its error.
fn said(mut child: Child) -> (u64, Option<String>) {
    let lines: Vec<String> = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok).collect();
    child.wait().unwrap();
    let error = lines.iter().find_map(|line| line.strip_prefix("error ").map(str::to_owned));
    (lines.iter().filter(|line| *line == "added").count() as u64, error)
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.sqlite");
    (folder, path)
}

fn count(path: &Path) -> u64 {
    let history = History::open(path).unwrap();
    history.check().unwrap();
    history.count(&Filter::default()).unwrap()
}

#[test]
fn a_killed_writer_loses_nothing_that_it_had_added() {
    let (_folder, path) = place();
    let mut before = 0;
    for round in 0..40 {
        let mut child = start(&[], &path, u64::MAX);
        // The times of the kills cover the start, when the file is created, and later instants.
        std::thread::sleep(Duration::from_millis(round * 7 % 60));
        child.kill().unwrap();
        let (added, error) = said(child);
        assert_eq!(error, None);
        let now = count(&path);
        // The writer may have added one more record than it reported.
        assert!((before + added..=before + added + 1).contains(&now), "{before} + {added}, and there are {now}");
        before = now;
    }
    assert!(before > 100, "the writers added only {before} records");
}

#[test]
fn processes_that_write_at_once_wait_for_each_other() {
    let (_folder, path) = place();
    let children: Vec<Child> = (0..4).map(|_| start(&[], &path, 150)).collect();
    for child in children {
        assert_eq!(said(child), (150, None));
    }
    assert_eq!(count(&path), 600);
}

/// A limit on the file size acts like a full disk, and needs no permission to mount one.
#[test]
fn a_file_that_may_not_grow_keeps_what_it_has() {
    let (_folder, path) = place();
    let (added, error) = said(start(&["sh", "-c", "trap '' XFSZ; ulimit -f 400; exec \"$@\"", "sh"], &path, 100_000));
    let error = error.unwrap();
    assert!(added > 0 && error.contains("history.sqlite: cannot"), "{added} {error}");
    assert_eq!(count(&path), added);
    History::open(&path).unwrap().append(&record(1)).unwrap();
}

/// Runs a shell line in a namespace that allows mounts. Returns `None` if this is not permitted.
fn mounting(folder: &Path, mount: &str, path: &Path, count: u64) -> Option<(u64, Option<String>)> {
    let allowed = Program::new("unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success());
    let line = format!("cd '{}' && {mount} && exec \"$@\"", folder.display());
    allowed.then(|| said(start(&["unshare", "-m", "sh", "-c", &line, "sh"], path, count)))
}

#[test]
fn a_full_disk_keeps_what_it_has() {
    let (folder, path) = place();
    let small = "mkdir disk && mount -t tmpfs -o size=400k tmpfs disk";
    // The mounted disk disappears with the process, so its content is copied out.
    let line = format!("{small} && \"$@\"; cp disk/history.sqlite* . ; true #");
    let Some((added, error)) = mounting(folder.path(), &line, &folder.path().join("disk/history.sqlite"), 100_000)
    else {
        return eprintln!("skipped: mounting is not allowed here");
    };
    let error = error.unwrap();
    assert!(added > 0 && error.contains("no space is left"), "{added} {error}");
    assert_eq!(count(&path), added);
}

#[test]
fn a_folder_that_is_read_only_is_said_to_be() {
    let (folder, path) = place();
    assert_eq!(said(start(&[], &path, 5)), (5, None));
    let bind = "mount --bind . . && mount -o remount,ro,bind . && cd . ";
    for path in [&path, &folder.path().join("new/history.sqlite")] {
        let Some((added, error)) = mounting(folder.path(), bind, path, 5) else {
            return eprintln!("skipped: mounting is not allowed here");
        };
        assert!(added == 0 && error.as_deref().is_some_and(|error| error.contains("read-only")), "{error:?}");
    }
    assert_eq!(count(&path), 5);
}

#[test]
fn a_recorder_writes_behind_and_tells_its_failure_once() {
    let (_folder, path) = place();
    let recorder = Recorder::new(History::open(&path).unwrap());
    (0..3000).for_each(|number| recorder.append(record(number)));
    assert!(recorder.finish().is_none());
    assert_eq!(count(&path), 3000);
    let recorder = Recorder::new(History::open(&path).unwrap());
    std::fs::write(&path, "overwritten ".repeat(100_000)).unwrap();
    for number in 0..3000 {
        recorder.append(record(number));
    }
    let failure = recorder.finish();
    assert!(matches!(failure, Some(HistoryError::Damaged { .. })), "{failure:?}");
}
