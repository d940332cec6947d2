//! Tests that the doctor finds problems and recommends remedies.

use crate::cluster;
use crate::fakes;

use std::time::Duration;

use cluster::{Cluster, NodeSpec};
use fakes::{Fakes, cancel, submit};
use makespan_slurm::Commands;
use makespan_slurm::doctor::{Diagnosis, Examination, Finding, Verdict};

fn examination(commands: Commands, folder: &std::path::Path) -> Examination {
    let (nodes, patience) = (2, Duration::from_secs(20));
    Examination { commands, folder: folder.to_owned(), partition: None, nodes, patience, own_job: None }
}

fn commands(cluster: &Cluster) -> Commands {
    let (name, value) = cluster.variable();
    // Jobs without an output option write their output to `/dev/null`.
    Commands::new().with_variable(name, value).with_variable("SBATCH_OUTPUT", "/dev/null")
}

fn about<'a>(diagnosis: &'a Diagnosis, topic: &str) -> &'a Finding {
    let found = diagnosis.findings.iter().find(|finding| finding.topic == topic);
    found.unwrap_or_else(|| panic!("{topic}: {diagnosis:#?}"))
}

#[test]
fn a_cluster_that_works_is_well() {
    let Some(cluster) = Cluster::shared() else { return };
    let commands = commands(cluster);
    let folder = cluster.shared_folder();
    let diagnosis = examination(commands.clone(), &folder).run();
    assert!(diagnosis.verdict() < Verdict::Bad, "{diagnosis:#?}");
    for topic in ["commands", "versions", "partition", "nodes", "rights", "MaxStepCount", "WaitTime", "folder"] {
        assert_eq!(about(&diagnosis, topic).verdict, Verdict::Good, "{diagnosis:#?}");
    }
    for topic in ["test job", "clocks", "shared folder", "rename"] {
        assert_eq!(about(&diagnosis, topic).verdict, Verdict::Good, "{diagnosis:#?}");
    }
    assert!(
        about(&diagnosis, "accounting")
            .found
            .starts_with("none (not required); the controller remembers ended jobs for 5 min")
    );
    assert!(diagnosis.findings.iter().all(|finding| finding.verdict == Verdict::Good || finding.remedy.is_some()));
    let left = std::fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().contains("doctor"));
    assert_eq!(left.count(), 0, "the doctor removes all its files");

    let nowhere = Examination { partition: Some("nowhere".into()), ..examination(commands, &folder) }.run();
    assert_eq!(about(&nowhere, "partition").verdict, Verdict::Bad);
}

#[test]
fn inside_a_job_its_nodes_are_examined() {
    let Some(cluster) = Cluster::shared() else { return };
    let commands = commands(cluster);
    let job = submit(&commands, "a", &["-N2", "--exclusive", "-t2"], "sleep 100").unwrap();
    while commands.allocation(job).is_err() {
        std::thread::sleep(Duration::from_millis(50));
    }
    let folder = cluster.shared_folder().join("inside");
    std::fs::create_dir_all(&folder).unwrap();
    // The job has two nodes, although more are requested.
    let diagnosis = Examination { own_job: Some(job), nodes: 7, ..examination(commands.clone(), &folder) }.run();
    cancel(&commands, job);
    std::fs::remove_dir(&folder).unwrap();
    for topic in ["test job", "clocks", "shared folder", "rename"] {
        assert_eq!(about(&diagnosis, topic).verdict, Verdict::Good, "{diagnosis:#?}");
    }
    assert!(about(&diagnosis, "rename").found.starts_with("atomic: 2 nodes"), "{diagnosis:#?}");
}

#[test]
fn a_controller_that_is_down_is_found_at_once() {
    let Some(cluster) = Cluster::start(&NodeSpec::equal(1, 1)) else { return };
    cluster.command("kill").args(["-9", &cluster.controller_id().to_string()]).status().unwrap();
    let commands = commands(&cluster);
    let diagnosis = examination(commands, &cluster.shared_folder()).run();
    let finding = about(&diagnosis, "controller");
    assert_eq!(finding.verdict, Verdict::Bad);
    assert!(finding.found.contains("Unable to contact slurm controller"), "{finding:?}");
    assert!(finding.remedy.as_ref().unwrap().contains("scontrol ping"), "{finding:?}");
}

