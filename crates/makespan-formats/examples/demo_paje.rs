//! Writes a small trace in the Pajé format: `cargo run -p makespan-formats --example demo_paje > small.paje`.

use std::io;

use makespan_core::{Instance, Job, JobId, Outcome, Platform, ProcSet, Profile, Run, Time, Trace};
use makespan_formats::write_paje;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let job = |index: u32| {
        let profile = Profile::rigid(1 + index % 3, Time::from_seconds(5 + i64::from(index)))?;
        Ok(Job::new(format!("j{index}"), profile).with_release(Time::from_seconds(i64::from(index))))
    };
    let jobs = (0..6).map(job).collect::<Result<Vec<_>, makespan_core::ProfileError>>()?;
    let instance = Instance::new(Platform::flat(3)?, jobs, Vec::new())?;
    let mut runs: Vec<Run> = Vec::new();
    for (id, job) in instance.ids().zip(instance.jobs()) {
        let processors = job.profile().min_processors();
        let start = runs.last().map_or(Time::ZERO, |run| run.end).max(job.release);
        let end = start + job.profile().time(processors);
        runs.push(Run {
            job: JobId(id.0),
            start,
            end,
            processors: ProcSet::first(processors),
            outcome: Outcome::Succeeded,
        });
    }
    write_paje(&instance, &Trace { runs }, &mut io::stdout().lock())?;
    Ok(())
}
