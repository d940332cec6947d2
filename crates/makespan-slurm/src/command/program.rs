//! Slurm's programs, and an environment in which their output does not depend on the user's settings.

use std::fmt;
use std::process::Command;

/// A program of Slurm, or of another batch system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Program {
    /// Submits a job.
    Sbatch,
    /// Starts a step, or a job with one step.
    Srun,
    /// Shows and changes the state of the controller.
    Scontrol,
    /// Shows jobs.
    Squeue,
    /// Shows nodes and partitions.
    Sinfo,
    /// Cancels jobs.
    Scancel,
    /// Shows past jobs, if the cluster keeps accounts.
    Sacct,
    /// Shows the limits of accounts. This crate never changes them.
    Sacctmgr,
    /// A program of another batch system, with its name or path.
    Named(&'static str),
}

/// Environment variables by which users change the output of Slurm's query programs.
const TASTES: [&str; 27] = [
    "SINFO_ALL",
    "SINFO_FEDERATION",
    "SINFO_FORMAT",
    "SINFO_LOCAL",
    "SINFO_PARTITION",
    "SINFO_SORT",
    "SQUEUE_ACCOUNT",
    "SQUEUE_ALL",
    "SQUEUE_ARRAY",
    "SQUEUE_FEDERATION",
    "SQUEUE_FORMAT",
    "SQUEUE_FORMAT2",
    "SQUEUE_LICENSES",
    "SQUEUE_LOCAL",
    "SQUEUE_NAMES",
    "SQUEUE_PARTITION",
    "SQUEUE_PRIORITY",
    "SQUEUE_QOS",
    "SQUEUE_SIBLING",
    "SQUEUE_SORT",
    "SQUEUE_STATES",
    "SQUEUE_USERS",
    "SCONTROL_ALL",
    "SACCT_FORMAT",
    "SACCT_FEDERATION",
    "SACCT_LOCAL",
    "SLURM_JSON",
];

impl Program {
    /// All programs of Slurm.
    pub const ALL: [Self; 8] = [
        Self::Sbatch,
        Self::Srun,
        Self::Scontrol,
        Self::Squeue,
        Self::Sinfo,
        Self::Scancel,
        Self::Sacct,
        Self::Sacctmgr,
    ];

    /// Returns the name of the program.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sbatch => "sbatch",
            Self::Srun => "srun",
            Self::Scontrol => "scontrol",
            Self::Squeue => "squeue",
            Self::Sinfo => "sinfo",
            Self::Scancel => "scancel",
            Self::Sacct => "sacct",
            Self::Sacctmgr => "sacctmgr",
            Self::Named(name) => name,
        }
    }

    /// Returns the program with this name. If the program does not belong to Slurm, each call leaks the memory of the
    /// name, so call this function only a few times.
    pub fn of_name(name: &str) -> Self {
        let known = Self::ALL.into_iter().find(|program| program.name() == name);
        known.unwrap_or_else(|| Self::Named(name.to_owned().leak()))
    }

    /// Returns true if the program creates a job or a step, so that a second call would create a second job or step.
    /// Also returns true for each program of another batch system, because it may create a job.
    pub(super) const fn makes(self) -> bool {
        matches!(self, Self::Sbatch | Self::Srun | Self::Named(_))
    }

    /// Returns true if jobs inherit the environment of the program.
    const fn hands_on_environment(self) -> bool {
        self.makes()
    }

    /// Returns true if the program failed although its exit status is zero. `squeue` and `sinfo` do so for an unknown
    /// field.
    pub(super) fn fails_in_silence(self, warnings: &str) -> bool {
        matches!(self, Self::Squeue | Self::Sinfo) && warnings.contains("error: Invalid")
    }

    /// Sets an environment in which the output of a program does not depend on the user's settings. Times are in UTC,
    /// and lists are never shortened. If jobs inherit the environment of the program, leaves the environment
    /// unchanged.
    pub(super) fn prepare(self, command: &mut Command) {
        if self.hands_on_environment() {
            return;
        }
        for name in TASTES {
            command.env_remove(name);
        }
        command.envs([("TZ", "UTC"), ("SLURM_TIME_FORMAT", "standard"), ("SLURM_BITSTR_LEN", "0"), ("LC_ALL", "C")]);
    }
}

impl fmt::Display for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
