//! Where the history is.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// The file that `MAKESPAN_HISTORY` names; else `makespan/history.sqlite` in the folder for data ([`data_folder`]). `None` where
/// there is neither a variable nor a home.
pub fn default_path() -> Option<PathBuf> {
    path_from(&|name| env::var_os(name))
}

/// The user's folder for data, by the XDG base directory specification: `XDG_DATA_HOME`, or `~/.local/share`. `None` where there
/// is neither a variable nor a home.
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
    // The specification: a path that is not absolute is ignored.
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
