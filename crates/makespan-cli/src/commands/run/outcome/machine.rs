//! The last line of a run, for programs.

use super::{KINDS, Outcomes};
use crate::output::shown;

impl Outcomes<'_> {
    /// `result: key=value ..`: how many tasks ended in each way, seconds, the exit status, and the folder, which is last since it may
    /// hold spaces. Keys stay; new ones may come before `folder`.
    pub fn machine_line(&self, status: u8) -> String {
        let counts = self.counts();
        let mut words = vec![format!("tasks={}", self.instance.tasks())];
        let key = |words: &'static str| words.replace(' ', "_");
        words.extend(KINDS.iter().map(|kind| format!("{}={}", key(kind.words()), counts.get(kind).unwrap_or(&0))));
        words.push(format!("retried={}", self.attempts.len()));
        words.push(format!("makespan={}", self.trace.schedule().makespan()));
        words.push(format!("planned={}", self.plan.makespan()));
        words.push(format!("status={status}"));
        words.push(format!("folder={}", shown(&self.folder.display().to_string())));
        format!("result: {}", words.join(" "))
    }
}
