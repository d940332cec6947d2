//! The commands of the client, with a fake service that is kept in memory and runs nothing.

#[path = "../../../../makespan-service/tests/it/http/fake.rs"]
#[allow(dead_code, reason = "not all of it is needed here")]
mod fake;
mod real;
#[path = "../../../../makespan-service/tests/it/http/site.rs"]
#[allow(dead_code, reason = "not all of it is needed here")]
mod site;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};

use makespan_service::client::write_url;
use makespan_service::tokens::write_private;
use makespan_service::words::State;
use serde_json::Value;
use site::{Site, eventually};

/// Returns a command of a user with this token.
fn command(site: &Site, token: &str) -> Command {
    let store = site.store.path();
    write_private(&store.join("token"), token.as_bytes()).unwrap();
    write_url(store, site.server.url()).unwrap();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("makespan"));
    command.env("MAKESPAN_STORE", store).env_remove("MAKESPAN_URL").env_remove("MAKESPAN_TOKEN_FILE");
    // The proxy setting must be ignored, because a proxy would see the token.
    command.env("http_proxy", "http://127.0.0.1:1").current_dir(store);
    command
}

fn run(site: &Site, words: &[&str]) -> Output {
    command(site, &site.alice).args(words).output().unwrap()
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns the error of a command that failed.
fn error(output: &Output) -> String {
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn jobs_are_submitted_shown_and_changed() {
    let site = Site::new();
    assert_eq!(
        said(&run(
            &site,
            &["submit", "--name", "one", "--processors", "2", "--memory", "1GiB", "--", "sh", "-c", "true"]
        )),
        "job 1\n"
    );
    fs::write(site.store.path().join("list.txt"), "true\nfalse\n").unwrap();
    assert_eq!(said(&run(&site, &["submit", "list.txt"])), "job 2\n");
    assert_eq!(said(&run(&site, &["submit", "--", "echo {}", ":::", "a", "b c"])), "job 3\n");
    let queue = said(&run(&site, &["queue"]));
    assert_eq!(queue.lines().count(), 4, "{queue}");
    assert!(queue.lines().all(|line| line.chars().count() <= 80) && queue.contains("alice"), "{queue}");
    let json: Value =
        serde_json::from_str(&said(&run(&site, &["queue", "--format", "json", "--user", "alice"]))).unwrap();
    assert_eq!((&json["total"], &json["jobs"][0]["name"]), (&3.into(), &"one".into()));
    assert_eq!(said(&run(&site, &["queue", "--user", "bob&user=alice"])), "no jobs\n");
    assert_eq!(said(&run(&site, &["queue", "--limit", "0"])), "0 of 3 jobs\n");
    let none: Value = serde_json::from_str(&said(&run(&site, &["queue", "--limit", "0", "--format", "json"]))).unwrap();
    assert_eq!((&none["total"], &none["jobs"]), (&3.into(), &serde_json::json!([])));
    assert_eq!(said(&run(&site, &["hold", "1", "2"])), "job 1 is held\njob 2 is held\n");
    assert_eq!(said(&run(&site, &["release", "1"])), "job 1 is waiting\n");
    assert_eq!(said(&run(&site, &["cancel", "2"])), "job 2 is cancelled\n");
    let partly = run(&site, &["cancel", "2", "3", "9"]);
    assert_eq!(
        (partly.status.code(), String::from_utf8_lossy(&partly.stdout).as_ref()),
        (Some(1), "job 3 is cancelled\n")
    );
    let job = said(&run(&site, &["job", "1"]));
    assert!(job.contains("why not now others run") && job.contains("state       waiting"), "{job}");
    let json: Value = serde_json::from_str(&said(&run(&site, &["job", "1", "--format", "json"]))).unwrap();
    assert_eq!(json["task_list"][0]["processors"], "0-3");
    let what_if = said(&run(&site, &["submit", "--what-if", "--", "true"]));
    let others = "  other jobs  25 jobs would start later, by at most 5 s; job 1 +2 s; 24 jobs of other";
    assert!(what_if.contains(others) && what_if.contains("\n  starts      in 0 s\n"), "{what_if}");
    assert_eq!(site.fake.job_count(), 3);
}

#[test]
fn a_submitter_sees_the_number_of_jobs_of_others() {
    let site = Site::new();
    let of = |token: &str, words: &[&str]| said(&command(&site, token).args(words).output().unwrap());
    assert_eq!(of(&site.bob, &["queue"]), "no jobs\n");
    for _ in 0..3 {
        of(&site.alice, &["submit", "--", "true"]);
    }
    assert_eq!(of(&site.bob, &["queue"]), "you have no jobs\n3 jobs of other users are running or waiting\n");
    of(&site.bob, &["submit", "--", "true"]);
    assert!(of(&site.bob, &["queue"]).ends_with("\nand 3 jobs of other users\n"));
    let json: Value = serde_json::from_str(&of(&site.bob, &["queue", "--format", "json"])).unwrap();
    assert_eq!((&json["total"], &json["others"]), (&1.into(), &3.into()));
    assert!(!of(&site.admin, &["queue"]).contains("other users"));
}

#[test]
fn a_wait_ends_with_the_jobs() {
    let site = Site::new();
    for _ in 0..3 {
        said(&run(&site, &["submit", "--", "true"]));
    }
    site.fake.end(1, State::Succeeded);
    assert_eq!(said(&run(&site, &["wait", "1"])), "job 1 succeeded\n");
    let wait = command(&site, &site.alice).args(["wait", "1", "2", "3"]).stdout(Stdio::piped()).spawn().unwrap();
    eventually("the wait follows", || {
        site.get(&site.reader, "/api/v1/metrics").text().contains("makespan_http_event_streams 1\n")
    });
    site.fake.end(3, State::Succeeded);
    site.fake.end(2, State::Failed);
    let output = wait.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // Jobs that end at nearly the same time may be reported in any order.
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!((output.status.code(), lines), (Some(1), vec!["job 1 succeeded", "job 2 failed", "job 3 succeeded"]));
}

#[test]
fn logs_are_printed_as_they_are() {
    let site = Site::new();
    said(&run(&site, &["submit", "--", "true"]));
    site.fake.print(b"a\xff\n", false);
    assert_eq!(run(&site, &["logs", "1"]).stdout, b"a\xff\n");
    let follow = command(&site, &site.alice).args(["logs", "1", "-f", "--err"]).stdout(Stdio::piped()).spawn().unwrap();
    site.fake.print(&vec![b'x'; 3_000_000], true);
    assert_eq!(follow.wait_with_output().unwrap().stdout.len(), 3_000_003);
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let site = Site::new();
    let cases: [(&[&str], &str); 9] = [
        (&["job", "7"], "there is no such job"),
        (&["submit", "missing.txt"], "missing.txt: cannot open"),
        (&["submit", "--", "huge"], "as it was asked for"),
        (&["submit", "--", "full"], "as it was asked for"),
        (&["submit", "--time", "soon", "--", "true"], "--time"),
        (&["submit", "--resource", "x", "--", "true"], "--resource x"),
        (&["submit", "--env", "x", "--", "true"], "--env x"),
        (&["submit", "--url", "http://cluster.example", "--", "true"], "unencrypted"),
        (&["queue", "--url", "http://127.0.0.1:1"], "cannot be reached"),
    ];
    for (words, part) in cases {
        let text = error(&run(&site, words));
        assert!(text.contains(part) && text.trim().lines().count() == 1, "{words:?}: {text}");
    }
    assert_eq!(site.fake.job_count(), 0);
    let token = site.store.path().join("token");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
    let open = command(&site, &site.alice).arg("queue").env("MAKESPAN_TOKEN_FILE", &token).output().unwrap();
    assert!(open.status.success(), "it was written anew");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
    let mut alone = Command::new(assert_cmd::cargo::cargo_bin!("makespan"));
    let output = alone.arg("queue").env("MAKESPAN_STORE", site.store.path()).output().unwrap();
    assert!(error(&output).contains("chmod 600"));
    let output = alone.env("MAKESPAN_STORE", "/nowhere").output().unwrap();
    assert!(error(&output).contains("makespan serve"));
}

#[test]
fn tokens_are_made_shown_and_removed() {
    let site = Site::new();
    let token = said(&run(&site, &["token", "add", "carol", "--role", "submitter", "--name", "laptop"]));
    assert!(token.starts_with("mks_") && token.trim().len() == 68, "{token}");
    eventually("it is taken", || site.get(token.trim(), "/api/v1/whoami").status == 200);
    let list = said(&run(&site, &["token", "list"]));
    let line = list.lines().find(|line| line.contains("carol")).unwrap();
    assert!(line.contains("submitter") && line.contains("laptop") && !list.contains(token.trim()), "{list}");
    let id = line.split_whitespace().next().unwrap();
    said(&run(&site, &["token", "remove", id]));
    eventually("it is refused", || site.get(token.trim(), "/api/v1/whoami").status == 401);
    assert!(error(&run(&site, &["token", "remove", id])).contains("token list"));
    assert!(error(&run(&site, &["token", "add", "../x", "--role", "admin"])).contains("not a name of a user"));
    assert!(error(&run(&site, &["token", "list", "--store", "/nowhere"])).contains("there is no store"));
}

/// An admin sets, lists and removes quotas, weights and reservations. Settings without an option stay as they are.
#[test]
fn quotas_weights_and_reservations_are_set_listed_and_removed() {
    let site = Site::new();
    let of = |token: &str, words: &[&str]| command(&site, token).args(["service"]).args(words).output().unwrap();
    let admin = |words: &[&str]| said(&of(&site.admin, words));
    let set = admin(&["user", "set", "ann", "--weight", "2", "--most-waiting", "100"]);
    assert_eq!(set, "ann: weight 2, at most 100 waiting jobs, any number of processors\n");
    let set = admin(&["user", "set", "ann", "--most-processors", "8", "--most-waiting", "none"]);
    assert_eq!(set, "ann: weight 2, any number of waiting jobs, at most 8 processors at once\n");
    let list = admin(&["user", "list"]);
    assert!(list.lines().any(|line| line.split_whitespace().take(4).eq(["ann", "2", "-", "8"])), "{list}");
    let json: Value = serde_json::from_str(&admin(&["user", "list", "--format", "json"])).unwrap();
    assert!(json.as_array().unwrap().iter().any(|user| user["most_processors"] == 8), "{json}");
    let removed = admin(&["user", "remove", "ann"]);
    assert_eq!(removed, "ann: weight 1, any number of waiting jobs, any number of processors\n");
    assert_eq!(admin(&["reservation", "list"]), "no reservations\n");
    let made = admin(&["reservation", "add", "a demo", "--processors", "0-1,3", "--start", "1h", "--for", "2h"]);
    assert!(made.starts_with("reservation 1: processors 0-1,3 from 20"), "{made}");
    let kept: Value = serde_json::from_str(&admin(&["reservation", "list", "--format", "json"])).unwrap();
    let (start, end) = (kept[0]["start"].as_f64().unwrap(), kept[0]["end"].as_f64().unwrap());
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    assert!((end - start - 7200.0).abs() < 0.01 && (start - now - 3600.0).abs() < 60.0, "{kept}");
    assert!(admin(&["reservation", "list"]).contains("a demo"));
    assert_eq!(admin(&["reservation", "remove", "1"]), "reservation 1 is removed\n");
    let cases: [(&str, &[&str], &str); 7] = [
        (&site.admin, &["reservation", "remove", "1"], "service reservation list"),
        (&site.admin, &["reservation", "add", "x", "--processors", "3-1", "--for", "1h"], "--processors 3-1"),
        (&site.admin, &["reservation", "add", "x", "--processors", "1", "--end", "soon"], "2026-11-22T02:04:10"),
        (&site.admin, &["user", "set", "../x", "--weight", "1"], "not a name of a user"),
        (&site.admin, &["user", "remove", "unknown1"], "service user list"),
        (&site.alice, &["user", "set", "ann", "--weight", "1"], "only an admin"),
        (&site.alice, &["reservation", "add", "x", "--processors", "1", "--for", "1h"], "only an admin"),
    ];
    for (token, words, part) in cases {
        let text = error(&of(token, words));
        assert!(text.contains(part) && text.trim().lines().count() == 1, "{words:?}: {text}");
    }
    for (words, part) in [
        (&["user", "set", "ann"][..], "--weight"),
        (&["user", "set", "ann", "--most-processors", "0"], "from 1 to"),
        (&["user", "set", "ann", "--weight", "nan"], "write a number"),
        (&["user", "set", "ann", "--weight", "inf"], "write a number"),
        (&["reservation", "add", "x", "--processors", "1"], "--end"),
    ] {
        let output = of(&site.admin, words);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && text.contains(part), "{words:?}: {text}");
    }
}
