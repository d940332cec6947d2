use std::collections::BTreeMap;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::clock::wall;
use crate::words::{Filter, JobNumber, Reservation, Role, Span, State, Who};

fn who(user: &str, role: Role) -> Who {
    Who { user: user.into(), role }
}

/// The columns of a job that all versions of the store have: `(user, state, submitted, started, ended, width)`.
type Job = (&'static str, State, f64, Option<f64>, Option<f64>, u32);

fn jobs(count: usize, seed: u64) -> Vec<Job> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let one = |_| {
        let state = State::ALL[random.random_range(0..State::ALL.len())];
        let submitted = random.random_range(0.0..1000.0);
        let ran = !matches!(state, State::Held | State::Waiting | State::NotStarted);
        let started = ran.then(|| submitted + random.random_range(0.0..300.0));
        let ended = started.filter(|_| state.is_final()).map(|started| started + random.random_range(0.0..300.0));
        (["ann", "bob", "eve"][random.random_range(0..3)], state, submitted, started, ended, random.random_range(1..5))
    };
    (0..count).map(one).collect()
}

/// Fills a store of any version.
fn fill(store: &Store, jobs: &[Job]) {
    for (at, (user, state, submitted, started, ended, width)) in jobs.iter().enumerate() {
        let sql = "INSERT INTO jobs (user, name, state, submitted, started, ended, weight, priority, environment, spec, processors, \
                   length, tasks, held) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, 0, '{}', '{}', ?7, 1, 1, 0)";
        let values = rusqlite::params![user, format!("Job {at}"), state.name(), submitted, started, ended, width];
        store.writer.execute(sql, values).unwrap();
        let sql = "INSERT INTO tasks (job, task, state, started, ended, width) VALUES (?1, 0, ?2, ?3, ?4, ?5)";
        let values = rusqlite::params![store.writer.last_insert_rowid(), state.name(), started, ended, width];
        store.writer.execute(sql, values).unwrap();
    }
}

/// Checks that the table of counts matches the table of jobs.
fn check_counts(store: &Store) {
    let read = |sql: &str| -> BTreeMap<(String, String), i64> {
        let mut select = store.writer.prepare(sql).unwrap();
        let rows = select.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?))).unwrap();
        rows.map(Result::unwrap).filter(|(_, count)| *count != 0).collect()
    };
    let counted = read("SELECT user, state, jobs FROM counts");
    assert_eq!(counted, read("SELECT user, state, count(*) FROM jobs GROUP BY user, state"));
}

#[test]
fn a_store_of_each_earlier_version_goes_on() {
    for version in 1..=schema::STEPS.len() {
        let temporary = tempfile::tempdir().unwrap();
        let all = jobs(60, version as u64);
        let earlier = Store::with_steps(temporary.path(), &schema::STEPS[..version]).unwrap();
        fill(&earlier, &all);
        drop(earlier);
        let store = Store::open(temporary.path()).unwrap();
        let now: i64 = store.writer.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(now, schema::STEPS.len() as i64);
        check_counts(&store);
        store.writer.execute("UPDATE jobs SET state = 'cancelled' WHERE state = 'waiting'", []).unwrap();
        fill(&store, &jobs(10, 99));
        check_counts(&store);
        let readers = store.readers();
        let page = readers.read(|reader| reader.jobs(&who("", Role::Admin), &Filter::default(), None, 1000)).unwrap();
        assert_eq!((page.total as usize, page.items.len()), (all.len() + 10, all.len() + 10));
        drop(store);
        drop(Store::open(temporary.path()).unwrap());
    }
}

/// Before commit 134f65d3, a program created the tables in three steps. Its tables of version 1 had no counts.
#[test]
fn a_store_without_counts_gets_them() {
    let temporary = tempfile::tempdir().unwrap();
    let earlier = Store::with_steps(temporary.path(), &schema::STEPS[..1]).unwrap();
    let without = "DROP TRIGGER counts_of_new; DROP TRIGGER counts_of_changed; DROP TRIGGER counts_of_forgotten; \
                   DROP TABLE counts; DROP INDEX keys_by_time; DROP INDEX handed_by_round";
    earlier.writer.execute_batch(without).unwrap();
    fill(&earlier, &jobs(60, 7));
    drop(earlier);
    let schema = |store: &Store| -> Vec<String> {
        let mut select = store.writer.prepare("SELECT type || name FROM sqlite_schema ORDER BY 1").unwrap();
        let rows = select.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let store = Store::open(temporary.path()).unwrap();
    check_counts(&store);
    let new = tempfile::tempdir().unwrap();
    assert_eq!(schema(&store), schema(&Store::open(new.path()).unwrap()));
}

#[test]
fn what_is_not_ours_or_of_a_later_version_is_refused_and_left_alone() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join(DATABASE);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE mine (a); INSERT INTO mine VALUES (1)").unwrap();
    drop(other);
    let before = fs::read(&path).unwrap();
    assert!(Store::open(temporary.path()).unwrap_err().contains("another program"));
    assert!(fs::read(&path).unwrap() == before, "it was changed");
    fs::remove_file(&path).unwrap();
    let store = Store::open(temporary.path()).unwrap();
    store.writer.pragma_update(None, "user_version", 1000).unwrap();
    drop(store);
    assert!(Store::open(temporary.path()).unwrap_err().contains("later version"));
    fs::write(
        &path,
        b"no database at all, and longer than a header of one: 0123456789 0123456789 0123456789 0123456789",
    )
    .unwrap();
    assert!(Store::open(temporary.path()).unwrap_err().contains(DATABASE));
}

