//! Random instances, real times and failures.

use makespan_core::{Actual, Failure, Instance, Job, Node, Platform, ProcSet, Profile, Time, Unavailable};
use makespan_sim::{FailureModel, SimulationOptions};
use proptest::prelude::*;

/// The input of a simulation.
#[derive(Clone, Debug)]
pub struct Case {
    pub instance: Instance,
    pub actual: Actual,
    pub options: SimulationOptions,
    pub seed: u64,
}

fn milliseconds(ms: i64) -> Time {
    Time::from_ticks(1_000_000 * ms)
}

/// Returns six processors: on one node, on nodes with best placement, or on nodes that differ in speed.
fn platform(kind: u8) -> Platform {
    match kind {
        0 => Platform::flat(6).unwrap(),
        1 => Platform::cluster(3, 2).unwrap().requiring_compact(),
        _ => {
            let node = |(name, processors, speed): (&str, u32, f64)| Node { speed, ..Node::new(name, processors) };
            Platform::new([("a", 2, 1.5), ("b", 3, 0.7), ("c", 1, 3.0)].map(node).to_vec()).unwrap()
        }
    }
}

/// Returns the subset of six processors that the bits of a mask select.
fn some(mask: u8) -> ProcSet {
    ProcSet::from_intervals((0..6).filter(|id| mask >> id & 1 == 1).map(|id| (id, id)).collect())
}

prop_compose! {
    /// A job and its real profile.
    fn job(nodes: usize)(
        times in prop::collection::vec(1_i64..20_000, 1..5),
        rigid in prop::option::of(1_u32..=6),
        by_machine in any::<bool>(),
        release in 0_i64..60_000,
        percent in 10_i64..300,
        // The walltime is long enough even for the slowest node, which has speed 0.7.
        walltime in prop::option::of(145_i64..200),
    ) -> (Job, Profile) {
        let profile = |percent: i64| {
            let time = |ms: &i64| milliseconds((ms * percent / 100).max(1));
            match rigid {
                // The profile has a time for each of the three nodes. Some jobs cannot run on the second node.
                Some(1) if by_machine && nodes == 3 => {
                    let second = if release % 2 == 0 { Profile::CANNOT_RUN } else { time(&times[0]) };
                    Profile::on_machines(vec![time(&times[0]), second, time(&times[times.len() - 1])]).unwrap()
                }
                Some(processors) => Profile::rigid(processors, time(&times[0])).unwrap(),
                None => Profile::table(times.iter().map(time).collect()).unwrap(),
            }
        };
        let estimate = profile(100);
        let own = estimate.machine_times().into_iter().flatten().filter(|&&time| time < Profile::CANNOT_RUN);
        let longest = own.max().map_or(estimate.longest(), |&time| time).ticks();
        let mut job = Job::new("", estimate).with_release(milliseconds(release));
        job.walltime = walltime.map(|percent| Time::from_ticks(longest / 100 * percent));
        (job, profile(percent))
    }
}

prop_compose! {
    fn period()(mask in 1_u8..63, start in 0_i64..80_000, length in 1_i64..30_000) -> Unavailable {
        Unavailable { processors: some(mask), start: milliseconds(start), end: milliseconds(start + length) }
    }
}

prop_compose! {
    fn failure()(
        mask in 1_u8..63, down in 0_i64..80_000, length in 1_i64..30_000, expected in prop::option::of(1_i64..40_000),
    ) -> Failure {
        let expected_up = expected.map(|expected| milliseconds(down + expected));
        Failure { processors: some(mask), down: milliseconds(down), up: milliseconds(down + length), expected_up }
    }
}

prop_compose! {
    pub fn case()(kind in 0_u8..3)(
        kind in Just(kind),
        jobs in prop::collection::vec(job(platform(kind).nodes().len()), 1..25),
        periods in prop::collection::vec(period(), 0..4),
        failures in prop::collection::vec(failure(), 0..5),
        drawn in prop::option::of(1_u32..4),
        kill_at_walltime in any::<bool>(),
        requeues in 0_u32..8,
        seed in any::<u64>(),
    ) -> Case {
        let (jobs, real): (Vec<Job>, Vec<Profile>) = jobs.into_iter().unzip();
        let named = |(id, job): (usize, Job)| Job { name: id.to_string(), ..job };
        let jobs = jobs.into_iter().enumerate().map(named).collect();
        let instance = Instance::new(platform(kind), jobs, periods).unwrap();
        let model = |unit| FailureModel::parse(&format!("mtbf=60,mttr=5,shape=0.8,processors={unit}"), seed).unwrap();
        let failure_model = drawn.map(model);
        let options = SimulationOptions { kill_at_walltime, failures, failure_model, requeues, ..Default::default() };
        Case { instance, actual: Actual::Profiles(real), options, seed }
    }
}
