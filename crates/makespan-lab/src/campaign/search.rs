//! The limits and the objectives of the optimiser in a campaign.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use clap::Args;
use makespan_core::{Objective, Time};
use serde::{Deserialize, Serialize};

use super::{positive, refuse};
use crate::LabError;

/// The options of the optimiser in a campaign.
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub struct SearchOptions {
    /// Limits of `optimise`: times such as 500ms, or steps=500; `none` leaves out `optimise`
    #[arg(long, visible_alias = "time", default_value = "1s,10s", value_name = "LIMIT,..")]
    pub limits: SearchLimits,
    /// Number of independent searches of `optimise`, one thread each
    #[arg(long, default_value_t = 2)]
    pub searches: usize,
    /// Number of instances planned at the same time; more instances than cores distort the measured times
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub at_once: usize,
}

/// A list of limits, which may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchLimits(pub Vec<SearchLimit>);

/// The limit of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchLimit {
    /// A time limit, which includes the time for proving the bounds.
    Time(Time),
    /// A limit on the number of steps. With this kind of limit, equal seeds lead to equal plans on every machine.
    Steps(u64),
}

/// The objective and the limit of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SearchSetting {
    /// The objective.
    pub objective: Objective,
    /// The limit of the search.
    pub limit: SearchLimit,
}

impl SearchOptions {
    /// Returns the specs of `optimise` for the makespan, one for each limit.
    pub(crate) fn specs(&self) -> impl Iterator<Item = String> + '_ {
        self.limits.0.iter().map(|&limit| self.spec(limit))
    }

    /// Returns the spec of `optimise` for the makespan, with this limit.
    pub(crate) fn spec(&self, limit: SearchLimit) -> String {
        SearchSetting { objective: Objective::Makespan, limit }.spec(self.searches)
    }

    /// Returns the spec of `optimise` with a time limit of `milliseconds`, or `None` if the campaign does not have this
    /// limit.
    pub(crate) fn known(&self, milliseconds: i64) -> Option<String> {
        let limit = SearchLimit::Time(Time::from_ticks(milliseconds * (Time::TICKS_PER_SECOND / 1000)));
        self.limits.0.contains(&limit).then(|| self.spec(limit))
    }

    /// Returns an error if a limit occurs twice, a number is 0, or a spec is invalid.
    pub(crate) fn check(&self) -> Result<(), LabError> {
        if self.limits.0.iter().collect::<BTreeSet<_>>().len() < self.limits.0.len() {
            refuse("limits", format!("`{}`", self.limits), "give each limit only once")?;
        }
        positive(&[("searches", self.searches), ("at once", self.at_once)])?;
        let known = |spec: String| makespan::scheduler(&spec).map(drop);
        self.specs().try_for_each(known).map_err(|error| LabError::Algorithm(error.to_string()))
    }
}

/// Formats all options that influence a plan.
impl fmt::Display for SearchOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "limits {}; {} searches; {} at once", self.limits, self.searches, self.at_once)
    }
}

impl SearchSetting {
    /// Returns the spec of `optimise` with this objective and limit, and with `searches` independent searches.
    pub fn spec(&self, searches: usize) -> String {
        let objective = self.objective.name().replace('_', "-");
        let limit = match self.limit {
            SearchLimit::Time(time) => format!("time-limit={time}s"),
            SearchLimit::Steps(steps) => format!("steps={steps}"),
        };
        format!("optimise[objective={objective},{limit},searches={searches}]")
    }

    /// Formats the objective and the limit for file names, such as `weighted_completion-1s`.
    pub(crate) fn file_stem(&self) -> String {
        format!("{}-{}", self.objective.name(), self.limit).replace('=', "-")
    }
}

/// Formats the objective and the limit for readers, such as `weighted completion in 1 s`.
impl fmt::Display for SearchSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.limit {
            SearchLimit::Time(time) => f.pad(&format!("{} in {time} s", self.objective)),
            SearchLimit::Steps(steps) => f.pad(&format!("{} in {steps} steps", self.objective)),
        }
    }
}

/// Formats a limit so that it can be parsed, such as `1s` or `steps=500`.
impl fmt::Display for SearchLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => write!(f, "{time}s"),
            Self::Steps(steps) => write!(f, "steps={steps}"),
        }
    }
}

impl FromStr for SearchLimit {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        let refuse = || LabError::Option {
            name: "limit",
            value: format!("`{text}`"),
            expected: "write a positive time such as 1s or 500ms, or steps=500",
        };
        let limit = match text.trim().strip_prefix("steps=") {
            Some(steps) => Self::Steps(steps.parse().map_err(|_| refuse())?),
            None => Self::Time(Time::parse(text).map_err(|_| refuse())?),
        };
        if matches!(limit, Self::Time(Time::ZERO)) { Err(refuse()) } else { Ok(limit) }
    }
}

/// Formats limits so that they can be parsed, such as `1s,10s`.
impl fmt::Display for SearchLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
    }
}

impl FromStr for SearchLimits {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        let each = text.split(',').filter(|&limit| limit != "none").map(str::parse);
        each.collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_that_plan_nothing_are_refused() {
        let good = SearchOptions { limits: SearchLimits(vec![SearchLimit::Steps(1)]), searches: 1, at_once: 1 };
        let refused =
            |bad: SearchOptions, part: &str| assert!(bad.check().unwrap_err().to_string().contains(part), "{bad}");
        refused(SearchOptions { limits: "steps=1,steps=1".parse().unwrap(), ..good.clone() }, "only once");
        refused(SearchOptions { searches: 0, ..good.clone() }, "searches is 0");
        refused(SearchOptions { at_once: 0, ..good }, "at once is 0");
    }

    #[test]
    fn limits_are_read_as_they_are_written() {
        for text in ["1s", "0.05s", "steps=500"] {
            assert_eq!(text.parse::<SearchLimit>().unwrap().to_string(), text);
        }
        assert_eq!("500ms".parse::<SearchLimit>().unwrap().to_string(), "0.5s");
        assert_eq!("1s,steps=500".parse::<SearchLimits>().unwrap().to_string(), "1s,steps=500");
        assert_eq!("none".parse::<SearchLimits>().unwrap(), SearchLimits(vec![]));
        for text in ["0", "-1s", "soon", "steps=many", "steps=-3", ""] {
            let error = text.parse::<SearchLimit>().unwrap_err().to_string();
            assert!(error.contains("1s or 500ms, or steps=500"), "{text}: {error}");
        }
    }
}
