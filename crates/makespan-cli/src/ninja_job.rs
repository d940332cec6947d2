//! The jobs of a build of ninja: the steps before and after the command of an edge, and the records of its end in the logs of
//! ninja. The shim of each job executes these steps.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use makespan_exec::WrappedJob;
use makespan_formats::list::{BuildLogEntry, BuildLogVersion, DepsLog, depfile_inputs};

/// Name of the log of finished commands.
pub const BUILD_LOG: &str = ".ninja_log";
/// Name of the log of dependencies.
pub const DEPS_LOG: &str = ".ninja_deps";
/// File in the folder of the run. For each edge that left an output unchanged, the file contains the first output of the
/// edge and a NUL byte.
pub const UNCHANGED: &str = "ninja-unchanged";

/// The second word of each job, after the path of this program.
pub const MARK: &str = "ninja-job";

type Result<T> = std::result::Result<T, String>;

/// The bindings of an edge, with the names that they have in ninja.
#[derive(Default)]
struct NinjaJobOptions {
    /// Absolute path of the manifest. The command runs in its folder.
    manifest: PathBuf,
    /// Folder that contains the logs of ninja.
    logs: PathBuf,
    /// Version of the log of finished commands.
    log_version: u32,
    output: Vec<String>,
    depfile: Option<String>,
    /// True if the dependencies that the depfile lists are stored in the log of dependencies.
    deps: bool,
    restat: bool,
    generator: bool,
    rspfile: Option<String>,
    /// Parts of the content of the response file.
    rspfile_content: Vec<String>,
    /// Shell command of the edge.
    command: String,
}

impl NinjaJobOptions {
    /// Reads the words of a job, which [`makespan_formats::list::read_ninja`] made.
    fn read(words: impl IntoIterator<Item = String>) -> Result<Self> {
        let (mut options, mut words) = (Self::default(), words.into_iter());
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word}: the value is missing"));
            match word.as_str() {
                "--manifest" => options.manifest = value()?.into(),
                "--logs" => options.logs = value()?.into(),
                "--log-version" => {
                    options.log_version = value()?.parse().map_err(|error| format!("--log-version: {error}"))?;
                }
                "--output" => options.output.push(value()?),
                "--depfile" => options.depfile = Some(value()?),
                "--deps" => options.deps = true,
                "--restat" => options.restat = true,
                "--generator" => options.generator = true,
                "--rspfile" => options.rspfile = Some(value()?),
                "--rspfile-content" => options.rspfile_content.push(value()?),
                "--" => options.command = value()?,
                _ => return Err(format!("the job of ninja has the unknown option `{word}`")),
            }
        }
        if options.output.is_empty() { Err("the job of ninja has no output".to_owned()) } else { Ok(options) }
    }
}

/// Returns the shell command of an edge, if these words are the command of a job that runs an edge.
pub fn command_of_edge(words: &[String]) -> Option<&str> {
    let [_, mark, first, .., dashes, command] = words else { return None };
    (mark == MARK && first == "--manifest" && dashes == "--").then_some(command)
}

/// Prepares an edge for its shell command, if these words belong to a job of ninja: locks the manifest, creates the folders
/// and the response file, and records the start in the log. `run` is the folder of the run.
pub fn wrapped(words: &[OsString], run: &Path) -> Option<Result<WrappedJob>> {
    let words: Option<Vec<String>> = words.iter().map(|word| Some(word.to_str()?.to_owned())).collect();
    let words = words.filter(|words| command_of_edge(words).is_some())?;
    Some(NinjaJobOptions::read(words.into_iter().skip(2)).and_then(|options| begun(options, run)))
}

/// Prepares an edge for its shell command.
fn begun(options: NinjaJobOptions, run: &Path) -> Result<WrappedJob> {
    let job = NinjaJob::new(options, run)?;
    // Another session finds this lock if the session of this job is killed.
    let manifest = File::open(&job.options.manifest);
    let manifest = manifest.map_err(|error| format!("{}: cannot open: {error}", job.options.manifest.display()))?;
    drop(manifest.lock_shared());
    let before = job.mtimes();
    job.prepare()?;
    let begun = job.log(&BuildLogEntry::STARTED, &[])?;
    let start = job.milliseconds();
    let command = ["/bin/sh", "-c", &job.options.command].map(OsString::from).to_vec();
    let end = Box::new(move || {
        let ended = job.ended(&before, begun, start);
        drop(manifest);
        ended
    });
    Ok(WrappedJob { command, end })
}

/// The job of an edge.
struct NinjaJob {
    options: NinjaJobOptions,
    /// Folder in which the command runs.
    folder: PathBuf,
    version: BuildLogVersion,
    /// Folder of the run.
    run: PathBuf,
    /// The start of the run: the creation time of its folder. The times in the log are relative to this instant.
    begin: SystemTime,
}

