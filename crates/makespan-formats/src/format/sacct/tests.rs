use makespan_core::{Platform, Time};

use crate::anomaly::Anomaly;
use crate::{Format, ReadOptions, Replay, ReplayOptions, parse_instance, parse_replay};

const DUMP: &str = "\
JobID|User|Submit|Start|End|Elapsed|Timelimit|AllocCPUS|ReqCPUS|State
100|ann|2024-03-30T23:00:00|2024-03-30T23:00:10|2024-03-31T01:00:10|02:00:00|1-00:00:00|8|8|COMPLETED
100.batch||2024-03-30T23:00:00|2024-03-30T23:00:10|2024-03-31T01:00:10|02:00:00||8|8|COMPLETED
100.0||2024-03-30T23:00:00|2024-03-30T23:00:11|2024-03-31T01:00:10|01:59:59||8|8|COMPLETED
101_4|bob|2024-03-30T22:00:00|2024-03-30T23:00:10|2024-03-30T23:10:10|00:10:00|UNLIMITED|2|2|FAILED
102|ann|2024-03-31T00:00:00|None|2024-03-31T00:01:00|00:00:00|01:00:00|0|4|CANCELLED by 1000
103|ann|2024-03-31T00:00:00|Unknown|Unknown|00:00:00|Partition_Limit|0|4|PENDING
104+0|cee|2024-03-31T00:00:00|2024-03-31T00:00:01|2024-03-31T00:10:01|00:10:00|00:05:00|1|1|TIMEOUT
104+1|cee|2024-03-31T00:00:00|2024-03-31T00:00:01|2024-03-31T00:10:01|00:10:00|00:05:00|2|2|TIMEOUT
105_[5-9%2]|bob|2024-03-31T00:00:00|Unknown|Unknown|00:00:00|10:00|0|1|PENDING
106|bob|2024-03-31T00:00:00|2024-03-31T00:00:01|2024-03-31T00:00:01|00:00:00|10:00|4|4|CANCELLED by 7
100|ann|2024-03-31T03:00:00|2024-03-31T03:00:10|2024-03-31T04:00:10|01:00:00|1-00:00:00|8|8|COMPLETED
107|bob|2024-03-31T05:00:00|2024-03-31T05:00:01|2024-03-31T05:01:01|00:01:00|10:00|4
";

fn read(text: &str, options: &ReplayOptions) -> Result<Replay, String> {
    parse_replay(text.as_bytes(), "jobs.txt", options).map_err(|error| error.to_string())
}

fn on(processors: u32) -> ReplayOptions {
    ReplayOptions { platform: Platform::flat(processors).ok(), ..ReplayOptions::default() }
}

fn users(replay: &Replay) -> Vec<Option<u32>> {
    replay.instance.jobs().iter().map(|job| job.user).collect()
}

#[test]
fn a_dump_becomes_jobs_and_what_is_odd_is_counted() {
    let replay = read(DUMP, &on(8)).unwrap();
    assert_eq!(replay.format, Format::Sacct);
    let told = |id| {
        let (job, profile) = (replay.instance.job(id), replay.instance.profile_of(id));
        (job.name.as_str(), job.release.seconds(), profile.min_processors())
    };
    let jobs: Vec<(&str, f64, u32)> = replay.instance.ids().map(told).collect();
    let mut expect = vec![("101_4", 0.0, 2), ("100", 3600.0, 8), ("104+0", 7200.0, 1), ("104+1", 7200.0, 2)];
    expect.extend(["105_5", "105_6", "105_7", "105_8", "105_9"].map(|part| (part, 7200.0, 1)));
    expect.push(("106", 7200.0, 4));
    expect.push(("107", 25_200.0, 4));
    assert_eq!(jobs, expect);
    assert_eq!(users(&replay), [1, 0, 2, 2, 1, 1, 1, 1, 1, 1, 1].map(Some));
    assert_eq!(replay.instance.jobs()[1].walltime, Some(Time::from_seconds(86_400)));
    assert_eq!(replay.instance.jobs()[0].walltime, None);
    let found: Vec<_> = replay.report.found.iter().map(|found| (found.anomaly, found.count, found.first)).collect();
    let expect = [
        (Anomaly::NoRunTime, 1, 6),
        (Anomaly::NotEnded, 1, 7),
        (Anomaly::Component, 2, 8),
        (Anomaly::StillWaits, 5, 10),
        (Anomaly::ZeroRunTime, 1, 11),
        (Anomaly::RepeatedNumber, 1, 12),
        (Anomaly::ShortRecord, 1, 13),
        (Anomaly::NoEstimate, 1, 5),
        (Anomaly::Overrun, 2, 8),
        (Anomaly::OutOfOrder, 1, 5),
    ];
    assert_eq!(found, expect);
    assert!(replay.remarks.last().unwrap().starts_with("time 0 is the first submission"));
    let planned = parse_instance(DUMP.as_bytes(), "x", &ReadOptions { processors: Some(8), ..ReadOptions::default() });
    assert_eq!(planned.unwrap().instance.jobs().len(), 6);
}

