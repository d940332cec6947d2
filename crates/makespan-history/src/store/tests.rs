use std::fs;

use makespan_core::{Estimate, Time};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::estimate::{Estimator, Question};
use crate::{Command, Ending, MemoryRequest, RunRecord};

fn record(line: &str, seconds: i64) -> RunRecord {
    RunRecord {
        folder: "/work".into(),
        host: "here".into(),
        processors: 2,
        cpu: Some(Time::from_seconds(seconds)),
        memory: Some(1 << 20),
        ended: 1_000_000 + seconds,
        at_once: Some(1.5),
        ..RunRecord::succeeded(
            Command::new(["sh", "-c", line].map(str::to_owned).to_vec()),
            Time::from_seconds(seconds),
        )
    }
}

/// Rows of a database of the first version.
const FIRST_VERSION: &str = "INSERT INTO commands VALUES (1, '[\"true\"]', 'true', 'true', '[]', NULL);
    INSERT INTO runs VALUES (1, 1, '/work', 'here', 2, 1000000000, NULL, NULL, 'succeeded', 0, 1000001, NULL, 0);";

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/history.sqlite");
    (folder, path)
}

#[test]
fn what_is_appended_is_there_for_the_next_process() {
    let (_folder, path) = place();
    let odd = RunRecord {
        command: Command::new(vec!["a b".into(), "=1+1".into()]).from_template("'a b' {}"),
        ending: Ending::Failed(-3),
        memory: Some(u64::MAX),
        reserved: Some(MemoryRequest { bytes: 5, source: Estimate::Learned { runs: 7, spread: 0.5 } }),
        memory_kill: true,
        cpu: None,
        explored: true,
        ..record("", 7)
    };
    History::open(&path).unwrap().append_all(&[record("sleep 3", 3), odd]).unwrap();
    let history = History::open(&path).unwrap();
    let entries = history.entries(&Filter::default(), 10).unwrap();
    let [failed, slept] = entries.as_slice() else { panic!("{entries:?}") };
    assert_eq!((slept.line.as_str(), slept.template.as_str(), slept.wall), ("sleep 3", "sleep {}", 3_000_000_000));
    assert_eq!((failed.line.as_str(), failed.template.as_str()), ("'a b' =1+1", "'a b' {}"));
    assert_eq!((failed.status, failed.memory, failed.cpu, failed.explored), (Some(-3), Some(i64::MAX), None, true));
    let mut table = Vec::new();
    history.export(&Filter::default(), &|text| text.replace('=', "E"), &mut table).unwrap();
    let table = String::from_utf8(table).unwrap();
    let expected = "id,command,template,folder,host,processors,wall_seconds,cpu_seconds,memory_bytes,outcome,status,ended,\
                    input_bytes,explored,pinned,jobs_at_once,memory_kill,reserved_bytes,memory_source\n\
                    1,sleep 3,sleep {},/work,here,2,3,3,1048576,succeeded,0,1000003,,0,1,1.50,0,,\n\
                    2,'a b' E1+1,'a b' {},/work,here,2,7,,9223372036854775807,failed,-3,1000007,,1,1,1.50,1,5,learned from 7 runs\n";
    assert_eq!(table, expected);
    history.check().unwrap();
    let mode =
        |path: &Path| std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn forgets_what_is_named_and_nothing_else() {
    let (_folder, path) = place();
    let mut history = History::open(&path).unwrap();
    let elsewhere = RunRecord { host: "there".into(), ..record("sleep 4", 4) };
    history.append_all(&[record("sleep 1", 1), record("sleep [2]", 2), record("secret-word", 3), elsewhere]).unwrap();
    let command = |pattern: &str| Filter { command: Some(pattern.into()), ..Filter::default() };
    let check = |filter: &Filter, count: u64| assert_eq!(history.count(filter).unwrap(), count, "{filter:?}");
    check(&command("sleep *"), 3);
    check(&command("sleep [2]"), 1);
    check(&command("sleep"), 0);
    check(&Filter { host: Some("there".into()), ..command("sleep ?") }, 1);
    check(&Filter { before: Some(1_000_003), ..Filter::default() }, 2);
    assert_eq!(history.forget(&command("secret*")).unwrap(), 1);
    assert_eq!(history.forget(&command("nothing")).unwrap(), 0);
    assert_eq!(history.count(&Filter::default()).unwrap(), 3);
    for file in fs::read_dir(path.parent().unwrap()).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(11).any(|window| window == b"secret-word"));
    }
    assert_eq!(history.forget(&Filter::default()).unwrap(), 3);
    let commands: i64 = history.connection.query_row("SELECT count(*) FROM commands", [], |row| row.get(0)).unwrap();
    assert_eq!(commands, 0);
    history.check().unwrap();
}

