//! The earliest possible end of a single job.

use makespan_core::{FreeTime, Instance, JobId, Time, Timeline};

/// Returns a lower bound on the end of a job in any schedule: its release plus its shortest time. A bag also ends no
/// earlier than the instant at which the open processor time since its release reaches the minimum work of all its
/// tasks.
pub fn soonest_completion(instance: &Instance, id: JobId) -> Time {
    let (job, profile) = (instance.job(id), instance.profile_of(id));
    let alone = job.release + profile.shortest();
    let least = profile.least_work(Time::MAX).unwrap_or(0);
    let work = least.saturating_mul(i128::from(job.tasks()));
    let enough = |end: i64| instance.availability().open_area(job.release, Time::from_ticks(end)) >= work;
    // The upper limit is after the end of every schedule of an instance.
    let (mut low, mut high) = (alone.ticks(), i64::MAX / 2);
    if job.tasks() == 1 || !enough(high) {
        return alone;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle + 1 }
    }
    Time::from_ticks(low)
}

/// Returns the earliest end of a job that is alone on the platform. If the job is a bag, returns the earliest end of
/// one of its tasks. If all processors are equal, the result takes reservations and outages into account. Otherwise,
/// the result ignores them.
pub fn earliest_completion(instance: &Instance, id: JobId) -> Time {
    let (job, profile) = (instance.job(id), instance.profile_of(id));
    if !instance.has_equal_processors() {
        let shortest = profile.shortest();
        let own = profile.machine_times().is_some();
        return job.release + if own { shortest } else { shortest.divided_by(instance.platform().speeds().1) };
    }
    if instance.availability().is_always_open() {
        return job.release + profile.shortest();
    }
    let timeline = Timeline::new(instance);
    profile
        .allotments()
        .map(|processors| {
            let time = profile.time(processors);
            timeline.earliest_fit(processors, time, job.release) + time
        })
        .min()
        .unwrap_or(Time::MAX)
}
