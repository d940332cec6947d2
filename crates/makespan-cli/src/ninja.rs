//! Reads builds of ninja. A dry run of ninja lists the edges that are out of date. Each of these edges becomes a job.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use makespan_core::{Instance, Platform};
use makespan_formats::FormatError;
use makespan_formats::list::{
    BuildFiles, BuildLog, BuildLogVersion, DepsLog, ManifestCopy, NinjaOutput, dirty_depfiles, dirty_outputs,
    read_ninja,
};
use miette::{Diagnostic, Result, miette};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ninja_job::{self, BUILD_LOG, DEPS_LOG, mtime};
use crate::output::shown;

/// Returns true if the name of a file is the name of a manifest of ninja.
pub fn is_ninja(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "ninja")
}

/// Returns the jobs that ninja would run for these targets, or `None` if all targets are up to date. If `targets` is
/// empty, uses the default targets of the manifest.
pub fn read(path: &Path, targets: &[String], platform: &Platform) -> Result<Option<Instance>> {
    let build = Build::open(path)?;
    match build.logs_unless_left()? {
        Ok(logs) => build.instance(logs, targets, platform),
        Err(reason) => Err(OnlyNinja(reason).into()),
    }
}

/// The error for a build that only ninja can run. The value is the reason.
#[derive(Debug)]
pub struct OnlyNinja(pub String);

impl fmt::Display for OnlyNinja {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; only ninja can run this build: run `ninja` instead", self.0)
    }
}

impl std::error::Error for OnlyNinja {}
impl Diagnostic for OnlyNinja {}

/// Asks ninja during a run which edges are still out of date.
pub struct DryRuns {
    build: Build,
    targets: Vec<String>,
    log: File,
}

impl DryRuns {
    /// Prepares dry runs for these targets.
    pub fn new(path: &Path, targets: &[String]) -> Result<Self> {
        let build = Build::open(path)?;
        let log = build.log_folder()?.join(BUILD_LOG);
        let log = File::open(&log).map_err(|error| miette!("{}: cannot open: {error}", log.display()))?;
        Ok(Self { build, targets: targets.to_vec(), log })
    }

    /// Returns the first output of each edge that is out of date. `unchanged` contains the first outputs of edges that have
    /// ended in this run and left an output unchanged. Some of them are always out of date, but do not make other edges out
    /// of date. Ninja then is asked again without these edges.
    pub fn dirty(&mut self, unchanged: &BTreeSet<String>) -> Result<FxHashSet<String>> {
        loop {
            let dirty = self.dirty_edges()?;
            let ended = dirty.iter().filter(|(output, _)| unchanged.contains(*output));
            let ended: Vec<usize> = ended.map(|(_, &statement)| statement).collect();
            if ended.is_empty() {
                return Ok(dirty.into_keys().collect());
            }
            self.build.copy.settle(&ended).map_err(|error| miette!("{error}"))?;
        }
    }

    /// Returns the first output of each edge that is out of date, and the number of its statement in the copy.
    fn dirty_edges(&self) -> Result<FxHashMap<String, usize>> {
        // The lock keeps jobs from writing to the logs while ninja reads them. An error is ignored, because some file systems
        // have no locks.
        drop(self.log.lock_shared());
        // Without these words, the dry run would remove response files and depfiles of jobs that run.
        let words = ["-d", "keeprsp", "-d", "keepdepfile", "-n", "--"]
            .into_iter()
            .chain(self.targets.iter().map(String::as_str));
        let printed = self.build.asked(&self.build.copy.path(), &words.collect::<Vec<_>>());
        drop(self.log.unlock());
        dirty_outputs(&printed?).ok_or_else(|| miette!("{}: ninja printed an incomplete edge", self.build.name))
    }
}

/// Claims a build for a session. Returns a file that is locked while the session runs.
///
/// # Errors
/// Returns an error if another session runs jobs of this build, or if jobs of a killed session still run.
pub fn claim(path: &Path) -> Result<File> {
    let wrong = |error: &std::io::Error| miette!("{}: cannot open: {error}", path.display());
    let folder = File::open(folder_of(path)).map_err(|error| wrong(&error))?;
    if is_held(&folder) {
        return Err(miette!("{}: another session of makespan runs this build; wait for its end", path.display()));
    }
    // Each job holds a shared lock on the manifest.
    if is_held(&File::open(path).map_err(|error| wrong(&error))?) {
        let problem = "jobs of a killed session still run; wait for their end, or end them with --resume";
        return Err(miette!("{}: {problem}", path.display()));
    }
    Ok(folder)
}

