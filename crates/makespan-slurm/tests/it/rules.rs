//! Tests of the rules of a cluster that prevent jobs from starting, and of the reported reasons.

use std::fs;
use std::path::{Path, PathBuf};

use makespan_core::Time;
use makespan_slurm::forecast::{ExpectedJob, ForecastOptions, RunTimes, forecast};
use makespan_slurm::queue::{ClusterOutput, NewJob, Queue, Texts};
use proptest::prelude::*;

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/queue-22.05")
}

pub(super) fn by_limits(queue: &Queue) -> Vec<ExpectedJob> {
    forecast(queue, &ForecastOptions { times: RunTimes::Limits, ..ForecastOptions::default() }).expected
}

pub(super) fn pending(id: usize, more: &str) -> String {
    format!(
        "JobId={id} JobName=j UserId=u(1) Priority={} JobState=PENDING SubmitTime=10 Partition=p {more}\n",
        1000 - id
    )
}

fn running(id: usize, node: usize, minutes: u32) -> String {
    format!(
        "JobId={id} JobName=r UserId=u(1) Priority=1 JobState=RUNNING StartTime=1000 RunTime=00:00:00 TimeLimit=00:{minutes:02}:00 \
         Partition=p NodeList=n{node} NumNodes=1 NumCPUs=4\n"
    )
}

pub(super) fn node(at: usize, features: &str, busy: bool) -> String {
    let (alloc, state) = if busy { (4, "ALLOCATED") } else { (0, "IDLE") };
    let features = if features.is_empty() { "(null)" } else { features };
    format!(
        "NodeName=n{at} CPUTot=4 CPUAlloc={alloc} State={state} Partitions=p AvailableFeatures={features} ActiveFeatures={features}\n"
    )
}

