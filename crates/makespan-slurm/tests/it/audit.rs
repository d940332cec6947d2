//! An audit of reasons over random queues with all rules. Each job, reservation or limit that a reason names must end
//! after the previous scheduling cycle, and no later than the predicted start.

use std::collections::HashMap;

use makespan_slurm::JobState;
use makespan_slurm::forecast::{ExpectedJob, Forecast, ForecastOptions, RunTimes, forecast};
use makespan_slurm::queue::Queue;

use super::random_queue::{ALL_RULES, random};

/// Returns the text between two given texts, if both occur.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    Some(text.split_once(before)?.1.split_once(after)?.0)
}

/// Returns the names after `the end of`: jobs, and a reservation.
fn named_ends(text: &str) -> (Vec<&str>, Option<&str>) {
    let Some(rest) = ["it starts after the end of ", "it waits for the end of "]
        .iter()
        .find_map(|start| text.split_once(start).map(|parts| parts.1))
    else {
        return (Vec::new(), None);
    };
    let rest = rest.split(", because ").next().unwrap_or_default();
    let rest = rest.split(';').next().unwrap_or_default();
    let kept = rest.split_once("reservation ").map(|parts| parts.1.trim());
    let jobs = rest.split("reservation ").next().unwrap_or_default();
    let jobs = jobs.trim_start_matches("jobs ").trim_start_matches("job ").split(" and ").next().unwrap_or_default();
    (jobs.split(',').map(str::trim).filter(|name| !name.is_empty()).collect(), kept)
}

/// Counts of reasons.
#[derive(Debug, Default)]
struct Audited {
    reasons: usize,
    /// Reasons that name the end of a job or of a reservation.
    with_end: usize,
    /// Reasons for later starts that name no instant.
    without_instant: HashMap<String, usize>,
    wrong: Vec<String>,
}

struct Audit<'a> {
    queue: &'a Queue,
    ends: HashMap<&'a str, i64>,
    starts: HashMap<&'a str, i64>,
    /// Maximum time between two scheduling cycles.
    interval: i64,
}

impl<'a> Audit<'a> {
    fn of(queue: &'a Queue, told: &'a Forecast) -> Self {
        let name = |job: usize| queue.jobs[job].shown.as_str();
        let starts = told.expected.iter().filter_map(|one| Some((one, one.outlook.start?)));
        let mut ends: HashMap<&str, i64> = told.ends.iter().map(|&(job, end)| (name(job), end)).collect();
        ends.extend(starts.clone().map(|(one, start)| (name(one.job), start + one.lasts)));
        let mut starts: HashMap<&str, i64> = starts.map(|(one, start)| (name(one.job), start)).collect();
        starts.extend(queue.jobs.iter().filter_map(|job| Some((job.shown.as_str(), job.run.as_ref()?.started))));
        let interval = queue.scheduler_number("bf_interval").unwrap_or(30);
        Self { queue, ends, starts, interval }
    }

    /// Returns true if an instant is at the start, or between the start and the scheduling cycle before.
    fn is_last(&self, at: i64, start: i64) -> bool {
        at <= start && at > start - self.interval.max(1)
    }

    fn check(&self, one: &ExpectedJob, audited: &mut Audited) -> Result<(), String> {
        let job = &self.queue.jobs[one.job];
        let why = one.why();
        let wrong = |problem: &str| Err(format!("{}: {problem}: {:?} {why:?}", job.shown, one.outlook.start));
        audited.reasons += 1;
        let Some(start) = one.outlook.start else {
            let never = ["held", "dependency", "partition", "reservation", "limit", "nodes", "deadline"];
            return if never.contains(&why.kind.name()) {
                self.never(one)
            } else {
                wrong("it never starts, without a reason")
            };
        };
        if ["held", "nodes", "partition", "deadline"].contains(&why.kind.name()) || job.is_held {
            return wrong("the reason says that it cannot start");
        }
        let is_now = matches!(why.kind.name(), "next" | "slurm");
        // A job may start at the start of another job.
        let is_at_start = why.kind.name() == "dependency" && start == self.queue.now && why.text.contains(" to start");
        if !is_at_start && is_now != (start == self.queue.now) {
            return wrong("the reason contradicts the start");
        }
        let (jobs, kept) = named_ends(&why.text);
        audited.with_end += usize::from(!jobs.is_empty() || kept.is_some());
        if let Some(name) = jobs.iter().find(|&&name| !self.ends.get(name).is_some_and(|&at| self.is_last(at, start))) {
            return wrong(&format!("{name} ends at {:?}", self.ends.get(name)));
        }
        if let Some(name) = kept {
            let end = self.queue.reservations.iter().find(|kept| kept.name == name).map(|kept| kept.end);
            if !end.is_some_and(|at| self.is_last(at, start)) {
                return wrong(&format!("reservation {name} ends at {end:?}"));
            }
        }
        let expected = between(&why.text, "(expected at ", ")");
        let expected = expected.or_else(|| Some(why.text.split_once(" after the start of ")?.1.split_once(", at ")?.1));
        let expected = expected.or_else(|| Some(why.text.split_once("it may not start before ")?.1));
        let expected = expected.or_else(|| Some(why.text.split_once(" begins at ")?.1));
        let expected = expected.map(|at| at.split(';').next().unwrap().parse::<i64>().unwrap());
        if expected.is_some_and(|at| at > start) {
            return wrong("the obstacle ends after the start");
        }
        let named = jobs.len() + usize::from(kept.is_some());
        let is_explained = named > 0 || expected.is_some_and(|at| self.is_last(at, start)) || is_now;
        let ended = || one.after.iter().map(|&job| self.queue.jobs[job].shown.as_str());
        if let Some(name) = ended().find(|&name| !self.ends.get(name).is_some_and(|&at| self.is_last(at, start))) {
            return wrong(&format!("it is after {name}, which ends at {:?}", self.ends.get(name)));
        }
        let last: Vec<&str> = ended().filter(|name| self.ends.get(name) == Some(&start)).collect();
        if !is_explained && !last.is_empty() {
            return wrong(&format!("{last:?} end at the start"));
        }
        if !is_explained {
            *audited.without_instant.entry(why.kind.name().to_owned()).or_default() += 1;
        }
        if let Some(name) = between(&why.text, " on for job ", ",")
            && let Some(at) = between(&why.text, "reserved from ", " on").and_then(|at| at.parse::<i64>().ok())
            && why.text.contains("starts at this time at the latest")
            && self.starts.get(name).is_none_or(|&start| start > at)
        {
            return wrong(&format!("{name} starts at {:?}", self.starts.get(name)));
        }
        Ok(())
    }

