//! Changes that options make to each job of a run.

use makespan_core::{Job, Need, Needs, Profile, Task};
use miette::{Result, miette};

/// Name of the licence that limits the number of simultaneous jobs (`--jobs`). Each task holds one unit of this
/// licence.
pub const SLOTS: &str = "slots";

/// Gives `cores` processors to each task with an assumed single core. Returns true if there is such a task.
pub fn set_cores(jobs: &mut [Job], cores: u32) -> Result<bool> {
    let mut is_changed = false;
    for task in jobs.iter_mut().flat_map(|job| job.work.tasks_mut()).filter(|task| task.assumes_one_core) {
        let profile = Profile::rigid(cores, task.profile.longest());
        task.profile = profile.map_err(|error| miette!("--cores-per-job {cores}: {error}"))?;
        task.assumes_one_core = false;
        is_changed = true;
    }
    Ok(is_changed)
}

/// Returns the job, with one unit of the licence [`SLOTS`] for each of its tasks.
pub fn with_slot(mut job: Job) -> Result<Job> {
    let hold = |task: &mut Task| {
        let needs = task.needs.iter().map(|(name, need)| (name.to_owned(), need.clone()));
        let needs = Needs::new(needs.chain([(SLOTS.to_owned(), Need::whole(1))]).collect::<Vec<_>>());
        task.needs = needs.map_err(|error| miette!("--jobs: {error}"))?;
        Ok::<(), miette::Report>(())
    };
    job.work.tasks_mut().try_for_each(hold)?;
    Ok(job)
}