#[test]
fn raw_columns_and_separators_at_the_end_are_read_too() {
    let text =
        "JobIDRaw|UID|Submit|ElapsedRaw|TimelimitRaw|NCPUS|\n7|1000|1700000000|90|2|3|\n8|1000|1700000010|5||1|\n";
    let replay = read(text, &on(4)).unwrap();
    assert_eq!(users(&replay), [Some(0), Some(0)]);
    assert_eq!(replay.instance.jobs()[0].walltime, Some(Time::from_seconds(120)));
    assert_eq!(replay.instance.jobs()[1].release, Time::from_seconds(10));
}

#[test]
fn errors_name_the_line_and_the_column() {
    let check = |text: &str, expect: &str| {
        let error = read(text, &on(8)).unwrap_err();
        assert!(error.contains(expect), "{error} instead of {expect}");
    };
    check("JobID|User|Submitted|Elapsed|NCPUS\n", "jobs.txt:1: header: no column `Submit`; the nearest is `Submitted`");
    check("JobID|Submit|Elapsed|NCPUS|Elapsed\n", "jobs.txt:1: header: the column `Elapsed` occurs twice");
    check(
        "JobID|Submit|Elapsed|NCPUS\n1|2024-02-30T00:00:00|00:01:00|1\n",
        "no readable submit time (first at line 2)",
    );
    check("JobID|Submit|Elapsed\n", "no column of processors");
    check("JobID|Submit|NCPUS|Start\n", "no column of run times");
    check(
        "JobID|Submit|Elapsed|NCPUS\n1|yesterday|00:01:00|1\n",
        "no record can be read as a job (1 record skipped: no readable submit time (first at line 2))",
    );
    check(
        "JobID|Submit|Elapsed|NCPUS\n1|2024-01-01T00:00:00|00:00:01|many\n",
        "the number of processors is not whole (first at line 2)",
    );
    check("JobID|Submit|Elapsed|NCPUS\n", "no record can be read as a job");
    check(
        "JobID|Submit|Elapsed|NCPUS\n1|2024-01-01T00:00:00|00:00:01|1|x|y\n",
        "the record has more fields than the header",
    );
    let sizeless = read(DUMP, &ReplayOptions::default()).unwrap_err();
    assert!(sizeless.contains("the number of processors of the machine; state the processors"), "{sizeless}");
    let strict = ReplayOptions { strict: true, ..on(8) };
    assert!(read(DUMP, &strict).unwrap_err().starts_with("jobs.txt:5: --strict does not allow this record"));
}

