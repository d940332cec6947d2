//! The program that is copied to hosts: the program of this process.

use std::fs;
use std::path::{Path, PathBuf};

use super::paths::hex;

/// The program of this process.
#[derive(Debug)]
pub(super) struct OwnProgram {
    pub path: PathBuf,
    /// File name on hosts, which contains the version and a hash.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// The oldest version of glibc with which the program starts. `None` if it needs no glibc.
    glibc: Option<(u32, u32)>,
}

impl OwnProgram {
    /// Reads the program of this process.
    ///
    /// # Errors
    /// The program cannot be read.
    pub fn find() -> Result<Self, String> {
        let path = Path::new("/proc/self/exe").to_owned();
        let bytes = fs::read(&path).map_err(|error| format!("cannot read the program of this process: {error}"))?;
        let name = format!("makespan-{}-{}", env!("CARGO_PKG_VERSION"), hex(&bytes));
        Ok(Self { path, name, size: bytes.len() as u64, glibc: newest_glibc(&bytes) })
    }

    /// Returns the reason why the program cannot run on a host with this machine name (`uname -m`) and this C library
    /// (`getconf GNU_LIBC_VERSION`, or an empty text).
    pub fn misfit(&self, machine: &str, library: &str) -> Option<String> {
        let own = std::env::consts::ARCH;
        let fits = match own {
            "x86_64" => machine == "x86_64",
            "aarch64" => matches!(machine, "aarch64" | "arm64"),
            // Other names of machines have many variants. A wrong program then fails when it starts.
            _ => true,
        };
        if !fits {
            return Some(format!(
                "its processor is {machine}, but this program is for {own}; start the run on a machine with {machine} \
                 processors, or leave the host out"
            ));
        }
        let (needed, there) = (self.glibc?, version(library.strip_prefix("glibc ")?)?);
        (there < needed).then(|| {
            format!(
                "its glibc {}.{} is too old, because this program needs {}.{}; build makespan on the oldest host, or \
                 for the target {own}-unknown-linux-musl",
                there.0, there.1, needed.0, needed.1
            )
        })
    }
}

/// Returns the highest version of glibc among the symbol versions in a program.
fn newest_glibc(program: &[u8]) -> Option<(u32, u32)> {
    const PREFIX: &[u8] = b"\0GLIBC_";
    let starts = program.windows(PREFIX.len()).enumerate().filter(|(_, window)| *window == PREFIX);
    let texts = starts.filter_map(|(at, _)| {
        let text: Vec<u8> =
            program[at + PREFIX.len()..].iter().take(12).copied().take_while(|&byte| byte != 0).collect();
        version(&String::from_utf8(text).ok()?)
    });
    texts.max()
}

fn version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim().split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfit_hosts_are_found_before_the_copy() {
        let bytes = b"x\0GLIBC_2.17\0GLIBC_2.34\0GLIBC_2.4\0GLIBC_PRIVATE\0";
        assert_eq!((newest_glibc(bytes), newest_glibc(b"static")), (Some((2, 34)), None));
        let program = OwnProgram { path: PathBuf::new(), name: String::new(), size: 0, glibc: Some((2, 34)) };
        let own = std::env::consts::ARCH;
        assert_eq!(program.misfit(own, "glibc 2.34"), None);
        assert_eq!(program.misfit(own, ""), None, "an unknown library is tried");
        assert!(program.misfit(own, "glibc 2.31").unwrap().contains("2.31 is too old"));
        if own == "x86_64" {
            assert!(program.misfit("aarch64", "glibc 2.36").unwrap().contains("aarch64"));
        }
        assert!(OwnProgram::find().unwrap().size > 1000);
    }
}
