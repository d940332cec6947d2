//! Explains why a job waits for other jobs on which it depends.

use makespan_core::{WaitKind, WaitReason};

use crate::queue::Condition;

use super::outcome::ForecastOutcome;
use super::ready::{Link, Ready};
use super::reason::Reasons;
use super::why::span;

impl Reasons<'_> {
    /// If the job depends on other jobs, returns this as the reason.
    pub(super) fn others(&self, index: usize) -> Option<WaitReason> {
        let links = self.links.of_job(index);
        if links.is_empty() {
            return None;
        }
        let now = self.model.queue.now;
        let ForecastOutcome { started, ended, expired, .. } = self.outcome;
        let expected = self.links.ready(index, started, ended, expired);
        match self.links.ready(index, &self.started, &self.ended, &self.expired) {
            Ready::At(at) if at <= now => return None,
            // If one of several dependencies is sufficient, another one may be satisfied earlier.
            Ready::At(at) if expected == Ready::At(at) => return Some(self.delay(index, at)),
            _ => {}
        }
        let is_open = |link: &&Link| link.instant(&self.started, &self.ended, &self.expired).is_none_or(|at| at > now);
        let mut events: Vec<(String, Vec<usize>, usize)> = Vec::new();
        for link in links.iter().filter(is_open) {
            let event = self.event(link);
            match events.iter_mut().find(|own| own.0 == event) {
                Some((_, jobs, links)) => {
                    jobs.extend(&link.jobs);
                    *links += 1;
                }
                None => events.push((event, link.jobs.clone(), 1)),
            }
        }
        let any = links.iter().any(|link| link.any);
        let phrase = |names: &dyn Fn(&[usize]) -> String| {
            let of = |(event, jobs, links): &(String, Vec<usize>, usize)| {
                let mut jobs = jobs.clone();
                jobs.sort_unstable();
                jobs.dedup();
                let one_of = if any && *links > 1 && jobs.len() > 1 { "one of " } else { "" };
                event.replace("{}", &format!("{one_of}{}", names(&jobs)))
            };
            events.iter().map(of).collect::<Vec<_>>().join(if any { " or " } else { " and " })
        };
        let expected = match expected {
            Ready::At(at) => format!("expected at {}", (self.clock)(at)),
            Ready::Later if events.iter().any(|own| own.1.iter().any(|&other| expired[other].is_some())) => {
                "which its deadline prevents".to_owned()
            }
            Ready::Later => "at an unknown time".to_owned(),
        };
        let brief = format!("waits for {}", phrase(&|jobs| self.brief_names(jobs)));
        let text = format!("it waits for {} ({expected})", phrase(&|jobs| self.names(jobs)));
        Some(WaitReason::new(WaitKind::Dependency, brief, text))
    }

    /// Describes the event for which a link waits. The braces stand for the names of its jobs.
    fn event(&self, link: &Link) -> String {
        match link.condition {
            Condition::Succeeded | Condition::SameTask => "{} to succeed".to_owned(),
            Condition::Started(delay) if delay > 0 => {
                let delay = span(delay.unsigned_abs());
                let all_run = link.jobs.iter().all(|&job| self.started[job].is_some());
                if all_run {
                    format!("{delay} since the start of {{}}")
                } else {
                    format!("{{}} to start, and {delay} more")
                }
            }
            Condition::Started(_) => "{} to start".to_owned(),
            Condition::Ended | Condition::Failed | Condition::Singleton => "{} to end".to_owned(),
        }
    }

    /// Returns the reason for a job that may start only some time after other jobs have started, at the instant `at`.
    fn delay(&self, index: usize, at: i64) -> WaitReason {
        let last = |link: &&Link| link.instant(&self.started, &self.ended, &self.expired) == Some(at);
        let (mut others, mut wait) = (Vec::new(), 0);
        for link in self.links.of_job(index).iter().filter(last) {
            if let Condition::Started(delay) = link.condition {
                let ends_last = |&&job: &&usize| self.started[job].map(|start| start.saturating_add(delay)) == Some(at);
                others.extend(link.jobs.iter().filter(ends_last));
                wait = delay;
            }
        }
        others.sort_unstable();
        others.dedup();
        let (time, whose) = (span(wait.unsigned_abs()), self.names(&others));
        let brief = format!("{time} after the start of {}", self.brief_names(&others));
        let text = format!("it may start {time} after the start of {whose}, at {}", (self.clock)(at));
        WaitReason::new(WaitKind::Dependency, brief, text)
    }
}
