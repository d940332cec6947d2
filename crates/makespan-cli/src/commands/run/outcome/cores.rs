//! Names the jobs that needed more or fewer cores than they had.

use makespan_core::{Outcome, Run, TaskId};

use super::Outcomes;
use crate::output::shown;
use crate::summary::figure;

/// Maximum number of jobs that are named.
const NAMED: usize = 3;

/// Minimum run time, in seconds, of a job for which the use of cores is judged.
const LONG: f64 = 0.5;

/// The place where the user states the cores of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CoresNote {
    /// In a note after the command, in a list of commands.
    #[default]
    List,
    /// In an option, because templates and makefiles have no notes.
    Option,
    /// In a rule of a Snakefile.
    Snakefile,
    /// In an instance.
    Instance,
}

impl CoresNote {
    fn text(self, cores: u32) -> String {
        match self {
            Self::List => format!("`#: cores={cores}` after its command"),
            Self::Option => format!("--cores-per-job {cores}"),
            Self::Snakefile => format!("`threads: {cores}` in its rule"),
            Self::Instance => format!("`processors = {cores}`"),
        }
    }
}

/// A job that needed more or fewer cores than it had.
struct Misfit {
    task: TaskId,
    /// Difference between needed and held cores, times the run time, in core seconds.
    wasted: f64,
    text: String,
}

impl Outcomes<'_> {
    /// Returns a sentence for each job that needed more or fewer cores than it had. The sentence contains the note
    /// that the user should write.
    pub(super) fn other_cores(&self) -> Vec<String> {
        let Some(note) = self.cores_note else { return Vec::new() };
        let there = makespan_exec::cores().map_or(1, |cores| cores.len() as u32).max(self.instance.processors());
        let mut all: Vec<Misfit> =
            self.last.iter().filter_map(|(&task, run)| self.misfit(task, run, there, note)).collect();
        all.sort_by(|a, b| b.wasted.total_cmp(&a.wasted).then(a.task.cmp(&b.task)));
        let more = all.len().saturating_sub(NAMED);
        let mut texts: Vec<String> = all.into_iter().take(NAMED).map(|misfit| misfit.text).collect();
        if more > 0 {
            texts.push(format!("{more} more jobs needed more or fewer cores than planned"));
        }
        texts
    }

    /// Compares the number of cores of a job with the cores that the job used, and with the number of its threads that
    /// were ready to run. Returns `None` for a moldable job, because Makespan learns the number of cores of such a job
    /// from the history.
    fn misfit(&self, task: TaskId, run: &Run, there: u32, note: CoresNote) -> Option<Misfit> {
        let profile = self.instance.profile(task);
        let seconds = (run.end - run.start).seconds();
        if run.outcome != Outcome::Succeeded || seconds < LONG || profile.min_processors() != profile.max_processors() {
            return None;
        }
        let counted = run.accounting?;
        let (had, used) = (run.processors.len(), counted.cpu.seconds() / seconds);
        let threads = counted.threads.unwrap_or(0);
        let cores = wanted(had, used, threads, there)?;
        let name = self.instance.name(task);
        let did = if f64::from(threads) > used + 0.5 {
            format!("had {threads} threads ready to run")
        } else {
            format!("used {} cores", figure(used))
        };
        let counts = if had == 1 { "1 core".to_owned() } else { format!("{had} cores") };
        let text = format!(
            "job `{}` {did} during its run of {} s, but was planned with {counts}; write {}",
            shown(&name),
            figure(seconds),
            note.text(cores)
        );
        Some(Misfit { task, wasted: (f64::from(cores) - f64::from(had)).abs() * seconds, text })
    }
}

/// Returns the number of cores that a job needed, or `None` if the job had this number.
fn wanted(had: u32, used: f64, threads: u32, machine: u32) -> Option<u32> {
    let demand = used.max(f64::from(threads));
    let (more, fewer) = ((demand.round() as u32).min(machine), (demand - 0.25).ceil().max(1.0) as u32);
    if demand >= 1.5 * f64::from(had) && more > had {
        Some(more)
    } else {
        (demand <= f64::from(had) - 0.75 && fewer < had).then_some(fewer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cores_that_a_job_wanted_follow_from_time_on_cores_and_threads() {
        for (had, used, threads, machine, expected) in [
            (1, 0.98, 1, 8, None),
            (1, 0.1, 0, 8, None),
            (1, 3.9, 4, 8, Some(4)),
            // The job is pinned to one core and has eight threads.
            (1, 1.0, 8, 16, Some(8)),
            (1, 1.0, 8, 2, Some(2)),
            // The machine has no more cores.
            (2, 2.0, 8, 2, None),
            (4, 1.02, 1, 8, Some(1)),
            (4, 0.0, 0, 8, Some(1)),
            (4, 3.6, 4, 8, None),
            (4, 2.2, 2, 8, Some(2)),
            (2, 2.9, 3, 8, Some(3)),
            (2, 2.4, 2, 8, None),
        ] {
            assert_eq!(wanted(had, used, threads, machine), expected, "{had} {used} {threads} {machine}");
        }
    }
}
