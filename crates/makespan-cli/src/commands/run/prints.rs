//! Decides which job's output is printed next.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use makespan_core::TaskId;

use super::copy::{CopyError, Stream, Style, copy, open, streams};
use crate::output::{complain, shown};

/// The names of the files with the output of a job.
pub struct Output {
    pub task: TaskId,
    /// Stem of the names of the files.
    pub stem: String,
    /// The files of the job's standard output and standard error.
    pub files: [PathBuf; 2],
    /// Text before each line.
    pub tag: Option<String>,
}

/// An attempt with output files that were replaced by the files of a later attempt. Its `files` are further links to
/// its own files. They are removed when this value is dropped.
pub struct ReplacedAttempt(pub Output);

impl Drop for ReplacedAttempt {
    fn drop(&mut self) {
        for link in &self.0.files {
            let _ = fs::remove_file(link);
        }
    }
}

/// For each task, the number of replaced attempts that [`Prints`] has not handled yet. The output files of these tasks
/// may already belong to a later attempt than the lines that `Prints` prints. So `Prints` does not read these files.
#[derive(Clone, Default)]
pub struct Replacements(Arc<Mutex<BTreeMap<TaskId, usize>>>);

impl Replacements {
    /// Registers that the files of a task are about to be replaced. A [`ReplacedAttempt`] must be passed to
    /// [`Prints::replace`] afterwards.
    pub fn begin(&self, task: TaskId) {
        *self.lock().entry(task).or_default() += 1;
    }

