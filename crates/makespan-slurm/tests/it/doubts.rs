//! Tests that contradictory and unreadable data are reported with number and place.

use std::fs;
use std::path::{Path, PathBuf};

use makespan_slurm::queue::{ClusterOutput, Queue, Texts};

fn recorded(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/queue-{version}"))
}

/// Creates a folder with recorded files, each from its own version.
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
    Texts::default().with(ClusterOutput::Nodes, nodes).with(ClusterOutput::Jobs, jobs).queue(None).unwrap()
}

#[test]
fn outputs_of_one_instant_are_not_doubted() {
    for version in ["22.05", "24.11", "26.05"] {
        let remarks = remarks(&recorded(version));
        for word in ["instant", "cut off", "idle", "not a date", "ignored, because"] {
            assert!(!remarks.contains(word), "{version}: {word}: {remarks}");
        }
    }
}

#[test]
fn files_of_two_instants_and_of_two_clusters_are_told_apart() {
    let files = ["scontrol.config.txt", "scontrol.jobs-d.txt.gz", "scontrol.nodes.json.gz"].map(|name| ("24.11", name));
    let folder = mixed(&[&files[..], &[("26.05", "squeue.json.gz")]].concat());
    let said = remarks(folder.path());
    let instants = "scontrol.jobs-d.txt is from 2026-11-22T01:50:14 and squeue.json is from 2026-11-22T02:03:57 (UTC)";
    assert!(said.contains(instants) && said.contains("the jobs of scontrol.jobs-d.txt are used"), "{said}");
    assert!(
        said.contains("squeue.json is from Slurm 26.05.5, and scontrol.config.txt is from Slurm 24.11.5"),
        "{said}"
    );
    // The jobs that are used determine the instant.
    assert_eq!(Queue::from_folder(folder.path(), None).unwrap().now, 1_795_312_214);
    // If the nodes are newer or older than the jobs, jobs run on idle nodes.
    let folder = mixed(&[("24.11", "scontrol.jobs-d.txt.gz"), ("26.05", "scontrol.nodes.json.gz")]);
    assert!(remarks(folder.path()).contains("scontrol.nodes.json contains the instant 2026-11-22T02:03:57"));
    let idle = "NodeName=n0 CPUTot=8 CPUAlloc=0 State=IDLE Partitions=p\n";
    let said = queue(idle, &(runs(1, "") + &runs(2, ""))).remarks.join("; ");
    assert!(said.contains("2 jobs run on idle nodes, such as job 1 on n0"), "{said}");
}

#[test]
fn a_list_that_lacks_jobs_of_another_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("scontrol.nodes-d.txt"), NODE).unwrap();
    let jobs = runs(1, "") + &waits(2, "SubmitTime=2026-11-22T02:00:00") + &waits(3, "");
    fs::write(folder.path().join("scontrol.jobs-d.txt"), &jobs).unwrap();
    fs::write(folder.path().join("scontrol.jobs.txt"), runs(1, "") + &waits(7, "")).unwrap();
    let said = remarks(folder.path());
    assert!(said.contains("scontrol.jobs.txt has job 7 that scontrol.jobs-d.txt does not contain"), "{said}");
    assert!(
        said.contains("scontrol.jobs-d.txt has 2 jobs, such as 2, that scontrol.jobs.txt does not contain"),
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
        "SubmitTime=2026-13-45T99:00:00 of job 1 and 1 more are not dates: ",
        "StartTime=0000-00-00 of job 1 is not a date: ",
        "EligibleTime=99999-01-01T00:00:00 of job 2 is not a date: ",
        "Deadline=2026-11-22T25:00:00 of job 3 is not a date: ",
        "SubmitTime=2031-01-01T00:00:00 of job 4 is later than the instant of the queue, 2026-11-22T02:01:00 (UTC)",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // An expected start may be in the far future, and "unknown" is a valid missing date.
    assert!(!said.contains("StartTime=2031") && !said.contains("Unknown") && !said.contains("N/A"), "{said}");
    let json = r#"{"jobs": [{"job_id": 5, "name": "a", "user_name": "u", "job_state": ["RUNNING"], "partition": "p", "nodes": "n0",
        "submit_time": 1000, "start_time": 99999999999999, "end_time": 0, "eligible_time": {"set": false, "infinite": false, "number": 0}}]}"#;
    let texts = Texts::default().with(ClusterOutput::Nodes, NODE).with(ClusterOutput::JobsJson, json);
    let said = texts.queue(None).unwrap().remarks.join("\n");
    assert!(said.contains("StartTime=99999999999999 of job 5 is not a date: a running job is assumed"), "{said}");
    assert_eq!(said.matches("not a date").count(), 1, "{said}");
}

