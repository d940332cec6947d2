use crate::proof::{Alone, CostPrices, DualFeasible, IntervalPrices, Rejection, Scale, Selection, Term, TimePrices};
use crate::{Proof, Value};
use makespan_core::{Job, JobId, Objective, Placement, Platform, Profile, Strategy, TaskId, Time, Variant};

use super::*;

fn seconds(text: &str) -> Time {
    Time::parse(text).unwrap()
}

fn instance() -> Instance {
    let job = |name: &str, time: &str| Job::new(name, Profile::rigid(2, seconds(time)).unwrap());
    let jobs = vec![job("a \"b\"\n", "2.500000001"), job("ü", "1")];
    Instance::new(Platform::flat(8).unwrap(), jobs, vec![]).unwrap()
}

fn file() -> ScheduleFile {
    let placement = |task, start: &str, end: &str, processors: &str| Placement {
        task: TaskId(task),
        start: seconds(start),
        end: seconds(end),
        processors: processors.parse().unwrap(),
    };
    let schedule =
        Schedule::new(vec![placement(0, "0", "2.500000001", "0,7"), placement(1, "0.000000003", "1.000000003", "2-3")]);
    let mut file = ScheduleFile::new(&instance(), "demt[shuffles=50]", schedule);
    file.seed = Some(u64::MAX);
    file.remarks = vec!["two\nlines".into()];
    let ends = vec![seconds("1"), seconds("4")];
    let prices = IntervalPrices { ends, prices: vec![1 << 40, 0], scale: 10 };
    let rejection =
        Rejection { deadline: seconds("2"), from: Time::ZERO, at: seconds("1"), selection: Selection::Price(i64::MAX) };
    let bound =
        |objective, value, proof| Bound { objective, value: Value::Integer(value), makespan_at_most: None, proof };
    file.bounds = vec![
        bound(Objective::Makespan, 2_000_000_001, Proof::Rejection(rejection)),
        bound(Objective::WeightedCompletion, 3_000_000_000_000_001, Proof::IntervalPrices(prices)),
    ];
    file
}

