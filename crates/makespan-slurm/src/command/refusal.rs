//! The meaning of Slurm's error messages, and the remedy for each.

/// The reason why Slurm refused a request, derived from its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// The controller does not answer. The request did not reach it.
    Unreachable,
    /// The controller did not answer in time. It may have performed the request.
    Unanswered,
    /// The controller cannot accept the request now.
    Busy,
    /// The user does not have the permission.
    NoRights,
    /// The user is unknown to the cluster, or the controller does not trust the programs on this machine.
    Identity,
    /// This machine has no configuration of a cluster.
    NoConfiguration,
    /// The partition does not exist, is closed, or does not admit this user.
    Partition,
    /// The account or the quality of service is invalid, or exceeds a limit.
    Account,
    /// The time limit exceeds the partition's limit, or is missing although it is required.
    TimeLimit,
    /// The request exceeds the nodes, processors, memory or GPUs of the cluster, or names an unknown node.
    Resources,
    /// The reservation does not exist, has ended, or does not admit this user.
    Reservation,
    /// The job or step does not exist any more.
    NoSuchJob,
    /// The job has ended or is ending.
    JobEnding,
    /// The cluster keeps no accounts.
    NoAccounting,
    /// The option is unknown to this version.
    Option,
    /// The meaning of the message is unknown.
    Other,
}

/// Parts of Slurm's messages in lower case, each with its meaning. The messages are from Slurm's file `slurm_errno.c`
/// and from its programs. If a message contains several of these parts, the first part in this list determines the
/// meaning.
const SAID: [(&str, Refusal); 66] = [
    ("could not establish a configuration source", Refusal::NoConfiguration),
    ("unable to process configuration file", Refusal::NoConfiguration),
    ("configuration file", Refusal::NoConfiguration),
    ("socket timed out", Refusal::Unanswered),
    ("zero bytes were transmitted", Refusal::Unanswered),
    ("communication connection failure", Refusal::Unreachable),
    ("unable to contact slurm controller", Refusal::Unreachable),
    ("unable to contact the controller", Refusal::Unreachable),
    ("connection refused", Refusal::Unreachable),
    ("no route to host", Refusal::Unreachable),
    ("transport endpoint", Refusal::Unreachable),
    (" is down", Refusal::Unreachable),
    ("connection timed out", Refusal::Unanswered),
    ("connection reset", Refusal::Unanswered),
    ("missing socket error", Refusal::Unanswered),
    ("standby mode", Refusal::Unreachable),
    ("in reboot", Refusal::Busy),
    ("reservation", Refusal::Reservation),
    ("unable to accept job", Refusal::Busy),
    ("temporarily unable", Refusal::Busy),
    ("temporarily disabled", Refusal::Busy),
    ("resource temporarily unavailable", Refusal::Busy),
    ("too many requests", Refusal::Busy),
    ("rate limit", Refusal::Busy),
    ("protocol authentication error", Refusal::Identity),
    ("authentication", Refusal::Identity),
    ("munge", Refusal::Identity),
    ("credential", Refusal::Identity),
    ("user not found on host", Refusal::Identity),
    ("incompatible versions", Refusal::Identity),
    ("group not permitted", Refusal::Partition),
    ("account/partition", Refusal::Account),
    ("partition", Refusal::Partition),
    ("account", Refusal::Account),
    ("qos", Refusal::Account),
    ("wckey", Refusal::Account),
    ("association", Refusal::Account),
    ("time limit", Refusal::TimeLimit),
    ("timelimit", Refusal::TimeLimit),
    ("time specification", Refusal::TimeLimit),
    ("permission denied", Refusal::NoRights),
    ("access/permission", Refusal::NoRights),
    ("invalid user id", Refusal::NoRights),
    ("not permitted", Refusal::NoRights),
    ("must be root", Refusal::NoRights),
    ("invalid job id", Refusal::NoSuchJob),
    ("already completing", Refusal::JobEnding),
    ("already completed", Refusal::JobEnding),
    ("has expired", Refusal::JobEnding),
    ("has been revoked", Refusal::JobEnding),
    ("job/step", Refusal::JobEnding),
    ("node configuration", Refusal::Resources),
    ("node count", Refusal::Resources),
    ("node name", Refusal::Resources),
    ("nodes are busy", Refusal::Resources),
    ("more processors", Refusal::Resources),
    ("memory", Refusal::Resources),
    ("gres", Refusal::Resources),
    ("generic resource", Refusal::Resources),
    ("feature specification", Refusal::Resources),
    ("trackable resource", Refusal::Resources),
    ("cpu count", Refusal::Resources),
    ("unrecognized option", Refusal::Option),
    ("unknown option", Refusal::Option),
    ("invalid option", Refusal::Option),
    ("invalid job format", Refusal::Option),
];

