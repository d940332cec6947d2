//! Which programs there are, and the environment in which what they print means the same everywhere.

use std::fmt;
use std::process::Command;

/// A program of Slurm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Program {
    /// Submits a job.
    Sbatch,
    /// Starts a step, or a job of one step.
    Srun,
    /// Shows and changes what the controller knows.
    Scontrol,
    /// Shows jobs.
    Squeue,
    /// Shows nodes and partitions.
    Sinfo,
    /// Ends jobs.
    Scancel,
    /// Shows jobs of the past, where the cluster keeps accounts.
    Sacct,
    /// Shows what accounts may have; it could change it, which nobody here asks for.
    Sacctmgr,
}

/// Variables by which a user changes what the reading programs print, or which of it.
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
    /// All of them.
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

    /// As it is called.
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
        }
    }

    /// Whether it makes something that would be there twice if it were run twice.
    pub(super) const fn makes(self) -> bool {
        matches!(self, Self::Sbatch | Self::Srun)
    }

    /// Whether it hands its environment on to jobs.
    const fn hands_on_environment(self) -> bool {
        self.makes()
    }

    /// Whether it failed although it ended with success: `squeue` and `sinfo` do for an unknown field.
    pub(super) fn fails_in_silence(self, warnings: &str) -> bool {
        matches!(self, Self::Squeue | Self::Sinfo) && warnings.contains("error: Invalid")
    }

    /// Makes what it prints independent of the user's habits: times are UTC, lists are never cut short. The environment of what
    /// jobs inherit stays as it is.
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
