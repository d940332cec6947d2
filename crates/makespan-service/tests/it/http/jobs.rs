//! Tests of valid requests for jobs, plans, output, metrics and the web page.

use serde_json::{Value, json};

use crate::http::site::{Site, bearer, submission};

#[test]
fn a_job_is_submitted_seen_changed_and_taken_back() {
    let site = Site::new();
    let answer = site.send(&site.alice, "POST /api/v1/jobs", &submission("first"));
    assert_eq!((answer.status, answer.header("location")), (201, Some("/api/v1/jobs/1")));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let job = site.get(&site.alice, "/api/v1/jobs/1").json();
    assert_eq!((&job["name"], &job["state"], &job["number"]), (&json!("first"), &json!("waiting"), &json!(1)));
    for (verb, state) in [("hold", "held"), ("release", "waiting"), ("cancel", "cancelled")] {
        let changed = site.send(&site.alice, &format!("POST /api/v1/jobs/1/{verb}"), "").json();
        assert_eq!(changed, json!({ "job": 1, "state": state }));
    }
    site.send(&site.alice, "DELETE /api/v1/jobs/1", "").problem(409);
    site.get(&site.alice, "/api/v1/jobs/2").problem(404);
}

#[test]
fn several_are_taken_at_once_or_none() {
    let site = Site::new();
    let one: Value = serde_json::from_str(&submission("x")).unwrap();
    let answer = site.send(&site.alice, "POST /api/v1/jobs", &json!({ "submissions": [one, one] }).to_string());
    assert_eq!(answer.json()["receipts"].as_array().unwrap().len(), 2);
    let wrong = json!({ "submissions": [one, { "content": { "command": { "argv": ["huge"] } } }] }).to_string();
    site.send(&site.alice, "POST /api/v1/jobs", &wrong).problem(422);
    let unknown = json!({ "submissions": [one, { "content": { "command": { "argv": ["a"], "x": 1 } } }] }).to_string();
    let problem = site.send(&site.alice, "POST /api/v1/jobs", &unknown).problem(400);
    assert!(problem.place.as_deref().is_some_and(|place| place.starts_with("submissions[1].content")), "{problem:?}");
    assert_eq!(site.fake.job_count(), 2);
}

#[test]
fn a_key_is_taken_once() {
    let site = Site::new();
    let send = |key: &str, name: &str| {
        let head = [bearer(&site.alice), "Content-Type: application/json".into(), format!("Idempotency-Key: {key}")];
        site.request("POST /api/v1/jobs", &head.each_ref().map(String::as_str), submission(name).as_bytes())
    };
    assert_eq!(send("k1", "a").json(), send("k1", "a").json());
    assert_eq!(site.fake.job_count(), 1);
    send("k1", "b").problem(409);
    for bad in ["", "two words", &"k".repeat(201), "\u{e4}"] {
        assert_eq!(send(bad, "c").problem(400).place.as_deref(), Some("header.idempotency-key"));
    }
    assert_eq!(site.fake.job_count(), 1);
}

#[test]
fn lists_come_in_parts() {
    let site = Site::new();
    for index in 1..=25 {
        site.submit(&site.alice, &format!("j\u{e4}&{index}"));
    }
    let mut path = "/api/v1/jobs?limit=10&newest=true&text=j%C3%A4%26&state=waiting,running&user=alice".to_owned();
    let mut seen = Vec::new();
    loop {
        let answer = site.get(&site.alice, &path);
        let page = answer.json();
        assert_eq!(page["total"], 25);
        seen.extend(page["items"].as_array().unwrap().iter().map(|job| job["number"].as_u64().unwrap()));
        let Some(link) = answer.header("link") else { break };
        path = link.trim_start_matches('<').split('>').next().unwrap().to_owned();
        assert!(link.ends_with("; rel=\"next\"") && page["next"].is_u64());
    }
    assert_eq!(seen, (1..=25).rev().collect::<Vec<u64>>());
    for bad in ["limit=0", "limit=1001", "limit=x", "state=happy", "newest=1", "after=-1", "limit=1&limit=2", "what=1"]
    {
        let problem = site.get(&site.alice, &format!("/api/v1/jobs?{bad}")).problem(400);
        let name = bad.split('=').next().unwrap();
        assert_eq!(problem.place.as_deref(), Some(format!("query.{name}").as_str()));
    }
}

#[test]
fn a_plan_that_is_known_is_not_sent_again() {
    let site = Site::new();
    site.fake.plan_again(3);
    let answer = site.get(&site.admin, "/api/v1/plan");
    let tag = answer.header("etag").unwrap().to_owned();
    assert_eq!(answer.json()["boxes"][0]["name"], "secret");
    let known =
        |token: &str| site.request("GET /api/v1/plan", &[&bearer(token), &format!("If-None-Match: {tag}")], b"");
    let again = known(&site.reader);
    assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, Some(tag.as_str())));
    let other = known(&site.alice);
    assert_eq!((other.status, &other.json()["boxes"][0]["name"]), (200, &json!("")), "a submitter sees another plan");
    site.fake.plan_again(4);
    let new = known(&site.admin);
    assert_eq!((new.status, new.json()["boxes"].as_array().unwrap().len()), (200, 4));
}

#[test]
fn logs_are_read_in_parts_and_followed() {
    let site = Site::new();
    site.submit(&site.alice, "x");
    site.fake.print(b"hello <script>\xff", false);
    let part = site.get(&site.alice, "/api/v1/jobs/1/logs/0/out?from=6&most=3");
    assert_eq!(part.body, b"<sc");
    assert_eq!(part.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(part.header("x-content-type-options"), Some("nosniff"));
    assert_eq!((part.header("makespan-log-size"), part.header("makespan-log-ended")), (Some("15"), Some("false")));
    let fake = site.fake.clone();
    let printer = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(700));
        fake.print(&vec![b'x'; 200_000], true);
    });
    let all = site.get(&site.alice, "/api/v1/jobs/1/logs/0/err?follow=true");
    printer.join().unwrap();
    assert_eq!(all.body.len(), 200_015);
}

#[test]
fn metrics_are_as_prometheus_reads_them() {
    let site = Site::new();
    site.submit(&site.alice, "x");
    let answer = site.get(&site.reader, "/api/v1/metrics");
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let text = answer.text();
    assert!(text.contains("# TYPE makespan_jobs gauge\nmakespan_jobs{state=\"waiting\"} 1\n"), "{text}");
    assert!(text.contains("# TYPE makespan_http_answers_total counter\n"), "{text}");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("makespan_") && value.parse::<f64>().is_ok(), "{line}");
        let bare = name.split('{').next().unwrap();
        assert_eq!(text.matches(&format!("# TYPE {bare} ")).count(), 1, "{line}");
    }
    site.get(&site.alice, "/api/v1/metrics").problem(403);
}

#[test]
fn the_page_is_sent_with_a_strict_policy() {
    let site = Site::new();
    let page = site.request("GET /", &[], b"");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let policy = page.header("content-security-policy").unwrap();
    for part in
        ["default-src 'none'", "script-src 'self'", "form-action 'none'", "frame-ancestors 'none'", "base-uri 'none'"]
    {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains("http"));
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    assert!(page.header("set-cookie").is_none() && page.header("access-control-allow-origin").is_none());
}