    /// Checks a job that never starts: the reason has a remedy, and if the job needs drained nodes, the remedy names them.
    fn never(&self, one: &ExpectedJob) -> Result<(), String> {
        let (job, why) = (&self.queue.jobs[one.job], one.why());
        if why.kind.name() != "dependency" && why.remedy.is_none() {
            return Err(format!("{}: no remedy: {why:?}", job.shown));
        }
        let mut opened = self.queue.clone();
        let drained: Vec<String> =
            opened.nodes.iter().filter(|node| !node.state.takes_jobs()).map(|node| node.name.clone()).collect();
        if drained.is_empty() || !matches!(why.kind.name(), "nodes") {
            return Ok(());
        }
        opened.nodes.iter_mut().for_each(|node| node.state.flags.clear());
        let again =
            forecast(&opened, &ForecastOptions { draws: 0, times: RunTimes::Limits, ..ForecastOptions::default() });
        let again = again.expected.iter().find(|other| other.job == one.job).unwrap();
        let names = |text: &str| drained.iter().any(|name| text.contains(&format!("{name} (")));
        let remedy = why.remedy.as_deref().unwrap_or_default();
        if again.why().kind.name() != "nodes" && !names(remedy) {
            return Err(format!("{}: the remedy names no drained node: {why:?}", job.shown));
        }
        Ok(())
    }
}

fn audit(rules: u32, rounds: u64) -> Audited {
    let mut audited = Audited::default();
    for seed in 0..rounds {
        let queue = random(seed * 7919 + 13, rules);
        let options = ForecastOptions { draws: 0, times: RunTimes::Usual, ..ForecastOptions::default() };
        let told = forecast(&queue, &options);
        let audit = Audit::of(&queue, &told);
        for one in &told.expected {
            if let Err(error) = audit.check(one, &mut audited) {
                audited.wrong.push(format!("rules {rules:#b}, seed {seed}: {error}"));
            }
        }
        let suspended = queue.jobs.iter().filter(|job| job.state == JobState::Suspended).count();
        let warned = told.remarks.iter().any(|remark| remark.starts_with(&format!("suspended jobs: {suspended} ")));
        assert_eq!(warned, suspended > 0, "{:?}", told.remarks);
    }
    audited
}

/// Returns sets of rules: each rule with several processors per node, and all rules.
fn rule_sets() -> impl Iterator<Item = u32> {
    (1..ALL_RULES).map(|bit| 1 | 1 << bit).chain([(1 << ALL_RULES) - 1])
}

#[test]
fn reasons_name_what_ends_at_the_start() {
    for rules in rule_sets() {
        let found = audit(rules, 15);
        assert!(found.wrong.is_empty(), "{}", found.wrong[0]);
        assert!(found.with_end > 0, "{rules:#b}: {found:?}");
    }
}

/// With `--nocapture`, prints the number of reasons of each set of rules.
#[test]
#[ignore = "long: it examines many random queues"]
fn reasons_name_what_ends_at_the_start_in_many_queues() {
    let mut wrong = Vec::new();
    for rules in rule_sets() {
        let found = audit(rules, 1000);
        println!(
            "{rules:#024b}: {} reasons, {} name an end, no instant in {:?}, {} wrong, such as {:?}",
            found.reasons,
            found.with_end,
            found.without_instant,
            found.wrong.len(),
            found.wrong.iter().take(6).collect::<Vec<_>>()
        );
        wrong.extend(found.wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong[0]);
}
