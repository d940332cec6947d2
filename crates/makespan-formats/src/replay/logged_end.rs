//! How the jobs of a log ended.

/// The end of a job in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggedEnd {
    /// The job succeeded.
    Succeeded,
    /// The job was killed at its time limit.
    AtLimit,
    /// The job was cancelled.
    Cancelled,
    /// The job ended without success for another reason.
    Failed,
}

impl LoggedEnd {
    /// Returns the end that a state of Slurm describes, such as `CANCELLED`. A cut state such as `OUT_OF_ME+` is read as
    /// well. Returns `None` if the state is empty.
    pub(crate) fn of_slurm(state: &str) -> Option<Self> {
        match state {
            "" => None,
            "COMPLETED" => Some(Self::Succeeded),
            "TIMEOUT" => Some(Self::AtLimit),
            cancelled if cancelled.starts_with("CANCELLED") => Some(Self::Cancelled),
            _ => Some(Self::Failed),
        }
    }

    /// Returns the end that a status of SWF describes. SWF has no status for jobs that were killed at their time limit:
    /// `is_at_limit` states if the job ran at least for its requested time. Returns `None` for an unknown status, and for
    /// a part of a job that was continued later.
    pub(crate) fn of_swf(status: Option<u64>, is_at_limit: bool) -> Option<Self> {
        match status? {
            1 | 3 => Some(Self::Succeeded),
            0 | 4 | 5 if is_at_limit => Some(Self::AtLimit),
            0 | 4 => Some(Self::Failed),
            5 => Some(Self::Cancelled),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_statuses_are_ends() {
        let slurm = ["", "COMPLETED", "TIMEOUT", "CANCELLED", "CANCELLED+", "OUT_OF_ME+", "NODE_FAIL"];
        let (ok, limit, cancelled, failed) =
            (LoggedEnd::Succeeded, LoggedEnd::AtLimit, LoggedEnd::Cancelled, LoggedEnd::Failed);
        let ends = [None, Some(ok), Some(limit), Some(cancelled), Some(cancelled), Some(failed), Some(failed)];
        assert_eq!(slurm.map(LoggedEnd::of_slurm), ends);
        let swf = [None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(5), Some(9)];
        let early = [None, Some(failed), Some(ok), None, Some(ok), Some(failed), Some(cancelled), None];
        assert_eq!(swf.map(|status| LoggedEnd::of_swf(status, false)), early);
        let late = [None, Some(limit), Some(ok), None, Some(ok), Some(limit), Some(limit), None];
        assert_eq!(swf.map(|status| LoggedEnd::of_swf(status, true)), late);
    }
}
