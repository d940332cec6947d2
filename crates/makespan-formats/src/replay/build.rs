//! Converts a log to a replay.

use std::collections::BTreeSet;

use makespan_core::{Actual, Instance, Job, Platform, Profile, Time, counted, emptied};

use super::record::{LogContent, LogRecord, mark_guess};
use super::{Estimates, LoggedStarts, Replay, ReplayOptions};
use crate::SpeedupSpec;
use crate::anomaly::Anomaly;
use crate::error::{FilePlace, FormatError};
use crate::format::Format;
use crate::speedup::Laws;

/// Error message if the machines are stated twice.
pub(crate) const BOTH_STATED: &str = "both a platform and a number of processors are stated; remove one of the two";

/// Returns the replay of a log. Jobs are in the order of their submit times. The data that a policy may use are
/// separate from the real run times and starts.
pub(crate) fn replay(
    file: &str,
    format: Format,
    mut log: LogContent,
    options: &ReplayOptions,
) -> Result<Replay, FormatError> {
    let wrong = |problem: &dyn std::fmt::Display| FormatError::content(file, FilePlace::default(), problem);
    if options.platform.is_some() && options.processors.is_some() {
        return Err(wrong(&BOTH_STATED));
    }
    let flat = options.processors.map(Platform::flat).transpose().map_err(|error| wrong(&error))?;
    let platform = log.platform(file, options.platform.clone().or(flat), "--processors")?;
    let processors = platform.processors();
    log.fit(processors);
    log.equip(&platform);
    note_estimates(&mut log, options.estimates);
    sort(&mut log);
    log.accept(file, options.strict)?;
    check_queues(file, &log, &options.queues)?;
    let fitted = log.fittable(file, options.speedup)?;
    let LogContent { records, report, remarks: said, plan_remarks, week, clock, now, .. } = log;
    let mut laws = options.speedup.map(|spec| Laws::new(spec, options.seed, processors));
    let mut remarks: Vec<String> = report.remarks().chain(plan_remarks).chain(said).collect();
    remarks.extend(options.speedup.map(|spec| moldable(spec, fitted, records.len(), processors)));
    if !platform.has_unit_speed() {
        remarks.push(
            "the times of the log are read as times at speed 1; on processors of other speeds, jobs have no time \
             limit"
                .into(),
        );
    }
    let mut jobs = Vec::with_capacity(records.len());
    let mut real = Vec::with_capacity(records.len());
    let mut starts = Vec::with_capacity(records.len());
    for record in emptied(records) {
        let law = laws.as_mut().and_then(|laws| laws.next(record.processors, record.efficiency));
        let estimate = estimate(&record, options.estimates);
        let wrong = |problem: String| FormatError::content(file, report.unit.place(record.at), problem);
        let told = record.profile(estimate, law, processors).map_err(wrong)?;
        if options.estimates == Estimates::User {
            real.push(record.profile(record.run, law, processors).map_err(wrong)?);
        }
        let place = record.queue.and_then(|queue| options.queues.iter().position(|&named| named == queue));
        let priority = place.map_or(0, |place| (options.queues.len() - place) as i32);
        let mut job = Job::new(record.name, told).with_release(record.submit).with_priority(priority);
        job = job.with_needs(record.needs);
        job.user = record.user;
        if record.is_guess && estimate == record.run {
            mark_guess(&mut job);
        }
        job.submission = record.submission;
        // In some logs, a job starts before its submission. Such a start is ignored.
        starts.push(record.started.filter(|&started| started >= record.submit));
        // On fewer or slower processors than in the log, a job may exceed its requested time.
        let as_logged = law.is_none() && platform.has_unit_speed();
        job.walltime = record.requested.filter(|&requested| as_logged && requested >= estimate);
        jobs.push(job);
    }
    let instance = Instance::new(platform, jobs, Vec::new()).map_err(|error| wrong(&error))?;
    let actual = match options.estimates {
        Estimates::Clairvoyant => Actual::AsEstimated,
        Estimates::User => Actual::Profiles(real),
    };
    if !fits(&instance, &actual) {
        return Err(wrong(&makespan_core::InstanceError::TooLong));
    }
    if starts.iter().all(Option::is_none) {
        starts.clear();
    }
    Ok(Replay { instance, actual, past: LoggedStarts { starts, clock, now }, format, report, remarks, week })
}

