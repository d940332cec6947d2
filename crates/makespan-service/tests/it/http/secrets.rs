//! Checks that no text of a user reaches the log.

use std::sync::Arc;

use makespan_core::Platform;
use makespan_service::host::ThisMachine;
use makespan_service::words::{Filter, UserSettings};
use makespan_service::{Keeper, KeeperOptions, Log, Service};
use serde_json::json;

use crate::common::admin;
use crate::http::site::{Site, bearer, eventually};

/// A word in each field of each request.
const SECRET: &str = "hunter8";

/// Submits, refuses and fails jobs with a secret word in every field, and sends malformed requests with this word in
/// every part. The log has a line about each of them without the word.
#[test]
fn no_text_of_a_user_is_in_the_log() {
    let temporary = tempfile::tempdir().unwrap();
    let file = temporary.path().join("log");
    let options = KeeperOptions {
        shim: Some(env!("CARGO_BIN_EXE_service-shim").into()),
        oversubscribe: true,
        log: Log::open(Some(&file)).unwrap(),
        ..KeeperOptions::new(temporary.path().join("store"))
    };
    let keeper = Keeper::start(&options, Box::new(ThisMachine(Platform::flat(4).unwrap()))).unwrap();
    let keeper = Arc::new(keeper);
    let site = Site::of(Arc::clone(&keeper) as Arc<dyn Service>);
    let settings = UserSettings { most_processors: Some(1), ..UserSettings::default() };
    keeper.set_user(&admin(), "alice", &settings).unwrap();

    let command = |argv: &[&str], needs: serde_json::Value| json!({"command": {"argv": argv, "needs": needs}});
    let job = |content: serde_json::Value| {
        json!({"content": content, "name": SECRET, "environment": {SECRET: SECRET}}).to_string()
    };
    let missing = format!("/no/such/{SECRET}");
    let script = format!("{missing}; exit 127");
    let accepted = [
        job(command(&["sh", "-c", &script], json!({}))),
        job(command(&[&missing], json!({}))),
        job(command(&["sh", "-c", &format!("kill -9 $$; {SECRET}")], json!({}))),
        json!({"content": command(&["true"], json!({})), "directory": missing}).to_string(),
        job(json!({"list": {"text": format!("false {SECRET}\n")}})),
    ];
    for body in &accepted {
        let answer = site.send(&site.alice, "POST /api/v1/jobs", body);
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
    let refused = [
        job(command(&[SECRET], json!({"processors": 2}))),
        job(command(&[SECRET], json!({"processors": 99}))),
        job(command(&[SECRET], json!({"resources": {SECRET: 3}}))),
        job(command(&[SECRET], json!({SECRET: 3}))),
        job(json!({SECRET: SECRET})),
        format!("{{\"{SECRET}\": \"{SECRET}"),
    ];
    for body in &refused {
        let answer = site.send(&site.alice, "POST /api/v1/jobs", body);
        assert!((400..500).contains(&answer.status), "{body}: {}", answer.text());
    }
    let alice = bearer(&site.alice);
    let [key, event, kind, origin, other] =
        ["Idempotency-Key", "Last-Event-ID", "Content-Type", "Origin", "Authorization"]
            .map(|header| format!("{header}: {SECRET}{}", SECRET.repeat(40)));
    for (line, head) in [
        (format!("GET /api/v1/jobs/{SECRET}"), vec![&*alice]),
        (format!("GET /api/v1/jobs/1/logs/0/{SECRET}"), vec![&*alice]),
        (format!("GET /api/v1/users/{SECRET}"), vec![&*alice]),
        (format!("GET /{SECRET}"), vec![&*alice]),
        (format!("GET /api/v1/jobs?{SECRET}={SECRET}"), vec![&*alice]),
        (format!("{SECRET} /api/v1/jobs"), vec![&*alice]),
        ("GET /api/v1/events".into(), vec![&*alice, &*event]),
        ("POST /api/v1/jobs".into(), vec![&*alice, &*kind]),
        ("POST /api/v1/jobs".into(), vec![&*alice, &*key, "Content-Type: application/json"]),
        ("GET /api/v1/jobs".into(), vec![&*alice, &*origin]),
        ("GET /api/v1/jobs".into(), vec![&*alice, "Upgrade: hunter8"]),
        (format!("GET /api/v1/jobs/{SECRET}"), vec![&*other]),
    ] {
        let answer = site.request(&line, &head, accepted[0].as_bytes());
        assert!((400..500).contains(&answer.status), "{line}: {} {}", answer.status, answer.text());
    }
    let reservation = json!({"name": SECRET, "start": 0, "end": 2e9, "processors": [[3, 3]]}).to_string();
    assert_eq!(site.send(&site.admin, "POST /api/v1/reservations", &reservation).status, 201);
    let long = format!("PUT /api/v1/users/{}", SECRET.repeat(10));
    assert_eq!(site.send(&site.admin, &long, &json!({"weight": 1.0}).to_string()).status, 400);

    eventually("all jobs have ended", || {
        let page = keeper.jobs(&admin(), &Filter::default(), None, 1000).unwrap();
        page.items.len() == accepted.len() && page.items.iter().all(|job| job.state.is_final())
    });
    let requests = || std::fs::read_to_string(site.store.path().join("log")).unwrap();
    eventually("the log has a line about the last request", || requests().contains("/api/v1/users/{user} of root"));
    let (requests, server) = (requests(), site.server);
    drop(server);
    Arc::into_inner(keeper).map_or_else(|| panic!("the server has ended"), Keeper::close);
    let jobs = std::fs::read_to_string(file).unwrap();
    for line in [
        "of alice failed: it returned exit status 127\n",
        "of alice failed: it ended with status 137 (killed by signal 9)\n",
        "of alice failed: it returned exit status 1\n",
        "root reserved processors 3 from 1970-01-01T00:00:00+00:00 to 2033-05-18T03:33:20+00:00: reservation 1\n",
    ] {
        assert!(jobs.contains(line), "{line}{jobs}");
    }
    for line in [
        "refused POST /api/v1/jobs of alice at 127.0.0.1 with status 429: A limit is exceeded, at most_processors\n",
        "refused GET /api/v1/jobs/{job} of alice at 127.0.0.1 with status 400: The request is invalid, at path\n",
        "refused GET of an unknown path of alice at 127.0.0.1 with status 404: Not found, at path\n",
        "refused another method /api/v1/jobs of alice at 127.0.0.1 with status 405: Another method is needed, at method\n",
    ] {
        assert!(requests.contains(line), "{line}{requests}");
    }
    assert!(!jobs.contains(SECRET) && !requests.contains(SECRET) && !requests.contains("mks_"), "{jobs}{requests}");
}
