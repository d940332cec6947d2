//! Reads instance files of any format, for planning or for replay.

mod options;
mod text;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

use makespan_core::{Instance, Platform};

use crate::error::{FilePlace, FormatError};
use crate::format::head::{Head, ending_of};
use crate::format::{Format, FormatOption, ReadLog, Reader};
use crate::input::{Input, filled, open, without_mark};
use crate::job_log::{JobLog, job_log};
use crate::list::{bash_lines, is_plain_shell, shell_of, with_shell};
use crate::look::states_shell;
use crate::replay::record::planned;
use crate::replay::{BOTH_STATED, Replay, ReplayOptions, given, replay};
use crate::swf::{self, Lines};
use crate::wanted::{LOGS, Lists};
use crate::{StatedFiles, batsim, etc, look, workflow};
pub use options::ReadOptions;
use text::{text, text_in_any_encoding};

/// Result of reading an instance file.
#[derive(Clone, Debug)]
pub struct ReadInstance {
    /// The machines and jobs.
    pub instance: Instance,
    /// The format of the file.
    pub format: Format,
    /// Warnings and remarks about the file for the user, for example about skipped records.
    pub remarks: Vec<String>,
}

/// Reads an instance file. The file may be compressed with gzip or bzip2. The format is recognised mainly by the
/// content.
///
/// # Errors
/// [`FormatError`] with the file, the place, the problem and its remedy.
pub fn read_instance(path: &Path, options: &ReadOptions) -> Result<ReadInstance, FormatError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| FormatError::io(&name, "open", source))?;
    read_from(file, &name, options)
}

/// Reads an instance from the bytes of a file, like [`read_instance`].
///
/// # Errors
/// As for [`read_instance`].
pub fn parse_instance(bytes: &[u8], file_name: &str, options: &ReadOptions) -> Result<ReadInstance, FormatError> {
    read_from(bytes, file_name, options)
}

/// Returns the files that each task of a workflow reads and writes, by the name of the task. Returns `None` if the
/// format cannot state both the command and the files of a task. Only `WfFormat` can.
///
/// # Errors
///
/// As for [`read_instance`].
pub fn read_task_files(path: &Path) -> Result<Option<BTreeMap<String, StatedFiles>>, FormatError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| FormatError::io(&name, "open", source))?;
    let (mut input, format) = opened(file, &name, ReadOptions::default().max_bytes, Lists::Detected)?;
    let Reader::Workflow(workflow::Reader { files: Some(files), .. }) = &format.row().reader else { return Ok(None) };
    files(&name, &text(&mut input, &name, format)?).map(Some)
}

/// Reads a log or an instance for a replay. The file may be compressed with gzip or bzip2. The format is recognised
/// mainly by the content. In a native instance, the real run times equal the estimates.
///
/// # Errors
/// [`FormatError`] with the file, the place, the problem and its remedy.
pub fn read_replay(path: &Path, options: &ReplayOptions) -> Result<Replay, FormatError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| FormatError::io(&name, "open", source))?;
    read_replay_from(file, &name, options)
}

/// Reads a log from the bytes of a file, like [`read_replay`].
///
/// # Errors
/// As for [`read_replay`].
pub fn parse_replay(bytes: &[u8], file_name: &str, options: &ReplayOptions) -> Result<Replay, FormatError> {
    read_replay_from(bytes, file_name, options)
}

/// Reads the jobs of a log that ran. The file may be compressed, and the format is recognised mainly by the content. If
/// `strict` is true, a log with a record that would be skipped or changed is refused.
///
/// # Errors
/// [`FormatError`] with the file, the place, the problem and its remedy.
pub fn read_job_log(path: &Path, strict: bool) -> Result<JobLog, FormatError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| FormatError::io(&name, "open", source))?;
    job_log_from(file, &name, strict)
}

/// Reads the jobs of a log from the bytes of a file, like [`read_job_log`].
///
/// # Errors
/// As for [`read_job_log`].
pub fn parse_job_log(bytes: &[u8], file_name: &str, strict: bool) -> Result<JobLog, FormatError> {
    job_log_from(bytes, file_name, strict)
}