#[test]
fn an_instant_before_the_outputs_is_refused_and_one_long_after_is_said() {
    let folder = recorded("24.11");
    let now = Queue::from_folder(&folder, None).unwrap().now;
    for early in [0, -5, i64::MIN, now - 3600] {
        let said = Queue::from_folder(&folder, Some(early)).unwrap_err().to_string();
        assert!(
            said.contains("which are from 2026-11-22T01:50:14 (UTC)") && said.contains("state a later one"),
            "{said}"
        );
    }
    let remarks = |at: i64| Queue::from_folder(&folder, Some(at)).unwrap().remarks.join("\n");
    assert!(!remarks(now).contains("stated instant") && !remarks(now + 50).contains("stated instant"));
    let said = remarks(now + 86_400);
    assert!(said.contains("the stated instant is 2026-11-23T01:50:14 (UTC)"), "{said}");
}

#[test]
fn json_of_which_nothing_can_be_read_is_an_error_and_some_is_counted() {
    let read = |jobs: &str| {
        let texts = Texts::default().with(ClusterOutput::Nodes, NODE).with(ClusterOutput::JobsJson, jobs);
        texts.queue(Some(1000))
    };
    let (part, problem) = read(r#"{"jobs": [{"id": 1}, {"id": 2}]}"#).unwrap_err();
    assert!(
        part == ClusterOutput::JobsJson
            && problem.contains("2 of 2 records are ignored")
            && problem.contains("squeue --json"),
        "{problem}"
    );
    let good = r#"{"job_id": 5, "name": "a", "user_name": "u", "job_state": ["PENDING"], "partition": "p"}"#;
    let queue = read(&format!(r#"{{"jobs": [{{"id": 1}}, {good}, {{"job_id": 6}}]}}"#)).unwrap();
    let said = queue.remarks.join("\n");
    assert!(
        queue.jobs.len() == 1 && said.contains("2 of 3 records are ignored, because they cannot be read: "),
        "{said}"
    );
    assert!(read(r#"{"jobs": []}"#).unwrap().jobs.is_empty());
    let (_, problem) =
        read(r#"{"jobs": [], "errors": [{"description": "Unable to contact slurm controller"}]}"#).unwrap_err();
    assert!(problem.contains("but this error: Unable to contact"), "{problem}");
    let empty =
        Texts::default().with(ClusterOutput::Nodes, NODE).with(ClusterOutput::Jobs, "").queue(Some(1000)).unwrap();
    assert!(empty.remarks.iter().any(|remark| remark.contains("the list of jobs is empty")), "{:?}", empty.remarks);
}

/// Creates a folder with the given files. Returns its queue, or the message of the error.
fn said_of(files: &[(&str, &[u8])]) -> Result<Queue, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    Queue::from_folder(folder.path(), None).map_err(|error| error.to_string())
}

fn gz(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn what_is_listed_twice_is_one_and_said_with_its_file() {
    let nodes = format!("{NODE}NodeName=n1 CPUTot=8 CPUAlloc=0 State=IDLE Partitions=p\n").repeat(2);
    let partitions = "PartitionName=p Nodes=n[0-1] State=UP\n".repeat(2);
    let reservations =
        "ReservationName=r StartTime=2026-11-23T00:00:00 EndTime=2026-11-24T00:00:00 Nodes=n1 Users=u\n".repeat(2);
    let licences = "LicenseName=l Total=2 Used=0 Free=2 Remote=no\n".repeat(2);
    let jobs = runs(1, "").repeat(2);
    let queue = said_of(&[
        ("scontrol.nodes-d.txt", nodes.as_bytes()),
        ("scontrol.partitions.txt", partitions.as_bytes()),
        ("scontrol.reservations.txt", reservations.as_bytes()),
        ("scontrol.licenses.txt", licences.as_bytes()),
        ("scontrol.jobs-d.txt", jobs.as_bytes()),
    ])
    .unwrap();
    let counts = (queue.nodes.len(), queue.partitions.len(), queue.reservations.len(), queue.licences.len());
    assert_eq!((counts, queue.jobs.len(), queue.hidden.len()), ((2, 1, 1, 1), 1, 0));
    let said = queue.remarks.join("\n");
    for part in [
        "scontrol.nodes-d.txt: repeated records of nodes are ignored: 2, such as node n0",
        "scontrol.partitions.txt: repeated records of partitions are ignored: 1, such as partition p",
        "scontrol.reservations.txt: repeated records of reservations are ignored: 1, such as reservation r",
        "scontrol.licenses.txt: repeated records of licences are ignored: 1, such as licence l",
        "scontrol.jobs-d.txt: repeated records of jobs are ignored: 1, such as job 1",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn an_array_that_is_too_long_to_count_is_said_to_be() {
    for tasks in ["0-18446744073709551615", "abc"] {
        let queue = queue(NODE, &(runs(1, "") + &waits(2, &format!("ArrayJobId=2 ArrayTaskId={tasks}"))));
        let said = queue.remarks.join("\n");
        assert!(
            said.contains(&format!("job 2: `{tasks}` is not a list of tasks; the job is treated as one task")),
            "{said}"
        );
        assert_eq!(queue.jobs.len(), 2);
    }
}

#[test]
fn a_queue_without_jobs_has_the_instant_of_its_nodes_or_of_its_files() {
    let none = ("scontrol.jobs-d.txt", &b"No jobs in the system\n"[..]);
    let busy = NODE.replace("State", "BootTime=2026-11-20T00:00:00 LastBusyTime=2026-11-22T02:00:00 State");
    let queue = said_of(&[none, ("scontrol.nodes-d.txt", busy.as_bytes())]).unwrap();
    let said = queue.remarks.join("\n");
    assert_eq!(queue.now, 1_795_312_800);
    assert!(said.contains("the last instant in scontrol.nodes-d.txt is used instead"), "{said}");
    let queue = said_of(&[none, ("scontrol.nodes-d.txt", NODE.as_bytes())]).unwrap();
    let said = queue.remarks.join("\n");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64;
    assert!((now - queue.now).abs() < 600, "{}", queue.now);
    assert!(said.contains("the last change of the file of the jobs is used instead"), "{said}");
    // No file states the instant.
    let texts = Texts::default().with(ClusterOutput::Nodes, NODE).with(ClusterOutput::Jobs, "No jobs in the system\n");
    assert!(texts.queue(None).unwrap_err().1.contains("--at"));
}

/// Ends a file at each position within its last job. The incomplete job is ignored, and no other note mentions the job.
#[test]
fn an_incomplete_job_at_the_end_is_ignored() {
    let (others, last) = (runs(1, "") + &waits(2, ""), waits(3, ""));
    let mut ignored = 0;
    for end in "JobId=3 ".len()..last.trim_end().len() {
        let jobs = format!("{others}{}", &last[..end]);
        let queue =
            said_of(&[("scontrol.nodes-d.txt", NODE.as_bytes()), ("scontrol.jobs-d.txt", jobs.as_bytes())]).unwrap();
        let said = queue.remarks.join("\n");
        if said.contains("cut off") {
            ignored += 1;
            let named = "it was cut off, so the incomplete job 3 is ignored, further jobs are unknown";
            assert!(said.contains(named) && !said.contains("cannot be read"), "{end}: {said}");
            assert_eq!(queue.jobs.len(), 2, "{end}");
        }
    }
    assert!(ignored > 20, "{ignored}");
}

#[test]
fn records_that_cannot_be_read_are_counted_whatever_takes_their_place() {
    let jobs = (runs(1, "") + &waits(2, "") + &waits(3, "")).replace("NumCPUs=1", "NumCPUs=99999999999999999999");
    let json = r#"{"jobs": [{"job_id": 1, "name": "a", "user_name": "u", "job_state": ["RUNNING"], "partition": "p", "nodes": "n0"},
        {"job_id": 2, "name": "a", "user_name": "u", "job_state": ["PENDING"], "partition": "p"},
        {"job_id": 3, "name": "a", "user_name": "u", "job_state": ["PENDING"], "partition": "p"}]}"#;
    let first = "job 2: NumCPUs=99999999999999999999 cannot be understood";
    let nodes = ("scontrol.nodes-d.txt", NODE.as_bytes());
    let whole = runs(1, "") + &waits(2, "") + &waits(3, "");
    let files = [nodes, ("scontrol.jobs-d.txt", jobs.as_bytes()), ("scontrol.jobs.txt", whole.as_bytes())];
    let alone = said_of(&files).unwrap().remarks.join("\n");
    assert!(
        alone.contains("scontrol.jobs-d.txt: 2 of 3 records are ignored, because they cannot be read: ")
            && alone.contains(first),
        "{alone}"
    );
    let queue = said_of(&[&files[..], &[("squeue.json", json.as_bytes())]].concat()).unwrap();
    let said = queue.remarks.join("\n");
    let counted =
        format!("scontrol.jobs-d.txt: 2 of 3 records cannot be read, so squeue.json is used instead: {first}");
    assert!(said.contains(&counted), "{said}");
    assert_eq!(queue.jobs.len(), 3);
    // Nothing was cut off, because all jobs are present.
    assert!(!alone.contains("cut off") && !said.contains("cut off"), "{alone}\n{said}");
}

#[test]
fn a_file_that_is_damaged_is_named_with_what_takes_its_place_or_what_helps() {
    let jobs = (1..40).map(|id| runs(id, "")).collect::<String>();
    let json = r#"{"jobs": [{"job_id": 1, "name": "a", "user_name": "u", "job_state": ["PENDING"], "partition": "p", "submit_time": 1000}]}"#;
    let nodes = ("scontrol.nodes-d.txt", NODE.as_bytes());
    let (cut_text, cut_json) = (gz(&jobs), gz(json));
    let (cut_text, cut_json) = (&cut_text[..cut_text.len() / 2], &cut_json[..cut_json.len() / 2]);
    let (json, half) = (json.as_bytes(), &json.as_bytes()[..40]);
    for (name, bytes, command) in [
        ("scontrol.jobs-d.txt.gz", cut_text, "scontrol -o -d show jobs"),
        ("squeue.json.gz", cut_json, "squeue --json --states=all"),
        ("squeue.json", half, "squeue --json --states=all"),
    ] {
        let said = said_of(&[nodes, (name, bytes)]).unwrap_err();
        let remedy = format!(": save the output of `{command}` again");
        assert!(said.contains(&format!("{name} was cut off or is damaged (")) && said.ends_with(&remedy), "{said}");
        for (other, whole) in [("scontrol.jobs.txt", jobs.as_bytes()), ("scontrol.jobs.json", json)] {
            let queue = said_of(&[nodes, (name, bytes), (other, whole)]).unwrap();
            let said = queue.remarks.join("\n");
            let start = format!("{name} was cut off or is damaged (");
            assert!(said.contains(&start) && said.contains(&format!("): {other} is used instead")), "{said}");
            assert!(!queue.jobs.is_empty());
        }
    }
    // These files are empty because their commands failed.
    let queue = said_of(&[
        nodes,
        ("scontrol.jobs-d.txt", b""),
        ("squeue.json.gz", b""),
        ("scontrol.jobs.txt", jobs.as_bytes()),
    ]);
    let said = queue.unwrap().remarks.join("\n");
    assert!(said.contains("scontrol.jobs-d.txt is empty: scontrol.jobs.txt is used instead"), "{said}");
    // The same holds for nodes and for optional files.
    let said =
        said_of(&[("scontrol.nodes.json", br#"{"nodes": [{"#), ("scontrol.jobs.txt", jobs.as_bytes())]).unwrap_err();
    assert!(said.contains("scontrol.nodes.json was cut off") && said.contains("scontrol show nodes --json"), "{said}");
    let reservations = ("scontrol.reservations.txt.gz", &cut_text[..20]);
    let said = said_of(&[nodes, ("scontrol.jobs.txt", jobs.as_bytes()), reservations]).unwrap().remarks.join("\n");
    assert!(
        said.contains("scontrol.reservations.txt.gz was cut off") && said.contains("no reservation is known"),
        "{said}"
    );
}

/// Checks that account limits are recognised as incomplete if they are cut off at any position within a record.
#[test]
fn limits_of_accounts_that_were_cut_off_are_said_to_be() {
    let qos = |name: &str| {
        format!(
            "QOS={name}(1) UsageRaw=1.0 GrpJobs=N(1) GrpTRES=cpu=N(4),mem=N(16) MaxWallPJ= MaxTRESPJ= MinPrioThresh= MinTRESPJ= PreemptMode=OFF \
             Account Limits= lab={{MaxJobsPA=N(1)}} User Limits= u(1)={{MaxJobsPU=2(2) MaxTRESPU=cpu=N(4)}}\n"
        )
    };
    let account = |name: &str| {
        format!(
            "ClusterName=c Account={name} UserName= Partition= ParentAccount= GrpJobs=N(1) MaxWallPJ= Comment=(null)\n"
        )
    };
    let start = "Current Association Manager state\nUser Records\nUserName=u(1) DefAccount=a\nAssociation Records\n";
    let whole = format!("{start}{}{}QOS Records\n{}{}", account("a"), account("b"), qos("normal"), qos("high"));
    let said = |text: &str| {
        let files = [("scontrol.nodes-d.txt", NODE.as_bytes()), ("scontrol.jobs.txt", &runs(1, "").into_bytes())];
        let queue = said_of(&[&files[..], &[("scontrol.assoc.txt", text.as_bytes())]].concat()).unwrap();
        queue.remarks.join("\n").contains("scontrol.assoc.txt ends within a record: it was cut off")
    };
    assert!(!said(&whole) && !said(whole.trim_end()));
    let nothing = "No users currently cached in Slurm.\nNo QOS currently cached in Slurm.";
    assert!(!said(nothing));
    for end in start.len()..whole.trim_end().len() {
        // The first record of its kind cannot be compared with another: it may have no user.
        let last = whole[..end].lines().last().unwrap();
        let may_have_none =
            last.starts_with("QOS=normal") && last.contains(" User Limits") && !last.contains(" u(1)={");
        let is_between = may_have_none || whole[..end].ends_with('\n') || whole[end..].starts_with('\n');
        assert!(is_between || said(&whole[..end]), "{}", &whole[..end]);
    }
}

#[test]
fn remarks_name_their_file() {
    let nodes = ("scontrol.nodes-d.txt", NODE.as_bytes());
    let jobs = runs(1, "");
    let partitions = ("scontrol.partitions.txt", &b"slurm_load_partitions error: Unable to contact\n"[..]);
    let said = said_of(&[nodes, ("scontrol.jobs.txt", jobs.as_bytes()), partitions]).unwrap().remarks.join("\n");
    assert!(
        said.contains(
            "scontrol.partitions.txt: the output has a line that does not begin with PartitionName: `slurm_load"
        ),
        "{said}"
    );
    // Many such lines lead to one warning.
    let lines = "nonsense\n".repeat(50);
    let partitions = ("scontrol.partitions.txt", lines.as_bytes());
    let said = said_of(&[nodes, ("scontrol.jobs.txt", jobs.as_bytes()), partitions]).unwrap().remarks.join("\n");
    assert!(
        said.contains("scontrol.partitions.txt: 50 lines do not begin with PartitionName, such as `nonsense`"),
        "{said}"
    );
}

/// Any user can give a job a name with a line break, followed by a text that looks like a record of another job.
#[test]
fn a_name_that_holds_a_record_is_no_job() {
    let real = |id: u32, name: &str| {
        format!(
            "JobId={id} JobName={name} UserId=u(1) GroupId=u(1) MCS_label=N/A Priority=5 JobState=PENDING SubmitTime=2026-11-22T02:00:00 \
             TimeLimit=00:10:00 Partition=p NumNodes=1 NumCPUs=1 Command=c WorkDir=/ StdErr=e\n"
        )
    };
    let forged = "UserId=victim(9) Priority=5 JobState=RUNNING StartTime=2026-11-22T02:00:00 RunTime=00:01:00 TimeLimit=1-00:00:00 Partition=p \
                  NodeList=n0 NumNodes=1 NumCPUs=8";
    let looks_whole = "x UserId=u(1) Priority=9 JobState=PENDING TimeLimit=00:01:00 Partition=p NumNodes=1 NumCPUs=1";
    let job = |id: u32, name: &str| {
        format!(
            r#"{{"job_id": {id}, "name": "{name}", "user_name": "u", "job_state": ["PENDING"], "partition": "p", "priority": 5, "cpus": 1}}"#
        )
    };
    let json = format!(r#"{{"jobs": [{}, {}, {}]}}"#, job(75, "evil"), job(76, "good"), job(80, "good"));
    for name in [
        format!("evil\nJobId=777 JobName=fake {forged}"),
        // The fields after the name become a part of the last field.
        format!("evil\nJobId=777 JobName=fake {forged} Comment=x"),
        format!("{looks_whole}\nJobId=777 JobName=fake {forged} Comment=x"),
        // Another attack uses the id of an existing job.
        format!("evil\nJobId=76 JobName=fake {forged} Comment=x"),
        format!("{looks_whole}\nJobId=80 JobName=fake {forged}"),
        format!("{looks_whole}\nJobId=777 JobName=fake {forged}\nJobId=777 JobName=fake {forged} Comment=x"),
    ] {
        let jobs = real(75, &name) + &real(76, "good") + &real(80, "good");
        let texts = Texts::default().with(ClusterOutput::Nodes, NODE).with(ClusterOutput::Jobs, jobs.as_str());
        let queue = texts.clone().with(ClusterOutput::JobsJson, json.as_str()).queue(Some(1_795_312_860)).unwrap();
        let said = queue.remarks.join("\n");
        let mut seen: Vec<_> =
            queue.jobs.iter().map(|job| (job.id, job.user.as_str(), job.priority, job.run.is_some())).collect();
        seen.sort_unstable();
        assert_eq!(seen, [(75, "u", 5, false), (76, "u", 5, false), (80, "u", 5, false)], "{name}: {said}");
        if name.contains("777") {
            let several = name.matches("777").count() > 1;
            let why = if several {
                "jobs 777, 777 are ignored"
            } else {
                "job 777 is ignored: its record may be a part of another job's name, and squeue --json does not know it"
            };
            assert!(said.contains(why), "{name}: {said}");
        }
        // Without JSON, a warning recommends the command that would help.
        let said = texts.queue(Some(1_795_312_860)).unwrap().remarks.join("\n");
        assert!(
            said.contains("may be wrong; to separate texts and fields, save the output of `squeue --json"),
            "{name}: {said}"
        );
    }
}
