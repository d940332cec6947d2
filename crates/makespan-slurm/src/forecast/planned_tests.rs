//! Compares the plans of the first backfill cycle with the plans that Slurm 22.05 stated for saved queues.

use std::collections::HashMap;
use std::path::Path;

use super::model::Model;
use super::play::ForecastSimulation;
use super::ready::Links;
use super::times::limit;
use crate::queue::Queue;
use crate::text::{expand, moment};

/// Returns the start and the nodes that Slurm planned for each pending job, by the id of the job.
fn stated(jobs: &str) -> HashMap<u64, (i64, Vec<String>)> {
    let of = |line: &str| {
        let words: HashMap<&str, &str> = line.split(' ').filter_map(|word| word.split_once('=')).collect();
        let planned = (moment(words.get("StartTime")?)?, expand(words.get("SchedNodeList")?).ok()?);
        Some((words["JobId"].parse().ok()?, planned))
    };
    jobs.lines().filter_map(of).collect()
}

/// Tests a queue with a reservation, a queue with a job that names its nodes, and a queue of many jobs on few nodes.
#[test]
fn plans_are_the_plans_of_slurm() {
    for (name, now, least) in
        [("reservation", 1_796_081_634, 20), ("named-nodes", 1_796_081_934, 9), ("backlog", 1_796_081_206, 12)]
    {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/planned").join(name);
        let expected = stated(&std::fs::read_to_string(folder.join("scontrol.jobs-d.txt")).unwrap());
        let queue = Queue::from_folder(&folder, Some(now)).unwrap();
        let (model, links) = (Model::of(&queue), Links::of(&queue));
        let lasts = |job: usize| limit(&queue.jobs[job]);
        let mut play = ForecastSimulation::new(&model, &links, true, &lasts);
        play.first_look();
        let plans = play.world().plans();
        assert!(plans.len() >= least, "{name}: {}", plans.len());
        for (job, start, sites) in plans {
            let id = queue.jobs[job].id;
            let nodes: Vec<String> = sites.iter().map(|&site| model.node(site).name.clone()).collect();
            assert_eq!(expected.get(&id), Some(&(start, nodes)), "{name}: job {id}");
        }
    }
}
