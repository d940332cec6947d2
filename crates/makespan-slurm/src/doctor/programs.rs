//! Checks of Slurm's programs, of the controller, and of their versions.

use std::time::{Duration, Instant};

use crate::cluster::Config;
use crate::command::{CommandError, Commands, Program};

use super::{Finding, split};

/// Versions of Slurm with which Makespan was tested.
pub struct MeasuredVersion;

impl MeasuredVersion {
    /// Year and month of the oldest version with which Makespan was tested.
    pub const OLDEST: (u32, u32) = (22, 5);
    /// The first version in which steps may overlap. Pilots need overlapping steps.
    pub const OVERLAPPING: (u32, u32) = (20, 11);
}

/// Checks that all programs exist. The accounting programs are optional.
pub(super) fn programs(commands: &Commands) -> Finding {
    const TOPIC: &str = "commands";
    // If this machine has no configuration of Slurm, some programs search for one for a long time, even with
    // `--version`.
    let commands = commands.clone().with_limit(Duration::from_secs(2));
    let is_missing =
        |program: &Program| matches!(commands.run(*program, ["--version"]), Err(CommandError::Missing { .. }));
    let missing: Vec<Program> = Program::ALL.into_iter().filter(is_missing).collect();
    let names = |programs: &[Program]| programs.iter().map(|program| program.name()).collect::<Vec<_>>().join(", ");
    match missing.as_slice() {
        [] => Finding::good(TOPIC, names(&Program::ALL)),
        some if some.iter().all(|program| matches!(program, Program::Sacct | Program::Sacctmgr)) => {
            let verb = if some.len() == 1 { "is" } else { "are" };
            let found = format!("{} {verb} missing", names(some));
            Finding::doubtful(
                TOPIC,
                found,
                "runs do not need these programs; without them, the ended jobs and the limits of the cluster are unknown",
            )
        }
        some => {
            let remedy =
                "use a login node, or add the folder of Slurm's programs to PATH (module load slurm at some sites)";
            Finding::bad(TOPIC, format!("missing on PATH: {}", names(some)), remedy)
        }
    }
}

/// Checks that the controller is up.
pub(super) fn controller(commands: &Commands) -> Finding {
    const TOPIC: &str = "controller";
    let begun = Instant::now();
    match commands.run(Program::Scontrol, ["ping"]) {
        Ok(printed) => {
            let time = begun.elapsed().as_millis();
            let lines: Vec<&str> = printed.out.lines().map(str::trim).filter(|line| line.contains(" at ")).collect();
            let (up, down): (Vec<&str>, Vec<&str>) = lines.into_iter().partition(|line| line.ends_with("UP"));
            if up.is_empty() {
                return Finding::bad(TOPIC, down.join("; "), "ask the administrators to start slurmctld");
            }
            if down.is_empty() && time < 2000 {
                return Finding::good(TOPIC, format!("{}, answers in {time} ms", up.join("; ")));
            }
            let found = format!("{}, answers in {time} ms", [up, down].concat().join("; "));
            Finding::doubtful(
                TOPIC,
                found,
                "a slow controller, or one without a backup, may delay runs, but does not lose them; try again later",
            )
        }
        Err(error) => {
            let (said, remedy) = split(&error.to_string());
            Finding::bad(TOPIC, said, remedy)
        }
    }
}

/// Checks that the versions of programs, controller and nodes are known and compatible.
pub(super) fn versions(commands: &Commands, config: &Config) -> Finding {
    const TOPIC: &str = "versions";
    let controller = config.version().unwrap_or_default();
    let printed = commands.run(Program::Sinfo, ["--version"]).map(|printed| printed.out).unwrap_or_default();
    let programs = printed.split_whitespace().last().unwrap_or_default();
    let nodes = commands.nodes().map(|nodes| nodes.items).unwrap_or_default();
    let mut others: Vec<&str> = nodes.iter().filter_map(|node| node.version.as_deref()).collect();
    others.sort_unstable();
    others.dedup();
    let found = if others.iter().all(|version| *version == controller) && programs == controller {
        format!("{controller} everywhere")
    } else {
        format!("controller {controller}, programs {programs}, nodes {}", others.join(" "))
    };
    let old = "ask the administrators for a newer Slurm; pilots need overlapping steps (version 20.11 or later)";
    match major(controller) {
        None => Finding::unknown(TOPIC, found, "the version number has an unknown form; runs may work"),
        Some(version) if version < MeasuredVersion::OVERLAPPING => Finding::bad(TOPIC, found, old),
        Some(version) if version < MeasuredVersion::OLDEST => Finding::doubtful(
            TOPIC,
            found,
            "this version is older than every tested version (from 22.05); test a short run first",
        ),
        Some(_) if others.iter().any(|other| major(other) != major(controller)) => Finding::doubtful(
            TOPIC,
            found,
            "the cluster is being upgraded; steps on nodes of another version may fail, and are then repeated",
        ),
        Some(_) => Finding::good(TOPIC, found),
    }
}

/// Parses year and month of a version such as `22.05.8`.
fn major(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split(['.', '-']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}
