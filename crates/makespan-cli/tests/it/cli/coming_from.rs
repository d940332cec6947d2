//! Runs each row of the table "Coming from GNU parallel, xargs, make, pueue, Snakemake" in both programs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::sandbox::Sandbox;

const PAGE: &str = include_str!("../../../../../docs/how-to/run.md");

/// The programs of the table.
const PROGRAMS: [&str; 5] = ["parallel", "xargs", "make", "pueue", "snakemake"];

/// Files in the folder in which each command runs.
const FILES: [(&str, &str); 7] = [
    ("a.txt", "1\n2\n"),
    ("b.txt", "3\n"),
    ("names", "x\ny\nz\n"),
    ("table.csv", "1,2\n3,4\n"),
    ("list", "echo one > one\necho two\n"),
    ("Makefile", "all: c d\nc:\n\t@echo c > c; echo made c\nd: c\n\t@cat c > d\nclean:\n\t@rm -f c d\n"),
    (
        "Snakefile",
        "rule all:\n    input: \"a.n\", \"b.n\"\nrule count:\n    input: \"{s}.txt\"\n    output: \"{s}.n\"\n    shell: \"wc -l < {input} > {output}\"\n",
    ),
];

/// A row of the table.
#[derive(Debug)]
struct Row {
    /// The program that the user knows.
    program: &'static str,
    other: String,
    own: String,
}

/// Returns the text of a cell that consists of one code span.
fn code(cell: &str) -> &str {
    let inside = cell.trim().strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    inside.filter(|inside| !inside.contains('`')).unwrap_or_else(|| panic!("`{cell}` is no single command"))
}

/// Reads the rows of the table.
fn rows() -> Vec<Row> {
    let (_, section) = PAGE.split_once("\n## Coming from ").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let lines = section.lines().filter(|line| line.starts_with("| `"));
    let row = |line: &str| {
        let line = line.replace("\\|", "\u{1}");
        let cells: Vec<String> = line.split('|').map(|cell| cell.replace('\u{1}', "|")).collect();
        assert_eq!(cells.len(), 4, "{line}");
        let (other, own) = (code(&cells[1]).to_owned(), code(&cells[2]).to_owned());
        let is_program = |word: &str| PROGRAMS.into_iter().find(|program| *program == word);
        let program = other.split([' ', '(']).find_map(is_program);
        let program = program.unwrap_or_else(|| panic!("{line}: no program of the table"));
        assert!(own.contains("makespan "), "{line}");
        Row { program, other, own }
    };
    lines.map(row).collect()
}

/// The effect of a command: its exit status, its output, and the files in its folder.
#[derive(Debug, PartialEq, Eq)]
struct Effect {
    status: Option<i32>,
    lines: Vec<String>,
    files: BTreeMap<String, String>,
}

/// Adds the files below a folder, except the internal files of the programs.
fn add_files(folder: &Path, within: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if within.is_empty() && ["runs", ".snakemake", ".home"].contains(&name.as_str()) {
            continue;
        }
        let (path, name) = (entry.path(), format!("{within}{name}"));
        if path.is_dir() {
            add_files(&path, &format!("{name}/"), files);
        } else {
            // The folder of a program that compresses or counts has text only.
            files.insert(name, String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
        }
    }
}

/// Runs a command in a new folder with the files.
fn effect(line: &str, path: &str) -> Effect {
    let sandbox = Sandbox::new();
    for (name, text) in FILES {
        sandbox.write(name, text);
    }
    let folder = sandbox.path("");
    let home = folder.join(".home");
    fs::create_dir(&home).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(&folder).env("PATH", path).env("SHELL", "/bin/sh").env("HOME", &home);
    command.env("XDG_RUNTIME_DIR", &home).env("XDG_DATA_HOME", &home).env("XDG_CONFIG_HOME", &home);
    command.env("MAKESPAN_HISTORY", sandbox.history()).env_remove("MAKEFLAGS");
    let output = command.output().unwrap();
    let mut lines: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    if !line.contains(" -k") {
        lines.sort_unstable();
    }
    let mut files = BTreeMap::new();
    add_files(&folder, "", &mut files);
    assert!(output.status.code() != Some(255), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    Effect { status: output.status.code(), lines, files }
}

/// The search path of the commands: a folder with this program as `makespan`, and further folders.
struct Programs {
    folder: tempfile::TempDir,
    more: Vec<PathBuf>,
}

impl Programs {
    fn new(more: Vec<PathBuf>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(assert_cmd::cargo_bin!("makespan"), folder.path().join("makespan")).unwrap();
        Self { folder, more }
    }

    fn path(&self) -> String {
        let own = [self.folder.path().to_owned()].into_iter().chain(self.more.clone());
        let system = std::env::var_os("PATH").unwrap_or_default();
        std::env::join_paths(own.chain(std::env::split_paths(&system))).unwrap().into_string().unwrap()
    }

    fn has(&self, program: &str) -> bool {
        std::env::split_paths(&self.path()).any(|folder| folder.join(program).is_file())
    }
}

/// Returns a command of pueue with the daemon that it needs. The daemon keeps its files in the home of the command.
fn with_daemon(line: &str) -> String {
    let ready = "until pueue status > /dev/null 2>&1; do sleep 0.05; done";
    let end = "pueue shutdown; for i in $(seq 100); do test -e .home/pueue.pid || break; sleep 0.05; done";
    format!("pueued -d > /dev/null 2>&1; {ready}; {line}; status=$?; {{ {end}; }} > /dev/null 2>&1; exit $status")
}

/// Compares rows. If a program is not installed, prints a note and runs only the Makespan commands of its rows.
fn compare(rows: &[Row], programs: &Programs) {
    let path = programs.path();
    for program in PROGRAMS {
        let rows = || rows.iter().filter(|row| row.program == program);
        let is_there = programs.has(program);
        if !is_there && rows().next().is_some() {
            eprintln!(
                "SKIPPED: {} rows of the table in docs/how-to/run.md: {program} is not installed",
                rows().count()
            );
        }
        for Row { other, own, .. } in rows() {
            let by_makespan = effect(own, &path);
            if is_there {
                let line = if program == "pueue" { with_daemon(other) } else { other.clone() };
                assert_eq!(effect(&line, &path), by_makespan, "{other}\n{own}");
            } else {
                assert_eq!(by_makespan.status, Some(0), "{own}: {by_makespan:?}");
            }
        }
    }
}

#[test]
fn the_table_has_commands_for_each_program() {
    let rows = rows();
    for program in PROGRAMS {
        let count = rows.iter().filter(|row| row.program == program).count();
        assert!(count >= 3, "{program}: {count} rows");
    }
}

/// Runs the rows of xargs, which every system has.
#[test]
fn rows_of_xargs_do_the_same() {
    let rows: Vec<Row> = rows().into_iter().filter(|row| row.program == "xargs").collect();
    compare(&rows, &Programs::new(Vec::new()));
}

#[test]
#[ignore = "long: runs GNU parallel, make, pueue and Snakemake"]
fn all_rows_do_the_same() {
    let snakemake = crate::cli::snakefiles::snakemake().map(PathBuf::from);
    compare(&rows(), &Programs::new(snakemake.into_iter().collect()));
}
