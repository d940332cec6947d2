//! The log of a policy about its plans.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::model::{Instance, TaskId, Time};
use crate::schedule::StartPlace;

/// One line of a policy's log ([`crate::Policy::log`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// The instant of the decision.
    pub time: Time,
    /// The task that the decision is about, or the first task of the job if the decision is about a whole job
    /// ([`LoggedDecision::is_of_job`]).
    #[serde(rename = "job")]
    pub task: TaskId,
    /// The decision that was made.
    pub what: LoggedDecision,
}

/// A logged decision of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoggedDecision {
    /// A job received a plan, which is one variant of its strategy.
    Planned {
        /// Number of variants of the job's strategy.
        variants: usize,
        /// Planned end of the last task.
        finish: Time,
        /// Cost of the plan ([`crate::cost`]), in thousandths.
        cost: i128,
        /// Deadline of the job.
        deadline: Time,
        /// The last instant at which the first task may start so that the job still meets its deadline, if all tasks are
        /// delayed equally. `None` if the plan is late.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Time>,
    },
    /// The planned processor of a task was not free, and the task received another processor.
    Collision {
        /// The planned processor and start.
        planned: StartPlace,
        /// The actual processor and start.
        resolved: StartPlace,
        /// Penalty of the change from the planned to the actual processor.
        penalty: i64,
    },
    /// Machines changed, and the job continues with another variant of its strategy. Variants are numbered from 0, by
    /// ascending finish.
    OtherVariant {
        /// The number of the previous variant.
        from: usize,
        /// The number of the new variant.
        to: usize,
        /// The last possible start of the new variant, as in `Planned`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Time>,
    },
    /// Machines changed and no variant remains. The tasks of the job that have not started are planned again.
    PlannedAgain {
        /// New planned end of the last task.
        finish: Time,
    },
    /// No variant meets the deadline, so the job uses a list schedule.
    Fallback {
        /// Planned end of the last task.
        finish: Time,
        /// Deadline of the job.
        deadline: Time,
    },
    /// No variant meets the deadline and late jobs are not accepted, so the job is cancelled.
    Rejected {
        /// The instant at which the job would end if it were not cancelled.
        finish: Time,
        /// Deadline of the job.
        deadline: Time,
    },
    /// The cheapest plan exceeds the budget of the job, so the job is cancelled.
    Unaffordable {
        /// Cost of the cheapest plan, in thousandths.
        cost: i128,
        /// Budget of the job, in thousandths.
        budget: i128,
    },
}

impl LoggedDecision {
    /// Returns true if the decision is about a job, not about one of its tasks.
    pub const fn is_of_job(&self) -> bool {
        !matches!(self, Self::Collision { .. })
    }

    /// Returns the deadline of the job, if the entry contains one.
    pub const fn deadline(&self) -> Option<Time> {
        match *self {
            Self::Planned { deadline, .. } | Self::Fallback { deadline, .. } | Self::Rejected { deadline, .. } => {
                Some(deadline)
            }
            Self::Collision { .. }
            | Self::OtherVariant { .. }
            | Self::PlannedAgain { .. }
            | Self::Unaffordable { .. } => None,
        }
    }

    /// Returns the planned end of the job, if the entry contains one.
    pub const fn finish(&self) -> Option<Time> {
        match *self {
            Self::Planned { finish, .. }
            | Self::PlannedAgain { finish }
            | Self::Fallback { finish, .. }
            | Self::Rejected { finish, .. } => Some(finish),
            Self::Collision { .. } | Self::OtherVariant { .. } | Self::Unaffordable { .. } => None,
        }
    }

    /// Returns the last possible start of the chosen variant, if the entry contains one.
    pub const fn until(&self) -> Option<Time> {
        match *self {
            Self::Planned { until, .. } | Self::OtherVariant { until, .. } => until,
            _ => None,
        }
    }

    /// Returns the name of this kind of decision in files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Planned { .. } => "planned",
            Self::Collision { .. } => "collision",
            Self::OtherVariant { .. } => "other_variant",
            Self::PlannedAgain { .. } => "planned_again",
            Self::Fallback { .. } => "fallback",
            Self::Rejected { .. } => "rejected",
            Self::Unaffordable { .. } => "unaffordable",
        }
    }
}

