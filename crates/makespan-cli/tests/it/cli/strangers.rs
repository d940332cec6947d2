//! Tests of runs in folders that already contain other users' files with the names of files that a run writes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::cli::sandbox::Sandbox;

/// Jobs of every kind: a simple job, a bag, a graph, and a job with a name that cannot be a file name.
const JOBS: &str = r#"
version = 2
[platform]
processors = 2
[[jobs]]
name = "sim"
processors = 1
time = 0.05
command = ["sh", "-c", "echo out; echo err >&2; echo $MAKESPAN_JOB >> ran"]
[[jobs]]
name = "bag"
count = 2
processors = 1
time = 0.05
command = ["sh", "-c", "true"]
[[jobs]]
name = "od/d"
processors = 1
time = 0.05
command = ["sh", "-c", "true"]
[[jobs]]
name = "flow"
deadline = 60
[[jobs.tasks]]
name = "a"
time = 0.05
command = ["sh", "-c", "true"]
[[jobs.tasks]]
name = "b"
time = 0.05
command = ["sh", "-c", "true"]
[[jobs.edges]]
from = "a"
to = "b"
"#;

/// Returns the paths and contents of all files below a folder. The content of a symbolic link is its target.
fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            all.insert(path.clone(), fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
        } else if path.is_dir() {
            all.extend(content(&path));
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    all
}

/// Runs the jobs in an empty folder. Returns the paths of all files of the run, relative to this folder.
fn written_by(sandbox: &Sandbox, options: &str) -> Vec<PathBuf> {
    sandbox.makespan(&format!("run {options} --folder model")).succeeds();
    let model = sandbox.path("model");
    let names = content(&model).into_keys().map(|path| path.strip_prefix(&model).unwrap().to_owned()).collect();
    fs::remove_dir_all(model).unwrap();
    names
}

/// Creates a file at a path, as another user may have done. Depending on `kind`, this is a file with content, an empty
/// file, a hard link, a symbolic link, or a symbolic link without an existing target.
fn put(kind: &str, precious: &Path, path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match kind {
        "full" => fs::write(path, "precious\n").unwrap(),
        "empty" => fs::write(path, "").unwrap(),
        "hard link" => fs::hard_link(precious, path).unwrap(),
        "link" => symlink(precious, path).unwrap(),
        _ => symlink(precious.with_file_name("nothing"), path).unwrap(),
    }
}

/// Puts each kind of existing file in turn at the path of each file that a run writes. The run is refused before any
/// job starts. The message names the file, and the folder does not change.
#[test]
fn no_file_of_somebody_else_is_emptied_or_replaced() {
    let sandbox = Sandbox::new();
    sandbox.write("i.toml", JOBS);
    let options = "i.toml --policy job-flow --oversubscribe";
    let mut names = written_by(&sandbox, options);
    for due in
        ["sim.out", "sim.err", "bag~0.out", "flow~b.err", "status/sim.1", "plan.json", "decisions.csv", "report.html"]
    {
        assert!(names.contains(&due.into()), "{due} is not among {names:?}");
    }
    names.extend(["instance.json".into(), "journal.jsonl.tmp".into(), "status/sim.1.tmp".into()]);
    fs::remove_file(sandbox.path("ran")).unwrap();
    sandbox.write("precious", "precious\n");
    for name in &names {
        for kind in ["full", "empty", "hard link", "link", "dangling link"] {
            // Earlier versions of Makespan wrote an empty lock file, so a run accepts an empty lock file and leaves it
            // empty.
            if kind == "empty" && name == Path::new("lock") {
                continue;
            }
            let folder = sandbox.path("f");
            put(kind, &sandbox.path("precious"), &folder.join(name));
            let before = content(&folder);
            let first = name.components().next().unwrap().as_os_str().to_str().unwrap();
            sandbox.makespan(&format!("run {options} --folder f")).refused(&[first]);
            let mut after = content(&folder);
            // A run creates its lock file before it checks other files. So the lock file is new, unless it is the
            // tested file.
            if name != Path::new("lock") {
                after.remove(&folder.join("lock"));
            }
            assert_eq!(before, after, "{} as {kind}", name.display());
            assert!(!sandbox.path("ran").exists(), "{} as {kind}: a job ran", name.display());
            assert_eq!(sandbox.read("precious"), "precious\n", "{} as {kind}", name.display());
            fs::remove_dir_all(folder).unwrap();
        }
    }
}

/// A run can use a folder that contains files of other users, unless one of these files has the name of a file of the
/// run. The run can also be resumed in this folder.
#[test]
fn a_run_goes_on_in_a_folder_that_also_holds_files_of_somebody_else() {
    let sandbox = Sandbox::new();
    sandbox.write("sim.dat", "theirs");
    sandbox.write("l.txt", "echo one; test -e go #: name=sim\n");
    let said = sandbox.makespan("run l.txt --folder .");
    assert!(said.status == Some(1) && said.err.contains("0 of 1 job succeeded"), "{said:?}");
    // A hard link to an output keeps the old content when the job runs again.
    fs::hard_link(sandbox.path("sim.out"), sandbox.path("kept")).unwrap();
    sandbox.write("go", "");
    sandbox.write("l.txt", "echo two; test -e go #: name=sim\n");
    sandbox.makespan("run l.txt --folder . --resume --retry-failed -q");
    assert_eq!((sandbox.read("sim.out").as_str(), sandbox.read("kept").as_str()), ("two\n", "one\n"));
    assert_eq!(sandbox.read("sim.dat"), "theirs");
    sandbox.makespan("run l.txt --folder .").refused(&["already contains a run"]);
}

/// A job does not start if an earlier job has already created a file with the name of this job's output file. The error
/// message states the reason and the remedy.
#[test]
fn what_a_job_has_written_is_not_emptied_by_another() {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "echo theirs > second.out #: name=first\necho ours #: name=second after=first\n");
    let said = sandbox.makespan("run l.txt --folder .");
    assert!(said.status == Some(1) && said.err.contains("1 of 2 jobs succeeded"), "{said:?}");
    assert!(said.err.contains("second.out") && said.err.contains("move the file away"), "{said:?}");
    assert_eq!(sandbox.read("second.out"), "theirs\n");
}

/// If a file appears between two sessions, it is kept, even if its name is the name of the output file of a job that
/// has not started. The output files of started jobs belong to the run, even if the list was edited.
#[test]
fn what_appears_between_two_sessions_is_not_emptied() {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "echo one #: name=one\nfalse #: name=again\n");
    assert_eq!(sandbox.makespan("run l.txt --folder .").status, Some(1));
    sandbox.write("two.out", "theirs");
    sandbox.write("l.txt", "echo one #: name=one\necho again #: name=again\necho ours #: name=two\n");
    let said = sandbox.makespan("run l.txt --folder . --resume");
    assert!(
        said.status == Some(1) && said.err.contains("two.out") && said.err.contains("move the file away"),
        "{said:?}"
    );
    assert_eq!((sandbox.read("two.out").as_str(), sandbox.read("again.out").as_str()), ("theirs", "again\n"));
    fs::remove_file(sandbox.path("two.out")).unwrap();
    sandbox.makespan("run l.txt --folder . --resume --retry-failed -q").succeeds();
    assert_eq!(sandbox.read("two.out"), "ours\n");
}