fn written(file: &ScheduleFile) -> String {
    let mut bytes = Vec::new();
    file.write(&instance(), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn what_is_written_is_read_back_exactly() {
    let mut file = file();
    let read = |text: &str| ScheduleFile::read("s.json", text.as_bytes(), &instance()).unwrap();
    assert_eq!(read(&written(&file)), file);
    let variants = vec![Variant::new(&instance(), file.schedule.clone())];
    let strategy = Strategy::new(variants, |variant| variant.cost).unwrap();
    file.strategy = Some(StrategyEntry::new(&strategy));
    assert_eq!(read(&written(&file)), file);
    assert!(!written(&file).contains("chains"), "a plan without chains does not state any");
    file.strategy = None;
    for selection in [Selection::Knapsack, Selection::Price(0)] {
        let rejection = Rejection { deadline: Time::from_ticks(i64::MAX), from: Time::ZERO, at: Time::ZERO, selection };
        file.bounds[0].proof = Proof::Rejection(rejection);
        assert_eq!(read(&written(&file)), file);
    }
    let steps = Scale::Steps(vec![(1, 1), (i64::MAX, u32::MAX)]);
    let terms = vec![
        Term { price: i64::MAX, widths: Scale::Whole, times: steps.clone() },
        Term { price: 0, widths: steps, times: Scale::Whole },
    ];
    let refutation = DualFeasible { deadline: seconds("2"), from: Time::TICK, terms };
    file.bounds[0].proof = Proof::DualFeasible(refutation);
    let text = written(&file);
    assert!(text.contains("\"kind\":\"dual_feasible\"") && text.contains("\"widths\":\"whole\""), "{text}");
    assert_eq!(read(&text), file);
    file.bounds = vec![Bound { proof: Proof::Alone(Alone { job: JobId(1) }), ..file.bounds[0].clone() }];
    file.seed = None;
    assert_eq!(read(&written(&file)), file);
}

#[test]
fn groups_are_kept() {
    let mut file = file();
    let plain = written(&file);
    assert!(!plain.contains("group"));
    let mut placements: Vec<(Placement, Option<std::sync::Arc<str>>)> =
        file.schedule.placements().iter().map(|placement| (placement.clone(), None)).collect();
    placements[1].1 = Some("P_\"full\"".into());
    file.schedule = Schedule::with_groups(placements);
    let text = written(&file);
    assert_eq!(text.matches("\"group\"").count(), 1);
    let read = ScheduleFile::read("s.json", text.as_bytes(), &instance()).unwrap();
    assert_eq!(read, file);
    assert_eq!(read.schedule.group_names(), ["P_\"full\""]);
}

#[test]
fn mean_flow_is_stated_where_it_is_known() {
    let mut file = file();
    assert!(!written(&file).contains("mean_flow"), "a file without mean flow does not change");
    file.others.insert(Objective::MeanFlow, 1_750_000_002_000);
    let prices = TimePrices { instants: vec![seconds("0")], prices: vec![], scale: 0, horizon: None, widths: vec![] };
    let proof = Proof::TimePrices(prices);
    file.bounds.push(Bound {
        objective: Objective::MeanFlow,
        value: Value::Integer(1_750_000_000_500),
        makespan_at_most: None,
        proof,
    });
    let text = written(&file);
    assert!(text.contains("\"mean_flow\": 1.750000002,"), "{text}");
    assert!(text.contains("{\"value\": 1.7500000005, \"certificate\": {\"kind\":\"time_prices\""), "{text}");
    assert_eq!(ScheduleFile::read("s.json", text.as_bytes(), &instance()).unwrap(), file);
}

#[test]
fn the_cost_may_be_bounded_under_a_condition() {
    let mut file = file();
    file.others.insert(Objective::Cost, 2_000);
    let mut bound = |horizon, text: &str| {
        let proof = Proof::CostPrices(CostPrices { horizon, ..CostPrices::default() });
        let bound =
            Bound { objective: Objective::Cost, value: Value::Integer(1_999), makespan_at_most: horizon, proof };
        file.bounds.truncate(2);
        file.bounds.push(bound);
        let written = written(&file);
        assert!(written.contains("\"cost\": 2,") && written.contains(text), "{written}");
        assert_eq!(ScheduleFile::read("s.json", written.as_bytes(), &instance()).unwrap(), file);
    };
    bound(None, "{\"value\": 1.999, \"certificate\": {\"kind\":\"cost_prices\",\"scale\":0}}");
    bound(
        Some(seconds("3")),
        "\"makespan_at_most\": 3, \"certificate\": {\"kind\":\"cost_prices\",\"horizon\":3000000000,",
    );
}

#[test]
fn a_bound_under_a_condition_is_written_and_read_but_not_as_one_of_the_file() {
    let horizon = Some(seconds("3.5"));
    let prices =
        TimePrices { instants: vec![seconds("0"), seconds("2")], prices: vec![7], scale: 3, horizon, widths: vec![] };
    let proof = Proof::TimePrices(prices);
    let bound =
        Bound { objective: Objective::WeightedCompletion, value: Value::Integer(12), makespan_at_most: horizon, proof };
    let mut bytes = Vec::new();
    write_bound(&instance(), &bound, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.starts_with("{\"value\": 0.000000000000012, \"makespan_at_most\": 3.5, "), "{text}");
    let entry: BoundEntry = serde_json::from_str(&text).unwrap();
    assert_eq!(read_bound("s.json", "bound", bound.objective, entry).unwrap(), bound);
    let entry: BoundEntry = serde_json::from_str(&text.replace("\"scale\"", "\"scales\"")).unwrap();
    assert!(read_bound("s.json", "bound", bound.objective, entry).is_err());
    let mut file = file();
    file.bounds[1] = bound;
    let error = ScheduleFile::read("s.json", written(&file).as_bytes(), &instance()).unwrap_err().to_string();
    assert!(error.contains("bounds.weighted_completion.makespan_at_most"), "{error}");
}

#[test]
fn changes_by_hand_stay_visible() {
    let text = written(&file());
    let changed = text.replace("\"makespan\": 2.500000001", "\"makespan\": 2.5");
    assert_ne!(changed, text);
    let read = ScheduleFile::read("s.json", changed.as_bytes(), &instance()).unwrap();
    assert_eq!(read.stated(Objective::Makespan), Some(2_500_000_000));
    let finer = text.replace("\"makespan\": 2.500000001", "\"makespan\": 2.5000000010001");
    let error = ScheduleFile::read("s.json", finer.as_bytes(), &instance()).unwrap_err().to_string();
    assert!(error.contains("makespan: `2.5000000010001` is not exact"), "{error}");
}

#[test]
fn errors_name_the_place() {
    let text = written(&file());
    let check = |from: &str, to: &str, expect: &str| {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let error = ScheduleFile::read("s.json", changed.as_bytes(), &instance()).unwrap_err().to_string();
        assert!(error.starts_with("s.json") && error.contains(expect), "{error}");
    };
    check("\"ü\"", "\"u\"", "placements[1].job: the instance has no job `u`");
    check("\"0,7\"", "\"7-0\"", "placements[0].processors");
    check("\"0,7\"", "\"0-4294967294\"", "processor ids must be below 16777216");
    check("\"start\": 0,", "\"start\": -1,", "placements[0].start");
    check("\"placements\"", "\"placement\"", "did you mean `placements`?");
    check("\"kind\"", "\"kin\"", "bounds.makespan.certificate");
    check("\"version\": 1", "\"version\": 2", "version 2 is not supported");
    check("\"value\": 2.000000001", "\"value\": \"x\"", "bounds.makespan.value");
}

#[test]
fn tasks_are_numbered_within_their_bag() {
    let job = |name: &str| Job::new(name, Profile::rigid(1, seconds("1")).unwrap());
    let bag = job("b").with_count(3.try_into().unwrap());
    let instance = Instance::new(Platform::flat(8).unwrap(), vec![job("a"), bag], vec![]).unwrap();
    let placement = |task, processor: &str| Placement {
        task: TaskId(task),
        start: Time::ZERO,
        end: seconds("1"),
        processors: processor.parse().unwrap(),
    };
    let schedule = Schedule::new(vec![placement(0, "0"), placement(1, "1"), placement(3, "2")]);
    let file = ScheduleFile::new(&instance, "list", schedule);
    let mut bytes = Vec::new();
    file.write(&instance, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains("{\"job\": \"b\", \"task\": 2, \"start\""), "{text}");
    let read = |text: &str| ScheduleFile::read("s.json", text.as_bytes(), &instance).map_err(|error| error.to_string());
    assert_eq!(read(&text).unwrap(), file);
    let check = |from: &str, to: &str, expect: &str| {
        let error = read(&text.replace(from, to)).unwrap_err();
        assert!(error.contains(expect), "{error}");
    };
    check(
        "\"task\": 2",
        "\"task\": 3",
        "placements[2].task: task 3 of job `b` does not exist; its tasks are numbered from 0 to 2",
    );
    check("\"task\": 2, ", "", "placements[2].task: job `b` is a bag; state the number of the task in `task`");
    check("\"task\": 2", "\"task\": \"x\"", "placements[2].task: job `b` is a bag: `x` is not a count");
    let beyond = ScheduleFile { schedule: Schedule::new(vec![placement(4, "0")]), ..file };
    let refused = beyond.write(&instance, &mut Vec::new()).unwrap_err().to_string();
    assert!(refused.contains("places task number 4, which the instance does not have"), "{refused}");
}
