//! Instances for tests of several proofs.

use makespan_core::{Instance, Job, Platform, Profile, Time, Unavailable};

/// Returns an instance of sequential jobs with a time on each of two machines, in ticks, and closed periods of
/// processors.
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