#[test]
fn what_is_no_history_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("empty"), "").unwrap();
    History::open(&path("empty")).unwrap().append(&record("true", 1)).unwrap();
    fs::write(path("text"), "not a database at all, but a text. ".repeat(100)).unwrap();
    assert!(matches!(History::open(&path("text")), Err(HistoryError::Damaged { .. })));
    Connection::open(path("other")).unwrap().execute_batch("CREATE TABLE mine (a)").unwrap();
    assert!(matches!(History::open(&path("other")), Err(HistoryError::Foreign { .. })));
    fs::create_dir(path("folder")).unwrap();
    assert!(matches!(History::open(&path("folder")), Err(HistoryError::Unavailable { .. })));
    assert!(matches!(History::open(&path("text/below")), Err(HistoryError::Unavailable { .. })));
    let later = History::open(&path("later")).unwrap();
    later.connection.pragma_update(None, "user_version", 99).unwrap();
    drop(later);
    let error = History::open(&path("later")).unwrap_err();
    assert!(matches!(error, HistoryError::Later { version: 99, .. }) && error.to_string().contains("99"), "{error}");
}

#[test]
fn an_older_history_takes_the_steps_that_it_lacks_once() {
    let (_folder, path) = place();
    // In a file of the first version, every run was pinned.
    let first = History::with_steps(&path, &STEPS[..1]).unwrap();
    first.connection.execute_batch(FIRST_VERSION).unwrap();
    drop(first);
    let step =
        "ALTER TABLE runs ADD COLUMN energy INTEGER; INSERT INTO commands VALUES (77, 'w', 'l', 't', '[]', NULL);";
    let steps = [&STEPS[..], &[step]].concat();
    let known = STEPS.len() as i64;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| History::with_steps(&path, &steps).unwrap());
        }
    });
    let history = History::with_steps(&path, &steps).unwrap();
    let entries = history.entries(&Filter::default(), 10).unwrap();
    assert_eq!(entries.iter().map(|entry| (entry.pinned, entry.at_once)).collect::<Vec<_>>(), [(true, None)]);
    history.connection.query_row("SELECT energy FROM runs", [], |_| Ok(())).unwrap();
    let error = History::open(&path).unwrap_err();
    assert!(matches!(error, HistoryError::Later { version, known: own, .. } if (version, own) == (known + 1, known)));
    // A step that fails leaves the file in the previous version.
    let broken = [&steps[..], &["CREATE TABLE half (a); nonsense"]].concat();
    assert!(History::with_steps(&path, &broken).is_err());
    History::with_steps(&path, &steps).unwrap().check().unwrap();
}

#[test]
fn a_disk_without_room_leaves_what_was_there() {
    let (_folder, path) = place();
    let mut history = History::open(&path).unwrap();
    history.append(&record("true", 1)).unwrap();
    history.connection.pragma_update(None, "max_page_count", 12).unwrap();
    let many: Vec<RunRecord> = (0..1000).map(|number| record(&format!("echo {number}"), 1)).collect();
    let error = history.append_all(&many).unwrap_err();
    assert!(matches!(error, HistoryError::Full { .. }) && error.to_string().contains("no space"), "{error}");
    assert_eq!(history.count(&Filter::default()).unwrap(), 1);
    history.check().unwrap();
    history.append(&record("true", 2)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Checks that overwritten bytes never end the program. They may remain unnoticed, cause an error, or give invalid values.
    #[test]
    fn damage_is_an_error_or_unnoticed(
        places in proptest::collection::vec((0.0..1.0_f64, any::<u8>()), 1..200),
        cut in proptest::option::of(0.0..1.0_f64),
    ) {
        let (_folder, path) = place();
        let many: Vec<RunRecord> = (1..60).map(|number| record(&format!("echo {number}"), number)).collect();
        History::open(&path).unwrap().append_all(&many).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        let length = bytes.len() as f64;
        for (place, byte) in places {
            bytes[(place * length) as usize] = byte;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| (cut * length) as usize));
        fs::write(&path, bytes).unwrap();
        if let Ok(mut history) = History::open(&path) {
            let _ = history.entries(&Filter::default(), 1000);
            let _ = history.check();
            for line in ["echo 5", "echo 500"] {
                let command = record(line, 1).command;
                let question = Question { command: &command, processors: 1..=4, pinned: true, inputs: None };
                let mut estimator = Estimator::new(&history, "here", "/work").unwrap();
                if let Ok(Some(learned)) = estimator.estimate(&question) {
                    prop_assert!(learned.profile.shortest() > Time::ZERO);
                }
            }
            let _ = history.append(&record("echo 61", 1));
            let _ = history.forget(&Filter::default());
        }
    }
}

/// A history that cannot be written is read without its folder being changed. Tests may run as root, so the file is
/// opened as for a user without the permission to write.
#[test]
fn a_history_that_cannot_be_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h #?%.sqlite");
    let filter = Filter::default();
    let mut history = History::open(&path).unwrap();
    history.append(&record("sleep 1", 1)).unwrap();
    assert_eq!(History::open_for_reading(&path).unwrap().count(&filter).unwrap(), 1);
    drop(history);
    let uri = reading::immutable(&path);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = reading::usable(Connection::open_with_flags(uri, flags)).unwrap();
    let mut history = History { connection, path: path.clone() };
    assert_eq!(history.count(&filter).unwrap(), 1);
    assert!(matches!(history.append(&record("sleep 2", 2)), Err(HistoryError::ReadOnly { .. })));
    assert!(reading::read_only(&path).unwrap().unwrap().append(&record("sleep 2", 2)).is_err());
    std::fs::write(&path, "no database").unwrap();
    assert!(reading::read_only(&path).is_none());
}