#[test]
fn a_full_disk_is_an_error_and_nothing_is_changed() {
    let temporary = tempfile::tempdir().unwrap();
    let mut store = Store::open(temporary.path()).unwrap();
    let pages: i64 = store.writer.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    let limit = |store: &Store, pages: i64| {
        store.writer.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
    };
    limit(&store, pages + 2);
    let write = |store: &mut Store, count: usize| {
        store.change(|change| {
            for _ in 0..count {
                change.happened(JobNumber(1), "ann", None, (crate::words::HappeningKind::Submitted, State::Waiting))?;
            }
            Ok(())
        })
    };
    assert!(write(&mut store, 5000).is_err());
    assert_eq!(store.latest(), 0);
    limit(&store, pages + 10_000);
    write(&mut store, 5000).unwrap();
    assert_eq!(store.latest(), 5000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Checks that the pages of a list together contain all jobs in order, and that each page states the total number
    /// of jobs.
    #[test]
    fn a_list_in_parts_is_the_list(
        seed in any::<u64>(), count in 0..60_usize, limit in 1..20_usize, newest in any::<bool>(), role in 0..3_usize,
        states in proptest::collection::vec(0..State::ALL.len(), 0..4), user in proptest::option::of("ann|bob|nobody"),
        text in proptest::option::of("1|JOB|b 2"),
    ) {
        let temporary = tempfile::tempdir().unwrap();
        let store = Store::open(temporary.path()).unwrap();
        let all = jobs(count, seed);
        fill(&store, &all);
        let asker = who("ann", [Role::Reader, Role::Submitter, Role::Admin][role]);
        let state: Vec<State> = states.into_iter().map(|at| State::ALL[at]).collect();
        let filter = Filter { state, user, text, newest };
        let fits = |at: usize, job: &Job| {
            (filter.state.is_empty() || filter.state.contains(&job.1))
                && filter.user.as_ref().is_none_or(|user| user == job.0)
                && (asker.role != Role::Submitter || job.0 == "ann")
                && filter.text.as_ref().is_none_or(|text| format!("job {at}").contains(&text.to_lowercase()))
        };
        let mut expected: Vec<u64> =
            all.iter().enumerate().filter(|(at, job)| fits(*at, job)).map(|(at, _)| at as u64 + 1).collect();
        if newest {
            expected.reverse();
        }
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = store.readers().read(|reader| reader.jobs(&asker, &filter, after, limit)).unwrap();
            prop_assert_eq!(page.total as usize, expected.len());
            prop_assert!(page.items.len() <= limit);
            found.extend(page.items.iter().map(|job| job.number.0));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        prop_assert_eq!(found, expected);
    }

    /// Checks that jobs that ended before an instant are deleted, except jobs for which an unfinished job waits, for
    /// any size of the parts.
    #[test]
    fn what_is_forgotten_has_ended_and_nobody_waits_for_it(
        seed in any::<u64>(), count in 1..60_usize, limit in 1..20_usize, before in 0.0..1500.0_f64,
        waits in proptest::collection::btree_set((0..60_usize, 0..60_usize), 0..80),
    ) {
        let temporary = tempfile::tempdir().unwrap();
        let mut store = Store::open(temporary.path()).unwrap();
        let all = jobs(count, seed);
        fill(&store, &all);
        let waits: Vec<(usize, usize)> = waits.into_iter().filter(|(job, of)| of < job && *job < count).collect();
        for (job, of) in &waits {
            store.writer.execute("INSERT INTO waits VALUES (?1, ?2)", [*job as i64 + 1, *of as i64 + 1]).unwrap();
        }
        let happened = |change: &mut StoreChange<'_>| (0..count as u64).try_for_each(|at| {
            change.happened(JobNumber(at + 1), "ann", None, (crate::words::HappeningKind::Submitted, State::Waiting))
        });
        store.change(happened).unwrap();
        while store.change(|change| change.forget(before, limit)).unwrap().0 {}
        check_counts(&store);
        let is_awaited = |at: usize| waits.iter().any(|&(job, of)| of == at && !all[job].1.is_final());
        let stays = |at: usize| !all[at].4.is_some_and(|ended| ended < before) || is_awaited(at);
        let expected: Vec<u64> = (0..count).filter(|&at| stays(at)).map(|at| at as u64 + 1).collect();
        let page = store.readers().read(|reader| reader.jobs(&who("", Role::Admin), &Filter::default(), None, 100)).unwrap();
        prop_assert_eq!(page.items.iter().map(|job| job.number.0).collect::<Vec<_>>(), expected);
        // These events happened just now, so deleting all events before a later instant leaves only the last event.
        let events = |store: &Store| store.readers().read(|reader| reader.happenings(&who("", Role::Admin), 0, 100)).unwrap();
        prop_assert_eq!(events(&store).len(), count);
        while store.change(|change| change.forget(wall() + 10.0, limit)).unwrap().0 {}
        prop_assert_eq!(events(&store).iter().map(|event| event.sequence).collect::<Vec<_>>(), [count as u64]);
        check_counts(&store);
    }

    /// Checks that the statistics of spans equal the results of a simple count for each span.
    #[test]
    fn spans_are_what_is_counted(seed in any::<u64>(), count in 0..60_usize, spans in 1..12_usize, start in 0.0..500.0_f64, length in 1.0..900.0_f64) {
        let temporary = tempfile::tempdir().unwrap();
        let store = Store::open(temporary.path()).unwrap();
        let all = jobs(count, seed);
        fill(&store, &all);
        for (asker, own) in [(who("eve", Role::Reader), None), (who("ann", Role::Submitter), Some("ann"))] {
            let found =
                store.readers().read(|reader| reader.spans(&asker, (start, start + length), spans, 8)).unwrap();
            prop_assert_eq!(found.len(), spans);
            for (at, span) in found.iter().enumerate() {
                check_span(span, at, &all, own)?;
            }
            let submitted: u64 = found.iter().map(|span| span.submitted).sum();
            let within = |job: &&Job| (start..start + length).contains(&job.2) && own.is_none_or(|own| own == job.0);
            prop_assert_eq!(submitted as usize, all.iter().filter(within).count());
        }
    }
}

