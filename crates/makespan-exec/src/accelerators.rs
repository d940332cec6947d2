//! Detects the GPUs of this machine through the kernel, without a vendor's library.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::kernel_text::number_behind;

/// Returns the numbers by which programs select the GPUs of this machine, counted from 0. Looks for NVIDIA GPUs first,
/// then for AMD GPUs. Returns `None` if no GPU is found. `visible`, if given, replaces the detected number of AMD
/// GPUs.
pub(crate) fn present(visible: Option<usize>) -> Option<Vec<String>> {
    let amd = || visible.unwrap_or_else(|| amd(Path::new("/sys/class/kfd/kfd/topology/nodes")));
    let count = [nvidia(Path::new("/dev")), amd()].into_iter().find(|&count| count > 0).or_else(told_by_nvidia)?;
    Some((0..count).map(|number| number.to_string()).collect())
}

/// Counts the device files `nvidia0`, `nvidia1` and so on.
fn nvidia(dev: &Path) -> usize {
    let Ok(entries) = fs::read_dir(dev) else { return 0 };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| name.strip_prefix("nvidia").is_some_and(|number| number.parse::<u32>().is_ok())).count()
}

/// Counts the nodes of AMD's driver that are GPUs. Nodes without SIMD units are CPUs.
fn amd(nodes: &Path) -> usize {
    let Ok(entries) = fs::read_dir(nodes) else { return 0 };
    let properties = entries.filter_map(|entry| fs::read_to_string(entry.ok()?.path().join("properties")).ok());
    properties.filter(|text| number_behind("simd_count", text).is_some_and(|units| units > 0)).count()
}

/// Returns the number of GPUs that NVIDIA's own program lists, if the program is installed. Some virtual machines have
/// GPUs without device files. The program takes about a second, so the number is cached.
fn told_by_nvidia() -> Option<usize> {
    static TOLD: OnceLock<Option<usize>> = OnceLock::new();
    *TOLD.get_or_init(|| {
        crate::machine::program("nvidia-smi").ok()?;
        let mut command = Command::new("nvidia-smi");
        command.args(["--query-gpu=index", "--format=csv,noheader"]).stdin(Stdio::null()).stderr(Stdio::null());
        let output = command.output().ok().filter(|output| output.status.success())?;
        Some(counted(&String::from_utf8_lossy(&output.stdout))).filter(|&count| count > 0)
    })
}

/// Counts the lines that are numbers.
fn counted(text: &str) -> usize {
    text.lines().filter(|line| line.trim().parse::<u32>().is_ok()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_counted_by_what_the_kernel_shows() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for name in ["nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "null"] {
            write(name, "");
        }
        write("nodes/0/properties", "cpu_cores_count 16\nsimd_count 0\n");
        write("nodes/1/properties", "cpu_cores_count 0\nsimd_count 240\n");
        write("nodes/2/name", "");
        assert_eq!((nvidia(folder.path()), amd(&folder.path().join("nodes"))), (2, 1));
        assert_eq!((nvidia(Path::new("/none")), amd(Path::new("/none"))), (0, 0));
        assert_eq!(counted("0\n1\nNo devices were found\n"), 2);
    }
}
