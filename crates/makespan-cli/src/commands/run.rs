//! `makespan run`

mod argument_folders;
mod batch;
mod cluster;
mod command;
mod console;
mod copy;
mod decider;
mod dry;
mod exit;
mod folder;
mod hosts;
mod inspect;
mod job_changes;
mod joblog;
mod jobs;
mod milestones;
mod ninja;
mod outcome;
mod own;
mod page;
mod place;
mod platform;
mod printed;
mod prints;
mod record;
mod results;
mod resumed_input;
mod scratch;
mod setting;
mod signals;
mod source;
mod strangers;
mod stream;
mod unneeded;
mod watch;

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use makespan::estimate::Medians;
use makespan_core::{Estimation, Instance, Platform, Schedule, TaskId, Trace};
use makespan_exec::{ExecuteOptions, Intake, Pinning, Stop, check, check_folder, check_machine, check_tasks, settle};
use makespan_formats::list::Arguments;
use makespan_formats::schedule::ScheduleFile;
use makespan_formats::{Language, write_instance};
use makespan_verify::Bound;
use miette::{Result, miette};

use crate::args::{MemorySource, RunOptions};
use crate::loaded::LoadedInstance;
use crate::output::{
    check_target, complain, complain_lines, complain_text, emit, narrow, shell_word, shown, write_file,
};
use crate::past::{Memory, NO_BOUND, RunHistory, has_shared_times, kinds};
use crate::summary;
use argument_folders::ArgumentFolders;
#[cfg(feature = "service")]
pub use batch::ClusterOfBatch;
#[cfg(feature = "service")]
pub use cluster::Cluster;
use decider::{Decider, knows_times};
pub use exit::ERROR;
use exit::RunEnding;
#[cfg(feature = "service")]
pub use hosts::ClusterOfHosts;
pub use inspect::{show_job, show_logs, show_status};
use outcome::Outcomes;
use place::{RunPlace, RunWork, place_of};
#[cfg(feature = "service")]
pub use platform::read as read_kept_platform;
use record::RunRecord;
use source::Source;
#[cfg(feature = "service")]
pub use source::{argument_sources, lines, operator};
pub use source::{arguments, made};
use stream::Stream;
use watch::{RunWatch, WatchOptions};

/// The plan with which a run begins.
pub struct BegunPlan {
    algorithm: String,
    seed: u64,
    schedule: Schedule,
    bounds: Vec<Bound>,
    remarks: Vec<String>,
}

impl BegunPlan {
    /// Returns true if the plan has bounds and they are printed.
    fn states_bounds(&self) -> bool {
        !self.bounds.is_empty() && !self.remarks.iter().any(|remark| remark == NO_BOUND)
    }
}

/// The result of one session of a run.
pub struct EndedSession {
    /// Exit status of the command.
    pub status: u8,
    /// True if the user or a signal stopped the session.
    pub stopped: bool,
    /// Names of the jobs that failed in this session, each with the reason.
    pub failures: Vec<(String, String)>,
}

pub fn run(options: &RunOptions) -> Result<ExitCode> {
    let in_folder = ninja::in_folder(options)?;
    let options = in_folder.as_ref().unwrap_or(options);
    let recorded = record::from_record(options)?;
    let options = recorded.as_ref().unwrap_or(options);
    let in_folder = ninja::in_folder(options)?;
    let options = in_folder.as_ref().unwrap_or(options);
    let first = folder::of_first_session(options);
    carry_out(first.as_ref().unwrap_or(options)).map(|ended| ExitCode::from(ended.status))
}

/// Returns the number of processors that a cluster provides to a run, or `None` if the run is on this machine.
pub fn processors(options: &RunOptions) -> Result<Option<u32>> {
    Ok(place_of(options)?.platform().map(Platform::processors))
}

