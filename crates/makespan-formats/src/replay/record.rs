//! Records of a log of any format.

use std::sync::Arc;

use makespan_core::{
    Estimate, Instance, Job, Needs, Platform, PlatformError, Profile, SpeedupLaw, Submission, Time, counted,
};
use rustc_hash::FxHashMap;

use crate::SpeedupSpec;
use crate::anomaly::{Anomaly, LogStatistics};
use crate::clock::Clock;
use crate::error::{FilePlace, FormatError};
use crate::guess::{GUESS, through};
use crate::needs::{UNSTATED, UnstatedNeeds};
use crate::speedup::Laws;
use crate::swf::{Log, SwfLogOptions};

use super::logged_end::LoggedEnd;

/// A record that can become a job. The number of processors and the needs are not checked yet.
#[derive(Default)]
pub(crate) struct LogRecord {
    /// Position in the file, in the unit of the report.
    pub at: usize,
    pub name: String,
    pub submit: Time,
    /// Real run time.
    pub run: Time,
    pub processors: u32,
    /// True if `run` is a guess.
    pub is_guess: bool,
    /// Time that the user requested.
    pub requested: Option<Time>,
    pub user: Option<u32>,
    /// Number of the queue to which the job was submitted.
    pub queue: Option<u32>,
    /// Average CPU time of the processors divided by the run time, if the log states it. The value is positive.
    pub efficiency: Option<f64>,
    /// Needs for resources other than processors.
    pub needs: Needs,
    /// True if `needs` is the average use of the job because the log states no requested amounts.
    pub measured: bool,
    /// Start of the job, on the time scale of `submit`.
    pub started: Option<Time>,
    /// Submission of the job, if the log states it.
    pub submission: Option<Arc<Submission>>,
    /// True if the job had not ended when the log was written.
    pub is_alive: bool,
    /// How the job ended, if the log states it.
    pub end: Option<LoggedEnd>,
}

/// Content of a log.
pub(crate) struct LogContent {
    pub records: Vec<LogRecord>,
    pub report: LogStatistics,
    /// Number of processors of the machine, if the log states it.
    pub processors: Option<u32>,
    /// Clause for the error message if the log does not state the number of processors.
    pub untold: &'static str,
    /// Other remarks for the user.
    pub remarks: Vec<String>,
    /// Remarks that matter only if the jobs are planned or simulated.
    pub plan_remarks: Vec<String>,
    /// Second of the week at instant 0, counted from Monday, 0:00, in the time zone of the log. `None` if the log does
    /// not state the date.
    pub week: Option<i64>,
    /// Clock of the log, which converts times to dates.
    pub clock: Option<Clock>,
    /// Instant at which the log was written, if some jobs had not ended at this instant.
    pub now: Option<Time>,
}

impl LogContent {
    /// Returns the stated platform, or else a flat platform with the number of processors in the log. `option` is the
    /// command-line option that states a platform.
    pub(crate) fn platform(&self, file: &str, stated: Option<Platform>, option: &str) -> Result<Platform, FormatError> {
        let wrong = |problem: &dyn std::fmt::Display| FormatError::content(file, FilePlace::default(), problem);
        if let Some(platform) = stated {
            return Ok(platform);
        }
        let processors = self
            .processors
            .ok_or_else(|| wrong(&format!("{}; state the processors of the platform ({option})", self.untold)))?;
        Platform::flat(processors).map_err(|error: PlatformError| wrong(&error))
    }

    /// Removes and counts jobs that had not ended when the log was written.
    fn leave_out_the_present(&mut self) {
        let Self { records, report, .. } = self;
        report.forget(&[Anomaly::StillRuns, Anomaly::StillWaits]);
        records.retain(|record| {
            if record.is_alive {
                report.add(Anomaly::NotEnded, record.at);
            }
            !record.is_alive
        });
    }

    /// Removes and counts jobs that need more processors than the platform has.
    pub(crate) fn fit(&mut self, processors: u32) {
        let Self { records, report, .. } = self;
        records.retain(|record| {
            let fits = record.processors <= processors;
            if !fits {
                report.add(Anomaly::TooWide, record.at);
            }
            fits
        });
        report.jobs = records.len();
    }

    /// Removes needs for resources that the platform does not state, and records that need more of a resource than the
    /// platform has. Counts both.
    pub(crate) fn equip(&mut self, platform: &Platform) {
        if self.records.iter().all(|record| record.needs.is_empty()) {
            return;
        }
        let mut unstated = UnstatedNeeds::default();
        let (mut measured, mut room) = (Vec::new(), Room { platform, known: FxHashMap::default() });
        let Self { records, report, remarks, .. } = self;
        records.retain_mut(|record| {
            record.needs = unstated.kept(&record.needs, platform, record.processors, &record.name);
            if record.needs.is_empty() {
                return true;
            }
            let fits = room.has(record);
            if !fits {
                report.add(Anomaly::NoRoom, record.at);
            } else if record.measured {
                measured.push(record.at);
            }
            fits
        });
        report.jobs = records.len();
        remarks.extend(unstated.remarks("job", UNSTATED));
        if let Some(&first) = measured.first() {
            let (count, place) = (measured.len(), report.unit.told(first));
            remarks.push(format!(
                "{} (the first at {place}) did not request memory; their average use of memory is used as the request",
                counted(count, "job")
            ));
        }
    }

