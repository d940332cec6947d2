//! Tests of access control: tokens, roles, hosts, origins and rate limits.

use std::time::{Duration, Instant};

use makespan_service::http::RequestLimits;
use makespan_service::tokens::{add, list, remove};
use makespan_service::words::Role;

use crate::http::site::{Site, bearer, eventually, submission};

#[test]
fn without_a_token_nothing_is_told() {
    let site = Site::new();
    let wrong = format!("mks_{}", "0".repeat(64));
    let short = &site.admin[..site.admin.len() - 1];
    let heads: [Vec<String>; 9] = [
        vec![],
        vec![bearer("")],
        vec![bearer(&wrong)],
        vec![bearer(short)],
        vec![bearer(&site.admin.to_uppercase())],
        vec![format!("Authorization: Basic {}", site.admin)],
        vec![format!("Authorization: {}", site.admin)],
        vec![bearer(&site.admin), bearer(&wrong)],
        vec![format!("Cookie: token={}", site.admin)],
    ];
    for head in heads {
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        for line in
            ["GET /api/v1/jobs", "POST /api/v1/jobs", "GET /api/v1/events", "GET /api/v1/metrics", "GET /api/v1/none"]
        {
            let answer = site.request(line, &head, b"");
            answer.problem(401);
            assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"makespan\""), "{head:?}");
        }
    }
    assert_eq!(site.request(&format!("GET /api/v1/jobs?token={}", site.admin), &[], b"").status, 401);
    let health = site.request("GET /api/v1/health", &[], b"").json();
    assert_eq!(health, serde_json::json!({ "accepts": true, "runs": true }));
    assert_eq!(site.get(&site.reader, "/api/v1/health").json()["runs_as"], "root");
}

#[test]
fn a_token_is_taken_and_refused_as_the_file_says() {
    let site = Site::new();
    let token = add(site.store.path(), "carol", Role::Submitter, Some("a test")).unwrap();
    eventually("a new token is known", || site.get(&token, "/api/v1/whoami").status == 200);
    assert_eq!(site.get(&token, "/api/v1/whoami").json(), serde_json::json!({ "user": "carol", "role": "submitter" }));
    let stream = site.events(&token, "", "");
    let id = list(site.store.path()).unwrap().into_iter().find(|token| token.user == "carol").unwrap().id;
    remove(site.store.path(), &id).unwrap();
    eventually("a removed token is refused", || site.get(&token, "/api/v1/whoami").status == 401);
    stream.ends();
    assert_eq!(site.get(&site.admin, "/api/v1/whoami").status, 200);
}

#[test]
fn roles_may_what_they_may() {
    let site = Site::new();
    let of_alice = site.submit(&site.alice, "hers");
    let change = |token: &str, line: &str, body: &str| site.send(token, line, body).status;
    assert_eq!(change(&site.reader, "POST /api/v1/jobs", &submission("x")), 403);
    for line in [
        "POST /api/v1/jobs/1/hold",
        "POST /api/v1/jobs/1/release",
        "POST /api/v1/jobs/1/cancel",
        "DELETE /api/v1/jobs/1",
    ] {
        assert_eq!(change(&site.reader, line, ""), 403, "{line}");
        assert_eq!(change(&site.bob, line, ""), 404, "{line}");
    }
    for line in ["PUT /api/v1/users/alice", "POST /api/v1/reservations", "DELETE /api/v1/reservations/1"] {
        assert_eq!(change(&site.reader, line, "{}"), 403, "{line}");
        assert_eq!(change(&site.alice, line, "{}"), 403, "{line}");
    }
    let path = format!("/api/v1/jobs/{of_alice}");
    for part in ["", "/explain", "/logs/0/out"] {
        assert_eq!(site.get(&site.bob, &format!("{path}{part}")).status, 404);
        assert_eq!(site.get(&site.reader, &format!("{path}{part}")).status, 200);
    }
    assert_eq!(site.get(&site.bob, "/api/v1/jobs").json()["total"], 0);
    assert_eq!(change(&site.admin, "POST /api/v1/jobs/1/cancel", ""), 200);
}

#[test]
fn other_hosts_are_not_meant() {
    let site = Site::new();
    let ask = |host: &str| {
        site.raw(
            format!("GET /api/v1/whoami HTTP/1.1\r\n{host}Connection: close\r\n{}\r\n\r\n", bearer(&site.admin))
                .as_bytes(),
        )
    };
    for host in
        ["evil.example", "evil.example:8321", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "0.0.0.0"]
    {
        ask(&format!("Host: {host}\r\n")).problem(421);
        let page = site.raw(format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes());
        page.problem(421);
    }
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.2:9", "[::1]:8321"] {
        assert_eq!(ask(&format!("Host: {host}\r\n")).status, 200, "{host}");
    }
    ask("").problem(400);
    let absolute = format!(
        "GET http://evil.example/api/v1/whoami HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{}\r\n\r\n",
        bearer(&site.admin)
    );
    site.raw(absolute.as_bytes()).problem(421);
}