/// Returns a queue with one node of four processors, and one job that requests two of them for ten minutes.
fn idle(part: ClusterOutput, text: &str, job: &str) -> Queue {
    let ask = "TimeLimit=00:10:00 NumNodes=1-1 NumCPUs=2 Account=a QOS=q ReqTRES=cpu=2,node=1,billing=2";
    Texts::default()
        .with(ClusterOutput::Nodes, node(0, "", false))
        .with(ClusterOutput::Jobs, pending(1, &format!("{ask} {job}")))
        .with(part, text)
        .queue(Some(1000))
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Compares the start with a search over all instants for enough free nodes with each feature.
    #[test]
    fn a_job_with_counted_features_starts_when_so_many_nodes_of_each_are_free(
        nodes in prop::collection::vec((0_usize..4, 0_u32..4), 2..8), a in 0_u32..3, b in 0_u32..3,
    ) {
        prop_assume!(a + b > 0);
        let names = ["", "a", "b", "a,b"];
        let wanted = match (a, b) {
            (a, 0) => format!("a*{a}"),
            (0, b) => format!("[b*{b}]"),
            (a, b) => format!("[a*{a}&b*{b}]"),
        };
        let all: String = nodes.iter().enumerate().map(|(at, &(own, busy))| node(at, names[own], busy > 0)).collect();
        let mut jobs: String =
            nodes.iter().enumerate().filter(|one| one.1.1 > 0).map(|(at, &(_, busy))| running(100 + at, at, busy * 10)).collect();
        let count = a + b;
        jobs += &pending(1, &format!("TimeLimit=00:10:00 NumNodes={count}-{count} NumCPUs={count} Features={wanted}"));
        let queue = Texts::default().with(ClusterOutput::Nodes, all).with(ClusterOutput::Jobs, jobs).queue(Some(1000)).unwrap();
        // A node has no feature, one feature, or both.
        let fits = |free: &[usize]| {
            let of = |kind: usize| free.iter().filter(|&&at| nodes[at].0 == kind).count() as u32;
            let (only_a, only_b, both) = (of(1), of(2), of(3));
            a.saturating_sub(only_a) + b.saturating_sub(only_b) <= both
        };
        let at = |ten: u32| (0..nodes.len()).filter(|&node| nodes[node].1 <= ten).collect::<Vec<_>>();
        let first = (0..4).find(|&ten| fits(&at(ten))).map(|ten| 1000 + i64::from(ten) * 600);
        let expected = by_limits(&queue);
        prop_assert_eq!(expected[0].outlook.start, first, "{} on {:?}: {:?}", wanted, nodes, expected[0].why());
        if first.is_some_and(|first| first > 1000) {
            prop_assert_eq!(expected[0].why().kind.name(), "resources", "{:?}", expected[0].why());
        }
        if first.is_some() {
            let own: Vec<usize> = expected[0].nodes.iter().map(|one| one.0).collect();
            prop_assert!(fits(&own) && own.len() as u32 == count);
        }
    }

    /// Compares the start with a search over all instants at which the listed nodes are free, with as many others as
    /// the job needs.
    #[test]
    fn a_job_with_listed_nodes_starts_when_these_and_enough_others_are_free(
        busy in prop::collection::vec(0_u32..4, 2..7), listed in prop::collection::btree_set(0_usize..7, 1..4), count in 1_u32..5, cpus in 1_u32..20,
    ) {
        let listed: Vec<usize> = listed.into_iter().filter(|&at| at < busy.len()).collect();
        prop_assume!(!listed.is_empty());
        let all: String = busy.iter().enumerate().map(|(at, &busy)| node(at, "", busy > 0)).collect();
        let mut jobs: String =
            busy.iter().enumerate().filter(|one| *one.1 > 0).map(|(at, &busy)| running(100 + at, at, busy * 10)).collect();
        let names: Vec<String> = listed.iter().map(|at| format!("n{at}")).collect();
        let asks = format!("NumNodes={count} NumCPUs={} ReqNodeList={}", cpus.max(count), names.join(","));
        jobs += &pending(1, &format!("TimeLimit=00:10:00 {asks}"));
        let queue = Texts::default().with(ClusterOutput::Nodes, all).with(ClusterOutput::Jobs, jobs).queue(Some(1000)).unwrap();
        let fits = |free: &[usize]| {
            let size = free.len() as u32;
            listed.iter().all(|at| free.contains(at)) && size >= count && size * 4 >= cpus
        };
        let at = |ten: u32| (0..busy.len()).filter(|&node| busy[node] <= ten).collect::<Vec<_>>();
        let first = (0..4).find(|&ten| fits(&at(ten))).map(|ten| 1000 + i64::from(ten) * 600);
        let expected = &by_limits(&queue)[0];
        prop_assert_eq!(expected.outlook.start, first, "{} on {:?}: {:?}", asks, busy, expected.why());
        if first.is_some() {
            let own: Vec<usize> = expected.nodes.iter().map(|one| one.0).collect();
            prop_assert!(fits(&own), "{} got {:?}", asks, own);
        }
    }

    /// Checks that a job that accepts less time never delays a job with higher priority.
    #[test]
    fn who_will_do_with_less_time_puts_off_nobody(busy in 1_u32..50, least in 1_u32..60, limit in 1_u32..60, high in 1_u32..50) {
        let nodes = node(0, "", true) + &node(1, "", false);
        let mut jobs = running(100, 0, busy)
            + &pending(1, &format!("TimeLimit=00:{high:02}:00 NumNodes=2-2 NumCPUs=8 MinCPUsNode=4"));
        let least = least.min(limit);
        let start = |jobs: &str| {
            let texts = Texts::default().with(ClusterOutput::Nodes, nodes.as_str()).with(ClusterOutput::Jobs, jobs);
            by_limits(&texts.queue(Some(1000)).unwrap())
        };
        let alone = start(&jobs)[0].outlook.start;
        jobs += &pending(2, &format!("TimeLimit=00:{limit:02}:00 TimeMin=00:{least:02}:00 NumNodes=1-1 NumCPUs=4"));
        let both = start(&jobs);
        prop_assert_eq!(both[0].outlook.start, alone);
        // The job fills the gap if its minimum time fits. The job must end before the planned start of the other job.
        let after = alone.unwrap() + i64::from(high) * 60;
        prop_assert_eq!(both[1].outlook.start, Some(if least < busy { 1000 } else { after }));
    }

    /// The job requests 2 processors for 10 minutes. Checks that each limit prevents its start if and only if the
    /// request violates the limit.
    #[test]
    fn a_limit_of_one_job_or_of_what_was_used_is_kept(kind in 0_usize..9, total in 1_u64..40, used in 0_u64..40) {
        let (qos, breaks) = match kind {
            0 => (format!("MaxTRESPJ=cpu={total}"), total < 2),
            1 => (format!("MaxTRESPN=cpu={total}"), total < 2),
            2 => (format!("MaxTRESMinsPJ=cpu={total}"), total < 20),
            3 => (format!("MinTRESPJ=cpu={total}"), total > 2),
            4 => (format!("MaxWallPJ={total}"), total < 10),
            5 => (format!("MaxWallPJ=00:{total:02}:00"), total < 10),
            6 => (format!("GrpTRESMins=cpu={total}({used})"), used >= total),
            7 => (format!("GrpWall={total}({used}.5)"), used >= total),
            _ => (format!("GrpTRESRunMins=billing={total}({used})"), total < 20),
        };
        for line in [format!("QOS=q(1) {qos}\n"), format!("ClusterName=c Account=a UserName= ParentAccount= {qos}\n")] {
            let queue = idle(ClusterOutput::Limits, &line, "");
            let expected = &by_limits(&queue)[0];
            prop_assert_eq!(expected.outlook.start.is_none(), breaks, "{}: {:?}", line, expected.why());
            prop_assert_eq!(expected.why().kind.name() == "limit", breaks, "{}: {:?}", line, expected.why());
            let present = queue.present().unwrap();
            let is_beyond = kind == 8;
            prop_assert_eq!(present.jobs.is_empty(), breaks && !is_beyond, "{:?}", present.remarks);
        }
    }

    /// Checks that every reason of Slurm is reported, unless another obstacle is reported.
    #[test]
    fn nothing_is_in_the_way_is_never_said_against_slurm(reason in "(Assoc|QOS|Max|Bad|Node)[A-Z][a-zA-Z]{3,20}") {
        let expected = &by_limits(&idle(ClusterOutput::Limits, "", &format!("Reason={reason}")))[0];
        prop_assert!(expected.why().text.contains(&reason), "{:?}", expected.why());
        prop_assert_eq!(expected.why().kind.name(), "slurm");
    }

    /// Checks that a file that was cut off anywhere is distinguished from a complete file.
    #[test]
    fn jobs_that_are_cut_off_are_missed(part in 1_usize..1000) {
        let whole = fs::read_to_string(recorded().join("scontrol.jobs-d.txt")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::copy(recorded().join("scontrol.nodes-d.txt"), folder.path().join("scontrol.nodes-d.txt")).unwrap();
        let mut cut = whole.len() * part / 1000;
        while !whole.is_char_boundary(cut) {
            cut -= 1;
        }
        fs::write(folder.path().join("scontrol.jobs-d.txt"), &whole[..cut]).unwrap();
        fs::write(folder.path().join("scontrol.jobs.txt"), &whole).unwrap();
        if let Ok(queue) = Queue::from_folder(folder.path(), None) {
            prop_assert!(queue.remarks.iter().any(|remark| remark.contains("cut off")), "{:?}", queue.remarks);
        }
    }
}

#[test]
fn limits_that_nobody_enforces_hold_nobody() {
    let texts = |enforced: &str| {
        Texts::default()
            .with(ClusterOutput::Nodes, node(0, "", false))
            .with(ClusterOutput::Jobs, pending(1, "TimeLimit=00:10:00 NumNodes=1-1 NumCPUs=2 QOS=q"))
            .with(ClusterOutput::Limits, "QOS=q(1) GrpTRES=cpu=1(0)\n")
            .with(ClusterOutput::Config, format!("AccountingStorageEnforce = {enforced}\n"))
    };
    let starts = |enforced: &str| by_limits(&texts(enforced).queue(Some(1000)).unwrap())[0].outlook.start;
    assert_eq!((starts("associations,limits,qos"), starts("associations")), (None, Some(1000)));
    assert_eq!(starts("associations,limits,safe"), None);
}

#[test]
fn more_licences_than_there_are_are_never_had() {
    let licences = "LicenseName=x Total=2 Used=0 Free=2\n";
    let expected =
        |asked: u32| by_limits(&idle(ClusterOutput::Licences, licences, &format!("Licenses=x:{asked}"))).remove(0);
    assert_eq!(expected(2).outlook.start, Some(1000));
    let never = expected(3);
    assert_eq!((never.outlook.start, never.why().kind.name()), (None, "limit"));
    assert!(never.why().text.contains("asks for 3"), "{:?}", never.why());
}

#[test]
fn a_licence_that_does_not_exist_is_never_had() {
    for (licences, there) in
        [("LicenseName=x Total=2 Used=0 Free=2\n", "has x"), ("No licenses configured in Slurm.\n", "has none")]
    {
        let queue = idle(ClusterOutput::Licences, licences, "Licenses=y:1");
        let never = by_limits(&queue).remove(0);
        assert_eq!((never.outlook.start, &*never.why().text), (None, "there is no licence y"));
        assert!(queue.present().unwrap().jobs.is_empty());
        let job = NewJob::of_words("nodes=1 time=5 licenses=y:1").unwrap().0;
        assert_eq!(queue.with_new_job(&job).unwrap_err(), format!("there is no licence y; the cluster {there}"));
    }
    // An empty text shows that the licences are unknown.
    let unknown = idle(ClusterOutput::Licences, "", "Licenses=y:1");
    assert_eq!(by_limits(&unknown)[0].outlook.start, Some(1000));
}

#[test]
fn a_held_new_job_never_starts_and_a_new_job_meets_its_deadline() {
    let queue = idle(ClusterOutput::Config, "", "");
    let added = |options: &str| {
        let script = format!("#!/bin/sh\n#SBATCH --nodes=1 --time=10 {options}\nsrun x\n");
        let (job, ignored) = NewJob::of_script(&script).unwrap();
        assert!(ignored.is_empty(), "{ignored:?}");
        queue.with_new_job(&job).unwrap().0
    };
    for hold in ["--hold", "-H"] {
        let held = added(hold);
        let never = by_limits(&held).remove(1);
        assert_eq!((never.outlook.start, never.why().kind.name(), &never.why().remedy), (None, "held", &None));
        assert_eq!(held.present().unwrap().jobs, [0]);
    }
    for (deadline, start) in [(1599, None), (1600, Some(1000)), (9999, Some(1000))] {
        let found = by_limits(&added(&format!("--deadline={deadline}"))).remove(1);
        assert_eq!(found.outlook.start, start);
        assert_eq!(found.why().kind.name(), if start.is_some() { "next" } else { "deadline" });
    }
    assert!(NewJob::of_words("hold=no").unwrap_err().contains("no value"));
}

#[test]
fn a_reservation_of_others_admits_nobody_else() {
    let reserved =
        "ReservationName=other StartTime=1970-01-01T00:16:00 EndTime=1970-01-02T00:00:00 Nodes=n0 Users=bob,eve\n";
    let queue = idle(ClusterOutput::Reservations, reserved, "Reservation=other");
    let expected = &by_limits(&queue)[0];
    assert_eq!((expected.outlook.start, expected.why().kind.name()), (None, "reservation"));
    assert!(expected.why().text.contains("bob"), "{:?}", expected.why());
    let present = queue.present().unwrap();
    let users = &present.instance.platform().site().unwrap().reservations[0].users;
    assert_eq!(users.iter().map(AsRef::as_ref).collect::<Vec<&str>>(), ["bob", "eve"]);
}

#[test]
fn one_of_several_jobs_is_waited_for_until_the_first_of_them_ends() {
    let nodes = node(0, "", true) + &node(1, "", true);
    let jobs = running(100, 0, 10)
        + &running(101, 1, 40)
        + &pending(1, "TimeLimit=00:10:00 NumNodes=1-1 NumCPUs=1 Dependency=afterany:100?afterany:101");
    let queue =
        Texts::default().with(ClusterOutput::Nodes, nodes).with(ClusterOutput::Jobs, jobs).queue(Some(1000)).unwrap();
    let expected = &by_limits(&queue)[0];
    assert_eq!(expected.outlook.start, Some(1600));
    assert!(
        expected.why().text.contains("one of jobs 100, 101") && expected.why().text.contains("1600"),
        "{:?}",
        expected.why()
    );
}

#[test]
fn what_is_no_text_or_no_time_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let save = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    save("scontrol.nodes-d.txt", node(0, "", false).as_bytes());
    save("scontrol.jobs-d.txt", pending(1, "TimeLimit=abc NumNodes=1-1 NumCPUs=2").as_bytes());
    save("scontrol.config.txt", b"nonsense\n");
    let queue = Queue::from_folder(folder.path(), Some(1000)).unwrap();
    for part in ["TimeLimit=abc", "contains no setting"] {
        assert!(queue.remarks.iter().any(|remark| remark.contains(part)), "{part}: {:?}", queue.remarks);
    }
    for name in ["scontrol.jobs-d.txt", "scontrol.config.txt", "scontrol.assoc.txt"] {
        let before = fs::read(folder.path().join(name)).unwrap_or_default();
        save(name, b"\x7fELF\0\0\x01binary");
        let error = Queue::from_folder(folder.path(), Some(1000)).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("not text"), "{error}");
        save(name, &before);
    }
}

