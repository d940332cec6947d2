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
    let options = ForecastOptions { times: RunTimes::Limits, draws: 0, ..ForecastOptions::default() };
    let expected = forecast(&queue, &options).expected;
    let starts: BTreeMap<&str, Option<i64>> =
        expected.iter().map(|one| (queue.jobs[one.job].shown.as_str(), one.outlook.start)).collect();
    assert_eq!(starts.len(), 8, "{starts:?}");
    // Job 4 needs all 8 slots and has the highest priority. Smaller jobs start before job 4, as in Grid Engine.
    assert!(starts["9"].is_some() && starts["9"] < starts["6"] && starts["6"] < starts["4"], "{starts:?}");
    assert!(starts["7"] > starts["4"] || starts["7"].is_none(), "job 7 waits for job 4: {starts:?}");
    let held = expected.iter().find(|one| queue.jobs[one.job].shown == "8").unwrap();
    assert_eq!(held.why().remedy.as_deref(), Some("qrls 8"));
    assert_eq!(held.outlook.start, None);
}

#[test]
fn commands_of_grid_engine_are_run_and_their_errors_are_reported() {
    let print =
        |name: &str| format!("echo '{}'", fs::read_to_string(recorded().join(name)).unwrap().replace('\'', "\""));
    let fakes = Fakes::new().with("qstat", &print("qstat.xml")).with(
        "qconf",
        &format!(
            "case $1 in -ssconf) {};; -spl) echo smp;; -sp) {};; esac",
            print("qconf.ssconf.txt"),
            print("qconf.pe.txt")
        ),
    );
    let queue = Queue::read_grid_engine(&fakes.commands()).unwrap();
    assert_eq!((queue.jobs.len(), queue.cycle_rules().bf_interval), (13, 1));
    let error = Queue::read_grid_engine(&Fakes::new().with("qstat", "echo no XML").commands()).unwrap_err();
    assert!(error.contains("this is not the XML of qstat"), "{error}");
    let none: Commands = Fakes::new().commands();
    let error = Queue::read_grid_engine(&none).unwrap_err();
    assert!(error.contains("there is no such program") && error.contains("the batch system"), "{error}");
}
