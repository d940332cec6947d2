//! Builds of ninja are run by `ninja` and by `makespan run`. Afterwards, ninja has nothing to do, and both have run the same
//! commands and made the same files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::cli::sandbox::{Said, Sandbox};

/// Returns true if ninja 1.11 or later is installed.
pub fn has_ninja() -> bool {
    let output = Command::new("ninja").arg("--version").output();
    let found = output.is_ok_and(|output| !output.stdout.starts_with(b"1.10") && output.stdout.first() == Some(&b'1'));
    if !found {
        eprintln!("SKIPPED: there is no ninja 1.11 on this machine; install ninja-build");
    }
    found
}

/// A build in two folders: one for ninja, and one for Makespan.
pub struct Builds {
    sandbox: Sandbox,
    pub folders: [PathBuf; 2],
    /// Folder that contains the program `ninja`, if it is not the installed one.
    ninja: Option<PathBuf>,
}

impl Builds {
    pub fn new(ninja: Option<&Path>) -> Self {
        let sandbox = Sandbox::new();
        let folders = ["by-ninja", "by-makespan"].map(|name| sandbox.path(name));
        folders.iter().for_each(|folder| fs::create_dir(folder).unwrap());
        Self { sandbox, folders, ninja: ninja.map(Path::to_owned) }
    }

    /// Returns a build with this manifest.
    fn of(manifest: &str) -> Self {
        let builds = Self::new(None);
        builds.folders.iter().for_each(|folder| fs::write(folder.join("build.ninja"), manifest).unwrap());
        builds
    }

    /// Runs a shell script in both folders. The script begins later than all earlier modifications.
    pub fn edit(&self, script: &str) {
        for folder in &self.folders {
            let script = format!("sleep 0.01\n{script}");
            assert!(
                Command::new("sh").args(["-ec", &script]).current_dir(folder).status().unwrap().success(),
                "{script}"
            );
        }
    }

    fn with_path(&self, mut command: Command) -> Command {
        if let Some(ninja) = &self.ninja {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let folders = std::iter::once(ninja.clone()).chain(std::env::split_paths(&path));
            command.env("PATH", std::env::join_paths(folders).unwrap());
        }
        command
    }

    /// Runs ninja in a folder.
    pub fn ninja(&self, folder: &Path, words: &[&str]) -> Output {
        let mut ninja = self.with_path(Command::new("ninja"));
        ninja.args(words).current_dir(folder).output().unwrap()
    }

    /// Starts `makespan run` for the build in the second folder.
    pub fn command(&self, words: &str) -> Command {
        let line = format!("run by-makespan/build.ninja --processors 2 --oversubscribe {words}");
        self.with_path(self.sandbox.command(&line))
    }

    /// Runs the build in both folders, and compares the commands and the files. `words` follow `makespan run build.ninja`,
    /// and `targets` are the targets of ninja.
    #[track_caller]
    pub fn both(&self, words: &str, targets: &[&str]) -> Said {
        let by_ninja = self.ninja(&self.folders[0], targets);
        let behind = if targets.is_empty() { String::new() } else { format!("-- {}", targets.join(" ")) };
        let said = Said::new("run", &self.command(&format!("{words} {behind}")).output().unwrap());
        assert_eq!(said.status == Some(0), by_ninja.status.success(), "{said:?} {by_ninja:?}");
        let [expected, found] = self.folders.each_ref().map(|folder| files(folder));
        assert_eq!(found, expected, "{said:?} {by_ninja:?}");
        if by_ninja.status.success() {
            self.has_nothing_to_do(targets);
        }
        said
    }

    /// Checks that ninja has nothing to do after Makespan. If edges are always out of date, checks that ninja has as much to do
    /// as after its own run.
    #[track_caller]
    pub fn has_nothing_to_do(&self, targets: &[&str]) {
        let dry = |folder: &Path| self.ninja(folder, &[&["-n", "-d", "explain"], targets].concat());
        let (found, expected) = (dry(&self.folders[1]), dry(&self.folders[0]));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (found, expected, explained) = (text(&found.stdout), text(&expected.stdout), text(&found.stderr));
        assert!(found.contains("ninja: no work to do") || found == expected, "{found} {expected} {explained}");
    }
}

