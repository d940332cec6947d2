//! Invalid instance files give one clear error each, and no output file.

use std::fs;
use std::process::Command;

use crate::cli::sandbox::Sandbox;

const HEAD: &str = "version = 1\n[platform]\nprocessors = 4\n";
const RECORD: &str = "1 0 0 5 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n";

/// Checks that every command refuses the file, with a message that contains the file's name and `parts`.
#[track_caller]
fn refused(name: &str, content: impl AsRef<[u8]>, parts: &[&str]) {
    let sandbox = Sandbox::new();
    sandbox.write(name, content);
    let parts = [&[name], parts].concat();
    sandbox
        .makespan(&format!("plan {name} -o out.json --gantt out.svg --report out.html --jobs out.csv"))
        .refused(&parts);
    for line in ["bound", "compare", "run"] {
        sandbox.makespan(&format!("{line} {name}")).refused(&parts);
    }
    sandbox.makespan(&format!("convert {name} out.json")).refused(&parts);
    assert_eq!(sandbox.entries(), [name], "no other files are left");
}

/// Calls [`refused`] for a TOML instance on 4 processors with these lines after the platform.
#[track_caller]
fn toml(jobs: &str, parts: &[&str]) {
    refused("bad.toml", format!("{HEAD}{jobs}\n"), parts);
}

#[test]
fn files_that_cannot_be_read() {
    let sandbox = Sandbox::new();
    sandbox.makespan("plan missing.toml --output out.json").refused(&["missing.toml", "No such file"]);
    fs::create_dir(sandbox.path("folder.toml")).unwrap();
    sandbox.makespan("plan folder.toml --output out.json").refused(&["folder.toml", "directory"]);
    assert_eq!(sandbox.entries(), ["folder.toml"]);
}

#[test]
fn files_that_are_no_instance() {
    for name in ["empty.toml", "empty.json", "empty.swf", "empty"] {
        refused(name, "", &["the file is empty; use", "an instance in JSON or TOML, a workflow"]);
    }
    refused("words.xyz", "hello world\n", &["the format is unknown", "native JSON or TOML, SWF"]);
    refused("trunc.json", r#"{"version": 1, "platform": {"processors": 4}, "jobs": [{"na"#, &[":1:", "too early"]);
    refused("trunc.toml", format!("{HEAD}[[jobs]]\nname = \"a"), &[":5"]);
    refused("latin.toml", b"version = 1\nname = \"\xff\xfe\"\n", &[":2: the text is not UTF-8"]);
    refused("latin.json", b"{\"version\": 1,\n \"jobs\": [{\"name\": \"\xe9\"}]}", &[":2", "UTF-8"]);
    refused(
        "binary",
        [0x93, 0, 1, 2, 0xff, 0xfe, b'=', 7],
        &["the file is binary data, not text", "native JSON or TOML, SWF"],
    );
    let deep = "[".repeat(100_000);
    refused("deep.json", format!("{{\"version\": 1, \"jobs\": {deep}"), &["deep.json"]);
}

#[test]
fn a_truncated_gzip_file() {
    let sandbox = Sandbox::new();
    sandbox.write("log.swf", format!("; MaxProcs: 4\n{RECORD}"));
    let zipped = Command::new("gzip").arg(sandbox.path("log.swf")).status();
    if !zipped.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no gzip on this machine");
        return;
    }
    sandbox.makespan("plan log.swf.gz").succeeds();
    let whole = fs::read(sandbox.path("log.swf.gz")).unwrap();
    for length in [3, 12, whole.len() / 2, whole.len() - 1] {
        refused("part.swf.gz", &whole[..length], &[]);
    }
}

