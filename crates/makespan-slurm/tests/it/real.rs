//! Tests with a real Slurm.

use crate::cluster;
use crate::fakes::{cancel, submit};

use std::time::{Duration, Instant};

use cluster::{Cluster, NodeSpec};
use makespan_slurm::{Commands, JobState, Refusal};

fn commands(cluster: &Cluster) -> Commands {
    let (name, value) = cluster.variable();
    // Jobs without an output option write their output to `/dev/null`.
    Commands::new().with_variable(name, value).with_variable("SBATCH_OUTPUT", "/dev/null")
}

#[test]
fn a_job_is_submitted_and_runs_on_the_nodes_that_it_names() {
    let Some(cluster) = Cluster::shared() else { return };
    let output = cluster.shared_folder().join("placed");
    let line = "srun -l sh -c 'echo $SLURMD_NODENAME'";
    let options = ["-N2", "--ntasks-per-node=1", "-wn1,n3", "-t1", "-o", output.to_str().unwrap()];
    let job = submit(&commands(cluster), "placed", &options, line).unwrap();
    let ended = Instant::now() + Duration::from_secs(30);
    let text = loop {
        let text = std::fs::read_to_string(&output).unwrap_or_default();
        if text.lines().count() == 2 {
            break text;
        }
        assert!(Instant::now() < ended, "job {job} printed `{text}`");
        std::thread::sleep(Duration::from_millis(50));
    };
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0: n1", "1: n3"]);
}

#[test]
fn a_partition_that_does_not_exist_is_refused_with_a_remedy() {
    let Some(cluster) = Cluster::shared() else { return };
    let error = submit(&commands(cluster), "a", &["-pnowhere"], "true").unwrap_err();
    assert_eq!(error.refusal(), Some(Refusal::Partition), "{error}");
}

#[test]
fn a_controller_that_is_killed_is_waited_for() {
    let Some(cluster) = Cluster::start(&NodeSpec::equal(1, 2)) else { return };
    cluster.command("kill").args(["-9", &cluster.controller_id().to_string()]).status().unwrap();
    let commands = commands(&cluster);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| commands.run(makespan_slurm::Program::Squeue, ["-h"]));
        std::thread::sleep(Duration::from_secs(1));
        cluster.start_controller();
        asked.join().unwrap().unwrap();
    });
}

#[test]
fn a_cluster_is_read_as_it_is() {
    let nodes = [
        NodeSpec::new("a0", 4).with_words("Feature=small"),
        NodeSpec { memory: 2048, ..NodeSpec::new("b07", 8) }.with_words("Sockets=1 CoresPerSocket=4 ThreadsPerCore=2"),
    ];
    let lines =
        "PartitionName=short Nodes=a0 Default=YES MaxTime=30\nPartitionName=long Nodes=a0,b07 MaxTime=INFINITE\n";
    let Some(cluster) = Cluster::start_with(&nodes, lines) else { return };
    let commands = commands(&cluster);
    assert!(commands.config().unwrap().version().is_some());
    let read = commands.nodes().unwrap();
    assert!(read.remarks.is_empty(), "{:?}", read.remarks);
    let [small, threaded] = read.items.try_into().unwrap();
    assert_eq!((small.name.as_str(), small.cpus, small.features.join("").as_str()), ("a0", 4, "small"));
    assert_eq!((threaded.cpus, threaded.cores, threaded.memory), (8, 4, Some(2 << 30)));
    assert!(small.state.takes_jobs() && threaded.partitions == ["long"]);
    let partitions = commands.partitions().unwrap().items;
    let of = |name: &str| partitions.iter().find(|partition| partition.name == name).unwrap();
    assert_eq!((of("short").is_default, of("short").max_time.value()), (true, Some(1800)));
    assert_eq!((of("long").nodes.join(","), of("long").max_time.value()), ("a0,b07".to_owned(), None));
}

#[test]
fn names_with_every_character_are_read_as_they_are() {
    let Some(cluster) = Cluster::start(&NodeSpec::equal(1, 1)) else { return };
    let commands = commands(&cluster);
    let names = [
        "a|b=c \"d\" 'e' é",
        "x UserId=root(0) JobState=COMPLETED Reason=y",
        "line\nJobId=999 JobName=z",
        "a Comment=b",
    ];
    let submitted = names.iter().map(|name| submit(&commands, name, &["-H", "-o/dev/null"], "true").unwrap());
    let jobs: Vec<u64> = submitted.collect();
    let read = commands.jobs().unwrap();
    assert!(read.remarks.is_empty(), "{:?}", read.remarks);
    let ids: Vec<u64> = read.items.iter().map(|job| job.id).collect();
    assert_eq!(ids, jobs);
    for (job, name) in read.items.iter().zip(names) {
        assert_eq!((job.name.as_str(), &job.state, job.is_held()), (name, &JobState::Pending, true));
    }
    assert!(commands.job(4711).unwrap().is_none());
    cancel(&commands, jobs[0]);
    let ended = commands.job(jobs[0]).unwrap().unwrap();
    assert_eq!((&ended.state, ended.state.has_ended()), (&JobState::Cancelled, true));
}

