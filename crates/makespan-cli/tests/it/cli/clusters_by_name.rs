//! Runs on two clusters of one accounting database, with fake programs of Slurm.

use crate::cli::sandbox::{Said, Sandbox};
use crate::slurm::fakes::Fakes;

/// Prints a cluster of one node with two processors. Fails if `-M` does not name the cluster.
const SCONTROL: &str = r#"[ "$1" = -M ] || exit 1
case "$*" in
*partitions*) echo "PartitionName=main Default=YES MaxTime=UNLIMITED Nodes=n0 State=UP TotalCPUs=2 TotalNodes=1" ;;
*nodes*) echo "NodeName=n0 Arch=x86_64 CPUAlloc=0 CPUTot=2 RealMemory=1000 State=IDLE ThreadsPerCore=1 Partitions=main" ;;
*config*) echo "ClusterName = $2" ;;
*licenses*) echo "No licenses configured in Slurm." ;;
*jobs*) echo "No jobs in the system" ;;
*) exit 1 ;;
esac"#;

/// Runs the job at once. The names of the files in the folder of the cluster are the ids of its jobs.
const SBATCH: &str = r#"[ "$1" = -M ] || exit 1
/bin/mkdir -p "$FAKES/$2"
id=$(($(/bin/ls "$FAKES/$2" | /usr/bin/wc -l) + 1))
/bin/cat >"$FAKES/$2/$id"
(SLURM_JOB_ID=$id SLURMD_NODENAME=n0 SLURM_JOB_NODELIST=n0 SLURM_JOB_CPUS_PER_NODE=2 \
    /bin/sh "$FAKES/$2/$id" </dev/null >>"$FAKES/log" 2>&1 &)
echo "$id;$2""#;

const SQUEUE: &str = r#"[ "$1" = -M ] || exit 1
echo "CLUSTER: $2""#;

#[test]
fn jobs_are_submitted_to_each_cluster_by_its_name() {
    let sandbox = Sandbox::new();
    let fakes = Fakes::new().with("scontrol", SCONTROL).with("sbatch", SBATCH);
    let fakes = fakes.with("squeue", SQUEUE).with("scancel", SQUEUE);
    sandbox.write("list.txt", (0..4).map(|at| format!("echo {at} >out{at}\n")).collect::<String>());
    let line = "run list.txt --on slurm:east,slurm:west --no-history --folder run";
    let path = format!("{}:{}", fakes.path().display(), std::env::var("PATH").unwrap());
    let output = sandbox.command(line).env("PATH", path).env("FAKES", sandbox.path("")).output().unwrap();
    let said = Said::new(line, &output);
    assert!(said.status == Some(0) && said.err.contains("succeeded=4"), "{said:?}");
    let jobs = |cluster: &str| std::fs::read_dir(sandbox.path(cluster)).unwrap().count();
    assert_eq!((jobs("east"), jobs("west")), (2, 2));
    assert!((0..4).all(|at| sandbox.read(&format!("out{at}")) == format!("{at}\n")));
}
