//! What contradicts itself, or cannot be read, is said with its number and place.

use std::fs;
use std::path::{Path, PathBuf};

use makespan_slurm::queue::{Part, Queue, Texts};

fn recorded(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/queue-{version}"))
}

/// A folder with files of recorded ones, each of its own version.
fn mixed(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (version, name) in files {
        fs::copy(recorded(version).join(name), folder.path().join(name)).unwrap();
    }
    folder
}

fn remarks(folder: &Path) -> String {
    Queue::from_folder(folder, None).unwrap().remarks.join("\n")
}

const NODE: &str = "NodeName=n0 CPUTot=8 CPUAlloc=4 State=MIXED Partitions=p\n";

fn waits(id: u32, more: &str) -> String {
    format!(
        "JobId={id} JobName=j UserId=u(1) Priority=5 JobState=PENDING TimeLimit=00:10:00 Partition=p NumNodes=1 NumCPUs=1 {more}\n"
    )
}

fn runs(id: u32, more: &str) -> String {
    let start = "StartTime=2026-11-22T02:00:00 RunTime=00:01:00";
    format!(
        "JobId={id} JobName=j UserId=u(1) Priority=5 JobState=RUNNING {start} TimeLimit=00:10:00 Partition=p NumNodes=1 NumCPUs=4 NodeList=n0 \
         {more}\n"
    )
}

fn queue(nodes: &str, jobs: &str) -> Queue {
    Texts::default().with(Part::Nodes, nodes).with(Part::Jobs, jobs).queue(None).unwrap()
}

#[test]
fn outputs_of_one_instant_are_not_doubted() {
    for version in ["22.05", "24.11", "26.05"] {
        let remarks = remarks(&recorded(version));
        for word in ["instant", "cut off", "idle", "no date", "left out, as"] {
            assert!(!remarks.contains(word), "{version}: {word}: {remarks}");
        }
    }
}

#[test]
fn files_of_two_instants_and_of_two_clusters_are_told_apart() {
    let files = ["scontrol.config.txt", "scontrol.jobs-d.txt.gz", "scontrol.nodes.json.gz"].map(|name| ("24.11", name));
    let folder = mixed(&[&files[..], &[("26.05", "squeue.json.gz")]].concat());
    let said = remarks(folder.path());
    let instants = "scontrol.jobs-d.txt is of 2026-11-22T01:50:14 and squeue.json is of 2026-11-22T02:03:57 (UTC)";
    assert!(said.contains(instants) && said.contains("the jobs of scontrol.jobs-d.txt count"), "{said}");
    assert!(said.contains("squeue.json is of Slurm 26.05.5 and scontrol.config.txt of 24.11.5"), "{said}");
    // The instant is that of the jobs that count.
    assert_eq!(Queue::from_folder(folder.path(), None).unwrap().now, 1_795_312_214);
    // Newer nodes than jobs, and older ones: jobs run on what is idle.
    let folder = mixed(&[("24.11", "scontrol.jobs-d.txt.gz"), ("26.05", "scontrol.nodes.json.gz")]);
    assert!(remarks(folder.path()).contains("scontrol.nodes.json speaks of 2026-11-22T02:03:57"));
    let idle = "NodeName=n0 CPUTot=8 CPUAlloc=0 State=IDLE Partitions=p\n";
    let said = queue(idle, &(runs(1, "") + &runs(2, ""))).remarks.join("; ");
    assert!(said.contains("2 jobs run on nodes that are idle, such as job 1 on n0"), "{said}");
}

#[test]
fn a_list_that_lacks_jobs_of_another_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("scontrol.nodes-d.txt"), NODE).unwrap();
    let jobs = runs(1, "") + &waits(2, "SubmitTime=2026-11-22T02:00:00") + &waits(3, "");
    fs::write(folder.path().join("scontrol.jobs-d.txt"), &jobs).unwrap();
    fs::write(folder.path().join("scontrol.jobs.txt"), runs(1, "") + &waits(7, "")).unwrap();
    let said = remarks(folder.path());
    assert!(said.contains("scontrol.jobs.txt has job 7 of which scontrol.jobs-d.txt says nothing"), "{said}");
    assert!(
        said.contains("scontrol.jobs-d.txt has 2 jobs, such as 2, of which scontrol.jobs.txt says nothing"),
        "{said}"
    );
}