/// Locks a file, or returns true if another process has locked the file. Some file systems have no locks.
fn is_held(file: &File) -> bool {
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Replaces this process by ninja for these targets, with up to `jobs` commands at once. A failed
/// command ends no other command, as in a run of Makespan. Signals reach ninja. Returns an
/// error if ninja cannot be started.
pub fn run(path: &Path, targets: &[String], jobs: u32) -> miette::Report {
    let (folder, manifest) = (folder_of(path), path.file_name().unwrap_or_default());
    let mut ninja = Command::new("ninja");
    ninja.current_dir(&folder).arg("-f").arg(manifest).args(["-k0", &format!("-j{jobs}"), "--"]).args(targets);
    let error = ninja.exec();
    miette!("{}: cannot run `ninja`: {error}", path.display())
}

/// Returns the folder in which ninja runs: the folder of the manifest.
pub fn folder_of(path: &Path) -> PathBuf {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

/// A build of ninja, with a copy of its manifest.
struct Build {
    /// The manifest, for messages.
    name: String,
    folder: PathBuf,
    manifest: PathBuf,
    copy: ManifestCopy,
}

impl Build {
    fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        path.metadata().map_err(|error| miette!("{name}: cannot open: {error}"))?;
        let folder = folder_of(path).canonicalize().map_err(|error| miette!("{name}: cannot open: {error}"))?;
        let manifest = PathBuf::from(path.file_name().unwrap_or_default());
        let copy = ManifestCopy::new(&folder, &manifest).map_err(|error| miette!("{error}"))?;
        Ok(Self { name, folder, manifest, copy })
    }

    /// Returns the logs of the build, or the reason why only ninja can run the build.
    fn logs_unless_left(&self) -> Result<Result<NinjaLogs, String>> {
        if let Some(reason) = self.copy.left() {
            return Ok(Err(reason.to_owned()));
        }
        let logs = self.logs()?;
        let manifest = self.manifest.display().to_string();
        let asked = self.command(&self.copy.path()).args(["-n", "--", &manifest]).output();
        let output = asked.map_err(|error| self.not_run(&error))?;
        let is_stale = output.status.success() && output.stdout.contains(&0x1e);
        if output.status.success() || String::from_utf8_lossy(&output.stderr).contains("unknown target") {
            return Ok(if is_stale { Err(format!("{}: the file is out of date", self.name)) } else { Ok(logs) });
        }
        Err(self.failed(&output.stderr))
    }

    fn instance(&self, logs: NinjaLogs, targets: &[String], platform: &Platform) -> Result<Option<Instance>> {
        let wrong = |error: FormatError| miette!("{error}");
        let NinjaLogs { version, folder, mut log, deps } = logs;
        let named: Vec<&str> = targets.iter().map(String::as_str).collect();
        // The files of jobs that another session runs are kept.
        let dry = self.dry_run(&[&["-d", "keepdepfile", "-n", "-k0", "--"], named.as_slice()].concat())?;
        if BuildLog::read(&log).is_long() {
            self.asked(&self.manifest, &["-t", "recompact"])?;
            log = build_log(&folder)?;
        }
        let graph = self.asked(&self.copy.whole(), &["-t", "graph"])?;
        let words = self.words(&folder, version)?;
        let output = NinjaOutput {
            file: &self.name,
            dry: &dry,
            graph: &graph,
            pools: self.copy.pools(),
            log: &log,
            deps: &DepsLog::read(&deps).map_err(|error| miette!("{error}"))?,
            words: &words,
        };
        read_ninja(output, platform, &FilesBelow(&self.folder)).map_err(wrong)
    }

    /// Returns the first words of the command of each job.
    fn words(&self, logs: &Path, version: BuildLogVersion) -> Result<Vec<String>> {
        let program = std::env::current_exe()
            .map_err(|error| miette!("cannot find the path of the program makespan: {error}"))?;
        let version = version.number().to_string();
        let words = [
            program.as_os_str(),
            ninja_job::MARK.as_ref(),
            "--manifest".as_ref(),
            self.folder.join(&self.manifest).as_os_str(),
            "--logs".as_ref(),
            logs.as_os_str(),
            "--log-version".as_ref(),
            version.as_ref(),
        ]
        .map(std::ffi::OsStr::to_owned);
        let text = |word: std::ffi::OsString| word.into_string();
        let words = words.into_iter().map(text).collect::<Result<_, _>>();
        words.map_err(|word| miette!("{}: the name of this file is not UTF-8; rename the file", word.display()))
    }

    /// Returns the version of the log that the installed ninja writes.
    fn version(&self) -> Result<BuildLogVersion> {
        let output = Command::new("ninja").arg("--version").output().map_err(|error| self.not_run(&error))?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        BuildLogVersion::of_ninja(&version)
            .ok_or_else(|| miette!("{}: ninja has version {}; install ninja 1.11 or later", self.name, shown(&version)))
    }

    /// Reads the logs and checks their versions, before ninja reads the logs and removes logs of other versions.
    fn logs(&self) -> Result<NinjaLogs> {
        let (version, folder) = (self.version()?, self.log_folder()?);
        let log = build_log(&folder)?;
        let stated = BuildLogVersion::stated(&log);
        if !log.is_empty() && stated != Some(version.number()) {
            let found = stated.map_or_else(|| "no version".into(), |found| format!("version {found}"));
            let problem = format!("the log has {found}, but this ninja writes version {}", version.number());
            return Err(miette!("{}: {problem}; run `ninja`, or remove the log", folder.join(BUILD_LOG).display()));
        }
        let file = folder.join(DEPS_LOG);
        let deps = read_or_empty(&file)?;
        DepsLog::check_version(&deps).map_err(|error| miette!("{}: {error}", file.display()))?;
        Ok(NinjaLogs { version, folder, log, deps })
    }

    /// Returns the folder that contains the logs.
    fn log_folder(&self) -> Result<PathBuf> {
        let printed = self.asked(&self.copy.probe(), &["-t", "commands", "makespan-builddir"])?;
        Ok(self.folder.join(printed.strip_suffix('\n').unwrap_or(&printed)))
    }

    fn command(&self, manifest: &Path) -> Command {
        let mut ninja = Command::new("ninja");
        ninja.current_dir(&self.folder).arg("-f").arg(manifest).env("NINJA_STATUS", "").stdin(Stdio::null());
        ninja
    }

    /// Runs ninja with a manifest and these words, and returns its standard output.
    fn asked(&self, manifest: &Path, words: &[&str]) -> Result<String> {
        self.printed(self.command(manifest).args(words).output().map_err(|error| self.not_run(&error))?)
    }

    /// Returns the standard output of ninja, or the error that ninja reported.
    fn printed(&self, output: Output) -> Result<String> {
        if !output.status.success() {
            return Err(self.failed(if output.stderr.is_empty() { &output.stdout } else { &output.stderr }));
        }
        String::from_utf8(output.stdout).map_err(|_| miette!("{}: the output of ninja is not UTF-8", self.name))
    }

    /// Returns the output of a dry run with these words. Ninja also reads the depfiles of the edges that it would run. If a
    /// command was killed, its depfile may be incomplete. Such depfiles are removed, because their edges run again.
    fn dry_run(&self, words: &[&str]) -> Result<String> {
        loop {
            let output = self.command(&self.copy.path()).args(words).output().map_err(|error| self.not_run(&error))?;
            if output.status.success() {
                return self.printed(output);
            }
            let depfiles = dirty_depfiles(&String::from_utf8_lossy(&output.stdout));
            let is_removed = |file: &String| fs::remove_file(self.folder.join(file)).is_ok();
            if depfiles.iter().filter(|file| is_removed(file)).count() == 0 {
                return self.printed(output);
            }
        }
    }

    fn not_run(&self, error: &std::io::Error) -> miette::Report {
        miette!("{}: cannot run `ninja`, which reads the build: {error}", self.name)
    }

    /// Returns the error that ninja reported. If ninja reports an error for the original manifest too, returns this error,
    /// because the error for the copy names the copy.
    fn failed(&self, said: &[u8]) -> miette::Report {
        let words = ["-d", "keeprsp", "-d", "keepdepfile", "-n"];
        let original = self.command(&self.manifest).args(words).output().ok();
        let original = original.filter(|output| !output.status.success() && !output.stderr.is_empty());
        let said = String::from_utf8_lossy(original.as_ref().map_or(said, |output| &output.stderr)).into_owned();
        let line = said.lines().find(|line| line.contains("error:") || line.contains("fatal:"));
        let line = line.or(said.lines().next()).unwrap_or("no reason was printed");
        miette!("{}: ninja reports an error: {}", self.name, shown(line.trim_start_matches("ninja: error: ")))
    }
}

/// The logs of a build.
struct NinjaLogs {
    /// The version that the installed ninja writes.
    version: BuildLogVersion,
    /// The folder that contains the logs.
    folder: PathBuf,
    /// The text of the log of finished commands.
    log: String,
    /// The bytes of the log of dependencies.
    deps: Vec<u8>,
}

/// Returns the text of the log of finished commands in a folder.
fn build_log(folder: &Path) -> Result<String> {
    Ok(String::from_utf8_lossy(&read_or_empty(&folder.join(BUILD_LOG))?).into_owned())
}

/// Returns the content of a file, or nothing if the file does not exist.
fn read_or_empty(file: &Path) -> Result<Vec<u8>> {
    match fs::read(file) {
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(miette!("{}: cannot read: {error}", file.display())),
    }
}

/// Files in the folder of a build.
struct FilesBelow<'a>(&'a Path);

impl BuildFiles for FilesBelow<'_> {
    fn read(&self, file: &str) -> Option<Vec<u8>> {
        fs::read(self.0.join(file)).ok()
    }

    fn mtime(&self, file: &str) -> i64 {
        mtime(&self.0.join(file))
    }
}