#[test]
fn what_jobs_need_is_read_where_the_machines_state_it() {
    let text = "JobID|Submit|Elapsed|AllocCPUS|ReqMem|ReqTRES|AllocTRES|NNodes\n\
        1|1700000000|00:01:00|4|4Gn|||2\n2|1700000000|00:01:00|4|2Gc|||1\n3|1700000000|00:01:00|2|9G|cpu=2,mem=1G|cpu=2,mem=2G,gres/gpu=1|1\n\
        4|1700000000|00:01:00|1|lots|||1\n5|1700000000|00:01:00|1|0|||1\n6|1700000000|00:01:00|1|90G|||1\n";
    let resources = makespan_core::Resources::new([("memory", 16 << 30), ("gpus", 1)]).unwrap();
    let platform = Platform::cluster(2, 4).unwrap().with_node_resources(&resources).unwrap();
    let replay = read(text, &ReplayOptions { platform: Some(platform), ..ReplayOptions::default() }).unwrap();
    let instance = &replay.instance;
    let need = |name| {
        instance
            .task_ids()
            .map(|task| {
                let processors = instance.profile(task).min_processors();
                instance.task(task).needs.of(name).map_or(0, |need| need.total(processors))
                    >> if name == "gpus" { 0 } else { 30 }
            })
            .collect::<Vec<_>>()
    };
    assert_eq!((need("memory"), need("gpus")), (vec![8, 8, 2, 0, 0], vec![0, 0, 1, 0, 0]));
    let odd: Vec<_> = replay.report.found.iter().map(|found| (found.anomaly, found.first)).collect();
    assert!(odd.contains(&(Anomaly::BrokenNeeds, 5)) && odd.contains(&(Anomaly::NoRoom, 7)), "{odd:?}");
    let bare = read(text, &on(8)).unwrap();
    assert_eq!(bare.instance.jobs().len(), 6);
    let remarks = bare.remarks.join("; ");
    assert!(
        remarks.contains(
            "`memory` is needed by 4 jobs (largest need: 96.64 GB, of job `6`); the machines state no such resource"
        ),
        "{remarks}"
    );
    assert!(remarks.contains("`gpus` is needed by 1 job (largest need: 1, of job `3`); "), "{remarks}");
}

#[test]
fn what_is_expected_of_a_job_that_waits_has_not_happened() {
    let dump = |start: &str, eligible: &str| {
        format!(
            "JobID|Submit|Eligible|Start|End|Elapsed|Timelimit|NCPUS|State\n\
             1|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:00:00|Unknown|00:10:00|01:00:00|4|RUNNING\n\
             2|2024-01-01T00:05:00|{eligible}|{start}|Unknown|00:00:00|01:00:00|4|PENDING\n"
        )
    };
    for (start, eligible) in [
        ("Unknown", "2024-01-01T00:05:00"),
        ("2024-01-01T01:00:00", "2024-01-01T00:05:00"),
        ("Unknown", "2024-02-01T00:00:00"),
    ] {
        let replay = read(&dump(start, eligible), &on(4)).unwrap();
        assert_eq!(replay.past.now, Some(Time::from_seconds(600)), "{start} {eligible}");
        assert_eq!(replay.past.starts, [Some(Time::ZERO), None], "{start} {eligible}");
    }
}

#[test]
fn a_list_of_tasks_that_slurm_has_cut_is_expanded_and_counted() {
    let text = "JobID|JobName|Submit|Start|End|Elapsed|Timelimit|AllocCPUS|State\n\
        204_[1,3,5,4...%5]|a.b|2024-03-01T10:00:00|Unknown|Unknown|00:00:00|05:00:00|2|PENDING\n\
        204_[1,3,5,4...%5].batch|batch|2024-03-01T10:00:00|Unknown|Unknown|00:00:00||2|PENDING\n";
    let replay = read(text, &on(8)).unwrap();
    let names: Vec<&str> = replay.instance.jobs().iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["204_1", "204_3", "204_5"]);
    let remarks = replay.remarks.join("; ");
    assert!(
        remarks.contains("1 record: Slurm has cut off the list") && remarks.contains("SLURM_BITSTR_LEN=0"),
        "{remarks}"
    );
    assert!(read(text, &ReplayOptions { strict: true, ..on(8) }).is_err());
}

