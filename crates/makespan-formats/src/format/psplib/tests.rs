use makespan_core::{Instance, JobId, Need, TaskId, Time};

use crate::{Format, ReadInstance, ReadOptions, parse_instance};

fn read(text: &str, name: &str) -> Result<ReadInstance, String> {
    parse_instance(text.as_bytes(), name, &ReadOptions::default()).map_err(|error| error.to_string())
}

/// Project with six activities and two resources. Three activities take no time: both dummies and one other activity.
const PATTERSON: &str = "6 2\n4 2\n\n0 0 0 2 2 3\n3 2 0 1 4\n5 1 2 2 4 5\n0 0 0 1 5\n2 4 1 1 6\n0 0 0 0\n";

/// Project with several modes for each activity. It is also a start file of the fuzzer.
const LAGS: &str = include_str!("../../../../../fuzz/corpus/psplib/own.sch");
const MODES: &str = include_str!("../../../../../fuzz/corpus/psplib/own.mm");

fn seconds(instance: &Instance, task: u64) -> Vec<f64> {
    let profile = instance.profile(TaskId(task));
    (profile.min_processors()..=profile.max_processors()).map(|count| profile.time(count).seconds()).collect()
}

#[test]
fn numbers_alone_are_a_project() {
    for name in ["x", "x.rcp", "x.txt"] {
        let ReadInstance { instance, format, remarks } = read(PATTERSON, name).unwrap();
        assert_eq!((format, instance.jobs().len(), instance.processors()), (Format::Patterson, 1, 3));
        let names: Vec<String> = instance.task_ids().map(|task| instance.name(task).into_owned()).collect();
        assert_eq!(names, ["x/2", "x/3", "x/5"]);
        let edges: Vec<(u64, u64)> = instance.edges().iter().map(|edge| (edge.from.0, edge.to.0)).collect();
        // Activity 4 takes no time, so activity 5 waits for activities 2 and 3 instead.
        assert_eq!(edges, [(0, 2), (1, 2)]);
        assert_eq!(instance.platform().licences().iter().collect::<Vec<_>>(), [("R1", 4), ("R2", 2)]);
        let need = |task, name| instance.task(TaskId(task)).needs.of(name).cloned();
        assert_eq!((need(0, "R1"), need(0, "R2"), need(1, "R2")), (Some(Need::whole(2)), None, Some(Need::whole(2))));
        let has = |part: &str| remarks.iter().any(|remark| remark.contains(part));
        assert!(has("activities without duration are not planned: 1 (such as `4`)"), "{remarks:?}");
        assert!(has("on a platform of 3 processors"), "{remarks:?}");
    }
}

#[test]
fn arcs_are_time_lags() {
    for name in ["x", "x.sch", "x.txt"] {
        let ReadInstance { instance, format, remarks } = read(LAGS, name).unwrap();
        assert_eq!((format, instance.tasks()), (Format::ProGenMax, 3));
        let lags =
            |task| instance.lags_to(TaskId(task)).map(|(from, least)| (from.0, least.seconds())).collect::<Vec<_>>();
        assert_eq!(
            [lags(0), lags(1), lags(2)],
            [vec![(1, -6.0)], vec![(0, 1.0)], vec![(1, 4.0)]],
            "the sink limits nothing"
        );
        assert_eq!(instance.platform().licences().iter().collect::<Vec<_>>(), [("R1", 3)]);
        assert!(remarks.iter().all(|remark| !remark.contains("without duration")), "{remarks:?}");
    }
    // Activity 3 takes no time. Its arcs become arcs from 2 to 1: 4 - 9.
    let without = LAGS.replace("3 1 2 1\n", "3 1 0 0\n").replace("3 1 1 4 [2]", "3 1 1 1 [-9]");
    let ReadInstance { instance, .. } = read(&without, "x.sch").unwrap();
    let lags: Vec<f64> = instance.lags_to(TaskId(0)).map(|(_, least)| least.seconds()).collect();
    assert_eq!((instance.tasks(), lags), (2, vec![-5.0]), "the longest of two arcs");
    let refused = |from: &str, to: &str, expect: &str| {
        assert!(LAGS.contains(from));
        let Err(error) = read(&LAGS.replacen(from, to, 1), "x.sch") else { panic!("lacks {expect}") };
        assert!(error.contains(expect), "{error} lacks {expect}");
    };
    refused("3 1 0 0", "3 1 2 0", "x.sch:1: only renewable resources are supported");
    refused("[4] [-6]", "[4]", "x.sch:4: expected activity 2, 1 mode");
    refused("[4] [-6]", "[4] -6", "expected the length of the arc from 2 to 1 in brackets");
    refused("2 4 [1] [3]", "2 9 [1] [3]", "activity 1 has an arc to 9");
    refused("1 2 3 [0] [0] [0]", "1 2 3 [0] [5] [0]", "the arc from activity 0 to 2 of length 5 limits a start");
    refused("1 1 3 2", "1 1 3", "x.sch:8: expected activity 1, its mode 1, its duration and 1 needs");
    refused("[-6]", "[0]", "the tasks 1 -> 2 -> 1");
    let cycle = without
        .replace("[-9]", "[-3]")
        .replace("2 1 2 3 1 [4]", "2 1 2 3 1 [3]")
        .replace("3 1 1 1 [-3]", "3 1 1 2 [-2]");
    let Err(error) = read(&cycle, "x.sch") else { panic!("a cycle through an activity without duration") };
    assert!(error.contains("from activity 2 to activity 3 and back have the sum 1"), "{error}");
    let late = read(&LAGS.replace("1 2 2 4 [1] [3]", "1 2 2 4 [1] [7]"), "x.sch").unwrap();
    assert!(
        late.remarks.iter().any(|remark| remark.contains("not planned: 1 (such as 7 from activity `1`)")),
        "{:?}",
        late.remarks
    );
}

