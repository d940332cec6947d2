//! Decides when a run without a terminal prints a progress line.

use std::time::{Duration, Instant};

/// Time after which a progress line is due regardless of the number of ended jobs, unless the user requests progress.
const INTERVAL: Duration = Duration::from_mins(1);

/// Minimum time between two progress lines.
const SHORTEST: Duration = Duration::from_secs(1);

/// Maximum number of progress lines of a run. Each line is due after the same number of ended jobs.
const PARTS: u64 = 20;

/// The time of the last progress line, and the number of ended tasks at this time.
pub struct Milestones {
    at: Instant,
    interval: Duration,
    /// Number of ended tasks when the last line was printed, if known.
    ended: Option<u64>,
}

impl Milestones {
    /// Starts the clock at `now`. If `wanted` is true, a progress line is due each second.
    pub fn new(now: Instant, wanted: bool) -> Self {
        Self { at: now, interval: if wanted { SHORTEST } else { INTERVAL }, ended: None }
    }

    /// Returns true if a progress line is due: a minute after the last line, or when 5 % of the tasks have ended since
    /// the last line. At most one line is due each second. No line is due after the last task has ended.
    pub fn is_due(&mut self, now: Instant, ended: u64, tasks: u64) -> bool {
        let before = *self.ended.get_or_insert(ended);
        let (passed, part) = (now.duration_since(self.at), ended.saturating_sub(before));
        let is_large = part > 0 && part.saturating_mul(PARTS) >= tasks;
        let is_due = ended < tasks && (passed >= self.interval || is_large && passed >= SHORTEST);
        if is_due {
            (self.at, self.ended) = (now, Some(ended));
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_due_each_minute_or_five_percent() {
        let begun = Instant::now();
        let mut milestones = Milestones::new(begun, false);
        let events = [
            (0.1, 10, false),
            (2.0, 14, false),
            (2.1, 15, true),
            (2.2, 40, false),
            (3.2, 40, true),
            (63.1, 40, false),
            (63.2, 40, true),
            (70.0, 44, false),
            (123.3, 44, true),
            (200.0, 100, false),
        ];
        for (seconds, ended, due) in events {
            let now = begun + Duration::from_secs_f64(seconds);
            assert_eq!(milestones.is_due(now, ended, 100), due, "{seconds} {ended}");
        }
        let mut wanted = Milestones::new(begun, true);
        for (tenths, due) in [(9, false), (10, true), (19, false), (20, true)] {
            assert_eq!(wanted.is_due(begun + Duration::from_millis(100 * tenths), 1, 100), due, "{tenths}");
        }
    }
}