/// Returns the files of a folder with their contents. The lines of `log` are sorted, because commands may run in another
/// order.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let (mut found, mut open) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(inner) = open.pop() {
        for entry in fs::read_dir(&inner).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_owned();
            if path.is_dir() {
                open.push(path);
            } else if !name.to_string_lossy().contains(".ninja_") {
                let bytes = fs::read(&path).unwrap();
                let mut text = String::from_utf8_lossy(&bytes).into_owned();
                if name == Path::new("log") {
                    let mut lines: Vec<&str> = text.lines().collect();
                    lines.sort_unstable();
                    text = lines.join("\n");
                }
                found.insert(name, text);
            }
        }
    }
    found
}

/// A build with each part of ninja that Makespan supports.
const BUILD: &str = r"
ninja_required_version = 1.5
builddir = logs/inner
pool one
  depth = 1
include rules.ninja
build gen.h: gen in.txt
build a.o | a.map: cc a.c || gen.h
build obj/b$ 'x.o: cc b.c | always.txt || order
  more = ' $$x'
build order: phony gen.h
build c.o: plain c.c || gen.h
build prog: link a.o obj/b$ 'x.o c.o |@ check
build check: test prog
build made.cfg: configure in.txt
build all: phony prog made.cfg sub/out
subninja sub.ninja
default all
";

const RULES: &str = r"
rule cc
  command = echo $out >> log; cat $in gen.h always.txt > $out; touch a.map; printf '%s: %s %s\n' $out $in gen.h > $out.d # $more
  depfile = $out.d
  deps = gcc
  description = CC $out
rule plain
  command = echo plain >> log; cat $in > $out; echo '$out: ./gen.h' > $out.dep
  depfile = $out.dep
rule gen
  command = echo gen >> log; head -n1 $in > $out.new; cmp -s $out.new $out || cp $out.new $out; rm $out.new
  restat = 1
  pool = console
rule link
  command = echo link >> log; xargs cat < $out.rsp > $out
  rspfile = $out.rsp
  rspfile_content = $in_newline
  pool = one
rule test
  command = echo test >> log; touch $out
rule configure
  command = echo configure >> log; cp $in $out # $V
  generator = 1
";

const SUB: &str = "rule cc\n  command = echo sub >> log; cp in.txt $out\nbuild sub/out: cc in.txt\n";

pub fn with_build(ninja: Option<&Path>) -> Builds {
    let builds = Builds::new(ninja);
    for folder in &builds.folders {
        let texts = [("build.ninja", BUILD), ("rules.ninja", RULES), ("sub.ninja", SUB), ("in.txt", "1\n2\n")];
        let sources = [("a.c", "a\n"), ("b.c", "b\n"), ("c.c", "c\n"), ("always.txt", "x\n")];
        for (name, text) in texts.into_iter().chain(sources) {
            fs::write(folder.join(name), text).unwrap();
        }
    }
    builds
}

/// Builds, edits and builds again, with both programs.
pub fn rounds(ninja: Option<&Path>) {
    let builds = with_build(ninja);
    builds.both("", &["a.o"]);
    builds.both("", &[]);
    let said = builds.both("", &[]);
    assert!(said.err.contains("there is nothing to do"), "{said:?}");
    for script in [
        "echo 1 > in.txt; echo 3 >> in.txt",
        "echo 4 > in.txt",
        "echo more >> b.c",
        "rm a.map",
        "rm gen.h",
        "sed -i 's/echo test/echo TEST/' rules.ninja",
        "sed -i 's/echo configure/echo again/' rules.ninja",
        "rm made.cfg",
        "touch always.txt gen.h",
        "rm logs/inner/.ninja_deps",
        "rm logs/inner/.ninja_log",
        "rm c.o.dep; touch c.c",
    ] {
        builds.edit(script);
        let said = builds.both("", &[]);
        assert_eq!(said.status, Some(0), "{script}");
    }
    builds.both("-j1", &["order", "check"]);
    // Ninja and Makespan take turns in one folder.
    builds.edit("echo new > a.c");
    assert!(builds.ninja(&builds.folders[1], &[]).status.success());
    assert!(builds.ninja(&builds.folders[0], &[]).status.success());
    builds.edit("echo newer >> c.c");
    builds.both("", &[]);
}

#[test]
fn a_build_is_run_as_ninja_runs_it() {
    if has_ninja() {
        rounds(None);
    }
}

#[test]
fn a_command_that_fails_runs_again() {
    if !has_ninja() {
        return;
    }
    let builds = Builds::new(None);
    let text = "rule r\n  command = echo $out >> log; cp $in $out && grep -q good $out\nbuild x: r s\nbuild y: r x\n";
    builds.edit(&format!("printf '%s' '{text}' > build.ninja; echo bad > s"));
    let said = builds.both("", &[]);
    assert!(said.err.contains("--resume` runs the targets that are out of date"), "{said:?}");
    builds.both("", &[]);
    builds.edit("echo good > s");
    builds.both("", &[]);
}

