//! Rules of a cluster that keep jobs from starting, and what is said of them.

use std::fs;
use std::path::{Path, PathBuf};

use makespan_slurm::forecast::{Expected, Options, RunTimes, forecast};
use makespan_slurm::queue::{Part, Queue, Texts};
use proptest::prelude::*;

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/queue-22.05")
}

fn by_limits(queue: &Queue) -> Vec<Expected> {
    forecast(queue, &Options { times: RunTimes::Limits, ..Options::default() }).expected
}

fn pending(id: usize, more: &str) -> String {
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

fn node(at: usize, features: &str, busy: bool) -> String {
    let (alloc, state) = if busy { (4, "ALLOCATED") } else { (0, "IDLE") };
    let features = if features.is_empty() { "(null)" } else { features };
    format!(
        "NodeName=n{at} CPUTot=4 CPUAlloc={alloc} State={state} Partitions=p AvailableFeatures={features} ActiveFeatures={features}\n"
    )
}

/// One node of four processors, and one job that asks for two of them for ten minutes.
fn idle(part: Part, text: &str, job: &str) -> Queue {
    let ask = "TimeLimit=00:10:00 NumNodes=1-1 NumCPUs=2 Account=a QOS=q ReqTRES=cpu=2,node=1,billing=2";
    Texts::default()
        .with(Part::Nodes, node(0, "", false))
        .with(Part::Jobs, pending(1, &format!("{ask} {job}")))
        .with(part, text)
        .queue(Some(1000))
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Held to asking at each instant whether the free nodes hold enough of each.
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
        let queue = Texts::default().with(Part::Nodes, all).with(Part::Jobs, jobs).queue(Some(1000)).unwrap();
        // Of nodes with neither, either or both features.
        let fits = |free: &[usize]| {
            let of = |kind: usize| free.iter().filter(|&&at| nodes[at].0 == kind).count() as u32;
            let (only_a, only_b, both) = (of(1), of(2), of(3));
            a.saturating_sub(only_a) + b.saturating_sub(only_b) <= both
        };
        let at = |ten: u32| (0..nodes.len()).filter(|&node| nodes[node].1 <= ten).collect::<Vec<_>>();
        let first = (0..4).find(|&ten| fits(&at(ten))).map(|ten| 1000 + i64::from(ten) * 600);
        let expected = by_limits(&queue);
        prop_assert_eq!(expected[0].start, first, "{} on {:?}: {:?}", wanted, nodes, expected[0].why);
        if first.is_some_and(|first| first > 1000) {
            prop_assert_eq!(expected[0].why.kind, "resources", "{:?}", expected[0].why);
        }
        if first.is_some() {
            let own: Vec<usize> = expected[0].nodes.iter().map(|one| one.0).collect();
            prop_assert!(fits(&own) && own.len() as u32 == count);
        }
    }

    /// A job that will do with less time never puts off one that comes before it.
    #[test]
    fn who_will_do_with_less_time_puts_off_nobody(busy in 1_u32..50, least in 1_u32..60, limit in 1_u32..60, high in 1_u32..50) {
        let nodes = node(0, "", true) + &node(1, "", false);
        let mut jobs = running(100, 0, busy)
            + &pending(1, &format!("TimeLimit=00:{high:02}:00 NumNodes=2-2 NumCPUs=8 MinCPUsNode=4"));
        let least = least.min(limit);
        let start = |jobs: &str| {
            let texts = Texts::default().with(Part::Nodes, nodes.as_str()).with(Part::Jobs, jobs);
            by_limits(&texts.queue(Some(1000)).unwrap())
        };
        let alone = start(&jobs)[0].start;
        jobs += &pending(2, &format!("TimeLimit=00:{limit:02}:00 TimeMin=00:{least:02}:00 NumNodes=1-1 NumCPUs=4"));
        let both = start(&jobs);
        prop_assert_eq!(both[0].start, alone);
        // It fills the gap whenever its least time does.
        let after = alone.unwrap() + i64::from(high) * 60;
        prop_assert_eq!(both[1].start, Some(if least <= busy { 1000 } else { after }));
    }

    /// The job asks for 2 processors for 10 minutes; each limit holds it exactly when it is below that.
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
            let queue = idle(Part::Limits, &line, "");
            let expected = &by_limits(&queue)[0];
            prop_assert_eq!(expected.start.is_none(), breaks, "{}: {:?}", line, expected.why);
            prop_assert_eq!(expected.why.kind == "limit", breaks, "{}: {:?}", line, expected.why);
            let present = queue.present().unwrap();
            let is_beyond = kind == 8;
            prop_assert_eq!(present.jobs.is_empty(), breaks && !is_beyond, "{:?}", present.remarks);
        }
    }

    /// Whatever Slurm names is said, unless something else is said to be in the way.
    #[test]
    fn nothing_is_in_the_way_is_never_said_against_slurm(reason in "(Assoc|QOS|Max|Bad|Node)[A-Z][a-zA-Z]{3,20}") {
        let expected = &by_limits(&idle(Part::Limits, "", &format!("Reason={reason}")))[0];
        prop_assert!(expected.why.text.contains(&reason), "{:?}", expected.why);
        prop_assert_eq!(expected.why.kind, "slurm");
    }

    /// A file that ends early is told from a whole one, wherever it was cut.
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
            .with(Part::Nodes, node(0, "", false))
            .with(Part::Jobs, pending(1, "TimeLimit=00:10:00 NumNodes=1-1 NumCPUs=2 QOS=q"))
            .with(Part::Limits, "QOS=q(1) GrpTRES=cpu=1(0)\n")
            .with(Part::Config, format!("AccountingStorageEnforce = {enforced}\n"))
    };
    let starts = |enforced: &str| by_limits(&texts(enforced).queue(Some(1000)).unwrap())[0].start;
    assert_eq!((starts("associations,limits,qos"), starts("associations")), (None, Some(1000)));
    assert_eq!(starts("associations,limits,safe"), None);
}

