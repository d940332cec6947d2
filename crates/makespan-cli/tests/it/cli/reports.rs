//! The report of a run.

use crate::cli::sandbox::Sandbox;

/// Returns the data in the page of a run.
fn data(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once("<script id=\"data\" type=\"application/json\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn names(data: &serde_json::Value) -> Vec<&str> {
    data["schedules"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[test]
fn a_report_shows_a_plan_only_if_run_times_were_known() {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "echo a\necho b >&2; exit 3\n");
    let run = "run l.txt --processors 1 --oversubscribe --quiet --folder";
    for (folder, expected) in [("one", &["happened"][..]), ("two", &["happened", "planned"][..])] {
        assert_eq!(sandbox.makespan(&format!("{run} {folder}")).status, Some(1));
        let page = sandbox.read(&format!("{folder}/report.html"));
        let title = page.split_once("<h1><bdi>").unwrap().1.split_once("</bdi>").unwrap().0;
        let parts: Vec<&str> = title.split(", ").collect();
        assert_eq!((parts[0], parts[1].len(), parts.len()), ("l.txt", "2026-11-28 21:55".len(), 3), "{title}");
        let data = data(&page);
        assert_eq!(names(&data), expected);
        let ran = &data["schedules"][0];
        assert_eq!(ran["ended"]["values"], serde_json::json!(["0", "3"]));
        assert_eq!(ran["written"]["values"], serde_json::json!([1, 2]), "output of one job, errors of the other");
        let chart = sandbox.read(&format!("{folder}/gantt.svg"));
        assert_eq!(chart.matches(">planned<").count(), expected.len() - 1);
        let (text, _) = page.split_once("<script").unwrap();
        assert_eq!(text.contains("planned "), expected.len() > 1, "{text}");
    }
    // A resumed run does not follow its first plan.
    assert_eq!(sandbox.makespan(&format!("{run} two --resume --retry-failed")).status, Some(1));
    assert_eq!(names(&data(&sandbox.read("two/report.html"))), ["happened"]);
}
