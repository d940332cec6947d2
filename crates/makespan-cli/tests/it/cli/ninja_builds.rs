//! Random builds of ninja, and builds that are killed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::cli::ninja::{Builds, has_ninja, rounds};

/// Rules of random builds. Each command writes its name to `log`.
const RULES: &str = "\
pool p
  depth = 2
rule cat
  command = echo $out >> log; cat $in $also > $out # $v
rule first
  command = echo $out >> log; head -n2 $in > $out.n; cmp -s $out.n $out || cp $out.n $out; rm $out.n # $v
  restat = 1
rule deps
  command = echo $out >> log; cat $in $also > $out; echo $out: $in $also > $out.d # $v
  depfile = $out.d
  deps = gcc
rule depfile
  command = echo $out >> log; cat $in $also > $out; echo $out: $in $also > $out.d # $v
  depfile = $out.d
  pool = p
rule rsp
  command = echo $out >> log; xargs cat < $out.r > $out # $v
  rspfile = $out.r
  rspfile_content = $in
build always: phony
";

/// Returns a random build with sources `s0` to `s4`.
fn random_build(random: &mut ChaCha8Rng, changed: &str) -> String {
    let mut text = RULES.replace("$v", changed);
    let mut files: Vec<String> = (0..5).map(|number| format!("s{number}")).collect();
    for number in 0..random.random_range(3..14) {
        let mut input = || files[random.random_range(0..files.len())].clone();
        let (one, two, also, order) = (input(), input(), input(), input());
        let output = format!("o{number}");
        let rule = ["cat", "first", "deps", "depfile", "rsp", "phony"][random.random_range(0..6)];
        let twice = if one == two || rule == "first" || rule == "phony" { String::new() } else { format!(" {two}") };
        let is_dependency = random.random_bool(0.5);
        // A file that a command reads is a dependency, or its own edge ends earlier.
        let kind = if is_dependency || rule == "cat" { "|" } else { "||" };
        let also = if rule == "phony" { one.clone() } else { also };
        let always = if rule == "first" && random.random_bool(0.3) { " always" } else { "" };
        let _ = writeln!(text, "build {output}: {rule} {one}{twice} {kind} {also}{always} || {order}\n  also = {also}");
        if kind == "||" {
            text = text.replace(&format!("|| {also}{always} || {order}"), &format!("|| {also} {order}"));
        }
        // The content of a phony output is not defined.
        if rule != "phony" {
            files.push(output);
        }
    }
    text
}

fn random_rounds(ninja: Option<&Path>, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let builds = Builds::new(ninja);
    let text = random_build(&mut random, "v");
    builds.folders.iter().for_each(|folder| fs::write(folder.join("build.ninja"), &text).unwrap());
    builds.edit("for n in 0 1 2 3 4; do echo $n > s$n; done");
    builds.both("", &[]);
    for _ in 0..4 {
        let (source, output) = (random.random_range(0..5), random.random_range(0..8));
        let script = match random.random_range(0..6) {
            0 => format!("echo new >> s{source}"),
            1 => format!("echo new > s{source}"),
            2 => format!("touch s{source} s0"),
            3 => format!("rm -f o{output}; echo more >> s{source}"),
            4 => "rm -f .ninja_deps".to_owned(),
            _ => format!("sed -i 's/# v/# w{source}/; 0,/# v/s//# x/' build.ninja"),
        };
        builds.edit(&script);
        builds.both("", &[]);
    }
}

#[test]
fn a_random_build_is_run_as_ninja_runs_it() {
    if has_ninja() {
        random_rounds(None, 1);
    }
}

/// Installs ninja 1.13 with pip. Returns the folder with the program.
fn newer_ninja(folder: &Path) -> Option<PathBuf> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--target"]).arg(folder).arg("ninja==1.13.0");
    let is_installed = pip.status().is_ok_and(|status| status.success()) && folder.join("bin/ninja").exists();
    if !is_installed {
        eprintln!("SKIPPED: pip cannot install ninja 1.13");
    }
    is_installed.then(|| folder.join("bin"))
}

#[test]
#[ignore = "long: ninja 1.13 from PyPI, and many runs"]
fn builds_are_run_as_ninja_runs_them() {
    if !has_ninja() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let newer = newer_ninja(folder.path());
    if let Some(newer) = &newer {
        rounds(Some(newer));
    }
    for seed in 2..22 {
        random_rounds(None, seed);
        if let Some(newer) = &newer {
            random_rounds(Some(newer), seed);
        }
    }
}

