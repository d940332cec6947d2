//! Tests of backups that are made while the service runs, and of restores.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use makespan_service::backup::{BackupError, back_up, restore};
use makespan_service::words::{Content, Filter, JobNumber, Role, State, Stream, Submission, UserSettings};
use makespan_service::{Keeper, Service, tokens};
use proptest::test_runner::{Config, TestRunner};
use rusqlite::Connection;

use crate::common::{admin, keeper, script, state, submission, submit, until, until_state, until_there};

/// Returns a submission of a job that appends a line to a file when it starts and when it has succeeded.
fn noting(folder: &Path, name: &str, work: &str) -> Submission {
    let log = folder.join(format!("log-{name}"));
    Submission {
        name: Some(name.into()),
        ..script(&format!("echo begin >>{0}; {work}; echo {name}; echo end >>{0}", log.display()))
    }
}

fn count(folder: &Path, name: &str, line: &str) -> usize {
    fs::read_to_string(folder.join(format!("log-{name}"))).unwrap_or_default().matches(line).count()
}

fn output(service: &Keeper, job: JobNumber) -> String {
    String::from_utf8(service.log(&admin(), job, 0, Stream::Out, 0, 100).unwrap().bytes).unwrap()
}

#[test]
fn a_restored_store_has_all_jobs_and_runs_only_unfinished_ones() {
    let temporary = tempfile::tempdir().unwrap();
    let at = temporary.path();
    let [store, kept, new] = ["store", "kept", "new"].map(|name| at.join(name));
    let running = keeper(&store);
    tokens::add(&store, "ann", Role::Submitter, None).unwrap();
    let done = submit(&running, noting(at, "done", "true"));
    let failed = submit(&running, noting(at, "failed", "exit 3"));
    until_state(&running, done, State::Succeeded);
    until_state(&running, failed, State::Failed);
    let settings = UserSettings { most_processors: Some(2), ..UserSettings::default() };
    running.set_user(&admin(), "ann", &settings).unwrap();
    let busy = submit(&running, noting(at, "busy", &until_there(&at.join("go"))));
    let text = r#"{"version": 2, "jobs": [{"name": "bag", "time": 1, "count": 2, "command": ["sh", "-c", "test {task} = 0 || until [ -e GO ]; do sleep 0.02; done"]}]}"#;
    let text = text.replace("GO", &at.join("go").display().to_string());
    let bag = running.submit(&admin(), submission(Content::Instance { text, file: None }), None).unwrap().jobs[0];
    until("one task of the bag has ended", || running.job(&admin(), bag).unwrap().summary.tasks_ended == 1);
    until_state(&running, busy, State::Running);
    let ended = submit(&running, noting(at, "cancelled", "sleep 100"));
    let held = submit(&running, Submission { hold: true, ..noting(at, "held", "true") });
    let behind = submit(&running, Submission { after: vec![busy, held], ..noting(at, "behind", "true") });
    running.cancel(&admin(), ended).unwrap();
    until_state(&running, ended, State::Cancelled);
    let made = back_up(&store, &kept).unwrap();
    assert_eq!((made.jobs, made.unfinished, made.outputs), (7, 4, 4 + 2), "{made:?}");
    let later = submit(&running, noting(at, "later", "true"));
    let restored = restore(&kept, &new).unwrap();
    assert_eq!((restored.jobs, &restored.reset), (7, &vec![busy, bag]));
    let error = back_up(&store, &kept).unwrap_err().to_string();
    assert!(error.contains("not an empty folder; name a new folder"), "{error}");
    let error = Keeper::start(
        &makespan_service::KeeperOptions::new(&kept),
        Box::new(makespan_service::host::ThisMachine(makespan_core::Platform::flat(2).unwrap())),
    );
    assert!(error.err().unwrap().contains("this folder is a backup; restore the backup into a new folder"));
    let second = keeper(&new);
    let unfinished = [busy, bag, behind];
    fs::write(at.join("go"), "").unwrap();
    second.release(&admin(), held).unwrap();
    unfinished.iter().for_each(|&job| until_state(&second, job, State::Succeeded));
    assert_eq!((state(&second, done), output(&second, done)), (State::Succeeded, "done\n".into()));
    assert_eq!((state(&second, failed), state(&second, ended)), (State::Failed, State::Cancelled));
    assert_eq!(second.job(&admin(), later).unwrap_err().kind, makespan_service::words::RefusalKind::Unknown);
    assert_eq!((count(at, "done", "end"), count(at, "behind", "end")), (1, 1));
    assert_eq!(tokens::list(&new).unwrap().len(), 1);
    let users = second.users(&admin()).unwrap();
    assert_eq!(users.iter().find(|user| user.user == "ann").unwrap().most_processors, Some(2));
    assert_eq!(second.job(&admin(), bag).unwrap().summary.tasks_ended, 2);
    // The numbers of jobs go on.
    assert_eq!(submit(&second, script("true")), JobNumber(8));
}

