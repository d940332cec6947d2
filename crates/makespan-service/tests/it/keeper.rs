//! Tests of the service without HTTP: jobs are stored, run, cancelled, held and listed.

use crate::common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::{
    PATIENCE, admin, command, keeper, keeper_of, keeper_on, script, state, submission, submit, until, until_state,
    until_there, who,
};
use makespan_core::{Platform, Resources};
use makespan_service::Service;
use makespan_service::words::{
    Content, Filter, HappeningKind, JobNumber, JobOutlook, MetricKind, Needs, Reason, RefusalKind, Reservation, Role,
    State, Stream, Submission, UserChange, UserSettings, Who,
};

#[test]
fn a_job_runs_in_its_folder_and_leaves_its_output() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(&temporary.path().join("store"));
    let place = temporary.path().join("a place");
    std::fs::create_dir(&place).unwrap();
    let mut one = script("pwd; echo $COLOUR $MAKESPAN_NAME; echo oops >&2; exit 3");
    one.directory = Some(place.display().to_string());
    one.environment.insert("COLOUR".into(), "two words".into());
    one.name = Some("a {name}".into());
    let job = submit(&keeper, one);
    until_state(&keeper, job, State::Failed);
    let log = |stream| keeper.log(&admin(), job, 0, stream, 0, 1000).unwrap();
    let out = String::from_utf8(log(Stream::Out).bytes).unwrap();
    assert_eq!(out, format!("{}\ntwo words a _name_\n", place.canonicalize().unwrap().display()));
    assert_eq!((log(Stream::Err).bytes, log(Stream::Err).ended), (b"oops\n".to_vec(), true));
    let detail = keeper.job(&admin(), job).unwrap();
    assert_eq!((detail.summary.name.as_str(), detail.task_list[0].exit), ("a {name}", Some(3)));
    assert_eq!(detail.task_list[0].command[0], "sh");
    assert!(detail.reason.unwrap().contains("exit status 3"));
    let kinds: Vec<HappeningKind> =
        keeper.happenings(&admin(), 0, 10).unwrap().into_iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [HappeningKind::Submitted, HappeningKind::Started, HappeningKind::Ended]);
}

#[test]
fn jobs_wait_for_others_are_held_and_taken_back() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let after = |text: &str, jobs: &[JobNumber]| Submission { after: jobs.to_vec(), ..script(text) };
    let go = temporary.path().join("go");
    let first = submit(&keeper, script(&until_there(&go)));
    let second = submit(&keeper, after("true", &[first]));
    let third = submit(&keeper, after("true", &[second]));
    // The engine withdraws a waiting job when the job is held, and also the jobs that wait for it.
    assert_eq!(keeper.hold(&admin(), second).unwrap(), State::Held);
    std::fs::write(&go, "").unwrap();
    until_state(&keeper, first, State::Succeeded);
    assert_eq!((state(&keeper, second), state(&keeper, third)), (State::Held, State::Waiting));
    assert_eq!(keeper.release(&admin(), second).unwrap(), State::Waiting);
    until_state(&keeper, third, State::Succeeded);
    assert_eq!(state(&keeper, second), State::Succeeded);
    assert_eq!(keeper.hold(&admin(), third).unwrap_err().kind, RefusalKind::Conflict);
    // When a running or a held job is cancelled, the jobs that wait for it never start.
    let long = submit(&keeper, script("sleep 100"));
    let behind = submit(&keeper, after("true", &[long]));
    let held = submit(&keeper, Submission { hold: true, ..script("true") });
    let behind_held = submit(&keeper, after("true", &[held]));
    until_state(&keeper, long, State::Running);
    assert_eq!(keeper.hold(&admin(), long).unwrap_err().kind, RefusalKind::Conflict);
    keeper.cancel(&admin(), long).unwrap();
    keeper.cancel(&admin(), held).unwrap();
    until_state(&keeper, long, State::Cancelled);
    until_state(&keeper, behind, State::NotStarted);
    until_state(&keeper, held, State::Cancelled);
    until_state(&keeper, behind_held, State::NotStarted);
    assert_eq!(keeper.cancel(&admin(), held).unwrap_err().kind, RefusalKind::Conflict);
    let late = submit(&keeper, after("true", &[long]));
    until_state(&keeper, late, State::NotStarted);
    // A job that waits for processors is cancelled without a start.
    let wide = [submit(&keeper, script("sleep 100")), submit(&keeper, script("sleep 100"))];
    until("both run", || wide.iter().all(|&job| state(&keeper, job) == State::Running));
    let waits = submit(&keeper, script("true"));
    keeper.cancel(&admin(), waits).unwrap();
    until_state(&keeper, waits, State::Cancelled);
    assert_eq!(keeper.job(&admin(), waits).unwrap().summary.started, None);
    wide.iter().for_each(|&job| _ = keeper.cancel(&admin(), job).unwrap());
    wide.iter().for_each(|&job| until_state(&keeper, job, State::Cancelled));
}

