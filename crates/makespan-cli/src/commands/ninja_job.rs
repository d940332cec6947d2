//! `makespan ninja-job`: runs the command of one edge of a build of ninja, and records its end in the logs of ninja.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::SystemTime;

use makespan_formats::list::{BuildLogEntry, BuildLogVersion, DepsLog, depfile_inputs};
use miette::{Result, miette};

use crate::args::NinjaJobOptions;
use crate::ninja::{BUILD_LOG, DEPS_LOG, mtime};

/// File in the folder of the run that lists outputs that did not change. Ninja then decides whether later edges are still
/// out of date.
const UNCHANGED: &str = "ninja-unchanged";

/// Begin of the lines of a dry run, before the command.
const MARK: &str = "\x1e";

/// Runs the command of an edge. Returns the exit status of the command, or success if ninja would no longer run the
/// command.
pub fn job(options: &NinjaJobOptions) -> Result<ExitCode> {
    let job = NinjaJob::new(options)?;
    // Another session finds this lock if the session of this job is killed.
    let manifest = File::open(&options.manifest);
    let manifest = manifest.map_err(|error| miette!("{}: cannot open: {error}", options.manifest.display()))?;
    drop(manifest.lock_shared());
    if !job.is_out_of_date()? {
        return job.add_unchanged(&options.output).map(|()| ExitCode::SUCCESS);
    }
    let before: Vec<i64> = options.output.iter().map(|output| mtime(&job.path(output))).collect();
    job.prepare()?;
    let begun = job.log(&BuildLogEntry::STARTED, &[])?;
    let start = job.milliseconds();
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(&options.command).current_dir(&job.folder).stdin(Stdio::null());
    let status = shell.status().map_err(|error| miette!("cannot run /bin/sh: {error}"))?;
    if !status.success() {
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
        return Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)));
    }
    let inputs = job.inputs()?;
    let after: Vec<i64> = options.output.iter().map(|output| mtime(&job.path(output))).collect();
    let is_unchanged = |at: &usize| options.restat && after[*at] == before[*at];
    let unchanged: Vec<String> = (0..after.len()).filter(is_unchanged).map(|at| options.output[at].clone()).collect();
    let last = after.iter().copied().max().unwrap_or(0);
    let recorded = if unchanged.is_empty() {
        job.version.recorded_mtime(begun, last, options.restat || options.generator)
    } else {
        // With an older time, the outputs would be older than the inputs.
        begun
    };
    let entry = BuildLogEntry {
        times: [start, job.milliseconds()],
        mtime: recorded,
        hash: job.version.hash(&options.command, &options.rspfile_content.concat()),
    };
    job.log(&entry, inputs.as_deref().unwrap_or_default())?;
    if let Some(rspfile) = &options.rspfile {
        drop(fs::remove_file(job.path(rspfile)));
    }
    if !unchanged.is_empty() {
        job.add_unchanged(&unchanged)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The job of an edge.
struct NinjaJob<'a> {
    options: &'a NinjaJobOptions,
    /// Folder in which the command runs.
    folder: PathBuf,
    version: BuildLogVersion,
    /// Folder of the run.
    run: Option<PathBuf>,
    /// Begin of the run. The times in the log are relative to this instant.
    begin: SystemTime,
}

impl<'a> NinjaJob<'a> {
    fn new(options: &'a NinjaJobOptions) -> Result<Self> {
        let number = options.log_version;
        let version = BuildLogVersion::of_number(number);
        let version = version.ok_or_else(|| miette!("--log-version {number}: supported versions are 5 to 7"))?;
        let folder = options.manifest.parent().unwrap_or(Path::new("/")).to_owned();
        let run: Option<PathBuf> = std::env::var_os("MAKESPAN_RUN").map(PathBuf::from);
        let begin = run.as_ref().and_then(|run| run.metadata().ok()?.created().ok()).unwrap_or_else(SystemTime::now);
        Ok(Self { options, folder, version, run, begin })
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Returns whether ninja would still run the command. Ninja is asked only if an earlier job left an output unchanged.
    fn is_out_of_date(&self) -> Result<bool> {
        let unchanged = self.run.as_ref().is_some_and(|run| run.join(UNCHANGED).exists());
        if !unchanged {
            return Ok(true);
        }
        // Other jobs do not write to the logs while ninja reads them.
        let log = self.open(BUILD_LOG)?;
        log.lock_shared().map_err(|error| self.wrong(BUILD_LOG, "lock", &error))?;
        let mut ninja = Command::new("ninja");
        // With an absolute path, ninja does not check whether the manifest is out of date.
        // Without `keeprsp`, this call would remove response files that other jobs read.
        ninja.args(["-d", "keeprsp", "-f"]).arg(&self.options.manifest);
        ninja.args(["-n", "-v", "--", &self.options.output[0]]);
        ninja.current_dir(&self.folder).env("NINJA_STATUS", MARK).stdin(Stdio::null());
        let output = ninja.output().map_err(|error| miette!("cannot run `ninja`: {error}"))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        // A command may contain line breaks, so lines are not compared.
        let own = format!("{MARK}{}\n", self.options.command);
        Ok(!output.status.success() || printed.contains(&own))
    }

    /// Creates the folders of the outputs, and the response file.
    fn prepare(&self) -> Result<()> {
        let NinjaJobOptions { output, depfile, rspfile, rspfile_content, .. } = self.options;
        for file in output.iter().chain(depfile).chain(rspfile) {
            let path = self.path(file);
            let folder = path.parent().unwrap_or(&self.folder);
            fs::create_dir_all(folder).map_err(|error| miette!("{}: cannot create: {error}", folder.display()))?;
        }
        if let Some(rspfile) = rspfile {
            let written = fs::write(self.path(rspfile), rspfile_content.concat());
            written.map_err(|error| miette!("{rspfile}: cannot write: {error}"))?;
        }
        Ok(())
    }

    /// Returns the files in the depfile, and removes the depfile, if the edge stores its dependencies in the log. A missing
    /// depfile has no files.
    fn inputs(&self) -> Result<Option<Vec<Vec<u8>>>> {
        let Some(depfile) = self.options.depfile.as_ref().filter(|_| self.options.deps) else {
            return Ok(self.options.deps.then(Vec::new));
        };
        let path = self.path(depfile);
        let content = match fs::read(&path) {
            Ok(content) => content,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Some(Vec::new())),
            Err(error) => return Err(miette!("{depfile}: cannot read: {error}")),
        };
        let inputs = depfile_inputs(&content).map_err(|problem| miette!("{depfile}: {problem}"))?;
        fs::remove_file(&path).map_err(|error| miette!("{depfile}: cannot remove: {error}"))?;
        Ok(Some(inputs))
    }