impl NinjaJob {
    fn new(options: NinjaJobOptions, run: &Path) -> Result<Self> {
        let number = options.log_version;
        let version = BuildLogVersion::of_number(number);
        let version = version.ok_or_else(|| format!("--log-version {number}: supported versions are 5 to 7"))?;
        let folder = options.manifest.parent().unwrap_or(Path::new("/")).to_owned();
        let begin = run.metadata().and_then(|run| run.created()).unwrap_or_else(|_| SystemTime::now());
        Ok(Self { options, folder, version, run: run.to_owned(), begin })
    }

    /// Executes the steps after the command has succeeded. `before` are the modification times of the outputs before the
    /// command, `begun` is the time of the file system at its start, and `start` is the time since the start of the run.
    fn ended(&self, before: &[i64], begun: i64, start: u64) -> Result<()> {
        let NinjaJobOptions { restat, generator, command, rspfile, rspfile_content, .. } = &self.options;
        let (inputs, after) = (self.inputs()?, self.mtimes());
        let is_unchanged = *restat && before.iter().zip(&after).any(|(before, after)| before == after);
        let last = after.iter().copied().max().unwrap_or(0);
        let mtime = if is_unchanged {
            // With an older time, the outputs would be older than the inputs.
            begun
        } else {
            self.version.recorded_mtime(begun, last, *restat || *generator)
        };
        let hash = self.version.hash(command, &rspfile_content.concat());
        let entry = BuildLogEntry { times: [start, self.milliseconds()], mtime, hash };
        self.log(&entry, inputs.as_deref().unwrap_or_default())?;
        if let Some(rspfile) = rspfile {
            drop(fs::remove_file(self.path(rspfile)));
        }
        if is_unchanged { self.add_unchanged() } else { Ok(()) }
    }

    /// Returns the modification times of the outputs.
    fn mtimes(&self) -> Vec<i64> {
        self.options.output.iter().map(|output| mtime(&self.path(output))).collect()
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Creates the folders of the outputs, and the response file.
    fn prepare(&self) -> Result<()> {
        let NinjaJobOptions { output, depfile, rspfile, rspfile_content, .. } = &self.options;
        for file in output.iter().chain(depfile).chain(rspfile) {
            let path = self.path(file);
            let folder = path.parent().unwrap_or(&self.folder);
            fs::create_dir_all(folder).map_err(|error| format!("{}: cannot create: {error}", folder.display()))?;
        }
        if let Some(rspfile) = rspfile {
            let written = fs::write(self.path(rspfile), rspfile_content.concat());
            written.map_err(|error| format!("{rspfile}: cannot write: {error}"))?;
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
            Err(error) => return Err(format!("{depfile}: cannot read: {error}")),
        };
        let inputs = depfile_inputs(&content).map_err(|problem| format!("{depfile}: {problem}"))?;
        fs::remove_file(&path).map_err(|error| format!("{depfile}: cannot remove: {error}"))?;
        Ok(Some(inputs))
    }

    fn open(&self, name: &str) -> Result<File> {
        let file = OpenOptions::new().read(true).append(true).create(true).open(self.options.logs.join(name));
        file.map_err(|error| self.wrong(name, "open", &error))
    }

    fn wrong(&self, name: &str, action: &str, error: &std::io::Error) -> String {
        format!("{}: cannot {action}: {error}", self.options.logs.join(name).display())
    }

    /// Adds an entry for all outputs to the log of finished commands. If the edge has finished and stores its dependencies,
    /// first adds the dependencies to the log of dependencies. Returns the modification time of the log of finished commands, which is
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
        let problem = |problem: String| format!("{}: {problem}", self.options.logs.join(DEPS_LOG).display());
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

    /// Returns the milliseconds since the start of the run.
    fn milliseconds(&self) -> u64 {
        let since = SystemTime::now().duration_since(self.begin).unwrap_or_default().as_millis();
        u64::try_from(since).unwrap_or_default()
    }

    /// Lists the first output of this edge for the session, because some outputs of this edge did not change.
    fn add_unchanged(&self) -> Result<()> {
        let path = self.run.join(UNCHANGED);
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(format!("{}\0", self.options.output[0]).as_bytes()));
        written.map_err(|error| format!("{}: cannot write: {error}", path.display()))
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

/// Returns the modification time of a file in nanoseconds since 1970, or 0 if the file does not exist. As in ninja, the
/// time 0 of an existing file counts as 1.
pub fn mtime(file: &Path) -> i64 {
    file.metadata().map_or(0, |found| match found.mtime().saturating_mul(1_000_000_000) + found.mtime_nsec() {
        0 => 1,
        time => time,
    })
}
