//! The questions of a run to ninja are counted, and the commands of a build are printed and reach the shell unchanged.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::cli::ninja::{Builds, has_ninja};

/// Writes a program `ninja` that lists its arguments in the file `questions`, and calls the installed ninja. A dry run during
/// a build takes at least `seconds`.
fn listing_ninja(folder: &Path, seconds: f64) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed =
        std::env::split_paths(&path).map(|folder| folder.join("ninja")).find(|file| file.is_file()).unwrap();
    let questions = folder.join("questions");
    let (questions, installed) = (questions.display(), installed.display());
    let waits = format!("case \"$*\" in *keeprsp*) sleep {seconds};; esac");
    let text = format!("#!/bin/sh\necho \"$@\" >> {questions}\n{waits}\nexec {installed} \"$@\"\n");
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
    listing_ninja(folder.path(), 0.0);
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
fn many_unchanged_outputs_need_few_questions() {
    if !has_ninja() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    listing_ninja(folder.path(), 0.2);
    let builds = Builds::new(Some(folder.path()));
    let rule =
        RULES.replace("> n; cmp -s n $out || cp n $out; rm n", "> n$out; cmp -s n$out $out || cp n$out $out; rm n$out");
    // Each fourth command depends on the second line too, so its output changes.
    let rule = format!("{rule}rule all\n  command = echo $out >> log; cat s > $out\n  restat = 1\n");
    let pair = |number: usize| {
        let first = if number % 4 == 3 { "all" } else { "first" };
        format!("build a{number}: {first} s\nbuild b{number}: cat a{number}\nbuild c{number}: cat b{number}\n")
    };
    let edges: String = (0..60).map(pair).collect();
    builds.edit(&format!("cat > build.ninja <<'END'\n{rule}{edges}END\nprintf '1\\n2\\n' > s"));
    builds.both("", &[]);
    assert_eq!(questions(folder.path(), "keeprsp"), 0);
    builds.edit("echo 3 >> s");
    let said = builds.both("", &[]);
    let asked = questions(folder.path(), "keeprsp");
    assert!((1..20).contains(&asked), "{asked} questions");
    assert!(said.err.contains("181 of 181 jobs succeeded; 90 without a run"), "{said:?}");
}

/// A command that always runs makes other commands necessary only if its output changes, or is made in this run.
#[test]
fn a_command_that_always_runs_does_not_always_make_others_necessary() {
    if !has_ninja() {
        return;
    }
    let builds = Builds::new(None);
    let rules = RULES.replace("build g: first s\n", "");
    let edges = "build always: phony\nd = g\nbuild $d $d.2$:x | $\n    h: first s always\nbuild a: cat g\nbuild b: cat a h\n\
        build never: none | always\nbuild c: cat b | never\nbuild o: cat s\n";
    let none = "rule none\n  command = echo $out >> log\n  restat = 1\n";
    let rules = rules
        .replace("cp n $out; rm n", "{ cp n g; cp n h; cp n g.2:x; }; rm n")
        .replace("cmp -s n $out", "cmp -s n g");
    builds.edit(&format!("cat > build.ninja <<'END'\n{rules}{none}{edges}END\nprintf '1\\n2\\n' > s"));
    for script in [":", ":", "echo 3 >> s", "echo 4 > s", "rm b"] {
        builds.edit(script);
        builds.both("", &[]);
    }
    let log = std::fs::read_to_string(builds.folders[1].join("log")).unwrap();
    let count = |name: &str| log.lines().filter(|line| *line == name).count();
    assert_eq!((count("a"), count("never"), count("o")), (2, 5, 3), "{log}");
}

/// The dry run of a copy writes and removes no response file, because the job that needs it may run.
#[test]
fn a_dry_run_keeps_response_files_and_needs_no_folder_for_them() {
    if !has_ninja() {
        return;
    }
    let builds = Builds::new(None);
    let text = "rule make\n  command = mkdir -p tmp; touch $out\nrule r\n  command = cat $at $\n    > $out\n  rspfile = $\n    $at\n\
        \u{20} rspfile_content = $in\nbuild stamp: make\nbuild a: r s || stamp\n  at = tmp/a.r\nbuild b: r s || stamp\n  at = tmp/b.r\n";
    builds.edit(&format!("cat > build.ninja <<'END'\n{text}END\necho 1 > s"));
    builds.both("", &[]);
    builds.edit("touch s; echo in use > tmp/a.r");
    let dry = builds.command("--dry-run").output().unwrap();
    assert!(dry.status.success(), "{dry:?}");
    assert_eq!(std::fs::read_to_string(builds.folders[1].join("tmp/a.r")).unwrap(), "in use\n");
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

/// Texts in commands that are placeholders in other inputs of Makespan, or look like placeholders.
const BRACES: &str = "{processors} {gpus} {task} {literal:task} {literal:literal:gpus} {{processors}} {name} {cores} {} {1} {.} {#} {print} ${x}";

#[test]
fn placeholders_in_commands_of_a_build_reach_the_shell_unchanged() {
    if !has_ninja() {
        return;
    }
    let braces = BRACES.replace('$', "$$");
    let rule = format!(
        "rule cc\n  command = echo '{braces}' > $out; echo a b | awk '{{print $$2}}' >> $out; x=y; echo $${{x}} >> $out; cat $out.rsp >> $out\n  \
         rspfile = $out.rsp\n  rspfile_content = {braces}\n"
    );
    let builds = Builds::new(None);
    builds.edit(&format!(
        "cat > build.ninja <<'END'\n{rule}build a: cc s\nbuild {{processors}}/{{gpus}}: cc s\nEND\n: > s"
    ));
    let dry = builds.command("--dry-run").output().unwrap();
    let dry = String::from_utf8_lossy(&dry.stdout).into_owned();
    assert_eq!(dry.matches(&format!("echo '{BRACES}'")).count(), 2, "{dry}");
    builds.both("", &[]);
    let made = fs::read_to_string(builds.folders[1].join("{processors}/{gpus}")).unwrap();
    assert_eq!(made, format!("{BRACES}\nb\ny\n{BRACES}"));
}