fn job_log_from(raw: impl Read, name: &str, strict: bool) -> Result<JobLog, FormatError> {
    let (mut input, format) = opened(raw, name, ReadOptions::default().max_bytes, Lists::OnlyLogs)?;
    let Reader::Log(read) = &format.row().reader else {
        let problem = format!("this file is {format}, not a log of jobs that ran; use {LOGS}");
        return Err(FormatError::content(name, FilePlace::default(), problem));
    };
    job_log(name, format, read(name, &mut input, batsim::SPEED, Lines::Short)?, strict)
}

fn read_from(raw: impl Read, name: &str, options: &ReadOptions) -> Result<ReadInstance, FormatError> {
    let (input, format) = opened(raw, name, options.max_bytes, options.lists)?;
    on_stated_machines(input, format, name, options)
}

/// Returns the decompressed content of a file, and its format.
fn opened<'a>(
    raw: impl Read + 'a,
    name: &str,
    max_bytes: u64,
    lists: Lists,
) -> Result<(Input<'a>, Format), FormatError> {
    let unreadable = |source: io::Error| FormatError::io(name, "read", source);
    let mut input = open(raw, max_bytes).map_err(unreadable)?;
    let head = without_mark(filled(&mut input).map_err(unreadable)?);
    if !head.is_empty() && head.trim_ascii().is_empty() {
        let problem = blank(&mut input, lists).map_err(unreadable)?;
        return Err(FormatError::content(name, FilePlace::default(), problem));
    }
    let format = if lists == Lists::Stated { Format::List } else { detect(head, name, lists)? };
    Ok((input, format))
}

/// Maximum number of leading white-space bytes that are read in search of other content.
const MAX_BLANKS: usize = 16 << 20;

/// Returns the error message for a file that begins with only white space. The message states whether other content
/// follows.
fn blank(input: &mut Input<'_>, lists: Lists) -> io::Result<String> {
    let mut blanks = 0;
    while blanks < MAX_BLANKS {
        let seen = without_mark(filled(input)?);
        if seen.is_empty() {
            return Ok(format!("the file contains only white space ({blanks} bytes); {}", lists.wanted()));
        }
        if !seen.trim_ascii().is_empty() {
            return Ok(format!("the file begins with more than {blanks} bytes of white space; remove them"));
        }
        let len = input.buffer().len();
        blanks += len;
        input.consume(len);
    }
    Ok(format!("the first {blanks} bytes of the file are only white space; {}", lists.wanted()))
}

fn on_stated_machines(
    input: Input<'_>,
    format: Format,
    name: &str,
    options: &ReadOptions,
) -> Result<ReadInstance, FormatError> {
    let read = read_as_it_is(input, format, name, options)?;
    // The readers of these formats apply the stated platform themselves.
    let on_its_own = matches!(format.row().reader, Reader::Workflow(_) | Reader::Log(_) | Reader::List(_));
    let Some(platform) = options.platform.as_ref().filter(|_| !on_its_own) else { return Ok(read) };
    let instance = &read.instance;
    let jobs = instance.ids().map(|id| instance.submitted(id)).collect();
    let unavailable = instance.unavailable().to_vec();
    let stated = instance.platform().stated_placement().filter(|_| options.keeps_placement);
    let platform = match stated {
        Some(compact) => platform.clone().with_placement(Some(compact)),
        None => platform.clone(),
    };
    let moved = Instance::new(platform, jobs, unavailable).map_err(|error| {
        let problem = format!("the jobs do not fit the stated platform: {error}");
        FormatError::content(name, FilePlace::default(), problem)
    });
    Ok(ReadInstance { instance: moved?, ..read })
}

