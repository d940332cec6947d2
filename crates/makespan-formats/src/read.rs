//! Reads an instance file of any format, to plan or to replay.

mod options;
mod text;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

use makespan_core::{Instance, Link, Platform, Quantity};

use crate::batsim::{self, read_batsim};
use crate::error::{BOTH_STATED, FormatError, Place};
use crate::format::Format;
use crate::input::{Input, filled, open};
use crate::look::Lists;
use crate::replay::record::{Logged, planned};
use crate::replay::{Replay, ReplayOptions, given, replay};
use crate::sacct::{self, read_sacct};
use crate::swf::{self, Lines};
use crate::{StatedFiles, etc, instance, list, look, moldable_set, psplib, workflow};
pub use options::ReadOptions;
use text::{text, text_in_any_encoding};

/// What was read.
#[derive(Clone, Debug)]
pub struct ReadInstance {
    /// Machines and jobs.
    pub instance: Instance,
    /// How they were written.
    pub format: Format,
    /// What the user should know about the reading, such as skipped records.
    pub remarks: Vec<String>,
}

/// Reads an instance file, plain or compressed with gzip or bzip2; the format is known by its content first.
///
/// # Errors
/// [`FormatError`] names the file, the place, what is wrong and what would be right.
pub fn read_instance(path: &Path, options: &ReadOptions) -> Result<ReadInstance, FormatError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| FormatError::io(&name, "open", source))?;
    read_from(file, &name, options)
}

/// Reads an instance from the bytes of a file, as [`read_instance`] does.
///
/// # Errors
/// As [`read_instance`].
pub fn parse_instance(bytes: &[u8], file_name: &str, options: &ReadOptions) -> Result<ReadInstance, FormatError> {
    read_from(bytes, file_name, options)
}

/// The files that each task of a workflow reads and writes, by the name of the task, where the format states them for tasks that have commands:
/// `WfFormat` does.
///
/// # Errors
/// As [`read_instance`].
pub fn read_task_files(path: &Path) -> Result<Option<BTreeMap<String, StatedFiles>>, FormatError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| FormatError::io(&name, "open", source))?;
    let (mut input, format) = opened(file, &name, ReadOptions::default().max_bytes, Lists::Detected)?;
    if !format.is_workflow() {
        return Ok(None);
    }
    let text = text(&mut input, &name, format)?;
    workflow::files(&name, &text, format)
}

/// Reads a log or an instance for replay, plain or compressed with gzip or bzip2; the format is known by its content
/// first. In a native instance the jobs take as long as estimated.
///
/// # Errors
/// [`FormatError`] names the file, the place, what is wrong and what would be right.
pub fn read_replay(path: &Path, options: &ReplayOptions) -> Result<Replay, FormatError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| FormatError::io(&name, "open", source))?;
    read_replay_from(file, &name, options)
}

/// Reads a log from the bytes of a file, as [`read_replay`] does.
///
/// # Errors
/// As [`read_replay`].
pub fn parse_replay(bytes: &[u8], file_name: &str, options: &ReplayOptions) -> Result<Replay, FormatError> {
    read_replay_from(bytes, file_name, options)
}

fn read_from(raw: impl Read, name: &str, options: &ReadOptions) -> Result<ReadInstance, FormatError> {
    let (input, format) = opened(raw, name, options.max_bytes, options.lists)?;
    on_stated_machines(input, format, name, options)
}

/// The content of a file, and its format.
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
        let problem = blank(&mut input).map_err(unreadable)?;
        return Err(FormatError::content(name, Place::default(), problem));
    }
    let format = if lists == Lists::Stated { Format::List } else { detect(head, name, lists)? };
    Ok((input, format))
}

/// Where the search for the end of white space ends.
const MAX_BLANKS: usize = 16 << 20;

