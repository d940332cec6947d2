//! Projects with `cmake` are built twice by ninja and by Makespan. The script of the benchmark checks that ninja then finds nothing
//! to do, and that all objects, libraries and programs have the same bytes.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::cli::ninja::has_ninja;

/// Runs the script of the benchmark with these words in a folder.
fn built(words: &[&str], folder: &Path) {
    let is_there = |program: &&str| {
        let version = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    if let Some(missing) = ["cmake", "python3", "c++"].iter().find(|program| !is_there(program)) {
        eprintln!("SKIPPED: there is no {missing} on this machine; install cmake, python3 and g++");
        return;
    }
    if !has_ninja() {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/peers/ninja/run");
    let mut run = Command::new(script);
    run.args(["--programs", "ninja,makespan", "--jobs", "2", "--folder"]).arg(folder).args(words);
    let output = run.arg("--makespan").arg(assert_cmd::cargo_bin!("makespan")).output().unwrap();
    let (printed, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    eprint!("{said}");
    assert!(output.status.success() && printed.contains("| makespan |"), "{printed} {said}");
}

#[test]
fn a_cmake_project_has_the_same_bytes_as_with_ninja() {
    let folder = tempfile::tempdir().unwrap();
    built(&["--only", "generated", "--files", "10", "--slow", "1"], folder.path());
}

#[test]
#[ignore = "long: builds two CMake projects, one of them from a Debian source package"]
fn cmake_projects_have_the_same_bytes_as_with_ninja() {
    let folder = tempfile::tempdir().unwrap();
    built(&[], folder.path());
}
