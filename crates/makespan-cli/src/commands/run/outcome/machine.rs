//! The last line of a run's output, which programs can parse.

use std::path::Path;

use super::{KINDS, Outcomes};
use crate::output::shell_word;

impl Outcomes<'_> {
    /// Returns `result: key=value ..`: the number of jobs with each outcome, times in seconds, the exit status and the
    /// folder. Leaves `planned` out if no run times were known. A task of a compound job or of a bag counts as a job. A value with blanks is quoted as for a shell. The
    /// keys are stable.
    pub fn machine_line(&self, status: u8, folder: &Path) -> String {
        let counts = self.counts();
        let mut words = vec![format!("jobs={}", self.instance.tasks())];
        let key = |words: &'static str| words.replace(' ', "_");
        words.extend(KINDS.iter().map(|kind| format!("{}={}", key(kind.words()), counts.get(kind).unwrap_or(&0))));
        words.push(format!("retried={}", self.attempts.len()));
        words.push(format!("makespan={}", self.trace.schedule().makespan()));
        if self.has_plan {
            words.push(format!("planned={}", self.plan.makespan()));
        }
        words.push(format!("status={status}"));
        words.push(format!("folder={}", shell_word(folder.as_os_str())));
        format!("result: {}", words.join(" "))
    }
}