/// What is said of a file whose beginning is white space, as far as a look goes.
fn blank(input: &mut Input<'_>) -> io::Result<String> {
    let mut blanks = 0;
    while blanks < MAX_BLANKS {
        let seen = without_mark(filled(input)?);
        if seen.is_empty() {
            return Ok(format!("the file holds only white space ({blanks} bytes); {WANTED}"));
        }
        if !seen.trim_ascii().is_empty() {
            return Ok(format!("the file begins with more than {blanks} bytes of white space; remove them"));
        }
        let len = input.buffer().len();
        blanks += len;
        input.consume(len);
    }
    Ok(format!("the first {blanks} bytes of the file are only white space; {WANTED}"))
}

/// What should be in a file.
const WANTED: &str = "give a list of commands, a Makefile, an instance in JSON or TOML, a workflow, a project, an SWF log or an ETC matrix";

fn on_stated_machines(
    input: Input<'_>,
    format: Format,
    name: &str,
    options: &ReadOptions,
) -> Result<ReadInstance, FormatError> {
    let read = read_as_it_is(input, format, name, options)?;
    // These are read for the machines that are stated.
    let on_its_own = format.is_workflow() || format.is_log() || format == Format::List;
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
        let problem = format!("the jobs do not fit the platform that is stated: {error}");
        FormatError::content(name, Place::default(), problem)
    });
    Ok(ReadInstance { instance: moved?, ..read })
}

fn read_as_it_is(
    mut input: Input<'_>,
    format: Format,
    name: &str,
    options: &ReadOptions,
) -> Result<ReadInstance, FormatError> {
    if format.is_workflow() {
        return planned_workflow(input, format, name, options);
    }
    refuse_options_of_workflows(options.network, options.storage.as_deref(), format, name)?;
    if options.trace.is_some() {
        let problem = format!("a trace of Nextflow goes with its graph in DOT, and this file is {format}");
        return Err(FormatError::content(name, Place::default(), problem));
    }
    if format.is_log() {
        return planned_log(input, format, name, options);
    }
    if format == Format::List {
        refuse_options(options.speedup.map(|_| "a speed-up"), format, name)?;
        let text = text(&mut input, name, format)?;
        let platform =
            machine_of_list(options).map_err(|problem| FormatError::content(name, Place::default(), problem))?;
        return Ok(ReadInstance { instance: list::read_list(name, &text, &platform)?, format, remarks: Vec::new() });
    }
    if format == Format::Etc && options.speedup.is_none() {
        let how = etc::Options { machines: options.processors, strict: options.strict };
        let (instance, remarks) = etc::read_etc(name, &mut input, &how)?;
        return Ok(ReadInstance { instance, format, remarks });
    }
    if options.processors.is_some() {
        let problem = format!(
            "a number of processors is allowed only for files without machines (logs, workflows, lists of commands, ETC matrices); this file is \
             {format}; change its platform, or state another with --platform"
        );
        return Err(FormatError::content(name, Place::default(), problem));
    }
    // A file without machines is read for those that are stated: they may have what its jobs need and this machine does not.
    let machine = options.platform.as_ref().or(options.machine.as_ref());
    refuse_options(options.speedup.map(|_| "a speed-up"), format, name)?;
    if format.is_project() {
        let (text, remark) = text_in_any_encoding(&mut input, name, format, options.strict)?;
        let (instance, remarks) = psplib::read(name, &text, format, &workflow::job_name(name))?;
        return Ok(ReadInstance { instance, format, remarks: remark.into_iter().chain(remarks).collect() });
    }
    Ok(ReadInstance { instance: document(input, format, name, machine)?, format, remarks: Vec::new() })
}

