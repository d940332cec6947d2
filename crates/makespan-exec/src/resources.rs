//! Memory and GPUs of this machine, and checks that a platform does not state more.

use std::fs;
use std::path::Path;

use makespan_core::{Instance, Platform, ProcSet, Resource, ResourceId, ResourceKind, TaskId};

use crate::kernel_text::number_behind;
use crate::{ExecuteError, ExecuteOptions};

/// The environment variables that select GPUs for programs with CUDA and for programs with HIP. `ROCR_VISIBLE_DEVICES`
/// is not set, because HIP numbers only the GPUs that this variable selects, so HIP would select from this selection
/// again.
pub(crate) const VISIBLE: [&str; 2] = ["CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"];

/// The variable that hides GPUs from HIP. HIP numbers the visible GPUs from 0.
const BELOW_HIP: &str = "ROCR_VISIBLE_DEVICES";

/// Maximum number of GPUs of a platform.
const MAX_GPUS: u128 = 4096;

/// Returns the memory in bytes that this process and its children may use: the memory of the machine, or the limit of
/// a control group. Returns `None` if the system does not report its memory.
pub fn memory() -> Option<u64> {
    let there = total(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    Some(limits(&own, Path::new("/sys/fs/cgroup")).into_iter().fold(there, u64::min))
}

/// Returns the kernel's estimate of the memory in bytes that new processes can use without swapping.
pub(crate) fn free_memory() -> Option<u64> {
    kilobytes_of("MemAvailable:", &fs::read_to_string("/proc/meminfo").ok()?)
}

/// Returns the number of processes that the kernel has killed for lack of memory since boot (Linux 4.13).
pub(crate) fn memory_kills() -> Option<u64> {
    number_behind("oom_kill", &fs::read_to_string("/proc/vmstat").ok()?)
}

/// Returns `MemTotal` of `/proc/meminfo` in bytes.
fn total(text: &str) -> Option<u64> {
    kilobytes_of("MemTotal:", text)
}

/// Returns an entry of `/proc/meminfo` in bytes.
fn kilobytes_of(name: &str, text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the memory limits of the control groups in `/proc/self/cgroup` and of the groups above them, for versions 1
/// and 2. Unreadable limits are omitted.
fn limits(own: &str, mounts: &Path) -> Vec<u64> {
    let files = own.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let (folder, name) = match controllers {
            "" => (mounts.to_owned(), "memory.max"),
            of if of.split(',').any(|one| one == "memory") => (mounts.join("memory"), "memory.limit_in_bytes"),
            _ => return None,
        };
        let above = Path::new(path.strip_prefix('/')?).ancestors();
        Some(above.map(|group| folder.join(group).join(name)).collect::<Vec<_>>())
    });
    files.flatten().filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok()).collect()
}

/// Returns the names of the GPUs that this process may use: the entries of `CUDA_VISIBLE_DEVICES` or
/// `HIP_VISIBLE_DEVICES`, or else the numbers of all GPUs that the kernel reports. Returns `None` if the number of
/// GPUs is unknown.
pub fn gpus() -> Option<Vec<String>> {
    if let Some(text) = VISIBLE.iter().find_map(|name| std::env::var(name).ok()) {
        return Some(visible(&text));
    }
    let below = std::env::var(BELOW_HIP).ok();
    crate::accelerators::present(below.map(|text| visible(&text).len()))
}

/// Returns the entries of `CUDA_VISIBLE_DEVICES` as CUDA reads them: an invalid entry hides all entries after it.
fn visible(text: &str) -> Vec<String> {
    let is_one = |entry: &&str| !matches!(*entry, "" | "NoDevFiles") && !entry.starts_with('-');
    let mut names: Vec<String> = Vec::new();
    for entry in text.split(',').map(str::trim).take_while(is_one) {
        if !names.iter().any(|name| name == entry) {
            names.push(entry.to_owned());
        }
    }
    names
}

/// Returns the memory in bytes that a task states for these processors on all nodes, or 0 if it states none.
pub fn stated_memory(instance: &Instance, task: TaskId, processors: &ProcSet) -> u64 {
    let Some(memory) = held(instance.platform(), Resource::MEMORY) else { return 0 };
    let allotment = processors.len();
    match instance.demands(task).iter().find(|demand| demand.resource == memory) {
        Some(_) if allotment == 0 => 0,
        Some(demand) if demand.kind == ResourceKind::OfNodes => {
            let parts = instance.platform().parts(processors).into_iter();
            parts.map(|(_, here)| demand.need.share(here, allotment)).sum()
        }
        Some(demand) => demand.need.total(allotment),
        None => 0,
    }
}