fn read_as_it_is(
    mut input: Input<'_>,
    format: Format,
    name: &str,
    options: &ReadOptions,
) -> Result<ReadInstance, FormatError> {
    options.refuse_for(format, name)?;
    let wrong = |problem: String| FormatError::content(name, FilePlace::default(), problem);
    let (instance, remarks) = match &format.row().reader {
        Reader::Workflow(reader) => {
            let platform = machines(options).map_err(wrong)?;
            let (text, remark) = text_in_any_encoding(&mut input, name, format, options.strict)?;
            let (storage, trace) = (options.storage.as_deref(), options.trace.as_ref());
            let options =
                workflow::WorkflowOptions { platform: platform.as_ref(), strict: options.strict, storage, trace };
            with_remark(remark, workflow::read(name, &text, format, reader, &options)?)
        }
        Reader::Log(read) => planned_log(*read, &mut input, format, name, options)?,
        Reader::List(read) => {
            let text = text(&mut input, name, format)?;
            let instance = read(name, &text, &machine_of_list(options).map_err(wrong)?, options.digits)?;
            let stated = options.shell.clone().or_else(|| shell_of(&text)?.into_iter().next());
            let is_for_sh = stated.is_none_or(|shell| is_plain_shell(&shell));
            let instance = match &options.shell {
                Some(shell) => with_shell(&instance, shell),
                None => instance,
            };
            let warning = match is_for_sh.then(|| bash_lines(&text)).flatten() {
                Some((line, problem)) if options.strict => {
                    return Err(FormatError::content(name, FilePlace::line(line), problem));
                }
                warning => warning.map(|(line, warning)| format!("line {line}: {warning}")),
            };
            (instance, warning.into_iter().collect())
        }
        Reader::Matrix(read) => {
            read(name, &mut input, &etc::EtcReadOptions { machines: options.processors, strict: options.strict })?
        }
        Reader::Document(read) => {
            // If the file states no machines, the reader checks the jobs against the platform in the options. This
            // platform may have resources that the machine of this program lacks.
            let machine = options.platform.as_ref().or(options.machine.as_ref());
            let (text, remark) = text_in_any_encoding(&mut input, name, format, options.strict)?;
            with_remark(remark, read(name, &text, machine)?)
        }
    };
    Ok(ReadInstance { instance, format, remarks })
}

/// Reads a file for a replay, like [`read_replay`].
fn read_replay_from(raw: impl Read, name: &str, options: &ReplayOptions) -> Result<Replay, FormatError> {
    let (mut input, format) = opened(raw, name, options.max_bytes, Lists::Refused)?;
    let reading = ReadOptions {
        processors: options.processors,
        platform: options.platform.clone(),
        network: options.network,
        storage: options.storage.clone(),
        speedup: options.speedup,
        strict: options.strict,
        machine: options.machine.clone(),
        max_bytes: options.max_bytes,
        ..ReadOptions::default()
    };
    if let Reader::Log(read) = &format.row().reader {
        reading.refuse_for(format, name)?;
        let Some((platform, flops, remark)) = relative(format, options.platform.as_ref(), options.unit_flops) else {
            return replay(name, format, read(name, &mut input, options.flops, Lines::Short)?, options);
        };
        let scaled = ReplayOptions { platform: Some(platform), ..options.clone() };
        let mut found = replay(name, format, read(name, &mut input, flops, Lines::Short)?, &scaled)?;
        found.remarks.extend(remark);
        return Ok(found);
    }
    let ReadInstance { instance, remarks, .. } = on_stated_machines(input, format, name, &reading)?;
    Ok(Replay { remarks, ..given(instance, format) })
}

/// Prepares a platform for a workload of Batsim. Returns three values: the platform with speeds relative to the first
/// host, the number of operations per second at speed 1, and a warning if the speeds differ. Returns `None` for other
/// formats, or if `platform` or `unit` is missing.
fn relative(format: Format, platform: Option<&Platform>, unit: Option<f64>) -> Option<(Platform, f64, Option<String>)> {
    batsim::relative(platform.filter(|_| format.takes(FormatOption::Flops))?, unit?)
}

/// Inserts the remark `first`, which is about the encoding, before the remarks of the reader.
fn with_remark(first: Option<String>, (instance, remarks): (Instance, Vec<String>)) -> (Instance, Vec<String>) {
    (instance, first.into_iter().chain(remarks).collect())
}

