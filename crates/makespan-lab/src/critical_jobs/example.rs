//! The example of section 4: the metascheduler (the policy `job-flow`) plans two jobs with deadlines of 110 and 140 on
//! 8 processors.

use makespan_core::{Edge, Graph, Instance, Job, JobId, NamedTask, Node, Payload, Platform, Profile, Schedule, Time};
use makespan_formats::gantt::{GanttOptions, NamedSchedule, write_svg};

use super::flows::serve;
use crate::LabError;
use crate::campaign::{failed, in_memory};

/// Speeds of the 8 processors: four types of two.
const SPEEDS: [f64; 8] = [1.0, 1.0, 1.25, 1.25, 2.0, 2.0, 2.5, 2.5];
const DEADLINES: [i64; 2] = [110, 140];

/// A policy that plans each job when the previous job has ended. The deadline of a job is counted from the instant at
/// which the job is planned.
const CONSECUTIVE: &str = "job-flow[serve=consecutive,clock=handover,starts=reserved]";
/// A policy that plans both jobs together, after they have waited in a buffer for half a second.
const COLLECTIVE: &str = "job-flow[buffer=500ms,starts=reserved]";

/// The results of two policies on the example. Both jobs are submitted at the same time.
#[derive(Clone, Debug)]
pub(super) struct Example {
    /// The result of the policy that plans the jobs one after the other.
    pub consecutive: WayResult,
    /// The result of the policy that plans the jobs together.
    pub collective: WayResult,
}

/// The result of one policy.
#[derive(Clone, Debug)]
pub(super) struct WayResult {
    /// The instance of the example, with two jobs.
    pub instance: Instance,
    /// The executed schedule.
    pub schedule: Schedule,
    /// Number of jobs that met their deadline according to the policy's clock: depending on the policy, the deadline is
    /// counted from the arrival of the job or from its hand-over (the instant at which it is planned for the first
    /// time).
    pub in_time: usize,
    /// Cost in thousandths.
    pub cost: i128,
    /// Mean load of the processors from time 0 to the end of the last task.
    pub utilisation: f64,
}

/// Simulates the example.
///
/// # Errors
/// [`LabError`] if the executed schedule breaks a rule.
pub(super) fn example() -> Result<Example, LabError> {
    Ok(Example { consecutive: WayResult::of(CONSECUTIVE)?, collective: WayResult::of(COLLECTIVE)? })
}

impl WayResult {
    fn of(policy: &str) -> Result<Self, LabError> {
        let instance = instance()?;
        let (schedule, measures) = serve(&instance, policy)?;
        let flow = measures.flow;
        Ok(Self { instance, schedule, in_time: flow.as_told, cost: flow.cost, utilisation: flow.load.mean })
    }

    /// Returns the end of the last task in seconds.
    pub fn end(&self) -> f64 {
        self.schedule.makespan().seconds()
    }

    /// Returns the instant, in seconds, at which the first task of the second job starts.
    pub fn second_starts(&self) -> f64 {
        let second = self.instance.job(JobId(1));
        let second = self.schedule.placements().iter().filter(|placement| second.has_task(placement.task));
        second.map(|placement| placement.start).min().unwrap_or(Time::ZERO).seconds()
    }
}

impl Example {
    /// Returns the Gantt charts that correspond to figures 2 and 3 of the paper.
    pub(super) fn figures(&self) -> Result<[(String, Vec<u8>); 2], LabError> {
        let draw = |name: &str, title: &str, way: &WayResult| {
            let title = &format!("{title}, until {:.1} s", way.end());
            let options = GanttOptions { title, objectives: false, ..GanttOptions::default() };
            let named = [NamedSchedule { name: "", schedule: &way.schedule }];
            in_memory(name, |svg| write_svg(svg, &way.instance, &named, &options))
        };
        Ok([
            draw("figure2.svg", "Consecutive scheduling", &self.consecutive)?,
            draw("figure3.svg", "Collective scheduling", &self.collective)?,
        ])
    }
}

/// Returns the instance of the example, with two jobs.
fn instance() -> Result<Instance, LabError> {
    let node = |(at, &speed): (usize, &f64)| Node { speed, ..Node::new(format!("cpu{at}"), 1) };
    let unusable = |reason: String| failed("critical-jobs", "the example", reason);
    let platform = Platform::new(SPEEDS.iter().enumerate().map(node).collect());
    let platform = platform.map_err(|error| unusable(error.to_string()))?;
    // In the second job, p2 waits for p0, p1 and p4, as the paper states for figure 3.
    let first = job("first", &[30, 40, 20, 30, 20, 30], &[(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 5)], 0)?;
    let pairs = [(3, 0), (3, 1), (3, 4), (0, 2), (1, 2), (4, 2), (2, 5), (2, 6)];
    let other = job("second", &[40, 50, 40, 20, 30, 30, 40], &pairs, 1)?;
    Ok(Instance::new(platform, vec![first, other], vec![])?)
}

fn job(name: &str, volumes: &[i64], pairs: &[(u32, u32)], index: usize) -> Result<Job, LabError> {
    let unusable = |reason: String| failed("critical-jobs", "the example", reason);
    let mut tasks = Vec::with_capacity(volumes.len());
    for (at, &volume) in volumes.iter().enumerate() {
        let profile = Profile::rigid(1, Time::from_seconds(volume)).map_err(|error| unusable(error.to_string()))?;
        tasks.push(NamedTask::new(format!("p{at}"), profile));
    }
    let edge = |&(from, to): &(u32, u32)| Edge { from, to, payload: Payload::Fixed(Time::from_seconds(5)) };
    let graph = Graph::new(tasks, pairs.iter().map(edge).collect()).map_err(|error| unusable(error.to_string()))?;
    let mut job = Job::compound(name, graph);
    job.deadline = Some(Time::from_seconds(DEADLINES[index]));
    Ok(job)
}
