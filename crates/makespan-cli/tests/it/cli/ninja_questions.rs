//! The questions of a run to ninja are counted, and the commands of a build are printed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::cli::ninja::{Builds, has_ninja};

/// Writes a program `ninja` that lists its arguments in the file `questions`, and calls the installed ninja.
fn listing_ninja(folder: &Path) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed =
        std::env::split_paths(&path).map(|folder| folder.join("ninja")).find(|file| file.is_file()).unwrap();
    let questions = folder.join("questions");
    let text = format!("#!/bin/sh\necho \"$@\" >> {}\nexec {} \"$@\"\n", questions.display(), installed.display());
    let ninja = folder.join("ninja");
    fs::write(&ninja, text).unwrap();
    fs::set_permissions(&ninja, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Returns the number of questions that contain a word, and forgets all questions.
fn questions(folder: &Path, word: &str) -> usize {
    let text = fs::read_to_string(folder.join("questions")).unwrap_or_default();
    let _ = fs::remove_file(folder.join("questions"));
    text.lines().filter(|line| line.contains(word)).count()
}

/// Returns the rules of a build, with an edge `g` that changes its output only if the first line of `s` changes.
const RULES: &str = "rule first\n  command = echo $out >> log; head -n1 s > n; cmp -s n $out || cp n $out; rm n\n  restat = 1\n\
    rule cat\n  command = echo $out >> log; cat $in > $out\nbuild g: first s\n";

#[test]
fn commands_that_need_not_run_are_found_by_one_question() {
    if !has_ninja() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    listing_ninja(folder.path());
    let builds = Builds::new(Some(folder.path()));
    let chain = (0..20).map(|number| format!("build c{}: cat c{number}\n", number + 1));
    let wide = (0..20).map(|number| format!("build w{number}: cat g || c20\n"));
    let edges: String = std::iter::once("build c0: cat g\n".to_owned()).chain(chain).chain(wide).collect();
    let other = "build o: cat s\nbuild p: cat o g w3\n";
    builds.edit(&format!("cat > build.ninja <<'END'\n{RULES}{edges}{other}END\nprintf '1\\n2\\n' > s"));
    builds.both("", &[]);
    assert_eq!(questions(folder.path(), "makespan-builddir"), 1);
    builds.edit("echo 3 >> s");
    let said = builds.both("", &[]);
    assert_eq!(questions(folder.path(), "keeprsp"), 1);
    assert!(
        said.err.contains("44 of 44 jobs succeeded; 41 without a run, because their inputs did not change"),
        "{said:?}"
    );
    assert!(!said.err.contains("note:"), "{said:?}");
    builds.edit("echo 4 > s");
    let said = builds.both("", &[]);
    assert!(said.err.contains("44 of 44 jobs succeeded;") && !said.err.contains("without a run"), "{said:?}");
}

#[test]
fn the_commands_of_a_build_are_printed_as_ninja_runs_them() {
    if !has_ninja() {
        return;
    }
    let builds = Builds::new(None);
    builds.edit(&format!("printf '%s' '{RULES}' > build.ninja; echo 1 > s"));
    let line = "echo g >> log; head -n1 s > n; cmp -s n g || cp n g; rm n";
    let dry = builds.command("--dry-run").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&dry.stdout), format!("{line}  #: cores=1\n"), "{dry:?}");
    let log = builds.folders[0].join("jobs.log");
    assert!(builds.command(&format!("--joblog {}", log.display())).status().unwrap().success());
    let text = fs::read_to_string(log).unwrap();
    assert!(text.ends_with(&format!("\t{line}\n")), "{text}");
}
