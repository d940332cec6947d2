//! Tests of the stream of events.

use makespan_service::words::State;

use crate::http::site::{Site, eventually, quick_limits};

fn threads() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("Threads:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_stream_begins_now_or_where_it_was_left() {
    let site = Site::with(quick_limits());
    for index in 1..=600 {
        site.submit(if index % 2 == 0 { &site.alice } else { &site.bob }, "x");
    }
    let mut now = site.events(&site.admin, "", "");
    assert_eq!(now.line("id:"), "600");
    let mut from = site.events(&site.admin, "?after=10", "");
    let mut header = site.events(&site.admin, "?after=10", "Last-Event-ID: 598\r\n");
    let mut own = site.events(&site.alice, "?after=0", "");
    for expected in 11..=600 {
        assert_eq!(from.happening()["sequence"], expected);
    }
    assert_eq!(header.happening()["sequence"], 599);
    for expected in (2..=600).step_by(2) {
        let happening = own.happening();
        assert_eq!((&happening["sequence"], &happening["user"]), (&expected.into(), &"alice".into()));
    }
    site.fake.end(1, State::Failed);
    for stream in [&mut now, &mut from] {
        let happening = stream.happening();
        assert_eq!(
            (&happening["sequence"], &happening["kind"], &happening["state"]),
            (&601.into(), &"ended".into(), &"failed".into())
        );
    }
    site.fake.end(2, State::Succeeded);
    assert_eq!(own.happening()["sequence"], 602, "what others do is not told");
    let mut future = site.events(&site.admin, "?after=99999", "");
    assert_eq!(future.line("id:"), "602", "a number of another store is not waited for");
    site.get(&site.admin, "/api/v1/events?after=x").problem(400);
    let head = [crate::http::site::bearer(&site.admin), "Last-Event-ID: x".to_owned()];
    site.request("GET /api/v1/events", &head.each_ref().map(String::as_str), b"").problem(400);
}

#[test]
fn a_stream_tells_of_plans_and_that_it_is_alive() {
    let site = Site::with(quick_limits());
    let mut stream = site.events(&site.reader, "", "");
    stream.line("event: begin");
    stream.line(": alive");
    site.fake.plan_again(1);
    stream.line("event: plan");
    assert_eq!(stream.line("data:"), "{\"version\":1}");
}

#[test]
fn five_hundred_streams_need_no_thread_each() {
    let site = Site::new();
    let mut streams: Vec<_> = (0..500).map(|_| site.events(&site.reader, "", "")).collect();
    streams.iter_mut().for_each(|stream| drop(stream.line("event: begin")));
    assert!(threads() < 400, "{} threads", threads());
    for _ in 0..20 {
        site.submit(&site.alice, "x");
    }
    for stream in &mut streams {
        for expected in 1..=20 {
            assert_eq!(stream.happening()["sequence"], expected);
        }
    }
    drop(streams);
    eventually("streams that are left are forgotten", || {
        site.submit(&site.alice, "x");
        site.get(&site.reader, "/api/v1/metrics").text().contains("makespan_http_event_streams 0\n")
    });
}
