//! Instances from files, with what the user should know about them.

use std::path::Path;

use makespan_core::{Instance, Link, Platform, Time, Unavailable};
use makespan_formats::{FormatError, ReadInstance, ReadOptions, parse_bandwidth, read_instance, read_platform};
use miette::{Result, miette};

use crate::args::{InstanceOptions, MachineOptions};

/// An instance and its remarks.
pub struct Loaded {
    pub instance: Instance,
    pub remarks: Vec<String>,
}

/// The machines that the options state.
pub struct Machines {
    pub processors: Option<u32>,
    pub platform: Option<Platform>,
    pub network: Option<Link>,
    pub storage: Option<String>,
    /// When they are not open.
    closed: Vec<Unavailable>,
}

impl Machines {
    pub fn of(options: &MachineOptions) -> Result<Self> {
        let stated = options.platform.as_deref().map(machines).transpose()?;
        let (platform, closed) = stated.map_or((None, Vec::new()), |(platform, closed)| (Some(platform), closed));
        let bandwidth = options.bandwidth.as_deref().map(parse_bandwidth).transpose();
        let bandwidth = bandwidth.map_err(|problem| miette!("--bandwidth: {problem}"))?;
        let network = bandwidth.map(|bandwidth| Link { bandwidth, latency: Time::ZERO });
        Ok(Self { processors: options.processors, platform, network, storage: options.stage_in.clone(), closed })
    }

    /// The instance, which has these machines already, with the times when they are not open.
    pub fn closing(self, instance: Instance) -> Result<Instance> {
        if self.closed.is_empty() {
            return Ok(instance);
        }
        let (platform, jobs) = (instance.platform().clone(), instance.all_submitted());
        Instance::new(platform, jobs, self.closed).map_err(|error| miette!("{error}"))
    }
}

/// Reads the instance that the options name.
pub fn load(options: &InstanceOptions) -> Result<Loaded> {
    let InstanceOptions { speedup, speedup_seed, strict, .. } = *options;
    let machines = Machines::of(&options.machines)?;
    let read = ReadOptions {
        processors: machines.processors,
        platform: machines.platform.clone(),
        network: machines.network,
        storage: machines.storage.clone(),
        speedup,
        seed: speedup_seed,
        strict,
        ..ReadOptions::default()
    };
    let Loaded { instance, remarks } = from_file(read_instance(&options.instance, &read))?;
    Ok(Loaded { instance: machines.closing(instance)?, remarks })
}

/// `16x8`, or a file: the machines, with the times when they are not open.
fn machines(path: &Path) -> Result<(Platform, Vec<Unavailable>)> {
    let text = path.to_string_lossy();
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    if let Some((nodes, each)) = text.split_once('x').and_then(|(nodes, each)| number(nodes).zip(number(each))) {
        let platform = Platform::cluster(nodes, each).map_err(|error| miette!("--platform {text}: {error}"))?;
        return Ok((platform, Vec::new()));
    }
    if !path.exists() {
        let remedy = match text.trim_start_matches(['+', '-']) {
            digits if number(digits).is_some() => format!("it is a number; write --processors {digits} for as many"),
            _ => "there is no such file; write --processors for a number of them".to_owned(),
        };
        return Err(miette!(
            "--platform {text}: {remedy}, nodes and processors such as 16x8, or name a file with a platform, native or of SimGrid"
        ));
    }
    let machines = read_platform(path).map_err(|error| miette!("{error}"))?;
    Ok((machines.platform().clone(), machines.unavailable().to_vec()))
}

/// Reads a native instance for `run`.
pub fn load_plain(path: &std::path::Path) -> Result<Loaded> {
    from_file(read_instance(path, &ReadOptions::default()))
}

fn from_file(read: Result<ReadInstance, FormatError>) -> Result<Loaded> {
    let ReadInstance { instance, mut remarks, .. } = read.map_err(|error| miette!("{error}"))?;
    remarks.extend(instance.notes().iter().map(|note| note.describe(&instance)));
    Ok(Loaded { instance, remarks })
}
