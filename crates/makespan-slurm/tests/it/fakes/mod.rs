//! Programs that pretend to be Slurm's, for what a real one seldom does.

#![allow(dead_code)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use makespan_slurm::Commands;
use tempfile::TempDir;

/// A folder of programs that stands first on `PATH`.
pub struct Fakes {
    folder: TempDir,
}

impl Fakes {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A program of this name that runs this text with `sh`.
    pub fn with(self, name: &str, text: &str) -> Self {
        // Another process writes it: a program that some process has open for writing cannot be executed, and children of this
        // one inherit what it has open until they execute theirs.
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

    /// Commands that find these programs, and those of the system that scripts need, but none of Slurm.
    pub fn commands(&self) -> Commands {
        // `/usr/bin` may hold a real Slurm; `/bin/sh` is found by its path, and fakes call what else they need by path.
        Commands::new().with_variable("PATH", self.folder.path())
    }
}
