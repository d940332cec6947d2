use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use makespan_core::{Job, JobId, Objective, Placement, Platform, ProcSet, Profile, Schedule, TaskId, Time};
use makespan_verify::Proof;
use makespan_verify::proof::Alone;

use super::shell::hash;
use super::*;
use crate::gantt::Deadline;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)><!-- {{data}} \u{2028} \u{1} \"'& טקסט";

fn instance(names: &[String]) -> Instance {
    let job = |name: &String| Job::new(name, Profile::rigid(2, Time::from_seconds(10)).unwrap());
    Instance::new(Platform::flat(4).unwrap(), names.iter().map(job).collect(), vec![]).unwrap()
}

fn schedule(jobs: u32) -> Schedule {
    let place = |id: u32| Placement {
        task: TaskId(id.into()),
        start: Time::from_seconds(i64::from(id / 2) * 10),
        end: Time::from_seconds(i64::from(id / 2) * 10 + 10),
        processors: ProcSet::range(id % 2 * 2, id % 2 * 2 + 1),
    };
    Schedule::new((0..jobs).map(place).collect())
}

fn html(instance: &Instance, schedule: &Schedule) -> String {
    let bound = (!instance.jobs().is_empty())
        .then(|| Bound::proved_by(Objective::Makespan, Proof::Alone(Alone { job: JobId(0) }), instance).unwrap());
    let bounds: Vec<Bound> = bound.into_iter().collect();
    let deadlines = vec![Deadline { at: Time::from_seconds(1), text: HOSTILE.into(), missed: true, job: JobId(0) }];
    let marks = Marks { tasks: [(TaskId(0), HOSTILE.to_owned())].into(), deadlines, ..Marks::default() };
    let section = Section {
        title: HOSTILE.into(),
        text: HOSTILE.into(),
        columns: vec![HOSTILE.into()],
        rows: vec![vec![HOSTILE.into()]],
        ..Section::default()
    };
    let report = Report {
        title: HOSTILE,
        instance,
        schedules: &[NamedSchedule { name: HOSTILE, schedule }],
        marks: &[marks],
        algorithm: HOSTILE,
        seed: u64::MAX,
        bounds: &bounds,
        remarks: &[HOSTILE.to_owned()],
        sections: &[section],
        minimised: &[],
        choose: false,
        run: None,
    };
    let mut bytes = Vec::new();
    write_html(&mut bytes, &report).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn data(html: &str) -> serde_json::Value {
    let (_, rest) = html.split_once("<script id=\"data\" type=\"application/json\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn hostile_text_is_text_everywhere() {
    let instance = instance(&[HOSTILE.to_owned()]);
    let html = html(&instance, &schedule(1));
    assert!(!html.contains("<img"), "no element comes from a name");
    assert!(!html.contains("<!-- "), "nor a comment");
    assert_eq!(html.matches("</script>").count(), 2);
    let names = data(&html)["jobs"]["names"].as_str().map(|text| STANDARD.decode(text).unwrap()).unwrap();
    assert!(names.ends_with(HOSTILE.as_bytes()), "the name is there, packed");
}

#[test]
fn the_page_allows_its_own_script_and_no_connection() {
    let html = html(&instance(&[]), &schedule(0));
    assert!(html.contains("default-src 'none'"));
    let (_, script) = html.rsplit_once("<script>").unwrap();
    let script = script.split_once("</script>").unwrap().0;
    assert!(html.contains(&format!("script-src '{}'", hash(script))));
    // The page does not load the SVG namespace. `url(#` refers to a clip path in the SVG file that the page saves.
    let rest = html.replace("http://www.w3.org/2000/svg", "").replace("url(#", "");
    for part in ["http://", "https://", "@import", "url("] {
        assert!(!rest.contains(part), "the page names {part}");
    }
}

#[test]
fn columns_are_short() {
    let names: Vec<String> = (0..100_000).map(|id| format!("job {id}")).collect();
    let html = html(&instance(&names), &schedule(100_000));
    assert!(html.len() < 2_600_000, "{}", html.len());
    let data = data(&html);
    let plan = &data["schedules"][0];
    assert_eq!((plan["count"].as_u64(), plan["intervals"].as_u64()), (Some(100_000), Some(100_000)));
    assert_eq!((plan["makespan"].as_f64(), data["perSecond"].as_f64()), (Some(500_000.0), Some(1.0)));
    assert_eq!(data["bound"], 10.0);
    // The second placement has the next task, the same start, a duration of 10 s and one interval. The interval begins
    // at processor 2 and ends 1 later.
    let placements = STANDARD.decode(plan["placements"].as_str().unwrap()).unwrap();
    assert_eq!(placements[..12], [0, 0, 10, 1, 0, 1, 2, 0, 10, 1, 2, 1]);
}

/// Returns the data of the page of a plan.
fn plan_data(instance: &Instance, schedule: &Schedule) -> serde_json::Value {
    let report = Report {
        title: "plan",
        instance,
        schedules: &[NamedSchedule { name: "plan", schedule }],
        marks: &[],
        algorithm: "",
        seed: 1,
        bounds: &[],
        remarks: &[],
        sections: &[],
        minimised: &[],
        choose: false,
        run: None,
    };
    let mut bytes = Vec::new();
    write_html(&mut bytes, &report).unwrap();
    data(&String::from_utf8(bytes).unwrap())
}

proptest::proptest! {
    /// Checks that the chart and the objective agree on the missed deadlines and on the tardiness.
    #[test]
    fn deadlines_are_drawn_where_tardiness_begins(
        jobs in proptest::collection::vec((0_i64..20, proptest::option::of(1_i64..40), 0_i64..20), 1..8)
    ) {
        let job = |&(release, deadline, _): &(i64, Option<i64>, i64)| {
            let job = Job::new("a", Profile::rigid(1, Time::from_seconds(3)).unwrap());
            let job = job.with_release(Time::from_seconds(release));
            deadline.map_or(job.clone(), |after| job.with_deadline(Time::from_seconds(release + after)))
        };
        let all: Vec<Job> = jobs.iter().map(job).enumerate().map(|(at, job)| Job { name: at.to_string(), ..job }).collect();
        let instance = Instance::new(Platform::flat(8).unwrap(), all, vec![]).unwrap();
        let place = |(at, &(release, _, wait)): (usize, &(i64, Option<i64>, i64))| Placement {
            task: TaskId(at as u64),
            start: Time::from_seconds(release + wait),
            end: Time::from_seconds(release + wait + 3),
            processors: ProcSet::range(at as u32, at as u32),
        };
        let schedule = Schedule::new(jobs.iter().enumerate().map(place).collect());
        let data = plan_data(&instance, &schedule);
        let drawn = data["schedules"][0]["deadlines"].as_array().unwrap();
        proptest::prop_assert_eq!(drawn.len(), jobs.iter().filter(|(_, deadline, _)| deadline.is_some()).count());
        let late = drawn.iter().filter(|one| one[1] == true).map(|one| {
            let (release, _, wait) = jobs[one[2].as_u64().unwrap() as usize];
            (release + wait + 3) as f64 - one[0].as_f64().unwrap()
        });
        // The value in seconds. All times in this test are whole seconds.
        let most = Objective::MaxTardiness.value(&instance, &schedule) / 1_000_000_000;
        proptest::prop_assert_eq!(late.fold(0.0, f64::max).round() as i128, most);
    }
}

#[test]
fn users_have_the_names_under_which_they_submitted() {
    let by = |name: &str, user: Option<&str>| {
        let job = Job::new(name, Profile::rigid(2, Time::from_seconds(10)).unwrap());
        let submission = |user: &str| makespan_core::Submission { user: Some(user.into()), ..Default::default() };
        user.map_or(job.clone(), |user| job.with_submission(submission(user)))
    };
    let jobs = vec![by("a", Some(HOSTILE)), by("b", None), by("c", Some("ann")), by("d", Some("ann"))];
    let instance = Instance::new(Platform::flat(4).unwrap(), jobs, vec![]).unwrap();
    let data = plan_data(&instance, &schedule(4));
    assert_eq!(data["users"], serde_json::json!([HOSTILE, "ann"]));
    let user = &data["jobs"]["user"];
    assert_eq!(user["values"], serde_json::json!([0, -1, 1]));
    assert_eq!(STANDARD.decode(user["rows"].as_str().unwrap()).unwrap(), [0, 1, 2, 2]);
}

#[test]
fn the_page_of_a_queue_has_hostile_text_as_text_and_draws_jobs_by_start() {
    let job = |id: &str, start: i64, after: &[usize]| QueuedJob {
        id: id.into(),
        name: HOSTILE.into(),
        user: HOSTILE.into(),
        why: HOSTILE.into(),
        remedy: Some(HOSTILE.into()),
        is_listed: true,
        start: Some(start),
        end: Some(start),
        processors: vec![(0, 1)],
        after: after.to_vec(),
        ..QueuedJob::default()
    };
    let held = QueuedJob { id: "held".into(), is_listed: true, ..QueuedJob::default() };
    let nodes = [
        QueueNode { name: HOSTILE.into(), processors: 4, away: None },
        QueueNode { name: "n1".into(), processors: 2, away: Some(HOSTILE.into()) },
    ];
    let report = QueueReport {
        title: HOSTILE,
        origin: &[HOSTILE.into()],
        nodes: &nodes,
        jobs: &[job("late", 9, &[1]), job("early", -3, &[]), held],
        reserved: &[ReservedProcessors { text: HOSTILE.into(), start: 5, end: 6, processors: vec![(4, 5)] }],
        until: 60,
        until_words: HOSTILE,
        remarks: &[HOSTILE.into()],
    };
    let mut bytes = Vec::new();
    write_queue(&mut bytes, &report).unwrap();
    let html = String::from_utf8(bytes).unwrap();
    assert!(!html.contains("<img") && !html.contains("<!-- "), "no element comes from a name");
    assert_eq!(html.matches("</script>").count(), 2);
    assert_eq!(html.matches("<tr data-job=").count(), 3, "the table has also those that do not start");
    let data = data(&html);
    let drawn = &data["schedules"][0];
    assert_eq!(drawn["keys"], serde_json::json!(["early", "late"]));
    assert_eq!(drawn["boxes"][0]["end"], -2, "a job is drawn for a second at least");
    let edges = STANDARD.decode(data["edges"].as_str().unwrap()).unwrap();
    assert_eq!(edges, [0, 1, 2], "the second waits for one, which is one before it");
    assert_eq!((data["processors"].as_u64(), data["open"]["processors"][0].as_u64()), (Some(6), Some(4)));
    assert_eq!(data["unavailable"].as_array().unwrap().len(), 2);
}

#[test]
fn long_tables_of_a_queue_say_that_they_have_more_rows() {
    let job = |at: usize| QueuedJob { id: at.to_string(), is_listed: true, runs: at >= 301, ..QueuedJob::default() };
    let jobs: Vec<QueuedJob> = (0..310).map(job).collect();
    let report = QueueReport {
        title: "queue",
        origin: &[],
        nodes: &[],
        jobs: &jobs,
        reserved: &[],
        until: 60,
        until_words: "",
        remarks: &[],
    };
    let mut bytes = Vec::new();
    write_queue(&mut bytes, &report).unwrap();
    let html = String::from_utf8(bytes).unwrap();
    assert_eq!((html.matches("<tr data-job=").count(), html.matches("\" hidden>").count()), (310, 1));
    assert_eq!(html.matches("The first 300 of 301.").count(), 1);
}

/// Returns the page of a run of two jobs. The second job failed. `has_plan` states whether the page also shows the
/// plan.
fn page_of_run(has_plan: bool) -> String {
    let instance = instance(&["a".to_owned(), HOSTILE.to_owned()]);
    let (ran, plan) = (schedule(2), schedule(2));
    let attempt = |ended: &str, has_errors| Attempt {
        ended: ended.to_owned(),
        stem: format!("2-{HOSTILE}"),
        has_output: true,
        has_errors,
    };
    let run = RunDetails {
        origin: vec![HOSTILE.to_owned()],
        succeeded: 1,
        others: HOSTILE.to_owned(),
        commands: vec![HOSTILE.to_owned(), "exit 3".to_owned()],
        attempts: vec![attempt("0", false), attempt("3", true)],
    };
    let schedules =
        [NamedSchedule { name: "happened", schedule: &ran }, NamedSchedule { name: "planned", schedule: &plan }];
    let failures = Section { title: "Outcomes".into(), first: true, ..Section::default() };
    let report = Report {
        title: "list.txt, 2026-11-28 21:55, host",
        instance: &instance,
        schedules: if has_plan { &schedules[..] } else { &schedules[..1] },
        marks: &[],
        algorithm: "optimise",
        seed: 1,
        bounds: &[],
        remarks: &[],
        sections: &[failures],
        minimised: &[Objective::Makespan],
        choose: false,
        run: Some(&run),
    };
    let mut bytes = Vec::new();
    write_html(&mut bytes, &report).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn the_page_of_a_run_shows_what_happened_before_a_plan_that_there_is() {
    for has_plan in [false, true] {
        let html = page_of_run(has_plan);
        assert!(!html.contains("<img") && !html.contains("<!-- "), "no element comes from a name");
        let data = data(&html);
        let names: Vec<_> = data["schedules"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
        assert_eq!(names, if has_plan { vec!["happened", "planned"] } else { vec!["happened"] });
        assert_eq!(data["schedules"][0]["ended"]["values"], serde_json::json!(["0", "3"]));
        assert_eq!(data["schedules"][0]["written"]["values"], serde_json::json!([1, 3]));
        assert!(data["commands"].is_string() && data["schedules"][1]["ended"].is_null());
        let (failures, chart) = (html.find("<h2>Outcomes").unwrap(), html.find("chart-host\"").unwrap());
        assert!(failures < chart && html.contains("<dd>1 of 2<small>"), "failures come before the chart");
        // If no run times are known in advance, the page says nothing about a plan.
        let (text, _) = html.split_once("<script").unwrap();
        for word in ["algorithm</span>", "planned: "] {
            assert_eq!(text.contains(word), has_plan, "{word}");
        }
        assert!(!text.contains(">mean flow<") && !text.contains(">weighted completion<"));
    }
}
