//! Checks that broken files never make a reader panic, and that each error message is a single clear line.

use std::io::Write;

use makespan_core::tree::TreeProblem;
use makespan_core::{Instance, Job, Link, Platform, Profile, Resources, Time};
use makespan_formats::simgrid::read_simgrid;
use makespan_formats::{
    Estimates, Format, FormatOption, Language, NextflowTrace, ReadOptions, ReplayOptions, ScheduleFile, SpeedupSpec,
    TreePlanFile, parse_bandwidth, parse_failures, parse_instance, parse_job_log, parse_replay, parse_sacct_memory,
    write_instance, write_swf,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const CASES: usize = 20_000;

const JSON: &str = r#"{"version": 1, "platform": {"nodes": [{"name": "s", "processors": 0}, {"name": "a", "processors": 9,
  "speed": 1.5, "parent": "s", "bandwidth": "7Mbit/s", "latency": "1ms", "resources": {"memory": "64GiB", "gpus": 2}}], "licences": {"x": 3}, "consumables": {"y": 9}},
 "jobs": [{"name": "a", "weight": 3.5, "released": 0, "walltime": "2h", "time": [10.0, 6.1, 4.9], "command": ["./s"]},
  {"name": "b", "work": 7200, "speedup": {"amdahl": {"serial": 0.05}}, "processors": {"min": 1, "max": 64},
   "needs": {"memory": "1.5GiB", "y": [3, 2], "per_processor": {"memory": 5, "x": 1}}, "after": ["a", "h"]},
  {"name": "c", "work": 7200, "speedup": {"downey": {"parallelism": 20, "sigma": 0.7}}},
  {"name": "f", "processors": 8, "time": 120}, {"name": "g", "count": 200, "work": 3},
  {"name": "h", "count": 12, "weight": 3, "time": [5, 3]}], "unavailable": [{"processors": "0-3", "start": 1, "end": "2s"}]}"#;

const TOML: &str = "version = 1\nplatform = { nodes = 4, processors_per_node = 2, resources.memory = '4GB' }\n[[jobs]]\nname = 'a'\nweight = 0.1\n\
time = [10, 6.1, '4.9s']\n[[jobs]]\nname = 'b'\nwork = 7200\nneeds = { memory = 7 }\nafter = ['a']\nspeedup.power.exponent = 0.05\nprocessors = { min = 1 }\n\
[[jobs]]\nname = 'c'\ncount = 200\nwork = '3s'\n[[unavailable]]\nprocessors = '0-3'\nstart = 1\nend = '2s'\n";

const SWF: &str = "; Version: 2.2\n; MaxJobs: 10000000\n; MaxProcs: 8\n\
1 0 -1 100 4 -1 77 4 120 2048 1 1 1 -1 -1 1 -1 -1\n2 5.5 -1 50 -1 -1 -1 2 10 -1 1 1 1 -1 -1 1 -1 -1\n";

const SET: &str = r#"{"meta":{"n":2},"cpudata":{"nb_p":[1,2],"t1":[90.70274801226311,46.7],"t2":[3,2]},"gpudata":{}}"#;

const BATSIM: &str = r#"{"nb_res": 8, "jobs": [{"id": 1, "subtime": 3, "walltime": 30, "res": 1, "profile": "d"},
  {"id": "two", "subtime": 1.5, "walltime": -1, "res": 4, "profile": "h", "user": "x"}], "profiles": {"d": {"type": "delay",
  "delay": 20.25}, "h": {"type": "ParallelTaskHomogeneousProfile", "cpu": 1e10, "com": 1e6,
  "generation_strategy": "DefinedAmountsSpreadUniformly"}, "p": {"type": "parallel", "cpu": [5e6, 0], "com": [1, 2]}}}"#;

