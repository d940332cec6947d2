//! Tests of slow clients, hanging clients and large numbers of clients.

use std::io::{Read, Write};
use std::time::Instant;

use makespan_service::http::RequestLimits;

use crate::http::site::{LIMIT, Site, answer, bearer, eventually, quick_limits};

#[test]
fn a_head_that_does_not_come_ends_the_connection() {
    let site = Site::with(quick_limits());
    for start in ["", "GET / HT", "GET / HTTP/1.1\r\nHost: local"] {
        let mut stream = site.connect();
        stream.write_all(start.as_bytes()).unwrap();
        let mut left = Vec::new();
        // The server must close the connection before the time limit of this test.
        let begun = Instant::now();
        let _ = stream.read_to_end(&mut left);
        assert!(begun.elapsed() < LIMIT, "`{start}`");
    }
    // A client that sends single bytes gets no more time.
    let mut stream = site.connect();
    eventually("a client that drips is cut off", || stream.write_all(b"X").is_err());
}

#[test]
fn a_body_that_does_not_come_is_answered() {
    let site = Site::with(quick_limits());
    let mut stream = site.connect();
    let token = bearer(&site.alice);
    write!(
        stream,
        "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    )
    .unwrap();
    answer(stream).problem(408);
}

#[test]
fn a_client_that_reads_nothing_is_dropped() {
    let site = Site::with(quick_limits());
    site.fake.plan_again(20_000);
    let connections = || {
        let text = site.get(&site.admin, "/api/v1/metrics").text();
        let line = text.lines().find(|line| line.starts_with("makespan_http_connections ")).unwrap();
        line.split(' ').nth(1).unwrap().parse::<f64>().unwrap()
    };
    let mut stream = site.connect();
    let one = format!("GET /api/v1/plan HTTP/1.1\r\nHost: localhost\r\n{}\r\n\r\n", bearer(&site.admin));
    stream.write_all(one.repeat(100).as_bytes()).unwrap();
    eventually("it is being answered", || connections() > 1.0);
    eventually("it is dropped", || connections() < 2.0);
    let mut left = Vec::new();
    let _ = stream.read_to_end(&mut left);
    assert!(left.len() < 100 * 20_000 * 50, "not all was sent");
}

#[test]
fn further_connections_wait() {
    let site = Site::with(RequestLimits { connections: 16, ..quick_limits() });
    let idle: Vec<_> = (0..16).map(|_| site.connect()).collect();
    // The request is answered when the server closes the idle connections.
    assert_eq!(site.get(&site.admin, "/api/v1/whoami").status, 200);
    drop(idle);
}

/// One address opens more connections than the limit, and sends only the beginning of a request on each. The server
/// still answers other clients at this address without delay.
#[test]
fn half_sent_requests_make_nobody_wait() {
    let site = Site::with(RequestLimits { connections: 64, head: LIMIT, ..quick_limits() });
    let mut stream = site.events(&site.admin, "", "");
    stream.line("event: begin");
    let half: Vec<_> = (0..200)
        .map(|_| {
            let mut stream = site.connect();
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: local");
            stream
        })
        .collect();
    let begun = Instant::now();
    assert_eq!(site.get(&site.admin, "/api/v1/whoami").status, 200);
    assert!(begun.elapsed() < LIMIT / 4, "{:?}", begun.elapsed());
    // A connection that sent a valid token stays open.
    let job = site.submit(&site.alice, "a");
    assert_eq!(stream.happening()["job"], job);
    drop(half);
}

/// One token opens more connections than the server has, and leaves them idle after a request. Other tokens are still
/// answered at once, a stream of events of the token stays open, and the log has one line about the token.
#[test]
fn many_connections_of_one_token_lock_nobody_out() {
    let site = Site::with(RequestLimits { connections: 64, head: LIMIT, ..quick_limits() });
    let mut stream = site.events(&site.alice, "", "");
    stream.line("event: begin");
    let one = format!("GET /api/v1/whoami HTTP/1.1\r\nHost: localhost\r\n{}\r\n\r\n", bearer(&site.alice));
    let idle: Vec<_> = (0..200)
        .map(|_| {
            let mut stream = site.connect();
            stream.write_all(one.as_bytes()).unwrap();
            let mut first = [0; 12];
            stream.read_exact(&mut first).unwrap();
            assert_eq!(&first, b"HTTP/1.1 200");
            stream
        })
        .collect();
    let begun = Instant::now();
    for token in [&site.admin, &site.bob, &site.alice] {
        assert_eq!(site.get(token, "/api/v1/whoami").status, 200);
    }
    assert!(begun.elapsed() < LIMIT / 4, "{:?}", begun.elapsed());
    let job = site.submit(&site.alice, "a");
    assert_eq!(stream.happening()["job"], job);
    let log = || std::fs::read_to_string(site.store.path().join("log")).unwrap();
    let lines = |user: &str| log().matches(&format!("{user} has too many connections")).count();
    eventually("the log has a line", || lines("alice") == 1);
    // If all connections of a token are busy, its next request is refused.
    let streams: Vec<_> = (0..48)
        .map(|_| {
            let mut stream = site.events(&site.bob, "", "");
            stream.line("event: begin");
            stream
        })
        .collect();
    let refused = site.get(&site.bob, "/api/v1/whoami").problem(429);
    assert!(refused.detail.contains("too many connections"), "{refused:?}");
    site.get(&site.bob, "/api/v1/whoami").problem(429);
    eventually("the log has a line", || lines("bob") == 1);
    assert!(!log().contains("refused GET /api/v1/whoami of bob"), "{}", log());
    assert_eq!(site.get(&site.admin, "/api/v1/whoami").status, 200);
    drop((idle, streams));
}

#[test]
fn a_stop_ends_streams_and_lets_answers_end() {
    let site = Site::with(quick_limits());
    let mut stream = site.events(&site.admin, "", "");
    stream.line("event: begin");
    let idle = site.connect();
    let address = site.address();
    let Site { server, .. } = site;
    let begun = Instant::now();
    server.stop();
    assert!(begun.elapsed() < LIMIT);
    stream.ends();
    drop(idle);
    assert!(std::net::TcpStream::connect(address).is_err());
}
