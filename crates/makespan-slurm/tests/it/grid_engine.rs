//! The queue of Grid Engine, from outputs of a real Grid Engine 8.1.9.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use makespan_slurm::Commands;
use makespan_slurm::forecast::{ForecastOptions, RunTimes, forecast};
use makespan_slurm::queue::Queue;

use super::fakes::Fakes;

fn recorded() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/grid-engine-8.1.9"))
}

#[test]
fn a_queue_is_read_and_jobs_start_in_the_order_of_grid_engine() {
    let queue = Queue::grid_engine_from_folder(recorded(), None).unwrap();
    let nodes: Vec<(&str, u32, u32)> =
        queue.nodes.iter().map(|node| (node.name.as_str(), node.usable_cpus, node.allocated_cpus)).collect();
    assert_eq!(nodes, [("all.q@node1", 8, 8)]);
    let running: Vec<&str> = queue.jobs.iter().filter(|job| job.run.is_some()).map(|job| job.shown.as_str()).collect();
    assert_eq!(running.len(), 5, "{running:?}");
    assert!(running.contains(&"2_1") && running.contains(&"2_2"), "{running:?}");
    assert!(queue.remarks.iter().any(|remark| remark.contains("h_vmem")), "{:?}", queue.remarks);
    let options = |times| ForecastOptions { times, draws: 0, ..ForecastOptions::default() };
    let expected = forecast(&queue, &options(RunTimes::Usual)).expected;
    let starts: BTreeMap<&str, Option<i64>> =
        expected.iter().map(|one| (queue.jobs[one.job].shown.as_str(), one.outlook.start)).collect();
    assert_eq!(starts.len(), 8, "{starts:?}");
    // Job 4 needs all 8 slots and has the highest priority. Smaller jobs start before job 4, as in Grid Engine.
    assert!(starts["9"].is_some() && starts["9"] < starts["6"] && starts["6"] < starts["4"], "{starts:?}");
    assert!(starts["7"] > starts["4"] || starts["7"].is_none(), "job 7 waits for job 4: {starts:?}");
    // Job 9 has no time limit.
    let limited = forecast(&queue, &options(RunTimes::Limits)).expected;
    let fourth = limited.iter().find(|one| queue.jobs[one.job].shown == "4").unwrap();
    assert_eq!(fourth.outlook.start, None);
    let held = expected.iter().find(|one| queue.jobs[one.job].shown == "8").unwrap();
    assert_eq!(held.why().remedy.as_deref(), Some("qrls 8"));
    assert_eq!(held.outlook.start, None);
}

#[test]
fn commands_of_grid_engine_are_run_and_their_errors_are_reported() {
    let print =
        |name: &str| format!("echo '{}'", fs::read_to_string(recorded().join(name)).unwrap().replace('\'', "\""));
    let fakes = Fakes::new().with("qstat", &print("qstat.xml")).with("qhost", &print("qhost.xml")).with(
        "qconf",
        &format!(
            "case $1 in -ssconf) {};; -spl) echo smp;; -sp) {};; esac",
            print("qconf.ssconf.txt"),
            print("qconf.pe.txt")
        ),
    );
    let queue = Queue::read_grid_engine(&fakes.commands()).unwrap();
    assert_eq!((queue.jobs.len(), queue.cycle_rules().bf_interval), (13, 1));
    assert_eq!(queue.nodes[0].memory, Some(24_064 << 20));
    let error = Queue::read_grid_engine(&Fakes::new().with("qstat", "echo no XML").commands()).unwrap_err();
    assert!(error.contains("this is not the XML of qstat"), "{error}");
    let none: Commands = Fakes::new().commands();
    let error = Queue::read_grid_engine(&none).unwrap_err();
    assert!(error.contains("there is no such program") && error.contains("the batch system"), "{error}");
}

