//! A working folder for a test, and the output of commands.

use std::fs;
use std::path::PathBuf;
use std::process::Output;
use std::time::Duration;

use tempfile::TempDir;

/// A job with a table of times, a rigid job and a job with a speed-up law, on 8 processors.
pub const SMALL: &str = r#"
version = 1
[platform]
processors = 8
[[jobs]]
name = "table"
weight = 2
time = [10.0, 6.1, 4.9]
[[jobs]]
name = "rigid"
processors = 8
time = 12
[[jobs]]
name = "law"
work = 40
speedup = { amdahl = { serial = 0.05 } }
processors = { min = 1, max = 6 }
"#;

/// A temporary folder in which the command runs.
pub struct Sandbox {
    folder: TempDir,
    /// Folder of the history, so that a test neither uses nor changes another history.
    home: TempDir,
}

impl Sandbox {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() }
    }

    /// Creates a sandbox that contains [`SMALL`] as `small.toml`.
    pub fn with_small() -> Self {
        let sandbox = Self::new();
        sandbox.write("small.toml", SMALL);
        sandbox
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the path of the history.
    pub fn history(&self) -> PathBuf {
        self.home.path().join("history.sqlite")
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the sorted names in the folder.
    pub fn entries(&self) -> Vec<String> {
        let names = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs `makespan` with the words of a line as arguments. `'..'` keeps spaces within a word.
    pub fn makespan(&self, line: &str) -> Said {
        self.with_arguments(&words(line))
    }

    pub fn with_arguments(&self, arguments: &[String]) -> Said {
        let mut command = assert_cmd::cargo_bin_cmd!("makespan");
        command.env("MAKESPAN_HISTORY", self.history());
        command.args(arguments).current_dir(self.folder.path()).timeout(Duration::from_mins(1));
        Said::new(&arguments.join(" "), &command.output().unwrap())
    }

    /// Returns a command that the test runs itself.
    pub fn command(&self, line: &str) -> std::process::Command {
        let mut command = std::process::Command::new(assert_cmd::cargo_bin!("makespan"));
        command.args(words(line)).current_dir(self.folder.path()).env("MAKESPAN_HISTORY", self.history());
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

/// The output and the exit status of a command.
#[derive(Debug)]
pub struct Said {
    line: String,
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

/// The plural nouns that the program prints after numbers.
const COUNTED: [&str; 24] = [
    "jobs",
    "tasks",
    "processors",
    "nodes",
    "columns",
    "records",
    "rows",
    "lines",
    "files",
    "graphs",
    "bags",
    "periods",
    "allotments",
    "edges",
    "machines",
    "runs",
    "policies",
    "applications",
    "steps",
    "errors",
    "hours",
    "days",
    "attempts",
    "cores",
];

/// Returns the first occurrence of the number 1 with a plural noun, such as `1 jobs`.
fn false_plural(text: &str) -> Option<String> {
    let noun = |word: &str| COUNTED.contains(&word.trim_end_matches([',', '.', ';', ':', ')']));
    let is_false = |pair: &[&str]| pair[0].trim_start_matches(['(', '`']) == "1" && noun(pair[1]);
    // In a table, at least two spaces separate neighbouring cells. So the line contains an empty word between two
    // cells, and no pair of words spans two cells.
    let pairs = |line: &str| {
        line.split(' ').collect::<Vec<_>>().windows(2).find(|pair| is_false(pair)).map(|pair| pair.join(" "))
    };
    text.lines().find_map(pairs)
}

impl Said {
    pub fn new(line: &str, output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let said = Self {
            line: line.to_owned(),
            status: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        };
        for text in [&said.out, &said.err] {
            assert_eq!(false_plural(text), None, "makespan {line}\n{text}");
        }
        said
    }

    /// Checks that the status is 0 and that standard error is empty. Returns the text of the program. `run` prints this
    /// text to standard error, because standard output contains the output of jobs.
    #[track_caller]
    pub fn succeeds(self) -> String {
        if self.line.split(' ').next() == Some("run") && !self.err.is_empty() {
            assert_eq!(self.status, Some(0), "makespan {}\n{}", self.line, self.err);
            return self.err;
        }
        assert_eq!((self.status, self.err.as_str()), (Some(0), ""), "makespan {}\n{}", self.line, self.out);
        self.out
    }

    /// Checks that the status is 1 (255 for `run`), that standard error has one error on one line that contains all
    /// `parts`, and that standard output is empty.
    #[track_caller]
    pub fn refused(self, parts: &[&str]) {
        self.refused_with(1, parts);
        let lines = self.err.lines().filter(|line| !line.trim().is_empty()).count();
        assert_eq!(lines, 1, "makespan {}: one error on one line, not\n{}", self.line, self.err);
    }

    /// Checks that the status is 2 (255 for `run`), that a message about the command line contains all `parts`, and
    /// that standard output is empty.
    #[track_caller]
    pub fn misused(self, parts: &[&str]) {
        self.refused_with(2, parts);
    }

    #[track_caller]
    fn refused_with(&self, status: i32, parts: &[&str]) {
        let status = if self.line.split(' ').next() == Some("run") { 255 } else { status };
        assert_eq!(self.status, Some(status), "makespan {}: {self:?}", self.line);
        assert_eq!(self.out, "", "makespan {}: nothing on standard output", self.line);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        for part in parts {
            assert!(self.err.contains(part), "makespan {}: `{part}` is missing in\n{}", self.line, self.err);
        }
    }
}

/// Joins the words of a text with single spaces.
pub fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
