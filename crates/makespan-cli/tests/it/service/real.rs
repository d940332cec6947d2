//! `makespan serve` and the commands of its client, as a user types them.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A service with its own store. If a test fails, its jobs and then the service end when this value is dropped.
struct Served {
    child: Child,
    said: String,
    store: PathBuf,
}

impl Served {
    fn start(store: &Path) -> Self {
        Self::start_with(store, &["--no-history"])
    }

    fn start_with(store: &Path, options: &[&str]) -> Self {
        let mut child = makespan(store)
            .args(["serve", "--listen", "127.0.0.1:0", "--processors", "2", "--oversubscribe"])
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said: Vec<String> = lines.by_ref().take(3).map(Result::unwrap).collect();
        Self { child, said: said.join("\n"), store: store.to_owned() }
    }

    /// Ends the service with SIGTERM, as a service manager does. Returns true if it succeeded.
    fn stop(mut self) -> bool {
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM).unwrap();
        self.child.wait().unwrap().success()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Jobs outlive their service.
        if let Ok(None) = self.child.try_wait() {
            let queue = run(&self.store, &["queue", "--format", "json"]).stdout;
            let queue: serde_json::Value = serde_json::from_slice(&queue).unwrap_or_default();
            let jobs = queue["jobs"].as_array().into_iter().flatten().map(|job| job["number"].to_string());
            let words: Vec<String> = ["cancel".to_owned()].into_iter().chain(jobs).collect();
            run(&self.store, &words.iter().map(String::as_str).collect::<Vec<_>>());
            std::thread::sleep(std::time::Duration::from_millis(500));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn makespan(store: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("makespan"));
    command.env("MAKESPAN_STORE", store).env_remove("MAKESPAN_URL").env_remove("MAKESPAN_TOKEN_FILE");
    command.stdin(Stdio::null()).current_dir(store.parent().unwrap());
    command
}

fn run(store: &Path, words: &[&str]) -> Output {
    makespan(store).args(words).output().unwrap()
}

fn said(store: &Path, words: &[&str]) -> String {
    let output = run(store, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_service_is_started_asked_and_stopped_as_it_is_typed() {
    let temporary = tempfile::tempdir().unwrap();
    let store = temporary.path().join("store");
    let served = Served::start(&store);
    assert!(
        served.said.contains("http://127.0.0.1:") && served.said.contains("can run any command as"),
        "{}",
        served.said
    );
    std::fs::write(temporary.path().join("list.txt"), "echo one\necho two; pwd #: cores=2\n").unwrap();
    assert_eq!(said(&store, &["submit", "list.txt"]), "jobs 1 to 2\n");
    assert_eq!(said(&store, &["submit", "--after", "1", "--", "sh", "-c", "echo hello >&2; exit 3"]), "job 3\n");
    let wait = run(&store, &["wait", "1", "2", "3"]);
    assert_eq!(wait.status.code(), Some(1));
    let here = temporary.path().canonicalize().unwrap();
    assert_eq!(said(&store, &["logs", "2"]), format!("two\n{}\n", here.display()));
    assert_eq!(said(&store, &["logs", "3", "--err"]), "hello\n");
    let queue = said(&store, &["queue", "--state", "all"]);
    assert!(queue.contains("failed") && queue.contains("succeeded"), "{queue}");
    let second = run(&store, &["serve", "--listen", "127.0.0.1:0", "--processors", "2", "--oversubscribe"]);
    let error = String::from_utf8(second.stderr).unwrap();
    assert_eq!(second.status.code(), Some(1), "{error}");
    assert!(error.contains("another service uses this store") && error.contains("--store"), "{error}");
    // A running job continues while no service runs. The next service knows how the job ended.
    assert_eq!(said(&store, &["submit", "--", "sh", "-c", "touch began; sleep 2; echo over"]), "job 4\n");
    while !temporary.path().join("began").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(served.stop());
    assert!(String::from_utf8_lossy(&run(&store, &["queue"]).stderr).contains("cannot be reached"));
    let next = Served::start(&store);
    assert_eq!(said(&store, &["wait", "4"]), "job 4 succeeded\n");
    assert_eq!(said(&store, &["logs", "4"]), "over\n");
    assert!(next.stop());
}

/// As in `run`, a single string is a shell command, and several words are a program with its arguments. If a program
/// could not be started, the stated reason names the program.
#[test]
fn a_command_is_what_it_is_in_a_run() {
    let temporary = tempfile::tempdir().unwrap();
    let store = temporary.path().join("store");
    let served = Served::start(&store);
    let cases: [(&[&str], bool, &str); 4] = [
        (&["echo one; echo $((1 + 1))"], true, "one\n2\n"),
        (&["echo", "one;", "$((1 + 1))"], true, "one; $((1 + 1))\n"),
        (&["no-such-program; exit 127"], false, "no-such-program: not found"),
        (&["no-such-program", "-x"], false, "no-such-program"),
    ];
    for (number, (words, succeeds, due)) in (1..).zip(cases) {
        let number = number.to_string();
        said(&store, &[&["submit", "--"], words].concat());
        assert_eq!(run(&store, &["wait", &number]).status.success(), succeeds, "{words:?}");
        if succeeds {
            assert_eq!(said(&store, &["logs", &number]), due);
            continue;
        }
        let job = said(&store, &["job", &number]);
        let reason = job.lines().find(|line| line.starts_with("reason")).unwrap_or_default();
        assert!(reason.contains("exit status 127: ") && reason.contains(due), "{job}");
        let logs = run(&store, &["logs", &number]);
        assert!(String::from_utf8_lossy(&logs.stderr).contains("--err"), "{logs:?}");
    }
    said(&store, &["submit", "--directory", "/no/such/folder", "--", "true"]);
    assert!(!run(&store, &["wait", "5"]).status.success());
    assert!(said(&store, &["job", "5"]).contains("/no/such/folder"), "the folder is named");
    assert!(served.stop());
}

/// The memory of a job is learned when the job is submitted, and replaces the stated amount.
#[test]
fn a_service_learns_memory() {
    let temporary = tempfile::tempdir().unwrap();
    let (store, history) = (temporary.path().join("store"), temporary.path().join("history.sqlite"));
    let history = history.to_str().unwrap();
    let served = Served::start_with(&store, &["--history", history, "--memory", "learned"]);
    let records = || -> serde_json::Value {
        let text = said(&store, &["history", "--history", history, "--format", "json"]);
        serde_json::from_str(&text).unwrap()
    };
    for number in 1..=2_usize {
        let number = number.to_string();
        said(&store, &["submit", "--memory", "64MiB", "--", "echo hello"]);
        said(&store, &["wait", &number]);
        while records()["records"].as_array().unwrap().len().to_string() < number {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
    let records = records();
    let of = |at: usize, key: &str| records["records"][at][key].clone();
    assert_eq!((of(1, "memory_source"), of(1, "reserved")), ("stated".into(), (64 << 20).into()), "{records:#}");
    assert_eq!((of(0, "memory_source"), of(0, "reserved")), ("learned from 1 run".into(), (16 << 20).into()));
    assert!(served.stop());
}

/// Queries a service while jobs take twelve times as long as expected. The output of `queue`, `job` and `plan` never
/// contains an expected instant that is in the past, and each output states only one run time for a job.
#[test]
fn nothing_that_is_expected_is_in_the_past() {
    let temporary = tempfile::tempdir().unwrap();
    let store = temporary.path().join("store");
    let history = temporary.path().join("history.sqlite");
    let served = Served::start_with(&store, &["--history", history.to_str().unwrap()]);
    for _ in 0..2 {
        said(&store, &["submit", "--", "sleep 0.1"]);
    }
    assert!(run(&store, &["wait", "1", "2"]).status.success());
    // The service does not write the history immediately after the tasks have ended.
    std::thread::sleep(std::time::Duration::from_millis(400));
    for _ in 0..4 {
        said(&store, &["submit", "--", "sleep 1.2"]);
    }
    let (mut unknown, mut known, begun) = (0, 0, std::time::Instant::now());
    while begun.elapsed().as_secs_f64() < 2.3 {
        let queue = said(&store, &["queue"]);
        for line in queue.lines().filter(|line| line.contains("sleep 1.2")) {
            let past = line.matches("ago").count();
            assert_eq!(past, usize::from(line.contains("running")), "{queue}");
        }
        unknown += queue.matches("unknown  sleep").count();
        for job in ["3", "6"] {
            let text = said(&store, &["job", job]);
            let about = |label: &str| text.lines().find(|line| line.starts_with(label)).unwrap_or_default().to_owned();
            assert!(!about("starts").contains("ago") && !about("ends").contains("ago"), "{text}");
            assert!(!about("in at least 80 %").contains("ago"), "{text}");
            let json: serde_json::Value =
                serde_json::from_str(&said(&store, &["job", job, "--format", "json"])).unwrap();
            let task = &json["task_list"][0];
            if let (Some(start), Some(end)) = (task["started"].as_f64(), json["expected_end"].as_f64()) {
                known += 1;
                let estimate = task["estimate"].as_f64().unwrap();
                assert!((end - start - estimate).abs() < 0.3 || json["state"] != "running", "{json:#}");
            }
        }
    }
    assert!(unknown > 0 && known > 0, "{unknown} {known} {}", said(&store, &["queue", "--state", "all"]));
    assert!(served.stop());
}

/// A running service is backed up, and the backup is served in another folder.
#[test]
fn a_backup_is_made_restored_and_served() {
    let temporary = tempfile::tempdir().unwrap();
    let [store, kept, new] = ["store", "kept", "new"].map(|name| temporary.path().join(name));
    let served = Served::start(&store);
    said(&store, &["submit", "--", "echo one"]);
    said(&store, &["wait", "1"]);
    let go = temporary.path().join("go");
    said(&store, &["submit", "--", &format!("until [ -e '{}' ]; do sleep 0.02; done; echo two", go.display())]);
    while !said(&store, &["queue"]).contains("running") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let [kept, new] = [&kept, &new].map(|path| path.to_str().unwrap());
    let made = said(&store, &["service", "backup", kept]);
    assert!(made.starts_with("2 jobs (1 not ended), 2 output files, "), "{made}");
    let restored = said(&store, &["service", "restore", kept, new]);
    assert!(
        restored.contains("job 2 had not ended, and will start again\nnext: makespan serve --store "),
        "{restored}"
    );
    let again = run(&store, &["service", "restore", kept, new]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("not an empty folder; name a new folder"));
    std::fs::write(go, "").unwrap();
    said(&store, &["wait", "2"]);
    assert!(served.stop());
    let new = Path::new(new);
    let log = temporary.path().join("log");
    let second = Served::start_with(new, &["--no-history", "--log", log.to_str().unwrap()]);
    said(new, &["wait", "1", "2"]);
    assert_eq!((said(new, &["logs", "1"]), said(new, &["logs", "2"])), ("one\n".into(), "two\n".into()));
    assert!(second.stop());
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("the store was restored from the backup") && log.contains("; job 2 starts again"), "{log}");
}

/// `serve --check` starts nothing, creates nothing, and reports what would fail.
#[test]
fn a_check_reports_what_would_fail() {
    let temporary = tempfile::tempdir().unwrap();
    let store = temporary.path().join("store");
    let check = |options: &[&str]| {
        let words = ["serve", "--check", "--processors", "2", "--oversubscribe"];
        let output = makespan(&store).args(words).args(options).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let free = ["--listen", "127.0.0.1:0"];
    let (status, text) = check(&free);
    assert_eq!((status, store.exists()), (Some(0), false), "{text}");
    assert!(text.contains("the service will create it") && text.contains("The service can start"), "{text}");
    let bad = |options: &[&str], part: &str| {
        let (status, text) = check(options);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(status == Some(1) && flat.contains("would not start") && flat.contains(part), "{options:?}: {text}");
    };
    bad(&["--listen", "0.0.0.0:0"], "--tls-certificate and --tls-key");
    bad(&[&free[..], &["--tls-certificate", "no.pem", "--tls-key", "no.pem"]].concat(), "no.pem");
    bad(&[&free[..], &["--log", "missing/log"]].concat(), "name another file");
    let served = Served::start(&store);
    let url = std::fs::read_to_string(store.join("url")).unwrap();
    bad(&free, "another service uses this store");
    bad(&["--listen", url.trim().strip_prefix("http://").unwrap()], "cannot listen");
    said(&store, &["submit", "--", "true"]);
    said(&store, &["wait", "1"]);
    assert!(served.stop());
    let (status, text) = check(&free);
    assert!(status == Some(0) && text.contains("version 3") && text.contains("1 token"), "{text}");
    let tokens = store.join("tokens.json");
    std::fs::set_permissions(&tokens, std::fs::Permissions::from_mode(0o644)).unwrap();
    bad(&free, "chmod 600");
    std::fs::set_permissions(&tokens, std::fs::Permissions::from_mode(0o600)).unwrap();
    let database = store.join("store.sqlite");
    let sound = std::fs::read(&database).unwrap();
    let mut damaged = sound.clone();
    damaged[4096..12288].fill(0x5a);
    std::fs::write(&database, damaged).unwrap();
    bad(&free, "make a new store from a backup (makespan service restore BACKUP FOLDER)");
    let log = temporary.path().join("log");
    let words = ["serve", "--processors", "2", "--oversubscribe", "--log", log.to_str().unwrap()];
    let failed = makespan(&store).args(words).args(free).output().unwrap();
    let lines = std::fs::read_to_string(&log).unwrap();
    let line = lines.lines().find(|line| line.contains(" error the service cannot start: ")).unwrap();
    assert!(!failed.status.success() && line.contains("the database is damaged"), "{lines}");
    std::fs::write(&database, []).unwrap();
    bad(&free, "the database is missing or empty");
    std::fs::write(&database, sound).unwrap();
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o777)).unwrap();
    bad(&free, "chmod 700");
}

/// Wrong options are refused with their names and a remedy, before a store is made. The options of the connection are
/// accepted before and after the verb.
#[test]
fn options_are_refused_with_a_remedy() {
    let temporary = tempfile::tempdir().unwrap();
    let store = temporary.path().join("store");
    let closed = "http://127.0.0.1:1";
    for (words, parts) in [
        (&["serve", "--listen", "127.0.0.1"][..], ["--listen", "write an IP address and a port"]),
        (&["serve", "--listen", "0.0.0.0:0"], ["--listen 0.0.0.0:0", "--tls-certificate"]),
        (&["serve", "--processors", "99999"], ["--processors 99999", "--oversubscribe"]),
        (&["serve", "--log", "missing/log"], ["--log missing/log", "name a file in an existing folder"]),
        (&["service", "user", "set", "ann", "--weight", "-1"], ["--weight", "from 0.001 to 1000"]),
        (&["service", "reservation", "add", "demo", "--processors", "0"], ["--end", "--for"]),
        (&["service", "user", "list", "--url", closed], ["no token is known", "--token-file"]),
        (&["service", "user", "--url", closed, "list"], ["no token is known", "--token-file"]),
        (&["job", "--url", closed, "7"], ["no token is known", "--token-file"]),
        (&["job", "7", "--url", closed], ["no token is known", "--token-file"]),
    ] {
        let output = makespan(&store).args(words).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!output.status.success() && parts.iter().all(|part| text.contains(part)), "{words:?}: {text}");
        assert!(!store.exists(), "{words:?}");
    }
}

fn unit(folder: &Path) -> String {
    let mut command = makespan(&folder.join("store"));
    command.args(["serve", "--unit", "--processors", "2", "--log", "a log 50%"]).current_dir(folder);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn a_unit_starts_the_service_with_the_same_options() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().canonicalize().unwrap();
    let unit = unit(&folder);
    let due = format!(" serve --processors 2 --log \"a log 50%%\" --store {}\n", folder.join("store").display());
    assert!(unit.contains(&due) && unit.contains("\nKillMode=process\n"), "{unit}");
    assert!(unit.contains(&format!("\nWorkingDirectory={}\n", folder.display())), "{unit}");
}

#[test]
#[ignore = "long: starts systemd-analyze"]
fn systemd_accepts_the_unit() {
    let temporary = tempfile::tempdir().unwrap();
    let file = temporary.path().join("makespan.service");
    std::fs::write(&file, unit(temporary.path())).unwrap();
    match Command::new("systemd-analyze").args(["verify", "--man=no", file.to_str().unwrap()]).output() {
        Err(error) => eprintln!("\nSKIPPED: the check of the systemd unit: systemd-analyze: {error}"),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && !text.contains("makespan"), "{text}");
        }
    }
}

/// Runs the day of a service in `benches/service/day.py` with fewer jobs. Each row of its table states a verdict.
#[test]
#[ignore = "long: a day with a burst, a kill, a backup and a full disk"]
fn a_day_of_a_service() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/service/day.py");
    let mut command = Command::new("python3");
    command.arg("-B").arg(program).args(["--jobs", "90", "--makespan"]).arg(assert_cmd::cargo::cargo_bin!("makespan"));
    match command.output() {
        Err(error) => eprintln!("\nSKIPPED: the day of a service: python3: {error}"),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            text.lines().filter(|line| line.starts_with("SKIPPED")).for_each(|line| eprintln!("\n{line}"));
            assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