#[test]
fn only_ninja_runs_some_builds() {
    if !has_ninja() {
        return;
    }
    let builds = Builds::new(None);
    let text = "rule r\n  command = cp $in $out\nrule dd\n  command = printf \"ninja_dyndep_version = 1\\nbuild x: dyndep\\n\" > $out\n\
                build dd: dd\nbuild x: r s || dd\n  dyndep = dd\n";
    builds.edit(&format!("printf '%s' '{text}' > build.ninja; echo s > s"));
    let said = builds.both("", &["x"]);
    assert!(said.err.contains("build.ninja:7: it uses dyndep, so only ninja can run this build"), "{said:?}");
    let stale = "rule r\n  command = touch $out\n  generator = 1\nbuild build.ninja: r s\nbuild x: r\n";
    builds.edit(&format!("printf '%s' '{stale}' > build.ninja; rm -f x .ninja_*; sleep 0.01; touch s"));
    let said = builds.both("", &["x"]);
    assert!(said.err.contains("build.ninja: the file is out of date, so only ninja"), "{said:?}");
    builds.edit("rm x");
    let said = builds.both("", &["x"]);
    assert!(!said.err.contains("only ninja"), "{said:?}");
}

#[test]
fn builds_that_are_wrong_are_refused() {
    if !has_ninja() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("build.ninja", "rule r\n  command = touch $out\nbuild x: r\n  bad\n");
    sandbox.makespan("run build.ninja").refused(&["build.ninja:4", "ninja reports an error", "expected '='"]);
    sandbox.write("build.ninja", "rule r\n  command = touch $out\nbuild x: r\nbuild y: r\nbuild m: r\n  deps = msvc\n");
    sandbox.makespan("run build.ninja -- z").refused(&["build.ninja", "unknown target 'z'"]);
    sandbox.makespan("run build.ninja -- -v").refused(&["only targets of ninja may follow --"]);
    sandbox.makespan("run build.ninja x").misused(&["'x'", "run build.ninja -- x"]);
    sandbox.makespan("run build.ninja -- m").refused(&["`m`", "msvc", "run `ninja` instead"]);
    sandbox.write("pool.ninja", "rule r\n  command = touch $out\n  pool = none\nbuild x: r\n");
    sandbox.makespan("run pool.ninja").refused(&["pool.ninja", "unknown pool name `none`"]);
    sandbox.makespan("run -C nowhere").refused(&["-C nowhere: there is no file nowhere/build.ninja"]);
    sandbox.makespan("run missing.ninja").refused(&["missing.ninja", "No such file"]);
    sandbox.makespan("simulate build.ninja").refused(&["convert the file to a native file first"]);
    sandbox.makespan("plan build.ninja -o plan.json").refused(&["msvc"]);
    assert!(!sandbox.path("x").exists() && !sandbox.path(".ninja_log").exists());
    sandbox.makespan("run -C . -- x y").succeeds();
    assert!(sandbox.path("y").exists());
    sandbox.write(".ninja_log", "# ninja log v99\n");
    sandbox.makespan("run build.ninja -- x").refused(&[".ninja_log", "version 99", "run `ninja`, or remove the log"]);
    fs::remove_file(sandbox.path(".ninja_log")).unwrap();
    sandbox.write(".ninja_deps", "# ninjadeps\n\x03\0\0\0");
    sandbox.makespan("run build.ninja -- x").refused(&[".ninja_deps", "version 3"]);
}

#[test]
fn unusual_manifests_are_built_as_ninja_builds_them() {
    if !has_ninja() {
        return;
    }
    let copy = "  command = cp $in $out\n";
    for manifest in [
        format!("# price 5$\nrule cc\n  # 5$\n{copy}  description = x\nbuild a: cc s\n"),
        format!("rule cc\n{copy}build a: cc s\nbuild b: cc s\nx = a\ndefault $\n  $x\nx = b\n"),
        format!("rule cc\n{copy}build a: cc s\nbuild b: cc s\ndefault $\n  b\n"),
        "rule cc\n  command = echo \"$description\" $$description; cp $in $out\nbuild a: cc s\n  description = say\n".to_owned(),
        format!("rule $\n  cc\n{copy}build a: cc s\n"),
        "rule cc\n  command = cp $in $out; printf 'a: s h c\\nh: c\\n' > d\n  depfile = d\n  deps = gcc\nbuild a: cc s\n".to_owned(),
        "rule cc\n  command = cp $in $out; printf 'a: s\\nfoo\\n' > d\n  depfile = d\n  deps = gcc\nbuild a: cc s\n".to_owned(),
    ] {
        let builds = Builds::of(&manifest);
        builds.edit("echo 1 > s; touch h c");
        builds.both("", &[]);
        builds.edit("echo 2 > s");
        builds.both("", &[]);
    }
}