#[test]
fn a_partition_and_an_allocation_are_platforms() {
    let nodes = [
        NodeSpec::new("a0", 4),
        NodeSpec { memory: 2048, ..NodeSpec::new("b07", 8) }.with_words("Sockets=1 CoresPerSocket=4 ThreadsPerCore=2"),
        NodeSpec::new("gone", 4),
    ];
    let lines =
        "SelectTypeParameters=CR_CPU_Memory\nPartitionName=small Nodes=a0 Default=YES\nPartitionName=all Nodes=ALL\n";
    let Some(cluster) = Cluster::start_with(&nodes, lines) else { return };
    let commands = commands(&cluster);
    let small = commands.machines(None).unwrap();
    assert_eq!((small.platform.processors(), small.platform.nodes()[0].name.as_str()), (4, "a0"));
    cluster.ask("scontrol", &["update", "nodename=gone", "state=drain", "reason=broken fan"]);
    let all = commands.machines(Some("all")).unwrap();
    let memory = all.platform.resource("memory").unwrap();
    let read: Vec<(&str, u32, u64)> = all
        .platform
        .nodes()
        .iter()
        .enumerate()
        .map(|(at, node)| (&*node.name, node.processors, all.platform.amount(at, memory)))
        .collect();
    assert_eq!(read, [("a0", 4, 64 << 30), ("b07", 8, 2 << 30)]);
    assert!(all.remarks.iter().any(|remark| remark.contains("broken fan")), "{:?}", all.remarks);
    assert!(all.remarks.iter().any(|remark| remark.contains("hardware threads")), "{:?}", all.remarks);
    let error = commands.machines(Some("nowhere")).unwrap_err();
    assert_eq!(error.to_string(), "there is no partition `nowhere`; the cluster has small, all");

    let options = ["-pall", "-N2", "-n4", "--ntasks-per-node=2", "--mem=512", "-t5", "-o/dev/null"];
    let job = submit(&commands, "held", &options, "sleep 60").unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    let allocation = loop {
        match commands.allocation(job) {
            Ok(allocation) => break allocation,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let platform = &allocation.machines.platform;
    let held: Vec<(&str, u32, u64)> =
        platform.nodes().iter().map(|node| (&*node.name, node.processors, node.resources.amount("memory"))).collect();
    assert_eq!(held, [("a0", 2, 512 << 20), ("b07", 2, 512 << 20)]);
    cancel(&commands, job);
    while commands.job(job).unwrap().is_some_and(|job| !job.state.has_ended()) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let error = commands.allocation(job).unwrap_err().to_string();
    assert!(error.contains("holds no nodes: it is CANCELLED"), "{error}");
    let error = commands.allocation(4711).unwrap_err().to_string();
    assert!(error.contains("there is no job 4711"), "{error}");
}

#[test]
fn the_queue_of_a_real_cluster_is_read_and_foreseen() {
    use makespan_slurm::forecast::{ForecastOptions, RunTimes, forecast};
    use makespan_slurm::queue::Queue;
    let Some(cluster) = Cluster::start(&NodeSpec::equal(2, 2)) else { return };
    let commands = commands(&cluster);
    let submit = |name: &str, options: &[&str]| submit(&commands, name, options, "sleep 100").unwrap();
    let running = submit("first", &["-N2", "--ntasks-per-node=2", "-t5"]);
    let deadline = Instant::now() + Duration::from_secs(30);
    while commands.job(running).unwrap().is_none_or(|job| job.state != JobState::Running) {
        assert!(Instant::now() < deadline, "job {running} runs");
        std::thread::sleep(Duration::from_millis(100));
    }
    let waiting = submit("odd|name = \"q\" JobState=FAILED", &["-N1", "-t2"]);
    let held = submit("held", &["-N1", "-t2", "-H"]);
    let queue = Queue::read(&commands, 1).unwrap();
    let find = |id: u64| queue.jobs.iter().position(|job| job.id == id).unwrap();
    assert_eq!(queue.jobs[find(running)].run.as_ref().unwrap().holds.len(), 2);
    assert_eq!(queue.jobs[find(waiting)].name, "odd|name = \"q\" JobState=FAILED");
    let expected =
        forecast(&queue, &ForecastOptions { times: RunTimes::Limits, ..ForecastOptions::default() }).expected;
    let of = |id: u64| expected.iter().find(|one| one.job == find(id)).unwrap();
    // No run times are known, so the first job is expected to run until its limit.
    assert_eq!(of(waiting).outlook.start, queue.jobs[find(running)].run.as_ref().unwrap().ends_by);
    assert_eq!(of(waiting).after, [find(running)]);
    assert_eq!((of(held).outlook.start, of(held).why().kind.name()), (None, "held"));
}
