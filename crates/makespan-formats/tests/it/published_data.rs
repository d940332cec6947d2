//! Reads published logs and sets in their original form, if they are present.

use std::io::Read;
use std::path::PathBuf;

use makespan_core::{JobId, Time};
use makespan_formats::anomaly::Anomaly;
use makespan_formats::{Format, ReadOptions, ReplayOptions, parse_instance, read_instance, read_replay};

/// Returns the path of a file of the reference data next to the project. If the file does not exist, prints a message
/// and returns `None`.
fn data(name: &str) -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let path = root.join("shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not present", path.display());
    None
}

fn check(name: &str, format: Format, processors: u32, jobs: usize) {
    let Some(path) = data(name) else { return };
    let read = read_instance(&path, &ReadOptions::default()).unwrap();
    assert_eq!(read.format, format, "{name}");
    assert_eq!((read.instance.processors(), read.instance.jobs().len()), (processors, jobs), "{:?}", read.remarks);
}

#[test]
fn logs_of_the_parallel_workloads_archive() {
    check("swf/HPC2N-2002-2.1-cln.swf.gz", Format::Swf, 240, 202_876);
    check("swf/KTH-SP2-1996-raw.swf.gz", Format::Swf, 100, 28_489);
    check("swf/KTH-SP2-filtered.swf.gz", Format::Swf, 100, 28_481);
    check("swf/CTC-SP2-filtered.swf.gz", Format::Swf, 338, 77_199);
    check("swf/lublin-256.swf.gz", Format::Swf, 256, 10_000);
}

/// Checks the number of records with each anomaly when a log is read for a replay.
fn odd(name: &str, jobs: usize, expect: &[(Anomaly, usize)]) {
    let Some(path) = data(name) else { return };
    let replay = read_replay(&path, &ReplayOptions::default()).unwrap();
    let found: Vec<_> = replay.report.found.iter().map(|found| (found.anomaly, found.count)).collect();
    assert_eq!(found, expect, "{name}");
    assert_eq!((replay.report.jobs, replay.instance.jobs().len()), (jobs, jobs), "{name}");
}

#[test]
fn logs_for_replay() {
    odd("swf/HPC2N-2002-2.1-cln.swf.gz", 202_876, &[(Anomaly::Overrun, 14_817)]);
    odd("swf/KTH-SP2-1996-raw.swf.gz", 28_489, &[(Anomaly::ZeroRunTime, 8), (Anomaly::Overrun, 475)]);
    odd("swf/KTH-SP2-filtered.swf.gz", 28_481, &[]);
    odd("swf/CTC-SP2-filtered.swf.gz", 77_199, &[]);
    odd("swf/lublin-256.swf.gz", 10_000, &[(Anomaly::NoEstimate, 10_000)]);
}

#[test]
fn moldable_sets() {
    check("moldable/problem_n10_m16_k1_i0.in.bz2", Format::MoldableSet, 16, 10);
    check("moldable/problem_n10_m4_k1_i1.in.bz2", Format::MoldableSet, 4, 10);
}

#[test]
fn matrices_of_braun_et_al() {
    check("etc/u_c_hihi.0.gz", Format::Etc, 16, 512);
    check("etc/u_i_lohi.0.gz", Format::Etc, 16, 512);
}

#[test]
fn a_log_with_a_speedup_becomes_moldable() {
    let Some(path) = data("swf/KTH-SP2-1996-raw.swf.gz") else { return };
    let rigid = read_instance(&path, &ReadOptions::default()).unwrap().instance;
    let options = ReadOptions { speedup: "downey:random".parse().ok(), seed: 1, ..ReadOptions::default() };
    let moldable = read_instance(&path, &options).unwrap().instance;
    for (logged, job) in rigid.simple_jobs().zip(moldable.simple_jobs()) {
        let processors = logged.profile().min_processors();
        // A requested time below the time on one processor excludes small allotments, but never the logged allotment.
        assert_eq!(job.profile().time(processors), logged.profile().time(processors), "{}", job.name);
        assert_eq!(job.profile().max_processors(), 100);
    }
}

/// Returns the files in a compressed `tar` archive. Each file is a block of 512 bytes with its name and size, followed
/// by whole blocks of content.
fn unpacked(archive: &PathBuf) -> Vec<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(archive).unwrap()).read_to_end(&mut bytes).unwrap();
    let (mut files, mut at) = (Vec::new(), 0);
    while bytes.get(at).is_some_and(|&byte| byte != 0) {
        let text = |from: usize, to: usize| {
            let field = &bytes[at + from..at + to];
            let end = field.iter().position(|&byte| byte == 0 || byte == b' ').unwrap_or(field.len());
            String::from_utf8_lossy(&field[..end]).into_owned()
        };
        let size = usize::from_str_radix(&text(124, 136), 8).unwrap();
        files.push((text(0, 100), bytes[at + 512..at + 512 + size].to_vec()));
        at += 512 + size.div_ceil(512) * 512;
    }
    files
}

#[test]
fn projects_of_psplib() {
    let Some(archive) = data("psplib.tar.gz") else { return };
    let files = unpacked(&archive);
    let best = files.iter().find(|(name, _)| name.ends_with("best.csv")).unwrap();
    let best = String::from_utf8(best.1.clone()).unwrap();
    let mut read = 0;
    for (path, bytes) in &files {
        let Some((stem, ending)) = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')) else { continue };
        let format = match ending {
            "rcp" => Format::Patterson,
            "mm" => Format::ProGen,
            _ => continue,
        };
        // Here the format is recognised only by the content.
        let project = parse_instance(bytes, stem, &ReadOptions::default());
        let project = project.unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(project.format, format, "{path}");
        read += 1;
        let Some(row) = best.lines().find(|row| row.split(',').next() == Some(stem)) else { continue };
        let path: i64 = row.split(',').nth(1).unwrap().parse().unwrap();
        let job = project.instance.submitted(JobId(0));
        let graph = job.work.graph().unwrap();
        let longest = graph.longest_path(|task| graph.task(task).profile.shortest());
        assert_eq!(longest, Time::from_seconds(path), "{stem}");
    }
    assert_eq!(read, 1378);
}