impl LogEntry {
    /// Returns the name of the task or job that the entry is about.
    pub fn name<'a>(&self, instance: &'a Instance) -> Cow<'a, str> {
        if self.what.is_of_job() {
            return Cow::Borrowed(&instance.job_of(self.task).name);
        }
        instance.name(self.task)
    }

    /// Returns a sentence about the decision, without its subject. Reports print this sentence after the name of the
    /// task or job. Seconds are rounded to milliseconds.
    pub fn sentence(&self) -> String {
        match self.what {
            LoggedDecision::Planned { variants, finish, cost, deadline, until } => format!(
                "is planned by {}: it ends at {} s at a cost of {}{}{}",
                if variants == 1 { "the only variant".to_owned() } else { format!("one of {variants} variants") },
                short(finish),
                cost as f64 / 1e3,
                late(finish, deadline),
                possible(until)
            ),
            LoggedDecision::Collision { planned, resolved, penalty } => format!(
                "collided on processor {} at {} s, and now runs on processor {} from {} s (penalty: {penalty})",
                planned.processor,
                short(planned.start),
                resolved.processor,
                short(resolved.start)
            ),
            LoggedDecision::OtherVariant { from, to, until } => {
                let until = possible(until);
                format!("continues with variant {} instead of {}, because machines changed{until}", to + 1, from + 1)
            }
            LoggedDecision::PlannedAgain { finish } => format!(
                "is planned again, because machines changed and no variant remains: it ends at {} s",
                short(finish)
            ),
            LoggedDecision::Fallback { finish, deadline } => format!(
                "has no variant that meets the deadline and uses a list schedule: it ends at {} s{}",
                short(finish),
                late(finish, deadline)
            ),
            LoggedDecision::Rejected { finish, deadline } => {
                format!("is cancelled: it would end at {} s{}", short(finish), late(finish, deadline))
            }
            LoggedDecision::Unaffordable { cost, budget } => format!(
                "is cancelled: its cheapest plan costs {}, more than its budget of {}",
                cost as f64 / 1e3,
                budget as f64 / 1e3
            ),
        }
    }
}

/// Returns a clause with the last possible start of a variant, if there is one.
fn possible(until: Option<Time>) -> String {
    until.map_or_else(String::new, |until| format!(" (possible until {} s)", short(until)))
}

/// Describes by how much an end is after the deadline. Returns an empty text if the end is not after the deadline.
fn late(finish: Time, deadline: Time) -> String {
    if finish > deadline { format!(", {} s after its deadline", short(finish - deadline)) } else { String::new() }
}

/// Returns a time in seconds, rounded to milliseconds.
fn short(time: Time) -> f64 {
    (time.seconds() * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Edge, Graph, Job, NamedTask, Payload, Platform, Profile};

    #[test]
    fn entries_name_the_job_or_the_task() {
        let task = |name| NamedTask::new(name, Profile::rigid(1, Time::from_seconds(1)).unwrap());
        let edge = Edge { from: 0, to: 1, payload: Payload::Fixed(Time::ZERO) };
        let job = Job::compound("pair", Graph::new(vec![task("a"), task("b")], vec![edge]).unwrap());
        let bag = Job::new("bag", Profile::rigid(1, Time::from_seconds(1)).unwrap()).with_count(2.try_into().unwrap());
        let instance = Instance::new(Platform::flat(2).unwrap(), vec![job, bag], vec![]).unwrap();
        let entry = |task, what| LogEntry { time: Time::ZERO, task: TaskId(task), what };
        let at = |processor, seconds| StartPlace { processor, start: Time::from_seconds(seconds) };
        let moved = entry(1, LoggedDecision::Collision { planned: at(0, 1), resolved: at(1, 2), penalty: 3 });
        assert_eq!(moved.name(&instance), "pair/b");
        assert_eq!(
            moved.sentence(),
            "collided on processor 0 at 1 s, and now runs on processor 1 from 2 s (penalty: 3)"
        );
        let (finish, deadline) = (Time::from_seconds(5), Time::from_seconds(3));
        let late = entry(0, LoggedDecision::Fallback { finish, deadline });
        assert_eq!((late.name(&instance), entry(3, late.what).name(&instance)), ("pair".into(), "bag".into()));
        assert!(late.sentence().ends_with("it ends at 5 s, 2 s after its deadline"), "{}", late.sentence());
    }
}