#[test]
fn dates_that_cannot_be_are_counted_and_named() {
    let jobs = waits(1, "SubmitTime=2026-13-45T99:00:00 StartTime=0000-00-00")
        + &waits(2, "SubmitTime=2026-02-30T00:00:00 EligibleTime=99999-01-01T00:00:00")
        + &runs(3, "Deadline=2026-11-22T25:00:00")
        + &waits(4, "SubmitTime=2031-01-01T00:00:00 StartTime=2031-01-01T00:00:00 Deadline=N/A EligibleTime=Unknown");
    let queue = queue(NODE, &jobs);
    let said = queue.remarks.join("\n");
    for part in [
        "SubmitTime=2026-13-45T99:00:00 of job 1 and 1 more are no dates: ",
        "StartTime=0000-00-00 of job 1 is no date: ",
        "EligibleTime=99999-01-01T00:00:00 of job 2 is no date: ",
        "Deadline=2026-11-22T25:00:00 of job 3 is no date: ",
        "SubmitTime=2031-01-01T00:00:00 of job 4 lies after the instant of the queue, 2026-11-22T02:01:00 (UTC)",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // An expected start may be as late as it likes, and what is not known is no date by intention.
    assert!(!said.contains("StartTime=2031") && !said.contains("Unknown") && !said.contains("N/A"), "{said}");
    let json = r#"{"jobs": [{"job_id": 5, "name": "a", "user_name": "u", "job_state": ["RUNNING"], "partition": "p", "nodes": "n0",
        "submit_time": 1000, "start_time": 99999999999999, "end_time": 0, "eligible_time": {"set": false, "infinite": false, "number": 0}}]}"#;
    let texts = Texts::default().with(Part::Nodes, NODE).with(Part::JobsJson, json);
    let said = texts.queue(None).unwrap().remarks.join("\n");
    assert!(said.contains("StartTime=99999999999999 of job 5 is no date: a job that runs is taken"), "{said}");
    assert_eq!(said.matches("no date").count(), 1, "{said}");
}

#[test]
fn an_instant_before_the_outputs_is_refused_and_one_long_after_is_said() {
    let folder = recorded("24.11");
    let now = Queue::from_folder(&folder, None).unwrap().now;
    for early in [0, -5, i64::MIN, now - 3600] {
        let said = Queue::from_folder(&folder, Some(early)).unwrap_err().to_string();
        assert!(said.contains("they are of 2026-11-22T01:50:14 (UTC)") && said.contains("state a later one"), "{said}");
    }
    let remarks = |at: i64| Queue::from_folder(&folder, Some(at)).unwrap().remarks.join("\n");
    assert!(!remarks(now).contains("stated instant") && !remarks(now + 50).contains("stated instant"));
    let said = remarks(now + 86_400);
    assert!(said.contains("the stated instant is 2026-11-23T01:50:14 (UTC)"), "{said}");
}

#[test]
fn json_of_which_nothing_can_be_read_is_an_error_and_some_is_counted() {
    let read = |jobs: &str| {
        let texts = Texts::default().with(Part::Nodes, NODE).with(Part::JobsJson, jobs);
        texts.queue(Some(1000))
    };
    let (part, problem) = read(r#"{"jobs": [{"id": 1}, {"id": 2}]}"#).unwrap_err();
    assert!(
        part == Part::JobsJson && problem.contains("2 of 2 records are left out") && problem.contains("squeue --json"),
        "{problem}"
    );
    let good = r#"{"job_id": 5, "name": "a", "user_name": "u", "job_state": ["PENDING"], "partition": "p"}"#;
    let queue = read(&format!(r#"{{"jobs": [{{"id": 1}}, {good}, {{"job_id": 6}}]}}"#)).unwrap();
    let said = queue.remarks.join("\n");
    assert!(queue.jobs.len() == 1 && said.contains("2 of 3 records are left out, as they cannot be read: "), "{said}");
    assert!(read(r#"{"jobs": []}"#).unwrap().jobs.is_empty());
    let (_, problem) =
        read(r#"{"jobs": [], "errors": [{"description": "Unable to contact slurm controller"}]}"#).unwrap_err();
    assert!(problem.contains("says why: Unable to contact"), "{problem}");
    let empty = Texts::default().with(Part::Nodes, NODE).with(Part::Jobs, "").queue(Some(1000)).unwrap();
    assert!(empty.remarks.iter().any(|remark| remark.contains("the list of jobs is empty")), "{:?}", empty.remarks);
}
