//! Cores and programs of this machine.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use makespan_core::{ProcSet, bytes_of_text, replaced_placeholders};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::ExecuteError;

/// Returns the cores that this process may use, in ascending order.
///
/// # Errors
/// [`ExecuteError::Cores`] if the system does not report the cores.
pub fn cores() -> Result<Vec<usize>, ExecuteError> {
    let set = sched_getaffinity(Pid::from_raw(0)).map_err(|error| ExecuteError::Cores(error.into()))?;
    Ok((0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).collect())
}

/// Returns the name of this machine, or an empty text if it has no name.
pub fn host() -> String {
    nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok()).unwrap_or_default()
}

/// Returns the cores that correspond to processors of the plan.
pub(crate) fn cores_of(processors: &ProcSet, cores: &[usize]) -> Vec<usize> {
    let mut chosen: Vec<usize> = processors.iter().map(|id| cores[id as usize % cores.len()]).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// Pins the calling thread, and all processes that it starts later, to these cores.
pub(crate) fn pin_thread(cores: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &core in cores {
        set.set(core)?;
    }
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

/// Returns the program file that the first word of a command names. Searches as a shell does, but without built-in
/// commands.
///
/// # Errors
/// The reason why there is no such program.
pub fn program(name: &str) -> Result<PathBuf, String> {
    program_within(name, Path::new(""))
}

/// Returns the program file that the first word of a command names for a process in this folder.
pub(crate) fn program_within(name: &str, folder: &Path) -> Result<PathBuf, String> {
    let executable = |path: &Path| {
        path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        let path = folder.join(os_word(name));
        return match path.metadata() {
            Err(error) => Err(format!("cannot start `{name}`: {error}")),
            Ok(_) if executable(&path) => Ok(path),
            Ok(_) => Err(format!("cannot start `{name}`: it is not an executable file")),
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|path| folder.join(path).join(name)).find(|path| executable(path));
    // A relative path needs a slash. Otherwise the shim would search `PATH` again.
    let found = found.map(|path| if path.is_absolute() { path } else { Path::new(".").join(path) });
    found.filter(|_| !name.is_empty()).ok_or_else(|| format!("cannot start `{name}`: no program of this name on PATH"))
}

/// Replaces `{processors}` in all arguments of a command. If GPUs are stated, replaces `{gpus}` by the number of GPUs.
pub(crate) fn substituted(command: &[String], allotment: u32, gpus: Option<usize>) -> Vec<String> {
    let value = |name: &str| match name {
        "processors" => Some(allotment.to_string()),
        "gpus" => gpus.map(|gpus| gpus.to_string()),
        _ => None,
    };
    command.iter().map(|word| replaced_placeholders(word, value).into_owned()).collect()
}

/// Returns a word of a command as a string of the operating system. The string may contain bytes that are not UTF-8.
pub(crate) fn os_word(word: &str) -> OsString {
    OsString::from_vec(bytes_of_text(word).into_owned())
}

/// Returns the environment variables that state the number of processors of a task and, if the task is pinned, the
/// number of threads on this machine.
pub(crate) fn allotment_environment(
    allotment: u32,
    threads: Option<u32>,
) -> impl Iterator<Item = (&'static str, String)> {
    let names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"];
    let threads = threads.into_iter().flat_map(move |here| names.map(|name| (name, here.to_string())));
    std::iter::once(("MAKESPAN_PROCESSORS", allotment.to_string())).chain(threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_programs_as_a_shell_does() {
        assert!(program("sh").unwrap().is_absolute());
        assert!(program("no-such-program-at-all").unwrap_err().contains("PATH"));
        assert!(program("./no-such-file").unwrap_err().contains("No such file"));
        assert!(program("/").unwrap_err().contains("not an executable"));
        assert!(program("").is_err());
    }

    #[test]
    fn processors_wrap_around_when_cores_are_fewer() {
        assert_eq!(cores_of(&ProcSet::range(1, 3), &[4, 6]), [4, 6]);
        assert_eq!(cores_of(&ProcSet::range(3, 3), &[4, 6]), [6]);
        let command = ["-j{processors}".into(), "{gpus}".into()];
        assert_eq!(substituted(&command, 3, None), ["-j3", "{gpus}"]);
        assert_eq!(substituted(&command, 3, Some(2)), ["-j3", "2"]);
        assert_eq!(substituted(&["{literal:gpus}".into()], 3, Some(2)), ["{gpus}"]);
    }
}