/// Reads for replay, as [`read_replay`] does.
fn read_replay_from(raw: impl Read, name: &str, options: &ReplayOptions) -> Result<Replay, FormatError> {
    let (input, format) = opened(raw, name, options.max_bytes, Lists::Refused)?;
    if format.is_log() {
        refuse_options_of_workflows(options.network, options.storage.as_deref(), format, name)?;
        let Some((platform, flops, remark)) = relative(format, options.platform.as_ref(), options.unit_flops) else {
            return replay(name, format, logged(input, format, name, options.flops)?, options);
        };
        let scaled = ReplayOptions { platform: Some(platform), ..options.clone() };
        let mut found = replay(name, format, logged(input, format, name, flops)?, &scaled)?;
        found.remarks.extend(remark);
        return Ok(found);
    }
    refuse_options(options.speedup.map(|_| "a speed-up"), format, name)?;
    let reading = ReadOptions {
        processors: options.processors,
        platform: options.platform.clone(),
        network: options.network,
        storage: options.storage.clone(),
        strict: options.strict,
        machine: options.machine.clone(),
        max_bytes: options.max_bytes,
        ..ReadOptions::default()
    };
    let ReadInstance { instance, remarks, .. } = on_stated_machines(input, format, name, &reading)?;
    Ok(Replay { remarks, ..given(instance, format) })
}

/// Returns the platform with relative speeds for a workload of Batsim, and the number of operations a second at speed
/// 1.
fn relative(format: Format, platform: Option<&Platform>, unit: Option<f64>) -> Option<(Platform, f64, Option<String>)> {
    batsim::relative(platform.filter(|_| format == Format::Batsim)?, unit?)
}

/// Refuses what is stated for workflows only.
fn refuse_options_of_workflows(
    network: Option<Link>,
    storage: Option<&str>,
    format: Format,
    name: &str,
) -> Result<(), FormatError> {
    let stated = network.map(|_| "a bandwidth").or(storage.map(|_| "a node that holds files"));
    match stated {
        Some(option) => {
            let problem = format!("{option} is stated for reading workflows only, and this file is {format}");
            Err(FormatError::content(name, Place::default(), problem))
        }
        None => Ok(()),
    }
}

/// Reads the records of a log.
fn logged(mut input: Input<'_>, format: Format, name: &str, flops: f64) -> Result<Logged, FormatError> {
    match format {
        Format::Sacct => read_sacct(name, &mut input),
        Format::Batsim => {
            Quantity::SPEED.check(flops).map_err(|error| {
                let problem = format!("floating-point operations a second: {error}");
                FormatError::content(name, Place::default(), problem)
            })?;
            let mut bytes = Vec::new();
            input.read_to_end(&mut bytes).map_err(|source| FormatError::io(name, "read", source))?;
            read_batsim(name, without_mark(&bytes), flops)
        }
        _ => swf::records(name, &mut input, Lines::Short),
    }
}

/// Refuses what is stated for logs only.
fn refuse_options(stated: Option<&str>, format: Format, name: &str) -> Result<(), FormatError> {
    match stated {
        Some(option) => {
            let problem =
                format!("{option} is stated for reading logs only (SWF, Batsim, sacct), and this file is {format}");
            Err(FormatError::content(name, Place::default(), problem))
        }
        None => Ok(()),
    }
}

/// Reads an instance that is one document.
fn document(
    mut input: Input<'_>,
    format: Format,
    name: &str,
    machine: Option<&Platform>,
) -> Result<Instance, FormatError> {
    let text = text(&mut input, name, format)?;
    match format {
        Format::Json => instance::read_json(name, text.as_bytes(), machine),
        Format::MoldableSet => moldable_set::read_moldable_set(name, text.as_bytes()),
        _ => instance::read_toml(name, &text, machine),
    }
}

/// The machine of a list: that of the options, with as many processors as they state.
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
            Err("a list of commands says nothing of machines; state them: --processors N, or --platform FILE".into())
        }
    }
}

/// Graphs of tasks on the machines that the options state.
fn planned_workflow(
    mut input: Input<'_>,
    format: Format,
    name: &str,
    options: &ReadOptions,
) -> Result<ReadInstance, FormatError> {
    refuse_options(options.speedup.map(|_| "a speed-up"), format, name)?;
    let platform = machines(options).map_err(|problem| FormatError::content(name, Place::default(), problem))?;
    let (text, remark) = text_in_any_encoding(&mut input, name, format, options.strict)?;
    let storage = options.storage.as_deref();
    let trace = options.trace.as_ref();
    let options = workflow::Options { platform: platform.as_ref(), strict: options.strict, storage, trace };
    let (instance, remarks) = workflow::read(name, &text, format, &options)?;
    Ok(ReadInstance { instance, format, remarks: remark.into_iter().chain(remarks).collect() })
}

