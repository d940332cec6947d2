//! Reads instances from files or standard input, with notes for the user.

use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use makespan_core::{Instance, Link, Payload, Platform, Time, Unavailable, bytes_of_text};
use makespan_formats::{
    Format, FormatError, Lists, NextflowTrace, ReadInstance, ReadMachines, ReadOptions, Replay, ReplayOptions,
    parse_bandwidth, parse_instance, parse_replay, read_instance, read_machines, read_replay, states_shell,
};
use miette::{Result, miette};

use crate::args::{InstanceOptions, MachineOptions, STANDARD_INPUT, SourceOptions};
use crate::loaded::LoadedInstance;
use crate::{cluster, machine, makefile, ninja, present, snakefile};

/// The machines that the command-line options state.
pub struct StatedMachines {
    pub processors: Option<u32>,
    pub platform: Option<Platform>,
    pub network: Option<Link>,
    pub storage: Option<String>,
    /// True if the platform was read from a cluster. Such a platform has no rules for the placement of jobs.
    pub is_cluster: bool,
    /// Notes for the user about these machines.
    pub remarks: Vec<String>,
    /// Number of floating-point operations per unit of work, if the platform states speeds in operations per second.
    pub unit_flops: Option<f64>,
    /// Reason why the network in a platform file was ignored. The text begins with the file name.
    lost_network: Option<String>,
    /// Periods in which some processors are unavailable.
    closed: Vec<Unavailable>,
}

impl StatedMachines {
    /// Reads the machines that the options specify. If `strict` is true, returns an error if a part of a file would be
    /// ignored.
    pub fn of(options: &MachineOptions, strict: bool) -> Result<Self> {
        let stated = options.platform.as_deref().map(|path| machines(path, strict)).transpose()?;
        let (unit_flops, mut remarks, lost_network) = stated.as_ref().map_or((None, Vec::new(), None), |read| {
            let name = |remark: &String| {
                format!("{}: {remark}", options.platform.as_deref().unwrap_or(Path::new("")).display())
            };
            (read.unit_flops, read.remarks.iter().map(name).collect(), read.lost_network.clone())
        });
        let closed = stated.as_ref().map_or_else(Vec::new, |read| read.instance.unavailable().to_vec());
        let mut platform = stated.map(|read| read.instance.platform().clone());
        if let Some(from) = &options.from {
            let read = cluster::machines(from)?;
            (platform, remarks) = (Some(read.platform), [remarks, read.remarks].concat());
        }
        let bandwidth = options.bandwidth.as_deref().map(parse_bandwidth).transpose();
        let bandwidth = bandwidth.map_err(|problem| miette!("--bandwidth: {problem}"))?;
        let network = bandwidth.map(|bandwidth| Link { bandwidth, latency: Time::ZERO });
        let storage = options.stage_in.clone();
        let is_cluster = options.from.is_some();
        let processors = options.processors;
        Ok(Self { processors, platform, network, storage, is_cluster, remarks, unit_flops, lost_network, closed })
    }

    /// Adds the closed periods and the notes of these machines to an instance that was read with these machines.
    fn loaded(mut self, loaded: LoadedInstance) -> Result<LoadedInstance> {
        let remarks = [std::mem::take(&mut self.remarks), loaded.remarks].concat();
        Ok(LoadedInstance { instance: self.closing(loaded.instance)?, remarks, ..loaded })
    }

    /// Returns these machines, or the machines of `cluster` if the options state none.
    #[must_use]
    pub fn or(mut self, cluster: Option<&Platform>) -> Self {
        if self.processors.is_none() && self.platform.is_none() {
            self.is_cluster = cluster.is_some();
            self.platform = cluster.cloned();
        }
        self
    }

    /// Returns the stated platform, or this machine with the stated number of processors.
    pub fn machine(&self) -> Result<Platform> {
        let (platform, processors) = (self.platform.clone(), self.processors);
        machine_of(&ReadOptions { platform, processors, ..ReadOptions::default() })
    }

    /// Adds the closed periods to an instance that already has these machines.
    pub fn closing(self, instance: Instance) -> Result<Instance> {
        if let Some(why) = self.lost_network.as_ref().filter(|_| sends_data(&instance)) {
            return Err(miette!(
                "{why}; the jobs send data, but the network of this platform is not a supported tree; state the nodes \
                 in a native file with `bandwidth`, or remove the data"
            ));
        }
        if self.closed.is_empty() {
            return Ok(instance);
        }
        let (platform, jobs) = (instance.platform().clone(), instance.all_submitted());
        Instance::new(platform, jobs, self.closed).map_err(|error| miette!("{error}"))
    }
}