const SACCT: &str = "JobID|User|Submit|Start|End|Elapsed|Timelimit|AllocCPUS|State|ReqMem|AllocTRES|NNodes\n\
100|ann|2024-03-30T23:00:00|2024-03-30T23:00:10|2024-03-31T01:00:10|02:00:00|1-00:00:00|8|COMPLETED|4Gn|cpu=8,mem=8G,gres/gpu:a=2|2\n\
100.batch||2024-03-30T23:00:00|2024-03-30T23:00:10|2024-03-31T01:00:10|02:00:00||8|COMPLETED|||\n\
101_4|bob|2024-03-30T22:00:00|2024-03-30T23:00:10|2024-03-30T23:10:10|00:10:00|UNLIMITED|2|FAILED|1.5Gc||1\n\
102+0|ann|2024-03-31T00:00:00|None|2024-03-31T00:01:00|00:00:00|01:00:00|0|CANCELLED by 1000|0||\n";

const SACCT_MEMORY: &str = "JobID|User|JobName|Submit|Elapsed|AllocCPUS|NNodes|NTasks|State|ReqMem|MaxRSS\n\
7|ann|fit|2024-03-30T23:00:00|01:00:00|2|1||COMPLETED|4Gc|\n\
7.batch||batch|2024-03-30T23:00:00|01:00:00|2|1|1|COMPLETED||1500000K\n\
8_1|bob|a \\x1b[31m|2024-03-30T23:00:00|2-00:10:00|2|2||OUT_OF_MEMORY|16Gn|\n\
8_1.0||srun|2024-03-30T23:00:00|00:10:00|2|2|64|OUT_OF_MEMORY||31.5G\n";

const GRAPH: &str = r#"{"version": 1, "platform": {"nodes": 3, "processors_per_node": 1, "bandwidth": "1MB/s", "local_transfers": true},
 "jobs": [{"name": "j", "tasks": [{"name": "a", "work": 4}, {"name": "b", "time_on": {"n0": 2.5}}, {"name": "c", "time": [6, 4]}],
 "edges": [{"from": "a", "to": "b", "data": 1e6}, {"from": "b", "to": "c", "transfer": "3s"}]}]}"#;

const WORKFLOW: &str = r#"{"name": "flow", "schemaVersion": "1.5", "workflow": {"specification": {"tasks": [
 {"id": "a", "parents": [], "children": ["b"], "outputFiles": ["f"]}, {"id": "b", "parents": ["a"], "inputFiles": ["f"]}],
 "files": [{"id": "f", "sizeInBytes": 3}]}, "execution": {"tasks": [{"id": "b", "runtimeInSeconds": 2.5, "coreCount": 1.5, "memoryInBytes": 3e9},
 {"id": "a", "runtimeInSeconds": 1}], "machines": [{"nodeName": "m", "cpu": {"coreCount": 6}, "memoryInBytes": 4e9}]}}}"#;

const DAX: &str = r#"<adag version="2.1"><job id="A" runtime="14"><profile namespace="pegasus" key="cores">2</profile><uses file="f" link="output" size="2250"/></job>
 <job id="B" runtime="1.5"><uses file="f" link="input" size="2250"/></job><child ref="B"><parent ref="A"/></child></adag>"#;

const STG: &str = "2\n 0 0 0\n 1 9 1 0\n 2 4 2 0 1\n 3 0 1 2\n# a remark\n";

const DOT: &str =
    "digraph g { node [time=2]; a [time=\"1.5\"] b // x\n a -> b -> c [data=5e6, color=red] a -> c [transfer=3] }";

const COMPOUND: &str = r#"<compound-jobs version="1"><job name="j" release="1" walltime="9" weight="2"><task name="a" volume="1.5"/>
 <task name="b" volume="2"><command><word>x</word></command></task><transfer from="a" to="b" data="5"/></job></compound-jobs>"#;

const LAGS: &str =
    "2 1 0 0\n0 1 1 1 [0]\n1 1 2 2 3 [1] [3]\n2 1 1 1 [-4]\n3 1 0\n0 1 0 0\n1 1 3 2\n2 1 4 2\n3 1 0 0\n3\n";
const PATTERSON: &str = "6 2\n4 2\n\n0 0 0 2 2 3\n3 2 0 1 4\n5 1 2 2 4 5\n0 0 0 1 5\n2 4 1 1 6\n0 0 0 0\n";