#[test]
fn tasks_of_a_long_array_start_as_those_before_them_end() {
    let node = "NodeName=n0 CPUTot=8 State=IDLE Partitions=p\n";
    let array = pending(7, "ArrayJobId=7 ArrayTaskId=0-24999%5 TimeLimit=00:10:00 NumNodes=1-1 NumCPUs=1");
    let queue =
        Texts::default().with(ClusterOutput::Nodes, node).with(ClusterOutput::Jobs, array).queue(Some(1000)).unwrap();
    let expected = by_limits(&queue);
    for (task, one) in expected.iter().enumerate() {
        assert_eq!(one.outlook.start, Some(1000 + 600 * (task as i64 / 5)), "{:?}", one.why());
    }
}

/// Returns a queue with one node of four processors, on which a job runs for `busy` minutes from 1000 s on, and pending
/// jobs.
fn behind(busy: u32, jobs: &str) -> Queue {
    let jobs = running(100, 0, busy) + jobs;
    Texts::default()
        .with(ClusterOutput::Nodes, node(0, "", true))
        .with(ClusterOutput::Jobs, jobs)
        .queue(Some(1000))
        .unwrap()
}

/// In Slurm's records, `-n 8` alone requests one node. This is only the minimum number of nodes.
#[test]
fn what_asks_for_processors_alone_is_told_so() {
    let said = |ask: &str| {
        let queue = behind(20, &pending(1, &format!("TimeLimit=00:10:00 {ask}")));
        by_limits(&queue)[0].why().text.clone()
    };
    for (ask, words) in [
        ("NumNodes=1 NumCPUs=4", "asks for 4 processors on any number of nodes; none are free for it in p"),
        (
            "NumNodes=1 NumCPUs=4 MinCPUsNode=2",
            "asks for 4 processors on any number of nodes, at least 2 on each; none",
        ),
        ("NumNodes=1-1 NumCPUs=4", "asks for 1 node with 4 processors; none is free for it in p"),
        ("NumNodes=1 NumCPUs=4 MinCPUsNode=4", "asks for 1 node with 4 processors; none"),
        ("NumNodes=1 NumCPUs=1", "asks for 1 node with 1 processor; none"),
        ("NumNodes=1-3 NumCPUs=3", "asks for 1 to 3 nodes with 1 processor (together 3 processors); none"),
        (
            "NumNodes=1 NumCPUs=9",
            "asks for 9 processors on any number of nodes, but 1 such node has only 4 processors in p",
        ),
        ("NumNodes=2-2 NumCPUs=8 MinCPUsNode=4", "asks for 2 nodes with 4 processors, but p has only 1 such node"),
    ] {
        let text = said(ask);
        assert!(text.contains(words), "{ask}: {text}");
    }
}

