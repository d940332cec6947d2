//! The exit status of a run, as GNU parallel states it.

/// Exit status for all errors that are not failures of jobs.
pub const ERROR: u8 = 255;

/// The largest number of jobs that an exit status states.
const LARGEST: u64 = 100;

/// Facts that decide the exit status of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunEnding {
    /// The number of jobs that failed or were not run, in all sessions of the run.
    pub unsuccessful: u64,
    /// Exit status for the signal that stopped the run before its end.
    pub stopped: Option<u8>,
    /// Whether an error has kept outputs or the report from being written.
    pub is_incomplete: bool,
}

impl RunEnding {
    /// Returns the exit status: 255 after an error, 128 and the signal if the run was stopped, and otherwise the number of
    /// jobs that failed or were not run, or 101 if there are more than 100.
    pub fn status(self) -> u8 {
        match (self.is_incomplete, self.stopped, self.unsuccessful) {
            (true, ..) => ERROR,
            (false, Some(status), _) => status,
            (false, None, jobs) => u8::try_from(jobs.min(LARGEST + 1)).unwrap_or(ERROR),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_the_number_of_jobs_without_success() {
        for (unsuccessful, stopped, is_incomplete, status) in [
            (0, None, false, 0),
            (1, None, false, 1),
            (100, None, false, 100),
            (101, None, false, 101),
            (1_000_000, None, false, 101),
            (7, Some(143), false, 143),
            (0, None, true, 255),
            (3, Some(130), true, 255),
        ] {
            assert_eq!(RunEnding { unsuccessful, stopped, is_incomplete }.status(), status);
        }
    }
}