const PROJECT: &str = "****\njobs (incl.):  4\nRESOURCES\n - renewable : 1\n - nonrenewable : 1\n****\nPROJECT INFORMATION:\npronr.\n\
1 2 2 18 12 7\n****\nPRECEDENCE RELATIONS:\njobnr.\n1 1 2 2 3\n2 3 1 4\n3 2 1 4\n4 1 0\n****\nREQUESTS/DURATIONS:\n\
jobnr. mode duration  R 1  N 1\n----\n1 1 0 0 0\n2 1 3 4 5\n2 9 1 2\n3 4 6 1\n3 1 4 2 0\n2 4 1 3\n4 1 0 0 0\n****\n\
RESOURCEAVAILABILITIES:\n  R 1  N 1\n 5 9\n****\n";

const LIST: &str = "# two commands\n./a --x 'y z' #: cores=2\n./b > c\n";

const ETC: &str = "3 2 1\n1 2\n3 4\n0.00 inf\n";

const SIMGRID: &str = r#"<?xml version='1.0'?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">
 <zone id="z" routing="Full"><host id="m" speed="98Mf"/><host id="f" speed="1.5Gf,1Gf" core="4"/><router id="r"/>
 <link id="l" bandwidth="1.25GBps" latency="50us"/><link id="k" bandwidth="7Mbps"/><route src="m" dst="r"><link_ctn id="l"/></route>
 <route src="r" dst="f"><link_ctn id="k"/></route><route src="m" dst="f"><link_ctn id="l"/><link_ctn id="k"/></route></zone></platform>"#;

const CLUSTER: &str = r#"<platform version="4"><cluster id="c" prefix="n" suffix=".x" radical="0-2,7" speed="1Gf" bw="125MBps" lat="50us"
 bb_bw="1GBps" bb_lat="1ms" core="2"/></platform>"#;

const FAILURES: &str = "processors,down,up,expected_up\n\"0-3,7\",10,2h,1h\n# a remark\n4,1,3,2\n";

const TREE: &str = r#"{"version": 1, "platform": {"nodes": [{"name": "r", "processors": 1, "speed": 3},
 {"name": "a", "processors": 2, "parent": "r", "bandwidth": 4}]}, "jobs": [{"name": "x", "count": 200, "work": 3, "data": 2}]}"#;

const TREE_PLAN: &str = r#"{"version": 1, "algorithm": "steady-state", "fair_throughput": 1.66666666666666,
 "bounds": {"fair_throughput": {"value": 1.66666666666667,
  "certificate": {"kind": "tree_prices", "tasks": [3], "ports": [0, 0], "exponent": 0}}},
 "period": {"seconds": 3, "fair_throughput": 1.66666666666666, "tasks": {"x": {"r": 3, "a": 2}}},
 "rates": {"x": {"r": 1, "a": 0.666666666666666}}}"#;

const SCHEDULE: &str = r#"{"version": 1, "algorithm": "demt", "seed": 1, "makespan": 12.5, "weighted_completion": 830.25,
 "bounds": {"makespan": {"value": 11.9, "certificate": {"kind":"rejection","deadline":5,"from":0,"at":2,"selection":{"price":3}}},
  "weighted_completion": {"value": 801.5, "certificate": {"kind":"interval_prices","ends":[1,4],"prices":[5,0],"scale":10}}},
 "placements": [{"job": "a", "start": 0, "end": 2.5, "processors": "0-3,7"},
  {"job": "b", "task": 1, "start": 0, "end": 2, "processors": "4"}, {"job": "b", "task": 0, "start": 2, "end": 4, "processors": "4"}]}"#;

const LONG: &str = match std::str::from_utf8(&[0x7f; 400]) {
    Ok(text) => text,
    Err(_) => "",
};

/// Pieces of text that can break the reading of numbers and structures.
const PIECES: [&str; 25] = [
    // A name that becomes longer when it is escaped.
    LONG,
    "-1",
    "1e400",
    "1e-400",
    "NaN",
    "inf",
    "99999999999999999999",
    "0",
    "\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    ";",
    "\n",
    "null",
    "true",
    "4294967295",
    "0-4294967294",
    "\u{0}",
    "é",
    "$serde_json::private::Number",
    "-",
];

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory is writable");
    encoder.finish().expect("memory is writable")
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).expect("memory is writable");
    encoder.finish().expect("memory is writable")
}

