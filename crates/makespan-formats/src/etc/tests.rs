use makespan_core::{Instance, Job, Node, Platform, Profile, TaskId, Time};

use super::*;

fn read(text: &str, machines: Option<u32>) -> Result<Instance, String> {
    let options = EtcReadOptions { machines, strict: false };
    read_etc("a", &mut text.as_bytes(), &options).map(|read| read.0).map_err(|error| error.to_string())
}

/// Returns the times in whole seconds, task by task. The time on a machine that cannot run the task is 0.
fn times(instance: &Instance) -> Vec<Vec<i64>> {
    let nodes = 0..instance.platform().nodes().len();
    let of = |task: TaskId| {
        let each = nodes.clone().map(|node| instance.time_on(task, node));
        each.map(|time| time.map_or(0, |time| time.ticks() / 1_000_000_000)).collect()
    };
    instance.task_ids().map(of).collect()
}

#[test]
fn a_matrix_is_read_in_every_arrangement() {
    let expect = [[1, 2, 3], [4, 5, 0]];
    let same = [
        ("2 3 0\n1\n2\n3\n4\n5\ninf\n", None),
        ("2 3\n1 2\n3 4 5 inf", None),
        ("2 3 1\n1 2 3\n4 5\n\nINF\n", None),
        ("2 3 2\n1 2 3 4 5 inf\n", None),
        ("1.0 2 3\n\n4,5\tinf\r\n", None),
        ("1\n2\n3\n4\n5\ninf\n", Some(3)),
    ];
    for (text, machines) in same {
        assert_eq!(times(&read(text, machines).unwrap()), expect, "{text}");
    }
    let exact = read("1 2\n0.123456789 91753.195312\n", None).unwrap();
    assert_eq!(exact.time_on(TaskId(0), 0), Some(Time::from_ticks(123_456_789)));
    assert_eq!(exact.time_on(TaskId(0), 1), Some(Time::from_ticks(91_753_195_312_000)));
    assert_eq!((exact.jobs()[0].name.as_str(), exact.platform().nodes()[1].name.as_str()), ("t0", "n1"));
}

#[test]
fn what_is_no_matrix_is_told_what_would_be_right() {
    let check = |text: &str, machines, part: &str| {
        let error = read(text, machines).expect_err(text);
        assert!(error.contains(part), "{text}: {error}");
    };
    check("2 3 0\n1 2 3 4", None, "2 tasks on 3 machines, but 4 times follow");
    check("2 3 1\n1 2 3 4", None, "2 tasks on 3 machines, but 4 times follow");
    check("1 2 0\n1 2\n3", None, "a:3: the matrix has more times");
    check("1 2 2\n1 2 3", None, "a:2: the matrix has more times");
    check("2 0 1\n", None, "at least 1");
    check("1.5 2 3 4\n1 2 3", None, "a:2: the line has 3 times, but the first line has 4");
    check("1.5\n2\n3\n", None, "a:1: the matrix has only one column");
    check("1.5\n2\n3\n", Some(2), "not a multiple of the number of machines, 2");
    check("1.5\n2\n3\n", Some(0), "0 machines");
    check("1.5 2 3 4\n", Some(2), "has a column for each machine");
    check("1 2\n1 2\n", Some(2), "has a column for each machine");
    check("0 2\n", None, "at least 1");
    check("1 2\n1 -2\n", None, "negative");
    check("1 2\n1 x\n", None, "`x` is not a time");
    check("1 2\ninf inf\n", None, "task 0: no machine can run the task");
    check("1 99999999\n1", None, "but 1 times follow");
    check("\n", None, "empty");
}

/// Checks that the times follow task by task for any class in the header. Only this order gives the published
/// makespans of published assignments.
#[test]
fn the_class_of_a_matrix_is_no_order() {
    let mut state = 7_u64;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    for _ in 0..200 {
        let (tasks, machines) = (1 + below(5), 1 + below(5));
        let rows: Vec<Vec<i64>> = (0..tasks).map(|_| (0..machines).map(|_| 1 + below(99) as i64).collect()).collect();
        let numbers: Vec<String> = rows.iter().flatten().map(ToString::to_string).collect();
        let gap = [" ", "\n", "\t"][below(3) as usize];
        for class in ["", " 0", " 1", " 2"] {
            let text = format!("{tasks} {machines}{class}\n{}\n", numbers.join(gap));
            assert_eq!(times(&read(&text, None).unwrap()), rows, "{text}");
        }
    }
}

#[test]
fn a_time_below_the_printed_digits_is_one_tick() {
    let text = "2 2 2\n0.00 3.1\n4\n0.0\n";
    let (instance, remarks) = read_etc("a", &mut text.as_bytes(), &EtcReadOptions::default()).unwrap();
    assert_eq!(instance.time_on(TaskId(0), 0), Some(Time::TICK));
    assert_eq!(instance.time_on(TaskId(1), 1), Some(Time::TICK));
    let expect = "times of 0: 2 (the first on line 2); each is read as one nanosecond";
    assert_eq!(remarks, [expect]);
    let strict = EtcReadOptions { strict: true, ..EtcReadOptions::default() };
    let refused = read_etc("a", &mut text.as_bytes(), &strict).unwrap_err().to_string();
    assert!(refused.starts_with("a:2: the time is `0.00`"), "{refused}");
}

#[test]
fn what_is_written_is_read_back() {
    let node = |name: &str, processors, speed| Node { speed, ..Node::new(name, processors) };
    let platform = Platform::new(vec![node("a", 2, 1.0), node("b", 1, 4.0)]).unwrap();
    let own = Profile::on_machines(vec![Profile::CANNOT_RUN, Time::from_ticks(1)]).unwrap();
    let jobs = vec![Job::new("x", Profile::rigid(1, Time::from_seconds(10)).unwrap()), Job::new("y", own)];
    let instance = Instance::new(platform.clone(), jobs.clone(), vec![]).unwrap();
    let mut bytes = Vec::new();
    write_etc(&instance, &mut bytes).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), "2 3\n10 10 2.5\ninf inf 0.000000001\n");
    let late = jobs.into_iter().map(|job| job.with_release(Time::TICK)).collect();
    let late = Instance::new(platform, late, vec![]).unwrap();
    let refused = write_etc(&late, &mut Vec::new()).unwrap_err();
    assert!(refused.to_string().contains("release dates"), "{refused}");
}