/// Makes a backup at random instants while jobs are submitted, start and end. Every job that was acknowledged before
/// the backup is in the restored store. A job that had succeeded does not run again, and each job is counted once.
fn backups_under_load(cases: u32) {
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let strategy = (0_u64..400, 20_usize..60, 0_u64..15);
    runner
        .run(&strategy, |(instant, jobs, pause)| {
            let temporary = tempfile::tempdir().unwrap();
            let at = temporary.path();
            let [store, kept, new] = ["store", "kept", "new"].map(|name| at.join(name));
            let running = keeper(&store);
            let (acknowledged, stops) = (std::sync::Mutex::new(Vec::new()), AtomicBool::new(false));
            let before = std::thread::scope(|scope| {
                scope.spawn(|| {
                    for number in 0..jobs {
                        if stops.load(Ordering::Relaxed) {
                            return;
                        }
                        let name = format!("j{number}");
                        let job = submit(&running, noting(at, &name, "sleep 0.0$(($$ % 5))"));
                        acknowledged.lock().unwrap().push((name, job));
                        std::thread::sleep(Duration::from_millis(pause));
                    }
                });
                std::thread::sleep(Duration::from_millis(instant));
                let before = acknowledged.lock().unwrap().clone();
                let done = running
                    .jobs(&admin(), &Filter { state: vec![State::Succeeded], ..Filter::default() }, None, 1000)
                    .unwrap();
                back_up(&store, &kept).unwrap();
                stops.store(true, Ordering::Relaxed);
                (before, done.items)
            });
            let (before, done) = before;
            drop(running);
            let ran: BTreeMap<JobNumber, usize> =
                done.iter().map(|job| (job.number, count(at, &job.name, "begin"))).collect();
            let restored = restore(&kept, &new).unwrap();
            let second = keeper(&new);
            let open = Filter { state: vec![State::Waiting, State::Running], ..Filter::default() };
            until("all restored jobs have ended", || second.jobs(&admin(), &open, None, 1).unwrap().total == 0);
            let all = second.jobs(&admin(), &Filter::default(), None, 1000).unwrap();
            assert_eq!((all.total, all.items.len() as u64), (restored.jobs, restored.jobs));
            assert!(all.items.iter().all(|job| job.state == State::Succeeded && job.tasks_ended == 1));
            for (name, job) in &before {
                assert_eq!(&second.job(&admin(), *job).unwrap().summary.name, name);
                assert_eq!(output(&second, *job), format!("{name}\n"));
            }
            for job in &done {
                assert!(!restored.reset.contains(&job.number));
                assert_eq!(count(at, &job.name, "begin"), ran[&job.number], "job {} ran again", job.number);
            }
            let ended: u64 = second.users(&admin()).unwrap().iter().map(|user| user.ended).sum();
            assert_eq!(ended, restored.jobs);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_backup_at_any_instant_is_complete() {
    backups_under_load(4);
}

#[test]
#[ignore = "long: minutes of backups under load"]
fn many_backups_under_load_are_complete() {
    backups_under_load(60);
}

/// The journal contains the end of a job before the database. If a service is killed in between, the backup contains
/// the end.
#[test]
fn ends_that_only_the_journal_has_are_in_the_backup() {
    let temporary = tempfile::tempdir().unwrap();
    let at = temporary.path();
    let [store, kept, new] = ["store", "kept", "new"].map(|name| at.join(name));
    let first = keeper(&store);
    let job = submit(&first, noting(at, "one", "true"));
    let behind = submit(&first, Submission { after: vec![job], ..noting(at, "behind", "true") });
    until_state(&first, behind, State::Succeeded);
    first.close();
    // The database of a service that was killed before it wrote the ends of both jobs.
    let database = Connection::open(store.join("store.sqlite")).unwrap();
    let sql = "UPDATE tasks SET state = 'running', ended = NULL WHERE job = 1; DELETE FROM tasks WHERE job = 2; \
               UPDATE jobs SET state = 'running', succeeded = 0, running = 1, ended = NULL WHERE number = 1; \
               UPDATE jobs SET state = 'waiting', succeeded = 0, started = NULL, ended = NULL WHERE number = 2;";
    database.execute_batch(sql).unwrap();
    drop(database);
    assert_eq!(back_up(&store, &kept).unwrap().unfinished, 0);
    assert!(restore(&kept, &new).unwrap().reset.is_empty());
    let second = keeper(&new);
    assert_eq!((state(&second, job), state(&second, behind)), (State::Succeeded, State::Succeeded));
    assert_eq!((output(&second, behind), count(at, "one", "begin")), ("behind\n".into(), 1));
    second.close();
    // The end of a job that ended while no service was running is not in the journal. The second job has not started.
    fs::remove_file(store.join("round-1/status/2.1")).unwrap();
    let journal = store.join("round-1/journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let end = text.lines().position(|line| line.starts_with("{\"ended\"")).unwrap();
    fs::write(&journal, text.split_inclusive('\n').take(end).collect::<String>()).unwrap();
    let error = back_up(&store, &at.join("other")).unwrap_err();
    assert!(matches!(&error, BackupError::Unrecorded(jobs) if jobs == &[job]), "{error}");
    assert!(error.to_string().contains("start the service") && !at.join("other").exists(), "{error}");
}

/// Every change of a backup is found, with the file and a remedy, and nothing is left of the restore.
#[test]
fn damaged_and_newer_backups_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let at = temporary.path();
    let [store, kept, new] = ["store", "kept", "new"].map(|name| at.join(name));
    let first = keeper(&store);
    tokens::add(&store, "ann", Role::Submitter, None).unwrap();
    let job = submit(&first, script("echo one"));
    until_state(&first, job, State::Succeeded);
    first.close();
    back_up(&store, &kept).unwrap();
    let files = ["store.sqlite", "tokens.json", "round-1/1.out", "backup.json"];
    for name in files {
        let path = kept.join(name);
        let sound = fs::read(&path).unwrap();
        let mut runner = TestRunner::new(Config { cases: 20, failure_persistence: None, ..Config::default() });
        let changed = runner.run(&(0..sound.len(), 1_u8..=255, 0_u8..3), |(byte, change, kind)| {
            let mut damaged = sound.clone();
            match kind {
                0 => damaged[byte] ^= change,
                1 => damaged.truncate(byte),
                _ => damaged.insert(byte, change),
            }
            fs::write(&path, &damaged).unwrap();
            match restore(&kept, &new) {
                // The list states the version and the time of the backup only for people.
                Ok(_) => {
                    assert_eq!(name, "backup.json");
                    fs::remove_dir_all(&new).unwrap();
                }
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.contains(&kept.display().to_string()), "{error}");
                    assert!(error.contains("restore another backup") || error.contains("restore it with"), "{error}");
                }
            }
            assert!(!new.exists() && fs::read_dir(at).unwrap().count() == 2, "nothing is left");
            Ok(())
        });
        changed.unwrap();
        fs::remove_file(&path).unwrap();
        let error = restore(&kept, &new).unwrap_err().to_string();
        assert!(error.contains("missing"), "{error}");
        fs::write(&path, sound).unwrap();
    }
    let list = fs::read_to_string(kept.join("backup.json")).unwrap();
    fs::write(kept.join("backup.json"), list.replace("\"format\":1", "\"format\":2").replace("\"files\"", "\"parts\""))
        .unwrap();
    let error = restore(&kept, &new).unwrap_err().to_string();
    assert!(
        error.contains("a later version of makespan made this backup") && error.contains("with that version"),
        "{error}"
    );
    let outside = list.replacen("store.sqlite", "../store.sqlite", 1);
    fs::write(kept.join("backup.json"), outside).unwrap();
    assert!(restore(&kept, &new).unwrap_err().to_string().contains("not in the backup"));
    fs::write(kept.join("backup.json"), list).unwrap();
    fs::create_dir(&new).unwrap();
    restore(&kept, &new).unwrap();
    let error = restore(&kept, &new).unwrap_err().to_string();
    assert!(error.contains("not an empty folder"), "{error}");
    Connection::open(store.join("store.sqlite")).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = back_up(&store, &at.join("other")).unwrap_err().to_string();
    assert!(error.contains("version 99") && error.contains("use that version"), "{error}");
    assert!(back_up(at, &at.join("other")).unwrap_err().to_string().contains("there is no store"));
}

