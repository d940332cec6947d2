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
    expect.push(("107", 25_200.0, 4));
    assert_eq!(jobs, expect);
    assert_eq!(users(&replay), [1, 0, 2, 2, 1, 1, 1, 1, 1, 1].map(Some));
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
    assert!(replay.remarks.last().unwrap().starts_with("times count from the first submission"));
    let planned = parse_instance(DUMP.as_bytes(), "x", &ReadOptions { processors: Some(8), ..ReadOptions::default() });
    assert_eq!(planned.unwrap().instance.jobs().len(), 5);
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
    check("JobID|Submit|Elapsed|NCPUS|Elapsed\n", "jobs.txt:1: header: the column `Elapsed` is there twice");
    check("JobID|Submit|Elapsed|NCPUS\n1|2024-02-30T00:00:00|00:01:00|1\n", "`2024-02-30T00:00:00` is not an instant");
    check("JobID|Submit|Elapsed\n", "no column of processors");
    check("JobID|Submit|NCPUS|Start\n", "no column of run times");
    check("JobID|Submit|Elapsed|NCPUS\n1|yesterday|00:01:00|1\n", "jobs.txt:2: Submit: `yesterday` is not an instant");
    check("JobID|Submit|Elapsed|NCPUS\n1|2024-01-01T00:00:00|x|1\n", "jobs.txt:2: Elapsed: `x` is not a duration");
    check("JobID|Submit|Elapsed|NCPUS\n1|2024-01-01T00:00:00|00:00:01|many\n", "`many` is not a whole number");
    check("JobID|Submit|Elapsed|NCPUS\n", "no record can be a job");
    check("JobID|Submit|Elapsed|NCPUS\n1|2024-01-01T00:00:00|00:00:01|1|x|y\n", "more fields than the header names");
    let sizeless = read(DUMP, &ReplayOptions::default()).unwrap_err();
    assert!(sizeless.contains("how many processors the machine has; state the processors"), "{sizeless}");
    let strict = ReplayOptions { strict: true, ..on(8) };
    assert!(read(DUMP, &strict).unwrap_err().starts_with("jobs.txt:5: a record is refused"));
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
        remarks.contains("`memory` needed by 4 jobs, `6` the most, 96.64 GB; the machines state none"),
        "{remarks}"
    );
    assert!(remarks.contains("`gpus` needed by 1 job, `3` the most, 1; "), "{remarks}");
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
