//! Location of the history file.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// Returns the file that `MAKESPAN_HISTORY` names. Without this variable, returns `makespan/history.sqlite` in the
/// data folder ([`data_folder`]), or `None` if there is no data folder.
pub fn default_path() -> Option<PathBuf> {
    path_from(&|name| env::var_os(name))
}

/// Returns the user's data folder according to the XDG base directory specification: `XDG_DATA_HOME`, or `~/.local/share`.
/// Returns `None` if neither the variable nor a home folder is set.
pub fn data_folder() -> Option<PathBuf> {
    data_from(&|name| env::var_os(name))
}

fn set(variable: &dyn Fn(&str) -> Option<OsString>, name: &str) -> Option<PathBuf> {
    variable(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn path_from(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    set(variable, "MAKESPAN_HISTORY").or_else(|| Some(data_from(variable)?.join("makespan/history.sqlite")))
}

fn data_from(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // According to the specification, a path that is not absolute is ignored.
    let absolute = |name: &str| set(variable, name).filter(|path| path.is_absolute());
    absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")))
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
