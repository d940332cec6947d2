//! Tests that clusters of versions 22.05 to 26.05 are parsed, and that everything that is left out is reported.

use crate::fakes;

use fakes::Fakes;
use makespan_slurm::{CommandError, JobState, Kind, OptionalLimit, Record, expand, jobs_of_json, records};
use proptest::prelude::*;

/// Returns a fake program that always prints this file of `tests/printed`.
fn printing(program: &str, text: &str) -> Fakes {
    Fakes::new().with(program, &format!("/bin/cat <<'THE END'\n{text}\nTHE END"))
}

const OLD: &str = include_str!("printed/nodes-22.05.txt");
const NEW: &str = include_str!("printed/nodes-26.05.txt");

#[test]
fn nodes_of_two_versions_are_read() {
    for text in [OLD, NEW] {
        let reading = printing("scontrol", text).commands().nodes().unwrap();
        assert_eq!((reading.items.len(), reading.remarks.len()), (3, 0));
        let [thick, gpu, away] = reading.items.try_into().unwrap();
        assert_eq!((thick.cpus, thick.cores, thick.threads_per_core, thick.usable_cpus), (32, 16, 2, 30));
        assert_eq!((thick.memory, thick.kept_memory), (Some(128 << 30), 2 << 30));
        assert_eq!((thick.features.len(), thick.weight, thick.state.takes_jobs()), (2, 20, true));
        assert_eq!((gpu.gres[0].count, gpu.gres[0].kind.as_str()), (4, "a100"));
        assert_eq!(gpu.gres_used[0].indices.as_ref().unwrap().to_string(), "0,2");
        assert_eq!(away.reason.as_deref(), Some("bad disk State=IDLE [root@2026-11-22T01:45:08]"));
        assert_eq!((away.memory, away.state.takes_jobs()), (None, false));
    }
}

#[test]
fn partitions_have_limits() {
    let reading = printing("scontrol", include_str!("printed/partitions.txt")).commands().partitions().unwrap();
    let [batch, debug] = reading.items.try_into().unwrap();
    assert_eq!((batch.is_default, batch.nodes.len(), batch.max_time), (true, 5, OptionalLimit::At(86_400)));
    assert_eq!((batch.default_time, batch.max_nodes), (Some(OptionalLimit::At(600)), OptionalLimit::Unlimited));
    assert_eq!(
        (debug.is_default, debug.max_time, debug.max_nodes),
        (false, OptionalLimit::Unlimited, OptionalLimit::At(2))
    );
    assert_eq!((debug.default_time, debug.is_up(), batch.is_up()), (None, false, true));
}

#[test]
fn jobs_of_every_kind_are_read() {
    let reading = printing("scontrol", include_str!("printed/jobs.txt")).commands().jobs().unwrap();
    assert!(reading.remarks.is_empty(), "{:?}", reading.remarks);
    let [array, moldable, running, failed] = reading.items.try_into().unwrap();
    assert_eq!(array.array, Some((12, "3-10%2".to_owned())));
    assert_eq!((&array.state, array.reason.as_str(), array.start), (&JobState::Pending, "JobArrayTaskLimit", None));
    assert_eq!((moldable.node_count, moldable.scheduled_nodes.len()), ((1, 4), 2));
    assert_eq!((moldable.is_held(), array.is_held()), (true, false));
    assert_eq!((running.name.as_str(), running.user.as_str()), ("odd|name é a=b \"q\"", "maria"));
    assert_eq!((running.nodes.join(" ").as_str(), running.end), ("n0 n1 n7", Some(1_795_313_943)));
    let [first, second] = running.shares.clone().try_into().unwrap();
    assert_eq!((first.nodes.len(), first.cpus.to_string().as_str(), first.memory), (2, "0-3,16-19", 8 << 30));
    assert_eq!((second.nodes.join(""), second.gres[0].count), ("n7".to_owned(), 2));
    assert_eq!((failed.exit, failed.time_limit), (Some((3, 0)), Some(OptionalLimit::Unlimited)));
}

