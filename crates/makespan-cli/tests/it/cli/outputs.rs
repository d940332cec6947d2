//! Output files that cannot be written, and readers that go away.

use std::fs;
use std::process::{Command, Stdio};

use crate::cli::sandbox::{SMALL, Said, Sandbox};

#[test]
fn places_that_cannot_be_written_are_named_and_nothing_is_left() {
    let sandbox = Sandbox::with_small();
    fs::create_dir(sandbox.path("folder")).unwrap();
    for option in ["output", "gantt", "report", "jobs", "swf"] {
        let case = |file: &str, parts: &[&str]| {
            // The other output could be written, but is not written either.
            let other = if option == "output" { "--gantt other.svg" } else { "--output other.json" };
            sandbox.makespan(&format!("plan small.toml --{option} {file} {other}")).refused(&[&[file], parts].concat());
        };
        case("missing/x", &["`missing` does not exist"]);
        case("folder", &["this path is a folder"]);
        case("small.toml/x", &["`small.toml` is a file"]);
        case("small.toml", &["would replace the instance"]);
        case("folder/../small.toml", &["would replace the instance"]);
        case(if option == "output" { "other.svg" } else { "other.json" }, &["two outputs"]);
    }
    sandbox.makespan("convert small.toml missing/x.json").refused(&["missing/x.json", "does not exist"]);
    sandbox.makespan("convert small.toml x.yaml").refused(&["x.yaml", ".json, .toml, .swf, .etc or"]);
    sandbox.makespan("convert small.toml noending").refused(&["noending", ".json, .toml, .swf, .etc or"]);
    let generate = "generate moldable --family weak --jobs 2 --processors 2 --output";
    sandbox.makespan(&format!("{generate} missing/x.json")).refused(&["missing/x.json", "does not exist"]);
    sandbox.makespan(&format!("{generate} x.yaml")).refused(&["x.yaml", ".json, .toml, .swf, .etc or"]);
    assert_eq!(sandbox.entries(), ["folder", "small.toml"]);
    assert_eq!(sandbox.read("small.toml"), SMALL);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error() {
    let sandbox = Sandbox::with_small();
    for option in ["output", "gantt", "report", "jobs", "swf"] {
        sandbox
            .makespan(&format!("plan small.toml -a demt --{option} /dev/full"))
            .refused(&["/dev/full", "No space left"]);
    }
    sandbox.makespan("plan small.toml --output /dev/null --gantt /dev/null").succeeds();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for line in ["plan small.toml", "algorithms", "bound small.toml --format json", "completions bash"] {
        let output = sandbox.command(line).stdout(full.try_clone().unwrap()).output().unwrap();
        Said::new(line, &output).refused(&["cannot write to standard output", "No space left"]);
    }
    assert_eq!(sandbox.entries(), ["small.toml"]);
}

/// A file system of 64 KiB in a folder, unmounted at the end.
struct Tiny<'a>(&'a Sandbox);

impl<'a> Tiny<'a> {
    fn mount(sandbox: &'a Sandbox) -> Option<Self> {
        fs::create_dir(sandbox.path("tiny")).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(sandbox.path("tiny"));
        let done = mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        done.then_some(Self(sandbox))
    }
}

impl Drop for Tiny<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path("tiny")).status();
    }
}

#[test]
fn a_full_disk_keeps_the_old_file_and_leaves_no_other() {
    let sandbox = Sandbox::new();
    let Some(_tiny) = Tiny::mount(&sandbox) else {
        eprintln!("skipped: a small file system can be mounted by root only");
        return;
    };
    sandbox.makespan("generate moldable --family high --jobs 300 --processors 60 --output big.toml").succeeds();
    for (option, name) in [("output", "p.json"), ("report", "r.html"), ("gantt", "g.svg")] {
        sandbox.write(&format!("tiny/{name}"), "old");
        sandbox.write("tiny/fill", vec![0; 48 << 10]);
        let line = format!("plan big.toml --algorithm sequential --{option} tiny/{name}");
        sandbox.makespan(&line).refused(&[&format!("tiny/{name}"), "No space left"]);
        assert_eq!(sandbox.read(&format!("tiny/{name}")), "old");
        let names = fs::read_dir(sandbox.path("tiny")).unwrap().count();
        assert_eq!(names, 2, "only the old file and the filling are there");
        fs::remove_file(sandbox.path(&format!("tiny/{name}"))).unwrap();
    }
    sandbox.makespan("convert big.toml tiny/x.json").refused(&["tiny/x.json", "No space left"]);
    assert_eq!(fs::read_dir(sandbox.path("tiny")).unwrap().count(), 1);
}

