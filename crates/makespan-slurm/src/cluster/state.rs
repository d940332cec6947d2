//! States of nodes and jobs.

/// The state of a node: a base such as `IDLE`, and flags such as `DRAIN`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeState {
    /// The base of the state: `IDLE`, `MIXED`, `ALLOCATED`, `DOWN` and so on.
    pub base: String,
    /// The flags of the state: `DRAIN`, `RESERVED`, `PLANNED`, `NOT_RESPONDING` and so on.
    pub flags: Vec<String>,
}

impl NodeState {
    /// Parses a state such as `IDLE+DRAIN`. If a sign follows the base, as in `IDLE*`, the sign is also a flag.
    pub fn parse(text: &str) -> Self {
        let mut words = text.split('+').map(str::trim).filter(|word| !word.is_empty());
        let word = words.next().unwrap_or_default();
        let base = word.trim_end_matches(|sign: char| !sign.is_ascii_alphanumeric());
        let signs = word[base.len()..].chars().filter_map(|sign| {
            let flag = match sign {
                '*' => "NOT_RESPONDING",
                '~' => "POWERED_DOWN",
                '#' => "POWERING_UP",
                '%' => "POWERING_DOWN",
                '!' => "POWER_DOWN",
                '$' => "MAINTENANCE",
                '@' => "REBOOT_REQUESTED",
                '^' => "REBOOT_ISSUED",
                '-' => "PLANNED",
                _ => return None,
            };
            Some(flag.to_owned())
        });
        Self { base: base.to_uppercase(), flags: signs.chain(words.map(str::to_uppercase)).collect() }
    }

    /// Returns true if the flag is set.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }

    /// Returns true if jobs run on the node, or can be started there.
    pub fn takes_jobs(&self) -> bool {
        const BASES: [&str; 4] = ["IDLE", "MIXED", "ALLOCATED", "COMPLETING"];
        const AWAY: [&str; 11] = [
            "DRAIN",
            "DRAINED",
            "DRAINING",
            "FAIL",
            "DOWN",
            "NOT_RESPONDING",
            "NO_RESPOND",
            "INVALID_REG",
            "REBOOT_ISSUED",
            "MAINTENANCE",
            "EXTERNAL",
        ];
        BASES.contains(&self.base.as_str()) && !AWAY.iter().any(|flag| self.has(flag))
    }
}

/// The state of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Waiting for its start.
    Pending,
    /// Its nodes are being prepared.
    Configuring,
    /// Running on its nodes.
    Running,
    /// Stopped temporarily.
    Suspended,
    /// Its processes are ending.
    Completing,
    /// Ended with success.
    Completed,
    /// Cancelled by a user or an administrator.
    Cancelled,
    /// Ended without success.
    Failed,
    /// Ended at its time limit.
    Timeout,
    /// Ended because a node failed.
    NodeFail,
    /// Ended because another job needed its nodes.
    Preempted,
    /// Ended because it used more memory than requested.
    OutOfMemory,
    /// Its deadline passed before it could run.
    Deadline,
    /// Ended because its node failed to boot.
    BootFail,
    /// Pending again after it was requeued.
    Requeued,
    /// A state that this crate does not know.
    Other(String),
}

impl JobState {
    /// Parses a state such as `RUNNING`. Flags may follow the state, as in `RUNNING+COMPLETING`.
    pub fn parse(text: &str) -> Self {
        let mut words = text.split(['+', ' ']).map(str::trim).filter(|word| !word.is_empty());
        let first = words.next().unwrap_or_default();
        let flags: Vec<&str> = words.collect();
        match first {
            "PENDING" | "PD" if flags.contains(&"REQUEUED") => Self::Requeued,
            "PENDING" | "PD" => Self::Pending,
            "CONFIGURING" | "CF" => Self::Configuring,
            "RUNNING" | "R" if flags.contains(&"CONFIGURING") => Self::Configuring,
            "RUNNING" | "R" if flags.contains(&"COMPLETING") => Self::Completing,
            "RUNNING" | "R" => Self::Running,
            "SUSPENDED" | "S" | "STOPPED" | "ST" => Self::Suspended,
            "COMPLETING" | "CG" | "STAGE_OUT" | "SIGNALING" => Self::Completing,
            "COMPLETED" | "CD" => Self::Completed,
            "CANCELLED" | "CA" | "REVOKED" => Self::Cancelled,
            "FAILED" | "F" | "LAUNCH_FAILED" | "RECONFIG_FAIL" => Self::Failed,
            "TIMEOUT" | "TO" => Self::Timeout,
            "NODE_FAIL" | "NF" => Self::NodeFail,
            "PREEMPTED" | "PR" => Self::Preempted,
            "OUT_OF_MEMORY" | "OOM" => Self::OutOfMemory,
            "DEADLINE" | "DL" => Self::Deadline,
            "BOOT_FAIL" | "BF" => Self::BootFail,
            "REQUEUED" | "RQ" | "REQUEUE_HOLD" | "SPECIAL_EXIT" | "REQUEUE_FED" | "RESV_DEL_HOLD" => Self::Requeued,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Returns true if the job is pending.
    pub fn is_waiting(&self) -> bool {
        matches!(self, Self::Pending | Self::Requeued)
    }

    /// Returns true if the job holds nodes.
    pub fn holds_nodes(&self) -> bool {
        matches!(self, Self::Configuring | Self::Running | Self::Suspended | Self::Completing)
    }

    /// Returns true if the job has ended. If this crate does not know the state, returns false.
    pub fn has_ended(&self) -> bool {
        !self.is_waiting() && !self.holds_nodes() && !matches!(self, Self::Other(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_bases_and_flags() {
        let state = NodeState::parse("IDLE+DRAIN");
        assert_eq!((state.base.as_str(), state.has("DRAIN"), state.takes_jobs()), ("IDLE", true, false));
        assert!(NodeState::parse("MIXED+PLANNED").takes_jobs());
        assert!(!NodeState::parse("IDLE*").takes_jobs() && !NodeState::parse("DOWN").takes_jobs());
        assert!(!NodeState::parse("").takes_jobs() && !NodeState::parse("FUTURE").takes_jobs());
    }

    #[test]
    fn jobs_wait_hold_nodes_or_are_over() {
        for (text, [waits, holds, ended]) in [
            ("PENDING", [true, false, false]),
            ("RUNNING", [false, true, false]),
            ("RUNNING+CONFIGURING", [false, true, false]),
            ("COMPLETING", [false, true, false]),
            ("NODE_FAIL", [false, false, true]),
            ("SOMETHING_NEW", [false, false, false]),
        ] {
            let state = JobState::parse(text);
            assert_eq!([state.is_waiting(), state.holds_nodes(), state.has_ended()], [waits, holds, ended], "{text}");
        }
    }
}
