//! `makespan report`: the figures of a log by account, user, partition and month.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::cli::sandbox::Sandbox;

/// A job of a random log. Times are in seconds after the beginning of 2024.
struct RandomJob {
    account: &'static str,
    user: &'static str,
    partition: &'static str,
    submitted: i64,
    wait: i64,
    run: i64,
    limit: i64,
    processors: i64,
    state: &'static str,
}

/// The unit of all times of the random log in seconds, so that an hour of a job can be counted in steps.
const STEP: i64 = 600;

/// Returns random jobs of the first months of 2024, from a linear congruential generator.
fn random_jobs(count: usize) -> Vec<RandomJob> {
    let mut state = 2024_u64;
    let mut below = |limit: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as i64) % limit
    };
    let mut job = || {
        let limit = (1 + below(300)) * STEP;
        let state = ["COMPLETED", "COMPLETED", "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED by 5", "OUT_OF_MEMORY"];
        let state = state[below(7) as usize];
        RandomJob {
            account: ["phys", "bio", ""][below(3) as usize],
            user: ["ann", "bob", "cem", "dee"][below(4) as usize],
            partition: ["batch", "gpu"][below(2) as usize],
            submitted: below(90 * 144) * STEP,
            wait: below(4) * below(200) * STEP,
            run: if state == "TIMEOUT" { limit } else { below(limit / STEP) * STEP },
            limit,
            processors: 1 + below(64),
            state,
        }
    };
    (0..count).map(|_| job()).collect()
}