#[test]
fn modes_are_allotments() {
    let ReadInstance { instance, format, remarks } = read(MODES, "dir/own.mm").unwrap();
    assert_eq!((format, instance.processors()), (Format::ProGen, 5));
    let job = instance.job(JobId(0));
    let of = |count| Time::from_seconds(count);
    assert_eq!((job.name.as_str(), job.release, job.deadline), ("own", of(2), Some(of(18))));
    // The third mode of activity 2 needs too much. The other modes are in descending order of duration.
    assert_eq!((seconds(&instance, 0), seconds(&instance, 1)), (vec![9.0, 3.0], vec![4.0, 4.0]));
    let need = |task, name| instance.task(TaskId(task)).needs.of(name).cloned();
    assert_eq!(need(0, "R1"), Some(Need::ByAllotment([1, 4].into())));
    assert_eq!(need(0, "N1"), Some(Need::ByAllotment([2, 5].into())));
    assert_eq!((need(1, "N2"), need(2, "N2")), (Some(Need::ByAllotment([3, 7].into())), Some(Need::whole(3))));
    assert_eq!(instance.platform().consumables().iter().collect::<Vec<_>>(), [("N1", 9), ("N2", 11)]);
    let has = |part: &str| remarks.iter().any(|remark| remark.contains(part));
    assert!(has("1 modes (such as one of activity `2`) need more of a resource than there is"), "{remarks:?}");
    assert!(
        has("the due date of the project, 18, is used as the deadline of the job; the cost of tardiness, 12"),
        "{remarks:?}"
    );
    assert_eq!(read(&MODES.replace('\n', "\r\n"), "x").unwrap().instance.processors(), 5);
}

#[test]
fn bad_projects_are_refused_with_their_place() {
    let check = |from: &str, to: &str, expect: &str| {
        let text = MODES.replacen(from, to, 1);
        assert_ne!(text, MODES, "{from}");
        let Err(error) = read(&text, "x.mm") else { panic!("lacks {expect}") };
        assert!(error.contains(expect), "{error}\nlacks {expect}");
    };
    check(
        "  4      1     2       5    3    3",
        "  4 1 2 6 3 3",
        "x.mm:34: activity `4` needs 6 of `R1`, but the project has 5",
    );
    check(
        "    5    9   11",
        "0 9 11",
        "x.mm:29: none of the 3 modes of activity `2` is feasible: the first needs 4 of `R1`, but the project has 0",
    );
    check("    5    9   11", "5 4 11", "the activities use up at least 5 of `N1` in all");
    check("constrained        :  0", "constrained : 1", "x.mm:11: doubly constrained resources are not supported");
    check("R 1  N 1  N 2\n---", "R 1  N 1  D 1\n---", "x.mm:26: doubly constrained resources");
    check("R 1  N 1  N 2\n---", "R 1  Q 1  N 2\n---", "x.mm:26: `Q 1  N 2` is not a list of resources");
    check("projects                      :  1", "projects : 2", "x.mm:5: the file has 2 projects");
    check(
        "renewable                 :  1   R",
        "renewable : 3 R",
        "x.mm:9: the file announces 3 renewable resources, but lists 1",
    );
    check(
        "nonrenewable              :  2",
        "nonrenewable : 1",
        "x.mm:10: the file announces 1 nonrenewable resources, but lists 2",
    );
    check(
        " 4        1          1           5",
        " 4 1 1 9",
        "x.mm:22: activity `4` has the successor 9, which does not exist",
    );
    check(" 4        1          1           5", " 4 1 1 4", "x.mm:22: activity `4` is its own successor");
    check(" 4        1          1           5", " 4 1 2 5 5", "x.mm:22: activity `4` has the successor 5 twice");
    check(" 4        1          1           5", " 4 1 1 2", "in a cycle: 2 -> 4 -> 2");
    check(" 4        1          1           5", " 4 1 2 5", "x.mm:22: the line announces 2 successors but lists 1");
    check(" 4        1          1           5", " 6 1 1 5", "x.mm:22: expected activity 4, found activity 6");
    check(":  5\n", ": 6\n", "x.mm:6: the file announces 6 activities, but lists 5");
    check(
        "  3      1     4       2",
        "  4      1     4       2",
        "expected the modes of activity 3, found modes of activity 4",
    );
    check("         2     4       1    0    7", "  3 4 1 0 7", "expected mode 2, found mode 3");
    check("         2     4       1    0    7", "  2 4 1 0", "expected the number of the activity");
    check("         2     4       1    0    7", "  2 4 1 0 -7", "`-7` is not a whole number from 0");
    check(
        "         2     4       1    0    7",
        "  2 0 1 0 7",
        "x.mm:32: activity `3` has a duration of 0 in some modes",
    );
    check("  1      1     0       0    0", "1 1 0 0 2", "activity `1` takes no time but uses up 2 of `N1`");
    check("  1      1     0       0    0", "1 1 99999999999999 0 2", "too long");
    check("    5    9   11", "5 9", "there are 2 amounts for 3 resources");
    check("    5    9   11", "5 9 11\nx", "unexpected `x` after the last section");
    check("    2       18", "    2       1", "the due date is 1, before the release date 2");
    check("RESOURCEAVAILABILITIES", "AVAILABILITIES", "expected the section `RESOURCEAVAILABILITIES`, found");
    let cut = &MODES[..MODES.find("RESOURCEAV").unwrap()];
    assert!(
        read(cut, "x.mm").unwrap_err().contains("expected the section `RESOURCEAVAILABILITIES`, but the text ends")
    );
}

