//! The published logs and sets are read as they come, where they are present.

use std::path::PathBuf;

use makespan_formats::anomaly::Anomaly;
use makespan_formats::{Format, ReadOptions, ReplayOptions, read_instance, read_replay};

/// A file of the reference data beside the project; `None`, said aloud, where it is not.
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
    check("swf/KTH-SP2-1996-raw.swf.gz", Format::Swf, 100, 28_481);
    check("swf/KTH-SP2-filtered.swf.gz", Format::Swf, 100, 28_481);
    check("swf/CTC-SP2-filtered.swf.gz", Format::Swf, 338, 77_199);
    check("swf/lublin-256.swf.gz", Format::Swf, 256, 10_000);
}

/// How many records of each anomaly a log has when it is read for replay.
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
    odd("swf/KTH-SP2-1996-raw.swf.gz", 28_481, &[(Anomaly::ZeroRunTime, 8), (Anomaly::Overrun, 475)]);
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
        // A request below the time on one processor leaves out small allotments, never the logged one.
        assert_eq!(job.profile().time(processors), logged.profile().time(processors), "{}", job.name);
        assert_eq!(job.profile().max_processors(), 100);
    }
}