/// Returns the day of the year 2024 as a date, and the month from 0.
fn date(seconds: i64) -> (String, usize) {
    let lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let (mut day, mut month) = (seconds / 86_400, 0);
    while day >= lengths[month] {
        day -= lengths[month];
        month += 1;
    }
    let of_day = seconds % 86_400;
    let clock = format!("{:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60);
    (format!("2024-{:02}-{:02}T{clock}", month + 1, day + 1), month)
}

fn span(seconds: i64) -> String {
    format!("{}-{:02}:{:02}:{:02}", seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
}

fn dump(jobs: &[RandomJob]) -> String {
    let mut text = "JobID|User|Account|Partition|Submit|Start|End|Elapsed|Timelimit|AllocCPUS|State\n".to_owned();
    for (number, job) in jobs.iter().enumerate() {
        let start = job.submitted + job.wait;
        let dates = [job.submitted, start, start + job.run].map(|at| date(at).0).join("|");
        let (run, limit) = (span(job.run), span(job.limit));
        let RandomJob { account, user, partition, processors, state, .. } = job;
        let _ = writeln!(text, "{number}|{user}|{account}|{partition}|{dates}|{run}|{limit}|{processors}|{state}");
    }
    text
}

/// The figures of a group, computed step by step.
fn slow(jobs: &[&RandomJob], month: Option<usize>, hours: f64, processors: i64) -> BTreeMap<&'static str, f64> {
    let is_in = |at: i64| month.is_none_or(|month| date(at).1 == month);
    let (mut steps, mut failed) = (0, 0);
    for job in jobs {
        for at in (job.submitted + job.wait..job.submitted + job.wait + job.run).step_by(STEP as usize) {
            steps += if is_in(at) { job.processors } else { 0 };
            failed += if is_in(at) && job.state != "COMPLETED" { job.processors } else { 0 };
        }
    }
    let ended: Vec<&&RandomJob> = jobs.iter().filter(|job| is_in(job.submitted + job.wait + job.run)).collect();
    let rank = |percent: usize| {
        let reached = |wait: i64| ended.iter().filter(|job| job.wait <= wait).count() * 100 >= percent * ended.len();
        ended.iter().map(|job| job.wait).filter(|&wait| reached(wait)).min().unwrap_or(0) as f64
    };
    let sum = |of: fn(&RandomJob) -> i64| ended.iter().map(|job| of(job)).sum::<i64>() as f64;
    let core_hours = (steps * STEP) as f64 / 3600.0;
    BTreeMap::from([
        ("jobs", ended.len() as f64),
        ("core_hours", core_hours),
        ("mean", sum(|job| job.wait) / ended.len() as f64),
        ("median", rank(50)),
        ("p95", rank(95)),
        ("utilisation", core_hours / (hours * processors as f64)),
        ("died_at_limit", ended.iter().filter(|job| job.state == "TIMEOUT").count() as f64),
        ("limit_used", sum(|job| job.run) / sum(|job| job.limit)),
        ("failed_core_hours", (failed * STEP) as f64 / 3600.0),
    ])
}

/// Checks that two tables of figures are equal to twelve digits.
fn agree(found: &Value, expected: &BTreeMap<&str, f64>, place: &str) {
    for (&key, &value) in expected {
        let found = found.get(key).unwrap_or_else(|| &found["wait"][key]).as_f64();
        let is_equal = found.is_some_and(|found| (found - value).abs() <= 1e-12 * value.abs());
        assert!(is_equal || (value.is_nan() && found.is_none()), "{place} {key}: {found:?} instead of {value}");
    }
}

#[test]
fn figures_agree_with_a_computation_step_by_step() {
    let jobs = random_jobs(400);
    let sandbox = Sandbox::new();
    sandbox.write("log.txt", dump(&jobs));
    let line = "report log.txt --by account,user,partition --month --processors 3000 --format json";
    let document: Value = serde_json::from_str(&sandbox.makespan(line).succeeds()).unwrap();
    let (begin, end) = (
        jobs.iter().map(|job| job.submitted).min().unwrap(),
        jobs.iter().map(|job| job.submitted + job.wait + job.run).max().unwrap(),
    );
    let sections = document["sections"].as_array().unwrap();
    assert_eq!(sections.len(), date(end).1 + 2, "the months, and the whole log");
    for (index, section) in sections.iter().enumerate() {
        let month = (index + 1 < sections.len()).then_some(index);
        let steps = (begin..end).step_by(STEP as usize).filter(|&at| month.is_none_or(|month| date(at).1 == month));
        let hours = (steps.count() as i64 * STEP) as f64 / 3600.0;
        assert_eq!(section["hours"].as_f64(), Some(hours));
        let name = month.map(|month| format!("2024-{:02}", month + 1));
        assert_eq!(section["month"].as_str(), name.as_deref());
        agree(&section["total"], &slow(&jobs.iter().collect::<Vec<_>>(), month, hours, 3000), "total");
        for by in ["account", "user", "partition"] {
            let of = |job: &RandomJob| match by {
                "account" => job.account,
                "user" => job.user,
                _ => job.partition,
            };
            let groups = section["groups"][by].as_array().unwrap();
            let hours_of = |group: &Value| group["core_hours"].as_f64().unwrap();
            assert!(groups.windows(2).all(|pair| hours_of(&pair[0]) >= hours_of(&pair[1])), "{by} are not in order");
            // A group without jobs in a month has no row in this month.
            let listed = |name: &str| groups.iter().any(|group| group["name"].as_str().unwrap_or_default() == name);
            for name in jobs.iter().map(of).filter(|name| !listed(name)) {
                let own: Vec<&RandomJob> = jobs.iter().filter(|job| of(job) == name).collect();
                let figures = slow(&own, month, hours, 3000);
                assert_eq!((figures["jobs"], figures["core_hours"]), (0.0, 0.0), "{by} {name}");
            }
            for group in groups {
                let name = group["name"].as_str().unwrap_or_default();
                let own: Vec<&RandomJob> = jobs.iter().filter(|job| of(job) == name).collect();
                agree(group, &slow(&own, month, hours, 3000), &format!("{by} {name}"));
            }
        }
    }
    // The CSV table contains the same figures.
    let csv = sandbox.makespan(&line.replace("json", "csv")).succeeds();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let groups = sections.iter().flat_map(|section| section["groups"].as_object().unwrap().values());
    assert_eq!(rows.len(), 1 + sections.len() + groups.map(|groups| groups.as_array().unwrap().len()).sum::<usize>());
    let total = rows.last().unwrap();
    assert_eq!(&total[..3], ["", "total", ""]);
    let whole = &sections.last().unwrap()["total"];
    assert_eq!(total[4], whole["core_hours"].to_string());
    assert_eq!(total[8], whole["wait"]["p95"].to_string().trim_end_matches(".0"));
}

#[test]
fn the_text_has_80_columns_and_states_what_is_missing() {
    let sandbox = Sandbox::new();
    sandbox.write("log.txt", dump(&random_jobs(400)));
    let text = sandbox.makespan("report log.txt --by account,user,partition --month").succeeds();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for part in ["2024-02", "all months", "(none)", "total", "the utilisation is unknown", "jobs state no account"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let short = sandbox.makespan("report log.txt --by user --limit 1 --processors 3000").succeeds();
    assert!(short.contains("3 more") && !short.contains("is unknown"), "{short}");
    let months = sandbox.makespan("report log.txt --month --processors 9").succeeds();
    let flat = crate::cli::sandbox::unwrapped(&months);
    assert!(months.contains("\n2024-03 ") && flat.contains("check the number of processors"), "{months}");
    assert!(!flat.contains("policy"), "a report has no notes about simulations: {months}");
    let line = |status: i64| format!("{0} {0} -1 100 2 -1 -1 2 100 -1 {status} 7 -1 -1 1 -1 -1 -1\n", 3 + status);
    sandbox.write("log.swf", format!("; MaxProcs: 8\n{}{}", line(0), line(1)));
    let text = sandbox.makespan("report log.swf --by account,user").succeeds();
    let flat = crate::cli::sandbox::unwrapped(&text);
    for part in ["2 jobs ended on 8 processors", "states no account", "waits are unknown", "SWF does not state deaths"]
    {
        assert!(flat.contains(part), "{part}: {text}");
    }
    let dated =
        format!("; UnixStartTime: 1704067200\n; MaxProcs: 8\n{}{}", line(0), line(1).replacen(" -1 100", " 0 100", 1));
    sandbox.write("dated.swf", &dated);
    assert!(sandbox.makespan("report dated.swf --month").succeeds().contains("\n2024-01 "));
    sandbox.write("log.swf", dated.replace(" 0 100", " -1 100"));
    for (options, part) in
        [("--month --by user", "the report has no months, and the utilisation"), ("", "the utilisation is unknown")]
    {
        let text = sandbox.makespan(&format!("report log.swf {options}")).succeeds();
        assert!(crate::cli::sandbox::unwrapped(&text).contains(part) && !text.contains("2024-01 "), "{text}");
    }
    let json = sandbox.makespan("report log.swf --month --format json").succeeds();
    let document: Value = serde_json::from_str(&json).unwrap();
    let sections = document["sections"].as_array().unwrap();
    assert_eq!((sections.len(), sections[0]["total"]["utilisation"].as_f64()), (1, None), "{document:#}");
}

#[test]
fn a_month_without_jobs_and_jobs_without_a_date_are_listed() {
    let sandbox = Sandbox::new();
    let job = |id: u32, wait: i64, at: i64| format!("{id} {at} {wait} 3600 2 -1 -1 2 7200 -1 1 7 3 -1 1 4 -1 -1\n");
    // The first job runs for half an hour in January and in February. No job runs in March.
    let log = [job(1, 1800, 31 * 86_400 - 3600), job(2, 0, 100 * 86_400), job(3, -1, 5)].concat();
    sandbox.write("log.swf", format!("; UnixStartTime: 1704067200\n; MaxProcs: 4\n{log}"));
    let text = sandbox.makespan("report log.swf --month --format csv").succeeds();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let figure = |month: &str, column: usize| rows.iter().find(|row| row[0] == month).unwrap()[column].to_owned();
    let hours = ["2024-01", "2024-02", "2024-03", "2024-04", "no date", ""].map(|month| figure(month, 4));
    assert_eq!(hours, ["1", "1", "0", "2", "2", "6"]);
    let jobs = ["2024-01", "2024-02", "2024-03", "2024-04", "no date", ""].map(|month| figure(month, 3));
    assert_eq!(jobs, ["0", "1", "0", "1", "1", "3"]);
    assert_eq!((figure("2024-03", 6), figure("no date", 9)), (String::new(), String::new()));
    // Numbers and sums over no jobs are 0. Shares of no jobs are unknown.
    for month in ["2024-01", "2024-03"] {
        assert_eq!([11, 12, 13].map(|column| figure(month, column)), ["0", "", "0"].map(str::to_owned), "{month}");
    }
    // The first job fails in February, so the core hours of January are lost too.
    sandbox.write(
        "log.swf",
        format!("; UnixStartTime: 1704067200\n; MaxProcs: 4\n{}", log.replacen(" -1 1 7 ", " -1 0 7 ", 1)),
    );
    let json = sandbox.makespan("report log.swf --month --format json").succeeds();
    let document: Value = serde_json::from_str(&json).unwrap();
    let total = |index: usize| &document["sections"][index]["total"];
    assert_eq!([0, 1].map(|index| total(index)["failed_core_hours"].as_f64()), [Some(1.0); 2], "{document:#}");
    assert_eq!((total(0)["died_at_limit"].as_u64(), total(0)["limit_used"].as_f64()), (Some(0), None));
    let text = sandbox.makespan("report log.swf --month").succeeds();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let row = text.lines().find(|line| line.starts_with("2024-01")).map(words).unwrap();
    assert_eq!((row[1].as_str(), row[7].as_str(), row[9].as_str()), ("0", "0", "1.0"), "{text}");
    // If the log states no end, deaths and lost core hours are unknown.
    sandbox.write(
        "log.swf",
        format!("; UnixStartTime: 1704067200\n; MaxProcs: 4\n{}", log.replace(" -1 1 7 ", " -1 -1 7 ")),
    );
    let json = sandbox.makespan("report log.swf --format json").succeeds();
    let document: Value = serde_json::from_str(&json).unwrap();
    assert!(document["sections"][0]["total"]["died_at_limit"].is_null(), "{document:#}");
    assert!(document["sections"][0]["total"]["failed_core_hours"].is_null(), "{document:#}");
}

#[test]
fn hostile_logs_are_refused_or_printed_harmlessly() {
    let sandbox = Sandbox::new();
    sandbox.write("empty.txt", "");
    sandbox.write("header.txt", "JobID|Submit|Start|End|Elapsed|AllocCPUS|State\n");
    sandbox.write("native.json", "{\"version\": 1, \"platform\": {\"processors\": 2}, \"jobs\": []}");
    sandbox.makespan("report empty.txt").refused(&["empty.txt", "empty"]);
    sandbox.makespan("report header.txt").refused(&["header.txt", "no record can be read as a job"]);
    sandbox.makespan("report native.json").refused(&["native.json", "not a log"]);
    sandbox.makespan("report none.txt").refused(&["none.txt"]);
    sandbox.makespan("report header.txt --by user,user").refused(&["--by names user twice"]);
    sandbox.makespan("report header.txt --limit 2 --format csv").refused(&["--limit"]);
    sandbox.makespan("report header.txt --processors 0").misused(&["--processors"]);
    let head = "JobID|User|Account|Submit|Start|End|Elapsed|Timelimit|AllocCPUS|State\n";
    let odd = "1|=1+1|a\u{1b}[2Jb|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:00:00|00:00:00|00:00:00|1|COMPLETED\n\
               2|x|x|2024-01-01T00:00:00|2024-01-01T00:00:00|2023-12-31T00:00:00|-5|01:00:00|1|FAILED\n\
               3|x|x|2024-01-01T00:00:00|2024-01-01T01:00:00|2024-01-01T02:00:00|01:00:00|01:00:00|-4|FAILED\n";
    sandbox.write("odd.txt", format!("{head}{odd}"));
    for line in ["report odd.txt --by account,user --month", "report odd.txt --by account,user --format csv"] {
        let text = sandbox.makespan(line).succeeds();
        assert!(!text.contains('\u{1b}'), "{text:?}");
        assert!(text.contains("=1+1"), "{text}");
    }
    let csv = sandbox.makespan("report odd.txt --by user --format csv").succeeds();
    assert!(csv.contains(",'=1+1,") && !csv.contains(",-"), "{csv}");
    let raw = sandbox.makespan("report odd.txt --by user --format csv --raw-names").succeeds();
    assert!(raw.contains(",=1+1,"), "{raw}");
}