#[test]
fn lists_and_files_become_jobs_that_know_each_other() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let text = "echo one > x #: name=one\ncat x #: after=one\n".to_owned();
    let mut list = submission(Content::List { text });
    list.directory = Some(temporary.path().display().to_string());
    let jobs = keeper.submit(&admin(), list, None).unwrap().jobs;
    assert_eq!(jobs.len(), 2);
    until_state(&keeper, jobs[1], State::Succeeded);
    assert_eq!(keeper.log(&admin(), jobs[1], 0, Stream::Out, 0, 100).unwrap().bytes, b"one\n");
    let text = r#"{"version": 2, "jobs": [
        {"name": "bag", "time": 1, "count": 5, "weight": 1, "command": ["sh", "-c", "echo {task}"]},
        {"name": "graph", "tasks": [{"name": "a", "time": 1, "command": "echo a"}, {"name": "b", "time": 1, "command": "exit 1"},
         {"name": "c", "time": 1, "command": "echo c"}], "edges": [{"from": "b", "to": "c"}]}]}"#;
    let file = submission(Content::Instance { text: text.into(), file: None });
    let jobs = keeper.submit(&admin(), file, None).unwrap().jobs;
    until_state(&keeper, jobs[0], State::Succeeded);
    until_state(&keeper, jobs[1], State::Failed);
    assert_eq!(keeper.log(&admin(), jobs[0], 3, Stream::Out, 0, 100).unwrap().bytes, b"3\n");
    let detail = keeper.job(&admin(), jobs[1]).unwrap();
    let stands: Vec<(&str, State)> = detail.task_list.iter().map(|task| (task.name.as_str(), task.state)).collect();
    assert_eq!(stands, [("b", State::Failed), ("c", State::NotStarted), ("a", State::Succeeded)]);
    assert_eq!(detail.summary.tasks_ended, 3);
}