/// Checks that a `|` in free text does not shift the other columns.
#[test]
fn a_name_may_hold_the_sign_between_columns() {
    for (header, line) in [
        ("JobID|JobName|Submit|Elapsed|NCPUS|State", "7|a|b||c|2024-03-01T10:00:00|00:10:00|4|COMPLETED"),
        ("JobID|Submit|Elapsed|NCPUS|State|JobName", "7|2024-03-01T10:00:00|00:10:00|4|COMPLETED|a|b|"),
        ("JobID|JobName|Submit|Elapsed|NCPUS|State|", "7|a|b|2024-03-01T10:00:00|00:10:00|4|COMPLETED|"),
        ("JobName|JobID|Submit|Elapsed|Comment|NCPUS|State", "a|b|7|2024-03-01T10:00:00|00:10:00|x|4|COMPLETED"),
        ("JobName|JobID|Submit|Elapsed|Comment|NCPUS|State", "a|7|2024-03-01T10:00:00|00:10:00|x|y|4|COMPLETED"),
    ] {
        let replay = read(&format!("{header}\n{line}\n"), &on(8)).unwrap_or_else(|error| panic!("{line}: {error}"));
        let job = &replay.instance.jobs()[0];
        let profile = replay.instance.profile(makespan_core::TaskId(0));
        assert_eq!(
            (&*job.name, profile.min_processors(), profile.shortest()),
            ("7", 4, Time::from_seconds(600)),
            "{line}"
        );
        assert!(replay.report.found.iter().all(|found| found.anomaly == Anomaly::NoEstimate), "{line}");
    }
}

#[test]
fn joined_dumps_and_zones_are_read() {
    let text = "JobID|Submit|Elapsed|AllocCPUS|State\n1|2024-03-01T10:00:00+0100|00:10:00|4|COMPLETED\n\
        JobIDRaw|AllocCPUS|Submit|Elapsed|State\n2|3|2024-03-01T10:00:00Z|00:10:00|COMPLETED\n";
    let replay = read(text, &on(8)).unwrap();
    let jobs: Vec<(&str, f64)> = replay.instance.jobs().iter().map(|job| (&*job.name, job.release.seconds())).collect();
    assert_eq!(jobs, [("1", 0.0), ("2", 3600.0)]);
    assert!(replay.remarks.last().unwrap().contains("10:00:00"), "{:?}", replay.remarks);
}

#[test]
fn values_that_cannot_be_cost_no_record() {
    let header = "JobID|Submit|Start|End|Elapsed|Timelimit|AllocCPUS|State";
    let good = [
        "1",
        "2024-03-01T10:00:00",
        "2024-03-01T10:00:05",
        "2024-03-01T10:10:05",
        "00:10:00",
        "01:00:00",
        "4",
        "COMPLETED",
    ];
    for (at, value, seconds, anomaly) in [
        (4, "00:00:00", 1e-9, Anomaly::ZeroRunTime),
        (4, "x", 600.0, Anomaly::BrokenField),
        (4, "999999-00:00:00", 60.0, Anomaly::GuessedRunTime),
        (5, "x", 600.0, Anomaly::BrokenLimit),
        (5, "200000-00:00:00", 600.0, Anomaly::BrokenLimit),
        (2, "then", 600.0, Anomaly::BrokenField),
    ] {
        let mut cells = good;
        cells[at] = value;
        let text = format!("{header}\n{}\n", cells.join("|"));
        let clairvoyant = ReplayOptions { estimates: crate::Estimates::Clairvoyant, ..on(8) };
        let replay = read(&text, &clairvoyant).unwrap();
        let shortest = replay.instance.profile(makespan_core::TaskId(0)).shortest();
        assert_eq!(shortest.seconds().to_bits(), f64::to_bits(seconds), "{value}");
        let found: Vec<Anomaly> = replay.report.found.iter().map(|found| found.anomaly).collect();
        assert_eq!(found, [anomaly], "{value}");
        assert!(read(&text, &ReplayOptions { strict: true, ..clairvoyant }).is_err(), "{value}");
    }
}