#[test]
fn more_licences_than_there_are_are_never_had() {
    let licences = "LicenseName=x Total=2 Used=0 Free=2\n";
    let expected = |asked: u32| by_limits(&idle(Part::Licences, licences, &format!("Licenses=x:{asked}"))).remove(0);
    assert_eq!(expected(2).start, Some(1000));
    let never = expected(3);
    assert_eq!((never.start, never.why.kind), (None, "limit"));
    assert!(never.why.text.contains("asks for 3"), "{:?}", never.why);
}

#[test]
fn a_reservation_of_others_admits_nobody_else() {
    let reserved =
        "ReservationName=other StartTime=1970-01-01T00:16:00 EndTime=1970-01-02T00:00:00 Nodes=n0 Users=bob,eve\n";
    let queue = idle(Part::Reservations, reserved, "Reservation=other");
    let expected = &by_limits(&queue)[0];
    assert_eq!((expected.start, expected.why.kind), (None, "reservation"));
    assert!(expected.why.text.contains("bob"), "{:?}", expected.why);
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
    let queue = Texts::default().with(Part::Nodes, nodes).with(Part::Jobs, jobs).queue(Some(1000)).unwrap();
    let expected = &by_limits(&queue)[0];
    assert_eq!(expected.start, Some(1600));
    assert!(
        expected.why.text.contains("one of jobs 100, 101") && expected.why.text.contains("1600"),
        "{:?}",
        expected.why
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
    for part in ["TimeLimit=abc", "the settings make no sense"] {
        assert!(queue.remarks.iter().any(|remark| remark.contains(part)), "{part}: {:?}", queue.remarks);
    }
    for name in ["scontrol.jobs-d.txt", "scontrol.config.txt", "scontrol.assoc.txt"] {
        let before = fs::read(folder.path().join(name)).unwrap_or_default();
        save(name, b"\x7fELF\0\0\x01binary");
        let error = Queue::from_folder(folder.path(), Some(1000)).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("no text"), "{error}");
        save(name, &before);
    }
}

#[test]
fn tasks_of_a_long_array_start_as_those_before_them_end() {
    let node = "NodeName=n0 CPUTot=8 State=IDLE Partitions=p\n";
    let array = pending(7, "ArrayJobId=7 ArrayTaskId=0-24999%5 TimeLimit=00:10:00 NumNodes=1-1 NumCPUs=1");
    let queue = Texts::default().with(Part::Nodes, node).with(Part::Jobs, array).queue(Some(1000)).unwrap();
    let expected = by_limits(&queue);
    for (task, one) in expected.iter().enumerate() {
        assert_eq!(one.start, Some(1000 + 600 * (task as i64 / 5)), "{:?}", one.why);
    }
}