#[test]
fn what_is_wrong_is_refused_with_its_place_and_nothing_is_kept() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let refused = |one: Submission| keeper.submit(&admin(), one, None).unwrap_err();
    let place = |one: Submission| refused(one).place.unwrap_or_default();
    assert_eq!(place(command(&[])), "content.command.argv");
    assert_eq!(place(Submission { directory: Some("relative".into()), ..script("true") }), "directory");
    assert_eq!(place(Submission { weight: Some(f64::NAN), ..script("true") }), "weight");
    assert_eq!(place(Submission { after: vec![JobNumber(77)], ..script("true") }), "after");
    assert_eq!(place(Submission { priority: Some(99), ..script("true") }), "priority");
    let list = |text: &str| submission(Content::List { text: text.into() });
    assert!(refused(list("true\nfalse #: cores=0\n")).place.unwrap().contains('2'));
    let long = || "x".repeat(200_000);
    assert_eq!(place(command(&["true", &long()])), "content.command.argv");
    assert_eq!(place(command(&vec!["true"; 200_000])), "content.command.argv");
    assert_eq!(place(Submission { environment: [("A".into(), long())].into(), ..script("true") }), "environment");
    assert_eq!(place(Submission { begin: Some(9e10), ..script("true") }), "begin");
    assert_eq!(place(Submission { deadline: Some(f64::INFINITY), ..script("true") }), "deadline");
    assert_eq!(place(Submission { after: vec![JobNumber(1); 10_001], ..script("true") }), "after");
    let file = |job: &str| {
        let text =
            format!(r#"{{"version": 2, "jobs": [{{"name": "a", "time": 0.000001, "command": "true", {job}}}]}}"#);
        submission(Content::Instance { text, file: None })
    };
    assert_eq!(place(file(r#""count": 1000000000"#)), "content");
    assert!(place(file(r#""release": 2000000000"#)).starts_with("content"));
    assert!(place(file(r#""deadline": 9000000000"#)).starts_with("content"));
    for (needs, expected) in [
        (Needs { processors: Some(0), ..Needs::default() }, "content.command.needs.processors"),
        (Needs { time: Some(-1.0), ..Needs::default() }, "content.command.needs.time"),
        (Needs { resources: [("tapes".to_owned(), 1)].into(), ..Needs::default() }, "content.command.needs"),
    ] {
        let place = place(submission(Content::Command { argv: vec!["true".into()], needs }));
        assert!(place.starts_with(expected), "{place}");
    }
    let named = |text: &str, file: &str| submission(Content::Instance { text: text.into(), file: Some(file.into()) });
    for name in ["Makefile", "rules.mk", "Snakefile", "rules.smk"] {
        assert_eq!(place(named("all:\n\ttrue\n", name)), "content.instance.file");
    }
    let closed = "version = 2\n[platform]\nprocessors = 2\n[[jobs]]\nname = 'a'\ntime = 1\ncommand = 'true'\n\
                  [[unavailable]]\nprocessors = '0'\nstart = 0\nend = 9\n";
    assert_eq!(place(named(closed, "a.toml")), "content: unavailable");
    let many = keeper.submit_many(&admin(), vec![script("true"); 100_001], None).unwrap_err();
    assert_eq!(many.place.unwrap(), "submissions");
    let wide = Needs { processors: Some(3), ..Needs::default() };
    let wide = submission(Content::Command { argv: vec!["true".into()], needs: wide });
    assert_eq!(refused(wide).kind, RefusalKind::FitsNowhere);
    let cycle = list("true #: name=a after=b\ntrue #: name=b after=a\n");
    assert_eq!(refused(cycle).kind, RefusalKind::Cycle);
    let all = vec![script("true"), command(&["a=b"])];
    let error = keeper.submit_many(&admin(), all, None).unwrap_err();
    assert_eq!(error.place.unwrap(), "submissions[1].content.command.argv");
    assert_eq!(keeper.jobs(&admin(), &Filter::default(), None, 10).unwrap().total, 0);
    assert_eq!(keeper.latest(), 0);
}

/// Returns a submission of a command that sleeps and states its run time.
fn sleeping(processors: u32, seconds: f64) -> Submission {
    let needs = Needs { processors: Some(processors), time: Some(seconds), ..Needs::default() };
    submission(Content::Command { argv: vec!["sleep".into(), seconds.to_string()], needs })
}

#[test]
fn what_waits_for_others_or_its_time_is_expected_behind_them() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let first = submit(&keeper, sleeping(2, 4.0));
    until_state(&keeper, first, State::Running);
    let second = submit(&keeper, Submission { after: vec![first], ..sleeping(1, 1.0) });
    let third = submit(&keeper, Submission { after: vec![second], ..sleeping(1, 1.0) });
    let begin = wall() + 30.0;
    let later = submit(&keeper, Submission { begin: Some(begin), ..sleeping(1, 1.0) });
    let expected = |job| keeper.job(&admin(), job).unwrap().summary.expected_start;
    until("all are expected", || [second, third, later].iter().all(|&job| expected(job).is_some()));
    assert!(expected(third).unwrap() >= expected(second).unwrap() + 0.9);
    assert!((expected(later).unwrap() - begin).abs() < 0.1);
    let why = keeper.explain(&admin(), later).unwrap();
    assert!(why.outlook.reasons.iter().all(|reason| reason.text.contains("must not start earlier")), "{why:?}");
    // Predictions take the release date, predecessors and holds of a submission into account.
    let asked = |one: Submission| keeper.what_if(&admin(), one);
    let now = wall();
    let start = |one: Submission| asked(one).unwrap().waiting[0].start.unwrap();
    assert!(start(sleeping(1, 1.0)) >= now);
    assert!(start(Submission { begin: Some(begin), ..sleeping(1, 1.0) }) >= begin - 0.1);
    let behind = start(Submission { after: vec![third], ..sleeping(1, 1.0) });
    assert!(behind >= expected(third).unwrap() + 0.9, "{behind:?}");
    assert_eq!(asked(Submission { hold: true, ..sleeping(1, 1.0) }).unwrap_err().kind, RefusalKind::BadInput);
    assert!(asked(Submission { after: vec![JobNumber(77)], ..sleeping(1, 1.0) }).is_err());
    let held = submit(&keeper, Submission { hold: true, ..sleeping(1, 1.0) });
    assert!(asked(Submission { after: vec![held], ..sleeping(1, 1.0) }).is_err());
    // A job that waits for a job without success would never start.
    let cancelled = submit(&keeper, sleeping(1, 100.0));
    keeper.cancel(&admin(), cancelled).unwrap();
    let fails = submit(&keeper, script("exit 3"));
    let _ = keeper.cancel(&admin(), first);
    for (job, state, words) in [(cancelled, State::Cancelled, "cancelled"), (fails, State::Failed, "failed")] {
        until_state(&keeper, job, state);
        let error = asked(Submission { after: vec![job], ..sleeping(1, 1.0) }).unwrap_err();
        let message = format!("job {job} has ended: {words}; so this submission would never start");
        assert_eq!((error.message, error.place.as_deref()), (message, Some("after")));
    }
}

#[test]
fn jobs_behind_a_job_of_unknown_end_have_no_expected_start() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let needs = Needs { processors: Some(2), time: Some(0.1), ..Needs::default() };
    let argv = vec!["sleep".into(), "100".into()];
    let first = submit(&keeper, submission(Content::Command { argv, needs }));
    until_state(&keeper, first, State::Running);
    let second = submit(&keeper, sleeping(1, 1.0));
    let third = submit(&keeper, Submission { after: vec![second], ..sleeping(1, 1.0) });
    let summary = |job| keeper.job(&admin(), job).unwrap().summary;
    until("both wait for it", || [second, third].iter().all(|&job| summary(job).behind == Some(first)));
    for job in [second, third] {
        let detail = keeper.job(&admin(), job).unwrap();
        assert_eq!((detail.summary.expected_start, detail.summary.expected_end), (None, None));
        assert!(detail.task_list.iter().all(|task| task.expected_start.is_none()), "{detail:?}");
        let begun = wall();
        let why = keeper.explain(&admin(), job).unwrap();
        assert_eq!(why.outlook.start, None);
        // The range is based on a run time that is longer than the time so far.
        assert!(why.outlook.early.is_some_and(|early| early > begun && Some(early) < why.outlook.late), "{why:?}");
        let text = format!("its start is unknown: it depends on job {first}, which runs longer than expected");
        assert_eq!((&why.outlook.reasons[0].text, &why.outlook.reasons[0].jobs), (&text, &vec![first]));
    }
    let asked = |who: &Who| keeper.what_if(who, sleeping(1, 1.0)).unwrap().waiting.remove(0);
    assert_eq!((asked(&admin()).start, asked(&admin()).behind), (None, Some(first)));
    let planned = |who: &Who| {
        let boxes = keeper.picture(who).boxes.clone();
        boxes.into_iter().filter(|one| one.state == State::Waiting).map(|one| one.behind).collect::<Vec<_>>()
    };
    until("the picture shows them", || planned(&admin()) == [Some(first); 2]);
    // A submitter cannot see the numbers of other users' jobs.
    let bob = who("bob", Role::Submitter);
    assert_eq!((asked(&bob).behind, planned(&bob)), (Some(JobNumber(0)), vec![Some(JobNumber(0)); 2]));
    let [kind, brief] = [asked(&bob).reasons[0].kind.name().to_owned(), asked(&bob).reasons[0].brief.clone()];
    assert_eq!([kind, brief], ["resources", "a job of another user runs longer than expected"]);
    assert!(asked(&bob).reasons.iter().all(|reason| reason.jobs.is_empty()), "{:?}", asked(&bob));
}

fn wall() -> f64 {
    std::time::UNIX_EPOCH.elapsed().unwrap().as_secs_f64()
}

/// The expected start of a job lies in its range, even if a reservation or a quota delays the job. The reasons name the
/// reservation and the quota.
#[test]
fn reservations_and_quotas_are_in_ranges_and_reasons() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let end = wall() + 600.0;
    let demo = Reservation { number: 0, name: "demo".into(), start: end - 480.0, end, processors: vec![(0, 1)] };
    keeper.reserve(&admin(), demo).unwrap();
    let long = submit(&keeper, sleeping(1, 300.0));
    let explained = |job, part: &str| {
        until("the reason is stated", || {
            let why = keeper.explain(&admin(), job).unwrap();
            why.outlook.start.is_some() && why.outlook.reasons.iter().any(|reason| reason.text.contains(part))
        });
        let why = keeper.explain(&admin(), job).unwrap();
        let (early, expected, late) =
            (why.outlook.early.unwrap(), why.outlook.start.unwrap(), why.outlook.late.unwrap());
        assert!(early <= expected && expected <= late, "{why:?}");
        (early, expected)
    };
    let (early, expected) = explained(long, "processors 0-1 are reserved for `demo` for 480 s, beginning in");
    assert!(early >= end - 1.0 && expected >= end - 1.0, "{early} {expected} {end}");
    until("the picture shows the reservation", || keeper.picture(&admin()).closed.len() == 1);
    let closed = keeper.picture(&admin()).closed[0].clone();
    assert_eq!((closed.reservation.as_deref(), closed.processors), (Some("demo"), vec![(0, 1)]));
    keeper.cancel(&admin(), long).unwrap();
    until_state(&keeper, long, State::Cancelled);
    // This job waits for running jobs and for the reservation.
    let busy = [submit(&keeper, sleeping(1, 30.0)), submit(&keeper, sleeping(1, 30.0))];
    until("both run", || busy.iter().all(|&job| state(&keeper, job) == State::Running));
    let wide = submit(&keeper, sleeping(2, 300.0));
    let (_, expected) = explained(wide, "follows a closed period: processors 0-1 are reserved for `demo`");
    assert!(expected >= end - 1.0, "{expected} {end}");
    for job in [wide, busy[0], busy[1]] {
        keeper.cancel(&admin(), job).unwrap();
        until_state(&keeper, job, State::Cancelled);
    }
    let limit = UserSettings { most_processors: Some(1), ..UserSettings::default() };
    keeper.set_user(&admin(), "root", &limit).unwrap();
    let first = submit(&keeper, sleeping(1, 50.0));
    until_state(&keeper, first, State::Running);
    // This job waits for the quota first, and does not fit before the reservation.
    let both = submit(&keeper, sleeping(1, 300.0));
    explained(both, "may use 1 processor at once");
    explained(both, "follows a closed period: processors 0-1 are reserved for `demo`");
    keeper.cancel(&admin(), both).unwrap();
    let number = keeper.reservations(&admin()).unwrap()[0].number;
    keeper.unreserve(&admin(), number).unwrap();
    let second = submit(&keeper, sleeping(1, 50.0));
    let (_, expected) = explained(second, "root may use 1 processor at once, and uses 1");
    assert!(expected >= wall() + 30.0);
}

/// A job that needs more processors than a lowered quota allows is listed with the quota at once. A single waiting job has
/// one reason.
#[test]
fn a_lowered_quota_is_named_in_the_list() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper_on(temporary.path(), 2);
    let ann = who("ann", Role::Submitter);
    let demo =
        Reservation { number: 0, name: "demo".into(), start: wall(), end: wall() + 500.0, processors: vec![(0, 1)] };
    keeper.reserve(&admin(), demo).unwrap();
    let wide = Needs { processors: Some(2), time: Some(5.0), ..Needs::default() };
    let wide = submission(Content::Command { argv: vec!["true".into()], needs: wide });
    let job = keeper.submit(&ann, wide, None).unwrap().jobs[0];
    let reasons = || keeper.explain(&ann, job).unwrap().outlook.reasons;
    until("the job is planned", || reasons().first().is_some_and(|reason| reason.text.contains("`demo`")));
    assert_eq!(reasons().len(), 1, "{:?}", reasons());
    let listed = || keeper.jobs(&ann, &Filter::default(), None, 10).unwrap().items[0].blocked.clone();
    assert_eq!(listed(), None);
    let limit = UserSettings { most_processors: Some(1), ..UserSettings::default() };
    keeper.set_user(&admin(), "ann", &limit).unwrap();
    assert_eq!(listed().as_deref(), Some("ann may use 1 processor at once, but this job needs 2"));
}

/// A licence that a running job holds is named as the reason, with the job.
#[test]
fn a_licence_is_named_as_the_reason() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper_of(temporary.path(), {
        let licences = Resources::new([("matlab", 2)]).unwrap();
        Platform::flat(4).unwrap().with_licences(licences).unwrap()
    });
    let licensed = |amount: u64, seconds: f64| {
        let resources = [("matlab".to_owned(), amount)].into();
        let needs = Needs { processors: Some(1), time: Some(seconds), resources, ..Needs::default() };
        submission(Content::Command { argv: vec!["sleep".into(), seconds.to_string()], needs })
    };
    let holder = submit(&keeper, licensed(1, 100.0));
    until_state(&keeper, holder, State::Running);
    let waits = submit(&keeper, licensed(2, 100.0));
    let text = "it needs 2 of the resource `matlab`, but only 1 are free";
    until("the licence is named", || {
        let why = keeper.explain(&admin(), waits).unwrap().outlook.reasons;
        why.iter().any(|reason| {
            reason.text == text && reason.jobs == [holder] && reason.resource.as_deref() == Some("matlab")
        })
    });
    let why = keeper.explain(&admin(), waits).unwrap();
    assert!(why.outlook.start.is_some_and(|start| start > wall() + 50.0), "{why:?}");
}

#[test]
fn what_must_end_soon_goes_before_what_may_wait() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let go = temporary.path().join("go");
    let waits = format!("until [ -e '{}' ]; do sleep 0.05; done", go.display());
    let needs = Needs { processors: Some(2), time: Some(1.5), ..Needs::default() };
    let argv = ["sh", "-c", &waits].map(String::from).to_vec();
    let first = submit(&keeper, submission(Content::Command { argv, needs }));
    until_state(&keeper, first, State::Running);
    let equal: Vec<JobNumber> = (0..5).map(|_| submit(&keeper, sleeping(2, 0.5))).collect();
    let deadline = Some(wall() + 2.5);
    let urgent = submit(&keeper, Submission { deadline, ..sleeping(2, 0.5) });
    let idle = submit(&keeper, Submission { deadline: Some(wall() + 9e6), ..sleeping(2, 0.5) });
    std::fs::write(go, "").unwrap();
    equal.iter().chain([&urgent, &idle]).for_each(|&job| until_state(&keeper, job, State::Succeeded));
    let started = |job: JobNumber| keeper.job(&admin(), job).unwrap().summary.started.unwrap();
    assert!(equal.iter().all(|&job| started(urgent) < started(job)), "it was not first");
    assert!(equal.iter().any(|&job| started(job) < started(idle)), "a far deadline is none");
}

#[test]
fn machines_of_a_file_are_left_out_with_a_word() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let file = |machines: &str| {
        let text = format!("version = 2\n{machines}\n[[jobs]]\nname = 'a'\ntime = 1\ncommand = 'true'\n");
        submission(Content::Instance { text, file: Some("a.toml".into()) })
    };
    let own = keeper.submit(&admin(), file(""), None).unwrap();
    assert_eq!(own.remarks, Vec::<String>::new());
    let other = keeper.submit(&admin(), file("[platform]\nprocessors = 9"), None).unwrap();
    assert!(other.remarks[0].contains("machines of the file are ignored"), "{other:?}");
}

#[test]
fn instants_without_a_meaning_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    for (start, end) in [(-1e308, 1e308), (0.0, f64::NAN), (f64::NEG_INFINITY, 0.0), (2.0, 1.0), (1.0, 1.0)] {
        assert_eq!(keeper.history(&admin(), start, end, 3).unwrap_err().kind, RefusalKind::BadInput, "{start} {end}");
    }
}

#[test]
fn a_key_gives_the_same_receipt_and_users_see_their_own() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let (ann, bob) = (who("ann", Role::Submitter), who("bob", Role::Submitter));
    let first = keeper.submit(&ann, script("true"), Some("k")).unwrap();
    assert_eq!(keeper.submit(&ann, script("true"), Some("k")).unwrap(), first);
    assert_eq!(keeper.submit(&ann, script("false"), Some("k")).unwrap_err().kind, RefusalKind::Conflict);
    let other = keeper.submit(&bob, script("true"), Some("k")).unwrap();
    assert_ne!(other, first);
    let job = first.jobs[0];
    until_state(&keeper, job, State::Succeeded);
    assert_eq!(keeper.job(&bob, job).unwrap_err().kind, RefusalKind::Unknown);
    assert_eq!(keeper.cancel(&bob, job).unwrap_err().kind, RefusalKind::Unknown);
    assert_eq!(keeper.log(&bob, job, 0, Stream::Out, 0, 1).unwrap_err().kind, RefusalKind::Unknown);
    assert_eq!(keeper.explain(&bob, job).unwrap_err().kind, RefusalKind::Unknown);
    assert!(keeper.happenings(&bob, 0, 100).unwrap().iter().all(|one| one.user == "bob"));
    assert_eq!(keeper.jobs(&bob, &Filter::default(), None, 10).unwrap().total, 1);
    let asked = Filter { user: Some("ann".into()), ..Filter::default() };
    assert_eq!(keeper.jobs(&bob, &asked, None, 10).unwrap().total, 0);
    let waits = Submission { after: vec![job], ..script("true") };
    assert_eq!(keeper.submit(&bob, waits, None).unwrap_err().kind, RefusalKind::BadInput);
    let urgent = Submission { priority: Some(1), ..script("true") };
    assert_eq!(keeper.submit(&bob, urgent, None).unwrap_err().kind, RefusalKind::Forbidden);
    let reader = who("eve", Role::Reader);
    assert_eq!(keeper.submit(&reader, script("true"), None).unwrap_err().kind, RefusalKind::Forbidden);
    assert_eq!(keeper.cancel(&reader, job).unwrap_err().kind, RefusalKind::Forbidden);
    assert_eq!(keeper.jobs(&reader, &Filter::default(), None, 10).unwrap().total, 2);
}