fn mutate(bytes: &mut Vec<u8>, other: &[u8], rng: &mut ChaCha8Rng) {
    for _ in 0..rng.random_range(1..3) {
        let at = rng.random_range(0..=bytes.len());
        match rng.random_range(0..7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
            1 => bytes.truncate(at),
            2 => {
                let end = rng.random_range(at..=bytes.len());
                bytes.drain(at..end.min(at + 20));
            }
            3 => {
                let from = rng.random_range(0..other.len());
                let to = rng.random_range(from..=other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            4 => {
                let mut noise = [0; 8];
                rng.fill_bytes(&mut noise);
                bytes.splice(at..at, noise);
            }
            _ => {
                let piece = PIECES[rng.random_range(0..PIECES.len())].bytes();
                // A piece is inserted, or it replaces some bytes (for example a whole number).
                let end = (at + rng.random_range(0..4)).min(bytes.len());
                bytes.splice(at..end, piece);
            }
        }
    }
}

fn assert_clear(error: &str, bytes: &[u8]) {
    let shown = || String::from_utf8_lossy(bytes).into_owned();
    assert!(error.starts_with("x: ") || error.starts_with("x:"), "{error}\n{}", shown());
    assert!(error.len() > 8 && error.chars().count() < 1500, "{error}\n{}", shown());
    assert!(!error.chars().any(char::is_control), "{error:?}\n{}", shown());
}

/// Returns a file of a format.
fn seed(format: Format) -> &'static str {
    match format {
        Format::List => LIST,
        Format::Json => JSON,
        Format::Toml => TOML,
        Format::Swf => SWF,
        Format::Batsim => BATSIM,
        Format::Sacct => SACCT,
        Format::Etc => ETC,
        Format::MoldableSet => SET,
        Format::WfFormat => WORKFLOW,
        Format::Dax => DAX,
        Format::Stg => STG,
        Format::Dot => DOT,
        Format::CompoundXml => COMPOUND,
        Format::ProGen => PROJECT,
        Format::Patterson => PATTERSON,
        Format::ProGenMax => LAGS,
    }
}

#[test]
fn each_format_is_recognised_by_its_content() {
    for format in Format::all() {
        for packed in [seed(format).as_bytes().to_vec(), gzip(seed(format).as_bytes()), bzip2(seed(format).as_bytes())]
        {
            let read = |processors| parse_instance(&packed, "x", &ReadOptions { processors, ..ReadOptions::default() });
            let read = read(None).or_else(|_| read(Some(3))).unwrap_or_else(|error| panic!("{format}: {error}"));
            assert_eq!(read.format, format);
        }
    }
}

/// Checks that an option that a format does not accept is an error, and is never ignored silently.
#[test]
fn options_are_taken_or_refused() {
    for format in Format::all() {
        let plain = || ReadOptions {
            processors: format.takes(FormatOption::Processors).then_some(3),
            ..ReadOptions::default()
        };
        let link = Link { bandwidth: 1e6, latency: Time::ZERO };
        let trace = NextflowTrace { file: "trace.txt".into(), text: String::new() };
        let options = [
            (FormatOption::Processors, ReadOptions { processors: Some(3), ..plain() }),
            (FormatOption::Bandwidth, ReadOptions { network: Some(link), ..plain() }),
            (FormatOption::Storage, ReadOptions { storage: Some("n1".into()), ..plain() }),
            (FormatOption::Trace, ReadOptions { trace: Some(trace), ..plain() }),
            (FormatOption::Speedup, ReadOptions { speedup: "linear".parse().ok(), ..plain() }),
        ];
        for (option, stated) in options {
            let error = parse_instance(seed(format).as_bytes(), "x", &stated).err().map(|error| error.to_string());
            let is_refused = error.is_some_and(|error| error.contains(&format!("but this file is {format}")));
            assert_eq!(is_refused, !format.takes(option), "{format}: {option:?}");
        }
    }
}

#[test]
fn broken_instances_are_refused_without_panic() {
    let mut seeds: Vec<Vec<u8>> = Format::all().map(|format| seed(format).as_bytes().to_vec()).collect();
    seeds.extend([GRAPH.as_bytes().to_vec(), gzip(SWF.as_bytes()), bzip2(SET.as_bytes())]);
    let speedups = ["linear", "downey:3,0.5", "downey:random"].map(|spec| spec.parse::<SpeedupSpec>().unwrap());
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut accepted = 0;
    for case in 0..2 * CASES {
        let mut bytes = seeds[case % seeds.len()].clone();
        let other = seeds[rng.random_range(0..seeds.len())].clone();
        mutate(&mut bytes, &other, &mut rng);
        let speedup = (case % 4 == 0 && bytes.starts_with(b";")).then(|| speedups[rng.random_range(0..3)]);
        let workflow = bytes.starts_with(b"<") || bytes.starts_with(b"2") || bytes.starts_with(b"di");
        let processors = workflow.then_some(3);
        let options = ReadOptions { speedup, processors, max_bytes: 1 << 20, ..ReadOptions::default() };
        match parse_instance(&bytes, "x", &options) {
            Ok(read) => {
                assert!(!read.instance.jobs().is_empty());
                assert!(read.instance.jobs().iter().all(|job| job.tasks() > 0));
                let mut written = Vec::new();
                write_instance(&read.instance, Language::Json, &mut written).expect("memory is writable");
                accepted += 1;
            }
            Err(error) => assert_clear(&error.to_string(), &bytes),
        }
    }
    // Some mutated files must be accepted. Otherwise the mutations only test the first check of a reader.
    assert!(accepted > CASES / 200 && accepted < CASES, "{accepted} accepted");
}

#[test]
fn broken_logs_are_refused_without_panic() {
    let mut seeds: Vec<Vec<u8>> = [SWF, BATSIM, SACCT, JSON].iter().map(|text| text.as_bytes().to_vec()).collect();
    seeds.push(gzip(SACCT.as_bytes()));
    let memory = Resources::new([("memory", 64 << 30)]).unwrap();
    let platform = Platform::flat(8).and_then(|platform| platform.with_node_resources(&memory)).ok();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut accepted = [0; 5];
    for case in 0..CASES {
        let kind = case % seeds.len();
        let mut bytes = seeds[kind].clone();
        let other = seeds[rng.random_range(0..seeds.len())].clone();
        if case >= seeds.len() {
            mutate(&mut bytes, &other, &mut rng);
        }
        let log = kind != 3;
        let speedup = (log && case % 7 == 0).then(|| "downey:random".parse().expect("the law is known"));
        let estimates = if case % 2 == 0 { Estimates::User } else { Estimates::Clairvoyant };
        let platform = platform.clone().filter(|_| log);
        let options = ReplayOptions { platform, speedup, estimates, max_bytes: 1 << 20, ..ReplayOptions::default() };
        match parse_replay(&bytes, "x", &options) {
            Ok(replay) => {
                accepted[kind] += 1;
                assert_eq!(replay.report.jobs, replay.instance.jobs().len());
                for task in replay.instance.task_ids() {
                    let fewest = replay.instance.profile(task).min_processors();
                    let processors = makespan_core::ProcSet::first(fewest);
                    // A task accepts the same allotments in its real run times as in its estimate.
                    assert!(replay.actual.time(&replay.instance, task, &processors) > Time::ZERO);
                }
            }
            Err(error) if case >= seeds.len() => assert_clear(&error.to_string(), &bytes),
            Err(error) => panic!("the file is valid before it is broken: {error}"),
        }
        match parse_job_log(&bytes, "x", false) {
            Ok(log) => assert!(log.jobs.iter().all(|job| job.started.is_none_or(|started| started >= job.submitted))),
            Err(error) => assert_clear(&error.to_string(), &bytes),
        }
    }
    // Few mutated compressed files pass the check sum.
    assert!(accepted.iter().all(|&accepted| accepted > CASES / 1000 && accepted < CASES / 5), "{accepted:?} accepted");
}

/// Other readers: the name, the original file, and a function that reads bytes and returns whether they are accepted.
type Reader = (&'static str, &'static str, fn(&[u8]) -> Option<Result<(), String>>);

const READERS: [Reader; 9] = [
    ("SimGrid", SIMGRID, platform),
    ("cluster", CLUSTER, platform),
    ("memory of sacct", SACCT_MEMORY, |bytes| {
        Some(parse_sacct_memory("x", &mut &*bytes).map(drop).map_err(|error| error.to_string()))
    }),
    ("failures", FAILURES, |bytes| {
        let platform = Platform::cluster(2, 4).expect("8 are enough");
        Some(parse_failures("x", bytes, &platform).map(drop).map_err(|error| error.to_string()))
    }),
    ("plan of a tree", TREE_PLAN, |bytes| {
        let tree = parse_instance(TREE.as_bytes(), "x", &ReadOptions::default()).expect("the tree is one");
        let problem = TreeProblem::new(&tree.instance).expect("the tree is one");
        let read = TreePlanFile::read("x", bytes, &tree.instance).map_err(|error| error.to_string());
        Some(read.map(|file| {
            // Performs the checks of `verify`. The checks may find problems, but must not panic.
            let problems = file.problems(&tree.instance, &problem);
            assert!(bytes != TREE_PLAN.as_bytes() || problems.is_empty(), "{problems:?}");
        }))
    }),
    ("speed-up", "downey:3,0.5", |bytes| word(bytes, |text| text.parse::<SpeedupSpec>().is_ok())),
    ("bandwidth", "7Mbit/s", |bytes| word(bytes, |text| parse_bandwidth(text).is_ok())),
    ("time", "12.5min", |bytes| word(bytes, |text| Time::parse(text).is_ok())),
    ("processors", "0-3,8", |bytes| word(bytes, |text| text.parse::<makespan_core::ProcSet>().is_ok())),
];

fn platform(bytes: &[u8]) -> Option<Result<(), String>> {
    let text = std::str::from_utf8(bytes).ok()?;
    Some(read_simgrid("x", text).map(drop).map_err(|error| error.to_string()))
}

fn word(bytes: &[u8], accepts: impl Fn(&str) -> bool) -> Option<Result<(), String>> {
    accepts(std::str::from_utf8(bytes).ok()?).then_some(Ok(()))
}

#[test]
fn broken_tables_platforms_and_words_are_refused_without_panic() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for (name, seed, read) in READERS {
        let (mut accepted, cases) = (0, CASES / 8);
        for _ in 0..cases {
            let mut bytes = seed.as_bytes().to_vec();
            mutate(&mut bytes, JSON.as_bytes(), &mut rng);
            match read(&bytes) {
                Some(Ok(())) => accepted += 1,
                Some(Err(error)) => assert_clear(&error, &bytes),
                None => {}
            }
        }
        assert!(accepted < cases, "{name}: everything is accepted");
        let whole = read(seed.as_bytes());
        assert_eq!(whole, Some(Ok(())), "{name}");
    }
}