/// Returns true if any task sends data to another task or has input data.
fn sends_data(instance: &Instance) -> bool {
    let sent = instance.edges().iter().any(|edge| matches!(edge.payload, Payload::Bytes(bytes) if bytes > 0));
    sent || instance.jobs().iter().any(|job| instance.task(job.first()).data.is_some_and(|bytes| bytes > 0))
}

/// Reads the instance that the options name.
pub fn load(options: &InstanceOptions) -> Result<LoadedInstance> {
    load_file(options, options.path(), Lists::Detected)
}

/// Reads the instance at `path`, with the given options.
pub fn load_file(options: &InstanceOptions, path: &Path, lists: Lists) -> Result<LoadedInstance> {
    let InstanceOptions { speedup, speedup_seed, strict, .. } = *options;
    if let Some(from) = present::meant(path, &options.machines)? {
        if speedup.is_some() || options.nextflow_trace.is_some() {
            return Err(miette!("{from} is the queue of a cluster; remove --speedup and --nextflow-trace"));
        }
        return present::waiting(&from);
    }
    let machines = StatedMachines::of(&options.machines, strict)?;
    let read = ReadOptions {
        processors: machines.processors,
        platform: machines.platform.clone(),
        unit_flops: machines.unit_flops,
        network: machines.network,
        storage: machines.storage.clone(),
        keeps_placement: machines.is_cluster,
        trace: options.nextflow_trace.as_deref().map(trace_of).transpose()?,
        speedup,
        seed: speedup_seed,
        strict,
        machine: Some(machine::platform()?),
        lists,
        ..ReadOptions::default()
    };
    let Some(found) = instance_at(path, &[], &read)? else {
        return Err(miette!("{}: there is nothing to do: every target is up to date", path.display()));
    };
    machines.loaded(from_file(found)?)
}

/// Reads a trace of Nextflow.
fn trace_of(path: &Path) -> Result<NextflowTrace> {
    Ok(NextflowTrace { file: path.display().to_string(), text: text_of(path)? })
}

/// Reads a text file.
fn text_of(path: &Path) -> Result<String> {
    const MOST: u64 = 1 << 30;
    let name = path.display();
    let size = path.metadata().map_err(|error| miette!("{name}: cannot open: {error}"))?.len();
    if size > MOST {
        return Err(miette!("{name}: the content is larger than the limit of {MOST} bytes"));
    }
    let bytes = std::fs::read(path).map_err(|error| miette!("{name}: cannot read: {error}"))?;
    String::from_utf8(bytes).map_err(|_| miette!("{name}: the text is not UTF-8"))
}

/// Reads machines from a text such as `16x8` or from a file.
fn machines(path: &Path, strict: bool) -> Result<ReadMachines> {
    let text = path.to_string_lossy();
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    if let Some((nodes, each)) = text.split_once('x').and_then(|(nodes, each)| number(nodes).zip(number(each))) {
        let platform = Platform::cluster(nodes, each).map_err(|error| miette!("--platform {text}: {error}"))?;
        let instance = Instance::new(platform, Vec::new(), Vec::new());
        let instance = instance.map_err(|error| miette!("--platform {text}: {error}"))?;
        return Ok(ReadMachines { instance, remarks: Vec::new(), lost_network: None, unit_flops: None });
    }
    if !path.exists() {
        let remedy = match text.trim_start_matches(['+', '-']) {
            digits if number(digits).is_some() && digits != text => format!(
                "this is a difference, which only --scenario 'nodes={text}' or 'processors={text}' of `simulate` \
                 accepts; write --processors {digits} for a total of {digits} processors"
            ),
            digits if number(digits).is_some() => {
                format!("this is a number; write --processors {digits} for this number of processors")
            }
            _ => "there is no such file; write --processors for a number of processors".to_owned(),
        };
        return Err(miette!(
            "--platform {text}: {remedy}, nodes and processors such as 16x8, or name a file with a platform, native or of SimGrid"
        ));
    }
    read_machines(path, strict).map_err(|error| miette!("{error}"))
}

/// Reads an instance for `run`. Returns `None` for a makefile or a build of ninja if all targets are up to date. Machines come from the
/// options, otherwise from `cluster`, otherwise from the file, otherwise from this computer. `goals` are the goal of a
/// makefile or the targets of ninja. The names of a list's jobs contain numbers of at least `digits` digits.
pub fn load_to_run(
    path: &Path,
    goals: &[String],
    options: &SourceOptions,
    cluster: Option<&Platform>,
    digits: Option<usize>,
) -> Result<Option<LoadedInstance>> {
    let strict = options.strict;
    let machines = StatedMachines::of(&options.machines, strict)?.or(cluster);
    let read = ReadOptions {
        processors: machines.processors,
        platform: machines.platform.clone(),
        network: machines.network,
        storage: machines.storage.clone(),
        keeps_placement: machines.is_cluster,
        machine: Some(cluster.map_or_else(machine::platform, |cluster| Ok(cluster.clone()))?),
        workflows_on_machine: true,
        strict,
        lists: if options.format.is_some() { Lists::Stated } else { Lists::Detected },
        digits,
        shell: options.shell.clone(),
        ..ReadOptions::default()
    };
    let Some(found) = instance_at(path, goals, &read)? else { return Ok(None) };
    machines.loaded(from_file(found)?).map(Some)
}