#[test]
fn users_have_no_more_than_they_may() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper_on(temporary.path(), 4);
    let ann = who("ann", Role::Submitter);
    let settings = UserSettings { most_processors: Some(1), most_waiting: Some(5), weight: None };
    assert_eq!(keeper.set_user(&ann, "ann", &settings).unwrap_err().kind, RefusalKind::Forbidden);
    keeper.set_user(&admin(), "ann", &settings).unwrap();
    let wide = Needs { processors: Some(2), ..Needs::default() };
    let wide = submission(Content::Command { argv: vec!["true".into()], needs: wide });
    assert_eq!(keeper.submit(&ann, wide, None).unwrap_err().kind, RefusalKind::Quota);
    let none = UserSettings { most_processors: Some(0), ..settings.clone() };
    assert_eq!(keeper.set_user(&admin(), "ann", &none).unwrap_err().kind, RefusalKind::BadInput);
    let all = vec![script("sleep 0.2"); 5];
    let receipts = keeper.submit_many(&ann, all, None).unwrap();
    let mut most = 0;
    let last = receipts[4].jobs[0];
    let begun = std::time::Instant::now();
    while receipts.iter().any(|receipt| state(&keeper, receipt.jobs[0]) != State::Succeeded) {
        let running = Filter { state: vec![State::Running], ..Filter::default() };
        most = most.max(keeper.jobs(&ann, &running, None, 10).unwrap().total);
        assert!(begun.elapsed() < PATIENCE, "{:?}", keeper.job(&ann, last));
    }
    assert_eq!(most, 1);
    let held = vec![Submission { hold: true, ..script("true") }; 6];
    assert_eq!(keeper.submit_many(&ann, held, None).unwrap_err().kind, RefusalKind::Quota);
    let users = keeper.users(&admin()).unwrap();
    assert!(users[0].used > 0.9 && users[0].share > 0.999, "{users:?}");
}