    fn end(&self, task: TaskId) {
        let mut tasks = self.lock();
        if let Some(count) = tasks.get_mut(&task) {
            *count -= 1;
            if *count == 0 {
                tasks.remove(&task);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<TaskId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The printer of outputs.
pub struct Prints {
    streams: [Stream; 2],
    /// True if lines are printed while their job is running.
    lines: bool,
    /// The tasks with outputs that must still be printed. `None` if outputs are not printed in the order of the list.
    order: Option<BTreeSet<TaskId>>,
    /// The outputs of ended jobs that wait until the outputs of earlier jobs in the list are printed.
    ended: BTreeMap<TaskId, Output>,
    /// The outputs of running jobs. Empty unless lines are printed while their job is running.
    running: BTreeMap<TaskId, Output>,
    /// Number of printed bytes of the standard output and standard error of each task's last attempt.
    printed: BTreeMap<TaskId, [u64; 2]>,
    /// Earlier attempts at tasks, in their order, which are printed when the task has its turn. Each attempt has the
    /// number of bytes that were printed.
    replaced: BTreeMap<TaskId, Vec<(ReplacedAttempt, [u64; 2])>>,
    replacements: Replacements,
    /// Stems and sizes of the printed outputs that [`Prints::take_printed`] has not returned yet.
    done: Vec<(String, [u64; 2])>,
}

/// The reason why no more outputs are printed.
pub enum ClosedOutput {
    /// The reader of standard output has closed the pipe.
    ByReader,
    /// Standard output cannot be written.
    ByError(io::Error),
}

impl Prints {
    pub fn new(keep_order: bool, lines: bool, replacements: Replacements) -> io::Result<Self> {
        Ok(Self::on(streams()?, keep_order, lines, replacements))
    }

    fn on(streams: [Stream; 2], keep_order: bool, lines: bool, replacements: Replacements) -> Self {
        Self {
            streams,
            lines,
            order: keep_order.then(BTreeSet::new),
            ended: BTreeMap::new(),
            running: BTreeMap::new(),
            printed: BTreeMap::new(),
            replaced: BTreeMap::new(),
            replacements,
            done: Vec::new(),
        }
    }

    /// Adds tasks with outputs that must be printed. Does nothing unless outputs are printed in the order of the list.
    pub fn open(&mut self, tasks: Vec<TaskId>) {
        if let Some(order) = &mut self.order {
            order.extend(tasks);
        }
    }

    /// Registers the output of a started attempt. Does nothing unless lines are printed while their job is running.
    pub fn start(&mut self, output: Output) {
        if self.lines {
            self.running.insert(output.task, output);
        }
    }

    /// Prints the rest of the output of an attempt that a new attempt replaces. If outputs of earlier jobs in the list
    /// must be printed first, stores the attempt.
    pub fn replace(&mut self, attempt: ReplacedAttempt) -> Result<(), ClosedOutput> {
        let task = attempt.0.task;
        // The attempt may have failed before the message about its start arrives.
        self.running.remove(&task);
        let printed = self.printed.remove(&task).unwrap_or_default();
        self.replaced.entry(task).or_default().push((attempt, printed));
        self.replacements.end(task);
        let has_turn = self.order.as_ref().is_none_or(|order| order.first() == Some(&task));
        if has_turn { self.print_replaced(task) } else { Ok(()) }
    }

    /// Prints the output of a job that has ended. If outputs of earlier jobs in the list must be printed first, stores
    /// the output.
    pub fn end(&mut self, output: Output) -> Result<(), ClosedOutput> {
        self.running.remove(&output.task);
        if self.order.is_none() {
            return self.print_ended(&output);
        }
        self.ended.insert(output.task, output);
        self.advance()
    }

    /// Removes a job without output from the order, so that outputs of later jobs do not wait for this job.
    pub fn skip(&mut self, task: TaskId) -> Result<(), ClosedOutput> {
        self.running.remove(&task);
        self.replaced.remove(&task);
        if let Some(order) = &mut self.order {
            order.remove(&task);
        }
        self.advance()
    }

    /// Returns true if running jobs may have new lines to print. The caller must then call [`Prints::follow`]
    /// repeatedly.
    pub fn follows(&self) -> bool {
        !self.running.is_empty()
    }

    /// Prints the new lines of running jobs. If the order of the list is kept, prints only the lines of the first job
    /// with incomplete output.
    pub fn follow(&mut self) -> Result<(), ClosedOutput> {
        let first = self.order.as_ref().map(|order| order.first().copied());
        let running = std::mem::take(&mut self.running);
        let mut followed = running.values().filter(|output| first.is_none_or(|first| first == Some(output.task)));
        let printed = followed.try_for_each(|output| self.print_new(output));
        self.running = running;
        printed
    }

    /// Returns the stems and sizes of the outputs that were printed since the last call.
    pub fn take_printed(&mut self) -> Vec<(String, [u64; 2])> {
        std::mem::take(&mut self.done)
    }

    /// Prints the outputs that still wait for outputs of earlier jobs in the list. If the run was stopped, prints a
    /// note instead. A later session then runs the missing jobs and prints all outputs in order.
    pub fn finish(&mut self, stopped: bool) -> Result<(), ClosedOutput> {
        self.follow()?;
        let ended = std::mem::take(&mut self.ended);
        if stopped && !ended.is_empty() {
            let text = "outputs that are not printed yet, because outputs of earlier jobs are missing (--resume \
                        prints all in order)";
            complain(&format!("note: {text}: {}", ended.len()));
            return Ok(());
        }
        ended.values().try_for_each(|output| {
            self.print_replaced(output.task)?;
            self.print_ended(output)
        })
    }

    /// Ends an unfinished line on standard error before Makespan prints its own line there.
    pub fn end_line(&mut self) {
        // Errors are ignored, because standard error may be closed.
        let _ = self.streams[1].end_line(true);
    }

    /// Prints stored outputs in the order of the list, up to the first output that is missing.
    fn advance(&mut self) -> Result<(), ClosedOutput> {
        while let Some(first) = self.order.as_ref().and_then(|order| order.first().copied()) {
            self.print_replaced(first)?;
            let Some(output) = self.ended.remove(&first) else { break };
            self.order.iter_mut().for_each(|order| _ = order.remove(&first));
            self.print_ended(&output)?;
        }
        Ok(())
    }

    /// Prints the rest of the earlier attempts at a task.
    fn print_replaced(&mut self, task: TaskId) -> Result<(), ClosedOutput> {
        for (attempt, printed) in self.replaced.remove(&task).unwrap_or_default() {
            self.print(&attempt.0, attempt.0.files.each_ref().map(|file| open(file)), printed, true)?;
        }
        Ok(())
    }

    /// Prints the rest of the output of a job that has ended.
    fn print_ended(&mut self, output: &Output) -> Result<(), ClosedOutput> {
        let printed = self.printed.remove(&output.task).unwrap_or_default();
        let printed = self.print(output, output.files.each_ref().map(|file| open(file)), printed, true)?;
        self.done.push((output.stem.clone(), printed));
        Ok(())
    }

    /// Prints the new lines of a running job.
    fn print_new(&mut self, output: &Output) -> Result<(), ClosedOutput> {
        let files = {
            // While this is locked, no later attempt can replace the files.
            let replaced = self.replacements.lock();
            if replaced.contains_key(&output.task) {
                return Ok(());
            }
            output.files.each_ref().map(|file| open(file))
        };
        let printed = self.printed.get(&output.task).copied().unwrap_or_default();
        let printed = self.print(output, files, printed, false)?;
        self.printed.insert(output.task, printed);
        Ok(())
    }

    /// Prints the bytes of the files of an output from the given positions. Returns the positions after the printed
    /// bytes.
    fn print(
        &mut self,
        output: &Output,
        files: [io::Result<File>; 2],
        mut printed: [u64; 2],
        ended: bool,
    ) -> Result<[u64; 2], ClosedOutput> {
        let style = Style { tag: output.tag.as_deref(), lines: self.lines, ended };
        for (index, file) in files.into_iter().enumerate() {
            let at = &mut printed[index];
            let stream = &mut self.streams[index];
            match file.map_err(CopyError::Read).and_then(|file| copy(&file, *at, style, stream)) {
                Ok(next) => *at = next,
                Err(CopyError::Write(error)) if index == 0 => {
                    return Err(match error.kind() {
                        ErrorKind::BrokenPipe => ClosedOutput::ByReader,
                        _ => ClosedOutput::ByError(error),
                    });
                }
                // The reader of standard error has closed the pipe.
                Err(CopyError::Write(_)) => {}
                // A running job may not have output files yet.
                Err(CopyError::Read(_)) if !ended => {}
                Err(CopyError::Read(error)) => {
                    let name = output.files[index].display().to_string();
                    complain(&format!("note: cannot print {}: {error}", shown(&name)));
                }
            }
        }
        Ok(printed)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use rand::{RngExt as _, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// A job of which all attempts but the last one fail.
    struct TriedJob {
        attempts: usize,
        attempt: usize,
        lines: usize,
    }

    enum Event {
        Started(usize),
        Replaced(ReplacedAttempt),
        Ended(usize),
    }

    fn output(folder: &Path, task: usize) -> Output {
        let files = ["out", "err"].map(|end| folder.join(format!("{task}.{end}")));
        Output { task: TaskId::at(task), stem: task.to_string(), files, tag: None }
    }

    /// Runs jobs with several attempts, and prints their lines. Events and lines arrive in random order, as far as the
    /// order is not fixed: the message about a start may arrive after the files of the attempt were replaced.
    fn print_at_random(seed: u64, keep_order: bool) {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let folder = tempfile::tempdir().unwrap();
        let streams = ["1", "2"].map(|name| Stream::of(File::create(folder.path().join(name)).unwrap()));
        let replacements = Replacements::default();
        let mut prints = Prints::on(streams, keep_order, true, replacements.clone());
        let mut jobs: Vec<TriedJob> =
            (0..3).map(|_| TriedJob { attempts: random.random_range(1..5), attempt: 0, lines: 0 }).collect();
        prints.open((0..jobs.len()).map(TaskId::at).collect());
        let (mut news, mut channel, mut written) = (VecDeque::new(), VecDeque::new(), Vec::new());
        let mut open: Vec<usize> = (0..jobs.len()).collect();
        for &task in &open {
            output(folder.path(), task).files.iter().for_each(|file| drop(File::create(file).unwrap()));
            news.push_back(Event::Started(task));
        }
        let take = |prints: &mut Prints, event: Event| match event {
            Event::Started(task) => prints.start(output(folder.path(), task)),
            Event::Replaced(attempt) => drop(prints.replace(attempt)),
            Event::Ended(task) => drop(prints.end(output(folder.path(), task))),
        };
        while !open.is_empty() {
            match random.random_range(0..8) {
                0 => drop(prints.follow()),
                1 => channel.extend(news.drain(..)),
                2 | 3 => {
                    if let Some(event) = channel.pop_front() {
                        take(&mut prints, event);
                    }
                }
                4 => {
                    let at = random.random_range(0..open.len());
                    let (task, job) = (open[at], &mut jobs[open[at]]);
                    (job.attempt, job.lines) = (job.attempt + 1, 0);
                    if job.attempt == job.attempts {
                        news.push_back(Event::Ended(task));
                        open.swap_remove(at);
                        continue;
                    }
                    replacements.begin(TaskId::at(task));
                    let own = output(folder.path(), task);
                    let links = own.files.each_ref().map(|file| {
                        let mut link = file.clone().into_os_string();
                        link.push(format!(".{}.before", job.attempt));
                        PathBuf::from(link)
                    });
                    for (file, link) in own.files.iter().zip(&links) {
                        fs::hard_link(file, link).unwrap();
                    }
                    channel.push_back(Event::Replaced(ReplacedAttempt(Output { files: links, ..own })));
                    if random.random_bool(0.5) {
                        channel.drain(..).for_each(|event| take(&mut prints, event));
                        drop(prints.follow());
                    }
                    // As the engine does, this keeps a file that has a second link.
                    for file in &output(folder.path(), task).files {
                        if file.metadata().unwrap().nlink() > 1 {
                            fs::remove_file(file).unwrap();
                        }
                        File::create(file).unwrap();
                    }
                    news.push_back(Event::Started(task));
                }
                _ => {
                    let task = open[random.random_range(0..open.len())];
                    let job = &mut jobs[task];
                    job.lines += 1;
                    let line = format!("{task} {} {}", job.attempt, job.lines);
                    let file = &output(folder.path(), task).files[random.random_range(0..2)];
                    writeln!(OpenOptions::new().append(true).open(file).unwrap(), "{line}").unwrap();
                    written.push(line);
                }
            }
        }
        channel.into_iter().chain(news).for_each(|event| take(&mut prints, event));
        assert!(prints.finish(false).is_ok());
        let texts = ["1", "2"].map(|name| fs::read_to_string(folder.path().join(name)).unwrap());
        if keep_order {
            for text in &texts {
                assert!(text.lines().map(|line| &line[..1]).is_sorted(), "seed {seed}: {text}");
            }
        }
        let mut printed: Vec<&str> = texts.iter().flat_map(|text| text.lines()).collect();
        printed.sort_unstable();
        written.sort_unstable();
        assert_eq!(printed, written, "seed {seed}");
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 2 + 2 * jobs.len(), "seed {seed}: links are left");
    }

    #[test]
    fn each_line_of_each_attempt_is_printed_once() {
        for seed in 0..300 {
            print_at_random(seed, seed % 2 == 1);
        }
    }
}