/// Reads an instance from a file, or from standard input if the path is `-`.
fn instance_at(
    path: &Path,
    goals: &[String],
    options: &ReadOptions,
) -> Result<Option<Result<ReadInstance, FormatError>>> {
    if options.lists != Lists::Stated && makefile::is_makefile(path) {
        let found = makefile::read(path, goals.first().map(String::as_str), &machine_of(options)?, options.strict)?;
        return Ok(found.map(|(instance, remarks)| Ok(ReadInstance { instance, format: Format::List, remarks })));
    }
    if options.lists != Lists::Stated && ninja::is_ninja(path) {
        let instance = ninja::read(path, goals, &machine_of(options)?)?;
        return Ok(instance.map(|instance| Ok(ReadInstance { instance, format: Format::List, remarks: Vec::new() })));
    }
    if options.lists != Lists::Stated && snakefile::is_snakefile(path) {
        let instance = snakefile::read(path, &machine_of(options)?)?;
        return Ok(instance.map(|instance| Ok(ReadInstance { instance, format: Format::List, remarks: Vec::new() })));
    }
    if path.as_os_str() != STANDARD_INPUT {
        return Ok(Some(read_instance(path, options)));
    }
    let text = standard_input(options.max_bytes)?;
    // A text from a pipe that names its shell is treated as a list, because scripts are read from files.
    let is_list = options.lists == Lists::Detected && states_shell(&text);
    let lists = if is_list { Lists::Stated } else { options.lists };
    Ok(Some(parse_instance(&text, "standard input", &ReadOptions { lists, ..options.clone() })))
}

/// Returns the machine for an input without machines: the platform of the options, otherwise this computer with the
/// number of processors in the options.
pub fn machine_of(options: &ReadOptions) -> Result<Platform> {
    match (&options.platform, options.processors) {
        (Some(platform), _) => Ok(platform.clone()),
        (None, Some(processors)) => {
            let own = machine::platform()?;
            let resources = own.kinds().next().map(|(node, _)| node.resources.clone()).unwrap_or_default();
            let flat = Platform::flat(processors).and_then(|flat| flat.with_node_resources(&resources));
            flat.map_err(|error| miette!("--processors: {error}"))
        }
        (None, None) => machine::platform(),
    }
}

/// Reads a log from a file, or from standard input if the path is `-`.
pub fn replay_at(path: &Path, options: &ReplayOptions) -> Result<Replay> {
    if makefile::is_makefile(path) || snakefile::is_snakefile(path) || ninja::is_ninja(path) {
        let problem = "this file can only be planned and run; to simulate its jobs, convert the file to a native file \
                       first";
        return Err(miette!("{}: {problem}", path.display()));
    }
    let read = if path.as_os_str() == STANDARD_INPUT {
        parse_replay(&standard_input(options.max_bytes)?, "standard input", options)
    } else {
        read_replay(path, options)
    };
    read.map_err(|error| miette!("{error}"))
}

/// Text that was read from standard input too early. The next call of [`standard_input`] returns this text.
static READ_AHEAD: Mutex<Option<Vec<u8>>> = Mutex::new(None);

/// Lets the next call of [`standard_input`] return this text.
pub fn put_back(text: &str) {
    *READ_AHEAD.lock().unwrap_or_else(PoisonError::into_inner) = Some(bytes_of_text(text).into_owned());
}

/// Reads all of standard input.
pub fn standard_input(max_bytes: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match READ_AHEAD.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(read) => bytes = read,
        None => {
            let read = std::io::stdin().lock().take(max_bytes.saturating_add(1)).read_to_end(&mut bytes);
            read.map_err(|error| miette!("standard input: cannot read: {error}"))?;
        }
    }
    if bytes.len() as u64 > max_bytes {
        return Err(miette!("standard input: the content is larger than the limit of {max_bytes} bytes"));
    }
    Ok(bytes)
}

fn from_file(read: Result<ReadInstance, FormatError>) -> Result<LoadedInstance> {
    let ReadInstance { instance, mut remarks, format } = read.map_err(|error| miette!("{error}"))?;
    remarks.extend(instance.notes().iter().map(|note| note.describe(&instance)));
    Ok(LoadedInstance { instance, remarks, has_made_up_names: format == Format::List })
}