#[test]
fn the_plan_is_shown_with_its_bounds_and_explained() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let timed = |processors, time| Needs { processors: Some(processors), time: Some(time), ..Needs::default() };
    let job = |processors, time| {
        let argv = vec!["sleep".to_owned(), "100".to_owned()];
        submission(Content::Command { argv, needs: timed(processors, time) })
    };
    let runs = submit(&keeper, job(1, 60.0));
    let wide = submit(&keeper, job(2, 30.0));
    let behind = submit(&keeper, job(2, 600.0));
    until("a plan", || keeper.picture(&admin()).boxes.len() == 3);
    let picture = keeper.picture(&admin());
    assert_eq!((picture.processors, picture.running, picture.waiting), (2, 1, 2));
    assert!(!picture.bounds.is_empty());
    for bound in &picture.bounds {
        assert!(bound.plan >= bound.bound && bound.bound > 0.0, "{bound:?}");
    }
    let explained = keeper.explain(&admin(), behind).unwrap().outlook;
    let start = explained.start.unwrap();
    assert!(start > picture.now + 60.0, "{explained:?}");
    assert!(explained.early.unwrap() <= explained.late.unwrap());
    assert!(explained.reasons.iter().any(|reason| reason.jobs.contains(&runs)), "{explained:?}");
    assert!(explained.reasons.iter().any(|reason| reason.jobs.contains(&wide)), "{explained:?}");
    let what_if = keeper.what_if(&admin(), Submission { weight: Some(1000.0), ..job(2, 10.0) }).unwrap();
    assert_eq!(what_if.waiting.len(), 1);
    assert!(what_if.waiting[0].start.unwrap() < start, "{what_if:?}");
    assert!(what_if.others.jobs.iter().any(|delay| delay.job == behind && delay.seconds > 5.0), "{what_if:?}");
    assert_eq!(keeper.jobs(&admin(), &Filter::default(), None, 10).unwrap().total, 3);
    // A submitter receives only numbers about the jobs of others.
    let hidden =
        keeper.what_if(&who("bob", Role::Submitter), Submission { weight: Some(1000.0), ..job(2, 10.0) }).unwrap();
    let others = &hidden.others;
    assert!(others.jobs.is_empty() && others.later >= 1 && others.most_seconds > 5.0, "{hidden:?}");
    assert_eq!((others.hidden, what_if.others.hidden), (others.later, 0));
    let mean = others.mean_wait.seconds;
    assert!(mean > 0.0 && mean <= others.most_seconds, "{hidden:?}");
    let page = keeper.jobs(&who("bob", Role::Submitter), &Filter::default(), None, 10).unwrap();
    assert_eq!((page.total, page.others), (0, 3));
    // A submitter cannot see the jobs and users of other boxes.
    let other = keeper.picture(&who("bob", Role::Submitter));
    assert!(other.boxes.iter().all(|one| one.user.is_empty() && one.name.is_empty() && one.job == JobNumber(0)));
    for job in [runs, wide, behind] {
        keeper.cancel(&admin(), job).unwrap();
        until_state(&keeper, job, State::Cancelled);
    }
    let spans = keeper.history(&admin(), picture.now - 60.0, picture.now + 60.0, 2).unwrap();
    assert_eq!(spans.iter().map(|span| span.submitted).sum::<u64>(), 3);
    assert_eq!(spans.iter().map(|span| span.ended).sum::<u64>(), 3);
}

