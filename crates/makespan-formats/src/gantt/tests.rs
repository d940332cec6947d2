use makespan_core::{Job, JobId, Objective, Placement, Platform, ProcSet, Profile, TaskId, Unavailable};
use makespan_verify::Proof;
use makespan_verify::proof::Alone;

use super::*;

fn job(name: &str) -> Job {
    Job::new(name, Profile::table(vec![Time::from_seconds(10); 4]).unwrap())
}

fn placement(task: u64, start: i64, end: i64, processors: &str) -> Placement {
    Placement {
        task: TaskId(task),
        start: Time::from_seconds(start),
        end: Time::from_seconds(end),
        processors: processors.parse().unwrap(),
    }
}

fn svg(instance: &Instance, schedules: &[NamedSchedule<'_>], options: &GanttOptions<'_>) -> String {
    let mut bytes = Vec::new();
    write_svg(&mut bytes, instance, schedules, options).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    text
}

fn jobs_drawn(text: &str) -> usize {
    let document = roxmltree::Document::parse(text).unwrap();
    document.descendants().filter(|node| node.attribute("class").is_some_and(|class| class.starts_with("job"))).count()
}

#[test]
fn best_effort_has_its_own_colour_and_a_legend() {
    let bag = job("bag").with_weight(makespan_core::Weight::ZERO).with_count(3.try_into().unwrap());
    let instance = Instance::new(Platform::flat(8).unwrap(), vec![job("a"), bag], vec![]).unwrap();
    let task = |number: u64, start| placement(1 + number, start, start + 10, "4");
    let schedule = Schedule::new(vec![placement(0, 0, 10, "0-3"), task(0, 0), task(1, 10), task(2, 20)]);
    let text = svg(&instance, &[NamedSchedule { name: "plan", schedule: &schedule }], &GanttOptions::default());
    assert_eq!(jobs_drawn(&text), 4);
    assert_eq!(text.matches(scheme::BEST_EFFORT).count(), 4, "three tasks and the legend");
    assert!(text.contains("best-effort jobs end at 30 s; all other jobs end at 10 s"), "{text}");
    assert!(text.contains("<title>bag/2&#10;"), "{text}");
    let plain = instance.with_jobs(vec![job("a")]);
    let schedule = Schedule::new(vec![placement(0, 0, 10, "0-3")]);
    let text = svg(&plain, &[NamedSchedule { name: "plan", schedule: &schedule }], &GanttOptions::default());
    assert!(!text.contains("best-effort") && !text.contains(scheme::BEST_EFFORT));
}

/// Checks the colours in a policy's chart: a bag of three tasks has three colours, even if the bag is best effort, and
/// a compound job has one colour.
#[test]
fn tasks_of_bags_may_stand_apart() {
    let three = std::num::NonZeroU64::new(3).unwrap();
    let task = |name| makespan_core::NamedTask::new(name, Profile::rigid(1, Time::from_seconds(10)).unwrap());
    let graph = makespan_core::Graph::new(vec![task("x"), task("y")], vec![]).unwrap();
    let bag = job("bag").with_weight(makespan_core::Weight::ZERO).with_count(three);
    let jobs = vec![bag, Job::compound("pair", graph), job("a")];
    let instance = Instance::new(Platform::flat(8).unwrap(), jobs, vec![]).unwrap();
    let schedule = Schedule::new((0..6).map(|id: u32| placement(id.into(), 0, 10, &id.to_string())).collect());
    let colours = |bags_apart| {
        let options = GanttOptions { bags_apart, ..GanttOptions::default() };
        let text = svg(&instance, &[NamedSchedule { name: "", schedule: &schedule }], &options);
        assert_eq!(text.contains("best-effort jobs end at"), !bags_apart);
        let document = roxmltree::Document::parse(&text).unwrap();
        let drawn = document.descendants().filter(|node| node.has_tag_name("g"));
        drawn.filter_map(|node| node.attribute("fill")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(colours(true), [0, 1, 2, 3, 3, 4].map(|at| scheme::COLOURS[at]));
    assert_eq!(colours(false), [8, 8, 8, 1, 1, 2].map(|at| scheme::COLOURS[at]));
}

#[test]
fn hostile_names_stay_text() {
    let names = ["<b>&\"'", "\u{0}\u{8}\u{1F}", "\u{202E}evil", "مهمة טקסט", "</title><script>alert(1)</script>"];
    let instance = Instance::new(Platform::flat(8).unwrap(), names.map(job).to_vec(), vec![]).unwrap();
    let schedule = Schedule::new((0..5).map(|id| placement(id, 0, 10, &id.to_string())).collect());
    let named = [NamedSchedule { name: "<plan>", schedule: &schedule }; 2];
    let text = svg(&instance, &named, &GanttOptions { title: "]]><&", ..GanttOptions::default() });
    assert!(!text.contains("<script") && !text.contains('\u{202E}'));
    let document = roxmltree::Document::parse(&text).unwrap();
    let titles: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
    for name in ["<b>&\"'", "مهمة טקסט", "</title><script>alert(1)</script>"] {
        assert!(titles.iter().any(|title| title.starts_with(name)), "{name}");
    }
}

#[test]
fn an_empty_schedule_is_a_chart() {
    let instance = Instance::new(Platform::flat(1).unwrap(), vec![], vec![]).unwrap();
    let schedule = Schedule::default();
    let text = svg(&instance, &[NamedSchedule { name: "plan", schedule: &schedule }], &GanttOptions::default());
    assert_eq!(jobs_drawn(&text), 0);
    svg(&instance, &[], &GanttOptions::default());
}

#[test]
fn one_job_on_two_intervals_beside_an_outage_and_the_bound() {
    let outage = Unavailable { processors: ProcSet::first(1), start: Time::ZERO, end: Time::from_seconds(500) };
    let instance = Instance::new(Platform::cluster(4, 2).unwrap(), vec![job("a")], vec![outage]).unwrap();
    let schedule = Schedule::new(vec![placement(0, 0, 10, "1-2,5")]);
    let bound = Bound::proved_by(Objective::Makespan, Proof::Alone(Alone { job: JobId(0) }), &instance).unwrap();
    let options = GanttOptions { bounds: &[bound], ..GanttOptions::default() };
    let text = svg(&instance, &[NamedSchedule { name: "plan", schedule: &schedule }], &options);
    assert_eq!(jobs_drawn(&text), 2);
    for part in ["url(#hatch)", "proven bound 10 s", "makespan 10 s", "ratio 1.000 · optimal", "3 processors (1-2,5)"]
    {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn placements_beyond_the_platform_are_left_out() {
    let instance = Instance::new(Platform::flat(2).unwrap(), vec![job("a")], vec![]).unwrap();
    let schedule = Schedule::new(vec![placement(0, 0, 10, "0,7")]);
    let text = svg(&instance, &[NamedSchedule { name: "plan", schedule: &schedule }], &GanttOptions::default());
    assert_eq!(jobs_drawn(&text), 1);
}

#[test]
fn many_placements_make_a_small_file() {
    let count = 100_000_u32;
    let jobs = (0..count).map(|id| job(&format!("job {id}"))).collect();
    let instance = Instance::new(Platform::flat(1000).unwrap(), jobs, vec![]).unwrap();
    let at = |id: u32| (id % 1000, i64::from(id / 1000) * 10);
    let place = |id: u32| placement(id.into(), at(id).1, at(id).1 + 5 + i64::from(id * 7 % 6), &at(id).0.to_string());
    let schedule = Schedule::new((0..count).map(place).collect());
    let text = svg(&instance, &[NamedSchedule { name: "plan", schedule: &schedule }], &GanttOptions::default());
    assert!(text.len() < 5_000_000, "{}", text.len());
    assert!(text.matches("<path fill=\"#").count() >= 8, "every colour is still there");
}

/// Checks that a machine with many busy processors looks busy: for any height of the rows, only a small share of the
/// background is visible.
#[test]
fn thin_rows_keep_their_ink() {
    // Rows of six pixels have a frame of half a pixel.
    for (processors, most) in [(100_u32, 0.1), (200, 0.02), (512, 0.02), (700, 0.02), (3000, 0.02)] {
        let count = processors * 20;
        let jobs = (0..count).map(|id| job(&format!("job {id}"))).collect();
        let instance = Instance::new(Platform::flat(processors).unwrap(), jobs, vec![]).unwrap();
        let place = |id: u32| {
            let start = i64::from(id / processors) * 10;
            placement(id.into(), start, start + 10, &(id % processors).to_string())
        };
        let schedule = Schedule::new((0..count).map(place).collect());
        let text = svg(&instance, &[NamedSchedule { name: "plan", schedule: &schedule }], &GanttOptions::default());
        let drawn = crate::picture::pixels(&text).unwrap();
        let (width, left) = (1200.0 - RIGHT, panel::gutter(&instance));
        let (mut inside, mut pale) = (0, 0);
        for y in 120..500 {
            for x in (left as u32 + 4)..(width as u32 - 4) {
                let pixel = drawn.pixel(x, y).unwrap();
                inside += 1;
                // Each colour of a job has at least one channel well below white.
                pale += u32::from(pixel.red().min(pixel.green()).min(pixel.blue()) > 0xD5);
            }
        }
        assert!(
            f64::from(pale) < most * f64::from(inside),
            "{processors} processors: {pale} of {inside} pixels are pale"
        );
    }
}

#[test]
fn what_was_asked_for_is_told_first_and_claimed_alone() {
    let instance = Instance::new(Platform::flat(4).unwrap(), vec![job("a"), job("b")], vec![]).unwrap();
    let schedule = Schedule::new(vec![placement(0, 0, 10, "0"), placement(1, 10, 20, "0")]);
    let alone = |objective| Bound::proved_by(objective, Proof::Alone(Alone { job: JobId(0) }), &instance).unwrap();
    let bounds = [alone(Objective::Makespan)];
    let lines = |asked| summary::lines(&instance, &schedule, &bounds, asked);
    let makespan = "makespan: 20 s · proven bound 10 s · ratio 2.000 · at most 100.00\u{A0}% above the optimum";
    assert_eq!(lines(Some(Objective::Makespan)), [makespan, "weighted completion: 30"]);
    assert_eq!(lines(Some(Objective::WeightedCompletion)), ["weighted completion: 30", "makespan: 20 s"]);
    assert_eq!(lines(None)[0], makespan);
    assert_eq!(lines(Some(Objective::Cost))[0], makespan, "no line is about cost");
}

#[test]
fn groups_have_colours_and_a_legend() {
    let instance = Instance::new(Platform::cluster(2, 2).unwrap(), ["a", "b", "c"].map(job).to_vec(), vec![]).unwrap();
    let group = |name: &str| Some(std::sync::Arc::<str>::from(name));
    let placements = vec![
        (placement(0, 0, 10, "0"), group("P_1")),
        (placement(1, 0, 10, "1"), group("<P_2>")),
        (placement(2, 0, 10, "2"), group("P_1")),
    ];
    let schedule = Schedule::with_groups(placements);
    let text = svg(&instance, &[NamedSchedule { name: "plan", schedule: &schedule }], &GanttOptions::default());
    let document = roxmltree::Document::parse(&text).unwrap();
    let colours: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("g") && node.children().any(|child| child.has_tag_name("title")))
        .filter_map(|node| node.attribute("fill"))
        .collect();
    assert!(colours[0] == colours[2] && colours[0] != colours[1], "{colours:?}");
    let texts: Vec<&str> =
        document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect();
    assert!(texts.contains(&"P_1") && texts.contains(&"<P_2>"), "{texts:?}");
    let titles = document.descendants().filter(|node| node.has_tag_name("title")).filter_map(|node| node.text());
    assert_eq!(titles.filter(|title| title.ends_with(", P_1")).count(), 2);
}

#[test]
fn marks_point_out_tasks_and_deadlines() {
    let instance = Instance::new(Platform::flat(2).unwrap(), ["a", "b"].map(job).to_vec(), vec![]).unwrap();
    let schedule = Schedule::new(vec![placement(0, 0, 10, "0"), placement(1, 0, 20, "1")]);
    let deadline = |at, missed| Deadline { at: Time::from_seconds(at), text: format!("<{at}>"), missed, job: JobId(0) };
    let deadlines = vec![deadline(5, true), deadline(20, false), deadline(21, false)];
    let marks = Marks { tasks: [(TaskId(1), "was < there".to_owned())].into(), deadlines, ..Marks::default() };
    let named = [NamedSchedule { name: "plan", schedule: &schedule }; 2];
    let text = svg(&instance, &named, &GanttOptions { marks: &[Marks::default(), marks], ..GanttOptions::default() });
    let document = roxmltree::Document::parse(&text).unwrap();
    let titles = |class: &str| -> Vec<&str> {
        let of_class = document.descendants().filter(|node| node.attribute("class") == Some(class));
        of_class.filter_map(|node| node.first_element_child()?.text()).collect()
    };
    assert_eq!((titles("corner"), titles("missed")), (vec!["was < there"], vec!["<5>"]));
    assert_eq!(titles("deadline"), ["<20>"], "the third is beyond the axis");
    assert!(text.contains("dark corner") && text.contains("deadlines of jobs"));
    let plain = svg(&instance, &named, &GanttOptions::default());
    assert!(!plain.contains("dark corner") && !plain.contains("class=\"corner\""));
}

/// Checks that a chart colours a workflow by the types of its tasks, with a legend, as the page does.
#[test]
fn tasks_of_an_only_job_have_the_colours_of_their_types() {
    let task = |name: &str| makespan_core::NamedTask::new(name, Profile::rigid(1, Time::from_seconds(10)).unwrap());
    let names = ["sift_ID01", "sift_ID02", "merge_ID03", "sift_ID04"];
    let graph = makespan_core::Graph::new(names.map(task).to_vec(), vec![]).unwrap();
    let instance = Instance::new(Platform::flat(4).unwrap(), vec![Job::compound("1000genome", graph)], vec![]).unwrap();
    let schedule = Schedule::new((0..4).map(|id: u32| placement(id.into(), 0, 300, &id.to_string())).collect());
    let text = svg(&instance, &[NamedSchedule { name: "", schedule: &schedule }], &GanttOptions::default());
    let document = roxmltree::Document::parse(&text).unwrap();
    let drawn = document.descendants().filter(|node| node.has_tag_name("g"));
    let colours: Vec<&str> = drawn.filter_map(|node| node.attribute("fill")).collect();
    assert_eq!(colours, [0, 0, 1, 0].map(|at| scheme::COLOURS[at]));
    let texts: Vec<&str> =
        document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect();
    for text in ["sift", "merge", "sift_ID01", "merge_ID03"] {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
    assert!(text.contains("<title>1000genome/sift_ID01&#10;"), "a tooltip has the whole name: {text}");
}

/// Checks that tasks without types have different colours.
#[test]
fn tasks_of_an_only_job_without_types_differ() {
    let task = |name: &str| makespan_core::NamedTask::new(name, Profile::rigid(1, Time::from_seconds(10)).unwrap());
    let graph = makespan_core::Graph::new(["1", "2", "3"].map(task).to_vec(), vec![]).unwrap();
    let instance = Instance::new(Platform::flat(3).unwrap(), vec![Job::compound("job", graph)], vec![]).unwrap();
    let schedule = Schedule::new((0..3).map(|id: u32| placement(id.into(), 0, 10, &id.to_string())).collect());
    let text = svg(&instance, &[NamedSchedule { name: "", schedule: &schedule }], &GanttOptions::default());
    assert!((0..3).all(|at| text.contains(&format!(r#"<g fill="{}">"#, scheme::COLOURS[at]))), "{text}");
}

/// Checks nine jobs. The ninth would have the same preferred colour as the first, which it touches.
#[test]
fn jobs_that_follow_each_other_differ_and_keep_their_colour() {
    let names: Vec<String> = (0..9).map(|id| format!("experiment-{id}")).collect();
    let jobs = names.iter().map(|name| job(name)).collect();
    let instance = Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap();
    let planned = Schedule::new(vec![placement(0, 0, 100, "0"), placement(8, 100, 200, "0")]);
    let happened = Schedule::new(vec![placement(0, 0, 100, "0"), placement(8, 0, 200, "1")]);
    let named =
        [("planned", &planned), ("happened", &happened)].map(|(name, schedule)| NamedSchedule { name, schedule });
    let text = svg(&instance, &named, &GanttOptions::default());
    let document = roxmltree::Document::parse(&text).unwrap();
    let drawn = document.descendants().filter(|node| node.has_tag_name("g"));
    let colours: Vec<&str> = drawn.filter_map(|node| node.attribute("fill")).collect();
    assert!(colours[0] != colours[1] && colours[..2] == colours[2..], "{colours:?}");
    let label = document.descendants().find(|node| node.attribute("class") == Some("on")).unwrap();
    assert_eq!(label.text(), Some("0"), "what all names begin with is left out");
}

/// Checks that a deadline is drawn at its absolute instant, not relative to the release date.
#[test]
fn deadlines_of_a_plan_are_drawn() {
    let second = Time::from_seconds;
    let due =
        |name: &str, release, deadline| Job { release: second(release), ..job(name).with_deadline(second(deadline)) };
    let jobs = vec![due("late", 5, 15), due("early", 0, 20), job("free")];
    let instance = Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap();
    let schedule = Schedule::new(vec![placement(0, 10, 40, "0"), placement(1, 0, 10, "1")]);
    let text = svg(&instance, &[NamedSchedule { name: "", schedule: &schedule }], &GanttOptions::default());
    let document = roxmltree::Document::parse(&text).unwrap();
    let triangle = |class: &str| {
        let found = document.descendants().find(|node| node.attribute("class") == Some(class)).unwrap();
        let x = found.attribute("d").unwrap()[1..].split(' ').next().unwrap().parse::<f64>().unwrap();
        (found.first_element_child().unwrap().text().unwrap(), x)
    };
    let ((late, at), (early, then)) = (triangle("missed"), triangle("deadline"));
    assert_eq!((late, early), ("late: deadline at 15 s, missed", "early: deadline at 20 s, kept"));
    let left = panel::gutter(&instance);
    let width = 1200.0 - left - RIGHT;
    assert!((at - left - width * 15.0 / 40.0).abs() < 0.1 && (then - left - width * 20.0 / 40.0).abs() < 0.1);
    assert!(text.contains("triangles above the rows: deadlines of jobs"));
}

#[test]
fn the_chart_of_a_run_is_scaled_to_what_happened() {
    let instance = Instance::new(Platform::flat(4).unwrap(), vec![job("a"), job("b")], vec![]).unwrap();
    let ran = Schedule::new(vec![placement(0, 0, 10, "0"), placement(1, 10, 20, "0")]);
    let plan = Schedule::new(vec![placement(0, 0, 120, "0"), placement(1, 120, 240, "0")]);
    let schedules =
        [NamedSchedule { name: "happened", schedule: &ran }, NamedSchedule { name: "planned", schedule: &plan }];
    let options = GanttOptions { run: Some("2 of 2 jobs succeeded"), ..GanttOptions::default() };
    let text = svg(&instance, &schedules, &options);
    assert_eq!(jobs_drawn(&text), 3, "the second job of the plan begins beyond the axis");
    assert!(text.contains(">2 of 2 jobs succeeded<") && !text.contains("makespan"), "{text}");
    assert!(text.contains(">end 20 s<") && text.contains(">end 4 min \u{2192}<"), "{text}");
    let document = roxmltree::Document::parse(&text).unwrap();
    let right = |node: roxmltree::Node<'_, '_>| {
        let of = |name| node.attribute(name).unwrap().parse::<f64>().unwrap();
        of("x") + of("width")
    };
    let shapes = document.descendants().filter(|node| node.attribute("class").is_some_and(|class| class == "job"));
    let ends: Vec<f64> = shapes.map(right).collect();
    assert!((ends[1] - ends[2]).abs() < 0.1, "the last job and the cut plan end at the axis' end: {ends:?}");
}