/// Checks that an array gets as many reservations as `bf_max_job_array_resv` states, or 20 by default.
#[test]
fn places_are_kept_for_so_many_tasks_of_an_array() {
    let nodes = node(0, "", true) + &node(1, "", false);
    let jobs = running(100, 0, 10)
        + &pending(1, "ArrayJobId=1 ArrayTaskId=0-9 TimeLimit=00:10:00 NumNodes=2-2 NumCPUs=8 MinCPUsNode=4")
        + &pending(2, "TimeLimit=00:30:00 NumNodes=1-1 NumCPUs=4");
    for (parameters, start) in [("", 1000 + 11 * 600), ("bf_max_job_array_resv=0", 1000)] {
        let queue = Texts::default()
            .with(ClusterOutput::Nodes, nodes.as_str())
            .with(ClusterOutput::Jobs, jobs.as_str())
            .with(ClusterOutput::Config, format!("SchedulerParameters = bf_interval=1,{parameters}\n"))
            .queue(Some(1000))
            .unwrap();
        let other = by_limits(&queue).pop().unwrap();
        assert_eq!(other.outlook.start, Some(start), "{parameters}: {:?}", other.why());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Tests two nodes of four processors, some of them in use, that a reservation closes later. The name of the
    /// reservation is a reason if and only if the job would have its processors now with a shorter limit, or starts when
    /// the reservation ends. For a job of lower priority, the reason names the job with the reservation, unless it starts now.
    #[test]
    fn a_reservation_is_the_reason_only_where_the_processors_are_free(
        held in prop::collection::vec(0_u32..5, 2..3), asks in 1_u32..9, limit in 1_u32..90, closes in 1_u32..90, other in 1_u32..90,
    ) {
        let run = |(at, &cpus): (usize, &u32)| match cpus {
            0 => String::new(),
            cpus => running(100 + at, at, 5).replace("NumCPUs=4", &format!("NumCPUs={cpus}")),
        };
        let nodes: String = held.iter().enumerate()
            .map(|(at, cpus)| node(at, "", false).replace("CPUAlloc=0", &format!("CPUAlloc={cpus}"))).collect();
        let time = |minutes: u32| format!("{:02}:{:02}:00", minutes / 60, minutes % 60);
        let jobs: String = held.iter().enumerate().map(run).collect::<String>()
            + &pending(1, &format!("TimeLimit={} NumNodes=1 NumCPUs={asks}", time(limit)))
            + &pending(2, &format!("TimeLimit={} NumNodes=1 NumCPUs=1", time(other)));
        let maint = format!("ReservationName=maint StartTime={} EndTime={} Nodes=n[0-1] Users=root State=INACTIVE\n",
            clock(1000 + closes * 60), clock(1000 + closes * 60 + 3600));
        let queue = Texts::default().with(ClusterOutput::Nodes, nodes).with(ClusterOutput::Jobs, jobs).with(ClusterOutput::Reservations, maint).queue(Some(1000)).unwrap();
        let expected = by_limits(&queue);
        let free = 8 - held.iter().sum::<u32>();
        let (first, behind) = (&expected[0], &expected[1]);
        prop_assert_eq!(first.outlook.start == Some(1000), free >= asks && limit <= closes, "{:?}", first.why());
        let starts_after = first.outlook.start == Some(1000 + i64::from(closes) * 60 + 3600);
        let is_reason = free >= asks && limit > closes || starts_after;
        prop_assert_eq!(first.why().text.contains("maint"), is_reason, "{:?}", first.why());
        for one in [first, behind] {
            prop_assert_eq!(one.why().kind.name() == "next", one.outlook.start == Some(1000), "{:?}", one);
        }
        let left = if first.outlook.start == Some(1000) { free - asks } else { free };
        if behind.outlook.start > Some(1000) && left > 0 && other <= closes {
            prop_assert!(behind.why().text.contains(" on for job 1,"), "{:?}", behind.why());
        }
    }

    /// If a reservation leaves too few nodes for a job even when no other job runs, the job does not block jobs of
    /// lower priority in the main cycle. The main cycle of Slurm 22.05 skips this job (`ESLURM_NODE_NOT_AVAIL`), but
    /// the backfill cycle plans it.
    #[test]
    fn a_job_that_a_reservation_prevents_does_not_hold_back_lower_jobs(
        free in 1_u32..6, reserved in 1_u32..4, more in 0_u32..3, less in 0_u32..5, limit in 1_u32..60, is_active in any::<bool>(),
    ) {
        let (wide, narrow) = (free + 1 + more.min(reserved - 1), free - less.min(free - 1));
        let nodes: String = (0..free + reserved).map(|at| node(at as usize, "", at < free)).collect();
        let jobs = format!(
            "JobId=100 JobName=r UserId=u(1) Priority=1 JobState=RUNNING StartTime=1000 RunTime=00:00:00 TimeLimit=00:01:00 Partition=p \
             NodeList=n[0-{}] NumNodes={free} NumCPUs={}\n", free - 1, 4 * free)
            + &pending(1, &format!("TimeLimit=01:00:00 NumNodes={wide} NumCPUs={}", 4 * wide))
            + &pending(2, &format!("TimeLimit=00:{limit:02}:00 NumNodes={narrow} NumCPUs={}", 4 * narrow));
        let begin = if is_active { 900 } else { 1240 };
        let kept = format!("ReservationName=r StartTime={} EndTime={} Nodes=n[{free}-{}] Users=root State=INACTIVE\n",
            clock(begin), clock(9000), free + reserved - 1);
        let queue = Texts::default().with(ClusterOutput::Nodes, nodes).with(ClusterOutput::Jobs, jobs).with(ClusterOutput::Reservations, kept).queue(Some(1000)).unwrap();
        let expected = by_limits(&queue);
        prop_assert!(expected[0].outlook.start >= Some(9000), "{:?}", expected[0]);
        // If the reservation begins later, a small job with a short time limit also fits on the reserved nodes before
        // that.
        let starts = if !is_active && limit <= 4 && narrow <= reserved { 1000 } else { 1060 };
        prop_assert_eq!(expected[1].outlook.start, Some(starts), "{:?}", expected[1].why());
    }
}

/// This test took minutes when each cycle computed an answer for every similar job again.
#[test]
fn many_jobs_that_are_alike_are_answered_in_seconds() {
    let nodes: String = (0..12).map(|at| node(at, "", false)).collect();
    let ask = "TimeLimit=00:10:00 NumNodes=1-1 NumCPUs=2";
    let array = pending(1, &format!("ArrayJobId=1 ArrayTaskId=0-4999 {ask}"));
    let throttled = pending(1, &format!("ArrayJobId=1 ArrayTaskId=0-14999%3 {ask}"));
    let alone = (0..5_000).map(|id| pending(100, ask).replace("JobId=100", &format!("JobId={}", 100 + id))).collect();
    for jobs in [array, throttled, alone] {
        let begun = std::time::Instant::now();
        let queue = Texts::default()
            .with(ClusterOutput::Nodes, nodes.as_str())
            .with(ClusterOutput::Jobs, jobs)
            .queue(Some(1000))
            .unwrap();
        let forecast = forecast(&queue, &ForecastOptions { draws: 4, ..ForecastOptions::default() });
        assert!(forecast.expected.iter().all(|one| one.outlook.start.is_some()));
        assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    }
}

#[test]
fn the_throttle_of_an_array_is_named_where_it_decides() {
    // Other jobs on the node end whenever a task of the array ends.
    let ask = "TimeLimit=00:10:00 NumNodes=1-1 NumCPUs=1";
    let array = pending(5, &format!("ArrayJobId=5 ArrayTaskId=0-3%1 {ask}"));
    let others: String = (10..18).map(|id| pending(id, ask)).collect();
    let queue = behind(20, &(array + &others));
    let expected = by_limits(&queue);
    for (task, one) in expected.iter().enumerate().take(4) {
        assert_eq!(one.outlook.start, Some(2200 + 600 * task as i64), "{:?}", one.why());
        let (kind, waits) =
            if task == 0 { ("resources", "100".to_owned()) } else { ("limit", format!("5_{}", task - 1)) };
        assert_eq!(one.why().kind.name(), kind, "{:?}", one.why());
        assert!(one.why().text.contains(&format!("the end of job {waits}")), "{:?}", one.why());
        let after: Vec<&str> = one.after.iter().map(|&job| queue.jobs[job].shown.as_str()).collect();
        assert_eq!(after, [waits.as_str()]);
    }
    assert!(
        expected[1].why().text.contains("tasks of array 5 at the same time (at most 1)"),
        "{:?}",
        expected[1].why()
    );
    assert!(expected[4..].iter().all(|one| one.why().kind.name() == "resources"));
}

/// Formats seconds as a time of day. The present is `1970-01-01T00:16:40`, which is 1000 s.
fn clock(seconds: u32) -> String {
    format!("1970-01-01T{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Checks that, as in a real 22.05, a job is cancelled if it can end by its deadline neither with its limit nor
    /// with its minimum time.
    #[test]
    fn a_deadline_is_met_or_the_job_is_given_up(
        busy in 1_u32..40, limit in 1_u32..40, least in prop::option::of(1_u32..40), minutes in 0_u32..90,
    ) {
        let least = least.map(|least| least.min(limit));
        let deadline = 1000 + minutes * 60;
        let more = least.map_or(String::new(), |least| format!("TimeMin=00:{least:02}:00 "));
        let one = pending(
            1,
            &format!("TimeLimit=00:{limit:02}:00 {more}Deadline={} NumNodes=1-1 NumCPUs=4", clock(deadline)),
        );
        // The second job waits until the first one ends in any way.
        let other = pending(2, "TimeLimit=00:10:00 NumNodes=1-1 NumCPUs=1 Dependency=afterany:1(unfulfilled)");
        let queue = behind(busy, &(one + &other));
        let expected = by_limits(&queue);
        let needs = least.unwrap_or(limit);
        let in_time = busy + needs <= minutes;
        let end = i64::from(1000 + busy * 60);
        prop_assert_eq!(expected[0].outlook.start, in_time.then_some(end), "{:?}", expected[0].why());
        if in_time {
            // The deadline reduces the granted time.
            let granted = limit.min(minutes - busy).max(needs);
            prop_assert_eq!(expected[1].outlook.start, Some(end + i64::from(granted) * 60), "{:?}", expected[1].why());
        } else {
            prop_assert_eq!(expected[0].why().kind.name(), "deadline", "{:?}", expected[0].why());
            prop_assert!(expected[0].why().remedy.is_some());
            prop_assert!(expected[1].outlook.start.is_none_or(|start| start >= end), "{:?}", expected[1]);
        }
        let present = queue.present().unwrap();
        prop_assert_eq!(present.jobs.contains(&1), needs <= minutes, "{:?}", present.remarks);
        if needs <= minutes {
            let place = present.jobs.iter().position(|&job| job == 1).unwrap();
            let submission = present.instance.jobs()[place].submission.clone().unwrap();
            prop_assert_eq!(submission.deadline, Some(Time::from_seconds(i64::from(minutes) * 60)));
            prop_assert_eq!(submission.least_time, least.map(|least| Time::from_seconds(i64::from(least) * 60)));
        }
    }

    /// Two jobs of one processor are running. A third job starts as soon as the remaining usage of all three is within
    /// the limit.
    #[test]
    fn what_running_jobs_may_still_use_falls_while_they_run(first in 1_u32..40, second in 1_u32..40, limit in 1_u32..20, total in 1_u32..80) {
        let run = |id: u32, minutes: u32| format!(
            "JobId={id} JobName=r UserId=u(1) Priority=1 JobState=RUNNING StartTime=1000 RunTime=00:00:00 TimeLimit=00:{minutes:02}:00 \
             Partition=p NodeList=n0 NumNodes=1 NumCPUs=1 QOS=q\n"
        );
        let jobs = run(100, first) + &run(101, second)
            + &pending(1, &format!("TimeLimit=00:{limit:02}:00 NumNodes=1-1 NumCPUs=1 QOS=q"));
        let queue = Texts::default()
            .with(ClusterOutput::Nodes, "NodeName=n0 CPUTot=4 CPUAlloc=2 State=MIXED Partitions=p\n")
            .with(ClusterOutput::Jobs, jobs)
            .with(ClusterOutput::Limits, format!("QOS=q(1) GrpTRESRunMins=cpu={total}(0)\n"))
            .queue(Some(1000))
            .unwrap();
        let expected = &by_limits(&queue)[0];
        // Check second by second, because minutes are rounded.
        let left = |at: u32| (first * 60).saturating_sub(at) + (second * 60).saturating_sub(at);
        let soonest = (0..3000).find(|&at| left(at) / 60 + limit <= total).filter(|_| limit <= total);
        match soonest {
            None => prop_assert_eq!(expected.outlook.start, None, "{:?}", expected.why()),
            Some(at) => {
                let start = expected.outlook.start.unwrap() - 1000;
                // The scheduler runs a cycle every 30 s.
                prop_assert!(start >= i64::from(at) && start <= i64::from(at) + 30, "{start} for {at}: {:?}", expected.why());
            }
        }
    }

    /// Checks that a file without its last line break is accepted as complete, unless its last record lacks fields that
    /// all other records have.
    #[test]
    fn the_last_end_of_line_may_be_missing(cut in 1_usize..600) {
        let whole = fs::read_to_string(recorded().join("scontrol.jobs-d.txt")).unwrap();
        let last = whole.trim_end().lines().last().unwrap().len();
        let folder = tempfile::tempdir().unwrap();
        fs::copy(recorded().join("scontrol.nodes-d.txt"), folder.path().join("scontrol.nodes-d.txt")).unwrap();
        let told = |text: &str| {
            fs::write(folder.path().join("scontrol.jobs-d.txt"), text).unwrap();
            let queue = Queue::from_folder(folder.path(), None).unwrap();
            queue.remarks.iter().any(|remark| remark.contains("cut off"))
        };
        prop_assert!(!told(&whole) && !told(whole.trim_end_matches('\n')));
        let end = whole.trim_end().len() - cut.min(last - 200);
        prop_assume!(whole.is_char_boundary(end));
        prop_assert!(told(&whole[..end]), "{}", &whole[end..]);
    }
}

#[test]
fn a_job_that_misses_its_deadline_is_told_what_would_help() {
    let texts = "TimeLimit=00:10:00 NumNodes=1-1 NumCPUs=4";
    let queue = behind(30, &pending(1, &format!("{texts} Deadline={}", clock(1000 + 35 * 60))));
    let why = by_limits(&queue)[0].why().clone();
    for part in
        ["its deadline 3100 passes first", "has to start by 2500", "start at 2800", "it waits for the end of job 100"]
    {
        assert!(why.text.contains(part), "{part}: {why:?}");
    }
    let remedy = why.remedy.as_deref().unwrap();
    assert!(remedy.contains("a deadline after 3400") && remedy.contains("a limit of at most 5 min"), "{remedy}");
    // No job of lower priority waits for nodes that this job does not get.
    let other = pending(2, "TimeLimit=00:10:00 NumNodes=1-1 NumCPUs=4");
    let queue = behind(30, &(pending(1, &format!("{texts} Deadline={}", clock(1000 + 35 * 60))) + &other));
    assert_eq!(by_limits(&queue)[1].outlook.start, Some(2800));
    // A deadline that has already passed is reported at once.
    let queue = behind(30, &pending(1, &format!("{texts} Deadline={}", clock(1000 + 9 * 60))));
    let expected = &by_limits(&queue)[0];
    assert_eq!((expected.outlook.start, expected.why().kind.name()), (None, "deadline"));
    assert!(queue.present().unwrap().remarks.iter().any(|remark| remark.contains("no longer end by its deadline")));
}

/// Compares with the nodes that a real 22.05 gave to jobs with these constraints. There are two nodes with `a`, one
/// node with `a` and `b`, and one node with `b`. Some of them may be busy. Jobs that Slurm refuses never enter a queue.
#[test]
fn constraints_are_met_as_a_real_slurm_meets_them() {
    let nodes = ["a", "a", "a,b", "b"];
    let start = |features: &str, count: usize, busy: &[usize]| {
        let all: String = nodes.iter().enumerate().map(|(at, own)| node(at, own, busy.contains(&at))).collect();
        let mut jobs: String = busy.iter().map(|&at| running(100 + at, at, 10)).collect();
        jobs +=
            &pending(1, &format!("TimeLimit=00:10:00 NumNodes={count}-{count} NumCPUs={count} Features={features}"));
        let queue =
            Texts::default().with(ClusterOutput::Nodes, all).with(ClusterOutput::Jobs, jobs).queue(Some(1000)).unwrap();
        let expected = by_limits(&queue).remove(0);
        let remarks: Vec<String> = queue.remarks.into_iter().filter(|remark| remark.contains("features")).collect();
        (expected.outlook.start, expected.nodes.iter().map(|own| own.0).collect::<Vec<usize>>(), remarks)
    };
    for (features, count, busy, there) in [
        ("a|b", 2, &[][..], &[0, 1][..]),
        ("[a|b]", 2, &[], &[0, 1]),
        ("[a|b]", 2, &[0, 1], &[2, 3]),
        ("a|b", 2, &[0, 1], &[2, 3]),
        ("(a|b)&a", 2, &[], &[0, 1]),
        ("[(a|b)*2]", 2, &[], &[0, 1]),
        ("a*2", 2, &[], &[0, 1]),
        // One node with `a` is enough, and the second node may be any node.
        ("a*1", 2, &[0, 1], &[2, 3]),
        // Only the counted alternative is requested.
        ("a|b*2", 2, &[], &[2, 3]),
        ("b*2", 2, &[0, 1], &[2, 3]),
        ("[a*2&b*1]", 3, &[], &[0, 1, 2]),
        ("[a*2&b*1]", 4, &[], &[0, 1, 2, 3]),
        ("[a*1&b*1]", 2, &[], &[0, 2]),
        ("[a*1&b*1]", 2, &[3], &[0, 2]),
    ] {
        assert_eq!(start(features, count, busy), (Some(1000), there.to_vec(), Vec::new()), "{features} with {busy:?}");
    }
    // The job waited until one of the only two suitable nodes was free again.
    for (features, busy) in [("a|b*2", 3), ("b", 3)] {
        assert_eq!(start(features, 2, &[busy]).0, Some(1600), "{features}");
    }
    // These constraints are refused, because no such nodes exist.
    for (features, count) in [("a&b", 2), ("[a*2&b*1]", 2), ("[a*3&b*3]", 4), ("a,b", 2), ("zzz", 2)] {
        assert_eq!(start(features, count, &[]).0, None, "{features}");
    }
    // Slurm refuses these constraints as invalid, and a warning reports this.
    for features in ["!a", "a&!b", "{a|b}"] {
        assert!(start(features, 2, &[]).2[0].contains("cannot be understood"), "{features}");
    }
}

/// A real 24.11 started `-w n1 -n2` on n0 and n1 when each had one free processor: a job that requires nodes gets
/// additional nodes if needed.
#[test]
fn nodes_that_a_job_has_to_have_are_among_those_that_it_gets() {
    let half = |at: usize| {
        format!(
            "JobId={} JobName=r UserId=u(1) Priority=1 JobState=RUNNING StartTime=1000 RunTime=00:00:00 TimeLimit=00:10:00 \
             Partition=p NodeList=n{at} NumNodes=1 NumCPUs=3\n",
            100 + at
        )
    };
    let start_on = |cpus: u32, busy: &str, asks: &str| {
        let nodes: String = (0..4).map(|at| node(at, "", false)).collect();
        let nodes = nodes.replacen("NodeName=n1 CPUTot=4 ", &format!("NodeName=n1 CPUTot={cpus} "), 1);
        let jobs = busy.to_owned() + &pending(1, &format!("TimeLimit=00:10:00 ReqNodeList=n1 {asks}"));
        let queue = Texts::default()
            .with(ClusterOutput::Nodes, nodes)
            .with(ClusterOutput::Jobs, jobs)
            .queue(Some(1000))
            .unwrap();
        let expected = by_limits(&queue).remove(0);
        (expected.outlook.start, expected.nodes.iter().map(|own| own.0).collect::<Vec<usize>>(), expected.why().clone())
    };
    let start = |busy: &str, asks: &str| start_on(4, busy, asks);
    let halves = half(0) + &half(1) + &half(2) + &half(3);
    for (busy, asks, at, nodes) in [
        (&halves, "NumNodes=1 NumCPUs=2", 1000, &[1, 2][..]),
        (&halves, "NumNodes=1 NumCPUs=1", 1000, &[1]),
        (&halves, "NumNodes=2-2 NumCPUs=2", 1000, &[1, 2]),
        (&halves, "NumNodes=1-3 NumCPUs=3", 1000, &[1, 2, 3]),
        // Here n1 is the only node that the job may have.
        (&halves, "NumNodes=1-1 NumCPUs=2", 1600, &[1]),
        // Here there are enough free processors, but the required node is busy.
        (&running(101, 1, 20), "NumNodes=2-2 NumCPUs=2", 2200, &[1, 2]),
        (&running(101, 1, 20), "NumNodes=1 NumCPUs=6", 2200, &[1, 2]),
    ] {
        let (start, own, why) = start(busy, asks);
        assert_eq!((start, &own[..]), (Some(at), nodes), "{asks}: {why:?}");
    }
    let why = start(&running(101, 1, 20), "NumNodes=2-2 NumCPUs=2").2;
    let text = "it asks for 2 nodes with 1 processor, n1 among them; 3 of 4 are free for it in p, and not n1";
    assert!(why.text.contains(text), "{why:?}");
    assert!(start(&halves, "NumNodes=1-1 NumCPUs=2").2.text.contains("it asks for 1 node with 2 processors on n1"));
    let why = start(&halves, "NumNodes=2-2 NumCPUs=2 ExcNodeList=n1").2;
    assert!(why.kind.name() == "nodes" && why.text.contains("n1 in p cannot run it"), "{why:?}");
    // Other nodes are larger than the required one, but the job cannot get two of them.
    let (at, _, why) = start_on(1, "", "NumNodes=2-2 NumCPUs=6");
    assert!(at.is_none() && why.text.contains("2 such nodes have only 5 processors in p"), "{why:?}");
    assert_eq!(start_on(1, "", "NumNodes=2-2 NumCPUs=5").0, Some(1000));
}

#[test]
fn what_is_asked_of_nodes_and_not_kept_to_is_said_by_number() {
    let nodes: String = (0..4).map(|at| node(at, "", false)).collect();
    let jobs = pending(1, "TimeLimit=00:10:00 NumNodes=2-2 NumCPUs=2 Contiguous=1")
        + &pending(2, "TimeLimit=00:10:00 NumNodes=2-2 NumCPUs=2 Contiguous=1")
        + &pending(3, "TimeLimit=00:10:00 NumNodes=2-2 NumCPUs=2 Contiguous=0")
        + &pending(4, "TimeLimit=00:10:00 NumNodes=1 NumCPUs=6 ReqNodeList=n1");
    let queue =
        Texts::default().with(ClusterOutput::Nodes, nodes).with(ClusterOutput::Jobs, jobs).queue(Some(1000)).unwrap();
    let said = forecast(&queue, &ForecastOptions::default()).remarks.join("\n");
    assert!(said.contains("(--contiguous) are planned on any nodes") && said.contains(": 2, such as job 1"), "{said}");
    let present = queue.present().unwrap();
    let said = present.remarks.join("\n");
    assert!(said.contains("jobs 1, 2: the request for adjacent nodes"), "{said}");
    assert!(!said.contains("job 4"), "{said}");
}
