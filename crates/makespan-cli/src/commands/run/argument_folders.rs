//! The folders of `--results`. As in GNU parallel, the path of a job's outputs consists of the arguments of its
//! command.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use makespan_core::{Instance, TaskId, bytes_of_text};
use makespan_exec::OutputFiles;
use makespan_formats::list::Arguments;
use miette::{Result, miette};

use super::command::command_line;
use crate::output::{complain, shown};

/// Maximum length of a folder name, in bytes.
const LONGEST: usize = 255;

/// Names of the links to the files of standard output and standard error.
const STREAMS: [&str; 2] = ["stdout", "stderr"];

/// A folder with `1/ARGUMENT/stdout`, `stderr` and `seq` for each job.
pub struct ArgumentFolders {
    root: PathBuf,
    has_failed: bool,
}

impl ArgumentFolders {
    /// Opens the folder. Returns an error for a name that GNU parallel would read as a file or a template.
    pub fn new(root: &Path) -> Result<Self> {
        let name = root.display().to_string();
        let ending = root.extension().and_then(|ending| ending.to_str());
        if let Some(ending) = ending.filter(|ending| ["csv", "tsv", "json"].contains(ending)) {
            return Err(miette!(
                "--results {}: a file in {ending} is not supported; name a folder (each run writes a table, jobs.csv, \
                 to its folder)",
                shown(&name)
            ));
        }
        if name.contains('{') {
            return Err(miette!(
                "--results {}: replacement strings such as {{}} are not supported; name one folder",
                shown(&name)
            ));
        }
        if root.exists() && !root.is_dir() {
            return Err(miette!("--results {}: this path is a file; name a folder", shown(&name)));
        }
        Ok(Self { root: root.to_owned(), has_failed: false })
    }

    /// Links the outputs of jobs that ended in earlier sessions. Warns if several jobs share a folder.
    pub fn begin<'a>(&mut self, jobs: &FolderJobs<'_>, ended: impl Iterator<Item = &'a TaskId>) {
        let folders: BTreeSet<PathBuf> = jobs.instance.task_ids().map(|task| jobs.folder(task)).collect();
        let same = jobs.instance.tasks() - folders.len() as u64;
        if same > 0 {
            let text = "jobs with the same arguments share a folder below --results; this folder contains the outputs \
                        of the job that started last";
            complain(&format!("note: {text}: {}", same + 1));
        }
        ended.for_each(|&task| self.add(jobs, task));
    }

    /// Links the outputs of a job that starts.
    pub fn add(&mut self, jobs: &FolderJobs<'_>, task: TaskId) {
        let folder = self.root.join(jobs.folder(task));
        let linked = link_all(&folder, &jobs.outputs.of(jobs.instance, task), task);
        if let Err(error) = linked
            && !std::mem::replace(&mut self.has_failed, true)
        {
            let name = folder.display().to_string();
            complain(&format!("error: --results: {}: cannot write: {error}", shown(&name)));
        }
    }

    /// Returns true if a link could not be made.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }
}

/// Jobs with their arguments and output files.
pub struct FolderJobs<'a> {
    pub instance: &'a Instance,
    pub arguments: &'a Arguments,
    pub outputs: &'a OutputFiles,
}

impl FolderJobs<'_> {
    /// Returns the folder of a job. For each argument, the path contains the number of the argument's source, then the
    /// argument. If a job has no arguments, the path contains the command as the only argument.
    fn folder(&self, task: TaskId) -> PathBuf {
        let records = self.arguments.records(task.index());
        if records.is_empty() {
            return of_records(&[vec![&command_line(&self.instance.command(task))]]);
        }
        of_records(&records)
    }
}

fn of_records(records: &[Vec<&str>]) -> PathBuf {
    let numbered = records.iter().flat_map(|record| (1..).zip(record));
    numbered.flat_map(|(number, argument): (u32, _)| [number.to_string().into(), folder_name(argument)]).collect()
}

/// Returns the folder name for an argument, with `\_` for a slash. For an empty argument and for a dot, the name is
/// empty and adds no folder to the path.
fn folder_name(argument: &str) -> OsString {
    let mut name = Vec::new();
    for &byte in bytes_of_text(argument).iter() {
        match byte {
            b'\\' => name.extend(b"\\\\"),
            b'\t' => name.extend(b"\\t"),
            0 => name.extend(b"\\0"),
            b'/' => name.extend(b"\\_"),
            byte => name.push(byte),
        }
    }
    name.truncate(LONGEST);
    match name.as_slice() {
        b"." => OsString::new(),
        // GNU parallel uses `..` unchanged, so the outputs would be outside the folder of results.
        b".." => "\\..".into(),
        _ => OsString::from_vec(name),
    }
}

/// Creates a folder with links to the output files and a file with the number of the job.
fn link_all(folder: &Path, outputs: &[PathBuf; 2], task: TaskId) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (output, name) in outputs.iter().zip(STREAMS) {
        link(output, &folder.join(name))?;
    }
    let seq = folder.join("seq");
    remove(&seq)?;
    fs::write(seq, (task.0 + 1).to_string())
}

/// Creates a hard link to a file, or a symbolic link if the file is on another disk. Replaces an existing file `name`.
fn link(file: &Path, name: &Path) -> io::Result<()> {
    remove(name)?;
    match fs::hard_link(file, name) {
        Err(error) if error.kind() != ErrorKind::NotFound => symlink(std::path::absolute(file)?, name),
        linked => linked,
    }
}

fn remove(name: &Path) -> io::Result<()> {
    match fs::remove_file(name) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_names_as_in_gnu_parallel() {
        for (records, path) in [
            (vec![vec!["a/b", "x"]], "1/a\\_b/2/x"),
            (vec![vec!["c d"], vec!["e"]], "1/c d/1/e"),
            (vec![vec!["", "x"]], "1/2/x"),
            (vec![vec![".", "x"]], "1/2/x"),
            (vec![vec!["..", "x"]], "1/\\../2/x"),
            (vec![vec!["/", "../x"]], "1/\\_/2/..\\_x"),
            (vec![vec!["\\", "a\tb\nc"]], "1/\\\\/2/a\\tb\nc"),
        ] {
            assert_eq!(of_records(&records).components().collect::<PathBuf>(), PathBuf::from(path), "{records:?}");
        }
        assert_eq!(folder_name(&"z".repeat(300)).len(), LONGEST);
    }
}
