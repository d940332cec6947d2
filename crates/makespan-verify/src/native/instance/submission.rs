//! Reads and writes the submission of a job to a shared cluster, in a native file.

use std::sync::Arc;

use makespan_core::Submission;
use serde::{Deserialize, Serialize};

use super::site::{SiteInstant, is_default};

/// Content of `submission` in a job.
#[derive(Clone, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SubmissionEntry {
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    qos: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    partitions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    constraint: Option<String>,
    /// Minimum and maximum number of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<(u32, u32)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_node: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    least_per_node: Option<u32>,
    #[serde(skip_serializing_if = "is_default")]
    exclusive: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    only: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    except: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    among: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    array: Option<String>,
    /// Maximum number of tasks of the array that run simultaneously.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_a_time: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reservation: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    nice: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    least_time: Option<SiteInstant>,
    /// Instant at which the job must end, relative to time 0 of the file, not to the release date.
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<SiteInstant>,
}

impl SubmissionEntry {
    /// Returns the submission that the entry states.
    pub(super) fn read(self) -> Result<Arc<Submission>, String> {
        if let Some((least, most)) = self.nodes.filter(|(least, most)| *least == 0 || most < least) {
            return Err(format!(
                "`submission`: {least} to {most} nodes is an empty range; write a minimum of at least 1, and a maximum that is not below the minimum"
            ));
        }
        if self.at_a_time.is_some() && self.array.is_none() {
            return Err(
                "`submission`: `at_a_time` limits the tasks of an `array`, but no `array` is stated; state the array, \
                 or remove `at_a_time`"
                    .to_owned(),
            );
        }
        for (name, number) in [("per_node", self.per_node), ("least_per_node", self.least_per_node)] {
            if number == Some(0) {
                return Err(format!("`submission`: `{name}` is 0; write a number from 1"));
            }
        }
        if let (Some(least), Some(most)) = (self.least_per_node, self.per_node)
            && most < least
        {
            return Err(format!(
                "`submission`: at least {least} and at most {most} processors on a node is an empty range; write a `per_node` that is at least `least_per_node`"
            ));
        }
        let all = |names: Vec<String>| names.into_iter().map(Into::into).collect();
        Ok(Arc::new(Submission {
            user: self.user.map(Into::into),
            account: self.account.map(Into::into),
            qos: self.qos.map(Into::into),
            partitions: all(self.partitions),
            constraint: self.constraint.map(Into::into),
            nodes: self.nodes,
            per_node: self.per_node,
            least_per_node: self.least_per_node,
            exclusive: self.exclusive,
            only: all(self.only),
            except: all(self.except),
            among: all(self.among),
            array: self.array.map(|array| (array.into(), self.at_a_time)),
            reservation: self.reservation.map(Into::into),
            nice: self.nice,
            priority: self.priority,
            held: self.held.map(Into::into),
            least_time: self.least_time.map(|span| span.0),
            deadline: self.deadline.map(|span| span.0),
        }))
    }

    /// Returns the entry for writing a submission.
    pub fn of(own: &Submission) -> Self {
        let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
        let all = |names: &[Arc<str>]| names.iter().map(ToString::to_string).collect();
        Self {
            user: text(&own.user),
            account: text(&own.account),
            qos: text(&own.qos),
            partitions: all(&own.partitions),
            constraint: text(&own.constraint),
            nodes: own.nodes,
            per_node: own.per_node,
            least_per_node: own.least_per_node,
            exclusive: own.exclusive,
            only: all(&own.only),
            except: all(&own.except),
            among: all(&own.among),
            array: own.array.as_ref().map(|(array, _)| array.to_string()),
            at_a_time: own.array.as_ref().and_then(|(_, most)| *most),
            reservation: text(&own.reservation),
            nice: own.nice,
            priority: own.priority,
            held: text(&own.held),
            least_time: own.least_time.map(SiteInstant),
            deadline: own.deadline.map(SiteInstant),
        }
    }
}