/// Executes a run. Prints the outcome unless another command started the run.
pub fn carry_out(options: &RunOptions) -> Result<EndedSession> {
    let stop = signals::listen()?;
    let mut place = place_of(options)?;
    if source::is_asked(&options.source) && options.failures.resume && place.is_here() {
        settle_first(options)?;
    }
    let _claimed = ninja::claimed(options)?;
    ninja::refuse_cluster(options, place.is_here())?;
    let source = resumed_input::read(options, place.platform());
    let Some(mut source) = source.map_err(|error| ninja::run_by_ninja(options, error))? else {
        return Ok(EndedSession { status: 0, stopped: false, failures: Vec::new() });
    };
    if options.source.shuf {
        source.shuffle(options.seed)?;
    }
    let (mut session, memory) = Session::prepared(options, place.as_mut(), source, stop)?;
    let planned = session.planned(place.as_ref())?;
    if options.dry_run {
        emit(&dry::commands(&session.instance, &planned.schedule))?;
        return Ok(EndedSession { status: 0, stopped: false, failures: Vec::new() });
    }
    if options.begins_anew && !session.is_silent() {
        complain_text(&folder::first_note(options));
    }
    setting::make_folder(&session.execution.setting)?;
    if session.is_new {
        session.execution.folder = folder::claim(options)?;
    }
    let pruning = unneeded::pruning(options, &session.instance, &session.execution.folder);
    session.execution.pruning = pruning;
    let stream = session.stream.take();
    // From here on, no other session can begin a run in this folder.
    let reserved = place.reserve(&session.instance, &session.execution)?;
    let begun = session.begun(planned)?;
    let own_notes = place.remarks(&session.instance);
    let remarks: Vec<String> = begun.remarks.iter().cloned().chain(own_notes).collect();
    if !session.is_silent() {
        session.announce(&begun, &remarks);
    }
    let shown = WatchOptions {
        options: &options.printing,
        folder: &session.execution.folder,
        arguments: &session.arguments,
        grows: session.execution.intake.is_some(),
        is_silent: session.is_silent(),
        is_part: options.is_part,
        stop: session.execution.stop.clone(),
    };
    let mut watch = RunWatch::new(&session.instance, shown, memory)?;
    if let (Some(stream), Some(intake)) = (stream, &session.execution.intake) {
        stream.send(intake.clone(), watch.feed(), session.execution.stop.clone());
    }
    let work = RunWork {
        instance: &session.instance,
        begun: &begun,
        decider: &session.decider,
        stem: &options.source.stem(),
        grace: session.execution.grace,
        resume: options.failures.resume,
    };
    let trace = place.execute(reserved, &work, &mut watch);
    let is_printed = watch.finish();
    let trace = trace?;
    session.ended(&begun, trace, &watch, is_printed)
}

/// A session of a run: reads the source, makes the plan and executes the jobs.
struct Session<'a> {
    options: &'a RunOptions,
    instance: Instance,
    /// The arguments of a template's commands.
    arguments: Arguments,
    /// The rest of standard input, if more jobs may arrive.
    stream: Option<Stream>,
    decider: Decider,
    execution: ExecuteOptions,
    remarks: Vec<String>,
    /// Name of this computer or of the cluster, for the report.
    machine: String,
    /// True if the history supplied run times.
    learned: bool,
    /// True if the folder is not yet chosen.
    is_new: bool,
    /// True if an earlier session began the run.
    resumes: bool,
}

