//! Tests of invalid and malicious requests.

use proptest::prelude::*;
use serde_json::json;

use crate::http::site::{Site, answer, bearer, submission};

#[test]
fn json_that_is_none_is_refused_with_its_place() {
    let site = Site::new();
    let command = r#"{"content":{"command":{"argv":["a"]}}"#;
    let deep = "[".repeat(100_000);
    let bad = [
        ("{", "body"),
        ("", "body"),
        ("[]", "body"),
        ("{} {}", "body"),
        (&format!("{command}}} x"), "body"),
        (&format!("{command},\"color\":1}}"), "color"),
        (&format!("{command},\"weight\":\"2\"}}"), "weight"),
        (&format!("{command},\"hold\":1}}"), "hold"),
        (&format!("{command},\"after\":[1,-2]}}"), "after[1]"),
        (&format!("{command},\"name\":\"a\",\"name\":\"b\"}}"), "body"),
        (r#"{"content":{"command":{"argv":["a",1]}}}"#, "content.command.argv[1]"),
        (r#"{"content":{"command":{"argv":["a"],"needs":{"cores":1}}}}"#, "content.command.needs.cores"),
        (r#"{"content":{"shell":{}}}"#, "content"),
        (r#"{"content":{"command":{"argv":["a"]},"list":{"text":"b"}}}"#, "content"),
        (r#"{"submissions":[],"content":1}"#, "content"),
        (r#"{"submissions":{}}"#, "submissions"),
        (&deep, "body"),
    ];
    for (body, place) in bad {
        let problem = site.send(&site.alice, "POST /api/v1/jobs", body).problem(400);
        let found = problem.place.unwrap_or_default();
        assert!(found.starts_with(place), "{found} instead of {place}: {} of {:.80}", problem.detail, body);
    }
    let utf16: Vec<u8> = submission("x").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let head = [bearer(&site.alice), "Content-Type: application/json".into()];
    site.request("POST /api/v1/jobs", &head.each_ref().map(String::as_str), &utf16).problem(400);
    assert_eq!(site.fake.job_count(), 0);
}

#[test]
fn other_media_types_are_refused() {
    let site = Site::new();
    for head in [
        "Accept: */*",
        "Content-Type: text/plain",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Type: application/json; charset=utf-16",
        "Content-Type: application/jsonx",
    ] {
        site.request("POST /api/v1/jobs", &[&bearer(&site.alice), head], submission("x").as_bytes()).problem(415);
    }
    let head = [bearer(&site.alice), "Content-Type: Application/JSON; charset=\"UTF-8\"".into()];
    let taken = site.request("POST /api/v1/jobs", &head.each_ref().map(String::as_str), submission("x").as_bytes());
    assert_eq!(taken.status, 201);
}

#[test]
fn refusals_of_the_service_have_their_status() {
    let site = Site::new();
    for (word, status) in
        [("huge", 422), ("cycle", 422), ("full", 507), ("quota", 429), ("closing", 503), ("panic", 500)]
    {
        let body = json!({ "content": { "command": { "argv": [word] } } }).to_string();
        let answer = site.send(&site.alice, "POST /api/v1/jobs", &body);
        answer.problem(status);
        assert_eq!(answer.header("retry-after").is_some(), matches!(status, 429 | 503 | 507), "{word}");
    }
    let body = json!({ "content": { "command": { "argv": [] } } }).to_string();
    let problem = site.send(&site.alice, "POST /api/v1/what-if", &body).problem(400);
    assert_eq!(
        (problem.place.as_deref(), problem.remedy.as_deref()),
        (Some("content.command.argv"), Some("write a command"))
    );
    assert_eq!(site.submit(&site.alice, "after a panic"), 1);
}

#[test]
fn what_is_too_large_is_refused_while_it_comes() {
    let site = Site::new();
    let head = [bearer(&site.alice), "Content-Type: application/json".into()];
    let head = head.each_ref().map(String::as_str);
    let large = vec![b' '; 100 << 20];
    site.request("POST /api/v1/jobs", &head, &large).problem(413);
    site.request("PUT /api/v1/users/alice", &[&bearer(&site.admin), head[1]], &large[..70_000]).problem(413);
    // The size of a chunked body is not known in advance.
    let address = site.address();
    let mut bytes = format!(
        "POST /api/v1/jobs HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{}\r\n{}\r\nTransfer-Encoding: chunked\r\n\r\n",
        head[0], head[1]
    )
    .into_bytes();
    for _ in 0..20 {
        bytes.extend_from_slice(b"100000\r\n");
        bytes.extend_from_slice(&large[..1 << 20]);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    site.raw(&bytes).problem(413);
    // A client that sends `Expect: 100-continue` receives the response before it sends the body.
    let text = format!(
        "POST /api/v1/jobs HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{}\r\n{}\r\nExpect: 100-continue\r\nContent-Length: 104857600\r\n\r\n",
        head[0], head[1]
    );
    site.raw(text.as_bytes()).problem(413);
    let long = site.get(&site.alice, &format!("/api/v1/jobs?text={}", "x".repeat(9000)));
    long.problem(414);
    let many = "X: y\r\n".repeat(200);
    let refused = site.raw(format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{many}\r\n").as_bytes());
    assert_eq!(refused.status, 431);
    assert_eq!(site.fake.job_count(), 0);
}

#[test]
fn paths_lead_nowhere_else() {
    let site = Site::new();
    site.submit(&site.alice, "x");
    let secret = "/../../../../etc/passwd";
    for path in [
        "/etc/passwd",
        secret,
        "/..%2f..%2fetc/passwd",
        "/api/v1/../../token",
        "/assets/../tokens.json",
        "//etc/passwd",
    ] {
        site.get(&site.admin, path).problem(404);
    }
    for path in [
        "0/..%2f..%2ftoken",
        "0/out%00",
        "..%2f..%2f1/out",
        "-1/out",
        "0x1/out",
        "1e1/out",
        "+0/out",
        "99999999999999999999/out",
        "%ff/out",
    ] {
        let answer = site.get(&site.admin, &format!("/api/v1/jobs/1/logs/{path}"));
        assert_eq!(answer.problem(400).place.as_deref().map(|place| place.starts_with("path")), Some(true), "{path}");
    }
    site.get(&site.admin, "/api/v1/jobs/1/logs/0/out/../../..").problem(404);
    site.get(&site.admin, "/api/v1/jobs/1/logs/7/out").problem(404);
    for user in ["..", "..%2fx", "a%20b", "%00", "-x", &"x".repeat(65), "a%0d%0aX-Evil:%201"] {
        let answer = site.send(&site.admin, &format!("PUT /api/v1/users/{user}"), "{}");
        assert_eq!(answer.problem(400).place.as_deref(), Some("path.user"), "{user}");
        assert!(answer.header("x-evil").is_none());
    }
}

#[test]
fn methods_that_are_not_known_are_told_which_are() {
    let site = Site::new();
    let answer = site.send(&site.admin, "PUT /api/v1/jobs", "{}");
    answer.problem(405);
    let allow = answer.header("allow").unwrap();
    assert!(allow.contains("GET") && allow.contains("POST") && !allow.contains("PUT"), "{allow}");
    for method in ["OPTIONS", "TRACE", "PATCH", "BREW"] {
        site.request(&format!("{method} /api/v1/jobs"), &[&bearer(&site.admin)], b"").problem(405);
    }
    let head = site.request("HEAD /api/v1/jobs", &[&bearer(&site.admin)], b"");
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[test]
fn heads_cannot_be_injected_or_smuggled() {
    let site = Site::new();
    let address = site.address();
    let token = bearer(&site.alice);
    // A name with line breaks is returned in JSON, and never in a header.
    let evil = json!({ "content": { "command": { "argv": ["a"] } }, "name": "x\r\nSet-Cookie: a=b\r\n\r\n<script>" })
        .to_string();
    let answer = site.send(&site.alice, "POST /api/v1/jobs", &evil);
    assert_eq!((answer.status, answer.header("set-cookie")), (201, None));
    let list = site.get(&site.alice, "/api/v1/jobs?limit=1&text=%0d%0aSet-Cookie:%20a=b");
    assert!(list.header("set-cookie").is_none());
    for head in [
        format!("GET /api/v1/jobs HTTP/1.1\r\nHost: {address}\r\nHost: evil\r\n{token}\r\n"),
        format!("GET /api/v1/jobs HTTP/1.1\r\n{token}\r\n"),
        format!(
            "POST /api/v1/jobs HTTP/1.1\r\nHost: {address}\r\n{token}\r\nContent-Length: 5\r\nContent-Length: 6\r\n"
        ),
        format!("GET /api/v1/jobs HTTP/1.1\r\nHost: {address}\r\n{token}\r\nX : y\r\n"),
        format!("GET /api/v1/jobs HTTP/1.1\r\nHost: {address}\r\n{token}\r\nX: a\0b\r\n"),
        "GET / HTTP/9.9\r\n".into(),
        "\x16\x03\x01\x02\x00\x01\x00\x01\r\n".into(),
    ] {
        let answer = site.raw(format!("{head}Connection: close\r\n\r\n").as_bytes());
        assert_eq!(answer.status, 400, "{head}");
    }
    assert_eq!(site.get(&site.alice, "/api/v1/whoami").status, 200);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// For any bytes, the server responds or closes the connection. It never returns an internal error, and continues
    /// to serve requests.
    #[test]
    fn noise_is_answered(head in proptest::collection::vec(any::<u8>(), 0..200), body in any::<String>(), path in "[ -~]{0,40}") {
        use std::io::Write;
        static SITE: std::sync::OnceLock<Site> = std::sync::OnceLock::new();
        let site = SITE.get_or_init(Site::new);
        let mut stream = site.connect();
        let _ = stream.write_all(&head);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut left = Vec::new();
        let _ = std::io::Read::read_to_end(&mut stream, &mut left);
        prop_assert!(!left.starts_with(b"HTTP/1.1 5"));
        let sent = site.send(&site.alice, "POST /api/v1/jobs", &body);
        prop_assert!((400..500).contains(&sent.status), "{}", sent.status);
        let path = path.replace([' ', '#'], "");
        let mut stream = site.connect();
        let _ = write!(stream, "GET /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\n{}\r\nConnection: close\r\n\r\n", bearer(&site.alice));
        if !path.starts_with("events") {
            let status = answer(stream).status;
            prop_assert!(status < 500, "{status} of {path}");
        }
    }
}