#[test]
fn broken_schedules_are_refused_without_panic() {
    let job = Job::new("a", Profile::rigid(5, Time::from_ticks(2_500_000_000)).unwrap());
    let bag = Job::new("b", Profile::rigid(1, Time::from_seconds(2)).unwrap()).with_count(2.try_into().unwrap());
    let instance = Instance::new(Platform::flat(8).unwrap(), vec![job, bag], vec![]).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut accepted = 0;
    ScheduleFile::read("x", SCHEDULE.as_bytes(), &instance).expect("the file is valid before it is broken");
    for _ in 0..CASES {
        let mut bytes = SCHEDULE.as_bytes().to_vec();
        mutate(&mut bytes, SET.as_bytes(), &mut rng);
        match ScheduleFile::read("x", &bytes, &instance) {
            Ok(file) => {
                accepted += 1;
                // Functions that use a file must not panic either.
                let _ = makespan_core::validate(&instance, &file.schedule);
                let _ = makespan_core::Metrics::of(&instance, &file.schedule);
                write_swf(&instance, Some(&file.schedule), &mut Vec::new()).expect("memory is writable");
                for bound in &file.bounds {
                    let _ = bound.verify(&instance);
                }
            }
            Err(error) => assert_clear(&error.to_string(), &bytes),
        }
    }
    assert!(accepted > CASES / 200 && accepted < CASES, "{accepted} accepted");
}
