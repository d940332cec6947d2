//! `makespan simulate --scenario` and `--sizes`, dates, the policy `slurm`, and logs that were written while jobs ran.

use serde_json::Value;

use crate::cli::sandbox::Sandbox;

/// A log of four processors on 1 October 1996 in Stockholm. The recorded waits are 0, 50, 90 and 140 s.
const LOG: &str = "; UnixStartTime: 844120800
; TimeZoneString: Europe/Stockholm
; MaxProcs: 4
1 0 0 60 2 -1 -1 2 100 -1 1 7 1 -1 -1 1 -1 -1
2 10 50 50 4 -1 -1 4 50 -1 1 8 1 -1 -1 1 -1 -1
3 20 90 30 2 -1 -1 2 40 -1 1 7 1 -1 -1 2 -1 -1
4 20 140 90 1 -1 -1 1 90 -1 1 9 2 -1 -1 2 -1 -1
";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("log.swf", LOG);
    sandbox
}

/// Returns the cells of a line of a table. At least two spaces separate cells.
fn row(text: &str, label: &str) -> Vec<String> {
    let line = text.lines().find(|line| line.starts_with(label)).unwrap_or_else(|| panic!("no `{label}` in {text}"));
    let cells = line[label.len()..].split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    cells.map(str::to_owned).collect()
}

const SCENARIOS: &str = "simulate log.swf --scenario now --scenario processors=+2 --scenario policy=fcfs --scenario";

