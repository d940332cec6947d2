//! `makespan serve` and the verbs that ask it, as they are typed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A service on a store of its own; it ends with it.
struct Served {
    child: Child,
    said: String,
}

impl Served {
    fn start(store: &Path) -> Self {
        let mut child = makespan(store)
            .args(["serve", "--listen", "127.0.0.1:0", "--processors", "2", "--oversubscribe", "--no-history"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said: Vec<String> = lines.by_ref().take(3).map(Result::unwrap).collect();
        Self { child, said: said.join("\n") }
    }

    /// Ends it as a service manager does.
    fn stop(mut self) -> bool {
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM).unwrap();
        self.child.wait().unwrap().success()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
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
        served.said.contains("http://127.0.0.1:") && served.said.contains("runs any command as"),
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
    // What runs goes on while no service is there, and the next one knows how it ended.
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
