//! Where the history is.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The file that `MAKESPAN_HISTORY` names; else `makespan/history.sqlite` in the folder for data of the XDG base directory
/// specification: `XDG_DATA_HOME`, or `~/.local/share`. `None` where there is neither a variable nor a home.
pub fn default_path() -> Option<PathBuf> {
    path_from(&|name| env::var_os(name))
}

fn path_from(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(file) = set("MAKESPAN_HISTORY") {
        return Some(file);
    }
    // The specification: a path that is not absolute is ignored.
    let absolute = |name: &str| set(name).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")))?;
    Some(data.join(Path::new("makespan/history.sqlite")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_says_something_counts() {
        let check = |variables: &[(&str, &str)], path: Option<&str>| {
            let value = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            assert_eq!(path_from(&value), path.map(PathBuf::from), "{variables:?}");
        };
        check(&[], None);
        check(&[("HOME", "/home/a")], Some("/home/a/.local/share/makespan/history.sqlite"));
        check(&[("HOME", "/home/a"), ("XDG_DATA_HOME", "/data")], Some("/data/makespan/history.sqlite"));
        check(&[("HOME", "/home/a"), ("XDG_DATA_HOME", "data")], Some("/home/a/.local/share/makespan/history.sqlite"));
        check(&[("HOME", "/home/a"), ("MAKESPAN_HISTORY", "h.db")], Some("h.db"));
        check(&[("HOME", ""), ("MAKESPAN_HISTORY", "")], None);
    }
}
