use makespan_core::{Job, JobId, Phase, PhaseStep, Placement, Platform, ProcSet, Profile, TaskId};

use super::super::shell::hash;
use super::*;
use crate::gantt::Deadline;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)><!-- {{data}} \u{2028} \u{1} \"'& טקסט";

fn instance(jobs: u32) -> Instance {
    let job = |id: u32| {
        let profile = Profile::rigid(2, Time::from_seconds(10)).unwrap();
        Job::new(format!("{id}{HOSTILE}"), profile).with_release(Time::from_seconds(i64::from(id)))
    };
    Instance::new(Platform::flat(4).unwrap(), (0..jobs).map(job).collect(), vec![]).unwrap()
}

fn levels(count: u32) -> Vec<SimulationLevel> {
    let level = |id: u32| SimulationLevel {
        time: Time::from_seconds(i64::from(id)),
        held: id % 5,
        waiting: id % 97 * (id % 31) % 17,
    };
    (0..count).map(level).collect()
}

fn page(instance: &Instance, levels: &[SimulationLevel], schedule: Option<&Schedule>) -> String {
    let end = levels.last().map_or(Time::ZERO, |level| level.time);
    let step = |second, phase| PhaseStep { from: Time::from_seconds(second), phase };
    let phases = Phases { steps: vec![step(0, Phase::Saturation), step(3, Phase::Starvation)], end };
    let marks = Marks {
        tasks: [(TaskId(0), HOSTILE.to_owned())].into(),
        deadlines: vec![Deadline { at: Time::from_seconds(1), text: HOSTILE.into(), missed: true, job: JobId(0) }],
        ..Marks::default()
    };
    let panel = PolicyPanel {
        name: HOSTILE,
        summary: HOSTILE,
        end,
        processors: instance.processors(),
        levels,
        phases: Some(&phases),
        schedule,
        marks: &marks,
    };
    let comparison = Section {
        title: HOSTILE.into(),
        columns: vec![HOSTILE.into()],
        rows: vec![vec![HOSTILE.into()]],
        ..Section::default()
    };
    let report = SimulationReport {
        title: HOSTILE,
        instance,
        policies: &[panel, panel],
        seed: u64::MAX,
        remarks: &[HOSTILE.to_owned()],
        is_present: false,
        week: None,
        comparison: &comparison,
        sections: std::slice::from_ref(&comparison),
    };
    let mut bytes = Vec::new();
    write_simulation(&mut bytes, &report).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn hostile_text_is_text_everywhere() {
    let instance = instance(2);
    let place =
        Placement { task: TaskId(0), start: Time::ZERO, end: Time::from_seconds(10), processors: ProcSet::first(2) };
    let html = page(&instance, &levels(9), Some(&Schedule::new(vec![place])));
    assert!(!html.contains("<img") && !html.contains("<!-- "), "nothing comes from a name");
    assert_eq!(html.matches("</script>").count(), 2);
    let (_, rest) = html.split_once("<script id=\"data\" type=\"application/json\">").unwrap();
    let data: serde_json::Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(data["panels"]["policies"][1]["name"], HOSTILE);
    assert_eq!(
        (&data["chart"]["schedules"][1]["name"], &data["chart"]["schedules"][1]["count"]),
        (&HOSTILE.into(), &1.into())
    );
    let (_, script) = html.rsplit_once("<script>").unwrap();
    assert!(html.contains(&format!("script-src '{}'", hash(script.split_once("</script>").unwrap().0))));
    let panels = &html[html.find("<svg id=").unwrap()..html.find("</svg>").unwrap() + 6];
    roxmltree::Document::parse(panels).unwrap();
}

#[test]
fn long_logs_make_small_pages() {
    let instance = instance(3);
    let short = page(&instance, &levels(1500), None);
    let long = page(&instance, &levels(300_000), None);
    assert!(long.len() < 700_000 && short.len() < 700_000, "{} {}", long.len(), short.len());
    assert!(long.contains("The log is long") && !short.contains("The log is long"));
}

#[test]
fn an_empty_simulation_is_a_page() {
    assert!(page(&instance(0), &[], None).contains("</html>"));
}

#[test]
fn more_processors_than_the_log_has_stay_within_their_panel() {
    let busy = [
        SimulationLevel { time: Time::ZERO, held: 20, waiting: 0 },
        SimulationLevel { time: Time::from_seconds(9), held: 0, waiting: 0 },
    ];
    let html = page(&instance(2), &busy, None);
    let panels = &html[html.find("<svg id=").unwrap()..html.find("</svg>").unwrap() + 6];
    let document = roxmltree::Document::parse(panels).unwrap();
    let ground = document.descendants().find(|node| node.attribute("class") == Some("ground")).unwrap();
    let top: f64 = ground.attribute("y").unwrap().parse().unwrap();
    let held = document
        .descendants()
        .find(|node| node.attribute("class").is_some_and(|class| class.contains("held")))
        .unwrap();
    let path = held.attribute("d").unwrap().replace(|sign: char| sign.is_ascii_alphabetic(), " ");
    let numbers: Vec<f64> = path.split_whitespace().map(|text| text.parse().unwrap()).collect();
    assert!(numbers.iter().all(|&number| number >= top), "{top}: {path}");
}

/// Checks that a picture ends early if a job runs a hundred times longer than the longest wait.
#[test]
fn pictures_of_the_present_end_when_nothing_waits() {
    let instance = instance(3);
    let level = |second: i64, waiting| SimulationLevel { time: Time::from_seconds(second), held: 2, waiting };
    let levels = [level(0, 2), level(40, 1), level(80, 0), level(8000, 0)];
    let text = |is_present| {
        let panel = PolicyPanel {
            name: "slurm",
            summary: "",
            end: Time::from_seconds(8000),
            processors: 4,
            levels: &levels,
            phases: None,
            schedule: None,
            marks: Marks::NONE,
        };
        let comparison = Section::default();
        let report = SimulationReport {
            title: "queue",
            instance: &instance,
            policies: &[panel],
            seed: 1,
            remarks: &[],
            is_present,
            week: None,
            comparison: &comparison,
            sections: &[],
        };
        let mut bytes = Vec::new();
        write_simulation(&mut bytes, &report).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let span = |text: &str| {
        let rest = text.split_once("\"span\":").unwrap().1;
        rest[..rest.find(',').unwrap()].parse::<f64>().unwrap()
    };
    assert!((span(&text(false)) - 8000.0).abs() < 1e-3, "{}", span(&text(false)));
    assert!((span(&text(true)) - 90.0).abs() < 1e-3, "{}", span(&text(true)));
    assert!(text(true).contains("Time counts from now.") && text(true).contains("is cut off"));
    assert!(text(false).contains("from the first submission") && !text(false).contains("is cut off"));
}