#[test]
fn metrics_count_starts_ends_and_processors() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let [good, bad] = ["true", "exit 1"].map(|text| submit(&keeper, script(text)));
    until_state(&keeper, good, State::Succeeded);
    until_state(&keeper, bad, State::Failed);
    let runs = submit(&keeper, script("sleep 60"));
    until_state(&keeper, runs, State::Running);
    let metrics = keeper.metrics();
    let of = |name: &str| metrics.iter().find(|one| one.name == name).unwrap();
    let value = |name: &str, label: &str| {
        let fits = |labels: &[(&str, String)]| label.is_empty() || labels.iter().any(|(_, text)| text == label);
        of(name).values.iter().find(|(labels, _)| fits(labels)).unwrap().1 as u64
    };
    let ended = ["succeeded", "failed", "cancelled"].map(|state| value("makespan_jobs_ended_total", state));
    assert_eq!(ended, [1, 1, 0]);
    assert_eq!((value("makespan_processors_in_use", ""), value("makespan_build_info", "")), (1, 1));
    assert!(value("makespan_store_bytes", "") > 4096 && value("makespan_store_free_bytes", "") > 0);
    assert_eq!(value("makespan_job_wait_seconds", "+Inf"), 3);
    let MetricKind::Histogram { sum, count: 3 } = of("makespan_job_wait_seconds").kind else { panic!("{metrics:?}") };
    assert!(sum >= 0.0);
    // The queries of the dashboard name only metrics of the service and of `makespan queue --format prometheus`.
    let dashboard = include_str!("../../../../examples/grafana.json");
    let words = dashboard.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_');
    let of_service = words.filter(|word| word.starts_with("makespan_") && !word.starts_with("makespan_queue_"));
    let names: Vec<&str> = of_service.collect();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        let bare = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        assert!(metrics.iter().any(|one| one.name == bare), "{name} is not a metric of the service");
    }
    keeper.cancel(&admin(), runs).unwrap();
    until_state(&keeper, runs, State::Cancelled);
}

