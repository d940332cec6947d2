//! Small files and short commands that could need gigabytes give one clear error, within 1 GiB of memory and in bounded
//! time.

use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::cli::sandbox::{Said, Sandbox, unwrapped};

/// Maximum address space in KiB. A process that needs more aborts.
const LIMIT: u32 = 1 << 20;
/// Time after which a command counts as endless. The limit is generous, because the machine may be busy and the build
/// may not be optimised.
const PATIENCE: Duration = Duration::from_mins(2);

impl Sandbox {
    /// Runs a command line with the limit on address space.
    #[track_caller]
    fn bounded(&self, line: &str) -> Said {
        let start = Instant::now();
        let script = format!("ulimit -v {LIMIT}; exec '{}' {line}", assert_cmd::cargo_bin!("makespan").display());
        let mut command = Command::new("sh");
        // An arena of the allocator for each thread would use address space, but no memory.
        command
            .args(["-c", &script])
            .env("MALLOC_ARENA_MAX", "1")
            .env("MAKESPAN_HISTORY", self.history())
            .current_dir(self.path(""));
        let said = Said::new(line, &command.output().unwrap());
        assert!(start.elapsed() < PATIENCE, "makespan {line}: {:?}", start.elapsed());
        said
    }
}

/// Compresses `head`, then `part` repeated up to `bytes` bytes, then `tail`.
fn packed(head: &str, part: &str, bytes: usize, tail: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(head.as_bytes()).unwrap();
    let block = part.repeat((1 << 16) / part.len() + 1);
    for _ in 0..bytes / block.len() {
        encoder.write_all(block.as_bytes()).unwrap();
    }
    encoder.write_all(tail.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn xml_that_expands_is_refused() {
    let sandbox = Sandbox::with_small();
    let entities: String =
        (1..10).map(|at| format!("<!ENTITY e{at} '{}'>", format!("&e{};", at - 1).repeat(200))).collect();
    let text = "x".repeat(1000);
    let platform =
        |inside: &str| format!("<platform version='4.1'><zone id='z' routing='Full'>{inside}</zone></platform>");
    let laughs =
        format!("<!DOCTYPE platform [<!ENTITY e0 '{text}'>{entities}]>{}", platform("<host id='&e9;' speed='1f'/>"));
    let attributes: String = (0..100_000).map(|at| format!(" a{at}='1'")).collect();
    let many = platform(&format!("<host{attributes}/>"));
    let deep = platform(&"<zone>".repeat(1_000_000));
    let cluster = "<platform><cluster id='c' radical='0-999999' speed='1f' bw='1Bps' lat='0'/></platform>";
    for (content, part) in [
        (laughs.as_str(), "declares entities"),
        (many.as_str(), "more than 256 attributes"),
        (deep.as_str(), "elements are nested more than"),
        (cluster, "100000 hosts"),
    ] {
        sandbox.write("p.xml", content);
        sandbox.bounded("plan small.toml --platform p.xml").refused(&["p.xml", part]);
    }
    for content in [laughs, format!("<adag{attributes}/>"), format!("<compound-jobs>{}", "<job>".repeat(1_000_000))] {
        sandbox.write("w.xml", content);
        sandbox.bounded("plan w.xml --processors 2").refused(&["w.xml"]);
    }
}

#[test]
fn compressed_files_that_expand_are_refused() {
    check_expanding(&[15 << 20]);
}

#[test]
#[ignore = "long: it expands files to 300 MB"]
fn compressed_files_that_expand_without_end_are_refused() {
    check_expanding(&[300 << 20]);
}

fn check_expanding(sizes: &[usize]) {
    let sandbox = Sandbox::new();
    let job = r#"{"name": "a", "work": 1},"#;
    let native = r#"{"version": 1, "platform": {"processors": 4}, "jobs": ["#;
    let flow = r#"{"schemaVersion": "1.5", "workflow": {"specification": {"tasks": ["#;
    for (head, part) in [
        (native, job),
        (r#"{"version": 1, "platform": {"processors": 4}, "jobs": [{"name": "j", "tasks": ["#, job),
        (r#"{"version": 1, "platform": {"processors": 4}, "jobs": [{"name": "j", "time": ["#, "1,"),
        (flow, r#"{"id": "a"},"#),
        ("1 2\n", "1 "),
        ("<compound-jobs version=\"1\">", "<job/>"),
        ("digraph {", "a->b "),
    ] {
        for &bytes in sizes {
            sandbox.write("x.gz", packed(head, part, bytes, ""));
            sandbox.bounded("plan x.gz").refused(&["x.gz"]);
        }
    }
}

/// A file of many empty compressed parts costs time and contains nothing.
#[test]
fn compressed_files_of_many_empty_parts_are_refused() {
    let sandbox = Sandbox::new();
    let gzip = GzEncoder::new(Vec::new(), Compression::fast()).finish().unwrap();
    for part in [&gzip[..], b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0"] {
        sandbox.write("x", part.repeat(700_000 / part.len()));
        sandbox.bounded("plan x").refused(&["x: cannot read", "compressed files with hardly any content"]);
    }
    sandbox.write("x.gz", packed("", " ", 40 << 20, ""));
    sandbox.bounded("plan x.gz").refused(&["only white space"]);
}

/// Reservations of single processors are planned around. If the closed ranges of the reservations overlap and all
/// differ, the number of closed pairs of processor class and period is the square of the number of reservations, and
/// the file is refused.
#[test]
fn many_reservations_are_planned_around() {
    let sandbox = Sandbox::new();
    let instance = |processors: &dyn Fn(u32) -> String| {
        let periods: Vec<String> = (0..20_000)
            .map(|at| {
                let (processors, start) = (processors(at), 2 * at);
                format!(r#"{{"processors": "{processors}", "start": {start}, "end": {}}}"#, start + 1)
            })
            .collect();
        format!(
            r#"{{"version": 1, "platform": {{"processors": 1000000}}, "jobs": [{{"name": "a", "work": 3}},
              {{"name": "b", "time": 500, "processors": 999900}}], "unavailable": [{}]}}"#,
            periods.join(",\n")
        )
    };
    sandbox.write("i.json", instance(&|at| (at * 49).to_string()));
    sandbox.bounded("plan i.json --algorithm list --output p.json").succeeds();
    sandbox.bounded("verify i.json p.json").succeeds();
    let planned = sandbox.bounded("plan i.json --output p.json").succeeds();
    assert!(unwrapped(&planned).contains("planned in a fixed order"), "{planned}");
    sandbox.bounded("verify i.json p.json").succeeds();
    sandbox.bounded("plan i.json --makespan-at-most 2").refused(&["unavailable in too many different periods"]);
    sandbox.write("i.json", instance(&|at| format!("{at}-999999")));
    sandbox.bounded("plan i.json --algorithm list").refused(&["i.json", "unavailable more than 4194304 times"]);
}

/// A log that repeats one job has one job, if the file is not too large.
#[test]
fn a_log_of_one_job_is_read_until_it_expands_too_far() {
    let sandbox = Sandbox::new();
    let record = "1 0 -1 1 1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n";
    sandbox.write("x.gz", packed("; MaxProcs: 4\n", record, 15 << 20, ""));
    assert!(sandbox.bounded("plan x.gz --algorithm list").succeeds().contains("the job number or name occurs twice"));
    sandbox.write("x.gz", packed("; MaxProcs: 4\n", record, 300 << 20, ""));
    sandbox.bounded("plan x.gz").refused(&["x.gz", "decompress the file first"]);
}

#[test]
fn nothing_is_drawn_that_fits_in_no_memory() {
    let sandbox = Sandbox::new();
    for line in [
        "tree --nodes 1000000000",
        "tree --nodes 9 --applications 1000000000",
        "moldable --family weak --jobs 1000000000 --processors 1",
        "moldable --family cirne --jobs 10000 --processors 16777216",
        "poisson --family weak --jobs 1000000000 --processors 4 --load 0.7",
        "lublin --jobs 1000000000 --processors 100",
        "etc --tasks 1000000000",
        "etc --tasks 100000 --machines 16777216",
        "flow --tasks 1000000000",
        "graphs --tasks 1000000000",
        "graphs --tasks 1000000 --width 1000000 --density 1",
    ] {
        sandbox.bounded(&format!("generate {line}")).refused(&["at most"]);
    }
}

#[test]
fn equal_nodes_are_stored_once() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "i.json",
        r#"{"version": 1, "platform": {"nodes": 16777216, "processors_per_node": 1}, "jobs": [{"name": "a", "work": 3}]}"#,
    );
    for line in [
        "plan i.json --algorithm list --output p.json",
        "verify i.json p.json",
        "plan i.json --algorithm optimise[steps=10]",
        "bound i.json",
        "convert i.json c.toml",
        "plan c.toml --algorithm demt",
    ] {
        sandbox.bounded(line).succeeds();
    }
}

/// Checks instances with tasks that state a run time for each node of a large platform. The error about an unknown node
/// name does not list all nodes. A file with too many run times is refused before they fill the memory.
#[test]
fn times_on_millions_of_nodes_are_read_or_refused_at_once() {
    let sandbox = Sandbox::new();
    let write = |name: &str, nodes: u32, jobs: &str| {
        let platform = format!(r#"{{"nodes": {nodes}, "processors_per_node": 1}}"#);
        sandbox.write(name, format!(r#"{{"version": 2, "platform": {platform}, "jobs": [{jobs}]}}"#));
    };
    write("unknown.json", 16_777_216, r#"{"name": "a", "time_on": {"x": 1}}"#);
    sandbox.bounded("plan unknown.json").refused(&["unknown.json", "jobs[0].time_on", "`x`", "`n0` to `n16777215`"]);
    let many: Vec<String> = (0..5).map(|at| format!(r#"{{"name": "{at}", "time_on": {{"n{at}": 1}}}}"#)).collect();
    write("many.json", 16_777_216, &many.join(","));
    sandbox.bounded("plan many.json").refused(&["many.json", "5 tasks on 16777216 nodes"]);
    write("good.json", 1_000_000, r#"{"name": "a", "time_on": {"n0": 1, "n999999": 2}}"#);
    for line in ["convert good.json good.toml", "plan good.json --algorithm list"] {
        sandbox.bounded(line).succeeds();
    }
}

#[test]
fn endless_lines_of_lists_are_refused_at_a_limit() {
    let sandbox = Sandbox::new();
    for head in ["echo ", "true # ", "# "] {
        sandbox.write("list.txt", format!("true\n{head}{}\n", "x ".repeat(1 << 20)));
        sandbox.bounded("plan list.txt").refused(&["list.txt:2", "may have at most 1048576 bytes"]);
    }
}

/// The readers of graphs and XML need much more memory than the line that they read, so all these formats have a
/// maximum line length.
#[test]
#[ignore = "long: files of 70 MB are written and read"]
fn lines_of_a_gigabyte_are_refused_at_a_limit() {
    let sandbox = Sandbox::new();
    for (name, head, part) in [
        ("x.dot", "digraph g { a -> ", "b -> "),
        ("x.stg", "2\n0 0 0\n1 ", "1 "),
        ("x.dax", "<adag name='x'><job id='a' namespace='", "x"),
        ("jobs.xml", "<compound-jobs version=\"1\"> ", "<job/>"),
    ] {
        let mut file = std::io::BufWriter::new(std::fs::File::create(sandbox.path(name)).unwrap());
        file.write_all(head.as_bytes()).unwrap();
        let block = part.repeat((1 << 20) / part.len());
        (0..70).for_each(|_| file.write_all(block.as_bytes()).unwrap());
        file.write_all(b"\n").unwrap();
        drop(file);
        sandbox.bounded(&format!("plan {name}")).refused(&[name, "this line is longer"]);
    }
}