/// Returns a cluster with normal answers, except for the given settings and `srun`.
fn strange(settings: &str, srun: &str) -> Fakes {
    let scontrol = format!(
        "case \"$*\" in
            *config) /bin/cat <<'THE END'
SLURM_VERSION = 26.05.5
ClusterName = east
MaxStepCount = 40000
{settings}
THE END
            ;;
            ping) echo 'Slurmctld(primary) at login is UP';;
            *partitions) echo 'PartitionName=p Default=YES State=UP MaxTime=1-00:00:00 DefaultTime=00:10:00 Nodes=n[0-1]';;
            *nodes) for n in n0 n1; do echo \"NodeName=$n CPUTot=4 RealMemory=100 State=IDLE Partitions=p Version=26.05.5\"; done;;
        esac"
    );
    Fakes::new()
        .with("scontrol", &scontrol)
        .with("sinfo", "echo slurm 26.05.5")
        .with("sbatch", "exit 0")
        .with("squeue", "exit 0")
        .with("scancel", "exit 0")
        .with("srun", &format!("[ \"$1\" = --version ] && exit 0\n{srun}"))
}

#[test]
fn clocks_apart_and_a_folder_that_is_not_shared_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let srun = "now=$(/bin/date +%s)
        echo makespan-doctor n0 time ${now}000000000
        echo makespan-doctor n1 time $((now + 30))000000000
        echo makespan-doctor n0 shared yes; echo makespan-doctor n1 shared no
        echo makespan-doctor n1 program no";
    let diagnosis = examination(strange("", srun).commands(), folder.path()).run();
    let clocks = about(&diagnosis, "clocks");
    assert_eq!(clocks.verdict, Verdict::Doubtful, "{clocks:?}");
    assert!(clocks.found.starts_with("n1 is ") && clocks.found.ends_with("s ahead of this machine"), "{clocks:?}");
    let shared = about(&diagnosis, "shared folder");
    assert_eq!((shared.verdict, shared.found.as_str()), (Verdict::Bad, "n1 does not see this folder"));
    assert!(about(&diagnosis, "program").found.ends_with("is not on n1"));
    assert_eq!(about(&diagnosis, "rename").verdict, Verdict::Unknown);
    assert!(about(&diagnosis, "partition").remedy.as_ref().unwrap().contains("each pilot ends after 10 min"));
}

#[test]
fn files_that_move_twice_and_settings_that_hurt_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let srun = "for n in n0 n1; do
            for said in 'shared yes' 'met 2' 'taken 40' 'program yes'; do echo makespan-doctor $n $said; done
        done";
    let settings = "WaitTime = 30 sec\nPrivateData = jobs,nodes\nKillWait = 0 sec\nProctrackType = proctrack/cgroup\nTaskPlugin = task/none
AccountingStorageType = accounting_storage/slurmdbd";
    let fakes = strange(settings, srun)
        .with("sacct", "echo 'sacct: error: slurm_persist_conn_open_without_init: failed to open persistent connection to slurmdbd' >&2; exit 1");
    let diagnosis = examination(fakes.commands(), folder.path()).run();
    assert_eq!(about(&diagnosis, "rename").verdict, Verdict::Bad);
    assert!(about(&diagnosis, "rename").found.starts_with("not atomic: 2 nodes moved 40 files 80 times"));
    assert!(about(&diagnosis, "WaitTime").found.contains("--wait=0"));
    for topic in ["queue", "KillWait", "cgroups", "accounting", "memory"] {
        assert_eq!(about(&diagnosis, topic).verdict, Verdict::Doubtful, "{diagnosis:#?}");
    }
}

#[test]
fn a_job_that_gets_no_nodes_and_one_that_hangs_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let srun = "echo 'srun: error: Unable to allocate resources: Immediate execution impossible. Resources Currently Unavailable' >&2; exit 1";
    let diagnosis = examination(strange("", srun).commands(), folder.path()).run();
    let job = about(&diagnosis, "test job");
    assert!(job.found.contains("Immediate execution impossible"), "{job:?}");
    assert!(job.remedy.as_ref().unwrap().contains("the nodes are busy: wait longer"), "{job:?}");
    let none = Examination { nodes: 0, ..examination(strange("", "exit 1").commands(), folder.path()) }.run();
    assert_eq!(about(&none, "test job").verdict, Verdict::Unknown);
}

#[test]
fn without_slurm_the_first_finding_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let diagnosis = examination(Fakes::new().commands(), folder.path()).run();
    assert_eq!((diagnosis.findings[0].topic, diagnosis.verdict()), ("commands", Verdict::Bad));
    assert!(diagnosis.findings[0].found.starts_with("missing on PATH: sbatch, srun"));
}