#[test]
fn bad_numbers_are_refused_with_their_place() {
    let check = |text: &str, expect: &str| {
        let Err(error) = read(text, "x.rcp") else { panic!("lacks {expect}") };
        assert!(error.contains(expect), "{error}\nlacks {expect}");
    };
    check(
        "2 1\n4\n1 5 1 2\n1 1 0",
        "x.rcp:3: activity `1` needs 5 of `R1`, but the project has 4; raise this amount, or lower the need",
    );
    check("2 1\n4\n1 5 1", "x.rcp:3: expected a successor of activity 1 of 2, but the text ends");
    check("2 1\n4\n1 1 1 2\n1 1 0 7", "x.rcp:4: unexpected `7` after the last of the 2 activities");
    check("2 1\n4\n1 1 1 x\n1 1 0", "x.rcp:3: `x` is not a whole number from 0");
    check("2 1\n4\n1 1 1 3\n1 1 0", "x.rcp:3: activity `1` has the successor 3, which does not exist");
    check("2 1\n4\n1 1 1 2\n1 1 1 1", "in a cycle");
    check("2 1\n4\n0 0 1 2\n0 0 0", "no activity takes any time; give at least one activity a duration");
    check("99999999999 99999999999", "the amount of resource 1 of");
    check("0 0", "there are no tasks");
}

#[test]
fn the_ending_says_what_a_spoiled_file_is() {
    for first in ["-2", "x", "2.5", ";", "(2", "2,"] {
        let Err(error) = read(&format!("{first} 1\n4\n1 1 1 2\n1 1 0"), "x.rcp") else { panic!("{first}") };
        assert!(error.contains(&format!("x.rcp:1: `{first}` is not a whole number")), "{first}: {error}");
        for ending in ["sm", "mm"] {
            let name = format!("x.{ending}");
            let Err(error) = read(&format!("{first}{MODES}"), &name) else { continue };
            assert!(!error.contains("record") && error.starts_with(&name), "{first}: {error}");
        }
    }
}

#[test]
fn what_is_stated_for_others_is_refused() {
    let options = ReadOptions { processors: Some(9), ..ReadOptions::default() };
    let error = parse_instance(PATTERSON.as_bytes(), "x", &options).unwrap_err().to_string();
    assert!(error.contains("this file is a project in Patterson's form"), "{error}");
}

#[test]
fn a_small_file_does_not_become_a_large_graph() {
    // Activity without duration between a thousand predecessors and a thousand successors. If it were omitted, a
    // million edges would replace its two thousand edges.
    let first = "1 1 1001\n".repeat(1000);
    let last: String = (1002..=2001).map(|at| format!(" {at}")).collect();
    let text = format!("2001 0\n\n{first}0 1000{last}\n{}", "1 0\n".repeat(1000));
    let Err(error) = read(&text, "x.rcp") else { panic!("it is accepted") };
    assert!(error.contains("activities without duration before activity `"), "{error}");
    let longer = text.replacen("\n0 1000", "\n1 1000", 1);
    assert_eq!(read(&longer, "x.rcp").unwrap().instance.edges().len(), 2000);
}