#[test]
fn a_reservation_keeps_processors_free() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let now = keeper.picture(&admin()).now.max(std::time::UNIX_EPOCH.elapsed().unwrap().as_secs_f64());
    let reservation = Reservation {
        number: 0,
        name: "upkeep".into(),
        start: now + 600.0,
        end: now + 900.0,
        processors: vec![(0, 1)],
    };
    assert_eq!(
        keeper.reserve(&who("ann", Role::Submitter), reservation.clone()).unwrap_err().kind,
        RefusalKind::Forbidden
    );
    let far = Reservation { end: 1e300, ..reservation.clone() };
    assert_eq!(keeper.reserve(&admin(), far).unwrap_err().place.unwrap(), "end");
    let odd = Reservation { name: "a\nb".into(), ..reservation.clone() };
    assert_eq!(keeper.reserve(&admin(), odd).unwrap_err().place.unwrap(), "name");
    let empty = Reservation { processors: vec![(0, 2)], ..reservation.clone() };
    assert_eq!(keeper.reserve(&admin(), empty).unwrap_err().kind, RefusalKind::BadInput);
    // Wait until the engine runs jobs.
    let first = submit(&keeper, script("true"));
    until_state(&keeper, first, State::Succeeded);
    let kept = keeper.reserve(&admin(), reservation).unwrap();
    let timed = |time| {
        let needs = Needs { time: Some(time), ..Needs::default() };
        submission(Content::Command { argv: vec!["true".into()], needs })
    };
    let long = submit(&keeper, timed(3600.0));
    let short = submit(&keeper, timed(1.0));
    until_state(&keeper, short, State::Succeeded);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(state(&keeper, long), State::Waiting);
    keeper.unreserve(&admin(), kept.number).unwrap();
    until_state(&keeper, long, State::Succeeded);
}

/// Only the user of a job and admins can read its environment, because the environment may contain keys and tokens.
#[test]
fn the_environment_of_a_job_is_for_its_user_and_admins() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let mut one = script("true");
    one.environment.insert("API_KEY".into(), "secret".into());
    let alice = who("alice", Role::Submitter);
    let job = keeper.submit(&alice, one, None).unwrap().jobs[0];
    for (who, sees) in
        [(alice, true), (admin(), true), (who("eve", Role::Reader), false), (who("alice", Role::Reader), true)]
    {
        let detail = keeper.job(&who, job).unwrap();
        assert_eq!(!detail.environment.is_empty(), sees, "{who:?}");
        assert_eq!(serde_json::to_string(&detail).unwrap().contains("secret"), sees, "{who:?}");
    }
}

/// A file describes millions of nodes. The service refuses this file before the time limit for checks expires, and
/// answers other requests in the meantime.
#[test]
fn a_small_file_that_describes_much_is_refused_at_once() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let platform = r#"{"nodes": 16777216, "processors_per_node": 1}"#;
    let jobs = r#"{"name": "a", "command": ["true"], "time_on": {"x": 1}}"#;
    let text = format!(r#"{{"version": 2, "platform": {platform}, "jobs": [{jobs}]}}"#);
    let begun = std::time::Instant::now();
    let content = Content::Instance { text, file: Some("i.json".into()) };
    let refused = keeper.submit(&admin(), submission(content), None).unwrap_err();
    assert!(
        refused.message.contains("the platform has no such node") && begun.elapsed() < Duration::from_secs(10),
        "{refused:?}"
    );
    assert_eq!(submit(&keeper, script("true")), JobNumber(1));
}

