//! Tests of jobs that accept less than their limit: they are ended at their granted time.

use makespan_algos::policy::policy;
use makespan_core::{Actual, Instance, Job, Outcome, Platform, Profile, Submission, TaskId, Time};
use makespan_sim::{Silent, SimulationOptions, simulate};
use proptest::prelude::*;

fn minutes(count: i64) -> Time {
    Time::from_seconds(60 * count)
}

fn job(name: &str, width: u32, limit: i64, release: i64) -> Job {
    let job = Job::new(name, Profile::rigid(width, minutes(limit)).unwrap()).with_walltime(minutes(limit));
    job.with_release(Time::from_seconds(release))
}

proptest! {
    /// Checks that `wide` begins on time, however long `short` would take. `first` runs on three of four processors,
    /// and `wide` waits for all of them. `short`, with a limit of an hour, starts in parallel to `first` at the first
    /// backfill cycle, after 30 s. It gets the whole minutes until `wide` begins.
    #[test]
    fn a_job_that_got_less_than_its_limit_is_ended_by_then(
        first in 2_i64..30, least in 1_i64..30, takes in 1_i64..4000, kill in any::<bool>(),
    ) {
        let submission = Submission { least_time: Some(minutes(least)), ..Submission::default() };
        let short = job("short", 1, 60, 2).with_submission(submission);
        let instance = Instance::new(Platform::flat(4).unwrap(), vec![job("first", 3, first, 0), job("wide", 4, 5, 1), short], vec![]).unwrap();
        let times = [minutes(first), minutes(5), Time::from_seconds(takes)];
        let profiles = times.iter().zip([3, 4, 1]).map(|(&time, width)| Profile::rigid(width, time).unwrap()).collect();
        let options = SimulationOptions { kill_at_walltime: kill, ..SimulationOptions::default() };
        let mut slurm = policy("slurm", 1).unwrap();
        let done = simulate(&instance, &Actual::Profiles(profiles), slurm.as_mut(), &options, &mut Silent).unwrap();
        let run = |task: u64| done.trace.runs.iter().find(|run| run.task == TaskId(task)).unwrap();
        let (wide, short) = (run(1), run(2));
        if least >= first {
            // There is no such gap: `short` gets its whole limit after `wide`.
            prop_assert!(short.start >= wide.end);
            let dies = kill && takes > 3600;
            prop_assert_eq!(short.outcome, if dies { Outcome::TimedOut } else { Outcome::Succeeded });
            return Ok(());
        }
        // Half a minute of the gap is over at the first cycle, and limits are whole minutes.
        let granted = minutes(first - 1);
        prop_assert_eq!((short.start, wide.start), (Time::from_seconds(30), minutes(first)));
        let (end, outcome) = if times[2] > granted { (granted, Outcome::TimedOut) } else { (times[2], Outcome::Succeeded) };
        prop_assert_eq!((short.end - short.start, short.outcome), (end, outcome));
    }
}
