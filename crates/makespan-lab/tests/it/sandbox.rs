//! A temporary folder in which tests run `makespan-lab`, and the output of the program.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

use tempfile::TempDir;

/// A temporary folder in which the program runs.
pub struct Sandbox(TempDir);

impl Sandbox {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the sorted names of the files and folders in the sandbox.
    pub fn entries(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs `makespan-lab`. The words of `line` are the arguments. Words between single quotes form one argument.
    pub fn lab(&self, line: &str) -> Said {
        let mut command = assert_cmd::cargo_bin_cmd!("makespan-lab");
        command.args(words(line)).current_dir(self.0.path()).timeout(Duration::from_mins(1));
        Said::new(line, &command.output().unwrap())
    }

    /// Returns the command without starting it.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(assert_cmd::cargo_bin!("makespan-lab"));
        command.args(words(line)).current_dir(self.0.path());
        command
    }
}

fn words(line: &str) -> Vec<String> {
    let quoted = line.split('\'').enumerate();
    quoted
        .flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

/// The exit status and the output of the program.
#[derive(Debug)]
pub struct Said {
    line: String,
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    pub fn new(line: &str, output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self {
            line: line.to_owned(),
            status: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    /// Checks for status 0 and an empty standard error. Returns the standard output.
    #[track_caller]
    pub fn succeeds(self) -> String {
        assert_eq!((self.status, self.err.as_str()), (Some(0), ""), "makespan-lab {}\n{}", self.line, self.out);
        self.out
    }

    /// Checks for status 1, and for one line on standard error that contains all `parts`.
    #[track_caller]
    pub fn refused(self, parts: &[&str]) {
        self.refused_with(1, parts);
        let lines = self.err.lines().filter(|line| !line.trim().is_empty()).count();
        assert_eq!(lines, 1, "makespan-lab {}: one error on one line, not\n{}", self.line, self.err);
    }

    /// Checks for status 2, and for a message about the command line that contains all `parts`.
    #[track_caller]
    pub fn misused(self, parts: &[&str]) {
        self.refused_with(2, parts);
    }

    #[track_caller]
    fn refused_with(&self, status: i32, parts: &[&str]) {
        assert_eq!(self.status, Some(status), "makespan-lab {}: {self:?}", self.line);
        assert_eq!(self.out, "", "makespan-lab {}: nothing on standard output", self.line);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        for part in parts {
            assert!(self.err.contains(part), "makespan-lab {}: `{part}` is missing in\n{}", self.line, self.err);
        }
    }
}