/// The prediction for a submission uses the limits, weights and waiting jobs that also decide after the submission. So the
/// start, the range and the reasons stay the same.
#[test]
fn a_predicted_start_is_the_expected_start_after_the_submission() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let [ann, bob, cem] = ["ann", "bob", "cem"].map(|user| who(user, Role::Submitter));
    let limited = UserSettings { most_processors: Some(1), ..UserSettings::default() };
    keeper.set_user(&admin(), "ann", &limited).unwrap();
    keeper.set_user(&admin(), "bob", &UserSettings { weight: Some(5.0), ..UserSettings::default() }).unwrap();
    let submitted = |who: &Who, one: Submission| keeper.submit(who, one, None).unwrap().jobs[0];
    for seconds in [300.0, 400.0] {
        let job = submitted(&cem, sleeping(1, seconds));
        until_state(&keeper, job, State::Running);
    }
    for seconds in [100.0, 110.0, 120.0] {
        submitted(&cem, sleeping(1, seconds));
        submitted(&ann, sleeping(1, seconds / 2.0));
    }
    let refused = keeper.what_if(&ann, sleeping(2, 50.0)).unwrap_err();
    assert_eq!(
        (refused.kind, keeper.submit(&ann, sleeping(2, 50.0), None).unwrap_err()),
        (RefusalKind::Quota, refused)
    );
    for (who, one) in [
        (&bob, sleeping(1, 200.0)),
        (&bob, sleeping(2, 20.0)),
        (&ann, sleeping(1, 5.0)),
        (&bob, Submission { priority: Some(-10), ..sleeping(1, 10.0) }),
        (&cem, Submission { weight: Some(1e-6), ..sleeping(1, 10.0) }),
        (&cem, Submission { weight: Some(1e3), ..sleeping(1, 30.0) }),
    ] {
        let begun = wall();
        let predicted = keeper.what_if(who, one.clone()).unwrap().waiting.remove(0);
        let job = submitted(who, one);
        let expected = || keeper.job(who, job).unwrap().summary.expected_start;
        until("the job is planned", || expected().is_some());
        let explained = keeper.explain(who, job).unwrap().outlook;
        let instants = |one: &JobOutlook| [one.start, one.early, one.late, one.end].map(Option::unwrap);
        for (before, after) in instants(&predicted).into_iter().zip(instants(&explained)) {
            // The random factors apply to the remaining run times, which have become shorter in the meantime.
            assert!((before - after).abs() < 1.0 + wall() - begun, "{predicted:?} {explained:?}");
        }
        let [start, early, late, _] = instants(&predicted);
        assert!(early <= start && start <= late, "{predicted:?}");
        // The texts state times relative to the current instant, so the numbers in the texts may differ.
        let words = |text: &str| text.chars().filter(|sign| !sign.is_ascii_digit()).collect::<String>();
        let reason = |one: &Reason| (one.kind, words(&one.text), one.jobs.clone(), one.resource.clone());
        let [before, after] = [&predicted, &explained].map(|one| one.reasons.iter().map(reason).collect::<Vec<_>>());
        assert_eq!((predicted.job, before), (job, after));
    }
}

/// Other clients submit jobs while a submission is predicted, so its new numbers may be given to their jobs.
#[test]
fn a_prediction_is_right_while_others_submit() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let (ann, bob) = (who("ann", Role::Submitter), who("bob", Role::Submitter));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                keeper.submit(&bob, sleeping(1, 500.0), None).unwrap();
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        let lengths: Vec<f64> = (0..12)
            .filter_map(|_| keeper.what_if(&ann, sleeping(1, 10.0)).ok())
            .filter_map(|found| Some(found.waiting[0].end? - found.waiting[0].start?))
            .collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(lengths.len() > 2 && lengths.iter().all(|length| (length - 10.0).abs() < 0.1), "{lengths:?}");
    });
}

/// A limit that is set while jobs wait holds from then on, and no longer after its removal.
#[test]
fn a_limit_holds_for_jobs_that_wait() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let [ann, bob] = ["ann", "bob"].map(|user| who(user, Role::Submitter));
    let go = temporary.path().join("go");
    let first = [1, 2].map(|_| keeper.submit(&bob, script(&until_there(&go)), None).unwrap().jobs[0]);
    first.iter().for_each(|&job| until_state(&keeper, job, State::Running));
    let own = [1, 2, 3, 4].map(|_| keeper.submit(&ann, sleeping(1, 0.2), None).unwrap().jobs[0]);
    let wide = keeper.submit(&ann, sleeping(2, 0.2), None).unwrap().jobs[0];
    let limited = UserSettings { most_processors: Some(1), ..UserSettings::default() };
    keeper.set_user(&admin(), "ann", &limited).unwrap();
    std::fs::write(&go, "").unwrap();
    own.iter().for_each(|&job| until_state(&keeper, job, State::Succeeded));
    let summary = |job| keeper.job(&admin(), job).unwrap().summary;
    let mut runs = own.map(|job| (summary(job).started.unwrap(), summary(job).ended.unwrap()));
    runs.sort_by(|one, other| one.0.total_cmp(&other.0));
    assert!(runs.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{runs:?}");
    assert_eq!(state(&keeper, wide), State::Waiting);
    until("no start is expected", || summary(wide).expected_start.is_none());
    keeper.set_user(&admin(), "ann", &UserSettings::default()).unwrap();
    until_state(&keeper, wide, State::Succeeded);
}

/// Changes of different settings at once keep each other.
#[test]
fn settings_that_are_not_stated_are_kept() {
    let temporary = tempfile::tempdir().unwrap();
    let keeper = keeper(temporary.path());
    let changes = [
        UserChange { weight: Some(Some(3.0)), ..UserChange::default() },
        UserChange { most_waiting: Some(Some(5)), ..UserChange::default() },
        UserChange { most_processors: Some(Some(2)), ..UserChange::default() },
    ];
    std::thread::scope(|scope| {
        for change in &changes {
            scope.spawn(|| keeper.change_user(&admin(), "ann", change).unwrap());
        }
    });
    let unlimited = UserChange { most_waiting: Some(None), ..UserChange::default() };
    let all = keeper.change_user(&admin(), "ann", &UserChange::default()).unwrap();
    assert_eq!((all.weight, all.most_waiting, all.most_processors), (3.0, Some(5), Some(2)));
    let all = keeper.change_user(&admin(), "ann", &unlimited).unwrap();
    assert_eq!((all.weight, all.most_waiting, all.most_processors), (3.0, None, Some(2)));
}