#[test]
fn a_command_of_several_lines_runs_after_an_unchanged_output() {
    if !has_ninja() {
        return;
    }
    let manifest = "rule gen\n  command = test -e $out || echo 1 > $out\n  restat = 1\n\
        rule join\n  command = printf '%s' '$in_newline' > /dev/null; cat $in > $out\n\
        build g: gen s\nbuild o: join g x\n";
    let builds = Builds::of(manifest);
    builds.edit("echo 1 > s; echo 1 > x");
    builds.both("", &[]);
    builds.edit("echo 2 > s; echo 2 > x");
    builds.both("", &[]);
}

/// Ninja prints nothing while an edge of the pool `console` runs, also in a dry run.
#[test]
fn no_edge_is_lost_next_to_the_pool_console() {
    if !has_ninja() {
        return;
    }
    let manifest = "rule r\n  command = cat s > $out\nrule c\n  pool = console\n  command = cat s > $out\n\
        build a: r s\nbuild b: r s\nbuild c: r s\nbuild prog: r s\n  pool = console\nbuild d: c s\nbuild e: c s\n  pool =\n\
        build last: r a b c prog d e\n";
    let builds = Builds::of(manifest);
    for number in 1..3 {
        builds.edit(&format!("echo {number} > s"));
        builds.both("", &[]);
    }
}

#[test]
fn a_response_file_is_kept_while_another_job_asks_ninja() {
    if !has_ninja() {
        return;
    }
    let manifest = "rule gen\n  command = test -e $out || echo 1 > $out\n  restat = 1\n\
        rule cp\n  command = cat $in > $out\n\
        rule slow\n  command = sleep 0.5; cat $out.rsp > $out\n  rspfile = $out.rsp\n  rspfile_content = $in\n\
        build x: gen src\nbuild v: slow src\nbuild y: cp x | src |@ v\n";
    let builds = Builds::of(manifest);
    for number in 1..3 {
        builds.edit(&format!("echo {number} > src"));
        builds.both("", &[]);
    }
}

#[test]
fn two_sessions_do_not_run_one_build() {
    if !has_ninja() {
        return;
    }
    let builds = Builds::new(None);
    builds.edit("printf 'rule r\\n  command = sleep 2; touch $out\\nbuild a: r\\n' > build.ninja");
    let mut first = builds.command("--folder first").spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(1));
    let second = builds.command("--folder second").output().unwrap();
    let said = String::from_utf8(second.stderr).unwrap();
    assert!(!second.status.success() && said.contains("another session"), "{said}");
    first.kill().unwrap();
    first.wait().unwrap();
    let third = builds.command("--folder third").output().unwrap();
    let said = String::from_utf8(third.stderr).unwrap();
    assert!(!third.status.success() && said.contains("end them with --resume"), "{said}");
    let resumed = builds.command("--folder first --resume").output().unwrap();
    assert!(resumed.status.success(), "{resumed:?}");
}

#[test]
fn a_log_of_an_older_version_is_kept() {
    if !has_ninja() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("build.ninja", "rule r\n  command = touch $out\nbuild x: r\n");
    sandbox.write(".ninja_log", "# ninja log v4\n");
    for words in ["run build.ninja", "run build.ninja --dry-run"] {
        sandbox.makespan(words).refused(&[".ninja_log", "version 4"]);
        assert!(sandbox.path(".ninja_log").exists() && !sandbox.path("x").exists());
    }
}

#[test]
fn run_times_come_from_the_log_of_ninja() {
    if !has_ninja() {
        return;
    }
    let builds = Builds::new(None);
    builds.edit("printf 'rule r\\n  command = sleep $t; touch $out\\nbuild a: r\\n  t = 0.01\\nbuild b: r\\n  t = 0.5\\n' > build.ninja");
    assert!(builds.ninja(&builds.folders[1], &[]).status.success());
    builds.edit("rm -f a b");
    let output = builds.command("--dry-run -j1").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && text.contains("sleep 0.5"), "{text} {said}");
    let started = builds.command("-j1").output().unwrap();
    let said = String::from_utf8(started.stderr).unwrap();
    assert!(started.status.success() && !said.contains("no run times known"), "{said}");
}
