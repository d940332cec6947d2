use makespan_core::{Instance, Job, JobId, Node, Platform, Profile, Time};

use super::*;

fn read(text: &str, machines: Option<u32>) -> Result<Instance, String> {
    read_etc("a", &mut text.as_bytes(), machines).map_err(|error| error.to_string())
}

/// The times in whole seconds, job by job; 0 where a machine cannot run it.
fn times(instance: &Instance) -> Vec<Vec<i64>> {
    let nodes = 0..instance.platform().nodes().len();
    let of = |job: JobId| {
        let each = nodes.clone().map(|node| instance.time_on(job, node));
        each.map(|time| time.map_or(0, |time| time.ticks() / 1_000_000_000)).collect()
    };
    instance.ids().map(of).collect()
}

#[test]
fn a_matrix_is_read_in_every_arrangement() {
    let expect = [[1, 2, 3], [4, 5, 0]];
    let same = [
        ("2 3 0\n1\n2\n3\n4\n5\ninf\n", None),
        ("2 3\n1 2\n3 4 5 inf", None),
        ("2 3 1\n1 4 2\n5 3\n\nINF\n", None),
        ("1.0 2 3\n\n4,5\tinf\r\n", None),
        ("1\n2\n3\n4\n5\ninf\n", Some(3)),
    ];
    for (text, machines) in same {
        assert_eq!(times(&read(text, machines).unwrap()), expect, "{text}");
    }
    let exact = read("1 2\n0.123456789 91753.195312\n", None).unwrap();
    assert_eq!(exact.time_on(JobId(0), 0), Some(Time::from_ticks(123_456_789)));
    assert_eq!(exact.time_on(JobId(0), 1), Some(Time::from_ticks(91_753_195_312_000)));
    assert_eq!((exact.jobs()[0].name.as_str(), exact.platform().nodes()[1].name.as_str()), ("t0", "n1"));
}

#[test]
fn what_is_no_matrix_is_told_what_would_be_right() {
    let check = |text: &str, machines, part: &str| {
        let error = read(text, machines).expect_err(text);
        assert!(error.contains(part), "{text}: {error}");
    };
    check("2 3 0\n1 2 3 4", None, "2 tasks on 3 machines, and 4 times follow");
    check("2 3 1\n1 2 3 4", None, "2 tasks on 3 machines, and 4 times follow");
    check("1 2 0\n1 2\n3", None, "a:3: there are more times");
    check("1 2 1\n1 2 3", None, "a:2: there are more times");
    check("1.5 2 3 4\n1 2 3", None, "a:2: the line has 3 times and the first one has 4");
    check("1.5\n2\n3\n", None, "a:1: the matrix is one column");
    check("1.5\n2\n3\n", Some(2), "no multiple of the 2 machines");
    check("1.5\n2\n3\n", Some(0), "0 machines");
    check("1.5 2 3 4\n", Some(2), "has its own");
    check("1 2\n1 2\n", Some(2), "has its own");
    check("0 2\n", None, "at least 1");
    check("1 2\n1 -2\n", None, "negative");
    check("1 2\n1 0\n", None, "a:2: the time `0` must be positive");
    check("1 2\n1 x\n", None, "`x` is not a time");
    check("1 2\ninf inf\n", None, "task 0: no machine can run it");
    check("1 99999999\n1", None, "and 1 times follow");
    check("\n", None, "empty");
}

#[test]
fn logs_are_told_from_matrices() {
    assert!(!is_matrix(b"1 0 -1 1 1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1"));
    assert!(is_matrix(b"512 16 0") && is_matrix(b"1.5 2") && is_matrix(b"3"));
}

#[test]
fn what_is_written_is_read_back() {
    let node = |name: &str, processors, speed| Node { name: name.into(), processors, speed, parent: None, link: None };
    let platform = Platform::new(vec![node("a", 2, 1.0), node("b", 1, 4.0)]).unwrap();
    let own = Profile::on_machines(vec![Profile::CANNOT_RUN, Time::from_ticks(1)]).unwrap();
    let jobs = vec![Job::new("x", Profile::rigid(1, Time::from_seconds(10)).unwrap()), Job::new("y", own)];
    let instance = Instance::new(platform.clone(), jobs.clone(), vec![]).unwrap();
    let mut bytes = Vec::new();
    write_etc(&instance, &mut bytes).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), "2 3 0\n10 10 2.5\ninf inf 0.000000001\n");
    let late = jobs.into_iter().map(|job| job.with_release(Time::TICK)).collect();
    let late = Instance::new(platform, late, vec![]).unwrap();
    let refused = write_etc(&late, &mut Vec::new()).unwrap_err();
    assert!(refused.to_string().contains("release dates"), "{refused}");
}