    /// Returns an error if a strict reading refuses the log, or if the log has no jobs.
    pub(crate) fn accept(&self, file: &str, strict: bool) -> Result<(), FormatError> {
        let Self { records, report, .. } = self;
        if strict {
            report.refuse(file)?;
        }
        if !records.is_empty() {
            return Ok(());
        }
        let skipped = report.found.iter().find(|found| found.anomaly.skips());
        let skipped = skipped.map_or_else(String::new, |found| format!(" ({found})"));
        Err(FormatError::content(file, FilePlace::default(), format!("no record can be read as a job{skipped}")))
    }
}

impl LogContent {
    /// Returns the number of jobs to which a speed-up law can be fitted. Returns an error if a law must be fitted and
    /// this number is 0.
    pub(crate) fn fittable(&self, file: &str, speedup: Option<SpeedupSpec>) -> Result<usize, FormatError> {
        let tells = self.records.iter().filter(|record| record.efficiency.is_some() && record.processors > 1).count();
        if speedup == Some(SpeedupSpec::Fitted) && tells == 0 {
            let problem =
                "no speed-up can be fitted: no job on several processors has an average CPU time (SWF: field 6)";
            return Err(FormatError::content(file, FilePlace::default(), problem));
        }
        Ok(tells)
    }
}

/// Cached results of checks whether records fit an empty platform.
struct Room<'a> {
    platform: &'a Platform,
    known: FxHashMap<(Needs, u32), bool>,
}

impl Room<'_> {
    /// Returns whether a record fits the empty platform on its number of processors.
    fn has(&mut self, record: &LogRecord) -> bool {
        let platform = self.platform;
        let fits = |needs: &Needs, processors| {
            let profile = Profile::rigid(processors, Time::TICK).ok()?;
            let job = Job::new("j", profile).with_needs(needs.clone());
            Instance::new(platform.clone(), vec![job], Vec::new()).ok()
        };
        let key = (record.needs.clone(), record.processors);
        *self.known.entry(key).or_insert_with_key(|(needs, processors)| fits(needs, *processors).is_some())
    }
}

impl LogRecord {
    /// Returns a copy without name, needs and submission, which the caller must set.
    pub(crate) fn copy(&self) -> Self {
        let Self {
            at,
            submit,
            run,
            is_guess,
            processors,
            requested,
            user,
            queue,
            efficiency,
            measured,
            started,
            is_alive,
            end,
            ..
        } = *self;
        let (name, needs, submission) = (String::new(), Needs::NONE, None);
        Self {
            at,
            name,
            submit,
            run,
            processors,
            is_guess,
            requested,
            user,
            queue,
            efficiency,
            needs,
            measured,
            started,
            submission,
            is_alive,
            end,
        }
    }

    /// Returns the profile that takes `time` on the logged number of processors. Without a law, the profile is rigid.
    /// With a law, the job can run on any number of processors of the platform.
    pub(crate) fn profile(&self, time: Time, law: Option<SpeedupLaw>, platform: u32) -> Result<Profile, String> {
        match law {
            None => Profile::rigid(self.processors, time).map_err(|error| error.to_string()),
            Some(law) => through(time, self.processors, law, platform).ok_or_else(|| {
                "by this speed-up law, the run time of the job on one processor is longer than 146 years".to_owned()
            }),
        }
    }
}

/// Marks the run times of a job as guesses.
pub(crate) fn mark_guess(job: &mut Job) {
    job.work.tasks_mut().for_each(|task| task.estimate = Estimate::Guessed);
}

/// Returns a guess for a missing run time: a minute, or the requested time if this time is shorter.
pub(crate) fn guessed_run(requested: Option<Time>) -> Time {
    requested.map_or(GUESS, |requested| requested.min(GUESS))
}

/// Returns the records as an instance for planning, with the logged run times. `machines` replaces the platform of the
/// log.
pub(crate) fn planned(
    file: &str,
    mut log: LogContent,
    options: &SwfLogOptions,
    machines: Option<&Platform>,
) -> Result<Log, FormatError> {
    let wrong = |problem: &dyn std::fmt::Display| FormatError::content(file, FilePlace::default(), problem);
    let flat = options.processors.map(Platform::flat).transpose().map_err(|error| wrong(&error))?;
    let platform = log.platform(file, machines.cloned().or(flat), "--processors")?;
    let processors = platform.processors();
    log.leave_out_the_present();
    log.fit(processors);
    log.equip(&platform);
    log.accept(file, options.strict)?;
    log.fittable(file, options.speedup)?;
    let LogContent { records, report, remarks, plan_remarks, .. } = log;
    let remarks = [plan_remarks, remarks].concat();
    let mut laws = options.speedup.map(|spec| Laws::new(spec, options.seed, processors));
    let job = |record: LogRecord| {
        let law = laws.as_mut().and_then(|laws| laws.next(record.processors, record.efficiency));
        let profile = record.profile(record.run, law, processors);
        let profile = profile.map_err(|problem| FormatError::content(file, report.unit.place(record.at), problem))?;
        let mut job = Job::new(record.name, profile).with_release(record.submit).with_needs(record.needs);
        if record.is_guess {
            mark_guess(&mut job);
        }
        // A requested time that is shorter than the run time is not used as a walltime.
        job.walltime = record.requested.filter(|&requested| requested >= record.run);
        Ok(job)
    };
    let jobs = records.into_iter().map(job).collect::<Result<Vec<_>, FormatError>>()?;
    let instance = Instance::new(platform, jobs, Vec::new()).map_err(|error| match machines {
        Some(_) => wrong(&format!("the jobs do not fit the stated platform: {error}")),
        None => wrong(&error),
    })?;
    Ok(Log { instance, report, remarks })
}