/// In this recording, no `sge_execd` runs on node2 and node3, and the queue on node3 is disabled.
#[test]
fn hosts_that_are_away_or_too_small_start_no_job() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/grid-engine-8.1.9-hosts"));
    let queue = Queue::grid_engine_from_folder(folder, None).unwrap();
    let nodes: Vec<_> =
        queue.nodes.iter().map(|node| (node.name.as_str(), node.memory, node.state.takes_jobs())).collect();
    let memory = Some(24_064 << 20);
    assert_eq!(nodes, [("all.q@node1", memory, true), ("all.q@node2", None, false), ("all.q@node3", None, false)]);
    let options = ForecastOptions { times: RunTimes::Limits, draws: 0, ..ForecastOptions::default() };
    let all = forecast(&queue, &options).expected;
    let of = |name: &str| all.iter().find(|one| queue.jobs[one.job].shown == name).unwrap();
    let start = |name: &str| of(name).outlook.start.map(|start| start - queue.now);
    assert_eq!((start("4"), start("2"), start("5")), (Some(0), None, None));
    assert!(start("3").is_some_and(|start| start > 0), "the job with 8 slots waits for job 1");
    // The memory of the hosts that are away is unknown.
    assert!(of("2").why().text.contains("100000 GiB, but all 2 such nodes"), "{:?}", of("2").why());
    assert!(of("5").why().text.contains("node2"), "{:?}", of("5").why());
    let note = "the requests mem_free of jobs are compared with the total memory of each host";
    assert!(queue.remarks.iter().any(|remark| remark == note), "{:?}", queue.remarks);
    // Without a report of its load, a host starts no job, although qstat shows no state yet.
    let copy = tempfile::tempdir().unwrap();
    for name in ["qstat.xml", "qhost.xml"] {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        fs::write(copy.path().join(name), text.replace(">3.79<", ">-<")).unwrap();
    }
    let queue = Queue::grid_engine_from_folder(copy.path(), None).unwrap();
    assert!(queue.nodes.iter().all(|node| !node.state.takes_jobs()));
    // Hosts with unknown memory are named.
    fs::write(copy.path().join("qhost.xml"), "<qhost></qhost>").unwrap();
    let queue = Queue::grid_engine_from_folder(copy.path(), None).unwrap();
    assert!(
        queue.remarks.iter().any(|remark| remark.starts_with("qhost states no memory for ")),
        "{:?}",
        queue.remarks
    );
}

/// Returns the forecast for a Grid Engine with a queue `all.q` of two slots and these pending jobs.
fn forecast_of(pending: &str) -> (Queue, makespan_slurm::forecast::Forecast) {
    let queue = queue_of(pending);
    let expected = forecast(&queue, &ForecastOptions { draws: 4, ..ForecastOptions::default() });
    (queue, expected)
}

fn queue_of(pending: &str) -> Queue {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "<job_info><queue_info><Queue-List><name>all.q@n1</name><slots_used>0</slots_used><slots_total>2\
         </slots_total></Queue-List></queue_info><job_info>{pending}</job_info></job_info>"
    );
    fs::write(folder.path().join("qstat.xml"), text).unwrap();
    fs::write(folder.path().join("qconf.pe.txt"), "pe_name smp\nallocation_rule $pe_slots\n").unwrap();
    Queue::grid_engine_from_folder(folder.path(), None).unwrap()
}

fn pending(id: u64, parts: &str) -> String {
    format!(
        "<job_list><JB_job_number>{id}</JB_job_number><JB_owner>ann</JB_owner><JB_submission_time>2026-12-01T02:00:00\
         </JB_submission_time>{parts}</job_list>"
    )
}