/// The machines that the options state for a workflow.
fn machines(options: &ReadOptions) -> Result<Option<Platform>, String> {
    let nodes = match (&options.platform, options.processors, options.network) {
        (Some(_), Some(_), _) => return Err(BOTH_STATED.into()),
        (Some(_), None, Some(_)) => {
            return Err("both a platform and a bandwidth are stated; state it in the platform".into());
        }
        (None, None, Some(_)) => return Err("a bandwidth is stated and no processors to join; state how many".into()),
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

/// A log as an instance to plan: the jobs take their run times.
fn planned_log(
    mut input: Input<'_>,
    format: Format,
    name: &str,
    options: &ReadOptions,
) -> Result<ReadInstance, FormatError> {
    let ReadOptions { speedup, seed, strict, .. } = *options;
    if options.platform.is_some() && options.processors.is_some() {
        return Err(FormatError::content(name, Place::default(), BOTH_STATED));
    }
    let scaled = relative(format, options.platform.as_ref(), options.unit_flops);
    let flops = scaled.as_ref().map_or(batsim::SPEED, |scaled| scaled.1);
    let log = match format {
        Format::Swf => swf::records(name, &mut input, Lines::Whole)?,
        _ => logged(input, format, name, flops)?,
    };
    let how = swf::Options { processors: options.processors, speedup, seed, strict };
    let platform = scaled.as_ref().map(|scaled| &scaled.0).or(options.platform.as_ref());
    let log = planned(name, log, &how, platform)?;
    let remark = scaled.as_ref().and_then(|scaled| scaled.2.clone());
    let remarks = log.report.remarks().chain(log.remarks).chain(remark).collect();
    Ok(ReadInstance { instance: log.instance, format, remarks })
}

/// Knows the format by the first bytes, or else by the ending of the name.
fn detect(head: &[u8], name: &str, lists: Lists) -> Result<Format, FormatError> {
    let text = without_mark(head).trim_ascii_start();
    let stem = [".gz", ".bz2"].iter().fold(name, |name, ending| name.strip_suffix(ending).unwrap_or(name));
    let ending = Path::new(stem).extension().map(|ending| ending.to_string_lossy().to_lowercase());
    if let Some(workflow) = workflow::detect(text, ending.as_deref()) {
        return Ok(workflow);
    }
    if let Some(project) = psplib::detect(text, ending.as_deref()) {
        return Ok(project);
    }
    match (text.first(), ending.as_deref()) {
        (None, _) => Err(FormatError::content(name, Place::default(), format!("the file is empty; {WANTED}"))),
        (Some(b'{'), ending) if ending != Some("json") && is_group(text) => Ok(Format::List),
        (Some(b'{'), _) if is_plan(text) => {
            let problem = "this is a plan, as `plan --output` writes it; give the instance that it plans (`makespan verify INSTANCE PLAN` \
                           checks a plan)";
            Err(FormatError::content(name, Place::default(), problem))
        }
        (Some(b'{'), _) if is_slurm_json(text) => {
            let problem = "this is JSON of Slurm (sacct --json, squeue --json), which is not read as a log; save what `sacct -a -X --parsable2` \
                           prints, or give a folder with saved outputs of the cluster (`makespan queue --from FOLDER`)";
            Err(FormatError::content(name, Place::default(), problem))
        }
        (Some(b'{'), _) => {
            let key = text[1..].trim_ascii_start().strip_prefix(b"\"").unwrap_or_default();
            let set = moldable_set::KEYS
                .iter()
                .any(|known| key.strip_prefix(known.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'"')));
            let workload = batsim::is_workload(text);
            Ok(match (set, workload) {
                (true, _) => Format::MoldableSet,
                (false, true) => Format::Batsim,
                (false, false) => Format::Json,
            })
        }
        (Some(b'*'), _) if look::is_statistics_of_slurm(text) => {
            Err(FormatError::content(name, Place::default(), look::SLURM))
        }
        (Some(b'*'), _) => {
            let problem = format!(
                "the text begins with a line of `*` like a project of PSPLIB, but has none of its headings; {WANTED}"
            );
            Err(FormatError::content(name, Place::default(), problem))
        }
        _ if sacct::is_dump(text) => Ok(Format::Sacct),
        (Some(b';'), _) | (_, Some("swf")) => Ok(Format::Swf),
        (Some(b'-' | b'0'..=b'9'), _) if is_row_of_numbers(text) => {
            let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
            Ok(if text[0] != b'-' && etc::is_matrix(first) { Format::Etc } else { Format::Swf })
        }
        (_, Some("etc")) => Ok(Format::Etc),
        (_, Some("json")) => Ok(Format::Json),
        (_, Some("toml")) => Ok(Format::Toml),
        (Some(_), ending) => look::list_or_toml(text, ending, lists)
            .map_err(|problem| FormatError::content(name, Place::default(), problem)),
    }
}

/// Returns whether a JSON text begins as Slurm's do, with the program that made it, or has jobs with Slurm's keys.
fn is_slurm_json(text: &[u8]) -> bool {
    let begin = &text[..text.len().min(2048)];
    let has = |word: &[u8]| begin.windows(word.len()).any(|window| window == word);
    (has(b"\"meta\"") && (has(b"openapi") || has(b"data_parser") || has(b"\"Slurm\"") || has(b"\"slurm\"")))
        || (has(b"\"jobs\"") && (has(b"\"allocation_nodes\"") || has(b"\"accrue_time\"")))
        // Programs that keep a part of each job keep the number of the job.
        || (look::has_key(begin, b"\"jobs\"") && look::has_key(begin, b"\"job_id\"") && !batsim::is_workload(text))
}

/// Whether a JSON text has the keys of a plan, and not those of an instance.
fn is_plan(text: &[u8]) -> bool {
    let has = |word: &[u8]| text.windows(word.len()).any(|window| window == word);
    let begins = text.iter().position(|&byte| byte == b'\n').map_or(text, |end| &text[..text.len().min(end + 200)]);
    let early = |word: &[u8]| begins.windows(word.len()).any(|window| window == word);
    early(b"\"algorithm\"")
        && (has(b"\"placements\"") || has(b"\"rates\"") || has(b"\"bounds\""))
        && !has(b"\"platform\"")
}

/// Returns whether the first line looks like a record of SWF. The line must begin with a number, or with several
/// numbers between commas. It must also have the length of a record, or its second word must be a number or missing. A
/// table that begins with job numbers is not a log.
fn is_row_of_numbers(text: &[u8]) -> bool {
    let is_number = |word: &[u8]| {
        let word = std::str::from_utf8(word);
        word.is_ok_and(|word| word.split(',').all(|part| part.is_empty() || part.parse::<f64>().is_ok()))
    };
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let long = words.clone().count() >= 12;
    words.next().is_some_and(is_number) && (long || words.next().is_none_or(is_number))
}

/// Whether a text begins with a group of the shell, `{ a; b; }`, and not with JSON.
fn is_group(text: &[u8]) -> bool {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
    let inner = line.strip_prefix(b"{ ").map(<[u8]>::trim_ascii_start);
    inner.is_some_and(|inner| inner.first().is_some_and(|&byte| !matches!(byte, b'"' | b'}')))
        && line.windows(3).any(|window| window == b"; }")
}

/// The byte order mark that some editors write.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Without the byte order mark.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).unwrap_or(bytes)
}

#[cfg(test)]
mod tests;