/// Returns the machine for a list of commands. If the options contain a platform, returns the platform. If the options
/// state a number of processors, returns a machine with this number. Otherwise, returns the machine in the options.
fn machine_of_list(options: &ReadOptions) -> Result<Platform, String> {
    match (&options.platform, options.processors, &options.machine) {
        (Some(_), Some(_), _) => Err(BOTH_STATED.into()),
        (Some(platform), None, _) | (None, None, Some(platform)) => Ok(platform.clone()),
        (None, Some(processors), machine) => {
            let flat = Platform::flat(processors).map_err(|error| error.to_string())?;
            let own = machine.as_ref().and_then(|machine| machine.kinds().next()).map(|(node, _)| &node.resources);
            own.map_or(Ok(flat.clone()), |own| flat.with_node_resources(own)).map_err(|error| error.to_string())
        }
        (None, None, None) => {
            Err("a list of commands states no machines; add --processors N or --platform FILE".into())
        }
    }
}

/// Returns the machines that the options state for a workflow.
fn machines(options: &ReadOptions) -> Result<Option<Platform>, String> {
    let nodes = match (&options.platform, options.processors, options.network) {
        (Some(_), Some(_), _) => return Err(BOTH_STATED.into()),
        (Some(_), None, Some(_)) => {
            return Err("both a platform and a bandwidth are stated; remove the bandwidth, or state it in the \
                        platform"
                .into());
        }
        (None, None, Some(_)) => {
            return Err("a bandwidth is stated, but no number of processors; add --processors N".into());
        }
        (None, None, None) if options.workflows_on_machine => return Ok(options.machine.clone()),
        (platform, None, None) => return Ok(platform.clone()),
        (None, Some(processors), _) => Platform::cluster(processors, 1),
    };
    let joined = |nodes: Platform| match options.network {
        Some(link) => nodes.with_interconnect(link),
        None => Ok(nodes),
    };
    nodes.and_then(joined).map(Some).map_err(|error| error.to_string())
}

/// Converts a log to an instance for planning. The run times of the jobs are the logged run times.
fn planned_log(
    read: ReadLog,
    input: &mut Input<'_>,
    format: Format,
    name: &str,
    options: &ReadOptions,
) -> Result<(Instance, Vec<String>), FormatError> {
    let ReadOptions { speedup, seed, strict, .. } = *options;
    if options.platform.is_some() && options.processors.is_some() {
        return Err(FormatError::content(name, FilePlace::default(), BOTH_STATED));
    }
    let scaled = relative(format, options.platform.as_ref(), options.unit_flops);
    let flops = scaled.as_ref().map_or(batsim::SPEED, |scaled| scaled.1);
    let log = read(name, input, flops, Lines::Whole)?;
    let how = swf::SwfLogOptions { processors: options.processors, speedup, seed, strict };
    let platform = scaled.as_ref().map(|scaled| &scaled.0).or(options.platform.as_ref());
    let log = planned(name, log, &how, platform)?;
    let remark = scaled.as_ref().and_then(|scaled| scaled.2.clone());
    let remarks = log.report.remarks().chain(log.remarks).chain(remark).collect();
    Ok((log.instance, remarks))
}

/// Returns whether a text without a file name begins like a list of commands.
pub fn is_list(text: &[u8]) -> bool {
    states_shell(text) || detect(text, "", Lists::Detected).is_ok_and(|format| format == Format::List)
}

/// Recognises the format by the first bytes, or else by the file extension.
fn detect(head: &[u8], name: &str, lists: Lists) -> Result<Format, FormatError> {
    let ending = ending_of(name);
    let head = Head::new(without_mark(head).trim_ascii_start(), ending.as_deref());
    let found = match Format::of(&head) {
        _ if head.first == b'*' && look::is_statistics_of_slurm(head.text) => Err(look::SLURM.to_owned()),
        _ if head.text.is_empty() => Err(format!("the file is empty; {}", lists.wanted())),
        Ok(None) => look::list_or_toml(head.text, head.ending, lists),
        Ok(Some(format)) => Ok(format),
        Err(problem) => Err(problem),
    };
    found.map_err(|problem| FormatError::content(name, FilePlace::default(), problem))
}

#[cfg(test)]
mod tests;