/// A restore copies only regular files of the backup, and removes what a killed process has left.
#[test]
fn special_files_and_abandoned_folders() {
    let temporary = tempfile::tempdir().unwrap();
    let at = temporary.path();
    let [store, kept, new, secret] = ["store", "kept", "new", "secret"].map(|name| at.join(name));
    let running = keeper(&store);
    let job = submit(&running, script("echo hello"));
    until_state(&running, job, State::Succeeded);
    let [left, other] = [".kept.partial-4194305", ".kept.partial-x"].map(|name| at.join(name));
    for folder in [&left, &other] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("file"), "").unwrap();
    }
    tokens::add(&store, "ann", Role::Submitter, None).unwrap();
    back_up(&store, &kept).unwrap();
    assert!(!left.exists() && other.exists());
    assert_eq!(restore(&kept, &new).unwrap().tokens, tokens::list(&store).unwrap().len());
    fs::remove_dir_all(&new).unwrap();
    let round = kept.join("round-1");
    let file = fs::read_dir(&round).unwrap().map(|entry| entry.unwrap().path()).next().unwrap();
    let away = at.join("away");
    let is_damaged = || matches!(restore(&kept, &new), Err(BackupError::Damaged { .. })) && !new.exists();
    // A link to a file with the right content.
    fs::rename(&file, &secret).unwrap();
    std::os::unix::fs::symlink(&secret, &file).unwrap();
    assert!(is_damaged());
    // A pipe without a writer.
    fs::remove_file(&file).unwrap();
    nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(is_damaged());
    // A link to a folder with the right files.
    fs::remove_file(&file).unwrap();
    fs::rename(&secret, &file).unwrap();
    fs::rename(&round, &away).unwrap();
    std::os::unix::fs::symlink(&away, &round).unwrap();
    assert!(is_damaged());
    fs::remove_file(&round).unwrap();
    fs::rename(&away, &round).unwrap();
    restore(&kept, &new).unwrap();
}