#[test]
fn jobs_that_never_start_state_why() {
    let smp = "<requested_pe name=\"smp\">2</requested_pe>";
    let other = smp.replace("smp", "mpi");
    let cases = [
        ("<state>Eqw</state>", Some(("it is in the error state Eqw", "qmod -cj 1"))),
        (&*other, Some(("it asks for mpi, but there is no such parallel environment", "qalter -pe NAME SLOTS 1"))),
        ("<hard_req_queue>b.q</hard_req_queue>", Some(("it asks for b.q, but there is no such queue", "qalter -q"))),
        ("<hard_req_queue>b*</hard_req_queue>", None),
        ("<hard_req_queue>all.q@n1</hard_req_queue>", None),
        (smp, None),
        (&*smp.replace("smp", "s*"), None),
    ];
    for (parts, never) in cases {
        let (queue, all) = forecast_of(&pending(1, parts));
        let one = &all.expected[0];
        let Some((text, remedy)) = never else {
            assert_eq!(one.outlook.start, Some(queue.now), "{parts}");
            continue;
        };
        assert_eq!(one.outlook.start, None, "{parts}");
        assert!(one.why().text.starts_with(text), "{:?}", one.why());
        assert!(one.why().remedy.as_ref().unwrap().starts_with(remedy), "{:?}", one.why());
    }
}

#[test]
fn invalid_numbers_and_an_empty_queue_have_notes() {
    let (queue, _) = forecast_of(&pending(1, "<slots>0</slots><JAT_prio>nan</JAT_prio>"));
    for note in ["job 1: slots is `0`; 1 is assumed", "job 1: JAT_prio is `nan`; 0 is assumed"] {
        assert!(queue.remarks.iter().any(|remark| remark == note), "{:?}", queue.remarks);
    }
    let (queue, _) = forecast_of("");
    assert!(queue.remarks.iter().any(|note| note.contains("last change of the file")), "{:?}", queue.remarks);
    assert!(queue.remarks.iter().all(|note| !note.contains("Slurm")), "{:?}", queue.remarks);
}

#[test]
fn jobs_without_a_limit_start_within_days_and_tasks_start_in_order() {
    let (queue, all) = forecast_of(&pending(1, "<tasks>1-40:1</tasks>"));
    let starts: Vec<i64> = all.expected.iter().map(|one| one.outlook.start.unwrap() - queue.now).collect();
    assert_eq!((starts.len(), starts[0], starts[1]), (40, 0, 0));
    assert!(starts.is_sorted() && starts[2] > 0 && starts[2] < 86_400, "{starts:?}");
    assert!(starts.chunks(2).all(|both| both[1] - both[0] <= 15), "{starts:?}");
    assert!(all.remarks.iter().any(|note| note.contains("jobs without a time limit: 40")), "{:?}", all.remarks);
}

#[test]
fn with_limits_no_job_starts_after_a_job_that_may_run_for_ever() {
    let limited = "<hard_request name=\"h_rt\">600</hard_request>";
    let jobs = (1..=4).map(|id| pending(id, if id == 1 { "" } else { limited })).collect::<String>();
    let queue = queue_of(&jobs);
    let options = ForecastOptions { times: RunTimes::Limits, ..ForecastOptions::default() };
    let starts = |queue: &Queue| -> Vec<Option<i64>> {
        let all = forecast(queue, &options).expected;
        all.iter().map(|one| one.outlook.start.map(|start| start - queue.now)).collect()
    };
    // Job 1 keeps one of two slots. Jobs 2 to 4 use the other slot.
    let [first, .., last] = starts(&queue)[..] else { panic!("there are four jobs") };
    assert!(first == Some(0) && last.is_some_and(|last| last < 2000), "{:?}", starts(&queue));
    let both = "<requested_pe name=\"smp\">2</requested_pe><slots>2</slots>";
    let queue = queue_of(&(pending(1, "") + &pending(2, &format!("{both}{limited}"))));
    let all = forecast(&queue, &options);
    assert_eq!(starts(&queue), [Some(0), None]);
    assert!(all.expected[1].why().text.contains("without a time limit"), "{:?}", all.expected[1].why());
    let note = "the starts of 1 pending job are unknown, because jobs without a time limit, such as job 1";
    assert!(all.remarks.iter().any(|remark| remark.starts_with(note)), "{:?}", all.remarks);
}
