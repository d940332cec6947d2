//! Instances for tests of several proofs.

use makespan_core::{Instance, Job, Platform, Profile, Time, Unavailable};

/// Returns an instance of sequential jobs on two machines. Each entry of `rows` contains the times of a job on the two
/// machines, in ticks. Each entry of `closed` contains processors, and the start and the end of a period in which they
/// are closed.
pub fn two_machines(rows: &[[i64; 2]], closed: &[(&str, i64, i64)]) -> Instance {
    let job = |(at, row): (usize, &[i64; 2])| {
        Job::new(at.to_string(), Profile::on_machines(row.map(Time::from_ticks)).unwrap())
    };
    let period = |&(processors, start, end): &(&str, i64, i64)| Unavailable {
        processors: processors.parse().unwrap(),
        start: Time::from_ticks(start),
        end: Time::from_ticks(end),
    };
    let jobs = rows.iter().enumerate().map(job).collect();
    Instance::new(Platform::cluster(2, 1).unwrap(), jobs, closed.iter().map(period).collect()).unwrap()
}