impl Refusal {
    /// Returns the meaning of a message of Slurm.
    ///
    /// ```
    /// use makespan_slurm::Refusal;
    ///
    /// let said = "sbatch: error: Batch job submission failed: Invalid partition name specified";
    /// assert_eq!(Refusal::of(said), Refusal::Partition);
    /// ```
    pub fn of(said: &str) -> Self {
        let said = said.to_lowercase();
        // "Account" may mean the account that is charged, or the accounting data of past jobs. Messages about
        // accounting data are checked first.
        if said.contains("accounting storage is disabled") || said.contains("slurmdbd") {
            return Self::NoAccounting;
        }
        SAID.iter().find(|(part, _)| said.contains(part)).map_or(Self::Other, |&(_, refusal)| refusal)
    }

    /// Returns true if the same request may succeed a little later.
    pub const fn is_passing(self) -> bool {
        matches!(self, Self::Unreachable | Self::Unanswered | Self::Busy)
    }

    /// Returns true if the controller may have performed the request.
    pub const fn is_ambiguous(self) -> bool {
        matches!(self, Self::Unanswered)
    }

    /// Returns what the user can do, as a text for messages.
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::Unreachable => {
                "the controller (slurmctld) does not run, or cannot be reached from this machine; `scontrol ping` \
                 shows its host; try again when it answers"
            }
            Self::Unanswered => {
                "the controller did not answer in time, but may have carried out the request; check `squeue --me` first"
            }
            Self::Busy => "the controller is busy; try again later",
            Self::NoRights => "ask the administrators of the cluster for this permission, or let them run the command",
            Self::Identity => {
                "this machine and the controller do not trust each other, or do not know this user; munged must run \
                 on both machines, with the same key and the same time (test: `munge -n | unmunge`), and the \
                 controller must support the Slurm version of this machine"
            }
            Self::NoConfiguration => {
                "this machine belongs to no cluster; use a login node, or state the configuration file of the \
                 cluster: export SLURM_CONF=/etc/slurm/slurm.conf"
            }
            Self::Partition => "`sinfo -s` lists the partitions and their limits; choose a partition: --partition NAME",
            Self::Account => {
                "`sacctmgr show assoc user=$USER` lists the accounts and the qualities of service; choose an account \
                 (--account NAME) or a QOS (--slurm=--qos=NAME)"
            }
            Self::TimeLimit => {
                "`sinfo -o '%P %l'` shows the maximum time limit of each partition; request a shorter time limit: \
                 --time MINUTES"
            }
            Self::Resources => {
                "`sinfo -N -o '%N %c %m %G %f'` shows the resources of each node; request a combination that some nodes have"
            }
            Self::Reservation => {
                "`scontrol show reservations` lists the reservations with their times and users; name a valid \
                 reservation, or no reservation"
            }
            Self::NoSuchJob => {
                "there is no such job; its number is wrong, or it has ended and the controller has forgotten it \
                 (MinJobAge)"
            }
            Self::JobEnding => "the job has ended or is ending; nothing needs to be done",
            Self::NoAccounting => "this cluster keeps no accounting; `squeue` and `scontrol` are used instead",
            Self::Option => {
                "this version of Slurm does not support the option; `makespan slurm doctor` shows the versions"
            }
            Self::Other => "`makespan slurm doctor` shows what this cluster allows",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Refusal;

    #[test]
    fn what_slurm_says_has_a_meaning() {
        let cases = [
            ("sinfo: fatal: Could not establish a configuration source", Refusal::NoConfiguration),
            ("slurm_load_node error: Unable to contact slurm controller (connect failure)", Refusal::Unreachable),
            (
                "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
                Refusal::Unanswered,
            ),
            ("scancel: error: Kill job error on job id 3: Access/permission denied", Refusal::NoRights),
            ("Invalid user id for job 3", Refusal::NoRights),
            (
                "sbatch: error: Batch job submission failed: User's group not permitted to use this partition",
                Refusal::Partition,
            ),
            (
                "error: Batch job submission failed: Invalid account or account/partition combination specified",
                Refusal::Account,
            ),
            (
                "sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)",
                Refusal::TimeLimit,
            ),
            (
                "sbatch: error: Batch job submission failed: Requested node configuration is not available",
                Refusal::Resources,
            ),
            ("sbatch: error: Batch job submission failed: Requested reservation is invalid", Refusal::Reservation),
            ("Slurm accounting storage is disabled", Refusal::NoAccounting),
            (
                "srun: error: Unable to create step for job 7: Job/step already completing or completed",
                Refusal::JobEnding,
            ),
            ("sbatch: error: Batch job submission failed: Invalid qos specification", Refusal::Account),
            ("slurm_load_partitions error: Transport endpoint is not connected", Refusal::Unreachable),
            ("Slurmctld(primary) at login is DOWN", Refusal::Unreachable),
            ("sinfo: unrecognized option '--nope'", Refusal::Option),
            ("something else", Refusal::Other),
        ];
        for (said, meaning) in cases {
            assert_eq!(Refusal::of(said), meaning, "{said}");
            assert!(!meaning.remedy().is_empty());
        }
    }
}
