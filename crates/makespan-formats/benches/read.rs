//! Measures how fast a log is read: HPC2N (202,876 jobs, gzip) if the file is present, or else a generated log of
//! 200,000 lines.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use makespan_core::{Placement, ProcSet, Schedule};
use makespan_formats::{ReadOptions, ReplayOptions, ScheduleFile, parse_instance, parse_replay};

const HPC2N: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/swf/HPC2N-2002-2.1-cln.swf.gz");

fn generated() -> Vec<u8> {
    let mut text = String::from("; MaxProcs: 240\n");
    for job in 0..200_000_u32 {
        let (submit, run, width) = (job * 7, 1 + job * 7919 % 9973, 1 + job * 31 % 64);
        writeln!(text, "{job:6} {submit:8} -1 {run:6} {width:4} -1 -1 {width:4} {run} -1 1 1 1 -1 -1 1 -1 -1")
            .expect("a text is writable");
    }
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).expect("memory is writable");
    encoder.finish().expect("memory is writable")
}

fn read(criterion: &mut Criterion) {
    let (name, bytes) = if Path::new(HPC2N).exists() {
        ("HPC2N", std::fs::read(HPC2N).expect("the log is readable"))
    } else {
        eprintln!("HPC2N is not present: a generated log stands in");
        ("generated", generated())
    };
    let options = ReadOptions::default();
    criterion.bench_function(&format!("read {name} swf.gz"), |bencher| {
        bencher.iter(|| parse_instance(black_box(&bytes), "log.swf.gz", &options).expect("the log is valid"));
    });
    criterion.bench_function(&format!("read {name} swf.gz for replay"), |bencher| {
        let options = ReplayOptions::default();
        bencher.iter(|| parse_replay(black_box(&bytes), "log.swf.gz", &options).expect("the log is valid"));
    });
    let instance = parse_instance(&bytes, "log.swf.gz", &options).expect("the log is valid").instance;
    let placement = |task| {
        let (start, profile) = (instance.release(task), instance.profile(task));
        let processors = ProcSet::first(profile.min_processors());
        Placement { task, start, end: start + profile.longest(), processors }
    };
    let file = ScheduleFile::new(&instance, "none", Schedule::new(instance.task_ids().map(placement).collect()));
    let mut text = Vec::new();
    criterion.bench_function("write schedule JSON", |bencher| {
        bencher.iter(|| {
            text.clear();
            file.write(&instance, &mut text).expect("memory is writable");
        });
    });
    criterion.bench_function("read schedule JSON", |bencher| {
        bencher.iter(|| ScheduleFile::read("s.json", black_box(&text), &instance).expect("the file is valid"));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = read
}
criterion_main!(benches);