impl<'a> Session<'a> {
    /// Makes all checks before the first output. Returns the session, and the recorder that adds run times to the
    /// history.
    fn prepared(
        options: &'a RunOptions,
        place: &mut dyn RunPlace,
        source: Source,
        stop: Stop,
    ) -> Result<(Self, Memory)> {
        options.printing.joblog.as_deref().map(check_target).transpose()?;
        options.printing.results.as_deref().map(ArgumentFolders::new).transpose()?;
        let Source { loaded, arguments, stream, grows, oversubscribed } = source;
        let pinning = pinning(options, place.is_here());
        let mut past = RunHistory::open(&options.history, options.source.stated_template(), pinning);
        let mut taught = past.teach(loaded)?;
        if options.memory == MemorySource::Learned {
            taught = past.teach_memory(taught, &setting::memory_room(options, place)?)?;
        }
        let memory = past.memory(&taught);
        let learned = taught.learned;
        let LoadedInstance { instance, remarks, has_made_up_names } = taught.loaded;
        if grows && options.domains.is_some() {
            return Err(miette!(
                "--domains needs all jobs before the run begins; give an instance, or remove --domains"
            ));
        }
        let decider = if grows { Decider::of_stream(options) } else { Decider::new(options, &instance)? };
        let (instance, decider) = match place.choose(&decider, &instance, options.seed)? {
            Some(chosen) => {
                let decider = Decider::new(options, &chosen)?;
                (chosen, decider)
            }
            None => (instance, decider),
        };
        let folder = folder::choose(options)?;
        place.prepare();
        let resume = options.failures.resume;
        let mut execution = ExecuteOptions {
            results: folder::results(!place.is_here()),
            scratch: scratch::scratch(options, &instance)?,
            oversubscribe: options.oversubscribe || oversubscribed,
            pinning,
            made_up_names: has_made_up_names,
            run_all: source::is_asked(&options.source),
            stop,
            estimation: Some(learning(options.source.stated_template())),
            intake: grows.then(Intake::new),
            ..ExecuteOptions::new(&folder)
        };
        options.failures.apply(&mut execution);
        execution.raise_memory = options.memory == MemorySource::Learned;
        setting::apply(options, &mut execution, place.is_here())?;
        instance.check_task_names().map_err(|error| miette!("{}: {error}", options.source.name()))?;
        decider.check(&instance, options.seed)?;
        let is_new = options.folder.is_none() && !resume;
        if resume && folder::is_empty(&folder) {
            complain(&format!(
                "note: {} is empty, so this run begins at the first job",
                shown(&folder.display().to_string())
            ));
        }
        check_all(&instance, &execution, is_new, place.is_here()).map_err(|error| miette!("{error}"))?;
        signals::stop_the_run();
        let resumes = resume && !folder::is_empty(&execution.folder);
        let machine = place.name();
        if let (Some(intake), None) = (&execution.intake, &stream) {
            intake.close();
        }
        let session = Self {
            options,
            instance,
            arguments,
            stream,
            decider,
            execution,
            remarks,
            machine,
            learned,
            is_new,
            resumes,
        };
        Ok((session, memory))
    }

    /// Returns the plan of an earlier session, if there is one.
    fn earlier(&self) -> Option<BegunPlan> {
        let begun = self.options.failures.resume.then(|| folder::planned(&self.execution.folder, &self.instance));
        let mut begun = begun.flatten()?;
        if !self.is_proved() {
            begun.bounds.clear();
        }
        Some(begun)
    }

    /// Returns true if the bounds of the plan are proved, because the report or `--verbose` will show them. Otherwise,
    /// the plan file contains only bounds that need no search.
    fn is_proved(&self) -> bool {
        let is_shown = knows_times(&self.instance) || self.options.printing.verbose;
        is_shown && !has_shared_times(&self.instance, self.execution.pinning)
    }

    /// Returns a new plan.
    fn plan(&self, place: &dyn RunPlace) -> Result<BegunPlan> {
        place.plan(&self.decider, &self.instance, self.options.seed, self.remarks.clone(), self.is_proved())
    }

    /// Returns the plan of an earlier session, or else a new plan. Returns an error if `place` cannot execute the
    /// plan.
    fn planned(&self, place: &dyn RunPlace) -> Result<BegunPlan> {
        let planned = match self.earlier() {
            Some(begun) => begun,
            None => self.plan(place)?,
        };
        place.check(&self.instance, &planned.schedule)?;
        Ok(planned)
    }

    /// Returns the plan of the run and writes it to the folder. If another session wrote a plan for this run first,
    /// returns the plan of that session.
    fn begun(&self, planned: BegunPlan) -> Result<BegunPlan> {
        RunRecord::write(self.options, &self.execution.folder, &self.instance)?;
        let mut begun = match self.earlier() {
            Some(begun) => begun,
            None => {
                write_begun(&self.execution.folder, &self.instance, &planned, self.learned)?;
                planned
            }
        };
        if has_shared_times(&self.instance, self.execution.pinning) {
            begun.remarks.push(NO_BOUND.into());
        }
        Ok(begun)
    }