#[test]
fn pages_of_other_origins_ask_nothing() {
    let site = Site::new();
    let own = format!("Origin: http://{}", site.address());
    let head = |more: &str| {
        let head = [bearer(&site.alice), "Content-Type: application/json".to_owned(), more.to_owned()];
        site.request("POST /api/v1/jobs", &head.each_ref().map(String::as_str), submission("x").as_bytes())
    };
    assert_eq!(head(&own).status, 201);
    assert_eq!(head("Sec-Fetch-Site: same-origin").status, 201);
    for origin in ["http://evil.example", "null", "http://localhost:1", &format!("https://{}", site.address()), ""] {
        let answer = head(&format!("Origin: {origin}"));
        answer.problem(403);
        assert!(answer.headers.iter().all(|(name, _)| !name.starts_with("access-control")), "{origin}");
    }
    head("Sec-Fetch-Site: cross-site").problem(403);
    head("Sec-Fetch-Site: same-site").problem(403);
    let link = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"];
    assert_eq!(site.request("GET /", &link, b"").status, 200, "a link to the page");
    assert_eq!(site.fake.job_count(), 2);
}

#[test]
fn there_are_no_websockets() {
    let site = Site::new();
    let head = [
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
    ];
    for path in ["/", "/api/v1/events"] {
        let mut all: Vec<&str> = head.to_vec();
        let token = bearer(&site.admin);
        all.push(&token);
        site.request(&format!("GET {path}"), &all, b"").problem(400);
        all.push("Origin: http://evil.example");
        site.request(&format!("GET {path}"), &all, b"").problem(403);
    }
}

#[test]
fn requests_are_counted_by_token_and_by_address() {
    let site = Site::with(RequestLimits { requests: 20.0, ..RequestLimits::default() });
    let start = Instant::now();
    let mut refused = 0;
    while refused == 0 {
        assert!(start.elapsed() < Duration::from_mins(1), "no request was refused");
        let mut stream = site.connect();
        let one = format!("GET /api/v1/whoami HTTP/1.1\r\nHost: localhost\r\n{}\r\n", bearer(&site.alice));
        let many = format!("{one}\r\n").repeat(99) + &one + "Connection: close\r\n\r\n";
        std::io::Write::write_all(&mut stream, many.as_bytes()).unwrap();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut stream, &mut text).unwrap();
        refused = text.matches("HTTP/1.1 429").count();
        assert_eq!(text.to_lowercase().matches("retry-after: 1").count(), refused);
    }
    assert_eq!(site.get(&site.bob, "/api/v1/whoami").status, 200, "others are answered");
    eventually("the bucket is filled again", || site.get(&site.alice, "/api/v1/whoami").status == 200);
}

#[test]
fn refused_requests_and_revoked_tokens_are_in_the_log() {
    let site = Site::new();
    let log = || std::fs::read_to_string(site.store.path().join("log")).unwrap();
    assert_eq!(site.get(&site.alice, "/api/v1/jobs/7").status, 404);
    assert_eq!(site.get("mks_wrong", "/api/v1/jobs%0a7?secret=1").status, 401);
    let id = list(site.store.path()).unwrap().into_iter().find(|token| token.user == "bob").unwrap().id;
    remove(site.store.path(), &id).unwrap();
    eventually("the token is refused", || site.get(&site.bob, "/api/v1/whoami").status == 401);
    eventually("the log has all lines", || log().contains("/whoami"));
    let log = log();
    let bob = format!(" notice the token {id} of bob (submitter) was removed\n");
    for line in [
        " warning refused GET /api/v1/jobs/7 of alice at 127.0.0.1 with status 404: ",
        " warning refused GET of an unknown path of a client without a valid token at 127.0.0.1 with status 401: ",
        &bob,
    ] {
        assert!(log.contains(line), "{line}{log}");
    }
    assert!(!log.contains("mks_") && !log.contains("secret"), "{log}");
}

/// A token that was used a moment before its removal is refused from its removal on.
#[test]
fn a_removed_token_is_refused_at_once() {
    let site = Site::new();
    for at in 0..20 {
        let user = format!("user{at}");
        let token = add(site.store.path(), &user, Role::Submitter, None).unwrap();
        assert_eq!(site.get(&token, "/api/v1/whoami").status, 200);
        let id = list(site.store.path()).unwrap().into_iter().find(|token| token.user == user).unwrap().id;
        remove(site.store.path(), &id).unwrap();
        assert_eq!(site.get(&token, "/api/v1/whoami").status, 401);
    }
}