fn check_span(span: &Span, at: usize, all: &[Job], own: Option<&str>) -> Result<(), TestCaseError> {
    let within = |time: f64| (span.start..span.end).contains(&time);
    let seen = || all.iter().filter(|job| own.is_none_or(|own| own == job.0));
    let submitted = seen().filter(|job| within(job.2)).count();
    let ended: Vec<&Job> = seen().filter(|job| job.4.is_some_and(within)).collect();
    let failed = ended.iter().filter(|job| job.1 != State::Succeeded).count();
    prop_assert_eq!(
        (span.submitted as usize, span.ended as usize, span.failed as usize),
        (submitted, ended.len(), failed),
        "span {}",
        at
    );
    let waits: Vec<f64> = seen().filter(|job| job.3.is_some_and(within)).map(|job| job.3.unwrap() - job.2).collect();
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    prop_assert!(span.wait.map_or(waits.is_empty(), |wait| (wait - mean).abs() < 1e-6), "{:?} {:?}", span, waits);
    let used = |job: &Job| {
        let (Some(from), to) = (job.3, job.4.unwrap_or(f64::INFINITY)) else { return 0.0 };
        (to.min(span.end) - from.max(span.start)).max(0.0) * f64::from(job.5)
    };
    let part = (all.iter().map(used).sum::<f64>() / ((span.end - span.start) * 8.0)).min(1.0);
    prop_assert!((span.use_of_processors - part).abs() < 1e-6, "{:?} {}", span, part);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Makes random reservations. Checks that a reservation is refused exactly if it has a processor and an instant in common
    /// with an accepted reservation.
    #[test]
    fn reservations_do_not_collide(
        wanted in prop::collection::vec((0_u32..20, 1_u32..10, 0_u32..4, 0_u32..3), 1..12),
    ) {
        let temporary = tempfile::tempdir().unwrap();
        let mut store = Store::open(temporary.path()).unwrap();
        let begin = wall() + 1000.0;
        let mut accepted: Vec<(u32, u32, u32, u32)> = Vec::new();
        for (start, length, first, more) in wanted {
            let (end, last) = (start + length, first + more);
            let at = |instant: u32| begin + f64::from(instant);
            let one = Reservation { number: 0, name: "demo".into(), start: at(start), end: at(end), processors: vec![(first, last)] };
            let (done, _) = store.change(|change| change.reserve(one.clone())).unwrap();
            let collides = accepted.iter().any(|&(from, to, low, high)| from < end && start < to && low <= last && first <= high);
            prop_assert_eq!(done.is_err(), collides);
            match done {
                Ok(_) => accepted.push((start, end, first, last)),
                Err(refused) => prop_assert!(refused.place.as_deref() == Some("processors") && refused.message.contains("reserved from")),
            }
        }
        let stored = store.readers().read(|reader| reader.reservations(wall())).unwrap();
        prop_assert_eq!(stored.len(), accepted.len());
    }
}