    /// Prints notes for the user before the first job starts.
    fn announce(&self, begun: &BegunPlan, remarks: &[String]) {
        if self.options.printing.verbose && !self.resumes {
            complain(&announced(&self.instance, begun, remarks));
            return;
        }
        // No values of the plan are printed, so notes about guessed run times are left out.
        let others = results::without_guesses(&self.instance, remarks);
        let others = others.iter().filter(|remark| **remark != NO_BOUND);
        let notes: String = others.map(|remark| narrow("note: ", 6, remark)).collect();
        complain_text(&notes);
        if self.execution.intake.is_some() {
            complain("starting each job as soon as its line arrives");
        } else if !self.knows_times() && !self.resumes {
            complain(if self.decider.starts_in_order() {
                "no run times known yet; starting in list order"
            } else {
                "no run times known yet"
            });
        }
    }

    /// Returns true if the run time of at least one task was known when the run was planned.
    fn knows_times(&self) -> bool {
        self.execution.intake.is_none() && knows_times(&self.instance)
    }

    /// Returns true if the outcome is not printed, except for the last line, which programs parse.
    fn is_silent(&self) -> bool {
        self.options.printing.quiet || self.options.is_part
    }

    /// Writes and prints the outcome.
    fn ended(
        &self,
        begun: &BegunPlan,
        mut trace: Trace,
        watch: &RunWatch<'_>,
        is_printed: bool,
    ) -> Result<EndedSession> {
        let (instance, folder, stopped) =
            (watch.instance(), &self.execution.folder, self.execution.stop.is_requested());
        let succeeded = trace.all_succeeded(instance);
        trace.runs.extend(watch.interrupted().iter().cloned());
        let outcomes = Outcomes::new(instance, &begun.schedule, &trace, watch.reasons(), watch.outputs());
        let is_cut_off = stopped && watch.may_grow();
        let outcomes =
            outcomes.with_restated(watch.restated()).with_stopped(stopped, is_cut_off).with_session(watch.spent());
        let outcomes = outcomes.with_plan(self.knows_times() && !self.resumes);
        let outcomes = outcomes.with_background(watch.background().clone());
        let outcomes = outcomes.with_cores_note(source::cores_note(self.options));
        let title = page::title(&self.options.source, &self.machine, folder);
        let written = results::write(&title, begun, &outcomes, watch.log());
        // If the report cannot be written, the outcome is still printed.
        if !self.is_silent() {
            complain_lines(&outcomes.lines());
            if let Some(domains) = self.decider.domains() {
                domains.charges(instance, &trace).iter().for_each(|line| complain(line));
            }
            if self.options.printing.verbose {
                complain_lines(&outcomes.details(self.resumes));
            }
            complain(&where_it_is(folder, written.is_ok()));
            if !succeeded || is_cut_off {
                complain(&goes_on(self.options, folder, stopped));
            }
        }
        let ending = RunEnding {
            jobs: instance.tasks(),
            halt: watch.halt().map(exit::of_halt),
            is_percentage: exit::is_percentage(self.options.failures.rule()),
            unsuccessful: outcomes.unsuccessful(),
            stopped: outcomes.stopped.then(signals::status),
            is_incomplete: written.is_err() || !is_printed || watch.has_bad_input(),
        };
        let status = ending.status();
        if !self.options.is_part && (self.options.printing.quiet || !std::io::stderr().is_terminal()) {
            complain(&outcomes.machine_line(status, folder));
        }
        written?;
        Ok(EndedSession { status, stopped, failures: failures(instance, watch) })
    }
}

/// Returns the text that `--verbose` prints before the first job starts.
fn announced(instance: &Instance, begun: &BegunPlan, remarks: &[String]) -> String {
    let values = if begun.states_bounds() { summary::objectives } else { summary::values };
    format!(
        "{}, planned by {}\n{}\n{}\n{}",
        summary::instance(instance),
        begun.algorithm,
        summary::remarks(remarks),
        values(instance, &begun.schedule, &begun.bounds, makespan::minimised(&begun.algorithm)),
        summary::placements(instance, &begun.schedule, "the placements are in the report in the folder of the run")
    )
}