/// Returns the GPU resource of a platform, if the platform states one.
pub(crate) fn gpus_of(platform: &Platform) -> Option<ResourceId> {
    held(platform, Resource::GPUS)
}

/// Returns the resource with this name. Returns `None` for a consumable.
fn held(platform: &Platform, name: &str) -> Option<ResourceId> {
    platform.resource(name).filter(|&id| platform.resource_of(id).kind != ResourceKind::Consumable)
}

/// Returns an error if a platform states more memory or GPUs than this process may use. Ignores unknown amounts. If
/// the user allows oversubscription, accepts any amounts.
pub(crate) fn check(platform: &Platform, options: &ExecuteOptions) -> Result<(), ExecuteError> {
    let stated = |name: &str| held(platform, name).map_or(0, |id| platform.total(id));
    let gpus_stated = stated(Resource::GPUS);
    if gpus_stated > MAX_GPUS {
        return Err(ExecuteError::TooManyGpus { gpus: gpus_stated, most: MAX_GPUS });
    }
    if options.oversubscribe {
        return Ok(());
    }
    let memory_stated = stated(Resource::MEMORY);
    if memory_stated > 0
        && let Some(there) = memory().filter(|&there| memory_stated > u128::from(there))
    {
        return Err(too_little_memory(memory_stated, there));
    }
    match gpus().filter(|names| gpus_stated > names.len() as u128) {
        Some(names) => {
            let source = VISIBLE.into_iter().find(|name| std::env::var_os(name).is_some()).unwrap_or("the system");
            Err(ExecuteError::TooFewGpus { gpus: gpus_stated, there: names.len(), source_of: source })
        }
        None => Ok(()),
    }
}

fn too_little_memory(stated: u128, there: u64) -> ExecuteError {
    let memory = Resource { name: Resource::MEMORY.into(), kind: ResourceKind::OfNodes };
    let stated = memory.amount(u64::try_from(stated).unwrap_or(u64::MAX));
    // The amount is rounded, so that the user can copy it into the platform easily.
    ExecuteError::TooLittleMemory { stated, there: memory.amount(there >> 20 << 20) }
}

/// Returns messages for the user about a run of the instance on this machine.
///
/// ```
/// use makespan_core::{Instance, Platform};
///
/// let instance = Instance::new(Platform::flat(1)?, vec![], vec![])?;
/// assert!(makespan_exec::notes(&instance).is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn notes(instance: &Instance) -> Vec<String> {
    let platform = instance.platform();
    let stated = gpus_of(platform).map_or(0, |id| platform.total(id));
    if stated == 0 || gpus().is_some() {
        return Vec::new();
    }
    vec![format!(
        "the number of GPUs of this machine is unknown; the run assumes that the machine has the {stated} GPUs of the \
         platform, numbered from 0"
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_the_least_that_the_machine_or_a_group_allows() {
        assert_eq!(total("MemTotal:       24684084 kB\nMemFree: 1 kB\n"), Some(24_684_084 << 10));
        assert_eq!(total("MemFree: 1 kB\n"), None);
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("memory.max", "max\n");
        write("a/memory.max", "7000\n");
        write("a/b/memory.max", "9000\n");
        write("memory/x/memory.limit_in_bytes", "5000\n");
        let limits = |own: &str| limits(own, folder.path());
        assert_eq!(limits("0::/a/b\n"), [9000, 7000]);
        assert_eq!(limits("4:cpu,memory:/x/y\n3:cpuset:/\n0::/\n"), [5000]);
        assert_eq!((limits("0::/gone\n"), limits("nonsense")), (vec![], vec![]));
        assert!(memory().unwrap() > 0);
    }

    #[test]
    fn entries_are_read_as_cuda_does() {
        assert_eq!(visible("2, 0,GPU-8932f937,MIG-1"), ["2", "0", "GPU-8932f937", "MIG-1"]);
        assert_eq!(visible("1,-1,2"), ["1"]);
        assert!(visible("").is_empty() && visible("NoDevFiles").is_empty());
    }

    #[test]
    fn amounts_that_are_refused_say_what_fits() {
        let said = too_little_memory(1 << 50, (24 << 30) + 4096).to_string();
        assert!(said.contains("states 1024 TiB of memory") && said.contains("may use only 24 GiB"), "{said}");
    }
}
