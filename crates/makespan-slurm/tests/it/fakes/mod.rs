//! Fake Slurm programs, for situations that are rare with a real Slurm.

#![allow(dead_code)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use makespan_slurm::batch::{BatchSystem, JobRequest};
use makespan_slurm::{CommandError, Commands};
use tempfile::TempDir;

/// A folder of programs that comes first on `PATH`.
pub struct Fakes {
    folder: TempDir,
}

impl Fakes {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// Adds a program with this name that runs `text` with `sh`.
    pub fn with(self, name: &str, text: &str) -> Self {
        // Write the file in another process. A program that any process has open for writing cannot be executed, and a
        // child process inherits open files until it executes its program.
        let mut write = Command::new("/bin/sh");
        write.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""]).arg(self.folder.path().join(name)).stdin(Stdio::piped());
        let mut writing = write.spawn().expect("a shell starts");
        let script = format!("#!/bin/sh\n{text}\n");
        writing.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("a fake is written");
        assert!(writing.wait().expect("a shell ends").success());
        self
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns commands that find the fake programs and no real Slurm.
    pub fn commands(&self) -> Commands {
        // `/usr/bin` may contain a real Slurm. `/bin/sh` is found by its path, and fakes call other programs by path.
        Commands::new().with_variable("PATH", self.folder.path())
    }

    /// Returns Slurm with the fake programs.
    pub fn slurm(&self) -> BatchSystem {
        BatchSystem::slurm(self.commands()).expect("the description of Slurm is valid")
    }

    /// Submits the job `a`, which runs `true`.
    pub fn submit(&self, options: &[&str]) -> Result<u64, CommandError> {
        submit(&self.commands(), "a", options, "true")
    }
}

/// Submits a job to Slurm that runs a command of the shell.
pub fn submit(commands: &Commands, name: &str, options: &[&str], line: &str) -> Result<u64, CommandError> {
    let options: Vec<String> = options.iter().map(ToString::to_string).collect();
    let request = JobRequest { name, size: None, time: None, logs: None };
    BatchSystem::slurm(commands.clone()).expect("the description of Slurm is valid").submit(&request, &options, line)
}

/// Cancels a job of Slurm.
pub fn cancel(commands: &Commands, job: u64) {
    BatchSystem::slurm(commands.clone())
        .expect("the description of Slurm is valid")
        .cancel(&[job])
        .expect("a cancellation");
}