/// Ends the processes of an interrupted session before this session reads the source. Otherwise, these processes might
/// still change files that determine which jobs must run.
fn settle_first(options: &RunOptions) -> Result<()> {
    let execution = ExecuteOptions::new(folder::choose(options)?);
    settle(&execution, &mut watch::Messages { quiet: options.printing.quiet }).map_err(|error| miette!("{error}"))
}

/// Returns an error if a run cannot be executed. The folder of a new run is not checked, because `folder::claim`
/// creates it later.
fn check_all(
    instance: &Instance,
    execution: &ExecuteOptions,
    is_new: bool,
    is_here: bool,
) -> Result<(), makespan_exec::ExecuteError> {
    match (is_new, is_here) {
        (true, false) => check_tasks(instance),
        (true, true) => check_machine(instance, execution),
        (false, false) => check_folder(instance, execution),
        (false, true) => check(instance, execution),
    }
}

/// Returns which jobs are pinned to their cores. On a cluster, all jobs are pinned.
fn pinning(options: &RunOptions, is_here: bool) -> Pinning {
    match options.setting.jobserver {
        Some(_) => Pinning::Nothing,
        None if options.source.pin || !is_here => Pinning::All,
        None => Pinning::Stated,
    }
}

/// Returns an estimator that learns run times from the ended tasks of a run. For each task, the estimator prefers the
/// times of tasks with the same command, then the times of tasks with similar commands, then the times of all tasks.
fn learning(template: Option<String>) -> Estimation {
    Estimation::new(move |instance| Box::new(Medians::new(instance, |task| kinds(instance, task, template.as_deref()))))
}

/// Returns the jobs that failed, with the reasons.
fn failures(instance: &Instance, watch: &RunWatch<'_>) -> Vec<(String, String)> {
    let named = |(&task, reason): (&TaskId, &String)| (instance.name(task).into_owned(), reason.clone());
    watch.reasons().iter().map(named).collect()
}

/// Returns a sentence that names the folder with the outputs and the report.
fn where_it_is(folder: &Path, has_report: bool) -> String {
    let which = if has_report { "output of the jobs, report.html and gantt.svg are" } else { "output of the jobs is" };
    format!("{which} in {}", shown(&folder.display().to_string()))
}

/// Returns a sentence with the command that continues the run.
fn goes_on(options: &RunOptions, folder: &Path, stopped: bool) -> String {
    let command = format!("`makespan run --folder {} --resume", shell_word(folder.as_os_str()));
    let input = if record::reads_standard_input(&options.source) { ", with the same standard input," } else { "" };
    if stopped {
        format!("the run was stopped; {command}`{input} continues it")
    } else if source::is_asked(&options.source) {
        format!("{command}` runs the targets that are out of date")
    } else {
        format!("{command} --retry-failed`{input} runs all jobs that did not succeed")
    }
}

/// Writes the plan into the folder before the first job starts. After an interruption, the report can then show
/// planned and actual times.
fn write_begun(folder: &Path, instance: &Instance, planned: &BegunPlan, learned: bool) -> Result<()> {
    write_plan(folder, instance, planned)?;
    if learned {
        // The plan depends on learned times, which no other file states.
        write_file(&folder::own(folder, folder::INSTANCE)?, |out| write_instance(instance, Language::Json, out))?;
    }
    Ok(())
}

fn write_plan(folder: &Path, instance: &Instance, begun: &BegunPlan) -> Result<()> {
    // If other jobs occupy processors of a cluster, the plan and its bounds are for a platform with closed periods. The
    // file states only the values that the certificates prove for the instance without these periods.
    let proved = |bound: &Bound| match bound.verify(instance) {
        Ok(()) => Some(bound.clone()),
        Err(_) => Bound::proved_by(bound.objective, bound.proof.clone(), instance).ok(),
    };
    let bounds: Vec<Bound> = begun.bounds.iter().filter_map(proved).collect();
    let file = ScheduleFile::new(instance, begun.algorithm.clone(), begun.schedule.clone());
    let mut file = file.with_bounds(instance, &bounds);
    file.seed = Some(begun.seed);
    file.remarks.clone_from(&begun.remarks);
    write_file(&folder::own(folder, folder::PLAN)?, |out| file.write(instance, out))
}
