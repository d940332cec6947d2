//! Tasks that could not be submitted together with the others.

use crate::slurm::cluster::{Cluster, NodeSpec};
use crate::slurm::jobs::{RUN, succeeds};
use crate::slurm::workspace::{Workspace, table};

/// Returns the number of processors of each job, by its name.
fn sizes(space: &Workspace<'_>) -> Vec<(String, usize)> {
    let count = |processors: &str| {
        let parts = processors.split([' ', ',']).filter(|part| !part.is_empty());
        let of = |part: &str| {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            to.parse::<usize>().unwrap() - from.parse::<usize>().unwrap() + 1
        };
        parts.map(of).sum()
    };
    table(&space.path("run")).into_iter().map(|(name, processors, _)| (name, count(&processors))).collect()
}

#[test]
#[ignore = "long: a real Slurm"]
fn what_was_not_submitted_is_planned_again_beside_the_queue_of_its_time() {
    let Some(cluster) = Cluster::start_with(&NodeSpec::equal(2, 4), "MaxJobCount=4\nMinJobAge=2\n") else { return };
    let space = Workspace::new(&cluster, "jobs-later");
    // While half of the cluster is taken, each job is best on one processor. This changes when nine jobs are left for
    // the whole cluster.
    let job = |index: usize| {
        format!(
            "[[jobs]]\nname = \"j{index}\"\ntime = [3, 1.6, 1.2, 1.0]\ncommand = [\"sh\", \"-c\", \"sleep 0.2; echo {{processors}} $SLURM_CPUS_PER_TASK >>log.{index}\"]\n"
        )
    };
    space.write("batch.toml", &format!("version = 1\n{}", (0..12).map(job).collect::<String>()));
    let other = cluster.ask(
        "sbatch",
        &["--parsable", "--nodelist=n1", "--exclusive", "--time=1:00:00", "--output=/dev/null", "--wrap=sleep 3600"],
    );
    space.wait("the other job runs", || cluster.ask("squeue", &["-h", "--states=RUNNING"]).contains("n1"));
    let mut planner = space.command(RUN).spawn().unwrap();
    space.wait("some are submitted", || space.read("run/jobs/submitted").lines().count() >= 4);
    planner.kill().unwrap();
    planner.wait().unwrap();
    cluster.ask("scancel", &[&other]);
    space.wait("the other job is gone", || {
        cluster.ask("squeue", &["-h", "-j", &other, "--states=RUNNING,COMPLETING"]).is_empty()
    });
    let said = space.makespan(&format!("{RUN} --resume"));
    succeeds(&space, &said);
    let sizes = sizes(&space);
    assert_eq!(sizes.len(), 12);
    assert!(sizes.iter().any(|(_, size)| *size > 1), "{sizes:?}{said:#?}");
    for (name, size) in &sizes {
        assert_eq!(space.read(&format!("log.{}", &name[1..])), format!("{size} {size}\n"), "{said:#?}");
    }
}