/// Returns an error if a queue in `named` has no job.
fn check_queues(file: &str, log: &LogContent, named: &[u32]) -> Result<(), FormatError> {
    let known: BTreeSet<u32> = log.records.iter().filter_map(|record| record.queue).collect();
    let Some(unknown) = named.iter().find(|queue| !known.contains(queue)) else { return Ok(()) };
    let known: Vec<String> = known.iter().map(u32::to_string).collect();
    let problem = match known.as_slice() {
        [] => "no record names a queue (only SWF logs name queues); remove --queues".to_owned(),
        known => format!("no job is in queue {unknown}; the log has jobs in these queues: {}", known.join(", ")),
    };
    Err(FormatError::content(file, FilePlace::default(), problem))
}

/// Returns a remark about the assumptions of a moldable replay.
fn moldable(spec: SpeedupSpec, fitted: usize, jobs: usize, processors: u32) -> String {
    match spec {
        SpeedupSpec::Fitted => format!(
            "moldable replay: the logged jobs are rigid; {fitted} of {} become moldable on 1 to {processors} \
             processors, by Amdahl's law fitted to their logged run times and CPU times; the other jobs stay rigid",
            counted(jobs, "job")
        ),
        _ => format!(
            "moldable replay: the logged jobs are rigid; they become moldable on 1 to {processors} processors by the \
             law {spec}, which gives the logged run time on the logged number of processors"
        ),
    }
}

/// Returns the replay of a native instance. The real run times equal the estimates.
pub(crate) fn given(instance: Instance, format: Format) -> Replay {
    let report =
        crate::anomaly::LogStatistics { jobs: instance.jobs().len(), ..crate::anomaly::LogStatistics::default() };
    let (actual, past) = (Actual::AsEstimated, LoggedStarts::default());
    Replay { instance, actual, past, format, report, remarks: Vec::new(), week: None }
}

fn estimate(record: &LogRecord, estimates: Estimates) -> Time {
    match estimates {
        Estimates::User => record.requested.unwrap_or(record.run),
        Estimates::Clairvoyant => record.run,
    }
}

fn note_estimates(log: &mut LogContent, estimates: Estimates) {
    for record in log.records.iter().filter(|_| estimates == Estimates::User) {
        match record.requested {
            None => log.report.add(Anomaly::NoEstimate, record.at),
            Some(requested) if requested < record.run => log.report.add(Anomaly::Overrun, record.at),
            Some(_) => {}
        }
    }
}

/// Sorts the records by submit time. Records with equal submit times stay in file order.
fn sort(log: &mut LogContent) {
    let before = log.records.iter().map(|record| record.submit);
    let late: Vec<usize> = before
        .zip(log.records.iter().skip(1))
        .filter(|(before, record)| record.submit < *before)
        .map(|(_, record)| record.at)
        .collect();
    for &at in &late {
        log.report.add(Anomaly::OutOfOrder, at);
    }
    if !late.is_empty() {
        log.records.sort_by_key(|record| record.submit);
    }
}

/// Returns whether the real run times are far enough below the maximum time. The instance makes this check for the
/// estimates.
fn fits(instance: &Instance, actual: &Actual) -> bool {
    let Actual::Profiles(profiles) = actual else { return true };
    let longest = profiles.iter().map(|profile| i128::from(profile.longest().ticks())).max().unwrap_or(0);
    let load = profiles.iter().map(Profile::most_work).fold(0, i128::saturating_add);
    let last = instance.jobs().iter().map(|job| i128::from(job.release.ticks())).max().unwrap_or(0);
    let greedy = (load / i128::from(instance.processors()) + longest).saturating_mul(2);
    greedy.saturating_add(last) < i128::from(i64::MAX / 2)
}