#[test]
fn scenarios_stand_beside_what_was_logged() {
    let sandbox = sandbox();
    let text = sandbox.makespan(&format!("{SCENARIOS} load=2")).succeeds();
    assert_eq!(row(&text, "scenario"), ["AS LOGGED", "now", "processors=+2", "policy=fcfs"].map(str::to_owned)[..]);
    assert_eq!(row(&text, "policy"), ["of the site", "easy", "easy", "fcfs"].map(str::to_owned)[..]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the policy of AS LOGGED is the policy of the site"), "{text}");
    // The table is wider than the terminal, so this scenario is in a second part.
    assert!(text.contains("load=2"), "{text}");
    // Waits computed by hand: recorded 0, 50, 90, 140; EASY 0, 50, 0, 90; in order 0, 50, 90, 90.
    assert_eq!(row(&text, "wait, mean")[..2], ["70.000", "35.000"]);
    assert_eq!(row(&text, "wait, mean")[3], "57.500");
    assert!(text.contains("the log begins 1996-10-01 00:00:00"), "{text}");
    let mut tables = text.lines().skip_while(|line| !line.starts_with("scenario"));
    assert!(tables.all(|line| line.chars().count() <= 80), "{text}");
    for part in ["jobs by their wait", "mean wait by user", "mean wait by partition", "mean wait by processors"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn jobs_are_left_out_and_counted() {
    let sandbox = sandbox();
    let said = |words: &str| -> Value {
        let text = sandbox.makespan(&format!("simulate log.swf --format json --scenario '{words}'")).succeeds();
        serde_json::from_str(&text).unwrap()
    };
    let jobs = |words: &str| said(words)["scenarios"][1]["jobs"].as_u64();
    assert_eq!(
        (jobs("without user=7"), jobs("without account=2"), jobs("without partition=2")),
        (Some(2), Some(3), Some(2))
    );
    assert_eq!(jobs("without user=7 without job=4"), Some(1));
    assert_eq!(jobs("processors=3"), Some(3), "one job is wider");
    let clairvoyant = &said("estimates=clairvoyant policy=conservative")["scenarios"][1];
    assert_eq!((&clairvoyant["policy"], clairvoyant["metrics"]["jobs"].as_u64()), (&"conservative".into(), Some(4)));
}

#[test]
fn scenarios_that_are_wrong_are_told_what_would_be_right() {
    let sandbox = sandbox();
    for (words, part) in [
        ("processors=-4", "at least one must remain"),
        ("nodes=+4", "write `processors=` instead of `nodes=`"),
        ("without user=99", "no job of user `99`"),
        ("policy=esay", "did you mean `easy`"),
        ("faster", "write words such as now"),
        ("now nodes=3", "cannot be combined with changes"),
    ] {
        sandbox.makespan(&format!("simulate log.swf --scenario '{words}'")).refused(&[part]);
    }
    sandbox.makespan("simulate log.swf --scenario now --scenario now").refused(&["twice"]);
    sandbox.makespan("simulate log.swf --policy easy,fcfs --scenario now").refused(&["policy=fcfs"]);
    sandbox.makespan("simulate log.swf --platform +2").refused(&["nodes=+2"]);
}

#[test]
fn dates_are_times_of_the_log() {
    let sandbox = sandbox();
    let asked = |at: &str| format!("simulate log.swf --start-time-of 4 --at {at}");
    let text = sandbox.makespan(&asked("1996-10-01T00:00:30")).succeeds();
    assert!(text.contains("seen at 30.000 s (1996-10-01 00:00:30)"), "{text}");
    sandbox.makespan(&asked("1996-09-30")).refused(&["submitted at 20 s"]);
    sandbox.write("plain.swf", LOG.replace("; UnixStartTime: 844120800\n", ""));
    sandbox.makespan("simulate plain.swf --start-time-of 4 --at 1996-10-01").refused(&["UnixStartTime"]);
}

#[test]
fn jobs_that_wait_when_a_dump_is_written_are_asked_about_then() {
    let sandbox = sandbox();
    sandbox.write(
        "dump.txt",
        "JobID|User|Account|Partition|QOS|JobName|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocCPUS|ReqCPUS|State|Reason|NodeList\n\
         1|ann|lab|p|q|x|2024-03-30T10:00:00|2024-03-30T10:00:00|2024-03-30T10:10:00|600|30|2|2|COMPLETED|None|n0\n\
         2|ann|lab|p|q|x|2024-03-30T10:05:00|2024-03-30T10:10:00|Unknown|900|60|2|2|RUNNING|None|n0\n\
         3|bob|lab|p|q|x|2024-03-30T10:20:00|Unknown|Unknown|0|60|0|2|PENDING|Priority|None assigned\n\
         7_[1-3%1]|bob|lab|p|q|x|2024-03-30T10:21:00|Unknown|Unknown|0|5|0|1|PENDING|JobHeldUser|None assigned\n",
    );
    let text = sandbox.makespan("simulate dump.txt --processors 2 --policy slurm --start-time-of 3").succeeds();
    for part in [
        "1 record: running when the log was written",
        "4 records: waiting when the log was written",
        "not used: 1 column, JobName",
        "3 JobHeldUser",
        // 900 s after 10:10.
        "seen at 1500.0 s (2024-03-30 10:25:00)",
        "(2024-03-30 11:10:00)",
        "jobs cancelled",
    ] {
        assert!(text.replace('\n', " ").replace("  ", " ").contains(part), "{part}: {text}");
    }
    sandbox.makespan("simulate dump.txt --processors 2 --strict").refused(&["--strict does not allow this record"]);
    let planned = sandbox.makespan("plan dump.txt --processors 2").succeeds();
    assert!(planned.contains("not ended when the log was written"), "{planned}");
}

#[test]
fn another_size_would_have_been_earlier() {
    let sandbox = sandbox();
    sandbox.write(
        "mixed.toml",
        "version = 2\nplatform = { processors = 4 }\n[[jobs]]\nname = \"a\"\ntime = 10\nprocessors = 3\n[[jobs]]\nname = \"b\"\ntime = [7, 4]\n\
         released = 1\n",
    );
    let text = sandbox.makespan("simulate mixed.toml --policy fcfs[request=fastest] --sizes").succeeds();
    // On 2 processors, `b` waits until 10 s. On 1 processor, it starts at 1 s and ends at 8 s.
    assert_eq!(row(&text, "b ")[..], ["2", "10.000", "1", "1.000", "9 s", "6 s"].map(str::to_owned), "{text}");
    sandbox.makespan("simulate log.swf --sizes").refused(&["--speedup"]);
}

/// The rules of a platform file apply: one job of a user at a time.
#[test]
fn a_platform_file_has_the_rules_of_a_site() {
    let sandbox = sandbox();
    let platform = |rules: &str| {
        format!("{{\"version\": 2, \"platform\": {{\"nodes\": 2, \"processors_per_node\": 4, \"site\": {{{rules}}}}}}}")
    };
    sandbox.write("free.json", platform(""));
    let rules = "\"accounts\": [{\"name\": \"1\", \"own\": {\"jobs\": 1}}], \"partitions\": [{\"name\": \"1\"}, {\"name\": \"2\"}]";
    sandbox.write("site.json", platform(rules));
    let waits = |file: &str| {
        let text =
            sandbox.makespan(&format!("simulate log.swf --policy slurm --format json --platform {file}")).succeeds();
        let said: Value = serde_json::from_str(&text).unwrap();
        said["policies"][0]["metrics"]["wait"]["max"].as_f64().unwrap()
    };
    // Without rules, all eight processors are held when job 4 arrives, until job 3 ends at 50 s. With the rules, job 3
    // waits until 60 s, because it has the user and the account of job 1, and job 4 starts at once.
    assert_eq!((waits("free.json"), waits("site.json")), (30.0, 40.0));
    sandbox.write("wrong.json", platform("\"partitions\": [{\"name\": \"1\", \"nodes\": [\"n7\"]}]"));
    sandbox.makespan("simulate log.swf --platform wrong.json").refused(&["`n7` is not a node"]);
}

#[test]
fn that_nothing_tells_what_was_logged_is_said_once() {
    let sandbox = sandbox();
    let blank = |line: &str| {
        let mut fields: Vec<&str> = line.split(' ').collect();
        if fields.len() == 18 {
            fields[2] = "-1";
        }
        fields.join(" ")
    };
    sandbox.write("blank.swf", LOG.lines().map(|line| blank(line) + "\n").collect::<String>());
    let text = sandbox.makespan("simulate blank.swf --scenario now --scenario policy=fcfs").succeeds();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        words.matches("the column AS LOGGED is missing, because no record states when its job started").count(),
        1,
        "{text}"
    );
    assert!(!sandbox.makespan("simulate blank.swf").succeeds().contains("AS LOGGED"));
    let part: String =
        LOG.lines().enumerate().map(|(at, line)| if at == 4 { blank(line) } else { line.into() } + "\n").collect();
    sandbox.write("part.swf", part);
    let text = sandbox.makespan("simulate part.swf --scenario now").succeeds();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("AS LOGGED omits 1 of 4 jobs"), "{text}");
}

#[test]
fn a_zone_of_a_log_that_nobody_knows_is_said() {
    let sandbox = sandbox();
    for (zone, needle) in [
        ("; TimeZoneString: Mars/Olympus", "the time zone `Mars/Olympus` is unknown; dates are in universal time"),
        ("; TimeZone: east", "TimeZone: `east` is not an offset in seconds such as 3600; dates are in universal time"),
        ("; TimeZone: 99999999", "is not an offset in seconds"),
    ] {
        sandbox.write("zone.swf", LOG.replace("; TimeZoneString: Europe/Stockholm", zone));
        let text = sandbox.makespan("simulate zone.swf --scenario now").succeeds();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(needle) && words.contains("the log begins 1996-09-30 22:00:00"), "{zone}: {text}");
    }
}
