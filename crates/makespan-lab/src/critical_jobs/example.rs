//! The example of section 4: two jobs with walltimes of 110 and 140 on 8 processors.

use makespan_algos::scheduler::CriticalJobs;
use makespan_core::{
    Context, Edge, Graph, Instance, Job, Load, NamedTask, Node, Platform, Profile, Schedule, Scheduler, Time, cost,
};
use makespan_formats::gantt::{GanttOptions, NamedSchedule, write_svg};

use crate::LabError;
use crate::campaign::{failed, valid};

/// Speeds of the 8 processors: four types of two.
const SPEEDS: [f64; 8] = [1.0, 1.0, 1.25, 1.25, 2.0, 2.0, 2.5, 2.5];
pub(super) const WALLTIMES: [i64; 2] = [110, 140];

/// Both ways to serve the two jobs.
#[derive(Clone, Debug)]
pub struct Example {
    /// The second job is handed over when the walltime of the first is over.
    pub consecutive: (Instance, Schedule),
    /// Both are handed over at once.
    pub collective: (Instance, Schedule),
}

/// Plans the example.
///
/// # Errors
/// [`LabError`] when a plan is invalid.
pub fn example() -> Result<Example, LabError> {
    Ok(Example { consecutive: planned(WALLTIMES[0])?, collective: planned(0)? })
}

impl Example {
    /// When the last reserved walltime is over: of jobs one after the other, and of both at once; seconds.
    pub fn reserved(&self) -> (i64, i64) {
        (WALLTIMES.iter().sum(), WALLTIMES[1])
    }

    /// When the last task ends, one after the other and at once; seconds.
    pub fn ends(&self) -> (f64, f64) {
        (self.consecutive.1.makespan().seconds(), self.collective.1.makespan().seconds())
    }

    /// What both ways cost.
    pub fn costs(&self) -> (f64, f64) {
        let of = |(instance, schedule): &(Instance, Schedule)| cost(instance, schedule) as f64 / 1e3;
        (of(&self.consecutive), of(&self.collective))
    }

    /// Whether both jobs end within their walltimes in both ways.
    pub fn is_in_time(&self) -> bool {
        [&self.consecutive, &self.collective].into_iter().all(|(instance, schedule)| {
            schedule.placements().iter().all(|placement| {
                let job = instance.job(placement.job);
                job.walltime.is_none_or(|walltime| placement.end <= job.release + walltime)
            })
        })
    }

    /// The Gantt charts that stand for figures 2 and 3.
    pub(super) fn figures(&self) -> Result<[(&'static str, Vec<u8>); 2], LabError> {
        let draw = |name: &'static str, title: &str, (instance, schedule): &(Instance, Schedule)| {
            let options = GanttOptions { title, objectives: false, ..GanttOptions::default() };
            let mut svg = Vec::new();
            write_svg(&mut svg, instance, &[NamedSchedule { name: "", schedule }], &options)
                .map_err(LabError::file(name.as_ref()))?;
            Ok::<_, LabError>((name, svg))
        };
        Ok([
            draw("figure2.svg", "Consecutive scheduling: walltimes end to end, 250", &self.consecutive)?,
            draw("figure3.svg", "Collective scheduling: both within 140", &self.collective)?,
        ])
    }
}

fn planned(second: i64) -> Result<(Instance, Schedule), LabError> {
    let unusable = |reason: String| failed("critical-jobs", "the example", reason);
    let instance = instance(second)?;
    let plan = CriticalJobs::default().schedule(&instance, &mut Context::with_seed(1));
    let schedule = plan.map_err(|error| unusable(error.to_string()))?.into_schedule();
    valid(&instance, &schedule).map_err(unusable)?;
    Ok((instance, schedule))
}

/// The two jobs, the second released at this second.
pub(super) fn instance(second: i64) -> Result<Instance, LabError> {
    let node =
        |(at, &speed): (usize, &f64)| Node { name: format!("cpu{at}"), processors: 1, speed, parent: None, link: None };
    let unusable = |reason: String| failed("critical-jobs", "the example", reason);
    let platform = Platform::new(SPEEDS.iter().enumerate().map(node).collect());
    let platform = platform.map_err(|error| unusable(error.to_string()))?;
    // In the second job p2 waits for p0, p1 and p4, as the text says of figure 3.
    let first = job("first", &[30, 40, 20, 30, 20, 30], &[(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 5)], 0)?;
    let pairs = [(3, 0), (3, 1), (3, 4), (0, 2), (1, 2), (4, 2), (2, 5), (2, 6)];
    let other = job("second", &[40, 50, 40, 20, 30, 30, 40], &pairs, 1)?.with_release(Time::from_seconds(second));
    Ok(Instance::new(platform, vec![first, other], vec![])?)
}

fn job(name: &str, volumes: &[i64], pairs: &[(u32, u32)], index: usize) -> Result<Job, LabError> {
    let unusable = |reason: String| failed("critical-jobs", "the example", reason);
    let mut tasks = Vec::with_capacity(volumes.len());
    for (at, &volume) in volumes.iter().enumerate() {
        let profile = Profile::rigid(1, Time::from_seconds(volume)).map_err(|error| unusable(error.to_string()))?;
        tasks.push(NamedTask::new(format!("p{at}"), profile));
    }
    let edge = |&(from, to): &(u32, u32)| Edge { from, to, load: Load::Fixed(Time::from_seconds(5)) };
    let graph = Graph::new(tasks, pairs.iter().map(edge).collect()).map_err(|error| unusable(error.to_string()))?;
    let mut job = Job::compound(name, graph);
    job.walltime = Some(Time::from_seconds(WALLTIMES[index]));
    Ok(job)
}