/// Build with files that are written slowly.
const SLOW: &str = "\
rule slow
  command = for n in 1 2 3 4 5 6; do cat $in; echo $n; sleep 0.01; done > $out; echo $out: $in > $out.d
  depfile = $out.d
  deps = gcc
build a: slow s
build b: slow s
build c: slow a
build d: slow a b
build e: slow c d
";

/// Ends a session by SIGKILL after `milliseconds`. With `jobs`, also ends all jobs at this instant, as a power cut
/// does. Otherwise, waits until the jobs have ended.
fn killed(builds: &Builds, milliseconds: u64, jobs: bool) {
    let mut session = builds.command("--folder by-makespan/run").spawn().unwrap();
    std::thread::sleep(Duration::from_millis(milliseconds));
    session.kill().unwrap();
    session.wait().unwrap();
    loop {
        let open = processes(&builds.folders[1]);
        if open.is_empty() {
            return;
        }
        if jobs {
            for process in open {
                // The process may have ended.
                let _ = kill(process, Signal::SIGKILL);
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the processes that run commands in a folder.
fn processes(folder: &Path) -> Vec<Pid> {
    let folder = folder.to_string_lossy().into_owned();
    let is_job = |process: &PathBuf| {
        let line = fs::read(process.join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        let is_within = fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.to_string_lossy() == folder);
        is_within || line.contains("ninja-job") && line.contains(&folder)
    };
    let all = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let number = |process: PathBuf| process.file_name()?.to_str()?.parse().ok().map(Pid::from_raw);
    all.filter(|process| is_job(process)).filter_map(number).collect()
}

/// Ninja reads the depfiles of all edges that it would run, also in a dry run.
#[test]
fn an_incomplete_depfile_of_a_killed_command_does_no_harm() {
    if !has_ninja() {
        return;
    }
    let builds = Builds::new(None);
    let rule = "rule cc\n  command = echo $out >> log; cp $in $out; echo $out: $in > $out.d\n  depfile = $out.d\n  deps = gcc\n";
    let edges = "build a: cc s\nbuild b: cc s\nbuild c: cc s\n";
    builds.edit(&format!("printf '%s' '{rule}{edges}' > build.ninja; echo s > s"));
    builds.edit("printf a > a.d; printf b > b.d");
    builds.both("", &[]);
    builds.edit("printf c > c.d; rm c");
    builds.both("", &[]);
}

/// Kills builds at several instants. Afterwards, ninja or a resumed run completes the files.
fn kill_rounds(instants: impl Iterator<Item = u64>) {
    for (round, instant) in instants.enumerate() {
        let builds = Builds::new(None);
        builds.folders.iter().for_each(|folder| fs::write(folder.join("build.ninja"), SLOW).unwrap());
        builds.edit("echo s > s");
        if round % 2 == 1 {
            // Missing outputs have entries in the log that look up to date.
            assert!(builds.ninja(&builds.folders[1], &[]).status.success());
            builds.edit("rm -f a b d");
        }
        killed(&builds, instant, round % 3 != 2);
        if round % 3 == 1 {
            let output = builds.command("--folder by-makespan/run --resume").output().unwrap();
            assert!(output.status.success(), "{instant} ms: {output:?}");
            builds.has_nothing_to_do(&[]);
        } else {
            let output = builds.ninja(&builds.folders[1], &[]);
            assert!(output.status.success(), "{instant} ms: {output:?}");
        }
        assert!(builds.ninja(&builds.folders[0], &[]).status.success());
        for name in ["a", "b", "c", "d", "e"] {
            let [expected, found] =
                builds.folders.each_ref().map(|folder| fs::read_to_string(folder.join(name)).unwrap());
            assert_eq!(found, expected, "{name} after {instant} ms");
        }
    }
}

#[test]
fn a_build_that_is_killed_is_completed() {
    if has_ninja() {
        kill_rounds([350, 500].into_iter());
    }
}

#[test]
#[ignore = "long: kills many builds"]
fn builds_that_are_killed_at_any_time_are_completed() {
    if has_ninja() {
        kill_rounds((0..60).map(|round| 20 * round));
    }
}
