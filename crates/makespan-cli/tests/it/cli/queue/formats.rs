//! `--format`, `--report` and `--limit`.

use std::fs;
use std::path::Path;

use super::{recorded, said};
use crate::cli::sandbox::Sandbox;

#[test]
fn the_page_escapes_what_users_wrote() {
    let sandbox = Sandbox::with_small();
    let folder = recorded();
    let text = fs::read_to_string(folder.join("scontrol.jobs-d.txt")).unwrap();
    fs::create_dir(sandbox.path("saved")).unwrap();
    let evil = text.replace("JobName=wide", "JobName=<script>alert(1)</script>");
    assert!(evil != text);
    fs::write(sandbox.path("saved/scontrol.jobs-d.txt"), evil).unwrap();
    fs::copy(folder.join("scontrol.nodes-d.txt"), sandbox.path("saved/scontrol.nodes-d.txt")).unwrap();
    let said = said(&sandbox, &["--from", "saved", "--report", "queue.html"], 80);
    assert_eq!(said.status, Some(0), "{}", said.err);
    let page = fs::read_to_string(sandbox.path("queue.html")).unwrap();
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script>alert"), "{page}");
}

#[test]
fn what_is_listed_is_the_same_in_every_form() {
    let sandbox = Sandbox::with_small();
    let folder = recorded();
    let from = folder.to_str().unwrap();
    let json = |arguments: &[&str]| -> serde_json::Value {
        let said = said(&sandbox, &[&["--from", from, "--format", "json"], arguments].concat(), 80);
        serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}{}", said.out, said.err))
    };
    let count = |document: &serde_json::Value, what: &str| document[what].as_array().unwrap().len();
    let all = json(&[]);
    let (waiting, running) = (count(&all, "waiting"), count(&all, "running"));
    assert!(waiting > 5 && running == 3 && all["more"] == 0, "{all:#}");
    let some = json(&["--limit", "2"]);
    assert_eq!((count(&some, "waiting"), some["more"].as_u64()), (2, Some(waiting as u64 - 2)));
    assert_eq!((count(&some, "running"), some["more_running"].as_u64()), (2, Some(1)));
    let page = |arguments: &[&str]| {
        let said = said(&sandbox, &[&["--from", from, "--report", "queue.html"], arguments].concat(), 80);
        assert_eq!(said.status, Some(0), "{}", said.err);
        (fs::read_to_string(sandbox.path("queue.html")).unwrap(), said.out)
    };
    let rows = |page: &str| page.matches("<td class=\"job\"").count();
    assert_eq!(rows(&page(&[]).0), waiting + running);
    let (html, text) = page(&["--limit", "2"]);
    assert_eq!(rows(&html), 2 + 2);
    for more in [format!("{} more waiting", waiting - 2), "1 more running".to_owned()] {
        assert!(html.contains(&more) && text.contains(&more), "{more}: {text}");
    }
    // No user has this name, so no pending or running jobs are shown.
    let (html, text) = page(&["--user", "<nobody>"]);
    assert!(rows(&html) == 0 && html.contains("tables: jobs of &lt;nobody&gt;"), "{html}");
    assert!(text.contains("no jobs of <nobody> wait") && !text.contains("ends about"), "{text}");
    assert_eq!(count(&json(&["--user", "nobody"]), "running"), 0);
    // With --job, only this job is shown, even if it is running.
    let runs = all["running"][0]["job"].as_str().unwrap();
    let one = json(&["--job", runs]);
    assert_eq!((count(&one, "waiting"), count(&one, "running")), (0, 1));
    let tasks = said(&sandbox, &["--from", from, "--job", "8", "--limit", "2"], 80);
    assert!(tasks.out.matches("why not now").count() == 2 && tasks.out.contains("3 more tasks"), "{}", tasks.out);
}

/// Collects all keys of the objects in a document.
fn keys(value: &serde_json::Value, found: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Object(all) => all.iter().for_each(|(key, value)| {
            found.insert(key.clone());
            keys(value, found);
        }),
        serde_json::Value::Array(all) => all.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_the_json_is_in_the_document_and_no_other() {
    let sandbox = Sandbox::with_small();
    let folder = recorded();
    let mut printed = std::collections::BTreeSet::new();
    for job in [&[][..], &["--job", "7"], &["--what-if", "nodes=1"]] {
        let said = said(&sandbox, &[&["--from", folder.to_str().unwrap(), "--format", "json"], job].concat(), 80);
        keys(&serde_json::from_str(&said.out).unwrap(), &mut printed);
    }
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/queue.md")).unwrap();
    let section = text.split("\n## JSON\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let first = rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2));
    let documented: std::collections::BTreeSet<String> =
        first.flat_map(|key| key.split('.')).map(str::to_owned).collect();
    assert_eq!(printed, documented);
}
