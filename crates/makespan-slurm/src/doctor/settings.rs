//! Checks of the configuration settings that matter for runs.

use crate::cluster::Config;
use crate::command::{Commands, Program};
use crate::{OptionalLimit, Refusal};

use super::partitions::span;
use super::{Finding, split};

/// Returns a finding for each setting that matters for runs.
pub(super) fn examine(commands: &Commands, config: &Config) -> Vec<Finding> {
    vec![
        accounting(commands, config),
        cgroups(config),
        memory(config),
        steps(commands, config),
        wait(config),
        ending(config),
        jobs(config),
        privacy(config),
    ]
}

fn accounting(commands: &Commands, config: &Config) -> Finding {
    const TOPIC: &str = "accounting";
    let kept = config.number("MinJobAge").and_then(OptionalLimit::value).map_or_else(|| "a while".to_owned(), span);
    let own = "runs need no accounting, because each run keeps a record in its folder; to repair the accounting, ask \
               the administrators";
    match config.get("AccountingStorageType") {
        None | Some("accounting_storage/none") => {
            Finding::good(TOPIC, format!("none (not required); the controller remembers ended jobs for {kept}"))
        }
        Some(kind) => match commands.run(Program::Sacct, ["-X", "-n", "-P", "-S", "now-1minutes", "-o", "JobIDRaw"]) {
            Ok(_) => Finding::good(TOPIC, kind.trim_start_matches("accounting_storage/")),
            Err(error) if error.refusal() == Some(Refusal::NoAccounting) => Finding::doubtful(
                TOPIC,
                format!("{kind} does not answer; the controller remembers ended jobs for {kept}"),
                own,
            ),
            Err(error) => Finding::doubtful(TOPIC, split(&error.to_string()).0, own),
        },
    }
}

/// Checks that Slurm uses control groups. With control groups, Slurm finds all processes of a job and limits them to
/// the job's cores.
fn cgroups(config: &Config) -> Finding {
    const TOPIC: &str = "cgroups";
    let tracking = config.get("ProctrackType").unwrap_or("nothing");
    let tasks = config.get("TaskPlugin").unwrap_or("task/none");
    let found = format!("{tracking}, {tasks}");
    if tracking != "proctrack/cgroup" {
        let remedy = "when a job is cancelled, Slurm does not end its background processes that called `setsid`; after a pilot is lost, Makespan may start a job again while such processes still run; jobs should not start background processes";
        return Finding::doubtful(TOPIC, found, remedy);
    }
    if !tasks.contains("task/cgroup") {
        return Finding::doubtful(
            TOPIC,
            found,
            "nothing prevents other jobs from using the cores of a pilot; request whole nodes: --slurm=--exclusive",
        );
    }
    Finding::good(TOPIC, found)
}

/// Checks that the cluster allocates memory.
fn memory(config: &Config) -> Finding {
    const TOPIC: &str = "memory";
    let select = config.get("SelectTypeParameters").unwrap_or("nothing");
    if config.get("SelectType").is_some_and(|kind| kind.ends_with("linear")) {
        return Finding::good(TOPIC, "jobs get whole nodes, with all their memory");
    }
    if select.to_uppercase().contains("MEMORY") {
        return Finding::good(TOPIC, format!("allocated to jobs ({select})"));
    }
    Finding::doubtful(
        TOPIC,
        format!("not allocated ({select})"),
        "other jobs on a node may use the memory of a pilot; request whole nodes: --slurm=--exclusive",
    )
}

/// Checks the maximum number of steps of a job. A pilot needs one step for each of its nodes.
fn steps(commands: &Commands, config: &Config) -> Finding {
    const TOPIC: &str = "MaxStepCount";
    let nodes = commands.nodes().map_or(0, |nodes| nodes.items.len() as u64);
    match config.number(TOPIC) {
        Some(OptionalLimit::At(most)) if most < nodes.max(1) => Finding::bad(
            TOPIC,
            format!("{most}, for {nodes} nodes"),
            "a pilot needs one step per node; request pilots with fewer nodes: --nodes",
        ),
        Some(OptionalLimit::At(most)) => Finding::good(TOPIC, format!("{most}; a pilot needs one step per node")),
        Some(OptionalLimit::Unlimited) => Finding::good(TOPIC, "no limit"),
        None => Finding::unknown(TOPIC, "not stated", "nothing needs to be done: a pilot needs only one step per node"),
    }
}

/// Checks `WaitTime`: after the first task of a step has ended, Slurm kills all other tasks of the step after this
/// time. Pilots override this setting.
fn wait(config: &Config) -> Finding {
    const TOPIC: &str = "WaitTime";
    match config.number(TOPIC).and_then(OptionalLimit::value).unwrap_or(0) {
        0 => Finding::good(TOPIC, "0: a step continues when one of its tasks has ended"),
        seconds => Finding::good(
            TOPIC,
            format!("{}: pilots start their steps with --wait=0, which overrides this setting", span(seconds)),
        ),
    }
}

/// Checks the time between SIGTERM and SIGKILL for a job at its time limit.
fn ending(config: &Config) -> Finding {
    const TOPIC: &str = "KillWait";
    let seconds = config.number(TOPIC).and_then(OptionalLimit::value).unwrap_or(30);
    match seconds {
        0..=1 => Finding::doubtful(
            TOPIC,
            format!("{}: at their time limit, jobs are killed almost immediately after SIGTERM", span(seconds)),
            "pilots stop shortly before their time limit; give pilots a time limit longer than the run time of the \
             longest job",
        ),
        seconds => Finding::good(TOPIC, format!("{} between SIGTERM and SIGKILL", span(seconds))),
    }
}

/// Reports the maximum number of jobs.
fn jobs(config: &Config) -> Finding {
    const TOPIC: &str = "jobs";
    let number = |name: &str| config.number(name).and_then(OptionalLimit::value);
    match (number("MaxJobCount"), number("MaxArraySize")) {
        (Some(jobs), array) => {
            let array = array.map(|array| format!(", arrays up to {array}")).unwrap_or_default();
            Finding::good(TOPIC, format!("at most {jobs} in the queue of all users{array}"))
        }
        (None, _) => {
            Finding::unknown(TOPIC, "MaxJobCount is not stated", "nothing needs to be done: a pilot is one job")
        }
    }
}

/// Checks that the jobs of other users are visible.
fn privacy(config: &Config) -> Finding {
    const TOPIC: &str = "queue";
    match config.get("PrivateData") {
        Some(private) if private.contains("jobs") || private.contains("all") => Finding::doubtful(
            TOPIC,
            format!("jobs of other users are hidden (PrivateData={private})"),
            "nothing needs to be done: only the predicted starts of pilots become less accurate",
        ),
        _ => Finding::good(TOPIC, "jobs of all users are visible"),
    }
}