#[test]
fn a_folder_that_is_read_only_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::with_small();
    fs::create_dir(sandbox.path("locked")).unwrap();
    fs::set_permissions(sandbox.path("locked"), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(sandbox.path("locked/probe"), "").is_ok() {
        eprintln!("skipped: this user may write into read-only folders");
        return;
    }
    sandbox.makespan("plan small.toml --output locked/p.json").refused(&["locked/p.json", "Permission denied"]);
    sandbox.makespan("run small.toml --folder locked/run").refused(&[]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let sandbox = Sandbox::with_small();
    for line in ["algorithms", "plan small.toml", "compare small.toml", "completions bash", "--help", "plan --help"] {
        let mut child = sandbox.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{line}: {output:?}");
    }
}

#[test]
fn an_error_that_nobody_reads_is_still_a_status() {
    let sandbox = Sandbox::new();
    let mut child = sandbox.command("plan missing.toml").stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn an_old_output_is_replaced_and_a_link_stays_one() {
    let sandbox = Sandbox::with_small();
    sandbox.write("real.json", "old");
    std::os::unix::fs::symlink("real.json", sandbox.path("link.json")).unwrap();
    sandbox.makespan("plan small.toml --output link.json").succeeds();
    assert!(fs::symlink_metadata(sandbox.path("link.json")).unwrap().is_symlink());
    sandbox.makespan("verify small.toml real.json").succeeds();
    assert_eq!(sandbox.entries(), ["link.json", "real.json", "small.toml"]);
}

#[test]
fn a_run_goes_on_when_its_reader_goes_away() {
    let sandbox = Sandbox::new();
    let jobs = [("a", "0.1", "sleep 0.1; echo x >> happened"), ("b", "0.1", "no-such-program-x")];
    sandbox.write("i.toml", crate::cli::run::shell_jobs(1, &jobs));
    let mut command = sandbox.command("run i.toml --folder f");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(sandbox.read("happened"), "x\n");
    assert!(sandbox.path("f/report.html").exists());
}

/// Names that a spreadsheet would read as formulas, and a name that would print its own line.
#[test]
fn names_are_neither_formulas_nor_lines() {
    let sandbox = Sandbox::new();
    let names = ["=1+2", "+x", "-x", "@x", "a\u{1b}[2Jb", "x\nvalid: every job is placed once", "\u{202e}gpj"];
    let jobs: Vec<String> = names
        .iter()
        .map(|name| format!(r#"{{"name": {}, "work": 3, "walltime": 9}}"#, serde_json::json!(name)))
        .collect();
    let text = format!(r#"{{"version": 1, "platform": {{"processors": 2}}, "jobs": [{}]}}"#, jobs.join(","));
    sandbox.write("i.json", &text);
    let clean = |text: &str| {
        let harmful = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!text.contains(harmful), "{text:?}");
        assert!(!text.lines().any(|line| line.starts_with("valid: every job")), "{text}");
    };
    let plan = "plan i.json --output p.json --report r.html --gantt g.svg --jobs j.csv";
    let said = sandbox.makespan(plan).succeeds();
    clean(&said);
    assert!(said.contains("x\\nvalid"), "{said}");
    clean(&sandbox.read("g.svg"));
    for line in sandbox.read("j.csv").lines().skip(1) {
        assert!(!line.trim_start_matches('"').starts_with(['=', '+', '-', '@']), "{line}");
    }
    sandbox.makespan("plan i.json --jobs raw.csv --raw-names").succeeds();
    assert!(sandbox.read("raw.csv").contains("\n=1+2,"), "as they are");
    clean(&sandbox.makespan("simulate i.json --policy easy --jobs j.csv --start-time-of =1+2").succeeds());
    assert!(sandbox.read("j.csv").contains("\n'=1+2,"), "{}", sandbox.read("j.csv"));
    clean(&sandbox.makespan("bound i.json").succeeds());
    // Messages about an invalid plan and a refused instance contain the names of their jobs.
    let broken = sandbox.read("p.json").replacen("\"end\": 3", "\"end\": 2", 9);
    sandbox.write("broken.json", broken);
    let rejected = sandbox.makespan("verify i.json broken.json");
    assert_eq!(rejected.status, Some(1), "{rejected:?}");
    clean(&rejected.out);
    clean(&rejected.err);
    sandbox.write("wide.json", text.replace("\"work\": 3", "\"time\": 3, \"processors\": 9"));
    let refused = sandbox.makespan("plan wide.json");
    clean(&refused.err);
    assert_eq!(refused.err.lines().filter(|line| !line.trim().is_empty()).count(), 1, "{}", refused.err);
}
