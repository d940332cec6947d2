//! `makespan queue --from FOLDER`: the queue of a cluster from saved output. Each file tests an option.

mod clusters;
mod columns;
mod formats;
mod from;
mod history;
mod job;
mod prometheus;
mod scenario;
mod times;
mod verbs;
mod watch;
mod what_if;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::sandbox::{Said, Sandbox};

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../makespan-slurm/tests/data/queue-22.05")
}

/// Runs `makespan queue` on a terminal of this width, with no command of Slurm on `PATH`.
fn said(sandbox: &Sandbox, arguments: &[&str], columns: usize) -> Said {
    let mut command = Command::new(assert_cmd::cargo_bin!("makespan"));
    command.arg("queue").args(arguments).current_dir(sandbox.path("")).env("PATH", sandbox.path(""));
    command.env("TZ", "UTC").env("COLUMNS", columns.to_string());
    for name in ["MAKESPAN_URL", "MAKESPAN_STORE", "MAKESPAN_TOKEN_FILE"] {
        command.env_remove(name);
    }
    command.env("HOME", sandbox.path("")).env_remove("XDG_DATA_HOME");
    Said::new(&arguments.join(" "), &command.output().unwrap())
}

/// Writes a file into the folder `saved`.
fn save(sandbox: &Sandbox, name: &str, text: &str) {
    fs::create_dir_all(sandbox.path("saved")).unwrap();
    fs::write(sandbox.path("saved").join(name), text).unwrap();
}

/// Runs another command on the recorded queue.
fn of_queue(sandbox: &Sandbox, line: &str) -> Said {
    let mut command = sandbox.command(&line.replace("FOLDER", "saved"));
    Said::new(line, &command.env("TZ", "UTC").env("COLUMNS", "100").output().unwrap())
}

fn saved(sandbox: &Sandbox) {
    fs::create_dir(sandbox.path("saved")).unwrap();
    for file in fs::read_dir(recorded()).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), sandbox.path("saved").join(file.file_name())).unwrap();
    }
}

fn example() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/queue").to_str().unwrap().to_owned()
}