#[test]
fn times_that_are_none() {
    let job = |rest: &str| format!("[[jobs]]\nname = \"a\"\n{rest}");
    toml(&job("time = [nan]"), &[":6:", "jobs[0].time[0]", "NaN", "12.5"]);
    toml(&job("time = [inf]"), &[":6:", "jobs[0].time[0]"]);
    toml(&job("time = [2, -1.0]"), &["jobs[0].time[1]", "`-1` is negative"]);
    toml(&job("time = [0]"), &["time", "0"]);
    toml(&job("time = []"), &["time"]);
    toml(&job("processors = 1\ntime = 1e300"), &[":7:", "jobs[0].time", "292 years"]);
    toml(&job("processors = 1\ntime = \"2 weeks\""), &["jobs[0].time", "2 weeks", "min, h, d"]);
    toml(&job("time = [1]\nreleased = -3"), &["jobs[0].released", "-3"]);
    toml(&job("time = [1]\nweight = -3"), &["weight", "-3"]);
    toml(&job("time = [1]\nweight = nan"), &["weight"]);
    toml(&job("time = [1]\nwalltime = 0.5"), &["`a`", "time limit is 0.5 s", "raise the limit"]);
    toml(&job("work = 5\nprocessors = 2\nspeedup = { amdahl = { serial = 2 } }"), &["serial"]);
    let nan = r#"{"version":1,"platform":{"processors":4},"jobs":[{"name":"a","processors":1,"time":NaN}]}"#;
    refused("nan.json", nan, &[":1:8", "jobs[0].time"]);
    let long = "[[jobs]]\nname = \"a\"\nprocessors = 1\ntime = 9e9\n[[jobs]]\nname = \"b\"\nprocessors = 1\ntime = 9e9";
    toml(long, &["146 years", "unit"]);
}

#[test]
fn platforms_and_jobs_that_do_not_fit() {
    let zero = "version = 1\n[platform]\nprocessors = 0\n[[jobs]]\nname = \"a\"\ntime = [1]\n";
    refused("zero.toml", zero, &["no processors", "at least 1"]);
    refused("minus.toml", zero.replace("= 0", "= -4"), &["processors", "-4"]);
    refused("many.toml", zero.replace("= 0", "= 99999999999"), &["processors", "99999999999"]);
    toml("[[jobs]]\nname = \"a\"\nprocessors = 5\ntime = 1", &["`a`", "5 processors", "has 4"]);
    toml("[[jobs]]\nname = \"a\"\nprocessors = 0\ntime = 1", &["processors", "0"]);
    let twice = "[[jobs]]\nname = \"same\"\ntime = [1]\n".repeat(2);
    toml(&twice, &["two jobs are named `same`"]);
    let period =
        "version = 1\nunavailable = [{ processors = \"3-9\", start = 0, end = 5 }]\n[platform]\nprocessors = 4\n";
    let period = format!("{period}[[jobs]]\nname = \"a\"\ntime = [1]\n");
    refused("period.toml", &period, &["unavailable period", "processor 9", "0 to 3"]);
    refused(
        "back.toml",
        period.replace("3-9", "3").replace("start = 0", "start = 7"),
        &["unavailable period", "does not end after its start"],
    );
    refused("none.toml", "version = 1\njobs = []\n[platform]\nprocessors = 4\n", &["no jobs", "at least one"]);
    refused("nokey.toml", HEAD, &["`jobs` is missing"]);
}

#[test]
fn unknown_keys_name_the_nearest_known_one() {
    toml("[[jobs]]\nname = \"a\"\nwieght = 3\ntime = [1]", &[":6:", "jobs[0].wieght", "did you mean `weight`?"]);
    let jobs = "[[jobs]]\nname = \"a\"\ntime = [1]\n";
    refused(
        "p.toml",
        format!("version = 1\n[platform]\nprocesors = 4\n{jobs}"),
        &[":3:", "did you mean `processors`?"],
    );
    refused("v.toml", format!("{HEAD}{jobs}").replace("version = 1", "version = 3"), &["version", "3", "2"]);
    refused("n.toml", format!("{HEAD}{jobs}").replace("version = 1\n", ""), &["`version` is missing"]);
}

#[test]
fn logs_that_are_wrong() {
    let log = |line: &str| format!("; MaxProcs: 4\n{RECORD}{line}\n");
    refused("f.swf", log("2 0 0 5 1 -1 -1 1 5"), &[":3:", "9 fields", "must have 18"]);
    refused("h.swf", RECORD, &["MaxProcs", "--processors"]);
    refused("z.swf", "; MaxProcs: 0\n", &["z.swf"]);
    refused("c.swf", "; MaxProcs: 4\n; nothing else\n", &["no record can be read as a job"]);
}

#[test]
fn a_header_that_declares_ten_million_jobs_costs_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("ten.swf", format!("; MaxJobs: 10000000\n; MaxRecords: 10000000\n; MaxProcs: 4\n{RECORD}"));
    let mut command = Command::new("sh");
    let bin = assert_cmd::cargo_bin!("makespan");
    // 500 MB of address space are far less than ten million records would need.
    let script = "ulimit -v 500000; exec \"$0\" plan ten.swf";
    let output = command.args(["-c", script]).arg(bin).current_dir(sandbox.path("")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("1 job on 4 processors"));
}