#[test]
fn json_of_two_shapes_says_the_same() {
    let old = r#"{"jobs": [{"job_id": 7, "array_job_id": 0, "name": "mold", "user_name": "maria", "job_state": "PENDING",
        "state_reason": "Priority", "nodes": "", "node_count": 4, "max_nodes": 4, "cpus": 8, "time_limit": 90, "start_time": 0,
        "submit_time": 1795313043, "end_time": null, "priority": 556, "dependency": "", "exit_code": 0,
        "tres_req_str": "cpu=1,mem=1G,node=1,billing=1", "unheard_of": {"deep": [1, 2]}}]}"#;
    let new = r#"{"jobs": [{"job_id": 7, "array_job_id": {"set": true, "infinite": false, "number": 0}, "name": "mold",
        "user_name": "maria", "job_state": ["PENDING"], "state_reason": "Priority", "nodes": "",
        "node_count": {"set": true, "infinite": false, "number": 4}, "max_nodes": {"set": true, "infinite": false, "number": 4},
        "cpus": {"set": true, "infinite": false, "number": 8}, "time_limit": {"set": true, "infinite": false, "number": 90},
        "start_time": {"set": true, "infinite": false, "number": 0}, "submit_time": {"set": true, "infinite": false, "number": 1795313043},
        "end_time": {"set": false, "infinite": false, "number": 0}, "priority": {"set": true, "infinite": false, "number": 556},
        "dependency": "", "exit_code": {"return_code": {"set": true, "infinite": false, "number": 0}, "signal": {"id": {"set": false, "infinite": false, "number": 0}}},
        "tres_req_str": "cpu=1,mem=1G,node=1,billing=1", "unheard_of": {"deep": [1, 2]}}]}"#;
    let jobs = [old, new].map(|text| makespan_slurm::Job::of(jobs_of_json(text).unwrap().remove(0)).unwrap());
    for job in &jobs {
        assert_eq!((job.id, &job.state, job.node_count, job.cpus), (7, &JobState::Pending, (1, 4), Some(8)));
        assert_eq!((job.time_limit, job.start, job.end), (Some(OptionalLimit::At(5400)), None, None));
        assert_eq!((job.array.is_none(), job.exit, job.submitted), (true, Some((0, 0)), Some(1_795_313_043)));
        assert_eq!(job.record.raw("unheard_of"), Some(r#"{"deep":[1,2]}"#));
    }
}

#[test]
fn a_name_that_lies_is_found_out_by_json() {
    let text = "JobId=7 JobName=x JobState=COMPLETED UserId=maria(1000) JobState=RUNNING NumNodes=1";
    let json =
        r#"{"jobs": [{"job_id": 7, "name": "x JobState=COMPLETED", "user_name": "maria", "job_state": "RUNNING"}]}"#;
    let fakes = printing("scontrol", text).with("squeue", &format!("echo '{json}'"));
    let reading = fakes.commands().jobs().unwrap();
    assert_eq!((reading.items[0].name.as_str(), reading.remarks.len()), ("x JobState=COMPLETED", 0));
    let fakes = printing("scontrol", text).with("squeue", "echo no JSON here");
    let reading = fakes.commands().jobs().unwrap();
    assert_eq!((&reading.items[0].state, reading.items[0].is_doubtful), (&JobState::Running, true));
    assert!(reading.remarks[0].contains("jobs 7"), "{:?}", reading.remarks);
}

#[test]
fn nonsense_is_an_error_and_an_empty_queue_is_none() {
    for text in ["", "welcome to our cluster", "NodeName=n0 CPUTot=many State=IDLE", "<html>", "NodeName=n0"] {
        let error = printing("scontrol", text).commands().nodes().unwrap_err();
        assert!(matches!(error, CommandError::Nonsense { .. }), "{text}: {error:?}");
    }
    let text = "NodeName=n0 CPUTot=4 State=IDLE\nNodeName=n1 CPUTot=4 State=IDLE Gres=gpu::\n";
    let reading = printing("scontrol", text).commands().nodes().unwrap();
    assert_eq!((reading.items.len(), reading.remarks.len()), (1, 1));
    assert!(reading.remarks[0].starts_with("node `n1`: Gres contains `gpu::`"), "{:?}", reading.remarks);
    for text in ["", "No jobs in the system"] {
        assert_eq!(printing("scontrol", text).commands().jobs().unwrap().items, []);
    }
    let error = printing("scontrol", "SomethingElse = 1").commands().config().unwrap_err();
    assert!(error.to_string().contains("SLURM_VERSION"), "{error}");
}

#[test]
fn a_cluster_with_gpus_is_a_platform_of_what_takes_jobs() {
    let nodes = "NodeName=g0 CPUTot=16 CPUEfctv=14 RealMemory=1024 MemSpecLimit=24 Gres=gpu:a100:2,gpu:v100:1,shard:8,fpga:1,bandwidth:lustre:no_consume:4G State=IDLE Partitions=gpu,all
NodeName=n0 CPUTot=4 RealMemory=1 Gres=(null) State=MIXED+RESERVED Partitions=all
NodeName=n1 CPUTot=4 RealMemory=1 State=DOWN* Partitions=all Reason=no answer";
    let partitions = "PartitionName=all Default=YES State=DRAIN MaxNodes=1 MaxCPUsPerNode=12 Nodes=g0,n[0-1]";
    let script = format!(
        "case \"$*\" in *partitions) /bin/cat <<'THE END'\n{partitions}\nTHE END\n;; *) /bin/cat <<'THE END'\n{nodes}\nTHE END\n;; esac"
    );
    let machines = Fakes::new().with("scontrol", &script).commands().machines(None).unwrap();
    let [g0, n0] = machines.platform.nodes() else { panic!("{:?}", machines.platform) };
    assert_eq!((g0.processors, n0.processors), (12, 4));
    let amounts: Vec<(&str, u64)> = g0.resources.iter().collect();
    assert_eq!(amounts, [("fpga", 1), ("gpus", 3), ("memory", 1000 << 20)]);
    assert!(n0.resources.is_empty());
    let remarks = machines.remarks.join("\n");
    for part in [
        "1 node is not used, because no jobs can start there: n1 (DOWN*, no answer)",
        "1 of these nodes are reserved; jobs outside the reservation wait for the end of the reservation: n0",
        "starts no jobs now: it is DRAIN",
        "may have at most 1 nodes",
        "a100, v100",
        "parts of GPUs are not planned: shard",
        "bandwidth",
        "memory of 1 nodes",
    ] {
        assert!(remarks.contains(part), "{part}: {remarks}");
    }
}

#[test]
fn a_cluster_without_nodes_that_take_jobs_says_why() {
    let script = "case \"$*\" in *partitions) echo 'PartitionName=p Default=YES State=UP';; \
        *) echo 'NodeName=n0 CPUTot=4 State=DOWN Partitions=p Reason=flood';; esac";
    let error = Fakes::new().with("scontrol", script).commands().machines(None).unwrap_err().to_string();
    assert!(error.contains("the partition `p` has no node that accepts jobs") && error.contains("flood"), "{error}");
    let script = "echo 'PartitionName=p Default=NO State=UP'";
    let error = Fakes::new().with("scontrol", script).commands().machines(None).unwrap_err().to_string();
    assert!(error.contains("no default partition; choose one of p"), "{error}");
}

#[test]
fn pilots_get_equal_nodes_where_there_are_as_many_and_else_these() {
    let node = |name: &str, cpus: u32, more: &str| {
        format!("NodeName={name} CPUTot={cpus} RealMemory=4096 State=IDLE Partitions=p {more}")
    };
    let nodes = [
        node("a0", 4, ""),
        node("g0", 8, "Gres=gpu:2"),
        node("a1", 4, ""),
        node("a2", 4, "ActiveFeatures=x"),
        node("gone", 4, "").replace("IDLE", "DOWN"),
    ];
    let script = format!(
        "case \"$*\" in *partitions) echo 'PartitionName=p Default=YES State=UP MaxNodes=4';; \
         *config) echo 'SLURM_VERSION = 22.05.8'; echo 'SelectTypeParameters = CR_CPU_MEMORY';; \
         *) echo '{}';; esac",
        nodes.join("\n")
    );
    let commands = Fakes::new().with("scontrol", &script);
    let commands = commands.commands();
    let pool = commands.pool(None, &["--exclude=a2".into()]).unwrap();
    let names = |machines: &makespan_slurm::PlanMachines| {
        machines.platform.nodes().iter().map(|node| format!("{}:{}", node.name, node.processors)).collect::<Vec<_>>()
    };
    // The run gets two of the three equal nodes. The test does not depend on the choice.
    let two = pool.choose(&[2]).unwrap();
    assert_eq!(names(&two), ["n0:4", "n1:4"]);
    assert!(two.remarks.iter().any(|remark| remark.contains("the 2 nodes that are equal to a0")), "{:?}", two.remarks);
    let placed = pool.place(&two.platform, &[2]).unwrap();
    assert_eq!((placed[0].options.join(" "), &placed[0].names), ("--mem=0".into(), &None));
    // More nodes are requested than there are equal nodes, so the result contains all nodes. The nodes of each pilot
    // are in a row, including one that is down.
    let all = pool.choose(&[2, 2]).unwrap();
    assert_eq!(names(&all), ["a0:4", "a1:4", "gone:4", "g0:8"]);
    let placed = pool.place(&all.platform, &[2, 2]).unwrap();
    assert_eq!(placed[1].sbatch(None), ["--mem=0", "--nodelist=gone,g0"]);
    assert_eq!(placed[1].sbatch(Some(&["g0".to_owned()])), ["--mem=0", "--nodelist=g0"]);
    assert_eq!(placed[1].names, Some(vec!["gone".into(), "g0".into()]));
    // Nodes with fewer resources are left out.
    let pool = commands.pool(None, &["--gres=gpu:1".into(), "--mem=2G".into()]).unwrap();
    let one = pool.choose(&[1]).unwrap();
    assert_eq!((names(&one), one.platform.nodes()[0].resources.amount("memory")), (vec!["g0:8".to_owned()], 2 << 30));
    let pool = commands.pool(None, &[]).unwrap();
    let placed = pool.place(&one.platform, &[1]).unwrap();
    assert_eq!(placed[0].options, ["--mem=0", "--gres=gpu:1", "--exclude=a0,a1,a2,gone"]);
    let error = pool.place(&pool.choose(&[2]).unwrap().platform, &[1]).unwrap_err().to_string();
    assert!(error.contains("began with 2 nodes, but the pilots have 1"), "{error}");
    for (sizes, part) in [(vec![5], "may have at most 4; request fewer"), (vec![3, 3], "6 nodes are requested")] {
        let error = pool.choose(&sizes).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    // In an allocation, a plan gets machines with the same names, or else machines with enough resources.
    let held: Vec<String> = ["x0", "x1", "a0"].map(String::from).to_vec();
    let present = |nodes: Vec<(&str, u32)>| {
        let machine = |(name, processors): (&str, u32)| makespan_core::Node::new(name, processors);
        makespan_core::Platform::new(nodes.into_iter().map(machine).collect()).unwrap()
    };
    let plan = present(vec![("a0", 4), ("b0", 8), ("b1", 2)]);
    let fitted = |nodes| makespan_slurm::fit(&plan, &present(nodes), &held, 7);
    assert_eq!(fitted(vec![("x1", 8), ("x0", 2)]).unwrap(), ["a0", "x1", "x0"], "a0 is down");
    assert_eq!(fitted(vec![("a0", 4), ("x0", 64), ("x1", 8)]).unwrap(), ["a0", "x1", "x0"]);
    let error = fitted(vec![("a0", 4), ("x0", 7), ("x1", 7)]).unwrap_err().to_string();
    assert!(error.contains("of 8 processors, but the allocation 7 has only 0"), "{error}");
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text in "\\PC{0,200}|([A-Za-z]{0,9}(=|\\[|,| |\\n|[0-9-]{0,3})){0,40}") {
        for kind in [Kind::Node, Kind::Partition, Kind::Job, Kind::Reservation, Kind::License] {
            let line = format!("{}=1 {text}", kind.head());
            for record in records(kind, &line).0.into_iter().chain(records(kind, &text).0) {
                drop((makespan_slurm::Node::of(record.clone()), makespan_slurm::Partition::of(record.clone())));
                drop(makespan_slurm::Job::of(record));
            }
        }
        drop((expand(&text), jobs_of_json(&text), makespan_slurm::Gres::list(&text)));
        let _ = (makespan_slurm::duration(&text), makespan_slurm::moment(&text), makespan_slurm::bytes(&text));
        let _ = makespan_slurm::range(&text);
    }

    #[test]
    fn records_put_together_again_are_the_line(values in prop::collection::vec("[a-z0-9:/,()%]{0,8}", 1..12)) {
        let fields: Vec<String> = values.iter().enumerate().map(|(at, value)| format!("Key{at}={value}")).collect();
        let line = format!("PartitionName=p {}", fields.join(" "));
        let record = &records(Kind::Partition, &line).0[0];
        let again: Vec<String> = record.fields().iter().map(|(key, value)| format!("{key}={value}")).collect();
        prop_assert_eq!(again.join(" "), line);
    }

    #[test]
    fn a_name_is_read_as_it_is_or_the_job_is_doubtful(name in "([a-zA-Z|=é\"'()]{1,6}| |JobState=|UserId=|Comment=|Reservation=r ){1,8}") {
        let name = name.trim();
        prop_assume!(!name.is_empty());
        let line = format!("JobId=7 JobName={name} UserId=maria(1000) JobState=RUNNING NumNodes=1 Command=c Comment=d");
        let record = records(Kind::Job, &line).0.remove(0);
        prop_assert!(record.is_doubtful() || record.raw("JobName") == Some(name), "{:?}", record);
    }

    #[test]
    fn hosts_are_those_of_the_ranges(ranges in prop::collection::vec((0_u32..900, 0_u32..40), 1..6), width in 1_usize..5) {
        let text: Vec<String> =
            ranges.iter().map(|&(from, more)| format!("{from:0width$}-{:0width$}", from + more)).collect();
        let expected: Vec<String> =
            ranges.iter().flat_map(|&(from, more)| (from..=from + more).map(move |n| format!("n{n:0width$}-x"))).collect();
        prop_assert_eq!(expand(&format!("n[{}]-x", text.join(","))).unwrap(), expected);
    }
}

#[test]
fn a_record_made_of_fields_is_what_it_is() {
    let record = Record::of(vec![("JobId".into(), "7".into()), ("JobState".into(), "RUNNING".into())]);
    assert_eq!(makespan_slurm::Job::of(record).unwrap().state, JobState::Running);
}