    fn open(&self, name: &str) -> Result<File> {
        let file = OpenOptions::new().read(true).append(true).create(true).open(self.options.logs.join(name));
        file.map_err(|error| self.wrong(name, "open", &error))
    }

    fn wrong(&self, name: &str, action: &str, error: &std::io::Error) -> miette::Report {
        miette!("{}: cannot {action}: {error}", self.options.logs.join(name).display())
    }

    /// Adds an entry for all outputs to the log of finished commands. If the edge has finished and stores its dependencies,
    /// first adds these dependencies to their log. Returns the modification time of the log of finished commands, which is
    /// the current time of the file system.
    fn log(&self, entry: &BuildLogEntry, inputs: &[Vec<u8>]) -> Result<i64> {
        fs::create_dir_all(&self.options.logs).map_err(|error| self.wrong("", "create", &error))?;
        let mut log = self.open(BUILD_LOG)?;
        log.lock().map_err(|error| self.wrong(BUILD_LOG, "lock", &error))?;
        if self.options.deps && *entry != BuildLogEntry::STARTED {
            self.add_dependencies(inputs)?;
        }
        let mut lines = entry.lines(&self.options.output);
        match last_byte(&mut log).map_err(|error| self.wrong(BUILD_LOG, "read", &error))? {
            None => lines.insert_str(0, &self.version.header()),
            Some(b'\n') => {}
            // A killed process left an incomplete line.
            Some(_) => lines.insert(0, '\n'),
        }
        log.write_all(lines.as_bytes()).map_err(|error| self.wrong(BUILD_LOG, "write", &error))?;
        Ok(mtime(&self.options.logs.join(BUILD_LOG)))
    }

    /// Adds the dependencies of all outputs to the log of dependencies.
    fn add_dependencies(&self, inputs: &[Vec<u8>]) -> Result<()> {
        let mut file = self.open(DEPS_LOG)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| self.wrong(DEPS_LOG, "read", &error))?;
        let problem = |problem: String| miette!("{}: {problem}", self.options.logs.join(DEPS_LOG).display());
        let mut log = DepsLog::read(&bytes).map_err(problem)?;
        if log.complete() < bytes.len() {
            file.set_len(log.complete() as u64).map_err(|error| self.wrong(DEPS_LOG, "write", &error))?;
        }
        let mut added = Vec::new();
        for output in &self.options.output {
            added.extend(log.record(output, mtime(&self.path(output)), inputs).map_err(problem)?);
        }
        file.write_all(&added).map_err(|error| self.wrong(DEPS_LOG, "write", &error))
    }

    /// Returns the milliseconds since the begin of the run.
    fn milliseconds(&self) -> u64 {
        let since = SystemTime::now().duration_since(self.begin).unwrap_or_default().as_millis();
        u64::try_from(since).unwrap_or_default()
    }

    /// Lists outputs as unchanged for the later jobs of the run.
    fn add_unchanged(&self, outputs: &[String]) -> Result<()> {
        let Some(run) = &self.run else { return Ok(()) };
        let lines: String = outputs.iter().map(|output| format!("{output}\n")).collect();
        let file = OpenOptions::new().append(true).create(true).open(run.join(UNCHANGED));
        let written = file.and_then(|mut file| file.write_all(lines.as_bytes()));
        written.map_err(|error| miette!("{}: cannot write: {error}", run.join(UNCHANGED).display()))
    }
}

/// Returns the last byte of a file, or `None` if the file is empty.
fn last_byte(file: &mut File) -> std::io::Result<Option<u8>> {
    if file.metadata()?.len() == 0 {
        return Ok(None);
    }
    let mut byte = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut byte)?;
    Ok(Some(byte[0]))
}
