//! Jobs of a build of ninja that need not run, because an earlier job left an output unchanged (`restat`).

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use makespan_core::{Instance, TaskId};
use makespan_exec::{OtherWork, Pruning, PruningAnswer};

use super::ninja::manifest;
use crate::args::RunOptions;
use crate::ninja::DryRuns;
use crate::ninja_job::UNCHANGED;

/// Returns the rule that finds the jobs that need not run, if the source is a build of ninja. `run` is the folder of the run.
pub fn pruning(options: &RunOptions, instance: &Instance, run: &Path) -> Option<Pruning> {
    let manifest = manifest(options)?;
    let before = |task| instance.incoming(task).map(|edge| edge.from).collect();
    let unchanged = run.join(UNCHANGED);
    let mut jobs = NinjaJobs {
        manifest: manifest.to_owned(),
        targets: options.source.template.words.clone(),
        names: instance.task_ids().map(|task| instance.name(task).into_owned()).collect(),
        before: instance.task_ids().map(before).collect(),
        news: BTreeSet::new(),
        all: BTreeSet::new(),
        // The jobs of earlier sessions are not jobs of this session.
        read: unchanged.metadata().map_or(0, |file| file.len()),
        unchanged,
        dry_runs: None,
        last: None,
    };
    Some(Pruning::new(move |ready, other| jobs.unneeded(ready, other)))
}

/// The jobs of a build.
struct NinjaJobs {
    manifest: PathBuf,
    targets: Vec<String>,
    /// The file that lists the jobs that left an output unchanged.
    unchanged: PathBuf,
    /// The first output of each job, which is its name.
    names: Vec<String>,
    /// The predecessors of each job.
    before: Vec<Vec<TaskId>>,
    /// The jobs that have left an output unchanged since the last question to ninja.
    news: BTreeSet<String>,
    /// All jobs that have left an output unchanged.
    all: BTreeSet<String>,
    /// Offset in `unchanged`, in bytes, of the first entry that was not read.
    read: u64,
    /// Opened at the first question to ninja.
    dry_runs: Option<DryRuns>,
    /// The end of the last question to ninja, and its duration.
    last: Option<(Instant, Duration)>,
}

impl NinjaJobs {
    /// Returns the jobs that need not run. Asks ninja only if a predecessor of a job in `ready` has left an output unchanged
    /// since the last question. Otherwise, no job can have become up to date.
    ///
    /// No job starts while ninja answers. So between two answers, a multiple of the duration of the last answer passes, and
    /// the jobs that depend on the next answer wait. Without other work, ninja is asked at once.
    fn unneeded(&mut self, ready: &[TaskId], other: OtherWork) -> PruningAnswer {
        self.read_news();
        let is_unchanged = |task: &TaskId| self.news.contains(&self.names[task.index()]);
        let is_doubtful = |task: &TaskId| self.before[task.index()].iter().any(is_unchanged);
        let undecided: Vec<TaskId> = ready.iter().copied().filter(is_doubtful).collect();
        if undecided.is_empty() {
            return PruningAnswer::default();
        }
        let factor = match other {
            OtherWork::None => 0,
            OtherWork::Running => 1,
            OtherWork::Waiting => 4,
        };
        let pause = self.last.map(|(end, took)| (took * factor).saturating_sub(end.elapsed())).unwrap_or_default();
        if !pause.is_zero() {
            return PruningAnswer { undecided, pause, ..PruningAnswer::default() };
        }
        self.all.append(&mut self.news);
        if self.dry_runs.is_none() {
            self.dry_runs = DryRuns::new(&self.manifest, &self.targets).ok();
        }
        let begin = Instant::now();
        let dirty = self.dry_runs.as_mut().map(|ninja| ninja.dirty(&self.all));
        self.last = Some((Instant::now(), begin.elapsed()));
        // If ninja reports an error, all jobs run.
        let Some(Ok(dirty)) = dirty else { return PruningAnswer::default() };
        let names = (0..).map(TaskId).zip(&self.names);
        let unneeded = names.filter(|(_, name)| !dirty.contains(*name)).map(|(task, _)| task).collect();
        PruningAnswer { unneeded, ..PruningAnswer::default() }
    }

    /// Reads the jobs that the file lists since the last call. Ignores the last job if its line is incomplete.
    fn read_news(&mut self) {
        let mut new = Vec::new();
        let read = File::open(&self.unchanged).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.read))?;
            file.read_to_end(&mut new)
        });
        if read.is_err() {
            return;
        }
        let complete = new.iter().rposition(|&byte| byte == 0).map_or(0, |last| last + 1);
        let names = new[..complete].split(|&byte| byte == 0).filter(|name| !name.is_empty());
        self.news.extend(names.map(|name| String::from_utf8_lossy(name).into_owned()));
        self.read += complete as u64;
    }
}
